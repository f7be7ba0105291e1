"""Operators that change the structure of unchanged values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import integer
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import integers_of, level_of
from lodcore.operators.copies import as_rows_or_nested, spec_rows
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Index, Nested, Rows, Structure
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.joining import checked_lod
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["lod_append", "lod_reset", "sequence_reshape"]


@operator(x=Nested, lod_rule="as `x` before the last level, whose lengths are multiplied")
def sequence_reshape(x: Any, new_dim: int) -> LoDTensor:
    """Reshape the values of each sequence of the last level to rows of another width.

    Parameters
    ----------
    x : LoDTensor or nested lists
    new_dim : int
        The new width, 1 or more.

    Returns
    -------
    LoDTensor
        Rows of shape (new_dim,), with as many levels as x; it shares the values.

    Raises
    ------
    ShapeError
        If the values of a sequence do not fill whole rows; the message names the first one.
    DTypeError
        If new_dim is not an integer.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_reshape([[1, 2, 3, 4], [], [5, 6]], 2).tolist()
    [[[1, 2], [3, 4]], [], [[5, 6]]]
    """
    where = "sequence_reshape"
    new_dim = _width(where, new_dim)
    lod, values = x.lod, x.values
    k = level_of(where, lod, -1)
    offsets = lod_body.offsets_view(lod, k)
    width = 1
    for size in values.shape[1:]:
        width *= size
    scaled = buffers.new_offsets(len(offsets))
    bad = kernels.expand.scale_offsets(offsets, width, new_dim, scaled)
    if bad >= 0:
        length = offsets[bad + 1] - offsets[bad]
        raise ShapeError(
            f"{where}: new_dim: is {new_dim}; sequence {bad} has {length} rows of {width}, {length * width} cells"
        )
    total = scaled.item(len(scaled) - 1)
    if new_dim == width:
        return lod_tensor_body.new_tensor(values.reshape(total, new_dim), lod)
    levels = [*(lod.offsets(j) for j in range(k)), scaled]
    return lod_tensor_body.new_tensor(values.reshape(total, new_dim), lod_body.make_lod(levels, total))


def _width(where: str, new_dim: Any) -> int:
    """Return a caller's width as an int, converted once."""
    width = integer(f"{where}: new_dim", new_dim)
    if not 1 <= width < 2**63:
        raise ShapeError(f"{where}: new_dim: is {width}; 1 or more is needed")
    return width


@sequence_reshape.define_infer
def _(x: Spec, new_dim: int) -> Spec:
    width = _width("sequence_reshape", new_dim)
    level_of("sequence_reshape", x, -1)
    return Spec((None, width), x.dtype, x.num_levels)


@sequence_reshape.define_vjp
def _(d: Array, x: LoDTensor) -> Array:
    return d.reshape(x.values.shape)


def _reset_levels(y: Any, target_lod: Any) -> int:
    """Count the levels of the given LoD."""
    if y is not None:
        return levels_of(y) or int((y.kind if isinstance(y, Spec) else type(y)) is not LoD)
    if target_lod is None:
        raise LoDError("lod_reset: y, target_lod: neither is given; one of them is needed")
    if isinstance(target_lod, LoD):
        return target_lod.num_levels
    return len(target_lod) if _has_levels(target_lod) else 1


@operator(x=Rows, y=Structure, lod_rule="that of `y`, or `target_lod`")
def lod_reset(x: Any, y: Any = None, target_lod: Any = None) -> Any:
    """Return rows with another LoD.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Its LoD, if any, is dropped.
    y : LoDTensor, nested lists, LoD, ndarray or flat list, optional
        The LoD of the result. A vector of integers holds the offsets of one level.
    target_lod : LoD, or list of offsets, optional
        The LoD of the result if y is not given: a flat list is one level, a list of lists is all levels, coarse first.

    Returns
    -------
    LoDTensor, or ndarray if the new LoD has no level
        It shares the values.

    Raises
    ------
    LoDError
        If neither is given, the offsets are not a structure, or their number of rows differs from that of x.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_reset([[1, 2], [3, 4]], target_lod=[0, 3, 4])
    LoDTensor(2 sequences of lengths 1..3, int64: [[1, 2, 3], [4]])
    >>> lodcore.lod_reset([1, 2, 3], lodcore.array([["a"], ["b", "c"]]))
    LoDTensor(2 sequences of lengths 1..2, int64: [[1], [2, 3]])
    """
    where = "lod_reset"
    given = x if isinstance(x, LoDTensor) else as_rows_or_nested("lod_reset: x", x)
    values = given.values if isinstance(given, LoDTensor) else given
    lod = target_lod if y is None and type(target_lod) is LoD else _target(where, y, target_lod)
    if lod.num_rows != len(values):
        name = "y" if y is not None else "target_lod"
        raise LoDError(f"{where}: {name}: has {lod.num_rows} rows; x has {len(values)}")
    return lod_tensor_body.new_tensor(values, lod) if lod.num_levels else values


