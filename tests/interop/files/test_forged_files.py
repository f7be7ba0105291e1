"""Files that no lodcore has written: each field of an archive, of an array and of a manifest may be wrong."""

import copy
import io
import struct
import warnings
import zipfile

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor
from tests.helpers.forged_files import archive_of, array_bytes, body_of, described, manifest_of, write_checked
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
REFUSED = (LoDError, DTypeError)
X = LoDTensor.from_lengths(np.arange(3.0), [1, 0, 2])

# -- archives ------------------------------------------------------------------------------------------------------

VALUES, ROWS = {"v.npy": np.arange(3.0)}, np.array([0, 3])
BOTH = {**VALUES, "o.npy": ROWS}
LOD = {"offsets": ["o"], "num_rows": 3}
TENSOR = {"lodtensor": "v", "lod": 0}
PAIRS = "[('a', '|b1'), ('n', '|i1'), ('b', '|b1')]"
INNER = "[('n', '|i1'), ('r', [('m', '|i1'), ('b', '|b1', (2,))])]"


def of_array(tree, **changes):
    """Describe an archive of one array by a tree."""
    return VALUES, manifest_of(tree, **changes)


def of_tensor(*lods, **changes):
    """Describe an archive of values and offsets, with other structures or another description of the tensor."""
    return BOTH, manifest_of(TENSOR | changes, list(lods) or [LOD])


def of_members(values, offsets=ROWS):
    """Describe an archive of a tensor with other values or offsets."""
    return {"v.npy": values, "o.npy": offsets}, manifest_of(TENSOR, [LOD])


def of_bytes(data):
    """Describe an archive of one array that is written by hand."""
    return {"v.npy": data}, manifest_of({"array": "v"})


