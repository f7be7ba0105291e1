"""cond and IfElse: in every way of running, what plain Python computes, with its derivatives."""

from contextlib import suppress

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, IfElse, LevelError, LoDTensor, ShapeError, TensorArray, cond, ops, vjp
from lodcore.graph import Executor, Program, Variable, append_backward, data, map_fn, parameter, while_loop
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import WAYS, WHILE_RECORDING, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([[0.5, -0.25], [0.75, 0.3], [-0.6, 0.9]])
LISTS = LoDTensor.from_lengths(np.array([0.5, -0.25, 0.75]), [2, 0, 1])
DEEP = LoDTensor.from_lengths(np.array([0.5, -0.25, 0.75, 0.1, -0.9]), [1, 2, 0], [2, 0, 3])
W = np.array([0.5, -0.75])
MASK = np.array([True, False, True])


def select(x, mask, of_true, of_false):
    """Apply functions to the sequences of level 0, or rows, in plain Python."""
    if not isinstance(x, LoDTensor):
        return np.array([(of_true if m else of_false)(row) for row, m in zip(x, mask, strict=True)])
    parts = [(of_true if m else of_false)(part) for part, m in zip(x, mask, strict=True)]
    if x.num_levels > 1:
        return lodcore.concat_batches(
            [LoDTensor.from_lengths(p.values, [p.num_rows and len(p)], p.lengths) for p in parts]
        )
    return LoDTensor.from_arrays(parts)


def one_of_two(loop, x, w):
    return [
        cond(ops.sum(x) > 100, lambda x: lodcore.tanh(x) * w, lambda x: x * x + w, x),
        cond(ops.sum(x) < 100, lambda x: lodcore.tanh(x) * w, lambda x: x * x + w, x),
    ]


def by_mask(loop, x, w):
    return cond(MASK, lambda x: lodcore.tanh(x * w), lambda x: x * x, x)


def by_computed_mask(loop, x, w):
    return cond(ops.sum(x, axis=1) > 0.35, lambda x, y: x * y * w, lambda x, y: lodcore.tanh(x) + y, x, x * 2.0)


def by_mask_of_lists(loop, x, w):
    return cond(lodcore.lod_lengths(x) > 0, lambda x: x * ops.sum(w), lambda x: x + 1.0, x)


def trees(loop, x, w):
    found = cond(
        ops.sum(w) < 0,
        lambda both: {"a": both["x"] * both["w"], "b": (ops.sum(both["x"]), 1)},
        lambda both: {"a": both["x"], "b": (0.0, 2)},
        {"x": x, "w": w},
    )
    return [found["a"], *found["b"]]


def nested(loop, x, w):
    def inside(x):
        return cond(ops.sum(x) > 0.2, lambda x: x * w, lambda x: x - w, x)

    return cond(ops.sum(w) < 0, lambda: inside(x), lambda: x * 1.0)


def nested_in_a_mask(loop, x, w):
    return cond(
        MASK,
        lambda x: cond(ops.sum(x) > 0, lambda: x * w, lambda: x),
        lambda x: cond([True], lambda x: x * x, lambda x: x, x),
        x,
    )


def in_a_loop(loop, x, w):
    around = loop()
    with around.loop():
        t, s = around.loop_var(0), around.loop_var(x)
        around.break_if(t >= 3)
        s.update(cond(t == 1, lambda s: s * w, lambda s: lodcore.tanh(s + w), s))
    return s


def a_loop_inside(loop, x, w):
    def powers(x, steps):
        inner = loop()
        with inner.loop():
            t, s = inner.loop_var(0), inner.loop_var(x)
            inner.break_if(t >= steps)
            s.update(s * w)
        return s

    return cond(ops.sum(w) < 0, lambda x: powers(x, 2), lambda x: powers(x, 3), x)


def nothing_is_true(loop, x, w):
    return cond(np.zeros(3, bool), lambda x: x * ops.sum(w), lambda x: x * x, x)


def writes_one_of_many(loop, x, w):
    array = TensorArray()
    cond(ops.sum(w) > 0, lambda: [array.write(0, x), 1.0][1], lambda: 0.0)
    return ops.sum(array.stack()) + x


def in_a_map(loop, x, w):
    return map_fn(lambda row: cond(ops.sum(row) > 0.4, lambda: row * w, lambda: row * row), x)


