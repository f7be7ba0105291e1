"""Mapped tensors that multiprocessing sends: the names of their files, read again where they arrive."""

import pickle
import shutil
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDError, LoDTensor
from lodcore.interop.files.folder import MAPPED

X = LoDTensor(np.arange(3000.0).reshape(1500, 2), LoD.from_lengths([2, 1, 0], [500, 300, 700]))


def sent(x):
    """Return the bytes that multiprocessing would send."""
    return bytes(ForkingPickler.dumps(x))


@pytest.fixture
def folder(tmp_path):
    lodcore.save(tmp_path / "a.lod", {"x": X, "y": X * 2})
    return tmp_path / "a.lod"


def test_a_mapped_tensor_is_sent_as_the_names_of_its_files(folder):
    tree = lodcore.load(folder)
    data = sent(tree)
    assert len(data) < 1000
    for shared in (True, False):  # with the memory mapped here, and from the files
        back = pickle.loads(data)
        assert back["x"].equals(X)
        assert back["y"].equals(X * 2)
        assert back["x"].lod is back["y"].lod
        assert not back["x"].values.flags.writeable
        del back
        if shared:
            del tree
    assert not any(mapped.folder == str(folder) for mapped in MAPPED.values())


def test_a_part_is_sent_with_its_structure_and_a_copy_with_its_data(folder):
    mapped = lodcore.load(folder)["x"]
    part = mapped[1:]
    assert len(sent(part)) < 2000 < part.nbytes
    assert pickle.loads(sent(part)).equals(X[1:])
    rows = mapped.with_values(mapped.values[:, :1])  # not contiguous, so that it is a copy
    assert pickle.loads(sent(rows)).equals(X.with_values(X.values[:, :1]))
    copied = mapped[[1, 0]]
    assert len(sent(copied)) > copied.nbytes
    assert pickle.loads(sent(copied)).equals(X[[1, 0]])
    assert len(sent(X)) > X.nbytes


def test_selected_fields_of_mapped_records_are_sent_in_their_order(tmp_path):
    records = LoDTensor.from_lengths(np.array([(1, 2.5), (3, 4.5)] * 500, "i4, f8"), [400, 600])
    lodcore.save(tmp_path / "a.lod", records)
    part = lodcore.load(tmp_path / "a.lod")[["f1", "f0"]]
    back = pickle.loads(sent(part))
    assert len(sent(part)) < part.nbytes
    assert back.dtype == part.dtype
    assert back.equals(records[["f1", "f0"]])


def test_a_plain_pickle_keeps_the_data(folder):
    data = pickle.dumps(lodcore.load(folder)["x"])
    shutil.rmtree(folder)
    assert pickle.loads(data).equals(X)


def test_pickled_reference_to_a_file_gives_no_rows_appended_later(tmp_path):
    lodcore.save(tmp_path / "a.lod", X)
    data = sent(lodcore.load(tmp_path / "a.lod"))
    lodcore.append(tmp_path / "a.lod", X[:2])
    assert pickle.loads(data).equals(X)
    assert len(lodcore.load(tmp_path / "a.lod")) == 5


def test_unpickling_a_reference_to_a_replaced_or_removed_file_raises(folder):
    data = sent(lodcore.load(folder))
    lodcore.save(folder, {"x": X, "y": X})
    with pytest.raises(LoDError, match=r"LoDTensor: .*a\.lod: has been saved again since .*\.bin is missing"):
        pickle.loads(data)
    shutil.rmtree(folder)
    with pytest.raises(LoDError, match=r"LoDTensor: .*a\.lod: is not there, and another process sent"):
        pickle.loads(data)


def test_bytes_that_are_no_bools_are_refused(tmp_path):
    """As by `load`: whoever writes the file, memory that NumPy takes for bools is checked."""
    x = LoDTensor.from_lengths(np.array([True, False, True]), [2, 1])
    lodcore.save(tmp_path / "b.lod", x)
    data = sent(lodcore.load(tmp_path / "b.lod"))
    [file] = [one for one in (tmp_path / "b.lod").glob("*.bin") if "lod" not in one.name]
    file.write_bytes(b"\x01\x07\x00")
    with pytest.raises(LoDError, match="LoDTensor: "):
        pickle.loads(data)
