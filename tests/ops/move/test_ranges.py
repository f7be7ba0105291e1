"""arange: a range for each sequence, compared with np.arange."""

import pytest

import lodcore
from lodcore import ShapeError


@pytest.mark.not_on_reference
def test_arange_without_ranges_is_empty_or_refused():
    for given in ([], 0, 0), (0, [], 2), (3, 5, []), ([], [], []):
        assert lodcore.arange(*given).tolist() == []
    with pytest.raises(ShapeError, match="starts: has 2 entries; there are 0 ranges"):
        lodcore.arange([1, 2], [3, 4], [])
