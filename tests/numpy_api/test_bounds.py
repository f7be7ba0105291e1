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


#: All ways to give a bound: by its place, by its older and its newer name.
WAYS = [("", ""), ("a_min", "a_max"), ("a_min", "max"), ("min", "a_max"), ("min", "max"), ("", "a_max"), ("", "max")]


@pytest.mark.parametrize(("of_low", "of_high"), WAYS)
def test_bounds_by_any_of_their_names(of_low, of_high):
    """Together and alone, as the function, as the method, and recorded; numbers and tensors."""
    low, high = np.array([0.5, -1, 0, 0, 2, 2, 2, 2]), np.array([1, 0.5, 1, 0, 2.5, 2, 5, 3])
    forms = [(0.0, 2.0), (low, high), (low, 2.0)]
    for (one, other), (has_low, has_high) in itertools.product(forms, [(True, True), (True, False), (False, True)]):
        named = [(of_low, one, has_low), (of_high, other, has_high)]
        given = [LoDTensor(value, X.lod) if np.ndim(value) else value for _, value, _ in named]
        places = [x if has else None for x, (name, _, has) in zip(given, named, strict=True) if not name]
        words = {name: x for x, (name, _, has) in zip(given, named, strict=True) if name and has}
        wanted = np.clip(ROWS, one if has_low else None, other if has_high else None)
        calls = [lambda x, places=places, words=words: x.clip(*places, **words)]
        if has_low and has_high and not ({"min", "max"} & {*words} and not hasattr(np, "unstack")):  # NumPy 2.1
            calls.append(lambda x, places=places, words=words: np.clip(x, *places, **words))
        for call in calls:
            np.testing.assert_array_equal(call(X).values, wanted)
            np.testing.assert_array_equal(lodcore.vjp(call, X)[0].values, wanted)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "f2", "f4", "f8"])
def test_bounds_of_each_sequence(dtype):
    rows = np.arange(6).astype(dtype)
    x = LoDTensor.from_lengths(rows, [4, 0, 2])
    low, high = np.array([[3], [1], [4]], dtype), np.array([[1], [1], [5]], dtype)  # crossed in the first one
    found = np.clip(x, low, high)
    assert found.dtype == dtype
    assert found.tolist() == [[1, 1, 1, 1], [], [4, 5]]
