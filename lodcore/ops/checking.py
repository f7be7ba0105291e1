"""Checks of an operator of one's own; what they do stands in `lodcore.testing`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from lodcore.ops.registry import Op

__all__ = ["check_operator"]


def check_operator(op: Op, samples: Iterable[Any], refuses_empty: bool = False) -> None:
    """Check what holds for every operator, of one of your own; see `lodcore.testing.check_operator`.

    Parameters
    ----------
    op : Op
    samples : list
        Calls, each a tuple of arguments, something with `args` and `kwargs`, or a function that returns either.
    refuses_empty : bool
        Whether the operator may raise where there is nothing to compute with, as the maximum of no rows.

    Raises
    ------
    AssertionError
        Naming the operator, the way in which it was used, and the sample.
    """
    import_module("lodcore.testing").check_operator(op, samples, refuses_empty)
