"""What the first step need not compute: products of states that are zero, and what is multiplied by such states."""

from __future__ import annotations

from collections.abc import Iterable

from lodcore.graph.loops.traced import Value

__all__ = ["SMALL", "read_at_first", "zeroed_by"]

SMALL = 2.0**50  # sums of products of numbers below it are finite, as `kernels.machine` assumes


def zeroed_by(x: Value) -> set[int]:
    """Return the numbers of the states that make a value zero where they are zero, if everything else is finite."""
    seen, todo = set[Value](), [x]
    while todo:
        v = todo.pop()
        if v not in seen:
            seen.add(v)
            todo += v.inputs if v.code in ("mul", "slice") else ()
    return {v.detail for v in seen if v.code == "state"}


def read_at_first(roots: Iterable[Value], zeros: tuple[bool, ...]) -> set[Value]:
    """Return the values that roots need in the first step; those multiplied by a state of zeros are not needed."""
    found, todo = set[Value](), list(roots)
    while todo:
        v = todo.pop()
        if v not in found:
            found.add(v)
            if v.code != "mul" or not any(x.code == "state" and any(zeros) and zeros[x.detail] for x in v.inputs):
                todo += v.inputs
    return found
