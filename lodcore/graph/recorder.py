"""The interface of Blocks that Variables use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Recorder"]


class Recorder(Protocol):
    """The part of a Block that Variables use.

    Attributes
    ----------
    reference : callable
        Returns the Block, or None after its deletion.
    closed : bool
        Whether recording has ended.
    keeps_writes : bool
        Whether writes to outer arrays persist when recording ends.
    takes_names : bool
        Whether Variables may be declared in it.
    ops : list
        The recorded operators.
    feeds : list
        The Variables without values, made by `data`.
    declared, casts, given_names : set
        In a Program: the parameters made in it, the `data` that take feeds of other dtypes, and the names that were
        chosen by the user, not made up.
    """

    reference: Callable[[], Any]
    closed: bool
    keeps_writes: bool
    takes_names: bool
    ops: list[Any]
    feeds: list[Any]
    declared: set[Any]
    given_names: set[str]
    casts: set[Any]

    @property
    def recording(self) -> bool:
        """Whether values taken out of the Block would lose their gradients."""

    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append the call of an operator."""

    def add(self, variable: Any, name: str | None, stem: str) -> None:
        """Add a Variable with a free name."""

    def loop_variable(self, given: Any) -> Any:
        """Return the loop variable that a Variable represents here or in an outer loop, or None."""

    def update(self, variable: Any, value: Any) -> None:
        """Record the update of a parameter, or raise GraphError where that is impossible."""

    def known(self, given: Any) -> Any:
        """Return the Variable or constant that represents an argument in the Block."""

    def left(self, given: Any) -> Exception:
        """Return the error for an object that is used after the Block was closed."""

    def met(self, given: Any) -> Any:
        """Return the Variable that represents an argument in the Block before any write to it."""
