"""Scopes of the steps of a compiled cell: computed from what the run kept, when they are looked at."""

import gc
import weakref

import numpy as np
import pytest

import lodcore
from lodcore import Executor, LoDTensor, Program, append_backward, data, nn, ops
from tests.helpers.random_cells import numbers
from tests.helpers.tables import for_each

pytestmark = [
    pytest.mark.not_on_reference,
    pytest.mark.skipif(not lodcore.kernels.matrix.is_fast(), reason="nothing is compiled without fused products"),
]

LENGTHS, WIDTH = [3, 0, 1, 5, 2], 4


def program_of(rng, outer, is_reverse=False):
    """Record a cell that reads a parameter, an array from outside, and columns of it."""

    def cell(p, x, h):
        new = np.tanh(x @ p + h @ (outer[:, :WIDTH] if outer.shape[1] > WIDTH else outer))
        return new, nn.dropout(new, 0.5, rng) + h * 0.5

    with Program() as program:
        w = lodcore.parameter(numbers(3, WIDTH), name="w")
        x = data("x", (None, 3), "float32", num_levels=1)
        outputs, _ = nn.dynamic_rnn(cell, w, x, numbers(len(LENGTHS), WIDTH), is_reverse=is_reverse)
        gradient = append_backward(ops.sum(outputs), parameters=w)
    return program, [outputs, gradient]


@for_each("is_reverse", [False, True])
@for_each("gradient", [False, True])
def test_scopes_of_steps_hold_the_computed_values(is_reverse, gradient):
    x = LoDTensor.from_lengths(numbers(sum(LENGTHS), 3), LENGTHS)
    rng, outer = np.random.default_rng(0), numbers(WIDTH, 2 * WIDTH)
    program, fetch = program_of(rng, outer, is_reverse)
    executor = Executor()
    outputs = executor.run(program, {"x": x}, fetch[: 1 + gradient], keep_scopes=not gradient)[0]
    before = rng.bit_generator.state
    (run,) = executor.scope.kids
    (loop,) = [kid for kid in run.kids if kid.title == "recurrence"]
    assert len(loop.kids) >= 5
    drawn = np.random.default_rng(0)
    for t, step in enumerate(loop.kids[:5]):
        given = {name: np.asarray(step.find_var(name).get()) for name in ("tanh", "dropout", "matmul")}
        rows = sorted((-length, k) for k, length in enumerate(LENGTHS))
        places = [k for _, k in rows if LENGTHS[k] > t]
        ends = np.cumsum(LENGTHS)
        at = [ends[k] - 1 - t if is_reverse else ends[k] - LENGTHS[k] + t for k in places]
        np.testing.assert_allclose(given["tanh"], outputs.values[at], rtol=1e-6)
        np.testing.assert_array_equal(given["dropout"], nn.dropout(given["tanh"], 0.5, drawn))
        np.testing.assert_allclose(given["matmul"], x.values[at] @ numbers(3, WIDTH), rtol=1e-5, atol=1e-6)
        assert not step.find_var("tanh").get().flags.writeable
    assert rng.bit_generator.state == before
    assert loop.kids == loop.kids
    assert "step 4" in str(executor.scope)


def test_scopes_of_steps_hold_large_values_and_nan_beside_small_ones():
    """What the run computed in another order differs by more the larger the numbers are, in any row."""
    lengths, width, outer = [4, 3], 67, numbers(5, 5)
    values = numbers(sum(lengths), width)
    values[4:] *= 1e7
    values[2, 0], values[5, 0] = np.nan, np.inf
    x = LoDTensor.from_lengths(values, lengths)

    def cell(p, x, h):
        new = x @ p + h @ outer
        return np.abs(new), new

    with Program() as program:
        w = lodcore.parameter(numbers(width, 5), name="w")
        outputs, _ = nn.dynamic_rnn(cell, w, data("x", (None, width), "float32", num_levels=1), numbers(2, 5))
        gradient = append_backward(ops.sum(outputs), parameters=w)
    executor = Executor()
    outputs = executor.run(program, {"x": x}, [outputs, gradient])[0]
    steps = executor.scope.kids[0].kids[0].kids
    for t, places in enumerate([[0, 4], [1, 5], [2, 6], [3]]):
        np.testing.assert_array_equal(np.abs(steps[t].find_var("add").get()), outputs.values[places])


def test_a_look_after_an_outer_array_was_written_raises():
    x = LoDTensor.from_lengths(numbers(sum(LENGTHS), 3), LENGTHS)
    outer = numbers(WIDTH, WIDTH)
    program, fetch = program_of(None, outer)
    executor = Executor()
    executor.run(program, {"x": x}, fetch)
    outer += 1
    (run,) = executor.scope.kids
    with pytest.raises(lodcore.GraphError, match="an array that the steps read was written since the run"):
        run.kids[0].kids  # noqa: B018  it is computed when it is looked at


def test_scopes_end_with_the_next_run():
    x = LoDTensor.from_lengths(numbers(sum(LENGTHS), 3), LENGTHS)
    program, fetch = program_of(None, numbers(WIDTH, 2 * WIDTH))
    executor = Executor()
    executor.run(program, {"x": x}, fetch)
    record = weakref.ref(executor.scope.kids[0].kids[0])
    assert record() is executor.scope.kids[0].kids[0]
    executor.run(program, {"x": x}, fetch[:1])
    gc.collect()
    assert record() is None


@for_each(
    "after",
    [
        lambda y, s: ops.softmax(y) * 2.0,
        lambda y, s: np.tanh(ops.softmax(y)),
        lambda y, s: np.tanh(ops.relu(np.tanh(y))),
        lambda y, s: np.tanh(y) * 0.5 + s,
        lambda y, s: ops.softmax(y + s),
    ],
)
def test_scopes_of_steps_hold_products_over_which_the_run_has_written(after):
    x, w, state = LoDTensor.from_lengths(numbers(6, 3), [4, 2]), numbers(3, 4), numbers(2, 4)
    with Program() as program:
        given = data("x", (None, 3), "float32", num_levels=1)
        outputs, last = nn.dynamic_rnn(lambda w, x, s: (s, after(x @ w, s)), w, given, state)
    executor = Executor()
    executor.run(program, {"x": x}, [outputs, last], keep_scopes=True)
    (run,) = executor.scope.kids
    (loop,) = [kid for kid in run.kids if kid.kids]
    for t, step in enumerate(loop.kids):
        rows = [t, 4 + t][: 1 + (t < 2)]
        product = next(name for name in ("matmul", "linear") if step.find_var(name) is not None)
        np.testing.assert_allclose(step.find_var(product).get(), x.values[rows] @ w, rtol=1e-5, atol=1e-6)
    assert "step 3" in str(executor.scope)
