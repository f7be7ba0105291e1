"""pyarrow: arrays, tables, streams, files."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError, from_arrow
from lodcore.interop import ArrowTable, Groups
from tests.helpers.draw import lod_tensors
from tests.helpers.libraries import MARKS, imported

pyarrow = imported("pyarrow")
imported("pyarrow.compute")
pytestmark = MARKS

PLAIN = [np.dtype(name) for name in ("?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "M8[s]", "m8[ns]", "U2")]
X = lodcore.array([[1, 2, 3], [], [4, 5]])


def decoded(x):
    """Return the strings of a LoDTensor of bytes."""
    return bytes(x.values).decode()


@given(lod_tensors(1, 3, PLAIN, [(), (3,), (2, 2)]))
def test_to_arrow_and_from_arrow_are_inverse_in_pyarrow(x):
    array = pyarrow.array(x)
    array.validate(full=True)
    nulls = np.array("NaT", x.dtype) if x.dtype.kind in "mM" else "error"
    again = from_arrow(array, nulls, strings="fixed")
    assert again.lod == x.lod
    np.testing.assert_array_equal(again.values, x.values)
    assert x.dtype.kind == "U" or again.dtype == x.dtype
    if x.values.ndim == 1 and x.dtype.kind not in "mM":
        assert repr(array.to_pylist()) == repr(x.tolist())  # in which nan is nan


def test_conversion_to_and_from_pyarrow_copies_nothing():
    array = pyarrow.array(X)
    assert array.type == pyarrow.large_list(pyarrow.int64())
    assert array.values.buffers()[1].address == X.values.ctypes.data
    assert array.buffers()[1].address == X.offsets.ctypes.data
    assert from_arrow(array).values.ctypes.data == X.values.ctypes.data
    lists = pyarrow.array([[1, 2], [3]])
    assert from_arrow(lists).values.ctypes.data == lists.values.buffers()[1].address


def test_memory_of_pyarrow_is_released_with_the_last_view():
    pool = pyarrow.default_memory_pool()
    gc.collect()
    before = pool.bytes_allocated()
    array = pyarrow.array([[float(k)] * 50 for k in range(2000)])
    x = from_arrow(array)
    piece = x[7]
    del array, x
    gc.collect()
    assert pool.bytes_allocated() > before
    assert piece.tolist() == [7.0] * 50
    del piece
    gc.collect()
    assert pool.bytes_allocated() == before


NESTED = [[1, 2, 3], [], [4, 5], [6]]
TYPES = {
    "list": pyarrow.list_(pyarrow.int32()),
    "large_list": pyarrow.large_list(pyarrow.int16()),
    "list_view": pyarrow.list_view(pyarrow.float32()),
    "large_list_view": pyarrow.large_list_view(pyarrow.uint8()),
}


@pytest.mark.parametrize("name", TYPES)
def test_slices_and_chunks(name):
    array = pyarrow.array(NESTED, type=TYPES[name])
    for start in range(5):
        for stop in range(start, 5):
            assert from_arrow(array[start:stop]).tolist() == NESTED[start:stop]
    chunked = pyarrow.chunked_array([array[1:], array[:0], array[:2]])
    assert from_arrow(chunked).tolist() == NESTED[1:] + NESTED[:2]
    try:
        shuffled = array.take(pyarrow.array([3, 0, 0, 2]))
    except pyarrow.ArrowNotImplementedError:  # the oldest versions do not take from views
        assert "view" in name
        return
    assert from_arrow(shuffled).tolist() == [NESTED[k] for k in (3, 0, 0, 2)]


@given(
    st.lists(
        st.none() | st.lists(st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=3), max_size=3), max_size=6
    )
)
def test_nulls_anywhere(nested):
    array = pyarrow.array(nested, type=pyarrow.list_(pyarrow.list_(pyarrow.int64())))

    def filled(lists, depth=0):
        if lists is None:
            return [] if depth < 3 else -1
        return lists if depth == 3 else [filled(entry, depth + 1) for entry in lists]

    for start in range(min(3, len(nested) + 1)):
        x, (outer, inner, rows) = from_arrow(array[start:], "mask")
        want = filled(nested[start:])
        assert from_arrow(array[start:], -1).tolist() == want
        assert outer.tolist() == [entry is not None for entry in nested[start:]]
        below = [entry for lists in nested[start:] if lists is not None for entry in lists]
        assert inner.tolist() == [entry is not None for entry in below]
        last = [entry for lists in below if lists is not None for entry in lists]
        assert rows.tolist() == [entry is not None for entry in last]
        assert x.num_levels == 2


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
def test_from_arrow_takes_strings_of_pyarrow(kind):
    text = kind.endswith(("string", "string_view"))
    words = [["a", "Zürich is a long word"], [], ["", "x", None]]
    given_ = words if text else [[w if w is None else w.encode() for w in row] for row in words]
    array = pyarrow.array(given_, type=pyarrow.list_(getattr(pyarrow, kind)()))
    x = from_arrow(array, "empty")
    assert [[bytes(word.astype(np.uint8)).decode() for word in row] for row in x] == [
        [word or "" for word in row] for row in words
    ]
    fixed = from_arrow(array[1:], "mask", strings="fixed")[0]
    assert fixed.tolist() == ([[], ["", "x", ""]] if text else [[], [b"", b"x", b""]])


def test_from_arrow_decodes_dictionaries_of_pyarrow():
    array = pyarrow.array([["b", "a"], ["b"]])
    encoded = pyarrow.ListArray.from_arrays(array.offsets, array.values.dictionary_encode())
    assert from_arrow(encoded).tolist() == [[0, 1], [0]]
    assert from_arrow(encoded, dictionaries="decode", strings="fixed").tolist() == [["b", "a"], ["b"]]
    chunks = pyarrow.chunked_array([["b", "a"], ["a", "c"]]).dictionary_encode()
    assert decoded(from_arrow(chunks, dictionaries="decode")) == "baac"


def test_structs_maps_and_fixed_sizes():
    array = pyarrow.array([[{"a": 1, "b": 0.5}], [], [{"a": 2, "b": 1.5}, {"a": 3, "b": 2.5}]])
    assert from_arrow(array).tolist() == [[(1, 0.5)], [], [(2, 1.5), (3, 2.5)]]
    assert from_arrow(array[1:], records=False)["b"].tolist() == [[], [1.5, 2.5]]
    array = pyarrow.array([[("k", 1)], [("l", 2), ("m", 3)]], type=pyarrow.map_(pyarrow.string(), pyarrow.int32()))
    assert from_arrow(array, records=False)["value"].tolist() == [[1], [2, 3]]
    array = pyarrow.array([[[1, 2]], [], [[3, 4], [5, 6]]], type=pyarrow.list_(pyarrow.list_(pyarrow.int8(), 2)))
    assert from_arrow(array[1:]).values.tolist() == [[3, 4], [5, 6]]
    array = pyarrow.array([[[1], []], [[2, 3], [4]]], type=pyarrow.list_(pyarrow.list_(pyarrow.int8()), 2))
    assert from_arrow(array[1:]).tolist() == [[[2, 3], [4]]]
    records = LoDTensor.from_lengths(np.array([(1, 2.5), (3, 4.5)], "i4, f8"), [0, 2])
    assert pyarrow.array(records).to_pylist() == [[], [{"f0": 1, "f1": 2.5}, {"f0": 3, "f1": 4.5}]]


def test_pyarrow_array_with_a_requested_type_has_it():
    assert pyarrow.array(X, type=pyarrow.list_(pyarrow.int64())).to_pylist() == X.tolist()
    text = LoDTensor.from_lengths(np.frombuffer("héé".encode(), np.uint8), [1, 0, 4])
    assert pyarrow.array(text, type=pyarrow.large_string()).to_pylist() == ["h", "", "éé"]


def test_tables_and_streams():
    table = pyarrow.table(ArrowTable({"x": X, "n": np.arange(3)}))
    assert table.to_pydict() == {"x": X.tolist(), "n": [0, 1, 2]}
    again = from_arrow(pyarrow.concat_tables([table, table]))
    assert again["x"].tolist() == X.tolist() * 2
    assert from_arrow(table.to_batches()[0])["x"].equals(X)
    assert lodcore.to_arrow({"x": X}).column("x").to_pylist() == X.tolist()
    assert X.to_arrow().to_pylist() == X.tolist()
    assert lodcore.to_arrow(X.tolist()).to_pylist() == lodcore.to_arrow(pyarrow.array(X)).to_pylist() == X.tolist()
    assert lodcore.to_arrow(np.arange(2)).to_pylist() == [0, 1]
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert from_arrow(reader)["x"].equals(X)
    assert pyarrow.chunked_array(X).to_pylist() == X.tolist()


DENSE = [
    np.array([1, -2], "M8[25s]"),
    np.array([1, -2], "m8[25s]"),
    np.array([1, -2], "M8[Y]"),
    np.array([1, -2], "m8[m]"),
    np.array([1, -2], "M8[2W]"),
    np.array([b"abc", b"\0\0d"], "V3"),
    np.arange(6.0).reshape(2, 3),
    np.zeros((2, 0, 3), "f2"),
    np.array([(1, [2, 3]), (4, [5, 6])], [("a", "i4"), ("b", "u1", 2)]),
    np.array(["ab", ""]),
    np.array([True, False]),
    np.arange(4, dtype=">i8")[::2],
]


@pytest.mark.parametrize("x", DENSE, ids=lambda x: f"{x.dtype}{x.shape}")
def test_to_arrow_of_an_array_is_a_column_of_a_table(x):
    made, column = lodcore.to_arrow(x), lodcore.to_arrow({"x": x}).column("x")
    assert made.type == column.type
    assert made.to_pylist() == column.to_pylist()
    again = from_arrow(made, strings="fixed", records=True)
    if x.dtype.names:
        assert all(np.array_equal(again[key], x[key]) for key in x.dtype.names)
    else:
        assert np.array_equal(again.view(x.dtype) if x.dtype.kind == "V" else again, x)


def test_to_arrow_names_the_argument_that_arrow_does_not_have():
    for x, says in (
        (np.zeros(2, complex), "x: has dtype complex128, which Arrow does not have"),
        (X.astype(complex), "x: has dtype complex128, which Arrow does not have"),
        (np.zeros(2, "m8[Y]"), r"x: has dtype timedelta64\[Y\], which Arrow does not have"),
        (np.array([2**62], "M8[h]"), r"x: has dtype datetime64\[h\]; some are out of range for \[s\]"),
        (np.array(["\ud800"]), "x: is not text"),
        (np.zeros(2, [("a", "c8")]), r"x\['a'\]: has dtype complex64, which Arrow does not have"),
        (np.float64(2), "x: is float64; a LoDTensor or nested lists are needed"),
        ({"x": X, "weights": X.astype(complex)}, r"columns\['weights'\]: has dtype complex128, which Arrow"),
        ({"x": X, "y": X[:1]}, "columns: 'y' has 1 entries, 'x' 3"),
        ({"x": X, "y": [[1], [2, 3]]}, r"columns\['y'\]: is nested unevenly"),
    ):
        with pytest.raises((LoDError, DTypeError, ShapeError), match=f"^lodcore.to_arrow: {says}"):
            lodcore.to_arrow(x)


def test_groups_with_keys_only_become_a_table_of_the_keys():
    table = pyarrow.table({"user": ["b", "a", "b"], "day": [2, 1, 1]})
    assert lodcore.to_arrow(from_arrow(table.select(["user"]), by="user")).to_pydict() == {"user": ["b", "a"]}
    groups = from_arrow(table, by=["user", "day"])
    assert lodcore.to_arrow(groups).to_pydict() == {"user": ["b", "a"], "day": [[2, 1], [1]]}
    assert lodcore.to_arrow(groups[:1].with_columns(n=[7])).to_pylist() == [{"user": "b", "day": [2, 1], "n": 7}]
    assert lodcore.to_arrow(Groups({}, {"user": ["b", "a"]})).to_pydict() == {"user": ["b", "a"]}
    with pytest.raises(LoDError, match="to_arrow: columns: there are none"):
        lodcore.to_arrow(Groups({}, {}))
    with pytest.raises(LoDError, match="to_arrow: keys: are 2; there is 1 level"):
        lodcore.to_arrow(Groups({}, {"user": ["b", "a"], "day": [2, 1, 1]}))


def test_digits_that_values_do_not_fit_any_more_are_not_restored():
    prices = pyarrow.array(["1.25", "2.50"]).cast(pyarrow.decimal128(3, 2))
    groups = from_arrow(pyarrow.table({"k": [1, 1], "price": prices}), by="k")
    assert lodcore.to_arrow(groups)["price"].type.value_type == pyarrow.decimal128(3, 2)
    groups.columns["price"] *= 1e6
    assert lodcore.to_arrow(groups)["price"].to_pylist() == [[1250000.0, 2500000.0]]


def test_from_arrow_reads_batches_from_a_python_generator():
    """The stream calls back into Python."""
    table = pyarrow.table({"x": pyarrow.array(X)})

    def batches():
        yield from table.to_batches() * 3

    assert len(from_arrow(pyarrow.RecordBatchReader.from_batches(table.schema, batches()))["x"]) == 9

    def fails():
        yield table.to_batches()[0]
        raise ZeroDivisionError("no more")

    with pytest.raises(OSError, match=r"get_next of its stream failed.*no more"):
        from_arrow(pyarrow.RecordBatchReader.from_batches(table.schema, fails()))


def test_from_arrow_reads_tables_from_files_of_pyarrow(tmp_path, capsys):
    feather, ipc, parquet = (imported(f"pyarrow.{name}") for name in ("feather", "ipc", "parquet"))
    table = pyarrow.table({"x": pyarrow.array(X), "word": ["a", "b", None]})
    parquet.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.feather")
    with ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    for name, read in {"x.parquet": parquet.read_table, "x.feather": feather.read_table}.items():
        assert from_arrow(read(tmp_path / name), "empty")["x"].tolist() == X.tolist()
    with pyarrow.memory_map(str(tmp_path / "x.arrow")) as file:
        mapped = from_arrow(ipc.open_file(file).read_all(), "empty")["x"]
        assert mapped.tolist() == X.tolist()
    from lodcore.__main__ import main

    for name in ("x.parquet", "x.feather", "x.arrow"):
        assert main(["inspect", str(tmp_path / name)]) == 0
        shown = capsys.readouterr().out
        assert "== ['x']" in shown
        assert "level 0: 3 sequences, lengths in rows" in shown


def test_arrays_of_arrow_are_taken_at_once():
    assert lodcore.array(pyarrow.array(X)).equals(X)
    assert lodcore.array(pyarrow.chunked_array([pyarrow.array(X)]), dtype="f4").dtype == np.float32


@pytest.mark.parametrize("child", [[1, None, 3], [[1.0, 2.0], None, [3.0, 4.0]]])
def test_a_null_list_over_structs_with_nulls_is_an_empty_sequence_of_records(child):
    kind = pyarrow.list_(pyarrow.float64(), 2) if isinstance(child[0], list) else None
    rows = pyarrow.StructArray.from_arrays([pyarrow.array(child, kind)], ["a"])
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 3], pyarrow.int32()), rows, mask=pyarrow.array([True]))
    found = from_arrow(lists, nulls="empty")
    assert found.lengths.tolist() == [0]
    assert found.dtype.names == ("a",)
    with pytest.raises(lodcore.LoDError, match="sequence 0 of level 0 is null"):
        from_arrow(lists)


def test_lists_nested_very_deeply_do_not_reach_pyarrow():
    """Which would recurse until the stack ends."""
    deep, own = [], []
    for _ in range(100_000):
        deep = [deep]
    own.append(own)
    for bad in (deep, own):
        with pytest.raises(LoDError, match=r"to_arrow: x: .* does (it|a list) contain itself\?"):
            lodcore.to_arrow(bad)


def test_tensors_of_a_fixed_shape_have_that_shape_and_other_extension_types_are_refused():
    values = np.arange(12).reshape(2, 2, 3)
    array = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(values)
    np.testing.assert_array_equal(from_arrow(array), values)
    groups = from_arrow(pyarrow.table({"k": [1, 1], "t": array}), by="k")
    np.testing.assert_array_equal(groups["t"].values, values)
    kind = pyarrow.fixed_shape_tensor(pyarrow.int64(), (2, 3), permutation=(1, 0))
    turned = pyarrow.ExtensionArray.from_storage(kind, array.storage)
    np.testing.assert_array_equal(from_arrow(turned), turned.to_numpy_ndarray())
    if hasattr(pyarrow, "bool8"):
        numbers = pyarrow.array([1, None, 0], pyarrow.int8())
        assert from_arrow(pyarrow.ExtensionArray.from_storage(pyarrow.bool8(), numbers), nulls=0).tolist() == [1, 0, 0]
        opaque = pyarrow.opaque(pyarrow.int64(), "number", "nobody")
        with pytest.raises(DTypeError, match=r"from_arrow: obj\[x\]: has the extension type 'arrow.opaque'"):
            from_arrow(pyarrow.table({"x": pyarrow.ExtensionArray.from_storage(opaque, pyarrow.array([1]))}))
