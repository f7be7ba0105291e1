"""The twins of the compiled kernels: the same files, functions and parameters, with loops and indexing only."""
