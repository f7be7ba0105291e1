"""gather_sequences, concat_batches and sequence_slice: laws, classes of users, several batches."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, concat_batches, sequence_concat, sequence_slice, vjp
from tests.helpers.agree import same, values_of
from tests.helpers.draw import lod_tensors
from tests.helpers.tables import for_each

# -- sequence_slice ------------------------------------------------------------------------------------------------


@given(lod_tensors(), st.data())
def test_sequence_slice_by_numbers_equals_one_number_a_sequence(x, data):
    shortest = min(x.lod.lengths(-1), default=0)
    offset = data.draw(st.integers(0, shortest))
    length = data.draw(st.integers(0, shortest - offset))
    count = x.lod.num_sequences(-1)
    wanted = sequence_slice(x, [offset] * count, [length] * count)
    for scalar in (int, np.int8, np.uint64, np.array):
        assert same(sequence_slice(x, scalar(offset), scalar(length)), wanted)


# -- pinned examples -----------------------------------------------------------------------------------------------

LETTERS = np.array(list("abcdef"))


@pytest.fixture(scope="module")
def documents():
    """Three documents: of the sentences "ab" and "", of none, of "cde" and "f"."""
    return LoDTensor.from_lengths(LETTERS, [2, 0, 2], [2, 0, 3, 1])


class Sentences(LoDTensor):
    """A class defined by a user."""


@pytest.mark.parametrize("join", [concat_batches, sequence_concat])
@pytest.mark.parametrize("lengths", [([2], [1, 1]), ([0, 2], [0, 0]), ([0], []), ([], [])])
def test_batches_of_a_class_of_ones_own_are_joined(join, lengths):
    x = LoDTensor(np.zeros(sum(lengths[-1])), LoD.from_lengths(*lengths))
    of_a_user = Sentences(x.values, x.lod)
    assert same(join([of_a_user, x, of_a_user]), join([x, x, x]))


BATCHES = [
    [[[1, 2], [3]], []],
    [[[4], [], [5, 6]], [[7]]],
    [[], [[8, 9]]],
    [[[10], [11, 12]], [[13], []]],
]


@pytest.mark.not_on_reference
@for_each("count", range(1, 5))
def test_sequence_concat_and_concat_batches_of_several_batches_in_every_order(count):
    for some in itertools.permutations(BATCHES, count):
        xs = [lodcore.array(one, dtype=int, num_levels=2) for one in some]
        joined = [[*itertools.chain(*[one[j] for one in some])] for j in range(2)]
        assert lodcore.sequence_concat(xs, 0).tolist() == joined
        assert lodcore.concat_batches(xs).tolist() == [*itertools.chain(*some)]


@pytest.mark.not_on_reference
def test_gather_sequences_adds_cotangents_of_long_complex_numbers():
    x = LoDTensor.from_lengths(np.array([1, 2j, 3 + 1j], "G"), [1, 2])
    d = np.array([1j, 2 + 3j, 4, 5, 6j, 7], "G")
    (found,) = vjp(lambda x: lodcore.gather_sequences(x, [1, 0, 1, 0]), x)[1](d)
    assert values_of(found).tolist() == [4 + 7, 5 + 1j, 2 + 9j]
