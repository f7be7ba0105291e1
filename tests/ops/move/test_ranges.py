"""arange: a range for each sequence, compared with np.arange."""

import numpy as np
import pytest

import lodcore
from lodcore import ShapeError
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each("step", [1, 2, 3, -1, -2, -3, 0.5, -0.75])
def test_arange_of_any_starts_and_stops_equals_numpy(step):
    ends = np.arange(-3, 4) * (1 if isinstance(step, int) else 0.5)
    starts, stops = (one.ravel() for one in np.meshgrid(ends, ends))
    wanted = [np.arange(a, b, step).tolist() for a, b in zip(starts, stops, strict=True)]
    assert lodcore.arange(starts, stops, step).tolist() == wanted
    assert lodcore.arange(starts, stops, np.full(len(starts), step)).tolist() == wanted
    assert lodcore.arange(starts, stops[0], step).tolist() == [np.arange(a, stops[0], step).tolist() for a in starts]
    assert lodcore.arange(starts[:3], stops[:3], step).tolist() == wanted[:3]


@pytest.mark.not_on_reference
def test_arange_without_ranges_is_empty_or_refused():
    for given in ([], 0, 0), (0, [], 2), (3, 5, []), ([], [], []):
        assert lodcore.arange(*given).tolist() == []
    with pytest.raises(ShapeError, match="starts: has 2 entries; there are 0 ranges"):
        lodcore.arange([1, 2], [3, 4], [])
