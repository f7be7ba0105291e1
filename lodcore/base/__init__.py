"""The base of all modules: memory, arrays for kernels, threads, and dispatch between computing and recording."""
