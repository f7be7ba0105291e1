"""Recurrent networks over a whole batch, on arrays: steps of its sequences, products, and the backward pass.

A batch is cut into runs of whole sequences, which threads take side by side: the rows of a run are multiplied with the
weight of the inputs, and gone through step by step, where they are. Weight gradients are products over all rows in the
order of the batch, of which threads take columns. Where `kernels.matrix` is fast, every cell of a
product is one chain of sums in a fixed order: the results have the same bits however the batch is cut. Elsewhere
products are those of NumPy, of the whole batch in one thread.
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
from lodcore.ops.common import Array

__all__ = [
    "ACTIVATIONS",
    "Neighbours",
    "Rule",
    "Run",
    "Weight",
    "add_up",
    "in_kept_memory",
    "input_products",
    "last_states",
    "last_states_back",
    "pair_product",
    "runs_of",
    "side_by_side",
    "split_rows",
]

#: Activations by their names, as kernels number them.
ACTIVATIONS = {"sigmoid": 0, "tanh": 1, "relu": 2, "identity": 3}

#: Multiplications of work that is worth a thread; sequences that a step should begin with.
WIDE, FEW = 2**21, 16

#: Columns of a product that a thread takes begin where a packed panel does.
PANEL = 32


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def in_kept_memory(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function create its arrays in memory that may have been used before."""

    @functools.wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with Recycled():
            return function(*args, **kwargs)

    return run


class Rule(NamedTuple):
    """What the gates of a network do: numbers of activations, the way a GRU updates, the bound of a cell."""

    gate: int = 0
    cell: int = 1
    candidate: int = 1
    origin_mode: bool = False
    clip: float = np.inf