def _target(where: str, y: Any, target_lod: Any) -> LoD:
    """Return the LoD given by y or target_lod."""
    if y is not None:
        if isinstance(y, LoD):
            return y
        if isinstance(y, LoDTensor) and y.lod.num_levels:
            return y.lod
        offsets = y.values if isinstance(y, LoDTensor) else y
        return checked_lod((offsets,), None, f"{where}: y")
    if target_lod is None:
        raise LoDError(f"{where}: y, target_lod: neither is given; one of them is needed")
    if isinstance(target_lod, LoD):
        return target_lod
    levels = tuple(target_lod) if _has_levels(target_lod) else (target_lod,)
    return checked_lod(levels, None, f"{where}: target_lod")


def _has_levels(target_lod: Any) -> bool:
    """Return whether these are the offsets of several levels, in a list of lists."""
    if isinstance(target_lod, np.ndarray):
        return target_lod.ndim == 2 and target_lod.shape[1] != 1
    if not isinstance(target_lod, (list, tuple)):
        return False
    return len(target_lod) > 0 and np.ndim(target_lod[0]) > 0


@lod_reset.define_infer
def _(x: Spec, y: Spec | LoD | None, target_lod: Any) -> Spec:
    return Spec(spec_rows(x), x.dtype, _reset_levels(y, target_lod))


@lod_reset.define_vjp
def _(d: Array) -> tuple[Array, None]:
    return d, None


@operator(
    x=Rows,
    lengths=Index,
    offsets=Index,
    lod_rule="that of `x`, and a level below",
)
def lod_append(x: Any, *, lengths: Any = None, offsets: Any = None) -> LoDTensor:
    """Add a finest level, whose sequences are the elements of the previous last level.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        The elements of its last level become the new sequences. Rows without a level accept any number of sequences.
    lengths : array_like of integers, shape (n,), in rows
    offsets : array_like of integers, shape (n + 1,), in rows
        Exactly one of lengths and offsets must be given.

    Returns
    -------
    LoDTensor
        Has one more level; it shares the values.

    Raises
    ------
    LoDError
        If not exactly one is given, it is not a valid structure, its number of rows differs, or its number of sequences
        differs from the number of elements of the last level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_append([[1, 2], [3, 4]], lengths=[2, 0, 1, 1])
    LoDTensor(2 sequences of length 2 / 4 sequences of lengths 0..2, int64: [[[1, 2], []], [[3], [4]]])
    """
    where = "lod_append"
    x = as_rows_or_nested("lod_append: x", x)
    _check_one(lengths, offsets)
    finest = _finest(lengths) if lengths is not None else checked_lod((offsets,), None, where).offsets()
    name = "offsets" if lengths is None else "lengths"
    count, n_rows = len(finest) - 1, finest.item(len(finest) - 1)
    if isinstance(x, LoDTensor):
        lod, values = x.lod, x.values
        if count != lod.num_rows:
            raise LoDError(f"{where}: {name}: make {count} sequences; the last level of x counts {lod.num_rows}")
        levels = [lod.offsets(j) for j in range(lod.num_levels)]
    else:
        levels, values = [], x
    if n_rows != len(values):
        raise LoDError(f"{where}: {name}: have {n_rows} rows; x has {len(values)}")
    return lod_tensor_body.new_tensor(values, lod_body.make_lod([*levels, finest], n_rows))


def _check_one(lengths: Any, offsets: Any) -> None:
    if (lengths is None) == (offsets is None):
        raise LoDError("lod_append: lengths, offsets: exactly one of the two is needed")


def _finest(lengths: Any) -> Array:
    """Return the offsets of sequences with given lengths."""
    counts = buffers.as_int64(lengths, "lod_append: lengths", LoDError)
    offsets: Array = buffers.new_offsets(len(counts) + 1)
    if kernels.lod.offsets_from_lengths(counts, offsets) >= 0:
        return LoD.from_lengths(counts).offsets()  # raises the error
    return offsets


@lod_append.define_infer
def _(x: Spec, lengths: Any, offsets: Any) -> Spec:
    _check_one(lengths, offsets)
    if lengths is not None:
        integers_of("lod_append: lengths", lengths, LoDError)
    return Spec(spec_rows(x), x.dtype, x.num_levels + 1)


@lod_append.define_vjp
def _(d: Array) -> tuple[Array, None, None]:
    return d, None, None
