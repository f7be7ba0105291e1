"""Convolutions."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.ops import window as oracle
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from, whole_numbers
from tests.samples import Samples, call


def real_numbers(seed, *shape):
    """Make numbers that are neither integers nor equal."""
    return read_only(np.random.default_rng(seed).standard_normal(shape))


@composite
def rows_and_level(draw, dtypes, smooth):
    """Draw a LoDTensor of small integers (or real numbers), the width of its rows, and a level."""
    lod = draw(lods(1, 3, most=5))
    width = draw(sampled_from([2, 1, 3, 0]))
    if smooth:
        values = real_numbers(draw(integers(0, 2**32)), lod.num_rows, width)
    else:
        values = draw(whole_numbers(lod.num_rows, draw(sampled_from(dtypes)), width))
    if width == 1 and draw(st.booleans()):
        values = read_only(values[:, 0].copy())
    return LoDTensor(values, lod), width, draw(integers(-lod.num_levels, lod.num_levels - 1))


def matrices(draw, smooth, n_rows, width, dtype):
    """Draw a dense operand."""
    if smooth:
        return real_numbers(draw(integers(0, 2**32)), n_rows, width)
    return draw(whole_numbers(n_rows, dtype, width))


@composite
def convolutions(draw, smooth=False):
    x, width, level = draw(rows_and_level(["f4", "f8", "f8", "i4"], smooth))
    length = draw(integers(1, 4))
    start = draw(st.none() | st.integers(-5, 5))
    dtype = "f4" if x.dtype == np.float32 and draw(st.booleans()) else "f8"
    weights = matrices(draw, smooth, length * width, draw(sampled_from([2, 1, 3, 0])), dtype)
    padding = None
    if draw(st.booleans()):
        first = -(length // 2) if start is None else start
        places = max(0, -first) + max(0, first + length - 1)
        padding = matrices(draw, smooth, places, width, dtype)
        if x.values.ndim == 1 and draw(st.booleans()):
            padding = read_only(padding[:, 0].copy())
    if weights.size and not smooth and draw(integers(0, 4)) == 0:
        weights = weights.tolist()
    return call(x, weights, length, start, padding, level=level)


@composite
def lookaheads(draw, smooth=False):
    x, width, level = draw(rows_and_level(["f4", "f8", "i4"], smooth))
    dtype = "f4" if x.dtype == np.float32 and draw(st.booleans()) else "f8"
    weights = matrices(draw, smooth, draw(integers(1, 4)), width, dtype)
    if width == 1 and draw(st.booleans()):
        weights = read_only(weights[:, 0].copy())
    if x.values.ndim == 2 and width == 2 and draw(st.booleans()):  # rows of more axes
        x = LoDTensor(x.values.reshape(-1, 2, 1), x.lod)
        weights = read_only(weights.reshape(-1, 2, 1).copy())
    return call(x, weights, level=level)


def rows_as_lists(x):
    """Return a LoDTensor as nested lists whose rows are lists of numbers."""
    values = x.values.reshape(len(x.values), int(np.prod(x.values.shape[1:])))
    return LoDTensor(values, x.lod).tolist()


def expected_conv(arguments):
    x, length, start = arguments["x"], arguments["context_length"], arguments["context_start"]
    weights, padding = np.asarray(arguments["filter"]), arguments["padding_data"]
    return oracle.sequence_conv(
        rows_as_lists(x),
        weights.tolist(),
        weights.shape[1],
        length,
        -(length // 2) if start is None else start,
        None if padding is None else padding.reshape(len(padding), -1 if padding.size else 0).tolist(),
        from_the_first(arguments["level"], x.lod),
        x.num_levels,
    )


def expected_lookahead(arguments):
    x, weights = arguments["x"], arguments["filter"]
    taps = weights.reshape(len(weights), int(np.prod(weights.shape[1:]))).tolist()
    made = oracle.row_conv(rows_as_lists(x), taps, from_the_first(arguments["level"], x.lod), x.num_levels)
    return shaped_as(made, x.tolist())


def shaped_as(made, like):
    """Return rows that are flat lists in the nesting of other rows."""
    if not isinstance(like, list):
        return made[0] if isinstance(made, list) else made
    if like and isinstance(like[0], list) and made and not isinstance(made[0], list):
        return [[cell] for cell in made]
    return [shaped_as(one, other) for one, other in zip(made, like, strict=True)]


COSTS = """
lodcore.sequence_conv(w, np.ones((12, 4)), 3)
lodcore.row_conv(w, np.ones((2, 4)))
"""
SAMPLES = {
    "sequence_conv": Samples(
        calls=convolutions(),
        expected=expected_conv,
        smooth=convolutions(smooth=True),
        errors=[
            ("sequence_conv(wide, np.zeros((5, 2)), 2)", ShapeError, r"filter.*\(5, 2\).*2 \* 2"),
            ("sequence_conv(wide, np.zeros(4), 2)", ShapeError, r"filter.*\(4,\)"),
            ("sequence_conv(wide, [[1.0], [1.0, 2.0]], 1)", ShapeError, "filter.*uneven"),
            ("sequence_conv(wide, wide, 1)", LoDError, "filter.*1 level"),
            ("sequence_conv(wide, np.zeros((2, 1), complex), 1)", DTypeError, "filter.*complex128"),
            ("sequence_conv(wide, np.zeros((2, 1), object), 1)", DTypeError, "filter.*object"),
            ("sequence_conv(wide, np.ma.zeros((2, 1)), 1)", DTypeError, "filter.*masked"),
            ("sequence_conv(flat, np.zeros((1, 1), int), 1)", DTypeError, "x, filter.*int64"),
            ("sequence_conv(wide, np.zeros((0, 1)), 0)", ValueError, "context_length.*0"),
            ("sequence_conv(wide, np.zeros((0, 1)), -2**70)", ValueError, "context_length"),
            ("sequence_conv(wide, np.zeros((2, 1)), 1.0)", DTypeError, "context_length.*1.0"),
            ("sequence_conv(wide, np.zeros((2, 1)), 1, 0.5)", DTypeError, "context_start.*0.5"),
            ("sequence_conv(wide, np.zeros((4, 1)), 2, -1, np.zeros((2, 2)))", ShapeError, r"padding_data.*\(1, 2\)"),
            ("sequence_conv(wide, np.zeros((4, 1)), 2, 3, np.zeros((3, 2)))", ShapeError, "0 rows before and 4 after"),
            ("sequence_conv(wide, np.zeros((2, 1)), 1, None, None, 1)", LevelError, "level.*1"),
            ("sequence_conv(rows, np.zeros((1, 1)), 1)", DTypeError, "x.*ndarray"),
            (
                "sequence_conv(LoDTensor(np.zeros((5, 2, 2)), flat.lod), np.zeros((4, 1)), 1)",
                ShapeError,
                r"x.*\(2, 2\)",
            ),
            ("sequence_conv(wide, np.ones((6, 1)), np.array([3]))", DTypeError, "context_length: is array"),
            ("sequence_conv(wide, np.ones((6, 1)), 3, np.array([0]))", DTypeError, "context_start: is array"),
            (
                "sequence_conv(wide, np.ones((4, 1)), 2, padding_data=np.ones(1))",
                ShapeError,
                r"padding_data: has shape \(1,\)",
            ),
            (
                "sequence_conv(wide, np.ones((4, 1)), 2, padding_data=np.ones((1, 1)))",
                ShapeError,
                "padding_data: has shape",
            ),
        ],
    ),
    "row_conv": Samples(
        calls=lookaheads(),
        expected=expected_lookahead,
        smooth=lookaheads(smooth=True),
        errors=[
            ("row_conv(wide, np.zeros((0, 2)))", ShapeError, r"filter.*\(0, 2\)"),
            ("row_conv(wide, np.zeros((2, 3)))", ShapeError, r"filter.*\(3,\).*\(2,\)"),
            ("row_conv(wide, np.zeros(2))", ShapeError, r"filter.*\(\).*\(2,\)"),
            ("row_conv(wide, 1.0)", ShapeError, "filter"),
            ("row_conv(wide, [[1.0], [1.0, 2.0]])", ShapeError, "filter.*uneven"),
            ("row_conv(flat, np.zeros(2, int))", DTypeError, "x, filter.*int64"),
            ("row_conv(flat, flat)", LoDError, "filter.*1 level"),
            ("row_conv(flat, [1.0], level=-2)", LevelError, "level.*-2"),
            ("row_conv(rows, [1.0])", DTypeError, "x.*ndarray"),
        ],
    ),
}
