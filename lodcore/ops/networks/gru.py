"""The forward and backward passes of the fused GRU and of the network with one activation, on arrays."""

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

__all__ = [
    "GRUResiduals",
    "GRUWeights",
    "LayerGradients",
    "gru_backward",
    "gru_forward",
    "simple_backward",
    "simple_forward",
]


class GRUWeights(NamedTuple):
    """The parameters of a network whose state has width D, all with one dtype.

    Parameters
    ----------
    weight : ndarray, shape (D, 3 * D) or (D, D)
        The weight of the state. That of a GRU is a buffer: its first 2 * D * D entries are a matrix of shape (D, 2 * D)
        for the update and reset gates, the rest is one of shape (D, D) for the candidate.
    weight_x : ndarray, shape (width, 3 * D) or (width, D), or None
        The weight of the inputs; None if the inputs have been multiplied already.
    bias : ndarray, shape (3 * D,) or (D,), or None
    """

    weight: Array
    weight_x: Array | None = None
    bias: Array | None = None


class LayerGradients(NamedTuple):
    """The gradients of the arguments of a network; None for arguments that were None, and if nobody asked."""

    x: Array | None
    weights: GRUWeights
    h_0: Array | None


class GRUResiduals(NamedTuple):
    """The residuals of the forward pass."""

    x: Array
    offsets: Array
    weights: GRUWeights
    rule: GateRule
    h_0: Array | None
    hidden: Array
    gates: Array  # for a simple network, its states
    bundles: list[Bundle]
    lasts: list[Any]  # the state after the last step of each bundle


def parts_of(weight: Array) -> tuple[Array, Array]:
    """Return the buffer of a GRU's weight as two views: the matrices of the gates and of the candidate."""
    width = len(weight)
    cells = weight.reshape(-1)
    return cells[: 2 * width * width].reshape(width, 2 * width), cells[2 * width * width :].reshape(width, width)


@in_kept_memory
def gru_forward(
    x: Array,
    offsets: Array,
    weights: GRUWeights,
    rule: GateRule,
    h_0: Array | None = None,
    is_reverse: bool = False,
) -> tuple[Array, GRUResiduals]:
    """Run a GRU over all sequences of a batch.

    Parameters
    ----------
    x : ndarray, shape (n_rows, width), or (n_rows, 3 * D) without `weight_x`
        C-contiguous, like all other arrays.
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    weights : GRUWeights
    rule : GateRule
    h_0 : ndarray, shape (n_seqs, D), or None for zeros
    is_reverse : bool

    Returns
    -------
    hidden, residuals
        `hidden` holds the states of all rows, shape (n_rows, D).
    """
    weight, dtype = weights.weight, weights.weight.dtype
    width = len(weight)
    hidden, gates = np.empty((len(x), width), dtype), np.empty((len(x), 3 * width), dtype)
    bundles = bundles_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    gate, candidate = map(Weight, parts_of(weight))
    kept = GRUResiduals(x, offsets, weights, rule, h_0, hidden, gates, bundles, [None] * len(bundles))

    def one(number: int) -> None:
        bundle = bundles[number]
        _multiply_inputs(bundle, x, first, gates)
        kept.lasts[number] = bundle.states(h_0, width, dtype)
        _gru_steps(kept, bundle, gate, candidate, kept.lasts[number])

    side_by_side([partial(one, number) for number in range(len(bundles))], len(x) * weight.size)
    return hidden, kept


def _multiply_inputs(bundle: Bundle, x: Array, first: Weight | None, out: Array) -> None:
    """Multiply the rows of a bundle by the weight of the inputs, or copy them if that has been done already."""
    at = slice(bundle.low, bundle.high)
    if first is None:
        out[at] = x[at]
    else:
        first.times(x[at], out[at])


def _gru_steps(kept: GRUResiduals, bundle: Bundle, gate: Weight, candidate: Weight, state: Array) -> None:
    """Run all steps: in one call, or one by one with NumPy's products."""
    width, dtype, rule, bias, booted = state.shape[1], state.dtype, kept.rule, kept.weights.bias, kept.h_0 is not None
    shift = np.empty(0, dtype) if bias is None else bias
    products, no_product = np.empty((len(state), 3 * width), dtype), np.empty(0, dtype)

    def call(first: int, stop: int, stage: int, weight: Array, other: Array) -> None:
        kernels.gates.gru_steps(
            *bundle.where, first, stop, stage, weight, other, shift, rule.gate, rule.candidate, rule.origin_mode,
            booted, state, products, kept.gates, kept.hidden,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(bundle.steps) - 1, 0, gate.packed, candidate.packed)
        return
    for t, count, _ in bundle.each_step():
        if t or booted:
            gate.times(state[:count], products[:count, : 2 * width])
        call(t, t + 1, 1, no_product, no_product)
        if t or booted:
            candidate.times(products[:count, :width], products[:count, 2 * width :])
        call(t, t + 1, 2, no_product, no_product)