class Weight:
    """A matrix that is multiplied with rows, often or with few, from the left or as its transpose.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (depth, columns)
    transposed : bool
        Multiply with the transposed matrix.
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
        """Multiply rows with the matrix."""
        if len(self.packed) or not self.values.size:
            kernels.matrix.multiply_packed(rows, self.packed, False, out)
        else:
            _dot(rows, self.values, out)
        return out

    def add_to(self, out: Array, rows: Array) -> None:
        """Add rows times the matrix, by a product of NumPy."""
        out += _dot(rows, self.values)


def _dot(left: Array, right: Array, out: Array | None = None) -> Array:
    """Multiply matrices; by a single number cell by cell, since `dot` lets 0 times nan be 0 there."""
    single = left.size == 1 or right.size == 1
    if out is not None and not out.flags.c_contiguous:
        out[...] = left * right if single else left.dot(right)
        return out
    with named_caller():
        product: Array = np.multiply(left, right, out) if single else left.dot(right, out)
    return product


# -- runs of sequences -------------------------------------------------------------------------------------------------


class Run:
    """Some sequences of a batch, one after another, step by step.

    Attributes
    ----------
    start, stop, low, high : int
        Which sequences, and which rows.
    steps : ndarray of int64, shape (n_steps + 1,)
        How many rows all steps before one have.
    order : ndarray of int64, shape (n_states,)
        The sequences that have rows, in the batch, longest first.
    starts : ndarray of int64, shape (n_states,)
        The row of the batch where each of them begins.
    backwards : bool
        Whether sequences run from their last row to the first.
    """

    __slots__ = ("backwards", "high", "low", "order", "start", "starts", "steps", "stop")

    def __init__(self, offsets: Array, start: int, stop: int, backwards: bool) -> None:
        self.start, self.stop, self.low, self.high = start, stop, int(offsets[start]), int(offsets[stop])
        whole = start == self.low == 0 and stop == len(offsets) - 1
        mine = offsets if whole else _from_zero(offsets[start : stop + 1])
        self.steps = buffers.new_int64(kernels.lod.max_length(mine) + 1)
        kernels.rank.step_offsets(mine, self.steps)
        ranks = buffers.new_int64(stop - start)
        kernels.rank.rank_by_length(mine, self.steps, ranks)
        some = ranks[: self.steps[1]] if len(self.steps) > 1 else ranks[:0]
        self.order = some + start if start else some
        self.starts = offsets[1:].take(self.order) - 1 if backwards else offsets.take(self.order)
        self.backwards = backwards

    @property
    def where(self) -> tuple[Array, Array, int]:
        """The steps, where sequences begin, and how far it is from a row to the next one: what kernels take."""
        return self.steps, self.starts, -1 if self.backwards else 1

    def states(self, boot: Array | None, width: int, dtype: np.dtype[Any]) -> Array:
        """Take the boot states of the run, which are in the order of the batch; zeros for None."""
        return np.zeros((len(self.order), width), dtype) if boot is None else boot.take(self.order, 0)

    def each_step(self, back: bool = False) -> list[tuple[int, int, Array]]:
        """List each step, how many rows it has, and which rows of the batch they are."""
        bounds, stride = self.steps.tolist(), -1 if self.backwards else 1
        counts = [(t, bounds[t + 1] - bounds[t]) for t in range(len(bounds) - 1)]
        found = [(t, count, self.starts[:count] + stride * t) for t, count in counts]
        return found[::-1] if back else found


def _from_zero(offsets: Array) -> Array:
    made: Array = offsets - offsets[0]
    return made


def runs_of(offsets: Array, work: int, backwards: bool) -> list[Run]:
    """Cut a batch into runs of about as many rows: one per thread if the work is worth it.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    work : int
        Multiplications of a row.
    backwards : bool
        Whether sequences run from their last row to the first.
    """
    n_seqs, n_rows = len(offsets) - 1, int(offsets[-1])
    count = 1
    if kernels.matrix.is_fast():
        count = max(1, min(n_seqs // FEW, get_num_threads(), n_rows * work // WIDE))
    if count == 1:
        return [Run(offsets, 0, n_seqs, backwards)]
    cuts = [0, *np.searchsorted(offsets, np.arange(1, count) * n_rows // count).tolist(), n_seqs]
    return [Run(offsets, a, b, backwards) for a, b in pairwise(cuts) if a < b]


def side_by_side(tasks: Sequence[Callable[[], Any]], work: int) -> None:
    """Do some work, with memory that is kept; in as many threads as there may be, if it is worth it.

    Parameters
    ----------
    tasks : list of callable
        The longest should come first.
    work : int
        Multiplications of each, about.
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
    """The rows that have one before them in their sequence, and the first rows.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    backwards : bool
        Sequences run from their last row to the first.

    Attributes
    ----------
    before, behind : ndarray of int64
        Pairs of rows.
    sequences, firsts : ndarray of int64
        The sequences that have rows, and their first rows.
    """

    __slots__ = ("_offsets", "backwards", "before", "behind", "firsts", "sequences")

    def __init__(self, offsets: Array, backwards: bool) -> None:
        self._offsets, self.backwards = offsets, backwards

    def find(self) -> None:
        """Find all of them: work for a thread."""
        offsets, ends = self._offsets, self._offsets[1:]
        self.sequences = (ends > offsets[:-1]).nonzero()[0]
        self.firsts = ends[self.sequences] - 1 if self.backwards else offsets[self.sequences]
        others = np.empty(int(offsets[-1]), np.bool_)
        others.fill(True)
        others[self.firsts] = False
        self.behind = others.nonzero()[0]
        self.before = self.behind + 1 if self.backwards else self.behind - 1

    def product(self, states: Array, boot: Array | None, d_gates: Array, out: Array) -> None:
        """Add up the outer products of the state before each row and the cotangent of its gates."""
        pair_product(states, self.before, d_gates, self.behind, out, False)
        if boot is not None:
            pair_product(boot, self.sequences, d_gates, self.firsts, out, True)


