"""Sorting and the greatest rows, compared with NumPy; laws, and positions that a caller changes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, sequence_sort, sequence_topk, vjp
from lodcore.base import threads
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from tests.helpers.agree import same
from tests.helpers.draw import lods, read_only
from tests.helpers.tables import for_each

DTYPES = [np.dtype(name) for name in ("f4", "f8", "f2", "i8", "i4", "u1", "?")]


@st.composite
def tensors(draw, dtypes=DTYPES):
    """Draw a tensor of few different numbers."""
    lod, dtype = draw(lods(1, 3)), draw(st.sampled_from(dtypes))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (lod.num_rows, *draw(st.sampled_from([(), (1,), (5,), (2, 2)])))
    return LoDTensor(read_only(random.integers(0, 5, shape).astype(dtype)), lod)


def parts(x, level, values=None):
    """List the rows below each sequence of a level."""
    cuts = x.lod.row_offsets(level)
    values = x.values if values is None else values
    return [values[start:stop] for start, stop in pairwise(cuts)]


@given(tensors(), st.booleans(), st.data())
def test_sort_as_numpy(x, descending, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    y = sequence_sort(x, level, descending)
    assert y.lod is x.lod
    assert y.dtype == x.dtype
    for rows, ordered in zip(parts(x, level), parts(y, level), strict=True):
        want = np.sort(rows, axis=0)
        np.testing.assert_array_equal(ordered, want[::-1] if descending else want)
    inferred = OPS["sequence_sort"].infer(spec_of(x), level, descending)
    assert inferred == spec_of(y)


@given(tensors(), st.integers(0, 7), st.data())
def test_topk_as_numpy(x, k, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    values, positions = sequence_topk(x, k, level)
    assert values.lod is positions.lod
    assert (values.dtype, positions.dtype) == (x.dtype, np.int64)
    assert values.num_levels == level % x.num_levels + 1
    assert values.lod.lengths(-1).tolist() == [min(k, len(rows)) for rows in parts(x, level)]
    best, places = parts(values, -1), parts(positions, -1)
    for rows, found, at in zip(parts(x, level), best, places, strict=True):
        order = np.argsort(-rows.astype(np.float64), axis=0, kind="stable")[:k]
        np.testing.assert_array_equal(at, order)
        np.testing.assert_array_equal(found, np.take_along_axis(rows, order, 0))
    assert OPS["sequence_topk"].infer(spec_of(x), k, level) == (spec_of(values), spec_of(positions))


@given(tensors(), st.data())
def test_all_of_the_greatest_is_the_descending_order(x, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    values, _ = sequence_topk(x, x.num_rows, level)
    assert values.values.tobytes() == sequence_sort(x, level, True).values.tobytes()


def test_nan_is_the_greatest():
    x = lodcore.array([[1.0, np.nan, 3.0, -np.inf], [np.nan]])
    np.testing.assert_array_equal(sequence_sort(x).values, [-np.inf, 1, 3, np.nan, np.nan])
    np.testing.assert_array_equal(sequence_sort(x, descending=True).values, [np.nan, 3, 1, -np.inf, np.nan])
    values, positions = sequence_topk(x, 2)
    np.testing.assert_array_equal(values.values, [np.nan, 3, np.nan])
    assert positions.tolist() == [[1, 2], [0]]


def test_the_first_of_equal_ones_wins():
    x = lodcore.array([[0.0, -0.0, 2.0, 2.0, -0.0]])
    assert np.signbit(sequence_sort(x).values).tolist() == [False, True, True, False, False]
    assert sequence_topk(x, 5)[1].tolist() == [[2, 3, 0, 1, 4]]


def test_gradients_go_where_the_rows_were():
    x = lodcore.array([[3.0, 1.0, 2.0], [], [7.0]])
    _, pullback = vjp(sequence_sort, x)
    assert pullback(np.array([1.0, 10, 100, 5]))[0].values.tolist() == [100, 1, 10, 5]
    _, pullback = vjp(lambda x: sequence_sort(x, descending=True), x)
    assert pullback(np.array([1.0, 10, 100, 5]))[0].values.tolist() == [1, 100, 10, 5]
    _, pullback = vjp(lambda x: sequence_topk(x, 2), x)
    assert pullback(np.array([1.0, 10, 5]), None)[0].values.tolist() == [1, 0, 10, 5]
    single = lodcore.array([[2.0]])
    _, pullback = vjp(sequence_sort, single)
    assert pullback(np.array([9.0]))[0].values.tolist() == [9]


@pytest.mark.parametrize("place", [-1, 3, 2**62, -(2**63)])
def test_sequence_topk_positions_that_the_caller_changes_do_not_change_the_gradient(place):
    x = lodcore.array([[3.0, 1.0, 2.0]])
    (_, positions), pullback = vjp(lambda x: sequence_topk(x, 2), x)
    positions.values[1] = place
    with pytest.raises(IndexError, match="positions: row 1 was changed"):
        pullback(np.ones(2), None)


@pytest.mark.parametrize("k", [0, 1, np.int32(2), np.array(3), 2**100])
def test_sequence_topk_k_per_sequence(k):
    values, _ = sequence_topk([[1, 5, 3], [2]], k)
    assert values.tolist() == [[5, 3, 1][: int(k)], [2][: int(k)]]


def test_negative_numbers_of_rows_are_refused():
    with pytest.raises(ValueError, match="k: is -1; 0 or more"):
        sequence_topk([[1]], -1)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("row_shape", [(), (5,)])
def test_threads_change_nothing(n, row_shape, monkeypatch):
    random = np.random.default_rng(n)
    sizes = random.integers(0, 20, 60)
    x = LoDTensor.from_lengths(random.integers(0, 9, (sizes.sum(), *row_shape)) / 4, sizes)

    def run():
        ordered, pullback = vjp(sequence_sort, x)
        values, positions = sequence_topk(x, 3)
        return [
            ordered,
            sequence_sort(x),
            *pullback(np.arange(ordered.values.size).reshape(ordered.values.shape) * 1.0),
            values,
            positions,
        ]

    whole = run()
    monkeypatch.setattr(threads, "WIDE", 1)
    lodcore.set_num_threads(n)
    try:
        parts_of_it = run()
    finally:
        lodcore.set_num_threads(1)
    for one, other in zip(whole, parts_of_it, strict=True):
        assert same(one, other)


def of(x):
    """Return the values of a tensor."""
    return np.asarray(getattr(x, "values", x))


@pytest.mark.not_on_reference
@for_each("n", [1, 2, 3])
def test_sequence_sort_of_complex_numbers_moves_cotangents_whole(n):
    values, d = np.arange(n, 0, -1) + 1j, np.arange(1, n + 1) * (2 - 3j)
    for x, wanted in ((values, d[::-1]), (values[::-1], d)):
        (found,) = vjp(lodcore.sequence_sort, lodcore.array([x.copy()]))[1](d)
        assert of(found).tolist() == wanted.tolist()
