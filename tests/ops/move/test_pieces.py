"""Sequences split at marks and at gaps, and their values counted, compared with plain Python."""

import datetime
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from reference.ops.levels import at_level, each_at_level, sequences
from tests.helpers.draw import lod_tensors
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS, batches

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)
NUMBERS = batches(["f8", "i8", "u1", "f4"], [()])


def pieces(elements, marks, at, keep):
    """Split a list at marks, one by one."""
    found, current = [], []
    for element, marked in zip(elements, marks, strict=True):
        if at == "start" and marked and current:
            found.append(current)
            current = []
        current.append((element, marked))
        if at == "end" and marked:
            found.append(current)
            current = []
    return [[one for one, marked in piece if keep or not marked] for piece in [*found, *([current] if current else [])]]


@given(ANY, st.sampled_from(["start", "end"]), st.booleans(), SEEDS, st.data())
def test_sequence_split_cuts_at_the_marks_of_every_level(x, at, keep, seed, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    lod = x.lod.prefix(level + 1)
    mask = LoDTensor(np.random.default_rng(seed).random(lod.num_rows) < 0.4, lod)
    found = lodcore.sequence_split(x, mask, at, keep, level - x.num_levels)
    each = zip(sequences(x.tolist(), level), sequences(mask.tolist(), level), strict=True)
    wanted = each_at_level([pieces(one, marks, at, keep) for one, marks in each], x.tolist(), level)
    assert found.tolist() == wanted
    assert found.num_levels == x.num_levels + 1
    assert not keep or np.shares_memory(found.values, x.values) or not x.values.size
    assert_recorded(lambda x: lodcore.sequence_split(x, mask, at, keep, level), x)


@given(NUMBERS, st.integers(0, 4), st.data())
def test_sequence_gaps_marks_rows_further_than_gap_from_the_one_before(x, gap, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    flat = [sequences(one, x.num_levels - level - 1) for one in sequences(x.tolist(), level)]

    def is_gap(one, r):
        return r > 0 and one[r] - one[r - 1] > gap

    found = lodcore.sequence_gaps(x, gap, level)
    assert found.values.tolist() == [is_gap(one, r) for one in flat for r in range(len(one))]
    assert found.lod is x.lod
    assert_recorded(lambda x: lodcore.sequence_gaps(x, gap, level), x)


def test_sequence_gaps_of_integers_and_dates_are_exact():
    ends = np.array([-(2**63), 2**63 - 1])
    for gap, wanted in ((2**64 - 2, True), (2**64 - 1, False), (2**70, False), (2.5, True), (float("inf"), False)):
        assert lodcore.sequence_gaps(LoDTensor.from_lengths(ends, [2]), gap).tolist() == [[False, wanted]]
    large = LoDTensor.from_lengths(np.array([2**64 - 1, 0, 2**64 - 1], "u8"), [3])
    assert lodcore.sequence_gaps(large, 5).tolist() == [[False, False, True]]
    clicks = np.array(["2024-01-01T10:00", "2024-01-01T10:30", "2024-01-01T11:01", "NaT", "2024-01-02"], "M8[s]")
    times = LoDTensor.from_lengths(clicks, [3, 2])
    for gap in (np.timedelta64(30, "m"), np.timedelta64(1800, "s"), datetime.timedelta(minutes=30)):
        marks = lodcore.sequence_gaps(times, gap)
        assert marks.tolist() == [[False, False, True], [False, False]]
        assert lodcore.sequence_split(times, marks).lengths.tolist() == [2, 1]
    spans = LoDTensor.from_lengths(np.array([1, 5, 6], "m8[s]"), [3])
    assert lodcore.sequence_gaps(spans, np.timedelta64(2, "s")).tolist() == [[False, True, False]]


@given(lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [()], 6), st.data())
def test_sequence_value_counts_equals_counter(x, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    flat = [sequences(one, x.num_levels - level - 1) for one in sequences(x.tolist(), level)]
    for sort in (True, False):
        counted = [sorted(Counter(one).items(), key=lambda pair: (-pair[1] if sort else 0, pair[0])) for one in flat]
        values, counts = lodcore.sequence_value_counts(x, level, sort)
        for found, k in ((values, 0), (counts, 1)):
            assert found.tolist() == each_at_level([[pair[k] for pair in one] for one in counted], x.tolist(), level)
    assert_recorded(lambda x: lodcore.sequence_value_counts(x, level), x)


def test_sequence_split_gradient_goes_to_the_rows():
    x = LoDTensor(np.arange(5.0), LoD.from_lengths([3, 0, 2]))
    mask = LoDTensor(np.array([0, 1, 0, 1, 0], bool), x.lod)
    weights = np.array([1.0, 2, 3, 4, 5])
    found, back = lodcore.vjp(lambda x: lodcore.sequence_split(x, mask, "end"), x)
    assert back(found.with_values(weights))[0].values.tolist() == weights.tolist()
    found, back = lodcore.vjp(lambda x: lodcore.sequence_split(x, mask, keep=False), x)
    assert back(found.with_values(weights[:3]))[0].values.tolist() == [1, 0, 2, 0, 3]
    values, _ = lodcore.sequence_value_counts(x)
    assert values.tolist() == [[0.0, 1, 2], [], [3, 4]]


FLAT = lodcore.array([[1, 2], [], [3, 4, 5]])
DATES = FLAT.with_values(FLAT.values.astype("M8[s]"))


@for_each(
    ("call", "error", "text"),
    [
        (lambda: lodcore.sequence_split(FLAT, FLAT), DTypeError, "sequence_split: mask: has dtype int64; bool"),
        (lambda: lodcore.sequence_split(FLAT, FLAT[:2] > 1), LoDError, "sequence_split: mask: has 2 sequences"),
        (lambda: lodcore.sequence_split([[[1]]], FLAT > 1), LoDError, "mask: has 1 level; .* level 1 need 2"),
        (lambda: lodcore.sequence_split(FLAT, FLAT > 1, "middle"), ValueError, "sequence_split: at: is 'middle'"),
        (lambda: lodcore.sequence_split(FLAT, FLAT > 1, level=1), LevelError, "sequence_split: level: is 1"),
        (lambda: lodcore.sequence_split(np.arange(3), FLAT > 1), DTypeError, "sequence_split: x: is ndarray"),
        (
            lambda: lodcore.sequence_split(FLAT, LoDTensor(np.ones((5, 1), bool), FLAT.lod)),
            ShapeError,
            "mask: has rows of 1 axes",
        ),
        (lambda: lodcore.sequence_gaps(FLAT, -1), ValueError, "sequence_gaps: gap: is -1; 0 or more"),
        (lambda: lodcore.sequence_gaps(FLAT, float("nan")), ValueError, "sequence_gaps: gap: is nan"),
        (lambda: lodcore.sequence_gaps(FLAT, "1s"), DTypeError, "sequence_gaps: gap: is '1s'; a number"),
        (lambda: lodcore.sequence_gaps(DATES, 30), DTypeError, "sequence_gaps: gap: is 30; a duration .*datetime64"),
        (lambda: lodcore.sequence_gaps(DATES, np.timedelta64(-1, "s")), ValueError, "gap: is .*; 0 or more"),
        (lambda: lodcore.sequence_gaps([["a"]], 1), DTypeError, "sequence_gaps: gap: is 1, but .* dtype <U1"),
        (lambda: lodcore.sequence_value_counts(np.arange(3)), DTypeError, "sequence_value_counts: x: is ndarray"),
        (
            lambda: lodcore.sequence_value_counts(LoDTensor(np.ones((5, 2)), FLAT.lod)),
            ShapeError,
            "sequence_value_counts: x: has rows",
        ),
    ],
)
def test_wrong_calls_name_argument_and_value(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_sequence_gaps_refuses_a_fraction():
    with pytest.raises(DTypeError, match="sequence_gaps: gap: is Fraction"):
        lodcore.sequence_gaps(FLAT, Fraction(1, 2))


def test_sequence_split_of_split_sequences_keeps_every_level():
    """Documents into sentences into clauses: every level stays."""
    tokens = lodcore.array([[1, 9, 2, 8, 3, 9], [], [4]])
    sentences = lodcore.sequence_split(tokens, tokens == 9, "end")
    clauses = lodcore.sequence_split(sentences, sentences == 8, "end")
    assert clauses.tolist() == [[[[1, 9]], [[2, 8], [3, 9]]], [], [[[4]]]]
    assert at_level(len, clauses.tolist(), 0) == [2, 0, 1]


@pytest.mark.parametrize(("dtype", "ends", "gap"), [("f2", 60000, 70000), ("f4", 3e38, 4e38), ("f8", 1e308, 1.5e308)])
def test_gaps_beyond_what_the_dtype_can_hold(dtype, ends, gap):
    x = LoDTensor.from_lengths(np.array([-ends, ends, ends, np.inf, np.inf, np.nan, 0], dtype), [4, 3])
    assert lodcore.sequence_gaps(x, gap).tolist() == [[False, True, False, True], [False, False, False]]


@for_each("dtype", ["f2", "f4"])
def test_sequence_gaps_of_short_floats_are_not_rounded(dtype):
    far = 2.0 ** (np.finfo(dtype).nmant + 1)
    x = lodcore.array([[-1, far], [0, far]], dtype=dtype)
    assert lodcore.sequence_gaps(x, far).tolist() == [[False, True], [False, False]]
    assert_recorded(lambda x: lodcore.sequence_gaps(x, far), x)
