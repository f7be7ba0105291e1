"""A step of a beam search, and backtracking from its ends."""

import hashlib
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.tables import for_each

OFFSETS = lengths(None, 4, 5).map(running_sum).map(int64)
END = 3


def drawn_scores(random, shape, dtype):
    """Make scores, many or none of which are equal, with or without values that compare in unusual ways."""
    few = random.integers(-3, 1, shape) / 2 if random.random() < 0.6 else random.standard_normal(shape)
    few = np.asarray(few, dtype)
    if random.random() < 0.3:
        for odd in (-0.0, 0.0, np.nan, np.inf, -np.inf):
            few[random.random(shape) < 0.1] = odd
    return few


@st.composite
def steps(draw):
    """Draw the arguments of a step: ids and scores of prefixes, candidates, offsets, a beam."""
    offsets = draw(OFFSETS)
    random, dtype = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(["f4", "f8"]))
    n, k = int(offsets[-1]), draw(st.sampled_from([0, 1, 2, 3, 8, 40, 70, 150]))
    pre_ids = random.choice([END, 1, 2] if random.random() < 0.5 else [1, END, END, END, END], n).astype(np.int64)
    ids = random.integers(0, 6, n * k) if draw(st.booleans()) else None
    beam_size = draw(st.integers(1, 10) | st.sampled_from([30, 200, 2**62]))
    scores = drawn_scores(random, (n, k), dtype)
    if k > 30 and n:  # the best ones are also last
        scores = np.sort(scores, axis=1) if draw(st.booleans()) else scores
    before = drawn_scores(random, n, dtype)
    return [
        read_only(pre_ids),
        read_only(before),
        None if ids is None else read_only(ids),
        read_only(scores),
        offsets,
        beam_size,
    ]


def results(pre_ids, pre_scores, ids, scores, offsets, beam_size):
    """Make the output arrays of a step."""
    room = int(np.minimum(np.diff(offsets) * max(scores.shape[1], 1), beam_size).sum())
    return [
        unwritten(room),
        unwritten(room, dtype=scores.dtype),
        unwritten(room, dtype="i4"),
        unwritten(len(pre_ids) + 1),
    ]


def selected(*arguments):
    """Return the defined part of the output of a step."""
    out_ids, out_scores, out_parents, out_offsets = arguments[7:]
    count = out_offsets[-1]
    return out_ids[:count], out_scores[:count], out_parents[:count], out_offsets


def kept(rows, beam_size, ended=(), pre_scores=None, dtype="f4"):
    """Run a step with one source: return ids and parents of the kept candidates."""
    scores = np.array(rows, dtype)
    pre_ids = int64([END if p in ended else 0 for p in range(len(rows))])
    before = np.zeros(len(rows), dtype) if pre_scores is None else np.array(pre_scores, dtype)
    drawn = [pre_ids, before, None, scores, int64([0, len(rows)]), beam_size]
    found = results(*drawn)
    count = kernels.beam.select_best(*drawn, END, *found)
    return found[0][:count].tolist(), found[2][:count].tolist()


