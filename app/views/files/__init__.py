"""Files and pictures that are attached, seen, exported and imported: the dialogs."""
