"""Distinct values, ranks and runs, compared with NumPy sequence by sequence."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, ops
from tests.helpers.agree import same
from tests.helpers.tables import for_each
from tests.samples.runs import SINGLES


def parts(x, level=-1):
    """List the rows below each sequence of a level."""
    return [x.values[start:stop] for start, stop in pairwise(x.lod.row_offsets(level))]


@given(SINGLES, st.data())
def test_sequence_unique_all_equals_numpy(x, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    found = lodcore.sequence_unique_all(x, level)
    assert same(found[0], lodcore.sequence_unique(x, level))
    assert found[2].lod is x.lod
    counts = lodcore.sequence_n_unique(x, level)
    given_counts = counts.values if isinstance(counts, LoDTensor) else counts
    assert given_counts.tolist() == found[0].lod.lengths(-1).tolist()
    each = zip(parts(x, level), parts(found[0]), parts(found[1]), parts(found[2], level), parts(found[3]), strict=True)
    for rows, values, index, inverse, times in each:
        want = np.unique(rows, return_index=True, return_inverse=True, return_counts=True)
        for one, other in zip((values, index, inverse, times), want, strict=True):
            np.testing.assert_array_equal(one, other)


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
def test_complex_numbers_with_nan_in_one_part_are_one_value():
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
