"""Files that the user attaches: read as text, or decoded as pictures. No translated text.

Imports nothing here: the processes that read such files import single modules of it, and are to start fast.
"""
