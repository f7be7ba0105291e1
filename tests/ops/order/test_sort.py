"""Sorting and the greatest rows, compared with NumPy; laws, and positions that a caller changes."""

import numpy as np
import pytest

import lodcore
from lodcore import sequence_sort, sequence_topk, vjp
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each


def test_nan_is_the_greatest():
    x = lodcore.array([[1.0, np.nan, 3.0, -np.inf], [np.nan]])
    np.testing.assert_array_equal(sequence_sort(x).values, [-np.inf, 1, 3, np.nan, np.nan])
    np.testing.assert_array_equal(sequence_sort(x, descending=True).values, [np.nan, 3, 1, -np.inf, np.nan])
    values, positions = sequence_topk(x, 2)
    np.testing.assert_array_equal(values.values, [np.nan, 3, np.nan])
    assert positions.tolist() == [[1, 2], [0]]


def test_sequence_sort_and_topk_keep_equal_entries_in_order():
    x = lodcore.array([[0.0, -0.0, 2.0, 2.0, -0.0]])
    assert np.signbit(sequence_sort(x).values).tolist() == [False, True, True, False, False]
    assert sequence_topk(x, 5)[1].tolist() == [[2, 3, 0, 1, 4]]


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


@pytest.mark.not_on_reference
@for_each("n", [1, 2, 3])
def test_sequence_sort_of_complex_numbers_moves_cotangents_whole(n):
    values, d = np.arange(n, 0, -1) + 1j, np.arange(1, n + 1) * (2 - 3j)
    for x, wanted in ((values, d[::-1]), (values[::-1], d)):
        (found,) = vjp(lodcore.sequence_sort, lodcore.array([x.copy()]))[1](d)
        assert values_of(found).tolist() == wanted.tolist()
