"""The map between the elements of a nested tensor and those of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.nested import as_values
from lodcore.tensor import LoDTensor, Tensor, as_nested

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["IndicesMap", "in_step_order"]

Array = np.ndarray[Any, Any]


class IndicesMap(Tensor):
    """Which element of a nested tensor each element of the steps is; made by `TensorArray.unpack`."""

    __slots__ = ("_level", "_lod", "_order", "_steps", "_values")

    _lod: LoD
    _level: int
    _order: Array
    _steps: Array
    _values: Array | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("IndicesMap: is made by TensorArray.unpack")

    @classmethod
    def _of(cls, lod: LoD, level: int, order: Array, steps: Array) -> IndicesMap:
        """Make a map of parts that are known to be right."""
        made = cls.__new__(cls)
        made._lod, made._level, made._order, made._steps, made._values = lod, level, order, steps, None
        return made

    @property
    def lod(self) -> LoD:
        """The structure of what was unpacked."""
        return self._lod

    @property
    def level(self) -> int:
        """The level that was cut into steps."""
        return self._level

    @property
    def values(self) -> Array:
        """The map: int32 (int64 where int32 is too small), one entry an element in step order, read-only."""
        if self._values is None:
            count = int(self._steps[-1])
            numbers = np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)
            values = np.empty_like(numbers)
            offsets = self.lod._view(self.level)
            kernels.rank.unpack_rows(
                buffers.as_bytes(numbers), offsets, self._order, self._steps, buffers.as_bytes(values)
            )
            buffers.seal(values)
            self._values = values
        return self._values

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis: the number of elements of the level."""
        return (int(self._steps[-1]),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """int32, or int64 where that is too small."""
        return np.dtype(np.int32 if self._steps[-1] < 2**31 else np.int64)

    def clone(self) -> IndicesMap:
        """Give itself: nothing of it can be changed."""
        return self

    def _pack_buffer(self, steps: LoDTensor, upper: list[Array], out: Array | None) -> LoDTensor:
        """Pack rows that lie behind each other, step by step."""
        rows = buffers.new_rows("TensorArray.pack", steps.values, steps.num_rows, out)
        offsets = self.lod._view(self.level)
        kernels.rank.pack_rows(steps._rows(), offsets, self._order, self._steps, buffers.as_bytes(rows))
        packed: LoDTensor = tensor_core.new_tensor(rows, core.make_lod(upper, len(rows)))
        return packed

    def _pack_arrays(self, elements: list[Any], upper: list[Array], out: Array | None) -> LoDTensor:
        """Pack one ndarray a step; without any step all sequences are empty, and only their structure comes back."""
        where = "TensorArray.pack"
        total = int(self._steps[-1])
        rows = buffers.new_rows(where, as_values(where, elements[0]) if elements else np.empty(0), total, out)
        target = buffers.as_bytes(rows)
        if out is not None and kernels.gather.first_overlap(elements, target) >= 0:
            raise ValueError(f"{where}: out: overlaps an input; it must have memory of its own")
        offsets = self.lod._view(self.level)
        bad = kernels.rank.pack_steps(elements, offsets, self._order, self._steps, target)
        if bad >= 0:
            raise ShapeError(f"{where}: element {bad}: changed while it was read")
        packed: LoDTensor = tensor_core.new_tensor(rows, core.make_lod(upper, total))
        return packed

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __len__(self) -> int:
        return int(self._steps[-1])

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def tolist(self) -> list[int]:
        """Give the map as a list of int."""
        numbers: list[int] = self.values.tolist()
        return numbers

    def __repr__(self) -> str:
        text = np.array2string(self.values, separator=", ", threshold=12)
        return f"IndicesMap(level {self.level}, {len(self._steps) - 1} steps: {text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_map, (self.lod, self.level, self._order)


def _restore_map(lod: LoD, level: int, order: Array) -> IndicesMap:
    """Make a map of what `pickle` kept, checking all of it."""
    if not isinstance(lod, LoD):
        raise DTypeError(f"IndicesMap: lod: is {type(lod).__name__}; a LoD is needed")
    k = lod._level(level)
    places = buffers.as_int64(order, "IndicesMap: order", IndexError).copy()
    if not np.array_equal(np.sort(places), np.arange(lod.num_sequences(k))):
        raise LoDError(f"IndicesMap: order: is no permutation of {lod.num_sequences(k)} sequences")
    return IndicesMap._of(lod, k, places, core.steps_of(lod, k))


def in_step_order(
    where: str, x: Any, level: int, sort_by_length: bool, out: Array | None
) -> tuple[LoDTensor, IndicesMap]:
    """Bring the elements of a level into step order: a LoDTensor whose outermost sequences are the steps, and the map.

    See `TensorArray.unpack`, which has the same arguments.
    """
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = lod._level(level, where)
    offsets = lod._view(k)
    steps = core.steps_of(lod, k)
    count = len(offsets) - 1
    if sort_by_length:
        order = buffers.new_int64(count)
        kernels.rank.rank_by_length(offsets, steps, order)
    else:
        order = np.arange(count)
    indices_map = IndicesMap._of(lod, k, order, steps)
    if k == lod.num_levels - 1:
        rows = buffers.new_rows(where, x.values, lod.num_rows, out)
        kernels.rank.unpack_rows(x._rows(), offsets, order, steps, buffers.as_bytes(rows))
        by_step = tensor_core.new_tensor(rows, core.make_lod([steps], lod.num_rows))
    else:
        by_step = x._gather(where, k + 1, indices_map.values, out, [steps])
    if out is not None:
        by_step = tensor_core.new_tensor(out.view(), by_step.lod)
    buffers.seal(by_step.values)
    return by_step, indices_map
