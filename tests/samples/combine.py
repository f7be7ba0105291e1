"""Samples of the operators that combine elements."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor
from reference.ops import combine as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import DTYPES, ROW_SHAPES, composite, integers, lengths, lod_tensors, running_sum, values
from tests.samples import Samples, call
from tests.samples.common import SEEDS, level_of, smooth_batches, smooth_values

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
ANY = lod_tensors(1, 3, PLAIN, ROW_SHAPES, 4)
SMOOTH = smooth_batches([(), (2,), (0,)], max_levels=2, most=4)


@composite
def pair_calls(draw, tensors):
    x = draw(tensors)
    return call(x, draw(st.booleans()), level_of(draw, x))


def paired(arguments):
    x = arguments["x"]
    return oracle.sequence_pairs(x.tolist(), arguments["replacement"], from_the_first(arguments["level"], x.lod))


@composite
def beside(draw, lod, k):
    """Draw a structure that agrees with another one before a level, and has as many sequences there."""
    levels = [lod.offsets(j).tolist() for j in range(k)]
    count = lod.num_sequences(k)
    for _ in range(k, lod.num_levels):
        levels.append(running_sum(draw(lengths(count=count, longest=3 if count < 12 else 1))))
        count = levels[-1][-1]
    return LoD.from_offsets(*levels, num_rows=count)


@composite
def product_calls(draw, tensors, smooth=False):
    x = draw(tensors)
    level = level_of(draw, x)
    lod = draw(beside(x.lod, from_the_first(level, x.lod)))
    rows = smooth_values(draw(SEEDS), (lod.num_rows, 2)) if smooth else draw(values(lod.num_rows, PLAIN, ROW_SHAPES))
    return call(x, LoDTensor(rows, lod), level)


def multiplied(arguments):
    x, y = arguments["x"], arguments["y"]
    return oracle.cartesian(x.tolist(), y.tolist(), from_the_first(arguments["level"], x.lod))


@composite
def place_calls(draw):
    x = draw(ANY)
    n = draw(integers(1, 4))
    return call(x, n, draw(integers(0, n - 1)), draw(st.booleans()), level_of(draw, x), draw(st.booleans()))


def places(arguments):
    x = arguments["x"]
    level = from_the_first(arguments["level"], x.lod)
    settings = [arguments[name] for name in ("n", "column", "replacement")]
    return oracle.combination_places(x.tolist(), *settings, level, arguments["of_batch"])


@composite
def turn_calls(draw):
    x = draw(ANY)
    level = level_of(draw, x)
    others = [draw(beside(x.lod, from_the_first(level, x.lod))) for _ in range(draw(integers(0, 3)))]
    return call([x, *(LoDTensor(np.zeros(lod.num_rows), lod) for lod in others)], level)


def turns(arguments):
    xs = arguments["xs"]
    return oracle.interleave_places([x.tolist() for x in xs], from_the_first(arguments["level"], xs[0].lod))


LONG = "LoDTensor(np.zeros(({0}, 0)), LoD.from_lengths([{0}]))"
COSTS = """
lodcore.interleave_places([x, x])
lodcore.sequence_pairs(short)
lodcore.cartesian(short, short)
lodcore.combination_places(short, 3, 2)
"""
SAMPLES = {
    "sequence_pairs": Samples(
        pair_calls(ANY),
        paired,
        pair_calls(SMOOTH),
        [
            ("sequence_pairs(flat, level=1)", LevelError, "level: is 1"),
            ("sequence_pairs(rows)", DTypeError, "x: is ndarray"),
            (
                "sequence_pairs(LoDTensor(np.zeros((2**40, 0)), LoD.from_lengths([2**40])))",
                MemoryError,
                "1099511627777",
            ),
        ],
    ),
    "cartesian": Samples(
        product_calls(ANY),
        multiplied,
        product_calls(SMOOTH, True),
        [
            ("cartesian(flat, x)", LoDError, "y: has 2 levels; x has 1"),
            (
                f"cartesian({LONG.format(2**16)}, {LONG.format(2**48)})",
                LoDError,
                "x: sequence 0 has more pairs than int64",
            ),
            ("cartesian(flat, flat[:2])", LoDError, "y: has 2 sequences of level 0; x has 3"),
            ("cartesian(x, array([[[1]], [[2]], []]))", LoDError, "y: sequence 0 of level 0 has length 1"),
            ("cartesian(flat, flat, 1)", LevelError, "level: is 1"),
            ("cartesian(flat, rows)", DTypeError, "y: is ndarray"),
        ],
    ),
    "combination_places": Samples(
        place_calls(),
        places,
        None,
        [
            ("ops.combination_places(flat, 0, 0)", ValueError, "n: is 0; 1 .. 64"),
            ("ops.combination_places(flat, 2.0, 0)", DTypeError, "n: is 2.0"),
            ("ops.combination_places(flat, 2, 2)", ValueError, "column: is 2; 0 .. 1"),
            ("ops.combination_places(flat, 2, 0, False, 1)", LevelError, "level: is 1"),
        ],
    ),
    "interleave_places": Samples(
        turn_calls(),
        turns,
        None,
        [
            ("ops.interleave_places([])", LoDError, "xs: is empty"),
            ("ops.interleave_places([flat, flat[:2]])", LoDError, r"xs\[1\].*2 sequences"),
            ("ops.interleave_places([flat, x])", LoDError, r"xs\[1\].*2 levels"),
            ("ops.interleave_places([flat], 1)", LevelError, "level: is 1"),
            ("ops.interleave_places(flat)", DTypeError, r"xs: is LoDTensor; a list is needed"),
        ],
    ),
}
