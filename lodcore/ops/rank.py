"""Operators that order sequences by their length, longest first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore import buffers, kernels
from lodcore.errors import DTypeError, LoDError
from lodcore.lod import LoD
from lodcore.ops.gather import gather_sequences
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["RankTable", "lod_rank_table", "reorder_by_rank", "shrink_memory"]

Array = np.ndarray[Any, Any]


class RankTable:
    """The sequences of one level, longest first; equal lengths keep their order.

    Attributes
    ----------
    indices : ndarray
        int64, shape (n,): numbers of the sequences.
    lengths : ndarray
        int64, shape (n,): their lengths, in elements of the level. Both are read-only.
    """

    __slots__ = ("indices", "lengths")

    def __init__(self, indices: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        self.indices = indices
        self.lengths = lengths
        buffers.seal(indices)
        buffers.seal(lengths)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{i}: {length}" for i, length in zip(self.indices[:8], self.lengths[:8], strict=True))
        return f"RankTable({len(self)} sequences, index: length {{{pairs}{', ...' if len(self) > 8 else ''}}})"


def lod_rank_table(x: Any, level: int = 0) -> RankTable:
    """Order the sequences of a level by their length, longest first.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    RankTable
        Lengths count elements of the level; empty sequences stand at the end.

    Raises
    ------
    LevelError
        If there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_rank_table([[1], [2, 3, 4], [], [5]])
    RankTable(4 sequences, index: length {1: 3, 0: 1, 3: 1, 2: 0})
    """
    lod = x if isinstance(x, LoD) else as_nested("lod_rank_table: x", x).lod
    k = lod._level(level)
    offsets = lod._view(k)
    steps = buffers.new_int64(kernels.offsets.max_length(offsets) + 1)
    kernels.rank.step_offsets(offsets, steps)
    order = buffers.new_int64(len(offsets) - 1)
    kernels.rank.rank_by_length(offsets, steps, order)
    return RankTable(order, lod.lengths(k)[order])


def reorder_by_rank(x: Any, table: RankTable) -> Any:
    """Bring the outermost sequences (or the rows of an ndarray) into the order of a table.

    Parameters
    ----------
    x : LoDTensor, nested lists, or ndarray
        As many outermost sequences (rows) as the table has.
    table : RankTable

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    LoDError
        If the table has another number of sequences.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1], [2, 3, 4], []])
    >>> lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x))
    LoDTensor(3 sequences of lengths 0..3, int64: [[2, 3, 4], [1], []])
    """
    x = _in_order("reorder_by_rank", x, table)
    if len(x) != len(table):
        raise LoDError(f"reorder_by_rank: table: has {len(table)} sequences; x has {len(x)}")
    if isinstance(x, LoDTensor) and x.num_levels:
        return gather_sequences(x, table.indices)
    return np.asarray(x)[table.indices]


def shrink_memory(x: Any, step: int, table: RankTable) -> Any:
    """Keep what belongs to the sequences that are longer than `step`.

    Parameters
    ----------
    x : LoDTensor, nested lists, or ndarray
        In the order of the table: one outermost sequence (row) an entry, or only those of the first entries that an
        earlier step has left.
    step : int
        0 or more; past the end of the longest sequence nothing is left.
    table : RankTable

    Returns
    -------
    LoDTensor or ndarray
        A view of the first sequences (rows).

    Raises
    ------
    IndexError
        If step is negative.
    LoDError
        If x has fewer sequences (rows) than are left, or more than the table.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> table = lodcore.lod_rank_table([[1], [2, 3, 4], [], [5]])
    >>> lodcore.shrink_memory(np.arange(4), 0, table)
    array([0, 1, 2])
    """
    x = _in_order("shrink_memory", x, table)
    if not hasattr(step, "__index__"):
        raise DTypeError(f"shrink_memory: step: is {step!r}; an integer is needed")
    if step < 0:
        raise IndexError(f"shrink_memory: step: is {step}; steps count from 0")
    longer = kernels.rank.count_longer(table.lengths, min(int(step), 2**63 - 1))
    if not longer <= len(x) <= len(table):
        raise LoDError(
            f"shrink_memory: x: has {len(x)} sequences; {longer} are longer than step {step}, of {len(table)} in all"
        )
    return x[:longer]


def _in_order(where: str, x: Any, table: RankTable) -> Any:
    """Check the two arguments that `reorder_by_rank` and `shrink_memory` share."""
    if not isinstance(table, RankTable):
        raise DTypeError(f"{where}: table: is {type(table).__name__}; a RankTable is needed")
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            raise DTypeError(f"{where}: x: has no axis; its first axis counts the rows")
        return x
    return as_nested(f"{where}: x", x)
