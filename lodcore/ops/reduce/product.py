"""Reductions that `sequence_pool` does not have: products, any and all, and positions of extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.errors import DTypeError
from lodcore.operators.arguments import choice_of, level_of
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, rows_below, with_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, numbers_of, result_rows
from lodcore.tensors import lod_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["refuse_empty", "sequence_place", "sequence_prod", "sequence_truth"]


@operator(x=Nested, lod_rule=before("level"))
def sequence_prod(x: Any, level: int = -1) -> Any:
    """Multiply the rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Holds real numbers.
    level : int
        The level of the sequences whose rows are reduced.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        One row per sequence; 1 for an empty one. int64 or uint64 for integers, which wrap around.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sequence_prod([[1, 2, 3], [], [4, 5]])
    array([ 6,  1, 20])
    """
    where = "sequence_prod"
    values = x.values
    work, dtype = _dtypes(values.dtype)
    k = lod_body.normalize_level(x.lod, level, where)
    offsets = lod_body.in_rows(x.lod, k)
    result = result_rows(where, values, len(offsets) - 1, dtype, None)
    target = cells_for(result, work)
    kernels.product.multiply_rows(cells_of(values, work), offsets, target)
    convert_into(target, result)
    return with_levels(result, x.lod, k)


def _dtypes(dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    if dtype.kind not in "biuf":
        raise DTypeError(f"sequence_prod: x: has dtype {dtype}; real numbers are needed")
    return numbers_of("sequence_prod", "sum", dtype)


@sequence_prod.define_infer
def _(x: Spec, level: int) -> Spec:
    return Spec((None, *x.shape[1:]), _dtypes(x.dtype)[1])


@sequence_prod.define_vjp
def _(d: Array, x: LoDTensor, level: int, context: Any) -> Array:
    work, dtype = _dtypes(x.dtype)
    d_x: Array = context.new("x")
    rows = cells_for(d_x, work)
    given = cells_of(np.ascontiguousarray(d, dtype), work)
    kernels.product.multiply_others(
        cells_of(x.values, work), lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level)), given, rows
    )
    convert_into(rows, d_x)
    return d_x


@operator(x=Nested, lod_rule=before("level"), differentiable=False)
def sequence_truth(x: Any, name: str, level: int = -1) -> Any:
    """Return whether any row of each sequence, or all of them, are true, column by column.

    Parameters
    ----------
    x : LoDTensor of bool, or nested lists
    name : {"any", "all"}
    level : int
        The level of the sequences whose rows are reduced.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        For an empty sequence, "all" is true and "any" is false.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sequence_truth([[True, False], [], [True]], "all")
    array([False,  True,  True])
    """
    _check_truth(name, x.dtype)
    k = lod_body.normalize_level(x.lod, level, "sequence_truth")
    offsets = lod_body.in_rows(x.lod, k)
    truth = np.empty((len(offsets) - 1, *x.values.shape[1:]), np.bool_)
    kernels.product.true_sequences(buffers.as_bytes(x.values), offsets, name == "all", buffers.as_bytes(truth))
    return with_levels(truth, x.lod, k)


def _check_truth(name: str, dtype: np.dtype[Any]) -> None:
    choice_of("sequence_truth: name", name, ("any", "all"))
    if dtype != np.bool_:
        raise DTypeError(f"sequence_truth: x: has dtype {dtype}; bool is needed")


@sequence_truth.define_infer
def _(x: Spec, name: str, level: int) -> Spec:
    _check_truth(name, x.dtype)
    return Spec((None, *x.shape[1:]), np.dtype(bool))


@operator(x=Nested, lod_rule=before("level"), differentiable=False)
def sequence_place(x: Any, name: str, level: int = -1) -> Any:
    """Return the position of the maximum, or minimum, of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Holds real numbers.
    name : {"argmax", "argmin"}
        Equal values: the first one counts; with nan, the first nan.
    level : int
        The level of the sequences; rows are counted from the first one below each.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        int64; -1 for an empty sequence.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sequence_place([[1, 3, 3], [], [5, 4]], "argmax")
    array([ 1, -1,  0])
    """
    where = "sequence_place"
    work = _checked_place(name, x.dtype)
    k = lod_body.normalize_level(x.lod, level, where)
    offsets = lod_body.in_rows(x.lod, k)
    source = cells_of(x.values, work)
    index = np.empty((len(offsets) - 1, *x.values.shape[1:]), np.int64)
    cells = index.reshape(len(index), source.shape[1])
    kernels.pool.find_best_rows(source, offsets, name == "argmin", np.empty(cells.shape, work), cells)
    return with_levels(index, x.lod, k)


def _checked_place(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Check the name and the dtype; return the dtype in which the kernel compares."""
    choice_of("sequence_place: name", name, ("argmax", "argmin"))
    work: np.dtype[Any] = numbers_of("sequence_place", "max", dtype)[0]
    if dtype.kind in "biu" and dtype.itemsize < 8:  # floats hold these integers, and are compared in vectors
        return np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
    return work


@sequence_place.define_infer
def _(x: Spec, name: str, level: int) -> Spec:
    _checked_place(name, x.dtype)
    return Spec((None, *x.shape[1:]), np.dtype(np.int64))


@operator(x=Nested)
def refuse_empty(x: Any, where: str, level: int = -1) -> Any:
    """Return x itself; raise an error if a sequence is empty.

    Parameters
    ----------
    x : LoDTensor or nested lists
    where : str
        The name of the function that needs rows, for the message.
    level : int
        The level of the sequences, each of which must have a row.

    Returns
    -------
    LoDTensor

    Raises
    ------
    ValueError
        If a sequence is empty; the message names the first one.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.refuse_empty([[1, 2], [3]], "max")
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """
    k = lod_body.normalize_level(x.lod, level, "refuse_empty")
    lengths = rows_below(x.lod, k)
    if np.count_nonzero(lengths) < len(lengths):
        s = int(np.argmin(lengths != 0))
        if where.startswith("nan"):
            raise ValueError(f"{where}: sequence {s} of level {k} is empty, or has only nan; an element is needed")
        needed = f"give empty= to x.{where}"  # which functions of NumPy do not take
        if "arg" not in where:
            needed += ", or an initial value"
        raise ValueError(f"{where}: sequence {s} of level {k} is empty; {needed}")
    return x


@refuse_empty.define_infer
def _(x: Spec, where: str, level: int) -> Spec:
    level_of("refuse_empty", x, level)
    return Spec((None, *x.shape[1:]), x.dtype)


@refuse_empty.define_vjp
def _(d: Array) -> Array:
    return d
