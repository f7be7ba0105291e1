"""The body of a loop: a Block with loop variables, updates and breaks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, open_block
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import as_integer
from lodcore.errors import GraphError
from lodcore.graph.block import Block, NamedBlock, text_of
from lodcore.graph.engine import BreakIf, Call, Layout
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.recorder import Recorder
from lodcore.graph.variable import Variable, as_value, resolved, spec_text
from lodcore.operators.operands import kept_in
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = [
    "Body",
    "Break",
    "Counter",
    "LoopVariable",
    "Update",
    "changes",
    "is_one_integer",
    "operand",
    "size_of",
    "spec_in_body",
]

#: Kinds of uninformative Specs: of unknown values, and of numbers that may represent an element.
WHEN_IT_RUNS = frozenset([object, int, float, complex])


def operand(where: str, block: Block | None, given: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Return the object that a value, such as a NumPy scalar, represents in a Block, or the value as a tensor.

    A Python number has no dtype of its own; it gets the given one, if that can hold it.
    """
    if isinstance(given, Symbol):
        given = given.current()
    elif type(given) is list:
        given = resolved(given)
    if isinstance(given, (Variable, TensorArray)):
        return given
    if dtype is not None and type(given) in (bool, int, float):
        return kept_in(where, given, dtype) if can_hold(dtype, given) else as_value(where, given)
    if isinstance(given, np.generic) and block is not None:
        given = block.known(given)
    return given if isinstance(given, Variable) else as_value(where, given)


def can_hold(dtype: np.dtype[Any], number: float) -> bool:
    """Return whether a dtype is of a kind that can hold a number."""
    return np.can_cast(np.min_scalar_type(number), dtype, "same_kind")


class Body(NamedBlock):
    """The Block of a loop: operators, updates and breaks in program order; nothing in it has a value.

    Parameters
    ----------
    parent : Block or None
        The Block that is open around it.
    keeps_shapes : bool
        Whether the lengths of axis 0 of outer tensors are known inside, too.

    Attributes
    ----------
    repetition : str
        What errors call one run of the body, before its number.
    """

    repeats = True
    repetition = "while_loop: step"

    def __init__(self, parent: Block | None, keeps_shapes: bool = False) -> None:
        super().__init__(parent)
        self.parent = parent
        self.keeps_shapes = keeps_shapes

    def loop_variable(self, given: Any) -> LoopVariable | None:
        """Return the loop variable that a Variable is under its own name, here or in an enclosing loop, or None."""
        known = self.captures.get(id(given))
        if known is not None and isinstance(known[1], LoopVariable):
            return known[1]
        return None if self.parent is None else self.parent.loop_variable(given)

    def stands_for(self, given: Any) -> bool:
        """Return whether a Variable represents a number that was given to a loop."""
        if isinstance(given, np.generic):
            return id(given) in self.captures or (self.parent is not None and self.parent.stands_for(given))
        return isinstance(given, (TensorArray, Tensor))

    def may_capture(self, block: Recorder) -> bool:
        """Return whether Variables of another Block may be used here; those of other bodies may not."""
        around: Block | None = self
        while isinstance(around, Body) and around is not block:
            around = around.parent
        return around is block or (around is None and not isinstance(block, Body))

    def shares(self, given: Any) -> bool:
        """Return whether something of another Program may be used in the Program around the loop."""
        return self.parent is not None and self.parent.shares(given)

    def adopt(self, given: Variable) -> str:
        """Make a Variable without a Block belong to the Program around the loop, if any; return its name there."""
        return str(given.name) if self.parent is None else self.parent.adopt(given)

    def name_of(self, variable: Variable) -> str:
        """Return the name of a Variable here, or in the Program around."""
        return super().name_of(variable) if self.parent is None else self.parent.name_of(variable)

    def capture(self, given: Any) -> Variable:
        """Return the Variable that represents an outer object here."""
        named: str | None
        if isinstance(given, Variable):
            named, spec = self.adopt(given), given.spec
        else:
            named, spec = getattr(given, "wanted_name", None), self._spec_around(given)
        captured = new_variable(None, None, spec if self.keeps_shapes else spec_in_body(spec), self)
        self.add(captured, named, "array" if spec.kind is TensorArray else "outer")
        return captured

    def _spec_around(self, given: Any) -> Spec:
        """Return the Spec of an outer object, for an array with the writes of the outer Blocks."""
        around = self.parent
        while around is not None:
            if id(given) in around.captures or getattr(given, "block", None) is around:
                spec: Spec = around.known(given).spec
                return spec
            around = around.parent if isinstance(around, Body) else None
        if isinstance(given, TensorArray) and given.block is not None:  # held by the Tape of a vjp
            return given.block.known(given).spec  # type: ignore[no-any-return]
        return spec_of(given)

    def write_back(self, given: Any, version: Variable) -> Variable:
        """Make an array represent its next version from now on; an outer array also in the next step."""
        base = super().write_back(given, version)
        if any(base is local for _, local in self.captures.values()):
            self.ops.append(Update(base, version, written=True))
        return base


