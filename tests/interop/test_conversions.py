"""The part of the conversions that needs none of the libraries."""

import mmap
import re
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, interop
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop import Groups
from lodcore.interop.files.inspect_command import buckets, describe, describe_tree, histogram
from lodcore.interop.foreign_data import lent, private_level, private_lod
from lodcore.interop.plots import occupancy
from lodcore.interop.scipy import records_of_scipy
from lodcore.interop.tables import common_lod, gathered, grouped, row_keys
from lodcore.tensors import conversions
from tests.helpers.processes import environment
from tests.helpers.tables import for_each

X = lodcore.array([[1, 2], [], [3]])


# -- names ---------------------------------------------------------------------------------------------------------


def test_every_conversion_is_callable_and_documented():
    for names in interop.DOORS.values():
        for name in names:
            assert callable(getattr(interop, name))
            assert getattr(interop, name).__doc__
            assert name in dir(interop)
    for name in conversions.TAKERS.values():
        assert callable(conversions._door(name))
    with pytest.raises(AttributeError, match="has no attribute 'to_fortran'"):
        interop.to_fortran  # noqa: B018


def test_public_doors_are_those_of_interop():
    doors = [name for name in dir(interop) if name.startswith(("from_", "to_", "plot_")) or name in ("save", "load")]
    assert len(doors) > 20
    assert {"from_arrow", "from_pandas", "from_polars", "from_torch", "save", "load"} <= set(dir(lodcore))
    for name in doors:
        assert getattr(lodcore, name) is getattr(interop, name)
    for name in doors:
        if name.startswith("to_"):
            assert hasattr(LoDTensor, name)


@pytest.mark.parametrize(
    ("call", "library", "extra"),
    [
        (lambda: X.to_torch(), "torch", "torch"),
        (lambda: lodcore.from_torch(3), "torch", "torch"),
        (lambda: X.to_awkward(), "awkward", "awkward"),
        (lambda: lodcore.from_awkward(3), "awkward", "awkward"),
        (lambda: X.to_arrow(), "pyarrow", "arrow"),
        (lambda: X.to_pandas(), "pandas", "pandas"),
        (lambda: lodcore.from_pandas(3), "pandas", "pandas"),
        (lambda: X.to_polars(), "polars", "polars"),
        (lambda: lodcore.from_polars(3), "polars", "polars"),
        (lambda: X.to_xarray(), "xarray", "xarray"),
        (lambda: X.to_scipy(), "scipy", "scipy"),
        (lambda: X.to_tensorflow(), "tensorflow", "tensorflow"),
        (lambda: X.to_jax(), "jax", "jax"),
        (lambda: X.to_thinc(), "thinc", "thinc"),
        (lambda: interop.collate([1]), "torch", "torch"),
        (lambda: lodcore.plot_lengths(X), "matplotlib", "plots"),
        (lambda: lodcore.plot_occupancy(X), "matplotlib", "plots"),
    ],
)
def test_a_missing_library_is_named(call, library, extra, monkeypatch):
    from lodcore.base import libraries

    def none(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(libraries, "import_module", none)
    with pytest.raises(ImportError, match=rf'needs {library}, .* pip install "lodcore\[{extra}\]"') as error:
        call()
    assert error.value.name == library


def test_conversions_import_no_other_library():
    import subprocess
    import sys

    code = (
        "import sys, lodcore; x = lodcore.array([[1, 2], [3]]); lodcore.from_arrow(x); x.cu_seqlens();"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    heavy = {"pyarrow", "torch", "awkward", "pandas", "polars", "scipy", "jax", "tensorflow", "xarray", "matplotlib"}
    assert not heavy & set(done.stdout.split())
    code = "import sys, lodcore; print('lodcore.interop' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_array_of_objects_of_torch_calls_from_torch(monkeypatch):
    taken = []
    monkeypatch.setattr(interop, "from_torch", lambda obj: taken.append(obj) or X, raising=False)
    kind = type("PackedSequence", (tuple,), {"__module__": "torch.nn.utils.rnn", "_fields": ()})
    derived = type("Mine", (kind,), {"__module__": "mine"})
    for obj in (kind(), derived()):
        assert lodcore.array(obj) is X
        assert taken.pop() is obj
    assert lodcore.array(kind(), dtype="f4").dtype == np.float32
    with pytest.raises(LoDError, match="has num_levels 1; 2 is given"):
        lodcore.array(kind(), num_levels=2)


def test_array_refuses_objects_whose_conversion_makes_no_lodtensor():
    says = r"^lodcore.array: obj: is an ArrowTable, no array of sequences; lodcore.from_arrow\(obj, by='key'\) makes"
    with pytest.raises(DTypeError, match=says):
        lodcore.array(interop.ArrowTable({"x": X}))
    with pytest.raises(DTypeError, match=r"^lodcore.array: obj: is a Groups; g\['column'\] is a column of it"):
        lodcore.array(interop.Groups({"v": X}, {"k": [1, 2, 3]}))
    assert lodcore.array(X.__class__(X.values, X.lod)).equals(X)


def test_named_tuples_of_lists_are_lists():
    import collections

    pair = collections.namedtuple("pair", "a b")
    assert lodcore.array(pair([1], [2, 3])).tolist() == [[1], [2, 3]]


# -- offsets and memory of others ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "i2", ">i8", "u8"])
def test_offsets_of_any_integers(dtype):
    offsets, first = private_level("x", np.array([3, 5, 5, 9], dtype))
    assert (offsets.tolist(), first, offsets.dtype) == ([0, 2, 2, 6], 3, np.dtype(np.int64))
    lod, start, stop = private_lod("x", np.array([3, 5, 5, 9], dtype)[::1])
    assert (lod, start, stop) == (LoD.from_lengths([2, 0, 4]), 3, 9)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ([], DTypeError, "has|have dtype float64"),
        (np.empty(0, int), LoDError, "is empty"),
        ([0, 2, 1], LoDError, r"fall at position 2 \(2 -> 1\)"),
        ([-1, 2], LoDError, r"fall at position 0 \(-1\)"),
        ([[0, 1]], ShapeError, r"have shape \(1, 2\)"),
        ([0.0], DTypeError, "have dtype float64"),
        (np.array([0, 2**63], "u8"), LoDError, "int64 cannot hold that"),
    ],
)
def test_conversions_refuse_offsets_that_fall_or_do_not_begin_at_0(given, error, says):
    with pytest.raises(error, match=says):
        private_level("x", given)


