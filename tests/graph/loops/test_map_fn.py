"""map_fn: the form of the result depends on the function, never on the data."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDTensor, ShapeError, TensorArray, grad_check, map_fn, ops, vjp
from lodcore.graph import Executor, Program, data, tree_leaves, while_loop
from tests.helpers.agree import values_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

LISTS = lodcore.array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
ROWS = LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 0, 3])
NESTED = lodcore.array([[[1.0], [2.0, 3.0]], [], [[4.0]]])
W = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def per_sequence(f, x):
    return [f(x[at]) for at in range(len(x))]


# -- over arrays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda row: lodcore.mul(row, 2.0),
        lambda row: ops.sum(row),
        lambda row: lodcore.matmul(W, row),
        lambda row: lodcore.matmul(row, W.T),
        lambda row: 7.0,
        lambda row: np.ones((2, 3)),
    ],
)
def test_results_of_rows_are_stacked(f):
    x = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(map_fn(f, x), np.stack([np.asarray(f(row)) for row in x]), strict=True)
    nothing = map_fn(f, x[:0])
    assert nothing.shape == (0, *map_fn(f, x).shape[1:])
    assert nothing.dtype == map_fn(f, x).dtype


def test_map_fn_over_numbers_returns_numbers():
    np.testing.assert_array_equal(map_fn(lambda x: x * x, np.arange(3)), [0, 1, 4], strict=True)


# -- over sequences --------------------------------------------------------------------------------------------------


def test_sequences_stay_sequences():
    for f in (lambda rows: lodcore.tanh(rows), lambda rows: rows[1:], lambda rows: lodcore.matmul(rows, W.T)):
        found = map_fn(f, ROWS)
        assert isinstance(found, LoDTensor)
        wanted = LoDTensor.from_arrays(per_sequence(f, ROWS))
        assert found.equals(wanted)
    assert map_fn(lambda rows: ops.sum(rows, axis=1), ROWS).tolist() == [[1, 5], [], [9, 13, 17]]
    assert map_fn(lambda x: x, LISTS).equals(LISTS)


def test_map_fn_of_results_of_fixed_shape_returns_a_dense_array():
    found = map_fn(lambda rows: ops.sum(rows, axis=0), ROWS)
    np.testing.assert_array_equal(found, [[2.0, 4], [0, 0], [18, 21]], strict=True)
    found = map_fn(lambda rows: lodcore.matmul(W, ops.sum(rows, axis=0)), ROWS)
    np.testing.assert_array_equal(found, [[2.0, 4], [0, 0], [18, 21]] @ W.T, strict=True)
    np.testing.assert_array_equal(map_fn(lambda rows: ops.sum(rows), ROWS), [6.0, 0, 39], strict=True)


def test_kind_of_the_result_depends_on_the_function_not_on_the_data():
    equal = LoDTensor.from_lengths(np.arange(6.0), [2, 2, 2])
    for x in (equal, equal[:1], equal[:0]):
        assert isinstance(map_fn(lambda rows: rows * 2, x), LoDTensor)
        assert isinstance(map_fn(lambda rows: ops.sum(rows), x), np.ndarray)


def test_map_fn_over_sequences_of_sequences_maps_the_outermost():
    found = map_fn(lambda document: document * 2.0, NESTED)
    assert found.tolist() == [[[2.0], [4.0, 6.0]], [], [[8.0]]]
    assert found.lod == NESTED.lod
    found = map_fn(lambda document: lodcore.sequence_pool(document, "sum"), NESTED)
    assert found.tolist() == [[1.0, 5.0], [], [4.0]]
    np.testing.assert_array_equal(map_fn(lambda document: ops.sum(document), NESTED), [6, 0, 4])
    assert map_fn(lambda document: document, NESTED[:0]).num_levels == 2


def test_map_fn_of_no_sequences_has_the_shape_and_dtype_of_the_function():
    for f, levels, shape in [
        (lambda rows: rows, 1, (0, None, 2)),
        (lambda rows: ops.cast(rows, "float32"), 1, (0, None, 2)),
        (lambda rows: ops.sum(rows, axis=0), 0, (0, 2)),
    ]:
        found = map_fn(f, ROWS[:0])
        assert getattr(found, "num_levels", 0) == levels
        assert found.shape == shape
        assert found.dtype == map_fn(f, ROWS).dtype


# -- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [[0, 2], [2, 0], [0, 0], [1, 1]])
def test_map_fn_in_map_fn_keeps_the_width_of_rows_where_there_are_none(lengths):
    def double(document):
        return map_fn(lambda row: map_fn(lambda number: number * 2.0, row), document)

    x = LoDTensor.from_lengths(np.arange(3.0 * sum(lengths)).reshape(-1, 3), lengths)
    sums = np.stack([2 * rows.sum(axis=0) for rows in np.split(x.values, np.cumsum(lengths)[:-1])])
    with Program() as program:
        given = data("x", (None, 3), "float64", 1)
        fetched = [map_fn(double, given), map_fn(lambda document: double(document).sum(axis=0), given)]
    doubled, added = vjp(lambda x: (map_fn(double, x), map_fn(lambda d: double(d).sum(axis=0), x)), x)[0]
    for whole, total in ([doubled, added], Executor().run(program, {"x": x}, fetched)):
        assert whole.lengths.tolist() == lengths
        np.testing.assert_array_equal(whole.values, x.values * 2)
        np.testing.assert_array_equal(total, sums)
    assert map_fn(double, np.zeros((0, 2, 3))).shape == (0, 2, 3)


def test_map_fn_returns_the_tree_that_the_function_returns():
    def f(rows):
        return {"sum": ops.sum(rows), "both": [rows * 2, (rows,)]}

    found = map_fn(f, LISTS)
    np.testing.assert_array_equal(found["sum"], [3, 0, 12])
    assert found["both"][0].tolist() == [[2, 4], [], [6, 8, 10]]
    assert found["both"][1][0].equals(LISTS)


def test_map_fn_takes_lists_as_sequences():
    assert map_fn(lambda rows: rows + 1, [[1, 2], [3]]).tolist() == [[2, 3], [4]]


def test_map_fn_calls_the_function_once():
    calls = []
    map_fn(lambda row: calls.append(1) or row, np.ones((5, 2)))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("f", "x", "error", "says"),
    [
        (lambda row: None, np.ones((2, 2)), DTypeError, "map_fn: f: returned NoneType; a tensor"),
        (lambda row: "text", np.ones((2, 2)), DTypeError, "map_fn: f: returned str"),
        (lambda row: TensorArray(), np.ones((2, 2)), DTypeError, "map_fn: f: returned TensorArray"),
        (lambda row: row, np.float64(1), ShapeError, "^map_fn: x: is one number; an array with at least one axis"),
        (lambda row: row, (np.ones(2), 1.0), ShapeError, r"^map_fn: x\[1\]: is one number"),
        (lambda row: row, object(), DTypeError, "^map_fn: x: .*(Python objects|is an? ?object)"),
        (lambda row: row, {"a": np.ones(2)}, DTypeError, "^map_fn: x: is a dict; a LoDTensor or an array"),
        (lambda row: row, None, DTypeError, "^map_fn: x: "),
        (lambda row: bool(row), np.ones(2), lodcore.GraphError, "break_if"),
        (lambda row: shapes.read(at_of(row)), np.arange(2.0), ShapeError, "element 1: has shape"),
    ],
)
def test_map_fn_refuses_wrong_functions_and_inputs(f, x, error, says):
    with pytest.raises(error, match=says):
        map_fn(f, x)
    assert lodcore.mul(2, 3) == 6


shapes = TensorArray()
shapes.write(0, np.ones(2))
shapes.write(1, np.ones(3))


def at_of(row):
    return ops.cast(row, "int64")


# -- gradients, Programs, loops --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: map_fn(lambda rows: lodcore.tanh(lodcore.matmul(rows, w)), x),
        lambda x, w: map_fn(lambda rows: ops.sum(lodcore.tanh(lodcore.matmul(rows, w)), axis=0), x),
        lambda x, w: map_fn(lambda rows: ops.sum(lodcore.tanh(lodcore.matmul(rows, w))), x),
        lambda x, w: list(map_fn(lambda rows: {"a": rows * 2.0, "b": ops.sum(rows @ w)}, x).values()),
    ],
)
def test_gradients_of_map_fn_are_derivatives(f):
    x = LoDTensor(ROWS.values / 10, ROWS.lod)
    grad_check(f, x, W.T / 10)
    grad_check(f, x[:0], W.T / 10)
    _, pullback = vjp(f, x, W.T / 10)
    assert pullback(*[None] * (2 if isinstance(_, list) else 1))[0].lod is x.lod


def test_gradients_of_map_fn_with_nested_results_are_derivatives():
    grad_check(lambda x: map_fn(lambda document: lodcore.sequence_pool(document, "sum"), x), NESTED)
    grad_check(lambda x: map_fn(lambda document: document * document, x), NESTED)
    grad_check(lambda x: map_fn(lambda row: row * row, x), np.arange(6.0).reshape(3, 2))


def test_map_fn_in_a_program_knows_its_specs_and_gives_what_it_gives_at_once():
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        sequences, sums = map_fn(lambda rows: (rows * 2, ops.sum(rows, axis=0)), x)
    assert (sequences.num_levels, sequences.spec.kind, sums.shape) == (1, LoDTensor, (None, 2))
    for rows in (ROWS, ROWS[:0]):
        found = Executor().run(program, {"x": rows}, [sequences, sums])
        assert found[0].equals(rows * 2)
        np.testing.assert_array_equal(found[1], lodcore.sequence_pool(rows, "sum"), strict=True)


def test_map_fn_in_the_body_of_a_loop():
    loop = while_loop()
    with loop.loop():
        x = loop.loop_var(LISTS)
        loop.break_if(loop.step() >= 2)
        x.update(map_fn(lambda rows: rows * 3, x))
    assert x.get().tolist() == [[9, 18], [], [27, 36, 45]]


# -- over several tensors, and arrays --------------------------------------------------------------------------------


def test_a_tuple_is_mapped_over_entry_by_entry():
    scale = np.array([2.0, 3.0, 4.0])
    found = map_fn(lambda part, number, row: part * number + ops.sum(row), (LISTS, scale, W))
    wanted = [LISTS[at] * scale[at] + W[at].sum() for at in range(3)]
    assert found.equals(LoDTensor.from_arrays(wanted))
    one = map_fn(lambda row: row * 2.0, (W,))
    np.testing.assert_array_equal(one, W * 2, strict=True)
    grad_check(lambda x, y: map_fn(lambda a, b: a * ops.sum(b), (x, y)), W, ROWS)


def test_an_array_is_mapped_over():
    steps = TensorArray(unstack_from=W)
    np.testing.assert_array_equal(map_fn(lambda row: row * 2.0, steps), W * 2, strict=True)
    np.testing.assert_array_equal(map_fn(lambda row, w: row @ w, (steps, W)), (W * W).sum(1), strict=True)
    uneven = TensorArray()
    for at, count in enumerate((2, 0, 3)):
        uneven.write(at, np.arange(count) / 2)
    assert map_fn(lambda part: part * 2.0, uneven).tolist() == [[0, 1], [], [0, 1, 2]]
    with Program() as program:
        x, y = data("x", (None, 2), "float64"), data("y", (None,), "float64")
        z = map_fn(lambda row, number: row * number, (TensorArray.unstack(x), y))
    feed = {"x": W, "y": np.array([1.0, 2.0, 3.0])}
    np.testing.assert_array_equal(Executor().run(program, feed, [z])[0], W * feed["y"][:, None])
    feed["y"] = np.ones(2)
    with pytest.raises(ShapeError, match=r"^map_fn: x\[1\]: has 2 entries; x\[0\] has 3"):
        Executor().run(program, feed, [z])


def test_tensors_that_do_not_match_are_refused():
    with pytest.raises(ShapeError, match=r"^map_fn: x\[2\]: has 4 entries; x\[0\] has 3"):
        map_fn(lambda a, b, c: a, (W, LISTS, np.ones(4)))
    for wrong, says in (((), "is an empty tuple"), ((W, lodcore.SparseTensor([0], [1.0], 2)), r"x\[1\]: is a Sparse")):
        with pytest.raises(DTypeError, match=says):
            map_fn(lambda *parts: parts[0], wrong)


# -- on all entries at once ------------------------------------------------------------------------------------------

MODULE = map_fn.__globals__  # another import of the file would have names of its own


def drawn_function(random, width, outer, exact):
    """Draw a function of one or two entries: operators that can compute on all entries, most of the time."""
    calls = [
        lambda x, y: x + y,
        lambda x, y: x * y,
        lambda x, y: np.maximum(x, y),
        lambda x, y: ops.where(x > 0, x, y),
        lambda x, y: x / (abs(y) + 1.5),
        lambda x, y: lodcore.tanh(x),
        lambda x, y: lodcore.sigmoid(x) - 0.5,
        lambda x, y: np.exp(x * 0.1),
        lambda x, y: x * outer["number"],
        lambda x, y: outer["row"] - x,
        lambda x, y: x + outer["matrix"],
        lambda x, y: x + ops.sum(y),
    ]
    calls += [] if exact else [lambda x, y: x @ outer["matrix"], lambda x, y: outer["matrix"] @ x]
    steps = [(calls[random.integers(len(calls))], *random.integers(100, size=2)) for _ in range(random.integers(1, 6))]

    def f(*entries):
        known = list(entries)
        for call, one, other in steps:
            known.append(call(known[one % len(known)], known[other % len(known)]))
        return {"last": known[-1], "others": known[len(entries) : -1]}

    return f


def drawn_tensor(random, n, lengths, width):
    """Draw an array of numbers, vectors or matrices, or sequences of numbers, vectors or sequences."""
    dtype = random.choice(["f8", "f4", "i8"], p=[0.6, 0.2, 0.2])
    inner = random.integers(0, 3, sum(lengths)).tolist()
    shapes = [(n,), (n, width), (n, 3, width), (sum(lengths),), (sum(lengths), width), (sum(inner), width)]
    kind = random.integers(len(shapes))
    values = (random.standard_normal(shapes[kind]) * 4).astype(dtype)
    if kind < 3:
        return values
    return LoDTensor.from_lengths(values, lengths, *([inner] if kind == 5 else []))


def outcome(function, *args):
    """Return what a call gives, or the kind and text of its error; and how often it warned."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            return function(*args), None, len(met)
        except Exception as error:  # any error must be the same in both ways
            return type(error), str(error), len(met)