def writes_one(loop, x, w):
    array = TensorArray()
    array.write(0, x)

    def write():
        array.write(1, x * w)
        array.write(0, w * array.read(1))
        return 1.0

    cond(ops.sum(w) < 0, write, lambda: 0.0)
    return [array.read(0), array.read(1)]


def writes_both(loop, x, w):
    array = TensorArray()

    def write(at, by):
        def f(x):
            array.write(at, ops.sum(x) * by)
            return x * by

        return f

    y = cond(MASK, write(0, 2.0), write(1, 3.0), x)
    return [y, array.stack() * w]


def block_form(loop, x, w):
    ie = IfElse(MASK)
    with ie.true_block():
        ie.output(ie.input(x) * w, ops.sum(ie.input(x), axis=1))
    with ie.false_block():
        part = ie.input(x)
        ie.output(part * part)
        ie.output(ops.sum(part * w, axis=1))
    return ie()


def of_rows(f):
    return lambda x, w: select(x, MASK, *f(w))


TEXTS = {
    "one of two": (one_of_two, lambda x, w: [x * x + w, np.tanh(x) * w], X, W),
    "one of two lists": (one_of_two, lambda x, w: [x * x + w, np.tanh(x) * w], LISTS, np.array(0.7)),
    "by mask": (by_mask, of_rows(lambda w: (lambda x: np.tanh(x * w), lambda x: x * x)), X, W),
    "by computed mask": (
        by_computed_mask,
        lambda x, w: np.where(x.sum(1, keepdims=True) > 0.35, x * x * 2 * w, np.tanh(x) + 2 * x),
        X,
        W,
    ),
    "by mask of lists": (
        by_mask_of_lists,
        lambda x, w: select(x, x.lengths > 0, lambda x: x * w.sum(), lambda x: x + 1.0),
        LISTS,
        W,
    ),
    "trees": (trees, lambda x, w: [x * w, x.sum(), 1], X, W),
    "nested": (nested, lambda x, w: x * w, X, W),
    "nested in a mask": (nested_in_a_mask, of_rows(lambda w: (lambda x: x * w, lambda x: x * x)), X, W),
    "in a loop": (in_a_loop, lambda x, w: np.tanh(np.tanh(x + w) * w + w), X, W),
    "a loop inside": (a_loop_inside, lambda x, w: x * w**2, X, W),
    "nothing is true": (nothing_is_true, lambda x, w: x * x, X, W),
    "in a map": (
        in_a_map,
        lambda x, w: np.where(x.sum(1, keepdims=True) > 0.4, x * w, x * x),
        X,
        W,
    ),
    "writes one": (writes_one, lambda x, w: [w * x * w, x * w], X, W),
    "writes nothing": (writes_one_of_many, lambda x, w: x, X, W),
    "writes both": (
        writes_both,
        lambda x, w: [x * np.where(MASK, 2.0, 3.0)[:, None], np.array([2 * x[MASK].sum(), 3 * x[~MASK].sum()]) * w],
        X,
        W,
    ),
    "block form": (
        block_form,
        lambda x, w: [
            np.where(MASK[:, None], x * w, x * x),
            np.where(MASK, x.sum(1), (x * w).sum(1)),
        ],
        X,
        W,
    ),
}


@every_way
@for_each("text", list(TEXTS))
def test_cond_and_if_else_equal_python_in_every_way(way, text):
    check(way, *TEXTS[text])


@for_each("level", [0, 1])
def test_sequences_of_any_level_are_divided(level):
    mask = [[True, False, True], [False, True, False]][level]
    wanted_true, wanted_false = lodcore.split_by_mask(DEEP, mask, level)
    seen = []

    def f(x):
        return cond(mask, lambda x: [x * 2.0, seen.append(x.shape)][0], lambda x: -x, x, level=level)

    y, pullback = vjp(f, DEEP)
    wanted = lodcore.merge_by_mask(wanted_true * 2.0, -wanted_false, mask, level)
    lodcore.testing.assert_equal(y, wanted)
    assert y.lod == DEEP.lod
    assert seen == [(None, None, None)]
    signs = lodcore.merge_by_mask(wanted_true * 0.0 + 2.0, wanted_false * 0.0 - 1.0, mask, level)
    lodcore.testing.assert_equal(pullback(y * 0.0 + 1.0)[0], signs)


