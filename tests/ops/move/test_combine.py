"""Combinations, products and alternation of sequences, compared with itertools."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, ops
from lodcore.graph import grad_check
from reference.ops.levels import at_level
from tests.helpers.draw import lod_tensors, lods
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.samples.common import smooth_values

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)

FLAT = lods(1, 1, 6)


def of(lod, seed=0):
    """Return a tensor of numbers with the given structure."""
    return LoDTensor(smooth_values(seed, (lod.num_rows,)), lod)


#: Sequences of every length from 0 to 3 on each of three levels.
DEEP = [[[[1, 2, 3], [], [4]], [[5]], [[6, 7], [8]]], [], [[[9]], [], [[], [10, 11]]], [[[12, 13, 14]]]]


@given(ANY, st.integers(1, 4), st.booleans(), st.data())
def test_combinations_are_those_of_itertools(x, n, replacement, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    ways = itertools.combinations_with_replacement if replacement else itertools.combinations
    found = lodcore.combinations(x, n, replacement, level)
    places = lodcore.argcombinations(x, n, replacement, level)
    for j in range(n):
        assert found[j].tolist() == at_level(lambda one, j=j: [way[j] for way in ways(one, n)], x.tolist(), level)
        assert ops.take_nested(x, places[j]).tolist() == found[j].tolist()
    assert_recorded(lambda x: lodcore.combinations(x, n, replacement, level), x)


@pytest.mark.parametrize("level", [0, 1, 2, -1, -2, -3, None])
def test_combinations_of_every_level(level):
    """Entries and their places; for None the level is left out, and so the last one."""
    x, at, words = (
        lodcore.array(DEEP),
        -1 % 3 if level is None else level % 3,
        {} if level is None else {"level": level},
    )
    for n, replacement in itertools.product((1, 2, 3), (False, True)):
        ways = partial(itertools.combinations_with_replacement if replacement else itertools.combinations, r=n)
        found = lodcore.combinations(x, n, replacement, **words)
        places = lodcore.argcombinations(x, n, replacement, **words)
        assert (len(found), len(places)) == (n, n)
        for j in range(n):
            entries = at_level(lambda one, j=j, ways=ways: [way[j] for way in ways(one)], DEEP, at)
            numbers = at_level(lambda one, j=j, ways=ways: [way[j] for way in ways(range(len(one)))], DEEP, at)
            assert (found[j].tolist(), places[j].tolist()) == (entries, numbers)


@given(FLAT, st.data())
def test_argcartesian_indexes_the_pairs_of_cartesian(lod, data):
    x = of(lod)
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)))
    y = of(LoD.from_lengths(sizes), 1)
    pairs, places = lodcore.cartesian(x, y), lodcore.argcartesian(x, y)
    assert ops.take_nested(x, places[0]).tolist() == pairs[0].tolist()
    assert ops.take_nested(y, places[1]).tolist() == pairs[1].tolist()


@for_each("level", [0, 1, -1, -2])
def test_argcartesian_at_every_level_indexes_whole_elements(level):
    """Of elements of any level, which are taken whole, also under vjp."""
    x = lodcore.array([[[1], [2, 3]], [[]], []])
    y = lodcore.array([[[4, 5, 6], []], [[7, 8]], []])
    pairs = lodcore.cartesian(x, y, level)
    found, _ = lodcore.vjp(lambda x: lodcore.argcartesian(x, y, level), x * 1.0)
    for one, places, pair in zip((x, y), found, pairs, strict=True):
        assert places.num_levels == (2 if level % 2 else 1)
        assert places.lod == pair.lod.prefix(places.num_levels)
        assert one[places].tolist() == pair.tolist()
    with pytest.raises(lodcore.LoDError, match=r"argcartesian: y: has 1 level; x has 2"):
        lodcore.argcartesian(x, [[1], [2], []])
    with pytest.raises(lodcore.LoDError, match="argcartesian: y: has 2 sequences of level 0; x has 3"):
        lodcore.argcartesian(x, y[:2], 0)


@given(FLAT, st.integers(0, 3), st.data())
def test_sequence_interleave_takes_one_element_of_each_in_turn(lod, count, data):
    x = of(lod)
    others = [st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)) for _ in range(count)]
    xs = [x, *[of(LoD.from_lengths(data.draw(sizes)), j) for j, sizes in enumerate(others)]]
    wanted = []
    for parts in zip(*[x.tolist() for x in xs], strict=True):
        rounds = itertools.zip_longest(*parts)
        wanted.append([one for turn in rounds for one in turn if one is not None])
    assert lodcore.sequence_interleave(xs).tolist() == wanted


def test_gradients_of_combinations_cartesian_and_interleave():
    x = LoDTensor.from_lengths(smooth_values(0, (6,)), [3, 0, 1, 2])
    y = LoDTensor.from_lengths(smooth_values(1, (5,)), [1, 2, 0, 2])
    weights = smooth_values(2, (20,))

    def loss(x, y):
        first, second, third = lodcore.combinations(x, 3)
        left, right = lodcore.cartesian(x, y)
        turns = lodcore.sequence_interleave([x, y])
        return (first * second * third).sum() + (left * right * left).sum() + (turns * weights[:11].sum()).sum()

    grad_check(loss, x, y)
