"""Recurrent networks over a whole batch, on arrays: the steps of its sequences, matrix products, and the backward pass.

A batch is split into bundles of whole sequences, which threads process in parallel: the rows of a bundle are multiplied
by the weight of the inputs, and then processed step by step, in place. Weight gradients are products over all rows in
the order of the batch; each thread computes some columns. Where `kernels.matrix` is fast, every entry of a product is
one chain of sums in a fixed order: the results have the same bits however the batch is split. Elsewhere, NumPy computes
the products of the whole batch in one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.caller import named_caller
from lodcore.base.recycling import Recycled
from lodcore.base.threads import get_num_threads, in_parts
from lodcore.operators.operands import Array

__all__ = [
    "ACTIVATIONS",
    "EVERYTHING",
    "Bundle",
    "GateRule",
    "GradientNeeds",
    "Neighbours",
    "Weight",
    "add_up",
    "bundles_of",
    "in_kept_memory",
    "input_products",
    "last_rows",
    "last_states",
    "last_states_back",
    "pair_product",
    "side_by_side",
    "split_rows",
]

#: The numbers of activations in kernels, by name.
ACTIVATIONS = {"sigmoid": 0, "tanh": 1, "relu": 2, "identity": 3}

#: The number of multiplications that is worth a thread; the number of sequences that the first step should have.
WIDE, FEW = 2**21, 16

#: The columns that a thread computes begin at a multiple of this, where a packed panel begins.
PANEL = 32


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def in_kept_memory(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorate a function so that its arrays are created in recycled memory."""

    @functools.wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with Recycled():
            return function(*args, **kwargs)

    return run


class GateRule(NamedTuple):
    """The rule of the gates: numbers of activations, the update variant of a GRU, and the bound of a cell."""

    gate: int = 0
    cell: int = 1
    candidate: int = 1
    origin_mode: bool = False
    clip: float = np.inf


class GradientNeeds(NamedTuple):
    """Of which operands gradients are asked for."""

    x: bool = True
    weight_x: bool = True
    weight: bool = True
    bias: bool = True
    projection: bool = True


EVERYTHING = GradientNeeds()