def test_conversions_share_memory_that_may_be_written_to_only_if_asked(tmp_path):
    mine = np.arange(8.0)
    assert lent(mine) is mine
    x = LoDTensor(mine, LoD.from_lengths([8])).values
    assert not x.flags.writeable
    for part in (x, x[2:5], x[:0], x.reshape(4, 2)[1:], x.view("i4")[3:7]):
        given = lent(part)
        assert given.flags.writeable
        assert (given.ctypes.data, given.shape, given.dtype) == (part.ctypes.data, part.shape, part.dtype)
        np.testing.assert_array_equal(given, part)
    assert lent(np.asfortranarray(np.ones((4, 4))).T[1:]) is not None
    turned = np.asfortranarray(np.ones((4, 4)))[:, :1]
    turned.flags.writeable = False
    assert lent(turned) is None
    fixed = np.arange(8.0)
    fixed.flags.writeable = False
    assert lent(fixed) is None
    assert lent(np.frombuffer(b"12345678")) is None
    assert lent(LoD.from_lengths([3]).offsets()) is None
    lodcore.save(tmp_path / "x.lod", X)
    assert lent(lodcore.load(tmp_path / "x.lod").values) is None
    assert lent(lodcore.from_arrow(X).values).ctypes.data == X.values.ctypes.data  # our own, which is writable
    with open(tmp_path / "y", "w+b") as file:
        file.write(bytes(64))
        file.flush()
        memory = mmap.mmap(file.fileno(), 64)
    assert lent(np.frombuffer(memory, np.uint8)) is None


@given(st.lists(st.integers(0, 9), max_size=9))
def test_cu_seqlens_are_the_offsets_as_int32_or_the_dtype_asked_for(lengths):
    x = LoDTensor.from_lengths(np.zeros(sum(lengths)), lengths)
    assert x.cu_seqlens().tolist() == [0, *np.cumsum(lengths).tolist()]
    assert x.cu_seqlens().dtype == np.int32
    assert lodcore.cu_seqlens(x.lod, dtype="i8").dtype == np.int64


def test_cu_seqlens_overflow_is_refused():
    lod = LoD.from_lengths([2**31 - 1, 1])
    with pytest.raises(OverflowError, match=r"offsets: are 2147483648 at position 2; int32 holds 2147483647"):
        lodcore.cu_seqlens(lod)
    with pytest.raises(DTypeError, match="dtype: is float32"):
        lodcore.cu_seqlens(lod, dtype="f4")
    nested = LoD.from_lengths([1, 1], [2, 3])
    assert lodcore.cu_seqlens(nested, level=0).tolist() == [0, 2, 5]


def test_from_dlpack_takes_rows_and_offsets():
    x = lodcore.from_dlpack(np.arange(3), np.array([0, 2, 3]))
    assert x.tolist() == [[0, 1], [2]]
    assert lodcore.from_dlpack(x.values, x.offsets).tolist() == [[0, 1], [2]]  # both are read-only
    assert np.from_dlpack(x.values.copy()).tolist() == [0, 1, 2]
    with pytest.raises(DTypeError, match="values: is list; something with __dlpack__"):
        lodcore.from_dlpack([1], [0, 1])

    class Elsewhere:
        def __dlpack__(self, **_):
            raise BufferError("on another device")

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(DTypeError, match="values: cannot be shared"):
        lodcore.from_dlpack(Elsewhere(), [0, 1])
    with pytest.raises(DTypeError, match="from_dlpack: offsets: level 1: cannot be shared"):
        lodcore.from_dlpack(np.arange(1), [0, 1], Elsewhere())


# -- tables --------------------------------------------------------------------------------------------------------


@for_each("size", range(13))
def test_groups_of_three_and_more_keys(size):
    """Each group inside the coarser one, in the order of their first rows."""
    codes = [np.arange(size) * factor // 3 % count for factor, count in ((5, 2), (7, 3), (11, 2), (4, 3))]
    lod, order, examples = grouped(codes)
    want = {}
    for at, (*keys, last) in enumerate(zip(*map(np.ndarray.tolist, codes), strict=True)):
        inner = want
        for key in keys:
            inner = inner.setdefault(key, {})
        inner.setdefault(last, []).append(at)

    def lists(part):
        return [lists(one) for one in part.values()] if isinstance(part, dict) else part

    assert LoDTensor(np.arange(size) if order is None else order, lod).tolist() == lists(want)
    assert lod.num_levels == len(examples) == 4
    level = [want]
    for code, rows in zip(codes, examples, strict=True):
        assert code[rows].tolist() == [key for part in level for key in part]
        level = [one for part in level for one in part.values()]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12))
