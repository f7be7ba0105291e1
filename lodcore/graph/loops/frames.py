"""Execution of loops: one frame of values per step, and the backward pass through the frames."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from lodcore import ops
from lodcore.base.contexts import held
from lodcore.errors import GraphError
from lodcore.graph import engine
from lodcore.graph.block import Operator
from lodcore.graph.engine import BreakIf, Call, Frame, Layout
from lodcore.graph.gradients.cotangents import Gradients, differentiable_spec, path
from lodcore.graph.gradients.rule_calls import BackwardCall, drawing_again
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.loops.body import Body, Counter, LoopVariable, Update
from lodcore.graph.random_states import generators_of, states_of
from lodcore.graph.scope import LOOKING, Look, Record, Scope
from lodcore.graph.trees import in_lists
from lodcore.graph.variable import Variable
from lodcore.operators.registry import OPS
from lodcore.operators.roles import NO_ELEMENTS, spec_of
from lodcore.ops.arrays.tensor_arrays import element_spec
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["KEEPS_ALL", "StepRunner", "Trace", "common_spec", "has_bodies", "named_error", "records_of_ops"]

Values = tuple[Any, ...]

#: Whether steps that are kept for gradients or Scopes keep all values, even those that no gradient reads.
KEEPS_ALL: ContextVar[bool] = ContextVar("lodcore.keeps_all", default=False)


def _nothing() -> None:
    """Return None, as a dead weak reference does."""


class Trace:
    """The data of a run of a loop that its gradient needs.

    Attributes
    ----------
    outer : tuple
        The values of outer objects.
    begin : list
        The part of the initial frame of each step after the carried values.
    steps : list
        One entry per step: its frame; with recomputation, only the carried values at its beginning.
    draws : list
        With recomputation, one entry per step: the states of the Generators at its beginning.
    ran : int
        The number of instructions of the last step that ran.
    record, around : callable
        Return the Scope of the run, and the one around it, if there are any.
    """

    __slots__ = ("__weakref__", "around", "begin", "draws", "lock", "outer", "ran", "record", "steps")

    def __init__(self) -> None:
        self.outer: Values = ()
        self.begin: Frame = []
        self.steps: list[Any] = []
        self.draws: list[Any] = []
        self.ran = 0
        self.record: Callable[[], Record | None] = _nothing
        self.around: Callable[[], Record | None] = _nothing
        self.lock = threading.Lock()  # reading earlier versions of arrays moves their elements

    def record_in(self, op: Operator, around: Record) -> Record:
        """Return the Scope of the run of a loop, inside another one."""
        runner: StepRunner = op.arguments["loop"].steps
        return runner.record_of(self, around)


class BackwardStep(NamedTuple):
    """The backward pass through a step: the Variables that need a gradient, and the operators, last first."""

    needed: set[Variable]
    operators: list[BackwardCall]


class StepRunner:
    """The forward and backward execution of the body of a loop.

    Parameters
    ----------
    body : Body
    carried : list of Variable
        The carried values: loop variables, and outer arrays that are written to.
    captured : list of Variable
        The outer objects that do not change.
    max_steps : int or None
    recompute : bool
    """

    def __init__(
        self, body: Body, carried: list[Variable], captured: list[Variable], max_steps: int | None, recompute: bool
    ) -> None:
        self.body, self.carried, self.captured = body, carried, captured
        self.max_steps, self.recompute = max_steps, recompute
        self._layout, self._lock = Layout(), threading.Lock()
        self._layout.slots([*carried, *captured])  # reserves the first slots, in this order
        self._compiled: dict[tuple[bool, bool], list[Call | BreakIf | None]] = {}
        self._prepared: list[tuple[Callable[[Any], Any], int, int]] = []  # function, source slot, target slot
        self._ways: dict[frozenset[int], BackwardStep] = {}
        self._sources: dict[int, list[Variable]] = {}
        self._trace: Callable[[], Trace | None] = _nothing
        self._generators = generators_of(body.ops) if recompute else []
        self._counters: list[tuple[int, Counter]] = []
        self._arrays: list[tuple[int, Spec]] = []
        for at, v in enumerate(carried):
            if isinstance(v, LoopVariable) and v.counter.number:
                self._counters.append((at, v.counter))
            if v.spec.kind is TensorArray:
                self._arrays.append((at, element_spec(body.versions.get(v, v).spec)))

    # -- forward -------------------------------------------------------------------------------------------------------

    def run(self, inputs: list[Any], trace: Trace | None) -> Values:
        """Run the body step by step; return the last carried values.

        Parameters
        ----------
        inputs : list of tensor
            The first carried values, followed by the captured values.
        trace : Trace, optional
            The object that stores the data for the gradient.
        """
        count, ops = len(self.carried), len(self.body.ops)
        values = [ArrayVersion.of(x) if isinstance(x, TensorArray) else x for x in inputs[:count]]
        instructions = self.instructions(trace is not None, KEEPS_ALL.get())
        carry = self._layout.slots(self.sources(ops))
        begin = self._begin(inputs[count:])
        advancing = []
        for at, counter in self._counters:
            by = counter.by(spec_of(values[at]))
            if by is not None:
                advancing.append((at, by))
        kept = None
        self._trace = _nothing if trace is None else weakref.ref(trace)
        if trace is not None:
            trace.outer, trace.begin, kept = tuple(inputs[count:]), begin, trace.steps
        # the step after the last allowed one may still break
        for step in itertools.count() if self.max_steps is None else range(self.max_steps + 1):
            frame = [None, *values, *begin]
            if kept is not None:
                kept.append(values if self.recompute else frame)
            if trace is not None and self._generators:
                trace.draws.append(states_of(self._generators))
            try:
                at = engine.run(instructions, frame, ops)
            except Exception as error:
                if frame[0] is None:  # raised by a signal between two calls
                    raise
                raise named_error(error, f"{self.body.repetition} {step}", self.body.ops[frame[0]].name) from error
            if at < 0:
                values = [*map(frame.__getitem__, carry)]
                for place, by in advancing:
                    values[place] = values[place] + by
                continue
            if trace is not None:
                trace.ran = at
            results = [*map(frame.__getitem__, self._layout.slots(self.sources(at)))]
            for place, spec in self._arrays:
                if spec.kind is not object and results[place].element_spec() is None:
                    known = not spec.num_levels and None not in spec.shape
                    results[place].expect(spec if known else self._described(frame, place, spec))
            return tuple(results)
        raise GraphError(f"while_loop: max_steps: {self.max_steps} steps have run, and no break_if held")

    def _described(self, frame: Frame, place: int, recorded: Spec) -> Spec:
        """Return the Spec of the elements of an array, with sizes that are known from the outer values."""
        inputs = [*self.carried, *self.captured]
        values = [frame[slot] for slot in self._layout.slots(inputs)]
        found = element_spec(self._in_all_steps([*map(_spec_now, values)])[place])
        return recorded if found.kind is object else found

    def _specs(self, inputs: list[Any]) -> dict[Variable, Any]:
        """Return the Specs of all Variables of the body, from Specs of the inputs."""
        specs: dict[Variable, Any] = dict(zip([*self.carried, *self.captured], inputs, strict=True))
        for op in self.body.ops:
            if isinstance(op, Operator):
                specs.update(zip(op.outputs, _outputs_of(op, specs), strict=True))
        return specs

    def results_of(self, inputs: list[Any], recorded: list[Spec]) -> list[Spec]:
        """Return the Specs of the results, from Specs of the inputs."""
        carried = self._in_all_steps(inputs)[: len(self.carried)]
        pairs = zip(carried, recorded, strict=True)
        return [now if isinstance(now, Spec) and now.kind is not object else old for now, old in pairs]

    def _in_all_steps(self, inputs: list[Any]) -> list[Any]:
        """Return the Specs of the inputs that hold in every step: for first values, and after updates and writes."""
        places = {v: at for at, v in enumerate(self.carried)}
        updates = [op for op in self.body.ops if isinstance(op, Update)]
        inputs, before = list(inputs), None
        while inputs != before:  # each iteration drops a size, or adds the first element of an array
            before, specs = list(inputs), self._specs(inputs)
            for op in updates:
                new = specs.get(op.value, op.value.spec) if isinstance(op.value, Variable) else spec_of(op.value)
                inputs[places[op.variable]] = common_spec(inputs[places[op.variable]], new)
        return inputs

    def _begin(self, outer: Iterable[Any]) -> Frame:
        """Return the part of the initial frame of each step after the carried values."""
        first = 1 + len(self.carried)
        begin = [*outer, *self._layout.base[first + len(self.captured) :]]
        for prepare, given, slot in self._prepared:
            begin[slot - first] = prepare(begin[given - first])
        return begin

    def sources(self, count: int) -> list[Variable]:
        """Return the Variables, or constants, that hold the carried values after the first instructions."""
        found = self._sources.get(count)
        if found is None:
            now: dict[Variable, Any] = dict(zip(self.carried, self.carried, strict=True))
            for op in self.body.ops[:count]:
                if isinstance(op, Update):
                    now[op.variable] = op.value
            found = self._sources[count] = [*map(now.__getitem__, self.carried)]
        return found

    def instructions(self, keep: bool, keep_all: bool = False) -> list[Call | BreakIf | None]:
        """Return the instructions of the operators of the body; they keep the values that gradients read, or all."""
        if keep_all:
            self.instructions(keep)  # whose slots the way back reads, so that frames have them
        with held(self._lock):
            if (keep, keep_all) not in self._compiled:
                made = [op.call(self._layout, keep) for op in self.body.ops]
                self._prepare(made)
                if keep and not keep_all:
                    _release_early(self.body.ops, made, self._layout)
                self._compiled[keep, keep_all] = made
            return self._compiled[keep, keep_all]

    def _prepare(self, calls: list[Call | BreakIf | None]) -> None:
        """Prepare the second operands that calls share, once for all steps."""
        captured = set(self.captured)
        for op, call in zip(self.body.ops, calls, strict=True):
            if isinstance(call, Call) and isinstance(op, Operator) and op.op.prepare is not None:
                y = op.arguments[op.op.tensors[1]]
                if y in captured:
                    call.prepared = self._layout.slot((op.op, y))
                    preparing = op.op.prepare, self._layout.slot(y), call.prepared
                    if preparing not in self._prepared:
                        self._prepared.append(preparing)

    # -- backward ------------------------------------------------------------------------------------------------------

    def go_back(self, trace: Trace, wanted: frozenset[int], cotangents: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the inputs, by the backward pass through the frames of the steps.

        Parameters
        ----------
        trace : Trace
        wanted : set of int
            The inputs that need a gradient.
        cotangents : tuple
            One per carried value, or None.
        """
        way = self._way_back(wanted)
        gradients = Gradients(way.needed)
        for source, d in zip(self.sources(trace.ran), cotangents, strict=True):
            if d is not None and source in way.needed:
                gradients.add(source, d)
        operators, carried, sources = way.operators, self.carried, self.sources(len(self.body.ops))
        with held(trace.lock):
            for step, kept in reversed(list(enumerate(trace.steps))):
                gradients.back(operators, self._again(trace, step) if self.recompute else kept)
                if step:
                    gradients.hand_on(carried, sources)
            gradients.finish()
        return [*map(gradients.found.get, [*self.carried, *self.captured])]

    def _way_back(self, wanted: frozenset[int]) -> BackwardStep:
        """Return the Variables that need a gradient if these inputs do, and the calls that they need, last first."""
        if wanted not in self._ways:
            body = self.body
            inputs = [*self.carried, *self.captured]
            begin = set(map(inputs.__getitem__, wanted))
            operators, updates = [], []
            for op in body.ops:
                if isinstance(op, Operator):
                    operators.append(op)
                elif isinstance(op, Update) and differentiable_spec(op.variable.spec):
                    updates.append(op)
            while True:
                needed, way = path(operators, begin)
                carried_on = {op.variable for op in updates if op.value in needed}
                if carried_on <= begin:
                    break
                begin |= carried_on
            calls = dict(zip(body.ops, self.instructions(True), strict=True))
            shared = set(self.captured)
            self._ways[wanted] = BackwardStep(
                needed, [BackwardCall(op, needed, calls[op], shared) for op in reversed(way)]
            )
        return self._ways[wanted]

    def _again(self, trace: Trace, step: int) -> Frame:
        """Run a step again, with the same random numbers."""
        instructions = self.instructions(True)
        frame = [None, *trace.steps[step], *trace.begin]
        states = trace.draws[step] if trace.draws else []
        drawing_again(self._generators, states, engine.run, instructions, frame, len(instructions))
        return frame

    # -- Scopes --------------------------------------------------------------------------------------------------------

    def scopes(self) -> tuple[Scope, ...]:
        """Return the Scopes of the steps of the last run whose gradient may still be computed."""
        trace = self._trace()
        return () if trace is None else self.record_of(trace).kids

    def record_of(self, trace: Trace, around: Record | None = None) -> Record:
        """Return the Scope of a run, with those of its steps inside; the same object as long as it is used."""
        with held(LOOKING):
            found = trace.record()
            if found is None:
                found = Record(None, "while_loop", functools.partial(self._look, trace))
                trace.record = weakref.ref(found)
            around = around or trace.around()
            return found if around is None else found.within(around)

    def _look(self, trace: Trace) -> Look:
        """Return the values of outer objects, and what makes the Scopes of the steps."""
        named = {v.name: (v, value) for v, value in zip(self.captured, trace.outer, strict=True)}

        def steps(record: Record) -> list[Record]:
            return [
                Record(record, f"step {j}", functools.partial(self._look_at_step, kept, trace.lock))
                for j, kept in enumerate(trace.steps)
            ]

        return named, steps

    def _look_at_step(self, kept: Any, lock: threading.Lock) -> Look:
        """Return the values of a step, and what makes the Scopes of the loops in it."""
        outer = set(self.captured)
        with held(lock):
            values = dict(zip(self.carried, kept, strict=True)) if self.recompute else self._layout.values(kept)
            named = {v.name: (v, of_user(value)) for v, value in values.items() if v not in outer}
        frame = [] if self.recompute else kept
        return named, functools.partial(records_of_ops, self.body.ops, self._layout, frame)


