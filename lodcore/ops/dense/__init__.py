"""NumPy's functions on dense arrays as operators, with the rules of their gradients."""
