"""All nans are equal, whatever their sign and payload: 0 / 0 has another sign than np.nan on some processors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor
from tests.helpers.comparing import BITS, CALLS


def agree(a, b):
    """Compare results, where nans are equal."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, LoDTensor):
        return a.lod == b.lod and agree(a.values, b.values)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("dtype", BITS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@given(
    lengths=st.lists(st.integers(1, 6), max_size=5),
    many=st.booleans(),
    seed=st.integers(0, 99),
)
def test_nans_of_other_bits_are_the_same_nan(call, dtype, lengths, many, seed):
    lengths = [*lengths, 80] if many else lengths
    unsigned, bits = BITS[dtype]
    rng = np.random.default_rng(seed)
    plain = rng.integers(0, 3, sum(lengths)).astype(dtype)
    is_nan = rng.random(len(plain)) < 0.5
    plain[is_nan] = np.array(bits[0], unsigned).view(dtype)
    mixed = plain.view(unsigned).copy()
    mixed[is_nan] = rng.choice(np.array(bits, unsigned), is_nan.sum())
    lod = LoD.from_lengths(lengths)
    with np.errstate(invalid="ignore"):
        assert agree(call(LoDTensor(plain, lod)), call(LoDTensor(mixed.view(dtype), lod)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("value", [0.0, -2.5, np.inf])
def test_only_nan_is_filled(dtype, value):
    rows = np.array([np.inf, np.nan, 1.0, -np.inf, -np.nan, np.finfo(dtype).max, -0.0], dtype)
    for values in (rows, np.stack([rows, rows[::-1]], 1)):
        x = lodcore.LoDTensor.from_lengths(values, [2, 0, 5])
        found = lodcore.ops.fill_nan(x, value)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found.values, np.where(np.isnan(values), np.array(value, dtype), values))
        np.testing.assert_array_equal(np.signbit(found.values[-1]), np.signbit(values[-1]))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanmax", "nanmin", "nanprod"])
def test_infinities_beside_nan_count(name, dtype):
    x = lodcore.LoDTensor.from_lengths(np.array([np.inf, np.nan, 1.0, -np.inf, np.nan, 2.0, np.nan], dtype), [3, 2, 2])
    found = getattr(np, name)(x, axis=1)
    wanted = [getattr(np, name)(part) for part in x.to_arrays()]
    np.testing.assert_array_equal(found, wanted)
