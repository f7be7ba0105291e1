"""Recurrent layers: networks that include the product of their inputs, and their last states."""

from functools import partial

from reference.case import cases
from reference.cases.recurrent import KINDS, QUARTERS, dtype_of, zeros_for
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, level_of, ragged
from reference.ops import recurrent_layers as oracle
from reference.ops.levels import sequences
from reference.tensors import Dense

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
    outputs, lasts = oracle.layer(cell, x.nested, x.num_levels, k, each, is_reverse)
    parts = zip(*lasts, strict=True) if len(boots) > 1 and count else [lasts] * len(boots)
    made = [Dense(list(part), (count, width), dtype) for part, width in zip(parts, widths, strict=True)]
    return x.made(outputs, row_shape=(widths[0],), dtype=dtype), *made


def lists(**parameters):
    """Return parameters as nested lists."""
    return {name: one.nested for name, one in parameters.items() if one is not None}


@cases(MUST | {"use_peepholes True", "use_peepholes False"}, exact=False)
def lstm_layer(source):
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


@lstm_layer.expected
def _(x, weight_x, weight_h, bias, h_0, c_0, is_reverse, level, use_peepholes, clip, projection=None):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias, projection=projection)
    cell = partial(oracle.lstm_cell, parameters, peepholes=use_peepholes, clip=clip)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0, c_0, projection)
    widths = weight_h.shape[0], weight_h.shape[1] // 4
    return results(x, cell, widths, (h_0, c_0), is_reverse, level, dtype)


@cases(MUST | {"origin_mode True", "origin_mode False"}, exact=False)
def gru_layer(source):
    return {**network(source, 3)[0], "origin_mode": source.choice([False, True])}


@gru_layer.expected
def _(x, weight_x, weight_h, bias, h_0, is_reverse, level, origin_mode):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias)
    cell = partial(oracle.gru_cell, parameters, origin_mode=origin_mode)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0)
    return results(x, cell, weight_h.shape[:1], (h_0,), is_reverse, level, dtype)


@cases(MUST | {f"activation {kind}" for kind in KINDS}, exact=False)
def simple_layer(source):
    return {**network(source, 1)[0], "activation": source.choice(KINDS)}


@simple_layer.expected
def _(x, weight_x, weight_h, bias, h_0, is_reverse, level, activation):
    parameters = lists(weight_x=weight_x, weight_h=weight_h, bias=bias)
    cell = partial(oracle.simple_cell, parameters, activation=activation)
    dtype = dtype_of(x, weight_x, weight_h, bias, h_0)
    return results(x, cell, weight_h.shape[:1], (h_0,), is_reverse, level, dtype)
