"""Benchmarks of lodcore, one file a family of kernels."""