FORGERIES = {
    "no manifest, other names": ((BOTH, None), "holds v, o; values, offsets_0 is needed"),
    "no manifest, one array too many": (
        ({"values.npy": np.arange(3.0), "offsets_0.npy": ROWS, "more.npy": ROWS}, None),
        "is needed",
    ),
    "no manifest, a level is missing": (({"values.npy": np.arange(3.0), "offsets_1.npy": ROWS}, None), "is needed"),
    "nothing": (({}, None), "holds nothing"),
    "a manifest that is not JSON": ((BOTH, "{"), "lodcore.json: is not JSON"),
    "a manifest of JSON without end": ((BOTH, "[" * 100_000), "lodcore.json: is not JSON"),
    "the manifest of another program": ((BOTH, {"format": "zarr"}), "lodcore.json: is not lodcore's"),
    "a manifest that is a list": ((BOTH, [1]), "lodcore.json: is not lodcore's"),
    "a later version": (of_array({"array": "v"}, version=2), "has version 2; this lodcore reads version 1"),
    "an earlier version": (of_array({"array": "v"}, version=0), "has version 0"),
    "no structures": ((BOTH, manifest_of(TENSOR, lods=None)), "has no list of structures"),
    "a structure that is not there": (of_tensor(lod=1), "has no structure 1"),
    "a structure by a bool": (of_tensor(lod=True), "names the structure True"),
    "a structure by a negative number": (of_tensor(lod=-1), "names the structure -1"),
    "a structure without rows": (of_tensor({"offsets": ["o"]}), "has wrong names of offsets"),
    "a structure of numbers": (of_tensor({"offsets": [3], "num_rows": 3}), "has wrong names of offsets"),
    "a structure of more rows": (of_tensor({"offsets": ["o"], "num_rows": 4}), "structure 0"),
    "an array that is not there": (of_array({"array": "w"}), "w.npy: is missing"),
    "an array by a number": (of_array({"array": 3}), "names the array 3; a name is a str"),
    "offsets that fall": (
        of_members(np.arange(3.0), np.array([0, 3, 2, 3])),
        "offsets[0]: falls at position 2 (3 -> 2)",
    ),
    "values of more rows": (of_members(np.arange(4.0)), "v: has shape (4,); its structure has 3 rows"),
    "values of fewer rows": (of_members(np.arange(2.0)), "v: has shape (2,); its structure has 3 rows"),
    "values without an axis": (of_members(np.array(3.0)), "v: has shape (); its structure has 3 rows"),
    "a scalar with an axis": (of_array({"scalar": "v"}), "v: has shape (3,); a single number is needed"),
    "a tree of nothing": (of_array(None), "has NoneType where a description is needed"),
    "a description with two entries": (of_array({"int": "1", "float": "0"}), "one entry says what it is"),
    "an integer of letters": (of_array({"int": "zz"}), "has 'int' with 'zz'"),
    "a float of too few bytes": (of_array({"float": "00"}), "has 'float' with '00'"),
    "an unknown kind": (of_array({"pickle": "x"}), "has 'pickle' with 'x'"),
    "a plain list": (of_array({"plain": []}), "has 'plain' with []"),
    "a dict of no pairs": (of_array({"dict": [1]}), "a key and a description are needed"),
    "a dict of single entries": (of_array({"dict": [["a"]]}), "a key and a description are needed"),
    "a dict of triples": (of_array({"dict": [["a", {"int": "1"}, 1]]}), "a key and a description are needed"),
    "a dict with a float for a key": (of_array({"dict": [[1.5, {"int": "1"}]]}), "a key and a description"),
    "a picture": (of_bytes(b"GIF89a.."), "begins with b'GIF89a..'"),
    "an array of no bytes": (of_bytes(b""), "begins with b''"),
    "an array of a later version": (of_bytes(array_bytes("", version=b"\x07\x00")), "begins with"),
    "objects": (of_bytes(np.array([{}])), "Python objects are not read"),
    "objects in a field": (of_bytes(np.zeros(1, [("a", "O")])), "Python objects are not read"),
    "a header that calls": (of_bytes(array_bytes("__import__('os').abort()")), "has an unreadable header"),
    "a header of a list": (of_bytes(array_bytes("[1]")), "has an unreadable header"),
    "a deep header": (of_bytes(array_bytes("(" * 5000)), "has an unreadable header"),
    "a long header": (of_bytes(described("'|b1'", "(4,)" + " " * 10_001, bytes(4))), "a header of"),
    "a negative shape": (of_bytes(described("'<f8'", "(-1,)")), "has shape (-1,)"),
    "a shape of floats": (of_bytes(described("'<f8'", "(1.0,)", bytes(8))), "has shape (1.0,)"),
    "a shape that wraps": (of_bytes(described("'<f8'", "(4294967296, 4294967296)")), "of float64, which no array has"),
    "an empty shape that wraps": (
        of_bytes(described("'<f8'", "(0, 4294967296, 4294967296)")),
        "has shape (0, 4294967296, 4294967296) of float64, which no array has",
    ),
    "a shape of more than any machine has": (
        of_bytes(described("'<f8'", "(100000000000000000,)", bytes(8))),
        "has 8 bytes of values; shape (100000000000000000,) of float64 has 800000000000000000",
    ),
    "a shape of nothing": (of_bytes(described("'|V0'", "(4294967296, 4294967296)")), "which no array has"),
    "a shape of more than there is": (
        of_bytes(described("'<f8'", "(1000,)", bytes(8))),
        "has 8 bytes of values; shape (1000,) of float64 has 8000",
    ),
    "values of more bytes than the shape has": (
        of_bytes(described("'<f8'", "(1,)", bytes(16))),
        "has 16 bytes of values; shape (1,) of float64 has 8",
    ),
    "one bool too few": (of_bytes(described("'|b1'", "(4,)", bytes(3))), "has 3 bytes of values"),
    "one bool too many": (of_bytes(described("'|b1'", "(4,)", bytes(5))), "has 5 bytes of values"),
    "an order that is an integer": (of_bytes(described("'<f8'", "(1,)", bytes(8), "1")), "has shape"),
    "an unknown dtype": (of_bytes(described("'<q9'", "(1,)", bytes(8))), "has no dtype '<q9'"),
    "a huge dtype": (of_bytes(described("'|V99999999999'", "(1,)", bytes(8))), "v.npy"),
    "times in steps of 0": (of_bytes(described("'<M8[0s]'", "(1,)", bytes(8))), "its times are counted in steps of 0"),
    "times in steps of 0 in a field of a field": (
        of_bytes(described("[('r', [('a', '<m8[0s]', (2,))])]", "(1,)", bytes(16))),
        "its times are counted in steps of 0",
    ),
    "a dtype with a shape": (of_bytes(described("('<i4', (2,))", "(1,)", bytes(8))), "Python objects are not read"),
    "a bool of 2": (of_bytes(described("'|b1'", "(4,)", b"\1\0\2\1")), "is 2 at byte 2; a bool is 0 or 1"),
    "a bool of 9 in a field": (
        of_bytes(described("[('a', '|b1')]", "(1,)", b"\x09")),
        "v.npy: a: is 9 at byte 0; a bool is 0 or 1",
    ),
    "a bool of 3 in the first field": (
        of_bytes(described(PAIRS, "(3,)", b"\1\5\0\0\2\1\3\0\0")),
        "v.npy: a: is 3 at byte 2; a bool is 0 or 1",
    ),
    "a bool of 3 in the last field": (
        of_bytes(described(PAIRS, "(2,)", b"\1\7\1\0\x08\3")),
        "v.npy: b: is 3 at byte 1; a bool is 0 or 1",
    ),
    "a bool of 4 in a field of a field": (
        of_bytes(described(INNER, "(1,)", b"\7\x08\1\4")),
        "v.npy: r: b: is 4 at byte 1; a bool is 0 or 1",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_load_of_a_forged_archive_raises(forgery):
    (members, manifest), says = FORGERIES[forgery]
    with pytest.raises(REFUSED) as caught:
        lodcore.load(archive_of(members, manifest))
    assert says in str(caught.value)
    assert str(caught.value).startswith("lodcore.load: file")


@for_each("dtype", ["i1", "<i4", ">i4", "<f8", ">f8", ">c8"])
@for_each("order", "CF")
@for_each("shape", [(3,), (3, 1), (3, 2), (3, 2, 4)])
def test_arrays_of_a_tensor_may_have_any_order(dtype, order, shape):
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype, order=order)
    found = lodcore.load(archive_of(*of_members(values, np.array([0, 1, 3], ">i8"))))
    assert found.values.tolist() == values.tolist()
    assert found.values.flags.c_contiguous
    assert found.values.dtype == np.dtype(dtype).newbyteorder("=")
    assert (found * 2).tolist() == [(2 * values[:1]).tolist(), (2 * values[1:]).tolist()]


def test_load_reads_arrays_of_every_version_and_order_of_numpy():
    for version in (b"\1\0", b"\2\0", b"\3\0"):
        for fortran, want in ((False, [[0, 1, 2], [3, 4, 5]]), (True, [[0, 2, 4], [1, 3, 5]])):
            text = f"{{'descr': '|i1', 'fortran_order': {fortran}, 'shape': (2, 3)}}\n"
            data = array_bytes(text, bytes(range(6)), version)
            assert lodcore.load(archive_of(*of_bytes(data))).tolist() == want
            assert np.load(io.BytesIO(data)).tolist() == want


def test_load_of_a_member_hidden_in_the_comment_of_another_raises():
    """A changed length of a comment makes the entries that follow a part of it."""
    file = io.BytesIO()
    lodcore.save(file, X)
    data = bytearray(file.getvalue())
    first = data.index(b"PK\x01\x02")
    data[first + 32 : first + 34] = (data.index(b"PK\x05\x06") - first - 46 - len("values.npy")).to_bytes(2, "little")
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        assert archive.namelist() == ["values.npy"]
    with pytest.raises(LoDError, match=r"lodcore.load: file: values.npy: has a comment"):
        lodcore.load(io.BytesIO(bytes(data)))


def test_load_of_values_without_an_axis_raises():
    file = io.BytesIO()
    np.savez(file, values=5, offsets_0=[0])
    with pytest.raises(LoDError, match=r"^lodcore.load: file: LoDTensor.from_offsets: values: has no axis"):
        lodcore.load(file)


def test_load_of_an_archive_with_a_member_twice_raises():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.npy", b"")
            archive.writestr("a.npy", b"")
    with pytest.raises(LoDError, match=r"a.npy: occurs twice"):
        lodcore.load(file)


def test_load_of_a_member_that_claims_an_impossible_size_raises():
    """An entry may claim any size; the number of bytes present is the limit."""
    members = {"values.npy": np.zeros(100), "offsets_0.npy": np.array([0, 100])}
    data = bytearray(archive_of(members, method=zipfile.ZIP_DEFLATED).getvalue())
    for mark, field in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.find(mark)
        data[place + field : place + field + 4] = struct.pack("<I", 2**31)
    with pytest.raises(LoDError, match=r"values.npy: claims 2147483648 bytes, which is impossible"):
        lodcore.load(io.BytesIO(bytes(data)))


def test_load_of_an_archive_with_another_checksum_raises():
    data = archive_of({"values.npy": np.arange(3.0), "offsets_0.npy": ROWS}).getvalue()
    with pytest.raises(LoDError, match="is damaged"):
        lodcore.load(io.BytesIO(data.replace(struct.pack("<d", 2.0), struct.pack("<d", 4.0))))


# -- manifests of folders ------------------------------------------------------------------------------------------


def values_of(**fields):
    return lambda body: body["arrays"]["values"].update(fields)


def offsets_of(**fields):
    return lambda body: body["lods"][0]["offsets"][0].update(fields)


def rows_of(number):
    return lambda body: body["lods"][0].update(num_rows=number)


OUTSIDE = ("../x.bin", "1-0.bin/../../x", "1-0.binx", "1-0.bin\n", "/1-0.bin", "..bin", "-1.bin", ".1.bin", "1-0.bi")
OBJECTS = [["a", [["b", "<f8"], ["c", "|O"]]]]
WOUNDS = [
    (lambda body: body.update(version=2), "has version 2; this lodcore reads version 1"),
    (lambda body: body.update(version=1.5), "has version 1.5"),
    (lambda body: body.update(format="x"), "is not lodcore's"),
    (lambda body: body.pop("tree"), "is not a valid manifest: 'tree'"),
    (lambda body: body.update(arrays=[]), "is not a valid manifest"),
    (values_of(x=1), "is not a valid manifest"),
    *((values_of(file=name), f"names the file {name!r}") for name in (*OUTSIDE, "", "a b.bin", 3)),
    (lambda body: values_of(file=body["lods"][0]["offsets"][0]["file"])(body), "names a file twice"),
    (values_of(file="9-9.bin"), "9-9.bin: is missing"),
    (offsets_of(file="9.bin"), "9.bin: is missing"),
    *((values_of(shape=[number]), "where a number of rows") for number in (True, 3.0, "3", None, -1, -3, 2**63)),
    *((rows_of(number), "where a number of rows") for number in (True, 3.0, "3", -1, None)),
    (rows_of(4), "is 3 at position 3; offsets start at 0, never fall"),
    (rows_of(2), "is 3 at position 3; offsets start at 0, never fall"),
    (values_of(shape=[1000]), "has 24 bytes; its manifest counts 8000"),
    (offsets_of(shape=[2**60]), "its manifest counts"),
    (values_of(shape=[2**63 - 2]), "has shape (9223372036854775806,) of float64, which"),
    (values_of(shape=[2**62, 2**62]), "has shape (4611686018427387904, 4611686018427387904) of float64, which"),
    (values_of(shape=[0, 2**62, 2**62]), "of float64, which no array has"),
    (values_of(shape=[2**60 - 1]), "has 24 bytes; its manifest counts 9223372036854775800"),
    (values_of(shape=[]), "has shape []"),
    (values_of(shape=[2]), "has shape"),
    (values_of(shape=3), "has shape 3"),
    (values_of(shape=[1] * 65), "has shape"),
    (values_of(dtype="|O"), "Python objects are not read"),
    (values_of(dtype=OBJECTS), "Python objects are not read"),
    (values_of(dtype="zz"), "has no dtype 'zz'"),
    (values_of(dtype=None), "has no dtype None"),
    (values_of(dtype=[3, 0]), "has no dtype [3, 0]"),
    (values_of(dtype="<m8[0D]"), "its times are counted in steps of 0"),
    (offsets_of(dtype={"a": [3]}), "has no dtype {'a': [3]}"),
    (values_of(dtype="\0"), "has no dtype"),
    *((offsets_of(**wrong), "offsets are int64, (n + 1,)") for wrong in (
      {"dtype": "<f8"}, {"dtype": ">i8"}, {"dtype": "<i4"}, {"shape": [0]}, {"shape": [4, 1]})),
    *((values_of(sum=wrong), "has no checksum") for wrong in (-1, True, 2**64)),
    *((values_of(rest=wrong), "has no checksum") for wrong in (3, "00" * 8)),
    (values_of(rest="zz"), "manifest.json"),
    (lambda body: body.update(tree={"array": "w"}), "names 'w', which the manifest does not have"),
    (lambda body: body.update(tree={"lodtensor": "values", "lod": 5}), "structure 5, which the manifest does not have"),
]  # fmt: skip


@for_each(("change", "says"), WOUNDS)
def test_load_of_a_manifest_with_a_wrong_field_raises(change, says, saved):
    folder, body = saved[0], copy.deepcopy(saved[1])
    change(body)
    write_checked(folder / "manifest.json", body)
    with pytest.raises(REFUSED) as caught:
        lodcore.load(folder)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"lodcore.load: {folder}: ")


