"""Elements joined; sequences to steps and back."""

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import DTYPES, FLOATS, levels
from reference.draw_tensors import ROW_SHAPES, dense, level_of, levels_below, ragged, rows_for, vector
from reference.nested import nest
from reference.ops.levels import each_at_level, sequences
from reference.ops.rank_table import lod_rank_table
from reference.tensors import Dense, Map, Ragged, Steps, Structure

__all__ = ["concat", "indices_map", "pack", "stack", "unpack", "unstack"]


def step_order(nested, level, sort_by_length):
    """Return the order of the sequences of a level within each step."""
    indices, _ = lod_rank_table(nested, level)
    return indices if sort_by_length else sorted(indices)


def unpack(nested, level, sort_by_length=True):
    """Convert the sequences of a level to steps: step t has element t of every sequence longer than t."""
    found = sequences(nested, level)
    order = step_order(nested, level, sort_by_length)
    longest = max(map(len, found), default=0)
    return [[found[s][t] for s in order if len(found[s]) > t] for t in range(longest)]


def indices_map(nested, level, sort_by_length=True):
    """Return the numbers of the elements of a level in the order of the steps."""
    following = iter(range(len(sequences(nested, level + 1))))
    numbered = [[next(following) for _ in sequence] for sequence in sequences(nested, level)]
    return sequences(unpack(numbered, 0, sort_by_length), 1)


def pack(steps, nested, level, sort_by_length=True):
    """Convert steps back to sequences with the lengths of those of a level of `nested`."""
    found = sequences(nested, level)
    steps = [iter(step) for step in steps]
    packed = [None] * len(found)
    for s in step_order(nested, level, sort_by_length):
        packed[s] = [next(steps[t]) for t in range(len(found[s]))]
    return each_at_level(packed, nested, level)


# -- elements together ---------------------------------------------------------------------------------------------


def stack(elements, axis):
    """Stack nested lists along a new axis, counted from the outermost lists."""
    if axis == 0:
        return list(elements)
    return [stack(each, axis - 1) for each in zip(*elements, strict=True)]


def concat(elements, axis):
    """Concatenate nested lists along an axis, counted from the outermost lists."""
    if axis == 0:
        return [entry for element in elements for entry in element]
    return [concat(each, axis - 1) for each in zip(*elements, strict=True)]


def unstack(nested, axis):
    """Split nested lists along an axis: the inverse of `stack`, except for lists in which that axis is not visible."""
    if axis == 0:
        return list(nested)
    inside = [unstack(inner, axis - 1) for inner in nested]
    return [list(each) for each in zip(*inside, strict=True)]


# -- cases -------------------------------------------------------------------------------------------------------------


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
def draw_tensor_array_write(source):
    made = elements(source, source.integer(1, 4))
    holes = [None if source.integer(0, 3) == 0 else x for x in made[1:]]
    index = source.integer(0, len(holes) + 2)
    return {"ta": Steps(holes), "index": Dense(index, (), "int64"), "x": made[0]}


@draw_tensor_array_write.expected
def _(ta, index, x):
    found = ta.elements + [None] * (index.nested + 1 - len(ta.elements))
    found[index.nested] = x
    return Steps(found)


@cases(KINDS, walked="ta")
def draw_tensor_array_read(source):
    made = elements(source, source.integer(1, 4))
    if source.choice([True, False]):
        index = source.integer(0, len(made) - 1)
        holes = [x if i == index or source.integer(0, 3) else None for i, x in enumerate(made)]
        return {"ta": Steps(holes), "index": vector(source, [index])}
    default, *made = made
    index = source.integer(-2 if source.choice([True, False]) or not made else 0, len(made) - 1)
    return {"ta": Steps(made), "index": Dense(index, (), "int64"), "default": default}


@draw_tensor_array_read.expected
def _(ta, index, default=None):
    at = index.nested if isinstance(index.nested, int) else index.nested[0]
    return default if at < 0 else ta.elements[at]


@cases(KINDS, gradient=False, walked="ta")
def draw_tensor_array_size(source):
    made = elements(source, source.integer(0, 4))
    return {"ta": Steps([x if source.integer(0, 3) else None for x in made])}


@draw_tensor_array_size.expected
def _(ta):
    return Dense(len(ta.elements), (), "int64")


@cases(KINDS, gradient=False, walked="ta")
def draw_tensor_array_sizes(source):
    return {"ta": Steps(elements(source, source.integer(0, 4)))}


