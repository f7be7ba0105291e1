"""Wrong calls: one clear error that names argument, position and value, and leaves everything unchanged."""

import numpy as np
import pytest
from hypothesis import given

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, TensorArray
from tests.helpers.draw import wounded_levels
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import TABLE, assert_refused, rebuilt, run, things


@pytest.fixture
def names():
    return things()


@pytest.fixture(autouse=True)
def matrix(names):
    with pytest.warns(PendingDeprecationWarning):
        names["matrix"] = np.matrix([[1, 2]])


@for_each(("call", "error", "says"), TABLE)
def test_every_wrong_call_of_the_table_raises_its_error(call, error, says, names):
    assert_refused(call, names, error, says)


# -- vectors of integers -------------------------------------------------------------------------------------------

VECTORS = [  # the position of a vector, the error for a number that is too large, and the name of the vector
    ("LoD.from_offsets({})", LoDError, r"offsets\[0\]"),
    ("LoD.from_offsets([0, 1], {})", LoDError, r"offsets\[1\]"),
    ("LoD.from_offsets([0, 0], [0], {})", LoDError, r"offsets\[2\]"),
    ("LoD.from_lengths({})", LoDError, r"lengths\[0\]"),
    ("LoD.from_lengths([1], {})", LoDError, r"lengths\[1\]"),
    ("LoD.from_segment_ids({})", LoDError, "ids"),
    ("LoD.from_row_offsets({})", LoDError, r"offsets\[0\]"),
    ("LoD.from_row_offsets([0, 1], {})", LoDError, r"offsets\[1\]"),
    ("lod.take({})", IndexError, "index"),
    ("lod.take({}, -1)", IndexError, "index"),
    ("lod.append(lengths={})", LoDError, "lengths"),
    ("lod.append(offsets={})", LoDError, "offsets"),
    ("LoDTensor.from_offsets(rows, {})", LoDError, r"offsets\[0\]"),
    ("LoDTensor.from_lengths(rows, {})", LoDError, r"lengths\[0\]"),
    ("LoDTensor.from_segment_ids(rows, {})", LoDError, "ids"),
    ("LoDTensor.from_starts_stops(rows, {}, [0])", IndexError, "starts"),
    ("LoDTensor.from_starts_stops(rows, [0], {})", IndexError, "stops"),
    ("LoDTensor.from_padded(dense, {})", LoDError, "lengths"),
    ("gather_sequences(x, {})", IndexError, "index"),
    ("gather_sequences(x, {}, 1)", IndexError, "index"),
    ("sequence_slice(x, {}, 0)", IndexError, "offset"),
    ("sequence_slice(x, 0, {})", IndexError, "length"),
    ("sequence_unpad(dense, {})", IndexError, "length"),
    ("lod_append(flat, lengths={})", LoDError, "lengths"),
    ("lod_append(flat, offsets={})", LoDError, "offsets"),
]
NO_INTEGERS = [  # values that are not vectors of integers, and their errors
    ("[1.0, 2.0]", "float64"),
    ("np.array([0.0, np.nan])", "float64"),
    ("np.array([])", "float64"),
    ("[True, False]", "bool"),
    ("['a', 'b']", "<U1"),
    ("[b'a']", r"S1"),
    ("[1j]", "complex128"),
    ("[None]", "object"),
    ("objects", "object"),
    ("[{}, {}]", "object"),
    ("np.array(['2020'], 'M8[Y]')", r"datetime64\[Y\]"),
    ("masked", "masked"),
    ("np.zeros(2, 'i4, i4')", "i4"),
    ("[[1, 2], [3, 4]]", r"\(2, 2\)"),
    ("matrix", r"\(1, 2\)"),
    ("np.zeros((1, 1, 1), int)", r"\(1, 1, 1\)"),
    ("[[1], [2, 3]]", "unevenly"),
]
NO_VECTORS = [("None", "()|object"), ("{1, 2}", "()|object"), ("(i for i in [0])", "()|object"), ("'01'", "()|<U2")]
TOO_LARGE = ["[0, 2**63]", "[0, 2**70]", "[0, -2**70]", "np.array([0, 2**63], np.uint64)"]


