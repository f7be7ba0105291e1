"""Operators that no instruction computes, in cells: called in each step, while the rest of the cell stays compiled."""

import gc
import io
from contextlib import nullcontext

import numpy as np
import pytest

import lodcore
from lodcore import Executor, LoDTensor, Program, append_backward, data, nn, ops, value_and_grad
from lodcore.operators.roles import Dense
from lodcore.ops import operator
from lodcore.tensors.tensor import Spec
from tests.helpers.random_cells import (
    COMPILED_CELLS,
    arrays_of,
    assert_near,
    bits,
    compilations,
    numbers,
    operator_by_operator,
    run,
    with_gradients,
)
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, WIDTH = [3, 0, 1, 5, 2, 2], 4


@ops.elementwise_operator
def limited(x, most):
    """Does with arrays what rows that are traced do not."""
    return np.minimum(x[...], most)


@limited.define_vjp
def _(d, x, most):
    return d * (x[...] <= most), d * (x[...] > most)


@operator(x=Dense, table=Dense, results=2)
def looked_up(x, table, scale):
    """Return rows of a table that rows of x choose, and the places of the largest numbers of x, as numbers."""
    at = np.asarray(x).argmax(1)
    return np.asarray(table)[at] * scale, at.astype(x.dtype)


@looked_up.define_infer
def _(x, table, scale):
    return Spec((x.shape[0], *table.shape[1:]), table.dtype), Spec(x.shape[:1], x.dtype)


@looked_up.define_vjp
def _(d, d_at, x, table, scale):
    made = np.zeros_like(table)
    if d is not None:
        np.add.at(made, np.asarray(x).argmax(1), d * scale)
    return np.zeros_like(x), made


@operator(x=Dense)
def centered(x):
    """See all rows of a step."""
    return x - x.mean(0)


@centered.define_infer
def _(x):
    return x


@centered.define_vjp
def _(d):
    return d - d.mean(0)


@operator(weights=Dense, x=Dense)
def weighed(weights, x):
    """Take what all steps share before the rows of a step."""
    return x * weights


@weighed.define_infer
def _(weights, x):
    return x


@weighed.define_vjp
def _(d, weights, x):
    return (d * x).sum(0), d * weights


def limiting(p, x, state):
    h, c = state
    new = limited(x @ p["x"] + h @ p["h"], np.float32(0.4)) * p["s"]
    c = lodcore.sigmoid(new) + c * 0.5
    return {"h": new + c}, (np.tanh(new), c)


def looking_up(p, x, h):
    rows, at = looked_up(h + x @ p["x"], p["table"], 0.5)
    h = np.tanh(rows @ p["h"] + h * 0.5 + lodcore.sigmoid(x @ p["x"]) * p["s"])
    return h + at[:, None] * 0.1, h


def centering(p, x, h):
    h = np.tanh(centered(x @ p["x"] + h @ p["h"] * p["s"]))
    return h, h


def weighing(p, x, h):
    h = np.tanh(weighed(p["s"], x @ p["x"] + h @ p["h"]))
    return h, h


def comparing(p, x, h):
    """A row of numbers and one of bools are operands of an operator that is called."""
    h = np.tanh(x @ p["x"] + h @ p["h"] + p["s"])
    return np.cumsum(np.where(h > 0, h, h * 0.1), axis=1) * 0.5 + h, h


CELLS = {
    "limiting": (limiting, 2),
    "looking up": (looking_up, 1),
    "centering": (centering, 1),
    "weighing": (weighing, 1),
    "cumsum": (comparing, 1),
}


def given(name, dtype="f4"):
    cell, count = CELLS[name]
    shapes = {"x": (3, WIDTH), "h": (WIDTH, WIDTH), "s": (WIDTH,), "table": (WIDTH, WIDTH)}
    parameters = {key: numbers(*shape, dtype=dtype) for key, shape in shapes.items() if key != "table" or count == 1}
    if name != "looking up":
        parameters.pop("table", None)
    states = tuple([numbers(len(LENGTHS), WIDTH, dtype=dtype)] * count)
    x = LoDTensor.from_lengths(numbers(sum(LENGTHS), 3, dtype=dtype), LENGTHS)
    return cell, parameters, x, states if count > 1 else states[0]


