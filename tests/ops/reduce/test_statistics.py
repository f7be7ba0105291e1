"""Averages, moments, covariances and linear fits, with and without weights, compared with NumPy."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from lodcore.graph import Executor, Program, data, grad_check
from tests.helpers.agree import values_of
from tests.helpers.draw import lods
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS, smooth_values

STATISTICS = {
    "average": lambda x, y, axis, w: lodcore.average(x, axis, w, returned=True),
    "moment 0": lambda x, y, axis, w: lodcore.moment(x, 0, axis, w),
    "moment 1": lambda x, y, axis, w: lodcore.moment(x, 1, axis, w),
    "moment 3": lambda x, y, axis, w: lodcore.moment(x, 3, axis, w),
    "cov": lambda x, y, axis, w: lodcore.cov(x, y, axis, w),
    "corr": lambda x, y, axis, w: lodcore.corr(x, y, axis, w),
    "linear_fit": lambda x, y, axis, w: lodcore.linear_fit(x, y, axis, w),
}


@pytest.mark.parametrize("axis", [1, (0, 1), None])
@pytest.mark.parametrize("name", STATISTICS)
@given(data=st.data())
def test_integer_weights_equal_repeated_rows(name, axis, data):
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    count = sum(lengths)
    x, y = (np.array(data.draw(st.lists(st.integers(-5, 5), min_size=count, max_size=count)), float) for _ in "xy")
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)), np.int64)
    of = [LoDTensor.from_lengths(one, lengths) for one in (x, y, times.astype(float))]
    parts = np.split(times, np.cumsum(lengths)[:-1])
    longer = [int(one.sum()) for one in parts]
    repeated = [LoDTensor.from_lengths(np.repeat(one, times), longer) for one in (x, y)]
    with np.errstate(all="ignore"):
        found = STATISTICS[name](of[0], of[1], axis, of[2])
        wanted = STATISTICS[name](*repeated, axis, None)
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


REAL = lodcore.array([[1.0, 2.0], [3.0]])
NOT_REAL = lodcore.array([[1j, 2.0], [3.0]])


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("argument", ["x", "y", "weights"])
def test_statistics_name_arguments_that_are_not_real(name, argument):
    given = [NOT_REAL if argument == one else REAL for one in ("x", "y", "weights")]
    name_of_function = name.split()[0]
    if argument == "y" and name_of_function in ("average", "moment"):
        assert np.isfinite(np.asarray(STATISTICS[name](given[0], given[1], None, given[2]))).all()  # it has no y
        return
    with pytest.raises(
        lodcore.DTypeError, match=f"^(moment|average|{name_of_function}): {argument}: has dtype complex128"
    ):
        STATISTICS[name](given[0], given[1], 1, given[2])


@pytest.mark.parametrize("pool", ["sum", "mean"])
@pytest.mark.parametrize("of_weights", ["f4", "f8"])
@pytest.mark.parametrize("of_table", ["f2", "f4", "f8"])
def test_embedding_bag_computes_in_the_wider_dtype_of_table_and_weights(of_table, of_weights, pool):
    random = np.random.default_rng(5)
    table = random.standard_normal((9, 3)).astype(of_table)
    weights = random.standard_normal(40).astype(of_weights)
    ids = lodcore.LoDTensor.from_lengths(random.integers(0, 9, 40), [3, 0, 30, 7])
    try:
        found = lodcore.embedding_bag(table, ids, pool, per_sample_weights=weights)
    except (lodcore.DTypeError, ValueError):
        assert pool != "sum"
        return
    wide = np.result_type(of_table, of_weights)
    assert found.dtype == wide
    bags = np.split(table.astype("f8")[ids.values] * weights.astype("f8")[:, None], np.cumsum([3, 0, 30]))
    wanted = [bag.sum(0) if pool == "sum" or not len(bag) else bag.mean(0) for bag in bags]
    np.testing.assert_allclose(found, wanted, rtol=40 * np.finfo(wide).eps, atol=40 * np.finfo(wide).eps)


@pytest.mark.not_on_reference
@for_each(("of_x", "of_weights"), list(itertools.product(["f4", "f8", "i8"], repeat=2)))
def test_average_and_cov_with_weights_of_another_dtype_equal_numpy(of_x, of_weights):
    x, w = (np.array(one, dtype) for one, dtype in (([1, 2, 4], of_x), ([1, 2, 1], of_weights)))
    nested = [LoDTensor.from_lengths(one, [3]) for one in (x, w)]
    for keep in (False, True):
        found, mass = ops.average(nested[0], 1, nested[1], True, keepdims=keep)
        wanted = np.average(x.astype("f8"), weights=w)
        wide = np.result_type(*["f8" if one == "i8" else one for one in (of_x, of_weights)])
        assert values_of(found).dtype == values_of(mass).dtype == wide
        assert (values_of(found).ravel().tolist(), values_of(mass).ravel().tolist()) == ([wanted], [4.0])
    for ddof in (0, 1, 0.5):
        found = ops.cov(nested[0], nested[0] * 2, 1, nested[1], ddof)
        assert found == pytest.approx([2 * ((x - wanted) ** 2 * w).sum() / (4 - ddof)], rel=1e-5)


@pytest.mark.not_on_reference
@for_each("n", [*range(18), 2**62])
def test_moment_of_any_order_equals_the_mean_of_powers(n):
    numbers = [[1.0, 2.0, -3.0], [2.0]] if n < 2**62 else [[1.0, 0.0, -1.0], [0.0]]
    wanted = [sum(x**n for x in part) / len(part) for part in numbers]
    assert ops.moment(lodcore.array(numbers), n, axis=1).tolist() == wanted


@given(lods(1, 2, 5), SEEDS)
def test_statistics_equal_numpy_sequence_by_sequence(lod, seed):
    x, y, w = (LoDTensor(smooth_values(seed + j, (lod.num_rows,)), lod) for j in range(3))
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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@given(seed=SEEDS)
def test_linear_fit_is_the_same_wherever_the_data_lie(dtype, weighted, seed):
    """Numbers that are moved exactly have exactly the same distances from their means."""
    draw = np.random.default_rng(seed)
    bits = np.finfo(dtype).nmant // 2 + 3
    near = [draw.integers(-16, 17, 30) / 8.0 for _ in "xy"]
    far = [(one + draw.integers(-(2**bits), 2**bits) / 8.0).astype(dtype) for one in near]
    w = draw.integers(1, 4, 30).astype(dtype) if weighted else None
    eps, lengths = float(np.finfo(dtype).eps), [13, 0, 17]
    of_means = eps * 2**bits  # the rounding of means, which only slopes are free of
    nested = [None if one is None else LoDTensor.from_lengths(one, lengths) for one in (*near, *far, w)]
    for axis, x, y, moved_x, moved_y, of in ((None, *near, *far, w), (1, *nested)):
        _, wanted, _, error = lodcore.linear_fit(x, y, axis, of)
        intercept, slope, _, slope_error = lodcore.linear_fit(moved_x, moved_y, axis, of)
        np.testing.assert_allclose(slope, wanted, rtol=0, atol=100 * eps)
        np.testing.assert_allclose(slope_error, error, rtol=100 * eps)
        line = intercept + slope * lodcore.average(moved_x, axis, of)
        np.testing.assert_allclose(line, lodcore.average(moved_y, axis, of), atol=of_means)
        for loss in (
            lambda x, y, axis=axis, of=of: ops.sum(np.nan_to_num(lodcore.linear_fit(x, y, axis, of)[1])),
            lambda x, y, axis=axis, of=of: ops.sum(np.nan_to_num(lodcore.corr(x, y, axis, of))),
        ):
            found, expected = (lodcore.vjp(loss, *pair)[1](1.0) for pair in ((moved_x, moved_y), (x, y)))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(values_of(one), values_of(other), rtol=0, atol=of_means)


def test_linear_fit_errors_are_the_root_of_the_covariance_diagonal():
    x = LoDTensor.from_lengths([0.0, 1.0, 2.0, 5.0], [4])
    *_, intercept_error, slope_error = lodcore.linear_fit(x, x * 2 + 1, 1)
    design = np.stack([np.ones(4), x.values], 1)
    wanted = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose([intercept_error[0], slope_error[0]], wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_linear_fit_and_corr_of_values_equal_but_for_rounding_are_nan(dtype):
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


def test_linear_fit_corr_average_and_moment_have_gradients():
    x = LoDTensor.from_lengths(smooth_values(0, (7,)), [4, 3])
    y = LoDTensor.from_lengths(smooth_values(1, (7,)), [4, 3])

    def loss(x, y):
        intercept, slope, *_ = lodcore.linear_fit(x, y, 1)
        return ops.sum(intercept * slope + lodcore.corr(x, y, 1) + lodcore.average(x, 1, y) + lodcore.moment(x, 3, 1))

    grad_check(loss, x, y)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_where_nothing_is_chosen_the_gradient_is_zero(name):
    function = getattr(np, name)
    x, chosen = lodcore.array([[1.0, 2.0], [3.0, 4.0, 5.0]]), lodcore.array([[False, False], [True, True, False]])
    dense, mask = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[False, False], [True, True]])
    for numbers, where in ((x, chosen), (dense, mask)):
        with np.errstate(all="ignore"):
            _, gradient = lodcore.value_and_grad(
                lambda x, where=where: np.nan_to_num(function(x, axis=1, where=where)).sum()
            )(numbers)
        first, second = gradient.tolist()
        assert first == [0, 0]
        np.testing.assert_allclose(second[:2], {"mean": [0.5, 0.5]}.get(name, [-0.5, 0.5]))


@pytest.mark.parametrize("count", [10, 3000, 70000])
def test_half_precision_counts_every_value(count):
    values = np.random.default_rng(0).standard_normal((count, 2)).astype("f2")
    wanted = np.var(values.astype("f8"), axis=0)
    for found in (
        lodcore.vjp(lambda x: np.var(x, axis=0), values)[0],
        lodcore.vjp(lambda x: np.std(x, axis=0), values)[0].astype("f8") ** 2,
        lodcore.vjp(lambda x: np.nanvar(x, axis=0), values)[0],
        np.var(lodcore.LoDTensor.from_lengths(values, [count]), axis=1)[0],
    ):
        np.testing.assert_allclose(found, wanted, rtol=5e-3)
    half = np.full(count, 0.5, "f2")
    assert lodcore.vjp(lambda x: np.nanmean(x), half)[0] == 0.5
    assert np.nanmean(lodcore.LoDTensor.from_lengths(half, [count]), axis=1).tolist() == [0.5]
    gradient = lodcore.vjp(np.mean, half)[1](np.float16(1))[0]
    np.testing.assert_allclose(gradient, np.float16(1 / count), rtol=1e-3)


@for_each("dtype", ["f2", "f4", "u1", "i8", "?"])
@for_each("axis", [None, 0, 1])
def test_statistics_of_two_dtypes_are_computed_in_that_of_the_result(dtype, axis):
    x = lodcore.array([[1.5, 2.25, 0.75], [], [4.0, 3.0]])
    y = x.with_values(np.array([60000, 300, 7, 0, 2]).astype(dtype))
    wide = y.astype("f8")
    calls = [
        lambda x, y: ops.average(x, axis, y),
        lambda x, y: ops.average(y, axis, x),
        lambda x, y: ops.moment(y, 2, axis, x),
        lambda x, y: ops.cov(x, y, axis),
        lambda x, y: ops.corr(x, y, axis),
        lambda x, y: ops.corr(x, x * x, axis, y),
        *(lambda x, y, k=k: ops.linear_fit(y, x, axis)[k] for k in range(4)),
    ]
    for call in calls:
        found, wanted = (np.asarray(getattr(one, "values", one)) for one in (call(x, y), call(x, wide)))
        assert found.dtype == wanted.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@for_each("ddof", [1, 2, 3, 0.5])
def test_covariance_of_no_more_values_than_ddof_is_nan(ddof):
    x = lodcore.array([[1.0, 3.0], [], [5.0], [1.0, 2.0, 4.0, 8.0]])
    found = lodcore.cov(x, x, axis=1, ddof=ddof)
    assert np.isnan(found).tolist() == [len(one) <= ddof for one in x.to_arrays()]
    np.testing.assert_allclose(found, np.var(x, axis=1, ddof=ddof))


@pytest.mark.parametrize(("axis", "weighted"), [(None, False), (None, True), (0, False), ((0, 1), True)])
def test_linear_fit_of_one_x_for_several_columns_equals_that_of_its_copies(axis, weighted):
    random = np.random.default_rng(3)
    x, y = random.normal(size=(5, 1)), random.normal(size=(5, 3))
    weights = random.random((5, 3)) if weighted else None
    found = lodcore.linear_fit(x, y, axis, weights)
    np.testing.assert_allclose(found, lodcore.linear_fit(np.repeat(x, 3, axis=1), y, axis, weights))
    with Program() as program:
        v, w = data("x", (None, 1), "f8"), data("y", (None, 3), "f8")
        recorded = [*lodcore.linear_fit(v, w, axis, weights)]
    np.testing.assert_array_equal(Executor().run(program, {"x": x, "y": y}, recorded), found)


@for_each("weighted", [False, True])
def test_a_sequence_whose_result_is_nan_has_a_gradient_of_zeros(weighted):
    """So that results that do not exist can be left out by a mask."""
    x = lodcore.array([[1.0, 2.0, 4.0], [3.0], [], [2.0, 2.0]])
    weights = lodcore.array([[1.0, 2.0, 1.0], [0.0], [], [0.0, 0.0]]) if weighted else None
    calls = [
        lambda x: ops.corr(x, x * x, 1, weights),
        lambda x: ops.corr(x, x[:, ::-1], 1, weights),
        lambda x: ops.cov(x, x * x, 1, weights, ddof=1),
        *(lambda x, k=k: ops.linear_fit(x, x * x, 1, weights)[k] for k in range(4)),
        *([lambda x: ops.average(x, 1, weights), lambda x: ops.moment(x, 3, 1, weights)] if weighted else []),
    ]
    for call in calls:
        found, pullback = vjp(call, x)
        missing = np.isnan(found)
        assert missing[:2].tolist() == [False, True]
        for cotangent in (~missing * 1.0, np.ones(4)):
            gradient = pullback(cotangent)[0]
            assert np.isfinite(gradient.values).all()
            assert np.abs(gradient[0]).sum() > 0
            assert not gradient[1].any()


@for_each("weighted", [False, True])
@pytest.mark.parametrize("num_levels", [0, 1])
def test_statistics_of_all_values_are_numbers_in_every_way_of_running(num_levels, weighted):
    rows, other = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    x, w = ((LoDTensor.from_lengths(one, [2, 0, 1]) if num_levels else one) for one in (rows, other))

    def each(x):
        weights = w if weighted else None
        fitted = ops.linear_fit(x, x * x, None, weights)
        averages = ops.average(x, None, weights, returned=True)
        return *fitted, *averages, ops.corr(x, x * x, None, weights), ops.cov(x, x * x, None, weights), *(
            ops.cov(x, x * x, None, weights, ddof=1), ops.moment(x, 3, None, weights)
        )  # fmt: skip

    with Program() as program:
        made = each(data("x", (None,), "f8", num_levels=num_levels))
    for way in (each(x), Executor().run(program, {"x": x}, [*made]), vjp(each, x)[0]):
        assert [type(found) for found in way] == [np.float64] * len(made)


@for_each(("dtype", "size"), [("f4", 1e-12), ("f4", 1e10), ("f8", 1e-82), ("f8", 1e80)])
def test_correlations_of_small_and_large_numbers_are_those_of_their_directions(dtype, size):
    x = lodcore.array([[1.0, 2.0, 4.0], [4.0, 2.0, 1.0]], dtype=dtype) * np.array(size, dtype)
    y = lodcore.array([[1.0, 2.0, 4.0]] * 2, dtype=dtype) * np.array(size, dtype)
    wanted = np.corrcoef([1, 2, 4], [4, 2, 1])[0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(lodcore.corr(x, y, axis=1), [1, wanted], rtol=1e-5)


@for_each(("dtype", "size", "weight"), [("f2", 0.01, 0.001), ("f4", 1e-7, 1e-20), ("f8", 1e-70, 1e-100)])
def test_lines_of_small_numbers_with_small_weights(dtype, size, weight):
    x = lodcore.array([[1.0, 2.0, 4.0]], dtype=dtype) * np.array(size, dtype)
    weights = lodcore.array([[weight] * 3], dtype=dtype)
    with np.errstate(over="ignore"):  # of the variance of the slope
        slope = lodcore.linear_fit(x, lodcore.array([[1.0, 2.0, 4.0]], dtype=dtype), 1, weights)[1]
    np.testing.assert_allclose(slope, [1 / size], rtol=0.1 if dtype == "f2" else 1e-5)


def test_statistics_with_negative_weights_are_nan_where_they_do_not_exist():
    x, weights = lodcore.array([[2.0, 2.0], [1.0, 2.0]]), lodcore.array([[-1.0, -2.0], [1.0, -1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [*ops.linear_fit(x, x, 1, weights), ops.corr(x, x, 1, weights), ops.cov(x, x, 1, weights)]
    assert np.isnan(found[:5]).all()
    assert np.isnan(found[5]).tolist() == [False, True]