@for_each(("call", "argument"), [(call, argument) for call, _, argument in VECTORS])
@pytest.mark.parametrize(("vector", "says"), [*NO_INTEGERS, *NO_VECTORS])
def test_arguments_that_must_be_vectors_of_integers(call, argument, vector, says, names):
    if vector == "None" and ("append" in call or "from_padded" in call):
        return  # there None is an omitted argument
    assert_refused(call.format(vector), names, (DTypeError, ShapeError), f"{argument}.*({says})")


@for_each(("call", "error", "argument"), VECTORS)
@pytest.mark.parametrize("vector", TOO_LARGE)
def test_vectors_with_a_number_that_int64_cannot_hold_name_its_position(call, error, argument, vector, names):
    assert_refused(call.format(vector), names, error, f"{argument}.* -?[0-9]{{19,}} at position 1")


@pytest.mark.parametrize("number", ["2**63", "-2**70", "np.uint64(2**63)", "np.array(2**63, np.uint64)"])
@pytest.mark.parametrize(
    ("call", "argument"),
    [
        ("sequence_slice(x, {}, 0)", "offset"),
        ("sequence_slice(x, 0, {})", "length"),
        ("sequence_unpad(dense, {})", "length"),
        ("sequence_roll(x, {})", "shift"),
    ],
)
def test_number_beyond_int64_for_all_sequences_raises(call, argument, number, names):
    assert_refused(
        call.format(number), names, IndexError, f"{argument}.* -?[0-9]{{19,}} at position 0; int64 cannot hold"
    )


# -- levels --------------------------------------------------------------------------------------------------------

LEVELS = [
    *(f"lod.{name}({{}})" for name in ["lengths", "offsets", "num_sequences", "row_offsets", "segment_ids", "drop"]),
    *("lod.positions({})", "lod.take([0], {})", "lod.slice(0, 1, {})", "x.flatten({})", "lod_rank_table(x, {})"),
    *("gather_sequences(x, [0], {})", "sequence_slice(x, 0, 0, {})", "TensorArray.unpack(x, {})"),
    *("sequence_reverse(x, {})", "sequence_concat([x, x], {})", "sequence_expand(x, x, {})"),
    *("sequence_expand_as(rows, x, {})", "sequence_pad(x, 0, None, {})"),
    *("split_by_mask(x, True, {})", "merge_by_mask(x, x, True, {})"),
    *("inner_steps.pack({}, inner_map)", "beam_search([0] * 3, [0.0] * 3, None, x.astype(float), 2, 0, {})"),
]


FAR = ["2", "-3", "2**31", "-2**63", "2**63", "-2**70", "np.int8(2)"]


@for_each("call", LEVELS)
@pytest.mark.parametrize("level", FAR)
def test_levels_that_do_not_exist(call, level, names):
    assert_refused(call.format(level), names, LevelError, f"level.*{run(level, names)}.*2")


@for_each("call", LEVELS)
@pytest.mark.parametrize("level", ["None", "0.0", "'0'", "[0]", "np.float64(0)", "np.array([0, 1])"])
def test_arguments_that_must_be_levels(call, level, names):
    assert_refused(call.format(level), names, DTypeError, "level")


# -- damaged offsets, at any level
# ---------------------------------------------------------------------------------------


@given(wounded_levels())
def test_offsets_with_one_defect_name_its_level_and_position(wounded):
    where = rf"offsets\[{wounded.level}\]: .*"
    where += "empty" if wounded.wound == "no offsets" else f"position {wounded.position}"
    rows = np.empty((wounded.num_rows, 0))
    vectors = [np.array(level, np.int64) for level in wounded.levels]
    for call in (
        lambda: LoD.from_offsets(*wounded.levels, num_rows=wounded.num_rows),
        lambda: LoD.from_offsets(*vectors, num_rows=wounded.num_rows),
        lambda: LoDTensor.from_offsets(rows, *wounded.levels),
        lambda: rebuilt(LoD.from_lengths([]), wounded.num_rows, *vectors),
    ):
        with pytest.raises(LoDError, match=where):
            call()


