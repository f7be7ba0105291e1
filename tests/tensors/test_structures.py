"""Structures made in different ways are equal, and results are right at every level, width and end."""

import itertools
import operator

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.tensors import joining
from tests.helpers.tables import for_each

LENGTHS = [[2, 0, 1], [1, 2, 1], [2, 0, 1, 2], [3, 1, 0, 2, 1]]
DEEP = LoD.from_lengths(*LENGTHS)


def lists(lod, first=0):
    """Return a structure as nested lists, of the numbers of rows."""
    entries = list(range(lod.num_rows))
    for level in reversed(range(first, lod.num_levels)):
        bounds = lod.offsets(level).tolist()
        entries = [entries[start:stop] for start, stop in itertools.pairwise(bounds)]
    return entries


def restarted(nested):
    """Return nested lists with rows that are numbered again."""
    numbers = iter(range(10**6))

    def again(one):
        return [again(inner) for inner in one] if isinstance(one, list) else next(numbers)

    return again(nested)


@for_each("level", [0, 1, 2, 3])
def test_parts_of_a_deep_structure(level):
    whole = lists(DEEP, level)
    index = [len(whole) - 1, 0, 0, -2]
    taken = DEEP.take(index, level)
    assert lists(taken) == restarted([whole[at] for at in index])
    assert taken.num_levels == 4 - level
    for start, stop in ((1, None), (0, -1), (2, 1), (None, None)):
        assert lists(DEEP.slice(start, stop, level)) == restarted(whole[start:stop])
    if level:
        assert DEEP.prefix(level).num_rows == len(whole)
    assert DEEP.prefix(0).num_rows == 3
    assert DEEP.prefix(0) == LoD.from_offsets(num_rows=3)
    joined = DEEP.slice(0, 1, level).concat(DEEP.slice(1, 1, level), DEEP.slice(1, None, level))
    assert joined == DEEP.slice(0, None, level)
    assert hash(joined) == hash(DEEP.slice(0, None, level))


def test_equal_structures_made_in_different_ways():
    one = LoD.from_lengths([2, 0, 1])
    ways = [
        LoD.from_offsets([0, 2, 2, 3]),
        LoD.from_segment_ids([0, 0, 2]),
        LoD.from_row_offsets([0, 2, 2, 3]),
        LoD.from_lengths([1, 2, 0, 1]).slice(1, None),
        LoD.from_lengths([1, 2, 0]).take([1, 2, 0]),
        LoD.from_lengths([0, 3], [2, 0, 1]).split()[1],
        LoD.from_lengths([3], [2, 0, 1]).drop(0),
        LoD.from_lengths([2, 0, 1], [1, 1, 0]).prefix(1),
        LoD.from_lengths([2]).concat(LoD.from_lengths([0, 1])),
        LoD.from_offsets(num_rows=3).append(lengths=[2, 0, 1]),
        lodcore.array([[1.0, 2.0], [], [3.0]]).lod,
    ]
    for other in ways:
        assert other == one
        assert hash(other) == hash(one)
        assert other.offsets().tolist() == [0, 2, 2, 3]
    none = LoD.from_offsets(num_rows=2)
    for other in (LoD.from_lengths([1, 2]).split()[1], LoD.from_lengths([2, 0]).split()[0]):
        assert other == none
        assert hash(other) == hash(none)
    different = [
        none,
        LoD.from_lengths([2, 1, 0]),
        LoD.from_lengths([2, 0, 2]),
        LoD.from_lengths([3]),
        LoD.from_lengths([]),
    ]
    different += [
        LoD.from_lengths([3], [2, 0, 1]),
        LoD.from_offsets(num_rows=3),
        LoD.from_lengths([2, 0, 1], [1, 1, 1]),
    ]
    for a, first in enumerate(different):
        assert first != one
        for second in different[a + 1 :]:
            assert first != second


def test_rows_without_levels_are_sliced():
    dense = LoDTensor(np.arange(1000.0), LoD.from_offsets(num_rows=1000))
    assert dense[100:900].values.tolist() == list(range(100, 900))
    assert dense[100:900].num_rows == 800
    assert len(dense[5:5]) == 0


