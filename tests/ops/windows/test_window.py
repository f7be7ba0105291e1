"""Convolutions: windows across blocks, filters of other layouts, and laws."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, row_conv, sequence_conv, vjp
from lodcore.ops.windows import window
from tests.helpers.draw import read_only
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


# -- meaning -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[3] * 40, [1] * 200, [0] * 3])
def test_sequence_conv_with_infinite_weights_is_nan_at_the_padding(sizes):
    """Short sequences or long ones: 0 * inf is nan."""
    x = LoDTensor.from_lengths(np.ones((sum(sizes), 1)), sizes)
    with np.errstate(invalid="ignore"):
        found = sequence_conv(x, [[np.inf], [1.0], [1.0], [1.0], [1.0]], 5, -4).values[:, 0]
    assert np.isnan(found).all() == (max(sizes) < 5)


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
