"""The fused LSTM on arrays: from inputs to states, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.ops.common import Array
from lodcore.ops.gates import (
    Neighbours,
    Rule,
    Run,
    Weight,
    add_up,
    in_kept_memory,
    input_products,
    pair_product,
    runs_of,
    side_by_side,
    split_rows,
)

__all__ = ["LSTMGradients", "LSTMWeights", "PackedLSTM", "last_cells", "lstm_backward", "lstm_forward"]


class LSTMWeights(NamedTuple):
    """The parameters of an LSTM of D cells and a state of R, D without a projection; all of one dtype.

    Parameters
    ----------
    weight : ndarray, shape (R, 4 * D)
        From the state to candidate, input, forget and output gate.
    weight_x : ndarray, shape (width, 4 * D), or None
        From the inputs; None for inputs that were multiplied already.
    bias : ndarray, shape (4 * D,), or None
    peepholes : ndarray, shape (3 * D,), or None
        Of input, forget and output gate.
    projection : ndarray, shape (D, R), or None
    """

    weight: Array
    weight_x: Array | None = None
    bias: Array | None = None
    peepholes: Array | None = None
    projection: Array | None = None


class LSTMGradients(NamedTuple):
    """Gradients of what `lstm_forward` takes, None where there was nothing."""

    x: Array
    weights: LSTMWeights
    h_0: Array | None
    c_0: Array | None


class Residuals(NamedTuple):
    """What the backward pass needs."""

    x: Array
    offsets: Array
    weights: LSTMWeights
    rule: Rule
    h_0: Array | None
    c_0: Array | None
    hidden: Array
    cell: Array | None
    runs: list[Run]
    kept: list[tuple[Array, Array, Array | None]]  # gates, cells and what is projected of each run, in step order


@in_kept_memory
def lstm_forward(
    x: Array,
    offsets: Array,
    weights: LSTMWeights,
    rule: Rule,
    h_0: Array | None = None,
    c_0: Array | None = None,
    is_reverse: bool = False,
    with_cell: bool = True,
) -> tuple[Array, Array | None, Residuals]:
    """Run an LSTM over all sequences of a batch.

    Parameters
    ----------
    x : ndarray, shape (n_rows, width), or (n_rows, 4 * D) without `weight_x`
        C-contiguous, as all others.
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    weights : LSTMWeights
    rule : Rule
    h_0, c_0 : ndarray, shape (n_seqs, R) and (n_seqs, D), or None for zeros
    is_reverse : bool
    with_cell : bool
        Whether the cells are wanted.

    Returns
    -------
    hidden, cell, residuals
        States of all rows, shape (n_rows, R) and (n_rows, D); cell is None if it is not wanted.
    """
    weight, dtype = weights.weight, weights.weight.dtype
    state_width, width = weight.shape[0], weight.shape[1] // 4
    hidden = np.empty((len(x), state_width), dtype)
    with_cell = with_cell or weights.peepholes is not None
    cell = np.empty((len(x), width), dtype) if with_cell else None
    runs = runs_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    second = Weight(weight)
    third = None if weights.projection is None else Weight(weights.projection)
    kept: list[Any] = [None] * len(runs)

    def one(number: int) -> None:
        run = runs[number]
        rows = run.unpack(x)
        gates = rows if first is None else first.times(rows, np.empty((len(rows), 4 * width), dtype))
        cells = np.empty((len(rows), width), dtype)
        states = (np.empty if width else np.zeros)((len(rows), state_width), dtype)  # no step writes a sum of nothing
        inner = states if third is None else np.empty_like(cells)
        boot, boot_cell = run.states(h_0, state_width, dtype), run.states(c_0, width, dtype)
        _steps(run, weights, rule, second, third, boot, boot_cell, gates, cells, inner, states)
        run.pack(states, hidden)
        if cell is not None:
            run.pack(cells, cell)
        kept[number] = gates, cells, None if third is None else inner

    side_by_side([partial(one, number) for number in range(len(runs))], len(x) * weight.size)
    return hidden, cell, Residuals(x, offsets, weights, rule, h_0, c_0, hidden, cell, runs, kept)


def _or_none(array: Array | None, dtype: np.dtype[Any]) -> Array:
    return np.empty(0, dtype) if array is None else array


def _steps(
    run: Run,
    weights: LSTMWeights,
    rule: Rule,
    second: Weight,
    third: Weight | None,
    boot: Array,
    boot_cell: Array,
    gates: Array,
    cells: Array,
    inner: Array,
    states: Array,
) -> None:
    """Run all steps: in one call, or one after another with products of NumPy."""
    dtype = gates.dtype
    bias, peepholes = _or_none(weights.bias, dtype), _or_none(weights.peepholes, dtype)
    no_product = np.empty(0, dtype)

    def call(first: int, stop: int, weight: Array, projection: Array) -> None:
        kernels.gates.lstm_steps(
            run.steps, first, stop, weight, projection, bias, peepholes, rule.gate, rule.cell, rule.candidate,
            rule.clip, boot, boot_cell, gates, cells, inner, states,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(run.steps) - 1, second.packed, no_product if third is None else third.packed)
        return
    for t, start, stop, before in run.each_step():
        count = stop - start
        if t or len(boot):
            second.add_to(gates[start:stop], states[before : before + count] if t else boot)
        call(t, t + 1, no_product, no_product)
        if third is not None:
            third.times(inner[start:stop], states[start:stop])


class PackedLSTM:
    """An LSTM that takes single steps, on arrays: its weights are packed once.

    Parameters
    ----------
    weights : LSTMWeights
        Not changed as long as this is used.
    rule : Rule
    """

    __slots__ = ("_first", "_lines", "_rule", "_second", "_third")

    def __init__(self, weights: LSTMWeights, rule: Rule) -> None:
        self._first = None if weights.weight_x is None else Weight(weights.weight_x)
        self._second = Weight(weights.weight)
        self._third = None if weights.projection is None else Weight(weights.projection)
        dtype = weights.weight.dtype
        self._lines = _or_none(weights.bias, dtype), _or_none(weights.peepholes, dtype)
        self._rule = rule

    def taken(self, *rows: Any) -> list[Array] | None:
        """Return the input and the states of a step, if they are arrays of rows that fit these weights; None if not."""
        first, second = self._first, self._second
        columns = second.values.shape[1]
        widths = (columns if first is None else first.values.shape[0], second.values.shape[0], columns // 4)
        for x, width in zip(rows, widths, strict=True):
            if type(x) is not np.ndarray or x.dtype != second.values.dtype or x.shape != (len(rows[0]), width):
                return None
            if not len(x):
                return None
        return [np.ascontiguousarray(x) for x in rows]

    def step(self, x: Array, hidden: Array, cell: Array) -> tuple[Array, Array]:
        """Compute one step.

        Parameters
        ----------
        x : ndarray, shape (n, width), or (n, 4 * D) without `weight_x`, which is then written to
            C-contiguous and of the dtype of the weights, as all others.
        hidden, cell : ndarray, shape (n, R) and (n, D)

        Returns
        -------
        hidden, cell : ndarray
        """
        count, rule, third = len(x), self._rule, self._third
        gates = x if self._first is None else self._first.times(x, np.empty((count, 4 * cell.shape[1]), x.dtype))
        cells, states, nothing = np.empty_like(cell), np.empty_like(hidden), np.empty(0, x.dtype)
        inner = states if third is None else np.empty_like(cell)
        fast = kernels.matrix.is_fast()
        if not fast:
            self._second.add_to(gates, hidden)
        kernels.gates.lstm_steps(
            np.array([0, count]), 0, 1, self._second.packed if fast else nothing,
            third.packed if third is not None and fast else nothing, *self._lines, rule.gate, rule.cell,
            rule.candidate, rule.clip, hidden, cell, gates, cells, inner, states,
        )  # fmt: skip
        if third is not None and not fast:
            third.times(inner, states)
        return states, cells


def last_cells(residuals: Residuals) -> Array:
    """Return the cell after each sequence, shape (n_seqs, D): that of its last row, or its boot cell if it is empty."""
    offsets, weight, c_0 = residuals.offsets, residuals.weights.weight, residuals.c_0
    made = np.zeros((len(offsets) - 1, weight.shape[1] // 4), weight.dtype) if c_0 is None else c_0.copy()
    lengths = offsets[1:] - offsets[:-1]
    for run, (_, cells, _) in zip(residuals.runs, residuals.kept, strict=True):
        lasts = run.steps[lengths[run.order] - 1] + np.arange(len(run.order))  # rows of a step: longest first
        made[run.order] = cells[lasts]
    return made


# -- the backward pass -------------------------------------------------------------------------------------------------


@in_kept_memory
def lstm_backward(residuals: Residuals, d_hidden: Array | None, d_cell: Array | None) -> LSTMGradients:
    """Return the gradients of everything that `lstm_forward` has taken.

    Parameters
    ----------
    residuals : Residuals
        Not changed.
    d_hidden, d_cell : ndarray or None
        Cotangents of all rows; None for zeros.

    Returns
    -------
    LSTMGradients
    """
    x, weights, rule, runs = residuals.x, residuals.weights, residuals.rule, residuals.runs
    weight, dtype = weights.weight, weights.weight.dtype
    state_width, width = weight.shape[0], weight.shape[1] // 4
    second = Weight(weight, True)
    third = None if weights.projection is None else Weight(weights.projection, True)
    d_gates = np.empty((len(x), 4 * width), dtype)
    d_states = None if third is None else np.empty((len(x), state_width), dtype)
    inner = None if third is None else np.empty((len(x), width), dtype)
    d_h_0 = None if residuals.h_0 is None else np.zeros_like(residuals.h_0)
    d_c_0 = None if residuals.c_0 is None else np.zeros_like(residuals.c_0)

    def one(number: int) -> None:
        run, (gates, cells, projected) = runs[number], residuals.kept[number]
        rows, n_states = len(cells), len(run.order)
        grown = np.zeros((rows, state_width), dtype) if d_hidden is None else run.unpack(d_hidden)
        d_cells = np.empty((0, width), dtype) if d_cell is None else run.unpack(d_cell)
        carry = np.zeros((n_states, width), dtype)
        d_boot = np.zeros((0 if d_h_0 is None else n_states, state_width), dtype)
        found = np.empty((rows, 4 * width), dtype)
        d_inner = grown if third is None else np.empty_like(cells)
        boot_cell = run.states(residuals.c_0, width, dtype)
        _steps_back(
            run, weights, rule, second, third, boot_cell, gates, cells, d_cells, d_inner, grown, carry, found, d_boot
        )
        run.pack(found, d_gates)
        if d_states is not None and inner is not None and projected is not None:
            run.pack(grown, d_states)
            run.pack(projected, inner)
        if d_h_0 is not None:
            d_h_0[run.order] = d_boot
        if d_c_0 is not None:
            d_c_0[run.order] = carry

    pairs = Neighbours(residuals.offsets, runs[0].backwards)
    side_by_side([*[partial(one, number) for number in range(len(runs))], pairs.find], len(x) * weight.size)
    d_x, found = _weight_gradients(residuals, pairs, d_gates, d_states, inner)
    return LSTMGradients(d_x, found, d_h_0, d_c_0)


def _steps_back(
    run: Run,
    weights: LSTMWeights,
    rule: Rule,
    second: Weight,
    third: Weight | None,
    boot_cell: Array,
    gates: Array,
    cells: Array,
    d_cells: Array,
    d_inner: Array,
    grown: Array,
    carry: Array,
    d_gates: Array,
    d_boot: Array,
) -> None:
    """Run all steps from the last to the first."""
    dtype = gates.dtype
    peepholes, no_product = _or_none(weights.peepholes, dtype), np.empty(0, dtype)

    def call(first: int, stop: int, weight: Array, projection: Array) -> None:
        kernels.gates.lstm_steps_back(
            run.steps, first, stop, weight, projection, peepholes, rule.gate, rule.cell, rule.candidate, rule.clip,
            boot_cell, gates, cells, d_cells, d_inner, grown, carry, d_gates, d_boot,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(run.steps) - 1, second.packed, no_product if third is None else third.packed)
        return
    for t, start, stop, before in run.each_step(back=True):
        if third is not None:
            third.times(grown[start:stop], d_inner[start:stop])
        call(t, t + 1, no_product, no_product)
        if t or len(d_boot):
            second.add_to(grown[before : before + stop - start] if t else d_boot, d_gates[start:stop])


def _weight_gradients(
    residuals: Residuals, pairs: Neighbours, d_gates: Array, d_states: Array | None, inner: Array | None
) -> tuple[Array, LSTMWeights]:
    """Multiply what the steps have left: the gradients of the inputs and of all weights."""
    x, weights, n_rows = residuals.x, residuals.weights, len(residuals.x)
    d_weight, d_x, d_weight_x = np.empty_like(weights.weight), d_gates, None
    d_projection = None
    tasks: list[Callable[[], Any]] = []
    if weights.weight_x is not None:
        d_x, d_weight_x = np.empty_like(x), np.empty_like(weights.weight_x)
        tasks += input_products(x, weights.weight_x, d_gates, d_x, d_weight_x)
    for at in split_rows(d_gates.shape[1], n_rows * len(d_weight)):
        tasks.append(partial(pairs.product, residuals.hidden, residuals.h_0, d_gates[:, at], d_weight[:, at]))
    if d_states is not None and inner is not None and weights.projection is not None:
        d_projection = np.empty_like(weights.projection)
        tasks.append(partial(pair_product, inner, None, d_states, None, d_projection, False))
    d_bias = None if weights.bias is None else np.empty_like(weights.bias)
    if d_bias is not None:
        tasks.append(partial(add_up, d_gates, d_bias))
    side_by_side(tasks, len(x) * weights.weight.size)
    d_peepholes = None if weights.peepholes is None else _peephole_gradient(residuals, pairs, d_gates)
    return d_x, LSTMWeights(d_weight, d_weight_x, d_bias, d_peepholes, d_projection)


def _peephole_gradient(residuals: Residuals, pairs: Neighbours, d_gates: Array) -> Array:
    """Add up cotangents of gates times the cells that they see."""
    cell, width = residuals.cell, d_gates.shape[1] // 4
    assert cell is not None
    old, total = np.zeros_like(cell), np.empty(3 * width, cell.dtype)
    old[pairs.behind] = cell[pairs.before]
    if residuals.c_0 is not None:
        old[pairs.firsts] = residuals.c_0[pairs.sequences]
    for k, seen in enumerate((old, old, cell)):
        add_up(d_gates[:, (k + 1) * width : (k + 2) * width] * seen, total[k * width : (k + 1) * width])
    return total
