"""Slow proofs, one file a drill: `make drills` runs them whole, `make slow` a sample of each."""
