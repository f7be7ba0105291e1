"""NumPy's way to write operators: indices, ufuncs, functions and methods."""
