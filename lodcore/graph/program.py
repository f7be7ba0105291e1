"""Programs: Blocks that are recorded once, fed and run; and their gradients as operators like any others."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.autodiff import of_type
from lodcore.graph.block import Block, Frame, Operator
from lodcore.graph.gradients import Gradients, differentiable_spec, path
from lodcore.graph.variable import Variable
from lodcore.symbol import open_block, recording

__all__ = ["GradientOperator", "Program", "append_backward", "finished"]


class Program(Block):
    """A Block that an Executor runs.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Executor, Program, data, parameter
    >>> with Program() as program:
    ...     x = data("x", (None, 2), "float64", num_levels=1)
    ...     w = parameter(np.array([[1.0], [2.0]]), "w")
    ...     y = lodcore.matmul(x, w)
    >>> print(program)
    program:
        data x: float64 (., 2), 1 level
        parameter w: float64 (2, 1)
        matmul = matmul(x=x, y=w)  # float64 (., 1), 1 level
    >>> rows = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    >>> Executor().run(program, feed={"x": rows}, fetch=[y])[0].values.ravel()
    array([3., 3., 3.])
    """

    def __init__(self) -> None:
        super().__init__(open_block())
        self.parent = None
        self._open: recording | None = None

    def __enter__(self) -> Program:
        if self._open is not None:
            raise GraphError("Program: is open already")
        self._open = recording(self)
        self._open.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        opened, self._open = self._open, None
        assert opened is not None
        opened.__exit__(*error)

    @property
    def parameters(self) -> list[Variable]:
        """The Variables of this Block that have values of their own."""
        computed = {out for op in self.ops for out in op.outputs}
        return [v for v in self.variables() if v.has_value and v not in computed]

    def __str__(self) -> str:
        from lodcore.graph.text import program_text

        return program_text(self)

    def __repr__(self) -> str:
        return f"<Program of {len(self.ops)} operators>"

    def to_dot(self) -> str:
        """Draw it in the language of Graphviz."""
        from lodcore.graph.text import program_dot

        return program_dot(self)


class GradientOperator:
    """An operator of the gradient: from the gradients of the results of a forward operator to those of its inputs.

    Parameters
    ----------
    forward : Operator
    gradient_of : dict
        For each Variable that needs one, the Variable of its gradient, to which this operator adds.
    """

    __slots__ = ("forward", "gradient_of", "inputs", "outputs")

    def __init__(self, forward: Operator, gradient_of: dict[Variable, Variable]) -> None:
        self.forward = forward
        self.gradient_of = gradient_of
        self.outputs = list(dict.fromkeys(gradient_of[x] for x in forward.inputs if x in gradient_of))
        self.inputs = [*forward.inputs, *(gradient_of[out] for out in forward.outputs if out in gradient_of)]

    @property
    def name(self) -> str:
        """That of the forward operator and `_grad`."""
        return f"{self.forward.op.__name__}_grad"

    def run(self, frame: Frame, keep: bool) -> None:
        """Add to the gradients of the inputs."""
        found = {x: frame[d] for x, d in self.gradient_of.items() if d in frame}
        gradients = Gradients(set(self.gradient_of))
        gradients.found = {out: found[out] for out in self.forward.outputs if out in found}
        gradients.step_back(self.forward, frame)
        for x, gradient in gradients.found.items():
            d = self.gradient_of[x]
            if d in frame and x in found:
                before = Gradients(set())
                before.found[x] = frame[d]
                before.add(x, gradient)
                gradient = before.found[x]
            frame[d] = gradient


class Seed:
    """The first operator of a gradient: the gradient of the loss with respect to itself is 1."""

    __slots__ = ("inputs", "loss", "outputs")

    name = "ones"

    def __init__(self, loss: Variable, gradient: Variable) -> None:
        self.loss, self.inputs, self.outputs = loss, [loss], [gradient]

    def run(self, frame: Frame, keep: bool) -> None:
        """Set the gradient of the loss."""
        value = np.asarray(frame[self.loss])
        if value.size != 1:
            raise GraphError(f"append_backward: loss: has shape {value.shape}; one number is needed")
        frame[self.outputs[0]] = np.ones(value.shape, value.dtype)


def append_backward(loss: Variable) -> list[tuple[Variable, Variable]]:
    """Append the operators of the gradient to the Program of a loss.

    Parameters
    ----------
    loss : Variable
        One real number.

    Returns
    -------
    list of (Variable, Variable)
        Each parameter on the way to the loss, and the Variable of its gradient, which is named `<name>@GRAD`.

    Raises
    ------
    GraphError
        If the loss is not computed in a Program, or is not one real number.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Executor, Program, append_backward, data, parameter
    >>> with Program() as program:
    ...     x = data("x", (None, 2), "float64")
    ...     w = parameter(np.array([[1.0], [2.0]]), "w")
    ...     loss = lodcore.ops.sum(lodcore.matmul(x, w))
    ...     (_, slope), = append_backward(loss)
    >>> Executor().run(program, feed={"x": np.ones((3, 2))}, fetch=[loss, slope])
    [np.float64(9.0), array([[3.],
           [3.]])]
    """
    block = loss.block if isinstance(loss, Variable) else None
    if not isinstance(block, Program):
        raise GraphError("append_backward: loss: is no Variable of a Program")
    spec = loss.spec
    if spec.num_levels or (None not in spec.shape and int(np.prod(spec.shape or (1,))) != 1):  # type: ignore[arg-type]
        raise GraphError(f"append_backward: loss: has shape {spec.shape}; one number is needed")
    if not differentiable_spec(spec):
        raise GraphError(f"append_backward: loss: has dtype {spec.dtype}; a real number is needed")
    forward = [op for op in block.ops if isinstance(op, Operator)]
    computed = {out for op in forward for out in op.outputs}
    leaves = [v for v in block.variables() if v not in computed and differentiable_spec(v.spec)]
    needed, way = path(forward, leaves, lambda out: differentiable_spec(out.spec))
    leading = {loss}
    for op in reversed(way):
        if any(out in leading for out in op.outputs):
            leading.update(x for x in op.inputs if x in needed)
    way = [op for op in way if any(out in leading for out in op.outputs)]
    gradient_of = {}
    for v in leading & needed:
        gradient_of[v] = Variable(f"{v.name}@GRAD", None, v.spec, block)
    if loss not in gradient_of:
        raise GraphError(f"append_backward: loss: {loss.name} depends on no parameter and no data")
    for gradient in gradient_of.values():
        block.add(gradient, gradient.name)
    block.ops.append(Seed(loss, gradient_of[loss]))
    block.ops += [GradientOperator(op, gradient_of) for op in reversed(way)]
    parameters = [v for v in leaves if v in gradient_of and v.has_value]
    return [(v, gradient_of[v]) for v in parameters]


def finished(variable: Variable, frame: Frame, gradient_of: dict[Variable, Variable]) -> Any:
    """Give a gradient the type of what it belongs to; zeros if nothing arrived."""
    value_of = {d: x for x, d in gradient_of.items()}
    return of_type(frame[value_of[variable]], frame.get(variable))
