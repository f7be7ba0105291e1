"""Random orders and samples within sequences: seeds, generators, levels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from reference.ops.levels import sequences
from tests.helpers.draw import lod_tensors
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS


@pytest.mark.not_on_reference
@for_each("size", [0, 1, 9, 10, 11, 100, 2**40])
def test_sequence_sample_of_more_than_a_sequence_has_is_the_whole_sequence(size):
    lengths = [0, 1, 9, 10, 11, 12]
    x = LoDTensor.from_lengths(np.arange(43), lengths)
    for part, whole in zip(lodcore.sequence_sample(x, size, 0).tolist(), x.tolist(), strict=True):
        assert len(part) == len(set(part)) == min(size, len(whole))
        assert set(part) <= set(whole)


@pytest.mark.not_on_reference
@for_each("name", ["sequence_shuffle", "shuffle_sequences"])
def test_shuffle_by_a_seed_equals_shuffle_by_its_generator_and_seeds_differ(name):
    x = (
        lodcore.array([[[j], [j + 50]] for j in range(50)])
        if name == "shuffle_sequences"
        else lodcore.array([list(range(50))])
    )
    found = [getattr(lodcore, name)(x, seed).tolist() for seed in (0, 1, 2, np.int8(3))]
    assert all(one != other for one, other in itertools.combinations([*found, x.tolist()], 2))
    for seed in range(4):
        assert getattr(lodcore, name)(x, np.random.default_rng(seed)).tolist() == found[seed]
        assert sorted(np.ravel(found[seed])) == sorted(x.values)


@pytest.mark.not_on_reference
@for_each("more", [-1, 1])
def test_sequence_shuffle_refuses_a_generator_that_draws_more_or_fewer_numbers(more):
    class Generator(np.random.Generator):
        def random(self, count):
            return np.zeros(count + more)

    with pytest.raises(lodcore.DTypeError, match=f"rng: drew {3 + more} numbers; 3 are needed"):
        lodcore.sequence_shuffle([[1, 2], [3]], Generator(np.random.PCG64(0)))


@pytest.mark.not_on_reference
@for_each(("level", "size"), [(level, size) for level in (0, 1, 2, -1, -2, -3) for size in (1, 2)])
def test_sequence_sample_at_every_level_takes_whole_elements(level, size):
    """Whole elements of the sequences of a level, as many of each as there are, at most `size`."""
    nested = [[[[1, 2, 3], [4]], [[5, 6]]], [[[7, 8, 9], [], [10, 11]]]]
    x = lodcore.array(nested)
    found = lodcore.sequence_sample(x, size, 0, level=level)

    def check(drawn, given, depth):
        if depth == 0:
            assert len(drawn) == min(size, len(given))
            assert all(one in given for one in drawn)
            return
        assert len(drawn) == len(given)
        for one, other in zip(drawn, given, strict=True):
            check(one, other, depth - 1)

    check(found.tolist(), nested, level % 3 + 1)


ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)


@given(ANY, SEEDS, st.data())
def test_shuffles_keep_the_elements_of_each_sequence(x, seed, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    shuffled = lodcore.sequence_shuffle(x, seed, level)
    pairs = zip(sequences(shuffled.tolist(), level), sequences(x.tolist(), level), strict=True)
    assert all(sorted(map(repr, one)) == sorted(map(repr, other)) for one, other in pairs)
    whole = lodcore.shuffle_sequences(x, seed)
    assert sorted(map(repr, whole.tolist())) == sorted(map(repr, x.tolist()))
    assert_recorded(lambda x: lodcore.shuffle_sequences(x, seed), x)


@given(ANY, SEEDS, st.integers(0, 4))
def test_sequence_sample_draws_without_replacement(x, seed, size):
    places = lodcore.sequence_sample(lodcore.lod_positions(x, -1), size, np.random.default_rng(seed))
    for drawn, sequence in zip(
        sequences(places.tolist(), x.num_levels - 1), sequences(x.tolist(), x.num_levels - 1), strict=True
    ):
        assert len(drawn) == len(set(drawn)) == min(size, len(sequence))
        assert set(drawn) <= set(range(len(sequence)))
