"""Trees in files: the same bits after a round trip; damaged, truncated or forged files are refused."""

import fcntl
import io
import itertools
import json
import multiprocessing
import operator
import os
import re
import stat
import struct
import warnings
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib import recfunctions

import lodcore
from lodcore import LoD, LoDTensor
from lodcore.base.archives import dtype_of
from lodcore.batching import PackPlan, pack_plan
from lodcore.errors import DTypeError, LoDError
from lodcore.interop import share
from lodcore.interop.files import folder
from lodcore.interop.files import shared_memory as sealed
from tests.helpers.draw import DTYPES, lod_tensors

X = lodcore.array([[1.5, 2.5], [], [3.5]])
DEEP = lodcore.array([[[1, 2], []], [], [[3]]])
FORMS = ["batch.npz", "batch.lod"]
REFUSED = (LoDError, DTypeError)


def same(a, b):
    """Compare trees bit by bit."""
    if isinstance(a, LoDTensor):
        return isinstance(b, LoDTensor) and a.lod == b.lod and same(a.values, b.values)
    if isinstance(a, (np.ndarray, np.generic)):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return type(b) is float and struct.pack("<d", a) == struct.pack("<d", b)
    return type(a) is type(b) and a == b


NUMBERS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers(allow_nan=False) | st.text(max_size=5)
)
ARRAYS = st.sampled_from(
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24, dtype=np.int16).reshape(2, 3, 4).transpose(1, 2, 0),
        np.arange(12.0).reshape(3, 4)[::-1, ::2],
        np.array(7),
        np.float32(2.5),
        np.empty((0, 2), ">i4"),
        np.True_,
    ]
)
LEAVES = NUMBERS | st.text(max_size=5) | st.binary(max_size=4) | ARRAYS | lod_tensors(0, 3, DTYPES)
KEYS = st.text(max_size=5) | st.integers()
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)


# -- round trips ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
@given(tree=TREES)
def test_load_gives_trees_equal_to_the_bit_to_those_saved(tmp_path_factory, name, tree):
    file = tmp_path_factory.mktemp("saved") / name
    lodcore.save(file, tree)
    assert same(tree, lodcore.load(file))
    if name.endswith(".lod"):
        assert same(tree, lodcore.load(file, verify=True))


@pytest.mark.parametrize("name", FORMS)
def test_load_restores_arrays_and_lods_that_were_shared(tmp_path, name):
    weight = np.arange(3.0)
    lodcore.save(tmp_path / name, {"x": X, "y": LoDTensor(X.values * 2, X.lod), "w": [weight, weight]})
    again = lodcore.load(tmp_path / name)
    assert again["x"].lod is again["y"].lod
    assert again["w"][0] is again["w"][1]


@pytest.mark.parametrize("name", FORMS)
def test_rows_of_a_tensor_are_written_once_wherever_it_is_and_those_of_arrays_apart(tmp_path, name):
    tree = {"x": X, "again": [X, LoDTensor.from_lengths(X.values, [X.num_rows])], "w": X.values}
    lodcore.save(tmp_path / name, tree)
    made = lodcore.load(tmp_path / name)
    tensors = [made["x"], *made["again"]]
    assert same(tree, made)
    rows = [*(one.values for one in tensors), made["w"]]
    for one, other in itertools.combinations(rows, 2):  # what can be written is nobody else's
        assert not np.shares_memory(one, other) or not (one.flags.writeable or other.flags.writeable)
    big, sizes = LoDTensor.from_lengths(np.arange(10_000.0), [10_000]), []
    for several in ({"x": big}, {"x": big, "again": [big, LoDTensor.from_lengths(big.values, [5_000] * 2)]}):
        lodcore.save(tmp_path / f"big{name}", several)
        files = [tmp_path / f"big{name}", *(tmp_path / f"big{name}").glob("*")]
        sizes.append(sum(one.stat().st_size for one in files if one.is_file()))
    assert sizes[1] < sizes[0] + big.values.nbytes / 10


