"""The compiled loops: arrays and numbers in, arrays out, no state, and no checks beyond those of their docstrings."""

from typing import TYPE_CHECKING, Any

from lodcore.kernels import gather, lod, rank_table
from lodcore.kernels.loading import load as _load

if TYPE_CHECKING:
    from lodcore.kernels import (
        attention,
        beam,
        chains,
        combine,
        deviation,
        embedding,
        expand,
        foreign_data,
        gates,
        group,
        index,
        machine,
        matrix,
        neighbours,
        norm,
        optimizers,
        order,
        packing,
        pad,
        pool,
        position,
        product,
        ranges,
        rolling,
        runs,
        search,
        shuffle,
        softmax,
        sort,
        tokens,
        window,
        words,
    )

__all__ = [
    "attention",
    "beam",
    "chains",
    "combine",
    "deviation",
    "embedding",
    "expand",
    "foreign_data",
    "gates",
    "gather",
    "group",
    "index",
    "lod",
    "machine",
    "matrix",
    "neighbours",
    "norm",
    "optimizers",
    "order",
    "packing",
    "pad",
    "pool",
    "position",
    "product",
    "ranges",
    "rank_table",
    "rolling",
    "runs",
    "search",
    "shuffle",
    "softmax",
    "sort",
    "tokens",
    "window",
    "words",
]


def __getattr__(name: str) -> Any:
    """Load the kernels of a family when they are first used, so that importing lodcore is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'lodcore.kernels' has no attribute {name!r}")
    return _load(f"lodcore.kernels.{name}")
