"""A model whose layers run in several processes, each with some of them."""
