"""Slices of outer arrays in cells: read where they are, and their gradients written where they belong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from lodcore.graph.loops.products_of_rows import Slices
from lodcore.graph.variable import Variable
from lodcore.ops import index_values

__all__ = ["Slice", "add_slices", "apart", "cut", "slices_of"]


class Slice(NamedTuple):
    """A slice of an outer array: its Variable, the Variable of the array, and the index."""

    standing: Any
    whole: Variable
    keys: tuple[slice, ...]


def slices_of(prelude: list[Any], outer: list[Variable], apart: Mapping[Any, Any]) -> tuple[list[Slice], list[Any]]:
    """Return the slices of outer arrays among the operators that run once, and the other operators.

    A slice that another of them reads is one of these.
    """
    found, rest, known = list[Slice](), [], set(outer)
    used = {v for op in prelude for v in op.inputs}
    for op in prelude:
        made, whole, keys = op.outputs[0], op.arguments.get("x"), op.arguments.get("keys")
        plain = op.op is index_values and isinstance(whole, Variable) and whole in known and made not in used
        if plain and isinstance(keys, list) and all(type(key) is slice and key.step in (None, 1) for key in keys):
            found.append(Slice(apart[made], whole, tuple(keys)))
        else:
            rest.append(op)
    return found, rest


def cut(slices: list[Slice], values: dict[Any, Any]) -> None:
    """Add slices to the values of outer objects."""
    for one in slices:
        values[one.standing] = values[one.whole][one.keys]


def apart(slices: list[Slice]) -> list[Slices]:
    """Return the slices, by array, of those arrays of which no entry is in two slices."""
    groups: dict[Variable, list[Slice]] = {}
    for one in slices:
        groups.setdefault(one.whole, []).append(one)
    found = []
    for whole, some in groups.items():
        shape = [length for length in whole.spec.shape if length is not None]
        if len(shape) < len(whole.spec.shape):
            continue
        keys = [one.keys + (slice(None),) * (len(shape) - len(one.keys)) for one in some]
        boxes = [[range(*key.indices(n)) for key, n in zip(several, shape, strict=True)] for several in keys]
        if not any(_overlap(a, b) for a, b in combinations(boxes, 2)):
            covered = sum([math.prod(map(len, box)) for box in boxes])
            found.append(Slices(whole, {one.standing: one.keys for one in some}, covered == math.prod(shape)))
    return found


def _overlap(one: list[range], other: list[range]) -> bool:
    return all(max(a.start, b.start) < min(a.stop, b.stop) for a, b in zip(one, other, strict=True))


def add_slices(d_outer: dict[Any, Any], slices: list[Slice], values: Mapping[Any, Any]) -> None:
    """Replace gradients of slices by gradients of the arrays that they are cut from."""
    found: dict[Any, Any] = {}
    for one in slices:
        d = d_outer.pop(one.standing, None)
        if d is None:
            continue
        if one.whole not in found:
            found[one.whole] = np.zeros(values[one.whole].shape, d.dtype)
        found[one.whole][one.keys] += d
    for whole, d in found.items():
        d_outer[whole] = d_outer[whole] + d if whole in d_outer else d