#: What any field may be in a forged manifest: values of other types, and numbers of any size.
ODD = [
    None, True, -1, 0, 3, 2**31, 2**63, 10**30, 1.5, float("nan"), "", "x", "\0", "\ud800", "<f8", "x" * 10_000,
    [], [[]], [3, 0], [-1], [2**31, 2**31], [["a", "<f8"]], [["a", "<f8", [2**40]]], [["a", "<f8", "x"]], [["a"]],
    [["", "<i8"], ["", "<i8"]], [[["t", 3], "<f8"]], {}, {"a": 1}, {"list": []}, {"int": "f" * 9999}, {"generator": 0},
]  # fmt: skip


def places_in(data):
    """Give each container of nested data, and a key in it."""
    for key, part in list(data.items() if isinstance(data, dict) else enumerate(data)):
        yield data, key
        if isinstance(part, (dict, list)):
            yield from places_in(part)


def error_of(call):
    """Return the text of the error that refuses a file, or None."""
    try:
        call()
    except REFUSED as error:
        return str(error)
    return None


def test_load_append_and_save_of_a_manifest_with_any_odd_part_raise_or_succeed(tmp_path):
    folder, tree = tmp_path / "x.lod", {"x": X}
    lodcore.save(folder, tree)
    body, files = body_of(folder), {path: path.read_bytes() for path in folder.iterdir()}
    calls = {
        "load": lambda: lodcore.load(folder),
        "append": lambda: lodcore.append(folder, tree),
        "save": lambda: lodcore.save(folder, tree),
    }
    for at, key in list(places_in(body)):
        kept = at[key]
        for number, odd in enumerate(ODD):
            at[key] = odd
            for call in ("load",) if number % 5 else ("load", "append", "save"):
                for path in set(folder.iterdir()) - set(files):
                    path.unlink()
                for path, data in files.items():
                    path.write_bytes(data)
                write_checked(folder / "manifest.json", body)
                said = error_of(calls[call])
                assert said is None or said.startswith(f"lodcore.{call}: {folder}: "), (at, key, odd)
                assert said is None or len(said) < 1000
        at[key] = kept


