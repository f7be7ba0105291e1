"""Recorded TensorArrays: each is a value, and a write makes its next version."""

from __future__ import annotations

from typing import Any

from lodcore.base.dispatch import variable_of
from lodcore.graph.variable import Variable
from lodcore.tensors.array_methods import ArrayMethods
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["ArrayVariable", "new_variable", "of_user"]


def of_user(value: Any) -> Any:
    """Return a separate TensorArray for a version, which the user may write to; return anything else unchanged."""
    return value.snapshot() if isinstance(value, TensorArray) else value


class ArrayVariable(ArrayMethods, Variable):
    """A Variable whose value is a TensorArray; after a write, it represents the next version."""

    __module__ = "lodcore.graph"

    __slots__ = ()


def new_variable(name: str | None, value: Any, spec: Spec | None, block: Any) -> Variable:
    """Make a Variable with the methods of its value."""
    of_array = isinstance(value, TensorArray) if value is not None else spec is not None and spec.kind is TensorArray
    return variable_of(ArrayVariable if of_array else Variable, name, value, spec, block)
