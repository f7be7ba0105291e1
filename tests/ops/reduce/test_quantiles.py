"""Quantiles and medians, compared with NumPy: methods, nan, infinities, axes, gradients."""

import itertools
from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops, sequence_median, sequence_quantile, vjp
from lodcore.ops.reduce import quantiles as quantiles_of_sequences
from lodcore.ops.reduce.quantiles import METHODS, TAKING
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each("method", METHODS)
def test_quantiles_equal_numpy_at_and_beside_the_limits_of_each_method(method):
    for count in range(1, 9):
        limits = np.arange(count + 1) / count
        chances = np.unique(np.clip([limits, limits + 1e-4, limits - 1e-4, np.nextafter(limits, 2)], 0, 1))
        column = np.random.default_rng(count).permutation(count) * 1.5
        found = lodcore.sequence_quantile(
            LoDTensor.from_lengths(np.append(column, column), [count] * 2), chances, method
        )
        wanted = np.quantile(column, chances, method=method)
        np.testing.assert_allclose(found, [wanted] * 2, rtol=1e-12, atol=1e-12)


@pytest.mark.not_on_reference
def test_quantile_with_one_nan_at_any_place_with_and_without_skip_nan():
    for (count, width), skip in itertools.product(itertools.product(range(1, 5), (1, 2, 3)), (True, False)):
        for row, column in itertools.product(range(count), range(width)):
            values = np.arange(1.0, 2 * count * width + 1).reshape(2 * count, width)
            values[count + row, column] = np.nan
            found = lodcore.sequence_quantile(LoDTensor.from_lengths(values, [count, count]), 0.4, skip_nan=skip)
            for part, one in zip(np.split(values, 2), found, strict=True):
                kept = [c[~np.isnan(c)] if skip else c for c in part.T]
                np.testing.assert_allclose(one, [np.quantile(c, 0.4) if len(c) else np.nan for c in kept])


@pytest.mark.not_on_reference
@for_each(("q", "axis"), list(itertools.product((0.3, [0.2, 0.7], []), (1, (0, 1), (1, 2), (0, 1, 2)))))
def test_quantile_over_axes_of_levels_and_rows_equals_numpy(q, axis):
    dense = np.random.default_rng(0).normal(size=(2, 4, 3))
    x = LoDTensor.from_lengths(dense.reshape(8, 3), [4, 4])
    np.testing.assert_allclose(ops.quantile(x, q, axis), np.quantile(dense, q, axis))


@pytest.mark.not_on_reference
@for_each("method", ["lower", "higher", "nearest", "inverted_cdf", "closest_observation"])
def test_sequence_quantile_of_integers_beyond_float64_is_exact(method):
    for dtype, most in (("u8", 2**64 - 1), ("i8", 2**63 - 1), ("i8", -(2**63) + 2)):
        values = np.array([most - 2, most, most - 1], dtype)
        found = lodcore.sequence_quantile(lodcore.array([values, values[:1]]), [0.0, 1.0], method)
        assert found.dtype == dtype
        assert found.tolist() == [[most - 2, most], [most - 2, most - 2]]


def parts(x, level):
    """List the rows below each sequence of a level."""
    return [x.values[start:stop] for start, stop in pairwise(x.lod.row_offsets(level))]


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
def test_sequence_quantile_by_every_method_equals_numpy(method, dtype):
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


def test_median_and_quantile_with_nan_propagate_or_skip_it():
    x = lodcore.array([[1.0, np.nan, 4.0], [], [np.nan], [2.0, 3.0], [np.inf, np.inf]])
    np.testing.assert_array_equal(sequence_median(x), [np.nan, np.nan, np.nan, 2.5, np.inf])
    np.testing.assert_array_equal(sequence_median(x, skip_nan=True), [2.5, np.nan, np.nan, 2.5, np.inf])
    wide = LoDTensor.from_lengths(np.array([[1.0, np.nan], [3.0, 5.0]]), [2])
    np.testing.assert_array_equal(sequence_median(wide), [[2.0, np.nan]])
    np.testing.assert_array_equal(sequence_quantile(wide, [0, 1], skip_nan=True), [[[1, 5], [3, 5]]])


def test_sequence_median_beside_infinity_equals_numpy():
    """As in np.median; np.quantile returns nan there."""
    parts = [[1.0, 2, np.inf, np.inf], [-np.inf, 1.0], [-np.inf, np.inf], [-1.7e308, 1.7e308]]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sequence_median(parts), [np.median(part) for part in parts])
    np.testing.assert_array_equal(sequence_quantile(parts[:2], 0.25), [1.75, -np.inf])


