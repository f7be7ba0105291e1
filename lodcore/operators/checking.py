"""Checks of user-defined operators, implemented in `lodcore.testing`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lodcore.kernels.loading import load
from lodcore.operators.registry import Op

__all__ = ["check_operator"]


def check_operator(op: Op, samples: Iterable[Any], refuses_empty: bool = False) -> None:
    """Check that a user-defined operator has the properties of all operators; see `lodcore.testing.check_operator`.

    Parameters
    ----------
    op : Op
    samples : list
        Calls, each a tuple of arguments, something with `args` and `kwargs`, or a function that returns either.
    refuses_empty : bool
        Whether the operator may raise an error for no elements, as the maximum does.

    Raises
    ------
    AssertionError
        If a property does not hold; the message names the operator, the way in which it was run, and the sample.
    """
    load("lodcore.testing").check_operator(op, samples, refuses_empty)
