"""Operators that take sequences whole: by their numbers, pieces of each, batches behind each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import buffers, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.nested import join_rows
from lodcore.structure import concat_lods
from lodcore.tensor import LoDTensor, as_nested

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["concat_batches", "gather_sequences", "sequence_slice"]

Array = np.ndarray[Any, Any]


def gather_sequences(x: Any, index: npt.ArrayLike, level: int = 0, out: Array | None = None) -> LoDTensor:
    """Take sequences by their numbers, with all that is inside.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : array_like of integers, shape (n,)
        Numbers of sequences of `level`, counted over the whole batch. They may repeat; negative ones count from the
        end.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        n sequences, without the levels before `level`.

    Raises
    ------
    IndexError
        Naming the place and the index that is out of range.
    DTypeError, ShapeError, LevelError
        If the index is no vector of integers, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_sequences([[1, 2], [], [3]], [2, 0, 0])
    LoDTensor(3 sequences of lengths 1..2, int64: [[3], [1, 2], [1, 2]])
    """
    if type(x) is not LoDTensor:
        x = as_nested("gather_sequences: x", x)
    taken: LoDTensor = x._gather("gather_sequences", level, index, out)
    return taken


def concat_batches(xs: Any, out: Array | None = None) -> LoDTensor:
    """Put batches behind each other.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one, of as many levels, equal dtype and equal row shape.
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError, DTypeError, ShapeError
        Naming the batch that does not fit.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.concat_batches([lodcore.array([[1], []]), lodcore.array([[2, 3]])])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1], [], [2, 3]])
    """
    where = "concat_batches"
    if not isinstance(xs, (list, tuple)):
        raise DTypeError(f"{where}: xs: is {type(xs).__name__}; a list of batches is needed")
    xs = list(xs)
    if not xs:
        raise LoDError(f"{where}: xs: is empty; at least one batch is needed")
    batches = [x if type(x) is LoDTensor else as_nested(f"{where}: xs[{j}]", x) for j, x in enumerate(xs)]
    lod = concat_lods(where, [x.lod for x in batches])
    values = [x.values for x in batches]
    bad = kernels.gather.count_rows(values, buffers.new_int64(len(values) + 1))
    if bad >= 0:
        odd, first = values[bad], values[0]
        if odd.dtype != first.dtype:
            raise DTypeError(f"{where}: xs[{bad}]: has dtype {odd.dtype}; xs[0] has {first.dtype}")
        raise ShapeError(f"{where}: xs[{bad}]: has rows of shape {odd.shape[1:]}; xs[0] has {first.shape[1:]}")
    rows = join_rows(where, values, lod.num_rows, out)
    joined: LoDTensor = tensor_core.new_tensor(rows, lod)
    return joined


def sequence_slice(
    x: Any, offset: npt.ArrayLike, length: npt.ArrayLike, level: int = -1, out: Array | None = None
) -> LoDTensor:
    """Cut a piece out of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    offset, length : array_like of integers, shape (n,) or (n, 1), or a scalar for all
        For each of the n sequences of `level`, in elements of that level: 0 <= offset, 0 <= length,
        offset + length <= its length.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        Of as many levels.

    Raises
    ------
    IndexError
        Naming the first sequence that its piece leaves.
    ShapeError, DTypeError, LevelError
        If offset or length are no vectors of n integers, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_slice([[1, 2, 3], [4, 5]], [1, 0], [2, 1])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 3], [4]])
    """
    where = "sequence_slice"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = lod._level(level)
    offsets = lod._view(k)
    count = len(offsets) - 1
    starts = buffers.for_each(offset, "sequence_slice: offset", count)
    sizes = buffers.for_each(length, "sequence_slice: length", count)
    ranges = buffers.new_int64(count, 2)
    cut = buffers.new_offsets(count + 1)
    bad = kernels.gather.slice_ranges(offsets, starts, sizes, ranges, cut)
    if bad >= 0:
        raise IndexError(
            f"{where}: offset, length: are {starts[bad]}, {sizes[bad]} for sequence {bad}; "
            f"it has {offsets[bad + 1] - offsets[bad]} elements"
        )
    upper = [lod.offsets(j) for j in range(k)]
    sliced: LoDTensor = x._take(where, k + 1, ranges, cut.item(count), out, [*upper, cut])
    return sliced
