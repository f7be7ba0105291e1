"""Batches that agree in rows, in bytes and in values, but not in lengths, levels or width, are not equal."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor
from lodcore.testing import assert_allclose, assert_equal
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # structures only

ROWS = np.arange(6)
STRUCTURES = {
    "2 and 4": LoD.from_lengths([2, 4]),
    "4 and 2": LoD.from_lengths([4, 2]),
    "3 and 3": LoD.from_lengths([3, 3]),
    "an empty one more": LoD.from_lengths([2, 4, 0]),
    "an empty one within": LoD.from_lengths([2, 0, 4]),
    "an empty one first": LoD.from_lengths([0, 2, 4]),
    "all in one": LoD.from_lengths([6]),
    "each alone": LoD.from_lengths([1] * 6),
    "two levels": LoD.from_lengths([2], [2, 4]),
    "two levels of one": LoD.from_lengths([1, 1], [2, 4]),
    "two levels, empty first": LoD.from_lengths([0, 2], [2, 4]),
    "two levels, other rows": LoD.from_lengths([1, 1], [4, 2]),
    "three levels": LoD.from_lengths([2], [1, 1], [2, 4]),
}
OTHER_ROWS = {
    "wide": LoDTensor(np.arange(12).reshape(6, 2), STRUCTURES["2 and 4"]),
    "wider": LoDTensor(np.arange(12).reshape(6, 2).view("i4"), STRUCTURES["2 and 4"]),
    "a column": LoDTensor(ROWS[:, None], STRUCTURES["2 and 4"]),
    "fewer": LoDTensor(ROWS[:3], LoD.from_lengths([1, 2])),
}
BATCHES = {name: LoDTensor(ROWS, lod) for name, lod in STRUCTURES.items()} | OTHER_ROWS
LIKE = {"2 and 4", "wide", "wider", "a column"}  # batches of one LoD
PAIRS = list(itertools.permutations(BATCHES, 2))


@for_each(("one", "other"), PAIRS)
def test_batches_of_other_structures_are_not_equal(one, other):
    x, y = BATCHES[one], BATCHES[other]
    assert not np.array_equal(x, y)
    assert not np.array_equal(x, y, equal_nan=False)
    assert not x.equals(y)
    assert (x.lod == y.lod) == ({one, other} <= LIKE)
    assert (hash(x.lod) == hash(y.lod)) == ({one, other} <= LIKE)
    for compare in (assert_equal, assert_allclose):
        with pytest.raises(AssertionError, match="actual"):
            compare(x, y)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_one_structure_are_equal(name):
    x = BATCHES[name]
    lengths = [x.lod.lengths(level) for level in range(x.num_levels)]
    y = LoDTensor.from_lengths(x.values.copy(), *lengths)
    assert y.lod is not x.lod
    assert np.array_equal(x, y)
    assert np.allclose(x, y)
    assert x.equals(y)
    assert x.lod == y.lod
    assert hash(x.lod) == hash(y.lod)
    assert_equal(x, y)


@for_each(("one", "other"), list(itertools.combinations(STRUCTURES, 2)))
@pytest.mark.parametrize(
    "join",
    [
        lambda x, y: x + y,
        lambda x, y: np.where(x > 0, x, y),
        lambda x, y: np.stack([x, y], axis=-1),
        lambda x, y: np.stack([x, y], axis=x.ndim),
        lambda x, y: np.allclose(x, y),
        lambda x, y: x == y,
        lambda x, y: x[y > 2],
        lambda x, y: lodcore.ops.concat_values([x.reshape(len(x), *[-1] * x.num_levels, 1)] * 2 + [y], 1),
    ],
)
def test_operators_of_rows_refuse_batches_of_other_structures(one, other, join):
    with pytest.raises((ValueError, TypeError, IndexError)):
        join(BATCHES[one], BATCHES[other])