def test_grouped_has_groups_in_the_order_of_their_first_rows(rows):
    codes = np.array(rows, np.int64).reshape(-1, 2)
    lod, order, examples = grouped([codes[:, 0], codes[:, 1]])
    want = {}
    for at, (a, b) in enumerate(rows):
        want.setdefault(a, {}).setdefault(b, []).append(at)
    places = np.arange(len(rows)) if order is None else order
    x = LoDTensor(places, lod)
    assert x.tolist() == [list(inner.values()) for inner in want.values()]
    assert codes[examples[0], 0].tolist() == list(want)
    assert codes[examples[1], 1].tolist() == [b for inner in want.values() for b in inner]


@pytest.mark.parametrize(
    "nested",
    [
        [[1, 2], [], [3]],
        [[[1, 2], []], [], [[3], [], [4, 5]]],
        [[[[1]], [[2], [3]]], [[[4]], [[5, 6], []], []]],
        [[[[[1], [2, 3]]], [[[4]], [[5], [6]]]], [], [[[[7]], [[8], [], [9]]]]],
    ],
)
def test_row_keys_number_rows_within_their_sequences(nested):
    def places(part, before=()):
        for at, one in enumerate(part):
            yield from places(one, (*before, at)) if isinstance(one, list) else [before]

    x = lodcore.array(nested)
    names, levels = row_keys("x", x.lod, None)
    assert names == [f"level_{level}" for level in range(x.num_levels)]
    assert list(zip(*[level.tolist() for level in levels], strict=True)) == list(places(nested))


def test_keys_of_rows():
    lod = LoD.from_lengths([2, 1], [1, 2, 1])
    names, levels = row_keys("x", lod, None)
    assert names == ["level_0", "level_1"]
    assert [level.tolist() for level in levels] == [[0, 0, 0, 1], [0, 1, 1, 0]]
    names, levels = row_keys("x", lod, {"a": ["p", "q"], "b": [7, 8, 9]})
    assert [level.tolist() for level in levels] == [["p", "p", "p", "q"], [7, 8, 8, 9]]
    with pytest.raises(LoDError, match="keys: are 1; there are 2 levels"):
        row_keys("x", lod, {"a": [1, 2]})
    with pytest.raises(LoDError, match=r"keys\['b'\]: has 2 entries; there are 3 sequences"):
        row_keys("x", lod, {"a": [1, 2], "b": [1, 2]})


def test_common_lod_of_columns_with_different_structures_raises():
    assert common_lod("x", {"a": X, "b": X}) is X.lod
    with pytest.raises(LoDError, match="'b' has a different structure from 'a'"):
        common_lod("x", {"a": X, "b": X[:1]})
    with pytest.raises(LoDError, match="there are none"):
        common_lod("x", {})
    with pytest.raises(LoDError, match="have no level"):
        common_lod("x", {"a": LoDTensor(np.zeros(2), LoD.from_offsets(num_rows=2))})


# -- descriptions --------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(1, 4))
def test_buckets_waste_least(lengths, count):
    from itertools import combinations

    ends, share = buckets(np.array(lengths), count)
    assert ends == sorted(set(ends))
    assert len(ends) <= count
    assert ends[-1] == max(lengths)

    def room(ends):
        return sum(min(end for end in ends if end >= length) for length in lengths)

    found = sorted(set(lengths))
    least = min(
        room([*chosen, max(lengths)]) for k in range(min(count, len(found))) for chosen in combinations(found, k)
    )
    assert room(ends) == least
    assert share == pytest.approx(sum(lengths) / least if least else 1.0)


def test_buckets_of_very_many_lengths():
    lengths = np.random.default_rng(0).integers(1, 5000, 20_000)
    ends, share = buckets(lengths)
    assert len(ends) == 6
    assert share > 0.85


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 5))
def test_occupancy_is_the_share_of_padded_batches_that_is_filled(lengths, size):
    filled, total = occupancy(np.array(lengths, np.int64), size)
    parts = [lengths[at : at + size] for at in range(0, len(lengths), size)]
    rooms = [max(part) * len(part) for part in parts]
    want = [sum(part) / room if room else 1 for part, room in zip(parts, rooms, strict=True)]
    assert filled.tolist() == pytest.approx(want)
    assert total == pytest.approx(sum(lengths) / sum(rooms) if sum(rooms) else 1)


def test_occupancy_of_wrong_lengths_or_batch_size_raises():
    for lengths, size, error, says in (
        ([2, -1], 2, LoDError, "lengths: is -1 at position 1"),
        ([1.5], 2, DTypeError, "lengths: has dtype float64"),
        ([[1, 2]], 2, DTypeError, "lengths: holds sequences"),
        ([1, 2], 0, ValueError, "batch_size: is 0; 1 or more is needed"),
        ([1, 2], 1.5, DTypeError, "batch_size: is 1.5"),
    ):
        with pytest.raises(error, match=rf"^lodcore\.interop\.occupancy: {says}"):
            occupancy(lengths, size)


