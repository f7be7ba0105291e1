"""sequence_unflatten: sequences divided once more, compared with nested lists."""

import itertools

import numpy as np

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
