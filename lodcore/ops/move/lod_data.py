"""Structure as tensors: lengths of sequences, positions of rows, and the numbers of their sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.errors import DTypeError, LevelError
from lodcore.operators import arguments
from lodcore.operators.arguments import integer_of, level_of
from lodcore.operators.copies import as_rows_or_nested, lod_of, nested_operand, spec_rows
from lodcore.operators.lod_rules import before, no_lod, same_as
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Anything, Rows, Structure
from lodcore.ops.move.expand import sequence_expand_as
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import refuse_conversion
from lodcore.tensors.rank_table import IndicesMap, RankTable
from lodcore.tensors.tensor import Spec

__all__ = ["lod_index", "lod_lengths", "lod_num", "lod_positions", "lod_segment_ids", "num_rows"]


@operator(x=Structure, lod_rule=no_lod, differentiable=False)
def lod_lengths(x: Any, level: int = 0) -> Any:
    """Return the lengths of the sequences of a level, as a tensor.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    ndarray
        int64, shape (number of sequences,), in elements of the level.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_lengths([[1, 2], [], [3, 4, 5]])
    array([2, 0, 3])
    """
    lod = x if isinstance(x, LoD) else as_nested("lod_lengths: x", x).lod
    return lod.lengths(level_of("lod_lengths", lod, level))


@lod_lengths.define_infer
def _(x: Spec, level: int) -> Spec:
    level_of("lod_lengths", arguments.structure_of("lod_lengths: x", x), level)
    return Spec((None,), np.dtype(np.int64))


@operator(x=Rows, lod_rule=no_lod, differentiable=False)
def num_rows(x: Any) -> Any:
    """Return the number of rows of a tensor: in a body or a Program, a number that is known only at run time.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list

    Returns
    -------
    np.int64
        Recorded, a Variable of int64, which operators and the shape of `reshape` take; `v.shape` is that of the Spec.

    Raises
    ------
    ShapeError
        If x is a number, which has no rows.

    Examples
    --------
    >>> import lodcore
    >>> int(lodcore.num_rows([[1, 2], [], [3, 4, 5]]))
    5
    """
    rows = as_rows_or_nested("num_rows: x", x)
    return np.int64(rows.num_rows if isinstance(rows, LoDTensor) else len(rows))


@num_rows.define_infer
def _(x: Spec) -> Spec:
    spec_rows(x)
    return Spec((), np.dtype(np.int64))


#: The kinds of tensors that have each part of a structure.
PARTS = {
    "lod": (LoDTensor, RankTable, IndicesMap),
    "lengths": (LoDTensor, RankTable, IndicesMap),
    "offsets": (LoDTensor,),
    "indices": (RankTable, IndicesMap),
    "values": (IndicesMap,),
    "rank": (IndicesMap,),
}


@operator(x=Anything, lod_rule="as the part", differentiable=False)
def structure_of(x: Any, part: str) -> Any:
    """Return a part of the structure of a tensor, a RankTable or an IndicesMap; recorded by their attributes.

    Parameters
    ----------
    x : LoDTensor, RankTable or IndicesMap
    part : {"lod", "lengths", "offsets", "indices", "values", "rank"}
        Must be an attribute of x.

    Returns
    -------
    ndarray, LoD or RankTable

    Raises
    ------
    DTypeError
        If x does not have the part.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops.move.lod_data import structure_of
    >>> structure_of(lodcore.array([[1, 2], [], [3]]), "offsets")
    array([0, 2, 2, 3])
    """
    _check_part(type(x), part)
    return getattr(x, part)


def _check_part(kind: type, part: str) -> None:
    refuse_conversion("structure_of: x", kind)
    if not isinstance(part, str) or part not in PARTS:
        raise DTypeError(f"structure_of: part: is {part!r}; one of {', '.join(PARTS)} is needed")
    if not issubclass(kind, PARTS[part]):
        raise DTypeError(f"structure_of: x: is {with_article(kind.__name__)}, which has no {part}")


@structure_of.define_infer
def _(x: Spec, part: str) -> Spec:
    _check_part(x.kind, part)
    if part == "lod":
        if x.kind is not LoDTensor:
            return Spec((), np.dtype(np.void), 0, object)
        if not x.num_levels:
            raise LevelError("structure_of: x: has no levels")
        return Spec((None,), np.dtype(np.int64), x.num_levels, LoD)
    if part == "rank":
        return Spec((None,), np.dtype(np.int64), 0, RankTable)
    return Spec((None,), x.dtype if part == "values" else np.dtype(np.int64))


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
    return lod_tensor_body.new_tensor(lengths, lod.prefix(k)) if k else lengths


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
    return lod_tensor_body.new_tensor(values, lod)


def _per_row(where: str, x: Spec | LoD, level: Any) -> Spec:
    """Return the Spec of one integer per row."""
    level_of(where, arguments.structure_of(f"{where}: x", x), level)
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