def test_only_the_chosen_branch_runs():
    """An error in the other one is not raised, and nothing is drawn or written there."""
    index, array, random = np.array([5]), TensorArray(), np.random.default_rng(0)
    before = random.bit_generator.state

    def fails(x):
        array.write(0, x)
        return lodcore.lookup_table(lodcore.nn.dropout(x, 0.5, random), index)

    for run in WHILE_RECORDING.values():
        run(lambda: cond(False, fails, lambda x: x, np.ones(3)))
    assert random.bit_generator.state == before
    assert array.size() == 0
    with pytest.raises(IndexError, match=r"^cond: when_true: lookup_table: ids"):
        cond(True, fails, lambda x: x, np.ones((3, 2)))
    assert array.size() == 0, "nothing is half-written"


def test_recomputed_branches_draw_the_same_numbers():
    def f(x, recompute):
        random = np.random.default_rng(7)
        loop = while_loop(recompute=recompute)
        with loop.loop():
            t, s = loop.step(), loop.loop_var(x)
            loop.break_if(t >= 4)
            s.update(cond(t < 3, lambda s: lodcore.nn.dropout(s, 0.5, random), lambda s: s * 2.0, s))
        return s

    x = np.linspace(1.0, 2.0, 40)
    (y, pull), (again, pull_again) = (vjp(lambda x, r=r: f(x, r), x) for r in (False, True))
    np.testing.assert_array_equal(y, again)
    np.testing.assert_array_equal(pull(np.ones(40))[0], pull_again(np.ones(40))[0])
    assert 0 < np.count_nonzero(y) < 40


def test_values_captured_by_branches_have_gradients():
    table, w = np.arange(8.0).reshape(4, 2), parameter(np.array([2.0, 3.0]), "w")
    with Program() as program:
        c, mask = data("c", (), "bool"), data("mask", (None,), "bool")
        t = parameter(table, "table")
        x = data("x", (None, 2), "float64")
        y = cond(c, lambda: x * w, lambda: lodcore.lookup_table(t, [1, 1, 3]))
        z = cond(mask, lambda x: x * w, lambda x: x, x)
        gradients = append_backward(ops.sum(y) + ops.sum(z))
    assert {v.name for v, _ in gradients} == {"w", "table"}
    for chosen in (True, False):
        feed = {"x": X, "c": chosen, "mask": MASK}
        found = dict(zip("wt", Executor().run(program, feed, ["w@GRAD", "table@GRAD"]), strict=True))
        np.testing.assert_allclose(found["w"], X.sum(0) * chosen + X[MASK].sum(0))
        dense = found["t"].to_dense() if hasattr(found["t"], "to_dense") else found["t"]
        np.testing.assert_array_equal(dense[:, 0], [0, 0, 0, 0] if chosen else [0, 2, 0, 1])


def test_branches_receive_variables_in_every_way():
    seen = []

    def look(x):
        seen.append(x)
        return x

    cond(True, look, look, X)
    cond(MASK, look, look, X)
    assert all(isinstance(x, Variable) and not x.has_value for x in seen)
    assert [x.shape for x in seen] == [(3, 2)] * 2 + [(None, 2)] * 2


def test_values_of_a_branch_that_it_does_not_return_are_refused_outside():
    seen = []
    with Program():
        c, x = data("c", (), "bool"), data("x", (2,), "float64")
        cond(c, lambda: [lodcore.tanh(x), seen.append(x * 2.0), seen.append(TensorArray())][0], lambda: x)
        for call in (lambda: lodcore.tanh(seen[0]), lambda: seen[1].size()):
            with pytest.raises(GraphError, match="was made in a branch; only what the branch returns"):
                call()


def test_cond_result_has_the_shape_and_dtype_common_to_both_branches():
    with Program():
        c = data("c", (), "bool")
        x, y = data("x", (3, 2)), data("y", (4, 2))
        assert cond(c, lambda: x, lambda: x + x).shape == (3, 2)
        assert cond(c, lambda: x, lambda: y).shape == (None, 2)
        assert cond(c, lambda: 1, lambda: 2.5).dtype == np.float64
        assert cond(c, lambda: ops.sum(x), lambda: 2).dtype == np.float32
        array = cond(c, lambda: TensorArray(unstack_from=x), lambda: TensorArray(unstack_from=y))
        assert array.read(0).shape == (2,)


@for_each("way", list(WHILE_RECORDING))
def test_wrong_calls_of_cond_raise_one_text_in_every_way(way):
    run = WHILE_RECORDING[way]
    for error, says, call in WRONG:
        with pytest.raises(error, match=says):
            run(call)
    assert lodcore.tanh(0.0) == 0, "no Block is left open"


