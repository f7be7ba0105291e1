"""Text and numbers of tokens."""
