"""Clones of Programs: with the same Variables, and for use without what only training needs."""

from __future__ import annotations

import copy
from typing import Any

from lodcore.graph.block import Operator
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.gradients.learned import ParameterUpdate
from lodcore.graph.loops.branches import Branches
from lodcore.graph.loops.frames import StepRunner
from lodcore.graph.variable import Variable

__all__ = ["operators_for_test"]


def operators_for_test(ops: list[Any]) -> list[Any]:
    """Return operators without updates, without what only these need, and without dropout."""
    kept = _without_updates(ops)
    changed = {op: _without_dropout(op) for op in kept}
    made = []
    for op in kept:
        if isinstance(op, GradientOperator) and changed[op.forward] is not op.forward:
            op = GradientOperator(changed[op.forward], op.seed)
        made.append(changed.get(op, op))
    return made


def _without_updates(ops: list[Any]) -> list[Any]:
    """Return operators without updates and what only these need: the gradients, too, but not the loss itself."""
    updates = [op for op in ops if isinstance(op, ParameterUpdate)]
    training = _needed_by(ops, {x for op in updates for x in op.inputs})
    seeds = {op for op in training if isinstance(op, Seed)}
    gradients: set[Variable] = set()  # and all that is computed from them
    others = []
    for op in ops:
        if isinstance(op, ParameterUpdate) or getattr(op, "seed", op) in seeds or not gradients.isdisjoint(op.inputs):
            gradients.update(op.outputs)
        else:
            others.append(op)
    read = {x for op in ops if not isinstance(op, Seed) for x in op.inputs}
    ends = {x for op in others for x in op.outputs if x not in read}
    needed = _needed_by(others, ends | {op.loss for op in seeds})
    return [op for op in others if op in needed]


def _needed_by(ops: list[Any], wanted: set[Variable]) -> set[Any]:
    """Return the operators that compute Variables, and those that compute their operands."""
    wanted, found = set(wanted), set()
    for op in reversed(ops):
        if any(x in wanted for x in op.outputs):
            found.add(op)
            wanted.update(op.inputs)
            if isinstance(op, GradientOperator):
                wanted.update([*op.forward.outputs, *op.seed.outputs])
    return found


def _without_dropout(op: Any) -> Any:
    """Return an operator that drops nothing, even in the bodies of loops and branches; itself if it does not."""
    if not isinstance(op, Operator):
        return op
    arguments: dict[str, Any] = op.arguments
    if op.name == "dropout":
        return Operator(op.op, {**arguments, "rng": None}, op.outputs, op.single)
    loop: Any = arguments.get("loop")
    branches = arguments.get("branches")
    if isinstance(getattr(loop, "steps", None), StepRunner):
        steps = loop.steps
        ops = [*map(_without_dropout, steps.body.ops)]
        if _differ(ops, steps.body.ops):
            body, other = copy.copy(steps.body), copy.copy(loop)
            body.ops = ops
            steps = StepRunner(body, steps.carried, steps.captured, steps.max_steps, steps.recompute)
            vars(other).update(body=body, steps=steps)
            return Operator(op.op, {**arguments, "loop": other}, op.outputs, op.single)
    if hasattr(loop, "with_ops"):  # the steps of a cell
        ops = [*map(_without_dropout, loop.ops)]
        if _differ(ops, loop.ops):
            return Operator(op.op, {**arguments, "loop": loop.with_ops(ops)}, op.outputs, op.single)
    if isinstance(branches, Branches):
        each = [[*map(_without_dropout, one.body.ops)] for one in branches.each]
        if any(_differ(ops, one.body.ops) for ops, one in zip(each, branches.each, strict=True)):
            other = copy.copy(branches)
            other.each = [one.with_ops(ops) for ops, one in zip(each, branches.each, strict=True)]
            return Operator(op.op, {**arguments, "branches": other}, op.outputs, op.single)
    return op


def _differ(ops: list[Any], others: list[Any]) -> bool:
    return any(one is not other for one, other in zip(ops, others, strict=True))
