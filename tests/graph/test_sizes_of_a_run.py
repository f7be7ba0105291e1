"""Numbers that only the run knows: operators and reshape take them, NumPy and Python do not."""

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, LoDTensor, ShapeError, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, append_backward, data, while_loop
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
BY_INDEX = r"is a number that only the run knows; lookup_table\(array, \w+\) takes a row of an array by it, array.read"
WRONG = [
    (BY_INDEX, lambda t, s: X[t]),
    (BY_INDEX, lambda t, s: X[0, t]),
    (BY_INDEX, lambda t, s: [1, 2, 3][t]),
    (BY_INDEX, lambda t, s: range(t)),
    (BY_INDEX, lambda t, s: np.zeros(t + 1)),
    (BY_INDEX, lambda t, s: X[VarArray(unstack_from=t.reshape(1)).get(0)]),
    ("its length is a number that only the run knows; use array.size", lambda t, s: len(TensorArray(unstack_from=s))),
    ("its length is a number that only the run knows; use array.size", lambda t, s: list(TensorArray(unstack_from=s))),
    ("its length is a number that only the run knows; use num_rows", lambda t, s: len(s)),
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
