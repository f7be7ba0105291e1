"""Recurrent layers, one row at a time: cells on lists of numbers, and the loop that runs them."""

from functools import partial

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, level_of, ragged
from reference.ops.levels import each_at_level, sequences
from reference.ops.math import sigmoid
from reference.ops.recurrent import ACTIVATIONS, KINDS, QUARTERS, dtype_of, plus, times, zeros_for
from reference.reals import tanh
from reference.tensors import Dense

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


# -- cases -------------------------------------------------------------------------------------------------------------


MUST = STRUCTURES | depths(3) | {*FLOATS, "rows of no width", "is_reverse True", "is_reverse False"}


def network(source, gates, states=1):
    """Draw x, weights and a bias, the direction, the width, and initial states or None."""
    width = source.choice([2, 1, 3])
    x = ragged(source, 3, FLOATS, [(2,), (1,), (0,)], QUARTERS)
    level, booted = level_of(source, x), source.choice([False, True])
    count = len(sequences(x.nested, level % x.num_levels))
    weights = {
        "weight_x": dense(source, (*x.row_shape, gates * width), FLOATS, QUARTERS),
        "weight_h": dense(source, (width, gates * width), FLOATS, QUARTERS),
        "bias": dense(source, (gates * width,), FLOATS, QUARTERS),
    }
    names = ["h_0", "c_0"][:states]
    boots = {name: dense(source, (count, width), FLOATS, QUARTERS) if booted else None for name in names}
    ways = {"is_reverse": source.choice([False, True]), "level": level}
    return {"x": x, **weights, **boots, **ways}, width, count


def results(x, cell, widths, boots, is_reverse, level, dtype):
    """Run a cell: return outputs, and the last of each of its states, of some widths."""
    k = level % x.num_levels
    count = len(sequences(x.nested, k))
    states = [zeros_for(boot, count, width) for boot, width in zip(boots, widths, strict=True)]
    each = list(zip(*states, strict=True)) if len(boots) > 1 else states[0]
    outputs, lasts = layer(cell, x.nested, x.num_levels, k, each, is_reverse)
    parts = zip(*lasts, strict=True) if len(boots) > 1 and count else [lasts] * len(boots)
    made = [Dense(list(part), (count, width), dtype) for part, width in zip(parts, widths, strict=True)]
    return x.made(outputs, row_shape=(widths[0],), dtype=dtype), *made


def lists(**parameters):
    """Return parameters as nested lists."""
    return {name: one.nested for name, one in parameters.items() if one is not None}


@cases(MUST | {"use_peepholes True", "use_peepholes False"}, exact=False)
def draw_lstm_layer(source):
    arguments, width, count = network(source, 4, 2)
    peepholes, projection = source.choice([False, True]), source.choice([None, None, 1, 3])
    if peepholes:
        arguments["bias"] = dense(source, (7 * width,), FLOATS, QUARTERS)
    if projection is not None:
        arguments["weight_h"] = dense(source, (projection, 4 * width), FLOATS, QUARTERS)
        if arguments["h_0"] is not None:
            arguments["h_0"] = dense(source, (count, projection), FLOATS, QUARTERS)
        arguments["projection"] = dense(source, (width, projection), FLOATS, QUARTERS)
    return {**arguments, "use_peepholes": peepholes, "clip": source.choice([None, None, 0.3])}


@draw_lstm_layer.expected
def _(x, weight_x, weight_h, bias, h_0, c_0, is_reverse, level, use_peepholes, clip, projection=None):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias, projection=projection)
    cell = partial(lstm_cell, parameters, peepholes=use_peepholes, clip=clip)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0, c_0, projection)
    widths = weight_h.shape[0], weight_h.shape[1] // 4
    return results(x, cell, widths, (h_0, c_0), is_reverse, level, dtype)


@cases(MUST | {"origin_mode True", "origin_mode False"}, exact=False)
def draw_gru_layer(source):
    return {**network(source, 3)[0], "origin_mode": source.choice([False, True])}


@draw_gru_layer.expected
def _(x, weight_x, weight_h, bias, h_0, is_reverse, level, origin_mode):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias)
    cell = partial(gru_cell, parameters, origin_mode=origin_mode)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0)
    return results(x, cell, weight_h.shape[:1], (h_0,), is_reverse, level, dtype)


@cases(MUST | {f"activation {kind}" for kind in KINDS}, exact=False)
def draw_simple_layer(source):
    return {**network(source, 1)[0], "activation": source.choice(KINDS)}


@draw_simple_layer.expected
def _(x, weight_x, weight_h, bias, h_0, is_reverse, level, activation):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias)
    cell = partial(simple_cell, parameters, activation=activation)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0)
    return results(x, cell, weight_h.shape[:1], (h_0,), is_reverse, level, dtype)
