"""NumPy's functions of neighbours, compared with NumPy sequence by sequence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from tests.samples.common import batches

X = lodcore.array([[3.0, 1.0, 4.0], [], [1.0, 5.0]])
NUMBERS = batches(["f8", "f4", "i8", "i2", "u1", "?"], max_levels=2)
UFUNCS = [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.subtract, np.hypot, np.logical_and, np.bitwise_xor]


def each(function, x):
    """Call a function on the rows of each sequence of the last level, and join the results."""
    parts = np.split(x.values, x.lod.offsets(-1)[1:-1]) if x.lod.num_sequences(-1) else []
    made = [function(part) for part in parts]
    return np.concatenate(made) if made else np.zeros((0, *x.values.shape[1:]))


@given(NUMBERS, st.sampled_from(UFUNCS))
def test_ufunc_accumulate_of_any_dtype_equals_numpy(x, ufunc):
    try:
        ufunc.accumulate(np.ones(2, x.dtype))
    except TypeError:
        with pytest.raises(lodcore.DTypeError, match="cannot accumulate"):
            ufunc.accumulate(x, axis=x.num_levels)
        return
    with np.errstate(all="ignore"):
        found, want = ufunc.accumulate(x, axis=x.num_levels), each(lambda part: ufunc.accumulate(part), x)
    assert found.lod is x.lod
    assert found.dtype == (want.dtype if len(want) else found.dtype)
    np.testing.assert_allclose(found.values, want, rtol=1e-6)


def test_accumulate_long_sequences():
    random = np.random.default_rng(1)
    x = LoDTensor.from_lengths(random.normal(size=1500), [600, 0, 300, 257, 256, 87])
    for ufunc in (np.hypot, np.fmax, np.subtract):
        np.testing.assert_array_equal(ufunc.accumulate(x, axis=1).values, each(ufunc.accumulate, x))


def test_accumulate_without_nan():
    x = lodcore.array([[3.0, np.nan, 2.0], [], [np.nan]])
    assert np.nancumsum(x, axis=1).tolist() == [[3, 3, 5], [], [0]]
    assert np.nancumprod(x, axis=-1).tolist() == [[3, 3, 6], [], [1]]
    with pytest.raises(TypeError, match="nancumsum: axis: is None"):
        np.nancumsum(x)


def test_accumulate_along_rows():
    wide = LoDTensor.from_lengths(np.arange(6).reshape(2, 3), [2])
    assert np.add.accumulate(wide, axis=2).values.tolist() == [[0, 1, 3], [3, 7, 12]]
    assert np.cumprod(X, axis=1).tolist() == [[3, 3, 12], [], [1, 5]]
    assert X.cumprod(axis=-1).tolist() == [[3, 3, 12], [], [1, 5]]


@given(NUMBERS, st.integers(0, 3))
def test_diff_of_any_order_equals_numpy(x, n):
    found = np.diff(x, n, axis=x.num_levels)
    with np.errstate(all="ignore"):
        want = each(lambda part: np.diff(part, n, axis=0) if len(part) else part, x)
    np.testing.assert_array_equal(found.values, want)
    lengths = np.maximum(x.lod.lengths(-1) - n, 0)
    assert found.lod.lengths(-1).tolist() == lengths.tolist()


@pytest.mark.parametrize("n", range(5))
def test_diff_of_bool_compares_at_each_time(n):
    rows = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [0, 0], [1, 1]], bool)
    found = np.diff(LoDTensor.from_lengths(rows, [0, 6, 0]), n, axis=1)
    np.testing.assert_array_equal(found[1], np.diff(rows, n, axis=0))
    assert found.dtype == bool


def test_diff_with_prepend_and_append():
    assert np.diff(X, prepend=0.0).tolist() == [[3, -2, 3], [], [1, 4]]
    assert np.diff(X, append=1).tolist()[0] == [-2, 3, -3]
    assert np.diff(X, prepend=X[:, :1], append=9)[2].tolist() == [0, 4, 4]
    dates = lodcore.array([["2020-01-01", "2020-01-03", "NaT"], []], np.dtype("M8[D]"))
    found = np.diff(dates, axis=1)
    assert found.dtype == np.dtype("m8[D]")
    assert found.values.astype(int).tolist() == [2, -(2**63)]
    wide = LoDTensor.from_lengths(np.array([[1, 4, 9], [2, 3, 5]]), [2])
    assert np.diff(wide, axis=2).values.tolist() == [[3, 5], [1, 2]]


def test_interp_and_searchsorted():
    xp, fp = lodcore.array([[1.0, 2.0], [0.0], [0.0, 10.0]]), lodcore.array([[10.0, 20.0], [7.0], [0.0, 1.0]])
    found = np.interp(X, xp, fp)
    want = [np.interp(*part) for part in zip(X.to_arrays(), xp.to_arrays(), fp.to_arrays(), strict=True)]
    np.testing.assert_allclose(found.values, np.concatenate(want))
    np.testing.assert_allclose(np.interp(X, [0, 10], [0.0, 1.0]).values, X.values / 10)
    ordered = np.sort(X)
    for side in ("left", "right"):
        places = np.searchsorted(ordered, X, side)
        want = [np.searchsorted(*part, side) for part in zip(ordered.to_arrays(), X.to_arrays(), strict=True)]
        assert places.values.tolist() == np.concatenate(want).tolist()
    assert np.searchsorted(np.array([2.0, 4.0]), X).tolist() == [[1, 0, 1], [], [0, 2]]


WRONG = [
    (lambda: np.maximum.accumulate(X, out=X), TypeError, "maximum.accumulate: out: is not supported"),
    (lambda: np.cumprod(X), TypeError, "cumprod: axis: is None"),
    (lambda: np.diff(X, axis=0), lodcore.LoDError, "diff: axis: is 0; consecutive sequences are not equally"),
    (lambda: np.diff(X, prepend=[1, 2]), TypeError, "diff: prepend or append"),
    (lambda: np.interp(X, X, X, left=0), TypeError, "interp: left: is not supported"),
    (lambda: np.searchsorted(X, X, sorter=[0]), TypeError, "searchsorted: sorter"),
    (lambda: lodcore.vjp(lambda x: np.hypot.accumulate(x, axis=1), X)[1](X), lodcore.DTypeError, "hypot: has no vjp"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_wrong_calls_of_functions_of_neighbours_raise(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("option", ["left", "right", "period"])
@pytest.mark.parametrize("nested", ["xp", "fp", "both"])
def test_points_of_each_sequence_have_no_options(option, nested):
    x, points = lodcore.array([[0.5, 1.5], [1.0]]), lodcore.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    with pytest.raises(TypeError, match=f"interp: {option}"):
        np.interp(x, points, points * 2, **{option: 3.0})
    assert np.interp(x, points, points * 2).tolist() == [[1.0, 3.0], [2.0]]
