"""Operators, reductions and NumPy's functions on LoDTensors and Variables."""

import doctest
import inspect
import operator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, GraphError, LevelError, LoD, LoDError, LoDTensor, ShapeError, Spec, vjp
from lodcore.graph import Executor, Program, Variable, data, grad_check
from lodcore.numpy_api.attached_methods import OWN, MethodBodies
from lodcore.numpy_api.protocols import FUNCTIONS, NAMED
from reference.ops.axes import insert_axis, reduce_axis, reduce_below, reduction
from reference.ops.deviation import deviation, variance
from tests.helpers.agree import assert_close, same, same_memory
from tests.helpers.draw import lods
from tests.helpers.texts_in_every_way import rows_of
from tests.samples.common import SEEDS, batches, smooth_values

PAGE = (Path(__file__).parents[2] / "docs/numpy.md").read_text(encoding="utf-8")
NEWER = hasattr(np, "unstack")  # NumPy 2.1, whose clip takes bounds by these names
WORDS = lodcore.array([["the", "cat"], [], ["sat"]])


def like(x, values):
    """Make a tensor of values with the structure of x."""
    return LoDTensor(values, x.lod)


# -- operators -----------------------------------------------------------------------------------------------------

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    divmod,
]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
UNARY = [operator.neg, operator.pos, abs]


def positive(seed, shape, dtype):
    return np.random.default_rng(seed).integers(1, 5, shape).astype(dtype)


@pytest.mark.parametrize("function", [*BINARY, *BITS], ids=lambda f: f.__name__)
@given(
    batches(["i8"], [(), (2,)], positive), SEEDS, st.sampled_from(["nested", "array", "number", "list"]), st.booleans()
)
def test_binary_operators_equal_numpy_in_every_form(function, x, seed, form, swapped):
    floats = function not in BITS
    x = like(x, x.values / 2 if floats else x.values)
    y = positive(seed, x.values.shape if form == "nested" else x.values.shape[1:], "i8")
    y = y / 2 if floats else y
    given_y = {"nested": lambda: like(x, y), "array": lambda: y, "number": lambda: 3, "list": y.tolist}[form]()
    other = 3 if form == "number" else y
    pair = (given_y, x) if swapped else (x, given_y)
    wanted = function(*((other, x.values) if swapped else (x.values, other)))
    found = function(*pair)
    for one, values in zip(*((found, wanted) if function is divmod else ([found], [wanted])), strict=True):
        assert same(one, like(x, values))
        assert one.lod is x.lod


@pytest.mark.parametrize("function", [*UNARY, operator.invert, round], ids=lambda f: f.__name__)
@given(batches(["f4", "f8", "i8"], [(), (2,)]))
def test_unary_operators_equal_numpy(function, x):
    x = like(x, np.nan_to_num(x.values).astype("i8")) if function is operator.invert else x
    wanted = np.round(x.values) if function is round else function(x.values)
    assert same(function(x), like(x, wanted))


def test_powers_equal_numpy():
    x = lodcore.array([[1.0, 2.0], [], [4.0]])
    for power in (2, 0.5, -1, 3, 1.5, 0):
        assert same(x**power, like(x, x.values**power))
    z = lodcore.array([[0.1 + 0.7j, 2.3 - 1.9j], [], [-4.1j]])
    for power in (2, 0.5, -1):
        assert same(z**power, like(z, z.values**power))
    assert same(lodcore.array([[3], [2]]) ** 2, lodcore.array([[9], [4]]))
    assert same(2 ** lodcore.array([[3], [2]]), lodcore.array([[8], [4]]))
    assert round(lodcore.array([[1.25], [-3.75]]), 1).tolist() == [[1.2], [-3.8]]


def test_matmul_and_dot_multiply_each_row_and_refuse_levels_on_the_right():
    x = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [1, 0, 2])
    w = np.arange(8.0).reshape(2, 4)
    assert same(x @ w, like(x, x.values @ w))
    assert same(np.matmul(x, w), x @ w)
    assert same(np.dot(x, w[:, 0]), like(x, x.values @ w[:, 0]))
    for call in (lambda: w.T @ x, lambda: x @ x, lambda: np.dot(w.T, x)):
        with pytest.raises(LoDError, match="levels"):
            call()


def test_operands_with_rows_of_different_widths_broadcast_row_by_row():
    """A row of x is combined with the corresponding row of y, never with another one, even if counts coincide."""
    x = LoDTensor.from_lengths(np.arange(9.0).reshape(3, 3), [1, 2])
    weight = LoDTensor(np.array([1.0, 10.0, 100.0]), x.lod)
    assert (x * weight).values.tolist() == [[0, 1, 2], [30, 40, 50], [600, 700, 800]]
    assert (weight * x).values.tolist() == (x * weight).values.tolist()
    grad_check(lambda x, weight: x * weight + np.where(weight > 5, weight, x), x, weight)
    with pytest.raises(ShapeError, match="per_sequence"):
        weight * np.ones((3, 3))


def test_operands_of_other_types_are_left_to_them_or_refused():
    x = lodcore.array([[1], []])

    class Other:
        def __radd__(self, x):
            return "other"

        __rmul__ = __radd__

    assert x + Other() == "other"
    assert Variable("x", x) * Other() == "other"
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    for call in (lambda: x + None, lambda: {} * x, lambda: x < object()):
        with pytest.raises(TypeError, match=r"not supported|unsupported"):
            call()
    with pytest.raises(DTypeError, match="dtypes int64, str"):
        x + "a"


