"""Chains: neighbouring elementwise operators of a Program, which run together in one pass over their numbers.

A chain is found when a run is prepared, from the Specs, and compiled when it first meets many numbers. Where these are
few, its operands are not what its Specs promised, or NumPy would warn of a result, its operators run one by one.
What only the chain itself reads is not stored; Scopes compute it when you look at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph import engine
from lodcore.graph.block import Operator
from lodcore.graph.chain_groups import BOOL, form_of, groups_of, is_number, role_of, spec_of_operand
from lodcore.graph.engine import Call, Frame
from lodcore.graph.gradients.chain_gradients import read_back
from lodcore.graph.loops.flat_programs import FlatProgram, Numbers
from lodcore.graph.loops.instruction_numbers import is_told
from lodcore.graph.loops.traced import Traced, Untraceable, Value
from lodcore.graph.variable import Variable
from lodcore.operators.operands import Array
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["LEAST", "Bound", "Chain", "chains_of"]

#: The least numbers with which a chain runs together if it reads a row that all rows share, which NumPy repeats row by
#: row; and the least numbers and instructions if it does not: then all that is saved is access to memory.
LEAST, LEAST_EVEN, FEWEST_EVEN = 1 << 16, 1 << 18, 5


class Bound(NamedTuple):
    """What a run of a chain was given, and what it made.

    Attributes
    ----------
    shape : tuple of int
        The shape of all rows.
    size : int
        How many numbers they have.
    arrays : dict
        Arrays of one column, by slot.
    """

    shape: tuple[int, ...]
    size: int
    arrays: dict[Any, Array]


class Chain:
    """Neighbouring elementwise operators.

    Parameters
    ----------
    ops : list of Operator
    calls : list of Call
    dtype : dtype
    slot : int
        Where a frame has what a run was given, if its operators ran together.
    outs : tuple of int
        The slots of the results.

    Attributes
    ----------
    read_elsewhere : set of int
        The slots of results that others read.
    ways : list of (list of Operator, set of Variable)
        The operators of each backward pass, last first, and the Variables that need a gradient there.
    goes_back : bool
        Whether the backward passes can run together, too.
    """

    def __init__(
        self, ops: list[Operator], calls: list[Call], dtype: np.dtype[Any], slot: int, outs: Sequence[int]
    ) -> None:
        self.ops, self.calls, self.dtype, self.slot, self.outs = ops, calls, dtype, slot, outs
        self.read_elsewhere: set[int] = set()
        self.ways: list[tuple[list[Operator], set[Variable]]] = []
        self.goes_back = True
        self._form = form_of(ops[0].outputs[0].spec)
        self._roles: dict[int, str] = {}  # of the slots that are read
        self._lods: list[int] = []  # for each result the slot of the rows whose LoD it has
        self._has_lines = False  # whether rows of more than one number are shared
        known: dict[int, int] = {}
        for op, call, out in zip(ops, calls, outs, strict=True):
            lod = -1
            for x, at in operands_of(op, call):
                if at in known or role_of(x, self._form) == "row":
                    lod = known.setdefault(at, at) if lod < 0 else lod
                    if at not in outs:
                        self._roles[at] = "row"
                elif not is_number(x):
                    self._roles[at] = "line"
                    self._has_lines = self._has_lines or spec_of_operand(x).shape not in ((), (1,))
            known[out] = known[lod]
            self._lods.append(known[lod])
        self._call_of, self._slot_of = dict(zip(ops, calls, strict=True)), dict(zip(ops, outs, strict=True))
        self._program: FlatProgram | None = None
        self._compiled = False

    @property
    def name(self) -> str:
        """The name of the whole, for people."""
        return f"chain of {len(self.ops)} operators"

    def operands(self, op: Operator) -> list[tuple[Any, int]]:
        """List the operands of an operator, and their slots."""
        return [*operands_of(op, self._call_of[op])]

    def slot_of(self, op: Operator) -> int:
        """Return the slot of the result of an operator."""
        return self._slot_of[op]

    def is_row(self, at: int) -> bool:
        """Return whether a slot has rows, not what all rows share."""
        return self._roles.get(at) == "row" or at in self.outs

    def instruction(self) -> engine.Chain:
        """Return the instruction that runs the chain."""
        rows = next(at for at, role in self._roles.items() if role == "row")
        return engine.Chain(self.calls, rows, LEAST if self._has_lines else LEAST_EVEN, self.together, self.name)

    # -- compiling -----------------------------------------------------------------------------------------------------

    def traced(self) -> tuple[Numbers, dict[int, Value]]:
        """Return what the operators compute, by slot."""
        numbers = Numbers(self.dtype)
        values = {
            at: numbers.value("input" if role == "row" else "line", (), 1, at) for at, role in self._roles.items()
        }
        for op, call, out in zip(self.ops, self.calls, self.outs, strict=True):
            values[out] = _traced(numbers, op, call, values)
        return numbers, values

    def keep_all(self) -> None:
        """Make all results from now on, since the backward passes run one by one."""
        self.goes_back = self._compiled = False

    def _compile(self) -> None:
        self._compiled = True
        try:
            numbers, values = self.traced()
            inner = {at for op in self.ops for _, at in self.operands(op)}
            kept = {out for out in self.outs if out in self.read_elsewhere or out not in inner}
            try:
                kept |= read_back(self, numbers, values) if self.goes_back else set(self.outs)
            except Untraceable:
                kept, self.goes_back = set(self.outs), False
            made = [(values[out], out) for out in self.outs if out in kept]
            self._truths = {out for out in kept if values[out].truth}
            self._program = FlatProgram(self.dtype, made, lambda v: v.detail if v.code in ("input", "line") else None)
        except (Untraceable, RecursionError):
            self._program = None

    # -- running -------------------------------------------------------------------------------------------------------

    def together(self, frame: Frame) -> bool:
        """Run all operators on a frame; return False, and do nothing, if they must run one by one."""
        if not self._compiled:
            self._compile()
        program = self._program
        bound = None if program is None else self._bound(frame, program.length)
        if program is None or bound is None:
            return False
        shape, size, arrays = bound
        try:
            made = {out: np.empty(shape, self.dtype) for out in program.written}
            arrays.update({out: array.reshape(-1, 1) for out, array in made.items()})
            flags = program.run(arrays, size)
        except MemoryError:  # which names an operator where they run one by one
            return False
        if flags and is_told(flags):
            return False
        for out, lod in zip(self.outs, self._lods, strict=True):
            if out in made:
                rows = made[out].astype(BOOL) if out in self._truths else made[out]
                frame[out] = lod_tensor_body.new_tensor(rows, frame[lod].lod) if self._form[0] else rows
        frame[self.slot] = bound
        return True

    def _bound(self, frame: Frame, length: int) -> Bound | None:
        """Return the arrays that the chain reads, None if they are not what it was made for, or too small."""
        shape, lod, arrays = None, None, {}  # type: Any, Any, dict[Any, Array]
        levels, lines = self._form[0], []  # type: int, list[int]
        for at, role in self._roles.items():
            x = frame[at]
            if role == "line":
                lines.append(at)
                continue
            if levels:
                if type(x) is not LoDTensor or not (lod is None or x.lod is lod or x.lod == lod):
                    return None
                lod, x = x.lod, x.values
            if not is_plain(x, self.dtype) or not (shape is None or shape == x.shape):
                return None
            shape, arrays[at] = x.shape, x.reshape(-1, 1)
        assert shape is not None
        count = math.prod(shape)
        for at in lines:
            line = _as_line(frame[at], shape, self.dtype, levels > 0)
            if line is None:
                return None
            arrays[at] = line
        wide = any(len(arrays[at]) > 1 for at in lines)
        many = count >= (LEAST if wide else LEAST_EVEN) and (wide or length >= FEWEST_EVEN)
        return Bound(shape, count, arrays) if many else None

    def ran_together(self, frame: Frame) -> bool:
        """Return whether the operators ran together on a frame, which then lacks some of their results."""
        return frame[self.slot] is not None

    def completed(self, frame: Frame) -> Frame:
        """Return a frame with all results, some of which are computed again."""
        made = frame.copy()
        with np.errstate(all="ignore"):
            engine.run(self.calls, made, len(self.calls))
        made[self.slot] = None
        return made

    def looked(self, frame: Frame) -> tuple[Frame, dict[Variable, GraphError]]:
        """Return a frame with all results, for Scopes, and an error for each that is lost.

        Results are lost if others come out differently now: an array that the operators read has been written since.
        """
        if not self.ran_together(frame):
            return frame, {}
        made, lost = self.completed(frame), {}  # type: Frame, dict[Variable, GraphError]
        kept = [out for out in self.outs if frame[out] is not None]
        if all(_same(frame[out], made[out]) for out in kept):
            for out in kept:
                made[out] = frame[out]
            return made, lost
        for v in [op.outputs[0] for op, out in zip(self.ops, self.outs, strict=True) if out not in kept]:
            lost[v] = GraphError(
                f"Scope: {v.name}: is computed on access, but an array that its operators read or made was "
                "written since the run"
            )
        return frame, lost


def _same(one: Any, other: Any) -> bool:
    """Return whether two tensors of one structure have the same numbers."""
    one, other = getattr(one, "values", one), getattr(other, "values", other)
    return np.array_equal(one, other, equal_nan=one.dtype != BOOL)


def is_plain(x: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a value is an array of a dtype that lies in memory without gaps."""
    if type(x) is not np.ndarray or x.dtype != dtype:
        return False
    flags = x.flags
    return flags.c_contiguous and flags.aligned


