"""Files of trees: appended tensors of all depths, names, forgeries of every field, and what a file must not be."""

import io
import itertools
import json
import os
import stat
import subprocess
import zipfile

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoD, LoDError, LoDTensor, ShapeError, SparseTensor
from lodcore.interop.files import storage
from lodcore.interop.files import tree_data as trees
from lodcore.interop.files.documents import read_documents, write_packed
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
REFUSED = (LoDError, DTypeError, ShapeError)
X = LoDTensor.from_lengths(np.arange(3.0), [1, 0, 2])


def deep(levels, start=0):
    """Return a tensor whose levels have different numbers of sequences, some of them empty."""
    lengths = [[2, 0, 1], [1, 2, 3], [2, 0, 1, 1, 0, 3], [1, 0, 2, 1, 3, 0, 1]][:levels]
    rows = sum(lengths[-1])
    return LoDTensor.from_lengths(np.arange(start, start + rows, dtype="i4"), *lengths)


def umask():
    """Return the mask of permissions for new files, from a process that may change it."""
    return int(subprocess.run(["sh", "-c", "umask"], capture_output=True, check=True).stdout, 8)


# -- folders -------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Leave out what makes writes durable, which takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def test_tensors_of_all_depths_are_appended(tmp_path):
    name = tmp_path / "x.lod"
    pieces = [{f"x{k}": deep(k, start) for k in (1, 2, 3, 4)} for start in (0, 100, 200)]
    lodcore.save(name, pieces[0])
    for piece in pieces[1:]:
        lodcore.append(name, piece)
    found = lodcore.load(name, verify=True)
    for key, x in found.items():
        assert x.tolist() == [one for piece in pieces for one in piece[key].tolist()]
    for path in name.glob("*.bin"):
        assert path.stat().st_size % 4 == 0


def test_append_cuts_off_the_rows_of_a_writer_that_died(tmp_path):
    name = tmp_path / "x.lod"
    lodcore.save(name, deep(3))
    sizes = {path: path.stat().st_size for path in name.glob("*.bin")}
    for path in sizes:
        with open(path, "ab") as opened:
            opened.write(b"\7" * 1000)
    lodcore.append(name, deep(3))
    assert lodcore.load(name, verify=True).tolist() == deep(3).tolist() * 2
    for path, size in sizes.items():
        assert path.stat().st_size == (2 * size if "lod" not in path.name else 2 * size - 8)
    whole = {path: path.read_bytes() for path in sizes}
    for path, data in whole.items():
        os.truncate(path, len(data) - 1)
        with pytest.raises(LoDError, match=rf"{path.name}: has {len(data) - 1} bytes; its manifest counts {len(data)}"):
            lodcore.append(name, deep(3))
        for other, before in whole.items():
            other.write_bytes(before)


@for_each(
    ("saved", "appended", "says"),
    [
        (X, {"x": X}, "has other entries"),
        (X, np.arange(3.0), "a LoDTensor, or a dict of LoDTensors, can be added"),
        (X, {"x": 3}, "can be added"),
        ({"a": X}, {"b": X}, "has other entries"),
        ({"a": X, "b": X}, {"b": X, "c": X}, "has other entries"),
        ({"a": X, 1: X}, {"1": X, "a": X}, "has other entries"),
        ({"a": X}, {"a": {1}}, r"tree\[a\]: is set"),
        ({"a": X, "b": X}, {"a": X}, "has other entries"),
        ({"a": X, "b": X}, {"a": X, "b": LoDTensor(X.values, LoD.from_lengths([1, 0, 2]))}, "shares other structures"),
        (X, X.astype("i8"), "has dtype int64"),
        (X, X.astype("c8"), "has dtype complex64"),
        (X, LoDTensor(X.values[:, None], X.lod), "rows of shape"),
        (deep(2), deep(1), "has 1 level; what is there has 2"),
        (deep(2), deep(3), "has 3 levels; what is there has 2"),
    ],
)
def test_append_of_a_tree_that_does_not_fit_raises_and_changes_nothing(saved, appended, says, tmp_path_factory):
    name = tmp_path_factory.mktemp("folder") / "x.lod"
    lodcore.save(name, saved)
    before = {path.name: path.read_bytes() for path in name.iterdir()}
    with pytest.raises(REFUSED, match=says):
        lodcore.append(name, appended)
    assert before == {path.name: path.read_bytes() for path in name.iterdir()}


