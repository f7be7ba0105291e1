"""Offsets from other libraries, and checksums."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum

OFFSETS = st.sampled_from([(8, 5), (40, 3)]).flatmap(lambda shape: lengths(None, *shape)).map(running_sum).map(int64)
WIDTHS = st.sampled_from([np.int32, np.int64])


def copied(offsets):
    """Copy offsets with the kernel: return its result, the first offset, and the copy."""
    first, out = unwritten(1), unwritten(len(offsets))
    return kernels.foreign_data.copy_offsets(offsets, first, out), int(first[0]), out


def digest():
    """Copy and check offsets, with one that falls or is negative anywhere, and hash the copies."""
    found = hashlib.sha256()
    for seed, count in enumerate([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1023, 1024, 1025, 3000]):
        random = np.random.default_rng(seed)
        given = 5 + np.cumsum(random.integers(0, 4, count))
        for bad in (None, 0, *random.integers(0, count, 6).tolist()):
            for value in (-1, 4):
                changed = given.copy()
                if bad is not None:
                    changed[bad] = value
                for dtype in (np.int32, np.int64):
                    at, first, out = copied(changed.astype(dtype))
                    found.update(repr((at, first if at < 0 else 0)).encode() + (out.tobytes() if at < 0 else b""))
                found.update(repr(kernels.foreign_data.first_fall(changed, 5)).encode())
        data = random.integers(0, 256, 8 * count, np.uint8)
        found.update(repr(kernels.foreign_data.checksum(data, seed)).encode())
    return found.hexdigest()


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, st.integers(0, 2**20), WIDTHS)
    def test_copy_offsets(self, offsets, start, dtype):
        given = (offsets + start).astype(dtype)
        assert agree("foreign_data.copy_offsets", given, unwritten(1), unwritten(len(given))) == -1

    @given(st.lists(st.integers(-3, 9), min_size=1, max_size=9), WIDTHS)
    def test_copy_offsets_of_any_numbers(self, drawn, dtype):
        agree("foreign_data.copy_offsets", np.array(drawn, dtype), unwritten(1), unwritten(len(drawn)))

    @given(st.lists(st.sampled_from([-(2**63), -1, 0, 1, 2**62, 2**63 - 1]), min_size=1, max_size=6))
    def test_copy_offsets_of_offsets_that_overflow(self, drawn):
        agree("foreign_data.copy_offsets", int64(drawn), unwritten(1), unwritten(len(drawn)))

    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    @pytest.mark.parametrize("bad", [1, 1023, 1024, 1025, 2048, 2999])
    def test_copy_offsets_finds_a_fall_anywhere(self, bad, dtype):
        given = np.arange(7, 3007, dtype=dtype)
        given[bad] = given[bad - 1] - 1
        assert agree("foreign_data.copy_offsets", given, unwritten(1), unwritten(3000)) == bad

    @given(st.lists(st.sampled_from([-(2**63), -1, 0, 1, 2, 3, 2**62, 2**63 - 1]), max_size=6), st.integers(0, 3))
    def test_first_fall(self, drawn, before):
        agree("foreign_data.first_fall", int64(drawn), before)

    @pytest.mark.parametrize("bad", [0, 1, 1023, 2999])
    def test_first_fall_returns_the_position_of_a_decrease(self, bad):
        given = np.arange(7, 3007)
        assert agree("foreign_data.first_fall", given, 7) == -1
        given[bad] = 6 + bad - 1
        assert agree("foreign_data.first_fall", given, 7) == bad

    @given(st.integers(0, 40), st.integers(0, 2**64 - 1), st.integers(0, 2**32))
    def test_checksum(self, n_words, before, seed):
        data = np.random.default_rng(seed).integers(0, 256, 8 * n_words, np.uint8)
        data.flags.writeable = False
        agree("foreign_data.checksum", data, before)


class TestLaws:
    @given(OFFSETS, st.integers(0, 2**20), WIDTHS)
    def test_offsets_begin_at_zero(self, offsets, start, dtype):
        bad, first, out = copied((offsets + start).astype(dtype))
        assert (bad, first) == (-1, start)
        np.testing.assert_array_equal(out, offsets)

    @given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 2**32))
    def test_checksum_continues_from_an_earlier_sum(self, n_words, more, seed):
        data = np.random.default_rng(seed).integers(0, 256, 8 * (n_words + more), np.uint8)
        first = kernels.foreign_data.checksum(data[: 8 * n_words], 5)
        assert kernels.foreign_data.checksum(data[8 * n_words :], first) == kernels.foreign_data.checksum(data, 5)

    @given(st.integers(1, 20), st.data())
    def test_a_changed_bit_shows(self, n_words, data):
        given = np.random.default_rng(0).integers(0, 256, 8 * n_words, np.uint8)
        before = kernels.foreign_data.checksum(given, 0)
        given[data.draw(st.integers(0, len(given) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        assert kernels.foreign_data.checksum(given, 0) != before
