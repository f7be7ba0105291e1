"""Recurrent networks, one sequence at a time; rows are lists of numbers."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, ragged
from reference.dtypes import promoted
from reference.ops.levels import each_at_level, sequences
from reference.ops.math import relu, sigmoid
from reference.reals import add_up, tanh

__all__ = ["ACTIVATIONS", "dynamic_gru", "dynamic_lstm", "simple_rnn"]

ACTIVATIONS = {"sigmoid": sigmoid, "tanh": tanh, "relu": relu, "identity": lambda x: x}


def over_sequences(run, nested, num_levels, boots, is_reverse):
    """Run over each sequence of the last level with its initial states; `run` returns one tuple per row.

    The returned function returns the batch of the entries k of these tuples.
    """
    found = []
    for rows, boot in zip(sequences(nested, num_levels - 1), boots, strict=True):
        made = run(rows[::-1] if is_reverse else rows, *boot)
        found.append(made[::-1] if is_reverse else made)

    def result(k):
        return each_at_level([[row[k] for row in rows] for rows in found], nested, num_levels - 1)

    return result


def times(row, matrix, first, width):
    """Multiply a row by some columns of a matrix, starting at a column."""
    return [add_up(row[k] * matrix[k][first + c] for k in range(len(row))) for c in range(width)]


def plus(*rows):
    return [add_up(cells) for cells in zip(*rows, strict=True)]


def dynamic_lstm(nested, num_levels, weight, bias, h_0, c_0, use_peepholes, is_reverse, gate, cell, candidate):
    """Run an LSTM: return states and cells."""
    width = len(weight)
    gate, cell, candidate = ACTIVATIONS[gate], ACTIVATIONS[cell], ACTIVATIONS[candidate]
    peep = bias[4 * width :] if use_peepholes else [0.0] * (3 * width)

    def run(rows, h, c):
        found = []
        for row in rows:
            u, i, f, o = (
                plus(row[k * width : (k + 1) * width], times(h, weight, k * width, width), bias[k * width :][:width])
                for k in range(4)
            )
            u = [candidate(x) for x in u]
            i = [gate(i[k] + peep[k] * c[k]) for k in range(width)]
            f = [gate(f[k] + peep[width + k] * c[k]) for k in range(width)]
            c = [f[k] * c[k] + i[k] * u[k] for k in range(width)]
            o = [gate(o[k] + peep[2 * width + k] * c[k]) for k in range(width)]
            h = [o[k] * cell(c[k]) for k in range(width)]
            found.append((h, c))
        return found

    found = over_sequences(run, nested, num_levels, list(zip(h_0, c_0, strict=True)), is_reverse)
    return found(0), found(1)


def dynamic_gru(nested, num_levels, weight, bias, h_0, is_reverse, origin_mode, gate, candidate):
    """Run a GRU: return states."""
    width = len(weight)
    cells = [x for row in weight for x in row]
    gates = [cells[2 * width * k : 2 * width * (k + 1)] for k in range(width)]
    last = [cells[2 * width * width + width * k :][:width] for k in range(width)]
    gate, candidate = ACTIVATIONS[gate], ACTIVATIONS[candidate]

    def run(rows, h):
        found = []
        for row in rows:
            u, r = (
                plus(row[k * width :][:width], times(h, gates, k * width, width), bias[k * width :][:width])
                for k in range(2)
            )
            u, r = [gate(x) for x in u], [gate(x) for x in r]
            reset = times([r[k] * h[k] for k in range(width)], last, 0, width)
            n = [candidate(x) for x in plus(row[2 * width :], reset, bias[2 * width :])]
            new, old = ([1.0 - x for x in u], u) if origin_mode else (u, [1.0 - x for x in u])
            h = [old[k] * h[k] + new[k] * n[k] for k in range(width)]
            found.append((h,))
        return found

    return over_sequences(run, nested, num_levels, [(h,) for h in h_0], is_reverse)(0)


def simple_rnn(nested, num_levels, weight, bias, h_0, is_reverse, activation):
    """Run a network with one activation: return states."""
    width, act = len(weight), ACTIVATIONS[activation]

    def run(rows, h):
        found = []
        for row in rows:
            h = [act(x) for x in plus(row, times(h, weight, 0, width), bias)]
            found.append((h,))
        return found

    return over_sequences(run, nested, num_levels, [(h,) for h in h_0], is_reverse)(0)


# -- cases -------------------------------------------------------------------------------------------------------------


MUST = STRUCTURES | depths(3) | {*FLOATS, "rows of no width", "is_reverse True", "is_reverse False"}
KINDS = list(ACTIVATIONS)
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
def draw_dynamic_lstm(source):
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


@draw_dynamic_lstm.expected
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
    found = dynamic_lstm(x.nested, x.num_levels, weight.nested, line, *states, use_peepholes, is_reverse, *kinds)
    dtype = dtype_of(x, weight, bias, h_0, c_0)
    return tuple(x.made(one, row_shape=(width,), dtype=dtype) for one in found)


@cases(MUST | {f"gate_activation {kind}" for kind in KINDS} | {"origin_mode True", "origin_mode False"}, exact=False)
def draw_dynamic_gru(source):
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


@draw_dynamic_gru.expected
def _(x, weight, bias, h_0, is_reverse, origin_mode, gate_activation, candidate_activation):
    count, width = len(sequences(x.nested, x.num_levels - 1)), weight.shape[0]
    state, kinds = zeros_for(h_0, count, width), (gate_activation, candidate_activation)
    line = line_of(bias, 3 * width)
    found = dynamic_gru(x.nested, x.num_levels, weight.nested, line, state, is_reverse, origin_mode, *kinds)
    return x.made(found, row_shape=(width,), dtype=dtype_of(x, weight, bias, h_0))
