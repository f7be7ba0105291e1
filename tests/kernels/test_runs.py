"""Runs of equal rows: kernels and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.tables import for_each

OFFSETS = st.sampled_from([(8, 5), (4, 17)]).flatmap(lambda most: lengths(None, *most)).map(running_sum).map(int64)


@st.composite
def rows(draw):
    """Draw rows of few different numbers, and offsets."""
    offsets, dtype = draw(OFFSETS), np.dtype(draw(st.sampled_from(["f4", "f8", "u1"])))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = random.integers(0, 2, (int(offsets[-1]), draw(st.sampled_from([1, 1, 2, 4, 8, 0])))).astype(dtype)
    if dtype.kind == "f":
        for odd in (np.nan, -np.nan, -0.0):
            x[random.random(x.shape) < 0.2] = odd
    return read_only(x), offsets


def runs_of(x, offsets):
    """Find the runs of rows with the kernel."""
    starts, runs = unwritten(len(x) + 1), unwritten(len(offsets))
    return read_only(starts[: kernels.runs.find_runs(x, offsets, starts, runs)]), read_only(runs)


@st.composite
def ranked(draw):
    """Draw runs and the positions of their rows."""
    x, offsets = draw(rows())
    starts, runs = runs_of(x, offsets)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    places = [random.permutation(size) for size in np.diff(offsets)]
    positions = np.concatenate([*places, []]).astype(np.int64)
    if len(positions) and draw(st.booleans()):
        wrong = draw(st.sampled_from([-1, 100, 2**63 - 1, -(2**63)]))
        positions[draw(st.integers(0, len(positions) - 1))] = wrong
    return starts, runs, offsets, read_only(positions)


@pytest.mark.not_on_reference
class TestTwins:
    @given(rows())
    def test_find(self, drawn):
        x, offsets = drawn

        def seen(x, offsets, starts, runs):
            return [runs, starts[: runs[-1]]]

        agree("runs.find_runs", x, offsets, unwritten(len(x) + 1), unwritten(len(offsets)), seen=seen)

    @given(rows())
    def test_measure(self, drawn):
        x, offsets = drawn
        starts, runs = runs_of(x, offsets)
        agree("runs.measure_runs", starts, runs, offsets, unwritten(len(starts)))

    @given(ranked(), st.integers(0, 4))
    def test_rank(self, drawn, kind):
        agree("runs.rank_runs", *drawn, kind, unwritten(len(drawn[3])))

    @given(rows())
    def test_longest(self, drawn):
        x, offsets = drawn
        agree("runs.longest_runs", *runs_of(x, offsets), offsets, unwritten(len(offsets) - 1))


@for_each("dtype", ["f4", "f8", "u1"])
@for_each("width", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
def test_every_column_tells_rows_apart(width, dtype):
    x = np.full((2 * width, width), 7, dtype)
    x[2 * np.arange(width) + 1, np.arange(width)] = 8  # rows 2 k and 2 k + 1 differ in column k only
    offsets = int64(np.arange(width + 1) * 2)
    starts, runs = unwritten(2 * width + 1), unwritten(width + 1)
    assert kernels.runs.find_runs(x, offsets, starts, runs) == 2 * width
    assert starts[:-1].tolist() == list(range(2 * width))
    assert runs.tolist() == offsets.tolist()


@for_each("kind", range(5))
@for_each(
    ("positions", "bad"),
    [([1, 0, 2, 1, 0], -1), ([2, 0, 0, 1, 2], 0), ([0, 1, 3, 3, 3], 2), ([0, -1, 0, -1, 0], 1), ([0, 1, 0, 1, 3], 4)],
)
def test_the_first_position_outside_of_its_sequence(positions, bad, kind):
    starts, runs, offsets = int64([0, 1, 2, 4]), int64([0, 2, 4]), int64([0, 2, 5])
    assert kernels.runs.rank_runs(starts, runs, offsets, int64(positions), kind, unwritten(5)) == bad


def test_arrays_that_do_not_belong_together():
    x, offsets, starts, one = np.zeros((2, 1)), int64([0, 2]), int64([0, 1]), np.zeros(1, np.int64)
    runs, two = int64([0, 2]), np.zeros(2, np.int64)
    for call in [
        lambda: kernels.runs.find_runs(x, int64([0, 1]), np.zeros(3, np.int64), two),
        lambda: kernels.runs.find_runs(x, offsets, two, two),
        lambda: kernels.runs.measure_runs(starts, runs, offsets, one),
        lambda: kernels.runs.measure_runs(starts, int64([0, 1]), offsets, two),
        lambda: kernels.runs.rank_runs(starts, runs, offsets, int64([0]), 0, two),
        lambda: kernels.runs.longest_runs(starts, runs, offsets, two),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
