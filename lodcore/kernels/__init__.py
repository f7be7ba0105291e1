"""The compiled loops: arrays and numbers in, arrays out, no state and no checks beyond their docstrings."""

from lodcore.kernels import expand, gather, levels, offsets, pad, pool, rank, softmax

__all__ = ["expand", "gather", "levels", "offsets", "pad", "pool", "rank", "softmax"]
