"""Models on this machine and how they get here: ModelStore. No MLX; HTTP is imported on its own threads only."""