@given(st.integers(0, 2**32), st.booleans())
def test_map_fn_at_once_gives_what_it_gives_entry_by_entry(seed, exact):
    random = np.random.default_rng(seed)
    n, width = int(random.integers(0, 6)), int(random.integers(1, 4))
    lengths = random.integers(0, 4, n).tolist()
    xs = [drawn_tensor(random, n, lengths, width) for _ in range(random.integers(1, 3))]
    shapes = {"number": (), "row": (width,), "matrix": (width, width)}
    outer = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    f = drawn_function(random, width, outer, exact)

    def run(*xs):
        return map_fn(f, tuple(xs) if len(xs) > 1 else xs[0])

    def loss(outer_now, *xs):
        outer.update(outer_now)
        return sum([ops.sum(one * one) for one in tree_leaves(run(*xs))], ops.sum(np.zeros(1)))

    floating = tuple(j + 1 for j, x in enumerate(xs) if x.dtype.kind == "f")
    for function, args in ((run, xs), (lodcore.value_and_grad(loss, (0, *floating)), [dict(outer), *xs])):
        found, says, warned = outcome(function, *args)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(MODULE, "on_all_entries", lambda *_: None)
            wanted, also_says, also_warned = outcome(function, *args)
        if says is not None or also_says is not None:
            assert (found, says, warned) == (wanted, also_says, also_warned)
            continue
        assert warned == also_warned or function is not run
        for one, other in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
            assert type(one) is type(other)
            assert one.dtype == other.dtype
            one, other = values_of(one), values_of(other)
            if exact and function is run:
                np.testing.assert_array_equal(one, other, strict=True)
            else:  # products, and sums of gradients over entries, are added in another order
                np.testing.assert_allclose(one, other, 1e-3 if one.dtype == np.float32 else 1e-6, 1e-3, strict=True)


