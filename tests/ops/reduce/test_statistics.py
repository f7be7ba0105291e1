"""Integer weights are repetitions of rows, in every result of every statistic that accepts weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor

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
def test_weights_count_rows(name, axis, data):
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
def test_what_is_not_real_is_named(name, argument):
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
def test_bags_are_computed_in_the_wider_dtype(of_table, of_weights, pool):
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
