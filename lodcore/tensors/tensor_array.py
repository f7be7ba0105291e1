"""TensorArray: tensors by step; and its versions, which a Block records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.dispatch import OPENED, Symbol, recorder, value_of
from lodcore.base.dtypes import is_native, native_dtype
from lodcore.base.journal import ArrayBody, note
from lodcore.base.later import operators
from lodcore.base.memory import flag, index_of
from lodcore.errors import DTypeError, ShapeError
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.array_methods import ArrayMethods
from lodcore.tensors.kinds import copied, is_element, shared, spec_of_kind
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, error_of_objects
from lodcore.tensors.rank_table import IndicesMap
from lodcore.tensors.tensor import Spec

__all__ = ["ArrayVersion", "TensorArray", "slot_number", "source_of"]

if TYPE_CHECKING:
    from typing_extensions import Self

Array = np.ndarray[Any, Any]


class Maker:
    """An operator that makes an array, attached by name; called on an instance, it fills that empty array.

    Parameters
    ----------
    operator : str
    """

    __slots__ = ("name", "operator")

    def __init__(self, operator: str) -> None:
        self.operator = operator

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> BoundMaker:
        return BoundMaker(getattr(operators, self.operator), self.name, owner if instance is None else instance)


class BoundMaker:
    """An operator that makes an array, bound to the class of the array or to the array that it fills."""

    __slots__ = ("__name__", "__wrapped__", "target")

    def __init__(self, operator: Any, name: str, target: Any) -> None:
        self.__wrapped__, self.__name__, self.target = operator, name, target

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        doc: str | None = self.__wrapped__.__doc__
        return doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self.__wrapped__(*args, **kwargs)
        if self.target is TensorArray:
            return made
        target = self.target() if isinstance(self.target, type) else self.target
        several = isinstance(made, tuple)
        operators.tensor_array_fill(target, made[0] if several else made, self.__name__)
        return (target, *made[1:]) if several else target


class TensorArray(ArrayBody, ArrayMethods):
    """A container of tensors by step, to write, read, stack and concatenate, and to cut sequences into steps.

    Parameters
    ----------
    size : int, optional
        The initial number of slots, all of them holes. A LoDTensor x stands for `unstack_from=x`.
    dynamic : bool, default True
        Whether the array grows when an element is written past the end.
    unstack_from : array_like or LoDTensor, optional
        A tensor whose `unstack` gives the first elements.
    name : str, optional
        The name of the Variable if the array is recorded.

    Notes
    -----
    Elements are ndarrays, LoDTensors, SparseTensors, or of a registered kind. Indices never count from the end.
    `TensorArray.unstack(x)` and `TensorArray.unpack(x, level)` make an array whose elements are views of one buffer;
    `ta.unstack(x)` and `ta.unpack(x, level)` fill an array without elements. An array made in the body of a loop is new
    in every step.

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

    __module__ = "lodcore"

    __slots__ = ("__weakref__",)

    _items: dict[int, Any]  # the written elements
    _source: Any  # the ndarray or LoDTensor of which unwritten slots are views
    _size: int
    _limit: int | None  # the maximum number of slots
    _element: Spec | None  # the Spec of elements, if there are none
    _rank: Any

    def __init__(
        self, size: Any = None, dynamic: bool = True, unstack_from: Any = None, name: str | None = None
    ) -> None:
        self._items = {}
        if name is not None:
            self.wanted_name = name
        if not OPENED[0] and size is None and unstack_from is None and dynamic is True:  # the usual case
            return
        dynamic = flag("TensorArray: dynamic", dynamic)
        if unstack_from is None and _has_levels(size):
            size, unstack_from = None, size
        block = recorder((size, unstack_from))
        if block is not None:
            made = operators.tensor_array_new(size, dynamic, unstack_from, block.repeats, name=name)
            made.block.bind(self, made)
        elif size is not None or unstack_from is not None or not dynamic:
            self.begin(value_of(size), dynamic, value_of(unstack_from))

    def begin(self, size: Any, dynamic: bool, unstack_from: Any) -> None:
        """Initialise with slots, or with the elements of an unstacked tensor."""
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
        made._element, made._rank = None, rank
        return made

    @classmethod
    def of_elements(cls, size: int, elements: dict[int, Any]) -> TensorArray:
        """Make an array with a size and some elements, which must be tensors."""
        made = cls.__new__(cls)
        made._items, made._source, made._size, made._limit = elements, None, size, None
        made._element, made._rank = None, None
        return made

    def snapshot(self) -> TensorArray:
        """Return an array with the same elements, which writes to this one do not affect."""
        made = self.own_kind.__new__(self.own_kind)
        made._take(self)
        return made

    def become(self, other: TensorArray) -> None:
        """Replace the elements by those of another array."""
        note(self)
        self._take(other)

    def _take(self, other: TensorArray) -> None:
        self._items, self._source = dict(other._items), other._source
        self._size, self._limit = other._size, other._limit
        self._element, self._rank = other._element, other._rank

    def clone(self) -> TensorArray:
        """Return a copy that shares no values."""
        elements = {at: copied(element) for at, element in self.known_elements().items()}
        made = self.snapshot()
        made._items, made._source, made._element = elements, None, self.element_spec()
        return made

    @property
    def name(self) -> str:
        """The given name, or "array"."""
        return self.wanted_name or "array"

    # -- elements ------------------------------------------------------------------------------------------------------

    @property
    def num_slots(self) -> int:
        """The number of slots, whether or not a Block is recording."""
        return self._size

    @property
    def grows(self) -> bool:
        """Whether elements may be written past the end."""
        return self._limit is None

    @property
    def step_rank(self) -> Any:
        """The IndicesMap of the steps that `unpack` made; None for other arrays."""
        return self._rank

    @property
    def untouched_source(self) -> Any:
        """The ndarray or LoDTensor of which all elements are consecutive views, or None."""
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
        """Return the checked number and element of a write."""
        at = int(index) if type(index) is np.int64 else -1  # the type of counters
        if at < 0:
            at = slot_number("tensor_array_write: index", index)
        if self._limit is not None and at >= self._limit:
            raise IndexError(f"tensor_array_write: index: is {at}; the size is fixed at {self._limit}")
        if type(value) is not np.ndarray and not isinstance(value, LoDTensor) and not is_element(value):
            value = as_array("tensor_array_write: x", value)
        if value.dtype.hasobject:
            raise error_of_objects("tensor_array_write: x: has dtype", value.dtype)
        return at, value if data_shared is True else shared(value, flag("tensor_array_write: data_shared", data_shared))

    def element(self, where: str, at: int) -> Any:
        """Return an element by its number, counted from 0; raise IndexError if there is none."""
        found = self._items.get(at)
        if found is None:
            if self._source is None or at >= len(self._source):
                hole = ", a hole" if at < self._size else ""
                raise IndexError(f"{where}: index: is {at}{hole}; the size is {self._size}{self.hint}")
            found = self._source[at] if self._source.ndim > 1 else self._source[at, ...]
        return found

    @property
    def own_kind(self) -> type[TensorArray]:
        """The public class of an array with the same elements."""
        return type(self)

    _kind = "TensorArray"  # in its repr
    hint = ""  # the hint in errors about missing elements

    def elements(self, where: str) -> list[Any]:
        """Return all elements; raise for a hole before a list of that size is made."""
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
        """Return the elements that are not holes, by number."""
        known = range(len(self._source) if self._source is not None else 0)
        return {at: self.element("TensorArray", at) for at in sorted({*known, *self._items})}

    def element_spec(self) -> Spec | None:
        """Return the Spec of the elements, with None for their numbers of rows; None if it is unknown."""
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
        if is_element(first):
            return spec_of_kind(first)
        if isinstance(first, LoDTensor):
            return Spec((None, *first.values.shape[1:]), first.dtype, first.num_levels, LoDTensor)
        return Spec((None, *first.shape[1:])[: first.ndim], first.dtype)

    def reserve(self, slots: int, grows: bool) -> None:
        """Extend the array to a number of slots; those past the elements are holes."""
        self._size = slots
        self._limit = None if grows else slots

    def expect(self, spec: Spec) -> None:
        """Set the Spec of elements, for an array that has none."""
        self._element = spec

    # -- sequences to steps --------------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # of the class or of an instance

        @classmethod
        def unstack(cls, x: Any, axis: int = 0) -> Self:
            """Cut a tensor into elements: `tensor_array_unstack`."""

        @classmethod
        def unpack(
            cls, x: Any, level: int, sort_by_length: bool = True, out: Array | None = None
        ) -> tuple[Self, IndicesMap]:
            """Cut sequences into steps: `tensor_array_unpack`."""

    else:
        unstack, unpack = Maker("tensor_array_unstack"), Maker("tensor_array_unpack")

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        parts = dict(self._items), self._source, self._size, self._limit, self._rank, self._element
        return self.own_kind._restored, parts

    @classmethod
    def _restored(cls, *parts: Any) -> TensorArray:
        return restored(cls, *parts)

    def __repr__(self) -> str:
        if self.block is not None:
            return f"{self._kind}({self.name}, recorded)"
        if not self._size:
            return f"{self._kind}(empty)"
        known = len(self._source) if self._source is not None else 0
        holes = self._size - known - sum(at >= known for at in self._items)
        text = f"{self._size} element{'s' * (self._size != 1)}"
        return f"{self._kind}({text}{f', {holes} of them holes' if holes else ''})"