@for_each("step", [1, 2, 3, -1, -2])
def test_lod_tensor_slices_with_a_step_select_as_lists(step):
    x = lodcore.array([[0.0], [1.0, 2.0], [], [3.0], [4.0, 5.0]])
    deep = lodcore.array([[[0], [1]], [], [[2, 3]], [[4]], [[]]])
    for given in (x, deep, LoDTensor(np.arange(5), LoD.from_offsets(num_rows=5))):
        for start, stop in ((None, None), (1, 4), (4, 0), (-2, None), (0, 5)):
            assert given[start:stop:step].tolist() == given.tolist()[start:stop:step]


def test_length_hint_of_an_iterator_over_a_tensor_counts_what_is_left():
    for nested in ([[1.0], [], [2.0]], [[[1.0], []], [], [[2.0]]]):
        left = iter(lodcore.array(nested))
        for count in (3, 2, 1):
            assert operator.length_hint(left) == count
            next(left)
        assert operator.length_hint(left) == 0
        assert next(left, None) is None


@pytest.mark.not_on_reference
def test_iteration_over_three_levels_gives_each_its_own_rows():
    x = LoDTensor(np.arange(7.0), DEEP.drop(0).drop(0))
    assert [part.tolist() for part in x] == x.tolist()
    deep = LoDTensor(np.arange(7.0), DEEP)
    assert [part.tolist() for part in deep] == deep.tolist()
    assert [[inner.tolist() for inner in part] for part in deep] == deep.tolist()


@pytest.mark.not_on_reference
@for_each("dtype", ["f4", "f8"])
def test_reductions_with_options_equal_to_their_defaults(dtype):
    for shape in ((), (3,), (2, 3), (2, 1, 3)):
        for lengths in ([2, 1, 3, 0], [1, 0, 2], [0], [2, 4], []):
            rows = (np.arange(sum(lengths) * int(np.prod(shape))) * 5 % 7).reshape(-1, *shape).astype(dtype)
            rows = rows.reshape(sum(lengths), *shape)
            x = LoDTensor.from_lengths(rows, lengths)
            parts = x.to_arrays()
            for name in ("sum", "mean", "max", "min"):
                if name in ("max", "min") and 0 in lengths:
                    for axis in (1, -1 - len(shape)):
                        with pytest.raises(ValueError, match=r"no elements|empty"):
                            getattr(x, name)(axis=axis)
                    continue
                with np.errstate(all="ignore"):
                    wanted = [
                        getattr(np, name)(part, axis=0) if len(part) or name == "sum" else np.full(shape, np.nan)
                        for part in parts
                    ]
                wanted = np.array(wanted, dtype).reshape(len(lengths), *shape)
                for axis in (1, -1 - len(shape), np.int64(1)):
                    found = getattr(x, name)(axis=axis)
                    np.testing.assert_allclose(found, wanted, 1e-6)
                    assert found.dtype == dtype
                for kept in (True, np.True_):
                    found = getattr(x, name)(axis=1, keepdims=kept)
                    np.testing.assert_allclose(found, wanted[:, None], 1e-6)
                if shape and lengths:
                    last = getattr(x, name)(axis=-1)
                    np.testing.assert_allclose(last.values, getattr(np, name)(rows, axis=-1), 1e-6)
    x = LoDTensor.from_lengths(np.array([1, 2, 4], dtype), [2, 1])
    first = lodcore.array([[True, False], [True]])
    assert x.sum(axis=1, where=first).tolist() == [1.0, 4.0]
    assert x.max(axis=1, where=first, initial=0).tolist() == [1.0, 4.0]
    assert x.sum(axis=1, initial=10).tolist() == [13.0, 14.0]
    assert x.sum(axis=1, dtype="i8").dtype == np.int64
    for level in (3, 4):
        deep = LoDTensor(np.arange(7.0), DEEP if level == 4 else DEEP.drop(0))
        for name in ("sum", "mean"):
            found = getattr(deep, name)(axis=level)
            assert found.lod == deep.lod.prefix(level - 1)
            last = np.split(np.arange(7.0), DEEP.offsets(-1)[1:-1])
            with np.errstate(all="ignore"):
                wanted = [getattr(np, name)(part) if len(part) or name == "sum" else np.nan for part in last]
            np.testing.assert_allclose(found.values, wanted)


