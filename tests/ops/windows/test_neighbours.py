"""Differences, shifts and moving averages within sequences, compared with NumPy."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from tests.helpers.tables import for_each

LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    return np.split(values, np.cumsum(lengths)[:-1])


@pytest.mark.not_on_reference
@for_each(("dtype", "width"), list(itertools.product(["M8[D]", "m8[s]", "i8", "u1", "?", "f2", "f8", "c8"], (0, 2))))
def test_sequence_diff_equals_numpy_for_every_dtype_order_and_position_of_nat(dtype, width):
    kind = np.dtype(dtype).kind
    for lost, n in itertools.product(range(-1, 8) if kind in "Mm" else [-1], range(5)):
        values = (np.arange(8 * (width or 1)) ** 2 % 11).astype(dtype).reshape(8, *[width] * bool(width))
        if lost >= 0:
            values[lost] = "NaT"
        found = lodcore.sequence_diff(LoDTensor.from_lengths(values, LENGTHS), n)
        for one, part in zip(found.to_arrays(), cut(values), strict=True):
            wanted = np.diff(part, n=min(n, len(part)), axis=0)
            assert one.dtype == np.diff(values[:2], n=min(n, 1), axis=0).dtype
            np.testing.assert_array_equal(one, wanted)


@pytest.mark.not_on_reference
@for_each(
    ("dtype", "n"), list(itertools.product(["M8[D]", "m8[s]", "U3", "S2", "f4", "i2", "?", "c8"], (-5, -1, 0, 2)))
)
def test_sequence_shift_fills_with_zero_empty_text_or_nat(dtype, n):
    values = np.arange(1, 9).astype(dtype)
    nothing = np.zeros(abs(n), dtype)
    if nothing.dtype.kind in "Mm":
        nothing[...] = "NaT"
    found = lodcore.sequence_shift(LoDTensor.from_lengths(values, LENGTHS), n)
    for one, part in zip(found.to_arrays(), cut(values), strict=True):
        both = np.concatenate([nothing, part] if n >= 0 else [part, nothing])
        np.testing.assert_array_equal(one, both[: len(part)] if n >= 0 else both[len(both) - len(part) :])


@pytest.mark.not_on_reference
@for_each(("alpha", "adjust"), list(itertools.product((0.02, 0.5, 1), (True, False))))
def test_sequence_moving_average_of_long_sequences_equals_the_recurrence(alpha, adjust):
    values, wanted, above, below = np.cos(np.arange(100.0)), [], 0.0, 0.0
    for j, v in enumerate(values):
        above, below = v + (1 - alpha) * above, 1 + (1 - alpha) * below
        before = wanted[-1] if j else v
        wanted.append(above / below if adjust else alpha * v + (1 - alpha) * before)
    x = LoDTensor.from_lengths(np.concatenate([values, values[:3], values]), [100, 3, 0, 100])
    found = lodcore.sequence_moving_average(x, alpha, adjust).values
    np.testing.assert_allclose(found, wanted + wanted[:3] + wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.not_on_reference
@for_each("dtype", ["M8[D]", "m8[s]"])
def test_sequence_diff_of_dates_with_nat_in_one_column_equals_numpy(dtype):
    for lost, column, n in itertools.product(range(8), (0, 1), (1, 2, 3)):
        values = (np.arange(16) ** 2 % 11).astype(dtype).reshape(8, 2)
        values[lost, column] = "NaT"
        found = lodcore.sequence_diff(LoDTensor.from_lengths(values, LENGTHS), n)
        for one, part in zip(found.to_arrays(), cut(values), strict=True):
            np.testing.assert_array_equal(one, np.diff(part, n=min(n, len(part)), axis=0) if len(part) > n else one[:0])


@pytest.mark.not_on_reference
@for_each("n", [-3000, -2999, -1001, -999, -1, 0, 1, 999, 1001, 2999, 3000, -(2**70), 2**70])
def test_sequence_shift_by_more_and_fewer_rows_than_there_are(n):
    numbers = list(range(3000))
    wanted = (
        [0] * n + numbers[: 3000 - n] if 0 <= n <= 3000 else (numbers[-n:] + [0] * -n) if -3000 <= n < 0 else [0] * 3000
    )
    assert lodcore.sequence_shift(lodcore.array([numbers, [7]]), n).tolist() == [wanted, [0] if n else [7]]


@pytest.mark.not_on_reference
@pytest.mark.parametrize("alpha", [0.5, 0.9, 1.0])
def test_moving_average_of_a_long_sequence_is_not_that_of_its_last_weights(alpha):
    """Weights that are too small for a sum are left out: the average of equal rows stays what it is."""
    x = LoDTensor.from_lengths(np.full(20_000, 3.0), [19_990, 0, 10])
    np.testing.assert_allclose(lodcore.sequence_moving_average(x, alpha).values, 3.0, rtol=1e-14)
    weights = (1 - alpha) ** np.arange(60.0)
    y = np.random.default_rng(0).standard_normal(500)
    found = lodcore.sequence_moving_average(LoDTensor.from_lengths(y, [500]), alpha).values
    for t in (0, 1, 30, 499):
        near = y[max(0, t - 59) : t + 1][::-1]
        np.testing.assert_allclose(
            found[t], (near * weights[: len(near)]).sum() / weights[: len(near)].sum(), rtol=1e-9
        )
