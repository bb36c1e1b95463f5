"""Plugins for pytest that make Linux behave as a Mac does where that can be told from outside."""
