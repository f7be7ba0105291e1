"""Recurrent networks whose inputs are already multiplied by their weights."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, ragged
from reference.dtypes import promoted
from reference.ops import recurrent as oracle
from reference.ops.levels import sequences

MUST = STRUCTURES | depths(3) | {*FLOATS, "rows of no width", "is_reverse True", "is_reverse False"}
KINDS = list(oracle.ACTIVATIONS)
QUARTERS = ("quarters",)


def network(source, gates):
    """Draw projected inputs, a weight, a width, the number of sequences, and whether activations are the defaults."""
    width = source.choice([2, 1, 3, 0])
    x = ragged(source, 3, FLOATS, [(gates * width,)], QUARTERS)
    weight = dense(source, (width, gates * width), FLOATS, QUARTERS)
    lengths = [len(one) for one in sequences(x.nested, x.num_levels - 1)]
    plain = source.integer(0, 2) > 0 or max(lengths, default=0) > 2  # products of relu grow fast
    return x, weight, width, len(lengths), plain


def bias_of(source, length):
    """Draw a bias of either shape, or none."""
    shape = source.choice([None, (length,), (1, length)])
    return None if shape is None else dense(source, shape, FLOATS, QUARTERS)


def zeros_for(boot, count, width):
    """Return the states, or zeros."""
    return [[0.0] * width] * count if boot is None else boot.nested


def line_of(bias, length):
    """Return the cells of a bias, or zeros."""
    return [0.0] * length if bias is None else bias.numbers()


def dtype_of(x, *others):
    """Return the dtype of a result."""
    dtype = x.dtype
    for other in others:
        dtype = dtype if other is None else promoted(dtype, other.dtype)
    return dtype


@cases(MUST | {f"{name}_activation {kind}" for name in ("gate", "cell", "candidate") for kind in KINDS}, exact=False)
def dynamic_lstm(source):
    x, weight, width, count, plain = network(source, 4)
    peepholes = source.choice([False, True])
    booted = source.choice([False, True])
    bias = dense(source, (7 * width,), FLOATS, QUARTERS) if peepholes else bias_of(source, 4 * width)
    return {
        "x": x,
        "weight": weight,
        "bias": bias,
        "h_0": dense(source, (count, width), FLOATS, QUARTERS) if booted else None,
        "c_0": dense(source, (count, width), FLOATS, QUARTERS) if booted else None,
        "use_peepholes": peepholes,
        "is_reverse": source.choice([False, True]),
        "gate_activation": "sigmoid" if plain else source.choice(KINDS),
        "cell_activation": "tanh" if plain else source.choice(KINDS),
        "candidate_activation": "tanh" if plain else source.choice(KINDS),
    }


@dynamic_lstm.expected
def _(
    x,
    weight,
    bias,
    h_0,
    c_0,
    use_peepholes,
    is_reverse,
    gate_activation,
    cell_activation,
    candidate_activation,
):
    count, width = len(sequences(x.nested, x.num_levels - 1)), weight.shape[0]
    states = zeros_for(h_0, count, width), zeros_for(c_0, count, width)
    kinds = gate_activation, cell_activation, candidate_activation
    line = line_of(bias, 4 * width)
    found = oracle.dynamic_lstm(x.nested, x.num_levels, weight.nested, line, *states, use_peepholes, is_reverse, *kinds)
    dtype = dtype_of(x, weight, bias, h_0, c_0)
    return tuple(x.made(one, row_shape=(width,), dtype=dtype) for one in found)


@cases(MUST | {f"gate_activation {kind}" for kind in KINDS} | {"origin_mode True", "origin_mode False"}, exact=False)
def dynamic_gru(source):
    x, weight, width, count, plain = network(source, 3)
    return {
        "x": x,
        "weight": weight,
        "bias": bias_of(source, 3 * width),
        "h_0": dense(source, (count, width), FLOATS, QUARTERS) if source.choice([False, True]) else None,
        "is_reverse": source.choice([False, True]),
        "origin_mode": source.choice([False, True]),
        "gate_activation": "sigmoid" if plain else source.choice(KINDS),
        "candidate_activation": "tanh" if plain else source.choice(KINDS),
    }


@dynamic_gru.expected
def _(x, weight, bias, h_0, is_reverse, origin_mode, gate_activation, candidate_activation):
    count, width = len(sequences(x.nested, x.num_levels - 1)), weight.shape[0]
    state, kinds = zeros_for(h_0, count, width), (gate_activation, candidate_activation)
    line = line_of(bias, 3 * width)
    found = oracle.dynamic_gru(x.nested, x.num_levels, weight.nested, line, state, is_reverse, origin_mode, *kinds)
    return x.made(found, row_shape=(width,), dtype=dtype_of(x, weight, bias, h_0))
