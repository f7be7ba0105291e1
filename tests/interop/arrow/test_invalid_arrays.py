"""Invalid Arrow arrays: each is refused with a clear error, and released exactly once."""

import ctypes
import gc

import numpy as np
import pytest

import lodcore
from lodcore import from_arrow
from lodcore.errors import DTypeError, LoDError
from tests.helpers.capsules import Forged, ForgedStream, bits, leaf, lists

NUMBERS = np.arange(5)
VIEW = np.array([20, 0, 0, 0], "i4")


def ok(**fields):
    return lists([0, 2, 2, 5], leaf(NUMBERS), **fields)


def strings(offsets):
    return Forged(b"u", len(offsets) - 1, [None, np.array(offsets, "i4"), np.frombuffer(b"abc", np.uint8)])


LIES = {
    "a negative length": (lambda: ok(array={"length": -1}), "has length -1; it is not negative"),
    "a negative offset": (lambda: ok(array={"offset": -1}), "has offset -1; it is not negative"),
    "a sum that overflows": (lambda: ok(array={"offset": 2**62, "length": 2**62}), "int64 holds their sum"),
    "too many nulls": (lambda: ok(array={"null_count": 4}), "has null_count 4; -1 .. 3 is valid"),
    "a null count below -1": (lambda: ok(array={"null_count": -2}), "has null_count -2"),
    "nulls without a bitmap": (lambda: ok(array={"null_count": 1}), "has 1 nulls, but no validity buffer"),
    "a negative number of buffers": (lambda: ok(array={"n_buffers": -1}), "has -1 buffers"),
    "very many buffers": (lambda: ok(array={"n_buffers": 2**40}), "buffers; 0 .. 65536 is valid"),
    "too few buffers": (lambda: ok(array={"n_buffers": 1}), "has 1 buffers; its format '+l' has 2"),
    "too many buffers": (lambda: ok(array={"n_buffers": 3}), "has 3 buffers; its format '+l' has 2"),
    "no buffers at all": (lambda: ok(array={"buffers": None}), "claims 2 buffers, but has none"),
    "no offsets": (lambda: Forged(b"+l", 3, [None, None], [leaf(NUMBERS)]), "has no buffer of offsets"),
    "no values": (lambda: lists([0, 2], Forged(b"l", 5, [None, None])), "has no buffer of values; 2 entries need one"),
    "no child": (lambda: Forged(b"+l", 1, [None, np.zeros(2, np.int32)], []), "has 0 children; its format '+l' has 1"),
    "two children": (
        lambda: Forged(b"+l", 1, [None, np.zeros(2, np.int32)], [leaf(NUMBERS), leaf(NUMBERS)]),
        "has 2 children; its format '+l' has 1",
    ),
    "children that are not there": (lambda: ok(array={"children": None}), "claims 1 children, but has none"),
    "children only in the schema": (lambda: ok(array={"n_children": 0}), "has 0 children; its schema has 1"),
    "a negative number of children": (
        lambda: ok(array={"n_children": -1}, schema={"n_children": -1}),
        "has -1 children; 0 .. 65536 is valid",
    ),
    "very many children": (
        lambda: ok(array={"n_children": 2**40}, schema={"n_children": 2**40}),
        f"has {2**40} children; 0 .. 65536 is valid",
    ),
    "offsets that fall": (lambda: lists([0, 3, 2, 5], leaf(NUMBERS)), r"offsets: fall at position 2 (3 -> 2)"),
    "offsets that begin below 0": (
        lambda: lists([-1, 3, 5], leaf(NUMBERS)),
        "offsets: are negative at position 0 (-1)",
    ),
    "offsets that wrap": (
        lambda: lists([0, 2**62, -(2**62)], leaf(NUMBERS), np.int64),
        "offsets: are negative at position 2",
    ),
    "offsets of strings that fall behind those in use": (
        lambda: lists([1, 2], strings([0, 1, 2**31 - 1, 3])),
        f"obj[0]: offsets: fall at position 3 ({2**31 - 1} -> 3)",
    ),
    "offsets of strings that are negative behind those in use": (
        lambda: lists([0, 1], strings([0, 2, 3, -1])),
        "obj[0]: offsets: are negative at position 3 (3 -> -1)",
    ),
    "offsets of lists that fall behind those in use": (
        lambda: lists([0, 1], lists([0, 4, 3], leaf(NUMBERS))),
        "obj[0]: offsets: fall at position 2 (4 -> 3)",
    ),
    "offsets behind the end": (
        lambda: lists([0, 2, 6], leaf(NUMBERS)),
        "offsets: end at 6; there are 5 elements below",
    ),
    "offsets far behind the end": (
        lambda: lists([0, 2**63 - 1], leaf(NUMBERS), np.int64),
        f"offsets: end at {2**63 - 1}; there are 5 elements below",
    ),
    "a child that was released": (lambda: lists([0, 1], leaf(NUMBERS, array={"release": None})), "[0]: was released"),
    "a child of a lying length": (
        lambda: lists([0, 2**61], leaf(NUMBERS, array={"length": 2**61}), np.int64),
        f"has {2**61} x 8 bytes of values",
    ),
    "no format": (lambda: ok(schema={"format": None}), "its schema has no format"),
    "an empty format": (lambda: leaf(NUMBERS, schema={"format": b""}), "has format ''"),
    "an unknown format": (
        lambda: leaf(NUMBERS, schema={"format": b"q"}),
        "has format 'q', which NumPy has no dtype for",
    ),
    "a decimal": (lambda: leaf(NUMBERS, schema={"format": b"d:19,10,48"}), "has format 'd:19,10,48'"),
    **{
        f"a decimal of {text}": (
            lambda text=text: leaf(NUMBERS, schema={"format": f"d:{text}".encode()}),
            f"'d:{text}'",
        )
        for text in (
            "5",
            "5,x",
            "x,2",
            "5,--2",
            "5,²",
            "5,2-",
            "5,",
            "5,2,x",
            "5,2,64,1",
            "5,23",
            "5,000002",
            "5,123456",
        )
    },
    "a union": (lambda: Forged(b"+us:0,1", 1, [np.zeros(1, np.int8)]), "has format '+us:0,1'"),
    "a run-end encoding": (lambda: Forged(b"+r", 1, [None, None]), "has format '+r'"),
    "an endless format": (lambda: leaf(NUMBERS, schema={"format": b"x" * 100_000}), "format: is longer than 65535"),
    "a size without a number": (lambda: Forged(b"+w:", 1, [None], [leaf(NUMBERS)]), "has format '+w:'; a size of 0"),
    "a negative size": (lambda: Forged(b"+w:-2", 1, [None], [leaf(NUMBERS)]), "has format '+w:-2'; a size of 0"),
    "a huge size": (lambda: Forged(b"+w:99999999999999999999", 1, [None], [leaf(NUMBERS)]), "a size of 0"),
    "a size in other digits": (lambda: Forged("+w:²".encode(), 1, [None], [leaf(NUMBERS)]), "a size of 0"),
    "a fixed size behind the end": (
        lambda: Forged(b"+w:3", 2, [None], [leaf(NUMBERS)]),
        "ends at element 6 of those below; there are 5",
    ),
    "a wide binary of a huge size": (
        lambda: Forged(b"w:2147483647", 2**40, [None, NUMBERS]),
        f"has {2**40} x 2147483647 bytes",
    ),
    "a struct with a short field": (
        lambda: Forged(b"+s", 6, [None], [leaf(NUMBERS, name=b"a")]),
        "obj[a]: has length 5; its struct ends at 6",
    ),
    "a struct with two fields of a name": (
        lambda: Forged(b"+s", 5, [None], [leaf(NUMBERS, name=b"a"), leaf(NUMBERS, name=b"a")]),
        "has two fields named 'a'",
    ),
    "a view behind the end": (
        lambda: Forged(b"+vl", 1, [None, np.array([4], "i4"), np.array([2], "i4")], [leaf(NUMBERS)]),
        "list 0 has offset 4 and size 2; there are 5 elements below",
    ),
    "a view before the beginning": (
        lambda: Forged(b"+vl", 1, [None, np.array([-1], "i4"), np.array([2], "i4")], [leaf(NUMBERS)]),
        "list 0 has offset -1 and size 2",
    ),
    "a view of a negative size": (
        lambda: Forged(b"+vl", 1, [None, np.array([1], "i4"), np.array([-1], "i4")], [leaf(NUMBERS)]),
        "list 0 has offset 1 and size -1",
    ),
    "a view that wraps": (
        lambda: Forged(b"+vL", 1, [None, np.array([2**63 - 1]), np.array([2**63 - 1])], [leaf(NUMBERS)]),
        "list 0 has offset",
    ),
    "views of more than memory holds": (
        lambda: Forged(
            b"+vL", 2, [None, np.zeros(2, "i8"), np.full(2, 2**60)], [leaf(NUMBERS, array={"length": 2**60})]
        ),
        "the result has",
    ),
    "strings that fall": (
        lambda: Forged(b"u", 2, [None, np.array([0, 3, 1], "i4"), np.zeros(3, "u1")]),
        "offsets: fall at position 2",
    ),
    "strings without characters": (
        lambda: Forged(b"u", 1, [None, np.array([0, 3], "i4"), None]),
        "has no buffer of values; 3 entries need one",
    ),
    "a dictionary only in the schema": (
        lambda: leaf(NUMBERS, schema={"dictionary": ctypes.pointer(KEPT.schema)}),
        "only one of array and schema has a dictionary",
    ),
    "an id behind its dictionary": (
        lambda: Forged(b"l", 5, [None, NUMBERS], dictionary=leaf(np.arange(4))),
        "id 4 at position 4; its dictionary has 4 entries",
    ),
    "an id below its dictionary": (
        lambda: Forged(b"l", 1, [None, np.array([-1])], dictionary=leaf(NUMBERS)),
        "id -1 at position 0; its dictionary has 5 entries",
    ),
    "a string view in no buffer": (
        lambda: Forged(b"vu", 1, [None, np.array([20, 0, 0, 0], "i4"), np.zeros(0, "i8")]),
        "string 0 has size 20, buffer 0, start 0; that is in none of its 0 buffers",
    ),
    "a string view behind its buffer": (
        lambda: Forged(b"vu", 1, [None, np.array([20, 0, 0, 1], "i4"), np.zeros(20, "u1"), np.array([20])]),
        "string 0 has size 20, buffer 0, start 1",
    ),
    "a string view of a negative size": (
        lambda: Forged(b"vu", 1, [None, np.array([-1, 0, 0, 0], "i4"), np.zeros(0, "i8")]),
        "string 0 has size -1",
    ),
    "a string view of a negative buffer": (
        lambda: Forged(b"vu", 1, [None, np.array([20, 0, -1, 0], "i4"), np.zeros(20, "u1"), np.array([20])]),
        "string 0 has size 20, buffer -1",
    ),
    "string views with too few buffers": (
        lambda: Forged(b"vu", 1, [None, np.zeros(4, "i4")]),
        "has 2 buffers; strings behind views have 3 or more",
    ),
    "string views of buffers of a negative size": (
        lambda: Forged(b"vu", 1, [None, np.zeros(4, "i4"), np.zeros(1, "u1"), np.array([-5])]),
        "claims a buffer of -5 bytes",
    ),
    "a null in a type of nulls": (lambda: Forged(b"n", 2, []), "row 0 is null"),
    "a wrong name of the schema": (lambda: ok(names=(b"schema", b"arrow_array")), "'arrow_schema' is needed"),
    "a wrong name of the array": (lambda: ok(names=(b"arrow_schema", b"array")), "'arrow_array' is needed"),
    "a released schema": (lambda: ok(schema={"release": None}), "its schema was released already"),
    "a released array": (lambda: ok(array={"release": None}), "was released already"),
    "elements behind the end of a slice": (
        lambda: lists([0, 4], leaf(NUMBERS, offset=2, array={"length": 3})),
        "obj: offsets: end at 4; there are 3 elements below",
    ),
    "a struct whose offset is behind its field": (
        lambda: Forged(b"+s", 3, [None], [leaf(NUMBERS, name=b"a")], offset=3),
        "obj[a]: has length 5; its struct ends at 6",
    ),
    "a second list that falls": (
        lambda: lists([2, 4], lists([0, 1, 2, 3, 2], leaf(NUMBERS))),
        "obj[0]: offsets: fall at position 4 (3 -> 2)",
    ),
    "an id in a later list": (
        lambda: lists([2, 4], Forged(b"c", 4, [None, np.array([0, 0, 0, 7], "i1")], dictionary=leaf(NUMBERS))),
        "id 7 at position 3; its dictionary has 5 entries",
    ),
    "a string in a later list": (
        lambda: lists(
            [1, 3],
            Forged(b"vu", 3, [None, np.array([VIEW * 0, VIEW * 0, VIEW]), np.zeros(4, "u1"), np.array([4])]),
        ),
        "string 2 has size 20, buffer 0, start 0",
    ),
    "a view in a later list": (
        lambda: lists([1, 2], Forged(b"+vl", 2, [None, *np.array([[0, 4], [1, 2]], "i4")], [leaf(NUMBERS)])),
        "list 1 has offset 4 and size 2; there are 5",
    ),
    "a string in the buffer after the last": (
        lambda: Forged(b"vu", 1, [None, np.array([20, 0, 1, 0], "i4"), np.zeros(20, "u1"), np.array([20])]),
        "string 0 has size 20, buffer 1, start 0",
    ),
    "a string whose end wraps": (
        lambda: Forged(b"vu", 1, [None, np.array([20, 0, 0, 2**31 - 19], "i4"), np.zeros(20, "u1"), np.array([20])]),
        "string 0 has size 20, buffer 0",
    ),
    **{
        f"ids that are {format.decode()}": (
            lambda format=format: Forged(format, 1, [None, np.zeros(1)], dictionary=leaf(NUMBERS)),
            f"has a dictionary and format {format.decode()!r}; an integer one",
        )
        for format in (b"e", b"f", b"g", b"b", b"u", b"tdD", b"w:1")
    },
    "a time without a colon": (lambda: leaf(NUMBERS, schema={"format": b"tss"}), "has format 'tss'"),
    "a time without a colon before its zone": (
        lambda: leaf(NUMBERS, schema={"format": b"tss;UTC"}),
        "has format 'tss;UTC'",
    ),
    "a row that is too wide": (lambda: Forged(b"+w:2147483648", 0, [None], [leaf(NUMBERS)]), "a size of 0 .. 2147483"),
    "more children in the array": (
        lambda: Forged(b"+l", 1, [None, np.zeros(2, "i4")], [leaf(NUMBERS), leaf(NUMBERS)], schema={"n_children": 1}),
        "has 2 children; its schema has 1",
    ),
    "one buffer that is not there": (
        lambda: Forged(b"+w:1", 5, [None], [leaf(NUMBERS)], array={"buffers": None}),
        "claims 1 buffers, but has none",
    ),
    "a dictionary only in the array": (
        lambda: leaf(NUMBERS, array={"dictionary": ctypes.pointer(KEPT.array)}),
        "only one of array and schema has a dictionary",
    ),
    "too many buffers of a struct": (
        lambda: Forged(b"+s", 5, [None] * 2, [leaf(NUMBERS)]),
        "has 2 buffers; its format '+s' has 1",
    ),
}
KEPT = leaf(NUMBERS)


