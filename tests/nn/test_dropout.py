"""Dropout: the fraction that it drops, the same mask in the backward pass, and when masks are new."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn, ops, vjp, while_loop

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_drops_the_given_fraction_and_scales_the_rest(rate, dtype):
    x = np.ones((200, 500), dtype)
    y = nn.dropout(x, rate, generator())
    assert y.dtype == x.dtype
    assert (y == 0).mean() == pytest.approx(rate, abs=0.005)
    np.testing.assert_allclose(y[y != 0], 1 / (1 - rate), rtol=1e-6)
    assert y.mean() == pytest.approx(1, rel=0.02)


def test_dropout_of_rate_0_and_without_rng_is_the_identity():
    x = LoDTensor.from_lengths(np.array([1.0, np.inf, np.nan]), [1, 0, 2])
    for y in (nn.dropout(x, 0, generator()), nn.dropout(x, 0.5, None), nn.dropout(x, 1, None)):
        np.testing.assert_array_equal(y.values, x.values)
        assert y.lod is x.lod
    np.testing.assert_array_equal(nn.dropout(x, 1.0, generator()).values, np.zeros(3))


def test_gradient_of_dropout_is_zero_where_the_result_is():
    x, rng = np.ones((50, 4)), generator()
    y, pullback = vjp(lambda x: nn.dropout(x, 0.5, rng), x)
    d = generator(1).normal(size=x.shape)
    for _ in range(2):
        np.testing.assert_array_equal(pullback(d)[0], np.where(y != 0, 2 * d, 0))


def test_dropout_in_a_program_draws_a_mask_in_each_run_for_result_and_gradient():
    rng = generator()
    with lodcore.Program() as program:
        x = lodcore.data("x", (None, 3), "float64", num_levels=1)
        y = nn.dropout(x, 0.5, rng)
        lodcore.append_backward(ops.sum(y))
    feed = {"x": LoDTensor.from_lengths(np.ones((40, 3)), [30, 0, 10])}
    runs = [lodcore.Executor().run(program, feed, [y, "x@GRAD"]) for _ in range(2)]
    for found, gradient in runs:
        np.testing.assert_array_equal(found.values, gradient.values)
    assert (runs[0][0].values != runs[1][0].values).any()
    again = generator()
    np.testing.assert_array_equal(runs[0][0].values, nn.dropout(feed["x"], 0.5, again).values)
    np.testing.assert_array_equal(runs[1][0].values, nn.dropout(feed["x"], 0.5, again).values)


def looped(recompute, nested=False):
    """Run a loop with dropout in its body, forward and backward: return value, gradients, and the next draw."""
    rng, others = generator(), [generator(3), generator(4)]

    def run(x, weight):
        loop = while_loop(max_steps=5, recompute=recompute)
        with loop.loop():
            state = loop.loop_var(x)
            loop.break_if(loop.step() >= 3)
            if nested:
                dropped = lodcore.map_fn(lambda row: lodcore.tanh(nn.dropout(row, 0.5, rng)), state) @ weight
            else:
                dropped = lodcore.tanh(nn.dropout(state @ weight, 0.5, rng))
            state.update(nn.dropout(nn.dropout(dropped, 0.2, others[0]), 0.2, others[1]))
        return ops.sum(state * state)

    value, pullback = vjp(run, generator(1).normal(size=(4, 3)), generator(2).normal(size=(3, 3)))
    return float(value), pullback(1.0), [one.random() for one in (rng, *others)]


@pytest.mark.parametrize("nested", [False, True])
def test_a_loop_that_computes_its_steps_again_draws_the_same(nested):
    kept, again = looped(False, nested), looped(True, nested)
    assert (kept[0], kept[2]) == (again[0], again[2])
    for one, other in zip(kept[1], again[1], strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.any(one)


def test_each_step_of_a_loop_has_a_mask_of_its_own():
    rng, masks = generator(), lodcore.TensorArray()
    loop = while_loop()
    with loop.loop():
        loop.break_if(loop.step() >= 2)
        masks.write(loop.step(), nn.dropout(np.ones(100), 0.5, rng))
    assert (masks.read(0) != masks.read(1)).any()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_dropped_numbers_and_zeros_are_zero_where_the_factor_is_too_large_for_the_dtype(dtype):
    rate = 1 - 2.0**-17
    x = lodcore.LoDTensor.from_lengths(np.tile(np.array([0, 1, -0.5], dtype), 100_000), [300_000])
    found, back = vjp(lambda x: nn.dropout(x, rate, generator()), x)
    kept = generator().random(300_000, np.float32) >= np.float32(rate)
    assert kept.any()
    wanted = np.where(kept, x.values * np.array(min(2.0**17, float(np.finfo(dtype).max)), dtype), np.array(0, dtype))
    np.testing.assert_array_equal(found.values, wanted)
    (d,) = back(x)
    np.testing.assert_array_equal(d.values, wanted)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("rate", [0.0, 0.25, 0.37, 0.5, 0.95, 1.0])
def test_the_gradient_is_scaled_as_the_result_is(rate, dtype):
    x = lodcore.LoDTensor.from_lengths(np.ones((40, 3), dtype), [15, 0, 25])
    found, back = lodcore.vjp(lambda x: lodcore.nn.dropout(x, rate, np.random.default_rng(3)), x)
    (d,) = back(np.full((40, 3), 2, dtype))
    assert found.dtype == d.dtype == dtype
    assert d.values.tolist() == (2 * found.values).tolist()
    np.testing.assert_allclose(found.values[found.values != 0], 1 / (1 - rate) if rate < 1 else 0, rtol=1e-3)
