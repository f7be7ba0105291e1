"""Every layout of Arrow, sliced, with nulls and in chunks, compared with the lists from which the structs are made."""

import ctypes
import gc
import itertools

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, from_arrow
from lodcore.interop.arrow.nodes import node_of
from tests.helpers.capsules import (
    GET,
    RELEASE,
    ArrowArrayStream,
    ArrowSchema,
    Forged,
    ForgedStream,
    array_of,
    bits,
    leaf,
    lists,
    pythonapi,
    schema_of,
)
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
RANDOM = np.random.default_rng(7)


def draw(kind, count, gaps):
    """Draw entries of a type, which is a tuple of words, outermost first; None is a null."""
    word, *inner = kind
    drawn = {
        "int": lambda: int(RANDOM.integers(1, 99)),
        "day": lambda: int(RANDOM.integers(-(2**31), 2**31)),
        "bool": lambda: bool(RANDOM.integers(2)),
        "text": lambda: "abcdefghijklmnopqrstuvw"[: RANDOM.choice([0, 1, 11, 12, 13, 20])],
        "view": lambda: "zyxwvutsrqponmlkjihgfedcb"[: RANDOM.choice([0, 1, 11, 12, 13, 20])],
        "word": lambda: "abcde"[: RANDOM.integers(5)],
        "list": lambda: draw(inner, RANDOM.integers(4), gaps),
        "large": lambda: draw(inner, RANDOM.integers(4), gaps),
        "views": lambda: draw(inner, RANDOM.integers(4), gaps),
        "fixed": lambda: draw(inner, 2, gaps),
        "struct": lambda: {"a": draw(inner, 1, gaps)[0], "b": draw(["int"], 1, False)[0]},
    }[word]
    return [None if gaps and RANDOM.random() < 0.3 else drawn() for _ in range(count)]


def forge(kind, entries, offset, name=b""):
    """Make the structs of a column that begins `offset` entries after the begin of its buffers."""
    word, *inner = kind
    blank = draw(kind, offset, False)  # the bytes before it; a null has bytes behind it, too
    full = [*blank, *(draw(kind, 1, False)[0] if one is None else one for one in entries)]
    there = [*[True] * offset, *(one is not None for one in entries)]
    mask = None if all(there) else bits(*there)
    named = {"offset": offset, "name": name, "null_count": -1 if mask is not None else 0}
    count = len(entries)

    def ends(lengths, dtype):
        return np.concatenate([[2], 2 + np.cumsum(lengths, dtype=int)]).astype(dtype)

    if word == "int":
        return Forged(b"i", count, [mask, np.array(full, "i4")], **named)
    if word == "day":
        return Forged(b"tdD", count, [mask, np.array(full, "i4")], **named)
    if word == "bool":
        return Forged(b"b", count, [mask, bits(*full)], **named)
    if word == "text":
        data = np.frombuffer(b"--" + "".join(full).encode(), np.uint8)
        return Forged(b"u", count, [mask, ends([len(one) for one in full], "i4"), data], **named)
    if word == "view":
        views, far = np.zeros((len(full), 4), "i4"), [b"!" * 3, b"?"]
        for k, one in enumerate(full):
            views[k, 0] = len(one)
            if len(one) <= 12:
                views.view("u1")[k, 4 : 4 + len(one)] = list(one.encode())
            else:
                views[k, 2:] = k % 2, len(far[k % 2])
                far[k % 2] += one.encode()
        for k, good in enumerate(there):
            if not good:
                views[k] = [99, 0, 7, -5]  # a null may have any view
        others = [np.frombuffer(one, np.uint8) for one in far]
        return Forged(b"vu", count, [mask, views, *others, np.array([len(one) for one in far])], **named)
    if word == "word":
        words = sorted(set(full))[::-1]
        places = [words.index(one) if good else 99 for one, good in zip(full, there, strict=True)]
        return Forged(b"s", count, [mask, np.array(places, "i2")], dictionary=forge(["text"], words, 3), **named)
    if word in ("list", "large"):
        below = [*draw(inner, 2, False), *itertools.chain(*full)]
        parts = ends([len(one) for one in full], "i4" if word == "list" else "i8")
        return Forged(b"+l" if word == "list" else b"+L", count, [mask, parts], [forge(inner, below, offset)], **named)
    if word == "views":
        begins, below = {}, draw(inner, 1, False)
        for k in RANDOM.permutation(len(full)).tolist():
            begins[k] = len(below)
            below += full[k] + draw(inner, 1, False) * (k % 3 == 0)  # with gaps
        parts = [np.array([begins[k] for k in range(len(full))], "i4"), np.array([len(one) for one in full], "i4")]
        for k, good in enumerate(there):
            if not good:
                parts[0][k], parts[1][k] = 10**6, 3
        return Forged(b"+vl", count, [mask, *parts], [forge(inner, below, offset)], **named)
    if word == "fixed":
        return Forged(b"+w:2", count, [mask], [forge(inner, [*itertools.chain(*full)], 3)], **named)
    fields = [forge(inner, [one["a"] for one in full], 2, b"a"), forge(["int"], [one["b"] for one in full], 1, b"b")]
    return Forged(b"+s", count, [mask], fields, **named)