@pytest.mark.not_on_reference
def test_index_by_a_mask_of_an_equal_or_a_nearly_equal_structure():
    for dtype in ("i1", "i2", "f4", "f8", "c16", "S3"):
        x = LoDTensor(np.arange(7).astype(dtype), DEEP)
        held = np.array([True, False, True, True, False, False, True])
        for lod in (DEEP, LoD.from_lengths(*LENGTHS)):
            found = x[LoDTensor(held, lod)]
            assert found.values.tolist() == x.values[held].tolist()
            assert found.lod.prefix(3) == DEEP.prefix(3)
            assert found.lod.lengths(3).tolist() == [2, 1, 0, 0, 1]
        same = LoD.from_lengths([2, 0, 1], [1, 2, 1], [2, 0, 1, 2], [1, 3, 0, 2, 1])
        with pytest.raises(LoDError, match="level 3"):
            x[LoDTensor(held, same)]
        with pytest.raises((TypeError, IndexError)):
            x[LoDTensor(held.astype("u1") * 5, DEEP)]
    x = lodcore.array([[1.0, 2.0], [3.0]])
    for shape in ((3, 2), (3, 1, 1)):
        with pytest.raises((ShapeError, IndexError, TypeError)):
            x[LoDTensor(np.ones(shape, bool), x.lod)]
    records = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], "?,f8")
    both = LoDTensor(records, x.lod, share=True)
    assert x[both["f0"]].tolist() == [[1.0], [3.0]]
    records["f0"] = [False, True, False]
    records["f1"] *= 10
    assert x[both["f0"]].tolist() == [[2.0], []]
    assert both["f1"][both["f0"]].tolist() == [[20.0], []]


@pytest.mark.not_on_reference
def test_fields_of_records_are_read_when_they_are_used():
    records = np.array([(1, 2.0, 3.0), (4, 5.0, 6.0), (7, 8.0, 9.0)], "i1,f8,f8")
    lod = LoD.from_lengths([1, 2])
    field = LoDTensor(records, lod, share=True)["f1"]
    calls = {
        "sum": lambda f: f.sum(axis=1),
        "to_padded": lambda f: f.to_padded(),
        "gather": lambda f: lodcore.gather_sequences(f, [1, 0]),
        "reverse": lambda f: lodcore.sequence_reverse(f),
        "take": lambda f: f[[1, 0]],
        "mask": lambda f: f[f > 0],
        "add": lambda f: f + f,
        "concat": lambda f: lodcore.concat_batches([f, f]),
        "concat rows": lambda f: lodcore.sequence_concat([f, f]),
        "softmax": lambda f: lodcore.sequence_softmax(f),
        "slice": lambda f: f[1:],
        "item": lambda f: f[1],
        "iteration": lambda f: lodcore.LoDTensor.from_arrays(list(f)),
        "tolist": lambda f: f.tolist(),
        "clone": lambda f: f.clone(),
        "mask of rows": lambda f: f[f > 5.0],
        "where": lambda f: lodcore.ops.where(f > 5.0, f, 0.0),
        "topk": lambda f: lodcore.sequence_topk(f, 1)[0],
        "sort": lambda f: lodcore.sequence_sort(f),
        "array": lambda f: lodcore.array([f, f]),
        "per step": lambda f: lodcore.TensorArray.unpack(f, 0)[0].read(0),
        "ragged": lambda f: f.flatten() if f.num_levels > 1 else f.to_arrays()[1],
    }
    for name, call in calls.items():
        call(field)  # also after values have been cached
        records["f1"] = records["f1"][::-1] + 1
        plain = LoDTensor(records["f1"].copy(), lod)
        found, wanted = call(field), call(plain)
        assert lodcore.testing.assert_equal(found, wanted) is None, name
        assert isinstance(found, type(wanted)), name


