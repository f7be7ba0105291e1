"""The way back through a chain of elementwise operators, which run together there, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from lodcore.graph import engine
from lodcore.graph.engine import Frame
from lodcore.graph.gradients.cotangents import Gradients
from lodcore.graph.loops.flat_programs import FlatProgram, Numbers
from lodcore.graph.loops.instruction_numbers import is_told
from lodcore.graph.loops.lowered import CHEAP
from lodcore.graph.loops.traced import Untraceable, Value
from lodcore.graph.variable import Variable

__all__ = ["BackChain", "read_back"]


class Shared(NamedTuple):
    """A gradient for each row, of an operand that all rows share: the Variable, its slot, and the gradient."""

    variable: Variable
    slot: int
    value: Value


def traced_back(
    chain: Any, ops: Iterable[Any], needed: set[Variable], numbers: Numbers, values: dict[int, Value], given: Any
) -> tuple[dict[Variable, Value], list[Shared]]:
    """Trace the vjp rules of operators; return the gradients of rows, and those of operands that rows share.

    Parameters
    ----------
    chain : Chain
    ops : list of Operator
        Last first.
    needed : set of Variable
        Those that need a gradient.
    numbers : Numbers
    values : dict
        What the operators computed, by slot.
    given : dict
        The gradients that exist before, by Variable.
    """
    total, shared = dict(given), list[Shared]()
    for op in ops:
        out = op.outputs[0]
        d = total.pop(out, None)
        if d is None:
            continue
        rule = op.op.rule_of([*op.arguments.values()])
        operands = chain.operands(op)
        known = tuple([values[at] if at in values else numbers.taken(x) for x, at in operands])
        needs = [isinstance(x, Variable) and x in needed for x, _ in operands]
        rest = {name: x for name, x in op.arguments.items() if name not in op.op.roles}
        found = numbers.back(rule, known, values[chain.slot_of(op)], d, needs, rest)
        for (x, at), gradient in zip(operands, found, strict=True):
            if gradient is None:
                continue
            if values[at].code == "line":
                shared.append(Shared(x, at, gradient))
            else:
                total[x] = numbers.value("add", (total[x], gradient)) if x in total else gradient
    return total, shared


def read_back(chain: Any, numbers: Numbers, values: dict[int, Value]) -> set[int]:
    """Return the slots of results of a chain that its backward passes read, and that take long to compute again."""
    slots = {values[out]: out for out in chain.outs}
    read: set[int] = set()
    for ops, needed in chain.ways:
        given = {op.outputs[0]: numbers.value("cotangent", (), 1, at) for at, op in enumerate(ops)}
        total, shared = traced_back(chain, ops, needed, numbers, values, given)
        todo, seen = [*total.values(), *[one.value for one in shared]], set[Value]()
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            if v in slots and v.code not in CHEAP and v.code not in ("input", "line", "number"):
                read.add(slots[v])
            else:
                todo += v.inputs
    return read


class BackChain:
    """The backward pass through operators of a chain, without others between them.

    Parameters
    ----------
    chain : Chain
    ops : list of Operator
        Last first.
    needed : set of Variable
    ways : list of BackwardCall
        One for each of them.
    seed : int
        The slot of the gradients.
    """

    def __init__(self, chain: Any, ops: list[Any], needed: set[Variable], ways: list[Any], seed: int) -> None:
        self._chain, self._ops, self._needed, self._ways, self._seed = chain, ops, needed, ways, seed
        self._programs: dict[Any, Any] = {}
        inside = [op.outputs[0] for op in ops]
        rows = [x for op in ops for x, at in chain.operands(op) if x in needed and chain.is_row(at)]
        self._variables = list(dict.fromkeys([*inside, *rows]))

    def __call__(self, frame: Frame) -> None:
        """Run on a frame."""
        gradients, chain = frame[self._seed], self._chain
        if chain.ran_together(frame):
            done = engine.part(f"{chain.name}_grad", self._together, gradients, frame) if chain.goes_back else None
            if done:
                return
            if done is None:
                chain.keep_all()
            frame[:] = chain.completed(frame)
        gradients.back(self._ways, frame)

    def _together(self, gradients: Gradients, frame: Frame) -> bool | None:
        """Run all operators; return False, and do nothing, if they must run one by one, None if they always must."""
        bound, dtype, found = frame[self._chain.slot], self._chain.dtype, gradients.found
        arrays, codes = dict(bound.arrays), dict[Variable, str]()
        for v in self._variables:
            d = found.get(v)
            if d is None:
                continue
            if type(d) is not np.ndarray or d.dtype != dtype or d.shape != bound.shape:
                return None
            codes[v] = "cotangent" if any(d.strides) else "line"  # one number repeated, as after a sum
            arrays[v] = np.ascontiguousarray(d if any(d.strides) else d[(slice(0, 1),) * d.ndim]).reshape(-1, 1)
        there, key = [*codes], (*codes, *codes.values())
        if key not in self._programs:
            self._programs[key] = self._compiled(codes, bound.arrays)
        if self._programs[key] is None:
            return None
        program, total, shared = self._programs[key]
        made: dict[Any, Any] = {}
        if program is not None:
            try:
                made = {at: np.empty(bound.shape, dtype) for at in program.written}
                arrays.update({at: array.reshape(-1, 1) for at, array in made.items()})
                flags = program.run(arrays, bound.size)
            except MemoryError:
                return False
            if flags and is_told(flags):
                return False
        before = {v: gradients.take(v) for v in there}
        made.update(before)
        found.update({v: made[key] for v, key in total.items()})
        for one, key in shared:
            operand = frame[one.slot]
            gradients.add_broadcast(one.variable, made[key], operand, operand, [operand])
        return True

    def _compiled(self, codes: dict[Variable, str], arrays: dict[Any, Any]) -> Any:
        """Return the program for the existing gradients, with the keys of what it makes."""
        chain = self._chain
        try:
            numbers, values = chain.traced()
            given = {v: numbers.value(code, (), 1, v) for v, code in codes.items()}
            total, shared = traced_back(chain, self._ops, self._needed, numbers, values, given)
            keys: dict[Value, Any] = {d: v for v, d in given.items()}
            every = [*total.values(), *[one.value for one in shared]]
            made = [v for v in dict.fromkeys(every) if v not in keys]
            keys.update({v: ("made", at) for at, v in enumerate(made)})
            known: dict[Value, Any] = {v: slot for slot, v in values.items() if slot in arrays and not v.truth}
            known.update({d: v for v, d in given.items()})
            program = FlatProgram(chain.dtype, [(v, keys[v]) for v in made], known.get) if made else None
        except (Untraceable, RecursionError):
            return None
        return program, {v: keys[d] for v, d in total.items()}, [(one, keys[one.value]) for one in shared]