def records_of_ops(ops: Iterable[Any], layout: Layout, frame: Frame, around: Record) -> list[Record]:
    """Return the Scopes of the loops and branches among operators, from the frame in which they ran."""
    found = []
    for op in ops:
        for name in op.op.saves if isinstance(op, Operator) and has_bodies(op) else ():
            slot = layout.slot((op, name))
            ran = frame[slot] if slot < len(frame) else None
            if ran is not None:
                found.append(ran.record_in(op, around))
                around.kept.append(ran)
    return found


def has_bodies(op: Operator) -> bool:
    """Return whether an operator is a loop, or branches."""
    return "loop" in op.arguments or "branches" in op.arguments


def _spec_now(value: Any) -> Spec:
    """Return the Spec of a value; for an array, with the number of rows of its elements if all have one shape."""
    spec = spec_of(value)
    if isinstance(value, TensorArray) and not spec.num_levels:
        shapes = {np.shape(element) for element in value.known_elements().values()}
        if len(shapes) == 1:
            return spec._replace(shape=shapes.pop())
    return spec


def common_spec(one: Any, other: Spec) -> Any:
    """Return the common Spec of two Specs: sizes that differ become unknown."""
    if one == other or not isinstance(one, Spec) or one.kind is object:
        return one
    if one == NO_ELEMENTS or other == NO_ELEMENTS:
        return other if one == NO_ELEMENTS else one
    if other.kind is object or len(one.shape) != len(other.shape):
        return one._replace(kind=object)
    shape = [size if size == same else None for size, same in zip(one.shape, other.shape, strict=True)]
    return one._replace(shape=tuple(shape))


