"""NumPy's functions on dense Variables: their table, and what all of them share.

Where an operator exists it is called; what only NumPy has is `lodcore.ops.numpy_call`, with its rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import integer
from lodcore.errors import DTypeError
from lodcore.operators.arguments import axis_of
from lodcore.ops.reduce.axes import tensor_of

__all__ = [
    "ALL",
    "DENSE",
    "all_dense",
    "at_axis",
    "axis_in",
    "call",
    "dense_of",
    "flat",
    "integers",
    "is_on_arrays",
    "of_length",
    "on_dense",
]

ALL = slice(None)

#: The functions that implement NumPy's functions if all tensors among the arguments are dense.
DENSE: dict[Any, Callable[..., Any]] = {}


def on_dense(*functions: Any) -> Callable[[Any], Any]:
    """Register the implementation of NumPy functions on dense arrays; None stands for one that this NumPy lacks."""

    def enter(made: Any) -> Any:
        DENSE.update(dict.fromkeys([one for one in functions if one is not None], made))
        return made

    return enter


def is_on_arrays(function: Any) -> bool:
    """Return whether something is a function of NumPy that takes dense Variables."""
    return isinstance(function, np.ufunc) or (callable(function) and function in DENSE)


def all_dense(given: Any) -> bool:
    """Return whether no tensor among arguments, including those in lists, has levels."""
    for x in given:
        if isinstance(x, (list, tuple)):
            if not all_dense(x):
                return False
        elif getattr(x, "num_levels", 0):
            return False
    return True


def call(operands: list[Any], name: str, **options: Any) -> Any:
    """Call a function by its rule."""
    return ops.numpy_call(operands, name, options)  # type: ignore[call-overload]


def dense_of(name: str, x: Any) -> Any:
    """Return a Variable or an array; convert numbers and lists to arrays."""
    return tensor_of(f"numpy.{name}", x)


def axis_in(name: str, axis: Any, ndim: int, argument: str = "axis") -> int:
    """Check one axis; return it counted from the first."""
    return axis_of(f"numpy.{name}: {argument}", axis, ndim, "x has")


def integers(name: str, argument: str, given: Any) -> Any:
    """Return an integer, or a tuple of integers."""
    where = f"numpy.{name}: {argument}"
    if isinstance(given, np.ndarray) and given.ndim < 2:
        given = given.tolist()
    if isinstance(given, (list, tuple)):
        return tuple([integer(f"{where}[{j}]", one, bools=True) for j, one in enumerate(given)])
    if isinstance(given, Symbol):
        raise DTypeError(f"{where}: is a Variable; integers that are known when it is recorded are needed")
    return integer(where, given, bools=True)


def of_length(where: str, x: Any, axis: int, least: int, exactly: bool = False) -> Any:
    """Return an array after a check of the length of an axis, made at run time if the length is known only then."""
    checked = call([x], "of_length", axis=axis, least=least, exactly=exactly, where=where)
    return checked if x.shape[axis] is None else x


def at_axis(x: Any, axis: int, key: Any) -> Any:
    """Index one axis."""
    return ops.index_values(x, [*[ALL] * axis, key])


def flat(name: str, x: Any) -> Any:
    """Return all values in one axis."""
    x = dense_of(name, x)
    return x if x.ndim == 1 else ops.reshape(x, [-1])
