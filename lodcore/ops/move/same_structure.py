"""Tensors whose sequences must be those of others, also where only a run knows them."""

from __future__ import annotations

from typing import Any

from lodcore.errors import LoDError
from lodcore.operators.arguments import level_of
from lodcore.operators.lod_rules import same_as
from lodcore.operators.operands import Array, check_equal, no_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.tensors import lod_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["of_structure", "refuse_unlike"]


@operator(x=Nested, y=Nested, lod_rule=same_as("x"))
def refuse_unlike(x: Any, y: Any, where: str, level: int, name: str = "x", other: str = "y") -> Any:
    """Return x itself; raise an error if its sequences differ from those of y, down to a level.

    Parameters
    ----------
    x, y : LoDTensor or nested lists
    where : str
        The name of the function, for the message.
    level : int
        The last level that must be equal, counted from the first in both.
    name, other : str
        Their names, for the message.

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError
        If a sequence differs; the message names the first one.
    LevelError
        If x or y does not have the level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.refuse_unlike([[1, 2], [3]], [[5.0, 6.0], [7.0]], "network", 0)
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """
    k = _common_level(where, x, y, level, name, other)
    check_equal(where, lod_body.slice_levels(y.lod, 0, k + 1), lod_body.slice_levels(x.lod, 0, k + 1), name, other)
    return x


def _common_level(where: str, x: Any, y: Any, level: Any, name: str, other: str) -> int:
    """Return a checked level of both."""
    k = level_of(f"{where}: {name}", x, level)
    if level_of(f"{where}: {other}", y, level) != k:
        raise LoDError(
            f"{where}: {name}: has {x.num_levels} levels, {other} {y.num_levels}, so level {level} is not the same; "
            "one that counts from the first is needed"
        )
    return k


@refuse_unlike.define_infer
def _(x: Spec, y: Spec, where: str, level: int, name: str, other: str) -> Spec:
    _common_level(where, x, y, level, name, other)
    return x


@refuse_unlike.define_vjp
def _(d: Array) -> tuple[Array, None]:
    return d, None


def of_structure(where: str, given: Any, other: Any, names: tuple[str, str]) -> Any:
    """Return a tensor; raise an error if its structure is not that of another, or let a run that knows them raise it.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    given, other : LoDTensor or Variable
    names : tuple of str
        Their names, for the message.

    Returns
    -------
    LoDTensor or Variable
        A Variable is checked where it is used.

    Raises
    ------
    LoDError
        Names the first sequence that differs.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops.move.same_structure import of_structure
    >>> x, times = lodcore.array([[5, 6], [7]]), lodcore.array([[0.5, 1.0], [2.0]])
    >>> of_structure("resample", times, x, ("times", "x")) is times
    True
    """
    if isinstance(given, LoDTensor) and isinstance(other, LoDTensor):
        check_equal(where, other.lod, given.lod, *names)
        return given
    if given.num_levels != other.num_levels:
        raise no_levels(where, names[0], given.num_levels, names[1], other.num_levels)
    return refuse_unlike(given, other, where, given.num_levels - 1, *names)
