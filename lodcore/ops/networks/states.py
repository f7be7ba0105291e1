"""Operators on the states of loops over sequences: zeros, checks of equal structure, and last states."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import integer_of, single_of
from lodcore.operators.copies import add_back, as_rows_or_nested, row_ranges, spec_rows
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Index, Rows, Steps, Table
from lodcore.ops.arrays.joined_arrays import cut_rows, joined_elements
from lodcore.ops.arrays.tensor_arrays import check_steps
from lodcore.ops.move.gather import concat_batches
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_dtype
from lodcore.tensors.rank_table import IndicesMap, map_of
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["last_of_steps", "zero_states"]


@operator(n=Index, lod_rule=no_lod, differentiable=False)
def zero_states(n: Any, width: int, dtype: Any = np.float32) -> Any:
    """Return states of zeros, one per sequence.

    Parameters
    ----------
    n : int, or array of one
    width : int
    dtype : dtype_like

    Returns
    -------
    ndarray, shape (n, width)

    Raises
    ------
    DTypeError, ValueError
        If n or width is negative, or not an integer.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.zero_states(2, 3)
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    count = integer_of("zero_states: n", single_of("zero_states: n", n), least=0)
    size, made = _width(width), _dtype(dtype)
    check_size("zero_states", count, size, made.itemsize)
    return np.zeros((count, size), made)


def _width(width: Any) -> int:
    return integer_of("zero_states: width", width, least=0)


def _dtype(dtype: Any) -> np.dtype[Any]:
    made = as_dtype("zero_states", dtype)
    return np.dtype(np.float64) if made is None else made  # None as in NumPy


@zero_states.define_infer
def _(n: Any, width: int, dtype: Any) -> Spec:
    known = n if isinstance(n, int) and not isinstance(n, bool) else None
    return Spec((known, _width(width)), _dtype(dtype))


@operator(ta=Steps, boot=Rows, indices_map=Table, lod_rule="as many levels as `boot`")
def last_of_steps(ta: Any, boot: Any, indices_map: Any, *, saved: Saved = None) -> Any:
    """Return the entry of each sequence at its last step, in the order of the batch.

    Parameters
    ----------
    ta : TensorArray
        One element per step, with one row (or sequence) for each sequence that is longer than the step.
    boot : LoDTensor or ndarray
        The result for sequences without steps, in the order of the batch.
    indices_map : IndicesMap or RankTable
        The order of the sequences in the steps, longest first.

    Returns
    -------
    LoDTensor or ndarray
        One row (or sequence) per sequence.

    Raises
    ------
    LoDError
        If the steps do not match the map, boot has another number of rows, or the longest sequence is not first.
    ShapeError, DTypeError
        If the rows of the steps and of boot differ in shape or dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> steps, indices_map = lodcore.TensorArray.unpack(lodcore.array([[1, 2], [], [3, 4, 5]]), 0)
    >>> lodcore.ops.last_of_steps(steps, np.array([10, 20, 30]), indices_map)
    array([ 2, 20,  5])
    """
    where = "last_of_steps"
    check_steps(where, ta)
    rank, boot = map_of(f"{where}: indices_map", indices_map), as_rows_or_nested(f"{where}: boot", boot)
    elements = _checked(where, ta, boot, rank)
    if isinstance(boot, LoDTensor) and boot.num_levels:
        flat = joined_elements(ta, 0, where)[0] if elements else boot[:0]
        both, index = concat_batches([flat, boot]), _places(rank)
        if saved is not None:
            saved["ranges"] = row_ranges(both.lod, 0, index)
        return lod_tensor_body.gather(both, where, 0, index)
    made = np.array(rows_of(boot))
    for (start, stop), element in zip(_ends(rank), elements, strict=True):
        if start < stop:
            made[rank.order[start:stop]] = rows_of(element)[start:]
    return made


def _checked(where: str, ta: TensorArray, boot: Any, rank: IndicesMap) -> list[Any]:
    """Return the elements, which must match the map and boot."""
    if not rank.rank.falls:
        raise LoDError(f"{where}: indices_map: has a longer sequence after a shorter one; the longest must be first")
    count = len(rank.order)
    if len(boot) != count:
        raise LoDError(f"{where}: boot: has shape {np.shape(boot)}; one row for each of {count} sequences is needed")
    elements, sizes = ta.elements(where), np.diff(rank.steps)
    if len(elements) != len(sizes):
        raise LoDError(f"{where}: indices_map: is of {len(sizes)} steps; the array has {len(elements)}")
    model = rows_of(boot)
    for t, element in enumerate(elements):
        rows, shape = rows_of(element), model.shape[1:]
        if np.ndim(element) == 0 or len(element) != sizes[t]:
            raise LoDError(f"{where}: element {t}: has shape {np.shape(element)}; {sizes[t]} sequences are there")
        if rows.shape[1:] != shape:
            raise ShapeError(f"{where}: element {t}: has rows of shape {rows.shape[1:]}; those of boot have {shape}")
        if rows.dtype != model.dtype:
            raise DTypeError(f"{where}: element {t}: has dtype {rows.dtype}; that of boot is {model.dtype}")
    return elements


def _ends(rank: IndicesMap) -> list[tuple[int, int]]:
    """Return for each step the range of positions, in the order of the map, of the sequences that end there."""
    sizes = [*np.diff(rank.steps).tolist(), 0]
    return [(behind, here) for here, behind in pairwise(sizes)]


def _places(rank: IndicesMap) -> Array:
    """Return the position of each sequence's last element among those of all steps, followed by those of boot."""
    steps, order = rank.steps, rank.order
    made: Array = steps[-1] + np.arange(len(order))
    lengths = rank.lengths[rank.lengths > 0]
    made[order[: len(lengths)]] = steps[lengths - 1] + np.arange(len(lengths))
    return made


@last_of_steps.define_infer
def _(ta: Spec, boot: Spec, indices_map: Spec) -> Spec:
    return boot._replace(shape=spec_rows(boot))


@last_of_steps.define_vjp
def _(d: Array, ta: Any, boot: Any, indices_map: Any, ranges: Array | None) -> tuple[Any, Array, None]:
    rank = map_of("last_of_steps: indices_map", indices_map)
    elements, d_boot = ta.elements("last_of_steps"), np.array(d)
    if ranges is not None:
        sizes = [len(rows_of(element)) for element in elements]
        d_both = add_back(d, ranges, np.zeros((sum(sizes) + len(rows_of(boot)), *d.shape[1:]), d.dtype))
        return cut_rows(d_both, sizes), d_both[sum(sizes) :], None
    found = {}
    for t, (start, stop) in enumerate(_ends(rank)):
        if start < stop:
            found[t] = np.zeros((stop, *d.shape[1:]), d.dtype)
            found[t][start:] = d[rank.order[start:stop]]
            d_boot[rank.order[start:stop]] = 0
    return found, d_boot, None
