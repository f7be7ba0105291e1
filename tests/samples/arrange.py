"""Samples of the operators that move, repeat and split elements."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.ops import arrange as oracle
from reference.ops.levels import sequences
from tests.helpers.agree import from_the_first
from tests.helpers.draw import (
    DTYPES,
    ROW_SHAPES,
    composite,
    integers,
    lod_tensors,
    lods,
    odd_forms,
    read_only,
    sampled_from,
    values,
)
from tests.samples import Samples, call
from tests.samples.common import SEEDS, level_of, smooth_batches, smooth_values

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
ANY = lod_tensors(1, 3, PLAIN, ROW_SHAPES, 5)
SMOOTH = smooth_batches([(), (2,), (0,)])


def numbers_for(draw, count, least, most):
    """Draw a number for all sequences, or one for each."""
    if draw(st.booleans()):
        return draw(integers(least, most))
    return draw(odd_forms(np.random.default_rng(draw(SEEDS)).integers(least, most + 1, count)))


def each(given, count):
    return np.broadcast_to(np.ravel(given), count).tolist()


@composite
def roll_calls(draw, tensors):
    x = draw(tensors)
    level = level_of(draw, x)
    return call(x, numbers_for(draw, x.lod.num_sequences(level), -7, 7), level)


def rolled(arguments):
    x = arguments["x"]
    level = from_the_first(arguments["level"], x.lod)
    return oracle.sequence_roll(x.tolist(), each(arguments["shift"], x.lod.num_sequences(level)), level)


def count_elements(x, level):
    return int(x.lod.offsets(level)[-1])


@composite
def repeat_calls(draw, tensors):
    x = draw(tensors)
    level = level_of(draw, x)
    repeats = numbers_for(draw, count_elements(x, level), 0, 3)
    if np.ndim(repeats) and draw(st.booleans()):
        flat = np.ravel(repeats)
        flat = flat if flat.size else flat.astype(np.int64)  # an empty list does not determine a dtype
        repeats = LoDTensor(flat, x.lod.prefix(from_the_first(level, x.lod) + 1))
    return call(x, repeats, level)


def repeated(arguments):
    x, repeats = arguments["x"], arguments["repeats"]
    level = from_the_first(arguments["level"], x.lod)
    given = repeats.values if isinstance(repeats, LoDTensor) else repeats
    return oracle.sequence_repeat(x.tolist(), each(given, count_elements(x, level)), level)


def divisions(random, length):
    """Split a length into parts, some of which may be empty, but not the first ones."""
    sizes = []
    while length:
        sizes.append(int(random.integers(1, length + 1)))
        length -= sizes[-1]
        sizes += [0] * int(random.integers(0, 2) and length > 0)
    return sizes


@composite
def divide_calls(draw, tensors):
    x = draw(tensors)
    level = level_of(draw, x)
    k = from_the_first(level, x.lod)
    random = np.random.default_rng(draw(SEEDS))
    found = [divisions(random, int(length)) for length in x.lod.lengths(k)]
    flat = np.array([size for sizes in found for size in sizes], np.int64)
    form = draw(sampled_from(["vector", "nested", "one"]))
    if form == "one":
        return call(x, 1, level)
    if form == "vector":
        return call(x, draw(odd_forms(flat)) if len(flat) else flat, level)
    upper = [x.lod.offsets(j) for j in range(k)]
    nested = LoDTensor.from_offsets(read_only(flat), *upper, np.cumsum([0, *map(len, found)]))
    return call(x, nested.tolist() if len(flat) and k == 0 and draw(st.booleans()) else nested, level)


def divided(arguments):
    x, lengths = arguments["x"], arguments["lengths"]
    k = from_the_first(arguments["level"], x.lod)
    if isinstance(lengths, list) and lengths and isinstance(lengths[0], list):
        found = lengths
    elif isinstance(lengths, LoDTensor):
        found = sequences(lengths.tolist(), k)
    elif np.ndim(lengths) == 0:
        found = [[lengths] * (int(length) // lengths) for length in x.lod.lengths(k)]
    else:
        left, found = np.ravel(lengths).tolist(), []
        for length in x.lod.lengths(k).tolist():
            found.append([])
            while sum(found[-1]) < length:
                found[-1].append(left.pop(0))
    return oracle.sequence_unflatten(x.tolist(), found, k)


@composite
def wide_calls(draw, dtypes=PLAIN, row_shapes=((3,), (1,), (2, 2), (0,)), smooth=False):
    shape = draw(sampled_from(row_shapes))
    lod = draw(lods(0, 2, 5))
    rows = smooth_values(draw(SEEDS), (lod.num_rows, *shape)) if smooth else draw(values(lod.num_rows, dtypes, [shape]))
    return call(LoDTensor(rows, lod) if lod.num_levels else rows)


COSTS = """
lodcore.sequence_repeat(x, 2)
lodcore.sequence_roll(x, 1)
lodcore.rows_to_level(w)
lodcore.sequence_unflatten(x, 1)
"""
SAMPLES = {
    "sequence_roll": Samples(
        roll_calls(ANY),
        rolled,
        roll_calls(SMOOTH),
        [
            ("sequence_roll(flat, [1, 2])", ShapeError, "shift: has 2 entries; there are 3"),
            ("sequence_roll(flat, 1.0)", DTypeError, "shift.*float64"),
            ("sequence_roll(flat, 1, 1)", LevelError, "level: is 1"),
            ("sequence_roll(rows, 1)", DTypeError, "x: is ndarray"),
        ],
    ),
    "sequence_repeat": Samples(
        repeat_calls(ANY),
        repeated,
        repeat_calls(SMOOTH),
        [
            ("sequence_repeat(flat, -1)", ValueError, "repeats: is -1 at position 0"),
            ("sequence_repeat(flat, [1, 2, 3, -4, 5])", ValueError, "repeats: is -4 at position 3"),
            ("sequence_repeat(flat, 2**62)", MemoryError, "repeats: make more"),
            ("sequence_repeat(flat, [1, 2])", ShapeError, "repeats: has 2 entries; there are 5"),
            ("sequence_repeat(flat, array([[1], [2], [3]]))", LoDError, "repeats: sequence 0 of level 0 has length 1"),
            ("sequence_repeat(flat, 1.5)", DTypeError, "repeats.*float64"),
            ("sequence_repeat(flat, 1, 1)", LevelError, "level: is 1"),
            ("sequence_repeat(flat, 2**50)", MemoryError, "sequence_repeat: the result has 5 x 1125899906842624 x 8"),
        ],
    ),
    "sequence_unflatten": Samples(
        divide_calls(ANY),
        divided,
        divide_calls(SMOOTH),
        [
            ("sequence_unflatten(flat, [3, 2])", LoDError, "lengths: do not add up to 2, the length of sequence 0"),
            ("sequence_unflatten(flat, [2, 4])", LoDError, "lengths: "),
            ("sequence_unflatten(flat, [2, 3, 1])", LoDError, "lengths: "),
            ("sequence_unflatten(flat, [2, -3])", LoDError, "lengths: is -3 at position 1"),
            ("sequence_unflatten(flat[:0], [0, 0])", LoDError, "lengths: has 2 entries; level 0 has no sequence"),
            ("sequence_unflatten(flat, 2)", LoDError, "lengths: is 2; sequence 2 of level 0 has length 3"),
            ("sequence_unflatten(flat, 0)", LoDError, "lengths: is 0; 1 or more"),
            ("sequence_unflatten(flat, array([[2], [3]]))", LoDError, "lengths: has 1 level and 2 sequences"),
            ("sequence_unflatten(flat, [1.0])", DTypeError, "lengths.*float64"),
            ("sequence_unflatten(flat, [2, 3], 1)", LevelError, "level: is 1"),
        ],
    ),
    "rows_to_level": Samples(
        wide_calls(),
        lambda arguments: arguments["x"].tolist(),
        wide_calls(row_shapes=((2,), (2, 2)), smooth=True),
        [
            ("rows_to_level(flat)", ShapeError, r"x: has values of shape \(5,\)"),
            ("rows_to_level(3)", ShapeError, r"x: has values of shape \(\)"),
            ("rows_to_level(None)", DTypeError, "x: is None"),
        ],
    ),
}
