"""The fused GRU, and the network of one activation, on arrays: from inputs to states, and back."""

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

__all__ = ["GRUWeights", "Gradients", "Residuals", "gru_backward", "gru_forward", "simple_backward", "simple_forward"]


class GRUWeights(NamedTuple):
    """The parameters of a network whose state has width D; all of one dtype.

    Parameters
    ----------
    weight : ndarray, shape (D, 3 * D) or (D, D)
        From the state. That of a GRU is a buffer: its first 2 * D * D cells are a matrix of shape (D, 2 * D) for the
        update and the reset gate, the rest one of shape (D, D) for the candidate.
    weight_x : ndarray, shape (width, 3 * D) or (width, D), or None
        From the inputs; None for inputs that were multiplied already.
    bias : ndarray, shape (3 * D,) or (D,), or None
    """

    weight: Array
    weight_x: Array | None = None
    bias: Array | None = None


class Gradients(NamedTuple):
    """Gradients of what a network takes, None where there was nothing."""

    x: Array
    weights: GRUWeights
    h_0: Array | None


class Residuals(NamedTuple):
    """What the backward pass needs."""

    x: Array
    offsets: Array
    weights: GRUWeights
    rule: Rule
    h_0: Array | None
    hidden: Array
    runs: list[Run]
    kept: list[Array]  # gates of each run, in step order; of a simple network, nothing


def parts_of(weight: Array) -> tuple[Array, Array]:
    """View the buffer of a GRU's weight as the matrix of its gates and that of its candidate."""
    width = len(weight)
    cells = weight.reshape(-1)
    return cells[: 2 * width * width].reshape(width, 2 * width), cells[2 * width * width :].reshape(width, width)


@in_kept_memory
def gru_forward(
    x: Array,
    offsets: Array,
    weights: GRUWeights,
    rule: Rule,
    h_0: Array | None = None,
    is_reverse: bool = False,
) -> tuple[Array, Residuals]:
    """Run a GRU over all sequences of a batch.

    Parameters
    ----------
    x : ndarray, shape (n_rows, width), or (n_rows, 3 * D) without `weight_x`
        C-contiguous, as all others.
    offsets : ndarray of int64, shape (n_seqs + 1,), in rows
    weights : GRUWeights
    rule : Rule
    h_0 : ndarray, shape (n_seqs, D), or None for zeros
    is_reverse : bool

    Returns
    -------
    hidden, residuals
        States of all rows, shape (n_rows, D).
    """
    weight, dtype = weights.weight, weights.weight.dtype
    width = len(weight)
    hidden = np.empty((len(x), width), dtype)
    runs = runs_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    gate, candidate = map(Weight, parts_of(weight))
    kept: list[Any] = [None] * len(runs)

    def one(number: int) -> None:
        run = runs[number]
        rows = run.unpack(x)
        gates = rows if first is None else first.times(rows, np.empty((len(rows), 3 * width), dtype))
        states = np.empty((len(rows), width), dtype)
        boot = run.states(h_0, width, dtype)
        _gru_steps(run, weights.bias, rule, gate, candidate, boot, gates, states)
        run.pack(states, hidden)
        kept[number] = gates

    side_by_side([partial(one, number) for number in range(len(runs))], len(x) * weight.size)
    return hidden, Residuals(x, offsets, weights, rule, h_0, hidden, runs, kept)


def _gru_steps(
    run: Run,
    bias: Array | None,
    rule: Rule,
    gate: Weight,
    candidate: Weight,
    boot: Array,
    gates: Array,
    states: Array,
) -> None:
    """Run all steps: in one call, or one after another with products of NumPy."""
    width, dtype = states.shape[1], states.dtype
    shift = np.empty(0, dtype) if bias is None else bias
    reset, no_product = np.empty((len(run.order), width), dtype), np.empty(0, dtype)

    def call(first: int, stop: int, stage: int, weight: Array, other: Array) -> None:
        kernels.gates.gru_steps(
            run.steps, first, stop, stage, weight, other, shift, rule.gate, rule.candidate, rule.origin_mode, boot,
            gates, reset, states,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(run.steps) - 1, 0, gate.packed, candidate.packed)
        return
    for t, start, stop, before in run.each_step():
        count = stop - start
        if t or len(boot):
            gate.add_to(gates[start:stop, : 2 * width], states[before : before + count] if t else boot)
        call(t, t + 1, 1, no_product, no_product)
        if t or len(boot):
            candidate.add_to(gates[start:stop, 2 * width :], reset[:count])
        call(t, t + 1, 2, no_product, no_product)


