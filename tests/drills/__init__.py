"""Slow proofs, one file a drill: `make drills` runs them whole, `make test` a sample of each."""
