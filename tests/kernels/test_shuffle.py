"""Random orders within sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
class TestTwins:
    @given(lengths(most=8), st.integers(0, 6), st.integers(0, 2**32), st.booleans())
    def test_shuffle_places(self, sizes, most, seed, hostile):
        random = np.random.default_rng(seed)
        offsets, drawn = int64(running_sum(sizes)), int64(running_sum([min(size, most) for size in sizes]))
        chances = random.random(int(drawn[-1]))
        if hostile:
            chances[random.random(len(chances)) < 0.5] = random.choice([np.nan, 1.0, -1.0, np.inf, 1 - 2**-53])
        work, out = unwritten(max(sizes, default=0)), unwritten(len(chances))
        agree(
            "shuffle.shuffle_places",
            offsets,
            drawn,
            read_only(chances),
            work,
            out,
            seen=lambda offsets, sizes, random, work, out: [out],
        )


@for_each(
    ("chance", "wanted"),
    [
        *((outside, [0, 1, 2]) for outside in (0.0, 1.0, -0.5, np.nan, np.inf, 2.0)),
        *((1 - 2**-53, [2, 0, 1]), (0.5, [1, 2, 0]), (0.34, [1, 0, 2])),
    ],
)
def test_numbers_outside_of_their_range_leave_elements_where_they_are(chance, wanted):
    for count in (3, 2):  # all elements, or some of them
        work, out = unwritten(3), unwritten(count)
        kernels.shuffle.shuffle_places(int64([0, 3]), int64([0, count]), np.full(count, chance), work, out)
        assert out.tolist() == wanted[:count]


def test_every_order_is_about_as_likely():
    count = 6000
    offsets = int64(np.arange(count + 1) * 3)
    out = np.empty(3 * count, np.int64)
    chances = read_only(np.random.default_rng(0).random(3 * count))
    kernels.shuffle.shuffle_places(offsets, offsets, chances, np.empty(3, np.int64), out)
    orders, counts = np.unique(out.reshape(-1, 3), axis=0, return_counts=True)
    assert len(orders) == 6
    assert (sorted(map(tuple, orders.tolist()))) == [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    assert abs(counts - count / 6).max() < 150


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize(
    ("drawn", "room", "fits"),
    [([0, 2, 5], 0, True), ([0, 1, 1], 2, True), ([0, 1, 1], 1, False), ([0, 0, 2], 3, True), ([0, 0, 2], 2, False)],
)
def test_work_space_shorter_than_the_longest_sampled_sequence_is_refused(drawn, room, fits):
    arguments = (
        int64([0, 2, 5]),
        int64(drawn),
        np.zeros(drawn[-1]),
        np.empty(room, np.int64),
        np.empty(drawn[-1], np.int64),
    )
    if fits:
        kernels.shuffle.shuffle_places(*arguments)
        return
    with pytest.raises(ValueError, match="do not belong together"):
        kernels.shuffle.shuffle_places(*arguments)