def test_text_compares_and_selects():
    assert (WORDS == "cat").tolist() == [[False, True], [], [False]]
    assert (WORDS != "cat").tolist() == [[True, False], [], [True]]
    assert WORDS[WORDS != "the"].tolist() == [["cat"], [], ["sat"]]
    assert "sat" in WORDS
    assert "dog" not in WORDS


def test_truth_and_hash():
    x = lodcore.array([[1, 2], []])
    assert bool(lodcore.array([[3], []]))
    assert not lodcore.array([[0]])
    for many in (x, lodcore.array([[], []])):
        with pytest.raises(ValueError, match=r"truth value .* ambiguous"):
            bool(many)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    v = Variable("x", x)
    assert hash(v) == hash(v)
    assert {v: 1}[v] == 1
    with pytest.raises(LoDError, match="sequence 0"):
        _ = x == lodcore.array([[1], [2]])


# -- reductions ----------------------------------------------------------------------------------------------------

NAMES = ["sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin"]
CHOOSE = ["mean", "max", "min", "argmax", "argmin"]  # those with `empty`
NUMBERS = ["f4", "f8", "i8", "i2", "u1", "?"]
ROW_SHAPES = [(), (2,), (2, 3)]


def wanted_reduction(x, function, axis, keepdims):
    """Reduce nested lists; return also the numbers of the reduced rows."""
    nested = x.tolist()
    if axis is None:
        made = function(x.values.ravel().tolist())
        for _ in range(x.ndim if keepdims else 0):
            made = [made]
        return made
    made = reduce_axis(function, nested, axis, x.ndim, x.values.shape[1:])
    return insert_axis(made, axis) if keepdims else made


def marked(nested, axis, depth, place=None):
    """Pair each number with its position along an axis."""
    if depth == 0:
        return place, nested
    return [marked(entry, axis - 1, depth - 1, at if axis == 0 else place) for at, entry in enumerate(nested)]


def wanted_places(x, function, axis, keepdims):
    """Find positions along an axis of levels: those of the sequences that have the number, wherever others end."""

    def place(pairs):
        return pairs[function([number for _, number in pairs])][0]

    made = reduce_axis(place, marked(x.tolist(), axis, x.ndim), axis, x.ndim, x.values.shape[1:])
    return insert_axis(made, axis) if keepdims else made


@pytest.mark.parametrize("name", NAMES)
@given(batches(NUMBERS, ROW_SHAPES), st.data())
def test_reductions_along_any_axis_equal_those_of_nested_lists(name, x, data):
    axis = data.draw(st.one_of(st.none(), st.integers(0, x.ndim - 1)))
    keepdims = data.draw(st.booleans())
    empty = not x.num_rows if axis is None else axis == x.num_levels and not x.lod.lengths(-1).all()
    initial = data.draw(st.sampled_from([None, 0, 1])) if name in ("sum", "prod", "max", "min") else None
    chosen = data.draw(st.sampled_from([None, 0, 1])) if name in CHOOSE and initial is None else None
    settings = {"keepdims": keepdims} | ({} if initial is None else {"initial": initial})
    settings |= {} if chosen is None else {"empty": chosen}

    def call(x):
        return getattr(x, name)(axis, **settings)

    if name.startswith("arg") and axis is None and keepdims:
        with pytest.raises(TypeError, match=name):
            call(x)
        return
    if empty and name in ("max", "min", "argmax", "argmin") and initial is None and chosen is None:
        with pytest.raises(ValueError, match="empty"):
            call(x)
        return
    found = call(x)

    def function(numbers):
        return chosen if chosen is not None and not numbers else start(name, initial)(numbers)

    if name.startswith("arg") and axis is not None and axis < x.num_levels:
        wanted = wanted_places(x, reduction(name), axis, keepdims)
    else:
        wanted = wanted_reduction(x, function, axis, keepdims)
    tolerance = 1e-11 if found.dtype != np.float32 else 2e-5
    assert_close(found.tolist(), wanted, False, tolerance)
    if name in ("sum", "prod", "max", "min", "mean", "any", "all") and initial is None and x.num_rows:
        assert found.dtype == getattr(np, name)(x.values[:1]).dtype
    negative = None if axis is None else axis - x.ndim
    if chosen is None:  # NumPy's functions do not accept it
        assert same_or_equal(getattr(np, name)(x, axis=negative, **settings), found)
    else:
        assert same_or_equal(getattr(lodcore.ops, name)(x, axis=negative, **settings), found)
    assert_recorded(call, x, found)


def start(name, initial):
    """Add an initial number to a reduction."""
    if initial is None:
        return reduction(name)
    return lambda numbers: reduction(name)([initial, *numbers])


def same_or_equal(a, b):
    if isinstance(a, LoDTensor):
        return same(a, b)
    a, b = np.asarray(a), np.asarray(b)
    return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def assert_recorded(function, x, eager):
    """Check that recording with values, and running later without them, return the same."""
    assert same_or_equal(vjp(function, x)[0], eager)
    with Program() as program:
        v = data("x", Spec((None, *x.values.shape[1:]), x.dtype, x.num_levels, LoDTensor))
        y = function(v)
    (later,) = Executor().run(program, feed={"x": x}, fetch=[y])
    assert same_or_equal(later, eager)


@given(batches(["f8", "i8"], ROW_SHAPES), st.data())
def test_reductions_of_several_axes(x, data):
    low = data.draw(st.integers(0, x.num_levels))
    axes = [*range(low, x.num_levels + 1)]
    rows = list(range(x.num_levels + 1, x.ndim))
    axes += data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []
    name = data.draw(st.sampled_from(["sum", "prod", "any", "all"]))
    keepdims = data.draw(st.booleans())
    found = getattr(np, name)(x, axis=tuple(axes), keepdims=keepdims)
    wanted, depth = x.tolist(), x.ndim
    shape = list(x.values.shape[1:])
    for axis in sorted(axes, reverse=True):
        wanted = reduce_axis(reduction(name), wanted, axis, depth, tuple(shape))
        if axis > x.num_levels:
            del shape[axis - x.num_levels - 1]
        depth -= 1
    for axis in sorted(axes) if keepdims else []:
        wanted = insert_axis(wanted, axis)
    assert_close(found.tolist(), wanted, False, 1e-11)