@pytest.mark.parametrize("lie", LIES)
def test_from_arrow_of_an_invalid_array_raises_and_releases_it_once(lie):
    make, says = LIES[lie]
    forged = make()
    with pytest.raises((LoDError, DTypeError, MemoryError)) as caught:
        from_arrow(forged)
    assert says in str(caught.value)
    assert str(caught.value).startswith("lodcore.from_arrow: obj")
    released = forged.array.release is None and "name of" not in lie
    del caught
    moved = released and lie != "a released array"
    gc.collect(1)
    if forged.releases != moved:  # what has grown old meanwhile
        gc.collect()
    assert forged.releases == moved


@pytest.mark.parametrize("way", ["rows", "fixed"])
def test_from_arrow_of_strings_in_a_list_may_use_some_of_their_offsets(way):
    forged = lists([1, 2], strings([0, 1, 2, 3]))
    x = from_arrow(forged, strings=way)
    assert x.tolist() == ([["b"]] if way == "fixed" else [[[ord("b")]]])
    forged = lists([1, 2], strings([0, 1, 2**31 - 1, 3]))
    with pytest.raises(LoDError, match="fall at position 3"):
        from_arrow(forged, strings=way)


def test_from_arrow_of_an_array_that_is_its_own_child_raises():
    inner = leaf(NUMBERS)
    outer = lists([0, 1], inner)
    outer.schemas[0] = ctypes.pointer(outer.schema)
    outer.arrays[0] = ctypes.pointer(outer.array)
    with pytest.raises(LoDError, match=r"was released already|is nested more than 64 deep"):
        from_arrow(outer)