@pytest.mark.not_on_reference
class TestTwins:
    @given(steps())
    def test_select_best(self, drawn):
        agree("beam.select_best", *drawn, END, *results(*drawn), seen=selected)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("columns", [31, 32, 40, 64, 97, 200])
    @pytest.mark.parametrize("odd", ["few values", "nan", "nan first", "rising"])
    def test_many_columns(self, columns, odd, dtype):
        """Ties and nans that are far apart, with full beams and with others."""
        for seed in range(12):
            random = np.random.default_rng(seed)
            count = 1 + seed % 3
            scores = random.integers(-3, 1, (count, columns)) / 2
            if odd == "rising":
                scores.sort(axis=1)
            elif odd != "few values":
                scores[random.random(scores.shape) < [0.02, 0.3][seed % 2]] = np.nan
            if odd == "nan first":
                scores[:, : 1 + seed] = np.nan
            for beam_size in (1, 2, 3, 8, 33, 200):
                drawn = [int64([0] * count), read_only(np.zeros(count, dtype)), None, read_only(scores.astype(dtype))]
                drawn += [int64([0, count]), beam_size]
                agree("beam.select_best", *drawn, END, *results(*drawn), seen=selected)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("odd", ["few values", "nan", "many nans", "rising", "falling", "nan at the end"])
    def test_wide_beams(self, odd, dtype):
        """Beams that are heaps: ties, nans before and after they are full, and prefixes that ended."""
        for seed in range(6):
            random = np.random.default_rng(seed)
            count = 2 + seed
            scores = random.integers(-3, 2, (count, 90)) / 2 if odd != "rising" else random.standard_normal((count, 90))
            if odd in ("rising", "falling"):
                scores = np.sort(scores.reshape(-1)).reshape(count, 90)[:: 1 if odd == "rising" else -1]
            elif "nan" in odd:
                scores[random.random(scores.shape) < (0.3 if odd == "many nans" else 0.01)] = np.nan
            if odd == "nan at the end":
                scores.reshape(-1)[[126, 127, 128, 129, 130]] = random.choice([0.0, np.nan], 5)
            pre_ids = int64(random.choice([0, 0, END], count))
            for beam_size in (128, 129, 130, 131, 179, 180, 181, 400, 2**62):
                drawn = [pre_ids, read_only(np.full(count, -0.5, dtype)), None, read_only(scores.astype(dtype))]
                drawn += [int64([0, count]), beam_size]
                agree("beam.select_best", *drawn, END, *results(*drawn), seen=selected)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("columns", [40, 64, 67, 200])
    @pytest.mark.parametrize("first", [0, 1, 31, 33])
    def test_two_among_many_columns(self, first, columns, dtype):
        """Two equal scores, or the best one and a nan, where all others differ and are worse."""
        for second in {first + 1, 32, 38, 63, 65, columns - 1}:
            for odd in (-1.0, np.nan):
                if second >= columns or second == first:
                    continue
                scores = -5.0 - np.random.default_rng(second).permutation(columns)[None]
                scores[0, first], scores[0, second] = -1, odd
                for beam_size in (1, 2, 8, 9):
                    drawn = [int64([0]), read_only(np.zeros(1, dtype)), None, read_only(scores.astype(dtype))]
                    drawn += [int64([0, 1]), beam_size]
                    agree("beam.select_best", *drawn, END, *results(*drawn), seen=selected)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("ended", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], ids=str)
    def test_one_nan_anywhere(self, ended, dtype):
        """A nan among the scores of candidates, or as the score of a branch that has ended, for every narrow beam."""
        pre_ids = int64([END if p in ended else 0 for p in range(3)])
        for at in range(9):
            known = np.array([[0.5, 0.375], [0.25, 0.125], [0.75, 0.0], [0.3125, 0.625], [0.875, 1.0]], dtype).ravel()
            known[at] = np.nan
            before, scores = read_only(known[:3].copy()), read_only(known[3:9].reshape(3, 2).copy())
            for beam_size in range(1, 10):
                drawn = [pre_ids, before, None, scores, int64([0, 3]), beam_size]
                agree("beam.select_best", *drawn, END, *results(*drawn), seen=selected)

    @given(st.data(), st.integers(1, 4), st.integers(0, 4), st.sampled_from(["f4", "f8"]))
    def test_find_ends(self, data, n_steps, n_sources, dtype):
        if n_sources == 0:
            n_steps = 0
        count = n_steps * n_sources
        sizes = data.draw(st.lists(st.sampled_from([0, 0, 1, 2, 7]), min_size=count, max_size=count))
        offsets = int64(running_sum(sizes))
        scores = drawn_scores(np.random.default_rng(data.draw(st.integers(0, 2**32))), int(offsets[-1]), dtype)
        beam_size = data.draw(st.integers(1, 8))
        ends, out = unwritten(len(scores)), unwritten(n_sources + 1)
        agree(
            "beam.find_ends",
            read_only(scores),
            offsets,
            n_sources,
            beam_size,
            ends,
            out,
            seen=lambda *given: (given[4][: given[5][-1]], given[5]),
        )

    @given(st.data(), st.sampled_from([None, "f4", "f8"]))
    def test_measure_ways_and_write_ways(self, data, dtype):
        n = data.draw(st.integers(1, 12))
        parents = int64([data.draw(st.integers(-2, k - 1)) for k in range(n)])
        ids = int64(data.draw(st.lists(st.sampled_from([END, END, 1, 2]), min_size=n, max_size=n)))
        ends = int64(data.draw(st.lists(st.integers(0, n - 1), max_size=5)))
        offsets = unwritten(len(ends) + 1)
        agree("beam.measure_ways", ids, parents, ends, END, offsets)
        kernels.beam.measure_ways(ids, parents, ends, END, offsets)
        scores = None if dtype is None else read_only(np.arange(n).astype(dtype))
        out_scores = None if dtype is None else unwritten(offsets[-1], dtype=dtype)
        given = [ids, scores, parents, ends, read_only(offsets), END]
        agree("beam.write_ways", *given, unwritten(offsets[-1]), out_scores)

    @given(st.data(), st.integers(0, 3), st.integers(0, 3))
    def test_note_best(self, data, n_sources, most):
        best = -np.sort(data.draw(st.integers(0, 3)) - np.arange(n_sources * most).reshape(n_sources, most) / 2.0)
        best[:, most // 2 :] = -np.inf
        sources = int64(data.draw(st.lists(st.integers(-1, 3), max_size=6)))
        scores = read_only(np.array([data.draw(st.integers(-4, 4)) / 2 for _ in sources], "f8"))
        agree("beam.note_best", scores, sources, best)


class TestTheOrder:
    """The order of PaddlePaddle, where an equal score replaces the last entry of a full beam."""

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @for_each("columns", [31, 32, 33, 63, 64, 65, 100, 200])
    @pytest.mark.parametrize("beam_size", [1, 2, 8, 9, 40])
    def test_select_best_of_equal_scores_in_many_columns(self, dtype, columns, beam_size):
        """Later candidates replace the last entry, in any block of columns."""
        least = min(beam_size, columns)
        wanted = [*range(least - 1), columns - 1]
        assert kept([[0.5] * columns], beam_size, dtype=dtype) == (wanted, [0] * least)
        for at in {0, columns // 2, columns - 1}:  # all others are worse, except one that is equal
            row = [-1.0] * columns
            row[at] = row[at // 2] = 0.5
            best = sorted({at, at // 2})[: 2 if beam_size > 1 else None]
            found = kept([row], beam_size, dtype=dtype)[0]
            assert found[: len(best)] == best if beam_size > 1 else found == [at]

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_equal_scores_of_one_prefix_are_kept_in_a_fixed_order(self, dtype):
        assert kept([[0.5, 0.5, 0.5]], 1, dtype=dtype) == ([2], [0])
        assert kept([[0.5, 0.5, 0.5]], 2, dtype=dtype) == ([0, 2], [0, 0])
        assert kept([[0.5, 0.5, 0.5]], 3, dtype=dtype) == ([0, 1, 2], [0, 0, 0])
        assert kept([[0.5, 0.5, 0.9, 0.5]], 2, dtype=dtype) == ([2, 3], [0, 0])
        assert kept([[0.5, 0.5, 0.9]], 2, dtype=dtype) == ([2, 0], [0, 0])

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_select_best_of_equal_scores_of_two_prefixes(self, dtype):
        assert kept([[0.5, 0.5], [0.5, 0.5]], 1, dtype=dtype) == ([1], [1])
        assert kept([[0.5, 0.5], [0.5, 0.5]], 2, dtype=dtype) == ([0, 1], [1, 1])
        assert kept([[0.5, 0.1], [0.5, 0.1]], 3, dtype=dtype) == ([0, 0, 1], [0, 1, 1])
        assert kept([[-0.0, -1.0], [0.0, -1.0]], 1, dtype=dtype) == ([0], [1])
        assert kept([[0.0, -1.0], [-0.0, -1.0]], 1, dtype=dtype) == ([0], [1])
        assert kept([[-0.0, 0.0]], 1, dtype=dtype) == kept([[0.0, -0.0]], 1, dtype=dtype) == ([1], [0])

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_select_best_ignores_nan(self, dtype):
        nan = np.nan
        assert kept([[nan, 0.5]], 1, dtype=dtype) == ([1], [0])
        assert kept([[0.5, nan]], 1, dtype=dtype) == ([1], [0])
        assert kept([[0.5, nan, 0.6]], 2, dtype=dtype) == ([2, 0], [0, 0])

    def test_select_best_keeps_ended_branches(self):
        assert kept([[9.0, 9.0], [0.1, 0.2]], 2, ended=[0], pre_scores=[0.15, 0]) == ([END, 1], [0, 1])
        assert kept([[9.0, 9.0], [0.1, 0.2]], 1, ended=[0], pre_scores=[0.15, 0]) == ([1], [1])
        assert kept([[9.0, 9.0], [0.1, 0.2]], 1, ended=[0], pre_scores=[0.25, 0]) == ([], [])
        assert kept([[9.0], [9.0]], 2, ended=[0, 1]) == ([], [])


@for_each(("dtype", "columns"), [(dtype, columns) for dtype in ("f4", "f8") for columns in (15, 16, 17, 18, 33)])
def test_the_best_are_in_the_last_columns(dtype, columns):
    """Of two prefixes, for every narrow beam and one that is wider."""
    rows = np.arange(columns) + np.array([[0.0], [0.5]])
    for beam_size in range(1, 11):
        best = [(columns - 1 - k // 2, 1 - k % 2) for k in range(beam_size)]
        ids, parents = kept(rows, beam_size, dtype=dtype)
        assert list(zip(ids, parents, strict=True)) == sorted(best, key=lambda one: (one[1], -one[0]))


@for_each(("dtype", "columns"), [(dtype, columns) for dtype in ("f4", "f8") for columns in (1, 2, 16, 17, 40)])
def test_ended_prefixes_keep_their_scores(dtype, columns):
    """Their candidates would be better, or worse."""
    for at, beam_size in product(range(3), (1, 2, 3, 7, 8, 9)):
        rows = np.full((3, columns), -9.0)
        rows[:, 0], rows[at] = [5, 6, 7], 100
        best = sorted(((4.5, at), *(pair for pair in zip((5, 6, 7), range(3), strict=True) if pair[1] != at)))[::-1]
        wanted = sorted(p for _, p in best[:beam_size]) if beam_size < 3 else None
        ids, parents = kept(rows, beam_size, ended=[at], pre_scores=[4.5] * 3, dtype=dtype)
        if wanted is None:  # the others may have more
            assert parents.count(at) == 1
            wanted = [END if p == at else 0 for p in sorted(set(parents))]
            assert [ids[parents.index(p)] for p in range(3)] == wanted
        else:
            assert parents == wanted
            assert ids == [END if p == at else 0 for p in parents]


@for_each(("dtype", "beam_size"), [(dtype, beam_size) for dtype in ("f4", "f8") for beam_size in (1, 2, 8, 17, 20, 33)])
def test_select_best_finds_one_late_candidate_in_any_block(dtype, beam_size):
    """In any block of columns behind the first ones, and nothing else is good enough."""
    for at in (34, 63, 64, 65, 96, 127, 130):
        row = np.full(131, -1000.0)
        row[:beam_size] = 100 - np.arange(beam_size)
        row[at] = 100 - beam_size + 1.5
        wanted = sorted(range(131), key=lambda c: -row[c])[:beam_size]
        assert kept([row], beam_size, dtype=dtype) == (wanted, [0] * beam_size)


@for_each("dtype", ["f4", "f8"])
def test_many_prefixes_many_ended_and_ids(dtype):
    """Wide beams of 40 prefixes, every second of which has ended, where ids are not the numbers of columns."""
    random = np.random.default_rng(3)
    pre_ids = int64([END if p % 2 else 1 for p in range(40)])
    before, scores = random.permutation(120)[:40].astype(dtype), 0.5 + random.permutation(120).reshape(40, 3)
    ids, scores = random.permutation(1000)[:120], scores.astype(dtype)
    for offsets in ([0, 40], [0, 3, 40]):
        for beam_size in (5, 8, 17, 30, 200):
            found = results(pre_ids, before, ids, scores, int64(offsets), beam_size)
            count = kernels.beam.select_best(pre_ids, before, ids, scores, int64(offsets), beam_size, END, *found)
            wanted = []
            for start, stop in pairwise(offsets):
                every = []
                for p in range(start, stop):
                    if pre_ids[p] == END:
                        every.append((before[p], p, END))
                    else:
                        every += [(scores[p, c], p, ids[3 * p + c]) for c in range(3)]
                best = sorted(every, key=lambda one: -one[0])[:beam_size]
                if not all(pre_ids[p] == END for _, p, _ in best):
                    wanted += sorted(best, key=lambda one: (one[1], -one[0]))
            made = zip(found[1][:count].tolist(), found[2][:count].tolist(), found[0][:count].tolist(), strict=True)
            assert list(made) == wanted


@for_each("dtype", ["f4", "f8"])
def test_ends_of_many_items_and_of_early_steps(dtype):
    """A last step of many items, some equal or nan; and sources that end up to three steps before."""
    ends, out = np.empty(50, np.int64), np.empty(2, np.int64)
    for count in (2, 3, 8, 9, 16, 17, 31, 50):
        scores = (np.arange(count) * 7 % 5 / 2).astype(dtype)
        scores[::4] = np.nan
        for beam_size in (1, count - 1, count, 60):
            found = kernels.beam.find_ends(scores, int64([0, count]), 1, beam_size, ends[:count], out)
            nan_last = np.where(np.isnan(scores), np.inf, -scores)
            wanted = np.argsort(nan_last, kind="stable")[:beam_size]
            assert (found, out.tolist()) == (len(wanted), [0, len(wanted)])
            assert ends[:found].tolist() == wanted.tolist()
    sizes = [[2, 1, 3, 1, 0], [2, 2, 1, 0, 0], [1, 0, 2, 0, 0], [3, 0, 0, 0, 0], [2, 0, 0, 0, 0]]  # step by step
    offsets, out = int64(running_sum(np.ravel(sizes).tolist())), np.full(6, 9)
    scores, ends = -np.arange(offsets[-1]).astype(dtype), np.empty(offsets[-1], np.int64)
    found = kernels.beam.find_ends(scores, offsets, 5, 9, ends, out)
    last = [int(offsets[5 * t + s]) for s, t in enumerate([4, 1, 2, 0])]
    wanted = [[last[0], last[0] + 1], [last[1], last[1] + 1], [last[2], last[2] + 1], [last[3]], []]
    assert ends[:found].tolist() == [item for one in wanted for item in one]
    assert out.tolist() == running_sum(map(len, wanted))
    out[:] = 9
    assert kernels.beam.find_ends(scores[:0], int64([0] * 11), 5, 9, ends[:0], out) == 0
    assert out.tolist() == [0] * 6


def test_paths_end_where_a_parent_is_not_earlier():
    ids = int64([1, END, 2, END, 4, END])
    for parents, wanted in [
        ([-1, 0, 1, 2, 3, 4], [1, 2, 4, END]),
        ([-1, 0, 2, 2, 3, 4], [2, 4, END]),  # the third is its own parent
        ([-1, 0, 5, 2, 3, 4], [2, 4, END]),
        ([-1, 0, 1, 2, 3, 5], [END]),
        ([-1, 0, 1, 3, 3, 4], [4, END]),
    ]:
        ends, offsets = int64([0, 5, 5]), np.empty(4, np.int64)
        kernels.beam.measure_ways(ids, int64(parents), ends, END, offsets)
        n = len(wanted)
        assert offsets.tolist() == [0, 1, 1 + n, 1 + 2 * n]
        for dtype in (None, "f4", "f8"):
            out = np.empty(1 + 2 * n, np.int64)
            out_scores = None if dtype is None else np.empty(1 + 2 * n, dtype)
            scores = None if dtype is None else 10.0 * np.arange(6).astype(dtype)
            kernels.beam.write_ways(ids, scores, int64(parents), ends, offsets, END, out, out_scores)
            assert out.tolist() == [1, *wanted, *wanted]
            if dtype is not None:
                items = [5] if n == 1 else {4: [0, 2, 4, 5], 3: [2, 4, 5], 2: [4, 5]}[n]
                assert out_scores.tolist() == [0.0, *[10.0 * k for k in 2 * items]]


@given(steps().filter(lambda drawn: not any(np.isnan(x).any() for x in (drawn[1], drawn[3]))))
@example([int64([1]), np.zeros(1), None, np.zeros((1, 4)), int64([0, 1]), 2])
def test_the_scores_are_the_best_ones(drawn):
    """Independent of the order of equal scores."""
    pre_ids, before, _, scores, offsets, beam_size = drawn
    _, out_scores, parents, out_offsets = found = results(*drawn)
    count = kernels.beam.select_best(*drawn, END, *found)
    assert out_offsets[-1] == count
    np.testing.assert_array_equal(np.repeat(np.arange(len(pre_ids)), np.diff(out_offsets)), parents[:count])
    for s in range(len(offsets) - 1):
        here = range(offsets[s], offsets[s + 1])
        candidates = np.concatenate(
            [before[:0], *(before[p : p + 1] if pre_ids[p] == END else scores[p] for p in here)]
        )
        best = np.sort(candidates)[::-1][:beam_size]
        mine = out_scores[out_offsets[offsets[s]] : out_offsets[offsets[s + 1]]]
        if len(mine) or not all(pre_ids[p] == END for p in here):
            every = [p for p in here if pre_ids[p] != END]
            if not len(mine):
                assert not len(every) or not scores.shape[1] or best[-1] >= scores[every].max()
                continue
            np.testing.assert_array_equal(np.sort(mine)[::-1], best)


def digest():
    """Run steps with all kinds of scores, and hash the results."""
    made = hashlib.sha256()
    for seed in range(300):
        random = np.random.default_rng(seed)
        dtype, k = ["f4", "f8"][seed % 2], int(random.choice([1, 3, 8, 63, 64, 65, 200]))
        offsets = int64(running_sum(random.integers(0, 5, 6).tolist()))
        n = int(offsets[-1])
        scores, before = drawn_scores(random, (n, k), dtype), drawn_scores(random, n, dtype)
        drawn = [random.integers(0, 5, n), before, None, scores, offsets, int(random.integers(1, 12))]
        found = results(*drawn)
        kernels.beam.select_best(*drawn, END, *found)
        for array in selected(*drawn, END, *found):
            made.update(array.tobytes())
    return made.hexdigest()


def test_arrays_that_do_not_belong_together():
    ids, before, scores, offsets = int64([1, 2]), np.zeros(2), np.zeros((2, 3)), int64([0, 2])
    room = [np.zeros(2, np.int64), np.zeros(2), np.zeros(2, np.int32), np.zeros(3, np.int64)]
    step, ways, ends = kernels.beam.select_best, kernels.beam.write_ways, kernels.beam.find_ends
    for call in [
        lambda: step(ids, before, None, scores, int64([0, 1]), 2, 0, *room),
        lambda: step(int64([1]), before, None, scores, offsets, 2, 0, *room),
        lambda: step(ids, np.zeros(3), None, scores, offsets, 2, 0, *room),
        lambda: step(ids, np.zeros(2, "f4"), None, scores, offsets, 2, 0, *room),
        lambda: step(ids, before, int64([1, 2]), scores, offsets, 2, 0, *room),
        lambda: step(ids, before, None, scores, offsets, 0, 0, *room),
        lambda: step(ids, before, None, scores, offsets, 3, 0, *room),
        lambda: step(ids, before, None, scores, offsets, 2, 0, *room[:3], np.zeros(2, np.int64)),
        lambda: ends(before, offsets, 2, 1, np.zeros(2, np.int64), np.zeros(3, np.int64)),
        lambda: ends(before, int64([0, 1]), 1, 1, np.zeros(2, np.int64), np.zeros(2, np.int64)),
        lambda: kernels.beam.measure_ways(ids, int64([-1]), int64([0]), 0, np.zeros(2, np.int64)),
        lambda: kernels.beam.measure_ways(ids, int64([-1, 0]), int64([0]), 0, np.zeros(3, np.int64)),
        lambda: ways(ids, None, int64([-1, 0]), int64([0]), int64([0, 1]), 0, np.zeros(2, np.int64), None),
        lambda: ways(ids, before, int64([-1, 0]), int64([0]), int64([0, 1]), 0, np.zeros(1, np.int64), None),
        lambda: ways(ids, before, int64([-1, 0]), int64([0]), int64([0, 1]), 0, np.zeros(1, np.int64), np.zeros(2)),
        lambda: ways(ids, None, int64([-1, 0]), int64([0]), int64([0, 1]), 0, np.zeros(1, np.int64), np.zeros(1)),
        lambda: step(ids, before, int64([1] * 5), scores, offsets, 2, 0, *room),
        lambda: step(ids, before, int64([1] * 7), scores, offsets, 2, 0, *room),
        lambda: kernels.beam.note_best(np.zeros(2), int64([0]), np.zeros((1, 1))),
    ]:
        with pytest.raises(ValueError, match=r"belong together|too short|one dtype|different lengths"):
            call()
