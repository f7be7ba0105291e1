"""sequence_unflatten: sequences divided once more, compared with nested lists."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from tests.helpers.tables import for_each


@for_each("sizes", itertools.product(range(4), repeat=4))
def test_sequence_unflatten_puts_empty_sequences_at_a_boundary_into_the_next_one(sizes):
    """All lengths of four new sequences, and every place at which the old ones may have been divided."""
    ends = np.cumsum(sizes)
    for first in {0, *ends.tolist()}:
        x = LoDTensor.from_lengths(np.arange(ends[-1]), [first, ends[-1] - first])
        parts = [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes, strict=True)]
        count = sum(end <= first for end in ends.tolist()) if first else 0
        while count and not sizes[count - 1]:  # an empty one at the boundary belongs to what follows
            count -= 1
        assert lodcore.sequence_unflatten(x, list(sizes)).tolist() == [parts[:count], parts[count:]]


@pytest.mark.parametrize("lengths", [[1], [1, 2], np.array([0, 3])])
def test_sequence_unflatten_of_no_sequences_names_lengths_of_elements_that_are_not_there(lengths):
    x = lodcore.array([], num_levels=1)
    said = f"lengths: add up to {sum(lengths)}; x has 0 elements"
    with pytest.raises(lodcore.LoDError, match=f"^sequence_unflatten: {said}"):
        lodcore.sequence_unflatten(x, lengths)


@pytest.mark.parametrize("op", [lodcore.rows_to_level, lambda x: lodcore.ops.insert_level(x, 0)])
def test_levels_made_of_an_array_of_the_caller_cannot_be_written(op):
    given = np.arange(6.0).reshape(3, 2)
    made = op(given)
    with pytest.raises(ValueError, match="the values are read-only"):
        made[0] = 99
    np.testing.assert_array_equal(given, np.arange(6.0).reshape(3, 2))
    own = op(LoDTensor.from_lengths(given, [1, 2]) * 1.0)
    own[0] = 99
