"""Reductions of values."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDTensor, ShapeError
from reference.ops.axes import reduce_axis, reduction
from reference.ops.levels import each_at_level
from reference.ops.reduce_values import REDUCTIONS
from tests.helpers.draw import composite, integers, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, smooth_batches

NUMBERS = ["f4", "f8", "i8", "i2", "u1", "?"]
ROW_SHAPES = [(), (3,), (1,), (2, 2)]
NEEDS_ROWS = ("max", "min", "argmax", "argmin")
SMOOTH = smooth_batches(ROW_SHAPES)


# -- axes of values ------------------------------------------------------------------------------------------------


@composite
def value_reductions(draw, tensors, names):
    x = draw(tensors)
    x = x.values if draw(integers(0, 3)) == 0 else x
    name = draw(sampled_from(names))
    ndim = (x.values if isinstance(x, LoDTensor) else x).ndim
    axes = tuple(draw(st.lists(st.integers(0, ndim - 1), min_size=1, max_size=ndim, unique=True)))
    axes = tuple(axis - ndim if draw(st.booleans()) else axis for axis in axes)  # counted from either end
    axes = axes[:1] if name.startswith("arg") else axes
    axes = None if draw(integers(0, 3)) == 0 else axes
    empty = draw(sampled_from([None, 0, 1]))
    if empty is None and name in NEEDS_ROWS and not (x.num_rows if isinstance(x, LoDTensor) else len(x)):
        name = "sum"
    initial = draw(sampled_from([None, 0, 1])) if name in ("max", "min") and empty is None else None
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
    axes = tuple(axis % values.ndim for axis in axes)
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


COSTS = """
ops.reduce_values(w, "sum", (1,))
"""
SAMPLES = {
    "reduce_values": Samples(
        value_reductions(batches(NUMBERS, ROW_SHAPES), list(REDUCTIONS)),
        expected_reduction,
        value_reductions(SMOOTH, ["sum", "prod", "mean", "max", "min"]),
        [
            ("ops.reduce_values(flat, 'median')", ValueError, "name: is 'median'; one of sum"),
            ("ops.reduce_values(flat, ['sum'])", ValueError, r"name: is \['sum'\]; one of sum"),
            ("ops.reduce_values(flat, None, (0,))", ValueError, "name: is None; one of sum"),
            ("ops.reduce_values(wide, 'sum', (2,))", ShapeError, "axes: 2 is one; the values have 2 axes"),
            ("ops.reduce_values(wide, 'sum', 1)", DTypeError, "axes: are 1"),
            ("ops.reduce_values(wide, 'sum', (0, 0))", ShapeError, "different axes"),
            ("ops.reduce_values(wide, 'argmax', (0, 1))", ShapeError, "one axis"),
            ("ops.reduce_values(array([['a']]), 'sum')", DTypeError, "x: has dtype <U1"),
            ("ops.reduce_values(flat[:0], 'max', None, False, None, 0.5)", DTypeError, "max: empty: is 0.5; int64"),
            (
                "ops.reduce_values(flat[:0], 'max')",
                ValueError,
                "max: x: has no values .*; give empty= to x.max, or an initial",
            ),
            ("ops.reduce_values(flat[:0], 'argmin')", ValueError, "argmin: x: has no values .*; give empty="),
            ("ops.reduce_values(wide, 'sum', (0, 2, 7))", ShapeError, "axes: 2 is one; the values have 2 axes"),
            ("ops.reduce_values(wide, 'sum', (0, -2))", ShapeError, r"axes: are \(0, -2\); different axes"),
            ("ops.reduce_values(wide, 'sum', (-1, 1))", ShapeError, "different axes"),
        ],
        exact=False,
    )
}