@pytest.mark.parametrize(
    ("f", "x", "at_once"),
    [
        (lambda row: lodcore.tanh(row * 2.0) + 1.0, np.ones((4, 2)), True),
        (lambda row: row @ W.T, np.ones((4, 2)), True),
        (lambda rows: ops.relu(rows @ W.T), ROWS, True),
        (lambda rows: rows * np.array([1.0, 2.0]), ROWS, True),
        (lambda documents: documents * 2.0, NESTED, True),
        (lambda row: row, np.ones((4, 2)), False),  # the result is a new array
        (lambda row: W @ row, np.ones((4, 2)), False),
        (lambda row: ops.sum(row), np.ones((4, 2)), False),
        (lambda rows: rows * np.ones((1, 1)), ROWS, False),  # a row for all rows of a sequence has no other axis
        (lambda rows: rows[1:] * 2.0, ROWS, False),
        (lambda row: row * 2.0, np.ones((0, 2)), False),
    ],
)
def test_functions_of_rows_are_called_on_all_entries_at_once(f, x, at_once, monkeypatch):
    found, real = [], MODULE["on_all_entries"]
    monkeypatch.setitem(MODULE, "on_all_entries", lambda *args: found.append(real(*args)) or found[-1])
    map_fn(f, x)
    assert (found[0] is not None) == at_once


