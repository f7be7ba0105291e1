"""Functions made of several operators: chunks, combinations, groups, joins, random orders; against nested lists."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, ops
from lodcore.graph import grad_check, vjp
from reference.ops.levels import at_level, each_at_level, sequences
from tests.helpers.agree import numbered
from tests.helpers.draw import lod_tensors, lods
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS, smooth_values

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)
FLAT = lods(1, 1, 6)


def of(lod, seed=0):
    """Return a tensor of numbers with the given structure."""
    return LoDTensor(smooth_values(seed, (lod.num_rows,)), lod)


# -- structure -----------------------------------------------------------------------------------------------------


@given(ANY, st.data())
def test_prefix_keeps_the_first_levels(x, data):
    count = data.draw(st.integers(0, x.num_levels))
    part = x.lod.prefix(count)
    assert part.num_levels == count
    assert [part.offsets(k).tolist() for k in range(count)] == [x.lod.offsets(k).tolist() for k in range(count)]
    assert part.num_rows == (x.lod.num_sequences(count) if count < x.num_levels else x.num_rows)
    assert x.lod.prefix(x.num_levels) is x.lod


@pytest.mark.parametrize(("count", "error"), [(3, LevelError), (-1, LevelError), (1.0, DTypeError), (True, DTypeError)])
def test_prefix_refuses(count, error):
    with pytest.raises(error, match=r"LoD.prefix: num_levels: is"):
        LoD.from_lengths([1], [2]).prefix(count)


@given(ANY, st.data())
def test_index_says_where_each_row_stands(x, data):
    axis = data.draw(st.integers(0, x.num_levels))
    places = []

    def walk(entry, depth, path):
        if depth == 0:
            places.append(path[axis])
            return
        for at, inner in enumerate(entry):
            walk(inner, depth - 1, [*path, at])

    walk(numbered(x.lod), x.num_levels + 1, [])
    found = lodcore.lod_index(x, axis)
    assert found.lod is x.lod
    assert found.values.tolist() == places
    assert_recorded(lambda x: lodcore.lod_index(x, axis), x)


@given(ANY, st.data())
def test_truncate_keeps_the_first_or_the_last(x, data):
    size, level = data.draw(st.integers(0, 4)), data.draw(st.integers(0, x.num_levels - 1))
    first = lodcore.sequence_truncate(x, size, level=level)
    last = lodcore.sequence_truncate(x, size, side="left", level=level - x.num_levels)
    assert first.tolist() == at_level(lambda one: one[:size], x.tolist(), level)
    assert last.tolist() == at_level(lambda one: one[max(len(one) - size, 0) :], x.tolist(), level)
    assert_recorded(lambda x: lodcore.sequence_truncate(x, size, "left"), x)


#: Sequences of every length from 0 to 3 on each of three levels.
DEEP = [[[[1, 2, 3], [], [4]], [[5]], [[6, 7], [8]]], [], [[[9]], [], [[], [10, 11]]], [[[12, 13, 14]]]]


@pytest.mark.parametrize("level", [0, 1, 2, -1, -2, -3])
def test_truncate_to_every_size_from_both_sides(level):
    x, at = lodcore.array(DEEP), level % 3
    for size in (0, 1, 2, 3, 4, 2**62, np.int8(0), np.uint8(1)):
        n = int(size)
        right = at_level(lambda one, n=n: one[:n], DEEP, at)
        left = at_level(lambda one, n=n: one[max(len(one) - n, 0) :], DEEP, at)
        for side, wanted in ((["right"], right), ([], right), (["left"], left)):
            assert lodcore.sequence_truncate(x, size, *side, level=level).tolist() == wanted


# -- combinations --------------------------------------------------------------------------------------------------


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
def test_index_forms_take_what_cartesian_gives(lod, data):
    x = of(lod)
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)))
    y = of(LoD.from_lengths(sizes), 1)
    pairs, places = lodcore.cartesian(x, y), lodcore.argcartesian(x, y)
    assert ops.take_nested(x, places[0]).tolist() == pairs[0].tolist()
    assert ops.take_nested(y, places[1]).tolist() == pairs[1].tolist()


@for_each("level", [0, 1, -1, -2])
def test_positions_of_pairs_on_each_level(level):
    """Of elements of any level, which are taken whole, also under vjp."""
    x = lodcore.array([[[1], [2, 3]], [[]], []])
    y = lodcore.array([[[4, 5, 6], []], [[7, 8]], []])
    pairs = lodcore.cartesian(x, y, level)
    found, _ = lodcore.vjp(lambda x: lodcore.argcartesian(x, y, level), x * 1.0)
    for one, places, pair in zip((x, y), found, pairs, strict=True):
        assert places.num_levels == (2 if level % 2 else 1)
        assert places.lod == pair.lod.prefix(places.num_levels)
        assert one[places].tolist() == pair.tolist()
    with pytest.raises(lodcore.LoDError, match=r"argcartesian: y: has 1 levels?; x has 2"):
        lodcore.argcartesian(x, [[1], [2], []])
    with pytest.raises(lodcore.LoDError, match="argcartesian: y: has 2 sequences of level 0; x has 3"):
        lodcore.argcartesian(x, y[:2], 0)


@given(FLAT, st.integers(0, 3), st.data())
def test_interleave_takes_turns(lod, count, data):
    x = of(lod)
    others = [st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x)) for _ in range(count)]
    xs = [x, *[of(LoD.from_lengths(data.draw(sizes)), j) for j, sizes in enumerate(others)]]
    wanted = []
    for parts in zip(*[x.tolist() for x in xs], strict=True):
        rounds = itertools.zip_longest(*parts)
        wanted.append([one for turn in rounds for one in turn if one is not None])
    assert lodcore.sequence_interleave(xs).tolist() == wanted


def test_gradients_reach_what_is_combined():
    x = LoDTensor.from_lengths(smooth_values(0, (6,)), [3, 0, 1, 2])
    y = LoDTensor.from_lengths(smooth_values(1, (5,)), [1, 2, 0, 2])
    weights = smooth_values(2, (20,))

    def loss(x, y):
        first, second, third = lodcore.combinations(x, 3)
        left, right = lodcore.cartesian(x, y)
        turns = lodcore.sequence_interleave([x, y])
        return (first * second * third).sum() + (left * right * left).sum() + (turns * weights[:11].sum()).sum()

    grad_check(loss, x, y)


# -- keys ----------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["i8", "i4", "U2", "f8", "?"])


def drawn_keys(seed, count, dtype):
    return np.random.default_rng(seed).integers(0, 4, count).astype(dtype)


@given(SEEDS, st.integers(0, 20), KEYS, st.sampled_from(["sorted", "first"]))
def test_groups_hold_the_rows_of_each_key(seed, count, dtype, order):
    keys, column = drawn_keys(seed, count, dtype), np.arange(2 * count).reshape(count, 2)
    found, grouped = lodcore.group_by(keys, column, order=order)
    wanted = sorted(set(keys.tolist())) if order == "sorted" else list(dict.fromkeys(keys.tolist()))
    assert found.tolist() == wanted
    assert grouped.tolist() == [column[keys == key].tolist() for key in found]


ROWS_OF_KEYS = st.lists(
    st.tuples(st.sampled_from(["a", "bb", ""]), st.sampled_from([0.0, -0.0, np.nan, 1.5])), max_size=9
)


@pytest.mark.parametrize("order", ["sorted", "first", "runs"])
@given(ROWS_OF_KEYS)
def test_groups_of_several_keys(order, rows):
    words, numbers = np.array([one for one, _ in rows], "U2"), np.array([two for _, two in rows], float)
    tuples = [(word, "nan" if number != number else number + 0.0) for word, number in rows]
    groups: dict = {}
    for at, one in enumerate(tuples):
        run = sum(a != b for a, b in itertools.pairwise(tuples[: at + 1])) if order == "runs" else 0
        groups.setdefault((run, one), []).append(at)
    wanted = [(one, places) for (_, one), places in groups.items()]
    if order == "sorted":
        wanted.sort(key=lambda entry: (entry[0][0], entry[0][1] == "nan", entry[0][1] if entry[0][1] != "nan" else 0))
    for key in ((words, numbers), [words, numbers]) if rows else ():
        (found, other), places = lodcore.group_by(key, np.arange(len(rows)), order=order)
        assert places.tolist() == [entry for _, entry in wanted]
        assert [(a, "nan" if b != b else b) for a, b in zip(found.tolist(), other.tolist(), strict=True)] == [
            one for one, _ in wanted
        ]
        assert (found.dtype, other.dtype) == (words.dtype, numbers.dtype)


def test_several_keys_that_do_not_fit():
    with pytest.raises(ShapeError, match=r"group_by: key\[1\]: has 1 entries; key\[0\] has 2"):
        lodcore.group_by(([1, 2], [1]), [3, 4])
    with pytest.raises(DTypeError, match=r"group_by: key\[1\]: has dtype complex128"):
        lodcore.group_by(([1, 2], [1j, 2]), [3, 4])
    records = np.array([(2, "b"), (1, "a"), (2, "b")], [("n", "i4"), ("t", "U1")])
    keys, places = lodcore.group_by(records, [0, 1, 2])
    assert (keys.tolist(), places.tolist()) == ([(1, "a"), (2, "b")], [[1], [0, 2]])


@given(FLAT, SEEDS)
def test_sequences_are_grouped_whole(lod, seed):
    x = of(lod)
    keys = drawn_keys(seed, len(x), "i8")
    found, grouped = lodcore.group_by(keys, x)
    assert grouped.num_levels == 2
    assert grouped.tolist() == [
        [one for one, other in zip(x.tolist(), keys, strict=True) if other == key] for key in found
    ]


def test_many_keys_are_told_apart():
    keys = np.random.default_rng(0).permutation(np.repeat(np.arange(40_000), 2))
    found, grouped = lodcore.group_by(keys, keys)
    assert found.tolist() == list(range(40_000))
    assert (grouped.lengths == 2).all()
    assert np.array_equal(grouped.values, np.repeat(found, 2))


@given(ANY, st.data())
def test_explode_repeats_for_each_row(x, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    column = np.arange(x.lod.num_sequences(level))
    rows, repeated, again, wide = lodcore.explode(x, column, column * 2, np.stack([column, -column], 1), level=level)
    assert rows.tolist() == sequences(x.tolist(), x.num_levels)
    ids = x.lod.segment_ids(level)
    assert (repeated.tolist(), again.tolist()) == (ids.tolist(), (2 * ids).tolist())
    assert np.array_equal(wide, np.stack([ids, -ids], 1))


@given(FLAT)
def test_implode_is_the_inverse_of_explode(lod):
    x = of(lod)
    rows, keys = lodcore.explode(x, np.arange(len(x)))
    found, back = lodcore.implode(keys, rows)
    assert found.tolist() == [at for at, one in enumerate(x.tolist()) if one]
    assert back.tolist() == [one for one in x.tolist() if one]


@given(FLAT, FLAT, SEEDS, st.sampled_from(["inner", "left", "right", "outer"]))
def test_joins_pair_equal_keys(lod, other, seed, how):
    x, y = of(lod), of(other, 1)
    x_keys, y_keys = drawn_keys(seed, len(x), "i8"), drawn_keys(seed + 1, len(y), "i8")
    keys, left, right = lodcore.join_by_key(x, y, x_keys, y_keys, how)
    if how == "right":
        keys, right, left = lodcore.join_by_key(y, x, y_keys, x_keys, "left")
        found = lodcore.join_by_key(x, y, x_keys, y_keys, how)
        assert [part.tolist() for part in found] == [keys.tolist(), left.tolist(), right.tolist()]
        return
    wanted = []
    for key, one in zip(x_keys.tolist(), x.tolist(), strict=True):
        partners = [two for two_key, two in zip(y_keys.tolist(), y.tolist(), strict=True) if two_key == key]
        wanted += [(key, one, two) for two in partners or ([[]] if how != "inner" else [])]
    if how == "outer":
        wanted += [
            (key, [], two) for key, two in zip(y_keys.tolist(), y.tolist(), strict=True) if key not in x_keys.tolist()
        ]
    assert list(zip(keys.tolist(), left.tolist(), right.tolist(), strict=True)) == wanted


def test_rows_are_joined_with_a_default():
    keys, x, y = lodcore.join_by_key([[1], [2, 3]], np.array([0.5, 1.5]), ["a", "b"], ["b", "b"], "left", default=-1.0)
    assert (keys.tolist(), x.tolist(), y.tolist()) == (["a", "b", "b"], [[1], [2, 3], [2, 3]], [-1.0, 0.5, 1.5])


def test_gradients_reach_what_is_grouped_and_joined():
    x = LoDTensor.from_lengths(smooth_values(0, (6,)), [3, 0, 1, 2])
    column = smooth_values(1, (4,))

    def loss(x, column):
        _, groups = lodcore.group_by([1, 0, 1, 1], column)
        _, left, right = lodcore.join_by_key(x, column, [1, 2, 3, 3], [3, 1, 5, 1], "outer", 1.0)
        rows, repeated = lodcore.explode(x, column)
        return (groups * groups).sum() + (left * left).sum() + (right * right).sum() + (rows * rows * repeated).sum()

    grad_check(loss, x, column)


def plain_chunks(length, size, stride, last):
    """List the bounds of chunks as a loop finds them."""
    found, start = [], 0
    while start < length and (start == 0 or start + size - stride < length):
        stop = min(start + size, length)
        if last != "drop" or stop - start == size:
            found.append((max(stop - size, 0) if last == "full" else start, stop))
        start += stride
    return found


@pytest.mark.not_on_reference
@pytest.mark.parametrize("dtype", ["i8", "f8", "U9", "M8[s]"])
def test_many_keys_that_are_far_apart(dtype):
    """More than fit into the first table."""
    numbers = np.random.default_rng(1).permutation(np.repeat(np.arange(5000), 2)) * 1009
    keys = numbers.astype("i8").astype(dtype)
    for order in ("sorted", "first"):
        found, groups = lodcore.group_rows(keys, order)
        wanted = sorted(set(keys.tolist())) if order == "sorted" else list(dict.fromkeys(keys.tolist()))
        assert found.tolist() == wanted
        assert (groups.lengths == 2).all()
        assert np.array_equal(keys[groups.values], np.repeat(found, 2))


STRUCTURAL = {  # operators that change the structure only: the result shares the values
    "rows_to_level": lodcore.ops.rows_to_level,
    "sequence_unflatten": lambda x: lodcore.sequence_unflatten(x, [1, 1, 2, 1]),
    "lod_reset": lambda x: lodcore.lod_reset(x, target_lod=[[0, 5]]),
    "with_values": lambda x: ops.with_values(LoD.from_lengths([1, 4]), x.values),
    "drop_level": lambda x: ops.drop_level(ops.insert_level(x, 0), 0),
    "insert_level": lambda x: ops.insert_level(x, 0),
    "flatten": lambda x: ops.insert_level(x, 0).flatten(0),
    "sequence_chunk": lambda x: lodcore.sequence_chunk(x, 2),
    "slice_along": lambda x: ops.slice_along(x, 1, 3),
}


@for_each(("name", "dtype"), itertools.product(STRUCTURAL, ["<f8", ">f8", ">i2", "?", "U3", ">M8[s]", "c8"]))
def test_values_that_are_shared_keep_dtype_and_byte_order(name, dtype):
    x = LoDTensor(np.arange(10).reshape(5, 2).astype(dtype), LoD.from_lengths([2, 0, 3]))
    found = STRUCTURAL[name](x)
    assert found.dtype == x.dtype
    assert found.dtype.byteorder == x.dtype.byteorder
    assert np.shares_memory(found.values, x.values)


@pytest.mark.parametrize("join", [lodcore.concat_batches, lodcore.sequence_concat, ops.sequence_interleave])
def test_batches_in_a_tuple_keep_their_order(join):
    xs = [LoDTensor.from_lengths(np.arange(3) + 10 * j, [j % 2 + 1, 2 - j % 2]) for j in range(3)]
    recorded = vjp(lambda *xs: join(xs), *xs)[0]
    assert join(tuple(xs)).tolist() == join(xs).tolist() == recorded.tolist()
    assert join(tuple(xs)).tolist()[0][:1] == [0]
    if join is lodcore.concat_batches:
        assert join(tuple(xs)).tolist() == [[0], [1, 2], [10, 11], [12], [20], [21, 22]]


@pytest.mark.parametrize("last", ["short", "full", "drop"])
def test_chunks_of_every_length_size_and_stride(last):
    """At the last level and above it."""
    lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
    x = LoDTensor.from_lengths(np.arange(36), lengths)
    deep = LoDTensor.from_lengths(np.arange(36), lengths, [1] * 36)
    parts = x.tolist()
    for size in range(1, 6):
        for stride in range(1, size + 1):
            wanted = [[part[a:b] for a, b in plain_chunks(len(part), size, stride, last)] for part in parts]
            assert lodcore.sequence_chunk(x, size, stride, last).tolist() == wanted
            nested = [[[[row] for row in chunk] for chunk in part] for part in wanted]
            assert lodcore.sequence_chunk(deep, size, stride, last, level=0).tolist() == nested
        assert lodcore.sequence_chunk(x, size, last=last).equals(lodcore.sequence_chunk(x, size, size, last))


@pytest.mark.parametrize("dtype", ["i2", "u8", "f4", "f8", "M8[D]", "m8[s]", "U3", "S2", "?"])
def test_keys_of_any_byte_order(dtype):
    keys = np.array([1, 0, 0, 1, 1], "i8").astype(dtype) if dtype == "?" else np.array([3, 1, 300, 1, 3]).astype(dtype)
    wanted = sorted(set(keys.tolist()))
    for some in (keys, keys.astype(keys.dtype.newbyteorder()), np.repeat(keys, 2)[::2]):
        for order in ("sorted", "first", "runs"):
            found, groups = lodcore.group_rows(some, order)
            assert found.dtype == keys.dtype
            assert found.dtype.isnative
            if order == "sorted":
                assert found.tolist() == wanted
                assert [keys[at].tolist() for at in groups] == [[key] * keys.tolist().count(key) for key in wanted]
        matched = lodcore.match_keys(some, keys[:1])
        assert matched[0].dtype.isnative
        assert matched[1].tolist() == [at for at, key in enumerate(keys.tolist()) if key == keys[0].item()]


def test_runs_group_every_column():
    """With and without levels, in any place."""
    x, row = [[1], [2, 3], []], np.array([0.5, 1.5, 2.5])
    for columns in ((row, x), (x, row), (row, row, x), (row, row)):
        found = lodcore.group_by([7, 7, 5], *columns, order="runs")
        assert found[0].tolist() == [7, 5]
        for column, grouped in zip(columns, found[1:], strict=True):
            listed = [*column] if column is x else column.tolist()
            assert grouped.tolist() == [listed[:2], listed[2:]]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_joins_of_rows_on_either_side(how):
    """Also with sides that have no rows: what has no partner is joined with the default."""
    for x, y in itertools.product(([], [1, 2], [2, 2, 3]), repeat=2):
        wanted = [(a, a * 10, b * 100) for a in x for b in y if a == b]
        left = [(a, a * 10, -7) for a in x if a not in y]
        right = [(b, -7, b * 100) for b in y if b not in x]
        wanted += (left if how in ("left", "outer") else []) + (right if how in ("right", "outer") else [])
        found = lodcore.join_by_key(
            *(np.array(side, "i8") * times for side, times in ((x, 10), (y, 100))),
            *(np.array(side, "i8") for side in (x, y)), how, default=-7,
        )  # fmt: skip
        assert sorted(zip(*(part.tolist() for part in found), strict=True)) == sorted(wanted), (x, y)


def test_wrong_columns_are_named():
    with pytest.raises(ShapeError, match="group_by: column 1: has 2 rows; there are 3 keys"):
        lodcore.group_by([1, 2, 3], [1, 2, 3], [1, 2])
    with pytest.raises(LoDError, match="2 rows; level 0 of y has 3"):
        lodcore.explode([[1], [2], []], [1, 2])


# -- random orders -------------------------------------------------------------------------------------------------


@given(ANY, SEEDS, st.data())
def test_shuffles_keep_what_is_there(x, seed, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    shuffled = lodcore.sequence_shuffle(x, seed, level)
    pairs = zip(sequences(shuffled.tolist(), level), sequences(x.tolist(), level), strict=True)
    assert all(sorted(map(repr, one)) == sorted(map(repr, other)) for one, other in pairs)
    whole = lodcore.shuffle_sequences(x, seed)
    assert sorted(map(repr, whole.tolist())) == sorted(map(repr, x.tolist()))
    assert_recorded(lambda x: lodcore.shuffle_sequences(x, seed), x)


@given(ANY, SEEDS, st.integers(0, 4))
def test_samples_are_without_replacement(x, seed, size):
    places = lodcore.sequence_sample(lodcore.lod_positions(x, -1), size, np.random.default_rng(seed))
    for drawn, sequence in zip(
        sequences(places.tolist(), x.num_levels - 1), sequences(x.tolist(), x.num_levels - 1), strict=True
    ):
        assert len(drawn) == len(set(drawn)) == min(size, len(sequence))
        assert set(drawn) <= set(range(len(sequence)))


def test_a_generator_that_lies_is_refused():
    class Short(np.random.Generator):
        def random(self, *args, **kwargs):
            return np.zeros(1)

    with pytest.raises(DTypeError, match="rng: drew 1 numbers; 3 are needed"):
        lodcore.sequence_shuffle([[1, 2, 3]], Short(np.random.PCG64(0)))


# -- statistics ----------------------------------------------------------------------------------------------------


@given(lods(1, 2, 5), SEEDS)
def test_statistics_are_those_of_each_sequence(lod, seed):
    x, y, w = of(lod, seed), of(lod, seed + 1), of(lod, seed + 2)
    axis, flat = lod.num_levels, LoD.from_offsets(lod.offsets(-1))
    found = {
        "average": lodcore.average(x, axis, w),
        "moment": lodcore.moment(x, 3, axis),
        "cov": lodcore.cov(x, y, axis, ddof=0),
        "weighted": lodcore.cov(x, y, axis, w),
        "corr": lodcore.corr(x, y, axis),
        "slope": lodcore.linear_fit(x, y, axis)[1],
        "intercept": lodcore.linear_fit(x, y, axis)[0],
    }
    parts = [LoDTensor(one.values, flat).to_arrays() for one in (x, y, w)]
    for at, (a, b, weights) in enumerate(zip(*parts, strict=True)):
        if len(a) < 2:
            continue
        slope, intercept = np.polyfit(a, b, 1)
        wanted = {
            "average": np.average(a, weights=weights),
            "moment": (a**3).mean(),
            "cov": np.cov(a, b, bias=True)[0, 1],
            "weighted": np.cov(a, b, bias=True, aweights=weights)[0, 1],
            "corr": np.corrcoef(a, b)[0, 1],
            "slope": slope,
            "intercept": intercept,
        }
        for name, value in wanted.items():
            one = found[name].values if isinstance(found[name], LoDTensor) else found[name]
            np.testing.assert_allclose(one[at], value, rtol=1e-7, atol=1e-9, err_msg=name)


def test_errors_of_fits_are_those_of_the_weights():
    x = LoDTensor.from_lengths([0.0, 1.0, 2.0, 5.0], [4])
    *_, intercept_error, slope_error = lodcore.linear_fit(x, x * 2 + 1, 1)
    design = np.stack([np.ones(4), x.values], 1)
    wanted = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose([intercept_error[0], slope_error[0]], wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_fits_of_what_is_constant_but_for_rounding(dtype):
    """There are nan where numbers of that size cannot hold the spread, also for the error of the average of many."""
    eps = float(np.finfo(dtype).eps)
    alike = [[0.3, 0.3 * (1 + eps), 0.3], [1e9, 1e9], [0.1 + 0.2, 0.3, 0.3], [0.0, 0.0], [0.1] * 7, [5.0], []]
    apart = [[1e9, 1e9 * (1 + 40 * eps), 1e9 * (1 + 80 * eps)], [0.0, eps * 1e-9], [-1.0, 0.0, 1.0]]
    x = lodcore.array([np.array(one, dtype) for one in alike + apart])
    found = [*lodcore.linear_fit(x, x.positions(), axis=1), lodcore.corr(x, x.positions(), axis=1)]
    for one in found:
        assert np.isnan(one).tolist() == [True] * len(alike) + [False] * len(apart)
    many = LoDTensor.from_lengths(np.full(100_000, 0.1, dtype), [100_000])
    slope = lodcore.linear_fit(many, many.positions() % 7, axis=1)[1]
    assert np.isnan(slope).all()


def test_statistics_have_gradients():
    x = LoDTensor.from_lengths(smooth_values(0, (7,)), [4, 3])
    y = LoDTensor.from_lengths(smooth_values(1, (7,)), [4, 3])

    def loss(x, y):
        intercept, slope, *_ = lodcore.linear_fit(x, y, 1)
        return ops.sum(intercept * slope + lodcore.corr(x, y, 1) + lodcore.average(x, 1, y) + lodcore.moment(x, 3, 1))

    grad_check(loss, x, y)


# -- other functions of NumPy ------------------------------------------------------------------------------------------


def test_numpy_functions_have_gradients():
    x = LoDTensor.from_lengths(smooth_values(0, (6, 2)), [3, 1, 2])

    def loss(x):
        parts = [
            np.stack([x, x * 2], 1),
            np.roll(x, 1, (0, 1)),
            np.repeat(x, 2, 1),
            np.tile(x, (2, 1, 2)),
            x[..., None].mT,
            x.reshape(3, None, 2, 1),
            np.broadcast_to(x[..., None], (3, None, 2, 3)),
            x[:, None],
            np.concatenate([0.5, x, np.ones((3, 1, 2))], 1),
            lodcore.rows_to_level(x),
        ]
        return sum((part * part).sum() for part in parts) + np.ptp(x, 2).sum() + np.repeat(x, 2).sum()

    grad_check(loss, x)


@given(lods(1, 3, 5), SEEDS, st.data())
def test_sums_over_several_coarse_axes(lod, seed, data):
    x = LoDTensor(np.random.default_rng(seed).integers(-5, 6, lod.num_rows), lod)
    low = data.draw(st.integers(0, lod.num_levels))
    high = data.draw(st.integers(low, lod.num_levels))
    nested = x.tolist()

    def joined(entry, depth):
        """Move the axes from low to high together."""
        if depth > 0:
            return [joined(one, depth - 1) for one in entry]
        return sequences(entry, high - low)

    merged = joined(nested, low)
    wanted = lodcore.array(merged, num_levels=lod.num_levels - (high - low)) if lod.num_levels > high - low else merged
    expected = wanted.sum(axis=low).tolist() if isinstance(wanted, LoDTensor) else sum(wanted)
    found = x.sum(axis=tuple(range(low, high + 1)))
    assert np.asarray(found).tolist() == expected if not isinstance(found, LoDTensor) else found.tolist() == expected


def test_each_at_level_is_what_unflatten_undoes():
    x = lodcore.array([[1, 2, 3], [], [4, 5]])
    divided = lodcore.sequence_unflatten(x, [[1, 2], [], [2]])
    assert divided.tolist() == each_at_level([[[1], [2, 3]], [], [[4, 5]]], x.tolist(), 0)
    assert divided.flatten(1).equals(x)
    assert vjp(lambda x: lodcore.sequence_unflatten(x, [1, 2, 2]), x * 1.0)[0].flatten(1).equals(x * 1.0)


@for_each("sizes", itertools.product(range(4), repeat=4))
def test_new_sequences_that_are_empty_begin_the_next_sequence(sizes):
    """All lengths of four new sequences, and every place at which the old ones may have been divided."""
    ends = np.cumsum(sizes)
    for first in {0, *ends.tolist()}:
        x = LoDTensor.from_lengths(np.arange(ends[-1]), [first, ends[-1] - first])
        parts = [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes, strict=True)]
        count = sum(end <= first for end in ends.tolist()) if first else 0
        while count and not sizes[count - 1]:  # an empty one at the boundary belongs to what follows
            count -= 1
        assert lodcore.sequence_unflatten(x, list(sizes)).tolist() == [parts[:count], parts[count:]]
