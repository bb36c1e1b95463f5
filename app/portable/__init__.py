"""Chats as files: our own format, and those of other apps. No Qt, no translated text."""
