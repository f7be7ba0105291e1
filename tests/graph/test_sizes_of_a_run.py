"""Numbers that only the run knows: operators and reshape take them, NumPy and Python do not."""

import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoDError, LoDTensor, ShapeError, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, append_backward, data, while_loop
from lodcore.ops.move.checked import RULES
from tests.helpers.processes import environment
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.arange(8.0).reshape(4, 2) / 7
LISTS = LoDTensor.from_lengths(X, [3, 0, 1])


def until_no_row_is_left(loop, x):
    """The state shrinks by a row in each step."""
    made = loop()
    with made.loop():
        v, total = made.loop_var(x), made.loop_var(0.0)
        made.break_if(lodcore.num_rows(v) == 0)
        total.update(total + ops.sum(v * v) * lodcore.num_rows(v))
        v.update(v[1:])
    return total


def in_pairs(loop, x):
    n = lodcore.num_rows(x)
    return np.reshape(x * x, (1, n * 2)), ops.reshape(x, [n // 2, -1]), x.reshape(n, 1, 2)


@every_way
@for_each("text", ["no row is left", "reshaped"])
def test_operators_and_reshape_take_numbers_of_a_step(way, text):
    if text == "reshaped":
        check(way, in_pairs, lambda x: [(x * x).reshape(1, 8), x.reshape(2, 4), x.reshape(4, 1, 2)], X)
    else:
        check(way, until_no_row_is_left, lambda x: sum(np.sum(x[at:] ** 2) * (4 - at) for at in range(4)), X)


def test_shape_of_a_reshaped_variable_is_known_as_far_as_its_spec():
    with Program() as program:
        x, q = data("x", (None, 2), "float64"), data("q", (None, 2), "float64", num_levels=1)
        n, y = lodcore.num_rows(x), x.reshape(lodcore.num_rows(x) * 2)
        rows = [x.num_rows, q.num_rows, lodcore.num_rows(q), TensorArray(unstack_from=x).size()]
        assert (x.shape, y.shape, n.shape, n.dtype) == ((None, 2), (None,), (), np.int64)
        assert x.reshape(3, -1).shape == (3, None)
        append_backward(ops.sum(y * y))
    found = Executor().run(program, {"x": X, "q": LISTS}, [y, *rows, "x@GRAD"])
    np.testing.assert_array_equal(found[0], X.reshape(-1))
    assert [int(one) for one in found[1:5]] == [4, 4, 4, 4]
    np.testing.assert_allclose(found[5], 2 * X)


def test_reshape_by_a_wrong_number_raises_when_it_runs():
    with Program() as program:
        x, n = data("x", (None, 2), "float64"), data("n", (), "int64")
        y = x.reshape(n, 3)
        with pytest.raises(lodcore.DTypeError, match=r"reshape: shape\[0\]: has dtype float64; an integer"):
            x.reshape(ops.sum(x), 2)
        with pytest.raises(ShapeError, match="the axes of levels"):
            data("q", (None, 2), num_levels=1).reshape(n, 2)
    with pytest.raises(ShapeError, match=r"reshape: shape: is \(2, 3\); x has shape \(4, 2\), 8 values"):
        Executor().run(program, {"x": X, "n": 2}, [y])


def in_a_body(call):
    loop = while_loop()
    with loop.loop():
        t, s = loop.loop_var(0), loop.loop_var(X)
        loop.break_if(t >= 1)
        call(t, s)


def in_a_program(call):
    with Program():
        call(data("t", (), "int64"), data("s", (None, 2)))


STEPS = TensorArray(unstack_from=X)
BY_INDEX = (
    r"is a number that is known only at run time; lookup_table\(array, \w+\) takes a row of an array by it, array.read"
)
WRONG = [
    (BY_INDEX, lambda t, s: X[t]),
    (BY_INDEX, lambda t, s: X[0, t]),
    (BY_INDEX, lambda t, s: [1, 2, 3][t]),
    (BY_INDEX, lambda t, s: range(t)),
    (BY_INDEX, lambda t, s: np.zeros(t + 1)),
    (BY_INDEX, lambda t, s: X[VarArray(unstack_from=t.reshape(1)).get(0)]),
    (
        "its length is a number that is known only at run time; use array.size",
        lambda t, s: len(TensorArray(unstack_from=s)),
    ),
    (
        "its length is a number that is known only at run time; use array.size",
        lambda t, s: list(TensorArray(unstack_from=s)),
    ),
    ("its length is a number that is known only at run time; use lodcore.num_rows", lambda t, s: len(s)),
]


@for_each("around", [in_a_body, in_a_program])
def test_numpy_and_python_refuse_sizes_known_at_run_time(around):
    for says, call in WRONG:
        with pytest.raises(GraphError, match=says):
            around(call)


def test_operators_that_the_refusals_name_work():
    table, steps, found = np.arange(6.0).reshape(3, 2), TensorArray(unstack_from=X), TensorArray()
    loop = while_loop()
    with loop.loop():
        t = loop.step()
        loop.break_if(t >= 3)
        found.write(t, lodcore.lookup_table(table, t) + steps.read(t) * steps.size())
    np.testing.assert_array_equal(found.stack(), table + X[:3] * 4)


def test_numbers_of_variables_with_values_index_arrays_and_lists():
    assert vjp(lambda x: x * [10.0, 20.0][lodcore.num_rows(x) - 1], np.ones(2))[0].tolist() == [20, 20]


# -- lengths and values that only a run knows --------------------------------------------------------------------------

BATCH = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 1])
KEYS = np.array([2, 3, 2])


