"""Recurrent networks: laws, threads, and the networks of layers with their inputs."""

import importlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, dynamic_gru, dynamic_lstm, kernels, vjp
from lodcore.ops.networks.gates import GateRule, bundles_of, last_states, last_states_back
from lodcore.ops.networks.gru import GRUWeights, gru_backward, gru_forward, simple_backward, simple_forward
from lodcore.ops.networks.lstm import LSTMWeights, lstm_backward, lstm_forward
from lodcore.testing.samples import bits
from reference.ops import recurrent as oracle
from tests.helpers.draw import lengths, running_sum

SIZES = [3, 0, 5, 1, 0]
NETWORKS = ["lstm", "gru"]


def network(name, width, sizes=SIZES, dtype=np.float64, seed=1):
    """Draw inputs, a weight, a bias and a boot state."""
    random, gates = np.random.default_rng(seed), {"lstm": 4, "gru": 3}[name]
    shapes = [(sum(sizes), gates * width), (width, gates * width), (gates * width,), (len(sizes), width)]
    values, weight, bias, boot = ((random.standard_normal(shape) * 0.5).astype(dtype) for shape in shapes)
    return LoDTensor.from_lengths(values, sizes), weight, bias, boot


def gradients(run, *inputs, cotangents=1.0):
    """Return the gradients of the sum of all results times cotangents."""
    results, pullback = vjp(run, *inputs)
    several = results if isinstance(results, tuple) else (results,)
    return pullback(*[cotangents * np.ones_like(one.values) for one in several])


def values(x):
    return x.values if isinstance(x, LoDTensor) else x


def np_tuple(results):
    return results if isinstance(results, tuple) else (results,)


# -- laws --------------------------------------------------------------------------------------------------------------


@given(lengths(None, 8, 6), st.sampled_from(NETWORKS), st.booleans(), st.integers(0, 2**32))
def test_recurrent_layers_of_a_batch_equal_each_sequence_alone(sizes, name, is_reverse, seed):
    x, weight, bias, boot = network(name, 3, sizes, seed=seed)
    run = dynamic_lstm if name == "lstm" else dynamic_gru
    together = np_tuple(run(x, weight, bias, *boots_of(name, boot), is_reverse=is_reverse))
    for s, rows in enumerate(x):
        alone = LoDTensor.from_lengths(rows[::-1] if is_reverse else rows, [len(rows)])
        for one, other in zip(
            together, np_tuple(run(alone, weight, bias, *boots_of(name, boot[s : s + 1]))), strict=True
        ):
            want = other.values[::-1] if is_reverse else other.values
            np.testing.assert_allclose(one[s], want, rtol=1e-9, atol=1e-12)


def boots_of(name, boot):
    return (boot, boot) if name == "lstm" else (boot,)


@pytest.mark.parametrize("name", NETWORKS)
def test_inputs_stay_and_a_pullback_may_be_called_again(name):
    inputs = network(name, 9)
    kept = [values(x).copy() for x in inputs]
    run = dynamic_lstm if name == "lstm" else dynamic_gru
    results, pullback = vjp(lambda x, w, b, h: run(x, w, b, *boots_of(name, h)), *inputs)
    ones = [np.ones_like(one.values) for one in np_tuple(results)]
    first, second = pullback(*ones), pullback(*ones)
    assert [bits(x) for x in first] == [bits(x) for x in second]
    assert all((values(x) == old).all() for x, old in zip(inputs, kept, strict=True))
    assert all((one == 1).all() for one in ones)


# -- the networks of layers --------------------------------------------------------------------------------------------


def arrays(width, n_in, gates, projection=None, seed=3):
    """Draw the rows of a batch, its offsets, and weights."""
    random = np.random.default_rng(seed)
    state = projection or width
    shapes = [(sum(SIZES), n_in), (state, gates * width), (n_in, gates * width), (gates * width,), (len(SIZES), state)]
    x, weight, weight_x, bias, h_0 = (random.standard_normal(shape) * 0.5 for shape in shapes)
    return x, np.array(running_sum(SIZES)), weight, weight_x, bias, h_0, random.standard_normal((len(SIZES), width))


