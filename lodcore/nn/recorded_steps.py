"""Steps of optimizers as operators of a Program, which update its parameters at the end of each run."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import recorder
from lodcore.base.recycling import Recycled
from lodcore.errors import DTypeError, GraphError, ShapeError
from lodcore.graph.gradients.learned import ParameterUpdate
from lodcore.graph.program import Program
from lodcore.graph.variable import Variable, spec_text
from lodcore.nn.updates import Leaf, check, leaves_of, updated_leaves
from lodcore.operators.registry import Op
from lodcore.operators.roles import Anything, Batches
from lodcore.tensors.tensor import Spec

__all__ = ["STEP", "record_step"]


def _step(gradients: Any, parameters: Any, states: Any, step: Any, optimizer: Any) -> tuple[Any, ...]:
    """Return the next parameters, the next entries of the state, and the next number of the step."""
    where = f"{type(optimizer).__name__}.step"
    numbers = optimizer.numbers(where, int(step))
    leaves = []
    for j, (value, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        leaf = Leaf(value, f"{where}: gradients[{j}]", 0)
        leaf.gradient, leaf.state = gradient, states[j :: len(parameters)]
        check(leaf, False)
        leaves.append(leaf)
    with Recycled():
        made = updated_leaves(leaves, optimizer.kernel, numbers, False)
    return *[x for column in zip(*made, strict=True) for x in column], np.asarray(step) + 1


class StepOp(Op):
    """The step of an optimizer as an operator: its results are the next state and the next parameters."""

    keeps_versions = True  # gradients may be SparseTensors, which the role of a list would refuse

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Specs of the results: those of the parameters, of the state, and of the step."""
        optimizer = arguments["optimizer"]
        if not callable(getattr(optimizer, "numbers", None)):
            raise DTypeError(f"optimizer_step: optimizer: is {type(optimizer).__name__}; an optimizer is needed")
        given, count = arguments["gradients"], len(arguments["parameters"])
        if len(given) != count or len(arguments["states"]) != count * len(optimizer.kept):
            raise ValueError(
                f"optimizer_step: gradients: has {len(given)} entries; parameters or states have other numbers"
            )
        return (*arguments["parameters"], *arguments["states"], arguments["step"])


STEP = StepOp(
    _step,  # type: ignore[arg-type]
    {"gradients": Batches, "parameters": Batches, "states": Batches, "step": Anything},
    differentiable=False,
    results=None,
)
STEP.__name__ = "optimizer_step"


def record_step(where: str, optimizer: Any, parameters: Any, gradients: Any, state: Any) -> dict[str, Any]:
    """Record the step of an optimizer and the updates of parameters and state; return the state."""
    state = optimizer.init(parameters) if state is None else state
    if not isinstance(state, dict) or state.keys() != {"step", *optimizer.kept}:
        raise DTypeError(f"{where}: state: is {type(state).__name__}; what `init` returns is needed")
    step = state["step"]
    if not isinstance(step, Variable):
        raise DTypeError(f"{where}: state: was made of other parameters; `init` of these Variables is needed")
    leaves = leaves_of(where, parameters, gradients, {name: state[name] for name in optimizer.kept})
    learning = [leaf for leaf in leaves if leaf.learns]
    program = _program_of(where, [leaf.gradient for leaf in learning])
    updated = {op.variable for op in program.ops if isinstance(op, ParameterUpdate)}
    for leaf in learning:
        _check(leaf, program)
        if program.variable(leaf.value) in updated:
            raise GraphError(
                f"{where}: parameters: {program.name_of(leaf.value)}: is updated already in this Program, where the "
                "last update holds; add the losses, and take one step"
            )
    values = [leaf.value for leaf in learning]
    states = [leaf.state[j] for j in range(len(optimizer.kept)) for leaf in learning]
    made = STEP([leaf.gradient for leaf in learning], values, states, step, optimizer)
    for variable, new in zip([*values, *states, step], made, strict=True):
        program.rename(new, None, f"{program.name_of(variable)}@NEXT")
        program.update(variable, new, fresh=True)
    return state


def _program_of(where: str, gradients: list[Any]) -> Program:
    """Return the Program that is open, or that of the gradients."""
    found = recorder(gradients)
    if not isinstance(found, Program):
        what = "the body of a loop is open" if found is not None else "no Program is open, and no gradient is in one"
        raise GraphError(f"{where}: parameters: are Variables, and {what}; a Program records their updates")
    return found


def _check(leaf: Leaf, program: Program) -> None:
    """Raise if parameter, gradient and state of a leaf do not belong together."""
    for x in (leaf.value, *leaf.state):
        if not isinstance(x, Variable):
            raise DTypeError(
                f"{leaf.place}: belongs to a parameter or state of {type(x).__name__}; a Variable is needed"
            )
    value, gradient = leaf.value.spec, leaf.gradient
    if value.dtype.char not in "fd" or value.kind is not np.ndarray:
        raise DTypeError(f"{leaf.place}: belongs to a parameter of {spec_text(value)}; a float array is needed")
    if not isinstance(gradient, Variable):
        raise DTypeError(f"{leaf.place}: is {type(gradient).__name__}; a Variable of the Program is needed")
    spec: Spec = gradient.spec
    sizes = zip(spec.shape, value.shape, strict=False)
    if len(spec.shape) != len(value.shape) or any(a is not None and a != b for a, b in sizes):
        raise ShapeError(f"{leaf.place}: has shape {spec.shape}; the parameter has {value.shape}")
    for state in leaf.state:
        if state.spec != value:
            raise DTypeError(
                f"{leaf.place}: has a state of {spec_text(state.spec)}; the parameter has {spec_text(value)}"
            )
