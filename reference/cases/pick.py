"""Selection of rows and sequences by their numbers."""

from reference.case import cases
from reference.corners import depths
from reference.draw import DTYPES
from reference.draw_tensors import filled, levels_below, ragged, rows_for, vector
from reference.ops import pick as oracle
from reference.tensors import Ragged


@cases(depths(2) | {*DTYPES, "no levels"})
def gather_nested(source):
    count = source.integer(1, 5)
    offsets = levels_below(source, count, source.integer(0, 2))
    x = rows_for(source, offsets, count=count)
    default = source.choice([None, [] if offsets else 1])
    least, most = (-count, count - 1) if default is None else (-2, count + 2)
    if source.integer(0, 1):
        index = ragged(source, 2, ["int64"], [()])
        numbers = [source.integer(least, most) for _ in index.rows]
        return {"x": x, "index": index.with_numbers(numbers), "default": default}
    return {"x": x, "index": vector(source, source.integers(source.integer(0, 5), least, most)), "default": default}


@gather_nested.expected
def _(x, index, default):
    levels = index.num_levels if isinstance(index, Ragged) else 0
    if default == 1:
        default = filled(x.row_shape, [1.0 if x.dtype.startswith("float") else x.dtype == "bool" or 1])
    return x.made(oracle.gather_nested(x.nested, index.nested, levels, default), levels + x.num_levels)
