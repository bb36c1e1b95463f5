"""Caches that wait for the next turn of their chat, in memory and on disk."""
