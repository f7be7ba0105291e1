"""The compiled loops: arrays and numbers in, arrays out, no state and no checks beyond their docstrings."""

from lodcore.kernels import (
    embedding,
    expand,
    gather,
    index,
    levels,
    offsets,
    pad,
    pool,
    product,
    rank,
    softmax,
    tokens,
    window,
)

__all__ = [
    "embedding",
    "expand",
    "gather",
    "index",
    "levels",
    "offsets",
    "pad",
    "pool",
    "product",
    "rank",
    "softmax",
    "tokens",
    "window",
]
