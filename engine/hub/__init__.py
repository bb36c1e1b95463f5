"""Models on this machine, and their download: ModelStore. No MLX; HTTP is imported on its own threads only."""