@draw_tensor_array_sizes.expected
def _(ta):
    return Dense([len(x.nested) for x in ta.elements], (len(ta.elements),), "int64")


@cases(KINDS, walked="ta")
def draw_tensor_array_stack(source):
    axis = source.integer(0, 2)
    made = elements(source, source.integer(1, 4), alike=axis > 0 or source.choice([True, False]))
    if isinstance(made[0], Dense):
        made = [made[0].with_numbers(x.numbers()) for x in made if x.shape == made[0].shape]
    return {"ta": Steps(made), "axis": min(axis, len(made[0].shape))}


@draw_tensor_array_stack.expected
def _(ta, axis):
    first = ta.elements[0]
    if axis == 0 and isinstance(first, Ragged):
        return first.made([x.nested for x in ta.elements], first.num_levels + 1)
    shape = first.shape
    shape = (*shape[:axis], len(ta.elements), *shape[axis:])
    return shaped(first, along(stack, ta.elements, axis), shape)


@cases(KINDS, walked="ta")
def draw_tensor_array_concat(source):
    axis = source.integer(0, 2)
    made = elements(source, source.integer(1, 4), alike=axis > 0)
    axis = min(axis, len(made[0].shape) - 1)
    if axis and isinstance(made[0], Dense):
        made = [x for x in made if len(x.nested) == len(made[0].nested)]
    return {"ta": Steps(made), "axis": axis - source.choice([0, len(made[0].shape)])}


@draw_tensor_array_concat.expected
def _(ta, axis):
    first = ta.elements[0]
    axis %= len(first.shape)
    if axis == 0 and isinstance(first, Ragged):
        return first.made(concat([x.nested for x in ta.elements], 0))
    shape = list(first.shape)
    shape[axis] = sum(x.shape[axis] for x in ta.elements)
    return shaped(first, along(concat, ta.elements, axis), tuple(shape))


@cases({*FLOATS, "no levels", "depth 1", "depth 2", "depth 3", *STRUCTURES})
def draw_tensor_array_unstack(source):
    if source.choice([True, False]):
        return {"x": ragged(source, 3)}
    x = dense(source, source.choice([(0,), (3,), (2, 3), (2, 0), (0, 2), (2, 2, 3)]))
    return {"x": x, "axis": source.integer(-len(x.shape), len(x.shape) - 1)}


@draw_tensor_array_unstack.expected
def _(x, axis=0):
    if isinstance(x, Ragged):
        return Steps([x.made(sequence, x.num_levels - 1) for sequence in x.nested])
    axis %= len(x.shape)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    cut = unstack(x.nested, axis) if 0 not in x.shape[:axis] else [empty(shape)] * x.shape[axis]
    return Steps([Dense(one, shape, x.dtype) for one in cut])


def empty(shape):
    """Make the nested lists of an array without numbers."""
    return Dense([], shape, "bool").with_numbers([]).nested


@cases(STRUCTURES | walks(4) | set(FLOATS))
def draw_tensor_array_unpack(source):
    x = ragged(source)
    return {"x": x, "level": level_of(source, x), "sort_by_length": source.choice([True, True, False])}


@draw_tensor_array_unpack.expected
def _(x, level, sort_by_length):
    k = x.level(level)
    steps = unpack(x.nested, k, sort_by_length)
    elements = [x.made(step, x.num_levels - k - 1) for step in steps]
    return Steps(elements), map_of(x, k, sort_by_length)


def map_of(x, level, sort_by_length):
    """Make the IndicesMap for the steps of a level."""
    numbered = nest(range(len(x.rows)), x.offsets)
    found = indices_map(numbered, level, sort_by_length)
    return Map(Structure(numbered, x.num_levels), level, sort_by_length, found)


@cases({*FLOATS, "no levels", "depth 1"}, walked="ta")
def draw_tensor_array_pack(source):
    x = ragged(source, 3)
    k, sort_by_length = level_of(source, x), source.choice([True, True, False])
    source_map = map_of(x, x.level(k), sort_by_length)
    sizes = [len(step) for step in unpack(x.nested, x.level(k), sort_by_length)]
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


@draw_tensor_array_pack.expected
def _(ta, level, indices_map):
    of, k = indices_map.source, indices_map.level
    packed = pack([step.nested for step in ta.elements], of.nested, k, indices_map.sort_by_length)
    first = ta.elements[0]
    return first.made(packed, k + 1 + first.num_levels)
