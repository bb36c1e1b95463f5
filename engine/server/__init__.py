"""A server for other programs on this machine; `service.py` begins it."""
