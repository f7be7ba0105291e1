"""How a loop runs: a frame of values for each step, and the backward pass through them from the last to the first."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph import engine
from lodcore.graph.block import Operator
from lodcore.graph.body import Body, LoopVariable, Update
from lodcore.graph.draws import drawing_again, generators_of, states_of
from lodcore.graph.engine import Call, Frame, Layout, Leave
from lodcore.graph.gradients import Gradients, differentiable_spec, path
from lodcore.graph.plan import Return
from lodcore.graph.scope import Scope
from lodcore.graph.variable import Variable
from lodcore.ops.array import element_spec
from lodcore.ops.registry import OPS
from lodcore.ops.roles import NO_ELEMENTS, spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["StepRunner", "Trace"]

Values = tuple[Any, ...]


class Trace:
    """What a run of a loop leaves for its gradient.

    Attributes
    ----------
    outer : tuple
        Values of what comes from outside.
    begin : list
        What follows the carried values in the frame with which each step begins.
    steps : list
        One entry per step: its frame; with recomputing, only the values with which it began.
    draws : list
        With recomputing, one entry per step: the states of the Generators with which it began.
    ran : int
        How many instructions of the last step ran.
    """

    __slots__ = ("__weakref__", "begin", "draws", "lock", "outer", "ran", "steps")

    def __init__(self) -> None:
        self.outer: Values = ()
        self.begin: Frame = []
        self.steps: list[Any] = []
        self.draws: list[Any] = []
        self.ran = 0
        self.lock = threading.Lock()  # versions of arrays are read again, which moves their elements


class Way(NamedTuple):
    """The backward pass through a step: what needs a gradient, and the operators, the last first."""

    needed: set[Variable]
    operators: list[Return]


class StepRunner:
    """Runs the body of a loop, forward and backward.

    Parameters
    ----------
    body : Body
    carried : list of Variable
        What goes from step to step: loop variables, and arrays from outside that are written to.
    captured : list of Variable
        What comes from outside and stays.
    max_steps : int or None
    recompute : bool
    """

    def __init__(
        self, body: Body, carried: list[Variable], captured: list[Variable], max_steps: int | None, recompute: bool
    ) -> None:
        self.body, self.carried, self.captured = body, carried, captured
        self.max_steps, self.recompute = max_steps, recompute
        self._layout, self._lock = Layout(), threading.Lock()
        self._layout.slots([*carried, *captured])  # the first ones, in this order
        self._compiled: dict[bool, list[Call | Leave | None]] = {}
        self._prepared: list[tuple[Callable[[Any], Any], int, int]] = []  # how, of which slot, into which
        self._ways: dict[frozenset[int], Way] = {}
        self._sources: dict[int, list[Variable]] = {}
        self._trace: Callable[[], Trace | None] = lambda: None
        self._counters = [
            (at, v.counter) for at, v in enumerate(carried) if isinstance(v, LoopVariable) if v.counter.number
        ]
        self._generators = generators_of(body.ops) if recompute else []
        self._arrays = [
            (at, element_spec(body.versions.get(v, v).spec))
            for at, v in enumerate(carried)
            if v.spec.kind is TensorArray
        ]

    # -- forth -----------------------------------------------------------------------------------------------------

    def run(self, inputs: list[Any], trace: Trace | None) -> Values:
        """Run the body step by step, and give the last values of what is carried.

        Parameters
        ----------
        inputs : list of tensor
            First values of what is carried, then what is captured.
        trace : Trace, optional
            Where to keep what the gradient needs.
        """
        count, ops = len(self.carried), len(self.body.ops)
        values = [ArrayVersion.of(x) if isinstance(x, TensorArray) else x for x in inputs[:count]]
        instructions = self.instructions(trace is not None)
        carry = self._layout.slots(self.sources(ops))
        begin = self._begin(inputs[count:])
        advancing = [(at, by) for at, counter in self._counters if (by := counter.by_of(values[at])) is not None]
        kept = None
        if trace is not None:
            trace.outer, trace.begin, kept = tuple(inputs[count:]), begin, trace.steps
            self._trace = weakref.ref(trace)
        for step in self._step_numbers():
            frame = [None, *values, *begin]
            if kept is not None:
                kept.append(values if self.recompute else frame)
            if trace is not None and self._generators:
                trace.draws.append(states_of(self._generators))
            try:
                at = engine.run(instructions, frame, ops)
            except Exception as error:
                if frame[0] is None:  # of a signal, between two calls
                    raise
                raise _named(error, f"while_loop: step {step}", self.body.ops[frame[0]].name) from error
            if at < 0:
                values = [frame[slot] for slot in carry]
                for place, by in advancing:
                    values[place] = values[place] + by
                continue
            if trace is not None:
                trace.ran = at
            results = [frame[slot] for slot in self._layout.slots(self.sources(at))]
            for place, spec in self._arrays:
                if spec.kind is not object and results[place].element_spec() is None:
                    known = not spec.num_levels and None not in spec.shape
                    results[place].expect(spec if known else self._described(frame, place, spec))
            return tuple(results)
        raise GraphError(f"while_loop: max_steps: {self.max_steps} steps have run, and no break_if held")

    def _described(self, frame: Frame, place: int, recorded: Spec) -> Spec:
        """Describe what an array would hold, by what came from outside, which says sizes that the record does not."""
        inputs = [*self.carried, *self.captured]
        values = [frame[slot] for slot in self._layout.slots(inputs)]
        found = element_spec(self._in_all_steps([*map(_spec_now, values)])[place])
        return recorded if found.kind is object else found

    def _specs(self, inputs: list[Any]) -> dict[Variable, Any]:
        """Describe all Variables of the body, of Specs of the inputs."""
        specs: dict[Variable, Any] = dict(zip([*self.carried, *self.captured], inputs, strict=True))
        for op in self.body.ops:
            if isinstance(op, Operator):
                specs.update(zip(op.outputs, _outputs_of(op, specs), strict=True))
        return specs

    def results_of(self, inputs: list[Any], recorded: list[Spec]) -> list[Spec]:
        """Describe the results, of Specs of the inputs."""
        carried = self._in_all_steps(inputs)[: len(self.carried)]
        pairs = zip(carried, recorded, strict=True)
        return [now if isinstance(now, Spec) and now.kind is not object else old for now, old in pairs]

    def _in_all_steps(self, inputs: list[Any]) -> list[Any]:
        """Describe the inputs of any step: what holds for first values, and for all that updates and writes make."""
        places = {v: at for at, v in enumerate(self.carried)}
        updates = [op for op in self.body.ops if isinstance(op, Update)]
        inputs, before = list(inputs), None
        while inputs != before:  # each time a size is forgotten, or an array has its first element
            before, specs = list(inputs), self._specs(inputs)
            for op in updates:
                new = specs.get(op.value, op.value.spec) if isinstance(op.value, Variable) else spec_of(op.value)
                inputs[places[op.variable]] = _common(inputs[places[op.variable]], new)
        return inputs

    def _begin(self, outer: Iterable[Any]) -> Frame:
        """Make what follows the carried values in the frame with which each step begins."""
        first = 1 + len(self.carried)
        begin = [*outer, *self._layout.base[first + len(self.captured) :]]
        for prepare, given, slot in self._prepared:
            begin[slot - first] = prepare(begin[given - first])
        return begin

    def _step_numbers(self) -> Iterable[int]:
        """Count the steps; the one after the last that is allowed may still break."""
        return itertools.count() if self.max_steps is None else range(self.max_steps + 1)

    def sources(self, count: int) -> list[Variable]:
        """List what holds the values of what is carried after the first instructions."""
        if count not in self._sources:
            after = self.body.after(count, self.carried)
            self._sources[count] = [after[v] for v in self.carried]
        return self._sources[count]

    def instructions(self, keep: bool) -> list[Call | Leave | None]:
        """List what the operators of the body do to a frame."""
        with self._lock:
            if keep not in self._compiled:
                made = [op.call(self._layout, keep) for op in self.body.ops]
                self._prepare(made)
                if keep:
                    _release_early(self.body.ops, made, self._layout)
                self._compiled[keep] = made
            return self._compiled[keep]

    def _prepare(self, calls: list[Call | Leave | None]) -> None:
        """Find the calls that share their second operand, which is prepared once for all steps."""
        places: dict[Any, Variable] = {v: v for v in self.captured}
        for op, call in zip(self.body.ops, calls, strict=True):
            if isinstance(call, Call) and isinstance(op, Operator) and op.op.prepare is not None:
                y = places.get(op.arguments[op.op.tensors[1]])
                if y is not None:
                    call.prepared = self._layout.slot((op.op, y))
                    preparing = op.op.prepare, self._layout.slot(y), call.prepared
                    if preparing not in self._prepared:
                        self._prepared.append(preparing)

    # -- back ------------------------------------------------------------------------------------------------------

    def go_back(self, trace: Trace, wanted: frozenset[int], cotangents: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the inputs: back through the frames of the steps, from the last to the first.

        Parameters
        ----------
        trace : Trace
        wanted : set of int
            Which inputs need a gradient.
        cotangents : tuple
            One a carried value, or None.
        """
        way = self._way_back(wanted)
        gradients = Gradients(way.needed)
        for source, d in zip(self.sources(trace.ran), cotangents, strict=True):
            if d is not None and source in way.needed:
                gradients.add(source, d)
        operators, carried, sources = way.operators, self.carried, self.sources(len(self.body.ops))
        with trace.lock:
            for step, kept in reversed(list(enumerate(trace.steps))):
                gradients.back(operators, self._again(trace, step) if self.recompute else kept)
                if step:
                    gradients.hand_on(carried, sources)
            gradients.finish()
        return [*map(gradients.found.get, [*self.carried, *self.captured])]

    def _way_back(self, wanted: frozenset[int]) -> Way:
        """Find which Variables need a gradient, if these inputs do, and the calls on the way, last first."""
        if wanted not in self._ways:
            body = self.body
            inputs = [*self.carried, *self.captured]
            begin = {inputs[j] for j in wanted}
            operators = [op for op in body.ops if isinstance(op, Operator)]
            updates = [op for op in body.ops if isinstance(op, Update) and differentiable_spec(op.variable.spec)]
            while True:
                needed, way = path(operators, begin)
                carried_on = {op.variable for op in updates if op.value in needed}
                if carried_on <= begin:
                    break
                begin |= carried_on
            calls = dict(zip(body.ops, self.instructions(True), strict=True))
            shared = set(self.captured)
            self._ways[wanted] = Way(needed, [Return(op, needed, calls[op], shared) for op in reversed(way)])
        return self._ways[wanted]

    def _again(self, trace: Trace, step: int) -> Frame:
        """Run a step once more, on the same random numbers."""
        instructions = self.instructions(True)
        frame = [None, *trace.steps[step], *trace.begin]
        with drawing_again(self._generators, trace.draws[step] if trace.draws else []):
            engine.run(instructions, frame, len(instructions))
        return frame

    def scopes(self) -> tuple[Scope, ...]:
        """Return the Scopes of the steps of the last run whose gradient may still be asked for."""
        trace = self._trace()
        if trace is None:
            return ()
        known = dict(zip(self.captured, trace.outer, strict=True))
        outer = Scope.over(known)
        for kept in trace.steps:
            values = dict(zip(self.carried, kept, strict=True)) if self.recompute else self._layout.values(kept)
            Scope.over({v: x for v, x in values.items() if v not in known}, outer)
        return outer.kids