def _has_levels(x: Any) -> bool:
    """Return whether a size is a LoDTensor, or the Variable of one, from which an array is made instead."""
    return isinstance(x, LoDTensor) or (isinstance(x, Symbol) and bool(getattr(x, "num_levels", 0)))


_HOLE = object()


class ArrayVersion(TensorArray):
    """An immutable TensorArray: `written` returns the next version, in constant time and memory.

    One version of an array, usually the last, holds all elements; every other stores the change to undo in the next
    one. A read moves the elements to the version (Baker, "Shallow binding makes functional arrays fast", 1991).
    """

    __slots__ = ("_fresh", "_held", "_undo")

    _held: Any  # the elements by number; None if another version has them
    _undo: Any  # that version, a number, and the previous element there
    _fresh: bool  # whether it was made in the body of a loop

    @property
    def own_kind(self) -> type[TensorArray]:
        """The public class of an array with the same elements."""
        return TensorArray

    @classmethod
    def of(cls, array: TensorArray, fresh: bool = False) -> ArrayVersion:
        """Return the current version of an array, which later writes to the array do not affect.

        An argument that is not an array is returned unchanged, and the operator raises the error.
        """
        if type(array) is cls or not isinstance(array, TensorArray):
            return array
        made = cls.__new__(cls)
        made._held, made._undo, made._fresh = None, None, fresh
        made._take(array)
        return made

    def written(self, index: Any, value: Any, data_shared: bool = True) -> ArrayVersion:
        """Return the version with one more write."""
        at, written = self.checked(index, value, data_shared)
        if self._undo is not None:
            self._come_back()
        elements = self._held
        made = ArrayVersion.__new__(ArrayVersion)
        made._source, made._limit, made._element, made._rank = self._source, self._limit, self._element, self._rank
        made._size = self._size if at < self._size else at + 1
        made._held, made._undo, made._fresh = elements, None, self._fresh
        self._held, self._undo = None, (made, at, elements.get(at, _HOLE))
        elements[at] = written
        return made

    @property
    def hint(self) -> str:  # type: ignore[override]
        """The hint about a hole in an array that was made in the body of a loop."""
        if not self._fresh:
            return ""
        return "; it is made anew in every step: make it before the loop to read what earlier steps wrote"

    @property
    def _items(self) -> Any:
        if self._undo is not None:
            self._come_back()
        return self._held

    @_items.setter
    def _items(self, elements: dict[int, Any]) -> None:
        self._held = elements

    def _come_back(self) -> None:
        """Move the elements from the version that has them, undoing the writes one by one."""
        chain = [self]
        while chain[-1]._undo is not None:
            chain.append(chain[-1]._undo[0])
        newer = chain.pop()
        for older in reversed(chain):
            _, at, before = older._undo
            elements = newer._held
            newer._held, newer._undo = None, (older, at, elements.get(at, _HOLE))
            older._held, older._undo = elements, None
            if before is _HOLE:
                elements.pop(at, None)
            else:
                elements[at] = before
            newer = older


