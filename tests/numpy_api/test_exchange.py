"""Shuffles of other libraries exchange views, which would lose sequences: they are refused, and nothing is written."""

import operator
import random

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from lodcore.testing.samples import bits

pytestmark = pytest.mark.filterwarnings("ignore:you are shuffling a 'LoDTensor' object")

SHUFFLES = {
    "numpy.random": lambda x: np.random.shuffle(x),  # noqa: NPY002
    "RandomState": lambda x: np.random.RandomState(0).shuffle(x),
    "Generator": lambda x: np.random.default_rng(0).shuffle(x),
    "random": lambda x: random.shuffle(x),
    "Random": lambda x: random.Random(0).shuffle(x),
}
BATCHES = [
    [[1, 2], [3, 4], [5, 6]],
    [[1, 2, 3], [], [4, 5], [6]],
    [[], [], []],
    [[[1], [2, 3]], [[4], [5, 6]], [[7], [8, 9]]],
]


@pytest.mark.parametrize("lists", BATCHES)
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_of_another_library_is_refused(name, lists):
    x = lodcore.array(lists)
    before = bits(x)
    with pytest.raises(TypeError, match=r"value: is a view of a sequence of x itself.*shuffle_sequences\(x, rng\)"):
        SHUFFLES[name](x)
    assert bits(x) == before


def test_assignment_of_own_sequences_in_the_calling_code_writes():
    x = lodcore.array([[1, 2], [3, 4], [5, 6]])
    x[0] = x[1]
    x[1] += 1
    x[2] = x[0]
    assert x.tolist() == [[3, 4], [4, 5], [3, 4]]
    deep = lodcore.array([[[1], [2]], [[3], [4]]])
    deep[0] = deep[1]
    assert deep.tolist() == [[[3], [4]], [[3], [4]]]


def test_assignment_of_copies_writes_from_any_caller():
    x = lodcore.array([[1, 2], [3, 4], [5, 6]])
    operator.setitem(x, 0, x[1].copy())
    operator.setitem(x, 2, np.arange(8)[3:5])
    assert x.tolist() == [[3, 4], [3, 4], [3, 4]]
    deep = LoDTensor.from_lengths(np.arange(2), [1, 1], [2, 0]).copy()
    operator.setitem(deep, 1, deep[1] * 2)
    operator.setitem(deep, 1, LoDTensor.from_lengths(np.zeros(0, int), [0]))
    assert deep.tolist() == [[[0, 1]], [[]]]


def test_assignment_in_a_subclass_counts_as_its_caller():
    class Logged(LoDTensor):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)

    x = Logged.from_lengths(np.arange(4), [2, 2]).copy()
    x[0] = x[1]
    assert x.tolist() == [[2, 3], [2, 3]]
    with pytest.raises(TypeError, match="shuffle_sequences"):
        random.shuffle(x)
