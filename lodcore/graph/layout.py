"""Layouts: which slot of a frame holds which Variable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lodcore.graph.variable import Variable

__all__ = ["Frame", "Layout"]

#: What a run of a Block knows: the values of Variables, and what operators saved for their gradients.
Frame = list[Any]


class Layout:
    """The slots of a frame: one a Variable, one a constant, and those of what operators save.

    Attributes
    ----------
    base : list
        The frame before anything has run: the constants, None elsewhere. Slot 0 tells where a run has failed.
    """

    __slots__ = ("_slots", "base")

    def __init__(self) -> None:
        self._slots: dict[Any, int] = {}
        self.base: Frame = [None]

    def slot(self, key: Any) -> int:
        """Give the slot of a Variable, or of whatever a run keeps."""
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = len(self.base)
            self.base.append(None)
        return found

    def slots(self, keys: Iterable[Any]) -> tuple[int, ...]:
        """Give the slots of several."""
        return tuple([self.slot(key) for key in keys])

    def argument(self, given: Any) -> Any:
        """Give the slot of an argument, a Variable or a constant; of a list with Variables, the slots of all."""
        if isinstance(given, Variable):
            return self.slot(given)
        if type(given) is list and any(isinstance(x, Variable) for x in given):
            return tuple([self.argument(x) for x in given])
        self.base.append(given)
        return len(self.base) - 1

    def values(self, frame: Frame) -> dict[Variable, Any]:
        """List the Variables that have values in a frame."""
        found = {key: frame[slot] for key, slot in self._slots.items() if isinstance(key, Variable)}
        return {v: value for v, value in found.items() if value is not None}
