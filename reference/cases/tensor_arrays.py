"""TensorArray: tensors by step, joined and split, and conversions between sequences and steps."""

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import DTYPES, FLOATS, levels
from reference.draw_tensors import ROW_SHAPES, dense, level_of, levels_below, ragged, rows_for, vector
from reference.nested import nest
from reference.ops import tensor_arrays as oracle
from reference.tensors import Dense, Map, Ragged, Steps, Structure

KINDS = {*FLOATS, "no levels", "depth 1", "depth 2"}


def elements(source, count, alike=False):
    """Draw elements that fit into one array: of one depth, dtype and row shape; or also of one structure."""
    depth, dtype, row_shape = source.integer(0, 2), source.choice(DTYPES), source.choice(ROW_SHAPES)
    made = []
    for _ in range(count):
        if not made or not alike:
            offsets = levels(source, depth, depth, 3)
            n_rows = source.integer(0, 3)
        made.append(rows_for(source, offsets, [dtype], [row_shape], count=n_rows))
    return made


def shaped(like, nested, shape):
    """Make a tensor like an element, with values of another shape."""
    if isinstance(like, Dense):
        return Dense(nested, shape, like.dtype)
    return like.made(nested, row_shape=shape[1:])


def along(function, given, axis):
    """Apply an oracle to elements along an axis of their values, row by row for batches."""
    if isinstance(given[0], Dense):
        return function([x.nested for x in given], axis)
    rows = function([x.rows for x in given], axis)
    return nest(rows, given[0].offsets)


@cases(KINDS, walked="x")
def tensor_array_write(source):
    made = elements(source, source.integer(1, 4))
    holes = [None if source.integer(0, 3) == 0 else x for x in made[1:]]
    index = source.integer(0, len(holes) + 2)
    return {"ta": Steps(holes), "index": Dense(index, (), "int64"), "x": made[0]}


@tensor_array_write.expected
def _(ta, index, x):
    found = ta.elements + [None] * (index.nested + 1 - len(ta.elements))
    found[index.nested] = x
    return Steps(found)


@cases(KINDS, walked="ta")
def tensor_array_read(source):
    made = elements(source, source.integer(1, 4))
    if source.choice([True, False]):
        index = source.integer(0, len(made) - 1)
        holes = [x if i == index or source.integer(0, 3) else None for i, x in enumerate(made)]
        return {"ta": Steps(holes), "index": vector(source, [index])}
    default, *made = made
    index = source.integer(-2 if source.choice([True, False]) or not made else 0, len(made) - 1)
    return {"ta": Steps(made), "index": Dense(index, (), "int64"), "default": default}


@tensor_array_read.expected
def _(ta, index, default=None):
    at = index.nested if isinstance(index.nested, int) else index.nested[0]
    return default if at < 0 else ta.elements[at]


@cases(KINDS, gradient=False, walked="ta")
def tensor_array_size(source):
    made = elements(source, source.integer(0, 4))
    return {"ta": Steps([x if source.integer(0, 3) else None for x in made])}


@tensor_array_size.expected
def _(ta):
    return Dense(len(ta.elements), (), "int64")


@cases(KINDS, gradient=False, walked="ta")
def tensor_array_sizes(source):
    return {"ta": Steps(elements(source, source.integer(0, 4)))}


@tensor_array_sizes.expected
def _(ta):
    return Dense([len(x.nested) for x in ta.elements], (len(ta.elements),), "int64")


@cases(KINDS, walked="ta")
def tensor_array_stack(source):
    axis = source.integer(0, 2)
    made = elements(source, source.integer(1, 4), alike=axis > 0 or source.choice([True, False]))
    if isinstance(made[0], Dense):
        made = [made[0].with_numbers(x.numbers()) for x in made if x.shape == made[0].shape]
    return {"ta": Steps(made), "axis": min(axis, len(made[0].shape))}


@tensor_array_stack.expected
def _(ta, axis):
    first = ta.elements[0]
    if axis == 0 and isinstance(first, Ragged):
        return first.made([x.nested for x in ta.elements], first.num_levels + 1)
    shape = first.shape
    shape = (*shape[:axis], len(ta.elements), *shape[axis:])
    return shaped(first, along(oracle.stack, ta.elements, axis), shape)