def _spec_now(value: Any) -> Spec:
    """Describe a value; of an array, the elements with their number of rows, if all have one shape."""
    spec = spec_of(value)
    if isinstance(value, TensorArray) and not spec.num_levels:
        shapes = {np.shape(element) for element in value.known_elements().values()}
        if len(shapes) == 1:
            return spec._replace(shape=shapes.pop())
    return spec


def _common(one: Any, other: Spec) -> Any:
    """Describe what has one Spec or the other: sizes that differ are not known."""
    if one == other or not isinstance(one, Spec) or one.kind is object:
        return one
    if one == NO_ELEMENTS or other == NO_ELEMENTS:
        return other if one == NO_ELEMENTS else one
    if other.kind is object or len(one.shape) != len(other.shape):
        return one._replace(kind=object)
    shape = [size if size == same else None for size, same in zip(one.shape, other.shape, strict=True)]
    return one._replace(shape=tuple(shape))


def _outputs_of(op: Operator, specs: dict[Variable, Any]) -> list[Spec]:
    """Describe the results of an operator by Specs that say more than the recorded ones; these, if a rule refuses."""

    def known(x: Any) -> Any:
        if isinstance(x, list):
            return [known(one) for one in x]
        if isinstance(x, Variable):
            return specs.get(x, x.spec)
        return spec_of(x) if isinstance(x, (Tensor, TensorArray)) else x

    recorded = [out.spec for out in op.outputs]
    arguments = {name: known(x) if name in op.op.roles else x for name, x in op.arguments.items()}
    inner = getattr(op.arguments.get("loop"), "steps", None)
    try:
        if isinstance(inner, StepRunner):
            return inner.results_of(arguments["inputs"], recorded)
        found = op.op.infer_arguments(arguments)
    except Exception:  # an error of sizes is not one before a step meets them
        return recorded
    return [found] if isinstance(found, Spec) else list(found)