def ran(function, given, *specs):
    """Record a function of data with these Specs, and run it."""
    with Program() as program:
        result = function(*[data(f"x{j}", *spec) for j, spec in enumerate(specs)])
    results = list(result) if isinstance(result, tuple) else [result]
    return Executor().run(program, {f"x{j}": x for j, x in enumerate(given)}, results)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("axis", [2, -1])
def test_an_axis_of_rows_that_is_squeezed_has_length_1(axis, wide):
    x = BATCH if wide else BATCH[:, :, :1]
    spec = (None, None), "f8", 1
    if wide:
        with pytest.raises(ShapeError, match=r"squeeze"):
            ran(lambda a: np.squeeze(a, axis), [x], spec)
    else:
        (found,) = ran(lambda a: np.squeeze(a, axis), [x], spec)
        assert found.equals(np.squeeze(x, axis))


def test_a_dense_axis_that_is_squeezed_has_length_1():
    (found,) = ran(lambda a: np.squeeze(a, 1), [np.ones((3, 1))], ((None, None), "f8"))
    np.testing.assert_array_equal(found, np.ones(3))
    with pytest.raises(ShapeError, match=r"numpy.squeeze"):
        ran(lambda a: np.squeeze(a, 1), [np.ones((3, 2))], ((None, None), "f8"))
    (found,) = ran(lambda a: np.squeeze(a, 0), [np.ones((1, 2))], ((None, None), "f8"))
    np.testing.assert_array_equal(found, np.ones(2))


@pytest.mark.parametrize("shape", [(4, 2), (1, 2), (0, 2)])
def test_an_array_is_broadcast_to_a_length_that_it_has(shape):
    x = np.ones(shape)
    (found,) = ran(lambda a: np.broadcast_to(a, (3, *a.shape)), [x], ((None, 2), "f8"))
    assert found.shape == (3, *shape)
    for other in (((2,), "f8"), ((1, 2), "f8"), ((), "f8")):
        with pytest.raises(
            ShapeError, match=r"numpy.broadcast_to: shape: is \(None, 2\); the length of axis 0 is known"
        ):
            ran(lambda a, b: np.broadcast_to(b, a.shape), [x, np.ones(other[0])], ((None, 2), "f8"), other)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("num_levels", [0, 1])
