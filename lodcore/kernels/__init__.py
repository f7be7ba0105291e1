"""The compiled loops: arrays and numbers in, arrays out, no state, and no checks beyond those of their docstrings."""

import os as _os
from threading import RLock as _RLock
from typing import TYPE_CHECKING, Any

from lodcore.kernels import gather, lod, rank

if TYPE_CHECKING:
    from lodcore.kernels import (
        attention,
        beam,
        combine,
        deviation,
        doors,
        embedding,
        expand,
        gates,
        group,
        index,
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
    "combine",
    "deviation",
    "doors",
    "embedding",
    "expand",
    "gates",
    "gather",
    "group",
    "index",
    "lod",
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
    "rank",
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


_loading = _RLock()  # no process is forked while another thread loads kernels, for which the child would wait forever
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)


def __getattr__(name: str) -> Any:
    """Load the kernels of a family when they are first used, so that importing lodcore is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'lodcore.kernels' has no attribute {name!r}")
    from importlib import import_module

    with _loading:
        return import_module(f"lodcore.kernels.{name}")
