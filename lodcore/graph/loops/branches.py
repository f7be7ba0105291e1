"""The branches of a condition as an operator: recorded bodies, one of which runs, and the backward pass through it."""

from __future__ import annotations

import copy
import functools
import threading
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.caller import named_caller
from lodcore.base.contexts import held
from lodcore.base.dispatch import recorder
from lodcore.base.recycling import Recycled
from lodcore.errors import DTypeError, GraphError, ShapeError
from lodcore.graph import engine
from lodcore.graph.block import Block, Operator
from lodcore.graph.engine import Frame, Layout
from lodcore.graph.gradients.cotangents import Gradients, path
from lodcore.graph.gradients.rule_calls import BackwardCall
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.loops.body import Body, changes
from lodcore.graph.loops.frames import common_spec, named_error, records_of_ops
from lodcore.graph.loops.while_loop import LoopOp, met_by, write_back
from lodcore.graph.scope import Look, Record
from lodcore.graph.variable import Variable, resolved, spec_text
from lodcore.operators.registry import Saved
from lodcore.operators.roles import NO_ELEMENTS, Batches
from lodcore.ops.arrays.tensor_arrays import element_spec
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["Branch", "BranchBody", "Branches", "run_branches"]


class BranchBody(Body):
    """The Block of a branch, whose operators run at most once where the branch stands.

    Parameters
    ----------
    parent : Block or None
        The Block that is open around it.
    """

    def __init__(self, parent: Block | None) -> None:
        super().__init__(parent, keeps_shapes=True)
        self.repeats = parent is not None and parent.repeats

    def left(self, given: Any) -> GraphError:
        """Return the error for an object of this branch that is used after it."""
        kind = "TensorArray" if isinstance(given, TensorArray) else "Variable"
        name = getattr(given, "name", given)
        return GraphError(f"{kind} {name}: was made in a branch; only what the branch returns has a meaning after it")


class Branch:
    """One recorded branch.

    Parameters
    ----------
    name : str
        For messages and text.
    body : BranchBody
    results : list of Variable
        The Variables of the body that hold the results.

    Attributes
    ----------
    places : dict
        The number of the input that each captured Variable of the body represents.
    """

    def __init__(self, name: str, body: BranchBody, results: list[Variable]) -> None:
        self.name, self.body, self.results = name, body, results
        self.places: dict[Variable, int] = {}
        self.layout, self._lock = Layout(), threading.Lock()
        self._compiled: dict[bool, list[Any]] = {}
        self._ways: dict[frozenset[int], tuple[set[Variable], list[BackwardCall]]] = {}

    def with_ops(self, ops: list[Any]) -> Branch:
        """Return the branch with other operators on the same Variables."""
        body = copy.copy(self.body)
        body.ops = ops
        made = Branch(self.name, body, self.results)
        made.places = self.places
        return made

    def instructions(self, keep: bool) -> list[Any]:
        """Return the instructions of the operators of the body."""
        with held(self._lock):
            if keep not in self._compiled:
                self._compiled[keep] = [op.call(self.layout, keep) for op in self.body.ops]
            return self._compiled[keep]

    def run(self, inputs: list[Any], keep: bool) -> tuple[list[Any], Frame]:
        """Run the body on the inputs; return its results, and the frame that the backward pass reads."""
        instructions = self.instructions(keep)
        results = self.layout.slots(self.results)
        given = self.layout.slots(self.places)
        frame = self.layout.base.copy()
        for slot, place in zip(given, self.places.values(), strict=True):
            x = inputs[place]
            frame[slot] = ArrayVersion.of(x) if isinstance(x, TensorArray) else x
        try:
            engine.run(instructions, frame, len(instructions))
        except Exception as error:
            if frame[0] is None:  # raised by a signal between two calls
                raise
            raise named_error(error, f"cond: {self.name}", self.body.ops[frame[0]].name) from error
        return [frame[slot] for slot in results], frame

    def go_back(self, frame: Frame, wanted: set[int], cotangents: tuple[Any, ...]) -> dict[int, Any]:
        """Return the gradients of the wanted inputs, by number."""
        read = frozenset(wanted.intersection(self.places.values()))
        if read not in self._ways:
            needed, way = path(
                [op for op in self.body.ops if isinstance(op, Operator)],
                [v for v, place in self.places.items() if place in read],
            )
            calls = dict(zip(self.body.ops, self.instructions(True), strict=True))
            self._ways[read] = needed, [BackwardCall(op, needed, calls[op]) for op in reversed(way)]
        needed, operators = self._ways[read]
        gradients = Gradients(needed)
        for source, d in zip(self.results, cotangents, strict=True):
            if d is not None and source in needed:
                gradients.add(source, d)
        gradients.back(operators, frame)
        return {place: gradients.found.get(v) for v, place in self.places.items() if place in read}


class BranchRun(NamedTuple):
    """The branch that ran, its frame, and a lock: reading earlier versions of arrays moves their elements."""

    branch: Branch
    frame: Frame
    lock: threading.Lock

    def record_in(self, op: Operator, around: Record) -> Record:
        """Return the Scope of the branch, inside another one."""
        return Record(around, f"cond, {self.branch.name}", self._look)

    def _look(self) -> Look:
        """Return the values of the branch, and functions that make the Scopes of the loops and branches in it."""
        with held(self.lock):
            values = self.branch.layout.values(self.frame)
            named = {v.name: (v, of_user(x)) for v, x in values.items() if v not in self.branch.places}
        return named, functools.partial(records_of_ops, self.branch.body.ops, self.branch.layout, self.frame)