BELOW = {name: reduction(name) for name in NAMES}
BELOW |= {"var": lambda numbers: variance(numbers, 0), "std": lambda numbers: deviation(numbers, 0)}


@pytest.mark.parametrize("name", BELOW)
@given(batches(NUMBERS, ROW_SHAPES), st.data())
def test_reductions_by_level_reduce_all_rows_below_its_sequences(name, x, data):
    x = x if x.dtype.kind != "f" else like(x, np.nan_to_num(x.values))
    level, keepdims = data.draw(st.integers(-x.num_levels, x.num_levels - 1)), data.draw(st.booleans())
    k = level % x.num_levels
    axes = tuple(range(k + 1, x.num_levels + 1))
    empty = {"empty": 0} if name in CHOOSE else {}

    def call(x):
        return getattr(x, name)(keepdims=keepdims, level=level, **empty)

    def function(numbers):
        return 0 if empty and not numbers else BELOW[name](numbers)

    found = call(x)
    wanted = reduce_below(function, x.tolist(), k, x.num_levels, x.values.shape[1:])
    for axis in axes if keepdims else ():
        wanted = insert_axis(wanted, axis)
    assert_close(found.tolist(), wanted, False, 1e-11 if found.dtype != np.float32 else 2e-5)
    if not name.startswith("arg") and not empty:
        assert same_or_equal(getattr(np, name)(x, axis=axes, keepdims=keepdims), found)
    assert_recorded(call, x, found)


def test_reductions_by_level_refuse_levels_that_x_does_not_have():
    x = lodcore.array([[[1.0, 2.0], []], [[3.0]]])
    for name in BELOW:
        function = getattr(lodcore.ops, name)
        with pytest.raises(LevelError, match=f"^{name}: level: is 2; there are 2 levels"):
            function(x, level=2)
        with pytest.raises(LevelError, match=f"^{name}: level: is 0; there are 0 levels"):
            function(x.values, level=0)
        with pytest.raises(DTypeError, match=f"^{name}: level: is 'a'"):
            function(x, level="a")
    with pytest.raises(ValueError, match=r"^max: sequence 1 of level 1 is empty; give empty="):
        x.max(level=1)
    assert x.argmax(level=0, empty=[-1, -1]).tolist() == [1, 0]
    assert x[:, 1:].argmin(level=0, empty=[7, 8]).tolist() == [7, 8]


@given(batches(["f8"], ROW_SHAPES), st.data())
def test_reductions_with_where_equal_those_of_neutral_values(x, data):
    x = like(x, np.nan_to_num(x.values))
    axis = data.draw(st.integers(0, x.ndim - 1))
    held = like(x, np.random.default_rng(data.draw(SEEDS)).random(x.values.shape) < 0.6)
    for name in ("sum", "prod", "any", "all", "mean", "max", "min"):
        initial = {"initial": -9.0 if name == "max" else 9.0} if name in ("max", "min") else {}
        neutral = {"prod": 1.0, "all": True, **initial, "max": -9.0, "min": 9.0}.get(name, 0.0)
        found = getattr(x, name)(axis, where=held, **initial)
        filled = like(x, np.where(held.values, x.values, neutral))
        if name == "mean":
            counts, sums = held.astype(float).sum(axis), filled.sum(axis)
            with np.errstate(all="ignore"):
                wanted = rows_of(sums) / rows_of(counts)
            np.testing.assert_allclose(rows_of(found), wanted)
        else:
            assert_close(found.tolist(), getattr(filled, name)(axis, **initial).tolist(), False, 1e-12)


@given(batches(["f8", "f4", "i8"], [(), (2,)]), st.integers(0, 1), st.data())
def test_var_and_std_along_any_axis_equal_those_of_nested_lists(x, ddof, data):
    x = like(x, np.nan_to_num(x.values))
    axis = data.draw(st.sampled_from([None, *range(x.num_levels, x.ndim)]))
    found = x.var(axis, ddof=ddof)
    if axis is None:
        parts = [x.values]
    elif axis == x.num_levels:
        parts = list(x.flatten() if x.num_levels > 1 else x)
        parts = [x.values[a:b] for a, b in zip(x.lod.offsets(-1)[:-1], x.lod.offsets(-1)[1:], strict=True)]
    else:
        parts = [x.values.T]
    flat = np.asarray(rows_of(found))
    for part, one in zip(parts, [flat] if axis is None or axis > x.num_levels else flat, strict=True):
        count = part.size if axis is None else len(part)
        wanted = part.astype(float).var(axis=None if axis is None else 0, ddof=ddof) if count > ddof else np.nan
        np.testing.assert_allclose(one, np.broadcast_to(wanted, np.shape(one)), rtol=1e-5, atol=1e-6)
    assert same_or_equal(x.std(axis, ddof=ddof), np.sqrt(found))