class Counter:
    """The advance of a loop variable, which must be an integer of one element.

    Parameters
    ----------
    advance : bool or int, optional
        The declared advance; None for 1 if the body never updates the variable.
    is_one : bool or None
        Whether the first value is an integer of one element; None if that is unknown before the loop runs.

    Attributes
    ----------
    number : int
        The number that is added.
    """

    __slots__ = ("advance", "is_one", "number")

    def __init__(self, advance: bool | int | None, is_one: bool | None) -> None:
        number = 0 if advance is None else as_integer(advance or 0, bools=True)
        if number is None or (is_one is False and advance is not None and advance is not False):
            raise self._refused(advance)
        self.advance, self.is_one, self.number = advance, is_one, number

    @staticmethod
    def _refused(advance: Any) -> GraphError:
        return GraphError(f"loop_var: advance: is {advance!r}; only an integer of one element advances, by an integer")

    def by(self, spec: Spec) -> Any:
        """Return the number to add to a first value with a Spec, in its dtype; None if it does not advance."""
        if not is_one_integer(spec):
            if self.advance is not None and self.number:
                raise self._refused(self.advance)
            return None
        if self.number and not 0 < self.number < 128:  # fits in every integer dtype
            limits = np.iinfo(spec.dtype)
            if not limits.min <= self.number <= limits.max:
                raise GraphError(f"loop_var: advance: is {self.number}; {spec.dtype} cannot hold it")
        return spec.dtype.type(self.number) if self.number else None

    def __str__(self) -> str:
        if not self.number:
            return ""
        return f"{self.number:+d}{'' if self.is_one or self.advance is not None else ' if it is one integer'}"


def is_one_integer(spec: Spec) -> bool | None:
    """Return whether a value is an integer of one element, or None if the Spec does not determine it."""
    if spec.kind is object:
        return None
    if spec.dtype.kind not in "iu" or spec.num_levels or spec.kind is TensorArray:
        return False
    if None in spec.shape:
        return None if all([size in (None, 1) for size in spec.shape]) else False
    return math.prod(spec.shape) == 1  # type: ignore[arg-type]  # no size is None here


