"""Rows of numbers, and structures, for kernels that reduce them."""

import numpy as np
from hypothesis import strategies as st

from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed

REALS = [np.dtype(name) for name in ("f4", "f8")]
ROW_BYTES = st.sampled_from([4, 8, 1, 2, 3, 16, 24, 300, 0])


def cells(seed, count, width, dtype, nan=False):
    """Make rows of random cells; nan only where asked for, as the bits of a sum of several nan are not defined."""
    made = values_from_seed(seed, count, dtype, (width,))
    if dtype.kind == "f" and not nan:
        made[np.isnan(made)] = np.inf
    elif dtype.kind == "f" and seed % 3:  # mostly without nan, as one in a sequence settles it
        made[np.isnan(made)] = 0
    return read_only(made)


@st.composite
def structures(draw, longest=5):
    """Draw offsets: few or many short sequences, or some that are longer than all lanes together."""
    times = draw(st.sampled_from([1, 1, 7, 20, 50] if longest > 1 else [1]))
    most = draw(st.sampled_from([8, 40])) if times == 1 else 5
    return int64(running_sum([times * length for length in draw(lengths(most=most, longest=longest))]))
