"""What a Variable needs of the Block that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Recorder"]


class Recorder(Protocol):
    """The part of a Block that Variables use.

    Attributes
    ----------
    reference : callable
        Returns the Block, None when it is gone.
    closed : bool
        Whether nothing more is recorded.
    keeps_writes : bool
        Whether what is written in it stays when it ends.
    takes_names : bool
        Whether Variables may be declared in it.
    ops : list
        What is recorded.
    """

    reference: Callable[[], Any]
    closed: bool
    keeps_writes: bool
    takes_names: bool
    ops: list[Any]

    @property
    def recording(self) -> bool:
        """Whether gradients would be lost by what leaves it."""

    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append the call of an operator."""

    def add(self, variable: Any, name: str | None, stem: str) -> None:
        """Take a Variable in, under a name that is free."""

    def loop_variable(self, given: Any) -> Any:
        """Return the loop variable that a Variable is under its own name, here or in a loop around; None if none."""

    def known(self, given: Any) -> Any:
        """Return what an argument is in the Block."""

    def left(self, given: Any) -> Exception:
        """Make the error for what is used after the Block was closed."""

    def met(self, given: Any) -> Any:
        """Return what an argument was in the Block before anything was written to it."""
