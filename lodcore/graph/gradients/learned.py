"""Updates of parameters at the top level of a Program, which an Executor writes into its Scope when a run has ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dtypes import native_dtype
from lodcore.errors import GraphError
from lodcore.graph.block import text_of
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.variable import Variable, as_value, resolved, spec_text
from lodcore.operators.operands import kept_in
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["ParameterUpdate", "check_update", "own_copy", "update_value"]


class ParameterUpdate:
    """The instruction that `update` of a parameter records: its value for the next run.

    Parameters
    ----------
    variable : Variable
        The parameter.
    value : Variable or tensor
    fresh : bool
        Whether an operator makes the value, and nothing else refers to it.
    """

    __slots__ = ("fresh", "outputs", "value", "variable")

    name = "update"

    def __init__(self, variable: Variable, value: Any, fresh: bool = False) -> None:
        self.variable, self.value, self.fresh = variable, value, fresh
        self.outputs: list[Variable] = []

    @property
    def inputs(self) -> list[Variable]:
        """The Variables that are read."""
        return [self.value] if isinstance(self.value, Variable) else []

    def text(self, block: Any) -> str:
        """Return it as text, with the names in a Block."""
        return f"{text_of(self.variable, block)}.update({text_of(self.value, block)})"

    def __repr__(self) -> str:
        return self.text(None)


def update_value(where: str, parameter: Variable, value: Any) -> Any:
    """Return the new value of a parameter: a Variable, or a tensor of its dtype and shape."""
    value = resolved(value)
    if not isinstance(value, Variable):
        number = isinstance(value, (bool, int, float, complex, list, tuple))
        value = kept_in(where, value, parameter.dtype) if number else own_copy(as_value(where, value))
    check_update(where, parameter.spec, value.spec if isinstance(value, Variable) else spec_of(value))
    return value


def check_update(where: str, old: Spec, new: Spec) -> None:
    """Raise GraphError if a new value of a parameter has another kind, dtype or shape; only rows of LoDs may differ.

    The byte order may change: results of operators have that of the machine.
    """
    if new.kind is object:
        return
    first = 1 if old.num_levels else 0
    sizes = zip(old.shape[first:], new.shape[first:], strict=False)
    same = len(old.shape) == len(new.shape) and all(None in pair or pair[0] == pair[1] for pair in sizes)
    same = same and native_dtype(old.dtype) == native_dtype(new.dtype)
    if not (same and old.kind is new.kind and old.num_levels == new.num_levels):
        raise GraphError(f"{where}: is {spec_text(new)}; the parameter is {spec_text(old)}, which may not change")


def own_copy(value: Any) -> Any:
    """Return a copy of a value, which shares no memory with it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.array(value)
    return of_user(value) if isinstance(value, TensorArray) else value.clone()
