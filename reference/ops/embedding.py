"""Rows of a table by their numbers, single or pooled."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths
from reference.draw import DTYPES, FLOATS, INTEGERS
from reference.draw_tensors import ROW_SHAPES, dense, filled, ragged
from reference.ops.levels import at_level
from reference.ops.pool import POOL_TYPES, pooled, pooled_dtype

__all__ = ["embedding_bag", "lookup_table", "weighted_bag"]


def lookup_table(table, nested, num_levels, zeros, padding_idx):
    """Replace each number by its row of the table, `padding_idx` by zeros."""
    if num_levels == 0:
        return [zeros if number == padding_idx else table[number] for number in nested]
    return [lookup_table(table, inner, num_levels - 1, zeros, padding_idx) for inner in nested]


def embedding_bag(table, nested, pool_type, num_levels, zeros):
    """Pool the rows whose numbers are in each sequence; zeros for an empty one."""
    return at_level(
        lambda numbers: pooled([table[number] for number in numbers], pool_type) if numbers else zeros,
        nested,
        num_levels - 1,
    )


def weighted_bag(table, nested, weights, num_levels, zeros):
    """Sum the rows whose numbers are in each sequence, each times its weight; zeros for an empty one."""
    if num_levels > 1:
        return [
            weighted_bag(table, inner, factors, num_levels - 1, zeros)
            for inner, factors in zip(nested, weights, strict=True)
        ]
    return [_weighted(table, numbers, factors, zeros) for numbers, factors in zip(nested, weights, strict=True)]


def _weighted(table, numbers, factors, zeros):
    total = zeros
    for number, factor in zip(numbers, factors, strict=True):
        total = _added(total, table[number], factor)
    return total


def _added(total, row, factor):
    if isinstance(row, list):
        return [_added(one, cell, factor) for one, cell in zip(total, row, strict=True)]
    return total + row * factor


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | depths(4) | {*INTEGERS, "table of one row", "ids that repeat"}


def zeros_of(table, dtype):
    """Make a row of zeros."""
    return filled(table.row_shape, [False if dtype == "bool" else 0.0 if dtype in FLOATS else 0])


def corners(arguments):
    """List the corner cases of a table and its ids."""
    table, numbers = arguments["table"], arguments["ids"].numbers()
    hit = {
        "table of one row": table.shape[0] == 1,
        "ids that repeat": len(set(numbers)) < len(numbers),
        "a padding_idx": arguments.get("padding_idx") is not None and bool(numbers),
        f"table of {table.dtype}": True,
        "table of no width": 0 in table.shape,
    }
    return {name for name, hits in hit.items() if hits}


def ids_of(source, height, row_shapes):
    """Draw a structure whose rows are row numbers."""
    x = ragged(source, 4, INTEGERS, row_shapes)
    return x.with_numbers(source.integers(len(x.numbers()), 0, height - 1))


def flat(ids):
    """Return the numbers as nested lists, and the shape of a row; a column counts as a vector."""
    if ids.row_shape != (1,):
        return ids.nested, ids.row_shape
    return at_level(lambda row: row[0], ids.nested, ids.num_levels), ()


@cases(
    EVERY | (ROWS - {"rows of two axes", "rows of no width"}) | {"no levels", "a padding_idx", "table of no width"},
    walked="ids",
    also=corners,
)
def draw_lookup_table(source):
    table = dense(source, (source.integer(1, 5), *source.choice(ROW_SHAPES)))
    ids = ids_of(source, table.shape[0], [(), (), (1,), (2,)])
    if source.integer(0, 3) == 0:
        ids = ids.made(ids.rows, 0)
    if source.integer(0, 1):
        return {"table": table, "ids": ids}
    return {"table": table, "ids": ids, "padding_idx": source.integer(-table.shape[0], table.shape[0] - 1)}


@draw_lookup_table.expected
def _(table, ids, padding_idx=None):
    nested, shape = flat(ids)
    padding_idx = None if padding_idx is None else padding_idx % table.shape[0]
    depth = ids.num_levels + len(shape)
    found = lookup_table(table.nested, nested, depth, zeros_of(table, table.dtype), padding_idx)
    return ids.made(found, row_shape=(*shape, *table.row_shape), dtype=table.dtype)


@cases(EVERY | {f"pool_type {name}" for name in POOL_TYPES}, exact=False, walked="ids", also=corners)
def draw_embedding_bag(source):
    table = dense(source, (source.integer(1, 5), *source.choice(ROW_SHAPES)), DTYPES)
    ids = ids_of(source, table.shape[0], [(), (), (1,)])
    return {"table": table, "ids": ids, "pool_type": source.choice(POOL_TYPES)}


@draw_embedding_bag.expected
def _(table, ids, pool_type):
    dtype = pooled_dtype(table.dtype, pool_type)
    found = embedding_bag(table.nested, flat(ids)[0], pool_type, ids.num_levels, zeros_of(table, dtype))
    return ids.made(found, ids.num_levels - 1, table.row_shape, dtype)
