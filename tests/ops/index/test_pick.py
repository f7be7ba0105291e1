"""gather_nested: elements by nested indices, compared with lists."""

import itertools

import numpy as np
import pytest

import lodcore


@pytest.mark.not_on_reference
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_gather_nested_by_nested_indices_in_every_order_equals_lists(order, levels):
    nested = [[1, 2], [3], [4, 5, 6]] if levels == 1 else [[[1, 2], []], [[3]], [[4], [5, 6]]]
    x, dense = lodcore.array(nested), np.arange(6.0).reshape(3, 2)
    a, b, c = order
    for index in ([a, b, c], [[a, b], [c]], [[a], [], [b, c]], [[a, b, c]], [[[a], [b, c]], [], [[]]]):

        def taken(one, of):
            return [taken(inner, of) for inner in one] if isinstance(one, list) else of[one]

        given = lodcore.array(index) if isinstance(index[0], list) else np.array(index)
        assert lodcore.gather_nested(x, given).tolist() == taken(index, nested)
        assert lodcore.gather_nested(x, given, default=[]).tolist() == taken(index, nested)
        assert lodcore.gather_nested(dense, given).tolist() == taken(index, dense.tolist())
