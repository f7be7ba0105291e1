"""Operators that order sequences by their length, longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import buffers, core, kernels
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.lod_rules import computed
from lodcore.ops.common import Array, rows_of
from lodcore.ops.moving import add_back, as_rows_or_nested, level_of, row_by_row, row_ranges, spec_level, spec_rows
from lodcore.registry import Index, Nested, Rows, Spec, Table, op, operator
from lodcore.tensor import LoDTensor, Tensor, as_nested

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RankTable", "lod_rank_table", "reorder_by_rank", "shrink_memory"]


class RankTable(Tensor):
    """The sequences of one level, longest first; equal lengths keep their order; made by `lod_rank_table`.

    Parameters
    ----------
    indices : array_like of integers, shape (n,)
        Each of 0 .. n - 1 once.
    lengths : array_like of integers, shape (n,)
        Falling, 0 or more.

    Raises
    ------
    ShapeError, LoDError, DTypeError, IndexError
        If they are no such vectors.
    """

    __slots__ = ("_indices", "_lengths")

    def __init__(self, indices: npt.ArrayLike, lengths: npt.ArrayLike) -> None:
        self._indices = buffers.private_offsets(indices, "RankTable: indices")
        self._lengths = buffers.private_offsets(lengths, "RankTable: lengths")
        if len(self._indices) != len(self._lengths):
            raise ShapeError(f"RankTable: lengths: has {len(self._lengths)} entries; indices has {len(self._indices)}")
        self._check()
        buffers.seal(self._indices)
        buffers.seal(self._lengths)

    def _check(self) -> None:
        """Raise if this is no order of sequences by length, naming the first entry that does not fit."""
        count = len(self._indices)
        wrong = (self._indices < 0) | (self._indices >= count)
        if wrong.any():
            j = int(np.argmax(wrong))
            raise IndexError(f"RankTable: indices: is {self._indices[j]} at position {j}; there are {count} sequences")
        first = np.unique(self._indices, return_index=True)[1]
        if len(first) < count:
            j = int(np.argmin(np.isin(np.arange(count), first)))
            raise LoDError(f"RankTable: indices: is {self._indices[j]} again at position {j}; each is needed once")
        wrong = (self._lengths < 0) | (np.diff(self._lengths, prepend=self._lengths[:1]) > 0)
        if wrong.any():
            j = int(np.argmax(wrong))
            after = f" after {self._lengths[j - 1]}" if j else ""
            raise LoDError(
                f"RankTable: lengths: is {self._lengths[j]} at position {j}{after}; "
                "the longest comes first, and none is negative"
            )

    @classmethod
    def _of(cls, indices: Array, lengths: Array) -> RankTable:
        """Make a table of arrays that nobody else has."""
        made = cls.__new__(cls)
        made._indices, made._lengths = indices, lengths
        buffers.seal(indices)
        buffers.seal(lengths)
        return made

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """Numbers of the sequences: int64, shape (n,), read-only."""
        return self._indices

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Their lengths, in elements of the level: int64, shape (n,), read-only."""
        return self._lengths

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis: the number of sequences."""
        return self._indices.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """int64."""
        return self._indices.dtype

    def clone(self) -> RankTable:
        """Give itself: nothing of it can be changed."""
        return self

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


@op(lod="own", gradient=False)
def lod_rank_table(x: Nested, level: int = 0) -> RankTable:
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
    k = level_of("lod_rank_table", lod, level)
    offsets = lod._view(k)
    steps = core.steps_of(lod, k)
    order = buffers.new_int64(len(offsets) - 1)
    kernels.rank.rank_by_length(offsets, steps, order)
    return RankTable._of(order, lod.lengths(k)[order])


@lod_rank_table.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("lod_rank_table", x.num_levels, level)
    return Spec((None,), np.dtype(np.int64), 0, RankTable)


@op(lod="own")
def reorder_by_rank(x: Rows, table: Table) -> Any:
    """Bring the outermost sequences (or the rows of an ndarray) into the order of a table.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
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
    where = "reorder_by_rank"
    x = _in_order(where, x, table)
    if len(x) != len(table):
        raise LoDError(f"{where}: table: has {len(table)} sequences; x has {len(x)}")
    if isinstance(x, LoDTensor):
        return x._gather(where, 0, table.indices)
    single = LoDTensor(x, LoD.from_lengths(np.ones(len(x), np.int64)))
    return single._gather(where, 0, table.indices).values


@reorder_by_rank.infer
def _(x: Spec, table: Any) -> Spec:
    return x._replace(shape=spec_rows(x))


@reorder_by_rank.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    x, index = saved.x, saved.table.indices
    nested = isinstance(x, LoDTensor) and x.lod.num_levels
    ranges = row_ranges(x.lod, 0, index) if nested else row_by_row(index % max(len(x), 1))
    return add_back(d, ranges, saved.new("x")), None


@operator(x=Rows, step=Index, table=Table, lod_rule=computed("the first sequences of `x`", lambda x: x.num_levels))
def shrink_memory(x: Any, step: Any, table: RankTable) -> Any:
    """Keep what belongs to the sequences that are longer than `step`.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        In the order of the table: one outermost sequence (row) an entry, or only those of the first entries that an
        earlier step has left.
    step : int, or array of one
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
    where = "shrink_memory"
    x = _in_order(where, x, table)
    t = _step("shrink_memory: step", step)
    longer = kernels.rank.count_longer(table._lengths, t if t < 2**63 else 2**63 - 1)
    if not longer <= len(x) <= len(table):
        raise LoDError(f"{where}: x: has {len(x)} sequences; {longer} are longer than step {t}, of {len(table)} in all")
    return x[:longer]


@shrink_memory.define_infer
def _(x: Spec, step: Any, table: Any) -> Spec:
    return Spec(spec_rows(x), *x[1:])


@shrink_memory.define_vjp
def _(d: Array, x: Any) -> tuple[Array, None, None]:
    count = len(rows_of(x))
    return d if len(d) == count else buffers.extended(d, count), None, None


def _in_order(where: str, x: Any, table: RankTable) -> Any:
    """Check the two arguments that `reorder_by_rank` and `shrink_memory` share."""
    if not isinstance(table, RankTable):
        raise DTypeError(f"{where}: table: is {type(table).__name__}; a RankTable is needed")
    if type(x) is not np.ndarray or not x.dtype.isnative:
        return as_rows_or_nested(f"{where}: x", x)
    if x.ndim == 0:
        raise DTypeError(f"{where}: x: has no axis; its first axis counts the rows")
    return x


def _step(where: str, given: Any) -> int:
    """Turn an integer, or an array of one, into the number of a step."""
    number: Any = given
    if type(given) is np.int64 or (isinstance(given, np.ndarray) and given.size == 1 and given.dtype.kind in "iu"):
        number = given.item()
    if type(number) is not int and (
        isinstance(number, (bool, np.bool_, np.ndarray)) or not hasattr(number, "__index__")
    ):
        raise DTypeError(f"{where}: is {given!r}; an integer, or an array of one, is needed")
    step = int(number.__index__())
    if step < 0:
        raise IndexError(f"{where}: is {step}; steps count from 0")
    return step
