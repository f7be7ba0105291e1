"""Masks of lengths, compared with NumPy."""

import numpy as np
import pytest

import lodcore
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i2"])
def test_sequence_mask_of_any_dtype_equals_numpy(dtype):
    for lengths, maxlen in (
        ([2, 0, 3], None),
        ([[1, 0], [2, 2]], 1),
        (2, None),
        (3, 2),
        ([], None),
        (np.zeros((0, 2), int), 2),
    ):
        counts = np.array(lengths, int)
        most = counts.max(initial=0) if maxlen is None else maxlen
        found = lodcore.sequence_mask(lengths, maxlen, dtype)
        wanted = (np.arange(most) < counts[..., None]).astype(dtype)
        assert found.dtype == wanted.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, wanted)
