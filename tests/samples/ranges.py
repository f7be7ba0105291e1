"""Samples of the operator that makes ranges."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, ShapeError
from reference.ops import ranges as oracle
from tests.helpers.draw import composite, integers, sampled_from
from tests.samples import Samples, call

STEPS = st.integers(-3, 3).filter(bool)


@composite
def range_calls(draw):
    count = draw(integers(1, 5))
    floats = draw(st.booleans())

    def numbers(entries):
        if draw(integers(0, 2)) == 0:
            return draw(entries) * (0.25 if floats else 1)
        made = np.array(draw(st.lists(entries, min_size=count, max_size=count)))
        return made * 0.25 if floats else made.astype(draw(sampled_from(["i8", "i4", "i2"])))

    ends = st.integers(-6, 6)
    if draw(integers(0, 3)) == 0:
        return call(numbers(st.integers(-1, 6)))
    return call(numbers(ends), numbers(ends), numbers(STEPS))


def ranged(arguments):
    given = [arguments["starts"], arguments["stops"], arguments["steps"]]
    if given[1] is None:
        given = [0, given[0], given[2]]
    count = max(np.size(one) for one in given)
    dtype = float if any(np.asarray(one).dtype.kind == "f" for one in given) else int
    return oracle.arange(*[np.broadcast_to(np.asarray(one, dtype), count).tolist() for one in given])


COSTS = """
lodcore.arange(ls)
"""
SAMPLES = {
    "arange": Samples(
        range_calls(),
        ranged,
        None,
        [
            ("arange([0, 1], [2, 3], [1, 0])", ValueError, "are 1, 3, 0 for range 1; finite"),
            ("arange(0.0, np.inf)", ValueError, "for range 0; finite"),
            ("arange([0.0, 1.0], 2.0, [1.0, 0.0])", ValueError, r"are 1\.0, 2\.0, 0\.0 for range 1; finite"),
            ("arange(0.0, 1.0, np.inf)", ValueError, r"are 0\.0, 1\.0, inf for range 0; finite"),
            ("arange(0.0, 1.0, np.nan)", ValueError, r"are 0\.0, 1\.0, nan for range 0; finite"),
            ("arange(-2**61, 2**61)", MemoryError, "a range has more numbers than fit"),
            ("arange(2**61, -2**61, -1)", MemoryError, "a range has more numbers than fit"),
            ("arange(2.0**62)", MemoryError, "a range has more numbers than fit"),
            ("arange([0, 1], [2, 3, 4])", ShapeError, "starts: has 2 entries; there are 3 ranges"),
            ("arange(dense)", ShapeError, r"stops: has shape|starts: has shape"),
            ("arange(['a'])", DTypeError, "<U1; integers, floats, dates or durations"),
            (
                "arange(np.zeros(1, 'M8[D]'))",
                DTypeError,
                r"have dtypes datetime64\[D\], int64; starts and stops that",
            ),
            ("arange(np.zeros(1, 'M8[D]'), 3)", DTypeError, r"have dtypes datetime64\[D\], int64, int64; starts and"),
            ("arange(1, 3, np.timedelta64(1, 'D'))", DTypeError, r"have dtypes int64, int64, timedelta64\[D\]; starts"),
            (
                "arange(np.zeros(1, 'm8[D]'), np.ones(1, 'm8[D]'), 0.5)",
                DTypeError,
                "float64; starts and stops that are",
            ),
            ("arange(np.zeros(1, 'm8[D]'), np.ones(1, 'm8[M]'))", DTypeError, "common metadata divisor"),
            ("arange(np.array(['NaT'], 'm8[D]'))", ValueError, "starts: is NaT for range 0"),
            ("arange(flat)", LoDError, "1 level; a dense array"),
            ("arange(-2**63, 2**63 - 1)", MemoryError, "more numbers than fit"),
            ("arange(np.array([2**63], 'u8'))", ValueError, "9223372036854775808"),
            ("arange(2**61)", MemoryError, "2305843009213693952"),
            ("arange([0, 1], [2, 3, 4], [1, 1])", ShapeError, "starts: has 2 entries; there are 3 ranges"),
            ("arange([0, 1, 2], [2, 3], [1, 1, 1])", ShapeError, "stops: has 2 entries; there are 3 ranges"),
            ("arange([0, 1, 2], [2, 3, 4], [1, 1])", ShapeError, "steps: has 2 entries; there are 3 ranges"),
            ("arange([2, 3], steps=[1, 1, 1])", ShapeError, "starts: has 2 entries; there are 3 ranges"),
            ("arange([1], ['a'])", DTypeError, "stops: has dtype <U1"),
            ("arange([1], [2], ['a'])", DTypeError, "steps: has dtype <U1"),
            ("arange([1], steps=['a'])", DTypeError, "steps: has dtype <U1"),
            ("arange(1, dense)", ShapeError, r"stops: has shape \(3, 4\)"),
        ],
    )
}