def _outputs_of(op: Operator, specs: dict[Variable, Any]) -> list[Spec]:
    """Return more precise Specs of the results of an operator than the recorded ones, or those if a rule raises."""

    def known(x: Any) -> Any:
        if isinstance(x, Variable):
            return specs.get(x, x.spec)
        return spec_of(x) if isinstance(x, (Tensor, TensorArray)) else x

    recorded = [out.spec for out in op.outputs]
    arguments = {name: in_lists(known, x) if name in op.op.roles else x for name, x in op.arguments.items()}
    inner = getattr(op.arguments.get("loop"), "steps", None)
    try:
        if isinstance(inner, StepRunner):
            return inner.results_of(arguments["inputs"], recorded)
        found = op.op.infer_arguments(arguments)
    except MemoryError:
        raise
    except Exception:  # an error of sizes is raised only by a step in which they occur
        return recorded
    return [found] if isinstance(found, Spec) else list(found)


def _release_early(ops: list[Any], calls: list[Call | BreakIf | None], layout: Layout) -> None:
    """Make calls release arguments that are not read later: results with one reader that no gradient reads.

    They would take most of the memory that steps keep.
    """
    reads: dict[Variable, int] = {}
    for op in ops:
        for v in op.inputs:
            reads[v] = reads.get(v, 0) + 1
    given: set[Variable] = set()  # results that the gradients of their operators do not read
    for op, call in zip(ops, calls, strict=True):
        if isinstance(op, Operator) and isinstance(call, Call) and op.op.unused_by_vjp:
            ending = []
            for name in op.op.unused_by_vjp:
                v = None if name == "out" else op.arguments[name]
                if isinstance(v, Variable) and v in given and reads[v] == 1:
                    ending.append(v)
            call.ending = layout.slots(ending)
            if "out" in op.op.unused_by_vjp:
                given.update(op.outputs)


#: Functions that name the errors of the operators that they record.
RECORDS_OTHERS = frozenset(["cond", "IfElse"])


def named_error(error: Exception, where: str, name: str) -> Exception:
    """Return an error of the same type, or a base type, that names the position and the operator."""
    said = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    first = said.partition(": ")[0]
    others = name != "break_if" and first in RECORDS_OTHERS  # the condition of a break is called cond, too
    is_public = callable(getattr(ops, first, None)) or first.startswith("numpy.")  # a function that records operators
    where = where if first == name or first in OPS or is_public or others else f"{where}: {name}"
    for kind in type(error).__mro__:
        try:
            made = kind(f"{where}: {said}")
        except Exception:
            continue
        if isinstance(made, Exception):
            return made
    return GraphError(f"{where}: {said}")
