"""Distinct values, ranks and runs, compared with NumPy sequence by sequence."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from tests.helpers.agree import same
from tests.samples.runs import SINGLES
from tests.samples.sort import tensors, texts


def parts(x, level=-1):
    """List the rows below each sequence of a level."""
    return [x.values[start:stop] for start, stop in pairwise(x.lod.row_offsets(level))]


@given(SINGLES, st.data())
def test_unique_as_numpy(x, data):
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


@given(tensors() | texts())
def test_runs_undo_each_other(x):
    values, counts = lodcore.run_lengths(x)
    again = lodcore.repeat_runs(values, counts)
    assert again.lod == x.lod
    np.testing.assert_array_equal(again.values, x.values)
    assert (counts.values > 0).all()


def test_ranks_of_pandas():
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


def test_modes():
    x = lodcore.array([[3.0, 1.0, 3.0, 1.0, 2.0], [], [np.nan, 5.0, np.nan]])
    np.testing.assert_array_equal(lodcore.sequence_mode(x), [1, np.nan, np.nan])
    text = lodcore.array([["b", "a", "b"], ["c"]])
    assert lodcore.sequence_mode(text).tolist() == ["b", "c"]
    dates = lodcore.array([["2020-01-02", "2020-01-01", "2020-01-02"], []], np.dtype("M8[D]"))
    assert np.datetime_as_string(lodcore.sequence_mode(dates)).tolist() == ["2020-01-02", "NaT"]
