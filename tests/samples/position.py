"""Samples of inserted and removed axes, sequences by position; rows without structure, and joined."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.ops import levels as walk
from reference.ops.axes import insert_axis
from reference.ops.levels import each_at_level, sequences
from reference.ops.position import by_position, by_positions, pool_by_position
from tests.helpers.draw import DTYPES, NUMBERS, ROW_SHAPES, composite, integers, lod_tensors, lods, sampled_from, values
from tests.samples import Samples, call
from tests.samples.common import SEEDS, finite, smooth_batches, smooth_values
from tests.samples.pool import small_values as exact_values

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
ANY = lod_tensors(1, 3, PLAIN, ROW_SHAPES, 6)
SMOOTH = smooth_batches([(), (2,)])
POSITION_POOLS = ["sum", "mean", "max", "min"]


@composite
def insertions(draw, tensors):
    x = draw(tensors)
    if draw(integers(0, 3)) == 0:
        return call(x.values, 0, draw(st.booleans()))
    level = draw(integers(0, x.num_levels))
    whole = draw(st.booleans()) and level == 0
    return call(x, (level, draw(integers(0, x.num_levels + 1))) if draw(st.booleans()) else level, whole)


def expected_insertion(arguments):
    levels = arguments["level"] if isinstance(arguments["level"], tuple) else (arguments["level"],)
    nested = arguments["x"].tolist()
    for j, level in enumerate(levels):
        nested = insert_axis(nested, 0 if arguments["whole"] and not j else level + 1)
    return nested


@composite
def drops(draw, tensors):
    x = draw(tensors)
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    return call(x, level, draw(integers(1, x.num_levels - level % x.num_levels)))


@composite
def regroupings(draw, tensors):
    x = draw(tensors)
    if draw(st.booleans()):
        return call(x, draw(integers(0, x.num_levels - 1)))
    last = draw(integers(1, x.num_levels))
    stays = draw(integers(0, last))
    moved = [axis for axis in range(last + 1) if axis != stays and draw(st.booleans())] or [(stays + 1) % (last + 1)]
    return call(x, tuple(draw(st.permutations(moved))) if len(moved) > 1 else moved[0], last)


def expected_regrouping(arguments):
    axes = arguments["axis"] if isinstance(arguments["axis"], tuple) else (arguments["axis"],)
    if arguments["last"] is None:
        return by_position(arguments["x"].tolist(), *axes)
    return by_positions(arguments["x"].tolist(), axes, arguments["last"])


@composite
def position_pools(draw):
    pool_type, lod = draw(sampled_from(POSITION_POOLS)), draw(lods(1, 3, 6))
    if pool_type in ("max", "min"):
        rows = draw(values(lod.num_rows, NUMBERS, ROW_SHAPES))
    else:
        rows = draw(exact_values(lod.num_rows, draw(sampled_from([*NUMBERS, np.dtype("?")])), ROW_SHAPES[1]))
    return call(LoDTensor(rows, lod), pool_type)


def dropped(arguments):
    x = arguments["x"]
    nested = x.tolist()
    for _ in range(arguments["count"]):
        nested = walk.drop(nested, arguments["level"] % x.num_levels)
    return nested


@composite
def joins(draw, make, dtypes):
    lod = draw(lods(1, 3, 6))
    nested = draw(st.booleans())
    axis = draw(integers(1 if nested else 0, 2))
    shape = [lod.num_rows, *draw(sampled_from([(2, 2), (1, 3), (0, 1)]))]
    xs = []
    for _ in range(draw(integers(1, 3))):
        shape[axis] = draw(integers(0, 3)) if axis or not nested else shape[axis]
        values = make(draw(SEEDS), tuple(shape), draw(sampled_from(dtypes)))
        xs.append(LoDTensor(values, lod) if nested else values)
    return call(xs, axis if draw(st.booleans()) else axis - 3)


def expected_join(arguments):
    xs, axis = arguments["xs"], arguments["axis"] % 3
    rows = [sequences(x.tolist(), x.num_levels) if isinstance(x, LoDTensor) else x.tolist() for x in xs]

    def joined(entries, at):
        if at == 0:
            return [one for entry in entries for one in entry]
        return [joined(list(column), at - 1) for column in zip(*entries, strict=True)]

    found = joined(rows, axis)
    nested = [x for x in xs if isinstance(x, LoDTensor)]
    return each_at_level(found, nested[0].tolist(), nested[0].num_levels) if nested else found


COSTS = """
ops.pool_positions(x, "max")
ops.index_values(w, [slice(None), [1, 0]])
ops.insert_level(x, 0)
ops.concat_values([w, w], 1)
"""
SAMPLES = {
    "insert_level": Samples(
        insertions(ANY),
        expected_insertion,
        insertions(SMOOTH),
        [
            ("ops.insert_level(flat, 2)", LevelError, "level: is 2; x has 1 level$"),
            ("ops.insert_level(flat, -1)", LevelError, "level: is -1"),
            ("ops.insert_level(flat, 1, True)", LevelError, "level: is 1"),
            ("ops.insert_level(flat, 1.0)", DTypeError, "level: is 1.0"),
            ("ops.insert_level(3, 0)", DTypeError, "x: is a number"),
            ("ops.insert_level(x, 1, whole=True)", LevelError, "level: is 1; x has 2 levels"),
        ],
    ),
    "drop_level": Samples(
        drops(ANY),
        dropped,
        drops(SMOOTH),
        [
            ("ops.drop_level(flat, 1)", LevelError, "level: is 1"),
            ("ops.drop_level(rows)", DTypeError, "x: is ndarray"),
            ("ops.drop_level(flat, 0, 2)", ValueError, "count: is 2"),
        ],
    ),
    "by_position": Samples(
        regroupings(ANY),
        expected_regrouping,
        regroupings(SMOOTH),
        [
            ("ops.by_position(flat, 1)", LevelError, "axis: is 1; x has 1 level"),
            ("ops.by_position(flat, -1)", LevelError, "axis: is -1"),
            ("ops.by_position(flat, 0.0)", DTypeError, "axis: is 0.0"),
            ("ops.by_position(flat, ())", LevelError, r"axis: is \(\); one axis"),
            ("ops.by_position(flat, (0, 1))", LevelError, r"axis: is \(0, 1\); different axes, not all up to 1"),
            ("ops.by_position(flat, (0, 0), 1)", LevelError, r"axis: is \(0, 0\); different"),
            ("ops.by_position(flat, 0, 2)", LevelError, "last: is 2; 0 .. 1 are possible"),
            ("ops.by_position(flat, 2, 2)", LevelError, "axis: is 2; x has 1 level"),
            ("ops.by_position(x, 2)", LevelError, "axis: is 2; x has 2 levels"),
        ],
    ),
    "pool_positions": Samples(
        position_pools(),
        lambda arguments: pool_by_position(arguments["x"].tolist(), arguments["pool_type"], arguments["x"].num_levels),
        st.tuples(SMOOTH, st.sampled_from(POSITION_POOLS)).map(lambda drawn: call(*drawn)),
        [
            ("ops.pool_positions(flat, 'first')", ValueError, "pool_type: is 'first'"),
            ("ops.pool_positions(flat, None)", ValueError, "pool_type: is None"),
            ("ops.pool_positions(rows, 'sum')", DTypeError, "x: is ndarray"),
            ("ops.pool_positions(LoDTensor(rows, LoD.from_offsets(num_rows=5)), 'sum')", LoDError, "x: has no levels"),
            ("ops.pool_positions([['a']], 'max')", DTypeError, "x: has dtype <U1"),
        ],
        exact=False,
    ),
    "rows": Samples(
        ANY.map(call),
        lambda arguments: sequences(arguments["x"].tolist(), arguments["x"].num_levels),
        SMOOTH.map(call),
        [("ops.rows(1, 2)", TypeError, "argument")],
    ),
    "concat_values": Samples(
        joins(finite, ["f4", "f8", "i8"]),
        expected_join,
        joins(lambda seed, shape, _: smooth_values(seed, shape), ["f8"]),
        [
            ("ops.concat_values([wide, x], 1)", ShapeError, "as many axes"),
            ("ops.concat_values([wide, np.ones((5, 2))], 1)", ShapeError, r"xs\[1\]: has no levels.*with_values"),
            ("ops.concat_values([np.ones((5, 2)), wide], 1)", ShapeError, r"xs\[0\]: has no levels.*with_values"),
            ("ops.concat_values([wide, wide], 0)", ShapeError, "axis: is 0, that of the rows"),
            ("ops.concat_values([wide, wide[:2]], 1)", LoDError, r"xs\[1\]: has 2 sequences"),
            ("ops.concat_values([dense, dense.T], 1)", ShapeError, "only axis 1 may differ"),
            ("ops.concat_values([wide], 2)", ShapeError, "axis: is 2; the values have 2"),
            ("ops.concat_values([wide], 1.0)", DTypeError, "axis: is 1.0"),
            ("ops.concat_values([], 1)", DTypeError, "xs: is empty; at least one"),
            ("ops.concat_values([1.0, 2.0], 0)", ShapeError, "concat_values: axis: is 0; the values have 0 axes"),
            ("ops.concat_values([dense, 2.0], 0)", ShapeError, r"concat_values: xs: .*\(3, 4\), \(\)"),
            ("ops.concat_values([wide, wide], -2)", ShapeError, "axis: is -2, that of the rows"),
        ],
    ),
}

# -- NumPy's indices -----------------------------------------------------------------------------------------------

KEYS = [
    [slice(None)],
    [slice(None), 1],
    [slice(None), slice(None, None, -2)],
    [slice(None), None, -1],
    [slice(None), np.array([0, -1, 0])],
    [slice(None), np.array([1, 1]), np.array([0, 2])],
    [slice(None), slice(None), np.array([True, False, True])],
    [..., 2],
    [slice(None), ..., np.array([[0], [1]])],
    [slice(None), 1, np.array([0, 1])],
    [slice(None), 0, 1],
    [slice(None), np.ones((2, 3), bool)],
]
PAIR = np.array([0, 1])
DENSE_KEYS = [
    *KEYS,
    [0],
    [],
    [None, 0],
    [np.array(1), 0],
    [slice(1, None), PAIR, 1],
    [PAIR, slice(None), PAIR],
    [slice(None), PAIR, None, 1],
    [0, slice(None), PAIR[::-1]],
]


@composite
def value_indices(draw, make):
    lod = draw(lods(1, 2, 6).filter(lambda lod: lod.num_rows > 1))
    values = make(draw(SEEDS), (lod.num_rows, 2, 3), "f8")
    if draw(st.booleans()):
        return call(LoDTensor(values, lod), draw(sampled_from(KEYS)))
    return call(values, draw(sampled_from(DENSE_KEYS)))


def expected_values(arguments):
    """NumPy is the oracle here."""
    x, keys = arguments["x"], tuple(arguments["keys"])
    if isinstance(x, LoDTensor):
        return each_at_level(x.values[keys].tolist(), x.tolist(), x.num_levels)
    return x[keys].tolist()


CUBES = "LoDTensor(np.zeros((1, 2, 2, 2)), LoD.from_lengths([1]))"
SAMPLES["index_values"] = Samples(
    value_indices(finite),
    expected_values,
    value_indices(lambda seed, shape, _: smooth_values(seed, shape)),
    [
        ("ops.index_values(wide, [0])", ShapeError, "all rows"),
        ("ops.index_values(wide, [slice(1, None)])", ShapeError, "all rows"),
        ("ops.index_values(wide, [slice(None), 2])", IndexError, "index 2 is out of bounds"),
        (f"ops.index_values({CUBES}, [slice(None), [0], slice(None), [0]])", ShapeError, "keys: .* not adjacent"),
        (f"ops.index_values({CUBES}, [slice(None), [0], ..., 0])", ShapeError, "keys: .* not adjacent"),
        (f"ops.index_values({CUBES}, [slice(None), 0, None, [0]])", ShapeError, "keys: .* not adjacent"),
        ("ops.index_values(dense, [0, 0, 0])", IndexError, "too many indices"),
        ("ops.index_values(dense, [flat])", DTypeError, "LoDTensor"),
        ("ops.index_values(dense, [np.array([0.0])])", DTypeError, r"keys\[0\]: has dtype float64"),
        ("ops.index_values(dense, 0)", DTypeError, "keys: is int"),
        ("ops.index_values(wide, [0, rows], True)", ShapeError, r"keys: begin with \(0,\); slice\(None\) is needed"),
        ("ops.index_values(wide, [..., rows], True)", ShapeError, r"keys: begin with \(Ellipsis,\); slice\(None\)"),
        *[
            (
                f"ops.index_values(wide, [slice(None), {key}], True)",
                IndexError,
                r"could not be broadcast together with shapes \(5,\) .*, of index 1",
            )
            for key in ("[0]", "[0, 1]", "np.zeros((5, 1), int)", "np.ones(4, bool)")
        ],
    ],
)