@for_each("name", [*CELLS])
@for_each("dtype", ["f4", "f8"])
@for_each("is_reverse", [False, True])
def test_results_and_gradients_are_those_of_the_operators(name, dtype, is_reverse):
    cell, parameters, x, state = given(name, dtype)
    with operator_by_operator():
        wanted = run(cell, parameters, x, state, is_reverse)
    found = []
    for threads in (1, 1, 2):
        lodcore.set_num_threads(threads)
        try:
            with compilations() as compiled:
                found.append(run(cell, parameters, x, state, is_reverse))
        finally:
            lodcore.set_num_threads(1)
        assert all(compiled)
    for one, other in zip(found[0], wanted, strict=True):
        assert_near(one, other, name)
    assert list(map(bits, found[0])) == list(map(bits, found[1])) == list(map(bits, found[2]))


@for_each("name", [*CELLS])
def test_cells_with_called_operators_give_the_same_in_a_program(name):
    cell, parameters, x, state = given(name)
    with Program() as program:
        values = lodcore.tree_map(lodcore.parameter, parameters)
        outputs, _ = nn.dynamic_rnn(cell, values, data("x", (None, 3), "float32", num_levels=1), state)
        outputs = lodcore.tree_leaves(outputs)[0]
        gradients = append_backward(ops.sum(outputs), parameters=values)
    fetch = [outputs, *lodcore.tree_leaves(gradients)]
    found = arrays_of(Executor().run(program, {"x": x}, fetch))
    step = lodcore.vjp(lambda p: lodcore.tree_leaves(nn.dynamic_rnn(cell, p, x, state)[0])[0], parameters)
    wanted = arrays_of([step[0], *lodcore.tree_leaves(step[1](np.ones_like(step[0].values))[0])])
    assert bits(found) == bits(wanted)
    if name == "cumsum":  # which has an operator of the library alone
        file = io.BytesIO()
        lodcore.save(file, program)
        loaded = lodcore.load(io.BytesIO(file.getvalue()))
        assert bits(arrays_of(Executor().run(loaded, {"x": x}, [v.name for v in fetch]))) == bits(found)


@for_each("name", [*CELLS])
def test_a_cell_that_is_called_again_is_compiled_no_more(name):
    """Also with a constant from NumPy, which is another object at each call.

    What is kept is dropped if a Variable of it is still referenced, also by a cycle that the collector has met only in
    part: it does not run here.
    """
    cell, *rest = given(name)
    for count in range(6):
        gc.collect()
        gc.disable()
        try:
            with compilations() as compiled:
                run(cell, *rest)
        finally:
            gc.enable()
        assert count < 2 or not compiled


def test_only_gradients_that_are_asked_for_are_computed():
    cell, parameters, x, state = given("looking up")
    table = parameters.pop("table")

    def of_table(table):
        return nn.dynamic_rnn(cell, {**parameters, "table": table}, x, state)[0]

    value, pull = lodcore.vjp(of_table, table)
    (found,) = pull(np.ones_like(value.values))
    with operator_by_operator():
        (wanted,) = lodcore.vjp(of_table, table)[1](np.ones_like(value.values))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert found.any()


@for_each("back", [False, True])
def test_errors_name_step_and_operator(back):
    calls = []

    @ops.elementwise_operator
    def failing(x):
        calls.append(1)
        if not back and len(calls) > 3:
            raise ValueError("failing: is broken")
        return x[...] * 1

    @failing.define_vjp
    def _(d):
        if back:
            raise ValueError("failing: has no way back")
        return d

    def cell(p, x, h):
        h = np.tanh(x @ p["x"] + failing(h) * p["s"])
        return h, h

    _, parameters, x, state = given("centering")
    parameters.pop("h")
    said = []
    for one_by_one in (False, True):
        calls.clear()
        with (
            operator_by_operator() if one_by_one else nullcontext(),
            pytest.raises(ValueError, match="failing") as raised,
        ):
            run(cell, parameters, x, state)
        said.append(str(raised.value))
    assert back or ": step" in said[0]
    places = [text.partition(": step")[0].partition("failing")[0] for text in said]
    assert places[0] == places[1]