def meaning(kind, entries):
    """Return the entries with nulls as zeros or empty sequences, as `tolist` returns them."""
    word, *inner = kind
    if word in ("list", "large", "views"):
        return [meaning(inner, one or []) for one in entries]
    if word == "fixed":
        empty = [] if {"list", "text"} & set(inner) else [None, None]  # a level, or an axis
        return [meaning(inner, empty if one is None else one) for one in entries]
    if word in ("text", "view", "word"):
        return [list((one or "").encode()) for one in entries]
    if word == "struct":
        zeros = [{"a": None, "b": None} if one is None else one for one in entries]
        return list(zip(meaning(inner, [one["a"] for one in zeros]), [one["b"] or 0 for one in zeros], strict=True))
    if word == "day":
        return np.array([one or 0 for one in entries], "M8[D]").tolist()
    return [one or 0 for one in entries]


def masks(kind, entries):
    """Return the validity of the sequences of each level, and of the rows."""
    word, *inner = kind
    valid = [one is not None for one in entries]
    if word in ("list", "large", "views") or (word == "fixed" and {"list", "text"} & set(inner)):
        return [valid, *masks(inner, [*itertools.chain(*(one or [] for one in entries))])]
    if word in ("text", "view", "word"):
        return [valid, [True] * sum(len(one or "") for one in entries)]
    if word == "fixed":
        (below,) = masks(inner, [*itertools.chain(*([None, None] if one is None else one for one in entries))])
        return [[list(pair) for pair in zip(below[::2], below[1::2], strict=True)]]
    if word == "struct":
        return [[one is not None and one["a"] is not None for one in entries]]
    return [valid]


KINDS = [
    "int", "bool", "day", "text", "view", "word", "fixed int", "fixed fixed bool", "list int", "large int", "views int",
    "list list bool", "list text", "large view", "list word", "views word", "list fixed int", "views fixed fixed int",
    "fixed list int", "fixed large text".replace("large ", "list "), "views list int", "list views large day",
    "views views text", "list struct int", "views struct bool", "large list struct int", "list fixed fixed bool",
]  # fmt: skip


