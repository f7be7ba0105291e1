"""NumPy's functions of order, quantiles, and reductions that ignore nan, compared with NumPy sequence by sequence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, Executor, LoD, LoDError, LoDTensor, Program, data, grad_check, ops
from tests.helpers.agree import same
from tests.samples.common import full_batches

NAN, INF = np.nan, np.inf
X = lodcore.array([[3.0, NAN, 1.0], [2.0], [NAN, 5.0, 5.0, -1.0]])
WITH_EMPTY = lodcore.array([[1.0, NAN], [], [NAN], [-INF, NAN, 4.0]])
TWO_LEVELS = lodcore.array([[[3.0, 1.0], [NAN]], [[2.0, 2.0, 7.0]]])


def by_sequence(function, x):
    """Call a function of NumPy on each sequence."""
    return [function(part) for part in x.to_arrays()]


LEAVING_NAN = [
    (np.nansum, lambda x: np.nansum(x, axis=1)),
    (np.nanprod, lambda x: np.nanprod(x, axis=1)),
    (np.nanmean, lambda x: np.nanmean(x, axis=1)),
    (np.nanvar, lambda x: np.nanvar(x, axis=1)),
    (np.nanstd, lambda x: np.nanstd(x, axis=1)),
    (np.nanmax, lambda x: np.nanmax(x, axis=1)),
    (np.nanmin, lambda x: np.nanmin(x, axis=1)),
    (np.nanargmax, lambda x: np.nanargmax(x, axis=1)),
    (np.nanargmin, lambda x: np.nanargmin(x, axis=1)),
    (np.nanmedian, lambda x: np.nanmedian(x, axis=1)),
    (np.median, lambda x: np.median(x, axis=1)),
]


@pytest.mark.parametrize(("function", "call"), LEAVING_NAN, ids=[function.__name__ for function, _ in LEAVING_NAN])
def test_reductions_as_numpy(function, call):
    np.testing.assert_allclose(call(X), by_sequence(function, X), rtol=1e-14)
    whole = X.astype(np.int64) if function is None else X[1:2]
    np.testing.assert_allclose(call(whole), by_sequence(function, whole), rtol=1e-14)
    numbers = lodcore.array([[3, 1, 2], [7]])
    np.testing.assert_allclose(call(numbers), by_sequence(function, numbers), rtol=1e-14)


def test_reductions_of_all_values_and_of_coarser_axes():
    values = X.values
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"):
        function = getattr(np, name)
        np.testing.assert_allclose(function(X), function(values), rtol=1e-14)
        padded = X.to_padded(np.nan)
        np.testing.assert_allclose(function(X, axis=0), function(getattr(padded, "values", padded), axis=0), rtol=1e-14)
    wide = LoDTensor.from_lengths(np.array([[1.0, NAN], [3.0, 4.0], [NAN, 6.0]]), [2, 1])
    np.testing.assert_array_equal(np.nansum(wide, axis=1), [[4, 4], [0, 6]])
    np.testing.assert_array_equal(np.nanmax(wide, axis=1), [[3, 4], [NAN, 6]])
    np.testing.assert_array_equal(np.nanstd(wide, axis=1), [[1, 0], [NAN, 0]])
    np.testing.assert_array_equal(np.nanmax(wide, axis=2).values, [1, 4, 6])
    assert np.nansum(X, axis=1, keepdims=True).tolist() == [[4], [2], [9]]


def test_nan_reductions_of_sequences_without_numbers():
    np.testing.assert_array_equal(np.nansum(WITH_EMPTY, axis=1), [1, 0, 0, -INF])
    np.testing.assert_array_equal(np.nanmean(WITH_EMPTY, axis=1), [1, NAN, NAN, -INF])
    np.testing.assert_array_equal(np.nanmedian(WITH_EMPTY, axis=1), [1, NAN, NAN, -INF])
    full = WITH_EMPTY[[0, 2, 3]]
    np.testing.assert_array_equal(np.nanmax(full, axis=1), [1, NAN, 4])
    np.testing.assert_array_equal(np.nanmin(full, axis=1), [1, NAN, -INF])
    assert np.nanargmax(lodcore.array([[NAN, -INF, -INF], [1.0]]), axis=1).tolist() == [1, 0]
    assert np.nanargmin(lodcore.array([[NAN, INF, 2.0], [1.0]]), axis=1).tolist() == [2, 0]
    with pytest.raises(ValueError, match="sequence 1 of level 0 is empty, or has only nan; an element"):
        np.nanargmax(full, axis=1)
    with pytest.raises(ValueError, match="sequence 1 of level 0 is empty"):
        np.nanmax(WITH_EMPTY, axis=1)


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanprod", "nanmedian"])
def test_gradients_of_nan_reductions_equal_those_without_nan(name):
    function, x = getattr(np, name), lodcore.array([[3.0, NAN, 1.5], [2.0, 0.5], [NAN, 5.0, 4.0, -1.0]])
    numbers = lodcore.array([[3.0, 1.5], [2.0, 0.5], [5.0, 4.0, -1.0]])
    out, pullback = lodcore.vjp(lambda x: function(x, axis=1), x)
    want, pullback_of_numbers = lodcore.vjp(lambda x: function(x, axis=1), numbers)
    np.testing.assert_allclose(out, want)
    d = np.array([1.0, 2.0, 3.0])
    gradient, expected = pullback(d)[0], pullback_of_numbers(d)[0]
    np.testing.assert_allclose(gradient.values[~np.isnan(x.values)], expected.values)
    assert not gradient.values[np.isnan(x.values)].any()
    grad_check(lambda x: function(x, axis=1), numbers)


def test_percentages_that_are_no_numbers_are_refused():
    own = np.empty(1, object)
    own[0] = own  # with which NumPy would compute until the stack ends
    for function in (np.percentile, np.nanpercentile):
        for wrong, kind in ((own, "object"), ("50", "<U2"), (np.timedelta64(50, "s"), "timedelta64")):
            with pytest.raises(DTypeError, match=rf"numpy.{function.__name__}: q: has dtype {kind}"):
                function(X, wrong, axis=1)


def test_quantiles_have_the_axes_of_numpy():
    x, chances = lodcore.array([[3.0, 8.0, 1.0], [2.0]]), [0.1, 0.5, 0.9]
    want = np.stack(by_sequence(lambda part: np.quantile(part, chances), x), 1)
    np.testing.assert_allclose(np.quantile(x, chances, axis=1), want)
    np.testing.assert_allclose(np.percentile(x, [10, 50, 90], axis=-1), want)
    np.testing.assert_allclose(np.percentile(x, 50, axis=1), [3, 2])
    np.testing.assert_allclose(np.nanquantile(X, 0.5, axis=1), by_sequence(np.nanmedian, X))
    np.testing.assert_allclose(np.nanpercentile(X, [50], axis=1), [by_sequence(np.nanmedian, X)])
    np.testing.assert_allclose(np.quantile(x, chances), np.quantile(x.values, chances))
    np.testing.assert_allclose(np.median(x), np.median(x.values))
    np.testing.assert_allclose(np.median(x, axis=0), [2.5, 8, 1])
    assert np.median(x, axis=1, keepdims=True).tolist() == [[3], [2]]
    assert np.quantile(x, chances, axis=1, keepdims=True).shape == (3, 2, 1)
    assert np.median(TWO_LEVELS, axis=2).tolist()[1] == [2]
    np.testing.assert_allclose(np.nanmedian(TWO_LEVELS, axis=(1, 2)), [2, 2])
    assert np.quantile(TWO_LEVELS, [0, 1], axis=2).tolist()[1] == [[2, 7]]
    _, pullback = lodcore.vjp(lambda x: ops.quantile(x, [0, 1], axis=1), x)
    assert pullback(np.array([[1.0, 2.0], [3.0, 4.0]]))[0].values.tolist() == [0, 3, 1, 6]
    with lodcore.Program() as program:
        data = lodcore.data("x", (None,), "float64", num_levels=1)
        result = np.quantile(data, chances, axis=1)
    np.testing.assert_allclose(lodcore.Executor().run(program, feed={"x": x}, fetch=[result])[0], want)


@given(full_batches([()]), st.booleans())
def test_order_of_the_last_level(x, recorded):
    order = x.argsort()
    assert same(order, np.argsort(x, axis=-1))
    assert same(order, np.argpartition(x, 0))
    assert same(np.partition(x, 0), np.sort(x))
    assert same(np.take_along_axis(x, order, axis=-1), np.sort(x))
    assert same(x[order], np.sort(x))


@pytest.mark.parametrize("axis", [2, -1])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_entries_of_rows_are_taken_along_an_axis(axis, count):
    """With the gradient, at once and recorded."""
    random, lod = np.random.default_rng(0), LoD.from_lengths([2, 0, 3])
    x, place = LoDTensor(random.normal(size=(5, 3, 2)), lod), axis % 4 - 1  # that of the axis in the rows
    shape = [count if k == place else size for k, size in enumerate(x.values.shape)]
    index = LoDTensor(random.integers(-2, 2, shape), lod)
    wanted = np.take_along_axis(x.values, index.values, place)
    numbers = np.take_along_axis(np.arange(30).reshape(x.values.shape), index.values, place)

    found, pullback = lodcore.vjp(lambda x: np.take_along_axis(x, index, axis=axis), x)
    assert found.lod is lod
    np.testing.assert_array_equal(found.values, wanted)
    (gradient,) = pullback(np.ones_like(wanted))
    np.testing.assert_array_equal(gradient.values.reshape(-1), np.bincount(numbers.reshape(-1), minlength=30))

    with Program() as program:
        v, w = (
            data("x", (None, 3, 2), "float64", num_levels=1),
            data("index", (None, *shape[1:]), "int64", num_levels=1),
        )
        made = np.take_along_axis(v, w, axis=axis)
    assert Executor().run(program, {"x": x, "index": index}, [made])[0].equals(found)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_entries_of_rows_are_taken_by_places_in_them_and_by_indices_of_the_same_structure(dtype):
    x = LoDTensor.from_lengths(np.arange(15.0).reshape(5, 3), [2, 0, 3])
    with Program() as program:
        v, w = data("x", (None, 3), "float64", num_levels=1), data("index", (None, 2), dtype, num_levels=1)
        made = np.take_along_axis(v, w, axis=2)
    places = np.array([[0, 0], [1, 2], [2, 2], [0, 3], [4, 0]], dtype)
    for wrong, error, text in (
        (x.with_values(places), IndexError, "is 3 in row 3; axis 2 has length 3"),
        (LoDTensor.from_lengths(places, [3, 0, 2]), LoDError, "sequence 0 of level 0 has length 3"),
    ):
        with pytest.raises(error, match=f"take_along_axis: indices: {text}"):
            np.take_along_axis(x, wrong, axis=2)
        with pytest.raises(error, match=f"take_along_axis: indices: {text}"):
            Executor().run(program, {"x": x, "index": wrong}, [made])


def test_unique_of_each_sequence():
    x = lodcore.array([[3, 1, 3], [], [2, 2]])
    assert np.unique(x, axis=1).tolist() == [[1, 3], [], [2]]
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=-1)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == (
        [[1, 3], [], [2]],
        [[1, 0, 1], [], [0, 0]],
        [[1, 2], [], [2]],
    )


WRONG = [
    (lambda: np.argsort(X, axis=None), TypeError, "argsort: an axis is needed"),
    (lambda: np.argsort(X, axis=None), TypeError, "argsort: an axis is needed"),
    (lambda: np.partition(X, 3, axis=1), IndexError, "out of bounds for sequence 0"),
    (lambda: np.partition(X, 0.5, axis=1), TypeError, "kth: is 0.5"),
    (lambda: np.quantile(X, 2, axis=1), ValueError, "q: is 2.0 at position 0"),
    (lambda: np.quantile(X, 0.5, axis=1, weights=X), TypeError, "weights: is not supported"),
    (lambda: np.median(X, axis=5), lodcore.ShapeError, "axis: is 5"),
    (lambda: np.median(X, axis=1, out=np.empty(3)), TypeError, "out: is not supported"),
    (lambda: np.unique(X, axis=0), TypeError, "unique: axis: is 0"),
    (lambda: np.take_along_axis(X, np.zeros(3, int), axis=1), TypeError, "take_along_axis: rows of one number"),
    (lambda: np.nanargmax(X * NAN), ValueError, r"nanargmax: x: holds only nan at position \(\)"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_wrong_calls_of_functions_of_order_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_places_among_text_and_dates():
    words = lodcore.array([["a", "b", "b"], [], ["c"]])
    wanted = lodcore.array([["b", "", "z"], ["q"], []])
    assert np.searchsorted(words, wanted, "right").tolist() == [[3, 0, 3], [0], []]
    days = LoDTensor.from_lengths(np.array(["2020-01-01", "2020-01-03", "NaT", "2019-05-05"], "M8[D]"), [3, 1])
    hours = LoDTensor.from_lengths(np.array(["2020-01-02T05", "NaT", "1900-01-01T00"], "M8[h]"), [2, 1])
    assert np.searchsorted(days, hours).tolist() == [[1, 2], [0]]
    assert np.searchsorted(days, hours, "right").tolist() == [[1, 3], [0]]


def test_differences_with_ends():
    x = lodcore.array([[1, 4, 9], [], [5]])
    assert np.ediff1d(x).tolist() == [[3, 5], [], []]
    with_ends = np.ediff1d(x, to_begin=-1, to_end=[7, 8])
    assert with_ends.tolist() == [np.ediff1d(np.array(one, int), [7, 8], -1).tolist() for one in x.tolist()]
    assert with_ends.dtype == x.dtype
    deep = lodcore.array([[[1.0, 4.0], []], [[2.0]]])
    assert np.ediff1d(deep, to_begin=0.5).tolist() == [[[0.5, 3], [0.5]], [[0.5]]]
    for wrong in (lambda: np.ediff1d(x, to_end=0.5), lambda: np.ediff1d(LoDTensor.from_lengths(np.ones((3, 2)), [3]))):
        with pytest.raises(TypeError, match="ediff1d"):
            wrong()
