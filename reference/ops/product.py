"""Products, any and all, and positions of extremes, of all rows below each sequence of a level."""

from reference.case import cases
from reference.corners import MOVED, ROWS, STRUCTURES, walks
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops import index
from reference.ops.axes import reduce_below, reduction
from reference.ops.levels import at_level

__all__ = ["sequence_place", "sequence_prod", "sequence_truth"]


def sequence_prod(nested, level, num_levels, row_shape, multiply=None):
    """Multiply the numbers of each sequence."""
    return reduce_below(multiply or reduction("prod"), nested, level, num_levels, row_shape)


def sequence_truth(nested, name, level, num_levels, row_shape):
    """Return whether any of the numbers, or all of them, are true."""
    return reduce_below(reduction(name), nested, level, num_levels, row_shape)


def sequence_place(nested, name, level, num_levels, row_shape):
    """Find the position of the greatest or the least number; -1 in an empty sequence."""
    known = reduction(name)
    return reduce_below(lambda numbers: known(numbers) if numbers else -1, nested, level, num_levels, row_shape)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | walks(4), exact=False)
def draw_sequence_prod(source):
    x = ragged(source)
    if x.dtype == "uint8":  # products of other dtypes wrap around at 2**63
        x = x.with_numbers([min(number, 1) for number in x.numbers()])
    return {"x": x, "level": level_of(source, x)}


@draw_sequence_prod.expected
def _(x, level):
    dtype = x.dtype if x.dtype in FLOATS else "uint64" if x.dtype == "uint8" else "int64"
    k = x.level(level)
    return x.made(sequence_prod(x.nested, k, x.num_levels, x.row_shape, product_of(x.dtype)), k, dtype=dtype)


def product_of(dtype):
    """Multiply; integers modulo 2**64."""
    function = reduction("prod")
    if dtype in FLOATS:
        return function
    return lambda numbers: (function(numbers) + 2**63) % 2**64 - 2**63


@cases(STRUCTURES | ROWS | walks(3) | {"bool", "name any", "name all"}, gradient=False)
def draw_sequence_truth(source):
    x = ragged(source, 3, ["bool"])
    return {"x": x, "name": source.choice(["any", "all"]), "level": level_of(source, x)}


@draw_sequence_truth.expected
def _(x, name, level):
    k = x.level(level)
    return x.made(sequence_truth(x.nested, name, k, x.num_levels, x.row_shape), k, dtype="bool")


@cases(MOVED | walks(3) | {"name argmax", "name argmin", "ties"}, gradient=False)
def draw_sequence_place(source):
    x = ragged(source, 3)
    return {"x": x, "name": source.choice(["argmax", "argmin"]), "level": level_of(source, x)}


@draw_sequence_place.expected
def _(x, name, level):
    k = x.level(level)
    return x.made(sequence_place(x.nested, name, k, x.num_levels, x.row_shape), k, dtype="int64")


@cases(walks(2) | set(DTYPES))
def draw_refuse_empty(source):
    x = ragged(source, 2)
    for level in range(x.num_levels - 1, -1, -1):
        kept = at_level(bool, x.nested, level)
        x = x.made(index.select_by_mask(x.nested, kept, level))
    return {"x": x, "where": "max", "level": level_of(source, x)}


@draw_refuse_empty.expected
def _(x, where, level):
    return x
