"""Errors where the wrong entry is not the first: the message names that argument, position and value.

Each list has several entries that could be named; the first wrong one must be. What is refused at its limit is accepted
one step before it, and a recording refuses what Specs already show.
"""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LevelError, LoDError, ShapeError, ops
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
    (
        "sequence_matmul(x.with_values(x.values[:, None] * 1.0), array([[[1.0, 2], [3]], [[1.0]], []]), True)",
        ShapeError,
        "y: ",
    ),
    (
        "sequence_matmul(*[array(y)[..., None] for y in ([[[1.0], [2]], []], [[[1.0]], [[1.0]]])], True)",
        LoDError,
        "x: sequence 0 of level 0 has length 2.* 1",
    ),
    ("repeat_runs(array([[1, 2, 3, 4]]), [[2**62] * 4])", MemoryError, None),
    ("repeat_runs(array([[1, 2, 3, 4]]), [[2**61] * 4])", MemoryError, None),
    ("sequence_scatter(dense, [[0, 1], [2], []], np.ones((1, 1)))", ShapeError, r"updates: has shape \(1, 1\)"),
    ("sequence_scatter(dense, [[0, 1], [2], []], np.ones((2, 1)))", ShapeError, r"updates: has shape \(2, 1\)"),
    ("ops.elementwise([1.0, [1, [2]]], np.add)", ShapeError, r"elementwise: xs\[1\]: "),
    ("ops.elementwise([[1.0], [1.0, 'a']], np.add)", DTypeError, None),
    (
        "shrink_memory(LoDTensor.from_lengths(rows, [2, 3]), 1, RankTable([0, 1, 2], [3, 2, 1]))",
        LoDError,
        "sequence 0 has",
    ),
    (
        "ops.last_of_steps(TensorArray(unstack_from=np.ones((3, 2))), np.zeros(3), steps_map)",
        LoDError,
        r"element 1: has shape \(2,\); 2|element 2",
    ),
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
    ("ops.layer_norm(wide, [1.0, 1.0], [1.0, 1.0], np.nan)", ValueError, "eps: is nan; 0 or more"),
    ("sequence_moving_average(flat, np.nan)", ValueError, "alpha: is nan; above 0"),
    # positions of several wrong entries
    ("sequence_unpad(dense, [1, 5, 9])", IndexError, "length: is 5 for sequence 1; its line has 4 rows"),
    ("sequence_unpad(dense, [1, -1, -9])", IndexError, "length: is -1 for sequence 1;"),
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
    ("sequence_mask([3, -1, -9])", IndexError, "lengths: is -1 for sequence 1;"),
    ("sequence_mask([[3, 1], [-1, -9]])", IndexError, "lengths: is -1 for sequence 2;"),
    ("gather_nested(rows, [1, -7, 9])", IndexError, "index: is -7 at position 1; there are 5 rows"),
    ("gather_nested(flat, [1, 9, -7])", IndexError, "index: is 9 at position 1; there are 3 sequences"),
    ("sequence_quantile(wide, [0.5, 2.0, -1.0])", ValueError, "q: is 2.0 at position 1; 0 .. 1"),
    ("repeat_runs(flat, [[1, 2], [], [1, -1, -9]])", ValueError, "counts: is -1 at row 3; 0 or more"),
    ("repeat_runs(array([[1, 2]]), array([[0, 2**63]], dtype='u8'))", Exception, "counts: is 9223372036854775808"),
    ("repeat_runs(flat, flat * 0.5)", DTypeError, "counts: has dtype float64; integers"),
    (
        "repeat_runs(flat[:0], wide.astype(int)[:0])",
        ShapeError,
        r"counts: has rows of shape \(2,\); one number per row",
    ),
    ("sequence_mode(array([[1], [], [2], []]))", ValueError, "sequence 1 of level 0 is empty; int64 has no nan"),
    ("sequence_mode(array([[[1], [2]], [[3], [], []]]))", ValueError, "sequence 3 of level 1 is empty"),
    ("sequence_mode(array([['a'], ['b'], []]))", ValueError, "sequence 2 of level 0 is empty; <U1 has no nan"),
    ("sequence_quantile(array([[[1], []], [[]]]), 0.5, 'lower')", ValueError, "sequence 1 of level 1 is empty; int64"),
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
    ("ops.refuse_empty(array([[1], [], [2], []]), 'max')", ValueError, "max: sequence 1 of level 0 is empty"),
    ("ops.sample_places(flat, 0, [1, -1, -2])", ValueError, "size: is -1 for sequence 1; 0 or more"),
    ("sequence_reshape(array([[1, 2], [3], [4], [5, 6]]), 2)", ShapeError, "sequence 1 has 1 rows of 1, 1 cells"),
    ("sequence_erase(flat, [1, 2**70, 0.5])", DTypeError, "tokens: is 0.5 at position 2; an integer"),
    ("sequence_erase(flat, [0.5, 2**70])", DTypeError, "tokens: "),
    *[
        (f"{call}(array([[97]], dtype='i1'))", DTypeError, "int8")
        for call in ("encode_utf8", "Vocabulary.fit", "Vocabulary")
    ],
    *[
        (f"{call}(array([[97]], dtype='?'))", DTypeError, "bool")
        for call in ("encode_utf8", "decode_utf8", "Vocabulary.fit")
    ],
    ("sequence_erase(flat, [1, 2**70, 'a', 0.5])", DTypeError, "tokens: is 'a' at position 2; an integer"),
    ("sequence_scatter(dense, [[0, 1], [2, 9], [7]], 1.0)", IndexError, "ids: is 9 at row 3, in sequence 1; x has 4"),
    ("sequence_scatter(dense, [[0], [], [9, 7]], 1.0)", IndexError, "ids: is 9 at row 1, in sequence 2; x has 4"),
    ("sequence_scatter(dense, [[], [], [2**63]], 1.0)", IndexError, "at row 0, in sequence 2; x has 4 columns"),
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
    ("ops.nanargmax(array([[1.0], [np.nan], [np.nan]]), axis=1)", ValueError, "nanargmax: sequence 1 of level 0"),
    ("ops.reduce_values(wide, 'sum', (0, 2, 7))", ShapeError, "axes: 2 is one; the values have 2 axes"),
    ("ops.reduce_values(wide, 'sum', (0, -2))", ShapeError, r"axes: are \(0, -2\); different axes"),
    ("ops.reduce_values(wide, 'sum', (-1, 1))", ShapeError, "different axes"),
    ("concat_batches([flat, flat, [['a']], [[None]]])", DTypeError, "concat_batches: xs"),
    ("concat_batches([[[1]], [[1, [2]]], [[None]]])", ShapeError, r"concat_batches: xs\[1\]: entry 1"),
    ("ops.elementwise([flat, None], np.add)", DTypeError, "add: y: is None"),
    ("ops.elementwise([flat, lod_rank_table(flat)], np.add)", DTypeError, "add: y: is "),
    # the argument
    ("arange([0, 1], [2, 3, 4], [1, 1])", ShapeError, "starts: has 2 entries; there are 3 ranges"),
    ("arange([0, 1, 2], [2, 3], [1, 1, 1])", ShapeError, "stops: has 2 entries; there are 3 ranges"),
    ("arange([0, 1, 2], [2, 3, 4], [1, 1])", ShapeError, "steps: has 2 entries; there are 3 ranges"),
    ("arange([2, 3], steps=[1, 1, 1])", ShapeError, "starts: has 2 entries; there are 3 ranges"),
    ("arange(['a'])", DTypeError, "starts: has dtype <U1"),
    ("arange([1], ['a'])", DTypeError, "stops: has dtype <U1"),
    ("arange([1], [2], ['a'])", DTypeError, "steps: has dtype <U1"),
    ("arange([1], steps=['a'])", DTypeError, "steps: has dtype <U1"),
    ("arange(dense)", ShapeError, r"starts: has shape \(3, 4\)"),
    ("arange(1, dense)", ShapeError, r"stops: has shape \(3, 4\)"),
    ("lod_reset(flat, target_lod=[0, 4])", LoDError, "target_lod: has 4 rows; x has 5"),
    ("lod_reset(flat, [0, 4])", LoDError, "y: has 4 rows; x has 5"),
    ("lod_reset(flat, x[:1])", LoDError, "y: has 3 rows; x has 5"),
    ("lod_reset(flat, [0, 3, 2])", LoDError, "lod_reset: y.*position 2"),
    ("lod_reset(flat, target_lod=[0, 3, 2])", LoDError, "lod_reset: target_lod.*position 2"),
    ("lod_append(flat, lengths=[1] * 6)", LoDError, "lengths: make 6 sequences; the last level of x counts 5"),
    ("lod_append(flat, lengths=[1] * 4)", LoDError, "lengths: make 4 sequences"),
    ("lod_append(flat, offsets=[0, 1, 2])", LoDError, "offsets: make 2 sequences"),
    ("lod_append(flat, offsets=range(7))", LoDError, "offsets: (make 6|is range)"),
    ("lod_append(flat, lengths=[2, 1, 1, 1, 1])", LoDError, "lengths: have 6 rows; x has 5"),
    ("lod_append(flat, offsets=[0, 2, 3, 4, 5, 6])", LoDError, "offsets: have 6 rows; x has 5"),
    ("merge_by_mask(flat, rows, True)", LoDError, "when_true: has 1 levels; the other side has none"),
    ("merge_by_mask(rows, flat, True)", LoDError, "when_false: has 1 levels; the other side has none"),
    (
        "merge_by_mask(rows, wide.values.astype(int), True)",
        ShapeError,
        r"when_false: has rows of shape \(2,\); .* \(\)",
    ),
    ("merge_by_mask(wide, wide[:, :, :1], True)", ShapeError, r"when_false: has rows of shape \(1,\); .* \(2,\)"),
    ("merge_by_mask(flat, flat[:1], [True, True, False, False])", LoDError, "true 2 times; when_true has 3"),
    (
        "merge_by_mask(array([[[1]], [[2], [3]]]), array([[[1]], [[2]]]), [True, False, False, True, False], 1)",
        LoDError,
        "mask: is true 1 times in sequence 1 of level 0; when_true has 2 there",
    ),
    ("split_by_mask(rows, True, 1)", LevelError, "level: is 1; x has no levels"),
    ("sequence_interp(flat, flat, [[1], [], [1, 2, 3]])", LoDError, "fp: sequence 0.* length 1.*2"),
    ("sequence_interp(x, x, flat)", LoDError, "fp: has 1 levels; x has 2"),
    ("sequence_searchsorted(flat, flat.astype('g'))", DTypeError, "v: has dtype (longdouble|float128)"),
    ("sequence_searchsorted(flat, flat.astype(bool) + 0j)", DTypeError, "v: has dtype complex128"),
    ("sequence_interp(flat, flat, flat.astype('g'))", DTypeError, "fp: has dtype (longdouble|float128)"),
    *[
        (f"sequence_{name}(flat.astype('g'))", DTypeError, "x: has dtype")
        for name in ("sort", "cumsum", "softmax", "mode")
    ],
    ("sequence_searchsorted(flat[:2], flat)", LoDError, "v: has 3 sequences; x has 2"),
    ("sequence_interp(flat[:2], flat, flat)", LoDError, "xp: has 3 sequences; x has 2"),
    ("sequence_interp(flat, flat, flat[:2])", LoDError, "fp: has 2 sequences"),
    ("sequence_interp(flat[:2], flat[:2], flat)", LoDError, "fp: has 3 sequences"),
    (f"sequence_searchsorted({DEEP}, {OTHER})", LoDError, "v: sequence 0 of level 1 has length 2.* 3|v: sequence"),
    (f"sequence_interp({DEEP}, {OTHER}, {OTHER})", LoDError, "xp: sequence"),
    ("sequence_matmul(wide, wide[:2], True)", LoDError, "x: has 3 sequences at level 0; y has 2"),
    ("sequence_matmul(wide, wide[:, :, :1], True)", ShapeError, "x: has rows of 2 entries; those of y have 1"),
    ("sequence_matmul(flat, wide)", LevelError, "x: has num_levels 1; 2 or more are needed for level 0 of y"),
    (
        "sequence_matmul(array([[[1.0, 2]], [], [[1.0, 2], [1, 2, 3]]]), wide)",
        LoDError,
        "x: sequence 1 of level 1 has length 2; the sequence of y beside it has 3",
    ),
    (
        "sequence_matmul(array([[[1.0, 2, 3]], [], [[1.0, 2, 3]]]), wide)",
        LoDError,
        "x: sequence 0 of level 1 has length 3; the sequence of y beside it has 2",
    ),
    (
        "sequence_matmul(array([[[1.0, 2]], [], [[1.0, 2], [1, 2, 3, 4]]]), wide)",
        LoDError,
        "x: sequence 1 of level 1 has length 2; the sequence of y beside it has 3",
    ),
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
    (
        "dynamic_gru(LoDTensor.from_lengths(np.ones((1, 3)), [1]), np.ones((2, 3)))",
        ShapeError,
        r"weight: has shape \(2, 3\); \(D, 3 \* D\)",
    ),
    # what is refused also if no row needs it
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
    ("ops.concat_values([wide, wide], -2)", ShapeError, "axis: is -2, that of the rows"),
    ("ops.concat_values([wide, wide], 0)", ShapeError, "axis: is 0, that of the rows"),
    *[
        (f"{name}(flat, keepdims={one})", TypeError, "keepdims: needs an axis")
        for name in ("ops.argmax", "ops.argmin", "ops.nanargmax", "ops.nanargmin")
        for one in ("True", "1", "np.True_")
    ],
    ("ops.index_values(flat, [slice(None, None, -1)])", ShapeError, "all rows of a LoDTensor must stay"),
    ("ops.index_values(wide, [slice(None, None, 1), 0])", ShapeError, "all rows of a LoDTensor must stay"),
    ("lod_reset(flat[:0], target_lod=[0, 4])", LoDError, "target_lod: has 4 rows; x has 0"),
    ("lod_reset(flat[:0], flat)", LoDError, "y: has 5 rows; x has 0"),
    ("lod_reset(flat, flat[:0])", LoDError, "y: has 0 rows; x has 5"),
    ("sequence_enumerate(flat * 0.5, 2)", DTypeError, "^sequence_enumerate: x: has dtype float64"),
    ("sequence_erase(flat * 0.5, [2])", DTypeError, "^sequence_erase: x: has dtype float64"),
    ("sequence_shift(wide, 1, [[1.0, 2.0]])", DTypeError, r"fill: has shape \(1, 2\)"),
    ("sequence_shift(wide, 1, [1.0])", DTypeError, r"fill: has shape \(1,\)"),
    ("sort_by_key(flat, wide)", ShapeError, "key: has rows of 1 axes"),
    ("ops.by_position(flat, -1)", LevelError, "axis: is -1; x has 1 level"),
    ("ops.by_position(x, 2)", LevelError, "axis: is 2; x has 2 levels"),
    ("ops.insert_level(x, 1, whole=True)", LevelError, "level: is 1; x has 2 levels"),
    ("ops.insert_level(flat, 2)", LevelError, "level: is 2; x has 1 level$"),
    ("ops.sequence_truth(flat.astype('i1'), 'any')", DTypeError, "x: has dtype int8; bool"),
    ("ops.transpose_rows(wide, (2,))", ShapeError, r"axes: are \(2,\); each of 1 \.\. 1"),
    ("ops.reshape_rows(wide, (-2, -1))", ShapeError, r"shape: is \(-2, -1\)"),
    ("ops.reshape_rows(LoDTensor.from_lengths(np.ones((1, 6)), [1]), (-2, -3))", ShapeError, r"shape: is \(-2, -3\)"),
    ("ops.reshape_rows(wide, (-2,))", ShapeError, r"shape: is \(-2,\)"),
    ("ops.moment(flat, -1)", ValueError, "n: is -1; 0 or more"),
    ("ops.prod(flat * 1j, axis=1)", DTypeError, "prod: x"),
    ("sequence_topk(flat > 1, -1)", ValueError, "k: is -1; 0 or more"),
    ("sequence_reshape(wide, 0)", ShapeError, "new_dim: is 0; 1 or more"),
    ("sequence_enumerate(flat.astype('i1'), 2, 128)", ValueError, r"pad_value: is 128; int8 holds -128 \.\. 127"),
    ("sequence_enumerate(flat.astype('i1'), 2, -129)", ValueError, "pad_value: is -129"),
    ("sequence_scatter(dense > 1, [[0], [1], [2]], True)", DTypeError, "make dtype bool"),
    ("sequence_scatter(dense, [[0], [1], [2]], array([[[1.0]], [[1.0]], [[1.0]]]))", LoDError, "updates"),
    (
        "sequence_scatter(np.ones((3, 4, 2)), [[0], [1], [2]], array([[1.0], [1.0], [1.0]]))",
        ShapeError,
        "updates: has rows",
    ),
    ("sequence_conv(wide, np.ones((4, 1)), 2, padding_data=np.ones(1))", ShapeError, r"padding_data: has shape \(1,\)"),
    ("sequence_conv(wide, np.ones((4, 1)), 2, padding_data=np.ones((1, 1)))", ShapeError, "padding_data: has shape"),
    ("shrink_memory(np.zeros(4), 0, table)", LoDError, "x: has 4 sequences; 2 are longer than step 0, of 3"),
    ("shrink_memory(np.zeros(1), 0, table)", LoDError, "x: has 1 sequences; 2 are longer than step 0, of 3"),
    ("ops.last_of_steps(steps, np.zeros(4, int), steps_map)", LoDError, "boot: has shape .4,.; one row for each of 3"),
    ("ops.last_of_steps(steps, np.zeros(2, int), steps_map)", LoDError, "boot: has shape .2,."),
    (
        "ops.last_of_steps(steps, np.zeros(3), steps_map)",
        DTypeError,
        "element 0: has dtype int64; that of boot is float64",
    ),
    ("ops.refuse_unlike(flat, wide[:2], 'net', 0, 'hidden', 'cell')", LoDError, "net: (hidden|cell): has"),
    ("ops.refuse_unlike(flat, x, 'net', -1)", LoDError, "net: x: has 1 levels, y 2"),
    ("tensor_array_pack(steps, 1, steps_map)", LevelError, "level: is 1"),
    ("tensor_array_pack(inner_steps, 1, inner_map)", LoDError, "level: is 1; the map is of level 0"),
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
