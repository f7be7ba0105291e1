"""The parts of a run of a Program: consecutive calls, and between them the backward passes of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.block import Operator
from lodcore.graph.chains import Chain
from lodcore.graph.engine import Call, Frame, Layout
from lodcore.graph.gradients.chain_gradients import BackChain
from lodcore.graph.gradients.cotangents import Gradients, conjugated, of_type, values_of
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.gradients.rule_calls import BackwardCall
from lodcore.graph.variable import Variable

__all__ = ["Parts", "see_readers"]

Part = list[Any] | Callable[[Frame], None]


def see_readers(
    chains: list[Chain], ops: list[Any], results: Iterable[Variable], valued: set[Variable], layout: Layout
) -> None:
    """Tell chains which of their results are read elsewhere.

    Parameters
    ----------
    chains : list of Chain
    ops : list
        All operators of the run.
    results : list of Variable
        What is read after it.
    valued : set of Variable
        The gradients that are read; each has the type of its value.
    layout : Layout
    """
    if not chains:
        return
    chain_of = {op: chain for chain in chains for op in chain.ops}
    made_by = {op.outputs[0]: chain for op, chain in chain_of.items()}
    read = set(results)
    for op in ops:
        if isinstance(op, Operator):
            own = chain_of.get(op)
            read.update([x for x in op.inputs if own is None or made_by.get(x) is not own])
        elif isinstance(op, (Seed, GradientOperator)):
            value_of = (op if isinstance(op, Seed) else op.seed).value_of
            read.update([value_of[d] for d in op.outputs if d in valued])
            if isinstance(op, Seed):
                read.add(op.loss)
    for v in read & made_by.keys():
        made_by[v].read_elsewhere.add(layout.slot(v))


class Parts:
    """The maker of the parts of a run.

    Parameters
    ----------
    layout : Layout
    calls : dict
        By Operator.
    chains : list of Chain
    begun : dict
        The Variables whose gradients are needed, by Seed.
    complete : dict
        After which operator each gradient that is fetched or read is complete.
    """

    def __init__(
        self,
        layout: Layout,
        calls: dict[Operator, Call],
        chains: list[Chain],
        begun: dict[Seed, set[Variable]],
        complete: dict[Any, list[Variable]],
    ) -> None:
        self._layout, self._calls, self._begun, self._complete = layout, calls, begun, complete
        self._chain_of = {op: chain for chain in chains for op in chain.ops}
        self._parts: list[Part] = []
        self._together: list[GradientOperator] = []  # neighbours of one chain
        self._late: list[Part] = []  # what follows them

    def of(self, ops: list[Any]) -> list[Part]:
        """Return the parts that run operators."""
        for op in ops:
            if isinstance(op, Operator):
                self._call(op)
            elif isinstance(op, GradientOperator) and op.forward in self._chain_of:
                self._back_together(op)
            else:
                self._end()
                self._parts.append(_seed(op, self._begun[op], self._layout) if isinstance(op, Seed) else self._back(op))
                self._parts += self._completing(op)
        self._end()
        return self._parts

    def _call(self, op: Operator) -> None:
        self._end()
        if not self._parts or not isinstance(self._parts[-1], list):
            self._parts.append([])
        chain = self._chain_of.get(op)
        if chain is None:
            self._parts[-1].append(self._calls[op])  # type: ignore[union-attr]
        elif op is chain.ops[0]:
            self._parts[-1].append(chain.instruction())  # type: ignore[union-attr]

    def _back(self, op: GradientOperator) -> Part:
        """Return the function that runs the backward pass of one operator."""
        seed, way = self._layout.slot(op.seed), [self._way(op)]

        def back(frame: Frame) -> None:
            frame[seed].back(way, frame)

        return back

    def _way(self, op: GradientOperator) -> BackwardCall:
        return BackwardCall(op.forward, self._begun[op.seed], self._calls[op.forward])

    def _back_together(self, op: GradientOperator) -> None:
        """Add the backward pass of an operator of a chain to that of its neighbours."""
        chain, before = self._chain_of[op.forward], self._together
        if before and (self._chain_of[before[0].forward] is not chain or before[0].seed is not op.seed):
            self._end()
        self._together.append(op)
        self._late += self._completing(op)
        made = {one.outputs[0] for one in chain.ops}
        if any(op.seed.value_of[d] in made for d in self._complete.get(op, ())):  # which its neighbours would take
            self._end()

    def _end(self) -> None:
        """Make the part of neighbours of one chain."""
        some = self._together
        if some:
            chain, needed = self._chain_of[some[0].forward], self._begun[some[0].seed]
            ops, seed = [one.forward for one in some], self._layout.slot(some[0].seed)
            chain.ways.append((ops, needed))
            self._parts.append(BackChain(chain, ops, needed, [self._way(one) for one in some], seed))
        self._parts += self._late
        self._together, self._late = [], []

    def _completing(self, op: Any) -> list[Part]:
        """Return what makes the gradients that are complete after an operator."""
        return [_completing(op, self._complete[op], self._layout)] if op in self._complete else []


def _seed(op: Seed, wanted: set[Variable], layout: Layout) -> Callable[[Frame], None]:
    """Return the function that starts a gradient, if it is needed."""
    here, loss = layout.slots([op, op.loss])

    def begin(frame: Frame) -> None:
        value = values_of(frame[loss])
        if value.size != 1:
            raise GraphError(f"append_backward: loss: has shape {value.shape}; one number is needed")
        frame[here] = Gradients(wanted)
        frame[here].add(op.loss, np.ones(value.shape, value.dtype))

    return begin


def _completing(op: Any, gradients: list[Variable], layout: Layout) -> Callable[[Frame], None]:
    """Return the function that converts complete gradients to the types of their values."""
    seed = op if isinstance(op, Seed) else op.seed
    begun = layout.slot(seed)
    places = [(layout.slot(d), seed.value_of[d], layout.slot(seed.value_of[d])) for d in gradients]

    def complete(frame: Frame) -> None:
        for place, x, value in places:
            frame[place] = of_type(frame[value], conjugated(frame[begun].found.get(x)))

    return complete
