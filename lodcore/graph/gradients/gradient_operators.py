"""The operators of gradients in a Program: the first one, and the backward operator of each forward operator."""

from __future__ import annotations

from lodcore.graph.block import Operator, text_of
from lodcore.graph.variable import Variable

__all__ = ["GradientOperator", "Seed"]


class Seed:
    """The first operator of a gradient: the gradient of the loss with respect to itself is 1.

    Parameters
    ----------
    loss : Variable
    gradient_of : dict
        The Variable of the gradient of each Variable that has one.
    apart : list of Variable
        Those on which the loss does not depend; their gradients are zeros.
    """

    __slots__ = ("gradient_of", "inputs", "loss", "outputs", "value_of")

    name = "ones"

    def __init__(self, loss: Variable, gradient_of: dict[Variable, Variable], apart: list[Variable]) -> None:
        self.loss, self.gradient_of = loss, gradient_of
        self.value_of = {d: x for x, d in gradient_of.items()}
        self.inputs = [loss, *apart]
        self.outputs = [gradient_of[x] for x in self.inputs]

    def __repr__(self) -> str:
        block = self.outputs[0].home() if self.outputs[0].home is not None else None
        zeros = [f"; {d.name} = zeros({text_of(x, block)})" for x, d in zip(self.inputs, self.outputs, strict=True)][1:]
        return f"{self.outputs[0].name} = {self.name}({self.loss.name}){''.join(zeros)}"


class GradientOperator:
    """The backward operator of a forward operator: from gradients of its results to those of its inputs.

    Parameters
    ----------
    forward : Operator
    seed : Seed
        The first operator of this gradient.
    """

    __slots__ = ("forward", "inputs", "outputs", "seed")

    def __init__(self, forward: Operator, seed: Seed) -> None:
        self.forward, self.seed = forward, seed
        gradient_of = seed.gradient_of
        self.outputs = list(dict.fromkeys(gradient_of[x] for x in forward.inputs if x in gradient_of))
        self.inputs = [*forward.inputs, *(gradient_of[out] for out in forward.outputs if out in gradient_of)]

    @property
    def name(self) -> str:
        """The name of the forward operator and `_grad`."""
        return f"{self.forward.name}_grad"

    def __repr__(self) -> str:
        results = ", ".join(out.name for out in self.outputs)
        block = self.seed.outputs[0].home() if self.seed.outputs[0].home is not None else None
        return f"{results} += {self.name}({', '.join([text_of(x, block) for x in self.inputs])})"
