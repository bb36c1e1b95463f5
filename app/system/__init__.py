"""What depends on the operating system: folders, logs, signals, the single-instance lock, the platform check."""
