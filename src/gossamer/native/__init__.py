"""C sources, the extensions built from them, and `extensions.py`, which says which form runs."""
