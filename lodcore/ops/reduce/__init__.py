"""Reductions: of sequences, along axes of a ragged shape, of rows."""
