"""Wrong calls that several operators refuse alike: the message names the first wrong argument, position and value.

What is refused at its limit is accepted one step before it, and a recording refuses what Specs already show. The wrong
calls of one operator alone are in `tests/samples`.
"""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, ShapeError, ops
from lodcore.graph import Program, data
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import run, things

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

LSTM = "LoDTensor.from_lengths(np.ones((2, 4)), [1, 1]), np.ones((1, 4))"
GRU = "LoDTensor.from_lengths(np.ones((2, 3)), [1, 1]), np.ones((1, 3))"
TABLES = "LoDTensor.from_lengths(np.ones((1, 2, 3)), [1, 0])"
DEEP = "array([[[[1], [2, 3]], [[4]]], [[[5, 6]]]])"
OTHER = "array([[[[1], [2, 3], [4]], []], [[[5, 6]]]])"
#: As many sequences at each level, divided otherwise at level 1.
LEFT, RIGHT = "array([[[[1.0], [2]], [[3]]]])", "array([[[[1.0]], [[2], [3]]]])"

WRONG = [
    ("ops.elementwise([1.0, [1, [2]]], np.add)", ShapeError, r"elementwise: xs\[1\]: "),
    ("ops.elementwise([[1.0], [1.0, 'a']], np.add)", DTypeError, None),
    # numbers: neither True nor True of NumPy
    *[
        (call.format(wrong), DTypeError, f"{name}: (is|has dtype) ")
        for wrong in ("True", "np.True_", "None", "'a'", "1j", "[0.5]")
        for name, call in {
            "alpha": "sequence_moving_average(flat, {})",
            "value": "ops.fill_nan(flat, {})",
            "ddof": "sequence_rolling(flat, 2, 'var', ddof={})",
            "eps": "ops.layer_norm(wide, [1.0, 1.0], [1.0, 1.0], eps={})",
            "rate": "ops.dropout(wide, {}, np.random.default_rng(0))",
            "label_smoothing": "cross_entropy(dense, [0, 1, 2], label_smoothing={})",
            "scale": "ops.dot_attention(wide, wide, wide, scale={})",
        }.items()
        if not (name == "scale" and wrong == "None")
    ],
    *[(f"ops.sequence_{name}(flat, ddof=np.True_)", DTypeError, "ddof: is np.True_") for name in ("std", "var")],
    *[
        (f"sequence_quantile(flat, {q})", DTypeError, "q: has dtype bool")
        for q in ("True", "[False, True]", "np.True_")
    ],
    *[(f"sequence_shuffle(flat, {one})", DTypeError, f"rng: is {one}") for one in ("True", "np.True_", "1.0", "-1")],
    # positions of several wrong entries
    *[
        (f"sequence_unpad(np.zeros((2, {n})), [{n}, {n + 1}])", IndexError, f"length: is {n + 1} for sequence 1")
        for n in range(3)
    ],
    *[(f"ops.zero_states(np.array({one}), 2)", DTypeError, "n: is ") for one in ("True", "[True]", "1.0", "[1, 2]")],
    *[
        (call.format(f"np.ones({shape}, bool)"), ShapeError, r"mask: has shape \([23], .*\(n,\) or \(n, 1\)")
        for shape in ("(3, 2, 1)", "(3, 1, 1)", "(3, 2)", "(2, 2, 1, 1)")
        for call in ("split_by_mask(rows[:3], {})", "split_by_mask(flat, {})", "merge_by_mask(flat, flat[:0], {})")
    ],
    *[
        (f"{call}(array([[1.0], [2.0], []]){end}", ValueError, rf"{name}: (x: )?sequence 2 of level 0 is empty")
        for call, end, name in (
            ("ops.refuse_empty", ", 'max')", "max"),
            ("ops.max", ", axis=1)", "max"),
            ("ops.argmin", ", axis=1)", "argmin"),
            ("ops.nanargmax", ", axis=1)", "nanargmax"),
            ("sequence_mode", ".astype(int))", "sequence_mode"),
            ("sequence_quantile", ".astype(int), 0.5, 'higher')", "sequence_quantile"),
        )
    ],
    *[
        (f"{call}(array([[97]], dtype='i1'))", DTypeError, "int8")
        for call in ("encode_utf8", "Vocabulary.fit", "Vocabulary")
    ],
    *[
        (f"{call}(array([[97]], dtype='?'))", DTypeError, "bool")
        for call in ("encode_utf8", "decode_utf8", "Vocabulary.fit")
    ],
    (
        "decode_utf8(array([[97], [255], [254]], dtype='u1'), np.dtypes.StringDType())",
        DTypeError,
        "string 1 is not UTF-8",
    ),
    ("Vocabulary(['a', 'b']).encode(['a', 'b', 'd', 'e'])", KeyError, "word 2 is 'd'"),
    ("Vocabulary(['a', 'b']).decode([1, 2, 9])", IndexError, r"ids: is 2 at row 1; 0 \.\. 1 is valid"),
    ("Vocabulary(['a', 'b']).decode([0, -1])", IndexError, r"ids: is -1 at row 1"),
    ("encode_utf8(['a', float('nan')])", DTypeError, "entry 1 is nan; strings are needed; drop what is missing"),
    ("encode_utf8(['a', None])", DTypeError, "entry 1 is None; strings are needed; drop what is missing"),
    ("encode_utf8(['a', False])", DTypeError, "entry 1 is False; strings are needed$"),
    ("encode_utf8(np.zeros((2, 0)))", DTypeError, "encode_utf8: x: has dtype float64; strings"),
    ("encode_utf8(['a', np.arange(2)])", DTypeError, r"entry 1 is array\(\[0, 1\]\); strings are needed$"),
    ("encode_utf8(['a', np.arange(0)])", DTypeError, r"entry 1 is array\(\[\], .*\); strings are needed$"),
    ("ops.nanargmax(array([[1.0], [np.nan], [np.nan]]), axis=1)", ValueError, "nanargmax: sequence 1 of level 0"),
    ("ops.elementwise([flat, None], np.add)", DTypeError, "add: y: is None"),
    ("ops.elementwise([flat, [[1], [2, 3]]], np.add)", ShapeError, r"elementwise: xs\[1\]: is nested unevenly"),
    ("ops.elementwise([flat, lod_rank_table(flat)], np.add)", DTypeError, "add: y: is "),
    # the argument
    *[
        (f"sequence_{name}(flat.astype('g'))", DTypeError, "x: has dtype")
        for name in ("sort", "cumsum", "softmax", "mode")
    ],
    (f"sequence_searchsorted({DEEP}, {OTHER})", LoDError, "v: sequence 0 of level 1 has length 2.* 3|v: sequence"),
    (f"sequence_interp({DEEP}, {OTHER}, {OTHER})", LoDError, "xp: sequence"),
    *[
        (call.format(*pair), LoDError, f"{name}: ")
        for pair in ((LEFT, RIGHT), (RIGHT, LEFT))
        for name, call in {
            "y": "cartesian({}, {})",
            "x": "sequence_matmul({}[..., None], {}[..., None], True)",
            "query": "ops.dot_attention({}[..., None], {}[..., None])",
            "v": "sequence_searchsorted({}, {})",
            "xp": "sequence_interp({1}, {0}, {0})",
        }.items()
    ],
    (f"dynamic_lstm({LSTM}, h_0=np.ones((2, 1)))", ValueError, "c_0: is missing; h_0 is given"),
    (f"dynamic_lstm({LSTM}, c_0=np.ones((2, 1)))", ValueError, "h_0: is missing; c_0 is given"),
    (f"dynamic_lstm({LSTM}, None, np.ones((2, 1)), np.ones((3, 1)))", ShapeError, r"c_0: has shape \(3, 1\); \(2, 1\)"),
    (f"dynamic_lstm({LSTM}, None, np.ones((2, 1)), np.ones((2, 2)))", ShapeError, r"c_0: has shape \(2, 2\); \(2, 1\)"),
    (f"dynamic_lstm({LSTM}, None, np.ones((3, 1)), np.ones((2, 1)))", ShapeError, r"h_0: has shape \(3, 1\); \(2, 1\)"),
    (f"dynamic_lstm({LSTM}, None, np.ones((2, 1)), np.ones((2, 1), complex))", DTypeError, "x, weight, h_0, c_0: have"),
    *[
        (f"{name}({x}, {shape})", ShapeError, "bias: has shape")
        for name, x, gates in (("dynamic_lstm", LSTM, 4), ("dynamic_gru", GRU, 3))
        for shape in (f"np.ones((2, {gates}))", f"np.ones((0, {gates}))", f"np.ones((1, {gates + 1}))", "np.ones(1)")
    ],
    # refused even if no row needs it
    *[
        (f"ops.reduce_values({x}, '{name}', None, False, None, {wrong})", DTypeError, f"{name}: empty: ")
        for x in ("flat", "flat[:0]")
        for name, wrong in (("max", "0.5"), ("max", "[1]"), ("argmax", "0.5"), ("min", "2**70"))
    ],
    *[(f"gather_nested(rows, {index}, default='a')", DTypeError, "default: ") for index in ("[0]", "[9]", "[]")],
    *[
        (f"gather_nested(flat, {index}, default=[1])", DTypeError, r"default: is \[1\]")
        for index in ("[0]", "[9]", "[]")
    ],
    *[
        (f"{call}, {pad})", ShapeError, "pad_value: has shape")
        for call in ("sequence_pad(wide", "sequence_pool(wide, 'sum'", "sequence_pool(wide[:1], 'max'")
        for pad in ("[[1.0]]", "[[1.0, 2.0]]", "[1.0, 2.0, 3.0]", "[]", "[[[1.0]]]")
    ],
    *[
        (f"{call}({TABLES}{kind}, {pad})", ShapeError, "pad_value: has shape")
        for call, kind in (("sequence_pad", ""), ("sequence_pool", ", 'sum'"))
        for pad in ("[[1.0]]", "np.ones((1, 3))", "np.ones((2, 1))", "np.ones(3)", "np.ones((3, 2))", "np.ones((1, 1))")
    ],
    *[
        (f"ops.{name}(flat, axis={axis}, {option}={wrong})", DTypeError, f"{option}: has shape")
        for name, option in (("max", "initial"), ("sum", "initial"), ("min", "empty"), ("prod", "initial"))
        for axis in (0, 1, None)
        for wrong in ("[1]", "[[1]]", "[1, 2]")
    ],
    *[
        (f"{call}({LEFT}, {given}, {k})", LoDError, f"{name}: ")
        for k, given in ((1, "array([[[1], [1, 1]]])[:, :, :]"), (2, "array([[[[1]], [[1], [1]]]])"))
        for call, name in (("sequence_repeat", "repeats"), ("ops.sequence_unflatten", "lengths"))
    ],
    *[
        (f"{name}(flat, keepdims={one})", TypeError, "keepdims: needs an axis")
        for name in ("ops.argmax", "ops.argmin", "ops.nanargmax", "ops.nanargmin")
        for one in ("True", "1", "np.True_")
    ],
    ("ops.index_values(flat, [slice(None, None, -1)])", ShapeError, "all rows of a LoDTensor must stay"),
    ("ops.index_values(wide, [slice(None, None, 1), 0])", ShapeError, "all rows of a LoDTensor must stay"),
    ("sort_by_key(flat, wide)", ShapeError, "key: has rows of 1 axes"),
    ("ops.moment(flat, -1)", ValueError, "n: is -1; 0 or more"),
    ("ops.prod(flat * 1j, axis=1)", DTypeError, "prod: x"),
]


