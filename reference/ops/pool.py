"""Sequences pooled to one row each; rows are numbers, or nested lists of numbers."""

from reference.case import cases
from reference.corners import MOVED, VALUES, walks
from reference.draw import FLOATS
from reference.draw_tensors import dense, filled, level_of, ragged
from reference.dtypes import float_of
from reference.ops.levels import each_at_level, sequences
from reference.reals import add_up, sqrt

__all__ = ["pooled", "sequence_pool"]


def sequence_pool(nested, pool_type, pad_row, level, num_levels):
    """Pool all rows below each sequence of a level, column by column; `pad_row` for an empty one."""
    below = [sequences([sequence], num_levels - level) for sequence in sequences(nested, level)]
    return each_at_level([pooled(rows, pool_type) if rows else pad_row for rows in below], nested, level)


def pooled(rows, pool_type):
    """Pool rows, of which there is at least one."""
    if isinstance(rows[0], list):
        return [pooled([row[c] for row in rows], pool_type) for c in range(len(rows[0]))]
    if pool_type == "sum":
        return add_up(rows)
    if pool_type == "mean":
        return add_up(rows) / len(rows)
    if pool_type == "sqrt":
        return add_up(rows) / sqrt(len(rows))
    if pool_type == "first":
        return rows[0]
    if pool_type == "last":
        return rows[-1]
    best = rows[0]
    for cell in rows:
        better = cell > best if pool_type == "max" else cell < best
        if best == best and (better or cell != cell):
            best = cell
    return best


# -- cases -------------------------------------------------------------------------------------------------------------


POOL_TYPES = ("sum", "mean", "sqrt", "max", "min", "first", "last")


def pooled_dtype(dtype, pool_type):
    """Return the dtype of the result: sums of integers have a wide dtype, means a float dtype."""
    if dtype in FLOATS or pool_type in ("max", "min", "first", "last"):
        return dtype
    return float_of(dtype) if pool_type != "sum" else "uint64" if dtype == "uint8" else "int64"


@cases(MOVED | walks(4) | VALUES | {f"pool_type {name}" for name in POOL_TYPES}, exact=False)
def draw_sequence_pool(source):
    x = ragged(source, flavours=("quarters", "any", "nan", "infinite", "equal"))
    pool_type = source.choice(POOL_TYPES)
    shape, dtype = source.choice([(), (1,), x.row_shape]), pooled_dtype(x.dtype, pool_type)
    pad_value = dense(source, shape, ["int64" if dtype == "uint64" else dtype], ("quarters", "nan"))
    if dtype == "uint64":
        pad_value = pad_value.with_numbers(map(abs, pad_value.numbers()))
    given = {"x": x, "pool_type": pool_type, "pad_value": pad_value, "level": level_of(source, x)}
    return given if source.integer(0, 2) else {name: given[name] for name in ("x", "pool_type")}


@draw_sequence_pool.expected
def _(x, pool_type, pad_value=None, level=-1):
    k, dtype = x.level(level), pooled_dtype(x.dtype, pool_type)
    zero = False if dtype == "bool" else 0.0 if dtype in FLOATS else 0
    row = filled(x.row_shape, [zero] if pad_value is None else pad_value.numbers())
    nested = sequence_pool(x.nested, pool_type, row, k, x.num_levels)
    return x.made(nested, k, dtype=dtype)
