"""Choices by a mask: the results of `np.where`, of every dtype and form of operands, and their gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from lodcore.operators.choices import FEW, choose

SHAPES = [(FEW + 3,), (FEW // 2, 3), (FEW + 1, 1), (FEW, 0), (FEW // 4, 2, 3), (5,), (0,)]
DTYPES = ["?", "u1", "i2", "f2", "f4", "i8", "f8", "F", "D", "U3", "M8[D]", ">f4", "O"]
NUMBERS = [0, -1, 300, 70000, 2**70, 1.5, 1e300, float("nan"), True, None, "ab", 1j, np.float32(2), np.int64(4)]
NUMBERS += [np.array(2.5), np.datetime64("2020-01-01")]
PAIRS = {
    "arrays": lambda x, number: (x, x[::-1].copy()),
    "a number last": lambda x, number: (x, number),
    "a number first": lambda x, number: (number, x),
    "numbers": lambda x, number: (number, 0),
    "a view": lambda x, number: (x[::-1], x),
    "two dtypes": lambda x, number: (x, x.astype(bool)),
}


def outcome(function, *args):
    """Return what a function makes, or its error."""
    try:
        with np.errstate(all="ignore"):
            made = function(*args)
    except Exception as error:
        return type(error), str(error)
    return made.dtype.str, made.shape, repr(made.tolist())


@given(
    st.sampled_from(SHAPES),
    st.sampled_from(DTYPES),
    st.sampled_from(sorted(PAIRS)),
    st.sampled_from(NUMBERS),
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
)
def test_choose_is_where_of_numpy(shape, dtype, pair, number, form, seed):
    random = np.random.default_rng(seed)
    x = random.integers(0, 5, shape).astype(dtype)
    masks = [shape, (shape[0], *[1] * (len(shape) - 1)), shape[-1:], (1,) * len(shape)]
    mask = random.integers(0, 2, masks[form]).astype(bool)
    operands = PAIRS[pair](x, number)
    assert outcome(choose, mask, *operands) == outcome(np.where, mask, *operands)


@pytest.mark.parametrize("count", [3, FEW + 5])
@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (lodcore.relu, lambda x: x > 0),
        (lambda x: np.maximum(x, 1.0), lambda x: x >= 1),
        (lambda x: np.minimum(x, 1.0), lambda x: x <= 1),
        (lambda x: np.fmax(1.0, x), lambda x: x > 1),
        (lambda x: np.clip(x, -1.0, 1.0), lambda x: (x >= -1) & (x <= 1)),
        (lambda x: lodcore.where(x > 0, x, 0.0), lambda x: x > 0),
    ],
)
def test_an_infinite_cotangent_reaches_only_what_was_chosen(function, kept, count):
    values = np.resize([-2.0, 0.5, 3.0], count)
    x = LoDTensor.from_lengths(values, [1, count - 1])
    for d in (np.inf, np.nan, 2.0):
        out, pullback = lodcore.vjp(function, x)
        (found,) = pullback(out.with_values(np.full(count, d)))
        np.testing.assert_array_equal(found.values, np.where(kept(values), d, 0.0))
