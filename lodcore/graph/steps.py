"""How a loop runs: a frame of values for each step, and the way back through them from the last to the first."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.arrays import Version
from lodcore.graph.block import Frame, Operator
from lodcore.graph.body import Body, Break, LoopVariable, Update, changes
from lodcore.graph.gradients import Gradients, differentiable_spec, path
from lodcore.graph.scope import Scope
from lodcore.graph.variable import Variable, spec_text
from lodcore.registry import spec_of
from lodcore.tensor_array import TensorArray

__all__ = ["StepRunner", "Trace"]

Values = tuple[Any, ...]


class Trace:
    """What a run of a loop leaves for its gradient.

    Attributes
    ----------
    outer : dict
        Values of what comes from outside.
    steps : list
        One entry a step: its frame; with recomputing, only the values with which it began.
    ran : int
        How many instructions of the last step ran.
    """

    __slots__ = ("__weakref__", "lock", "outer", "ran", "steps")

    def __init__(self) -> None:
        self.outer: Frame = {}
        self.steps: list[Any] = []
        self.ran = 0
        self.lock = threading.Lock()  # versions of arrays are read again, which moves their elements


class StepRunner:
    """Runs the body of a loop, forth and back.

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
        self._runners: dict[bool, list[tuple[int, Callable[[Frame], Any]]]] = {}
        self._ways: dict[frozenset[int], tuple[set[Variable], list[tuple[int, Operator]]]] = {}
        self._sources: dict[int, list[Variable]] = {}
        self._trace: Callable[[], Trace | None] = lambda: None
        advancing = [(at, v) for at, v in enumerate(carried) if isinstance(v, LoopVariable) and v.advance]
        self._advance = [(at, np.asarray(v.advance).astype(v.spec.dtype)[()]) for at, v in advancing]

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
        count = len(self.carried)
        values = tuple(Version.of(x) if isinstance(x, TensorArray) else x for x in inputs[:count])
        outer = dict(zip(self.captured, inputs[count:], strict=True))
        runners = self._compiled(trace is not None)
        carry = _getter(self.sources(len(self.body.ops)))
        kept = None
        if trace is not None:
            trace.outer, kept = outer, trace.steps
            self._trace = weakref.ref(trace)
        for step in self._numbers():
            frame = outer.copy()
            frame.update(zip(self.carried, values, strict=True))
            if kept is not None:
                kept.append(values if self.recompute else frame)
            at = 0
            try:
                for at, run in runners:  # noqa: B007
                    if run(frame):
                        break
                else:
                    values = self._advanced(carry(frame))
                    continue
            except Exception as error:
                raise _named(error, f"while_loop: step {step}: {self.body.ops[at].name}") from error
            if trace is not None:
                trace.ran = at
            return tuple(frame[source] for source in self.sources(at))
        raise GraphError(f"while_loop: max_steps: {self.max_steps} steps have run, and no break_if held")

    def _numbers(self) -> Iterator[int]:
        """Count the steps; the one after the last that is allowed may still break."""
        step = 0
        while self.max_steps is None or step <= self.max_steps:
            yield step
            step += 1

    def _advanced(self, values: Values) -> Values:
        """Let counters advance."""
        if not self._advance:
            return values
        moved = list(values)
        for place, by in self._advance:
            moved[place] = moved[place] + by
        return tuple(moved)

    def sources(self, count: int) -> list[Variable]:
        """List what holds the values of what is carried after the first instructions."""
        if count not in self._sources:
            self._sources[count] = list(self.body.after(count, self.carried).values())
        return self._sources[count]

    def _compiled(self, keep: bool) -> list[tuple[int, Callable[[Frame], Any]]]:
        """List what instructions do to a frame, each with its place; a Break tells whether it breaks."""
        if keep not in self._runners:
            made = [(at, _runner(op, keep)) for at, op in enumerate(self.body.ops)]
            self._runners[keep] = [(at, run) for at, run in made if run is not None]
        return self._runners[keep]

    # -- back ------------------------------------------------------------------------------------------------------

    def go_back(self, trace: Trace, wanted: frozenset[int], cotangents: tuple[Any, ...]) -> list[Any]:
        """Give the gradients of the inputs: back through the frames of the steps, from the last to the first.

        Parameters
        ----------
        trace : Trace
        wanted : set of int
            Which inputs need a gradient.
        cotangents : tuple
            One a carried value, or None.
        """
        needed, way = self._way_back(wanted)
        totals = Gradients(needed)
        captured = [v for v in self.captured if v in needed]
        state = dict(zip(self.carried, cotangents, strict=True))
        with trace.lock:
            ran = trace.ran
            for kept in reversed(trace.steps):
                gradients = Gradients(needed)
                for v, source in zip(self.carried, self.sources(ran), strict=True):
                    if state[v] is not None and source in needed:
                        gradients.add(source, state[v])
                self._step_back(gradients, way, self._again(trace.outer, kept, ran) if self.recompute else kept, ran)
                for v in captured:
                    d = gradients.take(v)
                    if d is not None:
                        totals.add(v, d)
                state = {v: gradients.take(v) for v in self.carried}
                ran = len(self.body.ops)
        return [*(state[v] for v in self.carried), *(totals.found.get(v) for v in self.captured)]

    def _step_back(self, gradients: Gradients, way: list[tuple[int, Operator]], frame: Frame, ran: int) -> None:
        for at, operator in way:
            if at < ran:
                gradients.step_back(operator, operator.saved_in(frame))

    def _way_back(self, wanted: frozenset[int]) -> tuple[set[Variable], list[tuple[int, Operator]]]:
        """Find which Variables need a gradient, if these inputs do, and the operators on the way, last first."""
        if wanted not in self._ways:
            body = self.body
            inputs = [*self.carried, *self.captured]
            begin = {inputs[j] for j in wanted}
            operators = [(at, op) for at, op in enumerate(body.ops) if isinstance(op, Operator)]
            updates = [op for op in body.ops if isinstance(op, Update) and differentiable_spec(op.variable.spec)]
            while True:
                needed, way = path([op for _, op in operators], begin, lambda out: differentiable_spec(out.spec))
                carried_on = {op.variable for op in updates if op.value in needed}
                if carried_on <= begin:
                    break
                begin |= carried_on
            chosen = set(map(id, way))
            self._ways[wanted] = needed, [(at, op) for at, op in reversed(operators) if id(op) in chosen]
        return self._ways[wanted]

    def _again(self, outer: Frame, values: Values, ran: int) -> Frame:
        """Run a step once more."""
        frame = {**outer, **dict(zip(self.carried, values, strict=True))}
        for at, run in self._compiled(True):
            if at >= ran:
                break
            run(frame)
        return frame

    def scopes(self) -> tuple[Scope, ...]:
        """Give the Scopes of the steps of the last run whose gradient may still be asked for."""
        trace = self._trace()
        if trace is None:
            return ()
        outer = Scope.over(trace.outer)
        for kept in trace.steps:
            frame = dict(zip(self.carried, kept, strict=True)) if self.recompute else kept
            Scope.over({v: x for v, x in frame.items() if v not in trace.outer}, outer)
        return outer.kids


