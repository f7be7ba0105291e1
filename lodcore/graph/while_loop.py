"""while_loop: a body that is recorded once, and runs step by step until it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, open_block, recording
from lodcore.base.recycling import Recycled
from lodcore.errors import GraphError
from lodcore.graph.arrays import ArrayVariable, of_user
from lodcore.graph.block import Block, NamedBlock
from lodcore.graph.body import Body, Break, LoopVariable, Update, size_of, spec_in_body
from lodcore.graph.scope import Scope
from lodcore.graph.steps import StepRunner, Trace
from lodcore.graph.variable import Variable, as_value, block_of, settled, spec_text
from lodcore.ops.registry import Op
from lodcore.ops.roles import Batches, spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["LoopVariable", "WhileLoop", "while_loop"]


class WhileLoop:
    """A loop that runs its body until `break_if`; made by `while_loop`.

    Attributes
    ----------
    variables : list of LoopVariable
        In the order in which they were declared; after the loop they stand for the last values.
    loop_vars : list of LoopVariable
        Those that were given to `while_loop`.
    body : Body
        What was recorded.
    """

    def __init__(
        self, loop_vars: Iterable[Any], max_steps: int | None, recompute: bool, keeps_shapes: bool = False
    ) -> None:
        self.max_steps = max_steps
        self.recompute = recompute
        self.keeps_shapes = keeps_shapes
        self.body = Body(None)
        self.variables: list[LoopVariable] = []
        self.steps: StepRunner | None = None
        self.loop_vars: list[LoopVariable] = []
        self._declared = list(loop_vars)
        self._counter: LoopVariable | None = None
        self._home: Callable[[], Block | None] = lambda: None  # where the loop is an operator
        self._state = "new"

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
        if self._state != "new":
            raise GraphError("while_loop: the body was recorded already; make another loop")
        self._state = "open"
        self.body = Body(open_block(), self.keeps_shapes)
        try:
            for given in self._declared:
                made = self._declare(given, None, "loop_var", "while_loop: loop_vars")
                self.loop_vars.append(made)
                if isinstance(given, (Variable, Tensor)):
                    self.body.captures[id(given)] = given, made
            with recording(self.body):
                yield self
            self._finish()
            self._state = "closed"
        finally:
            self.body.closed, self.body.parent = True, None
            for v in self.variables:
                v.end(None)
            if self._state == "open":
                self._state = "failed"
        if exec_immediately:
            self()

    frame = loop

    def loop_var(self, init: Any, advance: bool | int | None = None) -> Any:
        """Declare a value that goes from step to step.

        Parameters
        ----------
        init : Variable, tensor or number
            Its first value. An array is not declared: the body reads and writes it as it is.
        advance : bool or int, optional
            What is added after each step. If not given, an integer of one element that the body never updates is a
            counter and advances by 1; False turns that off.

        Returns
        -------
        LoopVariable

        Raises
        ------
        GraphError
            If the body is not open, init is a TensorArray, or advance is given for anything else than an integer of
            one element.
        """
        return self._declare(init, advance, "loop_var")

    def _declare(self, init: Any, advance: Any, stem: str, where: str = "loop_var: init") -> LoopVariable:
        if self._state != "open":
            raise GraphError("loop_var: the body is not open; use it inside `with loop.loop():`")
        if isinstance(init, Symbol):
            with recording(self.body.parent):  # a slot is read before the loop
                init = settled(init)
        if isinstance(init, (TensorArray, ArrayVariable)):
            raise GraphError(
                f"{where}: is TensorArray {init.name}; arrays go from step to step as they are: read and write it "
                "in the body"
            )
        if not isinstance(init, Variable):
            init = as_value(where, init)
        if isinstance(init, Variable) and init.block is self.body:
            raise GraphError(f"loop_var: init: Variable {init.name} is made in the body; make it before")
        spec = init.spec if isinstance(init, Variable) else spec_of(init)
        counts = spec.dtype.kind in "iu" and size_of(spec) == 1
        if advance is not None and advance is not False and not (counts and hasattr(advance, "__index__")):
            raise GraphError(
                f"loop_var: advance: is {advance!r}; only an integer of one element advances, by an integer"
            )
        if advance and not 0 < advance < 128:  # which every integer holds
            limits = np.iinfo(spec.dtype)
            if not limits.min <= advance <= limits.max:
                raise GraphError(f"loop_var: advance: is {advance}; {spec.dtype} cannot hold it")
        made = LoopVariable(
            self.body, init, spec_in_body(spec), (None if counts else 0) if advance is None else int(advance)
        )
        self.body.add(made, init.name if isinstance(init, Variable) else None, stem)
        self.variables.append(made)
        return made

    def step(self) -> Any:
        """Give the number of the step, from 0: a Variable of the body."""
        if self._counter is None:
            self._counter = self._declare(np.array(0), 1, "step")
        return self._counter

    def break_if(self, cond: Any) -> None:
        """End the loop here if a condition holds: what ran before counts, what follows does not.

        Parameters
        ----------
        cond : Variable or bool
            One element.

        Raises
        ------
        GraphError
            If the body of another Block is open, or the condition has more elements than one.
        """
        if self._state != "open" or open_block() is not self.body:
            raise GraphError("break_if: the body of this loop is not the Block that is open")
        cond = settled(cond)
        if not isinstance(cond, Variable):
            cond = as_value("break_if: cond", cond)
        spec = cond.spec if isinstance(cond, Variable) else spec_of(cond)
        if spec.num_levels or spec.kind is TensorArray or size_of(spec) not in (1, None):
            raise GraphError(f"break_if: cond: is {spec_text(spec)}; one element is needed")
        self.body.ops.append(Break(self.body.known(cond)))

    def _finish(self) -> None:
        """Find what goes from step to step and what comes from outside, and where the loop is an operator."""
        body = self.body
        if not any(isinstance(op, Break) for op in body.ops):
            raise GraphError("while_loop: the body has no break_if; it would never end")
        updated = {op.variable for op in body.ops if isinstance(op, Update)}
        for v in self.variables:
            if v.advance is None:
                v.advance = int(v not in updated)
        declared = set(self.variables)
        captured = [(given, local) for given, local in body.captures.values() if local not in declared]
        written = [one for one in captured if one[1] in body.versions]
        read = [one for one in captured if one[1] not in body.versions]
        carried: list[Variable] = [*self.variables, *[local for _, local in written]]
        inputs = [*[v.init for v in self.variables], *[given for given, _ in written + read]]
        home = open_block() or block_of(inputs)
        if home is None:
            self._inputs = [x.snapshot() if isinstance(x, TensorArray) else x for x in inputs]
        else:
            self._home = home.reference
            self._inputs = [home.known(settled(x)) for x in inputs]
        given_ones = {id(local): given for given, local in body.captures.values() if local in declared}
        self._written = [given_ones.get(id(v)) for v in self.variables] + [given for given, _ in written]
        self.steps = StepRunner(body, carried, [local for _, local in read], self.max_steps, self.recompute)

    # -- running ---------------------------------------------------------------------------------------------------

    def __call__(self) -> None:
        """Run the loop from the captured first values.

        Raises
        ------
        GraphError
            If it takes more than `max_steps` steps. What fails in the body raises its own error, with the operator
            and the step named.
        """
        if self._state != "closed":
            raise GraphError(f"while_loop: the body is {self._state}; it must be recorded, to its end")
        block = open_block() or self._home()
        if block is None:
            values = [x.get() if isinstance(x, Variable) else x for x in self._inputs]
            results = tuple(map(of_user, RUN(values, self)))
        else:
            results = block.record(RUN, (self._inputs, self), {})
        for v, result in zip(self.variables, results, strict=False):
            v.end(result)
        if isinstance(block, NamedBlock):
            for v, result in zip(self.variables, results, strict=False):
                block.name_result(result, v.name)
        for given, result in zip(self._written, results, strict=True):
            if block is not None and isinstance(given, (Variable, TensorArray)):
                block.write_back(given, result)
                if isinstance(given, Variable) and not isinstance(given, ArrayVariable):
                    if given.block is not None:
                        given.stand_for(result)
                    elif block.keeps_writes:
                        given.set(result.get())
            elif isinstance(given, TensorArray):
                given.become(result)
            elif isinstance(given, Variable):
                given.set(result)

    @property
    def step_scopes(self) -> tuple[Scope, ...]:
        """The Scopes of the steps of the last run, kids of that of the outer Variables; none without a gradient.

        They hold the values that gradients read; what nobody reads any more is let go.
        """
        return () if self.steps is None else self.steps.scopes()

    def __repr__(self) -> str:
        return f"<while_loop of {len(self.body.ops)} operators>"


# -- the loop as an operator -------------------------------------------------------------------------------------------


def _run(inputs: Any, loop: WhileLoop) -> Any:
    """Run a loop: its inputs are the first values of what is carried, then what comes from outside."""
    assert loop.steps is not None
    with Recycled():
        return loop.steps.run(inputs, None)


class LoopOp(Op):
    """A loop as an operator: its inputs are of all kinds, and what its results are the body says."""

    keeps_versions = True  # each run begins with the arrays as they were when the loop was met

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Describe the results."""
        return self.infer_rule(**arguments)