@pytest.mark.parametrize("scalar", [np.str_("a\0"), np.bytes_(b"\0"), np.str_("\0\0")])
def test_numpys_text_with_nul_at_its_end_is_refused_and_pythons_is_kept(scalar):
    plain = scalar.item() if isinstance(scalar, np.bytes_) else str(scalar)
    with pytest.raises(
        DTypeError, match=rf"^lodcore.save: tree\[a\]: is .* as {type(scalar).__name__}, which an array"
    ):
        lodcore.save(io.BytesIO(), {"a": scalar})
    file = io.BytesIO()
    lodcore.save(file, {"a": plain, "b": np.str_("a\0b"), "c": np.str_("")})
    file.seek(0)
    assert lodcore.load(file) == {"a": plain, "b": "a\0b", "c": ""}


@pytest.mark.parametrize(
    "end", [".parquet", ".arrow", ".feather", ".csv", ".json", ".npy", ".h5", ".hdf5", ".zarr", ".PT"]
)
def test_save_refuses_names_of_other_formats_without_form(tmp_path, end):
    name = tmp_path / f"batch{end}"
    says = re.escape(f"lodcore.save: file: is {str(name)!r}; {end.lower()} is another format, for which there is ")
    with pytest.raises(ValueError, match=f"^{says}"):
        lodcore.save(name, X)
    assert not name.exists()
    for form in ("npz", "folder"):
        lodcore.save(tmp_path / f"{form}{end}", X, form=form)
        assert lodcore.load(tmp_path / f"{form}{end}").equals(X)


def test_save_and_load_take_open_files(tmp_path):
    for compress in (False, True):
        file = io.BytesIO()
        lodcore.save(file, {"x": X}, compress=compress)
        file.seek(0)
        assert same({"x": X}, lodcore.load(file))


class Narrow(io.RawIOBase):
    """A raw file that reads and writes seven bytes at most, as the system may."""

    def __init__(self, most=7):
        self.most, self.bytes = most, io.BytesIO()

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def seek(self, place, whence=os.SEEK_SET):
        return self.bytes.seek(place, whence)

    def tell(self):
        return self.bytes.tell()

    def readinto(self, given):
        data = self.bytes.read(min(self.most, len(given)))
        given[: len(data)] = data
        return len(data)

    def write(self, data):
        return self.bytes.write(bytes(data[: self.most])) if self.most else None


class Dribbling:
    """A file of seven bytes at a time that is no file of `io`."""

    def __init__(self, data):
        self.bytes = io.BytesIO(data)
        self.seek, self.tell = self.bytes.seek, self.bytes.tell

    def read(self, count=-1):
        return self.bytes.read(7 if count < 0 else min(count, 7))


@pytest.mark.parametrize("compress", [False, True])
def test_load_takes_files_that_return_less_than_was_asked_for(compress):
    file = io.BytesIO()
    lodcore.save(file, {"x": X, "n": 3}, compress=compress)
    assert same(lodcore.load(Dribbling(file.getvalue())), {"x": X, "n": 3})
    with pytest.raises(LoDError, match="is damaged"):
        lodcore.load(Dribbling(file.getvalue()[:-9]))


