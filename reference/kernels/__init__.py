"""The twins of the compiled kernels: same files, functions and parameters, written with loops and indexing only."""
