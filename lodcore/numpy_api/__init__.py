"""NumPy's interface to the operators: indexing, ufuncs, functions and methods."""
