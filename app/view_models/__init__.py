"""What the screen shows, as data and change signals. No widgets, no engine calls, no SQL."""
