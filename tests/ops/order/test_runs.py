"""Distinct values, ranks and runs, compared with NumPy sequence by sequence."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops
from tests.helpers.tables import for_each


def test_sequence_rank_by_every_method_equals_pandas():
    x = lodcore.array([[3.0, 1.0, 3.0, 2.0], [], [5.0, 5.0]])
    want = {
        "average": [[3.5, 1, 3.5, 2], [], [1.5, 1.5]],
        "min": [[3, 1, 3, 2], [], [1, 1]],
        "max": [[4, 1, 4, 2], [], [2, 2]],
        "dense": [[3, 1, 3, 2], [], [1, 1]],
        "ordinal": [[3, 1, 4, 2], [], [1, 2]],
    }
    for method, ranks in want.items():
        assert lodcore.sequence_rank(x, method).tolist() == ranks


def test_sequence_mode_is_the_first_most_frequent_value():
    x = lodcore.array([[3.0, 1.0, 3.0, 1.0, 2.0], [], [np.nan, 5.0, np.nan]])
    np.testing.assert_array_equal(lodcore.sequence_mode(x), [1, np.nan, np.nan])
    text = lodcore.array([["b", "a", "b"], ["c"]])
    assert lodcore.sequence_mode(text).tolist() == ["b", "c"]
    dates = lodcore.array([["2020-01-02", "2020-01-01", "2020-01-02"], []], np.dtype("M8[D]"))
    assert np.datetime_as_string(lodcore.sequence_mode(dates)).tolist() == ["2020-01-02", "NaT"]


@pytest.mark.not_on_reference
@for_each("dtype", ["f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[h]"])
def test_sequence_mode_of_an_empty_sequence_is_nan_or_nat(dtype):
    found = lodcore.sequence_mode(LoDTensor.from_lengths(np.array([1, 2, 2]).astype(dtype), [0, 3, 0]))
    assert (found != found).tolist() == [True, False, True]
    assert found[1] == np.array(2).astype(dtype)


@pytest.mark.not_on_reference
def test_complex_numbers_with_nan_in_either_part_count_as_equal():
    for one, other in itertools.permutations([complex(1, np.nan), complex(2, np.nan), complex(np.nan, 1)], 2):
        x = lodcore.array([[one, 1j, other], [1j, one]])
        assert lodcore.sequence_n_unique(x).tolist() == [2, 2]
        assert [len(part) for part in lodcore.sequence_unique(x).tolist()] == [2, 2]
        assert ops.sequence_rank(x, "dense").tolist() == [[2, 1, 2], [1, 2]]
        assert np.isnan(lodcore.sequence_mode(x).tolist()[0])


@pytest.mark.not_on_reference
@for_each("method", ["ordinal", "min", "max", "dense", "average"])
def test_sequence_rank_descending_by_every_method(method):
    wanted = {"ordinal": [3, 1, 4, 2], "min": [3, 1, 3, 2], "max": [4, 1, 4, 2], "dense": [3, 1, 3, 2]}
    found = ops.sequence_rank(lodcore.array([[1, 9, 1, 5], [2, 3]]), method, descending=True)
    assert found.tolist() == [wanted.get(method, [3.5, 1, 3.5, 2]), [2, 1]]