@cases(KINDS, walked="ta")
def tensor_array_concat(source):
    axis = source.integer(0, 2)
    made = elements(source, source.integer(1, 4), alike=axis > 0)
    axis = min(axis, len(made[0].shape) - 1)
    if axis and isinstance(made[0], Dense):
        made = [x for x in made if len(x.nested) == len(made[0].nested)]
    return {"ta": Steps(made), "axis": axis - source.choice([0, len(made[0].shape)])}


@tensor_array_concat.expected
def _(ta, axis):
    first = ta.elements[0]
    axis %= len(first.shape)
    if axis == 0 and isinstance(first, Ragged):
        return first.made(oracle.concat([x.nested for x in ta.elements], 0))
    shape = list(first.shape)
    shape[axis] = sum(x.shape[axis] for x in ta.elements)
    return shaped(first, along(oracle.concat, ta.elements, axis), tuple(shape))


@cases({*FLOATS, "no levels", "depth 1", "depth 2", "depth 3", *STRUCTURES})
def tensor_array_unstack(source):
    if source.choice([True, False]):
        return {"x": ragged(source, 3)}
    x = dense(source, source.choice([(0,), (3,), (2, 3), (2, 0), (0, 2), (2, 2, 3)]))
    return {"x": x, "axis": source.integer(-len(x.shape), len(x.shape) - 1)}


@tensor_array_unstack.expected
def _(x, axis=0):
    if isinstance(x, Ragged):
        return Steps([x.made(sequence, x.num_levels - 1) for sequence in x.nested])
    axis %= len(x.shape)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    cut = oracle.unstack(x.nested, axis) if 0 not in x.shape[:axis] else [empty(shape)] * x.shape[axis]
    return Steps([Dense(one, shape, x.dtype) for one in cut])


def empty(shape):
    """Make the nested lists of an array without numbers."""
    return Dense([], shape, "bool").with_numbers([]).nested


@cases(STRUCTURES | walks(4) | set(FLOATS))
def tensor_array_unpack(source):
    x = ragged(source)
    return {"x": x, "level": level_of(source, x), "sort_by_length": source.choice([True, True, False])}


@tensor_array_unpack.expected
def _(x, level, sort_by_length):
    k = x.level(level)
    steps = oracle.unpack(x.nested, k, sort_by_length)
    elements = [x.made(step, x.num_levels - k - 1) for step in steps]
    return Steps(elements), map_of(x, k, sort_by_length)


def map_of(x, level, sort_by_length):
    """Make the IndicesMap for the steps of a level."""
    numbered = nest(range(len(x.rows)), x.offsets)
    found = oracle.indices_map(numbered, level, sort_by_length)
    return Map(Structure(numbered, x.num_levels), level, sort_by_length, found)


@cases({*FLOATS, "no levels", "depth 1"}, walked="ta")
def tensor_array_pack(source):
    x = ragged(source, 3)
    k, sort_by_length = level_of(source, x), source.choice([True, True, False])
    source_map = map_of(x, x.level(k), sort_by_length)
    sizes = [len(step) for step in oracle.unpack(x.nested, x.level(k), sort_by_length)]
    if not sizes:  # an array without steps does not determine the Spec of its elements
        x, k, sizes = Ragged([[1.0]], 1, (), "float64"), 0, [1]
        source_map = map_of(x, 0, sort_by_length)
    dtype, row_shape, finer = source.choice(DTYPES), source.choice(ROW_SHAPES), source.integer(0, 1)
    steps = [step_of(source, size, finer, dtype, row_shape) for size in sizes]
    return {"ta": Steps(steps), "level": k, "indices_map": source_map}


def step_of(source, count, finer, dtype, row_shape):
    """Draw a step as a network may have computed it: as many elements, of another width, dtype or structure."""
    offsets = levels_below(source, count, finer, longest=2)
    return rows_for(source, offsets, [dtype], [row_shape], count=count)


@tensor_array_pack.expected
def _(ta, level, indices_map):
    of, k = indices_map.source, indices_map.level
    packed = oracle.pack([step.nested for step in ta.elements], of.nested, k, indices_map.sort_by_length)
    first = ta.elements[0]
    return first.made(packed, k + 1 + first.num_levels)
