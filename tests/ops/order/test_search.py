"""Positions and interpolation among sorted rows, compared with NumPy."""

import bisect
import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from reference.ops.search import interpolated
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each(("of_x", "of_v"), list(itertools.product(["D", "h", "s"], repeat=2)))
def test_sequence_searchsorted_compares_dates_of_two_units_exactly(of_x, of_v):
    for kind in "Mm":
        x = np.array([0, 86400, 172800], f"{kind}8[s]").astype(f"{kind}8[{of_x}]")
        v = np.array([0, 1, 3600, 86400, 90000, 172799, 172800, 172801], f"{kind}8[s]").astype(f"{kind}8[{of_v}]")
        for side in ("left", "right"):
            found = lodcore.sequence_searchsorted(
                LoDTensor(x, LoD.from_lengths([3])), LoDTensor(v, LoD.from_lengths([8])), side
            )
            assert found.values.tolist() == np.searchsorted(x, v, side).tolist()


@for_each("side", ["left", "right"])
@for_each("swapped", [False, True])
def test_sequence_searchsorted_compares_signed_and_unsigned_integers_exactly(swapped, side):
    x = np.array([-(2**63), -1, 0, 2**60, 2**60 + 1, 2**63 - 1])
    v = np.array([0, 1, 2**60, 2**60 + 1, 2**60 + 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    x, v = (v, x) if swapped else (x, v)
    split = [LoDTensor.from_lengths(one, [0, len(one) - 2, 2]) for one in (x, v)]
    place = bisect.bisect_left if side == "left" else bisect.bisect_right
    for one, other in ((x, v), (x[:0], v), (x, v[:0])):
        found = lodcore.sequence_searchsorted(lodcore.array([one]), lodcore.array([other]), side)
        assert found.values.tolist() == [place(one.tolist(), number) for number in other.tolist()]
    wanted = [[place(a, number) for number in b] for a, b in zip(*(one.tolist() for one in split), strict=True)]
    assert lodcore.sequence_searchsorted(*split, side).tolist() == wanted


@pytest.mark.not_on_reference
def test_sequence_interp_without_points_has_gradients_of_zeros():
    nothing = LoDTensor.from_lengths(np.empty(0), [0, 0])
    x = LoDTensor.from_lengths(np.array([1.0, 2.0, 3.0]), [2, 1])
    found = vjp(lodcore.sequence_interp, x, nothing, nothing)[1](np.ones(3))
    assert [one.values.tolist() for one in found] == [[0.0, 0.0, 0.0], [], []]


@pytest.mark.not_on_reference
@for_each("size", [1, 7, 8, 9, 16, 17, 40])
def test_sequence_searchsorted_of_text_of_any_length(size):
    words = [letter * size for letter in "aceg"]
    for kind in ("S", "U"):
        x, v = (lodcore.array([np.array(given, kind)]) for given in (words, ["b" * size, "c" * size, "h"]))
        assert ops.sequence_searchsorted(x, v).tolist() == [[1, 1, 4]]
        assert ops.sequence_searchsorted(x, v, "right").tolist() == [[1, 2, 4]]


@pytest.mark.not_on_reference
def test_sequence_interp_gradients_have_the_dtypes_of_the_inputs():
    x = lodcore.array([[1.0], [2.0]])
    given = [x.astype("f4"), x[:, :0].astype("f2"), x[:, :0].astype("f8")]
    found = vjp(ops.sequence_interp, *given)[1](np.ones(2))
    assert [values_of(one).dtype for one in found] == ["f4", "f2", "f8"]
    assert [values_of(one).tolist() for one in found] == [[0, 0], [], []]


@for_each("dtype", ["i8", "u8", ">i8", "i4", "u1"])
def test_sequence_interp_at_integers_of_any_size_is_exact_between_near_ones(dtype):
    draw, least, most = np.random.default_rng(0), np.iinfo(dtype).min, np.iinfo(dtype).max
    near = lambda start, count: (start + np.sort(draw.integers(0, 40, count)).astype(object)).tolist()  # noqa: E731
    xp = [near(least, 9), [], near(most - 40, 9), near(50, 7), [least, most]]
    x = [near(least, 8), [1, 2], near(most - 40, 8), near(60, 6), [most, least]]
    fp = [draw.standard_normal(len(one)) for one in xp]
    parts = (x, dtype), (xp, dtype), (fp, "f8")
    given = [lodcore.array([np.array(part, kind) for part in one]) for one, kind in parts]
    (found, back), each = vjp(lambda y: ops.sequence_interp(*given[:2], y), given[2]), zip(x, xp, fp, strict=True)
    wanted = [[interpolated(at, points, list(f)) for at in places] for places, points, f in each]
    np.testing.assert_allclose(found.values, np.concatenate(wanted), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.sum(back(found.with_values(np.ones(26)))[0].values), 24)  # 2 have no points


def test_sequence_interp_at_integers_measures_from_the_point_before():
    far = 1_700_000_000_000_000_001
    assert lodcore.sequence_interp([[1]], [[-(2**63), 1, 2]], [[0.0, 0.0, -3.0]]).tolist() == [[0.0]]
    assert lodcore.sequence_interp([[far + 50]], [[0, far, far + 100]], [[9.0, 0.0, 1.0]]).tolist() == [[0.5]]


def test_sequence_interp_between_equal_points_has_finite_gradients():
    """Also at the points, before the first and after the last; nothing warns."""
    x, xp = lodcore.array([[0.0, 1.0, 1.5, 2.0, 9.0], [5.0]]), lodcore.array([[1.0, 1.0, 2.0, 2.0], [5.0, 5.0]])
    fp = lodcore.array([[1.0, 3.0, 7.0, 8.0], [2.0, 4.0]])
    found, pullback = vjp(lodcore.sequence_interp, x, xp, fp)
    assert found.tolist() == [[1.0, 3.0, 5.0, 8.0, 8.0], [4.0]]
    d_x, d_xp, d_fp = pullback(found.with_values(np.ones(6)))
    assert d_x.tolist() == [[0.0, 4.0, 4.0, 0.0, 0.0], [0.0]]
    assert np.isfinite(d_xp.values).all()
    assert d_fp.tolist() == [[1.0, 1.5, 0.5, 2.0], [0.0, 1.0]]


def test_sequence_searchsorted_in_unsorted_sequences_stays_in_bounds():
    random = np.random.default_rng(0)
    x = LoDTensor.from_lengths(random.normal(size=60), [20, 0, 40])
    v = LoDTensor.from_lengths(random.normal(size=30), [10, 5, 15])
    for side in ("left", "right"):
        found = ops.sequence_searchsorted(x, v, side)
        for n, positions in zip(x.lengths, found, strict=True):
            assert ((positions >= 0) & (positions <= n)).all()
