"""Other machines and other processes of the engine: pairing, what they lend, and what is said between them."""
