"""Segment ids of JAX, without JAX: rows after the last segment are padding, whatever their ids."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDError

pytestmark = pytest.mark.not_on_reference


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_ids_of_the_last_segment_and_beyond_are_filling(count):
    for ids in itertools.product([0, 1, 2, 3, 9], repeat=3):
        real = [one for one in ids if one < count]
        if list(ids[: len(real)]) != sorted(real):
            with pytest.raises(LoDError, match="segment_ids"):
                lodcore.from_jax(np.arange(3.0), np.array(ids, np.int32), count)
            continue
        found = lodcore.from_jax(np.arange(3.0), np.array(ids, np.int32), count)
        assert found.tolist() == [[float(row) for row, one in enumerate(real) if one == k] for k in range(count)]
