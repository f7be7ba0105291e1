"""Sequences ordered by length, and the order of steps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each

ROW_BYTES = st.sampled_from([4, 1, 2, 8, 16, 3, 24, 256, 0])
SHAPES = st.sampled_from([(8, 5), (80, 3), (12, 20)])  # maximum number of sequences, maximum length
OFFSETS = SHAPES.flatmap(lambda shape: lengths(None, *shape)).map(running_sum).map(int64)


def steps_of(offsets):
    """Return the offsets of the steps, by their definition."""
    sizes = np.diff(offsets)
    return int64(running_sum(int((sizes > t).sum()) for t in range(sizes.max(initial=0))))


@st.composite
def packable(draw):
    """Draw offsets, an order of their sequences, the steps and the width of a row."""
    offsets = draw(OFFSETS)
    count = len(offsets) - 1
    by_length = np.argsort(-np.diff(offsets), kind="stable")
    order = draw(st.sampled_from(["by length", "as they are", "any"]))
    places = {"by length": by_length, "as they are": range(count)}.get(order)
    if places is None:
        places = np.random.default_rng(draw(st.integers(0, 2**32))).permutation(count)
    row_bytes = draw(ROW_BYTES)
    if row_bytes == 256 and offsets[-1] > 60:
        row_bytes = 24
    return offsets, int64(places), steps_of(offsets), row_bytes


def opaque(n_rows, row_bytes):
    """Make rows of random bytes."""
    return read_only(values_from_seed(n_rows, n_rows, np.dtype("u1"), (row_bytes,)))


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS)
    def test_step_offsets_and_rank(self, offsets):
        steps = steps_of(offsets)
        agree("rank_table.step_offsets", offsets, unwritten(len(steps)))
        agree("rank_table.rank_by_length", offsets, steps, unwritten(len(offsets) - 1))

    @given(lengths(most=12), st.integers(-2, 45) | st.sampled_from([2**63 - 1, -(2**63)]))
    def test_count_longer(self, sizes, step):
        agree("rank_table.count_longer", int64(sorted(sizes, reverse=True)), step)

    @given(packable())
    def test_unpack_and_pack(self, drawn):
        offsets, order, steps, row_bytes = drawn
        rows = opaque(int(offsets[-1]), row_bytes)
        out = unwritten(*rows.shape, dtype="u1")
        agree("rank_table.unpack_rows", rows, offsets, order, steps, out)
        agree("rank_table.pack_rows", rows, offsets, order, steps, out)
        arrays = [rows[start:stop] for start, stop in pairwise(steps)]
        assert agree("rank_table.pack_steps", arrays, offsets, order, steps, out) == -1

    @pytest.mark.parametrize("row_bytes", [1, 4, 8, 24])
    @pytest.mark.parametrize("order", [[4, 0, 2, 1, 3], [0, 1, 2, 3, 4], [0, 2, 4, 1, 3], [3, 4, 2, 1, 0]])
    def test_a_single_step_in_any_order(self, order, row_bytes):
        offsets, steps, rows = int64([0, 1, 1, 2, 2, 3]), int64([0, 3]), opaque(3, row_bytes)
        place = [0, None, 1, None, 2]
        wanted = [place[s] for s in order if place[s] is not None]
        out, back = unwritten(3, row_bytes, dtype="u1"), unwritten(3, row_bytes, dtype="u1")
        kernels.rank_table.unpack_rows(rows, offsets, int64(order), steps, out)
        np.testing.assert_array_equal(out, rows[wanted])
        kernels.rank_table.pack_rows(out, offsets, int64(order), steps, back)
        np.testing.assert_array_equal(back, rows)
        assert kernels.rank_table.pack_steps([out], offsets, int64(order), steps, back) == -1
        np.testing.assert_array_equal(back, rows)

    @given(packable().filter(lambda drawn: len(drawn[2]) > 1 and drawn[3] > 0), st.data())
    def test_pack_steps_names_the_first_of_another_size(self, drawn, data):
        offsets, order, steps, row_bytes = drawn
        rows = opaque(int(offsets[-1]) + 1, row_bytes)
        bad = data.draw(st.integers(0, len(steps) - 2))
        more = data.draw(st.sampled_from([1, -1]))
        arrays = [rows[steps[t] : steps[t + 1] + (more if t >= bad else 0)] for t in range(len(steps) - 1)]
        out = unwritten(int(offsets[-1]), row_bytes, dtype="u1")
        assert agree("rank_table.pack_steps", arrays, offsets, order, steps, out) == bad

    def test_pack_steps_of_another_number_or_not_contiguous(self):
        offsets, order, steps = int64([0, 2, 3]), int64([0, 1]), int64([0, 2, 3])
        whole, out = np.zeros((3, 3), "u1"), unwritten(3, 3, dtype="u1")
        for arrays, bad in (([whole[:2]], 1), ([whole[:2], whole[2:], whole], 2), ([whole.T[:2], whole[2:]], 0)):
            assert agree("rank_table.pack_steps", arrays, offsets, order, steps, out) == bad


@for_each("drawn", [[1, 1, 0], [0, 1, 1], [2, 2, 1], [1, 2, 2], [3], [0, 0], [2] * 17 + [1], [1, *[2] * 17]])
def test_rank_by_length_of_lengths_equal_except_one(drawn):
    offsets, steps = int64(running_sum(drawn)), steps_of(int64(running_sum(drawn)))
    order = unwritten(len(drawn))
    kernels.rank_table.rank_by_length(offsets, steps, order)
    assert order.tolist() == sorted(range(len(drawn)), key=lambda s: -drawn[s])


@pytest.mark.parametrize("row_bytes", [1, 4, 16, 24])
def test_unpack_and_pack_rows_of_blocks_of_sixteen_sequences(row_bytes):
    """The last of a block is a row longer than another one, in any place; and blocks that are not full."""
    random = np.random.default_rng(row_bytes)
    longer = [[2] * k + [3] + [2] * (16 - k) for k in range(0, 17, 5)]
    for sizes in [*longer, *([*random.permutation(count).tolist(), 2] for count in (14, 15, 16, 32, 47))]:
        offsets, count = int64(running_sum(sizes)), len(sizes)
        steps, order, rows = steps_of(offsets), int64(np.arange(count)), opaque(int(offsets[-1]), row_bytes)
        there, back = unwritten(*rows.shape, dtype="u1"), unwritten(*rows.shape, dtype="u1")
        kernels.rank_table.unpack_rows(rows, offsets, order, steps, there)
        wanted = [first + t for t in range(len(steps) - 1) for first, stop in pairwise(offsets) if first + t < stop]
        assert (there == rows[wanted]).all()
        kernels.rank_table.pack_rows(there, offsets, order, steps, back)
        assert (back == rows).all()


@pytest.mark.parametrize("name", ["unpack_rows", "pack_rows"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3)], ids=["row size", "rows"])
def test_steps_refuse_rows_of_another_shape(name, shape):
    offsets, order, steps = int64([0, 2, 3]), int64([0, 1]), int64([0, 2, 3])
    with pytest.raises(ValueError, match="rows and out have different shapes"):
        getattr(kernels.rank_table, name)(opaque(3, 3), offsets, order, steps, unwritten(*shape, dtype="u1"))
