"""SparseTensor: selected rows of a large array."""

import copy
import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import DenseTensor, DTypeError, ShapeError, SparseTensor, Tensor, lookup_table, vjp
from tests.helpers.draw import NUMBERS, odd_forms, read_only

ROW_SHAPES = [(), (1,), (3,), (2, 2), (0,)]


@st.composite
def parts(draw, height=None, dtypes=NUMBERS, row_shapes=ROW_SHAPES):
    """Draw indices, small integers as values, and a height."""
    height = draw(st.integers(1, 6)) if height is None else height
    indices = draw(st.lists(st.integers(0, height - 1), max_size=8))
    shape, dtype = draw(st.sampled_from(row_shapes)), draw(st.sampled_from(dtypes))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return indices, read_only(random.integers(0, 9, (len(indices), *shape)).astype(dtype)), height


def dense(indices, values, height):
    """Sum rows one by one."""
    total = np.zeros((height, *values.shape[1:]), values.dtype)
    for index, row in zip(indices, values, strict=True):
        total[index] += row
    return total


def assert_equal(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@given(parts(), st.data())
def test_sparse_tensor_to_dense_adds_rows_of_equal_indices(drawn, data):
    indices, values, height = drawn
    x = SparseTensor(data.draw(odd_forms(indices)) if indices else indices, values, height)
    assert (x.shape, x.ndim, x.dtype, x.height) == ((height, *values.shape[1:]), values.ndim, values.dtype, height)
    assert x.indices.tolist() == indices
    assert x.values is values
    assert not x.indices.flags.writeable
    want = dense(*drawn)
    assert_equal(x.to_dense(), want)
    assert_equal(np.asarray(x), want)
    out = np.full_like(want, 9)
    assert x.to_dense(out) is out
    assert_equal(out, want)


@given(parts(), st.sampled_from([0, 10**6]))
def test_sparse_tensor_merge_sorts_and_adds_rows_of_equal_indices(drawn, more):
    drawn = (*drawn[:2], drawn[2] + more)
    merged = SparseTensor(*drawn).merge()
    assert merged.indices.tolist() == sorted(set(drawn[0]))
    assert_equal(merged.values, dense(*drawn)[merged.indices])
    assert merged.height == drawn[2]


@given(parts(5, row_shapes=[(2,)]), parts(5, row_shapes=[(2,)]), parts(5, row_shapes=[(2,)]))
def test_sums_of_sparse_tensors_keep_the_rows_of_all(first, second, third):
    x, y, z = (SparseTensor(*drawn) for drawn in (first, second, third))
    both = x + y + z
    assert type(both) is SparseTensor
    assert both.indices.tolist() == [*first[0], *second[0], *third[0]]
    np.testing.assert_array_equal(both.to_dense(), x.to_dense() + y.to_dense() + z.to_dense())
    for total in (x + np.ones((5, 2)), np.ones((5, 2)) + x, x + DenseTensor(np.ones((5, 2))), x + 1):
        assert type(total) is np.ndarray
        np.testing.assert_array_equal(total, dense(*first) + 1)
    assert x.indices.tolist() == first[0], "a sum has changed its operand"


@given(parts())
def test_copies_of_sparse_tensors_share_no_memory(drawn):
    x = SparseTensor(*drawn)
    for other in (x.clone(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(other) is SparseTensor
        assert (other.indices.tolist(), other.height) == (drawn[0], drawn[2])
        assert_equal(other.values, x.values)
    assert not np.shares_memory(x.clone().values, x.values)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_run_in_the_order_of_the_rows(dtype):
    large = 2.0 ** np.finfo(dtype).nmant * 2
    x = SparseTensor([1, 1, 1, 1], np.array([large, 1, -large, 1], dtype), 2)
    assert x.to_dense().tolist() == [0, 1]
    assert x.merge().values.tolist() == [1]


def test_indices_are_private():
    indices = np.array([0, 1])
    x = SparseTensor(indices, [1.0, 2.0], 2)
    indices[0] = 10**9
    assert x.to_dense().tolist() == [1, 2]
    column = np.array([[0], [1]])
    x = SparseTensor(column, [1.0, 2.0], 2)
    column[0] = 10**9
    assert x.to_dense().tolist() == [1, 2]


def test_values_of_any_layout():
    values = np.arange(12.0).reshape(4, 3)
    for given_values in (values[::2], values.T[:2], values.astype(">f8")[:2]):
        np.testing.assert_array_equal(SparseTensor([0, 1], given_values, 2).to_dense(), given_values)


def test_a_sparse_tensor_is_a_tensor_with_a_repr():
    x = SparseTensor([3], [[1.0, 2.0]], 5)
    assert isinstance(x, Tensor)
    assert repr(x) == "SparseTensor(1 of 5 rows, shape (5, 2), float64)"
    assert repr(x + x) == "SparseTensor(2 of 5 rows, shape (5, 2), float64)"


def test_a_table_used_twice_has_one_sparse_gradient():
    table = np.arange(6.0).reshape(3, 2)

    def twice(table):
        return lookup_table(table, [[0, 2]]), lookup_table(table, np.array([2]))

    (_, _), pullback = vjp(twice, table)
    (gradient,) = pullback(np.ones((2, 2)), np.full((1, 2), 3.0))
    assert type(gradient) is SparseTensor
    np.testing.assert_array_equal(gradient.to_dense(), [[1, 1], [0, 0], [4, 4]])
    out = np.full((3, 2), 9.0)
    assert pullback(np.ones((2, 2)), None, out=(out,))[0] is out
    np.testing.assert_array_equal(out, [[1, 1], [0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: SparseTensor([0, 3], [1.0, 2.0], 3), IndexError, "indices.*3 at position 1.*3 rows"),
        (lambda: SparseTensor([-1], [1.0], 3), IndexError, "indices.*-1 at position 0"),
        (lambda: SparseTensor([0], [1.0], 0), IndexError, "indices.*0 at position 0.*0 rows"),
        (lambda: SparseTensor([0], [1.0, 2.0], 3), ShapeError, r"values.*\(2,\).*1"),
        (lambda: SparseTensor([0], 1.0, 3), ShapeError, "values.*no axis"),
        (lambda: SparseTensor([[0, 1]], [1.0], 3), ShapeError, r"indices.*\(1, 2\)"),
        (lambda: SparseTensor([0.0], [1.0], 3), DTypeError, "indices.*float64"),
        (lambda: SparseTensor([0], ["a"], 3), DTypeError, "values.*<U1"),
        (lambda: SparseTensor([0], [None], 3), DTypeError, "values.*object"),
        (lambda: SparseTensor([0], [1.0], 1.5), DTypeError, "height.*1.5"),
        (lambda: SparseTensor([], [], -1), ShapeError, "height.*-1"),
        (lambda: SparseTensor([], [], 2**63), ShapeError, "height"),
        (lambda: SparseTensor([0], [1.0], 2**62).to_dense(), MemoryError, "SparseTensor.to_dense"),
        (lambda: SparseTensor([0], [1.0], 3) + SparseTensor([0], [1.0], 4), ShapeError, r"\(4,\).*\(3,\)"),
        (lambda: SparseTensor([0], [1.0], 1) + np.array([None]), DTypeError, r"\+: the other has dtype object"),
        (lambda: np.array([None]) + SparseTensor([0], [1.0], 1), DTypeError, r"\+: the other has dtype object"),
        (lambda: SparseTensor([0], [1.0], 3) + "a", TypeError, "unsupported"),
        (lambda: SparseTensor([0], [1.0], 3).to_dense(np.empty(4)), ShapeError, r"out.*\(4,\).*\(3,\)"),
        (lambda: np.array(SparseTensor([0], [1.0], 3), copy=False), ValueError, "copy"),
    ],
)
def test_wrong_calls_of_sparse_tensor_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


#: The queries of a SparseTensor.
QUESTIONS = {
    **{name: lambda x, name=name: getattr(x, name) for name in ("dtype", "shape", "ndim", "height")},
    "repr": repr,
    "indices": lambda x: x.indices.tolist(),
    "values": lambda x: (x.values.dtype, x.values.tolist()),
    "to_dense": lambda x: (x.to_dense().dtype, x.to_dense().tolist()),
    "asarray": lambda x: (np.asarray(x).dtype, np.asarray(x).tolist()),
    "merge": lambda x: (x.merge().indices.tolist(), x.merge().values.dtype, x.merge().values.tolist()),
    "clone": lambda x: (repr(x.clone()), x.clone().values.tolist()),
    "pickle": lambda x: (repr(pickle.loads(pickle.dumps(x))), pickle.loads(pickle.dumps(x)).values.tolist()),
    "deepcopy": lambda x: (repr(copy.deepcopy(x)), copy.deepcopy(x).values.tolist()),
    "sum": lambda x: (repr(x + x), (x + x).indices.tolist(), (x + x).values.tolist()),
    "dense sum": lambda x: ((x + np.ones(1, np.float16)).dtype, (np.int8(1) + x).tolist()),
}


@given(
    st.lists(
        parts(4, [np.int8, np.uint8, np.int32, np.float16, np.float32, np.float64], [(2,)]), min_size=2, max_size=4
    ),
    st.booleans(),
)
def test_a_sum_of_sparse_tensors_equals_one_of_all_their_rows(drawn, from_the_right):
    def total():
        made = [SparseTensor(*one) for one in drawn]
        if from_the_right:
            return functools.reduce(lambda x, y: y + x, made[::-1])
        return functools.reduce(lambda x, y: x + y, made)

    dtype = np.result_type(*(values.dtype for _, values, _ in drawn))
    rows = np.concatenate([values.astype(dtype) for _, values, _ in drawn])
    joined = SparseTensor([at for indices, _, _ in drawn for at in indices], rows, 4)
    wanted = {name: ask(joined) for name, ask in QUESTIONS.items()}
    for name, ask in QUESTIONS.items():
        x = total()
        assert ask(x) == wanted[name], f"{name}, asked first"
        assert {other: again(x) for other, again in QUESTIONS.items()} == wanted, f"after {name}"


@pytest.mark.parametrize("name", ["__add__", "__sub__", "add"])
@pytest.mark.parametrize(("height", "width"), [(3, 2), (5, 2), (4, 1), (4, 3)])
def test_tensors_of_other_shapes_are_not_added(name, height, width):
    x, other = SparseTensor([0], np.ones((1, 2)), 4), SparseTensor([0], np.ones((1, width)), height)
    method = getattr(SparseTensor, name, None)
    if method is not None:
        for one, two in ((x, other), (other, x)):
            with pytest.raises(ShapeError, match="shape"):
                method(one, two)
