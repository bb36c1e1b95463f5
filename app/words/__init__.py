"""Codes, numbers and sizes as text in the interface's language, and the languages themselves."""
