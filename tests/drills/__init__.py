"""Slow proofs, run by `make drills`; a sample of each is in `make test`."""
