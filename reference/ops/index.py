"""Indexing along an axis: axis 0 is the batch, axis k the elements of level k - 1."""

from reference.case import cases
from reference.corners import MOVED, depths
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import dense, ragged, rows_for, vector
from reference.ops.levels import at_level, each_at_level, sequences
from reference.tensors import Dense, Ragged

__all__ = ["pick_along", "select_by_mask", "slice_along", "take_nested", "take_of_each"]


def slice_along(nested, start, stop, step, axis):
    """Slice every sequence alike."""
    if axis == 0:
        return nested[start:stop:step]
    found = sequences(nested, axis - 1)
    return each_at_level([sequence[start:stop:step] for sequence in found], nested, axis - 1)


def pick_along(nested, index, axis):
    """Select one element of every sequence; the index has one entry per sequence."""
    if axis == 0:
        return nested[index[0]]
    found = sequences(nested, axis - 1)
    return each_at_level([found[s][index[s]] for s in range(len(found))], nested, axis - 1)


def select_by_mask(nested, mask, axis):
    """Keep the elements along an axis for which a mask is true."""
    if axis == 0:
        return [entry for entry, kept in zip(nested, mask, strict=True) if kept]
    pairs = zip(sequences(nested, axis - 1), sequences(mask, axis - 1), strict=True)
    chosen = [[entry for entry, kept in zip(sequence, part, strict=True) if kept] for sequence, part in pairs]
    return each_at_level(chosen, nested, axis - 1)


def take_nested(nested, index, axis):
    """Select elements of every sequence by their numbers; the index has as many levels as the axis requires."""
    pairs = zip(sequences(nested, axis - 1), sequences(index, axis - 1), strict=True)
    return each_at_level([[sequence[i] for i in numbers] for sequence, numbers in pairs], nested, axis - 1)


def take_of_each(nested, index, axis):
    """Select the same elements of every sequence."""
    return at_level(lambda sequence: [sequence[i] for i in index], nested, axis - 1)


# -- cases -------------------------------------------------------------------------------------------------------------


STEPS = [1, 1, 2, 3, -1, -2, None]


def elements(x, axis):
    """List the entries along an axis of a batch."""
    return sequences(x.nested, axis)


@cases(MOVED | depths(4))
def draw_slice_along(source):
    x = ragged(source)
    bounds = [source.choice([None, *range(-5, 6), 2**40, -(2**40)]) for _ in range(2)]
    return {
        "x": x,
        "start": bounds[0],
        "stop": bounds[1],
        "step": source.choice(STEPS),
        "axis": source.integer(0, x.num_levels),
    }


@draw_slice_along.expected
def _(x, start, stop, step, axis):
    return x.made(slice_along(x.nested, start, stop, step, axis))


@cases(depths(3) | set(DTYPES) | {"nan"})
def draw_pick_along(source):
    x = ragged(source, 3)
    axis = source.integer(0, x.num_levels)
    if axis == 0 and not x.nested:
        axis = 1
    if axis == 0:
        return {"x": x, "index": source.integer(-len(x.nested), len(x.nested) - 1), "axis": 0}
    kept = at_level(bool, x.nested, axis - 1)
    x = x.made(select_by_mask(x.nested, kept, axis - 1))
    sizes = [len(sequence) for sequence in elements(x, axis - 1)]
    return {"x": x, "index": vector(source, [source.integer(-size, size - 1) for size in sizes]), "axis": axis}


@draw_pick_along.expected
def _(x, index, axis):
    index = index.numbers() if isinstance(index, Dense) else [index]
    return x.made(pick_along(x.nested, index, axis), x.num_levels - 1)


@cases(MOVED | depths(3))
def draw_select_by_mask(source):
    x = ragged(source, 3)
    axis = source.integer(0, x.num_levels)
    mask = dense(source, (len(elements(x, axis)),), ["bool"])
    if axis:
        whole = each_at_level(mask.numbers(), x.nested, axis)
        return {"x": x, "mask": Ragged(whole, axis, (), "bool")}
    return {"x": x, "mask": mask}


@draw_select_by_mask.expected
def _(x, mask):
    return x.made(select_by_mask(x.nested, mask.nested, mask.num_levels))