class Branches:
    """The branches of an operator `cond`: the condition, its first input, chooses one of two; a single one always runs.

    Parameters
    ----------
    each : list of Branch
    decides : bool
        Whether there are two, between which the condition chooses.
    """

    def __init__(self, each: list[Branch], decides: bool) -> None:
        self.each, self.decides = each, decides
        self.inputs: dict[int, Any] = {}  # captured outer objects
        self.written: list[Any] = []  # those that a branch writes to
        for branch in each:
            for key, (given, local) in branch.body.captures.items():
                self.inputs.setdefault(key, given)
                branch.places[local] = list(self.inputs).index(key) + decides
                if local in branch.body.versions and not any(given is known for known in self.written):
                    self.written.append(given)
        for branch in each:
            branch.results += [self._last(branch, given) for given in self.written]
        first, *rest = [[v.spec for v in branch.results] for branch in each]
        for other in rest:
            count = len(first) - len(self.written)
            for given, one, two in zip(self.written, first[count:], other[count:], strict=True):
                if NO_ELEMENTS not in (one, two) and changes(one, two):
                    raise GraphError(
                        f"cond: when_false: {given.name}: holds {spec_text(two)} after it; {spec_text(one)} after "
                        "when_true, and both need the same dtype, width and levels"
                    )
            first = [common_spec(one, two) for one, two in zip(first, other, strict=True)]
        self._set_specs(first)

    @classmethod
    def of_each(cls, each: list[Branch], decides: bool) -> Branches:
        """Return branches whose places are known, such as those read from a file."""
        made = cls.__new__(cls)
        made.each, made.decides, made.inputs, made.written = each, decides, {}, []
        first, *rest = [[v.spec for v in branch.results] for branch in each]
        for other in rest:
            first = [common_spec(one, two) for one, two in zip(first, other, strict=True)]
        made._set_specs(first)
        return made

    def _set_specs(self, specs: list[Spec]) -> None:
        """Set the Specs of the results."""
        self.specs = tuple(specs)
        self._arrays = [(j, element_spec(spec)) for j, spec in enumerate(specs) if spec.kind is TensorArray]

    def _last(self, branch: Branch, given: Any) -> Variable:
        """Return the Variable of an outer object at the end of a branch, which reads it for that."""
        body = branch.body
        if id(given) not in body.captures:  # only the other branch uses it
            body.captures[id(given)] = given, body.capture(given)
        local = body.captures[id(given)][1]
        branch.places[local] = list(self.inputs).index(id(given)) + self.decides
        return body.versions.get(local, local)

    @property
    def bodies(self) -> list[Body]:
        """The recorded bodies."""
        return [branch.body for branch in self.each]

    def run(self, inputs: list[Any], keep: bool) -> tuple[tuple[Any, ...], BranchRun]:
        """Run the branch that the condition chooses."""
        branch = self.each[0 if not self.decides or _holds(inputs[0]) else 1]
        results, frame = branch.run(inputs, keep)
        for j, spec in self._arrays:
            if spec.kind is not object and results[j].element_spec() is None:  # only the other branch writes it
                results[j] = ArrayVersion.of(results[j].snapshot())
                results[j].expect(spec)
        return tuple(results), BranchRun(branch, frame, threading.Lock())


def _holds(condition: Any) -> bool:
    """Return whether a condition holds; its Spec may have been unknown when it was recorded."""
    found = np.asarray(condition)
    if found.ndim:
        raise ShapeError(f"cond: condition: has shape {found.shape}; it was recorded as one value, without axes")
    if found.dtype != np.bool_:
        raise DTypeError(f"cond: condition: has dtype {found.dtype}; bool is needed")
    return bool(found)


def _run(inputs: Any, branches: Branches, *, saved: Saved = None) -> Any:
    """Run the branch that the condition chooses."""
    with named_caller(), Recycled():
        results, ran = branches.run(inputs, saved is not None)
    if saved is not None:
        saved["ran"] = ran
    return results


COND = LoopOp(_run, {"inputs": Batches}, results=None)  # type: ignore[arg-type]
COND.__name__ = "cond"


@COND.define_infer
def _(inputs: list[Any], branches: Branches) -> tuple[Spec, ...]:
    return branches.specs


@COND.define_vjp
def _(cotangents: tuple[Any, ...], branches: Branches, ran: BranchRun, needs: Any) -> list[Any]:
    wanted = {j for j, one in enumerate(needs.inputs) if one}
    with held(ran.lock):
        found = ran.branch.go_back(ran.frame, wanted, cotangents)
    return [found.get(j) for j in range(len(needs.inputs))]


def run_branches(branches: Branches, condition: Any) -> list[Any]:
    """Run branches, or record them as an operator; return their results without the written arrays."""
    given = list(branches.inputs.values())
    block = recorder([condition, *given])
    inputs = [condition] if branches.decides else []
    inputs += [met_by(block, resolved(x), key < 0) for key, x in branches.inputs.items()]
    if block is None:
        values = [x.get() if isinstance(x, Variable) else x for x in inputs]
        results = tuple(map(of_user, COND(values, branches)))
    else:
        results = block.record(
            COND, ([block.known(inputs[0]), *inputs[1:]] if branches.decides else inputs, branches), {}
        )
    count = len(results) - len(branches.written)
    write_back(block, branches.written, results[count:])
    return list(results[:count])
