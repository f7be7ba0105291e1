"""The forward and backward passes of the fused LSTM, on arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import (
    EVERYTHING,
    Bundle,
    GateRule,
    GradientNeeds,
    Neighbours,
    Weight,
    add_up,
    bundles_of,
    in_kept_memory,
    input_products,
    pair_product,
    side_by_side,
    split_rows,
)

__all__ = ["LSTMGradients", "LSTMWeights", "PackedLSTM", "lstm_backward", "lstm_forward"]


class LSTMWeights(NamedTuple):
    """The parameters of an LSTM with D cells and a state of width R (D without a projection), all with one dtype.

    Parameters
    ----------
    weight : ndarray, shape (R, 4 * D)
        The weight from the state to candidate, input, forget and output gate.
    weight_x : ndarray, shape (width, 4 * D), or None
        The weight of the inputs; None if the inputs have been multiplied already.
    bias : ndarray, shape (4 * D,), or None
    peepholes : ndarray, shape (3 * D,), or None
        The peephole weights of input, forget and output gate.
    projection : ndarray, shape (D, R), or None
    """

    weight: Array
    weight_x: Array | None = None
    bias: Array | None = None
    peepholes: Array | None = None
    projection: Array | None = None


class LSTMGradients(NamedTuple):
    """The gradients of the arguments of `lstm_forward`; None for arguments that were None, and if nobody asked."""

    x: Array | None
    weights: LSTMWeights
    h_0: Array | None
    c_0: Array | None


class LSTMResiduals(NamedTuple):
    """The residuals of the forward pass."""

    x: Array
    offsets: Array
    weights: LSTMWeights
    rule: GateRule
    h_0: Array | None
    c_0: Array | None
    hidden: Array
    gates: Array
    cell: Array
    inner: Array | None  # the outputs of the gates before the projection
    bundles: list[Bundle]
    lasts: list[Any]  # state and cell after the last step of each bundle


@in_kept_memory
def lstm_forward(
    x: Array,
    offsets: Array,
    weights: LSTMWeights,
    rule: GateRule,
    h_0: Array | None = None,
    c_0: Array | None = None,
    is_reverse: bool = False,
) -> tuple[Array, Array, LSTMResiduals]:
    """Run an LSTM over all sequences of a batch.

    Parameters
    ----------
    x : ndarray, shape (n_rows, width), or (n_rows, 4 * D) without `weight_x`
        C-contiguous, like all other arrays.
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    weights : LSTMWeights
    rule : GateRule
    h_0, c_0 : ndarray, shape (n_seqs, R) and (n_seqs, D), or None for zeros
    is_reverse : bool

    Returns
    -------
    hidden, cell, residuals
        `hidden` and `cell` hold the states of all rows, shape (n_rows, R) and (n_rows, D).
    """
    weight, dtype = weights.weight, weights.weight.dtype
    state_width, width = weight.shape[0], weight.shape[1] // 4
    hidden = (np.empty if width else np.zeros)((len(x), state_width), dtype)  # no step writes states without columns
    gates, cell = np.empty((len(x), 4 * width), dtype), np.empty((len(x), width), dtype)
    inner = None if weights.projection is None else np.empty_like(cell)
    bundles = bundles_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    second = Weight(weight)
    third = None if weights.projection is None else Weight(weights.projection)
    kept = LSTMResiduals(
        x, offsets, weights, rule, h_0, c_0, hidden, gates, cell, inner, bundles, [None] * len(bundles)
    )

    def one(number: int) -> None:
        bundle = bundles[number]
        at = slice(bundle.low, bundle.high)
        if first is None:
            gates[at] = x[at]
        else:
            first.times(x[at], gates[at])
        state, state_cell = bundle.states(h_0, state_width, dtype), bundle.states(c_0, width, dtype)
        _steps(kept, bundle, second, third, state, state_cell)
        kept.lasts[number] = state, state_cell

    side_by_side([partial(one, number) for number in range(len(bundles))], len(x) * weight.size)
    return hidden, cell, kept


def _or_none(array: Array | None, dtype: np.dtype[Any], ndim: int = 1) -> Array:
    return np.empty((0,) * ndim, dtype) if array is None else array


def _steps(
    kept: LSTMResiduals, bundle: Bundle, second: Weight, third: Weight | None, state: Array, state_cell: Array
) -> None:
    """Run all steps: in one call, or one by one with NumPy's products."""
    weights, rule, dtype, booted = kept.weights, kept.rule, state.dtype, kept.h_0 is not None
    bias, peepholes = _or_none(weights.bias, dtype), _or_none(weights.peepholes, dtype)
    products, no_product = np.empty((len(state), weights.weight.shape[1]), dtype), np.empty(0, dtype)
    inner = _or_none(kept.inner, dtype, 2)

    def call(first: int, stop: int, weight: Array, projection: Array) -> None:
        kernels.gates.lstm_steps(
            *bundle.where, first, stop, weight, projection, bias, peepholes, rule.gate, rule.cell, rule.candidate,
            rule.clip, booted, state, state_cell, products, kept.gates, kept.cell, inner, kept.hidden,
        )  # fmt: skip

    if not state_cell.shape[1]:
        state[...] = 0
    elif kernels.matrix.is_fast():
        call(0, len(bundle.steps) - 1, second.packed, no_product if third is None else third.packed)
    else:
        for t, count, rows in bundle.each_step():
            if t or booted:
                second.times(state[:count], products[:count])
            call(t, t + 1, no_product, no_product)
            if third is not None:
                kept.hidden[rows] = third.times(products[:count, : state_cell.shape[1]], state[:count])


