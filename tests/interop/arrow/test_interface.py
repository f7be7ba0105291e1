"""Arrow arrays in and out, without pyarrow: round trips, and the meaning of the structs."""

import gc
import itertools
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, from_arrow
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop import ArrowTable
from lodcore.interop.arrow.nodes import node_of
from lodcore.tensors.utf8 import utf8_of
from tests.helpers.capsules import Forged, ForgedStream, array_of, bits, leaf, lists, schema_of
from tests.helpers.draw import DTYPES, lod_tensors

NUMBERS = np.arange(5)
OUT = [dtype for dtype in DTYPES if dtype.kind not in "cMmV"] + [
    np.dtype(name) for name in ("M8[s]", "m8[ns]", "M8[us]")
]
OUT += [np.dtype("i2, f4")]


# -- round trips ---------------------------------------------------------------------------------------------------


@given(lod_tensors(0, 3, OUT))
def test_to_arrow_and_from_arrow_round_trip(x):
    fixed = "fixed" if x.dtype.kind in "US" else "rows"
    nulls = np.array("NaT", x.dtype) if x.dtype.kind in "mM" else "error"
    records = True if x.dtype.names else None
    for again in (from_arrow(x, nulls, strings=fixed, records=records), from_arrow(Streamed(x), nulls, strings=fixed)):
        if x.dtype.names and isinstance(again, dict):
            continue  # a table
        values = again if x.num_levels == 0 else again.values
        if x.num_levels:
            assert again.lod == x.lod
        assert values.shape == x.values.shape
        if x.dtype.kind == "V":
            for name in x.dtype.names:
                np.testing.assert_array_equal(values[name], x.values[name])
        elif x.dtype.kind in "US":
            np.testing.assert_array_equal(values, x.values)
        else:
            assert values.dtype == x.dtype
            assert values.tobytes() == x.values.tobytes()


class Streamed:
    """An object that supports only streams."""

    def __init__(self, x):
        self.x = x

    def __arrow_c_stream__(self, requested_schema=None):
        return self.x.__arrow_c_stream__(requested_schema)


def test_arrow_c_array_copies_neither_values_nor_offsets():
    x = LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2), [2, 4], [3, 0, 1, 1, 0, 1])
    capsules = x.__arrow_c_array__()
    outer = array_of(capsules)
    inner = outer.children[0].contents
    values = inner.children[0].contents.children[0].contents
    assert (outer.length, inner.length, values.length) == (2, 6, 12)
    assert outer.buffers[1] == x.lod.offsets(0).ctypes.data
    assert inner.buffers[1] == x.lod.offsets(1).ctypes.data
    assert values.buffers[1] == x.values.ctypes.data
    assert from_arrow(x).values.ctypes.data == x.values.ctypes.data


@pytest.mark.parametrize("name", ["arrow_c_array", "arrow_c_schema", "arrow_c_stream"])
def test_capsules_are_made_of_lists_and_arrays_and_of_nothing_else(name):
    function = getattr(lodcore.interop, name)
    for x in ([[1.5], []], lodcore.array([[1.5], []]), np.ones(3), np.ones((2, 2))):
        made = function(x)
        assert all("arrow" in repr(one) for one in (made if isinstance(made, tuple) else [made]))
    for x in (3, None, {"a": [1]}):
        with pytest.raises(DTypeError, match=f"^lodcore.interop.{name}: x: is {type(x).__name__}; a LoDTensor or"):
            function(x)


def test_capsules_keep_the_values_alive():
    x = lodcore.array([[1, 2], [3]])
    values = x.values
    capsules = x.__arrow_c_array__()
    stream = x.__arrow_c_stream__()

    class Held:
        def __arrow_c_array__(self, requested_schema=None):
            return capsules

    y = from_arrow(Held())
    del x, values, stream
    gc.collect()
    assert y.tolist() == [[1, 2], [3]]


def test_unused_capsules_release_their_memory():
    x = LoDTensor(np.zeros(3), LoD.from_lengths([1, 2]))
    counts = []
    for _ in range(3):
        for _ in range(40):
            x.__arrow_c_array__()
            x.__arrow_c_stream__()
            x.__arrow_c_schema__()
            from_arrow(x)
        gc.collect()
        counts.append(sys.getrefcount(x.values))
    assert counts[0] == counts[1] == counts[2]


