"""What the app asks of its surroundings: folders, logs, signals, one running copy, whether it can run here."""
