"""np.clip with bounds of every kind (crossed, equal, nan, infinite, missing, per sequence), compared with NumPy."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor

pytestmark = pytest.mark.not_on_reference
NAN, INF = np.nan, np.inf
ROWS = np.array([-INF, -2.0, -0.0, 0.0, 1.0, 3.0, INF, NAN])
X = LoDTensor.from_lengths(ROWS, [5, 0, 3])
BOUNDS = [None, -INF, -1.0, 0.0, 1.0, 2.0, INF, NAN]


@pytest.mark.parametrize(
    ("low", "high"), [pair for pair in itertools.product(BOUNDS, repeat=2) if pair != (None, None)]
)
def test_clip_is_that_of_numpy(low, high):
    found, wanted = np.clip(X, low, high), np.clip(ROWS, low, high)
    assert found.lod is X.lod
    np.testing.assert_array_equal(found.values, wanted)
    _, pullback = lodcore.vjp(lambda x: np.clip(x, low, high), X)
    inside = np.ones(len(ROWS), bool)
    inside &= True if low is None else low < ROWS
    inside &= True if high is None else high > ROWS
    (gradient,) = pullback(np.full(len(ROWS), 3.0))
    np.testing.assert_array_equal(gradient.values[inside], 3.0)
    outside = np.zeros(len(ROWS), bool)
    outside |= False if low is None else low > ROWS
    outside |= False if high is None else np.maximum(ROWS, -INF if low is None else low) > high
    np.testing.assert_array_equal(gradient.values[outside], 0.0)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "f2", "f4", "f8"])
def test_bounds_of_each_sequence(dtype):
    rows = np.arange(6).astype(dtype)
    x = LoDTensor.from_lengths(rows, [4, 0, 2])
    low, high = np.array([[3], [1], [4]], dtype), np.array([[1], [1], [5]], dtype)  # crossed in the first one
    found = np.clip(x, low, high)
    assert found.dtype == dtype
    assert found.tolist() == [[1, 1, 1, 1], [], [4, 5]]