RUN = LoopOp(_run, {"inputs": Batches}, results=None)  # type: ignore[arg-type]
RUN.__name__ = "while_loop"


@RUN.define_residuals("trace")
def _(inputs: Any, loop: WhileLoop) -> Any:
    assert loop.steps is not None
    trace = Trace()
    with Recycled():
        return loop.steps.run(inputs, trace), trace


@RUN.define_infer
def _(inputs: list[Any], loop: WhileLoop) -> tuple[Spec, ...]:
    assert loop.steps is not None
    return tuple(loop.body.versions.get(v, v).spec for v in loop.steps.carried)


@RUN.define_vjp
def _(cotangents: tuple[Any, ...], loop: WhileLoop, trace: Trace, needs: tuple[Any]) -> list[Any]:
    assert loop.steps is not None
    return loop.steps.go_back(trace, frozenset([j for j, wanted in enumerate(needs[0]) if wanted]), cotangents)


def while_loop(loop_vars: Iterable[Any] = (), *, max_steps: int | None = None, recompute: bool = False) -> WhileLoop:
    """Make a loop whose body is recorded once and runs until `break_if`.

    Parameters
    ----------
    loop_vars : list of Variable or tensor
        These are loop variables under their own names in the body; `variables` of the loop gives them.
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
            old = new = advance(new)    # counters: + 1

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
    if max_steps is not None and not (hasattr(max_steps, "__index__") and max_steps >= 0):
        raise GraphError(f"while_loop: max_steps: is {max_steps!r}; an integer from 0 is needed")
    if isinstance(loop_vars, (Variable, np.ndarray, Tensor, TensorArray)):
        raise GraphError(f"while_loop: loop_vars: is a {type(loop_vars).__name__}; a list of them is needed")
    return WhileLoop(loop_vars, max_steps, recompute)