def test_an_array_may_be_released_by_any_thread():
    x = lodcore.array([[1, 2], [3]])
    held = [from_arrow(x) for _ in range(50)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert x.tolist() == [[1, 2], [3]]


# -- requests ------------------------------------------------------------------------------------------------------


def test_arrow_c_array_has_offsets_of_32_bits_if_the_requested_schema_has():
    x = lodcore.array([[[1, 2], []], [[3]]])
    wish = lists([0], lists([0], leaf(NUMBERS)))
    given = x.__arrow_c_array__(wish.__arrow_c_array__()[0])
    assert schema_of(given[0]).format == b"+l"
    assert schema_of(given[0]).children[0].contents.format == b"+l"

    class Wished:
        def __arrow_c_array__(self, requested_schema=None):
            return given

    assert from_arrow(Wished()).equals(x)


@pytest.mark.parametrize(("count", "format"), [(2**31 - 1, b"+l"), (2**31, b"+L")])
def test_arrow_c_array_has_offsets_of_32_bits_only_if_all_rows_fit(count, format):
    x = LoDTensor(np.zeros((count, 0), "i8"), LoD.from_lengths([count]))  # rows without numbers need no memory
    wish = lists([0], leaf(NUMBERS))
    assert schema_of(x.__arrow_c_array__(wish.__arrow_c_array__()[0])[0]).format == format


@pytest.mark.parametrize(("wish", "format"), [(b"u", b"u"), (b"U", b"U"), (b"z", b"z"), (b"Z", b"Z")])
def test_arrow_c_array_gives_strings_if_the_schema_asks_for_them(wish, format):
    x = LoDTensor.from_lengths(np.frombuffer("aéb".encode(), np.uint8), [3, 0, 1])
    given = x.__arrow_c_array__(Forged(wish, 0, [None, None, None]).__arrow_c_array__()[0])
    assert schema_of(given[0]).format == format


@pytest.mark.parametrize(
    ("data", "lengths", "says"), [(b"\xff", [1], "byte 0 is not UTF-8"), ("é".encode(), [1, 1], "inside a character")]
)
def test_bytes_that_are_no_text_do_not_become_text(data, lengths, says):
    x = LoDTensor.from_lengths(np.frombuffer(data, np.uint8), lengths)
    with pytest.raises(DTypeError, match=says):
        x.__arrow_c_array__(Forged(b"u", 0, [None, None, None]).__arrow_c_array__()[0])


def test_requested_schema_that_does_not_fit_is_ignored():
    x = lodcore.array([[1.5]])
    assert schema_of(x.__arrow_c_array__(leaf(NUMBERS).__arrow_c_array__()[0])[0]).format == b"+L"


# -- types ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["c8", "M8[Y]", "m8[M]", "M8", "m8[as]", "M8[0s]", "m8[0D]"])
def test_dtypes_that_arrow_lacks_are_refused(dtype):
    x = LoDTensor(np.zeros(2, dtype), LoD.from_lengths([2]))
    if dtype == "M8[Y]":  # years become days
        assert from_arrow(x).values.tolist() == x.values.astype("M8[D]").tolist()
        return
    with pytest.raises(DTypeError, match="which Arrow does not have"):
        x.__arrow_c_array__()


def test_an_error_of_a_table_names_the_column_and_the_field():
    x = lodcore.array([[1], [2, 3]])
    for name, column, says in (
        ("w", x.with_values(np.zeros(3, "c8")), r"columns\['w'\]: has dtype complex64, which Arrow does not have"),
        ("w", np.zeros(2, [("a", "i4"), ("b", "M8")]), r"columns\['w'\]\['b'\]: has dtype datetime64, which Arrow"),
        ("w", np.zeros((2, 3), "m8[ps]"), r"columns\['w'\]: has dtype timedelta64\[ps\], which Arrow"),
        ("w", np.array([0, 2**31], "M8[D]"), r"columns\['w'\]: is .* at row 1; Arrow counts days in 32 bits"),
        ("w", np.array([0, 2**62], "m8[h]"), r"columns\['w'\]: has dtype .*; some are out of range for \[s\]"),
        ("w", np.array(["a", "\ud800"]), r"columns\['w'\]: is not text"),
        ("w", 3.0, r"columns\['w'\]: has no axis"),
        ("w", [[1], [2, 3]], r"columns\['w'\]: is nested unevenly"),
        ("w", x[:1], "columns: 'w' has 1 entries, 'x' 2"),
        ("a\0b", x, r"columns: has the name 'a\\x00b'; text without zeros is needed"),
        ("\ud800", x, r"columns: has the name '\\ud800'; text without zeros is needed"),
    ):
        with pytest.raises((LoDError, DTypeError, ShapeError), match=f"^lodcore.interop.ArrowTable: {says}"):
            ArrowTable({"x": x, name: column})
    for columns in ({3: x, "3": x}, {"x": x, np.str_("y"): x, "y": x, 3: x, "3": x}):
        with pytest.raises(LoDError, match="ArrowTable: columns: has two columns '3'"):
            ArrowTable(columns)
    for columns in (x, 3, None, [x]):
        with pytest.raises(DTypeError, match=r"ArrowTable: columns: is .*; a dict by name is needed"):
            ArrowTable(columns)
    with pytest.raises(DTypeError, match="ArrowTable: masks: is LoDTensor; a dict by name is needed"):
        ArrowTable({"x": x}, x)


def test_days_beyond_32_bits_are_refused():
    x = LoDTensor(np.array([0, 2**31], "M8[D]"), LoD.from_lengths([2]))
    with pytest.raises(DTypeError, match="at row 1; Arrow counts days in 32 bits"):
        x.__arrow_c_array__()


def test_nat_is_exported_as_null():
    x = LoDTensor(np.array([0, "NaT", 5], "M8[D]"), LoD.from_lengths([3]))
    with pytest.raises(LoDError, match="row 1 is null"):
        from_arrow(x)
    y, (sequences, rows) = from_arrow(x, "mask")
    assert (sequences.tolist(), rows.tolist()) == ([True], [True, False, True])
    assert y.values[2] == x.values[2]


def test_hours_become_seconds():
    x = LoDTensor(np.array([1, 2], "m8[h]"), LoD.from_lengths([2]))
    assert from_arrow(x).values.tolist() == x.values.astype("m8[s]").tolist()


def test_a_fixed_size_above_values_is_an_axis_and_above_lists_a_level():
    pairs = Forged(b"+w:2", 3, [None], [leaf(np.arange(6))])
    assert from_arrow(lists([0, 1, 3], pairs)).shape == (2, None, 2)
    pairs = Forged(b"+w:2", 2, [None], [lists([0, 1, 3, 3, 5], leaf(NUMBERS))])
    assert from_arrow(pairs).tolist() == [[[0], [1, 2]], [[], [3, 4]]]
    assert from_arrow(Forged(b"+w:0", 3, [None], [leaf(NUMBERS)])).shape == (3, 0)
    assert from_arrow(Forged(b"+w:2", 2, [None], [leaf(np.arange(9))], offset=1)).tolist() == [[2, 3], [4, 5]]


@pytest.mark.parametrize(("start", "stop"), [(0, 3), (1, 3), (2, 2), (0, 1), (1, 2)])
def test_from_arrow_takes_slices_from_their_offset(start, stop):
    forged = lists([0, 2, 2, 5], leaf(NUMBERS), offset=start, array={"length": stop - start})
    assert from_arrow(forged).tolist() == [[0, 1], [], [2, 3, 4]][start:stop]


def test_a_child_may_be_a_slice():
    child = leaf(NUMBERS, offset=2, array={"length": 3})
    assert from_arrow(lists([0, 1, 3], child)).tolist() == [[2], [3, 4]]


def test_from_arrow_and_to_arrow_convert_bools_to_bits():
    packed = bits(*([1, 0, 1, 1, 0, 0, 1, 0] * 3))
    child = Forged(b"b", 11, [None, packed], offset=3)
    x = from_arrow(lists([0, 4, 11], child))
    assert x.tolist() == [[True, False, False, True], [False, True, False, True, True, False, False]]
    assert x.values.view(np.uint8).max() == 1


def test_views_may_lie_in_any_order():
    offsets, sizes = np.array([3, 0, 0], "i4"), np.array([2, 3, 0], "i4")
    x = from_arrow(Forged(b"+vl", 3, [None, offsets, sizes], [leaf(NUMBERS)]))
    assert x.tolist() == [[3, 4], [0, 1, 2], []]
    nested = lists([0, 2, 2, 3, 4, 5], leaf(NUMBERS))
    assert from_arrow(
        Forged(b"+vL", 3, [None, *(part.astype("i8") for part in (offsets, sizes))], [nested])
    ).tolist() == [
        [[3], [4]],
        [[0, 1], [], [2]],
        [],
    ]


def test_from_arrow_of_adjacent_list_views_does_not_copy():
    x = from_arrow(Forged(b"+vl", 2, [None, np.array([1, 3], "i4"), np.array([2, 2], "i4")], [leaf(NUMBERS)]))
    assert x.tolist() == [[1, 2], [3, 4]]
    assert x.values.ctypes.data == NUMBERS.ctypes.data + 8


@pytest.mark.parametrize("format", [b"u", b"z"])
def test_strings_are_sequences_of_bytes(format):
    def text():
        return Forged(format, 3, [None, np.array([1, 2, 2, 5], "i4"), np.frombuffer(b"xabcd", np.uint8)])

    assert from_arrow(text()).tolist() == [[97], [], [98, 99, 100]]
    fixed = from_arrow(lists([0, 1, 3], text()), strings="fixed")
    assert fixed.tolist() == [["a"], ["", "bcd"]] if format == b"u" else [[b"a"], [b"", b"bcd"]]


def test_strings_behind_views():
    head = b"0123456789ABCDEFG"
    views = np.zeros((3, 4), "i4")
    views[0, 0] = 2
    views.view(np.uint8)[0, 4:6] = list(b"hi")
    views[2] = [15, 0, 1, 2]
    other = np.frombuffer(head, np.uint8)
    parts = [None, views, np.zeros(1, "u1"), other, np.array([1, 17])]
    assert from_arrow(Forged(b"vu", 3, parts), strings="fixed").tolist() == ["hi", "", head[2:].decode()]
    assert from_arrow(Forged(b"vu", 3, parts))[2].tobytes() == head[2:]


@pytest.mark.parametrize(
    ("data", "offsets", "says"),
    [
        (b"\xffa", [0, 2], "is not UTF-8 at byte 0"),
        ("é".encode(), [0, 1, 2], "begins inside a character"),
        (b"a\0", [0, 2], "ends with NUL"),
    ],
)
def test_from_arrow_of_strings_that_numpy_cannot_hold_raises_for_fixed_strings(data, offsets, says):
    parts = [None, np.array(offsets, "i4"), np.frombuffer(data, np.uint8)]
    assert from_arrow(Forged(b"u", len(offsets) - 1, parts)).values.tobytes() == data
    with pytest.raises(DTypeError, match=says):
        from_arrow(Forged(b"u", len(offsets) - 1, parts), strings="fixed")


def words_of(texts, format=b"u", **fields):
    """Forge strings, with offsets or in views."""
    data = b"".join(texts)
    ends = np.cumsum([0, *map(len, texts)])
    chars = np.frombuffer(data + b"-", np.uint8)
    if format == b"u":
        return Forged(format, len(texts), [None, ends.astype("i4"), chars], **fields)
    views = np.zeros((len(texts), 4), "i4")
    views[:, 0], views[:, 3] = np.diff(ends), ends[:-1]
    for j, text in enumerate(texts):
        if len(text) <= 12:
            views.view(np.uint8).reshape(-1, 16)[j, 4 : 4 + len(text)] = list(text)
        else:
            views.view(np.uint8).reshape(-1, 16)[j, 4:8] = list(text[:4])
    return Forged(format, len(texts), [None, views, chars, np.array([len(data)])], **fields)


def lists_of_one(child, valid):
    count = child.array.length
    nulls = 0 if valid is None else -1
    return Forged(b"+l", count, [valid, np.arange(count + 1, dtype="i4")], [child], null_count=nulls)


def null_struct(child):
    child.schema.name = b"f"
    return Forged(b"+s", 3, [bits(1, 0, 1)], [child], null_count=1)


UNSEEN = {
    "an entry of a dictionary": (
        lambda make: Forged(b"c", 2, [None, np.array([0, 2], "i1")], dictionary=make()),
        ["a", "c"],
    ),
    "an entry of a null of a dictionary": (
        lambda make: Forged(b"c", 3, [bits(1, 0, 1), np.array([0, 1, 2], "i1")], dictionary=make(), null_count=1),
        ["a", "", "c"],
    ),
    "a null list": (lambda make: lists_of_one(make(), bits(1, 0, 1)), [["a"], [], ["c"]]),
    "a list of a null list": (
        lambda make: lists_of_one(lists_of_one(make(), None), bits(1, 0, 1)),
        [[["a"]], [], [["c"]]],
    ),
    "a gap between views": (
        lambda make: Forged(b"+vl", 2, [None, np.array([0, 2], "i4"), np.array([1, 1], "i4")], [make()]),
        [["a"], ["c"]],
    ),
    "a gap between views in the other order": (
        lambda make: Forged(b"+vl", 2, [None, np.array([2, 0], "i4"), np.array([1, 1], "i4")], [make()]),
        [["c"], ["a"]],
    ),
    "a null list of a fixed size": (
        lambda make: Forged(b"+w:1", 3, [bits(1, 0, 1)], [make()], null_count=1),
        [["a"], [""], ["c"]],
    ),
    "a null struct": (lambda make: null_struct(make()), [("a",), ("",), ("c",)]),
}


@pytest.mark.parametrize("place", UNSEEN)
@pytest.mark.parametrize("format", [b"u", b"vu"])
@pytest.mark.parametrize("text", [b"b\0", b"b" * 50, b"\xff"])
def test_from_arrow_of_fixed_strings_ignores_text_that_is_not_in_the_result(place, format, text):
    make, wanted = UNSEEN[place]
    forged = make(lambda: words_of([b"a", text, b"c"], format))
    made = from_arrow(forged, "", strings="fixed", dictionaries="decode", records=True)
    assert made.tolist() == wanted
    dtype = made.dtype if made.dtype.names is None else made.dtype["f"]
    assert dtype == "<U1"


@pytest.mark.parametrize("text", [b"b\0", b"\xff"])
def test_from_arrow_of_ids_ignores_which_text_numpy_cannot_hold(text):
    def chunk(text):
        return Forged(b"c", 2, [None, np.array([1, 0], "i1")], dictionary=words_of([b"a", text]))

    assert from_arrow(ForgedStream([chunk(text), chunk(text)]), strings="fixed").tolist() == [1, 0, 1, 0]
    with pytest.raises(LoDError, match="different dictionary"):
        from_arrow(ForgedStream([chunk(text), chunk(b"b")]), strings="fixed")


def test_from_arrow_of_bytes_and_decimals_ignores_those_that_are_not_in_the_result():
    def views(child):
        return Forged(b"+vl", 2, [None, np.array([0, 2], "i4"), np.array([1, 1], "i4")], [child])

    assert from_arrow(views(Forged(b"w:2", 3, [None, np.frombuffer(b"abc\0de", np.uint8)]))).tolist() == [
        [b"ab"], [b"de"],
    ]  # fmt: skip
    digits = np.array([1, 10**17, 3])
    assert from_arrow(views(Forged(b"d:18,0,64", 3, [None, digits]))).tolist() == [[1.0], [3.0]]
    with pytest.raises(DTypeError, match="more than 15 digits at position 1"):
        from_arrow(Forged(b"d:18,0,64", 3, [None, digits]))


def test_ids_of_a_dictionary():
    words = Forged(b"u", 2, [None, np.array([0, 1, 3], "i4"), np.frombuffer(b"abc", np.uint8)])
    forged = lists([0, 2, 3], Forged(b"c", 3, [None, np.array([1, 0, 1], "i1")], dictionary=words))
    assert from_arrow(forged).tolist() == [[1, 0], [1]]
    forged = lists([0, 2, 3], Forged(b"c", 3, [None, np.array([1, 0, 1], "i1")], dictionary=words))
    assert from_arrow(forged, dictionaries="decode", strings="fixed").tolist() == [["bc", "a"], ["bc"]]


def test_ids_of_null_entries_of_a_dictionary_are_null():
    def forged(valid=None, ids=(1, 0, 1)):
        words = Forged(b"l", 2, [bits(1, 0), np.array([70, 80])], null_count=1)
        return Forged(b"c", 3, [valid, np.array(ids, "i1")], dictionary=words, null_count=0 if valid is None else -1)

    for way in ("ids", "decode"):
        assert from_arrow(forged(), "mask", dictionaries=way)[1][0].tolist() == [False, True, False]
        assert from_arrow(forged(bits(1, 0, 1)), "mask", dictionaries=way)[1][0].tolist() == [False] * 3
        with pytest.raises(LoDError, match="obj: row 0 is null"):
            from_arrow(forged(), dictionaries=way)
    assert from_arrow(forged(), 9).tolist() == [9, 0, 9]
    assert from_arrow(forged(bits(0, 1, 0), (99, 0, -1)), 9).tolist() == [9, 0, 9]
    assert from_arrow(forged(ids=(0, 0, 0))).tolist() == [0, 0, 0]


def test_from_arrow_of_chunks_with_different_dictionaries_raises_unless_decoded():
    def chunk(*words):
        return Forged(b"c", 1, [None, np.array([1], "i1")], dictionary=leaf(np.array(words)))

    with pytest.raises(LoDError, match='chunk 1 has a different dictionary from chunk 0; with dictionaries="decode"'):
        from_arrow(ForgedStream([chunk(7, 8), chunk(8, 7)]))
    assert from_arrow(ForgedStream([chunk(7, 8), chunk(8, 7)]), dictionaries="decode").tolist() == [8, 7]
    assert from_arrow(ForgedStream([chunk(7, 8), chunk(7, 8)])).tolist() == [1, 1]
    assert from_arrow(ForgedStream([chunk(np.nan, 8.0), chunk(np.nan, 8.0)])).tolist() == [1, 1]


def test_an_error_of_chunks_with_different_dictionaries_names_the_column():
    def chunk(*words, fields=False):
        words = struct(2, f=np.array(words)) if fields else leaf(np.array(words))
        ids = Forged(b"c", 1, [None, np.array([1], "i1")], dictionary=words, name=b"weights")
        return Forged(b"+s", 1, [None], [leaf(NUMBERS, name=b"n"), ids])

    for fields in (False, True):
        with pytest.raises(LoDError, match=r"^lodcore.from_arrow: obj\[weights\]: chunk 1 has a different dictionary"):
            from_arrow(ForgedStream([chunk(7, 8, fields=fields), chunk(8, 7, fields=fields)]))
        again = from_arrow(ForgedStream([chunk(7, 8, fields=fields), chunk(7, 8, fields=fields)]))
        assert again["weights"].tolist() == [1, 1]


def struct(count, **fields):
    return Forged(b"+s", count, [None], [leaf(values, name=name.encode()) for name, values in fields.items()])


def test_structs_are_records_or_columns_that_share_a_lod():
    def forged():
        return lists([0, 2, 3], struct(3, a=np.arange(3), b=np.arange(3, dtype="i4") * 10))

    x = from_arrow(forged())
    assert x.dtype == np.dtype([("a", "i8"), ("b", "i4")])
    assert x.tolist() == [[(0, 0), (1, 10)], [(2, 20)]]
    columns = from_arrow(forged(), records=False)
    assert columns["b"].tolist() == [[0, 10], [20]]
    assert columns["a"].lod is columns["b"].lod


def test_structs_in_lists_of_a_fixed_size_are_rows_of_records():
    def pairs(count=2):
        return Forged(b"+w:2", count, [None], [struct(4, a=np.arange(4), b=np.arange(4) * 10)])

    x = from_arrow(lists([0, 1, 2], pairs()))
    assert x.shape == (2, None, 2)
    assert x[1].tolist() == [[(2, 20), (3, 30)]]
    assert from_arrow(lists([0, 1, 2], pairs()), records=False)["b"].tolist() == [[[0, 10]], [[20, 30]]]


def test_structs_of_lists_are_columns():
    inner = lists([0, 1, 1, 3], leaf(np.arange(3)))
    inner.schema.name = b"a"
    forged = lists([0, 2, 3], Forged(b"+s", 3, [None], [inner]))
    with pytest.raises(LoDError, match="records=False makes a dict"):
        from_arrow(forged)
    inner = lists([0, 1, 1, 3], leaf(np.arange(3)))
    inner.schema.name = b"a"
    forged = lists([0, 2, 3], Forged(b"+s", 3, [None], [inner]))
    assert from_arrow(forged, records=False)["a"].tolist() == [[[0], []], [[1, 2]]]


def test_a_table_is_a_dict_whose_columns_share_what_is_equal():
    x = lodcore.array([[1, 2], [3]])
    y = LoDTensor(x.values * 1.5, LoD.from_lengths([2, 1]))
    table = from_arrow(ArrowTable({"x": x, "y": y, "z": np.arange(2)}))
    assert list(table) == ["x", "y", "z"]
    assert table["x"].lod is table["y"].lod
    assert table["z"].tolist() == [0, 1]
    with pytest.raises(LoDError, match="'y' has 1 entries, 'x' 2"):
        ArrowTable({"x": x, "y": y[:1]})
    assert len(ArrowTable({"x": x})) == 2
    assert from_arrow(Streamed(ArrowTable({"x": x})))["x"].equals(x)


# -- nulls ---------------------------------------------------------------------------------------------------------


def with_nulls():
    """[[0, null], null, [3]]: the null list has two rows that are not part of any sequence."""
    child = Forged(b"l", 5, [bits(1, 0, 0, 1, 1), np.arange(5)], null_count=2)
    offsets = np.array([0, 2, 3, 4], "i4")
    return Forged(b"+l", 3, [bits(1, 0, 1), offsets], [child], null_count=-1)


def test_a_record_is_valid_if_all_of_its_fields_are():
    def column(name, *there):
        return Forged(b"g", 4, [bits(*there), np.arange(4.0)], name=name, null_count=there.count(0))

    flags = {b"a": (1, 0, 1, 0), b"b": (1, 1, 0, 0), b"c": (1, 1, 1, 1)}
    for count in (1, 2, 3):
        for names in itertools.permutations(flags, count):
            there = [all(each) for each in zip(*[flags[name] for name in names], strict=True)]
            records = Forged(b"+s", 4, [None], [column(name, *flags[name]) for name in names])
            _, mask = from_arrow(Forged(b"+l", 2, [None, np.array([0, 3, 4], "i4")], [records]), "mask")
            found = mask[-1] if isinstance(mask, tuple) else mask
            assert np.asarray(getattr(found, "values", found)).tolist() == there


UNITS = {"m8[W]": 7 * 86400, "m8[D]": 86400, "m8[h]": 3600, "M8[h]": 3600, "m8[m]": 60, "M8[m]": 60}


@pytest.mark.parametrize("dtype", UNITS)
def test_times_that_do_not_fit_in_seconds_are_refused(dtype):
    most = (2**63 - 1) // UNITS[dtype]
    for number in (most, 2 - most, 0, 1):
        x = LoDTensor.from_lengths(np.array([1, number, 2], dtype), [2, 1])
        assert from_arrow(x).equals(x.astype(f"{dtype[:2]}[s]"))
    for number in (most + 1, -most - 2, 2**62, -(2**62), 2**63 - 1):
        x = LoDTensor.from_lengths(np.array([1, number, 2], dtype), [2, 1])
        with pytest.raises(DTypeError, match=r"some are out of range for \[s\]"):
            x.__arrow_c_array__()


@pytest.mark.parametrize("dtype", ["M8[W]", "M8[M]", "M8[Y]"])
def test_dates_that_do_not_fit_in_days_are_refused(dtype):
    for number in (2**62, -(2**62), 2**63 - 1):
        x = LoDTensor.from_lengths(np.array([1, number, 2], "i8").view(dtype), [2, 1])
        with pytest.raises(DTypeError, match=r"some are out of range for \[D\]"):
            x.__arrow_c_array__()


@pytest.mark.parametrize("nulls", ["error", "empty"])
def test_from_arrow_refuses_nulls_by_their_place(nulls):
    with pytest.raises(LoDError, match="row 1 is null; use nulls="):
        from_arrow(with_nulls(), nulls)


def test_null_sequences_are_errors_or_empty():
    def forged():
        return Forged(b"+l", 3, [bits(1, 0, 1), np.array([0, 2, 3, 4], "i4")], [leaf(NUMBERS)], null_count=1)

    with pytest.raises(LoDError, match="sequence 1 of level 0 is null"):
        from_arrow(forged())
    assert from_arrow(forged(), "empty").tolist() == [[0, 1], [], [3]]


def test_nulls_become_a_value():
    assert from_arrow(with_nulls(), -7).tolist() == [[0, -7], [], [3]]
    with pytest.raises(DTypeError, match=r"nulls: is 1.5; int64 cannot hold it"):
        from_arrow(with_nulls(), 1.5)
    with pytest.raises(DTypeError, match=r"nulls: is 'drop'; int64 cannot hold it"):
        from_arrow(with_nulls(), "drop")


def test_from_arrow_widens_text_of_a_fixed_size_for_a_longer_fill_value():
    def words(format=b"u", **fields):
        buffers = [bits(1, 0), np.array([0, 1, 1], "i4"), np.frombuffer(b"a", np.uint8)]
        return Forged(format, 2, buffers, null_count=1, **fields)

    def fields():
        return Forged(b"+s", 2, [None], [words(name=b"f")])

    ids = np.array([1, 0], "i1")
    for forged, wanted in (
        (words(), ["a", "none"]),
        (ForgedStream([words(), words()]), ["a", "none"] * 2),
        (lists([0, 0, 2], words()), [[], ["a", "none"]]),
        (Forged(b"+w:2", 1, [None], [words()]), [["a", "none"]]),
        (Forged(b"c", 2, [None, ids], dictionary=words()), ["none", "a"]),
        (fields(), [("a",), ("none",)]),
        (lists([0, 2], fields()), [[("a",), ("none",)]]),
        (Forged(b"+w:2", 1, [None], [fields()]), [[("a",), ("none",)]]),
    ):
        made = from_arrow(forged, "none", strings="fixed", dictionaries="decode", records=True)
        assert made.tolist() == wanted
    assert from_arrow(words(b"z"), b"none", strings="fixed").tolist() == [b"a", b"none"]
    with pytest.raises(DTypeError, match=r"nulls: is 'none'; \|S1 cannot hold it"):
        from_arrow(words(b"z"), "none", strings="fixed")


def test_nulls_become_a_mask():
    x, (sequences, rows) = from_arrow(with_nulls(), "mask")
    assert x.tolist() == [[0, 0], [], [3]]
    assert (sequences.tolist(), rows.tolist()) == ([True, False, True], [True, False, True])
    _, (sequences, rows) = from_arrow(lists([0, 2, 2], leaf(NUMBERS)), "mask")
    assert (sequences.tolist(), rows.tolist()) == ([True, True], [True, True])


@pytest.mark.parametrize("count", [0, 2])
def test_from_arrow_returns_masks_of_the_columns_that_ask_for_them_beside_structs(count):
    def table():
        inner = Forged(b"+s", 2, [None], [leaf(np.arange(2), name=b"p")], name=b"s")
        of_lists = lists([0, 1, 2], struct(2, p=np.arange(2)))
        of_lists.schema.name = b"t"
        numbers = Forged(b"l", 2, [bits(1, 0), np.arange(2)], name=b"a", null_count=-1)
        return Forged(b"+s", count, [None], [numbers, inner, of_lists])

    tables = [table() for _ in range(3)]  # which live as long as the views
    values, masks = from_arrow(tables[0], {"a": "mask"}, records=False)
    assert {name: mask.tolist() for name, (mask,) in masks.items()} == {"a": [True, False][:count]}
    assert values["s"]["p"].tolist() == [0, 1][:count]
    assert values["t"]["p"].tolist() == [[0], [1]][:count]
    assert list(from_arrow(tables[1], {"a": 0})) == ["a", "s", "t"]
    values, masks = from_arrow(tables[2], {"a": 0, "s": "mask"})
    assert {name: list(inner) for name, inner in masks.items()} == {"s": ["p"]}


def test_nulls_of_rows_and_within_rows_become_a_mask():
    child = Forged(b"l", 6, [bits(1, 0, 1, 1, 1, 1), np.arange(6)], null_count=1)
    pairs = Forged(b"+w:2", 3, [bits(1, 1, 0)], [child], null_count=1)
    x, (rows,) = from_arrow(pairs, "mask")
    assert rows.tolist() == [[True, False], [True, True], [False, False]]
    assert x.tolist() == [[0, 0], [2, 3], [0, 0]]


@pytest.mark.parametrize("child", [lambda: leaf(NUMBERS[:0]), lambda: struct(0, a=NUMBERS[:0], b=NUMBERS[:0])])
@pytest.mark.parametrize("below", [False, True])
def test_from_arrow_of_null_lists_of_size_0_raises_unless_they_are_filled(child, below):
    def forged():
        x = Forged(b"+w:0", 2, [bits(1, 0)], [child()], null_count=1)
        return lists([0, 0, 2], x) if below else x

    for nulls in ("error", "empty"):
        with pytest.raises(LoDError, match="obj: row 1 is null"):
            from_arrow(forged(), nulls)
    kept = forged()  # as long as there are views
    x, (*_, rows) = from_arrow(kept, "mask")
    assert from_arrow(forged(), 0).tolist() == x.tolist() == ([[], [[], []]] if below else [[], []])
    assert (rows.shape, rows.dtype) == ((2, 0), bool)


def test_invalid_ids_and_offsets_under_a_null_are_ignored():
    """Ids of no word, and lists beyond all elements: under a null, any number may occur."""
    words = np.array([70, 80])
    for garbage in (-1, 2, 127):
        ids = np.array([1, garbage, 0], "i1")
        forged = Forged(b"c", 3, [bits(1, 0, 1), ids], dictionary=leaf(words), null_count=1)
        assert from_arrow(forged, 0, dictionaries="decode").tolist() == [80, 0, 70]
        forged = Forged(b"c", 3, [bits(1, 1, 1), ids], dictionary=leaf(words), null_count=-1)
        with pytest.raises(LoDError, match=str(garbage)):
            from_arrow(forged, dictionaries="decode")
    for begin, size in ((0, 4), (99, 1), (-3, 2), (1, -1), (2**31 - 1, 2**31 - 1)):
        places = [np.array([3, begin, 0], "i4"), np.array([2, size, 1], "i4")]
        forged = Forged(b"+vl", 3, [bits(1, 0, 1), *places], [leaf(NUMBERS)], null_count=1)
        assert from_arrow(forged, "empty").tolist() == [[3, 4], [], [0]]


def test_nulls_of_structs_reach_their_fields():
    field = lists([0, 1, 3], leaf(NUMBERS))
    field.schema.name = b"a"
    forged = Forged(b"+s", 2, [bits(0, 1)], [field], null_count=1)
    assert from_arrow(forged, "empty")["a"].tolist() == [[], [1, 2]]


def test_from_arrow_finds_nulls_in_any_chunk():
    def chunk(mask):
        return Forged(b"l", 2, [mask, np.array([1, 2])], null_count=-1)

    x, (rows,) = from_arrow(ForgedStream([chunk(None), chunk(bits(0, 1))]), "mask")
    assert (x.tolist(), rows.tolist()) == ([1, 2, 0, 2], [True, True, False, True])


@pytest.mark.parametrize(("name", "value"), [("strings", "wide"), ("dictionaries", 3)])
def test_unknown_choices_are_refused(name, value):
    with pytest.raises(ValueError, match=f"lodcore.from_arrow: {name}: is {value!r}"):
        from_arrow(lodcore.array([[1]]), **{name: value})


@given(lod_tensors(1, 3, [np.dtype("i4")], [()]), st.data())
def test_slices_and_chunks_of_anything(x, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=3)))
    pieces = [x[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(x)], strict=True)]
    joined = from_arrow(ChunksOf(pieces))
    assert joined.equals(x)


