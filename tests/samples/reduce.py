"""Reductions of values and of sequences."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDTensor, ShapeError
from lodcore.ops import select_by_mask
from lodcore.tensors import core
from reference.ops.axes import reduce_axis, reduce_below, reduction
from reference.ops.levels import each_at_level
from reference.ops.reduce import REDUCTIONS
from tests.helpers.draw import read_only
from tests.samples import Samples, call
from tests.samples.common import batches, smooth_batches

NUMBERS = ["f4", "f8", "i8", "i2", "u1", "?"]
ROW_SHAPES = [(), (3,), (1,), (2, 2)]
NEEDS_ROWS = ("max", "min", "argmax", "argmin")
SMOOTH = smooth_batches(ROW_SHAPES)


# -- axes of values ------------------------------------------------------------------------------------------------


@st.composite
def value_reductions(draw, tensors, names):
    x = draw(tensors)
    x = x.values if draw(st.integers(0, 3)) == 0 else x
    name = draw(st.sampled_from(names))
    ndim = (x.values if isinstance(x, LoDTensor) else x).ndim
    axes = tuple(draw(st.lists(st.integers(0, ndim - 1), min_size=1, max_size=ndim, unique=True)))
    axes = tuple(axis - ndim if draw(st.booleans()) else axis for axis in axes)  # counted from either end
    axes = axes[:1] if name.startswith("arg") else axes
    axes = None if draw(st.integers(0, 3)) == 0 else axes
    empty = draw(st.sampled_from([None, 0, 1]))
    if empty is None and name in NEEDS_ROWS and not (x.num_rows if isinstance(x, LoDTensor) else len(x)):
        name = "sum"
    initial = draw(st.sampled_from([None, 0, 1])) if name in ("max", "min") and empty is None else None
    return call(x, name, axes, draw(st.booleans()) and axes is not None, initial, empty)


def expected_reduction(arguments):
    x, name, axes, empty = arguments["x"], arguments["name"], arguments["axes"], arguments["empty"]
    known = reduction(name, arguments["initial"])

    def function(numbers):
        return empty if empty is not None and not len(numbers) else known(numbers)

    levels = x.num_levels if isinstance(x, LoDTensor) else 0
    values = x.values if levels else x
    if axes is None:
        return function(values.ravel().tolist())
    axes = [axis % values.ndim for axis in axes]
    if 0 in axes:  # no sequences are left
        x, levels = values, 0
    shape = values.shape[1:]

    def reduced(row, depth, at):
        for axis in sorted(at, reverse=True):
            row = reduce_axis(function, row, axis, depth, ())
            if arguments["keepdims"]:
                row = kept(row, axis)
            else:
                depth -= 1
        return row

    if levels:
        rows = [reduced(row, len(shape), [axis - 1 for axis in axes]) for row in values.tolist()]
        return each_at_level(rows, x.tolist(), x.num_levels)
    if values.size == 0 or name == "mean":
        made = getattr(np, name)(values, axis=axes, keepdims=arguments["keepdims"]) if values.size else None
        return made.tolist() if made is not None else empty_result(function, values, axes, arguments["keepdims"])
    return reduced(x.tolist(), x.ndim, axes)


def kept(row, axis):
    return [row] if axis == 0 else [kept(entry, axis - 1) for entry in row]


def empty_result(function, values, axes, keepdims):
    shape = [1 if axis in axes else size for axis, size in enumerate(values.shape) if keepdims or axis not in axes]
    return np.full(shape, function([])).tolist()


SAMPLES = {
    "reduce_values": Samples(
        value_reductions(batches(NUMBERS, ROW_SHAPES), list(REDUCTIONS)),
        expected_reduction,
        value_reductions(SMOOTH, ["sum", "prod", "mean", "max", "min"]),
        [
            ("ops.reduce_values(flat, 'median')", ValueError, "name: is 'median'; one of sum"),
            ("ops.reduce_values(wide, 'sum', (2,))", ShapeError, "axes: 2 is one; the values have 2 axes"),
            ("ops.reduce_values(wide, 'sum', 1)", DTypeError, "axes: are 1"),
            ("ops.reduce_values(wide, 'sum', (0, 0))", ShapeError, "different axes"),
            ("ops.reduce_values(wide, 'argmax', (0, 1))", ShapeError, "one axis"),
            ("ops.reduce_values(array([['a']]), 'sum')", DTypeError, "x: has dtype <U1"),
            ("ops.reduce_values(flat[:0], 'max', None, False, None, 0.5)", DTypeError, "max: empty: is 0.5; int64"),
            ("ops.reduce_values(flat[:0], 'max')", ValueError, "max: x: has no values .*; give empty=, or an initial"),
            ("ops.reduce_values(flat[:0], 'argmin')", ValueError, "argmin: x: has no values .*; give empty="),
        ],
        exact=False,
    )
}

# -- sequences -----------------------------------------------------------------------------------------------------


@st.composite
def with_level(draw, tensors, *rest):
    x = draw(tensors)
    return call(x, *[draw(one) for one in rest], draw(st.integers(-x.num_levels, x.num_levels - 1)))


def below(arguments, function):
    x = arguments["x"]
    level = arguments["level"] % x.num_levels
    return reduce_below(function, x.tolist(), level, x.num_levels, x.values.shape[1:])


def place_or_none(name):
    return lambda numbers: reduction(name)(numbers) if numbers else -1


@st.composite
def full_batches(draw):
    """Draw a batch without empty sequences, and any level."""
    x = draw(smooth_batches([(), (2,)]))
    for level in range(x.num_levels - 1, -1, -1):
        lengths = x.lod.lengths(level)
        if not lengths.all():
            held = read_only(lengths > 0)
            x = select_by_mask(x, LoDTensor(held, core.slice_levels(x.lod, 0, level)) if level else held)
    return call(x, "max", draw(st.integers(-x.num_levels, x.num_levels - 1)))


WRONG_LEVEL = [
    ("ops.{}(flat{}, level=1)", LevelError, "level: is 1"),
    ("ops.{}(flat{}, level=0.5)", DTypeError, "level: is 0.5"),
    ("ops.{}(rows{})", DTypeError, "x: is ndarray"),
]


def wrong(name, middle=""):
    return [(text.format(name, middle), error, says) for text, error, says in WRONG_LEVEL]


SAMPLES |= {
    "sequence_prod": Samples(
        with_level(batches(NUMBERS)),
        lambda arguments: below(arguments, reduction("prod")),
        with_level(SMOOTH),
        [*wrong("sequence_prod"), ("ops.sequence_prod([['a']])", DTypeError, "x: has dtype <U1")],
        exact=False,
    ),
    "sequence_truth": Samples(
        with_level(batches(["?"]), st.sampled_from(["any", "all"])),
        lambda arguments: below(arguments, reduction(arguments["name"])),
        None,
        [
            ("ops.sequence_truth(array([[True]]), 'any', 1)", LevelError, "level: is 1"),
            ("ops.sequence_truth(array([[True]]), 'one')", ValueError, "name: is 'one'"),
            ("ops.sequence_truth(flat, 'any')", DTypeError, "x: has dtype int64"),
        ],
    ),
    "sequence_place": Samples(
        with_level(batches(NUMBERS), st.sampled_from(["argmax", "argmin"])),
        lambda arguments: below(arguments, place_or_none(arguments["name"])),
        None,
        [
            *wrong("sequence_place", ", 'argmax'"),
            ("ops.sequence_place(flat, 'max')", ValueError, "name: is 'max'"),
            ("ops.sequence_place([['a']], 'argmin')", DTypeError, "x: has dtype <U1"),
        ],
    ),
    "refuse_empty": Samples(
        full_batches(),
        lambda arguments: arguments["x"].tolist(),
        full_batches(),
        [
            *wrong("refuse_empty", ", 'max'"),
            ("ops.refuse_empty(flat, 'max')", ValueError, "max: sequence 1 of level 0 is empty"),
            ("ops.refuse_empty(x, 'max', 0)", ValueError, "max: sequence 1 of level 0 is empty"),
        ],
    ),
}
