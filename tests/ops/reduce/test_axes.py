"""Reductions with ties, nan or infinity, compared with NumPy and plain loops, for every choice of options."""

import itertools
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, Program, data, ops
from lodcore.operators.roles import spec_of

pytestmark = pytest.mark.not_on_reference
NAN, INF = np.nan, np.inf
#: Sequences of all kinds: only nan, only infinities, ties, zeros of both signs, one number.
PARTS = [
    [NAN],
    [NAN, NAN],
    [-INF, NAN],
    [INF, NAN],
    [-INF, -INF],
    [INF],
    [-INF, INF],
    [0.0, -0.0],
    [2.0, 2.0, NAN],
    [-3.0],
]
X = lodcore.array(PARTS)
WHERE = X.with_values(np.arange(X.num_rows) % 3 != 0)


# -- reductions that ignore nan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("masked", "initial"),  # an empty selection has no extreme without an initial value
    [(False, None), *itertools.product([False, True], [0.0, -INF, INF, 2.5])],
)
@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_extremes_are_those_of_numpy(name, masked, initial, keepdims):
    options = {} if initial is None else {"initial": initial}
    masks = WHERE.to_arrays() if masked else [True] * len(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, for slices of nan only
        wanted = [
            getattr(np, name)(np.array(part), **options, **({"where": mask} if masked else {}))
            for part, mask in zip(PARTS, masks, strict=True)
        ]
    found = getattr(ops, name)(X, axis=1, keepdims=keepdims, **options, **({"where": WHERE} if masked else {}))
    np.testing.assert_array_equal(np.asarray(found).reshape(-1), wanted)
    assert np.asarray(found).shape == ((len(X), 1) if keepdims else (len(X),))


@pytest.mark.parametrize("ddof", [0, 1, 2, 3])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_variances_are_those_of_numpy_and_nan_where_nothing_is_left(name, masked, ddof):
    parts = [[1.0, 2.0], [1.0, 3.0, 5.0, 9.0], [4.0], [NAN, 1.0, 2.0, 4.0], [2.0, 2.0, 2.0], []]
    masks = [np.arange(len(part)) % 4 != 2 if masked else np.ones(len(part), bool) for part in parts]
    x, mask = lodcore.array(parts), lodcore.array([one.tolist() for one in masks])
    options = {"where": mask.astype(bool)} if masked else {}
    found = getattr(ops, name)(x, axis=1, ddof=ddof, **options)
    for part, chosen, one in zip(parts, masks, found, strict=True):
        left = np.array(part)[chosen]
        left = left[~np.isnan(left)] if name.startswith("nan") else left
        wanted = getattr(np, name.removeprefix("nan"))(left, ddof=ddof) if len(left) > ddof else NAN
        np.testing.assert_allclose(one, wanted, rtol=1e-12)


# -- gradients along rows ----------------------------------------------------------------------------------------------

#: With ties, nan beside numbers, two nan, infinities.
ROWS = np.array(
    [
        [[1.0, NAN, 3.0], [4.0, 4.0, 2.0]],
        [[NAN, NAN, 0.0], [INF, 1.0, INF]],
        [[-INF, -INF, -INF], [0.0, -0.0, -1.0]],
        [[2.0, 7.0, 7.0], [7.0, -2.0, -2.0]],
    ]
)
AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


def gradient_of_extreme(name, axes, initial, d):
    """Add each entry of d to the first extreme of its cells (any nan is one), unless `initial` is more extreme."""
    found, left = np.zeros_like(ROWS), [axis for axis in range(3) if axis not in axes]
    for at in np.ndindex(*[ROWS.shape[axis] for axis in left]):
        cells = []
        for place in np.ndindex(*ROWS.shape):
            if all(place[axis] == one for axis, one in zip(left, at, strict=True)):
                cells.append(place)
        cells.sort(key=lambda place: [place[axis] for axis in axes])
        best = None
        for place in cells:
            if best is None or (
                not np.isnan(ROWS[best])
                and (np.isnan(ROWS[place]) or (ROWS[place] > ROWS[best] if name == "max" else ROWS[place] < ROWS[best]))
            ):
                best = place
        beyond = initial is not None and (initial > ROWS[best] if name == "max" else initial < ROWS[best])
        if not beyond:
            found[best] = d[at]
    return found


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("initial", [None, 3.5])
@pytest.mark.parametrize("name", ["max", "min"])
def test_gradients_of_extremes_go_to_the_first(name, initial, axes):
    x = LoDTensor.from_lengths(ROWS, [3, 1])
    y, pullback = lodcore.vjp(lambda x: ops.reduce_values(x, name, axes, False, initial), x)
    shape = y.values.shape if isinstance(y, LoDTensor) else np.shape(y)
    d = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)
    (found,) = pullback(d)
    np.testing.assert_array_equal(found.values, gradient_of_extreme(name, axes, initial, d))


@pytest.mark.parametrize("axes", [*AXES, None, *[tuple(axis - 3 for axis in axes) for axes in AXES], (0, -1), (-3, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_from_the_end_are_those_from_the_front(axes, keepdims):
    x = LoDTensor.from_lengths(np.arange(24.0).reshape(4, 2, 3), [3, 1])
    found = ops.reduce_values(x, "sum", axes, keepdims)
    rows = found.values if isinstance(found, LoDTensor) else found
    np.testing.assert_array_equal(rows, x.values.sum(axes, keepdims=keepdims))
    assert isinstance(found, LoDTensor) == (axes is not None and not {0, -3} & set(axes))
    with Program():
        recorded = ops.reduce_values(data("x", spec_of(x)), "sum", axes, keepdims)
    assert recorded.spec.num_levels == getattr(found, "num_levels", 0)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_greatest_by_the_last_bit_has_the_gradient(dtype):
    """Also where other numbers are equal to it in a narrower dtype."""
    bit = np.finfo(dtype).eps
    rows = np.array([1, 1 + bit, 1, 1 - bit, 1 - bit / 2, 1 + 2 * bit], dtype)
    x, ids = LoDTensor.from_lengths(rows, [3, 3]), [[0, 1, 2], [3, 4, 5]]
    for name, wanted in (("max", [0, 1, 0, 0, 0, 1]), ("min", [1, 0, 0, 1, 0, 0])):
        for call, given in (
            (lambda x, name=name: ops.sequence_pool(x, name), x),
            (lambda x, name=name: getattr(x, name)(axis=1), x),
            (lambda t, name=name: lodcore.embedding_bag(t, ids, name), rows[:, None]),
            (lambda t, name=name: lodcore.embedding_bag(t, ids, name), rows[:, None].repeat(9, 1)),
        ):
            value, (d,) = (found := lodcore.vjp(call, given))[0], found[1](np.ones_like(found[0]))
            d = d.to_dense()[:, 0] if isinstance(d, lodcore.SparseTensor) else d.values
            assert d.tolist() == wanted
            assert np.ravel(value)[0] == (1 + bit if name == "max" else 1)