def test_trees_are_described():
    lines = list(describe_tree({"x": X, "w": np.zeros((2, 3)), "n": 5, "t": ("a" * 100, [X])}))
    assert lines[0] == "dict of 4"
    assert "== ['x']" in lines
    assert "['w']: shape (2, 3), float64, 48 bytes" in lines
    assert "['n']: 5" in lines
    assert any(line.startswith("['t'][0]: 'aaa") and line.endswith("...") and len(line) < 80 for line in lines)
    assert "== ['t'][1][0]" in lines
    assert not any(line.startswith(("tuple of", "list of")) for line in lines)  # the outermost one has a heading
    assert list(describe_tree(list(range(150))))[-1] == ": 50 more"


def test_describe_tree_of_one_tensor_has_no_heading():
    assert not any(line.startswith("==") for line in describe_tree(X))


@pytest.mark.parametrize(
    ("count", "sizes"), [(4, []), (5, [8]), (16, [8]), (17, [8, 32]), (64, [8, 32]), (65, [8, 32, 128])]
)
def test_batches_that_hold_twice_as_many_are_not_described(count, sizes):
    text = "\n".join(
        describe_tree(LoDTensor.from_lengths(np.zeros(3 * count), [2, 4] * (count // 2) + [3] * (count % 2)))
    )
    assert re.findall(r"batches of (\d+):", text) == [str(size) for size in sizes]


def test_inspect_reads_folders_and_trees(tmp_path, capsys):
    from lodcore.__main__ import main

    lodcore.save(tmp_path / "x.lod", {"x": X})
    lodcore.save(tmp_path / "x.npz", {"x": X})
    for name in ("x.lod", "x.npz"):
        assert main(["inspect", str(tmp_path / name)]) == 0
        assert "level 0: 3 sequences, lengths in rows" in capsys.readouterr().out
    (tmp_path / "x.lod" / "manifest.json").write_text("{", encoding="utf-8")
    assert main(["inspect", str(tmp_path / "x.lod")]) == 1
    assert "x.lod: manifest.json: is not JSON" in capsys.readouterr().err


def test_inspect_needs_pyarrow_for_parquet(tmp_path, capsys, monkeypatch):
    from lodcore.__main__ import main

    def none(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("lodcore.base.libraries.import_module", none)
    (tmp_path / "x.parquet").write_bytes(b"PAR1....PAR1")
    assert main(["inspect", str(tmp_path / "x.parquet")]) == 1
    assert 'pip install "lodcore[arrow]"' in capsys.readouterr().err


# -- groups of HDF5 and Zarr ---------------------------------------------------------------------------------------


class Group(dict):
    """The part of a group of HDF5 that is needed."""

    def __init__(self):
        super().__init__()
        self.attrs = {}

    def create_dataset(self, name, data, **options):
        self[name] = data.copy()


@pytest.mark.parametrize("x", [X, lodcore.array([[[1.5]], []]), LoDTensor(np.zeros(2), LoD.from_offsets(num_rows=2))])
def test_groups_hold_two_arrays_and_more(x):
    group = Group()
    interop.save_to_group(group, x)
    assert sorted(group) == [*(f"offsets_{k}" for k in range(x.num_levels)), "values"]
    assert interop.load_from_group(group).equals(x)


def test_load_from_group_of_groups_with_other_contents_raises():
    group = Group()
    with pytest.raises(LoDError, match="its attribute format is None"):
        interop.load_from_group(group)
    interop.save_to_group(group, X)
    group.attrs["num_levels"] = 2
    with pytest.raises(LoDError, match="has no array 'offsets_1'"):
        interop.load_from_group(group)
    for wrong in (-1, None, "x", [1, 2], 1.5):
        group.attrs["num_levels"] = wrong
        with pytest.raises(LoDError, match=r"attribute num_levels is .*; 0 or more is needed"):
            interop.load_from_group(group)
    group.attrs["num_levels"] = 2**62
    with pytest.raises(LoDError, match="has no array 'offsets_1'"):
        interop.load_from_group(group)
    for wrong in (np.array([1, 2]), 3, b"lodcore"):
        group.attrs["format"] = wrong
        with pytest.raises(LoDError, match=r"its attribute format is .*; 'lodcore' is needed"):
            interop.load_from_group(group)
    group.attrs = {"format": "lodcore", "num_levels": 1}
    group["values"] = types.SimpleNamespace(shape=(2**40, 2**40), dtype=np.dtype("f8"))
    with pytest.raises(MemoryError, match="group: values: the result has"):
        interop.load_from_group(group)
    group["values"] = Group()
    with pytest.raises(LoDError, match="has no array 'values'"):
        interop.load_from_group(group)
    with pytest.raises(DTypeError, match="group: is SimpleNamespace"):
        interop.save_to_group(types.SimpleNamespace(), X)
    with pytest.raises(DTypeError, match="group: is int"):
        interop.load_from_group(3)


# -- options of the methods ----------------------------------------------------------------------------------------


def test_methods_pass_each_option_on(monkeypatch):
    """Each option of a method of LoDTensor reaches the function of the same name, in its place."""
    given = []
    for name in ("to_torch", "to_pandas", "to_polars", "to_xarray", "to_jax", "to_scipy", "cu_seqlens"):
        monkeypatch.setattr(interop, name, lambda *args, name=name, **kwargs: given.append((name, args, kwargs)), False)
    calls = {
        "X.to_torch('padded', False)": ("to_torch", ("padded", False), {}),
        "X.to_torch(copy=True)": ("to_torch", ("jagged", True), {}),
        "X.to_pandas([1], lists=True)": ("to_pandas", ([1],), {"lists": True}),
        "X.to_polars([1], lists=False)": ("to_polars", ([1],), {"lists": False}),
        "X.to_polars()": ("to_polars", (None,), {"lists": True}),
        "X.to_xarray([2], row='r')": ("to_xarray", ([2],), {"row": "r"}),
        "X.to_jax(5, 0)": ("to_jax", (5, 0), {}),
        "X.to_jax()": ("to_jax", (None, -1), {}),
        "X.to_scipy([3], 4)": ("to_scipy", ([3], 4), {}),
        "X.cu_seqlens(0, 'int64')": ("cu_seqlens", (0, "int64"), {}),
        "X.cu_seqlens()": ("cu_seqlens", (-1, "int32"), {}),
    }
    for call, (name, args, kwargs) in calls.items():
        eval(call)
        assert given.pop() == (name, (X, *args), kwargs), call


def test_objects_with_a_stream_of_arrow_are_taken(monkeypatch):
    monkeypatch.setattr(interop, "from_arrow", lambda obj: (X, obj)[0], False)
    for method in ("__arrow_c_array__", "__arrow_c_stream__"):
        given = type("Given", (), {method: lambda self: None})()
        assert lodcore.array(given).equals(X)


# -- stand-ins for libraries: what is given to them, and taken from them


class Only:
    """An object of which NumPy knows nothing but DLPack."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **named):
        return self.values.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_offsets_by_dlpack():
    rows, outer, inner = np.arange(3), np.array([0, 1, 2]), np.array([0, 2, 3])
    x = lodcore.from_dlpack(Only(rows), Only(outer), Only(inner))
    assert x.tolist() == [[[0, 1]], [[2]]]
    assert x.values.ctypes.data == rows.ctypes.data
    inner[:] = 0
    assert x.tolist() == [[[0, 1]], [[2]]]


def matrix(**changed):
    """Stand in for a CSR matrix of two rows; its entries begin and end with ones that belong to none."""
    parts = {"format": "csr", "shape": (2, 4), "indptr": np.array([1, 3, 4], "i4"),
             "indices": np.array([9, 3, 0, 2, 9], "i4"), "data": np.array([9.0, 0.5, 1.5, 2.5, 9.0])}  # fmt: skip
    return types.SimpleNamespace(**parts | changed)


def test_matrices_of_rows():
    columns, values = lodcore.from_scipy(matrix())
    assert (columns.tolist(), values.tolist()) == ([[3, 0], [2]], [[0.5, 1.5], [2.5]])
    assert columns.lod is values.lod
    x = records_of_scipy(matrix())
    assert x.tolist() == [[(3, 0.5), (0, 1.5)], [(2, 2.5)]]
    assert x.dtype == np.dtype([("column", "i4"), ("value", "f8")])
    for changed, error, says in (
        ({"format": "csc"}, DTypeError, "a sparse matrix of rows is needed"),
        ({"shape": (3, 4)}, LoDError, "has 2 rows and ends at 4; the matrix has 3 rows and 5 entries"),
        ({"indices": np.zeros(3, int)}, LoDError, "has 2 rows and ends at 4; the matrix has 2 rows and 3 entries"),
        ({"data": np.zeros(3)}, LoDError, "ends at 4; the matrix has 2 rows and 3 entries"),
        ({"shape": (2, 3)}, IndexError, "matrix.indices: is 3 at 0; there are 3 columns"),
        ({"indices": np.array([9, 3, 0, 4, 9])}, IndexError, "is 4 at 2; there are 4 columns"),
        ({"indices": np.array([9, 3, -1, 2, 9])}, IndexError, "is -1 at 1; there are 4 columns"),
        ({"indptr": np.array([0, 3, 2])}, LoDError, r"fall at position 2 \(3 -> 2\)"),
    ):
        with pytest.raises(error, match=says):
            lodcore.from_scipy(matrix(**changed))


def test_matrices_for_scipy(monkeypatch):
    made = types.SimpleNamespace(csr_array=lambda parts, shape: (*parts, shape))
    monkeypatch.setitem(sys.modules, "scipy", types.SimpleNamespace(sparse=made))
    monkeypatch.setitem(sys.modules, "scipy.sparse", made)
    data, columns, offsets, shape = lodcore.to_scipy([[3, 0], [], [2]])
    assert (data.tolist(), columns.tolist(), offsets.tolist(), shape) == ([1, 1, 1], [3, 0, 2], [0, 2, 2, 3], (3, 4))
    for width, dtype in ((4, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)):
        data, columns, offsets, shape = lodcore.to_scipy([[3]], [[0.5]], width)
        assert (data.tolist(), columns.dtype, offsets.dtype, shape) == ([0.5], dtype, dtype, (1, width))
    assert lodcore.to_scipy([[], []])[3] == (2, 0)
    for call, error, says in (
        (lambda: lodcore.to_scipy([[1, -1]]), IndexError, "columns: is -1 at row 1; there are 2 columns"),
        (lambda: lodcore.to_scipy([[1], [4]], None, 4), IndexError, "columns: is 4 at row 1; there are 4 columns"),
        (lambda: lodcore.to_scipy([[[1]]]), LoDError, "one level of numbers is needed"),
        (lambda: lodcore.to_scipy(LoDTensor.from_lengths(np.ones((1, 2), int), [1])), LoDError, "one level of numbers"),
        (lambda: lodcore.to_scipy([[1.0]]), DTypeError, "columns: have dtype float64"),
        (
            lambda: lodcore.to_scipy([[2**63]]),
            IndexError,
            f"columns: is {2**63} at row 0; there are {2**63 - 1} columns",
        ),
        (
            lambda: lodcore.to_scipy([[2**63 - 1]]),
            IndexError,
            f"columns: is {2**63 - 1} at row 0; there are {2**63 - 1}",
        ),
        (
            lambda: lodcore.to_scipy([[1]], None, -1),
            ValueError,
            "num_columns: is -1; 0 .. 9223372036854775807 is needed",
        ),
        (lambda: lodcore.to_scipy([[]], None, 2**63), ValueError, f"num_columns: is {2**63}; 0 .. "),
        (
            lambda: lodcore.to_scipy([[1]], LoDTensor.from_lengths(np.ones((1, 2)), [1])),
            ShapeError,
            r"rows of shape \(2,\)",
        ),
        (
            lambda: lodcore.to_scipy([[1]], LoDTensor.from_lengths(np.ones(1, "f2"), [1])),
            DTypeError,
            "values: have dtype float16",
        ),
        (
            lambda: lodcore.to_scipy([[1]], LoDTensor.from_lengths(np.ones(1, "M8[s]"), [1])),
            DTypeError,
            "dtype datetime64",
        ),
        (
            lambda: lodcore.to_scipy([[1], [2]], [[1, 2], []]),
            LoDError,
            "values: have a different structure from columns",
        ),
    ):
        with pytest.raises(error, match=says):
            call()


def test_segments_for_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(numpy=np))
    monkeypatch.setitem(sys.modules, "jax.numpy", np)
    nested = lodcore.array([[[1, 2], []], [], [[3], [4, 5, 6]]])
    ids, places = {0: [0, 0, 2, 2, 2, 2], 1: [0, 0, 2, 3, 3, 3]}, {0: [0, 1, 0, 1, 2, 3], 1: [0, 1, 0, 0, 1, 2]}
    for level, count in ((0, 3), (1, 4)):
        for size in (None, 6, 7, 9):
            for dtype in ("i2", "c8"):
                found = lodcore.to_jax(nested.astype(dtype), size, level)
                more = (size or 6) - 6
                assert found.segment_ids.tolist() == ids[level] + [count] * more
                assert found.positions.tolist() == places[level] + [0] * more
                np.testing.assert_array_equal(found.values, np.append(nested.values.astype(dtype), [0] * more))
                assert (found.values.dtype, found.segment_ids.dtype, found.num_segments) == (dtype, np.int32, count)
                back = found.to_lodtensor()
                assert back.lod.lengths().tolist() == np.diff(nested.lod.row_offsets(level)).tolist()
    assert lodcore.to_jax(nested).segment_ids.tolist() == ids[1]
    for size in (0, 5, -1):
        with pytest.raises(ValueError, match=f"size: is {size}; x has 6 rows"):
            lodcore.to_jax(nested, size)
    assert lodcore.from_jax(np.arange(2), [0, 0], 3).lod.lengths().tolist() == [2, 0, 0]


def test_ragged_tensors_of_tensorflow_and_thinc(monkeypatch):
    given_ = types.SimpleNamespace(
        flat_values=np.arange(3.0), nested_row_splits=(np.array([0, 2]), np.array([0, 1, 3]))
    )
    assert lodcore.from_tensorflow(given_).tolist() == [[[0.0], [1.0, 2.0]]]
    given_.flat_values, given_.dtype = np.array([b"a"] * 3, object), types.SimpleNamespace(name="string")
    with pytest.raises(DTypeError, match=r"x: has dtype string; tensorflow.io.decode_raw"):
        lodcore.from_tensorflow(given_)
    with pytest.raises(DTypeError, match="x: is int; a RaggedTensor is needed"):
        lodcore.from_tensorflow(3)
    ragged = types.SimpleNamespace(from_nested_row_splits=lambda values, splits, validate: (values, splits))
    monkeypatch.setitem(sys.modules, "tensorflow", types.SimpleNamespace(constant=np.array, RaggedTensor=ragged))
    values, splits = lodcore.to_tensorflow([[[1], []], [[2, 3]]])
    assert (values.tolist(), [one.tolist() for one in splits]) == ([1, 2, 3], [[0, 2, 3], [0, 1, 1, 3]])
    kinds = types.SimpleNamespace(Ragged=lambda data, lengths: types.SimpleNamespace(dataXd=data, lengths=lengths))
    monkeypatch.setitem(sys.modules, "thinc", types.SimpleNamespace(types=kinds))
    monkeypatch.setitem(sys.modules, "thinc.types", kinds)
    made = lodcore.to_thinc(X)
    assert (made.lengths.tolist(), made.lengths.dtype) == ([2, 0, 1], np.int32)
    assert lodcore.from_thinc(made).equals(X)
    with pytest.raises(LoDError, match="x: has 2 levels; a Ragged has one"):
        lodcore.to_thinc([[[1]]])


def test_offsets_in_unaligned_and_strided_memory_are_read():
    memory = np.zeros(33, np.uint8)
    memory[1:] = np.array([3, 5, 5, 9]).view(np.uint8)
    for given_ in (memory[1:].view(np.int64), np.array([[3, 0], [5, 0], [5, 0], [9, 0]])[:, 0], [3, 5, 5, 9]):
        assert private_level("x", given_)[0].tolist() == [0, 2, 2, 6]
        assert private_lod("x", given_)[1:] == (3, 9)
    with pytest.raises(DTypeError, match="x: have dtype bool; integers are needed"):
        private_level("x", np.array([False, True]))


def test_views_of_another_dtype_are_lent_with_their_dtype_and_address():
    x = LoDTensor(np.arange(8.0), LoD.from_lengths([8])).values
    for part in (x.view("i8"), x.view("i4"), x.view("i8").reshape(2, 4), x.reshape(4, 2), x.view("u1")):
        found = lent(part)
        assert (found.dtype, found.shape, found.tolist()) == (part.dtype, part.shape, part.tolist())
        assert found.ctypes.data == part.ctypes.data


def test_groups_of_all_depths_with_options():
    class Noting(Group):
        def create_dataset(self, name, data, **options):
            super().create_dataset(name, data)
            self.attrs[name] = options

    for nested in ([[1], []], [[[1], []], []], [[[[1], []], []], []], [[[[[1], []], []], []], []]):
        group, x = Noting(), lodcore.array(nested)
        interop.save_to_group(group, x, chunks=(5,), compression="gzip")
        assert group.attrs["values"] == {"chunks": (5,), "compression": "gzip"}
        assert all(group.attrs[f"offsets_{k}"] == {} for k in range(x.num_levels))
        assert interop.load_from_group(group).tolist() == nested
        group.attrs["format"] = "others"
        with pytest.raises(LoDError, match="its attribute format is 'others'"):
            interop.load_from_group(group)


def test_many_rows_in_groups_keep_their_order():
    codes = np.arange(100) * 7 % 3
    lod, order, examples = grouped([codes])
    x = gathered("x", np.arange(100), lod, order)
    assert x.tolist() == [[k for k in range(100) if codes[k] == code] for code in (0, 1, 2)]
    assert codes[examples[0]].tolist() == [0, 1, 2]
    with pytest.raises(DTypeError, match="x: has dtype object; Python objects have no fixed size"):
        gathered("x", np.array([None] * 100), lod, order)


def test_keys_and_columns_of_another_structure():
    lod = LoD.from_lengths([2, 1], [1, 2, 1])
    for many in ([], [1], [1, 2, 3]):
        with pytest.raises(LoDError, match=rf"keys\['a'\]: has {len(many)} entries; there are 2 sequences"):
            row_keys("x", lod, {"a": many, "b": [1, 2, 3]})
    for other in (LoD.from_lengths([1, 2, 0]), LoD.from_lengths([3]), LoD.from_lengths([3], [1, 0, 2])):
        with pytest.raises(LoDError, match="'b' has a different structure from 'a'"):
            common_lod("x", {"a": X, "b": LoDTensor(np.arange(3), other)})


class Dataset(types.SimpleNamespace):
    """Stand in for a Dataset of xarray: variables by name, each with dimensions, values and attributes."""

    def __init__(self, variables, attrs=None):
        made = {k: types.SimpleNamespace(dims=v[0], values=np.asarray(v[1]), attrs=v[2]) for k, v in variables.items()}
        sizes = {name: n for one in made.values() for name, n in zip(one.dims, one.values.shape, strict=True)}
        super().__init__(variables=made, data_vars=made, sizes=sizes, attrs=attrs)

    def __getitem__(self, name):
        return self.variables[name]


def test_datasets_of_xarray(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", types.SimpleNamespace(Dataset=Dataset))
    given_ = Groups({"a": X, "b": LoDTensor(np.arange(6).reshape(3, 2), X.lod)}, {"k": np.array([7, 8, 9])})
    made = lodcore.to_xarray(given_, {"more": [1, 2, 3]})
    assert {name: one.dims for name, one in made.variables.items()} == {
        "rowsize": ("instance",), "k": ("instance",), "more": ("instance",), "a": ("obs",), "b": ("obs", "b_axis_1"),
    }  # fmt: skip
    assert made["rowsize"].attrs == {"sample_dimension": "obs"}
    back = lodcore.from_xarray(made)
    assert back.columns["a"].equals(X)
    assert back.columns["b"].tolist() == [[[0, 1], [2, 3]], [], [[4, 5]]]
    assert {name: one.tolist() for name, one in back.keys.items()} == {"k": [7, 8, 9], "more": [1, 2, 3]}
    for many in ([1, 2], [1, 2, 3, 4]):
        with pytest.raises(LoDError, match=rf"per_sequence\['k'\]: has {len(many)} entries; 3 are needed"):
            lodcore.to_xarray(X, {"k": many})
    with pytest.raises(LoDError, match="columns: have 2 levels"):
        lodcore.to_xarray([[[1]]])
    ids = np.arange(60) * 7 % 3 + 1  # mixed; the first and the last sequence have no row
    for numbers in (ids, np.sort(ids)):
        indexed = Dataset({"of": (("obs",), numbers, {"instance_dimension": "one"}), "v": (("obs",), range(60), {}),
                           "k": (("one",), range(5), {}), "free": (("other",), [1], {})})  # fmt: skip
        found = lodcore.from_xarray(indexed)
        assert found.columns["v"].tolist() == [[k for k in range(60) if numbers[k] == one] for one in range(5)]
        assert (list(found.columns), list(found.keys)) == (["v"], ["k"])
    counted = {"n": (("one",), [1, 2], {"sample_dimension": "obs"})}
    for variables, count in (({}, 0), (counted | {"m": counted["n"]}, 2)):
        with pytest.raises(LoDError, match=f"has {count} variables with an attribute"):
            lodcore.from_xarray(Dataset(variables))
    with pytest.raises(LoDError):
        lodcore.from_xarray(Dataset(counted | {"v": (("obs",), range(4), {})}))


@pytest.mark.parametrize("dtype", ["M8[s]", "M8[10s]", "m8[25ms]", "M8[2D]", "m8[3us]"])
def test_dates_in_multiples_of_a_unit_come_back_from_arrow_at_the_same_times(dtype):
    x = LoDTensor.from_lengths(np.array([1, "NaT", 3], dtype), [1, 2])
    back = lodcore.from_arrow(x, nulls="mask")[0]
    np.testing.assert_array_equal(back.values[[0, 2]], x.values[[0, 2]])
    assert back.lod == x.lod


# -- descriptions, line by line


def test_histograms_line_by_line():
    for low, high, lines in ((3, 3, 1), (1, 12, 12), (1, 13, 7), (0, 24, 9), (5, 41, 10), (990, 1010, 11)):
        lengths = np.array([low, high, *range(low, high + 1)])
        step = -(-(high - low + 1) // 12)
        found = list(histogram(lengths))
        assert len(found) == lines
        for k, line in enumerate(found):
            first, last = low + k * step, min(low + (k + 1) * step - 1, high)
            span, count = line.split("|")[0].replace(",", ""), int(line.split()[-1])
            assert [int(one) for one in span.split(" .. ")] == [first, *([last] if step > 1 else [])]
            assert count == ((lengths >= first) & (lengths <= last)).sum()


def test_lines_about_lengths_and_padding():
    lengths = [1, 9] * 20
    text = list(describe(LoDTensor.from_lengths(np.zeros(200), lengths)))
    assert "  min 1, median 5, mean 5, 99 % up to 9, max 9, 0 empty" in text
    assert "batches of 8: 44 % padding unsorted, 14 % sorted by length" in text  # 200 of 360, and of 232
    assert text[-1] == "padded: 360 rows, 2,880 bytes: 1.80 times as many, 44 % of them padding"
    for nested, rows in (([[[1, 2], []], [[3]]], 8), ([[[[1], [2, 3]]], [[[4]], [], [[5]]]], 2 * 3 * 2 * 2)):
        assert list(describe(lodcore.array(nested)))[-1].startswith(f"padded: {rows} rows, ")
    text = list(describe(LoDTensor.from_lengths(np.zeros(16), [1, 2], [3, 0, 1], [1, 4, 0, 2], [2, 1, 6, 1, 1, 2, 3])))
    assert text[-1].startswith(f"padded: {2 * 2 * 3 * 4 * 6} rows, ")
    assert [line for line in text if line.startswith("level")] == [
        "level 0: 2 sequences, lengths in sequences of level 1",
        "level 1: 3 sequences, lengths in sequences of level 2",
        "level 2: 4 sequences, lengths in sequences of level 3",
        "level 3: 7 sequences, lengths in rows",
    ]
    for count, lines in ((99, 100), (100, 101), (101, 102), (102, 102)):
        found = list(describe_tree([0] * count))
        assert len(found) == lines
        assert (": 1 more" in found[-1]) == (count == 101)
    for size, shown in ((58, 60), (59, 60), (60, 60), (61, 60)):  # with two quotes
        (line,) = describe_tree("a" * size)
        assert len(line.partition(": ")[2]) == shown
        assert line.endswith("...") == (size > 58)


def test_occupancy_of_a_short_last_batch():
    filled, total = occupancy(np.array([4, 2, 0, 0, 3]), 2)
    assert (filled.tolist(), total) == ([0.75, 1.0, 1.0], 9 / 11)
    for lengths in ([], [0], [0, 0, 0]):
        assert occupancy(np.array(lengths, int), 2)[1] == 1.0


INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("dtype", INTEGERS[:4])
@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_cu_seqlens_of_any_dtype_holds_the_offsets_or_refuses_them(dtype, beyond):
    total = int(np.iinfo(dtype).max) + beyond
    x = LoDTensor.from_lengths(np.zeros(total, np.int8), [total - 28, 28])
    if beyond > 0:
        with pytest.raises(OverflowError, match=rf"offsets: are {total} at position 2; {np.dtype(dtype)} holds"):
            lodcore.cu_seqlens(x, dtype=dtype)
    else:
        assert lodcore.cu_seqlens(x, dtype=dtype).tolist() == [0, total - 28, total]