def test_gradients_of_reductions():
    random = np.random.default_rng(0)
    x = LoDTensor.from_lengths(random.uniform(0.1, 1, (7, 2)), [2, 1], [3, 1, 3])
    for axis in (None, 0, 1, 2, 3, (1, 2), (2, 3), (0, 1, 2)):
        for name in ("sum", "prod", "mean", "max", "min"):
            grad_check(lambda x, name=name, axis=axis: getattr(x, name)(axis), x)
            grad_check(lambda x, name=name, axis=axis: getattr(x, name)(axis, keepdims=True), x)
    for axis in (None, 2, 3, (1, 2)):
        grad_check(lambda x, axis=axis: x.var(axis), x)
        grad_check(lambda x, axis=axis: x[:1, ::2].std(axis), x)
    grad_check(lambda x: x.max(2, initial=0.5), x)
    grad_check(lambda x: x.mean(2, where=x > 0.3), x)


# -- NumPy's functions ---------------------------------------------------------------------------------------------

X = lodcore.array([[1.5, -2.0, 2.5], [], [4.0, 0.0]])
NESTED = LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2)[::-1].copy(), [2, 0, 1], [3, 0, 3])
SAME = [  # calls with the same result on values as on sequences
    ("sin", lambda x: np.sin(x)),
    ("tanh", lambda x: np.tanh(x)),
    ("add", lambda x: np.add(x, 1)),
    ("maximum", lambda x: np.maximum(0, x)),
    ("isnan", lambda x: np.isnan(x)),
    ("arctan2", lambda x: np.arctan2(x, 2)),
    ("float_power", lambda x: np.float_power(np.abs(x), 2)),
    ("add of another dtype", lambda x: np.add(x, 1, dtype="f4", casting="same_kind")),
    ("clip", lambda x: np.clip(x, -1, 2)),
    ("clip below", lambda x: np.clip(x, 0, None)),
    ("clip by name", lambda x: np.clip(x, max=1) if NEWER else x.clip(max=1)),
    ("round", lambda x: np.round(x)),
    ("round to tens", lambda x: np.round(x, -1)),
    ("round to tenths", lambda x: np.around(x * 1.23, 1)),
    ("where", lambda x: np.where(x > 1, x, 0)),
    ("zeros_like", lambda x: np.zeros_like(x)),
    *([("astype", lambda x: np.astype(x, "i2"))] if hasattr(np, "astype") else []),
    ("ones_like", lambda x: np.ones_like(x, "i4")),
    ("full_like", lambda x: np.full_like(x, 7)),
    ("copy", lambda x: np.copy(x)),
    ("nan_to_num", lambda x: np.nan_to_num(x, nan=1.0)),
    ("isclose", lambda x: np.isclose(x, 2.5)),
    ("isin", lambda x: np.isin(x, [4, 0])),
    ("real", lambda x: np.real(x)),
    ("imag", lambda x: np.imag(x)),
    ("angle", lambda x: np.angle(x)),
    ("isposinf", lambda x: np.isposinf(x)),
    ("isneginf", lambda x: np.isneginf(x)),
]
OTHERS = [  # calls, and their results
    ("shape", lambda: np.shape(X), (3, None)),
    ("ndim", lambda: np.ndim(X), 2),
    ("size", lambda: np.size(X), 5),
    ("size of the batch", lambda: np.size(X, 0), 3),
    ("array_equal", lambda: np.array_equal(X, X.clone()), True),
    ("array_equal of other values", lambda: np.array_equal(X, X + 1), False),
    ("array_equal of another structure", lambda: np.array_equal(X, X[:2]), False),
    ("array_equal of an array", lambda: np.array_equal(X, X.values), False),
    ("array_equal of nan", lambda: np.array_equal(X * np.nan, X * np.nan, equal_nan=True), True),
    ("allclose", lambda: np.allclose(X, X + 1e-12), True),
    ("unique", lambda: np.unique(X).tolist(), [-2.0, 0.0, 1.5, 2.5, 4.0]),
    ("count_nonzero", lambda: np.count_nonzero(X, axis=1).tolist(), [3, 0, 1]),
    ("count_nonzero of all", lambda: int(np.count_nonzero(X)), 4),
    ("empty_like", lambda: np.empty_like(X).lod is X.lod, True),
    ("concatenate", lambda: np.concatenate([X, X[2:]]).tolist(), [[1.5, -2, 2.5], [], [4, 0], [4, 0]]),
    ("concatenate in sequences", lambda: np.concatenate([X, X], 1)[2].tolist(), [4, 0, 4, 0]),
    (
        "concatenate text",
        lambda: np.concatenate([lodcore.array([["a"], []]), "<s>"], 1).tolist(),
        [["a", "<s>"], ["<s>"]],
    ),
    ("concatenate rows", lambda: np.concatenate([NESTED, NESTED], -1).values.shape, (6, 4)),
    ("concatenate dtypes", lambda: np.concatenate([X, X.astype("f4")]).dtype, np.dtype("f8")),
    ("concatenate to a dtype", lambda: np.concatenate([X, X], dtype="f4").dtype, np.dtype("f4")),
    ("sort", lambda: np.sort(X).tolist(), [[-2, 1.5, 2.5], [], [0, 4]]),
    ("sort rows", lambda: np.sort(NESTED).values.tolist(), np.sort(NESTED.values).tolist()),
    ("sort columns", lambda: np.sort(NESTED, 2).flatten(0)[0].tolist(), [[6, 7], [8, 9], [10, 11]]),
    ("expand_dims in front", lambda: np.expand_dims(X, 0).shape, (1, None, None)),
    ("expand_dims between", lambda: np.expand_dims(X, 1).tolist(), [[[1.5, -2, 2.5]], [[]], [[4, 0]]]),
    ("expand_dims behind", lambda: np.expand_dims(X, -1).shape, (3, None, 1)),
    ("expand_dims of rows", lambda: np.expand_dims(NESTED, 3).values.shape, (6, 1, 2)),
    ("flip", lambda: np.flip(X, 0).tolist(), [[4, 0], [], [1.5, -2, 2.5]]),
    ("flip all", lambda: np.flip(X).tolist(), [[0, 4], [], [2.5, -2, 1.5]]),
    ("result_type", lambda: np.result_type(X, np.complex64), np.dtype("c16")),
    ("iscomplexobj", lambda: (np.iscomplexobj(X), np.iscomplexobj(X * 1j)), (False, True)),
    ("isrealobj", lambda: (np.isrealobj(X), np.isrealobj(X * 1j)), (True, False)),
    ("isin", lambda: np.isin(X, X[2:]).tolist(), [[False, False, False], [], [True, True]]),
    ("flip in sequences", lambda: np.flip(X, 1).tolist(), [[2.5, -2, 1.5], [], [0, 4]]),
    ("take", lambda: np.take(X, [2, 0], axis=0).tolist(), [[4, 0], [1.5, -2, 2.5]]),
    ("dot of a number", lambda: np.dot(X, 2).tolist(), [[3, -4, 5], [], [8, 0]]),
    ("add.reduce", lambda: np.add.reduce(X, axis=-1).tolist(), [2, 0, 4]),
    ("add.reduce along the first axis", lambda: np.add.reduce(X).tolist(), [5.5, -2, 2.5]),
    ("maximum.reduce", lambda: np.maximum.reduce(X, axis=1, initial=0).tolist(), [2.5, 0, 4]),
    ("multiply.reduce", lambda: np.multiply.reduce(X, axis=None), 0.0),
    ("logical_or.reduce", lambda: np.logical_or.reduce(X, axis=1).tolist(), [True, False, True]),
    ("add.accumulate", lambda: np.add.accumulate(X, axis=1).tolist(), [[1.5, -0.5, 2], [], [4, 4]]),
    ("cumsum", lambda: np.cumsum(X, axis=-1).tolist(), [[1.5, -0.5, 2], [], [4, 4]]),
    (
        "divmod",
        lambda: [part.tolist() for part in np.divmod(X, 2)],
        [[[0, -1, 1], [], [2, 0]], [[1.5, 0, 0.5], [], [0, 0]]],
    ),
    ("modf", lambda: np.modf(X)[1].tolist(), [[1, -2, 2], [], [4, 0]]),
    ("argwhere", lambda: np.argwhere(X > 2).tolist(), [[0, 2], [2, 0]]),
    ("nonzero", lambda: [v.tolist() for v in np.nonzero(X > 2)], [[0, 2], [2, 0]]),
    ("where alone", lambda: [v.tolist() for v in np.where(X > 2)], [[0, 2], [2, 0]]),
    ("stack", lambda: np.stack([X, X]).shape, (2, None, None)),
    ("stack sequences", lambda: np.stack([X[1:], X[1:]], 1).tolist(), [[[], []], [[4, 0], [4, 0]]]),
    ("stack rows", lambda: np.stack([X, X], -1).tolist()[2], [[4, 4], [0, 0]]),
    ("tile", lambda: np.tile(X[1:], (2, 1)).tolist(), [[], [4, 0], [], [4, 0]]),
    ("tile sequences", lambda: np.tile(X[1:], 2).tolist(), [[], [4, 0, 4, 0]]),
    ("repeat", lambda: np.repeat(X, 2).tolist(), [1.5, 1.5, -2, -2, 2.5, 2.5, 4, 4, 0, 0]),
    ("repeat sequences", lambda: np.repeat(X, [0, 1, 2], axis=0).tolist(), [[], [4, 0], [4, 0]]),
    ("roll", lambda: np.roll(X, 1).tolist(), [[0, 1.5, -2], [], [2.5, 4]]),
    ("roll sequences", lambda: np.roll(X, (1, 1), (0, 1)).tolist(), [[0, 4], [2.5, 1.5, -2], []]),
    ("squeeze", lambda: np.squeeze(X[:, :1][[0, 2]], 1).tolist(), [1.5, 4]),
    ("transpose", lambda: np.transpose(NESTED, (0, 1, 2, 3)).equals(NESTED), True),
    ("matrix_transpose", lambda: np.matrix_transpose(X[[2]][..., None]).tolist(), [[[4, 0]]]),
    ("swapaxes", lambda: np.swapaxes(X[[0, 0]], 0, 1).tolist(), [[1.5, 1.5], [-2, -2], [2.5, 2.5]]),
    ("moveaxis", lambda: np.moveaxis(X[[0, 0]], 0, 1).tolist(), [[1.5, 1.5], [-2, -2], [2.5, 2.5]]),
    ("reshape", lambda: np.reshape(NESTED, (len(NESTED), None, None, 2, 1)).shape[-2:], (2, 1)),
    ("reshape of all", lambda: np.reshape(X, -1).tolist(), [1.5, -2, 2.5, 4, 0]),
    ("broadcast_to", lambda: np.broadcast_to(X[..., None], (3, None, 2)).tolist()[2], [[4, 4], [0, 0]]),
    ("broadcast_arrays", lambda: [v.tolist() for v in np.broadcast_arrays(1, X[2:])], [[[1, 1]], [[4, 0]]]),
    ("ptp", lambda: np.ptp(X[[0, 2]], axis=1).tolist(), [4.5, 4]),
    ("average", lambda: np.average(X[[2]], axis=1, weights=lodcore.array([[1, 3]])).tolist(), [1]),
    ("vecdot", lambda: np.vecdot(X, X).tolist(), [12.5, 0, 16]),
    ("tensordot", lambda: np.tensordot(X[..., None], np.ones((1, 2)), 1).tolist()[2], [[4, 4], [0, 0]]),
    ("bits", lambda: np.bitwise_xor.reduce(X.astype(int), axis=1).tolist(), [1 ^ -2 ^ 2, 0, 4]),
    ("concatenate numbers", lambda: np.concatenate([9, X, 8], axis=1).tolist()[1:], [[9, 8], [9, 4, 0, 8]]),
    ("concatenate arrays", lambda: np.concatenate([np.zeros((3, 1)), X], axis=1).tolist()[1:], [[0], [0, 4, 0]]),
    ("concatenate batches", lambda: np.concatenate([X[2:], [[7.0]], np.ones((1, 2))]).tolist(), [[4, 0], [7], [1, 1]]),
    ("sum of axes", lambda: NESTED.sum(axis=(0, 1)).tolist() == NESTED.flatten().sum(axis=0).tolist(), True),
    ("amax", lambda: float(np.amax(X)), 4.0),
]


