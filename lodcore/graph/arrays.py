"""TensorArrays where operators are recorded: each is a value, and what is written makes its next version."""

from __future__ import annotations

from typing import Any

from lodcore.base.dispatch import variable_of
from lodcore.graph.variable import Variable
from lodcore.tensors.array_methods import ArrayMethods
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["ArrayVariable", "new_variable", "of_user"]


def of_user(value: Any) -> Any:
    """Return a TensorArray of its own for a version, which the user may write to; anything else is returned itself."""
    return value.snapshot() if isinstance(value, TensorArray) else value


class ArrayVariable(ArrayMethods, Variable):
    """A Variable whose value is a TensorArray: what is written makes its next version, which it then stands for."""

    __slots__ = ()


def new_variable(name: str | None, value: Any, spec: Spec | None, block: Any) -> Variable:
    """Make a Variable, with the methods of what it holds."""
    of_array = isinstance(value, TensorArray) if value is not None else spec is not None and spec.kind is TensorArray
    return variable_of(ArrayVariable if of_array else Variable, name, value, spec, block)