class Uncounted:
    """A writer that does not say how many bytes it has taken."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)


@pytest.mark.parametrize("compress", [False, True])
def test_save_and_load_take_files_without_a_buffer(compress):
    file, tree = Narrow(), {"x": X, "n": 3}
    lodcore.save(file, tree, compress=compress)
    assert same(tree, lodcore.load(file))
    assert not file.closed
    plan = pack_plan([3, 1, 2], 4)
    plan.save(file := Narrow())
    assert repr(PackPlan.load(file)) == repr(plan)
    lodcore.save(uncounted := Uncounted(), tree, compress=compress)
    assert same(tree, lodcore.load(io.BytesIO(uncounted.data)))
    with pytest.raises(BlockingIOError, match="takes no bytes"):
        lodcore.save(Narrow(0), tree)


def test_save_to_a_file_opened_for_appending_keeps_its_beginning(tmp_path):
    for before in (b"", b"head"):
        (tmp_path / "a.npz").write_bytes(before)
        with open(tmp_path / "a.npz", "ab") as file:
            lodcore.save(file, {"x": X})
        assert (tmp_path / "a.npz").read_bytes().startswith(before)
        assert same({"x": X}, lodcore.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("compress", [False, True])
def test_the_same_tree_is_the_same_file_at_any_time(compress):
    file = io.BytesIO()
    lodcore.save(file, {"x": X, "deep": [DEEP, 3, "text", None]}, compress=compress)
    with zipfile.ZipFile(file) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numpy_reads_the_arrays(tmp_path):
    lodcore.save(tmp_path / "x.npz", DEEP)
    with np.load(tmp_path / "x.npz") as archive:
        assert archive["values"].tolist() == [1, 2, 3]
        assert archive["offsets_1"].tolist() == [0, 2, 2, 3]


def test_arrays_of_a_tree_are_named_by_their_paths(tmp_path):
    lodcore.save(tmp_path / "x.npz", {"layers": [{"w": np.zeros(1)}, {"w": np.ones(1), "a b": np.ones(2)}]})
    with np.load(tmp_path / "x.npz") as archive:
        names = {name: archive[name].tolist() for name in archive.files if isinstance(archive[name], np.ndarray)}
    assert names == {"layers/0/w": [0.0], "layers/1/w": [1.0], "array_2": [1.0, 1.0]}


def test_load_reads_an_archive_written_by_numpy(tmp_path):
    np.savez(tmp_path / "x.npz", values=DEEP.values, offsets_0=DEEP.lod.offsets(0), offsets_1=DEEP.lod.offsets(1))
    assert lodcore.load(tmp_path / "x.npz").equals(DEEP)


OVERLAPPING = np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]})


class Key(str):
    pass


class Own(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        (np.array([{}]), "lodcore.save: tree: has dtype object .*numbers, dates or text can be saved"),
        ({"a": [1, {2}]}, r"lodcore.save: tree\[a\]\[1\]: is set"),
        ({"a": [1, {"b": object()}]}, r"tree\[a\]\[1\]\[b\]: is object"),
        ({1.5: 0}, "has the key 1.5; str and int can be saved"),
        ({True: 0}, "has the key True; str and int"),
        ({Key("a"): 1}, "str and int can be saved"),
        ({"r": [np.zeros(1, OVERLAPPING)]}, r"lodcore.save: tree\[r\]\[0\]: has dtype .* overlap or are out of order"),
        ({"r": LoDTensor.from_lengths(np.zeros(1, "i4, i8")[["f1", "f0"]], [1])}, r"tree\[r\]: .*repack_fields"),
        ({"r": np.zeros(1, [("p", OVERLAPPING)])}, r"tree\[r\]: has dtype .* overlap"),
        (
            [np.ma.array([1])],
            r"tree\[0\]: has dtype int64 and class MaskedArray.*numbers, dates or text can be saved",
        ),
    ],
)
@pytest.mark.parametrize("name", FORMS)
def test_save_of_unsupported_leaves_names_them_and_keeps_the_old_file(tmp_path, name, tree, says):
    lodcore.save(tmp_path / name, X)
    with pytest.raises(DTypeError, match=says):
        lodcore.save(tmp_path / name, tree)
    assert lodcore.load(tmp_path / name).equals(X)
    with pytest.raises(DTypeError, match=says):
        lodcore.save(tmp_path / f"new-{name}", tree)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_save_of_fields_out_of_order_names_the_call_that_puts_them_in_order(tmp_path):
    inner = np.dtype({"names": ["p", "q"], "formats": ["i2", "f8"], "offsets": [8, 0]})
    x = np.array([(1, (2, 0.5)), (3, (4, 1.5))], [("a", "i4"), ("b", inner)])
    with pytest.raises(DTypeError) as refused:
        lodcore.save(tmp_path / "x.npz", x)
    assert "numpy.lib.recfunctions.repack_fields(x, recurse=True)" in str(refused.value)
    packed = recfunctions.repack_fields(x, recurse=True)
    lodcore.save(tmp_path / "x.npz", packed)
    assert lodcore.load(tmp_path / "x.npz").tolist() == x.tolist()


@pytest.mark.parametrize("name", FORMS)
def test_save_of_subclasses_of_ndarray_keeps_their_values(tmp_path, name):
    mapped = np.memmap(tmp_path / "raw", np.float32, "w+", shape=(2, 3))
    mapped[...] = np.arange(6).reshape(2, 3)
    records = np.rec.array([(1, 2.5), (2, 3.5)], "i8, f8")
    for array in (mapped, records, np.array(["a"]).view(Own)):
        lodcore.save(tmp_path / name, {"x": array})
        found = lodcore.load(tmp_path / name)["x"]
        assert type(found) in (np.ndarray, np.memmap)
        assert (found.shape, found.tolist()) == (array.shape, array.tolist())
        assert found.dtype == np.asarray(array).dtype


def test_save_and_load_refuse_wrong_options(tmp_path):
    with pytest.raises(ValueError, match="form: is 'zip'"):
        lodcore.save(tmp_path / "x", X, form="zip")
    with pytest.raises(ValueError, match="compress: is True"):
        lodcore.save(tmp_path / "x.lod", X, compress=True)
    with pytest.raises(ValueError, match="file: is open"):
        lodcore.save(io.BytesIO(), X, form="folder")
    with pytest.raises(DTypeError, match="file: is int"):
        lodcore.load(3)
    with pytest.raises(FileNotFoundError):
        lodcore.load(tmp_path / "none.npz")
    for call in (lambda: lodcore.save("", X), lambda: lodcore.load(""), lambda: lodcore.append("", X)):
        with pytest.raises(FileNotFoundError):
            call()
    (tmp_path / "mine").mkdir()
    with pytest.raises(IsADirectoryError, match="mine"):
        lodcore.save(tmp_path / "mine", X, form="npz")


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_what_is_saved_over_a_file_has_its_permissions(tmp_path, mode):
    file, folder = tmp_path / "x.npz", tmp_path / "x.lod"
    for name in (file, folder):
        lodcore.save(name, X)
    before = [file, folder / "manifest.json", *folder.glob("*.bin")]
    for entry in before:
        entry.chmod(mode)
    for name in (file, folder):
        lodcore.save(name, {"y": X})
    assert permissions(file) == mode
    rows = list(folder.glob("*.bin"))
    assert not set(before) & set(rows)
    assert {permissions(entry) for entry in (folder / "manifest.json", *rows)} == {mode}
    if mode & 0o200:
        lodcore.append(folder, {"y": X})
        assert permissions(folder / "manifest.json") == mode
    new = tmp_path / "new.npz"
    lodcore.save(new, X)
    plain = tmp_path / "plain"
    plain.touch()
    assert permissions(new) == permissions(plain)


def test_save_to_a_link_replaces_what_it_leads_to(tmp_path):
    for name in ("data", "links"):
        (tmp_path / name).mkdir()
    target, link, further = tmp_path / "data" / "stored", tmp_path / "links" / "x.npz", tmp_path / "links" / "y.npz"
    link.symlink_to("../data/stored")
    further.symlink_to(link)
    for n, name in enumerate((link, further, link)):  # at first there is no target
        lodcore.save(name, n)
        assert link.is_symlink()
        assert further.is_symlink()
        assert not target.is_symlink()
        assert [lodcore.load(one) for one in (link, further, target)] == [n, n, n]
    assert sorted(entry.name for entry in tmp_path.rglob("*") if entry.is_file()) == ["stored", "x.npz", "y.npz"]
    before = target.read_bytes()
    with pytest.raises(DTypeError):
        lodcore.save(link, object())
    assert target.read_bytes() == before
    loop = tmp_path / "loop.npz"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="symbolic links"):
        lodcore.save(loop, X)
    assert loop.is_symlink()
    aside = tmp_path / "aside.npz"
    aside.symlink_to(tmp_path / "none" / "x.npz")
    with pytest.raises(FileNotFoundError):
        lodcore.save(aside, X)


def test_save_to_a_link_to_a_folder_replaces_what_is_in_the_folder(tmp_path):
    link = tmp_path / "link.lod"
    link.symlink_to(tmp_path / "x.lod")
    lodcore.save(tmp_path / "x.lod", X)
    lodcore.save(link, 5)
    lodcore.save(link, X)
    lodcore.append(link, X)
    assert link.is_symlink()
    assert len(lodcore.load(tmp_path / "x.lod")) == 2 * len(X)


class Raw:
    """A file that has only one method."""

    def read(self, size=-1):
        return b""


def test_open_files_that_cannot_be_read_or_written_are_refused(tmp_path):
    name = tmp_path / "x.npz"
    lodcore.save(name, X)
    with open(name, "rb") as file:
        pass
    memory = io.BytesIO()
    memory.close()
    plan = pack_plan([1, 2], 3)
    with open(name, "rb") as reader, open(name, encoding="latin-1") as text, open(tmp_path / "y", "wb") as writer:
        for given, says in (
            (file, "x.npz: is closed; an open file is needed"),
            (memory, "file: is closed; an open file is needed"),
            (writer, "y: is not readable"),
            (text, "x.npz: is TextIOWrapper; a binary file with read, seek, tell is needed"),
            (io.StringIO(), "file: is StringIO; a binary file"),
            (Raw(), "file: is Raw; a binary file with read, seek, tell is needed"),
        ):
            with pytest.raises(REFUSED, match=f"^lodcore.load: .*{says}"):
                lodcore.load(given)
            with pytest.raises(REFUSED, match=r"^PackPlan.load: file: is "):
                PackPlan.load(given)
        for given, says in (
            (file, "is closed; an open file is needed"),
            (memory, "is closed; an open file is needed"),
            (reader, "is not writable"),
            (text, "is TextIOWrapper; a binary file with write is needed"),
            (io.StringIO(), "is StringIO; a binary file with write is needed"),
        ):
            with pytest.raises(REFUSED, match=f"^lodcore.save: file: {says}"):
                lodcore.save(given, X)
            with pytest.raises(REFUSED, match=f"^PackPlan.save: file: {says}"):
                plan.save(given)
    assert lodcore.load(name).equals(X)


@pytest.mark.parametrize("name", ["a\0b.npz", "a\0b.lod", "\ud800.npz"])
def test_names_that_no_file_has_are_refused(tmp_path, name):
    for where, call in {
        "save": lambda: lodcore.save(f"{tmp_path}/{name}", X),
        "load": lambda: lodcore.load(f"{tmp_path}/{name}"),
        "append": lambda: lodcore.append(f"{tmp_path}/{name}", X),
    }.items():
        with pytest.raises(LoDError, match=f"^lodcore.{where}: file: is .*, which no file is called"):
            call()


# -- one file, damaged ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Leave out what makes writes durable, which takes seconds on a slow disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="module", params=["tree", "tensor"])
def saved(request):
    file = io.BytesIO()
    lodcore.save(file, {"x": X, "w": np.arange(3), "n": 5} if request.param == "tree" else X)
    return file.getvalue()


def test_a_file_that_is_cut_anywhere_is_refused(saved):
    for size in range(0, len(saved), 7):
        with pytest.raises(REFUSED, match=r"lodcore.load: file"):
            lodcore.load(io.BytesIO(saved[:size]))


def test_a_file_with_a_changed_byte_is_refused_or_the_same(saved):
    """Some bytes have no effect, such as the date of an entry."""
    tree, refused = lodcore.load(io.BytesIO(saved)), 0
    for place in range(0, len(saved), 3):
        for flip in (0x01, 0xFF):
            damaged = bytearray(saved)
            damaged[place] ^= flip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    again = lodcore.load(io.BytesIO(bytes(damaged)))
                except REFUSED as error:
                    said = str(error)
                else:
                    assert same(tree, again)
                    continue
                assert said.startswith("lodcore.load: file")
                refused += 1
    assert refused > len(saved) / 3


def test_dtypes_of_a_description():
    assert dtype_of("x", "<f4") == np.float32
    with pytest.raises(DTypeError, match="has no dtype"):
        dtype_of("x", [["a"]])
    for odd in ("|O", ("<i4", (2,)), [("a", "|O")]):
        with pytest.raises(DTypeError, match=r"x: has dtype .*; Python objects are not read"):
            dtype_of("x", odd)


# -- a folder ------------------------------------------------------------------------------------------------------


def test_values_of_a_folder_are_mapped(tmp_path):
    lodcore.save(tmp_path / "x.lod", DEEP)
    x = lodcore.load(tmp_path / "x.lod")
    assert not x.values.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        x.values.flags.writeable = True
    for write in (lambda: operator.setitem(x, 0, 1), lambda: np.add(x, x, out=x)):
        with pytest.raises(ValueError, match=r"values are read-only, .* open for reading; write into x.copy\(\)$"):
            write()
    assert x[0].tolist() == [[1, 2], []]
    assert lodcore.gather_sequences(x, [2, 0]).tolist() == [[[3]], [[1, 2], []]]


@given(st.lists(lod_tensors(2, 2, [np.dtype("i2")], [(3,)]), min_size=1, max_size=4))
def test_append_to_a_folder_equals_concat_batches(tmp_path_factory, pieces):
    name = tmp_path_factory.mktemp("folder") / "x.lod"
    lodcore.save(name, {"x": pieces[0], "y": LoDTensor(pieces[0].values[:, 0] > 0, pieces[0].lod)})
    for piece in pieces[1:]:
        lodcore.append(name, {"x": piece, "y": LoDTensor(piece.values[:, 0] > 0, piece.lod)})
    joined = lodcore.load(name, verify=True)
    assert joined["x"].equals(lodcore.concat_batches(pieces))
    assert joined["x"].lod is joined["y"].lod
    assert (joined["y"].values == (joined["x"].values[:, 0] > 0)).all()


@pytest.mark.parametrize("form", FORMS)
def test_trees_may_be_a_hundred_deep(tmp_path, form):
    tree, other = 1.5, 1.5
    for k in range(100):
        tree, other = [tree] if k % 2 else {"x": tree}, [other]
    for one in (tree, other):
        lodcore.save(tmp_path / form, one)
        assert same(lodcore.load(tmp_path / form), one)
    with pytest.raises(LoDError, match="tree: is nested more than 100 deep"):
        lodcore.save(tmp_path / form, [tree])


def test_append_to_a_folder_without_a_save_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        lodcore.append(tmp_path / "x.lod", X)
    (tmp_path / "y.lod").mkdir()
    with pytest.raises(LoDError, match=r"manifest.json: is missing"):
        lodcore.append(tmp_path / "y.lod", X)


def test_load_ignores_bytes_after_the_end_and_append_cuts_them_off(tmp_path):
    """A writer may die after any byte of its new rows: readers see the old ones, and the next writer starts again."""
    name = tmp_path / "x.lod"
    lodcore.save(name, DEEP)
    before = {path: path.read_bytes() for path in name.glob("*.bin")}
    manifest_before = (name / "manifest.json").read_bytes()
    lodcore.append(name, DEEP)
    after = {path: path.read_bytes() for path in before}
    manifest_after = (name / "manifest.json").read_bytes()
    for path in before:
        path.write_bytes(before[path])
    (name / "manifest.json").write_bytes(manifest_before)
    for size in range(0, 40):
        for path, data in after.items():
            path.write_bytes(data[: max(len(before[path]), len(data) - size)])
        (name / "manifest.json.new").write_bytes(manifest_after[:size])
        assert lodcore.load(name, verify=True).equals(DEEP)
    for path, data in after.items():
        path.write_bytes(data)
    last = lodcore.array([[[8, 9], [10]]])
    lodcore.append(name, last)
    assert lodcore.load(name, verify=True).equals(lodcore.concat_batches([DEEP, last]))


def changed(name, change):
    """Change the manifest of a folder, and update its checksum."""
    path = name / "manifest.json"
    body = json.loads(json.loads(path.read_bytes())["content"])
    change(body)
    text = json.dumps(body)
    path.write_text(json.dumps({"checksum": zlib.crc32(text.encode()), "content": text}), encoding="utf-8")


def test_a_damaged_manifest_is_refused(tmp_path):
    name = tmp_path / "x.lod"
    lodcore.save(name, X)
    whole = (name / "manifest.json").read_bytes()
    for size in range(0, len(whole), 11):
        (name / "manifest.json").write_bytes(whole[:size])
        with pytest.raises(LoDError, match=r"manifest.json: "):
            lodcore.load(name)
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (name / "manifest.json").write_bytes(bytes(damaged))
        with pytest.raises(LoDError, match=r"manifest.json: "):
            lodcore.load(name)


def test_damaged_offsets_and_values_are_found(tmp_path):
    name = tmp_path / "x.lod"
    lodcore.save(name, X)
    (values,) = (path for path in name.glob("*-0.bin") if "lod" not in path.name)
    data = values.read_bytes()
    values.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    lodcore.load(name)
    with pytest.raises(LoDError, match=r"-0.bin: is damaged: its checksum"):
        lodcore.load(name, verify=True)
    values.write_bytes(data)
    (offsets,) = name.glob("*lod*.bin")
    offsets.write_bytes(np.array([0, 3, 2, 3]).tobytes())
    with pytest.raises(LoDError, match=r"is 2 at position 2; offsets start at 0, never fall"):
        lodcore.load(name)
    offsets.write_bytes(np.array([0, 1, 2, 3]).tobytes())
    with pytest.raises(LoDError, match=r"is damaged"):
        lodcore.load(name, verify=True)
    offsets.write_bytes(np.array([0, 1]).tobytes())
    with pytest.raises(LoDError, match=r"has 16 bytes; its manifest counts 32"):
        lodcore.load(name)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f8"])
@pytest.mark.parametrize("count", [1, 3, 7, 8, 11, 16])
def test_damage_anywhere_is_found(tmp_path, count, dtype):
    name = tmp_path / "x.lod"
    lodcore.save(name, LoDTensor.from_lengths(np.arange(count, dtype=dtype), [count - 1, 0, 1]))
    lodcore.load(name, verify=True)
    for file in name.glob("*.bin"):
        whole = file.read_bytes()
        for at in range(len(whole)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            with pytest.raises(LoDError):
                lodcore.load(name, verify=True)
        file.write_bytes(whole)
    lodcore.load(name, verify=True)


@pytest.mark.parametrize("size", [1, 5, 8, 24, 64, 1000])
def test_offsets_are_read_and_checked_in_pieces(tmp_path, monkeypatch, size):
    """For any end of a piece, also within a word."""
    monkeypatch.setattr(folder, "PIECE", size)
    name = tmp_path / "x.lod"
    x = LoDTensor.from_lengths(np.arange(15), [1, 0, 2, 4, 0, 3, 5])
    lodcore.save(name, x)
    assert lodcore.load(name, verify=True).equals(x)
    (offsets,) = name.glob("*lod*.bin")
    whole = x.offsets.copy()
    for bad in range(len(whole)):
        for wrong in (-1, whole[bad - 1] - 1, 16) if bad else (-1, 1):
            changed = whole.copy()
            changed[bad] = wrong
            offsets.write_bytes(changed.tobytes())
            first = bad if wrong < 16 or bad == 7 else bad + 1
            value = changed[first]
            with pytest.raises(LoDError, match=rf"is {value} at position {first}; offsets start at 0, never fall"):
                lodcore.load(name)


def test_bools_of_a_folder_are_bools(tmp_path):
    name = tmp_path / "x.lod"
    lodcore.save(name, LoDTensor(np.array([True, False, True]), LoD.from_lengths([1, 2])))
    next(path for path in name.glob("*-0.bin") if "lod" not in path.name).write_bytes(b"\0\1\7")
    with pytest.raises(LoDError, match="is 7 at byte 2; a bool is 0 or 1"):
        lodcore.load(name)


# -- shared memory -----------------------------------------------------------------------------------------------------


def tell(shared, name, queue):
    """Read both from another process."""
    x, y = shared.tensor(), lodcore.load(name)
    queue.put((x.tolist(), y.tolist(), x.values.flags.writeable, x.offsets.flags.writeable))


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="the system has no memory that can be sealed")
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.not_on_reference
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_other_processes_read_shared_and_saved_tensors_as_read_only(tmp_path, method):
    lodcore.save(tmp_path / "x.lod", DEEP)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=tell, args=(share(DEEP), str(tmp_path / "x.lod"), queue))
    process.start()
    found = queue.get(timeout=600)
    process.join()
    assert found == (DEEP.tolist(), DEEP.tolist(), False, False)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="the system has no memory that can be sealed")
class TestSealed:
    @given(lod_tensors(0, 3))
    def test_share_gives_an_equal_tensor(self, x):
        again = share(x).tensor()
        assert again.lod == x.lod
        assert same(again.values, x.values)

    def test_share_keeps_fields_that_are_out_of_order_in_memory(self):
        x = LoDTensor.from_lengths(np.array([(1, 2.5), (3, 4.5)], "i4, f8"), [1, 1])[["f1", "f0"]]
        again = share(x).tensor()
        assert again.dtype == x.dtype
        assert again.equals(x)

    def test_files_are_closed(self):
        before = len(os.listdir("/proc/self/fd"))
        kept = [share(DEEP).tensor() for _ in range(20)]
        assert len(os.listdir("/proc/self/fd")) <= before + 20 + 5  # one for the memory of each tensor
        kept.clear()
        assert len(os.listdir("/proc/self/fd")) <= before + 5

    def test_arrays_of_shared_memory_can_be_written_by_nobody(self):
        shared = share(DEEP)
        x = shared.tensor()
        for array in (x.values, x.offsets, x.offsets.base):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
        with pytest.raises(OSError, match="not permitted"):
            os.pwrite(shared._handle, b"\xff", 0)
        seals = fcntl.fcntl(shared._handle, fcntl.F_GET_SEALS)
        assert seals == fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
        del shared
        assert x.tolist() == DEEP.tolist()

    def test_shared_memory_that_is_not_sealed_is_refused(self):

        handle = os.memfd_create("x", os.MFD_ALLOW_SEALING)
        os.ftruncate(handle, 4096)
        with pytest.raises(LoDError, match="its memory is not sealed"):
            sealed._holding(handle, 1, 4, 64, (0,), np.dtype("<f8")).tensor()
        good = share(DEEP)
        parts = good._parts
        for wrong in (
            (parts[0], 10**9, *parts[2:]),
            (7, *parts[1:]),
            (-1, *parts[1:]),
            (*parts[:3], (10**9,), parts[4]),
            (*parts[:3], (2,), parts[4]),
            (1, *parts[1:]),
            (*parts[:2], 8 + parts[1], *parts[3:]),
            (*parts[:2], 0, *parts[3:]),
            (*parts[:2], 2**40, *parts[3:]),
        ):
            with pytest.raises(LoDError):
                sealed._holding(os.dup(good._handle), *wrong).tensor()


@pytest.mark.parametrize("arguments", [(), (1,), (2, 1, 4, 64, (0,), "<f8")])
def test_shared_refuses_a_file_descriptor(arguments):
    """It would close that file at the end."""
    with pytest.raises(TypeError, match="is made by"):
        sealed.Shared(*arguments)
    os.fstat(2)


def test_share_without_memfd_create_raises(monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    with pytest.raises(NotImplementedError, match="no memory that can be sealed"):
        share(X)


def test_long_names_of_a_tree_are_kept_though_files_have_short_ones(tmp_path):
    tree = {"a" * 300: np.arange(3), "b" * 150: {"c" * 150: np.arange(2)}, "d": {"e": np.arange(1)}}
    lodcore.save(tmp_path / "x.npz", tree)
    with np.load(tmp_path / "x.npz") as file:
        assert max(map(len, file.files)) < 200
        assert "d/e" in file.files
    found = lodcore.load(tmp_path / "x.npz")
    assert found.keys() == tree.keys()
    assert found["b" * 150]["c" * 150].tolist() == [0, 1]
