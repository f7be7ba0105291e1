"""while_loop: a body recorded once and run step by step, each step in its own Scope; gradients go back through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.arrays import ArrayVariable
from lodcore.graph.block import Frame, Operator, in_body
from lodcore.graph.body import Body, Break, LoopArray, LoopVariable, Update, as_tensor
from lodcore.graph.gradients import Gradients, differentiable_spec, path
from lodcore.graph.scope import Scope
from lodcore.graph.variable import Variable, spec_text
from lodcore.registry import Batches, Op, Spec, spec_of
from lodcore.symbol import open_block, recording
from lodcore.tensor import Tensor
from lodcore.tensor_array import TensorArray

__all__ = ["LoopVariable", "WhileLoop", "map_fn", "while_loop"]


class Trace:
    """What a run of a loop leaves for its gradient: a frame a step, and how many instructions the last one ran."""

    __slots__ = ("frames", "last")

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.last = 0


class WhileLoop:
    """A loop that runs its body until `break_if`; made by `while_loop`."""

    def __init__(self, loop_vars: Iterable[Any], max_steps: int | None, recompute: bool) -> None:
        self.max_steps = max_steps
        self.recompute = recompute
        self.body = Body(self, None)
        self.body.closed = True
        self._declared = list(loop_vars)
        self._begun = False
        self.variables: list[LoopVariable] = []
        self._counter: LoopVariable | None = None
        self._inputs: list[Any] = []
        self._carried: list[Variable] = []  # Variables of the body whose values go on to the next step
        self._runners: dict[bool, list[Callable[[Frame], Any]]] = {}
        self._needs: dict[frozenset[int], tuple[set[Variable], set[int]]] = {}
        self._trace: Trace | None = None

    # -- recording -------------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, exec_immediately: bool = True) -> Iterator[WhileLoop]:
        """Open the body; what is recorded inside runs step by step.

        Parameters
        ----------
        exec_immediately : bool, default True
            Run the loop when the body is closed; otherwise calling the loop runs it.

        Raises
        ------
        GraphError
            If there is no break_if in the body, or the body was recorded before.
        """
        if self._begun:
            raise GraphError("while_loop: the body was recorded already; make another loop")
        self._begun = True
        self.body = Body(self, open_block())
        for given in self._declared:
            if not isinstance(given, (Variable, np.ndarray, Tensor, TensorArray)):
                self.body.closed = True
                raise GraphError(f"while_loop: loop_vars: has a {type(given).__name__}; a tensor or Variable is needed")
            variable = self.loop_var(given)
            self.body.captures[id(given)] = (given, variable)
        try:
            with recording(self.body):
                yield self
        finally:
            self.body.closed = True
        self._finish()
        if exec_immediately:
            self()

    frame = loop

    def loop_var(self, init: Any, advance: bool | int | None = None) -> Any:
        """Declare a value that goes from step to step.

        Parameters
        ----------
        init : Variable, tensor, TensorArray or number
            Its first value.
        advance : bool or int, optional
            What is added after each step. If not given, an integer of one element that the body never updates is a
            counter and advances by 1; False turns that off.

        Returns
        -------
        LoopVariable
        """
        if self.body.closed:
            raise GraphError("loop_var: the body is not open; use it inside `with loop.loop():`")
        if isinstance(init, Variable):
            init = init.current()
        if not isinstance(init, (Variable, TensorArray)):
            init = as_tensor("loop_var: init", init)
        spec = init.spec if isinstance(init, Variable) else spec_of(init)
        if advance not in (None, False) and (spec.dtype.kind not in "iu" or _size(spec) not in (1, None)):
            raise GraphError(f"loop_var: advance: is {advance!r}; only an integer of one element can advance")
        kind = LoopArray if spec.kind is TensorArray else LoopVariable
        made = kind(self, init, spec if _size(spec) == 1 else in_body(spec), None, advance)
        self.body.add(made, init._name or "loop_var" if isinstance(init, Variable) else "loop_var")
        self.variables.append(made)
        return made

    def step(self) -> Any:
        """Give the number of the step, from 0: a Variable of the body."""
        if self._counter is None:
            self._counter = self.loop_var(np.array(0), advance=True)
        return self._counter

    def break_if(self, cond: Any) -> None:
        """End the loop here if a condition holds: what ran before counts, what follows does not.

        Parameters
        ----------
        cond : Variable or bool
            One element.
        """
        if open_block() is not self.body:
            raise GraphError("break_if: the body of this loop is not the Block that is open")
        if not isinstance(cond, Variable):
            cond = as_tensor("break_if: cond", cond)
        spec = cond.spec if isinstance(cond, Variable) else spec_of(cond)
        if spec.num_levels or (spec.kind is not object and _size(spec) not in (1, None)):
            raise GraphError(f"break_if: cond: is {spec_text(spec)}; one element is needed")
        self.body.ops.append(Break(self.body.outer(cond)))

    def _finish(self) -> None:
        """Find what goes from step to step, and what comes from outside."""
        body = self.body
        if not any(isinstance(op, Break) for op in body.ops):
            raise GraphError("while_loop: the body has no break_if; it would never end")
        updated = {op.variable for op in body.ops if isinstance(op, Update)}
        for v in self.variables:
            if v.advance is None or v.advance is True:
                counts = v.spec.dtype.kind in "iu" and _size(v.spec) == 1 and v not in updated
                v.advance = int(counts) if v.advance is None else 1
            elif v.advance is False:
                v.advance = 0
        declared = set(self.variables)
        captured = [(given, local) for given, local in body.captures.values() if local not in declared]
        written = [(given, local) for given, local in captured if local in body.versions]
        read = [(given, local) for given, local in captured if local not in body.versions]
        self._written = written
        self._carried = [*self.variables, *(local for _, local in written)]
        self._captured = [local for _, local in read]
        inits = [*(v.init for v in self.variables), *(given for given, _ in written), *(given for given, _ in read)]
        self._inputs = [_settled(x) for x in inits]

    # -- running ---------------------------------------------------------------------------------------------------

    def __call__(self) -> None:
        """Run the loop from the captured first values.

        Raises
        ------
        GraphError
            If it takes more than `max_steps` steps. What fails in the body raises its own error, with the operator
            and the step named.
        """
        if not self._begun or not self.body.closed:
            raise GraphError("while_loop: the body is not recorded yet")
        results = RUN(list(self._inputs), self)
        for v, result in zip(self._carried, results, strict=True):
            if isinstance(v, LoopVariable):
                v._final = result
        for (given, _), result in zip(self._written, results[len(self.variables) :], strict=True):
            if isinstance(result, Variable):
                block = result.block
                assert block is not None
                block.versions[block.variable(given)] = result
            elif isinstance(given, TensorArray):
                given._take_over(result)
            else:
                given.set(result)

    @property
    def step_scopes(self) -> list[Scope]:
        """The Scopes of the steps of the last run; none if no gradient was wanted."""
        return [Scope.over(frame) for frame in self._trace.frames] if self._trace is not None else []

    def run(self, values: list[Any], keep: bool) -> tuple[tuple[Any, ...], Trace]:
        """Run the body step by step: the last values of what is carried, and the trace."""
        carried = self._carried
        outer = dict(zip(self._captured, values[len(carried) :], strict=True))
        firsts = zip(carried, values, strict=False)
        old: dict[Variable, Any] = {v: x._snapshot() if isinstance(x, TensorArray) else x for v, x in firsts}
        runners = self._compiled(keep)
        follow = [(v, v.following, v.spec.dtype.type(v.advance)) for v in carried if isinstance(v, LoopVariable)]
        arrays = [(v, self.body.versions[v]) for v in carried if v in self.body.versions]
        trace = Trace()
        step = -1
        while True:
            step += 1
            if self.max_steps is not None and step > self.max_steps:
                raise GraphError(f"while_loop: max_steps: {self.max_steps} steps have run, and no break_if held")
            frame = {**outer, **old}
            if keep:
                trace.frames.append(frame)
            at = -1
            try:
                for at, run in enumerate(runners):  # noqa: B007
                    if run(frame):
                        break
                else:
                    at = -1
            except Exception as error:
                raise _named(error, f"while_loop: step {step}: {_name_of(self.body.ops[at])}") from error
            ended = at >= 0 and bool(runners)
            if ended or not runners:
                trace.last = at
                break
            new: dict[Variable, Any] = {}
            for v, following, by in follow:
                value = frame.get(following, _MISSING)
                new[v] = (frame[v] + by if by else frame[v]) if value is _MISSING else value
            new.update((array, frame[last]) for array, last in arrays)
            old = new
            if keep and self.recompute:
                self._forget(frame)
        final = []
        for carried_one in carried:
            key = carried_one.following if isinstance(carried_one, LoopVariable) else carried_one
            final.append(frame.get(key, frame[carried_one]))
        return tuple(final), trace

    def _compiled(self, keep: bool) -> list[Callable[[Frame], Any]]:
        """List what each instruction does to a frame; a Break tells whether it breaks."""
        if keep not in self._runners:
            self._runners[keep] = [_runner(op, keep) for op in self.body.ops]
        return self._runners[keep]

    # -- going back ------------------------------------------------------------------------------------------------

    def _needed(self, wanted: frozenset[int]) -> tuple[set[Variable], set[int]]:
        """Find which Variables of the body need a gradient, if these inputs do, and the instructions on the way."""
        if wanted not in self._needs:
            locals_ = [*self._carried, *self._captured]
            begin = {locals_[j] for j in wanted}
            ops = [op for op in self.body.ops if isinstance(op, Operator)]
            while True:
                needed, way = path(ops, begin, lambda out: differentiable_spec(out.spec))
                more: set[Variable] = {
                    op.variable
                    for op in self.body.ops
                    if isinstance(op, Update)
                    and isinstance(op.value, Variable)
                    and op.value in needed
                    and differentiable_spec(op.variable.spec)
                }
                more |= {v for v in self._carried if v in self.body.versions and self.body.versions[v] in needed}
                if more <= begin:
                    break
                begin |= more
            on_the_way = set(map(id, way))
            places = {at for at, op in enumerate(self.body.ops) if id(op) in on_the_way}
            self._needs[wanted] = needed, places
        return self._needs[wanted]

    def go_back(self, trace: Trace, wanted: frozenset[int], cotangents: tuple[Any, ...]) -> list[Any]:
        """Give the gradients of the inputs: the gradient Block runs in the Scopes of the steps, from last to first."""
        needed, places = self._needed(wanted)
        ops = self.body.ops
        totals = Gradients(needed)
        state = {v: d for v, d in zip(self._carried, cotangents, strict=True) if d is not None}
        captured = [v for v in self._captured if v in needed]
        for frame, ran in _from_last(trace, len(ops)):
            if self.recompute:
                frame = self._again(frame, ran)
            gradients = Gradients(needed)
            last: dict[Variable, Any] = {op.variable: op.value for op in ops[:ran] if isinstance(op, Update)}
            for v, d in state.items():
                to = self._last_version(v, frame) if v in self.body.versions else last.get(v, v)
                if isinstance(to, Variable) and to in needed:
                    gradients.add(to, d)
            for at in range(ran - 1, -1, -1):
                if at in places:
                    gradients.step_back(ops[at], frame)
            for v in captured:
                d = gradients.take(v)
                if d is not None:
                    totals.add(v, d)
            state = {v: d for v in self._carried if (d := gradients.take(v)) is not None}
        return [*(state.get(v) for v in self._carried), *(totals.found.get(v) for v in self._captured)]

    def _last_version(self, v: Variable, frame: Frame) -> Variable:
        """Find the last version of an array that a step wrote."""
        last = v
        for op in self.body.ops:
            if isinstance(op, Operator) and op.op.writes is not None and op.outputs[0] in frame:
                if op.arguments[op.op.writes] is last:
                    last = op.outputs[0]
            elif isinstance(op, Operator) and op.op is RUN and op.outputs[0] in frame:
                loop = op.arguments["loop"]
                for given, out in zip(op.arguments["inputs"], op.outputs, strict=False):
                    if given is last and isinstance(loop, WhileLoop) and out.spec.kind is TensorArray:
                        last = out
        return last

    def _forget(self, frame: Frame) -> None:
        """Keep of a step only what is needed to run it again: loop variables, and what was read from arrays."""
        for op in self.body.ops:
            if isinstance(op, Operator) and not _touches_arrays(op):
                frame.pop(op, None)
                for out in op.outputs:
                    frame.pop(out, None)

    def _again(self, frame: Frame, ran: int) -> Frame:
        """Run a step once more, all but what touches arrays."""
        again = dict(frame)
        for op in self.body.ops[:ran]:
            if isinstance(op, Operator) and op.outputs[0] not in again:
                op.run(again, True)
        return again

    def __repr__(self) -> str:
        return f"<while_loop of {len(self.body.ops)} operators>"


_MISSING = object()


def _settled(x: Any) -> Any:
    """Fix what an input of a loop is when its body is closed: of an array, what is written to it now."""
    if isinstance(x, TensorArray):
        return x._snapshot() if x._block is None else x._block.output(x)
    if isinstance(x, ArrayVariable) and x.block is not None:
        return x.block.output(x)
    return x


def _size(spec: Spec) -> int | None:
    """Count the elements of a tensor, None if that is not known."""
    if spec.num_levels or spec.kind is TensorArray or None in spec.shape:
        return None
    return int(np.prod([size for size in spec.shape if size is not None]))


def _touches_arrays(op: Operator) -> bool:
    every = [*op.inputs, *op.outputs]
    return any(x.spec.kind not in (np.ndarray, object) and not issubclass(x.spec.kind, Tensor) for x in every)


def _from_last(trace: Trace, count: int) -> Iterator[tuple[Frame, int]]:
    """Give the frames from last to first, each with the number of instructions that ran."""
    for j, frame in enumerate(reversed(trace.frames)):
        yield frame, trace.last if j == 0 else count


def _runner(op: Any, keep: bool) -> Callable[[Frame], Any]:
    """Make what an instruction does to a frame."""
    if isinstance(op, Update):
        following, value = op.variable.following, op.value
        if isinstance(value, Variable):

            def update(frame: Frame) -> None:
                frame[following] = frame[value]

            return update
        return lambda frame: frame.update({following: value})
    if isinstance(op, Break):
        condition = op.condition
        if isinstance(condition, Variable):
            return lambda frame: holds(frame[condition])
        return lambda frame: holds(condition)
    made: Callable[[Frame], Any] = op.runner(keep)
    return made


def holds(condition: Any) -> bool:
    """Tell whether a condition of one element holds."""
    if isinstance(condition, np.bool_):
        return bool(condition)
    found = np.asarray(condition)
    if found.size != 1:
        raise GraphError(f"break_if: cond: has shape {found.shape}; one element is needed")
    return bool(found.reshape(())[()])


def _name_of(op: Any) -> str:
    return op.op.__name__ if isinstance(op, Operator) else type(op).__name__.lower()


def _named(error: Exception, where: str) -> Exception:
    """Make an error of the same type that says where it happened."""
    try:
        made = type(error)(f"{where}: {error}")
    except TypeError:
        return GraphError(f"{where}: {error}")
    return made


# -- the loop as an operator -------------------------------------------------------------------------------------------


def _run(inputs: Batches, loop: WhileLoop) -> Any:
    """Run a loop: its inputs are the first values of what is carried, then what comes from outside."""
    return loop.run(inputs, False)[0]


RUN = Op(_run, "own", True, None, 1)  # type: ignore[arg-type]
RUN.__name__ = "while_loop"


@RUN.saving
def _(inputs: Any, loop: WhileLoop) -> Any:
    results, loop._trace = loop.run(inputs, True)
    return results, loop._trace


@RUN.infer
def _(inputs: list[Any], loop: WhileLoop) -> tuple[Spec, ...]:
    return tuple(
        (loop.body.versions[v].spec if v in loop.body.versions else v.spec)
        if _size(v.spec) == 1
        else in_body(loop.body.versions.get(v, v).spec)
        for v in loop._carried
    )


@RUN.backward
def _(saved: Any, *cotangents: Any) -> tuple[Any]:
    loop = saved.loop
    wanted = frozenset(j for j, x in enumerate(saved.arguments["inputs"]) if saved.wants(x))
    return (loop.go_back(saved.hidden, wanted, cotangents),)


def while_loop(loop_vars: Iterable[Any] = (), *, max_steps: int | None = None, recompute: bool = False) -> WhileLoop:
    """Make a loop whose body is recorded once and runs until `break_if`.

    Parameters
    ----------
    loop_vars : list of Variable or tensor
        These are loop variables under their own names in the body.
    max_steps : int, optional
        More steps are an error.
    recompute : bool, default False
        Keep only loop variables for the gradient, and compute each step again on the way back.

    Returns
    -------
    WhileLoop
        With `loop()` (or `frame()`) to open the body, `loop_var`, `break_if` and `step`.

    Notes
    -----
    The meaning::

        old = new = init
        while True:
            for op in body:             # reads of loop variables see old; update writes new; arrays in program order
                if op.run(old, new) is BREAK:
                    return new          # what ran before counts, what follows does not
            old = new = advance(new)         # counters: + 1

    So `a.update(b); b.update(a)` swaps, and after the loop a counter is the index of the step that broke. What comes
    from outside is captured once, and read at each run.

    References
    ----------
    "Design for TensorArray" and "Design of Dynamic RNN with Beamsearch" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import while_loop
    >>> loop = while_loop()
    >>> with loop.loop():
    ...     time = loop.loop_var(0)
    ...     total = loop.loop_var(1.0)
    ...     loop.break_if(lodcore.greater_equal_than(time, 5))
    ...     total.update(lodcore.mul(total, 2.0))
    >>> float(total.get()), int(time.get())
    (32.0, 5)
    """
    return WhileLoop(loop_vars, max_steps, recompute)


def map_fn(f: Callable[[Any], Any], x: Any) -> Any:
    """Apply a function to each entry of axis 0, or to each outermost sequence, in a loop.

    Parameters
    ----------
    f : callable
        Of operators; gives tensors of one shape.
    x : tensor
        A LoDTensor, or at least one axis.

    Returns
    -------
    tensor
        What f gave, one behind the other along a new axis 0.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import map_fn
    >>> map_fn(lambda row: lodcore.ops.sum(row), np.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    """
    entries = TensorArray.unstack(x)
    results = TensorArray()
    loop = while_loop()
    with loop.loop():
        at = loop.step()
        loop.break_if(_at_end(at, entries))
        results.write(at, f(entries.read(at)))
    return results.stack()


def _at_end(at: Any, entries: Any) -> Any:
    from lodcore.ops import greater_equal_than

    return greater_equal_than(at, entries.size())