@cases(MOVED | depths(3))
def draw_take_nested(source):
    x = ragged(source, 3)
    axis = source.integer(1, x.num_levels)

    def numbers(sequence):
        size = len(sequence)
        return source.integers(source.integer(0, 4) if size else 0, -size, size - 1)

    index = Ragged(at_level(numbers, x.nested, axis - 1), axis, (), source.choice(["int64", "int32"]))
    return {"x": x, "index": index}


@draw_take_nested.expected
def _(x, index):
    return x.made(take_nested(x.nested, index.nested, index.num_levels))


@cases(depths(3) | set(DTYPES) | {"nan"})
def draw_take_of_each(source):
    drawn = draw_pick_along.draw(source)
    x, axis = drawn["x"], max(drawn["axis"], 1)
    sizes = [len(sequence) for sequence in elements(x, axis - 1)]
    shortest = min(sizes, default=2)
    index = source.integers(source.integer(0, 3) if shortest else 0, -shortest, shortest - 1)
    return {"x": x, "index": vector(source, index), "axis": axis}


@draw_take_of_each.expected
def _(x, index, axis):
    return x.made(take_of_each(x.nested, index.numbers(), axis))


# -- NumPy's indices: a slice is text, "1:3"; a vector of integers is a list ----------------------------------------


@cases(depths(3) | {*FLOATS, "int64", "no levels"})
def draw_index_values(source):
    offsets = ragged(source, 3).offsets if source.integer(0, 2) else []
    x = rows_for(source, offsets, row_shapes=[(3, 2)], count=source.integer(2, 4))
    keys = [
        source.choice([0, -1, ":", "::-1", "1:", [2, 0, 2]]),
        source.choice([1, ":", "::2"]),
    ]
    return {"x": x, "keys": [":", *keys[: source.integer(0, 2)]] if offsets or source.integer(0, 1) else [1, *keys]}


@draw_index_values.expected
def _(x, keys):
    made, shape = picked(x.rows, x.shape, keys)
    if not x.num_levels:
        return Dense(made, shape, x.dtype)
    return x.made(each_at_level(made, x.nested, x.num_levels), row_shape=shape[1:])


def picked(nested, shape, keys):
    """Index an array axis by axis; return also the shape of the result."""
    if not keys:
        return nested, shape
    if isinstance(keys[0], int):
        return picked(nested[keys[0]], shape[1:], keys[1:])
    places = keys[0]
    if isinstance(places, str):
        places = range(shape[0])[slice(*[int(part) if part else None for part in places.split(":")])]
    parts = [picked(nested[place], shape[1:], keys[1:]) for place in places]
    inner = parts[0][1] if parts else picked(empty(shape[1:]), shape[1:], keys[1:])[1]
    return [part for part, _ in parts], (len(parts), *inner)


def empty(shape):
    """Make an array of a shape with arbitrary values."""
    return [empty(shape[1:]) for _ in range(shape[0])] if shape else 0


# -- rows --------------------------------------------------------------------------------------------------------------


@cases(MOVED | depths(3))
def draw_rows(source):
    return {"x": ragged(source, 3)}


@draw_rows.expected
def _(x):
    return x.made(x.rows, 0)


@cases(depths(3) | {*FLOATS, "no levels"}, walked="xs")
def draw_concat_values(source):
    offsets = ragged(source, 3).offsets if source.integer(0, 2) else []
    count, dtype = source.integer(0, 3), source.choice(DTYPES)
    axis = source.integer(1, 2)
    xs = []
    for _ in range(source.integer(1, 3)):
        width = source.integer(0, 3)
        shape = (width, 2) if axis == 1 else (2, width)
        xs.append(rows_for(source, offsets, [dtype], [shape], count=count))
    return {"xs": xs, "axis": axis - source.choice([0, 3])}


@draw_concat_values.expected
def _(xs, axis):
    axis = axis % 3
    first = xs[0]
    if axis == 1:
        found = [[entry for part in parts for entry in part] for parts in zip(*[x.rows for x in xs], strict=True)]
    else:
        found = [
            [[number for part in entries for number in part] for entries in zip(*parts, strict=True)]
            for parts in zip(*[x.rows for x in xs], strict=True)
        ]
    size = sum(x.row_shape[axis - 1] for x in xs)
    shape = (size, 2) if axis == 1 else (2, size)
    if not first.num_levels:
        return first.made(found, row_shape=shape)
    return first.made(each_at_level(found, first.nested, first.num_levels), row_shape=shape)