def slot_number(where: str, given: Any) -> int:
    """Convert an integer, or an array of one, to the number of a slot."""
    number = index_of(where, given)
    if number < 0:
        raise IndexError(f"{where}: is {number}; slots count from 0")
    return number


def source_of(where: str, x: Any, axis: int) -> Any:
    """Return the read-only source whose indexing gives the elements of an array unstacked along a checked axis."""
    if isinstance(x, LoDTensor):
        rows = buffers.view_rows(x.values, 0, len(x.values))
        buffers.seal(rows)
        return lod_tensor_body.new_tensor(rows, x.lod)
    dense = as_array(where, x)
    if dense.dtype.hasobject:
        raise error_of_objects(f"{where}: has dtype", dense.dtype)
    if not is_native(dense.dtype):
        dense = dense.astype(native_dtype(dense.dtype))
    if not dense.ndim:
        raise ShapeError(f"{where}: axis: is {axis}; the tensor has {dense.ndim} axes")
    source = np.moveaxis(dense, axis, 0).view()
    buffers.seal(source)
    return source


def restored(
    kind: type[TensorArray], items: dict[int, Any], source: Any, size: int, limit: int | None, rank: Any, element: Any
) -> TensorArray:
    """Make an array from pickled data, which are checked."""
    for name, given, wanted in (("rank", rank, IndicesMap), ("element", element, Spec)):
        if given is not None and not isinstance(given, wanted):
            raise DTypeError(f"TensorArray: {name}: is {given!r}; an instance of {wanted.__name__} is needed")
    made = kind.of_elements(0, {}) if source is None else kind.over(source_of("TensorArray: source", source, 0))
    made._size = max(made._size, slot_number("TensorArray: size", size))
    made._limit = None if limit is None else made._size
    for index, value in items.items():
        made.put(index, value)
    made._rank, made._element = rank, element
    return made