def test_joined_structures_differ_in_words_that_name_them():
    two, one = LoD.from_lengths([1], [1]), LoD.from_lengths([1])
    for call, error, says in (
        (lambda: one.concat(one, 3), DTypeError, "batch 2: is int; a LoD is needed"),
        (lambda: one.concat(two), LoDError, "batch 1: has 2 levels; the first one has 1"),
        (lambda: two.concat(two, one), LoDError, "batch 2: has 1 level; the first one has 2"),
        (lambda: one.concat(LoD.from_lengths([2**62]), LoD.from_lengths([2**62])), MemoryError, "rows with batch 2"),
        (lambda: one.offsets(1), LevelError, "level: is 1; there is 1 level"),
        (lambda: two.offsets(-3), LevelError, "level: is -3; there are 2 levels"),
        (lambda: LoD.from_offsets(num_rows=1).offsets(), LevelError, "level: is 0; there are 0 levels"),
        (lambda: lodcore.array([[1]])[1], IndexError, "index 1 is out of bounds for axis 0 with size 1"),
        (lambda: lodcore.array([[1], [2]])[-3], IndexError, "index -3 is out of bounds for axis 0 with size 2"),
    ):
        with pytest.raises(error, match=says):
            call()


#: The last sequence, or the second level, is the one that differs.
DIFFERENT = [
    ([[1, 1, 2], [1, 1, 1, 1]], [[1, 1, 3], [1, 1, 1, 1, 1]], "sequence 2 of level 0 has length 3", 1),
    ([[2], [1, 2], [1, 1, 1]], [[2], [1, 1], [1, 1]], "sequence 1 of level 1 has length 1", 2),
    ([[2], [1, 2], [1, 1, 1]], [[2], [2, 1], [1, 1, 1]], "sequence 0 of level 1 has length 2", 2),
    ([[2], [2, 2], [1, 1, 1, 1]], [[2], [2, 1], [1, 1, 1]], "sequence 1 of level 1 has length 1", 2),
    ([[1, 1]], [[1, 1, 1]], "has 3 sequences at level 0; .* has 2", 0),
    ([[1, 1, 1]], [[1, 1]], "has 2 sequences at level 0; .* has 3", 0),
    ([[1, 1]], [[2], [1, 1]], "has 2 levels; .* has 1", 0),
    ([[2], [1, 1]], [[1, 1]], "has 1 level; .* has 2", 0),
]


@for_each(("one", "other", "says", "level"), DIFFERENT)
def test_sequences_are_joined_where_coarser_levels_are_equal(one, other, says, level):
    x, y = (LoDTensor.from_lengths(np.arange(float(sum(given[-1]))), *given) for given in (one, other))
    for call in (
        lambda a, b: lodcore.sequence_concat([a, b], level),
        lambda a, b: lodcore.ops.interleave_places([a, b], level),
    ):
        with pytest.raises(LoDError, match=says):
            call(x, y)
        with pytest.raises(LoDError, match=says):
            call(x, y.astype("f4"))


def test_batches_that_are_joined_have_one_dtype_and_shape_of_rows():
    numbers = {dtype: lodcore.array([[1], [2, 3]], dtype) for dtype in ("f4", "i4", "i8", "f8")}
    for one, other in (("f4", "i4"), ("i8", "f8"), ("f8", "f4")):
        for call in (lodcore.concat_batches, lodcore.sequence_concat):
            with pytest.raises(DTypeError, match=r"xs\[1\]"):
                call([numbers[one], numbers[other]])
    for first, second in (((2,), (3,)), ((2, 3), (2, 4)), ((2, 3), (3, 2)), ((2,), (2, 1)), ((), (1,))):
        pair = [LoDTensor.from_lengths(np.zeros((1, *shape)), [1]) for shape in (first, second)]
        for call in (lodcore.concat_batches, lodcore.sequence_concat):
            with pytest.raises(ShapeError, match=r"xs\[1\]"):
                call(pair)