def test_append_takes_the_keys_in_any_order(tmp_path):
    one, two = X, LoDTensor.from_lengths(np.arange(3.0), [3])
    parts = {"a": one, "b c": two[:1], 2: one.astype("i4"), "é": two}
    for k, keys in enumerate(itertools.permutations(parts)):
        name = tmp_path / f"{k}.lod"
        lodcore.save(name, parts)
        lodcore.append(name, {key: parts[key] for key in keys})
        found = lodcore.load(name)
        assert list(found) == list(parts)
        for key, x in parts.items():
            assert found[key].tolist() == x.tolist() * 2
            assert found[key].dtype == x.dtype
        assert found["a"].lod is found[2].lod


def test_flags_of_loading_and_saving(tmp_path):
    """Any true value verifies; a folder is not compressed; an existing folder is written to again."""
    name = tmp_path / "x.lod"
    lodcore.save(name, X)
    (offsets,) = name.glob("*lod*.bin")
    offsets.write_bytes(np.array([0, 1, 2, 3]).tobytes())
    for verify in (True, 1, np.True_):
        with pytest.raises(LoDError, match=r"lod0-0.bin: is damaged"):
            lodcore.load(name, verify=verify)
    for verify in (False, 0, np.False_):
        assert lodcore.load(name, verify=verify).lod.lengths().tolist() == [1, 1, 1]
    for compress in (True, 1, np.True_):
        with pytest.raises(ValueError, match="compress: is True"):
            lodcore.save(name, X, compress=compress)
    (tmp_path / "plain").mkdir()
    for place in ("plain", "new/"):
        lodcore.save(f"{tmp_path}/{place}", X)
        assert (tmp_path / place / "manifest.json").is_file()
    for entry in (".hidden", "notes.txt", "1-0.bin.bak"):
        (tmp_path / "plain" / entry).write_text("", encoding="utf-8")
        with pytest.raises(FileExistsError, match=f"has '{entry}' in it"):
            lodcore.save(tmp_path / "plain", X)
        (tmp_path / "plain" / entry).unlink()


def test_load_gives_trees_of_all_leaves_that_save_takes(tmp_path):
    """Arrays of one row are not numbers; nested records, other byte orders and empty rows."""
    inner = np.dtype([("a", "<i2"), ("b", [("c", "<f4"), ("d", "|S3", (2,))])])
    tree = {
        "one": np.array([5]), "none": np.array(5), "wide": np.ones((1, 1)), "scalar": np.float32(0.5),
        "records": np.zeros(3, inner), "swapped": np.arange(3, dtype=">i4"), "empty": np.zeros((0, 3), "f4"),
        "flat": np.zeros((2, 0)), "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)), "t": (), "l": [],
        "floats": [0.1, -0.0, np.inf, 1j, complex(0, -0.0), complex(-0.0, 1)], 7: {}, "order": {"b": 1, "a": 2},
        "zero": True, "no": None, "text": "\u00fc", "bytes": b"\0\1", "big": -(10**30), "offsets_0": np.arange(2),
        "lod": X, "view": LoDTensor(X.values * 2, X.lod), "offsets_0_0": np.arange(3), "A": np.arange(4),
        "a": np.arange(5), "x" * 250: np.arange(6), "sparse": SparseTensor([2, 0], np.ones((2, 2)), 5),
    }  # fmt: skip
    for name in ("x.npz", "x.lod"):
        lodcore.save(tmp_path / name, tree)
        found = lodcore.load(tmp_path / name, verify=True)
        assert list(found) == list(tree)
        assert list(found["order"]) == ["b", "a"]
        for key, want in tree.items():
            got = found[key]
            assert type(got) is type(want), key
            if isinstance(want, np.ndarray):
                assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes()), key
            elif isinstance(want, LoDTensor):
                assert got.equals(want)
            elif not isinstance(want, SparseTensor):
                assert repr(got) == repr(want), key
        assert found["lod"].lod is found["view"].lod
        assert (found["sparse"].indices.tolist(), found["sparse"].height) == ([2, 0], 5)
        assert not any(isinstance(one, np.ndarray) and one.flags.writeable for one in found.values()
                       if name == "x.lod" and isinstance(one, np.ndarray) and one.size)  # fmt: skip
    assert sorted(os.listdir(tmp_path)) == ["x.lod", "x.npz"]
    assert stat.S_IMODE((tmp_path / "x.npz").stat().st_mode) == 0o666 & ~umask()


