"""What networks mean: plain Python on lists of numbers."""
