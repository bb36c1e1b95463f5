"""The Models view: installed models, downloads, and search."""
