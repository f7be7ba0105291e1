"""arange: a range for each sequence, compared with np.arange."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import Executor, Program, ShapeError, data


@pytest.mark.not_on_reference
def test_arange_without_ranges_is_empty_or_refused():
    for one in ([], 0, 0), (0, [], 2), (3, 5, []), ([], [], []):
        assert lodcore.arange(*one).tolist() == []
    with pytest.raises(ShapeError, match="starts: has 2 entries; there are 0 ranges"):
        lodcore.arange([1, 2], [3, 4], [])


COUNTS = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from([-7, -1, 1, 2, 24])), max_size=4
)


@given(COUNTS, st.sampled_from(["M8[D]", "M8[s]", "m8[h]", "m8[D]"]), st.sampled_from(["i8", "h", "D"]))
def test_ranges_of_dates_and_durations_are_those_of_numpy(counts, dtype, unit):
    starts, stops, steps = np.array(counts, np.int64).reshape(-1, 3).T
    starts, stops = starts.astype(dtype), stops.astype(dtype)
    steps = steps if unit == "i8" else steps.astype(f"m8[{unit}]")
    found = lodcore.arange(starts, stops, steps)
    wanted = [np.arange(*one) for one in zip(starts, stops, steps, strict=True)]
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    with Program() as program:
        given = [data(name, (None,), x.dtype) for name, x in (("a", starts), ("b", stops), ("c", steps))]
        made = lodcore.arange(*given)
    (run,) = Executor().run(program, {"a": starts, "b": stops, "c": steps}, [made])
    assert (run.dtype, run.lod) == (made.dtype, found.lod)
    np.testing.assert_array_equal(run.values, found.values)


def test_a_range_of_durations_begins_at_0():
    assert lodcore.arange(np.array([2, 0], "m8[s]")).values.tolist() == np.arange(2).astype("m8[s]").tolist()
