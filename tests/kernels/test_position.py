"""Positions across the sequences of a group: the first elements, the second ones, and so on; sums and extremes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, levels, read_only, values_from_seed
from tests.helpers.tables import for_each

SEEDS = st.integers(0, 2**32)
NUMBERS = ["f4", "f8", "i8", "u8"]
#: Groups of sequences, and sequences of elements.
GROUPS = levels(2, 2).map(lambda offsets: (int64(offsets[0]), int64(offsets[1])))


def positions_of(outer, offsets):
    """Count the positions of each group."""
    out = np.empty(len(outer), np.int64)
    kernels.position.count_positions(outer, offsets, out)
    return read_only(out)


def elements_of(outer, offsets, positions):
    """Count the elements at each position."""
    out = np.empty(int(positions[-1]) + 1, np.int64)
    kernels.position.count_elements(outer, offsets, positions, out)
    return out


def rows(seed, count, width, dtype):
    """Make rows of all bits, including infinities and nans of one kind."""
    made = values_from_seed(seed, count, np.dtype(dtype), (width,))
    made[made != made] = np.nan if np.dtype(dtype).kind == "f" else 0
    return read_only(made)


@pytest.mark.not_on_reference
class TestTwins:
    @given(GROUPS)
    def test_count_positions(self, groups):
        agree("position.count_positions", *groups, unwritten(len(groups[0])))

    @given(GROUPS)
    def test_count_elements(self, groups):
        positions = positions_of(*groups)
        agree("position.count_elements", *groups, positions, unwritten(int(positions[-1]) + 1))

    @given(GROUPS)
    def test_order_by_position(self, groups):
        positions = positions_of(*groups)
        places = elements_of(*groups, positions)[:-1].copy()
        agree("position.order_by_position", *groups, positions, places, unwritten(int(groups[1][-1])))

    @given(GROUPS, SEEDS, st.integers(0, 3), st.sampled_from(NUMBERS))
    @np.errstate(all="ignore")
    def test_add_positions(self, groups, seed, width, dtype):
        positions = positions_of(*groups)
        x = rows(seed, int(groups[1][-1]), width, dtype)
        out = unwritten(int(positions[-1]), width, dtype=dtype)
        agree("position.add_positions", x, *groups, positions, out, seen=lambda *given: [nans_alike(given[4])])

    @given(GROUPS, SEEDS, st.integers(0, 3), st.sampled_from(NUMBERS), st.booleans())
    def test_best_positions(self, groups, seed, width, dtype, least):
        positions = positions_of(*groups)
        x, shape = rows(seed, int(groups[1][-1]), width, dtype), (int(positions[-1]), width)
        for index in (unwritten(*shape), unwritten(0, 0)):
            agree("position.best_positions", x, *groups, positions, least, unwritten(*shape, dtype=dtype), index)

    @given(GROUPS, SEEDS, st.integers(0, 3), st.sampled_from(NUMBERS))
    def test_spread_positions(self, groups, seed, width, dtype):
        positions = positions_of(*groups)
        x = rows(seed, int(positions[-1]), width, dtype)
        agree("position.spread_positions", x, *groups, positions, unwritten(int(groups[1][-1]), width, dtype=dtype))


def nans_alike(array):
    """Unify the sign of nan: that of inf - inf depends on the processor."""
    if array.dtype.kind == "f":
        array[array != array] = np.nan
    return array


@given(GROUPS)
def test_elements_by_position(groups):
    outer, offsets = groups
    positions = positions_of(outer, offsets)
    elements = elements_of(outer, offsets, positions)
    order = np.empty(int(offsets[-1]), np.int64)
    kernels.position.order_by_position(outer, offsets, positions, elements[:-1].copy(), order)
    wanted = []
    for first, last in itertools.pairwise(outer):
        sequences = [range(offsets[s], offsets[s + 1]) for s in range(first, last)]
        wanted += [[one[t] for one in sequences if len(one) > t] for t in range(max(map(len, sequences), default=0))]
    assert [order[a:b].tolist() for a, b in itertools.pairwise(elements)] == wanted


@given(GROUPS, SEEDS)
def test_one_number_keeps_its_bits(groups, seed):
    """No 0 is added: -0.0 is preserved."""
    outer, offsets = groups
    positions = positions_of(outer, offsets)
    x = read_only(np.full((int(offsets[-1]), 1), -0.0))
    out = np.empty((int(positions[-1]), 1))
    kernels.position.add_positions(x, outer, offsets, positions, out)
    assert np.signbit(out).all()


NAN = float("nan")


@for_each("dtype", ["f4", "f8"])
@for_each(
    ("least", "sequences", "wanted"),
    [
        (False, [[1], [NAN], [NAN], [5]], [1]),  # the number of the sequence: the first nan wins
        (True, [[NAN], [NAN], [0]], [0]),
        (False, [[2, 1], [2], [], [1, 1]], [0, 0]),
        (True, [[3], [2, 4], [2, NAN, 1]], [1, 2, 2]),
    ],
)
def test_the_best_sequence_at_each_position(dtype, least, sequences, wanted):
    sizes = list(map(len, sequences))
    offsets, outer = int64(np.append(0, np.cumsum(sizes))), int64([0, len(sizes)])
    x = np.array([cell for one in sequences for cell in one], dtype)[:, None]
    positions, out = int64([0, max(sizes)]), np.empty((max(sizes), 1), dtype)
    for index in (unwritten(max(sizes), 1), unwritten(0, 0)):
        kernels.position.best_positions(x, outer, offsets, positions, least, out, index)
        np.testing.assert_array_equal(out[:, 0], [sequences[s][t] for t, s in enumerate(wanted)])
        assert index.ravel().tolist() in ([], [offsets[s] + t for t, s in enumerate(wanted)])


@for_each("dtype", NUMBERS)
@for_each("width", [1, 2, 3, 5])
@for_each("least", [False, True])
def test_the_best_and_the_sum_of_every_column(least, width, dtype):
    x = (np.arange(9 * width).reshape(3, 3, width) * 5 % 7).astype(dtype)
    groups, positions = (int64([0, 2, 3]), int64([0, 3, 6, 9])), int64([0, 3, 6])
    wanted = np.concatenate([x[:2].min(axis=0) if least else x[:2].max(axis=0), x[2]])
    for index in (unwritten(6, width), unwritten(0, 0)):
        out = unwritten(6, width, dtype=dtype)
        kernels.position.best_positions(x.reshape(9, width), *groups, positions, least, out, index)
        assert (out == wanted).all()
    kernels.position.add_positions(x.reshape(9, width), *groups, positions, out)
    assert (out == np.concatenate([x[:2].sum(axis=0), x[2]])).all()


@for_each(("dtype", "far"), [("i8", 2**62 - 1), ("u8", 2**63 + 1)])
def test_sums_of_integers_beyond_float64(dtype, far):
    out = np.empty((1, 1), dtype)
    arguments = np.array([[far], [3]], dtype), int64([0, 2]), int64([0, 1, 2]), int64([0, 1])
    kernels.position.add_positions(*arguments, out)
    assert out.item() == far + 3