@pytest.mark.parametrize("part", ["arrays", "lods"])
def test_append_to_a_folder_whose_manifest_lacks_what_its_tree_names_raises(part, saved):
    folder, body = saved
    body[part] = type(body[part])()
    write_checked(folder / "manifest.json", body)
    with pytest.raises(LoDError, match=r"append: .*: tree: has other entries, or shares other structures"):
        lodcore.append(folder, X)


@for_each("wrong", [{"dtype": "<f8"}, {"dtype": [3, 0]}, {"shape": [0]}, {"shape": [4, 1]}])
def test_append_to_a_folder_whose_offsets_are_none_raises_and_writes_nothing(wrong, saved):
    folder, body = saved[0], copy.deepcopy(saved[1])
    offsets_of(**wrong)(body)
    write_checked(folder / "manifest.json", body)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(REFUSED, match=r"^lodcore.append: .*(offsets are int64|has no dtype)"):
        lodcore.append(folder, X)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_manifest_whose_parts_are_nested_without_end_is_refused(saved):
    folder, body = saved
    deep = 0
    for _ in range(450):
        deep = [deep]
    values = body["arrays"]["values"]
    for at, key in ((values, "dtype"), (values, "shape"), (values, "file"), (body, "tree"), (body, "version")):
        kept, at[key] = at[key], deep
        write_checked(folder / "manifest.json", body)
        with pytest.raises(REFUSED, match=r"^lodcore.load: .*x.lod: "):
            lodcore.load(folder)
        at[key] = kept
    for name in ("array", "generator", "program", "optimizer", "int", "list"):
        with pytest.raises(REFUSED, match=r"^lodcore.load: file: "):
            lodcore.load(archive_of({}, manifest_of({name: deep})))


@pytest.fixture
def saved(tmp_path):
    lodcore.save(tmp_path / "x.lod", X)
    return tmp_path / "x.lod", body_of(tmp_path / "x.lod")


def test_load_of_a_manifest_with_another_checksum_raises(saved):
    folder, body = saved
    for checksum in (1, 2**32 - 1):
        write_checked(folder / "manifest.json", body, checksum)
        with pytest.raises(LoDError, match="is damaged: its checksum differs"):
            lodcore.load(folder)


@for_each("dtype", ["08", "i4,", "0,,", "(", "f4,08", "\0", "(08)i4", 8, None, {"a": 1}, [["a", "08"]]])
def test_load_of_a_manifest_with_an_invalid_dtype_raises(dtype, tmp_path):
    lodcore.save(tmp_path / "x.lod", LoDTensor.from_lengths(np.arange(5, dtype="i2"), [2, 0, 3]))
    body = body_of(tmp_path / "x.lod")
    values_of(dtype=dtype)(body)
    write_checked(tmp_path / "x.lod" / "manifest.json", body)
    with pytest.raises((DTypeError, LoDError)):
        lodcore.load(tmp_path / "x.lod")
