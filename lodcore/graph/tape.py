"""The Block of a function that is differentiated: operators compute at once, and stand here for the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.arrays import Version, new_variable
from lodcore.graph.block import Block, Operator, function_of
from lodcore.graph.gradients import differentiable
from lodcore.graph.variable import Variable, as_value
from lodcore.registry import Op
from lodcore.symbol import open_block, recording
from lodcore.tensor import Tensor
from lodcore.tensor_array import TensorArray

__all__ = ["Tape", "TapedOperator", "computing"]


class TapedOperator(Operator):
    """A call that was recorded with the values of its arguments, and of its results.

    Attributes
    ----------
    saved : dict
        What a rule of gradients sees: the values of all arguments, `out` and `hidden`.
    """

    __slots__ = ("saved",)

    def __init__(
        self, op: Op, arguments: dict[str, Any], outputs: list[Variable], single: bool, saved: dict[str, Any]
    ) -> None:
        super().__init__(op, arguments, outputs, single)
        self.saved = saved


class Tape(Block):
    """Operators that computed, and through which gradients of the inputs go back; all others are forgotten.

    Attributes
    ----------
    needed : set of Variable
        Those that depend on an input and have a gradient.
    """

    def __init__(self) -> None:
        super().__init__()
        self.needed: set[Variable] = set()

    def begin(self, where: str, x: Any) -> Any:
        """Make a Variable of an input, if it is a tensor or number; everything else stays."""
        if isinstance(x, Variable):
            if x.block is not None:
                raise GraphError(
                    f"{where}: Variable {x.name}: is recorded already; gradients of gradients are not supported"
                )
            x = x.get()
        if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
            x = as_value(f"{where}: an input", x)
        elif not isinstance(x, (Tensor, TensorArray)):
            return x
        made = new_variable("input", Version.of(x) if isinstance(x, TensorArray) else x, None, self)
        if differentiable(x):
            self.needed.add(made)
        return made

    def append(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Compute, and keep the call if a gradient goes back through it."""
        needed = self.needed
        values = {}
        taped = False
        for name, x in arguments.items():
            if isinstance(x, Variable):
                values[name] = x.get()
                taped = taped or x in needed
            elif type(x) is list:
                values[name] = [one.get() if isinstance(one, Variable) else one for one in x]
                taped = taped or any(one in needed for one in x if isinstance(one, Variable))
            else:
                values[name] = x
        taped = taped and op.gradient
        with_hidden = taped and op._saving is not None
        result = computing(function_of(op, taped), values)
        result, values["hidden"] = result if with_hidden else (result, None)
        values["out"] = result
        single = type(result) is not tuple
        outputs = [new_variable(op.__name__, one, None, self) for one in ([result] if single else result)]
        made = TapedOperator(op, arguments, outputs, single, values)
        if taped:
            needed.update([out for out in outputs if differentiable(out._value)])
            self.ops.append(made)
        return made


def computing(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function so that it computes, even if a Block is open."""
    if open_block() is None:
        return function(**arguments)
    with recording(None):
        return function(**arguments)
