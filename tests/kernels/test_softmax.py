"""Softmax and its gradient, logarithms of sums, running sums; the exponential, and every path of it."""

import hashlib
import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from reference.kernels import softmax as twin
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.rows import REALS, scores
from tests.helpers.tables import for_each

SHAPES = st.sampled_from([(8, 5), (3, 40), (2, 300)])  # maximum number of sequences, maximum length
OFFSETS = SHAPES.flatmap(lambda shape: lengths(None, *shape)).map(running_sum).map(int64)
WIDTHS = [1, 1, 2, 5, 16, 40, 0]


@st.composite
def batches(draw, widths=WIDTHS, arrays=1, dtypes=REALS):
    """Draw offsets, and arrays of rows that fit: scores, or any bits."""
    offsets, dtype, width = draw(OFFSETS), draw(st.sampled_from(dtypes)), draw(st.sampled_from(widths))
    if offsets[-1] > 100:
        width = min(width, 5)
    made = []
    for _ in range(arrays):
        seed = draw(st.integers(0, 2**32))
        if dtype.kind == "f" and draw(st.booleans()):
            made.append(scores(seed, offsets[-1], dtype, width))
        else:
            made.append(read_only(values_from_seed(seed, offsets[-1], dtype, (width,))))
    return offsets, *made


@pytest.mark.not_on_reference
class TestTwins:
    @given(st.integers(0, 9), st.sampled_from([1, 2, 5, 70]), st.sampled_from(REALS), st.booleans(), st.data())
    def test_label_losses(self, count, classes, dtype, odd, data):
        seed = data.draw(st.integers(0, 2**32))
        x = scores(seed, count, dtype, classes)
        labels = np.random.default_rng(seed).integers(0, classes, count)
        if odd and count:
            labels[data.draw(st.integers(0, count - 1))] = data.draw(st.sampled_from([-1, classes, 2**63 - 1]))
        out = unwritten(count, dtype=dtype)
        bad = agree("softmax.label_losses", x, int64(labels), unwritten(*x.shape, dtype=dtype), out)
        assert (bad >= 0) == (odd and count > 0)

    def test_losses_of_many_rows(self):
        x, labels = scores(1, 200, np.dtype("f4"), 3), int64(np.arange(200) % 3)
        shifted = unwritten(200, 3, dtype="f4")
        agree("softmax.label_losses", x, labels, shifted, unwritten(200, dtype="f4"))

    @given(batches())
    def test_softmax(self, drawn):
        offsets, x = drawn
        agree("softmax.softmax_rows", x, offsets, unwritten(*x.shape, dtype=x.dtype))
        agree("softmax.log_sum_exp", x, offsets, unwritten(len(offsets) - 1, x.shape[1], dtype=x.dtype))

    @given(batches(), st.integers(0, 2**32))
    def test_spread(self, drawn, seed):
        offsets, x = drawn
        rows = scores(seed, len(offsets) - 1, x.dtype, x.shape[1])
        agree("softmax.spread_softmax", rows, x, offsets, unwritten(*x.shape, dtype=x.dtype))

    @given(batches(arrays=2))
    def test_pull(self, drawn):
        offsets, y, d = drawn
        agree("softmax.pull_softmax", y, d, offsets, unwritten(*y.shape, dtype=y.dtype))

    @given(batches(dtypes=[*REALS, np.dtype("i8"), np.dtype("u8")]), st.booleans())
    def test_running_sums(self, drawn, backwards):
        offsets, x = drawn
        agree("softmax.add_up_rows", x, offsets, backwards, unwritten(*x.shape, dtype=x.dtype))