@for_each(
    ("kind", "offset", "gaps", "count"),
    [(kind.split(), *rest) for kind in KINDS for rest in ((3, False, 5), (1, True, 0), (9, True, 20))],
)
def test_from_arrow_of_every_layout_equals_its_lists(kind, offset, gaps, count):
    entries = draw(kind, count, gaps)
    wanted, valid = meaning(kind, entries), masks(kind, entries)
    parts = [entries[: count // 3], entries[count // 3 : count // 2], entries[count // 2 :]]
    chunks = [forge(kind, part, offset + k) for k, part in enumerate(parts)]
    for given_ in (forge(kind, entries, offset), ForgedStream(chunks)):
        x, found = from_arrow(given_, "mask", dictionaries="decode")
        assert (x.tolist() or []) == wanted
        assert len(found) == len(valid)
        for mask, flags in zip(found, valid, strict=True):
            assert mask.tolist() == flags or (np.all(flags) and mask.tolist() == [True] * len(flags))
    if count == 20 and not all(np.all(one) for one in valid):
        with pytest.raises(LoDError, match="is null; use nulls="):
            from_arrow(forge(kind, entries, offset), dictionaries="decode")


def test_from_arrow_of_tables_with_offsets_and_nulls():
    """Each field has its own offset and nulls; a null of the table is one of each field."""
    rows = draw(["struct", "list", "int"], 30, True)
    for records in (None, False):
        x, found = from_arrow(forge(["struct", "list", "int"], rows, 5), "mask", records=records)
        assert x["a"].tolist() == meaning(["list", "int"], [one and one["a"] for one in rows])
        assert x["b"].tolist() == [one["b"] if one else 0 for one in rows]
        assert found["a"][0].tolist() == [one is not None and one["a"] is not None for one in rows]
        assert found["b"][0].tolist() == [one is not None for one in rows]
    flat = draw(["struct", "int"], 9, False)
    x = from_arrow(forge(["struct", "int"], flat, 5), records=True)
    assert x.tolist() == [(one["a"], one["b"]) for one in flat]
    nested = draw(["views", "struct", "list", "int"], 20, True)  # lists in structs in views: copied through both
    x = from_arrow(forge(["views", "struct", "list", "int"], nested, 2), "mask", records=False)[0]
    assert x["b"].tolist() == [[one["b"] if one else 0 for one in many or []] for many in nested]
    assert x["a"].tolist() == [meaning(["list", "int"], [one and one["a"] for one in many or []]) for many in nested]


def test_from_arrow_of_null_strings_gives_empty_strings_and_a_mask():
    for word in ("text", "view"):
        entries = ["ab", None, "0123456789abc", "", None]
        x, (found,) = from_arrow(forge([word], entries, 3), "mask", strings="fixed")
        assert (x.tolist(), found.tolist()) == (
            ["ab", "", "0123456789abc", "", ""],
            [one is not None for one in entries],
        )


def test_a_level_of_many_elements_of_a_fixed_size():
    child = lists(np.arange(3 * 20_001 + 1), leaf(np.arange(3 * 20_001)))
    x = from_arrow(Forged(b"+w:3", 20_001, [None], [child]))
    assert (x.lod.offsets(0) == 3 * np.arange(20_002)).all()
    assert x[20_000].tolist() == [[60_000], [60_001], [60_002]]


def test_rows_without_bytes():
    for format, shape in ((b"+w:0", (4, 0)), (b"w:0", (4,))):
        children = [leaf(np.arange(1))] if format[:1] == b"+" else []
        made = from_arrow(Forged(format, 4, [None] if children else [None, None], children))
        assert made.shape == shape


NUMBERS = np.arange(5)


def test_a_missing_child_is_refused():
    for which in ("arrays", "schemas"):
        forged = lists([0, 1], leaf(NUMBERS))
        getattr(forged, which)[0] = type(getattr(forged, which)[0])()
        with pytest.raises(LoDError, match="obj: child 0 is missing"):
            from_arrow(forged)


def test_from_arrow_takes_types_as_deep_as_its_limit():
    for depth, fits in ((64, True), (65, False)):
        forged = leaf(np.zeros(1, np.int64))
        for _ in range(depth):
            forged = lists([0, 1], forged)
        if fits:
            assert from_arrow(forged).num_levels == 64
        else:
            with pytest.raises(LoDError, match="is nested more than 64 deep"):
                from_arrow(forged)


def test_a_stream_is_taken_once():
    stream = ForgedStream([leaf(NUMBERS)])
    capsule = stream.__arrow_c_stream__()

    class Again:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert from_arrow(Again()).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(LoDError, match="its stream was released already"):
        from_arrow(Again())
    assert stream.releases == 1


def test_dictionaries_of_all_chunks_are_compared():
    def chunk(*words):
        data = np.frombuffer("".join(words).encode(), np.uint8)
        ends = np.cumsum([0, *map(len, words)]).astype("i4")
        return Forged(b"c", 1, [None, np.array([1], "i1")], dictionary=Forged(b"u", 2, [None, ends, data]))

    for k in (1, 2, 3):
        for other in (("b", "a"), ("a", "bc"), ("ab", "")):  # the last has the same letters
            chunks = [chunk("a", "b") for _ in range(4)]
            chunks[k] = chunk(*other)
            with pytest.raises(LoDError, match=f"chunk {k} has a different dictionary from chunk 0"):
                from_arrow(ForgedStream(chunks))
    empty = Forged(b"+s", 0, [None], [leaf(NUMBERS[:0], name=b"a")])
    null = Forged(b"c", 1, [bits(0), np.zeros(1, "i1")], dictionary=empty, null_count=1)
    with pytest.raises(DTypeError, match="dictionary has structs and no entries"):
        from_arrow(null, "mask", dictionaries="decode")
    for word, rows in (
        (leaf(NUMBERS[:0]), [0, 0]),
        (forge(["text"], [], 0), [[], []]),
        (lists([0], leaf(NUMBERS)), [[], []]),
    ):
        given_ = Forged(b"c", 2, [bits(0, 0), np.array([5, -1], "i1")], dictionary=word, null_count=2)
        assert from_arrow(given_, "mask", dictionaries="decode")[0].tolist() == rows


# -- out -----------------------------------------------------------------------------------------------------------


@for_each("count", [0, 1, 7, 8, 9, 15, 16, 17, 64, 65])
def test_bits_of_any_number(count):
    flags = np.arange(count) % 3 == 1
    assert from_arrow(lodcore.LoDTensor.from_lengths(flags, [count])).values.tolist() == flags.tolist()
    times = np.where(flags, np.datetime64("NaT", "s"), np.arange(count).astype("M8[s]"))
    given_ = lodcore.LoDTensor.from_lengths(times, [count])
    _, (_, found) = from_arrow(given_, "mask")
    assert found.tolist() == (~flags).tolist()
    struct = array_of(capsules := given_.__arrow_c_array__())
    assert struct.children[0].contents.null_count == flags.sum()
    del capsules


def test_exported_schemas_have_the_formats_of_all_levels():
    for levels in (1, 2, 3):
        x = LoDTensor.from_lengths(np.zeros((4, 2), "f4"), *[[4 if k == levels - 1 else 1] for k in range(levels)])
        schemas = [x.__arrow_c_schema__(), x.__arrow_c_array__()[0]]
        for capsule in schemas:
            schema, formats = schema_of(capsule), []
            while True:
                formats.append(schema.format)
                assert schema.flags == 2  # nullable
                if not schema.n_children:
                    break
                schema = schema.children[0].contents
            assert formats == [b"+L"] * levels + [b"+w:2", b"f"]
            assert schema_of(capsule).children[0].contents.name == b"item"


def test_arrow_c_stream_has_the_requested_schema():
    x = lodcore.array([[[1, 2], []], [[3]]])
    wish = lists([0], lists([0], leaf(NUMBERS)))
    capsule = x.__arrow_c_stream__(wish.__arrow_c_array__()[0])

    class Wished:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert from_arrow(Wished()).equals(x)
    for format, short in ((b"u", True), (b"U", False), (b"z", True), (b"Z", False)):
        text = LoDTensor.from_lengths(np.frombuffer(b"abc", np.uint8), [1, 2])
        wish = Forged(format, 0, [None, np.zeros(1, "i4"), None])
        struct, node = array_of(given_ := text.__arrow_c_array__(wish.__arrow_c_array__()[0])), schema_of(given_[0])
        kind = ctypes.c_int32 if short else ctypes.c_int64
        assert (node.format, struct.n_buffers) == (format, 3)
        assert list((kind * 3).from_address(struct.buffers[1])) == [0, 1, 3]


@for_each(
    ("dtype", "format", "factor"),
    [("m8[25ms]", b"tDm", 25), ("M8[2s]", b"tss:", 2), ("m8[7us]", b"tDu", 7), ("M8[3ns]", b"tsn:", 3),
     ("m8[h]", b"tDs", 3600), ("M8[4h]", b"tss:", 14400), ("m8[2D]", b"tDs", 172800), ("M8[2D]", b"tdD", 2),
     ("M8[W]", b"tdD", 7), ("m8[W]", b"tDs", 604800), ("M8[ms]", b"tsm:", 1)],
)  # fmt: skip
def test_times_of_any_unit(dtype, format, factor):
    for values in (np.array([1, -2, 30]).astype(dtype), np.array([4, "NaT", -5], dtype)):
        found, _, count, nulls, (mask, data), _ = node_of(values)
        missing = np.isnat(values)
        assert (found, count, nulls, mask is None) == (format, 3, missing.sum(), not missing.any())
        assert (data.view("i4" if format == b"tdD" else "i8")[~missing] == values.view("i8")[~missing] * factor).all()


def test_text_that_begins_inside_a_character():
    for lengths in ([1, 1], [2, 2, 1, 1], [3, 2, 1], [1, 0, 5]):
        text = LoDTensor.from_lengths(np.frombuffer("éaéé".encode()[: sum(lengths)], np.uint8), lengths)
        wish = Forged(b"u", 0, [None, np.zeros(1, "i4"), None])
        with pytest.raises(DTypeError, match=r"begins inside a character|is not UTF-8"):
            text.__arrow_c_array__(wish.__arrow_c_array__()[0])


# -- what a table of types does not show


def test_from_arrow_finds_a_null_at_any_row():
    for at in (0, 7, 8, 63, 64, 70, 99):
        there = np.arange(100) != at
        column = Forged(b"l", 100, [bits(*there), np.arange(100)], null_count=-1)
        assert np.flatnonzero(~from_arrow(column, "mask")[1][0]).tolist() == [at]
        with pytest.raises(LoDError, match=f"row {at} is null"):
            from_arrow(Forged(b"l", 100, [bits(*there), np.arange(100)], null_count=1))


def test_null_sequences_of_any_level_are_errors():
    for bad in range(3):
        masks_ = [bits(1, 0) if level == bad else None for level in range(3)]
        column = leaf(NUMBERS)
        for level in (2, 1, 0):
            column = Forged(
                b"+l", 2, [masks_[level], np.array([0, 1, 2], "i4")], [column], null_count=int(level == bad)
            )
        with pytest.raises(LoDError, match=f"sequence 1 of level {bad} is null"):
            from_arrow(column)


def test_a_record_is_null_if_an_entry_of_a_field_is():
    for k in range(4):
        there = np.arange(4) != k
        field = Forged(b"+w:2", 2, [None], [Forged(b"l", 4, [bits(*there), np.arange(4)], null_count=1)], name=b"a")
        column = lists([0, 2], Forged(b"+s", 2, [None], [field, leaf(NUMBERS, name=b"b")]))
        x, (_, rows) = from_arrow(column, "mask")
        assert rows.tolist() == [k // 2 != 0, k // 2 != 1]
        assert x.values["a"].ravel().tolist() == [0 if n == k else n for n in range(4)]


def test_from_arrow_joins_records_of_chunks():
    def chunk(*rows):
        return Forged(b"+s", len(rows), [None], [leaf(np.array(rows), name=b"a")])

    for records, kind in ((True, np.ndarray), (None, dict), (False, dict)):
        found = from_arrow(ForgedStream([chunk(1, 2), chunk(3), chunk(4, 5, 6)]), records=records)
        assert type(found) is kind
        assert found["a"].tolist() == [1, 2, 3, 4, 5, 6]
        pairs = lists([0, 1, 2], Forged(b"+w:2", 2, [None], [chunk(1, 2, 3, 4)]))
        assert type(from_arrow(pairs, records=records)) is (dict if records is False else LoDTensor)


def test_copies_of_values_in_odd_places_are_read_only():
    memory = np.zeros(41, np.uint8)
    memory[1:] = NUMBERS.view(np.uint8)
    for values in (memory[1:], NUMBERS):
        found = from_arrow(Forged(b"l", 5, [None, values]))
        assert (found.tolist(), found.flags.writeable) == ([0, 1, 2, 3, 4], False)


def test_releasing_an_exported_array_releases_its_children():
    x = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [1, 1], [2, 1])

    def nodes():
        gc.collect()
        return sum(type(one) is tuple and len(one) == 6 and type(one[0]) is bytes for one in gc.get_objects())

    before = nodes()
    kept = [x.__arrow_c_array__(), x.__arrow_c_stream__(), x.__arrow_c_schema__(), from_arrow(x)]
    assert nodes() > before
    kept.clear()
    assert nodes() == before


def test_exported_stream_has_the_requested_schema():
    x = lodcore.array([[[1, 2], []], [[3]]])
    wish = lists([0], lists([0], leaf(NUMBERS)))
    for given_, formats in (((), [b"+L", b"+L", b"l"]), ((wish.__arrow_c_array__()[0],), [b"+l", b"+l", b"l"])):
        capsule = x.__arrow_c_stream__(*given_)
        place = pythonapi.PyCapsule_GetPointer(capsule, b"arrow_array_stream")
        schema = ArrowSchema()
        assert GET(ArrowArrayStream.from_address(place).get_schema)(place, ctypes.addressof(schema)) == 0
        found, one = [], schema
        while one:
            found.append(one.format)
            one = one.children[0].contents if one.n_children else None
        assert found == formats
        RELEASE(schema.release)(ctypes.addressof(schema))


def metadata(**entries):
    """Return the metadata of a schema, as the interface has it."""
    texts = [text for pair in entries.items() for text in (f"ARROW:extension:{pair[0]}".encode(), pair[1])]
    parts = [np.int32(len(text)).tobytes() + text for text in texts]
    return np.int32(len(entries)).tobytes() + b"".join(parts)


def extension(name, child, parameters=b"", **more):
    child.schema.metadata = child.metadata = metadata(other=b"?" * 70000, name=name, metadata=parameters, **more)
    return child


def tensors(parameters, width=6, count=2):
    rows = Forged(b"+w:%d" % width, count, [None], [leaf(np.arange(count * width))])
    return extension(b"arrow.fixed_shape_tensor", rows, parameters)


@for_each(
    ("parameters", "shape", "axes"),
    [
        (b'{"shape":[2,3]}', (2, 3), (0, 1)),
        (b'{"shape":[6],"dim_names":["x"]}', (6,), (0,)),
        (b'{"shape":[3,1,2],"permutation":[2,0,1]}', (3, 1, 2), (2, 0, 1)),
    ],
)
def test_tensors_of_a_fixed_shape_are_rows_of_that_shape(parameters, shape, axes):
    wanted = np.arange(12).reshape(2, *shape).transpose(0, *(axis + 1 for axis in axes))
    np.testing.assert_array_equal(from_arrow(tensors(parameters)), wanted)
    nested = from_arrow(lists([0, 1, 2], tensors(parameters)))
    np.testing.assert_array_equal(nested.values, wanted)
    column = Forged(b"+w:6", 2, [None], [Forged(b"l", 12, [bits(*np.arange(12) != 4), np.arange(12)], null_count=1)])
    values, (there,) = from_arrow(extension(b"arrow.fixed_shape_tensor", column, parameters), "mask")
    np.testing.assert_array_equal(there, (wanted != 4) | (np.arange(2) == 1).reshape(-1, *[1] * len(shape)))
    np.testing.assert_array_equal(values, np.where(there, wanted, 0))


def test_tensors_without_entries_have_a_shape():
    assert from_arrow(tensors(b'{"shape":[2,0,3]}', 0)).shape == (2, 2, 0, 3)
    assert from_arrow(tensors(b'{"shape":[2,3]}', count=0)).shape == (0, 2, 3)


@for_each(
    "parameters",
    [
        b"",
        b"[]",
        b"{",
        b'{"shape":6}',
        b'{"shape":[2,2]}',
        b'{"shape":[-2,-3]}',
        b'{"shape":[2,3],"permutation":[0]}',
        b'{"shape":[2,3],"permutation":[0,0]}',
        b'{"shape":[2.0,3]}',
        b'{"shape":[true,6]}',
        b'{"shape":[2,3],"permutation":3}',
        b"[" * 100000,
    ],
)
def test_tensors_whose_parameters_do_not_fit_are_refused(parameters):
    with pytest.raises(LoDError, match=r"from_arrow: obj: is arrow.fixed_shape_tensor with the parameters .*; a shape"):
        from_arrow(tensors(parameters))


def test_tensors_of_more_axes_than_numpy_has_are_refused():
    with pytest.raises(DTypeError, match=r"from_arrow: obj: has rows of shape .*, which NumPy does not have"):
        from_arrow(tensors(b'{"shape":[6%s]}' % (b",1" * 70)))


def test_bools_of_8_bits_are_bools():
    column = Forged(b"c", 3, [None, np.array([0, 1, -5], np.int8)])
    assert from_arrow(extension(b"arrow.bool8", column)).tolist() == [False, True, True]
    with pytest.raises(LoDError, match=r"is arrow.bool8 of format 'l'; 'c' is needed"):
        from_arrow(extension(b"arrow.bool8", leaf(NUMBERS)))


def test_other_extension_types_are_refused_by_name_unless_their_storage_has_their_values():
    for name in (b"arrow.uuid", b"arrow.json", b"awkward", b"datasets.features.features.Array2DExtensionType"):
        assert from_arrow(extension(name, leaf(NUMBERS))).tolist() == NUMBERS.tolist()
    for name in (b"pandas.period", b"arrow.opaque", b"awkward.other"):
        with pytest.raises(DTypeError, match=rf"from_arrow: obj: has the extension type '{name.decode()}'"):
            from_arrow(extension(name, leaf(NUMBERS)))
        with pytest.raises(DTypeError, match=rf"obj\[0\]: has the extension type '{name.decode()}'"):
            from_arrow(lists([0, 1], extension(name, leaf(NUMBERS))))


def test_metadata_of_negative_sizes_is_refused():
    good = metadata(name=b"arrow.bool8")
    for at, says in ((0, "metadata has -1 entries"), (4, "a text of -1 bytes"), (28, "a text of -1 bytes")):
        column = leaf(NUMBERS)
        column.schema.metadata = column.metadata = good[:at] + b"\xff" * 4 + good[at + 4 :]
        with pytest.raises(LoDError, match=f"from_arrow: obj: its .*{says}"):
            from_arrow(column)
