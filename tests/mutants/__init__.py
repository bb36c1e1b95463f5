"""`make mutants` changes the engine on purpose, one small fault at a time, and sees whether its tests notice."""
