"""Counters: loop variables to which a number is added after each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base.memory import as_integer
from lodcore.errors import GraphError
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Counter", "is_one_integer"]


class Counter:
    """The advance of a loop variable, which must be an integer of one element.

    Parameters
    ----------
    advance : bool or int, optional
        The declared advance; None for 1 if the body never updates the variable.
    is_one : bool or None
        Whether the first value is an integer of one element; None if that is unknown before the loop runs.

    Attributes
    ----------
    number : int
        The number that is added.
    """

    __slots__ = ("advance", "is_one", "number")

    def __init__(self, advance: bool | int | None, is_one: bool | None) -> None:
        number = as_integer(advance or 0, bools=True)
        if number is None or (is_one is False and advance is not None and advance is not False):
            raise self._refused(advance)
        self.advance, self.is_one, self.number = advance, is_one, number

    @staticmethod
    def _refused(advance: Any) -> GraphError:
        return GraphError(f"loop_var: advance: is {advance!r}; only an integer of one element advances, by an integer")

    def by(self, spec: Spec) -> Any:
        """Return the number to add to a first value with a Spec, in its dtype; None if it does not advance."""
        if not is_one_integer(spec):
            if self.advance is not None and self.number:
                raise self._refused(self.advance)
            return None
        if self.number and not 0 < self.number < 128:  # fits in every integer dtype
            limits = np.iinfo(spec.dtype)
            if not limits.min <= self.number <= limits.max:
                raise GraphError(f"loop_var: advance: is {self.number}; {spec.dtype} cannot hold it")
        return spec.dtype.type(self.number) if self.number else None

    def by_of(self, value: Any) -> Any:
        """Return the number to add to a first value."""
        return self.by(spec_of(value))

    def __str__(self) -> str:
        if not self.number:
            return ""
        return f"{self.number:+d}{'' if self.is_one or self.advance is not None else ' if it is one integer'}"


def is_one_integer(spec: Spec) -> bool | None:
    """Return whether a value is an integer of one element, or None if the Spec does not determine it."""
    if spec.kind is object:
        return None
    if spec.dtype.kind not in "iu" or spec.num_levels or spec.kind is TensorArray:
        return False
    if None in spec.shape:
        return None if all([size in (None, 1) for size in spec.shape]) else False
    return math.prod([size for size in spec.shape if size is not None]) == 1
