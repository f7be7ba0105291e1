"""TensorArray: tensors by step, and the way from sequences to steps and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import buffers, kernels, tensor_core
from lodcore.elements import (
    alike,
    check_sizes,
    one_kind,
    recorded,
    same_shapes,
    slot_number,
    source_of,
    values_of,
    with_one_lod,
)
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.indices_map import IndicesMap, in_step_order
from lodcore.lod import LoD
from lodcore.memory import integer
from lodcore.nested import as_array, join_arrays
from lodcore.structure import concat_lods
from lodcore.tensor import LoDTensor

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["TensorArray"]

Array = np.ndarray[Any, Any]


class TensorArray:
    """Tensors by step: a container to write, read, stack and concatenate, and to cut sequences into steps.

    Parameters
    ----------
    size : int, optional
        Number of slots to begin with, all of them holes.
    dynamic : bool, default True
        Grow when something is written past the end.
    unstack_from : array_like or LoDTensor, optional
        Begin with what `unstack` makes of it.

    Notes
    -----
    Elements are ndarrays or LoDTensors. Indices never count from the end. What `unstack` and `unpack` make are views
    of one buffer.

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore import TensorArray
    >>> states = TensorArray()
    >>> for step in range(3):
    ...     states.write(step, np.full(2, step))
    >>> states.stack()
    array([[0, 0],
           [1, 1],
           [2, 2]])
    """

    __slots__ = ("_block", "_items", "_limit", "_size", "_source")

    def __init__(self, size: int | None = None, dynamic: bool = True, unstack_from: Any = None) -> None:
        self._block: Any = None  # the Block that writes to it in place of us
        self._items: dict[int, Any] = {}  # what was written
        self._source: Any = None  # what slots that were not written to are views of: an ndarray or a LoDTensor
        self._size = 0
        if unstack_from is not None:
            self._source = source_of("TensorArray: unstack_from", unstack_from, 0)
            self._size = len(self._source)
        if size is not None:
            slots = slot_number("TensorArray: size", size)
            if slots < self._size:
                raise ValueError(f"TensorArray: size: is {slots}; unstack_from has {self._size} entries")
            self._size = slots
        elif not dynamic and unstack_from is None:
            raise ValueError("TensorArray: size: is missing; an array that does not grow needs one")
        self._limit = None if dynamic else self._size

    @classmethod
    def _over(cls, source: Any) -> TensorArray:
        """Make an array whose elements are views of a source."""
        made = cls.__new__(cls)
        made._items, made._source, made._size, made._limit, made._block = {}, source, len(source), None, None
        return made

    def _snapshot(self) -> TensorArray:
        """Make an array of the same elements, which writes to this one do not reach."""
        (made := TensorArray.__new__(TensorArray))._take_over(self)
        return made

    def _take_over(self, other: TensorArray) -> None:
        """Take the elements of another array."""
        self._items, self._source, self._block = dict(other._items), other._source, None
        self._size, self._limit = other._size, other._limit

    # -- elements ------------------------------------------------------------------------------------------

    @recorded
    def write(self, index: Any, value: Any, data_shared: bool = True) -> None:
        """Write an element.

        Parameters
        ----------
        index : int
            An integer, or an array of one.
        value : array_like or LoDTensor
        data_shared : bool, default True
            Keep the value itself, so that memory is shared, or a copy.

        Raises
        ------
        IndexError
            If the index is negative, or past the end of an array that does not grow.
        """
        at, self._items[at] = self._checked(index, value, data_shared)
        if at >= self._size:
            self._size = at + 1

    def _checked(self, index: Any, value: Any, data_shared: bool) -> tuple[int, Any]:
        """Give the number and the element that `write` writes."""
        at = slot_number("TensorArray.write: index", index)
        if self._limit is not None and at >= self._limit:
            raise IndexError(f"TensorArray.write: index: is {at}; the size is fixed at {self._limit}")
        if type(value) is not np.ndarray and not isinstance(value, LoDTensor):
            value = as_array("TensorArray.write: value", value)
        if value.dtype.hasobject:
            raise DTypeError(f"TensorArray.write: value: has dtype {value.dtype}; Python objects have no fixed size")
        return at, value if data_shared else (value.clone() if isinstance(value, LoDTensor) else value.copy())

    @recorded
    def read(self, index: Any) -> Any:
        """Read an element.

        Parameters
        ----------
        index : int
            An integer, or an array of one.

        Returns
        -------
        ndarray or LoDTensor

        Raises
        ------
        IndexError
            If the index is negative, past the end, or that of a hole.
        """
        at = slot_number("TensorArray.read: index", index)
        if at >= self._size:
            raise IndexError(f"TensorArray.read: index: is {at}; the size is {self._size}")
        return self._element("read", at)

    def _element(self, name: str, at: int) -> Any:
        found = self._items.get(at)
        if found is None:
            if self._source is None or at >= len(self._source):
                raise IndexError(f"TensorArray.{name}: index: is {at}, a hole; the size is {self._size}")
            found = self._source[at] if self._source.ndim > 1 else self._source[at, ...]
        return found

    def _elements(self, name: str) -> list[Any]:
        """List all elements, refusing holes before a list of that size is made."""
        known = len(self._source) if self._source is not None else 0
        written = sum([at >= known for at in self._items]) if known else len(self._items)
        if known + written < self._size:
            hole = known
            while hole in self._items:
                hole += 1
            raise IndexError(f"TensorArray.{name}: index: is {hole}, a hole; the size is {self._size}")
        if written == self._size:
            return list(map(self._items.__getitem__, range(self._size)))
        return [self._element(name, at) for at in range(self._size)]

    @property
    def _untouched(self) -> bool:
        return self._source is not None and not self._items and self._size == len(self._source)

    @recorded
    def size(self) -> int:
        """Give the number of slots, holes included."""
        return self._size

    def __len__(self) -> int:
        return int(self.size())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (dict(self._items), self._source, self._size, self._limit)

    def __iter__(self) -> Iterator[Any]:
        return (self.read(at) for at in range(len(self)))

    def __repr__(self) -> str:
        if not self._size:
            return "TensorArray(empty)"
        known = len(self._source) if self._source is not None else 0
        holes = self._size - known - sum(at >= known for at in self._items)
        text = f"{self._size} element{'s' * (self._size != 1)}"
        return f"TensorArray({text}{f', {holes} of them holes' if holes else ''})"

    @recorded
    def sizes(self, axis: int = 0) -> npt.NDArray[np.int64]:
        """Give the length of each element along an axis.

        Parameters
        ----------
        axis : int
            0 counts the outermost sequences of a LoDTensor, the rows of an ndarray.

        Returns
        -------
        ndarray
            int64, shape (size(),).

        Raises
        ------
        IndexError
            At a hole, or if an element has no such axis.
        """
        axis = integer("TensorArray.sizes: axis", axis, bools=True)
        if axis == 0 and self._untouched and isinstance(self._source, LoDTensor):
            lengths: npt.NDArray[np.int64] = self._source.lengths
            return lengths
        sizes = []
        for at, element in enumerate(self._elements("sizes")):
            shape = element.shape
            if not -len(shape) <= axis < len(shape) or shape[axis] is None:
                raise IndexError(f"TensorArray.sizes: axis: is {axis}; element {at} has shape {shape}")
            sizes.append(shape[axis])
        return np.array(sizes, np.int64)

    # -- all together --------------------------------------------------------------------------------------

    @recorded
    def stack(self, axis: int = 0) -> Any:
        """Put the elements behind each other along a new axis.

        Parameters
        ----------
        axis : int
            Of the result. For LoDTensors, 0 makes a new outermost level, one sequence an element; another axis is one
            of the values, and the structures must be equal.

        Returns
        -------
        ndarray or LoDTensor

        Raises
        ------
        IndexError
            At a hole.
        ShapeError, LoDError
            Naming the element that differs from the first.
        """
        axis = integer("TensorArray.stack: axis", axis, bools=True)
        if axis == 0 and self._untouched and isinstance(self._source, np.ndarray):
            return self._source
        elements, lods = alike("stack", self._elements("stack"))
        if lods and axis == 0:
            inner = concat_lods("TensorArray.stack", lods)
            outer = LoD.from_lengths([*map(len, elements)]).offsets()
            levels = [inner.offsets(k) for k in range(inner.num_levels)]
            joined = join_arrays("TensorArray.stack", values_of(elements), None)[0]
            return LoDTensor(joined, LoD.from_offsets(outer, *levels), share=True)
        values = values_of(elements)
        same_shapes("stack", values, None)
        ndim = values[0].ndim + 1
        if not -ndim <= axis < ndim:
            raise ShapeError(f"TensorArray.stack: axis: is {axis}; the result has {ndim} axes")
        return with_one_lod("stack", np.stack(values, axis), lods, axis % ndim)

    @recorded
    def concat(self, axis: int = 0) -> Any:
        """Put the elements behind each other along an axis that they have.

        Parameters
        ----------
        axis : int
            Of the values. 0 puts batches behind each other; another axis needs equal structures.

        Returns
        -------
        ndarray or LoDTensor

        Raises
        ------
        IndexError
            At a hole.
        ShapeError, LoDError
            Naming the element that differs from the first.
        """
        axis = integer("TensorArray.concat: axis", axis, bools=True)
        if axis == 0 and self._untouched and isinstance(self._source, LoDTensor):
            return self._source.flatten(0)
        elements, lods = alike("concat", self._elements("concat"))
        values = values_of(elements)
        if values[0].ndim == 0:
            raise ShapeError("TensorArray.concat: axis: elements have no axis; use stack")
        if not -values[0].ndim <= axis < values[0].ndim:
            raise ShapeError(f"TensorArray.concat: axis: is {axis}; elements have {values[0].ndim} axes")
        axis %= values[0].ndim
        same_shapes("concat", values, axis)
        if axis == 0:
            joined = join_arrays("TensorArray.concat", values, None)[0]
            return tensor_core.new_tensor(joined, concat_lods("TensorArray.concat", lods)) if lods else joined
        return with_one_lod("concat", np.concatenate(values, axis), lods, axis)

    # -- sequences to steps and back -----------------------------------------------------------------------

    @classmethod
    @recorded
    def unstack(cls, x: Any, axis: int = 0) -> TensorArray:
        """Cut a tensor along an axis.

        Parameters
        ----------
        x : array_like or LoDTensor
        axis : int
            Only 0 for a LoDTensor, whose elements are its outermost sequences.

        Returns
        -------
        TensorArray
            Of read-only views.
        """
        return cls._over(source_of("TensorArray.unstack: x", x, integer("TensorArray.unstack: axis", axis, bools=True)))

    @classmethod
    @recorded
    def unpack(
        cls, x: Any, level: int, sort_by_length: bool = True, out: Array | None = None
    ) -> tuple[TensorArray, IndicesMap]:
        """Cut the sequences of a level into steps: step t holds element t of every sequence longer than t.

        Parameters
        ----------
        x : LoDTensor or nested lists
        level : int
        sort_by_length : bool, default True
            Within each step the longest sequence comes first, equal lengths in their order; otherwise all sequences
            keep their order.
        out : ndarray, optional
            shape of x.values: the buffer of the steps.

        Returns
        -------
        steps : TensorArray
            As many as the longest sequence has elements: read-only views of one buffer. Finer levels stay on each
            step as its LoD.
        indices_map : IndicesMap
            What `pack` needs to bring steps back.

        Raises
        ------
        LevelError
            If there is no such level.

        Examples
        --------
        >>> import lodcore
        >>> steps, indices_map = lodcore.TensorArray.unpack([[1, 2], [], [3, 4, 5]], 0)
        >>> list(steps)
        [array([3, 1]), array([4, 2]), array([5])]
        >>> indices_map.tolist()
        [2, 0, 3, 1, 4]
        """
        by_step, indices_map = in_step_order("TensorArray.unpack", x, level, sort_by_length, out)
        return cls._over(by_step), indices_map

    @recorded
    def pack(self, level: int, indices_map: IndicesMap, out: Array | None = None) -> LoDTensor:
        """Bring steps back into sequences: the inverse of `unpack`.

        Parameters
        ----------
        level : int
            The level that was unpacked.
        indices_map : IndicesMap
            What `unpack` gave.
        out : ndarray, optional
            shape (number of rows, ...): where to write the rows.

        Returns
        -------
        LoDTensor
            With the levels of what was unpacked up to `level`, and the finer levels of the steps. The width, dtype
            and finer levels of the steps are their own; only their numbers of elements must be those of the map.

        Raises
        ------
        LoDError
            If the level or the sizes of the steps are not the map's.

        Examples
        --------
        >>> import lodcore
        >>> steps, indices_map = lodcore.TensorArray.unpack([[1, 2], [], [3, 4, 5]], 0)
        >>> steps.pack(0, indices_map)
        LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2], [], [3, 4, 5]])
        """
        where = "TensorArray.pack"
        if not isinstance(indices_map, IndicesMap):
            raise DTypeError(f"{where}: indices_map: is {type(indices_map).__name__}; an IndicesMap is needed")
        lod, k = indices_map.lod, indices_map.level
        if lod._level(level, "TensorArray.pack") != k:
            raise LoDError(f"{where}: level: is {level}; the map is of level {k}")
        upper = [lod.offsets(j) for j in range(k + 1)]
        if self._untouched and isinstance(self._source, LoDTensor):
            check_sizes(where, self._source.lengths, indices_map._steps)
            if self._source.num_levels == 1:
                return indices_map._pack_buffer(self._source, upper, out)
            elements = []
        else:
            elements = self._elements("pack")
            counted = buffers.new_int64(len(elements) + 1)
            joinable = kernels.gather.count_rows(elements, counted) < 0
            if not joinable:
                counted[0] = 0
                np.cumsum(self.sizes(), out=counted[1:])
            if not np.array_equal(counted, indices_map._steps):
                check_sizes(where, counted[1:] - counted[:-1], indices_map._steps)
            if joinable or not any(isinstance(element, LoDTensor) for element in elements):
                return indices_map._pack_arrays(elements if joinable else one_kind(where, elements), upper, out)
        flat = self.concat(0)
        back = np.empty(len(indices_map), np.int64)
        back[indices_map.values] = np.arange(len(back))
        packed: LoDTensor = flat._gather(where, 0, back, out, upper)
        return packed


def _restore(items: dict[int, Any], source: Any, size: int, limit: int | None) -> TensorArray:
    """Make an array of what `pickle` kept, checking all of it."""
    made = TensorArray(size, limit is None)
    if source is not None:
        made._source = source_of("TensorArray: source", source, 0)
        made._size = max(made._size, len(made._source))
    for index, value in items.items():
        made.write(index, value)
    return made
