"""Reductions over axes: ties, nan, infinity, initial values, bits, empty sequences; compared with NumPy and loops."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, Executor, LoDTensor, Program, ShapeError, data, ops, vjp
from lodcore.operators.roles import spec_of
from reference.ops.levels import sequences
from tests.helpers.agree import values_of
from tests.helpers.draw import lods
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS

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
def test_variances_equal_numpy_and_are_nan_for_ddof_rows_or_fewer(name, masked, ddof):
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

#: With ties, nan among numbers, two nan, infinities.
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
def test_gradient_of_max_and_min_distinguishes_numbers_that_differ_in_the_last_bit(dtype):
    """Also where other numbers are equal to it in a narrower dtype."""
    bit = np.finfo(dtype).eps
    rows = np.array([1, 1 + bit, 1, 1 - bit, 1 - bit / 2, 1 + 2 * bit], dtype)
    x, ids = LoDTensor.from_lengths(rows, [3, 3]), [[0, 1, 2], [3, 4, 5]]
    for name, wanted in (("max", [0, 1, 0, 0, 0, 1]), ("min", [1, 0, 0, 1, 0, 0])):
        for call, source in (
            (lambda x, name=name: ops.sequence_pool(x, name), x),
            (lambda x, name=name: getattr(x, name)(axis=1), x),
            (lambda t, name=name: lodcore.embedding_bag(t, ids, name), rows[:, None]),
            (lambda t, name=name: lodcore.embedding_bag(t, ids, name), rows[:, None].repeat(9, 1)),
        ):
            value, (d,) = (found := lodcore.vjp(call, source))[0], found[1](np.ones_like(found[0]))
            d = d.to_dense()[:, 0] if isinstance(d, lodcore.SparseTensor) else d.values
            assert d.tolist() == wanted
            assert np.ravel(value)[0] == (1 + bit if name == "max" else 1)


LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    return np.split(values, np.cumsum(lengths)[:-1])


@for_each(
    ("name", "dtype"), list(itertools.product(("sum", "prod", "max", "min"), ("i1", "u1", "i2", "i8", "f4", "f8", "?")))
)
def test_initial_is_held_by_the_dtype_of_the_result_or_refused(name, dtype):
    values = np.array([[1, 0], [1, 1], [0, 1]], dtype)
    x = LoDTensor.from_lengths(values, [2, 0, 1])
    for initial in (0, 1, 300, -3, 2**40, 0.5):
        try:
            held = np.array(initial, getattr(np, name)(values).dtype)
        except OverflowError:
            held = np.array(-1)
        if held != initial:
            with pytest.raises(lodcore.DTypeError, match=f"{name}: initial: "):
                getattr(ops, name)(x, initial=initial)
            continue
        wanted = [getattr(np, name)(part, axis=0, initial=initial) for part in cut(values, [2, 0, 1])]
        assert getattr(ops, name)(x, axis=1, initial=initial).tolist() == np.array(wanted).tolist()
        assert getattr(ops, name)(x, initial=initial) == getattr(np, name)(values, initial=initial)


def test_reduce_values_of_no_values_is_the_value_for_empty_whatever_initial_is():
    none = np.empty((2, 0))
    for name, initial in itertools.product(("sum", "max", "min", "prod"), (None, 9.0)):
        assert ops.reduce_values(none, name, (1,), False, initial, 5.0).tolist() == [5.0, 5.0]


@for_each(("name", "axis"), list(itertools.product(("and", "or", "xor"), (None, 0, 1, 2, 3, 4))))
def test_bitwise_reduce_along_any_axis_equals_numpy(name, axis):
    dense = np.random.default_rng(1).integers(0, 1 << 40, (2, 3, 2, 3, 4))
    x = LoDTensor.from_lengths(dense.reshape(6, 2, 3, 4), [3, 3])
    found = ops.bitwise_reduce(x, name, axis)
    found = found.to_regular() if isinstance(found, LoDTensor) else found
    np.testing.assert_array_equal(found, getattr(np, f"bitwise_{name}").reduce(dense, axis))


@for_each("axis", [(), (0,), (0, 1), (2, 0), (-1, 1), (0, 1, 2), (1, 2, 3), (4, 0, 2)])
def test_bitwise_reduce_along_several_axes_equals_numpy(axis):
    dense = np.random.default_rng(2).integers(0, 1 << 40, (2, 3, 2, 3, 4))
    x = LoDTensor.from_lengths(dense.reshape(6, 2, 3, 4), [3, 3])
    found = np.bitwise_xor.reduce(x, axis=axis)
    found = found.to_regular() if isinstance(found, LoDTensor) else found
    np.testing.assert_array_equal(found, np.bitwise_xor.reduce(dense, axis))


@for_each(("name", "initial"), list(itertools.product(("sum", "prod"), (-1, 0, 1, 2))))
def test_initial_of_a_reduction_in_bool_counts_by_whether_it_is_zero(name, initial):
    nested = [[1.0, 2.0, 0.0], [0.0], [3.0], []]
    wanted = [bool(getattr(np, name)(one, dtype=bool, initial=initial)) for one in nested]
    assert getattr(ops, name)(lodcore.array(nested), axis=1, dtype=bool, initial=initial).tolist() == wanted


@given(lods(1, 3, 5), SEEDS, st.data())
def test_sum_over_several_coarse_axes_equals_lists(lod, seed, data):
    x = LoDTensor(np.random.default_rng(seed).integers(-5, 6, lod.num_rows), lod)
    low = data.draw(st.integers(0, lod.num_levels))
    high = data.draw(st.integers(low, lod.num_levels))
    nested = x.tolist()

    def joined(entry, depth):
        """Move the axes from low to high together."""
        if depth > 0:
            return [joined(one, depth - 1) for one in entry]
        return sequences(entry, high - low)

    merged = joined(nested, low)
    wanted = lodcore.array(merged, num_levels=lod.num_levels - (high - low)) if lod.num_levels > high - low else merged
    expected = wanted.sum(axis=low).tolist() if isinstance(wanted, LoDTensor) else sum(wanted)
    found = x.sum(axis=tuple(range(low, high + 1)))
    assert np.asarray(found).tolist() == expected if not isinstance(found, LoDTensor) else found.tolist() == expected


@pytest.mark.parametrize("axis", [2, 3, -1, -2])
@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_bitwise_reduce_along_axes_of_rows_keeps_the_structure(name, axis):
    values = np.random.default_rng(0).integers(0, 64, (5, 3, 4))
    x = LoDTensor.from_lengths(values, [2, 0, 3])
    found = lodcore.ops.bitwise_reduce(x, name, axis)
    assert found.lod == x.lod
    np.testing.assert_array_equal(found.values, getattr(np, f"bitwise_{name}").reduce(values, axis=axis - (axis > 0)))


@for_each(("dtype", "rows"), list(itertools.product(("f4", "f8"), (0, 9, 100, 3000))))
def test_few_and_many_rows_are_reduced_as_numpy_does(dtype, rows):
    x = LoDTensor.from_lengths(np.arange(rows, dtype=dtype) % 7, [rows // 3, 0, rows - rows // 3])
    parts = [part for part in x.to_arrays() if len(part)]
    some = x[x.lengths > 0]
    for name in ("max", "min", "sum"):
        wanted = [getattr(part, name)() for part in parts]
        np.testing.assert_array_equal(getattr(some, name)(axis=1), wanted)
    means = x.mean(axis=1)
    np.testing.assert_allclose(means[x.lengths > 0], [part.mean() for part in parts], rtol=1e-6)
    assert np.isnan(means[x.lengths == 0]).all()
    for axis in (2, -3, 2**80, -(2**80)):
        with pytest.raises(ShapeError, match="axis"):
            x.sum(axis=axis)


def test_the_first_of_equal_extremes_of_sequences_has_the_gradient():
    x = lodcore.array([[1.0, 3.0, 3.0], [], [3.0, 3.0, 1.0]])
    (d_x,) = vjp(lambda x: x.max(axis=0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 1.0], [], [1.0, 0.0, 0.0]]
    (d_x,) = vjp(lambda x: x.max(axis=1, initial=0.0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 0.0], [], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_the_derivative_of_a_deviation_is_0_where_all_values_are_equal(axis):
    x = lodcore.array([[[1.0, 3.0], [2.0]], [[5.0, 5.0]]])
    out, pullback = vjp(lambda x: x.std(axis=axis), x)
    assert out.equals(x.std(axis=axis))
    (d_x,) = pullback(np.ones_like(out.values))
    assert np.isfinite(d_x.values).all()
    if axis == 2:
        assert d_x.tolist() == [[[-0.5, 0.5], [0.0]], [[0.0, 0.0]]]


def test_std_of_an_empty_sequence_under_vjp_is_nan_with_zero_gradient():
    out, pullback = vjp(lambda x: x.std(axis=1), lodcore.array([[1.0], []]))
    np.testing.assert_array_equal(out, [0.0, np.nan])
    assert pullback(np.array([1.0, 0.0]))[0].tolist() == [[0.0], []]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_and_argmin_take_one_empty_position_a_sequence(name):
    """One for each sequence, for all columns, in every form; on finer levels, too, and recorded."""
    wide = LoDTensor.from_lengths(np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]]), [0, 3, 0])
    found = [2, 0] if name == "argmax" else [0, 2]
    for empty in ([7, 9, 8], np.array([7, 9, 8], np.uint8), np.array([[7], [9], [8]]), (7, -5, 8)):
        places = getattr(lodcore.ops, name)(wide, axis=1, empty=empty)
        assert (places.tolist(), places.dtype) == ([[7, 7], found, [8, 8]], np.intp)
    assert getattr(wide, name)(axis=-2, empty=[7, 9, 8], keepdims=True).tolist() == [[[7, 7]], [found], [[8, 8]]]
    assert vjp(lambda x: getattr(x, name)(axis=1, empty=[7, 9, 8]), wide)[0].tolist() == [[7, 7], found, [8, 8]]
    assert vjp(lambda x: getattr(x, name)(axis=1, empty=x.lengths), wide)[0].tolist() == [[0, 0], found, [0, 0]]
    deep = lodcore.array([[[1.0]], [], [[], []]])
    for empty in ([4, 5, 6], LoDTensor.from_lengths([4, 5, 6], [1, 0, 2])):
        assert getattr(deep, name)(axis=2, empty=empty).tolist() == [[0], [], [5, 6]]
    for empty in ([7, 8], [[1, 2], [3, 4], [5, 6]]):
        with pytest.raises(ShapeError, match=f"{name}: empty: has shape .*, or one for each of 3 seq"):
            getattr(wide, name)(axis=1, empty=empty)
    for empty in ([0.5, 1, 2], ["a", "b", "c"]):
        with pytest.raises(lodcore.DTypeError, match=f"{name}: empty: "):
            getattr(wide, name)(axis=1, empty=empty)
    with pytest.raises(lodcore.DTypeError, match=f"{name}: empty: has shape .*; a number is needed"):
        getattr(wide, name)(axis=2, empty=[7, 9, 8])


@pytest.mark.parametrize(("name", "place"), [("argmax", 2), ("argmin", 0)])
def test_the_position_in_an_empty_sequence_is_any_number(name, place):
    """Also a number that is a position elsewhere, and next to position 0."""
    deep = lodcore.array([[[1.0, 2.0, 3.0]], [], [[], [7.0]]])
    for empty in (-1, 0, 5):
        assert getattr(deep, name)(axis=2, empty=empty).tolist() == [[place], [], [empty, 0]]
        assert getattr(deep[2], name)(axis=1, empty=empty).tolist() == [empty, 0]
        flat = lodcore.array([[1.0, 2.0, 3.0], [], [7.0]])
        assert getattr(flat, name)(axis=1, empty=empty, keepdims=True).tolist() == [[place], [empty], [0]]
        recorded, _ = vjp(lambda x, e=empty: getattr(x, name)(axis=1, empty=e), flat)
        assert recorded.tolist() == [place, empty, 0]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "prod", "any", "argmax"])
@pytest.mark.parametrize("lengths", [[[2, 1]], [[2, 1], [1, 3, 2]]])
def test_results_with_kept_axes_are_the_others_and_may_be_changed(name, lengths):
    n_rows = sum(lengths[-1])
    for shape in ((n_rows,), (n_rows, 2)):
        x = LoDTensor.from_lengths(np.arange(float(np.prod(shape))).reshape(shape), *lengths)
        found, wanted = (getattr(x, name)(axis=len(lengths), keepdims=kept) for kept in (True, False))
        if isinstance(wanted, LoDTensor):
            assert found.lod == wanted.lod
            found, wanted = found.values, wanted.values
        np.testing.assert_array_equal(found[:, 0], wanted)
        assert found.dtype == wanted.dtype
        assert found.flags.writeable


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["mean", "max", "min"])
@pytest.mark.parametrize("empty", [0.0, -1.5, np.nan, np.inf])
def test_results_of_no_rows(name, empty, dtype):
    for shape in ((3,), (3, 2)):
        x = LoDTensor.from_lengths(np.arange(float(np.prod(shape))).reshape(shape).astype(dtype), [0, 2, 0, 1])
        found = getattr(x, name)(axis=1, empty=empty)
        assert found.dtype == dtype
        for s, part in enumerate(x.to_arrays()):
            np.testing.assert_array_equal(
                found[s], getattr(np, name)(part, axis=0) if len(part) else np.full(shape[1:], empty)
            )
    if dtype == "f4":
        with pytest.raises(DTypeError, match="empty: is 1e\\+300"):
            getattr(x, name)(axis=1, empty=1e300)


@for_each("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_results_with_kept_axes_may_be_changed(axis):
    """They are not views of what was given, also where there is one sequence."""
    x = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [3])
    for name in ("sum", "max", "mean", "std", "prod", "argmin", "median", "nanmax", "nanargmin"):
        if "arg" in name and isinstance(axis, tuple):
            continue
        found = getattr(np, name)(x, axis=axis, keepdims=True)
        found[...] = 7
        assert (values_of(found) == 7).all()
    assert x.values.tolist() == np.arange(6.0).reshape(3, 2).tolist()


@for_each("dtype", ["f4", "f8", "i4", "?"])
def test_deviation_of_all_values_has_the_bits_of_the_recorded_one(dtype):
    random = np.random.default_rng(3)
    for count, ddof in itertools.product((1, 2, 7, 300), (0, 1, 2, 0.5)):
        x = LoDTensor.from_lengths((random.normal(size=(count, 2)) * 9).astype(dtype), [count // 2, count - count // 2])
        for name in ("var", "std"):
            wanted, _ = vjp(lambda x, name=name, ddof=ddof: getattr(ops, name)(x, ddof=ddof), x)
            found = getattr(ops, name)(x, ddof=ddof)
            assert found.dtype == wanted.dtype
            assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


OF_ALL_KINDS = ("sum", "mean", "max", "min", "nansum", "nanmean", "nanmax", "nanmin")
OF_REAL_NUMBERS = ("prod", "var", "std", "any", "all", "median", "ptp", "argmax", "nanvar", "nanstd", "nanmedian")


@for_each("name", [*OF_ALL_KINDS, *OF_REAL_NUMBERS])
@pytest.mark.parametrize("num_levels", [0, 1])
def test_reductions_of_all_values_are_numbers_in_every_way_of_running(name, num_levels):
    """As NumPy's: not arrays without axes."""
    function = getattr(np, name)
    for dtype in ("f2", "f4", "f8", "i4", "?", "c16", "m8[s]")[: 7 if name in OF_ALL_KINDS else 4]:
        rows = np.array([3, 1, 2]).astype(dtype)
        x = LoDTensor.from_lengths(rows, [2, 0, 1]) if num_levels else rows
        with Program() as program:
            made = function(data("x", (None,), dtype, num_levels=num_levels))
        (later,) = Executor().run(program, {"x": x}, [made])
        wanted = type(function(rows))
        assert (dtype, type(function(x)), type(later), type(vjp(function, x)[0])) == (dtype, wanted, wanted, wanted)