class ChunksOf:
    """A stream of the arrays of several LoDTensors."""

    def __init__(self, pieces):
        self.capsules = [piece.__arrow_c_array__() for piece in pieces]

    def __arrow_c_stream__(self, requested_schema=None):
        class Chunk:
            def __init__(self, capsules):
                self.schema, self.array = schema_of(capsules[0]), array_of(capsules)

        self.stream = ForgedStream([Chunk(capsules) for capsules in self.capsules])
        self.moved = self.stream.__arrow_c_stream__()
        return self.moved


def bits_of(node):
    """Return the format and the bytes of a node and of the nodes in it."""
    return node[0], [None if one is None else one.tobytes() for one in node[4]], [bits_of(inner) for inner in node[5]]


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i2", "i8", "u4", "u8", "M8[s]", "M8[D]", "m8[ms]", "U3", "i4,f8"])
def test_exported_columns_of_the_other_byte_order_equal_native_ones(kind):
    given = np.array([1, 2, 300]).astype(kind)
    for values in (given, np.stack([given, given[::-1]], axis=1)):
        swapped = values.astype(values.dtype.newbyteorder())
        found, wanted = (from_arrow(ArrowTable({"x": one}))["x"] for one in (swapped, values))
        assert str(found) == str(wanted)
        one, other = (node_of(array) for array in (swapped, values))  # as of the results of engines
        assert bits_of(one) == bits_of(other)
        if given.dtype.kind in "fiumM":
            assert np.array_equal(found, values.astype(found.dtype))


def test_text_of_letters_of_all_lengths():
    letters = [chr(at) for at in (1, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF)]
    words = np.array(["", *letters, *(one + "a" + other for one in letters for other in letters)])
    offsets, text = utf8_of("f", words)
    assert [bytes(text[start:stop]).decode() for start, stop in itertools.pairwise(offsets)] == words.tolist()
