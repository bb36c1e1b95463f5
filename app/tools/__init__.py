"""Tools that a model may call in a chat: what they are, who consents, and those that are built in. No Qt, no MLX."""