@in_kept_memory
def gru_backward(residuals: Residuals, d_hidden: Array) -> Gradients:
    """Return the gradients of everything that `gru_forward` has taken.

    Parameters
    ----------
    residuals : Residuals
        Not changed.
    d_hidden : ndarray, shape (n_rows, D)

    Returns
    -------
    Gradients
    """
    x, weight, runs = residuals.x, residuals.weights.weight, residuals.runs
    width, dtype = len(weight), weight.dtype
    gate, candidate = (Weight(part, True) for part in parts_of(weight))
    d_gates, reset = np.empty((len(x), 3 * width), dtype), np.empty((len(x), width), dtype)
    d_h_0 = None if residuals.h_0 is None else np.zeros_like(residuals.h_0)

    def one(number: int) -> None:
        run, gates = runs[number], residuals.kept[number]
        states, grown = run.unpack(residuals.hidden), run.unpack(d_hidden)
        found, resets = np.empty_like(gates), np.empty_like(states)
        d_boot = np.zeros((0 if d_h_0 is None else len(run.order), width), dtype)
        boot = run.states(residuals.h_0, width, dtype)
        _gru_steps_back(run, residuals.rule, gate, candidate, boot, gates, states, grown, resets, found, d_boot)
        run.pack(found, d_gates)
        run.pack(resets, reset)
        if d_h_0 is not None:
            d_h_0[run.order] = d_boot

    pairs = Neighbours(residuals.offsets, runs[0].backwards)
    side_by_side([*[partial(one, number) for number in range(len(runs))], pairs.find], len(x) * weight.size)
    d_weight = np.empty_like(weight)
    d_gate, d_candidate = parts_of(d_weight)
    d_both, d_last = d_gates[:, : 2 * width], d_gates[:, 2 * width :]
    # without boot states first rows have nothing to reset
    index = pairs.behind if residuals.h_0 is None else None
    tasks = _state_products(residuals, pairs, d_both, d_gate)
    for at in split_rows(width, len(x) * width):
        tasks.append(partial(pair_product, reset, index, d_last[:, at], index, d_candidate[:, at], False))
    return _gradients(residuals, tasks, d_gates, d_weight, d_h_0)


def _gru_steps_back(
    run: Run,
    rule: Rule,
    gate: Weight,
    candidate: Weight,
    boot: Array,
    gates: Array,
    states: Array,
    grown: Array,
    reset: Array,
    d_gates: Array,
    d_boot: Array,
) -> None:
    """Run all steps from the last to the first."""
    width, no_product = states.shape[1], np.empty(0, states.dtype)

    def call(first: int, stop: int, stage: int, weight: Array, other: Array) -> None:
        kernels.gates.gru_steps_back(
            run.steps, first, stop, stage, weight, other, rule.gate, rule.candidate, rule.origin_mode, boot, gates,
            states, grown, reset, d_gates, d_boot,
        )  # fmt: skip

    if kernels.matrix.is_fast():
        call(0, len(run.steps) - 1, 0, gate.packed, candidate.packed)
        return
    for t, start, stop, before in run.each_step(back=True):
        call(t, t + 1, 1, no_product, no_product)
        if t or len(boot):
            candidate.times(np.ascontiguousarray(d_gates[start:stop, 2 * width :]), reset[start:stop])
        call(t, t + 1, 2, no_product, no_product)
        if t or len(d_boot):
            gate.add_to(grown[before : before + stop - start] if t else d_boot, d_gates[start:stop, : 2 * width])


# -- one activation ----------------------------------------------------------------------------------------------------


