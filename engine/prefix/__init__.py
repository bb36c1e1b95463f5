"""Kept caches of chats, in memory and on disk, for their next turns."""
