"""append_backward: gradients as operators of a Program."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.block import Operator
from lodcore.graph.gradients.cotangents import differentiable_spec, path
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.names import OF_GRADIENT
from lodcore.graph.program import Program
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.graph.variable import Variable
from lodcore.operators.operands import no_gradient
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["append_backward"]


def append_backward(loss: Variable, parameters: Any = None) -> Any:
    """Append the operators of the gradient to the Program of a loss.

    Parameters
    ----------
    loss : Variable
        One real number; where its shape is known only at run time, the run checks that.
    parameters : tree, optional
        The Variables of which to return the gradients: lists, tuples, dicts and dataclasses of them.

    Returns
    -------
    list of (Variable, Variable), or tree
        Each parameter on which the loss depends, and the Variable of its gradient, which is named `<name>@GRAD`; data
        have such a Variable, too. With `parameters`, a tree of the same form with these Variables, as optimizers need
        it: the gradient is zeros if the loss does not depend on a parameter, and None for anything but a Variable of
        real numbers. Only gradients that are fetched, or that updates need, are computed.

    Raises
    ------
    GraphError
        If the loss is not computed in a Program, is not one real number, depends on no parameter or data, or depends on
        gradients; or if an entry of `parameters` is neither a parameter nor data. At run time, if the loss turns out to
        be several numbers and a gradient is computed.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Executor, Program, append_backward, data, parameter
    >>> with Program() as program:
    ...     x = data("x", (None, 2), "float64")
    ...     w = parameter(np.array([[1.0], [2.0]]), "w")
    ...     loss = lodcore.ops.sum(lodcore.matmul(x, w))
    ...     (_, gradient), = append_backward(loss)
    >>> Executor().run(program, feed={"x": np.ones((3, 2))}, fetch=[loss, gradient])
    [np.float64(9.0), array([[3.],
           [3.]])]
    """
    loss = loss.current() if isinstance(loss, Variable) else loss
    program = loss.block if isinstance(loss, Variable) else None
    if not isinstance(program, Program):
        raise GraphError("append_backward: loss: is not a Variable of a Program")
    loss = program.versions.get(loss, loss)
    _check_loss(loss)
    forward = _before(program, loss)
    computed = {out for op in forward for out in op.outputs}
    read = dict.fromkeys(x for op in forward for x in op.inputs)
    leaves = [v for v in read if v not in computed and differentiable_spec(v.spec)]
    needed, way = path(forward, leaves)
    if loss not in needed:
        raise GraphError(f"append_backward: loss: {loss.name} depends on no parameter and no data of real numbers")
    own = tree_map(functools.partial(_own, program), parameters)
    held = {*program.feeds, *program.parameters} if parameters is not None else set()
    chosen = tree_map(functools.partial(_chosen, program, held), own)
    asked = [v for v in tree_leaves(chosen) if v is not None]
    depends = {x for op in way for x in op.inputs}  # also through a comparison, whose gradient is 0
    reached, way = _reached(way, loss, needed)
    apart = dict.fromkeys(v for v in [*asked, *(v for v in leaves if v in depends)] if v not in reached)
    gradient_of, tables = {}, _looked_up(way)
    for v in dict.fromkeys([loss, *apart, *(x for op in reversed(way) for x in op.inputs)]):
        if v in reached or v in apart:
            spec = v.spec._replace(kind=SparseTensor) if v in tables else v.spec
            gradient_of[v] = new_variable(None, None, spec, program)
            program.add(gradient_of[v], None, f"{program.name_of(v)}{OF_GRADIENT}")
    seed = Seed(loss, gradient_of, [*apart])
    program.ops.append(seed)
    program.ops += [GradientOperator(op, seed) for op in reversed(way)]
    if parameters is not None:
        return tree_map(gradient_of.get, chosen)
    known = set(program.parameters)
    return [(v, gradient_of[v]) for v in leaves if v in gradient_of and v in known]


def _own(program: Program, given: Any) -> Variable | None:
    """Return the Variable of a leaf of `parameters` as that of the Program."""
    if not isinstance(given, Variable):
        return None
    if given.home is not program.reference and given.home is not None and not program.shares(given):
        home = type(given.block).__name__
        raise GraphError(f"append_backward: parameters: Variable {given.name}: is of another {home}")
    return program.variable(given)


def _chosen(program: Program, held: set[Variable], v: Variable | None) -> Variable | None:
    """Return a Variable of `parameters` if it has a gradient; `held` are all parameters and data."""
    if v is not None and v not in held:
        raise GraphError(f"append_backward: parameters: {program.described(v)}: is neither a parameter nor data")
    return v if v is not None and differentiable_spec(v.spec) else None


def _reached(way: list[Operator], loss: Variable, needed: set[Variable]) -> tuple[set[Variable], list[Operator]]:
    """Return the Variables to which the gradient of the loss flows, and the operators through which it does.

    Raise GraphError if one of them has no gradient.
    """
    reached = {loss}
    through = []
    for op in reversed(way):
        if not reached.isdisjoint(op.outputs):
            if not op.op.gradient:
                raise no_gradient(op.op)
            reached.update(needed.intersection(op.inputs))
            through.append(op)
    return reached, through[::-1]


def _looked_up(way: list[Operator]) -> set[Variable]:
    """Return the tables that operators only look up, whose gradients are rows."""
    in_rows: dict[Variable, bool] = {}
    for op in way:
        table = op.arguments.get(op.op.gradient_in_rows)
        for x in op.inputs:
            in_rows[x] = in_rows.get(x, True) and x is table
    return {x for x, only in in_rows.items() if only}


def _check_loss(loss: Variable) -> None:
    """Raise if the loss is not one real number."""
    spec = loss.spec
    sizes = [size for size in spec.shape if size is not None]
    if spec.kind is TensorArray or spec.num_levels or int(np.prod(sizes)) != 1 or len(sizes) < len(spec.shape) - 1:
        raise GraphError(f"append_backward: loss: has shape {loss.shape}; one number is needed")
    if not differentiable_spec(spec) or spec.dtype.kind == "c":
        raise GraphError(f"append_backward: loss: has dtype {spec.dtype}; a real number is needed")


def _before(program: Program, loss: Variable) -> list[Operator]:
    """Return the operators on which the loss depends, in order."""
    wanted = {loss}
    found = []
    for op in reversed(program.ops):
        if any(out in wanted for out in op.outputs):
            if not isinstance(op, Operator):
                raise GraphError(
                    f"append_backward: loss: {loss.name} depends on {op.outputs[0].name}; gradients of gradients are "
                    "not supported"
                )
            wanted.update(op.inputs)
            found.append(op)
    return found[::-1]
