"""Comparisons of rows have the same result in every dtype as for numbers of the values; bits need not be equal."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoD, LoDTensor
from tests.helpers.comparing import BITS, CALLS

NAT = np.iinfo(np.int64).min


def floats(dtype):
    """List values of floats, in order, each in all of its representations: zeros of both signs, nans of any bits."""
    unsigned, bits = BITS[dtype]
    info = np.finfo(dtype)
    plain = [[-np.inf], [info.min], [-info.smallest_subnormal], [0.0, -0.0], [info.tiny], [1.0], [np.inf]]
    return [np.array(one, dtype) for one in plain] + [np.array(bits, unsigned).view(dtype)]


def complexes(dtype):
    """List complex values: each part has a sign, or is nan, separately."""
    zeros = [complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)]
    plain = [[-1.0], [complex(-0.0, -1.0), complex(0.0, -1.0)], zeros, [1j, complex(-0.0, 1.0)]]
    plain += [[complex(1.0, 0.0), complex(1.0, -0.0)], [complex(np.inf, 2.0)]]
    parts = np.array([np.nan, 1.0, -np.nan, 1.0], np.zeros(1, dtype).real.dtype).view(dtype)  # nan + 1j, twice
    return [np.array(one, dtype) for one in plain] + [parts]


def integers(dtype):
    """List integers whose bytes have another order than the integers."""
    info = np.iinfo(dtype)
    within = {one for one in (-256, -1, 0, 1, 2, 255, 256) if info.min <= one <= info.max}
    return [np.array([one], dtype) for one in sorted({info.min, info.max} | within)]


def texts(dtype, *values):
    return [np.array([one], dtype) for one in values]


VALUES = {
    **{dtype.__name__: floats(dtype) for dtype in BITS},
    **{name: complexes(name) for name in ("c8", "c16")},
    **{name: integers(name) for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")},
    "?": [np.array([False]), np.array([True])],
    "U3": texts("U3", "", "a", "ab", "b", "\u00e9", "\U0001f600"),
    "S3": texts("S3", b"", b"a", b"a\x01", b"b", b"\xff"),
    **{
        f"{kind}8[s]": [np.array([one], "i8").view(f"{kind}8[s]") for one in (-256, -1, 0, 1, 256, NAT)]
        for kind in "Mm"
    },
}
#: Operators whose results depend on the numbers themselves, not only on their order.
OF_NUMBERS = {"sequence_median", "max", "min", "argmax", "argmin", "nanmax", "nan_to_num"}
COMPARING = {name: call for name, call in CALLS.items() if name not in OF_NUMBERS} | {
    "run_lengths, rows": lambda x: lodcore.run_lengths(LoDTensor(np.stack([x.values, x.values], 1), x.lod)),
    "sequence_searchsorted": lambda x: lodcore.sequence_searchsorted(lodcore.sequence_sort(x), x),
}


def equal(a, b):
    """Compare results, where nans are equal."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, LoDTensor):
        return a.lod == b.lod and equal(a.values, b.values)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def agree(found, want, values):
    """Return whether a result is that of the numbers of values, or the same if it has no values."""
    if isinstance(want, tuple):
        return len(found) == len(want) and all(agree(*pair, values) for pair in zip(found, want, strict=True))
    if isinstance(want, LoDTensor):
        return found.lod == want.lod and agree(found.values, want.values, values)
    if found.dtype == want.dtype and np.array_equal(found, want):
        return True
    native = values[0].dtype
    if found.dtype.newbyteorder("=") != native or found.shape != want.shape:
        return False
    number = {one.tobytes(): at for at, spellings in enumerate(values) for one in spellings}
    cells = np.ascontiguousarray(found.astype(native)).reshape(-1)
    return [number.get(cell.tobytes()) for cell in cells] == want.reshape(-1).tolist()


@pytest.mark.twins
@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("dtype", VALUES)
@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])  # the value does not matter
@given(lengths=st.lists(st.integers(1, 6), max_size=4), many=st.booleans(), seed=st.integers(0, 99))
def test_operators_that_compare_rows_give_every_dtype_the_same_result(dtype, swapped, lengths, many, seed):
    lengths = [*lengths, 80] if many else lengths
    rng = np.random.default_rng(seed)
    values = VALUES[dtype]
    native = values[0].dtype
    numbers = rng.integers(0, len(values), sum(lengths))
    numbers = np.sort(numbers) if seed % 3 == 0 else numbers
    rows = np.array([rng.choice(values[number]) for number in numbers], native)
    given_rows = rows.astype(native.newbyteorder()) if swapped else rows
    x, plain = LoDTensor.from_lengths(given_rows, lengths), LoDTensor.from_lengths(numbers, lengths)
    compared = 0
    for name, call in COMPARING.items():
        try:
            with np.errstate(invalid="ignore"):  # for signaling nans
                found = call(x)
        except DTypeError:
            continue
        want = call(plain)
        assert agree(found, want, values), f"{name}: {found!r}, of {x!r}; of their numbers {want!r}"
        compared += 1
    assert compared >= (2 if native.kind == "c" else 12)


@pytest.mark.parametrize("dtype", BITS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@given(
    lengths=st.lists(st.integers(1, 6), max_size=5),
    many=st.booleans(),
    seed=st.integers(0, 99),
)
def test_operators_that_compare_rows_take_nans_of_any_bits_as_equal(call, dtype, lengths, many, seed):
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
        assert equal(call(LoDTensor(plain, lod)), call(LoDTensor(mixed.view(dtype), lod)))