def _getter(variables: list[Variable]) -> Callable[[Frame], Values]:
    """Make the function that gives the values of Variables in a frame."""
    if len(variables) == 1:
        (only,) = variables
        return lambda frame: (frame[only],)
    return itemgetter(*variables) if variables else lambda frame: ()


def _runner(op: Any, keep: bool) -> Callable[[Frame], Any] | None:
    """Make what an instruction does to a frame; None, if it only says which value goes on."""
    if isinstance(op, Break):
        condition = op.condition
        return lambda frame: holds(frame[condition])
    if isinstance(op, Update):
        known = object not in (op.variable.spec.kind, op.value.spec.kind)
        return None if known or op.written else _checking(op)
    made: Callable[[Frame], Any] = op.runner(keep)
    return made


def _checking(op: Update) -> Callable[[Frame], None]:
    """Make the check of an update of which nothing was known when it was recorded."""
    variable, value = op.variable, op.value

    def check(frame: Frame) -> None:
        old, new = spec_of(frame[variable]), spec_of(frame[value])
        if changes(old, new):
            raise GraphError(f"value: is {spec_text(new)}; loop variable {variable.name} is {spec_text(old)}")

    return check


def holds(condition: Any) -> bool:
    """Tell whether a condition of one element holds."""
    if isinstance(condition, np.bool_):
        return bool(condition)
    found = np.asarray(condition)
    if found.size != 1:
        raise GraphError(f"cond: has shape {found.shape}; one element is needed")
    return bool(found.reshape(())[()])


def _named(error: Exception, where: str) -> Exception:
    """Make an error of the same type, or of one above it, that says where it happened."""
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    for kind in type(error).__mro__:
        try:
            made = kind(f"{where}: {said}")
        except Exception:
            continue
        if isinstance(made, Exception):
            return made
    return GraphError(f"{where}: {said}")