def opened_twice():
    ie = IfElse(True)
    with ie.true_block(), ie.false_block():
        pass


def recorded_twice():
    ie = IfElse(True)
    for _ in range(2):
        with ie.true_block():
            pass


def one_block():
    ie = IfElse(True)
    with ie.true_block():
        ie.output(X)
    ie()


def called_inside():
    ie = IfElse(True)
    with ie.true_block():
        ie()


def updates_outside():
    loop = while_loop()
    with loop.loop():
        s = loop.loop_var(1.0)
        loop.break_if(True)
        cond(True, lambda: [s.update(2.0), 1.0][1], lambda: 1.0)


def same(x):
    return x


def writes_others():
    array = TensorArray(name="states")
    cond(True, lambda: [array.write(0, X), 1.0][1], lambda: [array.write(0, MASK), 1.0][1])


STEP = "^(while_loop: step 0: )?"  # of an error in a body

WRONG = [
    (GraphError, "^cond: when_false: states: holds .*bool.* after it; .*float64.* after when_true", writes_others),
    (DTypeError, "^cond: condition: has dtype int64; bool is needed", lambda: cond(1, same, same, X)),
    (DTypeError, "^cond: condition: has dtype float64; bool is needed", lambda: cond([0.5, 1, 0], same, same, X)),
    (DTypeError, "^cond: condition: is LoDTensor; an array of bool", lambda: cond(LISTS > 0, same, same, LISTS)),
    (ShapeError, r"^cond: condition: has shape \(3, 2\)", lambda: cond(X > 0, same, same, X)),
    (DTypeError, "^cond: when_false: is ndarray; a function is needed", lambda: cond(True, same, X, X)),
    (DTypeError, "^cond: level: is 0.5", lambda: cond(MASK, same, same, X, level=0.5)),
    (LevelError, "level: is 1; there is 1 level", lambda: cond(MASK, same, same, LISTS, level=1)),
    (ShapeError, f"{STEP}cond: condition: has 3 entries; there are 2 seq", lambda: cond(MASK, same, same, X[:2])),
    (
        ShapeError,
        f"{STEP}cond: result 0: condition: has 3 entries; when_true has 1 sequences and when_false 1",
        lambda: cond(MASK, lambda x: x[:1], same, X),
    ),
    (
        GraphError,
        r"^cond: when_false: result 0: is float32 \(3, 2\); when_true gives float64 \(3, 2\), and both need",
        lambda: cond(True, same, lambda x: ops.cast(x, "float32"), X),
    ),
    (GraphError, "^cond: when_false: result 0: is float64 ", lambda: cond(True, same, lambda x: ops.sum(x), X)),
    (GraphError, "^cond: when_false: result 0: is float64 ", lambda: cond(MASK, same, lambda x: ops.sum(x, axis=1), X)),
    (GraphError, "^cond: when_true: result 0: is float64 .*with a mask", lambda: cond(MASK, *[ops.sum] * 2, X)),
    (
        GraphError,
        "^cond: when_false: the results.0.: is tuple of 2; list of 1 is needed",
        lambda: cond(True, lambda x: [x], lambda x: (x, x), X),
    ),
    (
        GraphError,
        "^cond: when_true: the results.0.: is Variable; list of 1 is needed, as when_false has",
        lambda: cond(True, same, lambda x: [x], X),
    ),
    (
        GraphError,
        "^cond: when_false: the results.0.: is a dict with keys .'b'.; a dict with keys .'a'. is needed",
        lambda: cond(MASK, lambda x: {"a": x}, lambda x: {"b": x}, X),
    ),
    (GraphError, "^cond: when_false: result 0: is None; the other", lambda: cond(True, same, lambda x: None, X)),
    (
        DTypeError,
        "^cond: when_true: result 0: is str; a tensor is needed",
        lambda: cond(True, lambda: "a", lambda: "a"),
    ),
    (DTypeError, "^cond: input: is a TensorArray", lambda: cond(MASK, same, same, TensorArray())),
    (GraphError, "^IfElse: false_block: a block of it is open", opened_twice),
    (GraphError, "^IfElse: true_block: was recorded already", recorded_twice),
    (GraphError, "^IfElse: when_false: the results: is list of 0; list of 1", one_block),
    (GraphError, "^IfElse: a block of it is open", called_inside),
    (GraphError, "^IfElse: input: no block of it is open", lambda: IfElse(True).input(X)),
    (GraphError, "^IfElse: output: no block of it is open", lambda: IfElse(True).output(X)),
    (GraphError, "^update: loop_var(_1)?: is a loop variable of a Block that is not the open one", updates_outside),
]


