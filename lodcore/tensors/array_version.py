"""ArrayVersion: a TensorArray as a value, of which a write makes the next version."""

from __future__ import annotations

from typing import Any

from lodcore.tensors.tensor_array import TensorArray

__all__ = ["ArrayVersion"]

_HOLE = object()


class ArrayVersion(TensorArray):
    """A TensorArray that stays as it is: `written` returns the next version, in time and memory that do not grow.

    One version of an array holds all elements, mostly the last; every other knows what to undo in the one after it. To
    read it brings the elements over (Baker, "Shallow binding makes functional arrays fast", 1991).
    """

    __slots__ = ("_fresh", "_held", "_undo")

    _held: Any  # the elements, by their numbers; None where another version has them
    _undo: Any  # that version, a number, and the element that was there before
    _fresh: bool  # whether it was made in the body of a loop

    @property
    def own_kind(self) -> type[TensorArray]:
        """The class of an array of the user with the same elements."""
        return TensorArray

    @classmethod
    def of(cls, array: TensorArray, fresh: bool = False) -> ArrayVersion:
        """Return the version that an array is now; what is written to the array later does not reach it."""
        if type(array) is cls:
            return array
        made = cls.__new__(cls)
        made._held, made._undo, made._fresh, made._name = None, None, fresh, None
        made._take(array)
        return made

    def written(self, index: Any, value: Any, data_shared: bool = True) -> ArrayVersion:
        """Return the version with one more element written."""
        at, written = self.checked(index, value, data_shared)
        if self._undo is not None:
            self._come_back()
        elements = self._held
        made = ArrayVersion.__new__(ArrayVersion)
        made._source, made._limit, made._element, made._rank = self._source, self._limit, self._element, self._rank
        made._size = self._size if at < self._size else at + 1
        made._held, made._undo, made._fresh, made._name = elements, None, self._fresh, None
        self._held, self._undo = None, (made, at, elements.get(at, _HOLE))
        elements[at] = written
        return made

    @property
    def hint(self) -> str:  # type: ignore[override]
        """What to say of a hole in an array that was made in the body of a loop."""
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
