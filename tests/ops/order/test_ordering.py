"""Sorting of rows, texts and complex numbers, compared with NumPy sequence by sequence."""

from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, sequence_argsort, sequence_sort, sort_by_key, vjp
from lodcore.tensors import lod_body
from tests.helpers.agree import same
from tests.helpers.tables import for_each


def parts(x, level):
    """List the rows below each sequence of a level."""
    return [x.values[start:stop] for start, stop in pairwise(x.lod.row_offsets(level))]


COMPLEX = [complex(a, b) for a in (1, 0, -0.0, np.nan, -np.inf) for b in (np.nan, 1, 0, -0.0, np.inf)]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_are_sorted_and_ranked_as_by_numpy(dtype):
    """By real parts, then by imaginary parts; those with nan after all others, by the parts that are nan."""
    numbers = np.random.default_rng(0).permutation(np.array(COMPLEX * 2, dtype))
    x = LoDTensor.from_lengths(numbers, [20, 0, 1, 29])
    for part, order, kept in zip(x.to_arrays(), sequence_argsort(x), sequence_sort(x), strict=True):
        np.testing.assert_array_equal(order, np.argsort(part, kind="stable"))
        assert kept.tobytes() == part[order].tobytes()
    for part, rank in zip(x.to_arrays(), lodcore.sequence_rank(x, "dense"), strict=True):
        np.testing.assert_array_equal(rank - 1, np.unique(part, return_inverse=True)[1])
    places = lodcore.sequence_searchsorted(sequence_sort(x), x, "right")
    known = lodcore.sequence_unique(x)
    for part, found, different in zip(x.to_arrays(), places, known, strict=True):
        known_ones = ~np.isnan(part)
        np.testing.assert_array_equal(found[known_ones], np.searchsorted(np.sort(part), part[known_ones], "right"))
        np.testing.assert_array_equal(different, np.unique(part))
    assert lodcore.sequence_n_unique(x).tolist() == [len(np.unique(part)) for part in x.to_arrays()]


DATES = np.array(["2024-02-01", "NaT", "2023-01-01", "2024-02-01", "2025-06-07", "1969-01-01"], "M8[s]")


@for_each("k", [0, 1, 2, 9])
@for_each("level", [0, 1])
@for_each(
    "rows", [DATES, DATES - DATES[0], np.array([*"bacbb", "ab"]), np.array(COMPLEX[-6:]), np.stack([DATES] * 2, 1)]
)
def test_greatest_rows_are_the_first_of_all_in_descending_order(rows, level, k):
    x = LoDTensor.from_lengths(np.concatenate([rows, rows[::-1]]), [2, 0, 1], [4, 3, 5])
    values, positions = lodcore.sequence_topk(x, k, level)
    assert (values.dtype, values.num_levels) == (x.dtype, level + 1)
    assert values.lod == positions.lod
    ordered = sequence_sort(x, level, descending=True)
    for part, every, found, at in zip(
        parts(x, level), parts(ordered, level), parts(values, level), parts(positions, level), strict=True
    ):
        assert found.tobytes() == every[:k].tobytes()
        assert np.take_along_axis(part, at, 0).tobytes() == found.tobytes()


def test_gradient_of_the_greatest_complex_numbers_is_put_back():
    x = lodcore.array([[3 + 1j, 1 + 2j, 1 + 1j], []])
    _, pullback = vjp(lambda x: lodcore.sequence_topk(x, 2)[0], x)
    assert pullback(np.array([1 + 5j, 10]))[0].values.tolist() == [1 + 5j, 10, 0]


def test_gradient_of_sorted_complex_numbers_has_their_previous_order():
    x = lodcore.array([[3 + 1j, 1 + 2j, 1 + 1j], []])
    _, pullback = vjp(sequence_sort, x)
    assert pullback(np.array([1 + 5j, 10, 100j]))[0].values.tolist() == [100j, 10, 1 + 5j]


def test_sort_by_a_key():
    x = lodcore.array([[[1], [2, 3], []], [[4, 5, 6], [7]]])
    lengths = LoDTensor(x.lod.lengths(1), lod_body.slice_levels(x.lod, 0, 1))
    assert sort_by_key(x, lengths).tolist() == [[[], [1], [2, 3]], [[7], [4, 5, 6]]]
    assert sort_by_key(x, lengths, descending=True).tolist() == [[[2, 3], [1], []], [[4, 5, 6], [7]]]
    assert same(sort_by_key(x, x), sequence_sort(x))
    text = lodcore.array([["b", "a"], ["c"]])
    _, pullback = vjp(lambda x: sort_by_key(x, text), lodcore.array([[1.0, 2.0], [3.0]]))
    assert pullback(np.array([10.0, 20.0, 30.0]))[0].values.tolist() == [20, 10, 30]
    with pytest.raises(lodcore.ShapeError, match="key: has rows of 1 axes"):
        sort_by_key(x, LoDTensor(np.ones((x.num_rows, 2)), x.lod))
    with pytest.raises(lodcore.LoDError, match="key: has no levels"):
        sort_by_key(x, np.ones(2))


WRONG_KEYS = [
    ([[1.0, 2.0, 3.0], [], [4.0]], [[2, 1], [], [1]], "key: sequence 0 of level 0 has length 2; that of x has 3"),
    ([[1.0, 2.0], [3.0]], [[1], [2, 3]], "key: sequence 0 of level 0 has length 1; that of x has 2"),
    ([[1.0, 2.0], [3.0]], [[2, 1, 3]], "key: has 1 sequences at level 0; x has 2"),
    ([[[1], [2, 3], [9]], [[4]]], [[2, 1], [7]], "key: sequence 0 of level 0 has length 2; that of x has 3"),
    ([[1, 2], [3]], [[[1], [2]], [[3]]], "key: has 2 levels; x has 1"),
]


@pytest.mark.parametrize(("x", "key", "says"), WRONG_KEYS)
def test_a_key_of_other_sequences_is_refused(x, key, says):
    x, key = lodcore.array(x), lodcore.array(key)

    def in_a_program():
        with lodcore.Program() as program:
            xs, keys = (lodcore.data(name, (None,), v.dtype, v.num_levels) for name, v in (("x", x), ("key", key)))
            made = sort_by_key(xs, keys)
        return lodcore.Executor().run(program, {"x": x, "key": key}, [made])

    for call in (lambda: sort_by_key(x, key), in_a_program):
        with pytest.raises(lodcore.LoDError, match=f"^sort_by_key: {says}"):
            call()


@pytest.mark.twins
@for_each("size", range(1, 27))
@pytest.mark.parametrize("kind", ["S", "U"])
@pytest.mark.parametrize("descending", [False, True])
def test_texts_of_every_size_are_sorted_as_by_python(size, kind, descending):
    """Texts with equal beginnings that differ in one character only: at any position, and beyond the end of a key."""
    texts = ["a" * size, *("a" * at + letter + "a" * (size - at - 1) for at in range(size) for letter in "bAz")]
    texts += ["a" * at for at in range(1, size)] + texts[::3]
    column = np.array(texts, f"{kind}{size}")[np.random.default_rng(size).permutation(len(texts))]
    x = LoDTensor.from_lengths(column, [0, len(column)])
    wanted = sorted(range(len(column)), key=column.__getitem__, reverse=descending)
    np.testing.assert_array_equal(sequence_argsort(x, descending=descending).values, wanted)
    np.testing.assert_array_equal(sequence_sort(x, descending=descending).values, column[wanted])
