"""Rows of numbers, and structures, for kernels that reduce them."""

import numpy as np
from hypothesis import strategies as st

from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed

SEEDS = st.integers(0, 2**32)
OFFSETS = st.sampled_from([(8, 5), (4, 17)]).flatmap(lambda most: lengths(None, *most)).map(running_sum).map(int64)
REALS = [np.dtype(name) for name in ("f4", "f8")]
ROW_BYTES = st.sampled_from([4, 8, 1, 2, 3, 16, 24, 300, 0])


def opaque(n_rows, row_bytes, seed=0):
    """Make rows of random bytes."""
    return read_only(values_from_seed(seed, n_rows, np.dtype("u1"), (row_bytes,)))


def cells(seed, count, width, dtype, nan=False):
    """Make rows of random cells; nan only on request, since the bits of a sum of several nans are undefined."""
    made = values_from_seed(seed, count, dtype, (width,))
    if dtype.kind == "f" and not nan:
        made[np.isnan(made)] = np.inf
    elif dtype.kind == "f" and seed % 3:  # mostly without nan, since one determines the result of a sequence
        made[np.isnan(made)] = 0
    return read_only(made)


@st.composite
def structures(draw, longest=5):
    """Draw offsets: few or many short sequences, or some that are longer than all lanes together."""
    times = draw(st.sampled_from([1, 1, 7, 20, 50] if longest > 1 else [1]))
    most = draw(st.sampled_from([8, 40])) if times == 1 else 5
    return int64(running_sum([times * length for length in draw(lengths(most=most, longest=longest))]))


def scores(seed, n_rows, dtype, width):
    """Make typical rows: of any scale; some are -inf, a few nan or inf."""
    random = np.random.default_rng(seed)
    made = random.normal(size=(n_rows, width)) * random.choice([0.1, 1, 10, 100, 1000])
    for odd, part in [(-np.inf, 0.2), (np.nan, 0.01), (np.inf, 0.01)]:
        if random.random() < 0.3:
            made[random.random(made.shape) < part] = odd
    return read_only(made.astype(dtype))


@st.composite
def rows(draw, dtypes):
    """Draw rows of any bits, or of small numbers, and offsets."""
    offsets, dtype, width = draw(OFFSETS), np.dtype(draw(st.sampled_from(dtypes))), draw(st.sampled_from([1, 1, 3, 0]))
    shape, seed = (int(offsets[-1]), width), draw(SEEDS)
    if draw(st.booleans()):
        return read_only(np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)), offsets
    return read_only(values_from_seed(seed, shape[0], dtype, (width,))), offsets


def alike(*arguments):
    """Replace all nans in the output by one nan: their signs depend on the order of operands."""
    out = arguments[-1]
    if out.dtype.kind == "f":
        out[np.isnan(out)] = np.nan
    return [out]
