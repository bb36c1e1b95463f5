"""Errors, states, numbers and sizes in the words of the person, and the languages."""