@in_kept_memory
def gru_backward(residuals: GRUResiduals, d_hidden: Array, asked: GradientNeeds = EVERYTHING) -> LayerGradients:
    """Return the gradients of the arguments of `gru_forward`.

    Parameters
    ----------
    residuals : GRUResiduals
        Not changed.
    d_hidden : ndarray, shape (n_rows, D)
    asked : GradientNeeds

    Returns
    -------
    LayerGradients
    """
    x, weight = residuals.x, residuals.weights.weight
    width, dtype = len(weight), weight.dtype
    gate, candidate = (Weight(part, True) for part in parts_of(weight))
    d_gates, reset = np.empty((len(x), 3 * width), dtype), np.empty((len(x), width), dtype)

    def steps_back(bundle: Bundle, d_state: Array) -> None:
        _gru_steps_back(residuals, bundle, gate, candidate, d_hidden, d_state, reset, d_gates)

    pairs, d_x, d_h_0 = _steps_of_runs(residuals, steps_back, d_gates, asked)
    d_weight = np.empty_like(weight)
    d_gate, d_candidate = parts_of(d_weight)
    d_both, d_last = d_gates[:, : 2 * width], d_gates[:, 2 * width :]
    # without boot states there is nothing to reset in first rows
    index = pairs.behind if residuals.h_0 is None else None
    tasks = _state_products(residuals, pairs, d_both, d_gate) if asked.weight else []
    for at in split_rows(width, len(x) * width) if asked.weight else ():
        tasks.append(partial(pair_product, reset, index, d_last[:, at], index, d_candidate[:, at], False))
    return _gradients(residuals, tasks, d_gates, d_weight, d_x, d_h_0, asked)


def _gru_steps_back(
    residuals: GRUResiduals,
    bundle: Bundle,
    gate: Weight,
    candidate: Weight,
    d_hidden: Array,
    d_state: Array,
    reset: Array,
    d_gates: Array,
) -> None:
    """Run all steps from the last to the first."""
    width, dtype, rule, booted = d_state.shape[1], d_state.dtype, residuals.rule, residuals.h_0 is not None
    d_step, no_product = np.empty((len(d_state), 3 * width), dtype), np.empty(0, dtype)
    boot = bundle.states(residuals.h_0, width, dtype) if booted else np.empty((0, width), dtype)

    def call(first: int, stop: int, stage: int, weight: Array, other: Array) -> None:
        kernels.gates.gru_steps_back(
            *bundle.where, first, stop, stage, weight, other, rule.gate, rule.candidate, rule.origin_mode, boot,
            residuals.gates, residuals.hidden, d_hidden, booted, d_state, d_step, reset, d_gates,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(bundle.steps) - 1, 0, gate.packed, candidate.packed)
        return
    for t, count, _ in bundle.each_step(back=True):
        call(t, t + 1, 1, no_product, no_product)
        if t or booted:
            candidate.times(d_step[:count, 2 * width :], d_step[:count, width : 2 * width])
        call(t, t + 1, 2, no_product, no_product)
        if t or booted:
            gate.add_to(d_state[:count], d_step[:count, : 2 * width])


# -- networks with one activation --------------------------------------------------------------------------------------


@in_kept_memory
def simple_forward(
    x: Array,
    offsets: Array,
    weights: GRUWeights,
    activation: int,
    h_0: Array | None = None,
    is_reverse: bool = False,
) -> tuple[Array, GRUResiduals]:
    """Run a network whose new state is the activation of input plus state times weight plus bias over all sequences.

    Parameters
    ----------
    x, offsets, weights, h_0, is_reverse
        As in `gru_forward`, with D columns instead of 3 * D.
    activation : int
        One of `ACTIVATIONS`.

    Returns
    -------
    hidden, residuals
    """
    weight, dtype, booted = weights.weight, weights.weight.dtype, h_0 is not None
    width = len(weight)
    hidden = np.empty((len(x), width), dtype)
    bundles = bundles_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    second = Weight(weight)
    shift, no_product = np.empty(0, dtype) if weights.bias is None else weights.bias, np.empty(0, dtype)
    rule = GateRule(candidate=activation)
    kept = GRUResiduals(x, offsets, weights, rule, h_0, hidden, hidden, bundles, [None] * len(bundles))

    def one(number: int) -> None:
        bundle = bundles[number]
        _multiply_inputs(bundle, x, first, hidden)
        state = kept.lasts[number] = bundle.states(h_0, width, dtype)
        products = np.empty_like(state)

        def call(first: int, stop: int, packed: Array) -> None:
            kernels.gates.simple_steps(
                *bundle.where, first, stop, packed, shift, activation, booted, state, products, hidden
            )

        if kernels.matrix.is_fast():
            call(0, len(bundle.steps) - 1, second.packed)
            return
        for t, count, _ in bundle.each_step():
            if t or booted:
                second.times(state[:count], products[:count])
            call(t, t + 1, no_product)

    side_by_side([partial(one, number) for number in range(len(bundles))], len(x) * weight.size)
    return hidden, kept


