"""The body of a loop: a Block with loop variables, updates and breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.arrays import ArrayVariable
from lodcore.graph.block import Block, in_body, text_of
from lodcore.graph.variable import Variable, spec_text
from lodcore.nested import as_array
from lodcore.registry import Spec, spec_of
from lodcore.symbol import open_block
from lodcore.tensor import Tensor
from lodcore.tensor_array import TensorArray

if TYPE_CHECKING:
    from lodcore.graph.while_loop import WhileLoop

__all__ = ["Body", "Break", "LoopArray", "LoopVariable", "Update", "as_tensor"]


class Body(Block):
    """The Block of a loop: operators, updates and breaks in program order."""

    def __init__(self, loop: WhileLoop, parent: Block | None) -> None:
        super().__init__(parent, symbolic=True)
        self.loop = loop


class LoopVariable(Variable):
    """A Variable that carries a value from step to step: what is read is old, what `update` gives is new.

    Made by `WhileLoop.loop_var`. After the loop it stands for the last value.
    """

    __slots__ = ("_final", "advance", "following", "init", "loop")

    def __init__(self, loop: WhileLoop, init: Any, spec: Spec, name: str | None, advance: Any) -> None:
        super().__init__(name, None, spec, loop.body)
        self.loop = loop
        self.init = init
        self.advance = advance
        self.following = Variable(None, None, spec, None)  # the key of its new value in a frame
        self._final: Any = None

    def update(self, value: Any) -> None:
        """Give the value of the next step.

        Parameters
        ----------
        value : Variable or tensor
            Of the same dtype, width and number of levels.

        Raises
        ------
        GraphError
            If it is of another kind, or outside the body of the loop.
        """
        body = self.loop.body
        if open_block() is not body:
            raise GraphError(f"update: {self.name}: is a loop variable of another Block than the one that is open")
        given = value if isinstance(value, (Variable, TensorArray)) else as_tensor("update: value", value)
        spec = given.spec if isinstance(given, Variable) else spec_of(given)
        if object not in (spec.kind, self.spec.kind) and _changes(self.spec, spec):
            raise GraphError(
                f"update: value: is {spec_text(in_body(spec))}; loop variable {self.name} is {spec_text(self.spec)}"
            )
        body.ops.append(Update(self, body.outer(given)))

    def current(self) -> Any:
        """Give what it stands for: itself in the body, its last value after the loop."""
        if not self.loop.body.closed:
            return self
        if self._final is None:
            raise GraphError(f"Variable {self.name}: its loop has not run")
        return self._final

    def get(self) -> Any:
        """Give the last value, after the loop."""
        if self.loop.body.closed:
            found = self.current()
            return found.get() if isinstance(found, Variable) else found
        return super().get()

    @property
    def has_value(self) -> bool:
        """Whether the loop has run, and with values."""
        return self._final is not None and (not isinstance(self._final, Variable) or self._final.has_value)


class LoopArray(LoopVariable, ArrayVariable):
    """A loop variable that is a TensorArray: reads and writes happen in program order."""

    __slots__ = ()


def _changes(old: Spec, new: Spec) -> bool:
    """Tell whether an update changes dtype, width, levels or kind."""
    if len(old.shape) != len(new.shape):
        return True
    widths = zip(old.shape[1:], new.shape[1:], strict=True)
    return (
        old.dtype != new.dtype
        or old.num_levels != new.num_levels
        or old.kind is not new.kind
        or any(None not in pair and pair[0] != pair[1] for pair in widths)
    )


def as_tensor(where: str, value: Any) -> Any:
    """Take a tensor, or make an array of a number or a list."""
    if isinstance(value, (Tensor, TensorArray)) and not isinstance(value, np.matrix):
        return value
    return as_array(where, value)


class Update:
    """What `update` records: the new value of a loop variable."""

    __slots__ = ("outputs", "value", "variable")

    def __init__(self, variable: LoopVariable, value: Any) -> None:
        self.variable, self.value = variable, value
        self.outputs: list[Variable] = []

    @property
    def inputs(self) -> list[Variable]:
        """The Variable that is read."""
        return [self.value] if isinstance(self.value, Variable) else []

    def __repr__(self) -> str:
        return f"{self.variable.name}.update({text_of(self.value)})"


class Break:
    """What `break_if` records: the loop ends here if a condition holds."""

    __slots__ = ("condition", "outputs")

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        self.outputs: list[Variable] = []

    @property
    def inputs(self) -> list[Variable]:
        """The Variable that is read."""
        return [self.condition] if isinstance(self.condition, Variable) else []

    def __repr__(self) -> str:
        return f"break_if({text_of(self.condition)})"
