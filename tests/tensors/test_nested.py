"""lodcore.array and tolist: nested lists and back."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDError, LoDTensor, ShapeError
from reference.nested import flatten
from tests.helpers.agree import assert_rows, numbered, offsets_of, same
from tests.helpers.draw import DTYPES, lod_tensors, nested_lists
from tests.helpers.tables import for_each


@given(nested_lists())
def test_array_and_tolist_are_inverse(drawn):
    nested, num_levels = drawn
    x = lodcore.array(nested, num_levels=num_levels)
    rows, levels = flatten(nested, num_levels)
    assert offsets_of(x.lod) == levels
    assert x.values.tolist() == rows
    assert x.dtype == (np.int64 if rows else np.float64)
    assert x.tolist() == nested
    assert same(lodcore.array(x.tolist(), x.dtype, num_levels), x)


@given(nested_lists(), st.sampled_from([np.int8, np.float32, np.complex128, "U3", "S3"]))
def test_array_with_a_dtype_converts_as_numpy(drawn, dtype):
    nested, num_levels = drawn
    x = lodcore.array(nested, dtype, num_levels)
    assert x.values.tobytes() == np.array(flatten(nested, num_levels)[0], dtype).tobytes()
    assert x.dtype == np.dtype(dtype)


@given(nested_lists(rows=st.floats(width=32) | st.integers(-(2**53), 2**53) | st.booleans()))
def test_numpy_finds_the_dtype(drawn):
    nested, num_levels = drawn
    x = lodcore.array(nested, num_levels=num_levels)
    wanted = np.array(flatten(nested, num_levels)[0])
    assert (x.dtype, x.values.tobytes()) == (wanted.dtype, wanted.tobytes())


@given(nested_lists())
def test_array_takes_tuples_as_lists(drawn):
    nested, num_levels = drawn

    def tuples(entry):
        return tuple(map(tuples, entry)) if isinstance(entry, list) else entry

    x = lodcore.array(tuples(nested), num_levels=num_levels)
    assert same(x, lodcore.array(nested, num_levels=num_levels))


@given(lod_tensors())
def test_arrays_are_sequences_of_rows(x):
    if not x.lod.num_sequences(-1):
        return  # no array determines the shape of a row
    y = lodcore.array(x.to_arrays())
    assert_rows(y, numbered(x.lod), x.num_levels, x.values)
    assert y.values.flags.writeable
    assert not np.may_share_memory(y.values, x.values)
    assert same(lodcore.array(x.to_arrays(), num_levels=x.num_levels), y)


@given(lod_tensors())
def test_tolist_gives_rows_as_numpy_does(x):
    rows, levels = flatten(x.tolist(), x.num_levels)
    assert levels == offsets_of(x.lod)
    assert repr(rows) == repr(x.values.tolist())


@given(lod_tensors(), st.sampled_from(DTYPES))
def test_a_lod_tensor_is_copied(x, dtype):
    y = lodcore.array(x)
    assert same(y, x)
    assert y.lod is x.lod
    assert not np.may_share_memory(y.values, x.values)
    if x.dtype.kind in "iu" and dtype.kind in "iuf" and np.can_cast(x.dtype, dtype):
        assert lodcore.array(x, dtype).values.tobytes() == x.values.astype(dtype).tobytes()


@pytest.mark.parametrize(
    ("nested", "lengths", "dtype"),
    [
        ([], [[]], np.float64),
        ([[]], [[0]], np.float64),
        ([[], []], [[0, 0]], np.float64),
        ([[], [[]]], [[0, 1], [0]], np.float64),
        ([[[]], []], [[1, 0], [0]], np.float64),
        ([[1, 2], [3, 4]], [[2, 2]], np.int64),  # equal lengths are not a width
        ([[[1], [2]]], [[2], [1, 1]], np.int64),
        ([["a", "bcd"], []], [[2, 0]], "U3"),
        ([[b"a"], [b"bc"]], [[1, 1]], "S2"),
        ([[True, False]], [[2]], bool),
        ([[1, 2.5]], [[2]], np.float64),
        ([[np.float32(1)], [np.float32(2)]], [[1, 1]], np.float32),
        ([[np.datetime64("2020-01-01", "D")]], [[1]], "M8[D]"),
        ([[1j]], [[1]], np.complex128),
    ],
)
def test_array_of_nested_lists_finds_lengths_and_dtype(nested, lengths, dtype):
    x = lodcore.array(nested)
    assert [x.lod.lengths(k).tolist() for k in range(x.num_levels)] == lengths
    assert x.dtype == dtype
    assert x.tolist() == nested or x.dtype.kind == "M"


@pytest.mark.parametrize(
    ("nested", "num_levels", "lengths"),
    [
        ([], 3, [[], [], []]),
        ([[]], 2, [[0], []]),
        ([[], []], 3, [[0, 0], [], []]),
        ([[[]]], 2, [[1], [0]]),
        ([np.empty((0, 2))], 1, [[0]]),
    ],
)
def test_num_levels_gives_the_depth_of_empty_lists(nested, num_levels, lengths):
    x = lodcore.array(nested, num_levels=num_levels)
    assert [x.lod.lengths(k).tolist() for k in range(x.num_levels)] == lengths
    assert x.num_rows == 0


def test_array_takes_the_width_of_rows_from_arrays_not_lists():
    assert lodcore.array([np.zeros((2, 3)), np.zeros((0, 3))]).shape == (2, None, 3)
    assert lodcore.array([[0, 0, 0], [0, 0, 0]]).shape == (2, None)
    assert lodcore.array([np.zeros(2), np.zeros(2)]).shape == (2, None)
    assert lodcore.array([[np.zeros((2, 3))], []]).shape == (2, None, None, 3)
    assert lodcore.array([[np.float64(1), np.array(2.0)]]).tolist() == [[1.0, 2.0]]


def test_an_array_of_objects_is_taken_for_a_list():
    ragged = np.empty(2, object)
    ragged[:] = [[1, 2], [3]]
    assert lodcore.array(ragged).tolist() == [[1, 2], [3]]


def test_array_of_lists_that_contain_one_list_several_times():
    row = [1, 2]
    assert lodcore.array([row, row, [row][0]]).tolist() == [[1, 2]] * 3
    inner = [row, row]
    assert lodcore.array([inner, inner]).tolist() == [[[1, 2], [1, 2]]] * 2
    nothing = []
    assert lodcore.array([nothing, [nothing]]).shape == (2, None, None)


def test_nested_lists_may_be_given_for_a_tensor():
    nested = [[1, 2], [], [3]]
    x = lodcore.array(nested)
    assert same(lodcore.gather_sequences(nested, [2, 0]), lodcore.gather_sequences(x, [2, 0]))
    assert same(lodcore.concat_batches([nested, x]), lodcore.concat_batches([x, x]))
    assert same(lodcore.sequence_slice(nested, 0, 0), lodcore.sequence_slice(x, 0, 0))
    assert lodcore.lod_rank_table(nested).indices.tolist() == [0, 2, 1]
    assert list(map(list, lodcore.TensorArray.unpack(nested, 0)[0])) == [[1, 3], [2]]
    assert isinstance(lodcore.reorder_by_rank(nested, lodcore.lod_rank_table(x)), LoDTensor)


@given(lod_tensors(2))
def test_array_of_the_sequences_of_a_tensor_gives_the_tensor(x):
    sequences = list(x)
    if sequences:
        assert same(lodcore.array(sequences), x)
        assert same(lodcore.array(tuple(sequences), num_levels=x.num_levels), x)


def test_arrays_are_rows_where_the_lists_are_all_levels():
    image, other = np.arange(6.0).reshape(2, 3), np.ones((2, 3), np.float32)
    x = lodcore.array([[image, other], [], [image]], num_levels=1)
    assert (x.lengths.tolist(), x.values.shape, x.dtype) == ([2, 0, 1], (3, 2, 3), np.float64)
    np.testing.assert_array_equal(x[0], [image, other])
    deep = lodcore.array([[[image], []], []], dtype="float32", num_levels=2)
    assert (deep.num_levels, deep.values.shape, deep.dtype) == (2, (1, 2, 3), np.float32)
    assert lodcore.array([[image, image], []]).num_levels == 2
    with pytest.raises(ShapeError, match=r"arrays\[1\]: has rows of shape \(4, 3\); arrays\[0\] has \(2, 3\)"):
        lodcore.array([[image, np.ones((4, 3))]], num_levels=1)
    with pytest.raises(LoDError, match="has num_levels 2; 3 is given"):
        lodcore.array([[image]], num_levels=3)


# -- dicts and dates of the standard library -----------------------------------------------------------------------


def test_array_makes_records_of_dicts():
    rows = [[{"a": 1, "b": "x"}, {"b": "yy", "a": 2}], [], [{"a": 3, "b": "z"}]]
    x = lodcore.array(rows)
    assert x.dtype == np.dtype([("a", "i8"), ("b", "U2")])
    assert x["a"].tolist() == [[1, 2], [], [3]]
    assert x["b"].tolist() == [["x", "yy"], [], ["z"]]
    assert [[dict(zip(x.dtype.names, row, strict=True)) for row in one] for one in x.tolist()] == rows
    narrow = lodcore.array([[{"a": 1, "t": datetime.date(2024, 1, 2)}]], [("t", "M8[D]"), ("a", "f4")])
    assert (narrow.dtype.names, narrow["a"].tolist()) == (("t", "a"), [[1.0]])


def test_array_takes_dates_and_durations_of_the_standard_library():
    noon = datetime.datetime(2024, 1, 2, 12, 0, 0, 5)
    cases = [
        ([[noon], [], [noon, noon]], "M8[us]"),
        ([[noon.date()], [], [noon.date()]], "M8[D]"),
        ([[noon.date(), noon]], "M8[us]"),
        ([[datetime.timedelta(seconds=3, microseconds=1)], []], "m8[us]"),
    ]
    for rows, dtype in cases:
        x = lodcore.array(rows)
        assert x.dtype == np.dtype(dtype)
        assert x.equals(lodcore.array([np.array(one, dtype) for one in rows]))
    assert lodcore.array([[noon]], "M8[s]").dtype == np.dtype("M8[s]")
    assert lodcore.array([[{"at": noon}]])["at"].dtype == np.dtype("M8[us]")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[{"a": 1}, {"b": 2}]], "value 1 has 'b'; all dicts need the same keys"),
        ([[{"a": 1}, 3]], "value 1 is int among dicts"),
        ([[3, {"a": 1}]], r"obj\[0\]\[1\]: is {'a': 1}"),
        ([[{}]], "value 0 has no key"),
        ([[{1: 1}]], "value 0 has 1; .* which are text"),
        ([[{"a": None}]], "'a'.*: is None; write nan"),
        ([[{"a": [1]}]], "'a': its entries have shape"),
        ([[datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)]], "have no zones"),
        ([[datetime.date(2024, 1, 2), 3]], "value 1 is 3 among dates"),
        ([[datetime.timedelta(1), None]], r"value 1 is None among durations; dtype='m8\[us\]' makes NaT of it"),
        ([[datetime.date(2024, 1, 2)], [None]], r"value 1 is None among dates; dtype='M8\[us\]' makes NaT of it"),
        ([[None, datetime.date(2024, 1, 2)]], r"\[0\]\[0\]: is None; dtype='M8\[us\]' makes NaT of it"),
    ],
)
def test_dicts_and_dates_that_do_not_fit(rows, text):
    with pytest.raises(lodcore.DTypeError, match=f"lodcore.array: obj.*{text}|lodcore.array: {text}"):
        lodcore.array(rows)


def test_array_of_dicts_refuses_a_dtype_without_fields():
    with pytest.raises(lodcore.DTypeError, match="dtype: is float32, which has no fields"):
        lodcore.array([[{"a": 1}]], "f4")


@pytest.mark.not_on_reference
@pytest.mark.parametrize("place", [0, 1, 15, 63, 64, 65, 199])
@pytest.mark.parametrize(("text", "odd"), [("a", 1), ("a", b"a"), (b"a", "a"), (b"a", 1.5), ("a", True)])
def test_array_of_text_refuses_a_value_of_another_kind_at_any_place(place, text, odd):
    leaves = [text] * 200
    leaves[place] = odd
    for nested in ([leaves], [leaves[:50], leaves[50:]], [[leaves[:100]], [leaves[100:]]]):
        with pytest.raises(lodcore.DTypeError):
            lodcore.array(nested)


@for_each(
    ("call", "text"),
    [
        (lambda: lodcore.group_by([1, "1"], [1, 2]), "group_by: key: value 0 is 1 among text"),
        (lambda: lodcore.group_by(["1", 1.5], [1, 2]), "group_by: key: value 1 is 1.5 among text"),
        (lambda: lodcore.group_by(["a", b"a"], [1, 2]), "group_by: key: value 1 is b'a' among text"),
        (lambda: lodcore.match_keys([1, "x"], ["1"]), "match_keys: x_keys: value 0 is 1 among text"),
        (lambda: lodcore.group_by(["a\0", "a"], [1, 2]), r"group_by: key: value 0 is 'a\\x00', whose NUL at the end"),
        (
            lambda: LoDTensor.from_lengths([["a"], [np.array(1)]], [2]),
            "LoDTensor.from_lengths: values: value 1 is array.1. among text",
        ),
        (
            lambda: LoDTensor.from_lengths([["a"], np.array([1])], [2]),
            "LoDTensor.from_lengths: values: value 1 is 1 among text",
        ),
        (
            lambda: lodcore.array([np.array([1]), np.array(["b"])]),
            r"lodcore.array: obj: arrays\[1\]: has dtype <U1, arrays\[0\] int64; text and other values do not join",
        ),
        (
            lambda: LoDTensor.from_arrays([np.zeros(0), np.array(["b"]), np.array([b"c"])]),
            r"LoDTensor.from_arrays: arrays\[2\]: has dtype \|S1, arrays\[1\] <U1; text and other values do not join",
        ),
    ],
)
def test_numbers_do_not_become_text(call, text):
    with pytest.raises(lodcore.DTypeError, match=f"^{text}"):
        call()


def test_arrays_of_text_and_an_asked_dtype_join():
    assert lodcore.array([np.zeros(0), np.array(["b"])]).tolist() == [[], ["b"]]
    assert lodcore.array([np.array(["a"]), np.array(["bcd"])]).dtype == np.dtype("U3")
    assert lodcore.array([np.array([1]), np.array(["b"])], "U").tolist() == [["1"], ["b"]]
    assert lodcore.array([np.array([1]), np.array(["b"])], "U1").tolist() == [["1"], ["b"]]


NUMBERS = ["?", "i1", "u2", "i8", "u8", "f2", "f4", "f8", ">f8", "c8"]


@given(
    st.lists(st.tuples(st.sampled_from(NUMBERS), st.integers(0, 3), st.integers(1, 2)), min_size=1),
    st.sampled_from([None, "f4", "i2", "c16"]),
    st.sampled_from([(), (2,)]),
)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_arrays_of_several_dtypes_join_as_numpy_converts_them(drawn, dtype, row):
    arrays = [np.ones((count * step, *row)).cumsum(0).astype(kind)[::step] for kind, count, step in drawn]
    wanted = [np.asarray(x, dtype or np.result_type(*dict.fromkeys(x.dtype for x in arrays))) for x in arrays]
    x, out = LoDTensor.from_arrays(arrays, dtype), np.empty_like(np.concatenate(wanted))
    assert same(x, LoDTensor.from_arrays(wanted))
    assert same(LoDTensor.from_arrays(arrays, dtype, out=out), x)
    with pytest.raises(ShapeError, match=r"arrays\[1\]: has rows of shape \(7,\); arrays\[0\] has"):
        LoDTensor.from_arrays([arrays[0], np.zeros((1, 7), "f4"), *arrays])


@for_each("count", [2, 3, 4, 5])
def test_arrays_with_too_many_rows_of_no_numbers_are_refused(count):
    for kinds in (["i1", "?"], ["i1", "i1"]):
        arrays = [np.empty((2**62, 0), kinds[j % 2]) for j in range(count)]
        with pytest.raises(MemoryError, match="the result has more than 2\\*\\*63 - 1 rows"):
            LoDTensor.from_arrays(arrays)


@for_each(
    ("lists", "advice", "written"),
    [
        ([["a", None]], "text has no value that is missing: write '', or leave the entry out", [["a", ""]]),
        ([[None], [b"a"]], "text has no value that is missing: write b'', or leave the entry out", [[b""], [b"a"]]),
        ([[True, None]], "bools have no value that is missing: write False, or leave the entry out", [[True, False]]),
        ([[1, None]], "write nan for a value that is missing, which makes floats of integers", [[1.0, np.nan]]),
        ([[1.5, None]], "write nan for a value that is missing", [[1.5, np.nan]]),
    ],
)
def test_the_advice_for_a_missing_value_works(lists, advice, written):
    with pytest.raises(lodcore.DTypeError, match=rf"is None; {advice}$"):
        lodcore.array(lists)
    assert repr(lodcore.array(written).tolist()) == repr(written)


def test_missing_dates_of_the_standard_library_become_nat_with_the_dtype_of_the_advice():
    for dtype, entry in (("M8[us]", datetime.date(2024, 1, 2)), ("m8[us]", datetime.timedelta(1))):
        assert np.isnat(lodcore.array([[entry, None], [None]], dtype).values).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("rows", "dtype"),
    [
        ([datetime.timedelta(1), np.timedelta64(3, "h")], "m8[us]"),
        ([np.timedelta64(3, "ns"), datetime.timedelta(1)], "m8[ns]"),
        ([datetime.date(2020, 1, 1), np.datetime64("2020-01-01T03", "h"), np.datetime64("NaT", "D")], "M8[h]"),
        ([np.datetime64("NaT", "s"), datetime.date(2020, 1, 1)], "M8[D]"),
    ],
)
def test_dates_of_numpy_and_of_the_standard_library_are_one_kind(rows, dtype):
    made = lodcore.array([rows])
    assert made.dtype == dtype
    wanted = [np.array(["NaT" if one != one else one], dtype)[0] for one in rows]
    np.testing.assert_array_equal(made.values, np.array(wanted, dtype))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([datetime.timedelta(1), np.datetime64("2020-01-01")], "among durations; values are of one kind"),
        ([datetime.date(2020, 1, 1), np.timedelta64("NaT", "s")], "among dates; values are of one kind"),
        ([np.datetime64("2020-01-01"), 3], "value 1 is 3 among dates"),
        ([datetime.datetime(3000, 1, 1), np.datetime64("2020-01-01", "ns")], r"value 0: is 3000-01-01.*\[ns\] cannot"),
    ],
)
def test_dates_of_two_kinds_are_refused(rows, says):
    with pytest.raises(lodcore.DTypeError, match=says):
        lodcore.array([rows])
