"""Slices of many sequences write their offsets when these are first used, which has no observable effect."""

import copy
import pickle
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor
from tests.helpers.agree import same
from tests.helpers.tables import for_each


def batch(count, num_levels=1):
    """Make a batch of a number of sequences, the elements of each of which are sequences, and so on."""
    random, levels = np.random.default_rng(count), []
    for _ in range(num_levels):
        levels.append(random.integers(0, 4, count))
        count = int(levels[-1].sum())
    return LoDTensor.from_lengths(np.arange(count), *levels)


def cut(x, start, stop):
    """Cut sequences out by hand."""
    levels = []
    for k in range(x.num_levels):
        offsets = x.lod.offsets(k)[start : stop + 1]
        start, stop = offsets[0], offsets[-1]
        levels.append(offsets - start)
    return LoDTensor(x.values[start:stop], LoD.from_offsets(*levels))


@pytest.mark.parametrize("num_levels", [1, 2, 3])
@pytest.mark.parametrize("start", [0, 7, 900])
@for_each("size", [0, 1, 510, 511, 512, 2000])
def test_slice_of_many_sequences_has_offsets_from_0(num_levels, start, size):
    x = batch(3000, num_levels)
    wanted = cut(x, start, start + size)
    assert same(x[start : start + size], wanted)
    for k in range(num_levels):
        np.testing.assert_array_equal(x[start : start + size].lod.offsets(k), wanted.lod.offsets(k))
        np.testing.assert_array_equal(x[start : start + size].lengths, wanted.lengths)
        assert x[start : start + size].lod.num_sequences(k) == wanted.lod.num_sequences(k)
    part = x[start : start + size].lod
    assert (part.num_rows, part.num_levels, len(x[start : start + size])) == (wanted.num_rows, num_levels, size)
    assert x.lod.slice(start, start + size) == wanted.lod


CALLS = {
    "equal": lambda x: x.lod == batch(3000, 2)[500:2500].lod,
    "equal the other way": lambda x: batch(3000, 2)[500:2500].lod == x.lod,
    "hash": lambda x: hash(x.lod) == hash(LoD.from_offsets(x.lod.offsets(0), x.lod.offsets(1))),
    "slice of a slice": lambda x: same(x[3:1900], batch(3000, 2)[503:2400]),
    "element": lambda x: same(x[-1], batch(3000, 2)[2499]),
    "elements": lambda x: [len(one) for one in x] == x.lengths.tolist(),
    "inner slices": lambda x: x[:, :1].num_rows == sum(map(len, (one[:1].values for one in x))),
    "split": lambda x: [lod.num_rows for lod in x.lod.split()] == np.diff(x.lod.row_offsets(0)).tolist(),
    "sum": lambda x: x.sum(axis=(1, 2)).tolist() == [int(one.values.sum()) for one in x],
    "prefix": lambda x: x.lod.prefix(1).lengths().tolist() == x.lengths.tolist(),
    "flatten": lambda x: len(x.flatten(0)) == x.lod.num_sequences(1),
    "pickle": lambda x: same(pickle.loads(pickle.dumps(x)), x),
    "copy": lambda x: same(copy.deepcopy(x), x),
    "add": lambda x: same(x + x, x * 2),
    "text": lambda x: repr(x.lod) == repr(LoD.from_offsets(x.lod.offsets(0), x.lod.offsets(1))),
    "read-only": lambda x: not x.lod.offsets(1).flags.writeable,
    "drop": lambda x: x.lod.drop(0).num_sequences(0) == x.lod.num_sequences(1),
    "views": lambda x: np.array_equal(lodcore.tensors.lod_body.offsets_view(x.lod, 0), x.offsets),
}


@pytest.mark.parametrize("name", CALLS)
def test_slice_answers_any_first_question(name):
    assert CALLS[name](batch(3000, 2)[500:2500])


def test_slice_of_one_level_is_indexed_by_number():
    x = batch(3000)
    parts = [x[int(start) : int(stop)] for start, stop in pairwise([0, 1000, 2999, 3000])]
    assert [one.tolist() for part in parts for one in part] == [one.tolist() for one in x]
    assert x[1000:2000][0].tolist() == x[1000].tolist()
    assert same(lodcore.concat_batches(parts), x)


def test_slice_holds_its_batch_until_offsets_are_used_unless_it_is_much_larger():
    x, wide = batch(3000), batch(30_000)

    def held():
        return sys.getrefcount(x.lod), sys.getrefcount(wide.lod)

    before = held()
    parts = [x[1000:2000], x[1000:1010], wide[1000:2000], wide[1000:10_000]]
    while_kept = held()
    for part in parts:
        part.lod.offsets()
    after = held()
    assert while_kept == (before[0] + 1, before[1] + 1)
    assert after == before


@pytest.fixture
def threads_take_turns():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_slice_used_by_several_threads_has_one_structure(threads_take_turns):
    for _ in range(20):
        x, found, together = batch(2000, 2)[500:1500], [], threading.Barrier(4)

        def read(x=x, found=found, together=together):
            together.wait()
            found.append(x.lod.offsets(1))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(one.ctypes.data == found[0].ctypes.data and one[0] == 0 for one in found)