@given(wounded_levels(max_levels=1))
def test_lod_append_of_offsets_with_one_defect_names_it(wounded):
    lod = LoD.from_lengths([max(len(wounded.levels[0]) - 1, 0)])
    if wounded.wound != "end":
        with pytest.raises(LoDError, match="offsets"):
            lod.append(offsets=wounded.levels[0])


# -- out -----------------------------------------------------------------------------------------------------------

OUTS = [  # a call, and its result
    ("lod.segment_ids(1, out=out)", "lod.segment_ids(1)"),
    ("lod.positions(0, out=out)", "lod.positions(0)"),
    ("wide.to_padded(out=out)", "wide.to_padded()"),
    ("LoDTensor.from_arrays(list(wide), out=out)", "wide.values"),
    ("gather_sequences(wide, [2, 0], out=out)", "gather_sequences(wide, [2, 0]).values"),
    ("gather_sequences(x, [1, 0], -1, out=out)", "gather_sequences(x, [1, 0], -1).values"),
    ("concat_batches([wide, wide], out=out)", "concat_batches([wide, wide]).values"),
    ("sequence_slice(wide, 0, [1, 0, 2], out=out)", "sequence_slice(wide, 0, [1, 0, 2]).values"),
    ("sequence_concat([wide, wide], out=out)", "sequence_concat([wide, wide]).values"),
    ("sequence_expand(wide, x, 0, out=out)", "sequence_expand(wide, x, 0).values"),
    ("sequence_expand(dense, flat, out=out)", "sequence_expand(dense, flat)"),
    ("sequence_expand_as(dense, wide, out=out)", "sequence_expand_as(dense, wide).values"),
    ("sequence_reverse(wide, out=out)", "wide.values"),
    ("sequence_reverse(x, 0, out=out)", "x.values"),
    ("sequence_pad(wide, out=out)", "sequence_pad(wide)[0]"),
    ("sequence_unpad(dense, [1, 0, 2], out=out)", "sequence_unpad(dense, [1, 0, 2]).values"),
    ("TensorArray.unpack(wide, 0, out=out)", "wide.values"),
    ("TensorArray.unpack(x, 0, out=out)", "x.values"),
    ("steps.pack(0, steps_map, out=out)", "flat.values"),
    ("inner_steps.pack(0, inner_map, out=out)", "x.values"),
    ("grown.pack(0, steps_map, out=out)", "flat.values"),
]
WRONG_OUTS = [
    (lambda right: right.astype(np.float32), DTypeError, "float32"),
    (lambda right: right.astype(right.dtype.newbyteorder()), DTypeError, ">"),
    (lambda right: right.astype(object), DTypeError, "object"),
    (lambda right: right[:-1].copy(), ShapeError, r"\("),
    (lambda right: right[None].copy(), ShapeError, r"\(1, "),
    (lambda right: np.array(0, right.dtype), ShapeError, r"\(\)"),
    (lambda right: np.repeat(right, 2, axis=-1)[..., ::2], ValueError, "strides"),
    (lambda right: np.repeat(right, 2, axis=0)[::2], ValueError, "strides"),
    (lambda right: right[::-1], ValueError, "strides"),
    (lambda right: right.tolist(), DTypeError, "list"),
    (lambda right: np.ma.array(right), DTypeError, "MaskedArray"),
    (lambda right: right.view(np.recarray), DTypeError, "recarray"),
    (lambda right: LoDTensor(right, LoD.from_offsets(num_rows=len(right))), DTypeError, "LoDTensor"),
    (lambda right: 3, DTypeError, "int"),
]


