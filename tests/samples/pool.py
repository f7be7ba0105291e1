"""Samples of pooling."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDTensor, ShapeError
from reference.nested import nest
from reference.ops import pool as oracle
from tests.helpers.agree import offsets_of
from tests.helpers.draw import NUMBERS, ROW_SHAPES, composite, integers, lods, read_only, sampled_from, values
from tests.samples import Samples, call

POOL_TYPES = ["sum", "mean", "sqrt", "max", "min", "first", "last"]
MOVED = [np.dtype(name) for name in ("?", "S3", "U2", "c8")]
BOOLS = [np.dtype("?")]


@composite
def small_values(draw, n_rows, dtype, row_shape):
    """Draw quarters (or integers) whose sums are exact in every dtype that is wide enough for them."""
    random = np.random.default_rng(draw(integers(0, 2**32)))
    low = 0 if dtype.kind in "bu" else -8
    drawn = random.integers(low, 2 if dtype.kind == "b" else 9, (n_rows, *row_shape))
    return read_only((drawn / 4 if dtype.kind == "f" else drawn).astype(dtype))


@composite
def calls(draw):
    pool_type = draw(sampled_from(POOL_TYPES))
    lod, row_shape = draw(lods(1, 4, 6)), draw(sampled_from(ROW_SHAPES))
    if pool_type in ("first", "last"):
        rows = draw(values(lod.num_rows, NUMBERS + MOVED, [row_shape]))
    elif pool_type in ("max", "min"):
        rows = draw(values(lod.num_rows, NUMBERS + BOOLS, [row_shape]))
    else:
        rows = draw(small_values(lod.num_rows, draw(sampled_from(NUMBERS + BOOLS)), row_shape))
    options = {}
    if draw(st.booleans()):
        options["level"] = draw(integers(-lod.num_levels, lod.num_levels - 1))
    if rows.dtype.kind in "iuf" and draw(st.booleans()):
        shape = draw(sampled_from([(), (1,), row_shape]))
        options["pad_value"] = draw(small_values(1, rows.dtype, shape))[0] if draw(st.booleans()) else 3
    return call(LoDTensor(rows, lod), pool_type, **options)


def expected(arguments):
    x, level = arguments["x"], arguments["level"] % arguments["x"].num_levels
    nested = nest(x.values.tolist(), offsets_of(x.lod))
    result = np.zeros((0,), x.dtype) if arguments["pool_type"] in ("first", "last", "max", "min") else np.zeros(0)
    row = np.zeros(x.values.shape[1:], result.dtype)
    if np.any(arguments["pad_value"]):
        row[...] = arguments["pad_value"]
    return oracle.sequence_pool(nested, arguments["pool_type"], row.tolist(), level, x.num_levels)


@composite
def smooth(draw):
    pool_type = draw(sampled_from(POOL_TYPES))
    lod, row_shape = draw(lods(1, 3, 5)), draw(sampled_from(ROW_SHAPES))
    count = lod.num_rows * int(np.prod(row_shape))
    apart = np.random.default_rng(draw(integers(0, 2**32))).permutation(count) / 8  # no two are equal
    options = {"level": draw(integers(-lod.num_levels, lod.num_levels - 1))}
    if draw(st.booleans()):
        options["pad_value"] = read_only(np.full(draw(sampled_from([(), (1,), row_shape])), 0.5))
    return call(LoDTensor(apart.reshape(lod.num_rows, *row_shape), lod), pool_type, **options)


ERRORS = [
    ("sequence_pool(flat, 'median')", ValueError, 'pool_type.*\'median\'.*"sum".*"last"'),
    ("sequence_pool(flat, ['sum'])", ValueError, r"pool_type.*\['sum'\]"),
    ("sequence_pool(flat, None)", ValueError, "pool_type.*None"),
    ("sequence_pool(flat)", TypeError, "pool_type"),
    ("sequence_pool(flat, 'sum', level=1)", LevelError, "level.*1"),
    ("sequence_pool(x, 'first', level=-3)", LevelError, "level.*-3"),
    ("sequence_pool(x, 'max', level=0.0)", DTypeError, "level.*0.0"),
    ("sequence_pool(dense, 'sum')", DTypeError, "x.*ndarray"),
    ("sequence_pool(LoDTensor.from_lengths(['a', 'b'], [2]), 'sum')", DTypeError, "x.*<U1.*'sum'"),
    ("sequence_pool(LoDTensor.from_lengths(np.zeros(2, 'c8'), [2]), 'max')", DTypeError, "x.*complex64.*'max'"),
    ("sequence_pool(LoDTensor.from_lengths(np.zeros(2, 'M8[s]'), [2]), 'mean')", DTypeError, "x.*datetime"),
    ("sequence_pool(wide, 'sum', [1.0, 2.0, 3.0])", ShapeError, r"pad_value.*\(3,\).*\(2,\)"),
    ("sequence_pool(wide, 'sum', [[1.0], [2.0, 3.0]])", ShapeError, "pad_value.*unevenly"),
    ("sequence_pool(flat, 'max', 0.5)", DTypeError, "pad_value.*0.5.*int64"),
    ("sequence_pool(flat, 'max', np.nan)", DTypeError, "pad_value.*nan.*int64"),
    ("sequence_pool(wide, 'sum', 'a')", DTypeError, "pad_value.*'a'.*float64"),
    ("sequence_pool(wide, 'sum', 1j)", DTypeError, "pad_value.*1j.*float64"),
    ("sequence_pool(wide, 'sum', None)", DTypeError, "pad_value: is None"),
    ("sequence_pool(wide.astype('f4'), 'sum', 1e300)", DTypeError, r"pad_value: is 1e\+300; float32"),
    ("sequence_pool(array([['a'], []]), 'last', 'long')", DTypeError, "pad_value: is 'long'; <U1"),
    ("sequence_pool(wide, 'sum', out=[1])", DTypeError, "out.*list"),
    ("sequence_pool(wide, 'sum', out=np.empty((3, 2), 'f4'))", DTypeError, "out.*float32.*float64"),
    ("sequence_pool(wide, 'sum', out=np.empty((2, 2)))", ShapeError, r"out.*\(2, 2\).*\(3, 2\)"),
    ("sequence_pool(wide, 'last', out=np.empty((2, 3)).T)", ValueError, "out.*contiguous"),
    ("sequence_pool(flat, 'sum', out=flat.values[:3])", ValueError, "out.*overlaps"),
    ("sequence_pool(wide, 'sum', [1.0, 2.0], out=wide.lod.offsets())", DTypeError, "out.*int64"),
]

COSTS = """
lodcore.sequence_pool(x, "sum")
lodcore.sequence_pool(x, "mean")
lodcore.sequence_pool(x, "max")
lodcore.sequence_pool(x, "first")
"""
SAMPLES = {"sequence_pool": Samples(calls(), expected, smooth(), ERRORS, exact=False)}
