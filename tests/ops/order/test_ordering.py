"""Sorting of rows and quantiles, compared with NumPy sequence by sequence."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, sequence_argsort, sequence_median, sequence_quantile, sequence_sort, sort_by_key, vjp
from lodcore.ops.reduce.quantiles import METHODS, TAKING
from lodcore.tensors import core
from tests.helpers.agree import same
from tests.helpers.tables import for_each
from tests.samples.sort import tensors, texts


def parts(x, level):
    """List the rows below each sequence of a level."""
    return [x.values[start:stop] for start, stop in pairwise(x.lod.row_offsets(level))]


@given(tensors() | texts(), st.data())
def test_order_as_numpy(x, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    order, kept = sequence_argsort(x, level), sequence_sort(x, level)
    assert order.lod is x.lod
    assert kept.dtype == x.dtype
    for rows, places, ones in zip(parts(x, level), parts(order, level), parts(kept, level), strict=True):
        want = np.argsort(rows, axis=0, kind="stable")
        np.testing.assert_array_equal(places, want)
        assert ones.tobytes() == np.take_along_axis(rows, want, 0).tobytes()


@given(tensors() | texts(), st.data())
def test_the_descending_order_is_stable(x, data):
    level = data.draw(st.integers(-x.num_levels, x.num_levels - 1))
    order, kept = sequence_argsort(x, level, True), sequence_sort(x, level, True)
    for rows, places, ones in zip(parts(x, level), parts(order, level), parts(kept, level), strict=True):
        want = len(rows) - 1 - np.argsort(rows[::-1], axis=0, kind="stable")[::-1]
        np.testing.assert_array_equal(places, want)
        assert ones.tobytes() == np.take_along_axis(rows, want, 0).tobytes()


COMPLEX = [complex(a, b) for a in (1, 0, -0.0, np.nan, -np.inf) for b in (np.nan, 1, 0, -0.0, np.inf)]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_stand_as_in_numpy(dtype):
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


def test_gradients_of_complex_numbers_go_where_they_were():
    x = lodcore.array([[3 + 1j, 1 + 2j, 1 + 1j], []])
    _, pullback = vjp(sequence_sort, x)
    assert pullback(np.array([1 + 5j, 10, 100j]))[0].values.tolist() == [100j, 10, 1 + 5j]


def quantiles(part, chances, method):
    """By NumPy's definitions, except "closest_observation" by its own: NumPy 2.0 counts its positions from 0."""
    if method != "closest_observation":
        return np.quantile(part, chances, method=method)
    place = len(part) * chances - 0.5
    below = np.floor(place)
    place = below + ((place > below) | (below % 2 == 1))  # between two, the even one
    return np.sort(part)[np.clip(place.astype(int), 1, len(part)) - 1]


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_quantiles_as_numpy(method, dtype):
    random = np.random.default_rng(3)
    lengths = [1, 2, 3, 4, 5, 8, 11, 40, 101]
    values = random.integers(0, 9, sum(lengths)).astype(dtype)
    x = LoDTensor.from_lengths(values if dtype[0] != "f" else (values / 4).astype(dtype), lengths)
    chances = [0, 0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1]
    found = sequence_quantile(x, chances, method)
    want = np.stack([quantiles(part, np.array(chances), method) for part in x.to_arrays()])
    assert found.shape == want.shape
    assert found.dtype == (x.dtype if dtype[0] == "f" or method in TAKING else np.float64)
    np.testing.assert_allclose(found, want, rtol=1e-6 if dtype == "f4" else 1e-13)


def test_quantiles_where_there_are_nan():
    x = lodcore.array([[1.0, np.nan, 4.0], [], [np.nan], [2.0, 3.0], [np.inf, np.inf]])
    np.testing.assert_array_equal(sequence_median(x), [np.nan, np.nan, np.nan, 2.5, np.inf])
    np.testing.assert_array_equal(sequence_median(x, skip_nan=True), [2.5, np.nan, np.nan, 2.5, np.inf])
    wide = LoDTensor.from_lengths(np.array([[1.0, np.nan], [3.0, 5.0]]), [2])
    np.testing.assert_array_equal(sequence_median(wide), [[2.0, np.nan]])
    np.testing.assert_array_equal(sequence_quantile(wide, [0, 1], skip_nan=True), [[[1, 5], [3, 5]]])


