"""Tools that are built in: each module has one or two, as `TOOLS`; none of them writes anything."""