def test_a_type_that_grows_without_end_is_refused():
    """Each struct has the next one as both of its fields: 2**40 columns, in 40 structs."""
    forged = leaf(np.zeros(1, np.int64), name=b"a")
    for _ in range(40):
        forged = Forged(b"+s", 1, [None], [forged, forged], name=b"a")
    with pytest.raises(LoDError, match="has more than 65536 columns"):
        from_arrow(forged)


@pytest.mark.parametrize("capsules", [None, (), (1, 2), [1, 2], (1, 2, 3)])
def test_from_arrow_of_results_that_are_no_capsules_raises(capsules):
    class Liar:
        def __arrow_c_array__(self, requested_schema=None):
            return capsules

    with pytest.raises(DTypeError, match="capsule"):
        from_arrow(Liar())


def test_a_capsule_is_taken_once():
    forged = ok()
    capsules = forged.__arrow_c_array__()

    class Again:
        def __arrow_c_array__(self, requested_schema=None):
            return capsules

    x = from_arrow(Again())
    with pytest.raises(LoDError, match="was released already"):
        from_arrow(Again())
    assert x.tolist() == [[0, 1], [], [2, 3, 4]]
    assert forged.releases == 0
    del x
    gc.collect()
    assert forged.releases == 1


def test_values_keep_the_memory_alive():
    forged = ok()
    piece = from_arrow(forged)[2]
    gc.collect()
    assert forged.releases == 0
    assert piece.tolist() == [2, 3, 4]
    assert piece.base is not None
    del piece
    gc.collect()
    assert forged.releases == 1