def test_medians_beside_infinity():
    """As in np.median; np.quantile returns nan there."""
    parts = [[1.0, 2, np.inf, np.inf], [-np.inf, 1.0], [-np.inf, np.inf], [-1.7e308, 1.7e308]]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sequence_median(parts), [np.median(part) for part in parts])
    np.testing.assert_array_equal(sequence_quantile(parts[:2], 0.25), [1.75, -np.inf])


def test_gradients_go_to_the_neighbours():
    x = lodcore.array([[3.0, 1.0, 2.0, 7.0], [], [5.0]])
    _, pullback = vjp(lambda x: sequence_quantile(x, [0.5, 1]), x)
    d = np.array([[2.0, 1.0], [9.0, 9.0], [1.0, 1.0]])
    assert pullback(d)[0].values.tolist() == [1, 0, 1, 1, 2]


def test_sort_by_a_key():
    x = lodcore.array([[[1], [2, 3], []], [[4, 5, 6], [7]]])
    lengths = LoDTensor(x.lod.lengths(1), core.slice_levels(x.lod, 0, 1))
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


def test_threads_change_nothing(monkeypatch):
    random = np.random.default_rng(1)
    lengths = random.integers(0, 20, 60)
    text = LoDTensor.from_lengths(random.choice(["abcdefghijk", "abcdefghijl", "abc", ""], lengths.sum()), lengths)

    def run():
        return [sequence_sort(text), sequence_sort(text, descending=True), sequence_argsort(text)]

    whole = run()
    monkeypatch.setattr(lodcore.base.threads, "WIDE", 1)
    lodcore.set_num_threads(2)
    try:
        in_parts = run()
    finally:
        lodcore.set_num_threads(1)
    for one, other in zip(whole, in_parts, strict=True):
        assert same(one, other)


@pytest.mark.twins
@for_each("size", range(1, 27))
@pytest.mark.parametrize("kind", ["S", "U"])
@pytest.mark.parametrize("descending", [False, True])
def test_texts_of_every_size_stand_as_numpy_sorts_them(size, kind, descending):
    """Texts with equal beginnings that differ in one character only: at any position, and beyond the end of a key."""
    texts = ["a" * size, *("a" * at + letter + "a" * (size - at - 1) for at in range(size) for letter in "bAz")]
    texts += ["a" * at for at in range(1, size)] + texts[::3]
    column = np.array(texts, f"{kind}{size}")[np.random.default_rng(size).permutation(len(texts))]
    x = LoDTensor.from_lengths(column, [0, len(column)])
    wanted = sorted(range(len(column)), key=column.__getitem__, reverse=descending)
    np.testing.assert_array_equal(sequence_argsort(x, descending=descending).values, wanted)
    np.testing.assert_array_equal(sequence_sort(x, descending=descending).values, column[wanted])


@pytest.mark.parametrize("method", ["averaged_inverted_cdf", "hazen", "weibull", "linear"])
def test_nothing_lies_above_the_last_number_that_is_not_nan(method):
    x = lodcore.array([[1.0, 2.0, np.nan], [np.nan, 3.0]])
    assert lodcore.sequence_quantile(x, 1.0, method, skip_nan=True).tolist() == [2.0, 3.0]


def test_interpolation_between_equal_points_has_finite_gradients():
    """Also at the points, before the first and after the last; nothing warns."""
    x, xp = lodcore.array([[0.0, 1.0, 1.5, 2.0, 9.0], [5.0]]), lodcore.array([[1.0, 1.0, 2.0, 2.0], [5.0, 5.0]])
    fp = lodcore.array([[1.0, 3.0, 7.0, 8.0], [2.0, 4.0]])
    found, pullback = vjp(lodcore.sequence_interp, x, xp, fp)
    assert found.tolist() == [[1.0, 3.0, 5.0, 8.0, 8.0], [4.0]]
    d_x, d_xp, d_fp = pullback(found.with_values(np.ones(6)))
    assert d_x.tolist() == [[0.0, 4.0, 4.0, 0.0, 0.0], [0.0]]
    assert np.isfinite(d_xp.values).all()
    assert d_fp.tolist() == [[1.0, 1.5, 0.5, 2.0], [0.0, 1.0]]