class PackedLSTM:
    """An LSTM that computes single steps on arrays, with weights that are packed once.

    Parameters
    ----------
    weights : LSTMWeights
        Must not change as long as this object is used.
    rule : GateRule
    """

    __slots__ = ("_first", "_lines", "_rule", "_second", "_third")

    def __init__(self, weights: LSTMWeights, rule: GateRule) -> None:
        self._first = None if weights.weight_x is None else Weight(weights.weight_x)
        self._second = Weight(weights.weight)
        self._third = None if weights.projection is None else Weight(weights.projection)
        dtype = weights.weight.dtype
        self._lines = _or_none(weights.bias, dtype), _or_none(weights.peepholes, dtype)
        self._rule = rule

    def taken(self, *rows: Any) -> list[Array] | None:
        """Return the input and the states of a step if they are arrays of rows that fit the weights, None otherwise."""
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
            C-contiguous, with the dtype of the weights, like all other arrays.
        hidden, cell : ndarray, shape (n, R) and (n, D)

        Returns
        -------
        hidden, cell : ndarray
        """
        count, rule, third = len(x), self._rule, self._third
        gates = x if self._first is None else self._first.times(x, np.empty((count, 4 * cell.shape[1]), x.dtype))
        state, state_cell, products = hidden.copy(), cell.copy(), np.empty_like(gates)
        nothing, no_rows = np.empty(0, x.dtype), np.empty((0, 0), x.dtype)
        fast = kernels.matrix.is_fast()
        if not fast:
            self._second.times(hidden, products)
        kernels.gates.lstm_steps(
            np.array([0, count]), np.arange(count), 1, 0, 1, self._second.packed if fast else nothing,
            third.packed if third is not None and fast else nothing, *self._lines, rule.gate, rule.cell,
            rule.candidate, rule.clip, True, state, state_cell, products, gates, no_rows,
            no_rows if third is None else np.empty_like(cell), no_rows,
        )  # fmt: skip
        if third is not None and not fast:
            third.times(products[:, : cell.shape[1]], state)
        return state, state_cell


# -- the backward pass -------------------------------------------------------------------------------------------------


@in_kept_memory
def lstm_backward(
    residuals: LSTMResiduals, d_hidden: Array | None, d_cell: Array | None, asked: GradientNeeds = EVERYTHING
) -> LSTMGradients:
    """Return the gradients of the arguments of `lstm_forward`.

    Parameters
    ----------
    residuals : LSTMResiduals
        Not changed.
    d_hidden, d_cell : ndarray or None
        Cotangents of all rows; None for zeros.
    asked : GradientNeeds

    Returns
    -------
    LSTMGradients
    """
    x, weights, bundles, h_0, c_0 = residuals.x, residuals.weights, residuals.bundles, residuals.h_0, residuals.c_0
    weight, dtype = weights.weight, weights.weight.dtype
    state_width, width = weight.shape[0], weight.shape[1] // 4
    first = None if weights.weight_x is None or not asked.x else Weight(weights.weight_x, True)
    second = Weight(weight, True)
    third = None if weights.projection is None else Weight(weights.projection, True)
    d_gates = np.empty((len(x), 4 * width), dtype)
    d_x = d_gates if first is None else np.empty_like(x)
    d_full = None if third is None else np.empty((len(x), state_width), dtype)
    d_h_0 = None if h_0 is None else np.zeros_like(h_0)
    d_c_0 = None if c_0 is None else np.zeros_like(c_0)

    def one(number: int) -> None:
        bundle = bundles[number]
        d_state, carry = bundle.states(None, state_width, dtype), bundle.states(None, width, dtype)
        _steps_back(residuals, bundle, second, third, d_hidden, d_cell, d_state, carry, d_full, d_gates)
        if first is not None:
            first.times(d_gates[bundle.low : bundle.high], d_x[bundle.low : bundle.high])
        if d_h_0 is not None:
            d_h_0[bundle.order] = d_state
        if d_c_0 is not None:
            d_c_0[bundle.order] = carry

    pairs = Neighbours(residuals.offsets, bundles[0].backwards)
    side_by_side([*[partial(one, number) for number in range(len(bundles))], pairs.find], len(x) * weight.size)
    found = _weight_gradients(residuals, pairs, d_gates, d_full, asked)
    return LSTMGradients(d_x if asked.x else None, found, d_h_0, d_c_0)


def _steps_back(
    residuals: LSTMResiduals,
    bundle: Bundle,
    second: Weight,
    third: Weight | None,
    d_hidden: Array | None,
    d_cell: Array | None,
    d_state: Array,
    carry: Array,
    d_full: Array | None,
    d_gates: Array,
) -> None:
    """Run all steps from the last to the first."""
    weights, rule, dtype, to_boot = residuals.weights, residuals.rule, d_gates.dtype, residuals.h_0 is not None
    peepholes, no_product = _or_none(weights.peepholes, dtype), np.empty(0, dtype)
    d_step, full, width = np.empty((len(carry), d_gates.shape[1]), dtype), _or_none(d_full, dtype, 2), carry.shape[1]
    d_rows, d_cells = _or_none(d_hidden, dtype, 2), _or_none(d_cell, dtype, 2)
    boot_cell = np.empty((0, width), dtype) if residuals.c_0 is None else bundle.states(residuals.c_0, width, dtype)

    def call(first: int, stop: int, weight: Array, projection: Array) -> None:
        kernels.gates.lstm_steps_back(
            *bundle.where, first, stop, weight, projection, peepholes, rule.gate, rule.cell, rule.candidate, rule.clip,
            boot_cell, residuals.gates, residuals.cell, d_rows, d_cells, to_boot, d_state, carry, d_step, full,
            d_gates,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(bundle.steps) - 1, second.packed, no_product if third is None else third.packed)
        return
    for t, count, rows in bundle.each_step(back=True):
        if third is not None:
            if d_hidden is not None:
                d_state[:count] += d_hidden[rows]
            full[rows] = d_state[:count]
            third.times(d_state[:count], d_step[:count, :width])
        call(t, t + 1, no_product, no_product)
        if t or to_boot:
            second.times(d_step[:count], d_state[:count])


def _weight_gradients(
    residuals: LSTMResiduals, pairs: Neighbours, d_gates: Array, d_full: Array | None, asked: GradientNeeds
) -> LSTMWeights:
    """Compute the gradients of weights as products over all rows."""
    x, weights, n_rows = residuals.x, residuals.weights, len(residuals.x)
    d_weight = d_weight_x = d_projection = None
    tasks: list[Callable[[], Any]] = []
    if weights.weight_x is not None and asked.weight_x:
        d_weight_x = np.empty_like(weights.weight_x)
        tasks += input_products(x, weights.weight_x, d_gates, x, d_weight_x, (False, True))
    if asked.weight:
        d_weight = np.empty_like(weights.weight)
        for at in split_rows(d_gates.shape[1], n_rows * len(d_weight)):
            tasks.append(partial(pairs.product, residuals.hidden, residuals.h_0, d_gates[:, at], d_weight[:, at]))
    if d_full is not None and residuals.inner is not None and weights.projection is not None and asked.projection:
        d_projection = np.empty_like(weights.projection)
        tasks.append(partial(pair_product, residuals.inner, None, d_full, None, d_projection, False))
    d_bias = None if weights.bias is None or not asked.bias else np.empty_like(weights.bias)
    if d_bias is not None:
        tasks.append(partial(add_up, d_gates, d_bias))
    side_by_side(tasks, len(x) * weights.weight.size)
    d_peepholes = None if weights.peepholes is None or not asked.bias else _peephole_gradient(residuals, pairs, d_gates)
    return LSTMWeights(d_weight, d_weight_x, d_bias, d_peepholes, d_projection)  # type: ignore[arg-type]


def _peephole_gradient(residuals: LSTMResiduals, pairs: Neighbours, d_gates: Array) -> Array:
    """Sum the cotangents of gates times the cells in their peepholes."""
    cell, width = residuals.cell, d_gates.shape[1] // 4
    old, total = np.zeros_like(cell), np.empty(3 * width, cell.dtype)
    old[pairs.behind] = cell[pairs.before]
    if residuals.c_0 is not None:
        old[pairs.firsts] = residuals.c_0[pairs.sequences]
    for k, seen in enumerate((old, old, cell)):
        add_up(d_gates[:, (k + 1) * width : (k + 2) * width] * seen, total[k * width : (k + 1) * width])
    return total