def test_offsets_are_private():
    """The owner of the memory may write to it later, or during the call: the structure was copied."""
    offsets = np.array([0, 2, 2, 5], np.int32)
    forged = Forged(b"+l", 3, [None, offsets], [leaf(NUMBERS)])
    x = from_arrow(forged)
    offsets[:] = 1 << 30
    assert x.tolist() == [[0, 1], [], [2, 3, 4]]
    with pytest.raises(ValueError, match="WRITEABLE"):
        x.values.flags.writeable = True


def test_values_in_odd_places_are_copied():
    memory = np.zeros(41, np.uint8)
    memory[1:] = NUMBERS.view(np.uint8)
    x = from_arrow(lists([0, 2, 2, 5], Forged(b"l", 5, [None, memory[1:]])))
    assert x.values.flags.aligned
    assert x.tolist() == [[0, 1], [], [2, 3, 4]]


def test_an_empty_array_needs_no_buffers():
    assert from_arrow(Forged(b"+l", 0, [None, None], [Forged(b"l", 0, [None, None])])).tolist() == []
    x = from_arrow(lists([0, 0, 0], Forged(b"g", 0, [None, None])))
    assert (x.dtype, x.tolist()) == (np.dtype(float), [[], []])


def test_from_arrow_ignores_rows_of_null_lists():
    """A null list has a range, which may contain nulls, and whose rows do not count."""
    child = leaf(NUMBERS, array={"null_count": 1, "n_buffers": 2}, null_count=1)
    child.buffers[0] = bits(1, 1, 0, 1, 1).ctypes.data
    child.kept.append(mask := bits(1, 1, 0, 1, 1))
    child.buffers[0] = mask.ctypes.data
    there = bits(1, 0, 1)
    forged = Forged(b"+l", 3, [there, np.array([0, 2, 3, 5], "i4")], [child], null_count=1)
    assert from_arrow(forged, nulls="empty").tolist() == [[0, 1], [], [3, 4]]