def test_error_while_a_branch_is_recorded_is_raised_and_closes_all_blocks():
    ran = []

    def fails(x):
        ran.append("recorded")
        raise RuntimeError("of the user")

    for way in WAYS.values():
        with pytest.raises(RuntimeError, match="of the user"):
            way(lambda loop, x: cond(True, fails, same, x), X)
    assert lodcore.tanh(0.0) == 0
    assert len(ran) == len(WAYS)


def test_an_error_in_a_branch_leaves_nothing_recorded():
    def fails(x):
        raise RuntimeError(lodcore.tanh(x))

    def of_blocks(x, mask):
        ie = IfElse(mask)
        with ie.true_block():
            ie.output(ie.input(x))
        with suppress(RuntimeError), ie.false_block():
            fails(ie.input(x * 2.0))
        with ie.false_block():
            ie.output(ie.input(x))
        return ie()[0]

    with Program() as program:
        x, mask, c = data("x", (None,), "float64"), data("mask", (None,), "bool"), data("c", (), "bool")
        before = list(program.ops)
        for condition, functions in ((mask, [same, fails]), (mask, [fails, same]), (c, [same, fails])):
            with pytest.raises(RuntimeError):
                cond(condition, *functions, x)
        with pytest.raises(GraphError, match="result 0: is float64 "):
            cond(mask, same, ops.sum, x)
        with pytest.raises(RuntimeError):
            map_fn(fails, x)
        assert program.ops == before
        assert "split_by_mask" not in program.names
        y = of_blocks(x, mask)
    assert str(program).count("split_by_mask(") == 1, "both blocks share it"
    feed = {"x": X[:, 0], "mask": MASK, "c": True}
    np.testing.assert_array_equal(Executor().run(program, feed, [y])[0], X[:, 0])


def recorded():
    with Program() as program:
        x = data("x", (None, 2), "float64")
        c, mask = data("c", (), "bool"), data("mask", (None,), "bool")
        w = parameter(W, "w")
        y = cond(c, lambda x: x * w, lambda x: lodcore.tanh(x), x)
        cond(mask, lambda y: y, lambda y: lodcore.tanh(y), y)
    return program


def test_the_text_of_branches():
    assert str(recorded()).splitlines()[5:] == [
        "    cond = cond(c):",
        "        when_true:",
        "            outer x_1 = x  # float64 (., 2)",
        "            outer w_1 = w  # float64 (2,)",
        "            mul = mul(x=x_1, y=w_1)  # float64 (., 2)",
        "            return mul",
        "        when_false:",
        "            outer x_2 = x  # float64 (., 2)",
        "            tanh = tanh(x=x_2)  # float64 (., 2)",
        "            return tanh",
        "    split_by_mask, split_by_mask_1 = split_by_mask(x=cond, mask=mask, level=0)  "
        "# float64 (., 2); float64 (., 2)",
        "    cond_1 = cond:",
        "        when_true:",
        "            outer split_by_mask_2 = split_by_mask  # float64 (., 2)",
        "            return split_by_mask_2",
        "    cond_2 = cond:",
        "        when_false:",
        "            outer split_by_mask_1_1 = split_by_mask_1  # float64 (., 2)",
        "            tanh_1 = tanh(x=split_by_mask_1_1)  # float64 (., 2)",
        "            return tanh_1",
        "    merge_by_mask = merge_by_mask(when_true=cond_1, when_false=cond_2, mask=mask, level=0)  # float64 (., 2)",
    ]


def test_the_picture_of_branches():
    picture = recorded().to_dot()
    assert [line.strip() for line in picture.splitlines() if 'label="when' in line] == [
        'label="when_true of cond";',
        'label="when_false of cond";',
    ] * 1 + ['label="when_true of cond";', 'label="when_false of cond";']
    assert picture.count("{") == picture.count("}")
    places = [line.split()[1] for line in picture.splitlines() if "subgraph" in line]
    assert len(places) == len(set(places))


def test_what_is_none_in_both_branches_stays_none():
    choice = lodcore.Variable(np.array(False))
    found = cond(choice, lambda: (None, choice + 1.0), lambda: (None, choice + 3.0))
    assert (found[0], float(found[1])) == (None, 3.0)
