"""Tests about the code itself: its surface, its layers, its size, and what it must not name."""
