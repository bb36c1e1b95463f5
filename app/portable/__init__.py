"""Chats as files: our own form, and those of other apps. No Qt, no translated text."""
