"""Sorting, running results and differences along the axes of coarser levels."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, grad_check
from tests.helpers.agree import same
from tests.helpers.draw import lods
from tests.samples.common import SEEDS

RUNNING = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "nancumsum": np.nancumsum,
    "nancumprod": np.nancumprod,
    "maximum": np.maximum.accumulate,
    "subtract": np.subtract.accumulate,
    "sort": np.sort,
    "argsort": lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
}
UNEVEN = lodcore.array([[3, 1, 2], [], [1, 5, 0, 9], [2]])


def elements(x, axis):
    """List the row numbers at each position along an axis, for each position along the others."""
    found = {}
    places = [lodcore.ops.lod_index(x, k).values for k in range(x.num_levels + 1)]
    for row, place in enumerate(zip(*places, strict=True)):
        found.setdefault((*place[:axis], *place[axis + 1 :]), []).append((place[axis], row))
    return found.values()


@st.composite
def numbers(draw):
    """Draw a tensor of small integers, or floats with nan, and one of its axes of coarser levels."""
    lod = draw(lods(1, 3, most=4))
    random = np.random.default_rng(draw(SEEDS))
    made = random.integers(-3, 4, (lod.num_rows, *draw(st.sampled_from([(), (2,)])))).astype(
        draw(st.sampled_from("fli"))
    )
    if made.dtype.kind == "f":
        made[random.random(made.shape) < 0.1] = np.nan
    return LoDTensor(made, lod), draw(st.integers(0, lod.num_levels - 1))


@pytest.mark.parametrize("name", RUNNING)
@given(drawn=numbers())
def test_functions_along_coarse_axes_compute_elements_at_equal_positions(name, drawn):
    x, axis = drawn
    found = RUNNING[name](x, axis=axis)
    assert found.lod == x.lod
    want = np.empty_like(x.values, RUNNING[name](x.values[:0], axis=0).dtype)
    for group in elements(x, axis):
        at, rows = (np.array(part) for part in zip(*group, strict=True))
        made = RUNNING[name](x.values[rows], axis=0)
        want[rows] = at[made] if name == "argsort" else made
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found.values, want)


@pytest.mark.parametrize("row_shape", [(5,), (2, 3)])
def test_functions_along_any_axis_of_equal_lengths_equal_numpy(row_shape):
    random = np.random.default_rng(0)
    array = random.normal(size=(3, 4, 2, *row_shape))
    x = LoDTensor(array.reshape(-1, *row_shape), LoD.from_lengths([4] * 3, [2] * 12))
    calls = [*RUNNING.values(), np.diff, lambda x, axis: np.diff(x, 2, axis), lambda x, axis: np.diff(x, 0, axis)]
    for function, axis in product(calls, range(-x.ndim, x.ndim)):
        found, want = function(x, axis=axis), function(array, axis=axis)
        np.testing.assert_allclose(found.values.reshape(want.shape), want, rtol=1e-12)
        assert found.dtype == want.dtype
    for axis in range(3):
        for function in (np.argmax, np.argmin, np.nanargmin):
            found, want = function(x, axis=axis), function(array, axis=axis)
            np.testing.assert_array_equal(np.ravel(getattr(found, "values", found)), want.ravel())
    for axis in range(-x.ndim, 3 - x.ndim):
        order = np.argpartition(x, 1, axis=axis).values.reshape(array.shape)
        np.testing.assert_array_equal(order, np.argsort(array, axis=axis))
        assert same(np.partition(x, 1, axis=axis), np.sort(x, axis=axis))
    assert same(x.cumsum(axis=0), np.cumsum(x, axis=0))
    assert same(x.argsort(axis=1), np.argsort(x, axis=1))


def test_differences_of_sequences_that_are_equally_long():
    x = lodcore.array([[[1, 2], [5]], [[4, 4], [9]]])
    assert np.diff(x, axis=0).tolist() == [[[3, 2], [4]]]
    assert np.diff(x, axis=0, prepend=x[:1]).tolist() == [[[0, 0], [0]], [[3, 2], [4]]]
    assert np.diff(x, 10**18, axis=0).tolist() == []
    assert np.diff(x > 4, axis=0).tolist() == [[[False, False], [False]]]
    days = LoDTensor.from_lengths(np.array(["2020-01-01", "2020-01-05", "NaT", "2020-01-09"], "M8[D]"), [2, 2])
    assert np.diff(days, axis=0).dtype == np.dtype("m8[D]")
    with pytest.raises(lodcore.LoDError, match="axis: is 0; consecutive sequences are not equally long"):
        np.diff(UNEVEN, axis=0)


def test_cumsum_sort_and_argsort_along_coarse_axes_of_uneven_sequences():
    assert np.cumsum(UNEVEN, axis=0).tolist() == [[3, 1, 2], [], [4, 6, 2, 9], [6]]
    assert np.sort(UNEVEN, axis=0).tolist() == [[1, 1, 0], [], [2, 5, 2, 9], [3]]
    assert np.argsort(UNEVEN, axis=0).tolist() == [[2, 0, 2], [], [3, 2, 0, 2], [0]]
    words = lodcore.array([["b", "x"], ["a"]])
    assert np.sort(words, axis=0).tolist() == [["a", "x"], ["b"]]
    assert np.partition(UNEVEN[[0, 2]], 0, axis=0).tolist() == [[1, 1, 0], [3, 5, 2, 9]]
    with pytest.raises(IndexError, match="kth: is 2; fewer sequences than that have the same place along axis 0"):
        np.partition(UNEVEN, 2, axis=0)
    with pytest.raises(TypeError, match="cumsum: axis: is None"):
        np.cumsum(UNEVEN)


SMOOTH = lodcore.array([[[3.0, 1.5], [2.0]], [[0.5]], [[5.0, 6.0, 7.0], [1.0], [2.5, -2.0]]])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "maximum", "sort"])
def test_gradients_of_functions_along_coarse_axes(name, axis):
    weights = SMOOTH.with_values(np.arange(1.0, 1.0 + SMOOTH.num_rows))
    grad_check(lambda x: RUNNING[name](x, axis=axis) * weights, SMOOTH)


def test_gradients_of_differences():
    grad_check(lambda x: np.diff(x, axis=0) ** 2, lodcore.array([[1.0, 2.0], [4.0, -1.0], [0.5, 3.0]]))


@pytest.mark.parametrize("name", RUNNING)
def test_functions_along_coarse_axes_in_programs(name):
    with lodcore.Program() as program:
        x = lodcore.data("x", (None,), "float64", num_levels=2)
        results = [RUNNING[name](x, axis=axis) for axis in (0, 1)]
    found = lodcore.Executor().run(program, feed={"x": SMOOTH}, fetch=results)
    for one, axis in zip(found, (0, 1), strict=True):
        assert same(one, RUNNING[name](SMOOTH, axis=axis))