@pytest.fixture
def grown(names):
    """Concatenate an array of steps that were written one by one."""
    names["grown"] = TensorArray()
    for t, step in enumerate(names["steps"]):
        names["grown"].write(t, step, data_shared=False)
    return names


@for_each(("call", "result"), OUTS)
@pytest.mark.parametrize(("make", "error", "says"), WRONG_OUTS, ids=range(len(WRONG_OUTS)))
def test_operators_refuse_out_of_another_dtype_or_shape(call, result, make, error, says, grown):
    grown["out"] = make(np.array(run(result, grown)))
    assert_refused(call, grown, error, f"out.*{says}")


@pytest.mark.parametrize(("call", "result"), OUTS)
def test_operators_refuse_out_that_is_read_only(call, result, grown):
    grown["out"] = np.array(run(result, grown))
    grown["out"].flags.writeable = False
    assert_refused(call, grown, ValueError, "out.*read-only")


@pytest.mark.parametrize(
    ("call", "out"),
    [
        ("gather_sequences(mine, [2, 1, 0], out=out)", "mine.values"),
        ("gather_sequences(mine, [0], out=out)", "mine.values[:2]"),
        ("gather_sequences(mine, [0], out=out)", "mine.values[3:]"),
        ("sequence_slice(mine, 0, [1, 0, 1], out=out)", "mine.values[1:3]"),
        ("concat_batches([flat, mine[:1]], out=out)", "together"),
        ("sequence_concat([flat, mine], out=out)", "twice"),
        ("sequence_expand(mine.values[:3], flat, out=out)", "mine.values"),
        ("sequence_expand_as(mine.values[2:], flat, out=out)", "mine.values"),
        ("sequence_reverse(mine, out=out)", "mine.values"),
        ("sequence_pad(square, out=out)", "square.values.reshape(2, 2)"),
        ("sequence_unpad(square.values.reshape(2, 2), 1, out=out)", "square.values[1:3]"),
        ("LoDTensor.from_arrays([[7, 7], mine[2]], out=out)", "mine.values"),
        ("TensorArray.unpack(mine, 0, out=out)", "mine.values"),
        ("square.to_padded(out=out)", "square.values.reshape(2, 2)"),
        ("own_steps.pack(0, steps_map, out=out)", "own"),
        ("gather_sequences(mine, own[:1], out=out)", "own[:2]"),
        ("sequence_slice(mine, zeros, [1, 0, 1], out=out)", "zeros[1:]"),
        ("sequence_slice(mine, 0, pieces, out=out)", "pieces[1:]"),
        ("sequence_unpad(np.zeros((3, 4), int), pieces, out=out)", "pieces[1:]"),
        ("embedding_bag(np.ones((9, 1), int), mine, out=out)", "mine.values[:3].reshape(3, 1)"),
    ],
)
def test_out_that_overlaps_an_input(call, out, names):
    names["mine"] = LoDTensor(np.arange(5), names["flat"].lod, share=True)
    names["square"] = LoDTensor(np.arange(4), LoD.from_lengths([2, 2]), share=True)
    names["together"], names["twice"] = np.arange(7), np.arange(10)
    if out in ("together", "twice"):
        names["mine"] = LoDTensor(names[out][-5:], names["flat"].lod, share=True)
    names["own"], names["zeros"], names["pieces"] = np.arange(5), np.zeros(3, int), np.array([1, 0, 1])
    names["own_steps"] = TensorArray()
    for t, (start, stop) in enumerate([(0, 2), (2, 4), (4, 5)]):
        names["own_steps"].write(t, names["own"][start:stop])
    names["out"] = run(out, names)
    assert_refused(call, names, ValueError, "out.*overlaps")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("gather_sequences(flat, [0, 1, 9], out=out)", IndexError),
        ("gather_sequences(flat, [0], 5, out=out)", LevelError),
        ("sequence_slice(flat, 0, [1, 1, 1], out=out)", IndexError),
        ("concat_batches([flat, wide], out=out)", (DTypeError, ShapeError)),
        ("sequence_concat([flat, x], out=out)", LoDError),
        ("sequence_expand(rows, flat, out=out)", LoDError),
        ("sequence_expand_as(rows, flat, out=out)", LoDError),
        ("sequence_reverse(flat, 1, out=out)", LevelError),
        ("sequence_pad(flat, maxlen=1, out=out)", ValueError),
        ("sequence_unpad(dense, 9, out=out)", IndexError),
        ("LoDTensor.from_arrays([rows, dense], out=out)", ShapeError),
        ("LoDTensor.from_arrays([rows, objects], out=out)", DTypeError),
        ("TensorArray.unpack(flat, 3, out=out)", LevelError),
        ("steps.pack(0, inner_map, out=out)", LoDError),
        ("with_hole.pack(0, steps_map, out=out)", IndexError),
        ("flat.to_padded(length=1, out=out)", ValueError),
        ("lod.segment_ids(7, out=out)", LevelError),
    ],
)
def test_an_error_leaves_out_untouched(call, error, names):
    names["out"] = np.full(5, 77)
    assert_refused(call, names, error, None)


