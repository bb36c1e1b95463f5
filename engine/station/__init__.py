"""A draft in a process of its own, which prepares continuations while the main model checks; see README.md."""