def _as_line(x: Any, shape: tuple[int, ...], dtype: np.dtype[Any], nested: bool) -> Array | None:
    """Return a number, or the last axes of rows of a shape, as an array of one column; None if a value is neither."""
    if isinstance(x, np.generic) and x.dtype == dtype:
        return np.full((1, 1), x, dtype)
    if not is_plain(x, dtype) or x.ndim > len(shape) - nested or not x.size:
        return None
    own = x.shape
    while own and own[0] == 1:
        own = own[1:]
    fits = len(own) < len(shape) and own == shape[len(shape) - len(own) :]
    return x.reshape(-1, 1) if fits else None


def operands_of(op: Operator, call: Call) -> Iterator[tuple[Any, int]]:
    """Yield the operands of an operator, and their slots."""
    for name in op.op.roles:
        given, place = op.arguments[name], call.places[name]
        if type(place) is tuple:
            yield from zip(given, place, strict=True)
        else:
            yield given, place


def _traced(numbers: Numbers, op: Operator, call: Call, values: dict[int, Value]) -> Value:
    """Return what an operator computes from values by slot."""

    def known(x: Any, at: Any) -> Any:
        if type(at) is tuple:
            return [known(*one) for one in zip(x, at, strict=True)]
        return Traced(numbers, values[at]) if at in values else x

    arguments = {name: known(x, call.places[name]) if name in op.op.roles else x for name, x in op.arguments.items()}
    assert op.op.in_steps is not None
    made: Value = op.op.in_steps(numbers, **arguments)
    if made.truth != (op.outputs[0].spec.dtype == BOOL):
        raise Untraceable(f"{op.name}: {op.outputs[0].spec}")
    return made


def chains_of(ops: Iterable[Any], calls: dict[Operator, Call], layout: engine.Layout) -> list[Chain]:
    """Find the chains among operators in the order in which they run.

    Parameters
    ----------
    ops : list of Operator
        Anything but an Operator divides chains.
    calls : dict
    layout : Layout
    """
    found = []
    for some, dtype in groups_of(ops):
        outs = layout.slots([op.outputs[0] for op in some])
        found.append(Chain(some, [calls[op] for op in some], dtype, layout.slot((some[0], "chain")), outs))
    return found