def test_save_to_a_full_disk_leaves_no_file(tmp_path, monkeypatch):
    def fails(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr(storage, "write_npz", fails)
    with pytest.raises(OSError, match="the disk is full"):
        lodcore.save(tmp_path / "x.npz", X)
    assert not list(tmp_path.iterdir())


def test_names_last_as_long_as_their_arrays():
    """Arrays that are made while a tree is packed must not take the name of one that is gone."""
    packed = trees.pack("", [np.float64(k) for k in range(50)])
    assert [packed.arrays[node["scalar"]].item() for node in packed.tree["list"]] == list(range(50))
    shared = np.arange(3)
    packed = trees.pack("", [shared, shared, X, X, LoDTensor(shared, X.lod)])
    assert (len(packed.lods), packed.lods[0] is X.lod) == (1, True)


# -- .npz ----------------------------------------------------------------------------------------------------------


def archive(members, tree=None, lods=(), **changes):
    """Write an .npz file by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, data in members:
            if isinstance(data, np.ndarray):
                part = io.BytesIO()
                np.lib.format.write_array(part, data)
                data = part.getvalue()
            opened.writestr(name, data)
        if tree is not None:
            manifest = {"format": "lodcore", "version": 1, "tree": tree, "lods": list(lods)} | changes
            opened.writestr("lodcore.json", json.dumps(manifest))
    file.seek(0)
    return file


PART = "{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (1,)}"


def test_names_of_offsets():
    """As they are documented, so that NumPy and older files are read."""
    file = io.BytesIO()
    lodcore.save(file, deep(2))
    with zipfile.ZipFile(file) as opened:
        assert sorted(opened.namelist()) == ["lodcore.json", "offsets_0.npy", "offsets_1.npy", "values.npy"]
    file = io.BytesIO()
    lodcore.save(file, {"a": deep(2), "b": X})
    with zipfile.ZipFile(file) as opened:
        offsets = sorted(name for name in opened.namelist() if "offsets" in name)
        assert offsets == ["offsets_0_0.npy", "offsets_0_1.npy", "offsets_1_0.npy"]


# -- documents -----------------------------------------------------------------------------------------------------


def test_documents_are_read_in_the_order_of_their_names(tmp_path):
    path = tmp_path / "docs"
    path.mkdir()
    for name, values in (("b", [1, 2]), ("a10", [3]), ("a9", [4, 5]), ("c", [])):
        np.save(path / f"{name}.npy", np.array(values, int))
    found = read_documents(path)
    assert (found.tokens.tolist(), found.names) == ([[3], [4, 5], [1, 2], []], ["a10.npy", "a9.npy", "b.npy", "c.npy"])
    plan = lodcore.batching.pack_plan(found.tokens, 3)
    packed = plan.apply(found.tokens)
    write_packed(tmp_path / "out", packed, plan, found)
    for bin in range(plan.num_bins):
        assert np.load(tmp_path / "out" / f"bin_{bin:06d}.npy").tolist() == [t for one in packed[bin] for t in one]
    np.save(path / "d.npy", np.array(3))
    with pytest.raises(ValueError, match=r"d.npy: holds a single number"):
        read_documents(path)
    np.savez(tmp_path / "bare.npz", values=np.arange(3))
    with pytest.raises(ValueError, match="holds values; values, offsets_0 and so on are needed"):
        read_documents(tmp_path / "bare.npz")
    lodcore.save(tmp_path / "tree.npz", {"n": 3, "a": X, "b": X * 2})
    for column, want in ((None, X), ("a", X), ("b", X * 2)):
        assert read_documents(tmp_path / "tree.npz", column).tokens.equals(want)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bare.npz", "docs", "out", "tree.npz"]


@for_each("keys", itertools.permutations(["array_1", "\u00fc", "array_0", "array_1_", "a/b"], 3))
def test_names_of_arrays_are_not_given_twice(keys):
    """Some keys cannot be names in an archive, and others look like the names that are made for these."""
    tree, file = {key: np.arange(3) + 10 * k for k, key in enumerate(keys)}, io.BytesIO()
    lodcore.save(file, tree)
    file.seek(0)
    found = lodcore.load(file)
    assert {key: one.tolist() for key, one in found.items()} == {key: one.tolist() for key, one in tree.items()}
