"""Samples of recurrent layers as operators."""

from functools import partial

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.ops import recurrent_layers as oracle
from reference.ops.recurrent import ACTIVATIONS
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.recurrent import SLOPING, odd_form


@composite
def networks(draw, gates, smooth=False, widths=None):
    """Draw x, weights and a bias, a level, the number of its sequences, and a function that makes arrays."""
    lod = draw(lods(1, 3, most=5))
    width, n_in = draw(sampled_from([2, 1, 3, 0] if smooth else [2, 1, 9, 0])), draw(sampled_from([2, 1, 3, 0]))
    random = np.random.default_rng(draw(integers(0, 2**32)))

    def array(*shape):
        dtype = np.float64 if smooth else draw(sampled_from([np.float32, np.float64]))
        return read_only((random.standard_normal(shape) * 0.3).astype(dtype))

    x, level = LoDTensor(array(lod.num_rows, n_in), lod), draw(integers(-lod.num_levels, lod.num_levels - 1))
    return x, (n_in, width), level, lod.num_sequences(level), array


@composite
def lstm_calls(draw, smooth=False):
    x, (n_in, width), level, count, array = draw(networks(4, smooth))
    state = draw(sampled_from([None, None, 1, 2, 3]))
    peepholes, booted, clip = draw(st.booleans()), draw(st.booleans()), draw(sampled_from([None, None, 0.05, 4]))
    weights = array(n_in, 4 * width), array(width if state is None else state, 4 * width)
    bias = array((7 if peepholes else 4) * width)
    projection = None if state is None else array(width, state)
    boots = (array(count, len(weights[1])), array(count, width)) if booted else (None, None)
    weights = weights if smooth else tuple(odd_form(draw, one) for one in weights)
    return call(x, *weights, bias, projection, *boots, peepholes, clip, draw(st.booleans()), level)


@composite
def plain_calls(draw, gates, options, smooth=False):
    x, (n_in, width), level, count, array = draw(networks(gates, smooth))
    weights = array(n_in, gates * width), array(width, gates * width)
    h_0 = array(count, width) if draw(st.booleans()) else None
    bias = array(gates * width)
    weights = weights if smooth else tuple(odd_form(draw, one) for one in weights)
    return call(x, *weights, bias, h_0, draw(options), draw(st.booleans()), level)


def parameters_of(arguments):
    """Return the parameters as nested lists."""
    names = ("weight_x", "weight_h", "bias", "projection")
    return {name: np.asarray(one).tolist() for name in names if (one := arguments.get(name)) is not None}


def run(arguments, cell, boots):
    """Run a cell of the oracle over all rows of each sequence, with boot states or zeros."""
    x = arguments["x"]
    level = arguments["level"] % x.num_levels
    states = [boot if len(boots) > 1 else boot[0] for boot in zip(*boots, strict=True)]
    return oracle.layer(cell, x.tolist(), x.num_levels, level, states, arguments["is_reverse"])


def boot_of(arguments, name, width):
    """Return boot states as nested lists."""
    x, boot = arguments["x"], arguments[name]
    return np.zeros((x.lod.num_sequences(arguments["level"]), width)).tolist() if boot is None else boot.tolist()