CHOICES = [  # calls with an option that is one of several names
    ("sequence_chunk(flat, 2, last='{}')", ["short", "full", "drop"]),
    ("ops.sequence_truncate(flat, 2, '{}')", ["left", "right"]),
    ("group_rows(rows, '{}')", ["sorted", "first", "runs"]),
    ("match_keys(rows, rows, '{}')", ["inner", "left", "right", "outer"]),
    ("ops.simple_layer(wide, np.zeros((2, 1)), np.zeros((1, 1)), np.zeros(1), activation='{}')", ["tanh", "identity"]),
    ("ops.sequence_truth(flat, '{}')", ["any", "all"]),
    ("ops.sequence_place(wide, '{}')", ["argmax", "argmin"]),
    ("ops.sequence_searchsorted(flat, flat, side='{}')", ["left", "right"]),
    ("ops.sequence_bitwise(flat, '{}')", ["and", "or", "xor"]),
    ("ops.sequence_rank(flat, method='{}')", ["average", "min"]),
    ("ops.sequence_rolling(wide, 2, '{}')", ["sum", "max"]),
    ("sequence_pool(wide, '{}')", ["sum", "mean", "max", "first"]),
    ("embedding_bag(dense, [[0, 1]], '{}')", ["sum", "max"]),
    ("dynamic_gru(wide.with_values(np.ones((5, 3))), np.ones((1, 3)), gate_activation='{}')", ["sigmoid", "relu"]),
]


@for_each(("call", "known"), CHOICES)
def test_options_given_in_other_letters_or_with_blanks_are_refused(call, known, names):
    for name in known:
        for wrong in (name.upper(), f"{name} ", name[:-1]):
            assert_refused(call.format(wrong), names, ValueError, f"is '{wrong}'")


UNMASKED = [  # calls whose argument may be any array, but not a masked one, also if nothing of it is masked
    "gather_sequences(flat, {})",
    "sequence_slice(flat, {}, 0)",
    "sequence_roll(flat, {})",
    "sequence_repeat(flat[:1, :3], {})",
    "add(flat, {}[:1])",
    "lookup_table(dense, {})",
    "lookup_table({}.reshape(3, 1) * 1.0, [0])",
    "ops.softmax({} * 1.0)",
    "group_rows({})",
    "ops.with_values(flat[:2, :1], {})",
    "ops.sum({})",
]


@for_each(("call", "mask"), [(call, mask) for call in UNMASKED for mask in ("False", "[False] * 3", "np.ma.nomask")])
def test_masked_arrays_are_refused_even_if_nothing_is_masked(call, mask, names):
    assert_refused(call.format(f"np.ma.array([0, 1, 0], mask={mask})"), names, DTypeError, "masked")