def test_an_array_as_long_as_the_rows_is_not_one_row_each():
    x = lodcore.array([[1.0, 2.0], [3.0, 4.0]])
    for call in (
        lambda: lodcore.ops.where(x > 1, np.zeros(4), np.array(1.0)),
        lambda: lodcore.ops.where(x > 1, np.array(1.0), np.zeros(4)),
        lambda: x + np.zeros(4),
        lambda: np.zeros(4) * x,
    ):
        with pytest.raises(ShapeError, match="has length 4 on axis 1"):
            call()
    rows = LoDTensor(np.arange(8.0).reshape(4, 2), x.lod)
    assert (rows + np.array([[[10.0]], [[20.0]]])).values[:, 0].tolist() == [10.0, 12.0, 24.0, 26.0]
    with pytest.raises(ShapeError, match="has length 4"):
        rows + np.zeros((4, 1))


#: Numbers of sequences and of rows, then the offsets of both levels; a place, a number there, and what is said of it.
WORDS = [2, 3, 3, 0, 2, 3, 0, 1, 1, 3]
WRONG_WORDS = [
    (0, -1, "level 0 has -1 sequences"),
    (0, 9, "level 0 has 9 sequences; there are 7 offsets left"),
    (0, 7, "level 0 has 7 sequences; there are 7 offsets left"),
    (0, 1, r"offsets\[0\]: is"),
    (1, -1, "level 1 has -1 sequences"),
    (1, 2, r"offsets\[0\]: is 3 at position 2; .* end at 2"),
    (1, 4, r"offsets\[0\]: is 3 at position 2; .* end at 4"),
    (2, 2, r"offsets\[1\]: is 3 at position 3; .* end at 2"),
    (2, 4, r"offsets\[1\]: is 3 at position 3; .* end at 4"),
    (2, -1, "has -1 rows; 0 or more are needed"),
    (3, 1, r"offsets\[0\]: is 1 at position 0"),
    (4, 4, r"offsets\[0\]: is"),
    (5, 2, r"offsets\[0\]: is 2 at position 2"),
    (6, -1, r"offsets\[1\]: is -1 at position 0"),
    (8, 0, r"offsets\[1\]: is 0 at position 2"),
    (9, 9, r"offsets\[1\]: is 9 at position 3"),
]


def test_memory_that_is_given_as_a_structure_is_checked():
    assert joining.lod_over(np.array(WORDS), 2) == LoD.from_lengths([2, 1], [1, 0, 2])
    assert joining.lod_over(np.array([7]), 0) == LoD.from_offsets(num_rows=7)
    assert joining.lod_over(np.array([0, 0, 0]), 1) == LoD.from_lengths([])
    for place, number, says in WRONG_WORDS:
        words = np.array(WORDS)
        words[place] = number
        with pytest.raises(LoDError, match=says):
            joining.lod_over(words, 2)
    for levels in (-1, 10, 11):
        with pytest.raises(LoDError, match=f"has {levels} levels; there are 10 numbers"):
            joining.lod_over(np.array(WORDS), levels)
    with pytest.raises(LoDError, match="level 1 has 3 sequences; there are 3 offsets left"):
        joining.lod_over(np.array(WORDS[:-1]), 2)


@pytest.mark.not_on_reference
def test_an_array_for_the_first_of_two_results_is_that_result():
    x = lodcore.array([[1.0, 2.0], [3.0]])
    out = np.empty((2, 2))
    dense, lengths = lodcore.sequence_pad(x, out=out)
    assert dense is out
    assert (dense.tolist(), lengths.tolist()) == ([[1.0, 2.0], [3.0, 0.0]], [2, 1])
    rows = np.empty(3)
    steps, _ = lodcore.TensorArray.unpack(x, 0, out=rows)
    assert rows.tolist() == [1.0, 3.0, 2.0]
    assert [step.tolist() for step in steps] == [[1.0, 3.0], [2.0]]
