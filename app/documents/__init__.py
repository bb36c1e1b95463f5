"""Attached files: read as text, or decoded as pictures. No translated text.

Nothing is imported here: the processes that read such files import single modules, and have to start fast.
"""
