"""Numbering of equal keys, and the rows of each number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only
from tests.helpers.tables import for_each

SIZES = [1, 2, 4, 7, 8, 12, 17]


def keys(count, size, kinds, seed):
    """Make keys of some bytes, many of which are equal."""
    random = np.random.default_rng(seed)
    known = random.integers(0, 256, (kinds, size), dtype=np.uint8)
    known[0] = 0
    return read_only(known[random.integers(0, kinds, count)])


@pytest.mark.not_on_reference
class TestTwins:
    @given(st.integers(0, 30), st.sampled_from([*SIZES, 0]), st.integers(1, 12), st.integers(0, 2**32 - 1))
    def test_number_keys(self, count, size, kinds, seed):
        given_keys = keys(count, size, kinds, seed)
        numbers, firsts = unwritten(count), unwritten(12)

        def seen(keys, seed, table, ids, firsts):
            return [ids, firsts[: max(ids, default=-1) + 1]]

        if agree_count(given_keys) <= 12:
            secret = seed << 32 | seed
            agree("group.number_keys", given_keys, secret, unwritten(16, 2), numbers, firsts, seen=seen)

    @given(st.integers(0, 30), st.integers(4, 12), st.integers(0, 2**32 - 1))
    def test_number_keys_reports_too_many_keys(self, count, kinds, seed):
        given_keys = keys(count, 8, kinds, seed)
        found = kernels.group.number_keys(given_keys, seed, unwritten(4, 2), unwritten(count), unwritten(3))
        assert found == (agree_count(given_keys) if agree_count(given_keys) <= 3 else -1)

    @given(st.lists(st.binary(max_size=20) | st.sampled_from([b"", b"a", b"ab", b"12345678"]), max_size=30))
    def test_number_texts(self, texts):
        source, offsets = np.frombuffer(b"".join(texts), "u1"), int64(np.append(0, np.cumsum([*map(len, texts)])))
        numbers, firsts = unwritten(len(texts)), unwritten(48)

        def seen(source, offsets, seed, table, ids, firsts):
            return [ids, firsts[: max(ids, default=-1) + 1]]

        agree("group.number_texts", source, offsets, 7, unwritten(64, 2), numbers, firsts, seen=seen)

    @given(st.integers(0, 30), st.sampled_from([*SIZES, 0]), st.integers(0, 2**32 - 1))
    def test_find_runs(self, count, size, seed):
        found = keys(count, size, 2, seed)
        runs = kernels.group.find_runs(found, unwritten(count))
        agree("group.find_runs", found, unwritten(count), seen=lambda keys, out: [out[:runs]])

    @given(st.lists(st.integers(0, 5), max_size=20), st.integers(5, 8))
    def test_order_by_id(self, ids, count):
        agree("group.order_by_id", int64(ids), unwritten(count + 2), unwritten(len(ids)))

    @pytest.mark.parametrize("bad", [-1, 3, 2**62])
    def test_numbers_out_of_range_are_reported(self, bad):
        assert agree("group.order_by_id", int64([0, 2, bad, 1]), unwritten(4), unwritten(4)) == 2


def agree_count(given_keys):
    """Count the distinct keys."""
    return len({key.tobytes() for key in given_keys})


@for_each("size", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 40])
def test_keys_differ_in_any_byte(size):
    for at in range(size):
        known = np.zeros((6, size), "u1")
        known[1:3, at], known[4:, at] = 1, 2
        assert kernels.group.find_runs(known, out := unwritten(6)) == 4
        assert out[:4].tolist() == [0, 1, 3, 4]
        ids, firsts = unwritten(6), unwritten(6)
        assert kernels.group.number_keys(known, 7, unwritten(8, 2), ids, firsts) == 3
        assert (ids.tolist(), firsts[:3].tolist()) == ([0, 1, 1, 0, 2, 2], [0, 1, 4])


@for_each("size", [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31])
def test_texts_differ_in_any_byte_and_in_length(size):
    for at in range(size):
        other = bytearray(size)
        other[at] = 1
        texts = [bytes(size), bytes(other), bytes(size - 1), bytes(size + 1), bytes(other), bytes(size)]
        offsets, ids, firsts = int64(np.append(0, np.cumsum([*map(len, texts)]))), unwritten(6), unwritten(6)
        source = np.frombuffer(b"".join(texts), "u1")
        assert kernels.group.number_texts(source, offsets, 7, unwritten(8, 2), ids, firsts) == 4
        assert (ids.tolist(), firsts[:4].tolist()) == ([0, 1, 2, 3, 1, 0], [0, 1, 2, 3])
        assert kernels.group.number_texts(source, offsets, 7, unwritten(4, 2), ids, unwritten(3)) == -1


@pytest.mark.beyond_the_rules
def test_texts_and_offsets_belong_together():
    ids, firsts = unwritten(2), unwritten(6)
    for offsets in ([0, 1], [0, 1, 3], [1, 1, 2]):
        with pytest.raises(ValueError, match="belong together"):
            kernels.group.number_texts(np.zeros(2, "u1"), int64(offsets), 7, unwritten(8, 2), ids, firsts)


def test_keys_without_bytes_are_equal():
    none, ids, firsts = np.empty((3, 0), "u1"), unwritten(3), unwritten(6)
    assert kernels.group.number_keys(none, 7, unwritten(8, 2), ids, firsts) == 1
    assert (ids.tolist(), int(firsts[0])) == ([0, 0, 0], 0)
    assert kernels.group.find_runs(none, out := unwritten(3)) == 1
    assert out[0] == 0


@for_each("size", [1, 4, 8, 12])
def test_as_many_keys_as_fit(size):
    words = np.arange(13, dtype="u1")[:, None] * np.ones(size, "u1")
    for count, found in ((11, 11), (12, 12), (13, -1)):
        given_keys = np.concatenate([words[:count], words[:count]])
        assert kernels.group.number_keys(given_keys, 7, unwritten(16, 2), unwritten(2 * count), unwritten(12)) == found


def test_rows_of_a_number_stay_in_order():
    ids = np.arange(300) * 7 % 5
    offsets, out = unwritten(7), unwritten(300)
    assert kernels.group.order_by_id(ids, offsets, out) == -1
    assert out.tolist() == [row for number in range(5) for row in range(300) if ids[row] == number]
    assert offsets.tolist() == [0, 60, 120, 180, 240, 300, 300]


@pytest.mark.beyond_the_rules
@for_each("slots", [0, 1, 2, 3, 5, 6, 12])
def test_slots_are_a_power_of_two(slots):
    with pytest.raises(ValueError, match="belong together"):
        kernels.group.number_keys(
            np.zeros((3, 8), "u1"), 7, unwritten(slots, 2), unwritten(3), unwritten(slots // 4 * 3)
        )


def test_a_full_table_is_walked_around():
    random = np.random.default_rng(0)
    words = random.permutation(2**10).astype(np.int64)
    ids, firsts = np.empty(2**10, np.int64), np.empty(2**9 * 3, np.int64)
    table = np.empty((2**11, 2), np.int64)
    assert kernels.group.number_keys(words.view(np.uint8).reshape(-1, 8), 7, table, ids, firsts) == 2**10
    assert ids.tolist() == firsts[: 2**10].tolist() == list(range(2**10))


def unmixed(words):
    """Invert the finalizer of MurmurHash3: return keys with the given hash, without a seed."""
    for factor in (0xC4CEB9FE1A85EC53, 0xFF51AFD7ED558CCD):
        words = (words ^ (words >> np.uint64(33))) * np.uint64(pow(factor, -1, 2**64))
    return words ^ (words >> np.uint64(33))


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize("size", [4, 8, 16, 24])
def test_crafted_keys_do_not_collide(size):
    """They take as much work as other keys: equally many slots are probed, in a table that the test can read."""
    count, slots = 3000, 2**13
    ends = np.arange(1, count + 1, dtype=np.uint64)
    chosen = {
        4: [ends.astype(np.uint32) << np.uint32(13)],
        8: [unmixed(ends << np.uint64(40))],
        16: [np.full(count, 0xE7037ED1A0B428DB, np.uint64), ends],  # times 0, without a seed
        24: [np.full(count, 0xA0761D6478BD642F, np.uint64), ends, ends * 0],
    }[size]
    given_keys = np.ascontiguousarray(np.stack(chosen, 1)).view(np.uint8).reshape(count, size)
    longest = []
    for seed in range(8):
        table, ids, firsts = (
            np.empty((slots, 2), np.int64),
            np.empty(count, np.int64),
            np.empty(slots // 4 * 3, np.int64),
        )
        assert kernels.group.number_keys(given_keys, seed, table, ids, firsts) == count
        taken = np.concatenate([[False], table[:, 0] >= 0, [False]])
        bounds = np.flatnonzero(taken[1:] != taken[:-1])
        longest.append(np.diff(bounds)[::2].max())  # of slots next to each other
    assert max(longest) < 200


@for_each(("kinds", "found"), [(1, 1), (2, 2), (3, 3), (4, -1), (5, -1)])
def test_a_table_is_three_quarters_full(kinds, found):
    numbered = np.arange(kinds * 2, dtype="u1").reshape(-1, 1) % kinds
    table, ids, firsts = unwritten(4, 2), unwritten(2 * kinds), unwritten(3)
    assert kernels.group.number_keys(numbered, 5, table, ids, firsts) == found
    assert found < 0 or (ids.tolist(), firsts[:found].tolist()) == ([*range(kinds)] * 2, [*range(kinds)])
