"""Attention over the rows of sequences."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, levels_below, ragged, rows_for
from reference.dtypes import promoted
from reference.ops import attention as oracle
from reference.ops.levels import sequences

QUARTERS = ("quarters",)


@cases(STRUCTURES | depths(3) | {*FLOATS, "rows of no width"}, exact=False, walked="memory")
def dot_attention(source):
    width, value_width = source.integer(0, 3), source.integer(0, 2)
    memory = ragged(source, 3, FLOATS, [(width,)], QUARTERS)
    last = memory.num_levels - 1
    count = len(sequences(memory.nested, last))
    form = source.choice(["dense", "outer", "several"])
    if form == "several":
        offsets = [*memory.offsets[:last], *levels_below(source, count, 1)]
        query = rows_for(source, offsets, FLOATS, [(width,)], QUARTERS)
    elif form == "outer" and last:
        query = rows_for(source, memory.offsets[:last], FLOATS, [(width,)], QUARTERS)
    else:
        query = dense(source, (count, width), FLOATS, QUARTERS)
    shared = source.integer(0, 1)
    values = None if shared else rows_for(source, memory.offsets, FLOATS, [(value_width,)], QUARTERS)
    return {"query": query, "memory": memory, "values": values, "scale": source.choice([0.5, 2.0])}


@dot_attention.expected
def _(query, memory, values, scale):
    summed, levels = values or memory, memory.num_levels
    dtype = promoted(query.dtype, promoted(memory.dtype, summed.dtype))
    width = summed.row_shape[0]
    found = oracle.dot_attention((query.num_levels, query.nested), (levels, memory.nested), summed.nested, width, scale)
    several = query.num_levels == levels
    context = memory.made(found[0], levels - (not several), (width,), dtype)
    return context, memory.made(found[1], levels + several, (), dtype)
