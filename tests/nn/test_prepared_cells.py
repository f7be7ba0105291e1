"""Cells whose parameters are prepared once: steps on arrays, compared with the other ways of running them."""

from functools import partial

import numpy as np
import pytest

import lodcore
from lodcore import nn, value_and_grad

KINDS = {
    "plain": nn.LSTM,
    "peepholes": partial(nn.LSTM, peepholes=True),
    "projection": partial(nn.LSTM, projection=3),
    "all": partial(nn.LSTM, peepholes=True, projection=3, clip=0.3),
    "GRU": nn.GRU,
    "stacked": lambda n_in, n_hidden: nn.Stacked([nn.LSTM(n_in, n_hidden, projection=4), nn.LSTM(4, 2)]),
}


def network(kind, dtype, n_in=4, n_hidden=5, count=6):
    """Draw a layer, its parameters, rows and states."""
    random = np.random.default_rng(5)
    layer = KINDS[kind](n_in, n_hidden)

    def drawn(x):
        return random.standard_normal(x.shape).astype(dtype)

    parameters = lodcore.tree_map(drawn, layer.init(random, dtype))
    state = lodcore.tree_map(drawn, layer.initial_state(parameters, count))
    return layer, parameters, random.standard_normal((count, n_in)).astype(dtype), state


def assert_near(one, other):
    """Compare two trees."""
    for x, y in zip(lodcore.tree_leaves(one), lodcore.tree_leaves(other), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_a_prepared_cell_is_that_of_the_cell(kind, dtype):
    layer, parameters, x, state = network(kind, dtype)
    prepared = layer.cell.prepare(parameters)
    kept = lodcore.tree_map(np.copy, (x, state))
    assert_near(layer.cell(prepared, x, state), layer.cell(parameters, x, state))
    assert_near(layer.cell(prepared, x[:, ::-1], state), layer.cell(parameters, x[:, ::-1], state))
    assert_near(layer.cell(prepared, x[:0], layer.initial_state(parameters, 0)), layer.cell(
        parameters, x[:0], layer.initial_state(parameters, 0)
    ))  # fmt: skip
    for one, other in zip(lodcore.tree_leaves((x, state)), lodcore.tree_leaves(kept), strict=True):
        np.testing.assert_array_equal(one, other)


def test_prepared_parameters_refuse_the_inputs_that_plain_ones_refuse():
    layer, parameters, x, (hidden, cell) = network("plain", np.float64)
    for of in (parameters, layer.cell.prepare(parameters)):
        with pytest.raises(lodcore.ShapeError, match=r"LSTM: input: has rows of shape \(3,\); \(4,\) is needed"):
            layer.cell(of, x[:, :3], (hidden, cell))
        with pytest.raises(ValueError, match="broadcast"):
            layer.cell(of, x, (hidden[:2], cell))


def test_other_dtypes_are_promoted_as_ever():
    layer, parameters, x, state = network("plain", np.float32)
    prepared = layer.cell.prepare(parameters)
    assert_near(layer.cell(prepared, x.astype(float), state), layer.cell(parameters, x.astype(float), state))
    assert_near(layer.cell(prepared, x.tolist(), state), layer.cell(parameters, x.tolist(), state))


def test_a_prepared_cell_has_gradients_of_inputs_and_states():
    layer, parameters, x, state = network("plain", np.float64)
    prepared = layer.cell.prepare(parameters)

    def loss(of):
        return value_and_grad(lambda x, state: lodcore.mean(layer.cell(of, x, state)[0]), (0, 1))(x, state)

    (one, gradients), (other, wanted) = loss(prepared), loss(parameters)
    np.testing.assert_allclose(one, other)
    assert_near(list(gradients), list(wanted))


def test_in_the_body_of_a_loop_steps_are_recorded():
    """If a body reads an array, it reads the content at the time of the run."""
    layer, parameters, x, state = network("plain", np.float64)
    prepared, rows = layer.cell.prepare(parameters), x.copy()
    loop = lodcore.while_loop(loop_vars=[np.zeros((6, 5))])
    with loop.loop(exec_immediately=False):
        step = loop.loop_var(0)
        loop.break_if(lodcore.greater_equal_than(step, 1))
        loop.loop_vars[0].update(layer.cell(prepared, rows, state)[0])
    rows[...] = 0
    loop()
    np.testing.assert_allclose(loop.loop_vars[0].get(), layer.cell(parameters, np.zeros_like(x), state)[0])


def test_a_search_with_a_prepared_cell_finds_the_same():
    layer, parameters, _, state = network("plain", np.float64)
    random = np.random.default_rng(0)
    table, out = random.standard_normal((7, 4)), random.standard_normal((5, 7))

    def search(of):
        def step(ids, state):
            hidden, state = layer.cell(of, table[ids], state)
            logits = hidden @ out
            return logits - np.log(np.exp(logits).sum(1, keepdims=True)), state

        return nn.BeamSearchDecoder(step, 3, 1, 0, 8, num_results=3)(state, 6)

    found, wanted = search(layer.cell.prepare(parameters)), search(parameters)
    assert found.tokens.equals(wanted.tokens)
    np.testing.assert_allclose(found.scores.values, wanted.scores.values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["all", "GRU"])
def test_cells_take_inputs_and_states_of_any_memory_layout(kind, dtype):
    """Of another byte order, with gaps, misaligned, and read-only: input and states."""
    layer, parameters, x, state = network(kind, dtype)
    wanted = layer.cell(parameters, x, state)
    for of in (parameters, layer.cell.prepare(parameters)):
        for odd in (
            lambda x: x.astype(x.dtype.newbyteorder()),
            lambda x: np.repeat(x, 2, 1)[:, ::2],
            np.asfortranarray,
            lambda x: np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
        ):
            for given in ((odd(x), state), (x, lodcore.tree_map(odd, state)), (odd(x), lodcore.tree_map(odd, state))):
                assert_near(layer.cell(of, *given), wanted)


@pytest.mark.skipif(not lodcore.kernels.matrix.is_fast(), reason="nothing is compiled without fused products")
def test_matrices_of_a_gru_are_cut_from_its_buffer_without_indices():
    """Arrays of indices cost more, with their gradients, than all steps of a layer of width 256."""
    layer, parameters, x, state = network("GRU", np.float32)
    with lodcore.Program() as program:
        cell = {name: lodcore.parameter(value) for name, value in parameters.items()}
        nn.dynamic_rnn(layer.cell, cell, lodcore.LoDTensor.from_lengths(x, [1] * 6), state)
    (recurrence,) = [op.arguments["loop"] for op in program.ops if op.name == "recurrence"]
    keys = [op.arguments["keys"] for op in recurrence.ops if op.name == "index_values"]
    assert keys
    assert not any(isinstance(key, np.ndarray) for some in keys for key in some)
