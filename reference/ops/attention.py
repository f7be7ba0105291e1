"""Attention over the rows of sequences."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, levels_below, ragged, rows_for
from reference.dtypes import promoted
from reference.ops.levels import each_at_level, sequences
from reference.ops.softmax import softmax
from reference.reals import add_up

__all__ = ["attend", "dot_attention"]


def attend(query, memory, values, width, scale):
    """Attend to rows by their products with a query: return the context, of some width, and the weights."""
    weights = softmax([add_up((a * b for a, b in zip(query, row, strict=True)), 0.0) * scale for row in memory])
    context = [add_up((w * row[c] for w, row in zip(weights, values, strict=True)), 0.0) for c in range(width)]
    return context, weights


def dot_attention(query, memory, values, width, scale):
    """Attend with one query per sequence, or with several; all arguments are pairs (levels, nested)."""
    levels, nested = memory
    rows, summed = sequences(nested, levels - 1), sequences(values, levels - 1)
    if query[0] < levels:
        asked = sequences(query[1], query[0])
        found = [attend(q, m, v, width, scale) for q, m, v in zip(asked, rows, summed, strict=True)]
        contexts, weights = [one[0] for one in found], [one[1] for one in found]
        shown = each_at_level(contexts, nested, levels - 1) if levels > 1 else contexts
        return shown, each_at_level(weights, nested, levels - 1)
    asked = sequences(query[1], levels - 1)
    found = [attend(q, m, v, width, scale) for some, m, v in zip(asked, rows, summed, strict=True) for q in some]
    return tuple(each_at_level([one[k] for one in found], query[1], levels) for k in range(2))


# -- cases -------------------------------------------------------------------------------------------------------------


QUARTERS = ("quarters",)


@cases(STRUCTURES | depths(3) | {*FLOATS, "rows of no width"}, exact=False, walked="memory")
def draw_dot_attention(source):
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


@draw_dot_attention.expected
def _(query, memory, values, scale):
    summed, levels = values or memory, memory.num_levels
    dtype = promoted(query.dtype, promoted(memory.dtype, summed.dtype))
    width = summed.row_shape[0]
    found = dot_attention((query.num_levels, query.nested), (levels, memory.nested), summed.nested, width, scale)
    several = query.num_levels == levels
    context = memory.made(found[0], levels - (not several), (width,), dtype)
    return context, memory.made(found[1], levels + several, (), dtype)
