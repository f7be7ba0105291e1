"""while_loop: a body that is recorded once, and runs step by step until it breaks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.base.caller import named_caller
from lodcore.base.contexts import RecordedBody, end_variables, put_in_place
from lodcore.base.dispatch import Symbol, open_block, recorder, recording
from lodcore.base.memory import as_size, flag
from lodcore.base.recycling import Recycled
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.block import Block, NamedBlock
from lodcore.graph.loops.array_versions import ArrayVariable, of_user
from lodcore.graph.loops.body import (
    Body,
    Break,
    Counter,
    LoopVariable,
    Update,
    is_one_integer,
    operand,
    size_of,
)
from lodcore.graph.loops.frames import StepRunner, Trace
from lodcore.graph.recorder import Recorder
from lodcore.graph.scope import Scope
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.graph.variable import Variable, resolved, spec_text
from lodcore.operators.registry import Op, Saved
from lodcore.operators.roles import Batches, spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["LoopOp", "LoopVariable", "WhileLoop", "met_by", "while_loop", "write_back"]


#: The types of arrays, which a run takes as they are at that time.
ARRAYS = (TensorArray, ArrayVariable)

#: The body of a loop before it is recorded.
EMPTY = Body(None)


class WhileLoop:
    """A loop that runs its body until `break_if`; made by `while_loop`.

    Attributes
    ----------
    variables : list of LoopVariable
        The loop variables in order of declaration; after the loop they represent the last values.
    loop_vars : list of LoopVariable
        The loop variables given to `while_loop`.
    body : Body
        The recorded body.
    """

    __module__ = "lodcore.graph"

    def __init__(
        self, loop_vars: Iterable[Any], max_steps: int | None, recompute: bool, keeps_shapes: bool = False
    ) -> None:
        self.max_steps = max_steps
        self.recompute = recompute
        self.keeps_shapes = keeps_shapes
        self.body = EMPTY
        self.variables: list[LoopVariable] = []
        self.steps: StepRunner | None = None
        self.loop_vars: list[LoopVariable] = []
        self._declared = list(loop_vars)
        self._counter: LoopVariable | None = None
        self._home: Callable[[], Block | None] = lambda: None  # the Block of which the loop is an operator
        self.recorded: Body | None = None  # the body while it is open

    @classmethod
    def of_body(cls, body: Body, carried: list[Variable], captured: list[Variable], **options: Any) -> WhileLoop:
        """Return a loop with an existing body: that of another loop, or one read from a file.

        Parameters
        ----------
        body : Body
        carried, captured : list of Variable
            The Variables of the body, as `StepRunner` takes them.
        **options
            max_steps, recompute and keeps_shapes.
        """
        made = cls((), **options)
        made.body = body
        made.variables = [v for v in carried if isinstance(v, LoopVariable)]
        made.steps = StepRunner(body, carried, captured, made.max_steps, made.recompute)
        return made

    # -- recording -----------------------------------------------------------------------------------------------------

    def loop(self, exec_immediately: bool = True) -> RecordedBody:
        """Open the body; operators recorded inside run step by step.

        Parameters
        ----------
        exec_immediately : bool, default True
            Whether to run the loop when the body is closed; otherwise, calling the loop runs it.

        Raises
        ------
        GraphError
            If the body has no break_if, or was recorded before.
        """
        return RecordedBody(
            self, self.variables, self._new_body, self._prepare, self._finish, self if exec_immediately else None
        )

    def _new_body(self) -> Body:
        if self.recorded is not None or self.steps is not None or self.body.closed:
            raise GraphError("while_loop: the body was recorded already; make another loop")
        return self.body_in(open_block())

    def body_in(self, parent: Block | None) -> Body:
        """Return the Block that is the body, within another one."""
        return Body(parent, self.keeps_shapes)

    def _prepare(self) -> None:
        """Declare the loop variables that were given to `while_loop`, as the body is about to be open."""
        assert self.recorded is not None
        self.body = self.recorded
        for given in self._declared:
            made = self._declare(given, None, "loop_var", "while_loop: loop_vars")
            self.loop_vars.append(made)
            if isinstance(given, (Variable, Tensor, np.generic)):
                self.body.captures[id(given)] = given, made

    @property
    def _state(self) -> str:
        if self.recorded is not None:
            return "open"
        return "closed" if self.steps is not None else "failed" if self.body.closed else "new"

    frame = loop

    def loop_var(self, init: Any, advance: bool | int | None = None) -> Any:
        """Declare a value that is carried from step to step.

        Parameters
        ----------
        init : Variable, tensor or number, or lists, tuples and dicts of tensors
            The first value. An array is not declared: the body reads and writes it directly. Lists of numbers are one
            tensor.
        advance : bool or int, optional
            The number that is added after each step. By default, an integer of one element that the body never updates
            is a counter and advances by 1, whatever its number of axes; False disables that. If the number of elements
            is unknown, the first value determines it when the loop runs.

        Returns
        -------
        LoopVariable, or the tree with LoopVariables

        Raises
        ------
        GraphError
            If the body is not open, init is a TensorArray, or advance is given for a value that is not an integer of
            one element.
        """
        if not isinstance(init, (Symbol, Tensor, int, float)) and _is_tree(init):
            return tree_map(lambda leaf: self._declare(leaf, advance, "loop_var"), init)
        return self._declare(init, advance, "loop_var")

    def _declare(self, init: Any, advance: Any, stem: str, where: str = "loop_var: init") -> LoopVariable:
        body = self.recorded
        if body is None:
            raise GraphError("loop_var: the body is not open; use it inside `with loop.loop():`")
        if isinstance(init, Symbol):
            with recording(body.parent):  # a slot is read before the loop
                init = init.current()
        if isinstance(init, ARRAYS):
            raise GraphError(
                f"{where}: is TensorArray {init.name}; arrays go from step to step as they are: read and write it "
                "in the body"
            )
        if not isinstance(init, Variable):
            if isinstance(init, str):
                raise DTypeError(f"{where}: is {init!r}; a tensor or a number is needed")
            init = operand(where, body.parent, init)
        elif init.block is body:
            raise GraphError(f"loop_var: init: Variable {init.name} is made in the body; make it before")
        spec = init.spec if isinstance(init, Variable) else spec_of(init)
        counter = Counter(advance, is_one_integer(spec))
        if counter.is_one and counter.number:
            counter.by(spec)
        made = LoopVariable(body, init, spec, counter)
        body.add(made, body.adopt(init) if isinstance(init, Variable) else None, stem)
        self.variables.append(made)
        return made

    def step(self) -> Any:
        """Return the number of the step, from 0: a Variable of the body."""
        if self._counter is None:
            self._counter = self._declare(np.array(0), 1, "step")
        return self._counter

    def break_if(self, cond: Any) -> None:
        """End the loop here if a condition holds: earlier operators of the step take effect, later ones are not run.

        Parameters
        ----------
        cond : Variable or bool
            One element.

        Raises
        ------
        GraphError
            If another Block is open, or the condition does not have one element.
        """
        body = self.recorded
        if body is None or open_block() is not body:
            raise GraphError("break_if: the body of this loop is not the Block that is open")
        cond = operand("break_if: cond", body, cond)
        spec = cond.spec if isinstance(cond, Variable) else spec_of(cond)
        if spec.kind is not object and spec.dtype.kind in "SU":
            raise GraphError(f"break_if: cond: has dtype {spec.dtype}; bool or a number is needed")
        if spec.num_levels or spec.kind is TensorArray or size_of(spec) not in (1, None):
            raise GraphError(f"break_if: cond: is {spec_text(spec)}; one element is needed")
        body.ops.append(Break(body.known(cond)))

    def _finish(self) -> None:
        """Determine the carried and captured values, and record the loop as an operator of the outer Block."""
        body, ends, updated = self.body, False, set()
        for op in body.ops:
            ends = ends or isinstance(op, Break)
            if isinstance(op, Update):
                updated.add(op.variable)
        if not ends:
            raise GraphError("while_loop: the body has no break_if; it would never end")
        carried: list[Variable] = list(self.variables)
        first: list[Any] = []  # what each run begins with
        for v in self.variables:
            first.append(v.init)
            if v.counter.advance is None and v.counter.is_one is not False:
                v.counter.number = int(v not in updated)
        places = dict(zip(carried, itertools.count()))
        self._written: list[Any] = [None] * len(first)  # outer objects that represent the results
        met: dict[Variable, Any] = {}  # captured earlier by an inner loop
        arrays: dict[Variable, Any] = {}
        others: dict[Variable, Any] = {}
        for key, (given, local) in body.captures.items():
            if local in places:
                self._written[places[local]] = given
            elif local in body.versions:
                first.append(given)
                carried.append(local)
                self._written.append(given)
            else:
                (met if key < 0 else arrays if isinstance(given, ARRAYS) else others)[local] = given
        home = recorder([*first, *met.values(), *arrays.values(), *others.values()])
        self._home = self._home if home is None else home.reference
        self._inputs: list[tuple[Any, bool]] = []  # and whether a run takes each as it is at that time
        for x in first:
            self._inputs.append((x, True) if isinstance(x, ARRAYS) else (met_by(home, x), False))
        for given in met.values():
            self._inputs.append((met_by(home, given, before=True), False))
        self._inputs += zip((*arrays.values(), *others.values()), itertools.repeat(True))
        self.steps = StepRunner(body, carried, [*met, *arrays, *others], self.max_steps, self.recompute)

    # -- running -------------------------------------------------------------------------------------------------------

    def __call__(self) -> None:
        """Run the loop from the captured first values, and from the outer arrays as they are now.

        Raises
        ------
        GraphError
            If it takes more than `max_steps` steps. An error in the body is raised with the names of the operator and
            the step.
        """
        if self.steps is None or self.recorded is not None:
            raise GraphError(f"while_loop: the body is {self._state}; it must be recorded completely")
        block = open_block() or self._home()
        if block is None:
            values = [_value_of(x, late) for x, late in self._inputs]
            results = tuple(map(of_user, RUN(values, self)))
        else:
            inputs = [block.known(resolved(x)) if late else x for x, late in self._inputs]
            results = block.record(RUN, (inputs, self), {})
        if block is None:
            write_back(None, self._written, results, self.variables)
            return
        end_variables(self.variables, list(results))
        if isinstance(block, NamedBlock):
            for v, result in zip(self.variables, results, strict=False):
                block.name_result(result, v.name)
        write_back(block, self._written, results)

    @property
    def bodies(self) -> list[Body]:
        """The recorded bodies: one."""
        return [self.body]

    @property
    def step_scopes(self) -> tuple[Scope, ...]:
        """The Scopes of the steps of the last run, inside that of the outer Variables; empty without a gradient.

        They hold the values that gradients read; values that are no longer read are released. With
        `Executor.run(..., keep_scopes=True)` they hold all values, even without a gradient.
        """
        return () if self.steps is None else self.steps.scopes()

    def __repr__(self) -> str:
        return f"<while_loop of {len(self.body.ops)} operators>"


def _is_tree(init: Any) -> bool:
    """Return whether a first value is a tree of several; lists of numbers are one tensor."""
    if not isinstance(init, (list, tuple)):
        return isinstance(init, dict) or is_dataclass(init)
    return any(isinstance(leaf, (Symbol, Tensor, TensorArray)) for leaf in tree_leaves(init))


def _value_of(x: Any, late: bool) -> Any:
    """Return the value of an input when a loop is computed."""
    if isinstance(x, Variable):
        return x.get() if late else x.held
    return x


def met_by(home: Recorder | None, x: Any, before: bool = False) -> Any:
    """Return the object with which each run of a loop begins: its version when the loop was recorded.

    Parameters
    ----------
    home : Block or None
        The Block in which the loop is recorded.
    x : Variable or tensor
    before : bool, default False
        Whether an inner loop captured it from an outer Block.
    """
    if isinstance(x, Variable) and x.home is None and (home is None or home.keeps_writes):
        return x.get()
    if home is None:
        return x.snapshot() if isinstance(x, TensorArray) else x
    return home.met(x) if before else home.known(x)


def write_back(block: Any, written: list[Any], results: Sequence[Any], variables: Sequence[LoopVariable] = ()) -> None:
    """Let the outer objects that a body has written represent the results; all of them if they are computed, or none.

    Parameters
    ----------
    block : Block or None
        The Block in which the results were recorded; None if they were computed.
    written : list
        Outer arrays and Variables; None, or a number, for what needs nothing.
    results : list
    variables : list of LoopVariable
        The loop variables that represent the first results from then on.
    """
    if block is None:
        pairs = [pair for pair in zip(written, results, strict=True) if isinstance(pair[0], (Variable, TensorArray))]
        arrays = [pair for pair in pairs if isinstance(pair[0], TensorArray)]
        held = [(given, given.settable(result)) for given, result in pairs if isinstance(given, Variable)]
        put_in_place(list(variables), list(results), *_columns(arrays), *_columns(held))
        return
    for given, result in zip(written, results, strict=True):
        if isinstance(given, (Variable, TensorArray)):
            block.write_back(given, result)
        if isinstance(given, Variable) and not isinstance(given, ArrayVariable):
            if given.block is not None:
                given.stand_for(result)
            else:
                block.write_variable(given, result)


def _columns(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


# -- the loop as an operator -------------------------------------------------------------------------------------------


def _run(inputs: Any, loop: WhileLoop, *, saved: Saved = None) -> Any:
    """Run a loop; its inputs are the first carried values, followed by the captured values."""
    assert loop.steps is not None
    trace = None if saved is None else Trace()
    if saved is not None:
        saved["trace"] = trace
    with named_caller(), Recycled():
        return loop.steps.run(inputs, trace)


class LoopOp(Op):
    """A loop, or branches, as an operator: inputs of all kinds, and results that the bodies determine."""

    keeps_versions = True  # each run begins with the arrays as they were when the loop was recorded

    def with_kinds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return None: bodies take tensors of all kinds as they are."""

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Specs of the results."""
        return self.infer_rule(**arguments)


RUN = LoopOp(_run, {"inputs": Batches}, results=None)  # type: ignore[arg-type]
RUN.__name__ = "while_loop"


@RUN.define_infer
def _(inputs: list[Any], loop: WhileLoop) -> tuple[Spec, ...]:
    assert loop.steps is not None
    return tuple(loop.body.versions.get(v, v).spec for v in loop.steps.carried)


@RUN.define_vjp
def _(cotangents: tuple[Any, ...], loop: WhileLoop, trace: Trace, needs: Any) -> list[Any]:
    assert loop.steps is not None
    return loop.steps.go_back(trace, frozenset(itertools.compress(itertools.count(), needs.inputs)), cotangents)


def while_loop(loop_vars: Iterable[Any] = (), *, max_steps: int | None = None, recompute: bool = False) -> WhileLoop:
    """Make a loop whose body is recorded once and runs until a `break_if`.

    Parameters
    ----------
    loop_vars : list of Variable or tensor
        Variables that represent loop variables in the body under their own names; see `variables` of the loop.
    max_steps : int, optional
        The maximum number of steps; more are an error.
    recompute : bool, default False
        Whether to store only loop variables for the gradient, and recompute each step in the backward pass.

    Returns
    -------
    WhileLoop
        Has `loop()` (or `frame()`) to open the body, `loop_var`, `break_if` and `step`.

    Notes
    -----
    The semantics::

        old = new = init
        while True:
            for op in body:             # reads of loop variables see old; update writes new; arrays in program order
                if op.run(old, new) is BREAK:
                    return new          # what ran before counts, what follows does not
            old = new = advance(new)    # counters: + 1

    So `a.update(b); b.update(a)` swaps, and after the loop a counter is the number of the step that broke. Outer
    objects are captured once, and read at each run.

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
    if max_steps is not None and as_size(max_steps) is None:
        raise GraphError(f"while_loop: max_steps: is {max_steps!r}; an integer of 0 or more is needed")
    if isinstance(loop_vars, (Variable, np.ndarray, Tensor, TensorArray)):
        raise GraphError(
            f"while_loop: loop_vars: is {with_article(type(loop_vars).__name__)}; a list of them is needed"
        )
    if not isinstance(loop_vars, Iterable):
        raise DTypeError(f"while_loop: loop_vars: is {loop_vars!r}; a list of initial values is needed")
    return WhileLoop(loop_vars, max_steps, flag("while_loop: recompute", recompute))