def test_columns_have_as_many_rows_as_there_are_keys(num_levels, count):
    column = lodcore.array([[1.0], [], [2.0, 3.0], [4.0]])[:count] if num_levels else np.arange(float(count))
    calls = [
        lambda k, c: lodcore.group_by(k, c),
        lambda k, c: lodcore.implode(k, c),
        lambda k, c: lodcore.join_by_key(c, c, k, k),
    ]
    for call in calls:
        if count == 3:
            wanted = call(KEYS, column)
            found = ran(call, [KEYS, column], ((None,), "i8"), ((None,), "f8", num_levels))
            for one, other in zip(found, wanted, strict=True):
                assert one.tolist() == other.tolist()
            continue
        for specs in ([((None,), "i8"), ((None,), "f8", num_levels)], [((3,), "i8"), ((None,), "f8", num_levels)]):
            with pytest.raises(ShapeError, match=rf"(column 0|x): has {count} rows; there are 3 keys"):
                ran(call, [KEYS, column], *specs)
        with pytest.raises(ShapeError, match=rf"(column 0|x): has {count} rows; there are 3 keys"):
            lodcore.vjp(call, KEYS, column)


@pytest.mark.parametrize("call", [lodcore.group_by, lodcore.implode, lambda k, c: lodcore.join_by_key(c, c, k, k)])
@pytest.mark.parametrize(
    "column", [lodcore.array([[1.0], [], [2.0, 3.0]]), np.arange(3.0), [[1.0], [], [2.0]], [4.0, 5.0, 6.0]]
)
def test_columns_that_are_constants_are_grouped_by_keys_of_a_run(column, call):
    found, wanted = ran(lambda k: call(k, column), [KEYS], ((None,), "i8")), call(KEYS, column)
    for one, other in zip(found, wanted, strict=True):
        assert one.tolist() == other.tolist()
    with pytest.raises((LoDError, ShapeError)):
        ran(lambda k: call(k, column), [KEYS[:2]], ((None,), "i8"))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lodcore.join_asof(x, x, x),
        lambda x: lodcore.windows_around(x, 1, 1, x),
        lambda x: lodcore.nn.binary_cross_entropy(x, x),
    ],
)
def test_values_under_vjp_are_checked(call):
    x = lodcore.array([[3.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match=r"below the row before it|0 .. 1 is needed") as at_once:
        call(x)
    with pytest.raises(ValueError, match=r"below the row before it|0 .. 1 is needed") as recorded:
        lodcore.vjp(call, x)
    assert str(recorded.value) == str(at_once.value)


def test_an_initial_value_that_a_run_knows_does_not_change_the_dtype():
    for dtype in ("f4", "i8", "u8"):
        x = lodcore.array([[1, 2], [3]]).astype(dtype)
        found = lodcore.vjp(lambda x, first: x.sum(axis=1, initial=first), x, np.array(2))[0]
        assert found.dtype == x.sum(axis=1, initial=2).dtype
        np.testing.assert_array_equal(found, [5, 5])
    with pytest.raises(DTypeError, match="sum: initial: has dtype float64; int64 cannot hold it"):
        lodcore.vjp(lambda x, first: x.sum(axis=1, initial=first), x.astype(int), np.array(2.5))


def test_a_mask_without_axes_adds_one():
    with Program() as program:
        x, e = data("x", (None,), "f8"), data("e", (), "f8")
        chosen = x[e > 0]
        total = chosen.sum(axis=1)
    assert chosen.spec.shape == (None, None)
    for e, wanted in ((1.0, [3.0]), (-1.0, [])):
        found = Executor().run(program, {"x": np.ones(3), "e": np.float64(e)}, [total])
        np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.parametrize(
    "x", [np.arange(3.0), lodcore.array([[[1.0, 2.0], [3.0, 4.0]]]), lodcore.array([[1.0], [2.0]])]
)
@pytest.mark.parametrize("axis", [0, -2, -1])
def test_many_differences_leave_nothing(x, axis):
    if x.ndim < -axis:
        return
    wanted = np.diff(x, n=10, axis=axis)
    found = lodcore.vjp(lambda x: np.diff(x, n=10**9, axis=axis), x)[0]
    assert found.tolist() == wanted.tolist()


def test_many_differences_of_unknown_lengths_are_refused():
    for spec, axis in ((((None,), "f8"), 0), (((None,), "f8", 2), 1)):
        with Program():
            x = data("x", *spec)
            with pytest.raises(ValueError, match=r"numpy.diff: n: is 1001; up to 1000"):
                np.diff(x, n=1001, axis=axis)


@pytest.mark.parametrize(
    "call",
    [
        np.gradient,
        *[lambda x, to=to: np.cumsum(x, dtype=to) for to in ("i1", bool, "f4")],
        lambda x: np.cumprod(x, dtype="u1"),
    ],
)
@pytest.mark.parametrize("dtype", ["u1", "i8", "f8"])
def test_recorded_functions_of_dense_arrays_have_the_values_and_dtypes_of_numpy(call, dtype):
    x = np.array([2, 104, 1, 100]).astype(dtype)
    found = lodcore.vjp(call, x)[0]
    assert found.dtype == call(x).dtype
    np.testing.assert_array_equal(found, call(x))


LATE = {
    "partition": (lambda x: np.partition(x, 1, axis=1), [lodcore.array([[1.0, 2.0], []])]),
    "partition at axis 0": (lambda x: np.partition(x, 2, axis=0), [lodcore.array([[1.0, 2.0], [3.0]])]),
    "argpartition": (lambda x: np.argpartition(x, 5, axis=1), [lodcore.array([[1.0, 2.0], [3.0]])]),
    "join_asof, not sorted": (lodcore.join_asof, [lodcore.array([[1.0]]), lodcore.array([[2.0, 1.0]])]),
    "join_asof, other sequences": (lodcore.join_asof, [lodcore.array([[1.0]]), lodcore.array([[2.0], [1.0]])]),
    "windows_around": (
        lambda x, t: lodcore.windows_around(x, 1.0, times=t),
        [lodcore.array([[1.0, 5.0]]), lodcore.array([[1.0, 0.0]])],
    ),
    "sequence_resample": (
        lambda x, t: lodcore.sequence_resample(x, 3, t),
        [lodcore.array([[1.0, 5.0]]), lodcore.array([[1.0, 0.0]])],
    ),
    "nanargmax of all": (lambda x: np.nanargmax(x), [np.array([np.nan, np.nan])]),
    "nanargmin of rows": (lambda x: np.nanargmin(x, axis=1), [np.array([[1.0, np.nan], [np.nan, np.nan]])]),
    "nanargmax of wide rows": (lambda x: np.nanargmax(x, axis=1), [lodcore.array([np.array([[1.0, np.nan]])])]),
}


@pytest.mark.parametrize("name", LATE)
def test_what_only_a_run_finds_wrong_raises_the_same_error_as_at_once(name):
    call, given = LATE[name]
    with pytest.raises((ValueError, IndexError)) as caught:
        lodcore.vjp(call, *given)
    specs = [((None, *np.shape(getattr(x, "values", x))[1:]), "f8", getattr(x, "num_levels", 0)) for x in given]
    with pytest.raises(caught.type, match=re.escape(str(caught.value))):
        ran(call, given, *specs)


def test_positions_of_extremes_beside_nan_are_recorded():
    x = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, 0.0]])
    (found,) = ran(lambda v: np.nanargmax(v, axis=1), [x], ((None, 3), "f8"))
    assert found.tolist() == [2, 1]
    (found,) = ran(np.nanargmin, [x], ((None, 3), "f8"))
    assert found == 5


def test_all_rules_are_known_where_a_program_is_loaded():
    """A saved Program names the rules of its checks, and only what it needs is loaded with it."""
    for module in pkgutil.walk_packages(lodcore.__path__, "lodcore."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    loaded = "import lodcore; lodcore.Program; from lodcore.ops.move.checked import RULES; print(*sorted(RULES))"
    done = subprocess.run([sys.executable, "-c", loaded], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(RULES)
