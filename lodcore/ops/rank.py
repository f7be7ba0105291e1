"""Operators that order sequences by their length, longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import buffers, core, kernels
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.ops.gather import gather_sequences
from lodcore.tensor import LoDTensor, as_nested

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RankTable", "lod_rank_table", "reorder_by_rank", "shrink_memory"]

Array = np.ndarray[Any, Any]


class RankTable:
    """The sequences of one level, longest first; equal lengths keep their order; made by `lod_rank_table`.

    Parameters
    ----------
    indices, lengths : array_like of integers, shape (n,)
    """

    __slots__ = ("_indices", "_lengths")

    def __init__(self, indices: npt.ArrayLike, lengths: npt.ArrayLike) -> None:
        self._indices = buffers.private_offsets(indices, "RankTable: indices")
        self._lengths = buffers.private_offsets(lengths, "RankTable: lengths")
        if len(self._indices) != len(self._lengths):
            raise ShapeError(f"RankTable: lengths: has {len(self._lengths)} entries; indices has {len(self._indices)}")
        buffers.seal(self._indices)
        buffers.seal(self._lengths)

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """Numbers of the sequences: int64, shape (n,), read-only."""
        return self._indices

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Their lengths, in elements of the level: int64, shape (n,), read-only."""
        return self._lengths

    def __len__(self) -> int:
        return len(self._indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return RankTable, (self._indices, self._lengths)

    def __copy__(self) -> RankTable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RankTable:
        return self

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
    steps = core.steps_of(lod, k)
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
