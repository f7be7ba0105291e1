"""The statements of programs, as data. Arguments are names, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reference.graph.values import Array, Element


@dataclass(frozen=True)
class Compute:
    """Compute a value that the rest of the step can read."""

    target: str
    function: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Make:
    """Make an array; an array made in a body is new in each step."""

    target: str
    kind: str = "TensorArray"
    size: Any = None
    dynamic: bool = True
    element: Element | None = None


@dataclass(frozen=True)
class Unstack:
    """Make an array from the rows of a tensor, or from the sequences of a batch; `how` names the notation."""

    target: str
    x: str
    how: str = "unstack"


@dataclass(frozen=True)
class Unpack:
    """Convert sequences to steps, with the map for the inverse."""

    target: str
    rank: str
    x: str
    level: int = 0
    sort: bool = True
    how: str = "unpack"


@dataclass(frozen=True)
class Write:
    """Write an element of an array."""

    array: str
    index: Any
    value: Any
    how: str = "write"


@dataclass(frozen=True)
class Read:
    """Read an element of an array, or `default`, if there is one, at negative indices."""

    target: str
    array: str
    index: Any
    default: Any = None
    how: str = "read"


@dataclass(frozen=True)
class Get:
    """Name a slot of an array, which is read when it is used, and written by `Put`."""

    target: str
    array: str
    index: Any
    boot: Any = None


@dataclass(frozen=True)
class Put:
    """Write through a slot."""

    slot: str
    value: Any


@dataclass(frozen=True)
class Ask:
    """Compute a value from an array: its size, sizes, stack, concat or pack."""

    target: str
    question: str
    array: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Declare:
    """Declare a loop variable; None stands for `loop.step()`."""

    target: str
    init: Any = None
    advance: Any = None


@dataclass(frozen=True)
class Update:
    """Set the value of a loop variable in the next step."""

    variable: str
    value: Any


@dataclass(frozen=True)
class WrongUpdate(Update):
    """An update with a value of another dtype, width or number of levels."""


@dataclass(frozen=True)
class Break:
    """End the loop if a condition holds."""

    condition: Any


@dataclass(frozen=True)
class Loop:
    """A loop. With `runs`, it runs this many times after its body is closed, each time from the same values.

    With 0 it runs at a `Run` statement. Each run takes the arrays as they are when it begins.

    The variables in `given` are those of `while_loop(loop_vars=...)`, which keep their own names in the body.
    """

    name: str
    body: tuple[Any, ...]
    runs: int | None = None
    max_steps: int | None = None
    given: tuple[Declare, ...] = ()
    opened_by: str = "loop"


@dataclass(frozen=True)
class Run:
    """Run a loop that was recorded before, here or in an outer body; assign its variables to these targets."""

    loop: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class MapFn:
    """Apply a body to each row, or sequence; `stacked` says which results are rows of an array."""

    targets: tuple[str, ...]
    x: str
    parameter: str
    body: tuple[Any, ...]
    results: tuple[Any, ...]
    elements: tuple[Element, ...]
    stacked: tuple[bool, ...]


@dataclass(frozen=True)
class Side:
    """One branch of a condition: the name of its part of the operand, statements, and results."""

    parameter: str
    body: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(frozen=True)
class Cond:
    """Run one of two sides, as a condition says; or both, each on the part of x that a mask gives it, and merge."""

    targets: tuple[str, ...]
    condition: str
    x: str
    body: tuple[Side, ...]
    level: int = 0
    how: str = "cond"


@dataclass(frozen=True)
class Repeat:
    """Repeat a body a number of times, as a loop of Python over numbers does."""

    counter: str
    times: int
    body: tuple[Any, ...]


#: The statements that have others inside, in `body`.
WITH_BODIES = (Loop, MapFn, Cond, Side, Repeat)


@dataclass(frozen=True)
class Program:
    """Inputs by name, arrays that existed before, statements, and the names of results."""

    inputs: tuple[str, ...]
    outside: tuple[tuple[str, Array], ...]
    body: tuple[Any, ...]
    results: tuple[str, ...]
