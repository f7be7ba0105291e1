"""Words numbered in the order of their first occurrence, and looked up."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only, running_sum

WORDS = st.lists(
    st.binary(max_size=3) | st.sampled_from([b"", b"a", b"word", b"longer than eight", b"longer than nine"])
)
SEEDS = st.integers(0, 2**64 - 1)


def text_of(words):
    """Return words as consecutive bytes, and their offsets."""
    letters = np.frombuffer(b"".join(words), np.uint8)
    return read_only(letters.copy()), int64(running_sum([len(word) for word in words]))


def table_of(n_slots):
    return np.full(n_slots, -1, np.int64)


def slots_for(count):
    """Return the least number of slots for a number of words."""
    return 2 ** max(1, (2 * count - 1).bit_length())


def numbers(words):
    """Number words with a dict: the oracle."""
    known = {}
    return [known.setdefault(word, len(known)) for word in words], known


@pytest.mark.not_on_reference
class TestTwins:
    @given(WORDS, SEEDS, st.integers(0, 5))
    def test_number_words(self, words, seed, power):
        text, offsets = text_of(words)
        half = np.zeros(2**power // 2, np.int64)
        ids = np.zeros(len(words), np.int64)
        agree("words.number_words", text, offsets, 0, 0, seed, table_of(2**power), half, half.copy(), half.copy(), ids)

    @given(WORDS, SEEDS)
    def test_fill_table(self, words, seed):
        text, offsets = text_of(words)
        agree("words.fill_table", text, offsets[:-1].copy(), offsets[1:].copy(), seed, table_of(slots_for(len(words))))

    @given(WORDS, WORDS, SEEDS)
    def test_look_up(self, words, others, seed):
        others = list(dict.fromkeys(others))
        text, offsets = text_of(words)
        known, bounds = text_of(others)
        begins, ends, table = bounds[:-1].copy(), bounds[1:].copy(), table_of(slots_for(len(others)))
        assert kernels.words.fill_table(known, begins, ends, seed, table) == -1
        ids = unwritten(len(words))
        agree("words.look_up", text, offsets, known, begins, ends, seed, read_only(table), -7, ids)


@given(WORDS, SEEDS, st.integers(0, 4))
def test_number_words_numbers_words_by_first_occurrence(words, seed, power):
    text, offsets = text_of(words)
    want, known = numbers(words)
    half = [np.zeros(2**power // 2, np.int64) for _ in range(3)]
    ids = np.zeros(len(words), np.int64)
    stop, count = kernels.words.number_words(text, offsets, 0, 0, seed, table_of(2**power), *half, ids)
    assert ids[:stop].tolist() == want[:stop]
    assert count == len(set(want[:stop]))
    assert stop == len(words) or count == 2**power // 2
    assert half[2][:count].tolist() == [want[:stop].count(number) for number in range(count)]
    found = [text[begin:end].tobytes() for begin, end in zip(half[0][:count], half[1][:count], strict=True)]
    assert found == list(known)[:count]


@given(WORDS, WORDS, SEEDS)
def test_words_are_looked_up(words, others, seed):
    others = list(dict.fromkeys(others))
    text, offsets = text_of(words)
    known, bounds = text_of(others)
    begins, ends, table = bounds[:-1].copy(), bounds[1:].copy(), table_of(slots_for(len(others)))
    assert kernels.words.fill_table(known, begins, ends, seed, table) == -1
    ids = unwritten(len(words))
    bad = kernels.words.look_up(text, offsets, known, begins, ends, seed, table, -1, ids)
    assert ids.tolist() == [others.index(word) if word in others else -1 for word in words]
    assert bad == next((j for j, word in enumerate(words) if word not in others), -1)


@given(WORDS, SEEDS)
def test_fill_table_reports_a_repeated_word(words, seed):
    text, offsets = text_of(words)
    bad = kernels.words.fill_table(text, offsets[:-1].copy(), offsets[1:].copy(), seed, table_of(slots_for(len(words))))
    assert bad == next((j for j, word in enumerate(words) if word in words[:j]), -1)


@pytest.mark.beyond_the_rules
def test_sizes_that_do_not_fit_are_refused():
    text, offsets = text_of([b"a", b"b"])
    half, ids = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for arguments in [
        (text, offsets, 0, 0, 1, table_of(3), half, half, half, ids),
        (text, offsets, 0, 0, 1, table_of(4), half[:1], half, half, ids),
        (text[:1], offsets, 0, 0, 1, table_of(4), half, half, half, ids),
        (text, offsets, 0, 0, 1, table_of(4), half, half, half, ids[:1]),
        (text, offsets, 3, 0, 1, table_of(4), half, half, half, ids),
        (text, offsets, 0, 3, 1, table_of(4), half, half, half, ids),
    ]:
        with pytest.raises(ValueError, match=r"table|words"):
            kernels.words.number_words(*arguments)
    with pytest.raises(ValueError, match="leaves the text"):
        kernels.words.fill_table(text, int64([0]), int64([3]), 1, table_of(2))
    with pytest.raises(ValueError, match="fewer slots"):
        kernels.words.fill_table(text, int64([0, 1]), int64([1, 2]), 1, table_of(2))
    with pytest.raises(ValueError, match="fewer slots"):
        kernels.words.fill_table(text, int64([0]), int64([1]), 1, table_of(1))
    with pytest.raises(ValueError, match="fewer slots"):
        kernels.words.look_up(text, offsets, text, offsets[:2], offsets[1:], 1, table_of(2), -1, ids)


def with_one_hash(seed, size, count):
    """Make different words of more than eight bytes with equal hashes: the last bytes cancel the first ones."""
    mix, limit = 0x9E3779B97F4A7C15, 2**64
    words, wanted = [], None
    for k in range(count):
        first = f"{k:08d}".encode()
        made = (seed ^ (size * mix % limit) ^ int.from_bytes(first, "little")) * mix % limit
        made = (made ^ made >> 32) * 0xFF51AFD7ED558CCD % limit
        made ^= made >> 29
        wanted = made if wanted is None else wanted
        words.append(first + (made ^ wanted).to_bytes(8, "little") + b"x" * (size - 16))
    return words


@pytest.mark.parametrize("size", [16, 17, 24, 31])
@pytest.mark.parametrize("seed", [0, 12345, 2**64 - 1])
def test_words_of_one_hash_are_different_words(size, seed):
    words = with_one_hash(seed, size, 6)
    assert len(set(words)) == 6
    met = [words[k] for k in (0, 1, 0, 2, 3, 4, 5, 1, 5, 0)]
    text, offsets = text_of(met)
    table, half, ids = table_of(slots_for(6)), np.zeros(slots_for(6) // 2, np.int64), unwritten(len(met))
    begins, ends, counts = half.copy(), half.copy(), half.copy()
    assert kernels.words.number_words(text, offsets, 0, 0, seed, table, begins, ends, counts, ids) == (10, 6)
    assert ids.tolist() == [0, 1, 0, 2, 3, 4, 5, 1, 5, 0]
    assert counts[:6].tolist() == [3, 2, 1, 1, 1, 2]
    known, bounds = text_of(words[:5])
    table = table_of(slots_for(5))
    assert kernels.words.fill_table(known, bounds[:-1].copy(), bounds[1:].copy(), seed, table) == -1
    known, bounds = text_of([*words[:5], words[3]])
    table = table_of(slots_for(6))
    assert kernels.words.fill_table(known, bounds[:-1].copy(), bounds[1:].copy(), seed, table) == 5


@pytest.mark.not_on_reference
def test_crafted_words_do_not_collide():
    """Their parts have two forms each, whose hashes are equal for half of the seeds if bytes are mixed only once."""
    forms = [
        (
            bytes([97 + j]) + b"aaaaaa!bbb!bb" + bytes([65 + j]) + b"!",
            bytes([97 + j]) + b"aaaaaaabbbabb" + bytes([65 + j]) + b"a",
        )
        for j in range(10)
    ]
    words = [b"".join(pieces) for pieces in itertools.product(*forms)]
    text = np.frombuffer(b"".join(words), np.uint8)
    ends = np.arange(1, len(words) + 1) * len(words[0])
    longest = []
    for seed in range(1, 200_000_000_000_000, 10_000_000_000_007):
        table = np.full(4 * len(words), -1, np.int64)
        assert kernels.words.fill_table(text, ends - len(words[0]), ends, seed, table) == -1
        taken = np.concatenate([[False], table >= 0, [False]])
        longest.append(np.diff(np.flatnonzero(taken[1:] != taken[:-1]))[::2].max())  # of slots next to each other
    assert max(longest) < 60


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize(("begin", "end"), [(-1, 2), (2, 1), (0, 5), (5, 5), (-3, -2)])
def test_fill_table_of_words_out_of_bounds_is_refused(begin, end):
    text, seed = np.zeros(4, np.uint8), 7
    for begins, ends in (([begin], [end]), ([0, begin], [1, end])):
        table = np.full(8, -1)
        with pytest.raises(ValueError, match="leave"):
            kernels.words.fill_table(text, int64(begins), int64(ends), seed, table)
