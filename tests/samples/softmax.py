"""Samples of softmax, logarithms of sums and running sums, within sequences and along an axis of values."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDTensor, ShapeError
from reference.ops import softmax as oracle
from reference.ops.levels import at_level
from tests.helpers.agree import from_the_first
from tests.helpers.draw import ROW_SHAPES, composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call

REALS = [np.dtype(name) for name in ("f4", "f8", "f2", "i4", "u1", "?")]


@composite
def lods_without_empty_sequences(draw):
    """Draw a LoD of up to 3 levels, each sequence of at least one element."""
    made, count = [], draw(integers(0, 3))
    for _ in range(draw(integers(1, 3))):
        made.append(draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)))
        count = sum(made[-1])
    return LoD.from_lengths(*made)


@composite
def tensors_with_level(draw, dtypes, odd=(), row_shapes=ROW_SHAPES, scale=4, structures=None):
    """Draw a tensor of numbers of a size at which sums lose nothing, some of them unusual, and a level of it."""
    lod = draw(lods(1, 3, most=5) if structures is None else structures)
    dtype, row_shape = draw(sampled_from(dtypes)), draw(sampled_from(row_shapes))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    numbers = random.normal(size=(lod.num_rows, *row_shape)) * scale
    if dtype.kind == "f":
        for value in odd:
            if random.random() < 0.3:
                numbers[random.random(numbers.shape) < 0.2] = value
    else:
        numbers = np.abs(numbers)
    x = LoDTensor(read_only(numbers.astype(dtype)), lod)
    return call(x, *draw(sampled_from([[], [-1], [draw(integers(-x.num_levels, x.num_levels - 1))]])))


def by(function):
    """Make `expected` from an oracle."""

    def expected(arguments):
        x = arguments["x"]
        return function(x.tolist(), from_the_first(arguments["level"], x.lod), x.num_levels, x.values.shape[1:])

    return expected


FLOAT, NARROW = [np.dtype("f8")], [(), (2,), (0,)]
SMOOTH = tensors_with_level(FLOAT, row_shapes=NARROW, scale=1)
FINITE = tensors_with_level(FLOAT, row_shapes=NARROW, scale=1, structures=lods_without_empty_sequences())
ODD = (-np.inf, np.inf, np.nan, 700.0, -700.0)


def errors(name):
    """List the wrong calls of an operator of this family."""
    return [
        (f"{name}(flat, 1)", LevelError, "level: is 1; there is 1 level"),
        (f"{name}(x, -3)", LevelError, "level: is -3; there are 2 levels"),
        (f"{name}(x, 0.0)", DTypeError, "level: is 0.0"),
        (f"{name}(lod)", DTypeError, "x: .*LoD"),
        (f"{name}(rows)", DTypeError, "x: .*ndarray"),
        (f"{name}(LoDTensor(np.zeros(5, 'G'), flat.lod))", DTypeError, "x: has dtype complex"),
        (f"{name}(LoDTensor(np.zeros(5, 'M8[s]'), flat.lod))", DTypeError, "x: has dtype datetime64"),
        (f"{name}(LoDTensor(np.zeros(5, 'g'), flat.lod))", DTypeError, "x: has dtype"),
        (f"{name}([['a']])", DTypeError, "x: has dtype <U1"),
    ]


@composite
def tensors_with_axis(draw, dtypes, odd=(), least=0):
    """Draw numbers with one or two axes in each row, with levels or without, and one of their axes."""
    lod = draw(lods(1, 3, most=5))
    dtype, row_shape = draw(sampled_from(dtypes)), draw(sampled_from([(least,), (1,), (3,), (2, 2)]))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    numbers = random.normal(size=(lod.num_rows, *row_shape)) * 2
    for value in odd if dtype.kind == "f" else ():
        numbers[random.random(numbers.shape) < 0.1] = value
    values = read_only(np.abs(numbers).astype(dtype) if dtype.kind in "ui" else numbers.astype(dtype))
    nested = draw(st.booleans())
    axes = [*range(1 if nested or not len(values) else 0, values.ndim), -1]
    return call(LoDTensor(values, lod) if nested else values, draw(sampled_from(axes)))


def along(function):
    """Make `expected` from a function of a list of numbers."""

    def expected(arguments):
        x, shape = arguments["x"], np.shape(getattr(arguments["x"], "values", arguments["x"]))
        axis, levels = arguments["axis"] % len(shape), getattr(x, "num_levels", 0)
        if not levels:
            return oracle.along_axis(function, x.tolist(), axis, shape)
        return at_level(lambda row: oracle.along_axis(function, row, axis - 1, shape[1:]), x.tolist(), levels)

    return expected


def errors_of_axes(name):
    """List the wrong calls of a function along an axis of values."""
    return [
        (f"{name}(flat)", ShapeError, "axis: is -1.*sequence_softmax"),
        (f"{name}(wide, 0)", ShapeError, "axis: is 0.*sequence_softmax"),
        (f"{name}(wide, 2)", ShapeError, "axis: is 2.*2 axes"),
        (f"{name}(wide, 1.0)", DTypeError, "axis: is 1.0"),
        (f"{name}(3.0)", ShapeError, "axis: is -1.*0 axes"),
    ]


COSTS = """
ops.sequence_softmax(x)
ops.sequence_softmax(t, 0)
ops.softmax(w)
ops.log_softmax(w)
"""
SAMPLES = {
    "sequence_softmax": Samples(
        tensors_with_level(REALS, ODD),
        by(oracle.sequence_softmax),
        SMOOTH,
        [
            *errors("sequence_softmax"),
            ("sequence_softmax(flat, out=np.zeros(5, int))", DTypeError, "out: dtype int64; the result has float64"),
            ("sequence_softmax(flat, out=flat.values.view(float))", ValueError, "out: "),
            ("sequence_softmax(wide, out=np.zeros(10))", ShapeError, r"out: shape \(10,\); the result has \(5, 2\)"),
            ("sequence_softmax(wide, out=np.zeros((5, 2), 'f4'))", DTypeError, "out: dtype float32"),
        ],
        exact=False,
    ),
    "sequence_logsumexp": Samples(
        tensors_with_level(REALS, ODD),
        by(oracle.sequence_logsumexp),
        FINITE,
        errors("sequence_logsumexp"),
        exact=False,
    ),
    "sequence_cumsum": Samples(
        tensors_with_level([*REALS, np.dtype("u8"), np.dtype("i1"), np.dtype("c16")], (np.nan, np.inf)),
        by(oracle.sequence_cumsum),
        SMOOTH,
        errors("sequence_cumsum"),
        exact=False,
    ),
    **{
        name: Samples(
            tensors_with_axis([np.dtype(dtype) for dtype in ("f4", "f8", "i8")], ODD),
            along(getattr(oracle, name)),
            tensors_with_axis(FLOAT, least=1),
            errors_of_axes(name),
            exact=False,
        )
        for name in ("softmax", "log_softmax")
    },
}
