"""The Block of a differentiated function: operators compute at once, and are recorded for the backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import variable_of
from lodcore.base.journal import take_contents
from lodcore.errors import GraphError
from lodcore.graph.block import Block
from lodcore.graph.gradients.rule_calls import differentiable, give_to_loop, record
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.recorder import Recorder
from lodcore.graph.variable import Variable, as_value
from lodcore.operators.registry import Op
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["Tape", "recorded_error"]


def recorded_error(where: str, x: Variable) -> GraphError:
    """Return the error for differentiating with respect to a recorded Variable; it says what the Variable is."""
    block: Any = x.block
    if not isinstance(block, Tape) and block.takes_names:
        kind = "data" if x in set(block.feeds) else "a parameter" if x.has_value else "a result"
        says = f"is {kind} of a Program; append_backward(loss) gives gradients in a Program"
    elif block.repeats:
        says = "is recorded in a body, where it has no value; call vjp with the loop in its function"
    else:
        says = "is recorded already; gradients of gradients are not supported"
    return GraphError(f"{where}: Variable {x.name}: {says}")


class Tape(Block):
    """The computed operators through which gradients of the inputs pass; all others are not stored.

    Attributes
    ----------
    needed : set of Variable
        The Variables that depend on an input and have a gradient.
    """

    keeps_writes = True

    def __init__(self) -> None:
        super().__init__()
        self.needed: set[Variable] = set()
        # Variables without a Block, their values before, and a list of the value that they get at the end
        self.given_to_loops: list[tuple[Variable, Any, list[Any]]] = []

    @property
    def recording(self) -> bool:
        """Whether the function is still running."""
        return not self.closed

    def begin(self, where: str, x: Any) -> Any:
        """Convert an input to a Variable if it is a tensor or number; return anything else unchanged."""
        if (type(x) is np.ndarray or type(x) is LoDTensor) and x.dtype.kind in "fc":  # the usual case
            made = variable_of(Variable, "input", x, None, self)
            self.needed.add(made)
            return made
        if isinstance(x, Variable):
            if x.block is not None:
                raise recorded_error(where, x)
            x = x.get()
        if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
            x = as_value(f"{where}: an input", x)
        elif not isinstance(x, (Tensor, TensorArray)):
            return x
        made = new_variable("input", ArrayVersion.of(x) if isinstance(x, TensorArray) else x, None, self)
        if differentiable(x):
            self.needed.add(made)
        return made

    record = record

    def record_late(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Refuse a call after the function has ended."""
        return super().record(op, args, kwargs)

    def foreign(self, given: Any, block: Recorder) -> GraphError:
        """Return the error for an object of another Block that cannot be used here."""
        if isinstance(given, Variable) and block.takes_names:
            return recorded_error("vjp", given)
        return super().foreign(given, block)

    def write_variable(self, variable: Variable, result: Variable) -> None:
        """Set a Variable without a Block to the result of a loop, which it represents as long as the function runs."""
        give_to_loop(self, variable, variable.settable(result.get()), result)

    def write_outside(self) -> None:
        """Apply the writes to all held arrays, or to none if there is an error; find the last values of Variables."""
        for variable, _, last in self.given_to_loops:
            last[0] = variable.get()
        arrays = self.captured_arrays + self.made_arrays
        if arrays:
            last = [self.versions.get(array.variable, array.variable).get() for array in arrays]
            take_contents(arrays, [version.snapshot() for version in last])
