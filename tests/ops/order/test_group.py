"""Groups, joins, explode and implode, compared with dicts and loops of Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from lodcore.graph import grad_check
from reference.ops.levels import sequences
from tests.helpers.draw import lod_tensors, lods
from tests.samples.common import SEEDS, smooth_values

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("many", [1, 100])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_group_rows_of_integer_keys_at_the_ends_of_their_dtype(dtype, many):
    ends = np.iinfo(dtype)
    middle = (ends.max + ends.min) // 2
    for some in ([ends.min, ends.max], [ends.max, middle, ends.min], [middle, ends.max], [ends.max - 100, ends.max]):
        key = np.tile(np.array(some, dtype), many)
        keys, groups = lodcore.group_rows(key)
        wanted, counts = np.unique(key, return_counts=True)
        assert keys.dtype == key.dtype
        assert keys.tolist() == wanted.tolist()
        assert groups.lengths.tolist() == counts.tolist()
        assert groups.tolist() == [np.flatnonzero(key == one).tolist() for one in wanted]


ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)

FLAT = lods(1, 1, 6)


def of(lod, seed=0):
    """Return a tensor of numbers with the given structure."""
    return LoDTensor(smooth_values(seed, (lod.num_rows,)), lod)


KEYS = st.sampled_from(["i8", "i4", "U2", "f8", "?"])


def drawn_keys(seed, count, dtype):
    return np.random.default_rng(seed).integers(0, 4, count).astype(dtype)


@given(SEEDS, st.integers(0, 20), KEYS, st.sampled_from(["sorted", "first"]))
def test_group_by_collects_the_rows_of_each_key(seed, count, dtype, order):
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
def test_group_by_several_keys(order, rows):
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


def test_group_by_names_the_key_of_another_length_or_dtype():
    with pytest.raises(ShapeError, match=r"group_by: key\[1\]: has 1 entries; key\[0\] has 2"):
        lodcore.group_by(([1, 2], [1]), [3, 4])
    with pytest.raises(DTypeError, match=r"group_by: key\[1\]: has dtype complex128"):
        lodcore.group_by(([1, 2], [1j, 2]), [3, 4])
    records = np.array([(2, "b"), (1, "a"), (2, "b")], [("n", "i4"), ("t", "U1")])
    keys, places = lodcore.group_by(records, [0, 1, 2])
    assert (keys.tolist(), places.tolist()) == ([(1, "a"), (2, "b")], [[1], [0, 2]])


@given(FLAT, SEEDS)
def test_group_by_moves_sequences_whole(lod, seed):
    x = of(lod)
    keys = drawn_keys(seed, len(x), "i8")
    found, grouped = lodcore.group_by(keys, x)
    assert grouped.num_levels == 2
    assert grouped.tolist() == [
        [one for one, other in zip(x.tolist(), keys, strict=True) if other == key] for key in found
    ]


def test_group_by_of_40000_keys_tells_all_apart():
    keys = np.random.default_rng(0).permutation(np.repeat(np.arange(40_000), 2))
    found, grouped = lodcore.group_by(keys, keys)
    assert found.tolist() == list(range(40_000))
    assert (grouped.lengths == 2).all()
    assert np.array_equal(grouped.values, np.repeat(found, 2))


@given(ANY, st.data())
def test_explode_repeats_a_column_for_each_row(x, data):
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
def test_join_by_key_pairs_rows_of_equal_keys(lod, other, seed, how):
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


def test_join_by_key_fills_rows_without_partner_with_the_default():
    keys, x, y = lodcore.join_by_key([[1], [2, 3]], np.array([0.5, 1.5]), ["a", "b"], ["b", "b"], "left", default=-1.0)
    assert (keys.tolist(), x.tolist(), y.tolist()) == (["a", "b", "b"], [[1], [2, 3], [2, 3]], [-1.0, 0.5, 1.5])


def test_gradients_of_group_by_join_by_key_and_explode():
    x = LoDTensor.from_lengths(smooth_values(0, (6,)), [3, 0, 1, 2])
    column = smooth_values(1, (4,))

    def loss(x, column):
        _, groups = lodcore.group_by([1, 0, 1, 1], column)
        _, left, right = lodcore.join_by_key(x, column, [1, 2, 3, 3], [3, 1, 5, 1], "outer", 1.0)
        rows, repeated = lodcore.explode(x, column)
        return (groups * groups).sum() + (left * left).sum() + (right * right).sum() + (rows * rows * repeated).sum()

    grad_check(loss, x, column)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("dtype", ["i8", "f8", "U9", "M8[s]"])
def test_group_rows_of_many_keys_that_are_far_apart(dtype):
    """More than fit into the first table."""
    numbers = np.random.default_rng(1).permutation(np.repeat(np.arange(5000), 2)) * 1009
    keys = numbers.astype("i8").astype(dtype)
    for order in ("sorted", "first"):
        found, groups = lodcore.group_rows(keys, order)
        wanted = sorted(set(keys.tolist())) if order == "sorted" else list(dict.fromkeys(keys.tolist()))
        assert found.tolist() == wanted
        assert (groups.lengths == 2).all()
        assert np.array_equal(keys[groups.values], np.repeat(found, 2))


@pytest.mark.parametrize("dtype", ["i2", "u8", "f4", "f8", "M8[D]", "m8[s]", "U3", "S2", "?"])
def test_group_rows_and_match_keys_of_any_byte_order_are_native(dtype):
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


def test_group_by_runs_groups_columns_with_and_without_levels():
    """With and without levels, in any place."""
    x, row = [[1], [2, 3], []], np.array([0.5, 1.5, 2.5])
    for columns in ((row, x), (x, row), (row, row, x), (row, row)):
        found = lodcore.group_by([7, 7, 5], *columns, order="runs")
        assert found[0].tolist() == [7, 5]
        for column, grouped in zip(columns, found[1:], strict=True):
            listed = [*column] if column is x else column.tolist()
            assert grouped.tolist() == [listed[:2], listed[2:]]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_join_by_key_of_every_kind_with_sides_without_rows(how):
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


def test_group_by_and_explode_name_the_column_that_does_not_fit():
    with pytest.raises(ShapeError, match="group_by: column 1: has 2 rows; there are 3 keys"):
        lodcore.group_by([1, 2, 3], [1, 2, 3], [1, 2])
    with pytest.raises(LoDError, match="2 rows; level 0 of x has 3"):
        lodcore.explode([[1], [2], []], [1, 2])


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), np.datetime64("NaT", "D")),
        (np.array([1, 2], "m8[s]"), np.timedelta64("NaT", "s")),
        (np.array(["a", "bc"]), ""),
        (np.array([b"a", b"bc"]), b""),
        (np.array([1.5, 2.5], "f4"), 0.0),
        (np.array([True, True]), False),
    ],
)
def test_join_by_key_fills_rows_without_a_partner_with_nothing(rows, missing):
    _, x, y = lodcore.join_by_key(rows, rows, [1, 2], [2, 3], how="outer")
    assert x.dtype == y.dtype == rows.dtype
    np.testing.assert_array_equal(x, np.array([rows[0], rows[1], missing], rows.dtype))
    np.testing.assert_array_equal(y, np.array([missing, rows[0], rows[1]], rows.dtype))
    _, given, _ = lodcore.join_by_key(rows, rows, [1, 2], [2, 3], how="outer", default=rows[1])
    np.testing.assert_array_equal(given, rows[[0, 1, 1]])