@ops.elementwise_operator(function=lambda x: x)
def itself(x):
    """Return the entries."""


def test_results_of_map_fn_share_no_memory():
    x = np.arange(8.0).reshape(4, 2)
    doubled = map_fn(lambda row: (lambda twice: (twice, twice, itself(twice)))(row * 2.0), x)
    for one, other in itertools.combinations([x, *doubled, map_fn(itself, x)], 2):
        assert not np.shares_memory(one, other)


def test_what_warns_or_raises_runs_entry_by_entry():
    x = np.array([1.0, 0.0, 2.0, 0.0])
    with pytest.warns(RuntimeWarning, match="divide by zero") as met:
        assert map_fn(lambda number: 1.0 / number, x).tolist() == [1.0, np.inf, 0.5, np.inf]
    assert len(met) == 2  # one an entry
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match=r"^map_fn: entry 1: "):
        map_fn(lambda number: 1.0 / number, x)


def test_errors_of_entries_name_map_fn_also_when_the_program_comes_from_a_file(tmp_path):
    with Program() as program:
        x = data("x", (None,), "f8", num_levels=1)
        found = map_fn(lambda sequence: sequence + np.ones(2), x)
    lodcore.save(tmp_path / "program", program)
    for one in (program, lodcore.load(tmp_path / "program")):
        with pytest.raises(ShapeError, match=r"^map_fn: entry 1: add: .*do not broadcast"):
            Executor().run(one, {"x": LISTS}, [found.name])
