"""The gradients that a compiled body gives after its steps: products and sums over all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.base.threads import get_num_threads
from lodcore.graph.gradients.lowered_gradients import LoweredGradients
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.passes import Kept, Packed
from lodcore.graph.loops.traced import Value
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Neighbours, add_up, pair_product, side_by_side, split_rows

__all__ = ["OuterGradients", "Slices", "gradients_of_inputs", "room_for_inputs"]


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
    found = [arrays.get(("d_input", j)) for j in range(len(given.inputs))]
    for j, _, _ in back.apart:
        if found[j] is None:
            found[j] = np.empty_like(given.inputs[j])
    return found


def gradients_of_inputs(
    back: LoweredGradients, arrays: dict[Any, Array], packed: Packed, found: list[Array | None], rows: slice
) -> None:
    """Add what no step computes to the gradients of some rows of the inputs."""
    met = {j for j, _ in enumerate(found) if ("d_input", j) in arrays}
    for j, d, matrix in back.apart:
        kernels.matrix.multiply_packed(arrays["d", d][rows], packed[matrix, True].packed, j in met, found[j][rows])  # type: ignore[index]
        met.add(j)


class OuterGradients:
    """How the gradients of outer objects are made from those of all rows.

    Parameters
    ----------
    body : Lowered
    back : LoweredGradients
    slices : sequence of Slices
    """

    def __init__(self, body: Lowered, back: LoweredGradients, slices: Sequence[Slices]) -> None:
        self._dtype, self._following, self._parts = body.dtype, body.following, back.parts
        self._sums = _sums_of(back)
        met = {*[pair.matrix for pair in back.pairs], *back.lines}
        some = [one for one in slices if not met.isdisjoint(one.keys)]
        self._slices = [one._replace(covers=one.covers and met.issuperset(one.keys)) for one in some]
        self._products: dict[Any, list[Any]] = {}
        for pair in back.pairs:
            self._products.setdefault(pair.matrix, []).append(pair)

    def run(self, given: Kept, arrays: dict[Any, Array], neighbours: Neighbours) -> dict[Any, Array]:
        """Return the gradients: products and sums over all rows."""
        rooms: dict[Any, Array] = {}  # of slices, in the gradients of their arrays
        found: dict[Any, Array] = {}
        tasks: list[Callable[[], None]] = []
        wholes, largest, split = [], 0, get_num_threads() > 1
        for one in self._slices:
            whole = (np.empty if one.covers else np.zeros)(given.outer[one.whole].shape, self._dtype)
            wholes.append(whole)
            for standing, keys in one.keys.items():
                rooms[standing] = whole[keys]
        for matrix, pairs in self._products.items():
            found[matrix] = out = rooms[matrix] if matrix in rooms else np.empty_like(given.outer[matrix])
            some = self._products_of(given, pairs, arrays, neighbours)
            if split:
                depth, columns = out.shape
                largest = max(largest, out.size)
                tasks += [partial(_add_products, some, out, at) for at in split_rows(columns, given.n_rows * depth)]
            else:
                _add_products(some, out)
        totals = []
        for d, _ in self._sums:
            total = np.empty(d.width, self._dtype)
            totals.append(total)
            if split:
                tasks.append(partial(add_up, arrays["d", d], total))
            else:
                add_up(arrays["d", d], total)
        if split:
            side_by_side(tasks, given.n_rows * largest)
        for (_, lines), total in zip(self._sums, totals, strict=True):
            for variable, column, width in lines:
                part = total if width == len(total) else total[column : column + width]
                made = part.reshape(given.outer[variable].shape)
                if variable not in rooms:
                    found[variable] = found[variable] + made if variable in found else made
                elif variable in found:
                    rooms[variable] += made
                else:
                    rooms[variable][...] = made
        for one, whole in zip(self._slices, wholes, strict=True):
            for standing in one.keys:
                found.pop(standing, None)
            found[one.whole] = found[one.whole] + whole if one.whole in found else whole
        return found

    def _products_of(
        self, given: Kept, pairs: list[Any], arrays: dict[Any, Array], neighbours: Neighbours
    ) -> list[tuple[Array, Any, Array, Any]]:
        """Return pairs of rows, the sum of whose outer products is the gradient of a matrix."""
        found: list[tuple[Array, Any, Array, Any]] = []
        for _, left, d in pairs:
            rows = arrays["d", d]
            if left.code != "state" or left in given.arrays:
                factor = given.inputs[left.detail] if left.code == "input" else given.arrays[left]
                found.append((factor, None, rows, None))
                continue
            states = given.arrays[self._following[left.detail]]
            found.append((states, neighbours.before, rows, neighbours.behind))
            if not given.zeros[left.detail] or not self._finite_at_first(d, arrays, neighbours):
                boot = given.boots[left.detail]
                found.append((boot, neighbours.sequences, rows, neighbours.firsts))
        return found

    def _finite_at_first(self, d: Value, arrays: dict[Any, Array], neighbours: Neighbours) -> bool:
        """Return whether all numbers of the first rows of sequences are finite."""
        whole, column = self._parts.get(d, (d, 0))
        firsts = arrays["d", whole].take(neighbours.firsts, 0)  # of contiguous rows
        return bool(kernels.machine.is_below(firsts[:, column : column + d.width], np.inf))


def _sums_of(back: LoweredGradients) -> list[tuple[Value, list[tuple[Any, int, int]]]]:
    """Return the rows whose sums are needed: for each outer object the first column, and their number."""
    met: dict[Value, list[tuple[Any, int, int]]] = {}
    for variable, d in back.lines.items():
        whole, column = back.parts.get(d, (d, 0))
        met.setdefault(whole, []).append((variable, column, d.width))
    found = []
    for whole, lines in met.items():
        if 2 * sum([width for _, _, width in lines]) >= whole.width:  # one sum of all columns, which are not copied
            found.append((whole, lines))
        else:
            found += [(back.lines[variable], [(variable, 0, width)]) for variable, _, width in lines]
    return found


def _add_products(products: list[tuple[Array, Any, Array, Any]], out: Array, at: slice | None = None) -> None:
    """Sum the outer products of pairs of rows, in some columns or all."""
    for j, (left, left_rows, right, right_rows) in enumerate(products):
        if at is None:
            pair_product(left, left_rows, right, right_rows, out, j > 0)
        else:
            pair_product(left, left_rows, right[:, at], right_rows, out[:, at], j > 0)
