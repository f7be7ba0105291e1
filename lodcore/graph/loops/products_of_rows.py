"""The gradients that a compiled body gives after its steps: products and sums over all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.graph.gradients.lowered_gradients import LoweredGradients
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.passes import Kept, Packed
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Neighbours, add_up, pair_product, side_by_side, split_rows

__all__ = ["Slices", "gradients_of_inputs", "gradients_of_outer", "room_for_inputs"]


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


def room_for_inputs(given: Kept, back: LoweredGradients, arrays: dict[Any, Array]) -> list[Array | None]:
    """Return the arrays of the gradients of inputs: those that the steps fill, and empty ones."""
    apart = {j for j, _, _ in back.apart}
    return [
        np.empty_like(x) if ("d_input", j) not in arrays and j in apart else arrays.get(("d_input", j))
        for j, x in enumerate(given.inputs)
    ]


def gradients_of_inputs(
    back: LoweredGradients, arrays: dict[Any, Array], packed: Packed, found: list[Array | None], rows: slice
) -> None:
    """Add what no step computes to the gradients of some rows of the inputs."""
    met = {j for j, _ in enumerate(found) if ("d_input", j) in arrays}
    for j, d, matrix in back.apart:
        kernels.matrix.multiply_packed(arrays["d", d][rows], packed[matrix, True].packed, j in met, found[j][rows])  # type: ignore[index]
        met.add(j)


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
    tasks: list[Callable[[], None]] = []
    products = dict[Any, list[Callable[[slice], None]]]()
    for matrix, left, d in back.pairs:
        if matrix not in found:
            found[matrix] = rooms[matrix] if matrix in rooms else np.empty_like(given.outer[matrix])
        some = products.setdefault(matrix, [])
        adding = bool(some)
        out, rows = found[matrix], arrays["d", d]
        if left.code == "state" and left not in given.arrays:
            states = given.arrays[body.following[left.detail]]
            some.append(partial(_product, states, neighbours.before, rows, neighbours.behind, out, adding))
            if not given.zeros[left.detail] or not kernels.machine.is_below(rows[neighbours.firsts], np.inf):
                boot = given.boots[left.detail]
                some.append(partial(_product, boot, neighbours.sequences, rows, neighbours.firsts, out, True))
        else:
            factor = given.inputs[left.detail] if left.code == "input" else given.arrays[left]
            some.append(partial(_product, factor, None, rows, None, out, adding))
    for matrix, some in products.items():
        depth, columns = found[matrix].shape
        tasks += [partial(_in_turn, some, at) for at in split_rows(columns, given.n_rows * depth)]
    lines = {v: (d, np.empty(d.width, body.dtype)) for v, d in back.lines.items()}
    tasks += [partial(add_up, arrays["d", d], total) for d, total in lines.values()]
    side_by_side(tasks, given.n_rows * max([found[matrix].size for matrix in products], default=0))
    for variable, (_, total) in lines.items():
        made = total.reshape(given.outer[variable].shape)
        found[variable] = found[variable] + made if variable in found else made
    for one, whole in wholes:
        for standing in one.keys:
            d_part = found.pop(standing, None)
            if d_part is not None and d_part is not rooms[standing]:  # a line
                rooms[standing][...] = d_part
        found[one.whole] = found[one.whole] + whole if one.whole in found else whole
    return found


def _product(left: Array, left_rows: Any, right: Array, right_rows: Any, out: Array, adding: bool, at: slice) -> None:
    """Sum the outer products of pairs of rows, in some columns."""
    pair_product(left, left_rows, right[:, at], right_rows, out[:, at], adding)


def _in_turn(products: list[Callable[[slice], None]], at: slice) -> None:
    for one in products:
        one(at)
