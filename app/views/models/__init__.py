"""The Models view: what is installed and on its way, and what can be found."""
