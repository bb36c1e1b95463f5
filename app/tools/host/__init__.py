"""The tool host: a process of its own that speaks with tool servers. The app never imports this room, nor `mcp`."""