@pytest.mark.parametrize(("name", "call"), SAME, ids=[name for name, _ in SAME])
def test_functions_of_values(name, call):
    for x in (X, NESTED, X[:0]):
        assert same(call(x), like(x, call(x.values)))


@pytest.mark.parametrize(("name", "call", "wanted"), OTHERS, ids=[name for name, *_ in OTHERS])
def test_calls_of_functions_of_numpy_give_the_documented_results(name, call, wanted):
    assert call() == wanted


TESTS = Path(__file__).parent


@pytest.mark.not_on_reference
def test_all_functions_are_tested_and_described():
    text = inspect.getsource(inspect.getmodule(test_calls_of_functions_of_numpy_give_the_documented_results)) + "".join(
        (TESTS / f"test_numpy_{name}.py").read_text(encoding="utf-8") for name in ("order", "neighbours")
    )
    reductions = {f"np.{name}" for name in [*NAMES, "var", "std", "amin"]}
    for function in FUNCTIONS:
        assert f"np.{function.__name__}(" in text or f"np.{function.__name__}" in reductions, function
        assert FUNCTIONS[function].__doc__, function
        assert f"`{function.__name__}`" in PAGE or function in (np.amax, np.amin), (
            f"docs/numpy.md does not say {function}"
        )


@pytest.mark.not_on_reference
@pytest.mark.parametrize("ufunc", sorted(NAMED, key=str), ids=str)
def test_named_ufuncs_are_operators(ufunc):
    inputs = [np.ones((2, 2))] * ufunc.nin if ufunc is np.matmul else [np.array([0.5, 1.0])] * ufunc.nin
    assert np.array_equal(NAMED[ufunc](*inputs), ufunc(*inputs))