def test_operators_in_cells_whose_results_break_the_shape_rule_raise():
    @operator(x=Dense)
    def halved(x):
        return x[: len(x) // 2]

    @halved.define_infer
    def _(x):
        return x

    @halved.define_vjp
    def _(d, x):
        return np.zeros_like(x)

    _, parameters, x, state = given("centering")
    with pytest.raises(lodcore.ShapeError, match=r"dynamic_rnn: step 0: halved: has 2 rows; 5 are needed"):
        nn.dynamic_rnn(lambda p, x, h: (np.tanh(halved(x @ p["x"] + h) + h), h), parameters, x, state)


def test_operators_that_change_the_number_of_rows_run_in_a_loop():
    _, parameters, x, state = given("centering")

    def cell(p, x, h):
        h = np.tanh(x @ p["x"] + h @ p["h"] + ops.sum(h, axis=0) * p["s"])
        return h, h

    with compilations() as compiled:
        found = run(cell, parameters, x, state)
    assert not any(compiled)
    with operator_by_operator():
        for one, other in zip(found, run(cell, parameters, x, state), strict=True):
            assert_near(one, other, "sums over rows")


CHOICES = {
    "by parameters": lambda p, x, s: np.where(p > 0, p, s),
    "by a constant": lambda p, x, s: np.where(np.array([True, False]), p, s),
    "the other way round": lambda p, x, s: np.where(p > 0, s, p),
    "of the step": lambda p, x, s: np.where(p > 0, p, x) + s,
    "inside a function": lambda p, x, s: np.tanh(np.where(p > 0, p, s)),
}


@for_each("name", CHOICES)
def test_choices_that_all_steps_share_have_the_gradients_of_a_loop(name):
    x, boot = LoDTensor.from_lengths(np.linspace(0, 1, 6).reshape(3, 2), [2, 1]), np.ones((2, 2))
    p = np.array([0.5, -0.7])

    def of_cell(p, boot):
        every, last = nn.dynamic_rnn(lambda p, x, s: (x * p, CHOICES[name](p, x, s)), p, x, boot)
        return ops.sum(every) + ops.sum(last * 3)

    def by_hand(p, boot):
        first = CHOICES[name](p, x.values[[0, 2]], boot)
        second = CHOICES[name](p, x.values[1], first[0])
        return ops.sum(x.values * p) + ops.sum((second + first[1]) * 3)

    found, wanted = (value_and_grad(f, (0, 1))(p, boot) for f in (of_cell, by_hand))
    np.testing.assert_allclose(found[0], wanted[0])
    for one, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@for_each(
    "summary",
    [
        ops.sum,
        ops.mean,
        ops.max,
        lambda z: ops.sum(np.tanh(z)),
        lambda z: ops.sum(ops.sequence_pool(z, "mean")),
        lambda z: ops.sum(z) * ops.sum(z * z),
    ],
)
def test_sequences_around_a_cell_are_summarized_before_its_first_step(summary, dtype):
    x = lodcore.LoDTensor.from_lengths(numbers(6, 2, dtype=dtype), [2, 0, 4])
    other = lodcore.array([[1.0, 2.0], [], [3.0]], dtype=dtype)

    def steps(x, z):
        def cell(_, row, state):
            state = np.tanh(row * summary(z) + state)
            return state, state

        return nn.dynamic_rnn(cell, None, x, np.zeros((3, 2), dtype))

    for z in (other, x[:, :, 0]):
        found = with_gradients(steps, x, z)
        with operator_by_operator():
            wanted = with_gradients(steps, x, z)
        for one, two, what in zip(found, wanted, ("results", "gradients"), strict=True):
            assert_near(one, two, what)
        assert bits(arrays_of(steps(x, z))) == bits(found[0])
