"""Recurrent layers, one row at a time: cells on lists of numbers, and the loop that runs them."""

from reference.ops.levels import each_at_level, sequences
from reference.ops.math import sigmoid
from reference.ops.recurrent import ACTIVATIONS, plus, times
from reference.reals import tanh

__all__ = ["gru_cell", "layer", "lstm_cell", "run_cell", "simple_cell"]


def simple_cell(parameters, row, h, activation="tanh"):
    """Compute one step of a network with one activation: return output and next state."""
    width = len(parameters["bias"])
    act, given = ACTIVATIONS[activation], times(row, parameters["weight_x"], 0, width)
    h = [act(x) for x in plus(given, times(h, parameters["weight_h"], 0, width), parameters["bias"])]
    return h, h


def lstm_cell(parameters, row, state, peepholes=False, clip=None):
    """Compute one step of an LSTM."""
    (h, c), bias = state, parameters["bias"]
    width = len(bias) // (7 if peepholes else 4)
    peep = bias[4 * width :] if peepholes else [0.0] * (3 * width)
    u, i, f, o = (
        plus(
            times(row, parameters["weight_x"], k * width, width),
            times(h, parameters["weight_h"], k * width, width),
            bias[k * width : (k + 1) * width],
        )
        for k in range(4)
    )
    i = [sigmoid(i[k] + peep[k] * c[k]) for k in range(width)]
    f = [sigmoid(f[k] + peep[width + k] * c[k]) for k in range(width)]
    c = [f[k] * c[k] + i[k] * tanh(u[k]) for k in range(width)]
    if clip is not None:
        c = [clip if x > clip else -clip if x < -clip else x for x in c]
    o = [sigmoid(o[k] + peep[2 * width + k] * c[k]) for k in range(width)]
    h = [o[k] * tanh(c[k]) for k in range(width)]
    if parameters.get("projection") is not None:
        h = times(h, parameters["projection"], 0, len(parameters["weight_h"]))
    return h, (h, c)


def gru_cell(parameters, row, h, origin_mode=False):
    """Compute one step of a GRU."""
    width = len(h)
    cells = [x for line in parameters["weight_h"] for x in line]
    gates = [cells[2 * width * k : 2 * width * (k + 1)] for k in range(width)]
    last = [cells[2 * width * width + width * k :][:width] for k in range(width)]
    x = plus(times(row, parameters["weight_x"], 0, 3 * width), parameters["bias"])
    u, r = ([sigmoid(one) for one in plus(x[k * width :][:width], times(h, gates, k * width, width))] for k in range(2))
    n = [tanh(one) for one in plus(x[2 * width :], times([r[k] * h[k] for k in range(width)], last, 0, width))]
    new, old = ([1.0 - one for one in u], u) if origin_mode else (u, [1.0 - one for one in u])
    h = [old[k] * h[k] + new[k] * n[k] for k in range(width)]
    return h, h


def run_cell(cell, elements, state, is_reverse):
    """Run a cell over the elements of one sequence: return outputs in their places, and the last state."""
    outputs = []
    for element in reversed(elements) if is_reverse else elements:
        output, state = cell(element, state)
        outputs.append(output)
    return outputs[::-1] if is_reverse else outputs, state


def layer(cell, nested, num_levels, level, states, is_reverse):
    """Run a cell over all rows of each sequence of a level: return outputs, and a list of last states."""
    found, lasts = [], []
    for sequence, state in zip(sequences(nested, level), states, strict=True):
        outputs, last = run_cell(cell, sequences(sequence, num_levels - level - 1), state, is_reverse)
        found += outputs
        lasts.append(last)
    return each_at_level(found, nested, num_levels), lasts