class LoopVariable(Variable):
    """A Variable that carries a value from step to step: reads return the old value, `update` sets the new one.

    Made by `WhileLoop.loop_var`. After the loop it represents the last value.

    Attributes
    ----------
    ended : bool
        Whether its loop has been recorded.
    final : tensor, Variable or None
        What it represents after the loop; None until the loop has run.
    """

    __module__ = "lodcore.graph"

    __slots__ = ("counter", "ended", "final", "init")

    def __init__(self, body: Body, init: Any, spec: Spec, counter: Counter) -> None:
        self.begin("variable", None, spec_in_body(spec), body)
        self.init = init
        self.counter = counter
        self.ended = False
        self.final: Any = None

    def update(self, value: Any) -> None:
        """Set the value of the next step.

        Parameters
        ----------
        value : Variable or tensor
            Must have the same dtype, width and number of levels.

        Raises
        ------
        GraphError
            If the value is of another kind, or the call is outside the body of the loop.
        """
        body = None if self.ended else open_block()
        if self.block is not body or not isinstance(body, Body):
            raise GraphError(f"update: {self.name}: is a loop variable of a Block that is not the open one")
        given = operand("update: value", body, value, self.spec.dtype)
        spec = given.spec if isinstance(given, Variable) else spec_of(given)
        if changes(self.spec, spec):
            raise GraphError(
                f"update: value: is {spec_text(spec_in_body(spec))}; loop variable {self.name} is "
                f"{spec_text(self.spec)}, which may not change from step to step"
            )
        body.ops.append(Update(self, body.known(given)))

    def recorder(self) -> Any:
        """Return the Block that records calls on this variable; after the loop, that of the last value."""
        return Symbol.recorder(self) if self.ended else super().recorder()

    def current(self) -> Any:
        """Return the represented object: itself in the body, its last value after the loop."""
        if not self.ended:
            return self
        if self.final is None:
            raise GraphError(f"Variable {self.name}: its loop has not run")
        return self.final

    def get(self) -> Any:
        """Return the last value, after the loop."""
        if self.ended:
            found = self.current()
            return found.get() if isinstance(found, Variable) else found
        return super().get()

    def settable(self, value: Any) -> Any:
        """Raise an error, since values of a loop variable come from its loop."""
        raise GraphError(f"Variable {self.name}: is a loop variable; update sets the value of the next step")

    @property
    def has_value(self) -> bool:
        """Whether the loop has run, with values."""
        return self.final is not None and (not isinstance(self.final, Variable) or self.final.has_value)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape; after the loop, that of the last value."""
        return self.get().shape if self.has_value else super().shape


def spec_in_body(spec: Spec) -> Spec:
    """Return a Spec without the number of rows, which may differ from step to step in the body of a loop."""
    if not spec.shape or spec.shape[0] is None:
        return spec
    return Spec((None, *spec.shape[1:]), *spec[1:])


def size_of(spec: Spec) -> int | None:
    """Return the number of elements of a tensor, or None if it is unknown."""
    if spec.num_levels or spec.kind in (object, TensorArray) or None in spec.shape:
        return None
    return math.prod(spec.shape)  # type: ignore[arg-type]  # no size is None here


def changes(old: Spec, new: Spec) -> bool:
    """Return whether an update changes dtype, width, levels or kind; unknown ones are checked when it runs.

    The byte order may change: results of operators have that of the machine.
    """
    if old == new or not WHEN_IT_RUNS.isdisjoint((old.kind, new.kind)):
        return False
    if len(old.shape) != len(new.shape):
        return True
    widths = zip(old.shape[1:], new.shape[1:], strict=True)
    return (
        native_dtype(old.dtype) != native_dtype(new.dtype)
        or old.num_levels != new.num_levels
        or old.kind is not new.kind
        or any(None not in pair and pair[0] != pair[1] for pair in widths)
    )


class Update:
    """The instruction that `update` records, also after a write: it sets the value of the next step.

    Parameters
    ----------
    variable : Variable
    value : Variable or tensor
    written : bool
        Whether the value is the next version of an array.
    """

    __slots__ = ("inputs", "outputs", "value", "variable", "written")

    name = "update"

    def __init__(self, variable: Variable, value: Any, written: bool = False) -> None:
        self.variable, self.value, self.written = variable, value, written
        self.inputs = [value] if isinstance(value, Variable) else []
        self.outputs: list[Variable] = []

    def call(self, layout: Layout, keep: bool) -> Call | None:
        """Return the Call that checks the value on a frame if it was unknown during recording."""
        if self.written or WHEN_IT_RUNS.isdisjoint((self.variable.spec.kind, self.value.spec.kind)):
            return None
        slots = layout.slots([self.variable, self.value])
        return Call(self, self._check, None, ("old", "new"), slots, (), False, {}, False)

    def _check(self, old: Any, new: Any) -> tuple[()]:
        before, after = spec_of(old), spec_of(new)
        if changes(before, after):
            raise GraphError(f"value: is {spec_text(after)}; loop variable {self.variable.name} is {spec_text(before)}")
        return ()

    def __repr__(self) -> str:
        return f"{self.variable.name}.update({text_of(self.value)})"


class Break:
    """The instruction that `break_if` records: the loop ends here if a condition holds."""

    __slots__ = ("condition", "inputs", "outputs")

    name = "break_if"

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        self.inputs = [condition] if isinstance(condition, Variable) else []
        self.outputs: list[Variable] = []

    def call(self, layout: Layout, keep: bool) -> BreakIf:
        """Return the instruction that ends the run of a frame."""
        return BreakIf(layout.slot(self.condition))

    def __repr__(self) -> str:
        return f"break_if({text_of(self.condition)})"
