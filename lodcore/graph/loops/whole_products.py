"""Products of an input by all slices of an array, which are columns of one product by the array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lodcore.graph.block import Operator
from lodcore.graph.loops.traced import Node, Value, root_of
from lodcore.graph.variable import Variable
from lodcore.ops.index.index_values import index_values

__all__ = ["Cut", "cut_of", "slices_of_wholes"]


class Cut(NamedTuple):
    """Neighbouring columns of an outer matrix.

    Attributes
    ----------
    number : int
        The number of the operator that cuts, among those that run once.
    whole : Variable
        The matrix.
    start, stop : int
    """

    number: int
    whole: Variable
    start: int
    stop: int


def cut_of(op: Operator, number: int) -> Cut | None:
    """Return which columns an operator cuts out of an outer matrix, if it does nothing else."""
    whole, keys = op.arguments.get("x"), op.arguments.get("keys")
    if op.op is not index_values or not isinstance(whole, Variable) or not isinstance(keys, list) or len(keys) != 2:
        return None
    shape = [length for length in whole.spec.shape if length is not None]
    if len(shape) != 2 or not all(type(key) is slice and key.step in (None, 1) for key in keys):
        return None
    (low, high, _), (start, stop, _) = (key.indices(length) for key, length in zip(keys, shape, strict=True))
    return Cut(number, whole, start, stop) if (low, high) == (0, shape[0]) and start < stop else None


def slices_of_wholes(cuts: Mapping[Any, Cut], nodes: Iterable[Node]) -> frozenset[int]:
    """Return the numbers of the slices that make up an array, and all multiply the same columns of the same input.

    Parameters
    ----------
    cuts : dict
        By what stands for the slice.
    nodes : iterable of Node
        Among them the products.
    """
    lefts: dict[Any, list[Value]] = {}
    for node in nodes:
        lefts.setdefault(node.matrix, []).append(node.inputs[0])
    found: set[int] = set()
    for whole in {cut.whole for cut in cuts.values()}:
        some = sorted(
            [(cut.start, cut.stop, standing) for standing, cut in cuts.items() if cut.whole is whole],
            key=lambda one: one[:2],
        )
        starts, stops = [start for start, _, _ in some], [stop for _, stop, _ in some]
        if len(some) < 2 or starts != [0, *stops[:-1]] or stops[-1] != whole.spec.shape[1]:
            continue
        factors = [lefts.get(standing, []) for _, _, standing in some]
        first = factors[0][0] if factors[0] else None
        if first is not None and root_of(first).code == "input" and all(several == [first] for several in factors):
            found.update([cuts[standing].number for _, _, standing in some])
    return frozenset(found)