def test_sequence_quantile_gradient_goes_to_the_rows_on_both_sides():
    x = lodcore.array([[3.0, 1.0, 2.0, 7.0], [], [5.0]])
    _, pullback = vjp(lambda x: sequence_quantile(x, [0.5, 1]), x)
    d = np.array([[2.0, 1.0], [9.0, 9.0], [1.0, 1.0]])
    assert pullback(d)[0].values.tolist() == [1, 0, 1, 1, 2]


@pytest.mark.parametrize("method", ["averaged_inverted_cdf", "hazen", "weibull", "linear"])
def test_sequence_quantile_of_1_with_skip_nan_is_the_greatest_number(method):
    x = lodcore.array([[1.0, 2.0, np.nan], [np.nan, 3.0]])
    assert lodcore.sequence_quantile(x, 1.0, method, skip_nan=True).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("axis", [1, 2, (1, 2), (0, 1, 2)])
def test_kept_axes_of_several_quantiles_are_the_same_when_recorded(axis):
    x = lodcore.array([[[1.0, 2.0], [3.0]], [[4.0]]])
    if axis == 1:  # whose kept axis is that of a level: one quantile at a time
        with pytest.raises(TypeError, match="keepdims: goes with one quantile"):
            np.quantile(x, [0.25, 0.5, 0.75], axis=axis, keepdims=True)
        return
    at_once = np.quantile(x, [0.25, 0.5, 0.75], axis=axis, keepdims=True)
    recorded, _ = vjp(lambda x: np.quantile(x, [0.25, 0.5, 0.75], axis=axis, keepdims=True), x)
    assert recorded.shape == at_once.shape
    np.testing.assert_array_equal(values_of(recorded), values_of(at_once))


@pytest.mark.not_on_reference
@for_each(("dtype", "skip_nan"), [*itertools.product(["f2", "f4", "f8"], [False, True]), *((d, False) for d in "?bQ")])
def test_quantiles_of_long_sequences_have_the_bits_of_those_of_sorted_ones(monkeypatch, dtype, skip_nan):
    rng = np.random.default_rng(0)
    for j, method in enumerate([*METHODS] * 4):
        lengths = rng.integers(0, [12, 6, 40][j % 3], 9)
        values = rng.integers(-4, 5, (lengths.sum(), 1 + j % 2)) if j % 4 else rng.normal(size=(lengths.sum(), 2))
        with np.errstate(invalid="ignore"):
            values = values.astype(dtype)
        if np.dtype(dtype).kind == "f":
            values = np.where(rng.random(values.shape) < 0.3, -values, values)  # some zeros have a sign
            values[rng.random(values.shape) < 0.02] = np.nan
            values[rng.random(values.shape) < 0.02] = np.inf
        elif method in TAKING:
            lengths = lengths[lengths > 0]  # an empty sequence has no integer
        x, chances = LoDTensor.from_lengths(values, lengths), rng.random([1, 2, 7][j % 3])
        monkeypatch.setattr(quantiles_of_sequences, "LONG", 10**6)
        wanted = sequence_quantile(x, chances, method, skip_nan=skip_nan)
        monkeypatch.setattr(quantiles_of_sequences, "LONG", 6)
        found = sequence_quantile(x, chances, method, skip_nan=skip_nan)
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.not_on_reference
@for_each("dtype", ["f4", "f8", "i8", "u1"])
def test_medians_of_a_long_sequence_between_short_ones_equal_numpy(dtype):
    rng = np.random.default_rng(0)
    lengths = [3, 0, 70000, 2, 66000]
    values = (100 * rng.normal(size=sum(lengths))).astype(dtype)
    x = LoDTensor.from_lengths(values, lengths)
    wanted = [[np.median(part) if len(part) else np.nan for part in x], [np.median(values)]]
    found = [sequence_median(x), [np.median(x)]]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2 * np.finfo(np.asarray(one).dtype).eps)


@pytest.mark.not_on_reference
def test_long_sequences_without_quantiles_or_columns_have_empty_results():
    x = LoDTensor.from_lengths(np.ones(2**16), [2**16])
    assert sequence_quantile(x, []).shape == (1, 0)
    assert np.median(x.with_values(np.ones((2**16, 0))), axis=1).shape == (1, 0)


def test_uneven_probabilities_are_refused():
    for function in (lodcore.ops.quantile, lodcore.ops.nanquantile):
        with pytest.raises(lodcore.ShapeError, match=f"^{function.__name__}: q: is nested unevenly"):
            function(lodcore.array([[1.0], [2.0]]), [[0.5], [0.1, 0.2]], axis=1)
