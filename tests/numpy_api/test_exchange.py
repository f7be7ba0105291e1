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


def test_what_a_program_assigns_of_the_tensor_itself_is_written():
    x = lodcore.array([[1, 2], [3, 4], [5, 6]])
    x[0] = x[1]
    x[1] += 1
    x[2] = x[0]
    assert x.tolist() == [[3, 4], [4, 5], [3, 4]]
    deep = lodcore.array([[[1], [2]], [[3], [4]]])
    deep[0] = deep[1]
    assert deep.tolist() == [[[3], [4]], [[3], [4]]]


def test_copies_and_other_arrays_are_assigned_from_anywhere():
    x = lodcore.array([[1, 2], [3, 4], [5, 6]])
    operator.setitem(x, 0, x[1].copy())
    operator.setitem(x, 2, np.arange(8)[3:5])
    assert x.tolist() == [[3, 4], [3, 4], [3, 4]]


def test_a_class_of_a_user_assigns_as_its_caller_does():
    class Logged(LoDTensor):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)

    x = Logged.from_lengths(np.arange(4), [2, 2]).copy()
    x[0] = x[1]
    assert x.tolist() == [[2, 3], [2, 3]]
    with pytest.raises(TypeError, match="shuffle_sequences"):
        random.shuffle(x)
