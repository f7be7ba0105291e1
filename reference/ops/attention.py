"""Attention over the rows of sequences."""

from reference.ops.levels import each_at_level, sequences
from reference.ops.matmul import softmax
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
