"""Equal keys numbered, and the rows of each number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.draw import int64, read_only
from tests.helpers.face_to_face import agree, unwritten

SIZES = [1, 2, 4, 7, 8, 12, 17]


def keys(count, size, kinds, seed):
    """Make keys of some bytes, of which many are equal."""
    random = np.random.default_rng(seed)
    known = random.integers(0, 256, (kinds, size), dtype=np.uint8)
    known[0] = 0
    return read_only(known[random.integers(0, kinds, count)])


@pytest.mark.not_on_reference
class TestTwins:
    @given(st.integers(0, 30), st.sampled_from([*SIZES, 0]), st.integers(1, 12), st.integers(0, 2**32))
    def test_number_keys(self, count, size, kinds, seed):
        given_keys = keys(count, size, kinds, seed)
        numbers, firsts = unwritten(count), unwritten(12)

        def seen(keys, table, ids, firsts):
            return [ids, firsts[: max(ids, default=-1) + 1]]

        if agree_count(given_keys) <= 12:
            agree("group.number_keys", given_keys, unwritten(16, 2), numbers, firsts, seen=seen)

    @given(st.integers(0, 30), st.integers(4, 12), st.integers(0, 2**32))
    def test_too_many_keys_are_reported(self, count, kinds, seed):
        given_keys = keys(count, 8, kinds, seed)
        found = kernels.group.number_keys(given_keys, unwritten(4, 2), unwritten(count), unwritten(3))
        assert found == (agree_count(given_keys) if agree_count(given_keys) <= 3 else -1)

    @given(st.integers(0, 30), st.sampled_from([*SIZES, 0]), st.integers(0, 2**32))
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
    """Count different keys."""
    return len({key.tobytes() for key in given_keys})


def test_a_full_table_is_walked_around():
    random = np.random.default_rng(0)
    words = random.permutation(2**10).astype(np.int64)
    ids, firsts = np.empty(2**10, np.int64), np.empty(2**9 * 3, np.int64)
    table = np.empty((2**11, 2), np.int64)
    assert kernels.group.number_keys(words.view(np.uint8).reshape(-1, 8), table, ids, firsts) == 2**10
    assert ids.tolist() == firsts[: 2**10].tolist() == list(range(2**10))
