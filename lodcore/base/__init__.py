"""What everything stands on: memory, arrays for kernels, threads, and what records instead of computing."""