class Weight:
    """A matrix by which rows are multiplied repeatedly, as it is or transposed; packed if the kernel is fast here.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (depth, columns)
    transposed : bool
        Whether rows are multiplied by the transposed matrix.
    """

    __slots__ = ("packed", "values")

    def __init__(self, values: Array, transposed: bool = False) -> None:
        self.values = values.T if transposed else values
        depth, columns = self.values.shape
        panel = 128 // values.itemsize
        fast = kernels.matrix.is_fast()
        self.packed = np.empty(-(-columns // panel) * panel * depth if fast else 0, values.dtype)
        if fast:
            kernels.matrix.pack_columns(values, transposed, self.packed)

    def times(self, rows: Array, out: Array) -> Array:
        """Multiply rows by the matrix."""
        if len(self.packed) or not self.values.size:
            kernels.matrix.multiply_packed(rows, self.packed, False, out)
        else:
            _dot(rows, self.values, out)
        return out

    def add_to(self, out: Array, rows: Array) -> None:
        """Add rows times the matrix, computed by NumPy."""
        out += _dot(rows, self.values)


def _dot(left: Array, right: Array, out: Array | None = None) -> Array:
    """Multiply matrices; multiply by a single number entry by entry, since `dot` returns 0 for 0 times nan there."""
    single = left.size == 1 or right.size == 1
    if out is not None and not out.flags.c_contiguous:
        out[...] = left * right if single else left.dot(right)
        return out
    with named_caller():
        product: Array = np.multiply(left, right, out) if single else left.dot(right, out)
    return product


# -- bundles of sequences ----------------------------------------------------------------------------------------------


class Bundle:
    """Some consecutive sequences of a batch, which are processed step by step.

    Attributes
    ----------
    start, stop, low, high : int
        The ranges of sequences and rows.
    steps : ndarray of int64, shape (n_steps + 1,)
        The number of rows of all earlier steps.
    order : ndarray of int64, shape (n_states,)
        The numbers, in the batch, of the sequences that have rows; longest first.
    starts : ndarray of int64, shape (n_states,)
        The first row of each of them in the batch.
    backwards : bool
        Whether sequences are processed from the last row to the first.
    """

    __slots__ = ("backwards", "high", "low", "order", "start", "starts", "steps", "stop")

    def __init__(self, offsets: Array, start: int, stop: int, backwards: bool) -> None:
        self.start, self.stop, self.low, self.high = start, stop, int(offsets[start]), int(offsets[stop])
        whole = start == self.low == 0 and stop == len(offsets) - 1
        mine = offsets if whole else _from_zero(offsets[start : stop + 1])
        self.steps = buffers.new_int64(kernels.lod.max_length(mine) + 1)
        kernels.rank_table.step_offsets(mine, self.steps)
        ranks = buffers.new_int64(stop - start)
        kernels.rank_table.rank_by_length(mine, self.steps, ranks)
        some = ranks[: self.steps[1]] if len(self.steps) > 1 else ranks[:0]
        self.order = some + start if start else some
        self.starts = offsets[1:].take(self.order) - 1 if backwards else offsets.take(self.order)
        self.backwards = backwards

    @property
    def where(self) -> tuple[Array, Array, int]:
        """The arguments of kernels: the steps, the first rows, and the distance from one row to the next."""
        return self.steps, self.starts, -1 if self.backwards else 1

    def states(self, boot: Array | None, width: int, dtype: np.dtype[Any]) -> Array:
        """Return the boot states of the bundle, given in the order of the batch; zeros for None."""
        return np.zeros((len(self.order), width), dtype) if boot is None else boot.take(self.order, 0)

    def each_step(self, back: bool = False) -> list[tuple[int, int, Array]]:
        """Return the number, the number of rows, and the rows in the batch of each step."""
        bounds, stride = self.steps.tolist(), -1 if self.backwards else 1
        counts = [(t, bounds[t + 1] - bounds[t]) for t in range(len(bounds) - 1)]
        found = [(t, count, self.starts[:count] + stride * t) for t, count in counts]
        return found[::-1] if back else found


def _from_zero(offsets: Array) -> Array:
    made: Array = offsets - offsets[0]
    return made


def bundles_of(offsets: Array, work: int, backwards: bool) -> list[Bundle]:
    """Split a batch into bundles of about equally many rows: one per thread if the work is worth it.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    work : int
        The number of multiplications per row.
    backwards : bool
        Whether sequences are processed from the last row to the first.
    """
    n_seqs, n_rows = len(offsets) - 1, int(offsets[-1])
    count = 1
    if kernels.matrix.is_fast():
        count = max(1, min(n_seqs // FEW, get_num_threads(), n_rows * work // WIDE))
    if count == 1:
        return [Bundle(offsets, 0, n_seqs, backwards)]
    cuts = [0, *np.searchsorted(offsets, np.arange(1, count) * n_rows // count).tolist(), n_seqs]
    return [Bundle(offsets, a, b, backwards) for a, b in pairwise(cuts) if a < b]


def side_by_side(tasks: Sequence[Callable[[], Any]], work: int) -> None:
    """Run tasks with recycled memory, in all allowed threads if the work is worth it.

    Parameters
    ----------
    tasks : list of callable
        The longest should come first.
    work : int
        The approximate number of multiplications of each task.
    """
    if work < 2 * WIDE or get_num_threads() == 1 or len(tasks) == 1:
        with Recycled():
            for task in tasks:
                task()
        return

    def one(number: int, _: int) -> None:
        with Recycled():
            tasks[number]()

    in_parts(one, [(number, number + 1) for number in range(len(tasks))])


# -- products over all rows --------------------------------------------------------------------------------------------


class Neighbours:
    """The rows that have a predecessor in their sequence, and the first rows.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    backwards : bool
        Whether sequences are processed from the last row to the first.

    Attributes
    ----------
    before, behind : ndarray of int64
        Pairs of consecutive rows.
    sequences, firsts : ndarray of int64
        The sequences that have rows, and their first rows.
    """

    __slots__ = ("_offsets", "backwards", "before", "behind", "firsts", "sequences")

    def __init__(self, offsets: Array, backwards: bool) -> None:
        self._offsets, self.backwards = offsets, backwards

    def find(self) -> None:
        """Compute the attributes; a task for a thread."""
        offsets, ends = self._offsets, self._offsets[1:]
        self.sequences = (ends > offsets[:-1]).nonzero()[0]
        self.firsts = ends[self.sequences] - 1 if self.backwards else offsets[self.sequences]
        others = np.empty(int(offsets[-1]), np.bool_)
        others.fill(True)
        others[self.firsts] = False
        self.behind = others.nonzero()[0]
        self.before = self.behind + 1 if self.backwards else self.behind - 1

    def product(self, states: Array, boot: Array | None, d_gates: Array, out: Array) -> None:
        """Sum the outer products of the state before each row and the cotangent of its gates."""
        pair_product(states, self.before, d_gates, self.behind, out, False)
        if boot is not None:
            pair_product(boot, self.sequences, d_gates, self.firsts, out, True)


def last_states(bundles: Sequence[Bundle], states: Sequence[Array], boot: Array | None, count: int) -> Array:
    """Return the state after each sequence: that of its last row, or its boot state if it is empty.

    Parameters
    ----------
    bundles : list of Bundle
    states : list of ndarray, shape (n_states, width)
        The states after the last step of each bundle.
    boot : ndarray, shape (count, width), or None for zeros
    count : int
        The number of sequences.

    Returns
    -------
    ndarray, shape (count, width)
    """
    shape, dtype = (count, states[0].shape[1]), states[0].dtype
    if boot is None:
        made = (np.empty if sum([len(bundle.order) for bundle in bundles]) == count else np.zeros)(shape, dtype)
    else:
        made = boot.astype(dtype)
    for bundle, some in zip(bundles, states, strict=True):
        made[bundle.order] = some
    return made


def last_states_back(
    d_last: Array, d_states: Array | None, d_boot: Array | None, n_rows: int, offsets: Array, backwards: bool
) -> tuple[Array, Array]:
    """Add the cotangents of the results of `last_states` to those of all states and of boot states.

    Parameters
    ----------
    d_last : ndarray, shape (n_seqs, width)
    d_states, d_boot : ndarray or None
        Cotangents from other uses, which are not changed; None for zeros.
    n_rows : int
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    backwards : bool
        Whether sequences are processed from the last row to the first.

    Returns
    -------
    d_states, d_boot : ndarray
        To `d_boot`, only those of empty sequences are added; all others pass through the network.
    """
    rows = np.zeros((n_rows, d_last.shape[1]), d_last.dtype) if d_states is None else d_states.copy()
    boots = np.zeros_like(d_last) if d_boot is None else d_boot.copy()
    filled, lasts = last_rows(offsets, backwards)
    rows[lasts] += d_last[filled]
    empty = np.ones(len(d_last), np.bool_)
    empty[filled] = False
    boots[empty] += d_last[empty]
    return rows, boots


def last_rows(offsets: Array, backwards: bool) -> tuple[Array, Array]:
    """Return the sequences that have rows, and the row of each that is processed last."""
    starts, ends = offsets[:-1], offsets[1:]
    filled = (ends > starts).nonzero()[0]
    return filled, starts[filled] if backwards else ends[filled] - 1


def pair_product(left: Array, left_index: Any, right: Array, right_index: Any, out: Array, adding: bool) -> None:
    """Sum the outer products of pairs of a row of `left` and one of `right`."""
    if kernels.matrix.is_fast():
        kernels.matrix.multiply_pairs(left, left_index, right, right_index, adding, out)
        return
    some = left if left_index is None else left[left_index]
    others = right if right_index is None else right[right_index]
    if adding:
        out += _dot(some.T, others)
    else:
        _dot(some.T, others, out)


def split_rows(count: int, work: int) -> list[slice]:
    """Split rows, or columns in whole panels, for threads; return a single piece if more are not worth it."""
    threads = get_num_threads()
    if threads == 1 or not kernels.matrix.is_fast():
        return [slice(0, count)]
    pieces = max(1, min(threads, count // PANEL, count * work // WIDE))
    cuts = [count * j // pieces // PANEL * PANEL for j in range(pieces)] + [count]
    return [slice(a, b) for a, b in pairwise(cuts)]


def input_products(
    x: Array, weight: Array, d_gates: Array, d_x: Array, d_weight: Array, needs: Sequence[bool] = (True, True)
) -> list[Callable[[], Any]]:
    """Return the tasks that compute the needed gradients of the inputs and of their weight."""
    tasks: list[Callable[[], Any]] = []
    if needs[0]:
        back = Weight(weight, True)
        for rows in split_rows(len(x), weight.size):
            tasks.append(functools.partial(back.times, d_gates[rows], d_x[rows]))
    for at in split_rows(d_gates.shape[1], len(x) * x.shape[1]) if needs[1] else []:
        tasks.append(functools.partial(pair_product, x, None, d_gates[:, at], None, d_weight[:, at], False))
    return tasks


def add_up(rows: Array, out: Array) -> None:
    """Sum all rows, in their order."""
    ends = np.array([0, len(rows)], np.int64)
    kernels.pool.sum_rows(np.ascontiguousarray(rows), ends, 0, out.reshape(1, -1))
