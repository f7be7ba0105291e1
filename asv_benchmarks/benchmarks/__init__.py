"""Benchmarks of lodcore, one file per family of kernels."""