# -- streams -------------------------------------------------------------------------------------------------------


def test_a_stream_is_read_and_released():
    stream = ForgedStream([ok(), lists([1, 3], leaf(NUMBERS)), lists([0], leaf(NUMBERS))])
    assert from_arrow(stream).tolist() == [[0, 1], [], [2, 3, 4], [1, 2]]
    gc.collect()
    assert stream.releases == 1
    assert [chunk.releases for chunk in stream.chunks] == [1, 1, 1]


@pytest.mark.parametrize("at", [-1, 0, 1])
def test_a_stream_that_fails_is_released(at):
    stream = ForgedStream([ok(), ok()], fails_at=at)
    with pytest.raises(OSError, match="of its stream failed: out of ink"):
        from_arrow(stream)
    gc.collect()
    assert stream.releases == 1
    assert [chunk.releases for chunk in stream.chunks] == [int(at > k) for k in range(2)]


def test_from_arrow_of_a_stream_with_an_invalid_chunk_releases_all_chunks():
    stream = ForgedStream([ok(), lists([0, 3, 2], leaf(NUMBERS)), ok()])
    with pytest.raises(LoDError, match="fall at position 2"):
        from_arrow(stream)
    gc.collect()
    assert stream.releases == 1
    assert [chunk.releases for chunk in stream.chunks] == [1, 1, 1]


@pytest.mark.parametrize("field", ["get_schema", "get_next", "release"])
def test_a_stream_without_a_function_is_refused(field):
    with pytest.raises(LoDError, match="its stream"):
        from_arrow(ForgedStream([ok()], stream={field: None}))


def test_a_stream_of_no_chunks_has_a_type():
    stream = ForgedStream([], kind=lists([0], leaf(NUMBERS)))
    x = from_arrow(stream)
    assert (len(x), x.num_levels, x.dtype) == (0, 1, np.dtype(np.int64))


def test_from_arrow_of_objects_without_the_protocol_raises():
    with pytest.raises(DTypeError, match="is dict; __arrow_c_array__ or __arrow_c_stream__ is needed"):
        from_arrow({})
    with pytest.raises(DTypeError, match="is int; a list of sequences is needed"):
        lodcore.array(3)
