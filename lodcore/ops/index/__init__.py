"""Indexing along the axes of a ragged shape."""
