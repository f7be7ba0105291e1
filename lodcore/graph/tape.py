"""The Block of a differentiated function: operators compute at once, and are recorded for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import open_block, recording, take_contents
from lodcore.errors import GraphError
from lodcore.graph.arrays import new_variable
from lodcore.graph.block import PYTHON_TYPES, Block, Operator, function_of
from lodcore.graph.engine import Frame
from lodcore.graph.gradients import differentiable
from lodcore.graph.variable import Variable, as_value
from lodcore.ops.registry import Op
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["Tape", "TapedOperator", "computing"]


class TapedOperator(Operator):
    """A recorded call with the values of its arguments and results.

    Attributes
    ----------
    frame : list
        The values that a vjp rule may read: all arguments, the result, and the residuals, in the order of `op.slots`.
    """

    __slots__ = ("frame",)

    def __init__(self, op: Op, arguments: dict[str, Any], outputs: list[Variable], single: bool, frame: Frame) -> None:
        self.op, self.arguments, self.outputs, self.single = op, arguments, outputs, single  # faster than super()
        self._inputs, self.frame = None, frame


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

    @property
    def recording(self) -> bool:
        """Whether the function is still running."""
        return not self.closed

    def begin(self, where: str, x: Any) -> Any:
        """Convert an input to a Variable if it is a tensor or number; return anything else unchanged."""
        if (type(x) is np.ndarray or type(x) is LoDTensor) and x.dtype.kind in "fc":  # the usual case
            made = Variable.of_block("input", x, None, self)
            self.needed.add(made)
            return made
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
        made = new_variable("input", ArrayVersion.of(x) if isinstance(x, TensorArray) else x, None, self)
        if differentiable(x):
            self.needed.add(made)
        return made

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute, store the call if a gradient passes through it, and return the Variables of the results."""
        if self.closed:
            return super().record(op, args, kwargs)
        if kwargs and "name" in kwargs and "name" not in op.parameters:
            del kwargs["name"]  # names on a tape are not used
        arguments = op.bind(args, kwargs)
        needed, here, roles = self.needed, self.reference, op.roles
        values: Frame = []
        taped = False
        for name, given in arguments.items():
            kind = type(given)
            if kind is Variable and given.home is here and given.later is None and name in roles:  # the usual case
                values.append(given.held)
                taped = taped or given in needed
            elif kind in PYTHON_TYPES or (given is None and name not in roles):
                values.append(given)
            else:
                x = arguments[name] = self.argument(op, name, given)
                if type(x) is list:
                    values.append([one.held if isinstance(one, Variable) else one for one in x])
                    taped = taped or any(one in needed for one in x if isinstance(one, Variable))
                elif isinstance(x, Variable):
                    values.append(x.get())
                    taped = taped or x in needed
                else:
                    values.append(x)
        made = self._computed(op, arguments, values, taped and op.gradient)
        if op.writes is not None:
            written = args[0] if args else kwargs[op.writes]
            self.write_back(written, made[0])
            return written
        return made

    def write_arrays(self) -> None:
        """Apply the writes to all held arrays, or to none if there is an error."""
        arrays = self.captured_arrays + self.made_arrays
        last = [self.versions.get(array.variable, array.variable).get() for array in arrays]
        take_contents(arrays, [version.snapshot() for version in last])

    def _computed(self, op: Op, arguments: dict[str, Any], frame: Frame, taped: bool) -> Any:
        """Compute on values; return a Variable, or a tuple of them."""
        function = function_of(op, taped)
        keep = taped and op.with_residuals is not None
        if open_block() is not None:
            result = computing(lambda: op.of_values(function, frame, keep), {})
        else:
            result = op.of_values(function, frame, keep)
        if keep:
            frame += result
            result = result[0]
        else:
            frame.append(result)
        name = op.__name__
        if type(result) is tuple or op.writes is not None:
            outputs = [new_variable(name, one, None, self) for one in (result if type(result) is tuple else [result])]
            given: Any = tuple(outputs)
        else:
            given = new_variable(name, result, None, self)
            outputs = [given]
        if taped:
            self.needed.update([out for out in outputs if differentiable(out.held)])
            self.ops.append(TapedOperator(op, arguments, outputs, type(result) is not tuple, frame))
        return given


def computing(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function so that it computes, even if a Block is open."""
    if open_block() is None:
        return function(**arguments)
    with recording(None):
        return function(**arguments)
