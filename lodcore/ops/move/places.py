"""Structure as nested tensors: the lengths of sequences, and the positions of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.operators.arguments import integer_of, level_of, structure_of
from lodcore.operators.copies import lod_of, nested_operand
from lodcore.operators.lod_rules import before, same_as
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Structure
from lodcore.ops.move.expand import sequence_expand_as
from lodcore.tensors import tensor_core
from lodcore.tensors.lod import LoD
from lodcore.tensors.tensor import Spec

__all__ = ["lod_index", "lod_num", "lod_positions", "lod_segment_ids"]


@operator(x=Structure, lod_rule=before("level"), differentiable=False)
def lod_num(x: Any, level: int = 0) -> Any:
    """Return the lengths of the sequences of a level, nested as these sequences are.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    LoDTensor, or ndarray for level 0
        int64, in elements of the level. Has the levels of x before `level`.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_num([[[1, 2], [3]], [[4, 5, 6]]])
    array([2, 1])
    >>> lodcore.lod_num([[[1, 2], [3]], [[4, 5, 6]]], level=1)
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 1], [3]])
    """
    lod = lod_of("lod_num: x", x)
    k = level_of("lod_num", lod, level)
    lengths = lod.lengths(k)
    return tensor_core.new_tensor(lengths, lod.prefix(k)) if k else lengths


@operator(x=Structure, lod_rule=same_as("x"), differentiable=False)
def lod_positions(x: Any, level: int = 0) -> Any:
    """Return the position of each row in its sequence of a level, counted in rows, as a tensor with the same structure.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    LoDTensor
        int64, with the LoD of x.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_positions([["a", "b"], [], ["c"]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[0, 1], [], [0]])
    >>> lodcore.lod_positions([[["a", "b"], ["c"]], [["d"]]], level=0).tolist()
    [[[0, 1], [2]], [[0]]]
    """
    lod = lod_of("lod_positions: x", x)
    return _nested(lod, lod.positions(level_of("lod_positions", lod, level)))


@operator(x=Structure, lod_rule=same_as("x"), differentiable=False)
def lod_segment_ids(x: Any, level: int = 0) -> Any:
    """Return the number of the sequence of a level that contains each row, as a tensor with the same structure.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    LoDTensor
        int64, with the LoD of x; sequences are numbered over the whole batch.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_segment_ids([["a", "b"], [], ["c"]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[0, 0], [], [2]])
    """
    lod = lod_of("lod_segment_ids: x", x)
    return _nested(lod, lod.segment_ids(level_of("lod_segment_ids", lod, level)))


def _nested(lod: LoD, values: Array) -> Any:
    return tensor_core.new_tensor(values, lod)


def _per_row(where: str, x: Spec | LoD, level: Any) -> Spec:
    """Return the Spec of one integer per row."""
    level_of(where, structure_of(f"{where}: x", x), level)
    return Spec((None,), np.dtype(np.int64))


@lod_num.define_infer
def _(x: Spec, level: int) -> Spec:
    return _per_row("lod_num", x, level)


@lod_positions.define_infer
def _(x: Spec, level: int) -> Spec:
    return _per_row("lod_positions", x, level)


@lod_segment_ids.define_infer
def _(x: Spec, level: int) -> Spec:
    return _per_row("lod_segment_ids", x, level)


def lod_index(x: Any, axis: int) -> Any:
    """Return the index of each row along an axis of the levels.

    Parameters
    ----------
    x : LoDTensor or nested lists
    axis : int
        0 .. num_levels: 0 numbers the sequences of the batch, axis k the elements of each sequence of level k - 1.

    Returns
    -------
    LoDTensor
        int64, with the LoD of x.

    Raises
    ------
    ValueError, DTypeError
        If the axis does not exist.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[["a", "b"], ["c"]], [["d"]]])
    >>> lodcore.lod_index(x, 0).tolist(), lodcore.lod_index(x, 1).tolist()
    ([[[0, 0], [0]], [[1]]], [[[0, 0], [1]], [[0]]])
    """
    x = nested_operand("lod_index: x", x)
    number = integer_of("lod_index: axis", axis, 0, x.num_levels)
    if number == 0:
        return lod_segment_ids(x, 0)
    if number == x.num_levels:
        return lod_positions(x, -1)
    return sequence_expand_as(lod_positions(lod_num(x, number), -1), x, number)
