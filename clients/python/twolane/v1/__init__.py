"""Generated code of the API; see ``scripts/generate``."""
