"""RankTable and IndicesMap: the order of sequences in steps, and the positions of their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import joining, lod_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["IndicesMap", "RankTable", "map_of", "map_of_order", "table_of", "table_of_level"]

Array = np.ndarray[Any, Any]

FEW_STEPS = 16  # per sequence; where the longest one has more, sorting the lengths takes less than counting by steps


class RankTable(Tensor):
    """The order of the sequences of one level in steps, by default longest first.

    Made by `lod_rank_table`, and by `IndicesMap.rank`.

    Parameters
    ----------
    indices : array_like of integers, shape (n,)
        A permutation of 0 .. n - 1.
    lengths : array_like of integers, shape (n,)
        Decreasing, 0 or more.

    Raises
    ------
    ShapeError, LoDError, DTypeError, IndexError
        If the arguments are not such vectors.
    """

    __module__ = "lodcore"

    instead_of_dense = None

    __slots__ = ("__weakref__", "_falls", "_indices", "_lengths", "_level", "_lod", "_map")

    def __init__(self, indices: npt.ArrayLike, lengths: npt.ArrayLike) -> None:
        self._indices = buffers.private_offsets(indices, "RankTable: indices")
        self._lengths = buffers.private_offsets(lengths, "RankTable: lengths")
        if len(self._indices) != len(self._lengths):
            raise ShapeError(f"RankTable: lengths: has {len(self._lengths)} entries; indices has {len(self._indices)}")
        self._check()
        buffers.seal(self._indices)
        buffers.seal(self._lengths)
        self._lod: LoD | None = None
        self._level = 0
        self._map: IndicesMap | None = None
        self._falls = True

    def _check(self) -> None:
        """Raise if this is not an order of sequences by length; the message names the first bad entry."""
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

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The numbers of the sequences: int64, shape (n,), permanently read-only."""
        return buffers.private(self._indices)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Their lengths, in elements of the level: int64, shape (n,), permanently read-only."""
        return buffers.private(self._lengths)

    @property
    def lod(self) -> LoD:
        """The structure whose sequences are ranked; one level for a table made from two vectors."""
        if self._lod is None:
            lengths = np.empty(len(self), np.int64)
            lengths[self._indices] = self._lengths
            self._lod = LoD.from_lengths(lengths)
        return self._lod

    @property
    def level(self) -> int:
        """The level of the ranked sequences."""
        return self._level

    @property
    def indices_map(self) -> IndicesMap:
        """The same order as a map of elements, for `pack`."""
        if self._map is None:
            self._map = map_of_order(self.lod, self._level, self._indices)
        return self._map

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape: one axis, the number of sequences."""
        return self._indices.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype: int64."""
        return self._indices.dtype

    def clone(self) -> RankTable:
        """Return the object itself, since it is immutable."""
        return self

    def count_longer(self, step: int) -> int:
        """Count the sequences that are longer than a step."""
        if self._falls:
            return int(kernels.rank_table.count_longer(self._lengths, step))
        return int(np.count_nonzero(self._lengths > step))

    @property
    def falls(self) -> bool:
        """Whether lengths decrease, so that the remaining sequences at a step are the first ones."""
        return self._falls

    def __len__(self) -> int:
        return len(self._indices)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._lod is None:
            return RankTable, (self._indices, self._lengths)
        return RankTable._restored, (self._lod, self._level, self._indices)

    @classmethod
    def _restored(cls, lod: LoD, level: int, order: Array) -> RankTable:
        return restore_table(lod, level, order)

    def __copy__(self) -> RankTable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RankTable:
        return self

    def __repr__(self) -> str:
        pairs = ", ".join(f"{i}: {length}" for i, length in zip(self.indices[:8], self.lengths[:8], strict=True))
        return f"RankTable({len(self)} sequences, index: length {{{pairs}{', ...' if len(self) > 8 else ''}}})"


class IndicesMap(Tensor):
    """The map from elements of steps to elements of a nested tensor; `TensorArray.unpack` makes it."""

    __module__ = "lodcore"

    instead_of_dense = None

    __slots__ = ("__weakref__", "_level", "_lod", "_order", "_rank", "_steps", "_values")

    _lod: LoD
    _level: int
    _order: Array
    _steps: Array
    _values: Array | None
    _rank: RankTable | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("IndicesMap: is made by TensorArray.unpack")

    @property
    def lod(self) -> LoD:
        """The structure of the unpacked tensor."""
        return self._lod

    @property
    def level(self) -> int:
        """The level that was unpacked."""
        return self._level

    @property
    def order(self) -> Array:
        """The numbers of the sequences, in their order in each step: int64, permanently read-only."""
        return buffers.private(self._order)

    @property
    def steps(self) -> Array:
        """The offsets of the steps, in elements: int64, permanently read-only."""
        return buffers.private(self._steps)

    @property
    def rank(self) -> RankTable:
        """The same order as a RankTable."""
        if self._rank is None:
            self._rank = table_of_level(self._lod, self._level, self._order)
        return self._rank

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The numbers of the sequences in their order in each step, as in a RankTable."""
        return self.rank.indices

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The lengths of the sequences in that order, as in a RankTable."""
        return self.rank.lengths

    @property
    def values(self) -> Array:
        """The map: int32 (int64 if int32 is too small), one entry per element in step order, permanently read-only."""
        found = self._values
        if found is None:
            count = int(self._steps[-1])
            numbers = np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)
            values = np.empty_like(numbers)
            offsets = lod_body.offsets_view(self.lod, self.level)
            kernels.rank_table.unpack_rows(
                buffers.as_bytes(numbers), offsets, self._order, self._steps, buffers.as_bytes(values)
            )
            found = self._values = buffers.sealed(values)
        return buffers.private(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape: one axis, the number of elements of the level."""
        return (int(self._steps[-1]),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype: int32, or int64 if that is too small."""
        return np.dtype(np.int32 if self._steps[-1] < 2**31 else np.int64)

    def clone(self) -> IndicesMap:
        """Return the object itself, since it is immutable."""
        return self

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype, copy=copy)

    def __len__(self) -> int:
        return int(self._steps[-1])

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def tolist(self) -> list[int]:
        """Return the map as a list of int."""
        numbers: list[int] = self.values.tolist()
        return numbers

    def __repr__(self) -> str:
        text = np.array2string(self.values, separator=", ", threshold=12)
        return f"IndicesMap(level {self.level}, {len(self._steps) - 1} steps: {text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return IndicesMap._restored, (self.lod, self.level, self._order)

    @classmethod
    def _restored(cls, lod: LoD, level: int, order: Array) -> IndicesMap:
        return restore_map(lod, level, order)


def table_of_level(lod: LoD, level: int, order: Array | None = None) -> RankTable:
    """Return the rank of the sequences of a level (counted from the first), longest first unless an order is given."""
    falls, lengths = order is None, lod.lengths(level)
    if order is None:
        offsets = lod_body.offsets_view(lod, level)
        count = len(offsets) - 1
        if offsets[count] > FEW_STEPS * (count + 1) and lengths.max(initial=0) > FEW_STEPS * (count + 1):
            order = np.argsort(-lengths, kind="stable")
        else:  # by the number of sequences that reach each step
            order = buffers.new_offsets(count)
            kernels.rank_table.rank_by_length(offsets, joining.steps_of(lod, level), order)
    made = RankTable.__new__(RankTable)
    made._indices, made._lengths = buffers.sealed(order), buffers.sealed(lengths[order])
    made._falls = falls or not bool((np.diff(made._lengths) > 0).any())
    made._lod, made._level, made._map = lod, level, None
    return made


def map_of_order(lod: LoD, level: int, order: Array, steps: Array | None = None) -> IndicesMap:
    """Return the map of a level (counted from the first) whose sequences are in a given order in the steps."""
    made = IndicesMap.__new__(IndicesMap)
    made._lod, made._level, made._order = lod, level, buffers.sealed(order)
    made._steps = buffers.sealed(joining.steps_of(lod, level) if steps is None else steps)
    made._values, made._rank = None, None
    return made


def table_of(where: str, given: Any) -> RankTable:
    """Return a RankTable, which may be given as the map of `unpack`."""
    if isinstance(given, RankTable):
        return given
    if isinstance(given, IndicesMap):
        return given.rank
    raise DTypeError(f"{where}: is {type(given).__name__}; a RankTable or an IndicesMap is needed")


def map_of(where: str, given: Any) -> IndicesMap:
    """Return an IndicesMap, which may be given as a RankTable."""
    if isinstance(given, IndicesMap):
        return given
    if isinstance(given, RankTable):
        return given.indices_map
    raise DTypeError(f"{where}: is {type(given).__name__}; a RankTable or an IndicesMap is needed")


def _checked_order(where: str, lod: LoD, level: int, order: Array) -> tuple[int, Array]:
    """Check a pickled order."""
    if not isinstance(lod, LoD):
        raise DTypeError(f"{where}: lod: is {type(lod).__name__}; a LoD is needed")
    k = lod_body.normalize_level(lod, level)
    places = buffers.as_int64(order, f"{where}: order", IndexError).copy()
    if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):
        raise LoDError(f"{where}: order: is not a permutation of {lod.num_sequences(k)} sequences")
    return k, places


def restore_map(lod: LoD, level: int, order: Array) -> IndicesMap:
    """Make a map from pickled data, which are checked."""
    k, places = _checked_order("IndicesMap", lod, level, order)
    return map_of_order(lod, k, places)


def restore_table(lod: LoD, level: int, order: Array) -> RankTable:
    """Make a table from pickled data, which are checked."""
    k, places = _checked_order("RankTable", lod, level, order)
    return table_of_level(lod, k, places)
