"""TensorArray: tensors by step; and the versions of it that a Block records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.dispatch import ArrayBody, note, open_block, operators, recorder_of
from lodcore.errors import DTypeError, ShapeError
from lodcore.tensors import tensor_core
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.rank_table import IndicesMap
from lodcore.tensors.tensor import Spec

__all__ = ["ArrayMethods", "TensorArray", "slot_number", "source_of"]

Array = np.ndarray[Any, Any]


class Maker:
    """A method that makes an array when it is called on the class, and fills an empty one when called on an instance.

    Parameters
    ----------
    function : callable
        Its first argument is the class or the instance.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        return partial(self.function, owner if instance is None else instance)


class ArrayMethods:
    """The methods of arrays, also of those that are recorded: each of them is an operator."""

    __slots__ = ()

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
        DTypeError
            If the value is a SparseTensor or holds Python objects.
        """
        operators.tensor_array_write(self, index, value, data_shared)

    def read(self, index: Any, default: Any = None, name: str | None = None) -> Any:
        """Read an element.

        Parameters
        ----------
        index : int
            An integer, or an array of one.
        default : tensor or number, optional
            Returned if and only if the index is negative.
        name : str, optional
            Of the Variable, where the read is recorded.

        Returns
        -------
        ndarray or LoDTensor

        Raises
        ------
        IndexError
            If the index is negative and there is no default, past the end, or that of a hole.
        """
        if name is not None:
            return operators.tensor_array_read(self, index, default, name=name)
        return operators.tensor_array_read(self, index, default)

    def size(self, name: str | None = None) -> Any:
        """Return the number of slots, holes included."""
        return operators.tensor_array_size(self, name=name) if name else operators.tensor_array_size(self)

    def sizes(self, axis: int = 0, name: str | None = None) -> Any:
        """Return the length of each element along an axis.

        Parameters
        ----------
        axis : int
            0 counts the outermost sequences of a LoDTensor, the rows of an ndarray.
        name : str, optional

        Returns
        -------
        ndarray
            int64, shape (size(),).

        Raises
        ------
        IndexError
            At a hole, or if an element has no such axis.
        """
        return operators.tensor_array_sizes(self, axis, name=name)

    def stack(self, axis: int = 0, name: str | None = None) -> Any:
        """Join the elements along a new axis.

        Parameters
        ----------
        axis : int
            Of the result. For LoDTensors, 0 makes a new outermost level, one sequence per element; another axis is one
            of the values, and the structures must be equal.
        name : str, optional
            Of the Variable, where the call is recorded.

        Returns
        -------
        ndarray or LoDTensor
            Of no elements, shape (0, ...).

        Raises
        ------
        IndexError
            At a hole.
        ShapeError, LoDError
            Naming the element that differs from the first.
        ValueError
            If there are no elements, and nothing is known of them.
        """
        return operators.tensor_array_stack(self, axis, name=name)

    def concat(self, axis: int = 0, name: str | None = None) -> Any:
        """Join the elements along an axis that they have.

        Parameters
        ----------
        axis : int
            Of the values. 0 puts batches one after another; another axis needs equal structures.
        name : str, optional
            Of the Variable, where the call is recorded.

        Returns
        -------
        ndarray or LoDTensor
            Of no elements, no rows of their width and dtype.

        Raises
        ------
        IndexError
            At a hole.
        ShapeError, LoDError
            Naming the element that differs from the first.
        ValueError
            If there are no elements, and nothing is known of them.
        """
        return operators.tensor_array_concat(self, axis, name=name)

    def pack(self, level: int, indices_map: Any, out: Array | None = None, name: str | None = None) -> Any:
        """Join steps into sequences: the inverse of `unpack`.

        Parameters
        ----------
        level : int
            The level that was unpacked.
        indices_map : IndicesMap or RankTable
            What `unpack` returned, or the rank of the steps.
        out : ndarray, optional
            shape (number of rows, ...): where to write the rows.
        name : str, optional
            Of the Variable, where the call is recorded.

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
        if out is None:
            return operators.tensor_array_pack(self, level, indices_map, name=name)
        return operators.tensor_array_pack(self, level, indices_map, out=out, name=name)

    @property
    def rank(self) -> Any:
        """In which order the sequences go through the steps that `unpack` made: an IndicesMap.

        `reorder_by_rank`, `shrink_memory` and `pack` take it.
        """
        return operators.tensor_array_rank(self)

    def boot(self, state: Any) -> Any:
        """Bring a state in the batch's own order, one row (sequence) per sequence, into the order of the steps.

        Examples
        --------
        >>> import numpy as np
        >>> import lodcore
        >>> steps, _ = lodcore.TensorArray.unpack([[1], [2, 3, 4], [], [5, 6]], 0)
        >>> steps.boot(np.array([10, 20, 30, 40]))
        array([20, 40, 10, 30])
        """
        return operators.reorder_by_rank(state, self.rank)

    def __getitem__(self, index: Any) -> Any:
        return operators.tensor_array_read(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        operators.tensor_array_write(self, index, value)

    def __len__(self) -> int:
        return int(self.size())

    def __iter__(self) -> Iterator[Any]:
        return (self.read(at) for at in range(len(self)))


class TensorArray(ArrayBody, ArrayMethods):
    """Tensors by step: a container to write, read, stack and concatenate, and to cut sequences into steps.

    Parameters
    ----------
    size : int, optional
        Number of slots to begin with, all of them holes.
    dynamic : bool, default True
        Grow when something is written past the end.
    unstack_from : array_like or LoDTensor, optional
        Begin with what `unstack` makes of it.
    name : str, optional
        Of the Variable, where the array is recorded.

    Notes
    -----
    Elements are ndarrays or LoDTensors. Indices never count from the end. What `unstack` and `unpack` make are views
    of one buffer. An array that is made in the body of a loop is made anew in every step.

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore import TensorArray
    >>> states = TensorArray()
    >>> for step in range(3):
    ...     states[step] = np.full(2, step)
    >>> states.stack()
    array([[0, 0],
           [1, 1],
           [2, 2]])
    """

    __slots__ = ("_element", "_items", "_limit", "_name", "_rank", "_size", "_source")

    def __init__(
        self, size: Any = None, dynamic: bool = True, unstack_from: Any = None, name: str | None = None
    ) -> None:
        self._items: dict[int, Any] = {}  # what was written
        self._source: Any = None  # what slots that were not written to are views of: an ndarray or a LoDTensor
        self._size = 0
        self._limit: int | None = None
        self._element: Spec | None = None  # of elements, if there are none
        self._rank: Any = None
        self._name = name
        block = open_block()
        if block is not None or recorder_of(size) is not None or recorder_of(unstack_from) is not None:
            repeated = block is not None and block.repeats
            made = operators.tensor_array_new(size, dynamic, unstack_from, repeated, name=name)
            if isinstance(made, TensorArray):  # of Variables that no Block records
                self.become(made)
            else:
                made.block.bind(self, made)
        elif not (size is None and dynamic and unstack_from is None):
            self.begin(size, dynamic, unstack_from)

    def begin(self, size: Any, dynamic: bool, unstack_from: Any) -> None:
        """Begin with slots, or with what `unstack` makes of a tensor."""
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
    def over(cls, source: Any, rank: Any = None) -> TensorArray:
        """Make an array whose elements are views of a source, and whose steps have a rank."""
        made = cls.__new__(cls)
        made._items, made._source, made._size, made._limit = {}, source, len(source), None
        made._element, made._rank, made._name = None, rank, None
        return made

    @classmethod
    def of_elements(cls, size: int, elements: dict[int, Any]) -> TensorArray:
        """Make an array of a size with some elements, which are known to be tensors."""
        made = cls.__new__(cls)
        made._items, made._source, made._size, made._limit = elements, None, size, None
        made._element, made._rank, made._name = None, None, None
        return made

    def snapshot(self) -> TensorArray:
        """Make an array of the same elements, which writes to this one do not reach."""
        made = self.own_kind.__new__(self.own_kind)
        made._take(self)
        made._name = None
        return made

    def become(self, other: TensorArray) -> None:
        """Take the elements of another array."""
        note(self)
        self._take(other)

    def _take(self, other: TensorArray) -> None:
        self._items, self._source = dict(other._items), other._source
        self._size, self._limit = other._size, other._limit
        self._element, self._rank = other._element, other._rank

    def clone(self) -> TensorArray:
        """Make a copy that shares no values."""
        elements = {at: _copied(element) for at, element in self.known_elements().items()}
        made = self.snapshot()
        made._items, made._source, made._element = elements, None, self.element_spec()
        return made

    @property
    def name(self) -> str:
        """The name that it was given, "array" if none."""
        return self._name or "array"

    @property
    def wanted_name(self) -> str | None:
        """The name that it was given, None if none."""
        return self._name

    # -- elements ------------------------------------------------------------------------------------------

    @property
    def num_slots(self) -> int:
        """Number of slots, whether or not a Block is recording."""
        return self._size

    @property
    def grows(self) -> bool:
        """Whether something may be written past the end."""
        return self._limit is None

    @property
    def step_rank(self) -> Any:
        """The IndicesMap of the steps that `unpack` made; None for other arrays."""
        return self._rank

    @property
    def untouched_source(self) -> Any:
        """What all elements are views of, one after another: an ndarray or a LoDTensor; None if there is no such."""
        return (
            self._source if not self._items and self._source is not None and self._size == len(self._source) else None
        )

    def put(self, index: Any, value: Any, data_shared: bool = True) -> None:
        """Write an element, whether or not a Block is recording."""
        at, written = self.checked(index, value, data_shared)
        note(self)
        self._items[at] = written
        if at >= self._size:
            self._size = at + 1

    def checked(self, index: Any, value: Any, data_shared: bool) -> tuple[int, Any]:
        """Return the number and the element that a write writes."""
        at = slot_number("tensor_array_write: index", index)
        if self._limit is not None and at >= self._limit:
            raise IndexError(f"tensor_array_write: index: is {at}; the size is fixed at {self._limit}")
        if type(value) is not np.ndarray and not isinstance(value, LoDTensor):
            value = as_array("tensor_array_write: x", value)
        if value.dtype.hasobject:
            raise DTypeError(f"tensor_array_write: x: has dtype {value.dtype}; Python objects have no fixed size")
        return at, value if data_shared else _copied(value)

    def element(self, where: str, at: int) -> Any:
        """Return an element by its number, which is in range."""
        found = self._items.get(at)
        if found is None:
            if self._source is None or at >= len(self._source):
                raise IndexError(f"{where}: index: is {at}, a hole; the size is {self._size}{self.hint}")
            found = self._source[at] if self._source.ndim > 1 else self._source[at, ...]
        return found

    @property
    def own_kind(self) -> type[TensorArray]:
        """The class of an array of the user with the same elements."""
        return type(self)

    _kind = "TensorArray"  # in its repr
    hint = ""  # what to say besides of what is not there

    def elements(self, where: str) -> list[Any]:
        """List all elements, refusing holes before a list of that size is made."""
        known = len(self._source) if self._source is not None else 0
        written = sum([at >= known for at in self._items]) if known else len(self._items)
        if known + written < self._size:
            hole = known
            while hole in self._items:
                hole += 1
            raise IndexError(f"{where}: index: is {hole}, a hole; the size is {self._size}{self.hint}")
        if written == self._size:
            return list(map(self._items.__getitem__, range(self._size)))
        return [self.element(where, at) for at in range(self._size)]

    def known_elements(self) -> dict[int, Any]:
        """Return the elements that are no holes, by their numbers."""
        known = range(len(self._source) if self._source is not None else 0)
        return {at: self.element("TensorArray", at) for at in sorted({*known, *self._items})}

    def element_spec(self) -> Spec | None:
        """Describe the elements, with None for their numbers of rows; None if nothing is known of them."""
        if self._source is not None:
            source = self._source
            if isinstance(source, LoDTensor):
                levels = source.num_levels - 1
                shape = (None, *source.values.shape[1:])
                return Spec(shape, source.dtype, levels, LoDTensor if levels else np.ndarray)
            return Spec(source.shape[1:], source.dtype)
        if not self._items:
            return self._element
        first = next(iter(self._items.values()))
        if isinstance(first, LoDTensor):
            return Spec((None, *first.values.shape[1:]), first.dtype, first.num_levels, LoDTensor)
        return Spec((None, *first.shape[1:])[: first.ndim], first.dtype)

    def reserve(self, slots: int, grows: bool) -> None:
        """Have a number of slots, those past the elements as holes."""
        self._size = slots
        self._limit = None if grows else slots

    def expect(self, spec: Spec) -> None:
        """Keep what elements would be, for an array that has none."""
        self._element = spec

    # -- sequences to steps --------------------------------------------------------------------------------

    def _unstack(self: Any, x: Any, axis: int = 0, name: str | None = None) -> Any:
        """Cut a tensor along an axis: `TensorArray.unstack(x)` makes an array, `ta.unstack(x)` fills an empty one.

        Parameters
        ----------
        x : array_like or LoDTensor
        axis : int
            Only 0 for a LoDTensor, whose elements are its outermost sequences.
        name : str, optional
            Of the Variable, where the call is recorded.

        Returns
        -------
        TensorArray
            Of read-only views.

        Raises
        ------
        ValueError
            If the array that is to be filled has elements already, or is too small.
        """
        return _filled("unstack", self, operators.tensor_array_unstack(x, axis, name=name))

    def _unpack(
        self: Any, x: Any, level: int, sort_by_length: bool = True, out: Array | None = None, name: str | None = None
    ) -> Any:
        """Cut the sequences of a level into steps: step t holds element t of every sequence longer than t.

        `TensorArray.unpack(x, level)` makes an array, `ta.unpack(x, level)` fills an empty one.

        Parameters
        ----------
        x : LoDTensor or nested lists
        level : int
        sort_by_length : bool, default True
            Within each step the longest sequence comes first, equal lengths in their order; otherwise all sequences
            keep their order.
        out : ndarray, optional
            shape of x.values: the buffer of the steps.
        name : str, optional
            Of the Variable, where the call is recorded.

        Returns
        -------
        steps : TensorArray
            As many as the longest sequence has elements: read-only views of one buffer. Finer levels stay on each
            step as its LoD.
        indices_map : IndicesMap
            What `pack` needs to bring steps back; also `steps.rank`.

        Raises
        ------
        LevelError
            If there is no such level.
        ValueError
            If the array that is to be filled has elements already, or is too small.

        Examples
        --------
        >>> import lodcore
        >>> steps, indices_map = lodcore.TensorArray.unpack([[1, 2], [], [3, 4, 5]], 0)
        >>> list(steps)
        [array([3, 1]), array([4, 2]), array([5])]
        >>> indices_map.tolist()
        [2, 0, 3, 1, 4]
        """
        given = {} if out is None else {"out": out}
        steps, indices_map = operators.tensor_array_unpack(x, level, sort_by_length, name=name, **given)
        return _filled("unpack", self, steps), indices_map

    unstack, unpack = Maker(_unstack), Maker(_unpack)

    # -- protocols -----------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        kind = None if self.own_kind is TensorArray else self.own_kind
        return _restore, (dict(self._items), self._source, self._size, self._limit, kind, self._rank, self._element)

    def __repr__(self) -> str:
        if self.block is not None:
            return f"{self._kind}({self.name}, recorded)"
        if not self._size:
            return f"{self._kind}(empty)"
        known = len(self._source) if self._source is not None else 0
        holes = self._size - known - sum(at >= known for at in self._items)
        text = f"{self._size} element{'s' * (self._size != 1)}"
        return f"{self._kind}({text}{f', {holes} of them holes' if holes else ''})"


def _filled(how: str, target: Any, made: Any) -> Any:
    """Return what a class is asked to make, or let an empty array have its elements."""
    if target is TensorArray:
        return made
    if isinstance(target, type):
        target = target()
    operators.tensor_array_fill(target, made, how)
    return target


def _copied(element: Any) -> Any:
    return element.clone() if isinstance(element, LoDTensor) else element.copy()


def slot_number(where: str, given: Any) -> int:
    """Turn an integer, or an array of one, into the number of a slot."""
    number = integer_of(where, given)
    if number < 0:
        raise IndexError(f"{where}: is {number}; slots count from 0")
    return number


def integer_of(where: str, given: Any) -> int:
    """Turn an integer, or an array of one, into a Python int."""
    number: Any = int(given) if type(given) is np.int64 else given
    if type(number) is not int:
        if isinstance(number, np.ndarray):
            number = number.item() if number.size == 1 and number.dtype.kind in "iu" else None
        if isinstance(number, (bool, np.bool_)) or not hasattr(number, "__index__"):
            raise DTypeError(f"{where}: is {given!r}; an integer, or an array of one, is needed")
        number = int(number.__index__())
    return int(number)


def source_of(where: str, x: Any, axis: int) -> Any:
    """Return what indexing turns into the elements of an unstacked array: read-only."""
    if isinstance(x, LoDTensor):
        if axis not in (0, -x.ndim):
            raise ShapeError(f"{where}: axis: is {axis}; a LoDTensor is cut along axis 0")
        rows = buffers.view_rows(x.values, 0, len(x.values))
        buffers.seal(rows)
        return tensor_core.new_tensor(rows, x.lod)
    dense = as_array(where, x)
    if dense.dtype.hasobject:
        raise DTypeError(f"{where}: has dtype {dense.dtype}; Python objects have no fixed size")
    if not dense.dtype.isnative:
        dense = dense.astype(dense.dtype.newbyteorder("="))
    if not dense.ndim or not -dense.ndim <= axis < dense.ndim:
        raise ShapeError(f"{where}: axis: is {axis}; the tensor has {dense.ndim} axes")
    source = np.moveaxis(dense, axis, 0).view()
    buffers.seal(source)
    return source


def _restore(
    items: dict[int, Any],
    source: Any,
    size: int,
    limit: int | None,
    kind: type[TensorArray] | None = None,
    rank: Any = None,
    element: Any = None,
) -> TensorArray:
    """Make an array of what `pickle` kept, checking all of it."""
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, TensorArray)):
        raise DTypeError(f"TensorArray: kind: is {kind!r}; a subclass of TensorArray is needed")
    for name, given, wanted in (("rank", rank, IndicesMap), ("element", element, Spec)):
        if given is not None and not isinstance(given, wanted):
            raise DTypeError(f"TensorArray: {name}: is {given!r}; an instance of {wanted.__name__} is needed")
    cls = kind or TensorArray
    made = cls.of_elements(0, {}) if source is None else cls.over(source_of("TensorArray: source", source, 0))
    made._size = max(made._size, slot_number("TensorArray: size", size))
    made._limit = None if limit is None else made._size
    for index, value in items.items():
        made.put(index, value)
    made._rank, made._element = rank, element
    return made