@in_kept_memory
def simple_forward(
    x: Array,
    offsets: Array,
    weights: GRUWeights,
    activation: int,
    h_0: Array | None = None,
    is_reverse: bool = False,
) -> tuple[Array, Residuals]:
    """Run a network whose new state is the activation of input, state and bias over all sequences of a batch.

    Parameters
    ----------
    x, offsets, weights, h_0, is_reverse
        As of `gru_forward`, with D columns in place of 3 * D.
    activation : int
        One of `ACTIVATIONS`.

    Returns
    -------
    hidden, residuals
    """
    weight, dtype = weights.weight, weights.weight.dtype
    width = len(weight)
    hidden = np.empty((len(x), width), dtype)
    runs = runs_of(offsets, weight.size, is_reverse)
    first = None if weights.weight_x is None else Weight(weights.weight_x)
    second = Weight(weight)
    shift, no_product = np.empty(0, dtype) if weights.bias is None else weights.bias, np.empty(0, dtype)

    def one(number: int) -> None:
        run = runs[number]
        rows = run.unpack(x)
        states = rows if first is None else first.times(rows, np.empty((len(rows), width), dtype))
        boot = run.states(h_0, width, dtype)
        if kernels.matrix.is_fast():
            count = len(run.steps) - 1
            kernels.gates.simple_steps(run.steps, 0, count, second.packed, shift, activation, boot, states)
        else:
            for t, start, stop, before in run.each_step():
                if t or len(boot):
                    second.add_to(states[start:stop], states[before : before + stop - start] if t else boot)
                kernels.gates.simple_steps(run.steps, t, t + 1, no_product, shift, activation, boot, states)
        run.pack(states, hidden)

    side_by_side([partial(one, number) for number in range(len(runs))], len(x) * weight.size)
    return hidden, Residuals(x, offsets, weights, Rule(candidate=activation), h_0, hidden, runs, [])


@in_kept_memory
def simple_backward(residuals: Residuals, d_hidden: Array) -> Gradients:
    """Return the gradients of everything that `simple_forward` has taken.

    Parameters
    ----------
    residuals : Residuals
        Not changed.
    d_hidden : ndarray, shape (n_rows, D)

    Returns
    -------
    Gradients
    """
    x, weight, runs = residuals.x, residuals.weights.weight, residuals.runs
    second, activation, no_product = Weight(weight, True), residuals.rule.candidate, np.empty(0, weight.dtype)
    d_gates, d_weight = np.empty((len(x), len(weight)), weight.dtype), np.empty_like(weight)
    d_h_0 = None if residuals.h_0 is None else np.zeros_like(residuals.h_0)

    def one(number: int) -> None:
        run = runs[number]
        states, grown = run.unpack(residuals.hidden), run.unpack(d_hidden)
        found = np.empty_like(states)
        d_boot = np.zeros((0 if d_h_0 is None else len(run.order), len(weight)), weight.dtype)
        if kernels.matrix.is_fast():
            count = len(run.steps) - 1
            kernels.gates.simple_steps_back(
                run.steps, 0, count, second.packed, activation, states, grown, found, d_boot
            )
        else:
            for t, start, stop, before in run.each_step(back=True):
                kernels.gates.simple_steps_back(
                    run.steps, t, t + 1, no_product, activation, states, grown, found, d_boot
                )
                if t or len(d_boot):
                    second.add_to(grown[before : before + stop - start] if t else d_boot, found[start:stop])
        run.pack(found, d_gates)
        if d_h_0 is not None:
            d_h_0[run.order] = d_boot

    pairs = Neighbours(residuals.offsets, runs[0].backwards)
    side_by_side([*[partial(one, number) for number in range(len(runs))], pairs.find], len(x) * weight.size)
    return _gradients(residuals, _state_products(residuals, pairs, d_gates, d_weight), d_gates, d_weight, d_h_0)


# -- products over all rows --------------------------------------------------------------------------------------------


def _state_products(
    residuals: Residuals, pairs: Neighbours, d_gates: Array, d_weight: Array
) -> list[Callable[[], Any]]:
    """List the products that make the gradient of the weight of states."""
    states, boot = residuals.hidden, residuals.h_0
    pieces = split_rows(d_gates.shape[1], len(d_gates) * len(d_weight))
    return [partial(pairs.product, states, boot, d_gates[:, at], d_weight[:, at]) for at in pieces]


def _gradients(
    residuals: Residuals, tasks: list[Callable[[], Any]], d_gates: Array, d_weight: Array, d_h_0: Array | None
) -> Gradients:
    """Do these products, and those of the inputs."""
    x, weights = residuals.x, residuals.weights
    d_x, d_weight_x = d_gates, None
    if weights.weight_x is not None:
        d_x, d_weight_x = np.empty_like(x), np.empty_like(weights.weight_x)
        tasks = input_products(x, weights.weight_x, d_gates, d_x, d_weight_x) + tasks
    d_bias = None if weights.bias is None else np.empty_like(weights.bias)
    if d_bias is not None:
        tasks.append(partial(add_up, d_gates, d_bias))
    side_by_side(tasks, len(x) * weights.weight.size)
    return Gradients(d_x, GRUWeights(d_weight, d_weight_x, d_bias), d_h_0)
