"""The compiled loops: arrays and numbers in, arrays out, no state and no checks beyond their docstrings."""

from typing import TYPE_CHECKING, Any

from lodcore.kernels import gather, levels, offsets, rank

if TYPE_CHECKING:
    from lodcore.kernels import (
        deviation,
        doors,
        embedding,
        expand,
        gates,
        index,
        matrix,
        neighbours,
        order,
        packing,
        pad,
        pool,
        position,
        product,
        rolling,
        runs,
        search,
        softmax,
        sort,
        tokens,
        window,
    )

__all__ = [
    "deviation",
    "doors",
    "embedding",
    "expand",
    "gates",
    "gather",
    "index",
    "levels",
    "matrix",
    "neighbours",
    "offsets",
    "order",
    "packing",
    "pad",
    "pool",
    "position",
    "product",
    "rank",
    "rolling",
    "runs",
    "search",
    "softmax",
    "sort",
    "tokens",
    "window",
]


def __getattr__(name: str) -> Any:
    """Load the kernels of a family when they are first used: an import of lodcore that needs few is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'lodcore.kernels' has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"lodcore.kernels.{name}")
