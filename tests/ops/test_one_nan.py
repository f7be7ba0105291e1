"""A nan is a nan, whatever its sign and payload: 0 / 0 of a processor has another sign than np.nan."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, ops

BITS = {
    np.float16: (np.uint16, [0x7E00, 0xFE00, 0x7E01, 0xFD00]),
    np.float32: (np.uint32, [0x7FC00000, 0xFFC00000, 0x7FC00001, 0xFFA00000]),
    np.float64: (np.uint64, [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFF4000000000000]),
}


def flat(x):
    """Return one key per row of a tensor without its levels."""
    return x.values


CALLS = {
    "group_rows": lambda x: lodcore.group_rows(flat(x)),
    "group_rows, first": lambda x: lodcore.group_rows(flat(x), order="first"),
    "group_by": lambda x: lodcore.group_by(flat(x), np.arange(x.num_rows)),
    "join_by_key": lambda x: lodcore.join_by_key(flat(x), flat(x), flat(x), flat(x))[0],
    "run_lengths": lodcore.run_lengths,
    "sequence_unique": lodcore.sequence_unique,
    "sequence_unique_all": lodcore.sequence_unique_all,
    "sequence_n_unique": lodcore.sequence_n_unique,
    "sequence_mode": lodcore.sequence_mode,
    "sequence_rank": lodcore.sequence_rank,
    "sequence_rank, dense": lambda x: lodcore.sequence_rank(x, "dense", descending=True),
    "sequence_argsort": lodcore.sequence_argsort,
    "sequence_argsort, descending": lambda x: lodcore.sequence_argsort(x, descending=True),
    "sequence_sort": lodcore.sequence_sort,
    "sequence_median": lodcore.sequence_median,
    "sequence_topk": lambda x: lodcore.sequence_topk(x, 1),
    "sequence_searchsorted": lambda x: lodcore.sequence_searchsorted(lodcore.sequence_sort(x), x, side="right"),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(axis=1),
    "argmax": lambda x: ops.argmax(x, axis=1),
    "argmin": lambda x: ops.argmin(x, axis=1),
    "nanmax": lambda x: ops.nanmax(x, axis=1, initial=0),
    "nan_to_num": np.nan_to_num,
}


def agree(a, b):
    """Compare results, whose nans are equal."""
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