def exact_exp(x):
    """Return exp(x) to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return Decimal(float(x)).exp()


class TestExponential:
    """The twin is compared with the mathematics; compiled kernels have the bits of the twin."""

    @pytest.mark.parametrize(
        ("real", "low", "high"), [(np.float32, -87.33654, 89), (np.float64, -708.396418532264, 710)]
    )
    def test_is_within_its_bound(self, real, low, high):
        random = np.random.default_rng(5)
        for x in [*random.uniform(low, high, 500), *random.uniform(-1, 1, 500), *random.uniform(low, low * 0.8, 200)]:
            x = real(x)
            with np.errstate(all="ignore"):
                got = twin.exp(x)
            assert type(got) is real
            want = exact_exp(x)
            if want < Decimal(float(np.finfo(real).max)):
                nearest = real(float(want))
                assert abs(Decimal(float(got)) - want) <= Decimal("1.1") * Decimal(float(np.spacing(nearest)))

    @pytest.mark.parametrize("real", [np.float32, np.float64])
    def test_exp_at_zero_infinity_and_nan(self, real):
        with np.errstate(all="ignore"):
            cases = [(0, 1), (-0.0, 1), (-np.inf, 0), (np.inf, np.inf), (1e30, np.inf), (-1e30, 0), (1e-30, 1)]
            for x, want in cases:
                assert twin.exp(real(x)) == want
            assert np.isnan(twin.exp(real(np.nan)))
            edge = real(-87.33654) if real is np.float32 else real(-708.396418532264)
            least = np.finfo(real).smallest_normal
            assert least <= twin.exp(edge) < least * real(1.00001)
            assert twin.exp(np.nextafter(edge, real(-1000))) == 0


@pytest.mark.not_on_reference
@for_each(("dtype", "width"), [(dtype, width) for dtype in REALS for width in (1, 3, 8, 17)])
def test_small_shares_are_0_only_where_they_are_subnormal(dtype, width):
    least = {4: 87.33654, 8: 708.396418532264}[dtype.itemsize]
    for count in (1, 3, 8, 15, 16, 40):
        for below, wanted in ((0.01, math.exp(-least + 0.01)), (0.8, math.exp(-least + 0.8)), (-0.01, 0), (-20, 0)):
            x, out = np.zeros((count + 1, width), dtype), np.empty((count + 1, width), dtype)
            x[1:] = -least + below
            kernels.softmax.softmax_rows(x, int64([0, count + 1]), out)
            np.testing.assert_allclose(out[1:], wanted, rtol=1e-4, atol=0)


def digest():
    """Compute all kernels on seeded rows of all kinds of shapes, and hash the results."""
    found = hashlib.sha256()
    random = np.random.default_rng(3)
    for seed in range(300):
        dtype, width = (
            REALS[seed % 2],
            int(random.choice([1, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 24, 31, 33, 64, 65, 129])),
        )
        longest = int(random.choice([2, 20, 70, 300]))
        offsets = np.append(0, np.cumsum(random.integers(0, longest, random.integers(1, 6))))
        x, d = (scores(2 * seed + k, offsets[-1], dtype, width) for k in range(2))
        rows, out = np.empty((len(offsets) - 1, width), dtype), np.empty_like(x)
        kernels.softmax.log_sum_exp(x, offsets, rows)
        found.update(rows.tobytes())
        for compute, given_rows in [
            (kernels.softmax.softmax_rows, (x,)),
            (kernels.softmax.spread_softmax, (rows, x)),
            (kernels.softmax.pull_softmax, (x, d)),
        ]:
            compute(*given_rows, offsets, out)
            found.update(out.tobytes())
    return found.hexdigest()


LENGTHS = [1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 33, 64, 65, 70, 128, 129, 260]


@pytest.mark.not_on_reference
@for_each("dtype", REALS)
@for_each("odd", [None, -1e4, -85.0, -90.0, -706.0, -np.inf, np.inf, np.nan, -0.0])
def test_softmax_with_an_extreme_first_or_last_cell(dtype, odd):
    """Lengths about those of vectors and lanes, the first or the last cell unusual; weights of both signs."""
    offsets = int64(running_sum(LENGTHS))
    x = (np.arange(offsets[-1]) % 7 / 4).astype(dtype)[:, None]
    rows = np.array([2, -0.5, 3] * 6, dtype)[: len(LENGTHS), None]
    for at in (offsets[:-1], offsets[1:] - 1):
        some = x.copy()
        some[at] = x[at] if odd is None else odd
        wide, expected = some[:, 0].astype(float), []
        with np.errstate(all="ignore"):
            for start, stop in pairwise(offsets):
                part = np.exp(wide[start:stop] - wide[start:stop].max())
                part[part < np.finfo(dtype).tiny * part.sum()] = 0
                expected.append(part / part.sum())
        weighed = np.concatenate([part * row for part, row in zip(expected, rows[:, 0], strict=True)])
        out = unwritten(*x.shape, dtype=dtype)
        near = {"rtol": 3e-6 if dtype == np.float32 else 1e-14, "atol": np.finfo(dtype).tiny}
        kernels.softmax.softmax_rows(some, offsets, out)
        np.testing.assert_allclose(out[:, 0], np.concatenate(expected), **near)
        assert not ((out != 0) & (np.abs(out) < np.finfo(dtype).tiny)).any()
        kernels.softmax.spread_softmax(rows, some, offsets, out)
        np.testing.assert_allclose(out[:, 0], weighed, **near)
        assert not ((out != 0) & (np.abs(out) < np.finfo(dtype).tiny / 4)).any()


@for_each(("dtype", "low"), [("f4", -86.0), ("f8", -707.0)])
def test_quotients_that_would_be_subnormal_are_zero(dtype, low):
    for width in (1, 2):
        x = np.zeros((41, width), dtype)
        x[7] = low
        out = np.empty_like(x)
        kernels.softmax.softmax_rows(x, int64([0, 41]), out)
        assert (out[7] == 0).all()
        kernels.softmax.softmax_rows(x[6:8], int64([0, 2]), out[:2])
        assert (out[1] > 0).all()


@for_each("dtype", REALS)
def test_logarithms_of_sums_of_zeros_are_no_negative_zeros(dtype):
    for width in (1, 2, 33):
        out = unwritten(1, width, dtype=dtype)
        kernels.softmax.log_sum_exp(np.full((1, width), -0.0, dtype), int64([0, 1]), out)
        assert out.tolist() == [[0.0] * width]
        assert not np.signbit(out).any()


@for_each("dtype", REALS)
@for_each("backwards", [False, True])
@for_each("width", [1, 3])
def test_every_nan_of_a_running_sum_has_the_same_bits(dtype, width, backwards):
    word = dtype.str.replace("f", "u")
    x = np.ones((6, width), dtype)
    x[[0, 3, 5]] = -np.array(np.nan, dtype)
    out = unwritten(6, width, dtype=dtype)
    kernels.softmax.add_up_rows(x, int64([0, 2, 5, 6]), backwards, out)
    assert set(out[out != out].view(word).tolist()) == {np.array(np.nan, dtype).view(word).item()}


@for_each(("count", "at"), [(1, 0), (2, 1), (64, 63), (65, 64), (130, 129)])
@for_each(("label", "bad"), [(3, True), (4, True), (-1, True), (2, False), (0, False)])
def test_the_first_label_that_is_no_class(count, at, label, bad):
    x, labels = np.zeros((count, 3)), np.zeros(count, np.int64)
    labels[at] = label
    out = np.full(count, 7.0)
    assert kernels.softmax.label_losses(x, labels, np.zeros_like(x), out) == (at if bad else -1)
    assert (out == 7).all() if bad else np.allclose(out, np.log(3))


@pytest.mark.parametrize("odd", [int64([0, 1]), int64([0, 3]), int64([0, 1, 1])], ids=str)
def test_arrays_that_do_not_belong_together(odd):
    x, offsets, wide = np.ones((2, 3)), int64([0, 2]), np.ones((2, 4))
    out, rows = np.full((2, 3), 7.0), np.full((1, 3), 7.0)
    softmax = kernels.softmax
    for call, says in [
        (lambda: softmax.softmax_rows(x, offsets, wide), "x, offsets and out"),
        (lambda: softmax.softmax_rows(x, odd, out), "x, offsets and out"),
        (lambda: softmax.spread_softmax(x, x, offsets, out), "rows, x, offsets"),
        (lambda: softmax.spread_softmax(np.ones((1, 4)), x, offsets, out), "rows, x, offsets"),
        (lambda: softmax.spread_softmax(rows, x, odd, out), "rows, x, offsets"),
        (lambda: softmax.pull_softmax(x, wide, offsets, out), "y, d, offsets and out"),
        (lambda: softmax.pull_softmax(x, x, odd, out), "y, d, offsets and out"),
        (lambda: softmax.log_sum_exp(x, offsets, out), "x, offsets and out"),
        (lambda: softmax.log_sum_exp(x, odd, rows), "x, offsets and out"),
        (lambda: softmax.add_up_rows(x, offsets, False, wide), "x, offsets and out"),
        (lambda: softmax.add_up_rows(x, odd, False, out), "x, offsets and out"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()
    assert (out == 7).all()
    assert (rows == 7).all()