def last_states(runs: Sequence[Run], states: Sequence[Array], boot: Array | None, count: int) -> Array:
    """Return the state after each sequence: that of its last row, or its boot state if it is empty.

    Parameters
    ----------
    runs : list of Run
    states : list of ndarray, shape (n_states, width)
        Behind the last step of each run.
    boot : ndarray, shape (count, width), or None for zeros
    count : int
        Of the sequences.

    Returns
    -------
    ndarray, shape (count, width)
    """
    shape, dtype = (count, states[0].shape[1]), states[0].dtype
    if boot is None:
        made = (np.empty if sum([len(run.order) for run in runs]) == count else np.zeros)(shape, dtype)
    else:
        made = boot.astype(dtype)
    for run, some in zip(runs, states, strict=True):
        made[run.order] = some
    return made


def last_states_back(
    d_last: Array, d_states: Array | None, d_boot: Array | None, n_rows: int, offsets: Array, backwards: bool
) -> tuple[Array, Array]:
    """Add the cotangent of what `last_states` gives to those of all states and of boot states.

    Parameters
    ----------
    d_last : ndarray, shape (n_seqs, width)
    d_states, d_boot : ndarray or None
        Cotangents from elsewhere, which are not changed; None for zeros.
    n_rows : int
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    backwards : bool
        Sequences run from their last row to the first.

    Returns
    -------
    d_states, d_boot : ndarray
        The latter of empty sequences alone, beside what was given: others hand theirs to the network.
    """
    rows = np.zeros((n_rows, d_last.shape[1]), d_last.dtype) if d_states is None else d_states.copy()
    boots = np.zeros_like(d_last) if d_boot is None else d_boot.copy()
    filled, lasts = _last_rows(offsets, backwards)
    rows[lasts] += d_last[filled]
    empty = np.ones(len(d_last), np.bool_)
    empty[filled] = False
    boots[empty] += d_last[empty]
    return rows, boots


def _last_rows(offsets: Array, backwards: bool) -> tuple[Array, Array]:
    """Find the sequences that have rows, and the row that each comes to last."""
    starts, ends = offsets[:-1], offsets[1:]
    filled = (ends > starts).nonzero()[0]
    return filled, starts[filled] if backwards else ends[filled] - 1


def pair_product(left: Array, left_index: Any, right: Array, right_index: Any, out: Array, adding: bool) -> None:
    """Add up, over pairs of rows, the outer products of a row of `left` and one of `right`."""
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
    """Cut rows, or columns in whole panels, for threads; a single piece if it is not worth more."""
    if get_num_threads() == 1 or not kernels.matrix.is_fast():
        return [slice(0, count)]
    pieces = max(1, min(get_num_threads(), count // PANEL, count * work // WIDE))
    cuts = [count * j // pieces // PANEL * PANEL for j in range(pieces)] + [count]
    return [slice(a, b) for a, b in pairwise(cuts)]


def input_products(
    x: Array, weight: Array, d_gates: Array, d_x: Array, d_weight: Array, needs: Sequence[bool] = (True, True)
) -> list[Callable[[], Any]]:
    """List the products that make the gradients of the inputs and of their weight, those that are needed."""
    tasks: list[Callable[[], Any]] = []
    if needs[0]:
        back = Weight(weight, True)
        for rows in split_rows(len(x), weight.size):
            tasks.append(functools.partial(back.times, d_gates[rows], d_x[rows]))
    for at in split_rows(d_gates.shape[1], len(x) * x.shape[1]) if needs[1] else []:
        tasks.append(functools.partial(pair_product, x, None, d_gates[:, at], None, d_weight[:, at], False))
    return tasks


def add_up(rows: Array, out: Array) -> None:
    """Add up all rows, one after another."""
    ends = np.array([0, len(rows)], np.int64)
    kernels.pool.sum_rows(np.ascontiguousarray(rows), ends, 0, out.reshape(1, -1))