def derivatives_agree(function, inputs, gradients_given, step=1e-6):
    """Compare gradients with finite differences, in one direction per input."""
    random = np.random.default_rng(8)
    for k, gradient in enumerate(gradients_given):
        direction = random.standard_normal(inputs[k].shape)
        sides = [function(*inputs[:k], inputs[k] + sign * step * direction, *inputs[k + 1 :]) for sign in (1, -1)]
        derivative = (sides[0] - sides[1]) / (2 * step)
        np.testing.assert_allclose((gradient * direction).sum(), derivative, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize(("projection", "clip"), [(None, np.inf), (2, np.inf), (None, 0.3), (3, 0.3)])
def test_lstm_with_its_inputs(is_reverse, peepholes, projection, clip):
    x, offsets, weight, weight_x, bias, h_0, c_0 = arrays(4, 3, 4, projection)
    random = np.random.default_rng(6)
    peep, down = random.standard_normal(12) * 0.5, random.standard_normal((4, projection or 4)) * 0.5
    inputs = [x, weight, weight_x, bias, h_0, c_0]
    inputs += [peep] if peepholes else []
    inputs += [down] if projection else []

    def run(x, weight, weight_x, bias, h_0, c_0, *rest):
        rest = list(rest)
        weights = LSTMWeights(
            weight, weight_x, bias, rest.pop(0) if peepholes else None, rest.pop() if projection else None
        )
        return lstm_forward(x, offsets, weights, GateRule(clip=clip), h_0, c_0, is_reverse)

    hidden, cell, residuals = run(*inputs)
    assert (np.abs(cell) <= clip).all()
    d_hidden, d_cell = random.standard_normal(hidden.shape), random.standard_normal(cell.shape)
    found = lstm_backward(residuals, d_hidden, d_cell)
    each = [found.x, *found.weights[:3], found.h_0, found.c_0, *[one for one in found.weights[3:] if one is not None]]
    derivatives_agree(lambda *given: total(run(*given)[:2], (d_hidden, d_cell)), inputs, each)
    if projection is None and clip == np.inf:
        projected = LoDTensor.from_offsets(x @ weight_x, offsets)
        line = np.concatenate([bias, peep]) if peepholes else bias
        want = dynamic_lstm(projected, weight, line, h_0, c_0, peepholes, is_reverse)
        np.testing.assert_allclose(hidden, want[0].values, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(cell, want[1].values, rtol=1e-10, atol=1e-13)


def total(results, cotangents):
    return sum((one * d).sum() for one, d in zip(results, cotangents, strict=True))


def test_lstm_without_boot_states_or_cotangents():
    x, offsets, weight, weight_x, bias, _, _ = arrays(4, 3, 4)
    hidden, cell, residuals = lstm_forward(x, offsets, LSTMWeights(weight, weight_x, bias), GateRule())
    found = lstm_backward(residuals, np.ones_like(hidden), None)
    wanted = lstm_backward(residuals, np.ones_like(hidden), np.zeros_like(cell))
    np.testing.assert_array_equal(found.weights.weight, wanted.weights.weight)
    assert found.h_0 is None
    assert found.c_0 is None
    nothing = lstm_backward(residuals, None, None)
    assert not any(one.any() for one in (nothing.x, *nothing.weights[:3]))


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("booted", [False, True])
def test_gru_and_simple_network_with_their_inputs(is_reverse, booted):
    for gates, forward, backward, rule in [
        (3, gru_forward, gru_backward, GateRule()),
        (1, simple_forward, simple_backward, 1),
    ]:
        x, offsets, weight, weight_x, bias, h_0, _ = arrays(4, 3, gates)
        inputs = [x, weight, weight_x, bias, *([h_0] if booted else [])]

        def run(x, weight, weight_x, bias, h_0=None, forward=forward, rule=rule, offsets=offsets):
            return forward(x, offsets, GRUWeights(weight, weight_x, bias), rule, h_0, is_reverse)

        hidden, residuals = run(*inputs)
        d_hidden = np.cos(hidden)
        found = backward(residuals, d_hidden)
        each = [found.x, *found.weights, *([found.h_0] if booted else [])]
        derivatives_agree(lambda *given, run=run, d=d_hidden: (run(*given)[0] * d).sum(), inputs, each)


@pytest.mark.not_on_reference
@pytest.mark.skipif(not kernels.matrix.is_fast(), reason="NumPy multiplies")
def test_gradients_that_are_not_needed_are_not_computed(monkeypatch):
    """The gradient of x is a product, as are those of the weights."""
    gates = importlib.import_module("lodcore.ops.networks.gates")
    counted = []
    multiply, pairs = gates.Weight.times, gates.kernels.matrix.multiply_pairs
    monkeypatch.setattr(gates.Weight, "times", lambda *args: counted.append("times") or multiply(*args))
    monkeypatch.setattr(gates.kernels.matrix, "multiply_pairs", lambda *args: counted.append("pairs") or pairs(*args))
    x = LoDTensor.from_lengths(np.ones((6, 3)), [4, 2])
    for layer, cells in ((lodcore.ops.lstm_layer, 4), (lodcore.ops.gru_layer, 3), (lodcore.ops.simple_layer, 1)):
        given = [x, np.ones((3, 4 * cells)), np.ones((4, 4 * cells)), np.ones(4 * cells)]
        for asked, back in ((0, ["times"]), (1, ["pairs"]), (3, [])):
            run = lambda one, asked=asked, given=given, layer=layer: layer(*given[:asked], one, *given[asked + 1 :])[0]  # noqa: E731
            result, pullback = vjp(run, given[asked])
            counted.clear()
            pullback(result)
            assert counted == back, (layer, asked)


def test_simple_rnn_of_every_activation_equals_the_oracle():
    x, offsets, weight, weight_x, bias, h_0, _ = arrays(4, 3, 1)
    nested = LoDTensor.from_offsets(x @ weight_x, offsets).tolist()
    for is_reverse in (False, True):
        for activation, name in enumerate(oracle.ACTIVATIONS):
            got, _ = simple_forward(x, offsets, GRUWeights(weight, weight_x, bias), activation, h_0, is_reverse)
            rest = weight.tolist(), bias.tolist(), h_0.tolist(), is_reverse, name
            want = np.concatenate([np.array(rows).reshape(-1, 4) for rows in oracle.simple_rnn(nested, 1, *rest)])
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)


def behind(states, offsets, boot, is_reverse):
    """Return the state after each sequence, by its definition."""
    rows = [states[a:b][0 if is_reverse else -1] if a < b else boot[s] for s, (a, b) in pairs(offsets)]
    return np.reshape(rows, boot.shape)


@given(lengths(None, 8, 6), st.booleans(), st.integers(0, 2**32))
def test_gradient_of_last_states_goes_to_the_last_step_or_boot(sizes, is_reverse, seed):
    random, offsets = np.random.default_rng(seed), np.array(running_sum(sizes))
    states, boot = random.standard_normal((offsets[-1], 2)), random.standard_normal((len(sizes), 2))
    found = behind(states, offsets, boot, is_reverse)
    d_last, d_states, d_boot = (random.standard_normal(x.shape) for x in (found, states, boot))
    kept = d_states.copy(), d_boot.copy()
    got_states, got_boot = last_states_back(d_last, d_states, d_boot, len(states), offsets, is_reverse)
    step_states, step_boot = random.standard_normal(states.shape), random.standard_normal(boot.shape)
    moved = behind(states + step_states, offsets, boot + step_boot, is_reverse)
    derivative = (d_last * (moved - found)).sum()
    there = ((got_states - d_states) * step_states).sum() + ((got_boot - d_boot) * step_boot).sum()
    np.testing.assert_allclose(there, derivative, atol=1e-12)
    np.testing.assert_array_equal(d_states, kept[0])
    np.testing.assert_array_equal(d_boot, kept[1])
    alone = last_states_back(d_last, None, None, len(states), offsets, is_reverse)
    np.testing.assert_allclose(alone[0], got_states - d_states, atol=1e-12)
    np.testing.assert_allclose(alone[1], got_boot - d_boot, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("sizes", [[3, 0, 5, 1] * 20, [2] * 70, [0, 0]])
def test_last_states_are_the_last_steps_or_boot(sizes, is_reverse, threads):
    offsets, random = np.array(running_sum(sizes)), np.random.default_rng(0)
    states, boot = random.standard_normal((offsets[-1], 2)), random.standard_normal((len(sizes), 2))
    before = lodcore.get_num_threads()
    lodcore.set_num_threads(threads)
    try:
        bundles = bundles_of(offsets, 2**20, is_reverse)
    finally:
        lodcore.set_num_threads(before)
    ends = [states[bundle.starts + (1 - 2 * is_reverse) * (np.array(sizes)[bundle.order] - 1)] for bundle in bundles]
    booted = last_states(bundles, ends, boot, len(sizes))
    np.testing.assert_array_equal(booted, behind(states, offsets, boot, is_reverse))
    found = last_states(bundles, ends, None, len(sizes))
    np.testing.assert_array_equal(found, behind(states, offsets, np.zeros_like(boot), is_reverse))


def pairs(offsets):
    return list(enumerate(pairwise(offsets.tolist())))


def test_lstm_projection_of_no_cells_is_zero():
    """An empty sum is 0, regardless of the previous content of memory."""
    weights = LSTMWeights(np.ones((2, 0)), None, np.zeros(0), None, np.zeros((0, 2)))
    for _ in range(3):
        np.full((3, 2), 7.0)
        hidden = lstm_forward(np.zeros((3, 0)), np.array([0, 2, 3]), weights, GateRule(), None, None, False)[0]
        assert hidden.tolist() == [[0.0, 0.0]] * 3
