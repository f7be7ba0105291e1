"""Structure as data: lengths, offsets and order as tensors, with which a Program can compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.errors import DTypeError, LevelError
from lodcore.operators import arguments
from lodcore.operators.copies import as_rows_or_nested, spec_rows
from lodcore.operators.lod_rules import computed, no_lod
from lodcore.operators.registry import operator
from lodcore.operators.roles import Rows, Structure, Structured
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import refuse_conversion
from lodcore.tensors.rank_table import IndicesMap, RankTable
from lodcore.tensors.tensor import Spec

__all__ = ["lod_lengths", "num_rows"]


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
    return lod.lengths(arguments.level_of("lod_lengths", lod, level))


@lod_lengths.define_infer
def _(x: Spec, level: int) -> Spec:
    arguments.level_of("lod_lengths", arguments.structure_of("lod_lengths: x", x), level)
    return Spec((None,), np.dtype(np.int64))


@operator(x=Rows, lod_rule=no_lod, differentiable=False)
def num_rows(x: Any) -> Any:
    """Return the number of rows of a tensor: in a body or a Program, a number that only the run knows.

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


def _num_levels(x: Any, part: str) -> int:
    return x.num_levels if part == "lod" else 0


@operator(x=Structured, lod_rule=computed("as the part", _num_levels), differentiable=False)
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
