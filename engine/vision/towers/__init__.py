"""Networks that turn pixels into rows of a main model's embedding, one file a kind."""