#: Arguments of a call, of which a LoDTensor is declared, not fed: what its Spec shows is refused at recording.
RECORDED = [
    (lambda x: lodcore.sequence_mask(data("n", (None,), "i8"), -1), ValueError, "maxlen: is -1; 0 or more"),
    (lambda x: lodcore.sequence_pad(x, maxlen="a"), DTypeError, "maxlen: is 'a'"),
    (lambda x: lodcore.sequence_pad(x, [1.0, 2.0, 3.0]), ShapeError, "pad_value: has shape"),
    (lambda x: ops.reduce_values(x, "max", None, False, None, "a"), DTypeError, "max: empty: "),
    (lambda x: ops.elementwise([x, lodcore.lod_rank_table([[1]])], np.add), DTypeError, "add: y: is a RankTable"),
    (lambda x: ops.elementwise([1.0, lodcore.TensorArray()], np.add), DTypeError, "y: is a TensorArray"),
    (lambda x: lodcore.concat_batches([x, x, lodcore.lod_rank_table([[1]])]), DTypeError, r"xs\[2\]: is RankTable"),
    (lambda x: lodcore.sequence_concat([x, np.ones(3)]), DTypeError, r"xs\[1\]: is "),
    (lambda x: ops.layer_norm(data("y", (None, None)), np.ones(3), np.ones(2)), ShapeError, r"shift: .*\(3,\) is"),
    (lambda x: ops.layer_norm(x, np.ones(2), np.ones(3)), ShapeError, r"shift: has shape \(3,\)"),
    (lambda x: lodcore.dynamic_lstm(x, data("w", (1, None))), ShapeError, r"x: has rows of shape \(2,\); \(4,\)"),
    (lambda x: lodcore.dynamic_gru(x, data("w", (1, None))), ShapeError, r"x: has rows of shape \(2,\); \(3,\)"),
    (lambda x: lodcore.lod_append(x, lengths=[0.5]), (DTypeError, LoDError), "lengths: has dtype float64"),
    (lambda x: lodcore.sequence_enumerate(data("i", (None,), "i1", 1), 2, 300), ValueError, "pad_value: is 300; int8"),
    (lambda x: lodcore.gather_nested(x, data("i", (None,), "?")), DTypeError, "index: has dtype bool"),
    *[
        (
            lambda x, sizes=sizes: ops.concat_values([np.ones((4, 3, 2)), data("y", (4, *sizes))], 1),
            ShapeError,
            "only axis 1",
        )
        for sizes in ((3, 3), (3, 1), (1, 3))
    ],
    (lambda x: lodcore.arange(1, ["a"]), DTypeError, "stops: has dtype <U1"),
    (lambda x: lodcore.arange(["a"]), DTypeError, "starts: has dtype <U1"),
    (lambda x: lodcore.sequence_matmul(x, data("y", (None, 3), num_levels=1), True), ShapeError, "those of y have 3"),
    (lambda x: lodcore.sequence_topk(x, -1), ValueError, "k: is -1"),
    (lambda x: lodcore.sequence_sort(x, out=np.ones(3)), TypeError, None),
    (lambda x: lodcore.sequence_softmax(x, out=np.ones((3, 2))), lodcore.GraphError, "out: a recorded result cannot"),
    (lambda x: lodcore.row_conv(x, np.ones((2, 2)), out=np.ones((3, 2))), lodcore.GraphError, "out: a recorded result"),
]


@for_each(("call", "error", "says"), RECORDED)
def test_errors_that_a_spec_shows_are_raised_at_recording(call, error, says):
    with Program():
        x = data("x", (None, 2), num_levels=1)
        with pytest.raises(error, match=says):
            call(x)


@for_each(("call", "error", "says"), WRONG)
def test_errors_name_the_argument_and_position_of_the_wrong_entry(call, error, says):
    with pytest.raises(error, match=says):
        run(call, things())
