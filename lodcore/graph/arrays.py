"""TensorArrays where operators are recorded: each is a value, and what is written makes its next version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.graph.variable import Variable
from lodcore.lod import LoD
from lodcore.registry import Spec
from lodcore.tensor import LoDTensor
from lodcore.tensor_array import TensorArray

__all__ = ["ArrayVariable", "Version", "new_variable", "next_version", "of_user", "without_steps"]

_HOLE = object()


class Version(TensorArray):
    """A TensorArray that stays as it is: `written` gives the next version, in time and memory that do not grow.

    One version of an array holds all elements, mostly the last; every other knows what to undo in the one after it. To
    read it brings the elements over (Baker, "Shallow binding makes functional arrays fast", 1991).
    """

    __slots__ = ("_held", "_undo")

    _held: Any  # the elements, by their numbers; None where another version has them
    _undo: Any  # that version, a number, and the element that was there before

    @classmethod
    def of(cls, array: TensorArray) -> Version:
        """Give the version that an array is now; what is written to the array later does not reach it."""
        if type(array) is cls:
            return array
        made = cls.__new__(cls)
        made._held, made._undo = None, None
        made._take_over(array)
        return made

    def written(self, index: Any, value: Any, data_shared: bool = True) -> Version:
        """Give the version with one more element written."""
        at, written = self._checked(index, value, data_shared)
        if self._undo is not None:
            self._come_back()
        elements = self._held
        made = Version.__new__(Version)
        made._source, made._limit, made._block = self._source, self._limit, None
        made._size = self._size if at < self._size else at + 1
        made._held, made._undo = elements, None
        self._held, self._undo = None, (made, at, elements.get(at, _HOLE))
        elements[at] = written
        return made

    @property
    def _items(self) -> Any:
        if self._undo is not None:
            self._come_back()
        return self._held

    @_items.setter
    def _items(self, elements: dict[int, Any]) -> None:
        self._held = elements

    def _come_back(self) -> None:
        """Take the elements from the version that has them, undoing one write after the other."""
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


def next_version(ta: TensorArray, index: Any, x: Any, data_shared: bool = True) -> Version:
    """Run `tensor_array_write` where it is recorded."""
    return (ta if type(ta) is Version else Version.of(ta)).written(index, x, data_shared)


def without_steps(spec: Spec) -> TensorArray | None:
    """Make an array without elements that knows their width, dtype and levels; None, if the Spec does not tell."""
    if spec.kind is not TensorArray or spec.dtype.kind == "V" or not spec.shape or None in spec.shape[1:]:
        return None
    lod = LoD.from_lengths(*[()] * (spec.num_levels + 1))
    return TensorArray._over(LoDTensor(np.empty((0, *spec.shape[1:]), spec.dtype), lod))


def of_user(value: Any) -> Any:
    """Give a TensorArray of its own of a version, for the user to write to; anything else is given back."""
    return value._snapshot() if isinstance(value, TensorArray) else value


class ArrayVariable(Variable):
    """A Variable whose value is a TensorArray: what is written makes its next version, which it then stands for."""

    __slots__ = ()

    def write(self, index: Any, value: Any, data_shared: bool = True) -> None:
        """Write an element, as `TensorArray.write`."""
        ops.tensor_array_write(self, index, value, data_shared)

    def read(self, index: Any) -> Any:
        """Read an element, as `TensorArray.read`."""
        return ops.tensor_array_read(self, index)

    def size(self) -> Any:
        """Give the number of elements, as `TensorArray.size`."""
        return ops.tensor_array_size(self)

    def sizes(self, axis: int = 0) -> Any:
        """Give the length of each element, as `TensorArray.sizes`."""
        return ops.tensor_array_sizes(self, axis)

    def stack(self, axis: int = 0) -> Any:
        """Put the elements behind each other along a new axis, as `TensorArray.stack`."""
        return ops.tensor_array_stack(self, axis)

    def concat(self, axis: int = 0) -> Any:
        """Put the elements behind each other, as `TensorArray.concat`."""
        return ops.tensor_array_concat(self, axis)

    def pack(self, level: int, indices_map: Any) -> Any:
        """Bring steps back into sequences, as `TensorArray.pack`."""
        return ops.tensor_array_pack(self, level, indices_map)

    def __len__(self) -> int:
        return int(self.size())

    def __iter__(self) -> Iterator[Any]:
        return (self.read(at) for at in range(len(self)))


def new_variable(name: str | None, value: Any, spec: Spec | None, block: Any) -> Variable:
    """Make a Variable, with the methods of what it holds."""
    if value is not None:
        return (ArrayVariable if isinstance(value, TensorArray) else Variable)(name, value, spec, block)
    kind = spec.kind if spec is not None else None
    return (ArrayVariable if kind is TensorArray else Variable)(name, value, spec, block)
