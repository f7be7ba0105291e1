"""Calls of Python functions and memory grow at most as n log n, whatever the input; `make hunt` measures times."""

import pytest

from tests.robustness import costs


@pytest.mark.not_on_reference
def test_calls_and_memory_grow_with_the_input():
    """8 times the size: at most 14 times the calls and the bytes, apart from what a call needs for nothing."""
    found = []
    for shape in costs.SHAPES[:10:2]:  # values matter to compiled loops only
        small, large = (costs.names_of(*shape, size) for size in (60, 480))
        for text in costs.CALLS:
            costs.run(text, small)
            before, after = costs.counted(text, small), costs.counted(text, large)
            if after.calls > 14 * before.calls + 100 or after.used > 14 * before.used + 100_000:
                found.append((text, shape, before, after))
    assert not found