def test_ufuncs_of_arrays_and_sequences_in_any_order():
    for ufunc in (np.add, np.subtract, np.hypot):
        with pytest.raises(ShapeError, match="ragged"):
            ufunc(X.values, X)
        assert same(ufunc(np.full((len(X), 1), 2.0), X), like(X, ufunc(2.0, X.values)))
        assert same(ufunc(np.float64(2), X), like(X, ufunc(2.0, X.values)))
    assert same(np.float32(2) * X, 2.0 * X)
    assert same(X - np.full((1, 1), 3.0), X - 3.0)


def test_results_in_place():
    x = LoDTensor(X.values.copy(), X.lod, share=True)
    memory = x.values
    assert np.add(x, 1, out=x) is x
    assert same_memory(x.values, memory)
    assert same(x, X + 1)
    np.multiply(x, 0, out=x, where=x > 2)
    assert same(x, like(X, np.where(X.values + 1 > 2, 0.0, X.values + 1)))
    wide = LoDTensor(np.zeros((5, 2)), X.lod, share=True)
    np.add(wide, X, out=wide)
    assert wide.values.tolist() == np.repeat(X.values, 2).reshape(5, 2).tolist()


REFUSED = [
    ("np.add(X, 1, where=X > 0)", TypeError, "needs out="),
    ("np.add(X, 1, out=np.empty(5))", TypeError, "out: is ndarray"),
    ("np.add(X, 1, out=X[:2])", LoDError, "operand 2"),
    ("np.add(X, 1, out=X.astype('i8'))", DTypeError, "same_kind"),
    ("np.add(NESTED, 1, out=like(NESTED, NESTED.values[:, 0].copy()))", ShapeError, "wider"),
    ("np.add(X, 1, out=like(X, X.values))", ValueError, "read-only"),
    ("np.add(X, 1, subok=False)", TypeError, "subok"),
    ("np.add.outer(X, X)", TypeError, "add.outer"),
    ("np.add.at(X, 0, 1)", TypeError, "add.at"),
    ("np.add.reduceat(X, [0])", TypeError, "add.reduceat"),
    ("np.hypot.reduce(X)", TypeError, "hypot.reduce"),
    ("np.multiply.accumulate(X, out=X)", TypeError, "multiply.accumulate: out"),
    ("np.fft.fft(X)", TypeError, "fft: is not supported"),
    ("np.where(X, 1)", TypeError, "condition, and two choices"),
    ("np.concatenate([X, X], axis=None)", TypeError, "axis"),
    ("np.concatenate([X, X.values])", ShapeError, r"arrays\[1\]: has 1 axes; arrays\[0\] has 2"),
    ("np.concatenate([X, 1.0], axis=0)", ShapeError, r"arrays\[1\]: is a number; along axis 0"),
    ("np.concatenate([X, np.zeros((2, 1))], axis=1)", LoDError, r"xs\[1\]: has 2 sequences"),
    ("np.stack([X, X], out=X)", TypeError, "out"),
    ("np.stack([X, X], axis=3)", ShapeError, "axis: is 3"),
    ("np.stack([X, X[:2]], axis=1)", LoDError, r"xs\[1\]: has 2 sequences"),
    ("np.tile(X, (1, 1, 1))", ShapeError, "reps: is"),
    ("np.tile(X, -1)", ShapeError, "reps: is -1"),
    ("np.repeat(X, -1, axis=1)", ValueError, "repeats: is -1"),
    ("np.roll(NESTED, 1)", TypeError, "axis: is None"),
    ("np.roll(X, 1, axis=2)", ShapeError, "axis: is 2"),
    ("np.squeeze(X, axis=1)", ShapeError, "axis: is 1, along which sequence 0 has length 3"),
    ("np.squeeze(NESTED, axis=-1)", ShapeError, "axis: is 3, of length 2"),
    ("np.transpose(X)", LoDError, "sequence 1 of level 0 has length 0"),
    ("np.transpose(X, (0, 0))", ShapeError, r"axes: are \(0, 0\)"),
    ("np.moveaxis(X, (0, 0), (1, 1))", ShapeError, "source, destination"),
    ("X.reshape(2, None)", ShapeError, r"shape: is \(2, None\)"),
    ("X.reshape(3)", ShapeError, r"shape: is \(3,\)"),
    ("NESTED.reshape(-1, None, None, 3)", ShapeError, "a row has shape"),
    ("np.reshape(X, -1, order='F')", ValueError, "order: is 'F'"),
    ("np.broadcast_to(X, (4, None))", ShapeError, "has 3 sequences"),
    ("np.broadcast_to(X, (3, 2))", ShapeError, "shape: is"),
    ("np.average(WORDS)", DTypeError, "x: has dtype <U3; real numbers"),
    ("np.average(X, weights=X[:2])", LoDError, "has 2"),
    ("np.tensordot(X, X, 2)", TypeError, "axes: is 2"),
    ("np.bitwise_or.reduce(X)", DTypeError, "float64; integers or bool"),
    ("np.concatenate([X, X], out=X)", TypeError, "out"),
    ("np.concatenate([X, X], dtype='i4')", DTypeError, "array 0: has dtype float64; int32"),
    ("np.zeros_like(X, shape=(2,))", TypeError, "shape"),
    ("np.full_like(X, 0, shape=(2,))", TypeError, "shape"),
    ("np.cumsum(X)", TypeError, "axis: is None"),
    ("np.cumsum(X)", TypeError, "axis: is None"),
    ("np.sort(X, 2)", ShapeError, "axis: is 2"),
    ("np.flip(X, 1.0)", DTypeError, "axis: is 1.0"),
    ("np.take(X, [0])", TypeError, "only axis"),
    ("np.size(X, 1)", TypeError, "sequences differ"),
    ("np.round(X, out=X)", TypeError, "out"),
    ("np.clip(X, 0, 1, out=X)", TypeError, "out"),
    ("X.sum(out=X)", TypeError, "out"),
    ("X.sum(axis=2)", ShapeError, "axis: is 2; x has 2 axes"),
    ("X.sum(axis=-3)", ShapeError, "axis: is -3"),
    ("X.sum(axis=1.0)", DTypeError, "axis: is 1.0"),
    ("X.sum(axis=True)", DTypeError, "axis: is True"),
    ("X.sum(axis=(0, 0))", ShapeError, "different axes"),
    ("X.max(axis=1)", ValueError, "max: sequence 1 of level 0 is empty; give empty= to x.max, or an initial value"),
    ("X.argmax(axis=1)", ValueError, "argmax: sequence 1 of level 0 is empty; give empty="),
    ("X.argmin(axis=1)", ValueError, "argmin: sequence 1 of level 0 is empty"),
    ("X.max(where=X > 0)", ValueError, "where: needs an initial"),
    ("X[:0].max()", ValueError, "max: x: has no values"),
    ("X.argmax((0, 1))", DTypeError, r"axis: is \(0, 1\)"),
    ("X.argmax(keepdims=True)", TypeError, "keepdims"),
    ("X.argmax(out=X)", TypeError, "out"),
    ("WORDS.sum()", TypeError, "sum: x: has dtype <U3"),
    ("WORDS.max(axis=1, initial='a')", TypeError, "<U3"),
    ("X.astype(object)", DTypeError, "object"),
    ("np.asarray(X)", ValueError, "to_padded"),
    ("operator.delitem(X, 0)", TypeError, "deleted"),
    ("pow(X, 2, 3)", TypeError, None),
]


