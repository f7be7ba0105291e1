"""Samples of recurrent networks."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from reference.ops import recurrent as oracle
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call

KINDS = list(oracle.ACTIVATIONS)
SLOPING = ["sigmoid", "tanh", "identity"]


@composite
def networks(draw, gates, smooth=False):
    """Draw inputs, a weight, a function that makes arrays of their size, their width and the number of sequences."""
    lod = draw(lods(1, 3, most=5))
    width = draw(sampled_from([2, 1, 3, 8, 17, 0] if not smooth else [2, 1, 3, 0]))
    random = np.random.default_rng(draw(integers(0, 2**32)))

    def array(*shape):
        dtype = np.float64 if smooth else draw(sampled_from([np.float32, np.float64]))
        return read_only((random.standard_normal(shape) * 0.3).astype(dtype))

    x = LoDTensor(array(lod.num_rows, gates * width), lod)
    return x, array(width, gates * width), array, width, lod.num_sequences(lod.num_levels - 1)


def is_long(x):
    """Return whether unbounded activations would let states grow beyond the tolerances."""
    return x.lod.lengths(-1).max(initial=0) > 5


def odd_form(draw, array):
    """Return an array in a form that users have: a list, of other strides, or as it is."""
    form = draw(sampled_from(["as it is", "as it is", "list", "Fortran"]))
    return (
        array
        if form == "as it is" or not array.size
        else array.tolist()
        if form == "list"
        else np.asfortranarray(array)
    )


@composite
def lstm_calls(draw, smooth=False):
    x, weight, array, width, count = draw(networks(4, smooth))
    peepholes, booted = draw(st.booleans()), draw(st.booleans())
    length = (7 if peepholes else 4) * width
    bias = array(*draw(sampled_from([(length,), (1, length)]))) if peepholes or draw(st.booleans()) else None
    h_0, c_0 = (array(count, width), array(count, width)) if booted else (None, None)
    plain, kinds = is_long(x) or draw(st.booleans()), SLOPING if smooth else KINDS
    names = ["sigmoid", "tanh", "tanh"] if plain else [draw(sampled_from(kinds)) for _ in range(3)]
    weight = weight if smooth else odd_form(draw, weight)
    return call(x, weight, bias, h_0, c_0, peepholes, draw(st.booleans()), *names)


@composite
def gru_calls(draw, smooth=False):
    x, weight, array, width, count = draw(networks(3, smooth))
    length = 3 * width
    bias = array(*draw(sampled_from([(length,), (1, length)]))) if draw(st.booleans()) else None
    h_0 = array(count, width) if draw(st.booleans()) else None
    plain, kinds = is_long(x) or draw(st.booleans()), SLOPING if smooth else KINDS
    names = ["sigmoid", "tanh"] if plain else [draw(sampled_from(kinds)) for _ in range(2)]
    weight = weight if smooth else odd_form(draw, weight)
    return call(x, weight, bias, h_0, draw(st.booleans()), draw(st.booleans()), *names)


def lists(arguments, length):
    """Return the weight, the bias and boot states as nested lists, zeros for missing ones."""
    x, weight = arguments["x"], np.asarray(arguments["weight"])
    count, width = x.lod.num_sequences(x.num_levels - 1), len(weight)
    boots = [arguments.get(name) for name in ("h_0", "c_0")]
    states = [(np.zeros((count, width)) if boot is None else boot).tolist() for boot in boots]
    bias = np.zeros(length * width) if arguments["bias"] is None else arguments["bias"].reshape(-1)
    return weight.tolist(), bias.tolist(), *states


def expected_lstm(arguments):
    x, kinds = arguments["x"], [arguments[f"{name}_activation"] for name in ("gate", "cell", "candidate")]
    weight, bias, h_0, c_0 = lists(arguments, 4)
    flags = arguments["use_peepholes"], arguments["is_reverse"]
    return oracle.dynamic_lstm(x.tolist(), x.num_levels, weight, bias, h_0, c_0, *flags, *kinds)


def expected_gru(arguments):
    x, kinds = arguments["x"], [arguments[f"{name}_activation"] for name in ("gate", "candidate")]
    weight, bias, h_0, _ = lists(arguments, 3)
    flags = arguments["is_reverse"], arguments["origin_mode"]
    return oracle.dynamic_gru(x.tolist(), x.num_levels, weight, bias, h_0, *flags, *kinds)


X = "LoDTensor(np.zeros((5, {})), flat.lod)"  # 3 sequences
FOUR, THREE = X.format(4), X.format(3)


def errors(name, gates, x):
    """List the wrong calls that both operators share."""
    return [
        (f"{name}({x}, np.zeros((1, 2)))", ShapeError, rf"weight: has shape \(1, 2\); \(D, {gates} \* D\)"),
        (f"{name}({x}, np.zeros({gates}))", ShapeError, rf"weight: has shape \({gates},\)"),
        (
            f"{name}({x}, np.zeros((2, {2 * gates})))",
            ShapeError,
            rf"x: has rows of shape \({gates},\); \({2 * gates},\)",
        ),
        (f"{name}(flat, np.zeros((1, {gates})))", ShapeError, r"x: has rows of shape \(\)"),
        (f"{name}({x}, np.zeros((1, {gates})), np.zeros(2))", ShapeError, rf"bias: has shape \(2,\); \({gates},\)"),
        (f"{name}({x}, np.zeros((1, {gates})), np.zeros(({gates}, 1)))", ShapeError, "bias: has shape"),
        (f"{name}({x}, [[0.0], [0.0, 1.0]])", ShapeError, "weight: .*uneven"),
        (f"{name}({x}, wide)", LoDError, "weight: has 1 level;"),
        (f"{name}({x}, np.zeros((1, {gates}), complex))", DTypeError, "x, weight: have dtypes float64, complex128"),
        (f"{name}({x}, np.zeros((1, {gates}), object))", DTypeError, "weight"),
        (f"{name}({x}, np.ma.zeros((1, {gates})))", DTypeError, "weight: .*masked"),
        (
            f"{name}({x}, np.zeros((1, {gates})), gate_activation='relu6')",
            ValueError,
            "gate_activation: is 'relu6'; one of 'sigmoid', 'tanh', 'relu', 'identity' is needed",
        ),
        (f"{name}({x}, np.zeros((1, {gates})), candidate_activation=1)", ValueError, "candidate_activation: is 1"),
        (
            f"{name}({x}, np.zeros((1, {gates})), candidate_activation=None)",
            ValueError,
            "candidate_activation: is None",
        ),
        (f"{name}(rows, np.zeros((1, {gates})))", DTypeError, "x: .*ndarray"),
    ]


COSTS = """
lodcore.dynamic_gru(ops.concat_values([w, w[:, :, :2]], 1), np.ones((2, 6)))
lodcore.dynamic_lstm(ops.concat_values([w, w], 1), np.ones((2, 8)))
"""
SAMPLES = {
    "dynamic_lstm": Samples(
        calls=lstm_calls(),
        expected=expected_lstm,
        smooth=lstm_calls(smooth=True),
        errors=[
            *errors("dynamic_lstm", 4, FOUR),
            (f"dynamic_lstm({FOUR}, np.zeros((1, 4)), h_0=np.zeros((3, 1)))", ValueError, "c_0: is missing; h_0"),
            (f"dynamic_lstm({FOUR}, np.zeros((1, 4)), c_0=np.zeros((3, 1)))", ValueError, "h_0: is missing; c_0"),
            (
                f"dynamic_lstm({FOUR}, np.zeros((1, 4)), None, np.zeros((2, 1)), np.zeros((3, 1)))",
                ShapeError,
                r"h_0: has shape \(2, 1\); \(3, 1\)",
            ),
            (
                f"dynamic_lstm({FOUR}, np.zeros((1, 4)), None, np.zeros((3, 1)), np.zeros(3))",
                ShapeError,
                r"c_0: has shape \(3,\); \(3, 1\)",
            ),
            (f"dynamic_lstm({FOUR}, np.zeros((1, 4)), use_peepholes=True)", ValueError, "bias: is missing"),
            (
                f"dynamic_lstm({FOUR}, np.zeros((1, 4)), np.zeros(4), use_peepholes=True)",
                ShapeError,
                r"bias: has shape \(4,\); \(7,\)",
            ),
            (f"dynamic_lstm({FOUR}, np.zeros((1, 4)), cell_activation='')", ValueError, "cell_activation: is ''"),
            (f"dynamic_lstm({FOUR}, np.zeros((1, 4)), cell_activation=None)", ValueError, "cell_activation: is None"),
            (
                "dynamic_lstm(LoDTensor.from_lengths(np.ones((1, 4)), [1]), np.ones((2, 4)))",
                ShapeError,
                r"weight: has shape \(2, 4\); \(D, 4 \* D\)",
            ),
            (
                "dynamic_lstm(LoDTensor.from_lengths(np.ones((1, 8)), [1]), np.ones((1, 8)))",
                ShapeError,
                r"weight: has shape \(1, 8\); \(D, 4 \* D\)",
            ),
        ],
        exact=False,
    ),
    "dynamic_gru": Samples(
        calls=gru_calls(),
        expected=expected_gru,
        smooth=gru_calls(smooth=True),
        errors=[
            *errors("dynamic_gru", 3, THREE),
            (
                f"dynamic_gru({THREE}, np.zeros((1, 3)), h_0=np.zeros((5, 1)))",
                ShapeError,
                r"h_0: has shape \(5, 1\); \(3, 1\)",
            ),
            (f"dynamic_gru({THREE}, np.zeros((1, 3)), h_0=wide)", LoDError, "h_0: has 1 level;"),
            (
                "dynamic_gru(LoDTensor.from_lengths(np.ones((1, 3)), [1]), np.ones((2, 3)))",
                ShapeError,
                r"weight: has shape \(2, 3\); \(D, 3 \* D\)",
            ),
        ],
        exact=False,
    ),
}
