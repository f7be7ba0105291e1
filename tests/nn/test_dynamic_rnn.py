"""dynamic_rnn: cells of users over trees of inputs and states, at every level, in every way of running."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import (
    DTypeError,
    Executor,
    LevelError,
    LoDError,
    LoDTensor,
    Program,
    ShapeError,
    append_backward,
    array,
    data,
    grad_check,
    nn,
    ops,
    tree_map,
    vjp,
    while_loop,
)
from lodcore.testing import assert_equal
from lodcore.testing.samples import bits
from reference.nn.dynamic_rnn import dynamic_rnn as meaning
from tests.helpers.draw import lods
from tests.nn.networks import STRUCTURES, assert_same, batch


def decay(weight, x, h):
    """Mix a state with an input."""
    h = h * weight + x
    return h * 2.0, h


def summing(parameters, x, total):
    return total + x, total + x


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), [(list, float), (dict, float), (list, np.float16)])
def test_dynamic_rnn_of_several_inputs_equals_one_with_all_columns(kind, dtype, is_reverse):
    """Several inputs give what one input with all their columns gives, also in steps that are not compiled."""
    random = np.random.default_rng(3)
    joined = LoDTensor.from_lengths(random.standard_normal((9, 3)).astype(dtype), [4, 0, 3, 2])
    parts = [joined.with_values(np.ascontiguousarray(joined.values[:, k])) for k in range(3)]
    inputs = parts if kind is list else dict(zip("abc", parts, strict=True))

    def of_parts(_, x, h):
        a, b, c = x if kind is list else (x["a"], x["b"], x["c"])
        return a + 2.0 * b * h, h * 0.5 + a - b + 3.0 * c

    outputs, last = nn.dynamic_rnn(of_parts, None, inputs, np.ones(4, dtype), is_reverse=is_reverse)
    h, wanted = np.ones(4), []
    for s, part in enumerate(joined.tolist()):
        found = []
        for a, b, c in part[::-1] if is_reverse else part:
            found.append(a + 2.0 * b * h[s])
            h[s] = h[s] * 0.5 + a - b + 3.0 * c
        wanted += found[::-1] if is_reverse else found
    near = {"rtol": 1e-2, "atol": 1e-2} if dtype is np.float16 else {"rtol": 1e-7}
    np.testing.assert_allclose(outputs.values, wanted, **near)
    np.testing.assert_allclose(last, h, **near)


@given(lods(1, 3, 6), st.data(), st.booleans(), st.integers(0, 2**32))
def test_dynamic_rnn_along_any_level_and_direction_equals_the_reference(lod, draw, is_reverse, seed):
    """A step of sequences adds their sums to the state, and returns itself as output."""
    random = np.random.default_rng(seed)
    level = draw.draw(st.integers(-lod.num_levels, lod.num_levels - 1))
    k, count = level % lod.num_levels, lod.num_sequences(level)
    x, state = LoDTensor(random.standard_normal(lod.num_rows), lod), random.standard_normal(count)
    inner = lod.num_levels - k - 1

    def total(x):
        return x if isinstance(x, float) else sum(map(total, x))

    def cell(parameters, x, h):
        here = x
        for _ in range(inner):
            here = lodcore.sequence_pool(here, "sum")
        return x * 2.0, h * 0.5 + here

    def plain(x, h):
        return doubled(x), h * 0.5 + total(x)

    kept = [bits(x), bits(state)]
    outputs, last = nn.dynamic_rnn(cell, None, x, state, level, is_reverse)
    wanted, lasts = meaning(plain, x.tolist(), k, state.tolist(), is_reverse)
    assert outputs.lod == x.lod
    assert outputs.tolist() == wanted
    np.testing.assert_allclose(last, lasts, rtol=1e-9, atol=1e-9)
    assert [bits(x), bits(state)] == kept


def doubled(x):
    return x * 2.0 if isinstance(x, float) else [doubled(one) for one in x]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_gradients_of_dynamic_rnn_are_derivatives(structure):
    x = batch(STRUCTURES[structure])
    state = np.random.default_rng(1).standard_normal((x.lod.num_sequences(-1), 3))
    for is_reverse in (False, True):
        grad_check(
            lambda w, x, s, r=is_reverse: nn.dynamic_rnn(decay, w, x, s, is_reverse=r), np.full(3, 0.5), x, state
        )


def test_trees_of_inputs_outputs_and_states():
    """Inputs of several dtypes and depths, and states, one of which is constant and one consists of sequences."""
    words = array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    flags, memory = words.with_values(np.array([0, 1, 1, 0, 1])), array([[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]])

    def cell(scale, x, state):
        seen = lodcore.sequence_pool(state["memory"], "sum")
        total = state["total"] + scale["by"] * x["word"]
        return (total * seen, [x["flag"]]), {"total": total, "count": state["count"] + 1, "memory": state["memory"]}

    state = {"total": np.zeros(3), "count": np.zeros(3, int), "memory": memory}
    scale = {"by": np.array(2.0)}
    (totals, (same,)), last = nn.dynamic_rnn(cell, scale, {"word": words, "flag": flags}, state)
    assert totals.tolist() == [[2.0, 6.0], [], [90.0, 210.0, 360.0]]
    assert_same(same, flags, 0)
    assert_same(last, {"total": np.array([6.0, 0.0, 24.0]), "count": np.array([2, 0, 3]), "memory": memory}, 0)
    grad_check(
        lambda scale, words, total, memory: nn.dynamic_rnn(
            cell, scale, {"word": words, "flag": flags}, {"total": total, "count": state["count"], "memory": memory}
        )[0][0],
        scale,
        words,
        np.ones(3),
        memory,
    )


def test_a_state_of_sequences_that_grows():
    """Each state is a sequence, to which a step appends its input."""
    x = array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    boot = array([[10.0], [], []])

    def appended(parameters, x, seen):
        one_each = ops.insert_level(x, 0)
        new = lodcore.sequence_concat([seen, one_each])
        return lodcore.sequence_pool(new, "sum"), new

    outputs, last = nn.dynamic_rnn(appended, None, x, boot)
    assert outputs.tolist() == [[11.0, 13.0], [], [3.0, 7.0, 12.0]]
    assert last.tolist() == [[10.0, 1.0, 2.0], [], [3.0, 4.0, 5.0]]
    grad_check(lambda x, boot: nn.dynamic_rnn(appended, None, x, boot), x, boot)


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Both:
    first: Any
    second: Any


@pytest.mark.parametrize(
    "form", [Pair, Both, lambda a, b: (a, b), lambda a, b: [a, b], lambda a, b: {"first": a, "second": b}]
)
def test_trees_of_all_forms(form):
    x = array([[1.0, 2.0], [], [3.0]])

    def part(tree, k):
        return tree[k] if isinstance(tree, (tuple, list)) else getattr(tree, ["first", "second"][k], None)

    def cell(parameters, inputs, state):
        if isinstance(inputs, dict):
            return form(inputs["first"], state["first"]), form(state["second"], inputs["second"])
        return form(part(inputs, 0), part(state, 0)), form(part(state, 1), part(inputs, 1))

    outputs, last = nn.dynamic_rnn(cell, None, form(x, x * 10.0), form(np.zeros(3), np.ones(3)))
    wanted = form(x, x.with_values(np.array([0.0, 1.0, 0.0])))
    assert type(outputs) is type(wanted)
    assert_same(outputs, wanted, 0)
    assert_same(last, form(np.array([10.0, 0.0, 1.0]), np.array([20.0, 1.0, 30.0])), 0)


def test_dynamic_rnn_of_one_sequence_does_not_advance_an_integer_state():
    """An integer of one element would be a counter of the loop."""
    x = array([[1.0, 2.0, 3.0]])
    outputs, last = nn.dynamic_rnn(lambda p, x, s: (s, s), None, x, np.array([7]))
    assert (outputs.tolist(), last.tolist()) == ([[7, 7, 7]], [7])
    _, last = nn.dynamic_rnn(lambda p, x, s: (x, s + 2), None, x, np.array([7]))
    assert last.tolist() == [13]


def test_a_cell_without_a_state():
    x = array([[1.0, 2.0], [], [3.0]])
    outputs, last = nn.dynamic_rnn(lambda p, x, s: (x * 2.0, s), None, x, ())
    assert outputs.tolist() == [[2.0, 4.0], [], [6.0]]
    assert last == ()


def test_gradients_of_unused_inputs_of_a_cell_are_zeros():
    def unused(p, x, h):
        lodcore.matmul(h, p)
        return x, h

    x, h, w = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 0, 1]), np.full((3, 2), 0.5), np.eye(2)
    cells = [unused, lambda p, x, h: (h, h), lambda p, x, h: (x, x), lambda p, x, h: (h, x)]
    for cell in cells:
        together = vjp(lambda *given, cell=cell: nn.dynamic_rnn(cell, *given), w, x, h)[1]
        alone = [
            vjp(lambda w, cell=cell: nn.dynamic_rnn(cell, w, x, h), w)[1],
            vjp(lambda x, cell=cell: nn.dynamic_rnn(cell, w, x, h), x)[1],
            vjp(lambda h, cell=cell: nn.dynamic_rnn(cell, w, x, h), h)[1],
        ]
        for d in [(np.ones((3, 2)), h), (np.ones((3, 2)), None), (None, h)]:
            for pullback, expected in zip(alone, together(*d), strict=True):
                assert_equal(pullback(*d)[0], expected)


def test_a_cell_reads_the_result_of_a_loop_at_every_call():
    x, h = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 0, 1]), np.full((3, 2), 0.5)

    def doubled(scale):
        loop = while_loop()
        with loop.loop():
            s = loop.loop_var(scale)
            loop.break_if(loop.step() >= 1)
            s.update(s * 2.0)
        return s

    def loss(scale, x, h, read):
        outputs, last = nn.dynamic_rnn(lambda _, x, h: (x * read(scale), h + x), None, x, h)
        return ops.sum(outputs) + ops.sum(last)

    def twice(scale, x, h):
        result = doubled(scale)
        return loss(scale, x, h, lambda _: lodcore.add(result, 0.0))

    def at_once(scale, x, h):
        return loss(scale, x, h, lambda s: s * 2.0)

    scales = np.array([1.0, 3.0, 3.0, 5.0, 7.0, 9.0])
    known = [vjp(at_once, scale, x, h) for scale in scales]
    for scale, (expected, expected_pullback) in zip(scales, known, strict=True):  # the cell's record is kept
        y, pullback = vjp(twice, scale, x, h)
        assert float(y) == float(expected)
        for found, wanted in zip(pullback(1.0), expected_pullback(1.0), strict=True):
            assert_equal(found, wanted)
    assert [float(twice(scale, x, h)) for scale in scales] == [float(y) for y, _ in known]


def test_a_cell_makes_its_own_initial_state():
    class Cell:
        def __call__(self, parameters, x, state):
            return summing(parameters, x, state)

        def initial_state(self, parameters, n):
            return np.full(n, parameters["start"])

    x = array([[1.0, 2.0], [], [3.0]])
    parameters = {"start": 10.0}
    assert nn.dynamic_rnn(Cell(), parameters, x)[1].tolist() == [13.0, 10.0, 13.0]
    assert nn.dynamic_rnn(Cell(), parameters, array([[[1.0], [2.0]], []]), level=-1)[1].tolist() == [11.0, 12.0]
    given, _ = vjp(lambda x: nn.dynamic_rnn(Cell(), parameters, x)[1], x)
    assert given.tolist() == [13.0, 10.0, 13.0]


def test_per_sequence_inputs_are_expanded():
    x, v = array([[1.0, 2.0], [], [3.0]]), np.array([10.0, 20.0, 30.0])

    def run(x, v):
        expanded = lodcore.sequence_expand_as(v, x)
        return nn.dynamic_rnn(lambda p, x, s: (s + x[0] * x[1], s + x[0] * x[1]), None, (x, expanded), np.zeros(3))

    assert run(x, v)[1].tolist() == [30.0, 0.0, 90.0]
    grad_check(run, x, v)


def test_a_step_may_give_sequences_of_other_lengths():
    """Below the level of the loop, outputs have the structure that the cell returns."""
    x = array([[[1.0, 2.0], []], [], [[3.0, 4.0, 5.0]]])

    def cell(parameters, x, total):
        total = total + lodcore.sequence_pool(x, "sum")
        return lodcore.sequence_concat([x, x]), total

    outputs, last = nn.dynamic_rnn(cell, None, x, np.zeros(3), level=0)
    assert outputs.tolist() == [[[1.0, 2.0, 1.0, 2.0], []], [], [[3.0, 4.0, 5.0, 3.0, 4.0, 5.0]]]
    assert last.tolist() == [3.0, 0.0, 12.0]
    grad_check(lambda x: nn.dynamic_rnn(cell, None, x, np.zeros(3), level=0), x)


def test_dynamic_rnn_gives_the_same_in_the_body_of_while_loop():
    """It runs as a part of each step, with gradients."""
    x = batch(STRUCTURES["empty within"])

    def three_times(w, x):
        loop = while_loop()
        with loop.loop():
            at, state = loop.loop_var(0), loop.loop_var(np.zeros((6, 3)))
            loop.break_if(at >= 3)
            state.update(nn.dynamic_rnn(decay, w, x, state)[1])
        return state

    w = np.full(3, 0.5)
    wanted = np.zeros((6, 3))
    for _ in range(3):
        wanted = nn.dynamic_rnn(decay, w, x, wanted)[1]
    np.testing.assert_allclose(three_times(w, x).get(), wanted, rtol=1e-12)
    grad_check(three_times, w, x)


# -- several inputs ------------------------------------------------------------------------------------------------

FLAT, NESTED = array([[1.0, 2.0], [], [3.0]]), array([[[1.0, 2.0], []], [], [[3.0]]])
UNLIKE = [
    ((FLAT, array([[1.0, 2.0], [3.0], []])), -1, r"x\[1\]: sequence 1 of level 0 has length 1; that of x\[0\] has 0"),
    ((FLAT, FLAT, array([[1.0, 2.0], [3.0], []])), -1, r"x\[2\]: sequence 1 of level 0 has length 1; that of x\[0\]"),
    ((FLAT, array([[1.0]])), 0, r"x\[1\]: has 1 sequences at level 0; x\[0\] has 3"),
    (
        {"a": NESTED, "b": array([[[1.0], [9.0]], [], [[3.0]]])},
        1,
        r"x\['b'\]: sequence 0 of level 1 has length 1; that of x\['a'\] has 2",
    ),
    ({"a": FLAT, "b": [NESTED]}, -1, r"x\['b'\]\[0\]: has 2 levels, x\['a'\] 1, so level -1 is not the same"),
]


@pytest.mark.parametrize(("x", "level", "says"), UNLIKE, ids=[says for _, _, says in UNLIKE])
def test_inputs_of_other_sequences_are_refused(x, level, says):
    with pytest.raises(LoDError, match=f"dynamic_rnn: {says}"):
        nn.dynamic_rnn(lambda p, x, s: (s, s), None, x, np.zeros(3), level)


def test_inputs_of_a_program_are_compared_when_it_runs():
    with Program() as program:
        x, y = (data(name, (None,), "float64", num_levels=1) for name in "xy")
        outputs, _ = nn.dynamic_rnn(lambda p, x, s: (x[0] * x[1] + s, s), None, (x, y), np.zeros(3))
    found = Executor().run(program, {"x": FLAT, "y": FLAT}, [outputs])
    assert found[0].tolist() == [[1.0, 4.0], [], [9.0]]
    with pytest.raises(
        LoDError, match=r"dynamic_rnn: x\[1\]: sequence 1 of level 0 has length 1; that of x\[0\] has 0"
    ):
        Executor().run(program, {"x": FLAT, "y": array([[1.0, 2.0], [3.0], []])}, [outputs])


def test_dynamic_rnn_takes_inputs_that_differ_below_the_level():
    """Sentences together with one number each."""
    sentences, scores = NESTED, array([[10.0, 20.0], [], [30.0]])

    def cell(parameters, x, s):
        made = s + lodcore.sequence_pool(x[0], "sum") * x[1]
        return made, made

    outputs, last = nn.dynamic_rnn(cell, None, (sentences, scores), np.zeros(3), level=0)
    assert outputs.tolist() == [[30.0, 30.0], [], [90.0]]
    assert last.tolist() == [30.0, 0.0, 90.0]


# -- unrolled ------------------------------------------------------------------------------------------------------


def test_static_rnn_is_the_same_loop_unrolled():
    steps = np.random.default_rng(0).standard_normal((4, 5, 3))
    x = LoDTensor.from_lengths(steps.swapaxes(0, 1).reshape(20, 3), [4] * 5)
    state, w = np.random.default_rng(1).standard_normal((5, 3)), np.full(3, 0.5)
    outputs, last = nn.static_rnn(decay, w, steps, state)
    looped, looped_last = nn.dynamic_rnn(decay, w, x, state)
    assert len(outputs) == 4
    np.testing.assert_allclose(np.stack(outputs, 1).reshape(20, 3), looped.values, rtol=1e-12)
    np.testing.assert_allclose(last, looped_last, rtol=1e-12)
    grad_check(lambda w, x, s: nn.static_rnn(decay, w, x, s), w, steps, state)
    assert nn.static_rnn(decay, w, [], state) == ([], state)


def test_static_rnn_of_layers():
    layer = nn.Stacked([nn.LSTM(3, 2, peepholes=True), nn.GRU(2, 2)])
    parameters = layer.init(np.random.default_rng(0), np.float64)
    steps = np.random.default_rng(0).standard_normal((4, 5, 3))
    state = layer.initial_state(parameters, 5)
    found = nn.static_rnn(layer.cell, parameters, list(steps), state)
    assert_same((np.stack(found[0]), found[1]), nn.recurrent_op(layer.cell, parameters, steps, state))
    grad_check(lambda p, x: nn.static_rnn(layer.cell, p, x, state), parameters, steps)


# -- wrong calls ---------------------------------------------------------------------------------------------------

ZEROS = np.zeros(3)
WRONG = [
    (lambda: nn.dynamic_rnn(summing, None, FLAT), ValueError, "initial_state: is missing; the cell makes none"),
    (
        lambda: nn.dynamic_rnn(summing, None, FLAT, np.zeros(2)),
        LoDError,
        r"initial_state: has shape \(2,\); one .* 3 seq",
    ),
    (lambda: nn.dynamic_rnn(summing, None, FLAT, 0.0), LoDError, r"initial_state: has shape \(\)"),
    (lambda: nn.dynamic_rnn(summing, None, FLAT, {"a": [ZEROS, np.zeros(4)]}), LoDError, r"initial_state\['a'\]\[1\]"),
    (lambda: nn.dynamic_rnn(summing, None, FLAT, "zeros"), (DTypeError, LoDError), "initial_state"),
    (lambda: nn.dynamic_rnn(summing, None, np.zeros((2, 3)), ZEROS), DTypeError, "dynamic_rnn: x: is ndarray"),
    (lambda: nn.dynamic_rnn(summing, None, None, ZEROS), DTypeError, "dynamic_rnn: x: is None"),
    (lambda: nn.dynamic_rnn(summing, None, {}, ZEROS), DTypeError, "dynamic_rnn: x: has no tensor"),
    (lambda: nn.dynamic_rnn(summing, None, (FLAT, 3), ZEROS), DTypeError, r"dynamic_rnn: x\[1\]: is int"),
    (lambda: nn.dynamic_rnn(summing, None, LoDTensor.from_lengths(ZEROS), ZEROS), LoDError, "x: has 0 levels"),
    (lambda: nn.dynamic_rnn(summing, None, FLAT, ZEROS, 1), LevelError, "dynamic_rnn: level: is 1; there is 1 level"),
    (lambda: nn.dynamic_rnn(summing, None, FLAT, ZEROS, 0.0), DTypeError, "level: is 0.0; an integer"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: x, None, FLAT, ZEROS), DTypeError, "cell: returned .*; a pair"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (x, s, s), None, FLAT, ZEROS), DTypeError, "cell: returned 3 entries"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (x, (s, s)), None, FLAT, ZEROS), DTypeError, "the next state: is tuple"),
    (
        lambda: nn.dynamic_rnn(lambda p, x, s: (x, s[0]), None, FLAT, (ZEROS, ZEROS)),
        ValueError,
        "next state: is .*; tuple",
    ),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (ops.sum(x), s), None, FLAT, ZEROS), ShapeError, "an output has no axis"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (None, s), None, FLAT, ZEROS), DTypeError, "an output is NoneType"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (2.0, s), None, FLAT, ZEROS), ShapeError, "an output has no axis"),
    (lambda: nn.dynamic_rnn(lambda p, x, s: (x, None), None, FLAT, ZEROS), DTypeError, "the next state: is NoneType"),
    (
        lambda: nn.dynamic_rnn(lambda p, x, s: (x, {"h": x}), None, FLAT, {"h": np.zeros(3, "f4")}),
        DTypeError,
        r"next state\['h'\]: is float64 \(.,\); the state is float32 \(.,\), which may not change",
    ),
    (
        lambda: nn.dynamic_rnn(lambda p, x, s: (x, x), None, FLAT, np.zeros((3, 2))),
        ShapeError,
        r"the next state: is float64 \(.,\); the state is float64 \(., 2\)",
    ),
    (
        lambda: nn.static_rnn(lambda p, x, s: x, None, [1.0], 0.0),
        DTypeError,
        "static_rnn: cell: returned float; a pair",
    ),
]


@pytest.mark.parametrize(
    ("wrong", "error", "says"), WRONG, ids=[f"{k}: {says}" for k, (_, _, says) in enumerate(WRONG)]
)
def test_wrong_calls_of_dynamic_rnn_name_argument_and_value(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def test_a_cell_may_change_the_dict_that_its_initial_states_came_in():
    x = LoDTensor.from_lengths([[1.0], [2.0], [4.0]], [2, 1])
    states = {"sum": np.zeros((2, 1)), "last": np.zeros((2, 1))}

    def cell(parameters, x, state):
        states.clear()
        return state["sum"] + x, {"sum": state["sum"] + x, "last": x}

    outputs, last = lodcore.nn.dynamic_rnn(cell, None, x, states)
    assert outputs.values.ravel().tolist() == [1, 3, 4]
    assert {name: one.ravel().tolist() for name, one in last.items()} == {"sum": [3, 4], "last": [2, 4]}


def test_dynamic_rnn_under_vjp_names_a_wrong_initial_state():
    with pytest.raises(LoDError, match=r"dynamic_rnn: initial_state: has shape \(2,\); one entry for each of 3"):
        vjp(lambda x, s: nn.dynamic_rnn(summing, None, x, s), FLAT, np.zeros(2))


def test_dynamic_rnn_in_a_program_has_the_gradients_of_vjp():
    """Sequences of sequences, a fed state, and the derivatives of both."""
    with Program() as program:
        x = data("x", (None, 3), "float64", num_levels=2)
        state = data("state", (None, 3), "float64")
        pooled = lodcore.sequence_pool(x, "sum")
        outputs, last = nn.dynamic_rnn(decay, np.full(3, 0.5), pooled, state, is_reverse=True)
        append_backward(ops.sum(outputs * outputs) + ops.sum(last))
    for structure in ("two levels", "two levels, empty"):
        given = batch(STRUCTURES[structure])
        boot = np.random.default_rng(0).standard_normal((len(given), 3))

        def run(x, state):
            return nn.dynamic_rnn(decay, np.full(3, 0.5), lodcore.sequence_pool(x, "sum"), state, is_reverse=True)

        wanted, pullback = vjp(run, given, boot)
        d = pullback(2 * wanted[0].values, np.ones_like(boot))
        found = Executor().run(program, {"x": given, "state": boot}, [outputs, last, "x@GRAD", "state@GRAD"])
        assert_same(found, [*wanted, *d])
    assert tree_map(lambda one: one.shape, wanted[1]) == (2, 3)


def test_first_states_may_have_any_order_of_bytes():
    x = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 0, 1])
    state = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
    other = state.astype(state.dtype.newbyteorder())
    weight = np.array([0.5, -0.25])
    made = [nn.dynamic_rnn(decay, weight, x, one) for one in (other, state)]
    for one, wanted in zip(*made, strict=True):
        assert_equal(one, wanted)
    found, wanted = (
        lodcore.value_and_grad(lambda h: ops.sum(nn.dynamic_rnn(decay, weight, x, h)[0]))(one) for one in (other, state)
    )
    assert found[0] == wanted[0]
    assert found[1].dtype == other.dtype
    assert_equal(found[1].astype(state.dtype), wanted[1])
    loop = while_loop()
    with loop.loop():
        step, value = loop.loop_var(0), loop.loop_var(other)
        loop.break_if(step >= 2)
        value.update(value * 2.0)
    assert (value.get() == state * 4.0).all()


WRONG_ROWS = [
    (lambda p, x, s: (x[0], s), "cell: output: has 2 elements at step 1; the input has 1"),
    (lambda p, x, s: (x[:1], s), "cell: output: has 1 elements at step 0; the input has 2"),
    (lambda p, x, s: (x, s[:1]), r"cell: next state: step 0: has shape \(1, 1\); 2 sequences are there"),
]


@pytest.mark.parametrize(("cell", "says"), WRONG_ROWS)
def test_an_output_or_a_state_with_other_rows_is_refused(cell, says):
    x = LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])

    def run(x):
        return nn.dynamic_rnn(cell, None, x, np.zeros((2, 1)))

    for call in (run, lambda x: lodcore.vjp(run, x)):
        with pytest.raises(LoDError, match=f"^dynamic_rnn: {says}"):
            call(x)
