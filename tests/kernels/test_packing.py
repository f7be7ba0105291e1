"""Bins, batches, and the rows for attention."""

import bisect
import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum
from tests.helpers.tables import for_each

BUDGETS = st.sampled_from([0, 1, 5, 12, 64, 65, 5000, 2**20, 2**40, 2**62])
MOST = st.sampled_from([1, 2, 3, 2**62])


@st.composite
def items(draw, most=40):
    """Draw a budget and lengths within it, often equal ones."""
    budget = draw(BUDGETS)
    few = draw(st.lists(st.integers(0, budget), min_size=1, max_size=5))
    few += [budget, 0, budget // 2, budget // 3]
    drawn = draw(st.lists(st.sampled_from(few) | st.integers(0, budget), max_size=most))
    return budget, drawn


def seen_bins(*arguments):
    """Return the defined part of `items` and `out`, the last entry of which is the number of bins."""
    *others, out = arguments
    count = int(out[-1])
    return [out[: count + 1], out[-1:], *(one for one in others if isinstance(one, np.ndarray) and one.flags.writeable)]


def seen_segments(documents, bins, length, with_tails, out):
    return [out[: int(out[-2]) + 1], out[-2:]]


def by_size(drawn):
    """Return the lengths that occur, longest first, the number of items of each, and the items, longest first."""
    sizes, counts = np.unique(int64(drawn), return_counts=True)
    return sizes[::-1].copy(), counts[::-1].copy(), np.argsort(-int64(drawn), kind="stable")


@pytest.mark.not_on_reference
class TestTwins:
    @given(items(), MOST, st.sampled_from([1, 2, 3, 2**40]))
    def test_next_fit(self, drawn, max_items, window):
        budget, sizes = drawn
        for most in (budget, budget // 2):  # longer items are alone
            assert agree("packing.next_fit", int64(sizes), most, max_items, window, unwritten(len(sizes) + 1)) == -1

    @pytest.mark.parametrize("max_items", [1, 3, 2**40])
    @pytest.mark.parametrize("window", [32, 33, 40, 150, 2**40])
    def test_next_fit_of_long_windows(self, window, max_items):
        for count in (0, 1, 63, 64, 200):
            random = np.random.default_rng(count)
            for sizes in (random.integers(0, 21, count), np.full(count, 20), 20 - np.arange(count) % 2 * 19):
                out = unwritten(count + 1)
                for budget in (20, 15):
                    assert agree("packing.next_fit", int64(sizes), budget, max_items, window, out) == -1

    @given(items(), MOST)
    def test_first_and_best_fit(self, drawn, max_items):
        budget, sizes = drawn
        assert agree("packing.first_fit", int64(sizes), budget, max_items, unwritten(len(sizes) + 1)) == -1
        assert agree("packing.best_fit", int64(sizes), budget, max_items, unwritten(len(sizes) + 1)) == -1

    @given(items(), MOST)
    def test_histogram_fit(self, drawn, max_items):
        budget, sizes = drawn
        arrays = by_size(sizes)
        outs = unwritten(len(sizes)), unwritten(len(sizes) + 2)
        assert agree("packing.histogram_fit", *arrays, budget, max_items, *outs, seen=seen_bins) == -1

    @given(items(), st.data())
    def test_lengths_out_of_range(self, drawn, data):
        budget, sizes = drawn
        sizes = [*sizes, 0]
        bad = data.draw(st.integers(0, len(sizes) - 1))
        sizes[bad] = data.draw(st.sampled_from([-1, budget + 1, 2**63 - 1, -(2**63)]))
        out = unwritten(len(sizes) + 1)
        assert agree("packing.next_fit", int64(sizes), budget, 3, 1, out) == (bad if sizes[bad] < 0 else -1)
        assert agree("packing.first_fit", int64(sizes), budget, 3, out) == bad
        assert agree("packing.best_fit", int64(sizes), budget, 3, out) == bad
        outs = unwritten(len(sizes)), unwritten(len(sizes) + 2)
        ones, order = np.ones(len(sizes), np.int64), np.arange(len(sizes))
        assert agree("packing.histogram_fit", int64(sizes), ones, order, budget, 3, *outs) == bad
        groups = int64([0, len(sizes)])
        assert agree("packing.cut_batches", int64(sizes), order, groups, budget, False, 3, outs[1]) == bad

    @pytest.mark.parametrize("counts", [[1, -1], [2, 2], [2**62, 2**62]])
    def test_histogram_fit_of_wrong_counts(self, counts):
        outs = unwritten(3), unwritten(5)
        assert agree("packing.histogram_fit", int64([2, 1]), int64(counts), np.arange(3), 5, 3, *outs) >= 0

    @given(st.lists(st.integers(-1, 4), max_size=20), st.integers(0, 4))
    def test_group_items(self, bins, n_bins):
        order = np.arange(len(bins))[::-1].copy()
        agree("packing.group_items", int64(bins), order, unwritten(n_bins + 1), unwritten(len(bins)))

    @given(items(), MOST, st.booleans(), st.data())
    def test_cut_batches(self, drawn, max_items, padded, data):
        budget, sizes = drawn
        order = int64(data.draw(st.permutations(range(len(sizes)))))
        ends = data.draw(st.lists(st.integers(0, len(sizes)), max_size=3))
        groups, out = int64(sorted([0, *ends, len(sizes)])), unwritten(len(sizes) + 2)
        arguments = int64(sizes), order, groups, budget, padded, max_items
        assert agree("packing.cut_batches", *arguments, out, seen=seen_bins) == -1

    @pytest.mark.parametrize("padded", [False, True])
    def test_cut_batches_of_items_whose_sum_is_no_int64(self, padded):
        arguments = int64([2**62, 2**62]), int64([0, 1]), int64([0, 2])
        assert agree("packing.cut_batches", *arguments, 2**62, padded, 2, unwritten(4), seen=seen_bins) == -1

    @pytest.mark.parametrize("wrong", [-1, 3, 2**62])
    def test_cut_batches_of_items_that_are_none(self, wrong):
        arguments = int64([1, 2, 3]), int64([2, wrong]), int64([0, 2])
        assert agree("packing.cut_batches", *arguments, 5, True, 2, unwritten(4)) == 1

    @given(lengths(), st.data(), st.integers(0, 3), st.booleans())
    def test_segments_and_rows(self, drawn, data, more, own):
        bins = data.draw(st.lists(st.integers(0, len(drawn)), max_size=3).map(sorted))
        bins = int64([0, *bins, len(drawn)])
        documents = int64(running_sum(drawn))
        longest = max(int(documents[stop] - documents[start]) for start, stop in pairwise(bins))
        length, n_bins, n_tokens = longest + more, len(bins) - 1, int(documents[-1])
        out = unwritten(len(drawn) + n_bins + 3, dtype=np.int32)
        assert agree("packing.segment_ends", documents, bins, length, own, out, seen=seen_segments) == -1
        tokens, targets = np.arange(n_tokens) + 100, np.arange(n_tokens) + 500
        for shift in (0, 1):
            settings = int64([-7, -100, 2, shift, own])
            outs = [unwritten(n_bins, length) for _ in range(3)]
            outs += [unwritten(n_bins, length, dtype=np.int32) for _ in range(2)]
            assert agree("packing.attention_rows", tokens, targets, documents, bins, settings, *outs) == -1

    def test_attention_rows_of_results_with_other_shapes_are_refused(self):
        """Each of the five results has a row per bin, as long as the others."""
        arguments = np.arange(6), np.arange(6), int64([0, 2, 6]), int64([0, 1, 2]), int64([0, 0, 0, 0, 0])
        for wrong in range(5):
            for shape in ((2, 5), (3, 4)):
                outs = [unwritten(*(shape if k == wrong else (2, 4)), dtype="i8" if k < 3 else "i4") for k in range(5)]
                with pytest.raises(ValueError, match="belong together"):
                    kernels.packing.attention_rows(*arguments, *outs)

    def test_attention_rows_reports_rows_that_are_too_short(self):
        outs = [unwritten(2, 3) for _ in range(3)] + [unwritten(2, 3, dtype=np.int32) for _ in range(2)]
        arguments = np.arange(6), np.arange(6), int64([0, 2, 6]), int64([0, 1, 2]), int64([0, 0, 0, 0, 0])
        assert agree("packing.attention_rows", *arguments, *outs) == 1

    @pytest.mark.parametrize(
        ("documents", "bins", "length", "bad"),
        [
            ([0, 2**31], [0, 1], 2**31, 0),
            ([0, 1, 2], [0, 1, 2], 2**30, 1),
            ([0, 1, 2], [0, 1, 2], 2**62, 0),
            ([0, 1, 9], [0, 1, 2], 7, 1),
        ],
    )
    def test_rows_that_cannot_be_counted(self, documents, bins, length, bad):
        out = unwritten(len(documents) + len(bins) + 1, dtype=np.int32)
        arguments = int64(documents), int64(bins), length, True, out
        assert agree("packing.segment_ends", *arguments, seen=lambda *_: []) == bad

    def test_segment_ends_at_the_limit_of_int32(self):
        out = unwritten(6, dtype=np.int32)
        arguments = int64([0, 2**31 - 1]), int64([0, 1]), 2**31 - 1, True, out[:5]
        assert agree("packing.segment_ends", *arguments, seen=seen_segments) == -1


@pytest.mark.large
class TestLarge:
    """The tables of the compiled loops grow; the twins would take too long."""

    @pytest.mark.parametrize("budget", [300, 100_000, 2**45])
    @pytest.mark.parametrize("max_items", [3, 2**62])
    def test_histogram_fit_is_best_fit_decreasing(self, budget, max_items):
        sizes = np.random.default_rng(5).integers(0, budget // 2, 30_000)
        longest, counts, order = by_size(sizes)
        out, found, ends = unwritten(len(sizes) + 1), unwritten(len(sizes)), unwritten(len(sizes) + 2)
        assert kernels.packing.best_fit(sizes[order], budget, max_items, out) == -1
        assert kernels.packing.histogram_fit(longest, counts, order, budget, max_items, found, ends) == -1
        bins, held = int(out[-1]), np.diff(ends[: ends[-1] + 1])
        by_items = np.bincount(out[:-1], sizes[order], bins).astype(np.int64)
        by_counts = np.add.reduceat(sizes[found], ends[: ends[-1]])
        np.testing.assert_array_equal(np.sort(found), np.arange(len(sizes)))
        assert held.max() <= max_items
        assert by_counts.max() <= budget
        if max_items == 2**62:  # otherwise the choice among equally full bins matters
            np.testing.assert_array_equal(np.sort(by_items), np.sort(by_counts))
        assert abs(bins - int(ends[-1])) <= 1

    @pytest.mark.parametrize("budget", [10**6, 2**45])
    def test_best_fit_takes_the_latest_of_equal_rooms(self, budget):
        """With more bins than a block contains."""
        random = np.random.default_rng(3)
        sizes = budget // 2 + int64([*random.integers(0, 8, 1500), *random.integers(-20, -7, 1000)])
        rooms, wanted = [], []  # (room, minus the last item, bin), sorted
        for item, size in enumerate(sizes.tolist()):
            k = bisect.bisect_left(rooms, (size, -len(sizes)))
            room, _, chosen = rooms.pop(k) if k < len(rooms) else (budget, 0, len(rooms))
            bisect.insort(rooms, (room - size, -item, chosen))
            wanted.append(chosen)
        out = unwritten(len(sizes) + 1)
        assert kernels.packing.best_fit(sizes, budget, 2**62, out) == -1
        assert out[:-1].tolist() == wanted

    @pytest.mark.parametrize("budget", [200_000, 2**30])
    def test_blocks_are_tables(self, budget):
        """Rooms in blocks, for budgets without a table, and rooms in a table: the same bins."""
        sizes = np.random.default_rng(6).integers(0, budget, 4000)
        padding = np.full(budget // 4 + 1 if budget == 200_000 else 10**6, 0)
        few, many = unwritten(len(sizes) + 1), unwritten(len(sizes) + len(padding) + 1)
        kernels.packing.best_fit(sizes, budget, 2**62, few)
        kernels.packing.best_fit(np.concatenate([sizes, padding]), budget, 2**62, many)
        np.testing.assert_array_equal(few[:-1], many[: len(sizes)])

    def test_first_fit_of_many_bins(self):
        sizes = np.random.default_rng(7).integers(1, 100, 20_000)
        out = unwritten(len(sizes) + 1)
        kernels.packing.first_fit(sizes, 100, 2**62, out)
        fill = np.bincount(out[:-1], sizes)
        assert fill.max() <= 100
        for bin in range(1, 200):  # the first item of a bin did not fit into the previous ones
            first = int(np.flatnonzero(out[:-1] == bin)[0])
            before = np.bincount(out[:first], sizes[:first], bin)
            assert (before + sizes[first] > 100).all()


@for_each("count", [1, 2, 3, 5])
@for_each("size", [0, 1, 2])
def test_bins_that_are_full_by_their_number_of_items(count, size):
    """With `max_items` one below the number of items, equal to it, and above."""
    for most in range(1, count + 2):
        wanted = [k // most for k in range(count)]
        for name, more in (("next_fit", (1,)), ("next_fit", (2,)), ("first_fit", ()), ("best_fit", ())):
            out = unwritten(count + 1)
            getattr(kernels.packing, name)(int64([size] * count), 2 * count, most, *more, out)
            assert out.tolist() == [*wanted, wanted[-1] + 1], (name, most)
        for budget in {2 * count, max(size, 1), 2 * size + 1}:
            items, ends = unwritten(count), unwritten(count + 2)
            arguments = int64([size]), int64([count]), int64(range(count)), budget, most
            assert kernels.packing.histogram_fit(*arguments, items, ends) == -1
            of_each = min(most, budget // size if size else most)
            held = [min(of_each, count - k) for k in range(0, count, of_each)]
            assert np.diff(ends[: ends[-1] + 1]).tolist() == held
        items, ends = unwritten(count), unwritten(count + 2)
        kernels.packing.histogram_fit(int64([size]), int64([count]), int64(range(count)), 2 * count, most, items, ends)
        assert sorted(np.diff(ends[: ends[-1] + 1]).tolist()) == sorted(wanted.count(b) for b in range(wanted[-1] + 1))


@for_each(
    ("sizes", "budget", "wanted"),
    [
        ([3, 3, 1], 5, [0, 1, 1]),  # the latest of equal rooms
        ([3, 3, 3, 1, 1, 1], 5, [0, 1, 2, 2, 2, 1]),
        ([4, 3, 1, 1], 5, [0, 1, 0, 1]),
        ([3, 4, 1, 2], 5, [0, 1, 1, 0]),
        ([2, 2, 0, 3, 3], 5, [0, 0, 0, 1, 2]),
    ],
)
def test_best_fit(sizes, budget, wanted):
    out = unwritten(len(sizes) + 1)
    assert kernels.packing.best_fit(int64(sizes), budget, 9, out) == -1
    assert out.tolist() == [*wanted, max(wanted) + 1]


@pytest.mark.beyond_the_rules
def test_offsets_have_at_least_one_entry():
    """Nothing is read before their first entry, or written."""
    nothing, one, row = unwritten(0), np.zeros(1, np.int64), unwritten(0, 4)
    settings, short = int64([0] * 5), unwritten(0, 4, dtype=np.int32)
    calls = [
        ("group_items", (one, one, nothing, unwritten(1))),
        ("cut_batches", (one, one, nothing, 5, False, 3, unwritten(3))),
        ("segment_ends", (nothing, one, 5, False, unwritten(2, dtype=np.int32))),
        ("segment_ends", (one, nothing, 5, False, unwritten(2, dtype=np.int32))),
        ("attention_rows", (nothing, nothing, nothing, one, settings, row, row, row, short, short)),
        ("attention_rows", (nothing, nothing, one, nothing, settings, row, row, row, short, short)),
    ]
    for name, arguments in calls:
        with pytest.raises(ValueError, match="belong together"):
            getattr(kernels.packing, name)(*arguments)


def test_counts_have_the_sum_of_the_items():
    for counts in ([1, 1], [2, 0], [0, 0]):
        arguments = int64([2, 1]), int64(counts), int64(range(3)), 5, 3
        with pytest.raises(ValueError, match="belong together"):
            kernels.packing.histogram_fit(*arguments, unwritten(3), unwritten(5))


@pytest.mark.not_on_reference
@pytest.mark.parametrize("size", [0, 1])
def test_more_full_bins_than_a_table_has_at_first(size):
    """No item goes to a bin that does not exist, though its length is 0."""
    for name in ("first_fit", "best_fit"):
        out = unwritten(2101)
        assert getattr(kernels.packing, name)(int64([size] * 2100), 5, 1, out) == -1
        assert out.tolist() == [*range(2100), 2100]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("budget", [3, 4, 6, 7])
@pytest.mark.parametrize("max_items", [2, 3, 99])
def test_batches_are_as_large_as_the_budget_allows(padded, budget, max_items):
    """All combinations of five lengths, including 0: a batch ends only where the next item does not fit."""
    order, groups = np.arange(5), int64([0, 5])
    for sizes in itertools.product(range(4), repeat=5):
        wanted, batch = [0], []
        for at, length in enumerate(sizes):
            more = [*batch, length]
            cost = len(more) * max(more) if padded else sum(more)
            if batch and (cost > budget or len(more) > max_items):
                wanted.append(at)
                more = [length]
            batch = more
        wanted.append(5)
        out = np.zeros(7, np.int64)
        assert kernels.packing.cut_batches(int64(sizes), order, groups, budget, padded, max_items, out) == -1
        assert out[: out[-1] + 1].tolist() == wanted, sizes
