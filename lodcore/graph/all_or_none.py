"""Calls that record several operators: after an error, a Block has none of them."""

from __future__ import annotations

from typing import Any

from lodcore.base.dispatch import open_block
from lodcore.graph.block import NamedBlock

__all__ = ["AllOrNone"]


class AllOrNone:
    """A context in which operators are recorded all together or, after an error, not at all.

    By then nobody has seen their results, except a user's function that raised the error.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph.all_or_none import AllOrNone
    >>> with lodcore.Program() as program:
    ...     x = lodcore.data("x", ())
    ...     try:
    ...         with AllOrNone():
    ...             y = lodcore.tanh(x)
    ...             raise ValueError
    ...     except ValueError:
    ...         pass
    >>> print(program)
    program:
        data x: float32 ()
    """

    __slots__ = ("block", "count", "counts", "versions")

    def __init__(self) -> None:
        self.block = open_block()

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, kind: Any, *rest: object) -> None:
        if kind is not None:
            self.undo()

    def begin(self) -> None:
        """Remember how many operators and versions the Block has."""
        if isinstance(self.block, NamedBlock):
            self.count, self.versions = len(self.block.ops), dict(self.block.versions)
            self.counts = dict(self.block.counts)

    def undo(self) -> None:
        """Remove all operators recorded since then."""
        block = self.block
        if not isinstance(block, NamedBlock) or len(block.ops) <= self.count:
            return
        made = [out for op in block.ops[self.count :] for out in op.outputs if out is not None]
        del block.ops[self.count :]
        block.versions = self.versions
        block.counts.clear()
        block.counts.update(self.counts)
        for v in made:
            if v.name in block.names and block.names[v.name] is v:
                del block.names[v.name]
                block.given_names.discard(v.name)