@pytest.mark.parametrize(("call", "error", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_calls_that_the_page_refuses_raise_and_change_nothing(call, error, says):
    before = X.values.copy()
    with pytest.raises(error, match=says):
        eval(call, {**globals()})
    assert np.array_equal(X.values, before)


def test_numpy_functions_defer_to_other_kinds():
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return "other"

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "other"

    assert np.concatenate([X, Other()]) == "other"
    assert np.add(Other(), X) == "other"


def test_functions_that_cannot_be_recorded_raise():
    v = Variable("x", X)
    for call in (
        lambda: np.add(v, 1, out=X),
        lambda: np.unique(v),
        lambda: np.isclose(v, 1),
        lambda: np.sort(Variable("rows", NESTED)),
        lambda: np.array_equal(v, X),
        lambda: np.modf(v),
    ):
        with pytest.raises(TypeError, match="recorded"):
            call()
    with pytest.raises(ShapeError, match="to_padded"):  # as for its value
        np.asarray(v)
    with Program() as program, pytest.raises(GraphError):
        bool(data("x", Spec((None,), np.dtype("f8"), 1)) > 0)
    assert program.ops


# -- the table itself ----------------------------------------------------------------------------------------------

RECORDED = [
    lambda x: 2 * x - x / 3 + x**2 // 2 % 3,
    lambda x: (-x > 1) | ~(x < 0) & (x != 2),
    lambda x: np.where(x > 0, np.sqrt(abs(x)), x),
    lambda x: x[x > 0][:, ::-1],
    lambda x: x.pool("max", level=0),
    lambda x: x.per_sequence(x.sum(axis=-1)),
    lambda x: x.reverse().astype("f4").copy(),
    lambda x: np.concatenate([x, x + 1], axis=1).clip(0, 3).round(),
    lambda x: x.gather([1, 0]).mean(axis=0),
    lambda x: x.cumsum(-1),
    lambda x: np.sort(x).softmax(),
    lambda x: x.topk(2)[0].logsumexp(level=0),
    lambda x: np.expand_dims(np.flip(x, 1), 1),
]


@pytest.mark.parametrize("function", RECORDED)
@given(x=batches(["f8"], [()], min_levels=1, max_levels=2).filter(lambda x: len(x) > 1))
def test_recorded_is_eager(function, x):
    x = like(x, np.nan_to_num(x.values))
    eager = function(x)
    assert_recorded(function, x, eager)


@given(lods(1, 3, 5), SEEDS)
def test_gradients_through_methods(lod, seed):
    x = LoDTensor(np.random.default_rng(seed).uniform(0.5, 2, lod.num_rows), lod)
    grad_check(lambda x: np.tanh(x * 2 + 1)[..., ::-1] ** 2 / (x.reverse() + 3), x)


@pytest.mark.not_on_reference
def test_both_kinds_have_all_methods():
    for name in vars(MethodBodies):
        if name not in OWN:
            assert name in vars(LoDTensor), name
            assert name in vars(Variable), name
    for name, member in vars(MethodBodies).items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"{name} has no docstring"


@pytest.mark.not_on_reference
def test_methods_have_examples_that_run():
    for name, member in vars(MethodBodies).items():
        if name.startswith("_") or not inspect.isfunction(member):
            continue
        for example in doctest.DocTestFinder(recurse=False).find(member, name):
            assert doctest.DocTestRunner().run(example).failed == 0


# -- the meaning of an axis, and tensors without levels ----------------------------------------------------------------


def test_concatenate_takes_the_axis_of_all_operands():
    x = lodcore.array([[1.0, 2.0], [3.0]])
    rows = LoDTensor.from_lengths(np.ones((3, 2)), [2, 1])
    for first, second in ((x, rows), (rows, x), (np.ones(2), x)):
        for axis in (0, 1, -1):
            with pytest.raises(lodcore.ShapeError, match=r"arrays\[1\]: has \d axes; arrays\[0\] has \d"):
                np.concatenate([first, second], axis=axis)


def test_a_tensor_without_levels_is_reshaped_as_its_rows():
    rows = LoDTensor(np.arange(6.0), LoD.from_offsets(num_rows=6))
    for shape in ((2, 3), (-1, 3), (1, 3, -1), (6, 1), (6,), (-1,)):
        for found in (np.reshape(rows, shape), rows.reshape(shape), rows.reshape(*shape)):
            np.testing.assert_array_equal(found, np.arange(6.0).reshape(shape))
    np.testing.assert_array_equal(rows.reshape(None, 2), np.arange(6.0).reshape(3, 2))


def test_nan_to_num_aligns_its_replacements_with_x():
    """Numbers, arrays, nested lists and sequences align with x as operands do; what does not is named."""
    x = lodcore.array([[np.nan, 1.0], [np.inf], []])
    assert np.nan_to_num(x, nan=[[5.0, 6.0], [7.0], []], posinf=9).tolist() == [[5, 1], [9], []]
    assert np.nan_to_num(x, nan=8, posinf=lodcore.array([[1.0, 2.0], [3.0], []])).tolist() == [[8, 1], [3], []]
    assert np.nan_to_num(x, True, np.array([[5.0], [6.0], [7.0]]), 4.0).tolist() == [[5, 1], [4], []]
    for nan, says in (
        ([[5.0], [6.0], []], "nan: sequence 0 of level 0 has length 1; that of x has 2"),
        (np.ones(3), "nan: has length 3 on axis 1, along which x is ragged"),
        ([[1.0], [2.0, 3.0]], "nan: has 2 sequences at level 0; x has 3"),
    ):
        with pytest.raises((lodcore.LoDError, lodcore.ShapeError), match=f"nan_to_num: {says}"):
            np.nan_to_num(x, nan=nan)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_a_nan_that_wins_over_the_initial_value_keeps_its_gradient(name, axis):
    x = lodcore.array([[np.nan, 2.0], [3.0]])
    value, pullback = lodcore.vjp(lambda a: getattr(lodcore.ops, name)(a, axis=axis, initial=2.5), x)
    assert np.isnan(np.ravel(value)[0])
    assert pullback(np.ones_like(value))[0].values[0] == 1.0


def test_functions_that_move_rows_have_gradients():
    x = LoDTensor.from_lengths(smooth_values(0, (6, 2)), [3, 1, 2])

    def loss(x):
        parts = [
            np.stack([x, x * 2], 1),
            np.roll(x, 1, (0, 1)),
            np.repeat(x, 2, 1),
            np.tile(x, (2, 1, 2)),
            x[..., None].mT,
            x.reshape(3, None, 2, 1),
            np.broadcast_to(x[..., None], (3, None, 2, 3)),
            x[:, None],
            np.concatenate([0.5, x, np.ones((3, 1, 2))], 1),
            lodcore.rows_to_level(x),
        ]
        return sum((part * part).sum() for part in parts) + np.ptp(x, 2).sum() + np.repeat(x, 2).sum()

    grad_check(loss, x)
