"""The gradients that a compiled body gives after its steps: products and sums over all rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.graph.gradients.lowered_gradients import LoweredGradients
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.passes import Kept, Packed
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Neighbours, add_up, pair_product

__all__ = ["Slices", "gradients_of_inputs", "gradients_of_outer"]


class Slices(NamedTuple):
    """Slices of an outer array that have no entry in common.

    Attributes
    ----------
    whole : object
        The array.
    keys : dict
        The index of each, by what stands for it.
    covers : bool
        Whether every entry is in one of them.
    """

    whole: Any
    keys: dict[Any, tuple[slice, ...]]
    covers: bool


def gradients_of_inputs(
    given: Kept, back: LoweredGradients, arrays: dict[Any, Array], packed: Packed
) -> list[Array | None]:
    """Return the gradients of the inputs."""
    found: list[Array | None] = [arrays.get(("d_input", j)) for j in range(len(given.inputs))]
    for j, d, matrix in back.apart:
        weight = packed[matrix, True]
        known = found[j]
        if known is None:
            found[j] = weight.times(arrays["d", d], np.empty_like(given.inputs[j]))
        else:
            kernels.matrix.multiply_packed(arrays["d", d], weight.packed, True, known)
    return found


def gradients_of_outer(
    body: Lowered,
    given: Kept,
    back: LoweredGradients,
    arrays: dict[Any, Array],
    neighbours: Neighbours,
    slices: Sequence[Slices],
) -> dict[Any, Array]:
    """Return the gradients of outer objects: products and sums over all rows."""
    rooms = dict[Any, Array]()
    found: dict[Any, Array] = {}
    met = {*[pair.matrix for pair in back.pairs], *back.lines}
    wholes = []
    for one in slices:
        if met.isdisjoint(one.keys):
            continue
        covers = one.covers and met.issuperset(one.keys)
        whole = (np.empty if covers else np.zeros)(given.outer[one.whole].shape, body.dtype)
        wholes.append((one, whole))
        rooms.update({standing: whole[keys] for standing, keys in one.keys.items()})
    for matrix, left, d in back.pairs:
        adding = matrix in found
        if not adding:
            found[matrix] = rooms[matrix] if matrix in rooms else np.empty_like(given.outer[matrix])
        out = found[matrix]
        rows = arrays["d", d]
        if left.code == "state" and left not in given.arrays:
            states = given.arrays[body.following[left.detail]]
            pair_product(states, neighbours.before, rows, neighbours.behind, out, adding)
            if not given.zeros[left.detail] or not kernels.machine.is_below(rows.take(neighbours.firsts, 0), np.inf):
                boot = given.boots[left.detail]
                pair_product(boot, neighbours.sequences, rows, neighbours.firsts, out, True)
        elif left.code == "input":
            pair_product(given.inputs[left.detail], None, rows, None, out, adding)
        else:
            pair_product(given.arrays[left], None, rows, None, out, adding)
    for variable, d in back.lines.items():
        total = np.empty(d.width, body.dtype)
        add_up(arrays["d", d], total)
        made = total.reshape(given.outer[variable].shape)
        found[variable] = found[variable] + made if variable in found else made
    for one, whole in wholes:
        for standing in one.keys:
            d_part = found.pop(standing, None)
            if d_part is not None and d_part is not rooms[standing]:  # a line
                rooms[standing][...] = d_part
        found[one.whole] = found[one.whole] + whole if one.whole in found else whole
    return found