def _release_early(ops: list[Any], calls: list[Call | Leave | None], layout: Layout) -> None:
    """Make calls release arguments that nobody reads later: results with one reader, which no gradient reads.

    They would be most of what the steps keep.
    """
    reads: dict[Variable, int] = {}
    for op in ops:
        for v in op.inputs:
            reads[v] = reads.get(v, 0) + 1
    given: set[Variable] = set()  # results of operators whose gradients do not read them
    for op, call in zip(ops, calls, strict=True):
        if isinstance(op, Operator) and isinstance(call, Call) and op.op.unused_by_vjp:
            unused_by_vjp = [op.arguments[name] for name in op.op.unused_by_vjp if name != "out"]
            ending = [v for v in unused_by_vjp if isinstance(v, Variable) and v in given and reads[v] == 1]
            call.ending = layout.slots(ending)
            if "out" in op.op.unused_by_vjp:
                given.update(op.outputs)


def _named(error: Exception, where: str, name: str) -> Exception:
    """Make an error of the same type, or of one above it, that says where it happened, and in which operator."""
    said = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    first = said.partition(": ")[0]
    where = where if first == name or first in OPS else f"{where}: {name}"
    for kind in type(error).__mro__:
        try:
            made = kind(f"{where}: {said}")
        except Exception:
            continue
        if isinstance(made, Exception):
            return made
    return GraphError(f"{where}: {said}")
