"""Context packs for a project of many files, measured over the socket of a real daemon."""
