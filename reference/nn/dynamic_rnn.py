"""The definition of dynamic_rnn: a cell runs over the elements of each sequence, one sequence after another."""

from reference.ops.levels import each_at_level, sequences
from reference.ops.recurrent_layers import run_cell

__all__ = ["dynamic_rnn"]


def dynamic_rnn(cell, nested, level, states, is_reverse):
    """Run a cell of one element and one state: return outputs in place of the elements, and a list of last states."""
    pairs = [
        run_cell(cell, elements, state, is_reverse)
        for elements, state in zip(sequences(nested, level), states, strict=True)
    ]
    return each_at_level([outputs for outputs, _ in pairs], nested, level), [last for _, last in pairs]
