"""Convolutions: errors of Paddle, windows across blocks, and laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, grad_check, row_conv, sequence_conv, vjp
from lodcore.ops.windows import window
from tests.helpers.agree import same_memory
from tests.helpers.draw import int64, lods, read_only, whole_numbers
from tests.helpers.tables import for_each

RANDOM = np.random.default_rng(0)


def batch(*shape, lengths, dtype=float):
    """Make a LoDTensor of random rows."""
    return LoDTensor.from_lengths(read_only(np.random.default_rng(1).standard_normal(shape).astype(dtype)), lengths)


def windows_of(x, length, start):
    """List the windows of each row by plain NumPy, with zeros around each sequence."""
    made = []
    for rows in x:
        around = np.zeros((abs(start) + length, rows.shape[1]))
        padded = np.concatenate([around, rows, around])
        first = len(around) + start
        made += [padded[first + t : first + t + length].ravel() for t in range(len(rows))]
    return np.array(made).reshape(len(made), length * x.values.shape[1])


# -- errors of Paddle --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [-3, -1, 0, 1, 2, 5])
def test_ancestor_conv_filter_gradient_of_short_sequences(start):
    """Its gradient of the filter was wrong if windows start after the end of a short sequence."""
    x = batch(9, 2, lengths=[1, 0, 2, 5, 1])
    weights, padding = RANDOM.standard_normal((6, 2)), RANDOM.standard_normal((max(0, -start) + max(0, start + 2), 2))
    grad_check(lambda x, w: sequence_conv(x, w, 3, start), x, weights)
    grad_check(lambda x, w, p: sequence_conv(x, w, 3, start, p), x, weights, padding)


def test_ancestor_conv_takes_float64():
    x = batch(3, 2, lengths=[3])
    assert sequence_conv(x, np.ones((2, 1)), 1).dtype == np.float64
    single = LoDTensor(x.values.astype(np.float32), x.lod)
    assert sequence_conv(single, np.ones((2, 1), np.float32), 1).dtype == np.float32


def test_ancestor_conv_windows_before_the_sequence():
    """It refused windows that end before their row begins."""
    x = lodcore.array([[1.0, 2.0, 3.0], [4.0]])
    np.testing.assert_array_equal(sequence_conv(x, [[1.0]], 1, -2).values[:, 0], [0, 0, 1, 0])
    np.testing.assert_array_equal(sequence_conv(x, [[1.0]], 1, -(2**80)).values[:, 0], [0, 0, 0, 0])
    np.testing.assert_array_equal(sequence_conv(x, [[1.0]], 1, 2**80).values[:, 0], [0, 0, 0, 0])


def test_ancestor_row_conv_of_empty_sequences_and_two_levels():
    """It refused the former, and of the latter computed only the first sequences."""
    x = lodcore.array([[[1.0, 2.0], []], [], [[3.0, 4.0, 5.0]]])
    np.testing.assert_array_equal(row_conv(x, [1.0, 10.0]).values, [21, 2, 43, 54, 5])
    assert row_conv(x, [1.0, 10.0]).lod is x.lod


def test_ancestor_row_conv_is_float32_only():
    x = batch(4, 3, lengths=[4])
    assert row_conv(x, np.ones((2, 3))).dtype == np.float64


# -- meaning -----------------------------------------------------------------------------------------------------------


def test_padding_stands_in_the_order_of_rows():
    x = lodcore.array([[1.0, 2.0], [], [3.0]])
    found = sequence_conv(x, np.eye(4), 4, -2, [[10.0], [20.0], [30.0]])
    assert found.values.tolist() == [[10, 20, 1, 2], [20, 1, 2, 30], [10, 20, 3, 30]]
    behind = sequence_conv(x, np.eye(2), 2, 1, [10.0, 20.0])
    assert behind.values.tolist() == [[2, 10], [10, 20], [10, 20]]


def test_windows_stay_within_sequences_of_the_level():
    x = lodcore.array([[[1.0], [2.0, 3.0]], [[4.0]]])
    np.testing.assert_array_equal(row_conv(x, [1.0, 10.0], level=0).values, [21, 32, 3, 4])
    np.testing.assert_array_equal(row_conv(x, [1.0, 10.0], level=-1).values, [1, 32, 3, 4])
    np.testing.assert_array_equal(sequence_conv(x, [[1.0], [10.0]], 2, 0, level=0).values[:, 0], [21, 32, 3, 4])


def test_integers_are_promoted():
    x = lodcore.array([[1, 2, 3]])
    assert sequence_conv(x, [[1.0]], 1).dtype == row_conv(x, [1.0]).dtype == np.float64
    made, pullback = vjp(lambda w: row_conv(x, w), np.ones(2, np.float32))
    assert made.dtype == np.float64
    assert pullback(made)[0].dtype == np.float32


@pytest.mark.parametrize("sizes", [[3] * 40, [1] * 200, [0] * 3])
def test_sequence_conv_with_infinite_weights_is_nan_at_the_padding(sizes):
    """Short sequences or long ones: 0 * inf is nan."""
    x = LoDTensor.from_lengths(np.ones((sum(sizes), 1)), sizes)
    with np.errstate(invalid="ignore"):
        found = sequence_conv(x, [[np.inf], [1.0], [1.0], [1.0], [1.0]], 5, -4).values[:, 0]
    assert np.isnan(found).all() == (max(sizes) < 5)


def test_filters_of_any_layout():
    x = batch(6, 2, lengths=[4, 2])
    weights = RANDOM.standard_normal((4, 3))
    want = sequence_conv(x, weights, 2)
    wide = np.zeros((8, 6))
    wide[::2, ::2] = weights
    for form in (np.asfortranarray(weights), wide[::2, ::2], weights.astype(">f8"), weights.tolist()):
        np.testing.assert_allclose(sequence_conv(x, form, 2).values, want.values, rtol=1e-12)
    taps = RANDOM.standard_normal((3, 2))
    for form in (np.asfortranarray(taps), taps.astype(">f8"), taps.tolist(), lodcore.DenseTensor(taps)):
        assert row_conv(x, form).equals(row_conv(x, taps))


def test_a_result_in_memory_that_is_given():
    x = batch(300, 2, lengths=[100, 200])
    weights = RANDOM.standard_normal((6, 3))
    out = np.empty((300, 3))
    assert same_memory(sequence_conv(x, weights, 3, out=out).values, out)
    np.testing.assert_allclose(out, sequence_conv(x, weights, 3).values, rtol=1e-12)
    short = LoDTensor.from_lengths(x.values, [1] * 300)
    assert same_memory(sequence_conv(short, weights, 3, out=out).values, out)
    np.testing.assert_allclose(out, x.values @ weights[2:4], rtol=1e-12)
    rows = np.zeros((5, 2))
    for call in (
        lambda x, out: sequence_conv(x, np.eye(2), 1, out=out),
        lambda x, out: row_conv(x, np.ones((1, 2)), out=out),
    ):
        with pytest.raises(ValueError, match="out: overlaps"):
            call(LoDTensor(rows, LoD.from_lengths([5]), share=True), rows)


class Reshaper:
    """A filter that changes the shape of the values of a batch while it is read."""

    def __init__(self, x, shape):
        self.x, self.filter = x, np.ones(shape)

    def __array__(self, dtype=None, copy=None):
        self.x.values.shape = (1, self.x.values.size)
        return self.filter


@pytest.mark.parametrize(
    ("call", "shape"), [(row_conv, (1, 2)), (lambda x, filter: sequence_conv(x, filter, 1), (2, 3))]
)
def test_sequence_conv_filter_of_another_width_changes_the_row_width(call, shape):
    x = LoDTensor(np.zeros((4, 2)), LoD.from_lengths([4]), share=True)
    assert call(x, Reshaper(x, shape)).values.shape[0] == 4
    assert x.values.shape == (4, 2)


# -- across blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.not_on_reference
@pytest.mark.parametrize("sizes", [[700, 0, 1, 1299], [2] * 1000, [1] * 2000], ids=["long", "twos", "ones"])
@pytest.mark.parametrize(("length", "start"), [(3, -1), (3, 1), (2, -4), (5, 0)])
def test_convolution_in_blocks_equals_one_block(monkeypatch, sizes, length, start):
    monkeypatch.setattr(window, "_blocks", lambda *sizes: 37)
    x = batch(2000, 2, lengths=sizes)
    weights, cotangent = RANDOM.standard_normal((length * 2, 3)), RANDOM.standard_normal((2000, 3))
    made, pullback = vjp(lambda x, w: sequence_conv(x, w, length, start), x, weights)
    columns = windows_of(x, length, start)
    np.testing.assert_allclose(made.values, columns @ weights, rtol=1e-9, atol=1e-12)
    d_x, d_weights = pullback(cotangent)
    np.testing.assert_allclose(d_weights, columns.T @ cotangent, rtol=1e-9, atol=1e-9)
    shift = x.values + RANDOM.standard_normal(x.values.shape)
    moved = windows_of(LoDTensor(shift, x.lod), length, start) - columns
    np.testing.assert_allclose((d_x.values * (shift - x.values)).sum(), (moved @ weights * cotangent).sum(), rtol=1e-8)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (700, 2), (6000, 1)])
def test_convolution_blocks_have_the_given_size(shape):
    width, new_width = shape
    for itemsize in (4, 8):
        assert window._blocks(0, width, new_width, itemsize) == 1
        some = window._blocks(10**9, width, new_width, itemsize)
        assert some == max(2**20 // ((width + new_width) * itemsize), 256)
        assert window._blocks(5, width, new_width, itemsize) == 5
    assert window._blocks(10**9, 2**30, 1, 4) == 1


# -- laws --------------------------------------------------------------------------------------------------------------


@given(lods(1, 2, most=5), st.integers(1, 4), st.integers(-4, 4), st.data())
def test_conv_is_its_own_adjoint_with_a_turned_filter(lod, length, start, data):
    """Exactly, for integers: <conv(x), y> = <x, d_x> = <filter, d_filter>."""
    x = LoDTensor(data.draw(whole_numbers(lod.num_rows, "f8", 2)), lod)
    weights, y = data.draw(whole_numbers(2 * length, "f8", 3)), data.draw(whole_numbers(lod.num_rows, "f8", 3))
    made, pullback = vjp(lambda x, w: sequence_conv(x, w, length, start), x, weights)
    d_x, d_weights = pullback(y)
    assert (made.values * y).sum() == (x.values * d_x.values).sum() == (weights * d_weights).sum()
    assert d_x.lod is lod


@given(lods(1, 2, most=5), st.integers(1, 4), st.data())
def test_row_conv_is_a_conv_with_a_diagonal_filter(lod, length, data):
    x = LoDTensor(data.draw(whole_numbers(lod.num_rows, "f8", 3)), lod)
    taps = data.draw(whole_numbers(length, "f8", 3))
    diagonal = np.concatenate([np.diag(row) for row in taps])
    np.testing.assert_array_equal(row_conv(x, taps).values, sequence_conv(x, diagonal, length, 0).values)


def test_a_batch_of_one_is_the_sequence_alone():
    x = batch(8, 3, lengths=[3, 0, 5])
    weights = RANDOM.standard_normal((9, 2))
    whole = sequence_conv(x, weights, 3)
    for s, rows in enumerate(x):
        alone = sequence_conv(LoDTensor(rows.copy(), LoD.from_lengths([len(rows)])), weights, 3)
        np.testing.assert_allclose(whole[s], alone.values, rtol=1e-12)


def test_refining_a_level_with_single_rows_leaves_one_tap():
    x = batch(4, 2, lengths=[4])
    single = LoDTensor(x.values, LoD.from_offsets(*[x.lod.offsets(), int64(range(5))]))
    np.testing.assert_array_equal(row_conv(single, np.full((3, 2), 2.0)).values, 2 * x.values)
    assert (
        row_conv(single, np.full((3, 2), 2.0), level=0).values.tolist()
        == row_conv(x, np.full((3, 2), 2.0)).values.tolist()
    )


@pytest.mark.parametrize("count", [1, 2, 100, 5000])
def test_nan_times_a_filter_of_one_zero_is_nan(count):
    """`ndarray.dot` returns 0 if one operand is a single number."""
    x = LoDTensor.from_lengths(np.full(count, np.nan), [count])
    found, pullback = vjp(lambda x, weights: lodcore.sequence_conv(x, weights, 1), x, np.zeros((1, 1)))
    assert np.isnan(found.values).all()
    assert np.isnan(pullback(np.zeros((count, 1)))[1]).all()


LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    """Split rows into those of each sequence."""
    return np.split(values, np.cumsum(lengths)[:-1])


@pytest.mark.not_on_reference
def test_row_conv_and_sequence_conv_gradients_of_the_filter_in_double_precision():
    values, d = np.cos(np.arange(16.0)).reshape(8, 2), np.sin(1 + np.arange(16.0)).reshape(8, 2)
    x, taps = LoDTensor.from_lengths(values, LENGTHS), np.ones((3, 2))
    wanted = [sum((a[j:] * b[: len(b) - j]).sum(0) for a, b in zip(cut(values), cut(d), strict=True)) for j in range(3)]
    for dtype in ("f8", "f4"):
        (found,) = vjp(lambda taps: lodcore.row_conv(x, taps), taps.astype(dtype))[1](d)
        np.testing.assert_allclose(found, wanted, rtol=1e-13 if dtype == "f8" else 1e-6)
    (found,) = vjp(lambda filter: lodcore.sequence_conv(x, filter, 3, 0), np.ones((6, 2)))[1](d)
    wanted = [sum(a[j:].T @ b[: len(b) - j] for a, b in zip(cut(values), cut(d), strict=True)) for j in range(3)]
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-13, atol=1e-14)


@pytest.mark.not_on_reference
@for_each("start", [-(2**70), -(2**40), -5, 5, 2**40, 2**62, 2**70])
def test_sequence_conv_with_a_window_beyond_all_rows_is_zero(start):
    for lengths in ([], [0], [2], [0, 2, 0], [70, 0, 3]):
        x = LoDTensor.from_lengths(np.ones(sum(lengths)), np.array(lengths, int))
        for length in (1, 2):
            found = lodcore.sequence_conv(x, np.ones((length, 1)), length, start).values
            near = [sum(0 <= t + start + j < n for j in range(length)) for n in lengths for t in range(n)]
            assert found.ravel().tolist() == near


@pytest.mark.not_on_reference
@for_each("lengths", [[1], [2], [1, 1], [3], [1, 0, 1]])
def test_sequence_conv_of_short_sequences_equals_windows_times_the_filter(lengths):
    values = 1.0 + np.arange(2.0 * sum(lengths)).reshape(-1, 2)
    for width, new_width, size in itertools.product((1, 2), (1, 2, 3), (1, 2)):
        x, weights = values[:, :width], np.cos(np.arange(size * width * new_width)).reshape(size * width, new_width)
        for start in range(-2, 3):
            wanted = []
            for part in np.split(x, np.cumsum(lengths)[:-1]):
                places = np.arange(len(part))[:, None] + start + np.arange(size)
                there = (places >= 0) & (places < len(part))
                windows = np.where(there[..., None], part[np.where(there, places, 0)], 0) if len(part) else part
                wanted.extend(windows.reshape(len(part), -1) @ weights if len(part) else [])
            found = lodcore.sequence_conv(LoDTensor.from_lengths(x, lengths), weights, size, start)
            np.testing.assert_allclose(found.values, wanted, rtol=1e-12, atol=1e-13)
