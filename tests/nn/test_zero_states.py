"""The first step of compiled cells: products with states of zeros are not computed, which changes no result."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn
from lodcore.graph.loops.machine import Compiled
from tests.helpers.random_cells import COMPILED_CELLS, run
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, WIDTH = [3, 0, 1, 5, 2], 4


def gru(p, x, h):
    both = lodcore.sigmoid(x @ p["x"] + h @ p["g"])
    z, r = both[:, :WIDTH], both[:, WIDTH:]
    n = np.tanh(x @ p["c"] + (r * h) @ p["h"])
    h = h + z * (n - h)
    return h, h


def with_parts(p, x, state):
    """Multiply columns of a state, and products of two states."""
    h, m = state
    m = np.tanh((h[:, 1:3] * m) @ p["m"] + m * 0.5 + x[:, :2])
    h = np.tanh(x @ p["c"] + (h * h) @ p["h"]) * (h @ p["h"]) + x
    return h, (h, m)


CELLS = {"gru": (gru, (WIDTH,)), "parts": (with_parts, (WIDTH, 2))}
SHAPES = {"x": (WIDTH, 2 * WIDTH), "g": (WIDTH, 2 * WIDTH), "c": (WIDTH, WIDTH), "h": (WIDTH, WIDTH), "m": (2, 2)}


@for_each("name", [*CELLS])
@for_each(
    "odd", [None, ("x", np.nan), ("x", np.inf), ("c", np.inf), ("h", np.nan), ("g", 1e30), ("h", 1e38), ("m", -np.inf)]
)
@for_each("is_reverse", [False, True])
def test_cells_with_zero_states_equal_full_computation(name, odd, is_reverse, monkeypatch):
    cell, widths = CELLS[name]
    random = np.random.default_rng(3)
    parameters = {key: random.standard_normal(shape).astype("f4") for key, shape in SHAPES.items()}
    rows = random.standard_normal((sum(LENGTHS), WIDTH)).astype("f4")
    if odd is not None:
        (rows if odd[0] == "x" else parameters[odd[0]])[0, 1] = odd[1]
    x, found = LoDTensor.from_lengths(rows, LENGTHS), []
    states = [np.zeros((len(LENGTHS), width), "f4") for width in widths]
    state = states[0] if len(states) == 1 else tuple(states)
    with np.errstate(all="ignore"):
        for computed in (False, True):
            with monkeypatch.context() as patch:
                if computed:
                    patch.setattr(Compiled, "_zeros", lambda self, boots, outer: (False,) * len(boots))
                found.append(run(cell, parameters, x, state, is_reverse))
    for some, others in zip(*found, strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_array_equal(one, other)


@for_each("dtype", ["f4", "f8"])
def test_gradients_of_first_states_that_others_need_are_computed(dtype):
    """The gradient of a bias that is added to a state is that of the state, which nobody asks for."""

    def cell(p, x, h):
        h = np.tanh((h + p["b"]) @ p["h"])
        return h, h

    def loss(p, x, h):
        return lodcore.ops.sum(lodcore.nn.dynamic_rnn(cell, p, x, h)[1])

    random = np.random.default_rng(4)
    parameters = {"b": random.standard_normal(WIDTH).astype(dtype), "h": np.eye(WIDTH, dtype=dtype)}
    parameters["h"] += random.standard_normal((WIDTH, WIDTH)).astype(dtype)
    x = LoDTensor.from_lengths(np.zeros((sum(LENGTHS), WIDTH), dtype), LENGTHS)
    for state in (random.standard_normal((len(LENGTHS), WIDTH)).astype(dtype), np.zeros((len(LENGTHS), WIDTH), dtype)):
        _, (wanted, _) = lodcore.value_and_grad(loss, argnums=(0, 2))(parameters, x, state)
        _, found = lodcore.value_and_grad(loss)(parameters, x, state)
        for name in parameters:
            np.testing.assert_array_equal(found[name], wanted[name])
    b, w = parameters["b"][:1].astype("f8"), parameters["h"][:1, :1].astype("f8")
    one = LoDTensor.from_lengths(np.zeros((1, 1)), [1])
    _, found = lodcore.value_and_grad(loss)({"b": b, "h": w}, one, np.full((1, 1), 0.25))
    np.testing.assert_allclose(found["b"], w[0] * (1 - np.tanh((0.25 + b) * w[0]) ** 2), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("make", [nn.SimpleRNN, nn.GRU, nn.LSTM])
def test_weights_that_are_no_numbers_are_not_hidden_by_states_of_zero(make, bad):
    layer, x = make(1, 2), lodcore.LoDTensor.from_lengths(np.ones((3, 1)), [1, 0, 2])
    parameters = layer.init(np.random.default_rng(0), np.float64)
    parameters["weight_h"][:] = bad
    with np.errstate(invalid="ignore"):
        outputs, _ = layer(parameters, x)
        given, _ = layer(parameters, x, layer.initial_state(parameters, 3))
        recorded, _ = lodcore.vjp(lambda parameters: layer(parameters, x)[0].values, parameters)
    np.testing.assert_array_equal(outputs.values, given.values)
    np.testing.assert_array_equal(recorded, given.values)
    assert np.isnan(outputs.values).any()
