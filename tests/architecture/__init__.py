"""Tests about the code itself: its layers, its size, and what it must not name."""