def expected_lstm(arguments):
    options = {"peepholes": arguments["use_peepholes"], "clip": arguments["clip"]}
    cell = partial(oracle.lstm_cell, parameters_of(arguments), **options)
    state, columns = np.asarray(arguments["weight_h"]).shape
    outputs, lasts = run(arguments, cell, [boot_of(arguments, "h_0", state), boot_of(arguments, "c_0", columns // 4)])
    return outputs, [h for h, _ in lasts], [c for _, c in lasts]


def expected_gru(arguments):
    cell = partial(oracle.gru_cell, parameters_of(arguments), origin_mode=arguments["origin_mode"])
    return run(arguments, cell, [boot_of(arguments, "h_0", len(np.asarray(arguments["weight_h"])))])


def expected_simple(arguments):
    cell = partial(oracle.simple_cell, parameters_of(arguments), activation=arguments["activation"])
    return run(arguments, cell, [boot_of(arguments, "h_0", len(np.asarray(arguments["weight_h"])))])


def errors(name, gates):
    """List the wrong calls that all layers share."""

    def wrong(x="wide", weight_x=(2, gates), weight_h=(1, gates), bias=(gates,), rest=""):
        zeros = [f"np.zeros({shape})" for shape in (weight_x, weight_h, bias)]
        return f"ops.{name}({x}, {', '.join(zeros)}{rest})"

    h_0 = ", h_0=np.zeros((2, 1))" + ", c_0=np.zeros((3, 1))" * (gates == 4)
    return [
        (wrong(weight_x=(3, gates)), ShapeError, r"x: has rows of shape \(2,\); \(3,\) is needed"),
        (wrong("flat"), ShapeError, r"x: has rows of shape \(\)"),
        (wrong(weight_x=(2, 9)), ShapeError, rf"weight_x: has shape \(2, 9\); \(2, {gates}\)"),
        (wrong(weight_h=(gates,)), ShapeError, r"weight_h: has shape \(.,\); two axes"),
        (wrong(weight_h=(5, gates)), ShapeError, rf"weight_h: has shape \(5, {gates}\); \(1, {gates}\)"),
        (wrong(bias=(9,)), ShapeError, rf"bias: has shape \(9,\); \({gates},\)"),
        (wrong(rest=h_0), ShapeError, r"h_0: has shape \(2, 1\); \(3, 1\)"),
        (wrong(rest=", level=1"), LevelError, "level: is 1; there is 1 level"),
        (wrong(rest=", level=0.0"), DTypeError, "level: is 0.0; an integer"),
        (wrong("rows"), DTypeError, "x: .*ndarray"),
        (wrong("LoDTensor.from_lengths(np.zeros((5, 2)))"), LoDError, "x: has 0 levels"),
        (wrong("LoDTensor(np.zeros((5, 2), complex), flat.lod)"), DTypeError, "have dtypes complex128"),
    ]


COSTS = """
ops.gru_layer(w, np.ones((4, 6)), np.ones((2, 6)), np.ones(6))
ops.lstm_layer(w, np.ones((4, 8)), np.ones((2, 8)), np.ones(8))
ops.simple_layer(w, np.ones((4, 2)), np.ones((2, 2)), np.ones(2))
"""
SAMPLES = {
    "lstm_layer": Samples(
        calls=lstm_calls(),
        expected=expected_lstm,
        smooth=lstm_calls(smooth=True),
        errors=[
            *errors("lstm_layer", 4),
            (
                "ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4), h_0=np.zeros((3, 1)))",
                ValueError,
                "c_0: is missing; h_0",
            ),
            (
                "ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4), use_peepholes=True)",
                ShapeError,
                r"bias: has shape \(4,\); \(7,\)",
            ),
            (
                "ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((2, 4)), np.zeros(4), np.zeros((1, 3)))",
                ShapeError,
                r"projection: has shape \(1, 3\); \(1, 2\)",
            ),
            (
                "ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4), clip=0)",
                ValueError,
                "clip: is 0; a number above 0",
            ),
            (
                "ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4), clip='1')",
                ValueError,
                "clip: is '1'",
            ),
            (
                "ops.lstm_layer(wide[:, :, None], np.zeros((1, 4)), np.zeros((1, 4)), np.zeros(4))",
                ShapeError,
                r"x: has rows of shape \(1, 2\); \(1,\) is needed",
            ),
            *[
                (
                    f"ops.lstm_layer(wide, np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4), clip={clip})",
                    ValueError,
                    "clip: is .*; a number above 0",
                )
                for clip in ("True", "-1.0", "float('nan')", "np.float32('nan')")
            ],
        ],
        exact=False,
    ),
    "gru_layer": Samples(
        calls=plain_calls(3, st.booleans()),
        expected=expected_gru,
        smooth=plain_calls(3, st.booleans(), smooth=True),
        errors=errors("gru_layer", 3),
        exact=False,
    ),
    "simple_layer": Samples(
        calls=plain_calls(1, st.sampled_from(list(ACTIVATIONS))),
        expected=expected_simple,
        smooth=plain_calls(1, st.sampled_from(SLOPING), smooth=True),
        errors=[
            *errors("simple_layer", 1),
            (
                "ops.simple_layer(wide, np.zeros((2, 1)), np.zeros((1, 1)), np.zeros(1), activation='elu')",
                ValueError,
                "activation: is 'elu'; one of 'sigmoid', 'tanh', 'relu', 'identity' is needed",
            ),
        ],
        exact=False,
    ),
}