@in_kept_memory
def simple_backward(residuals: GRUResiduals, d_hidden: Array, asked: GradientNeeds = EVERYTHING) -> LayerGradients:
    """Return the gradients of the arguments of `simple_forward`.

    Parameters
    ----------
    residuals : GRUResiduals
        Not changed.
    d_hidden : ndarray, shape (n_rows, D)
    asked : GradientNeeds

    Returns
    -------
    LayerGradients
    """
    x, weight, booted = residuals.x, residuals.weights.weight, residuals.h_0 is not None
    second, activation, no_product = Weight(weight, True), residuals.rule.candidate, np.empty(0, weight.dtype)
    d_gates, d_weight = np.empty((len(x), len(weight)), weight.dtype), np.empty_like(weight)

    def steps_back(bundle: Bundle, d_state: Array) -> None:
        d_step = np.empty_like(d_state)

        def call(first: int, stop: int, packed: Array) -> None:
            kernels.gates.simple_steps_back(
                *bundle.where, first, stop, packed, activation, residuals.hidden, d_hidden, booted, d_state, d_step,
                d_gates,
            )  # fmt: skip

        if kernels.matrix.is_fast():
            call(0, len(bundle.steps) - 1, second.packed)
            return
        for t, count, _ in bundle.each_step(back=True):
            call(t, t + 1, no_product)
            if t or booted:
                second.times(d_step[:count], d_state[:count])

    pairs, d_x, d_h_0 = _steps_of_runs(residuals, steps_back, d_gates, asked)
    tasks = _state_products(residuals, pairs, d_gates, d_weight) if asked.weight else []
    return _gradients(residuals, tasks, d_gates, d_weight, d_x, d_h_0, asked)


# -- the backward pass of both -----------------------------------------------------------------------------------------


def _steps_of_runs(
    residuals: GRUResiduals, steps_back: Callable[[Bundle, Array], None], d_gates: Array, asked: GradientNeeds
) -> tuple[Neighbours, Array, Array | None]:
    """Run the backward steps of all bundles, the gradients of the inputs included; find the rows with a predecessor."""
    x, weights, bundles = residuals.x, residuals.weights, residuals.bundles
    width, dtype = len(weights.weight), weights.weight.dtype
    first = None if weights.weight_x is None or not asked.x else Weight(weights.weight_x, True)
    d_x = d_gates if first is None else np.empty_like(x)
    d_h_0 = None if residuals.h_0 is None else np.zeros_like(residuals.h_0)

    def one(number: int) -> None:
        bundle = bundles[number]
        d_state = bundle.states(None, width, dtype)
        steps_back(bundle, d_state)
        if first is not None:
            first.times(d_gates[bundle.low : bundle.high], d_x[bundle.low : bundle.high])
        if d_h_0 is not None:
            d_h_0[bundle.order] = d_state

    pairs = Neighbours(residuals.offsets, bundles[0].backwards)
    tasks: list[Callable[[], Any]] = [*[partial(one, number) for number in range(len(bundles))], pairs.find]
    side_by_side(tasks, len(x) * weights.weight.size)
    return pairs, d_x, d_h_0


def _state_products(
    residuals: GRUResiduals, pairs: Neighbours, d_gates: Array, d_weight: Array
) -> list[Callable[[], Any]]:
    """Return the tasks that compute the gradient of the weight of states."""
    states, boot = residuals.hidden, residuals.h_0
    pieces = split_rows(d_gates.shape[1], len(d_gates) * len(d_weight))
    return [partial(pairs.product, states, boot, d_gates[:, at], d_weight[:, at]) for at in pieces]


def _gradients(
    residuals: GRUResiduals,
    tasks: list[Callable[[], Any]],
    d_gates: Array,
    d_weight: Array,
    d_x: Array,
    d_h_0: Array | None,
    asked: GradientNeeds,
) -> LayerGradients:
    """Run these tasks, and those of the inputs."""
    x, weights = residuals.x, residuals.weights
    d_weight_x = None
    if weights.weight_x is not None and asked.weight_x:
        d_weight_x = np.empty_like(weights.weight_x)
        tasks = input_products(x, weights.weight_x, d_gates, x, d_weight_x, (False, True)) + tasks
    d_bias = None if weights.bias is None or not asked.bias else np.empty_like(weights.bias)
    if d_bias is not None:
        tasks.append(partial(add_up, d_gates, d_bias))
    side_by_side(tasks, len(x) * weights.weight.size)
    found = GRUWeights(d_weight if asked.weight else None, d_weight_x, d_bias)  # type: ignore[arg-type]
    return LayerGradients(d_x if asked.x else None, found, d_h_0)
