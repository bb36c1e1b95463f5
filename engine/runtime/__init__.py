"""The engine thread: its commands, whose turn it is, replies alone and in batches, models being loaded."""
