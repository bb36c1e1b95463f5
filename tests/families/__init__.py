"""Every model family of mlx-lm, tiny and random: exact with speculation, or known by name for what it cannot do."""
