"""One .npz file for a tree: NumPy can read its arrays, and nothing in it is ever unpickled."""

from __future__ import annotations

import ast
import errno
import json
import os
import struct
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.trees import Packed, Reader
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["MANIFEST", "dtype_of", "read_npz", "write_npz"]

Array = np.ndarray[Any, Any]
MANIFEST = "lodcore.json"
VERSION = 1
LONGEST_HEADER = 10_000  # bytes of the header of an array, as in NumPy
LARGEST_MANIFEST = 1 << 26
DENSEST = 1100  # bytes that one compressed byte can expand to
PIECE = 1 << 24
#: The errors that `zipfile` raises for invalid bytes.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error)


def write_npz(file: IO[bytes], packed: Packed, compress: bool) -> None:
    """Write a tree to an open file."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    single = isinstance(packed.tree, dict) and "lodtensor" in packed.tree
    levels = [[_offsets_name(single, j, k) for k in range(lod.num_levels)] for j, lod in enumerate(packed.lods)]
    manifest = {
        "format": "lodcore",
        "version": VERSION,
        "tree": packed.tree,
        "lods": [{"offsets": names, "num_rows": lod.num_rows} for names, lod in zip(levels, packed.lods, strict=True)],
    }
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for name, values in packed.arrays.items():
            _write_array(archive, name, values, method)
        for names, lod in zip(levels, packed.lods, strict=True):
            for k, name in enumerate(names):
                _write_array(archive, name, lod.offsets(k), method)
        archive.writestr(_info(MANIFEST, method), json.dumps(manifest))


def _offsets_name(single: bool, j: int, k: int) -> str:
    return f"offsets_{k}" if single else f"offsets_{j}_{k}"


def _info(name: str, method: int) -> zipfile.ZipInfo:
    """Return an entry without a date, so that equal trees make equal files."""
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    return info


def _write_array(archive: zipfile.ZipFile, name: str, values: Array, method: int) -> None:
    with archive.open(_info(name + ".npy", method), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, values, allow_pickle=False)


# -- reading -----------------------------------------------------------------------------------------------------------


def read_npz(where: str, file: IO[bytes]) -> Any:
    """Read a tree, or a LoDTensor that was saved with `numpy.savez` as values, offsets_0, offsets_1, ...

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    file : binary file

    Returns
    -------
    tree
    """
    try:
        with zipfile.ZipFile(file) as archive:
            file.seek(0, os.SEEK_END)
            members = _members(where, archive, file.tell())
            return _read(where, archive, members)
    except (LoDError, DTypeError, MemoryError):
        raise
    except (*DAMAGED, ValueError, OverflowError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # raised for a position before the file
            raise
        raise LoDError(f"{where}: is damaged, or no .npz file: {error or type(error).__name__}") from None


def _members(where: str, archive: zipfile.ZipFile, total: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a file; raise for impossible sizes."""
    members: dict[str, zipfile.ZipInfo] = {}
    packed = 0
    for info in archive.infolist():
        if info.filename in members:
            raise LoDError(f"{where}: {info.filename}: occurs twice")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise LoDError(f"{where}: {info.filename}: is encrypted, or compressed in another way than deflate")
        most = info.compress_size if info.compress_type == zipfile.ZIP_STORED else info.compress_size * DENSEST + 100
        packed += info.compress_size
        if info.file_size > most or packed > total:
            raise LoDError(f"{where}: {info.filename}: claims {info.file_size} bytes, which is impossible")
        members[info.filename] = info
    check_size(where, sum(info.file_size for info in members.values()))
    return members


def _read(where: str, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> Any:
    def array(name: str) -> Array:
        info = members.get(name + ".npy")
        if info is None:
            raise LoDError(f"{where}: {name}.npy: is missing")
        with archive.open(info) as member:
            return _read_array(f"{where}: {info.filename}", member, info.file_size)

    if MANIFEST not in members:
        return _bare(where, [name.removesuffix(".npy") for name in members], array)
    if members[MANIFEST].file_size > LARGEST_MANIFEST:
        raise LoDError(f"{where}: {MANIFEST}: has {members[MANIFEST].file_size} bytes; {LARGEST_MANIFEST} is the most")
    manifest = _parsed(f"{where}: {MANIFEST}", archive.read(members[MANIFEST]))
    lods = manifest.get("lods")
    if not isinstance(lods, list):
        raise LoDError(f"{where}: {MANIFEST}: has no list of structures")

    def lod(number: int) -> LoD:
        entry = lods[number] if number < len(lods) else None
        if not isinstance(entry, dict) or not isinstance(entry.get("offsets"), list):
            raise LoDError(f"{where}: {MANIFEST}: has no structure {number}")
        if not all(isinstance(name, str) for name in entry["offsets"]) or type(entry.get("num_rows")) is not int:
            raise LoDError(f"{where}: {MANIFEST}: structure {number}: has wrong names of offsets")
        try:
            return LoD.from_offsets(*(array(name) for name in entry["offsets"]), num_rows=entry["num_rows"])
        except (LoDError, DTypeError) as error:
            raise type(error)(f"{where}: structure {number}: {error}") from None

    return Reader(where, array, lod).read(manifest.get("tree"))


def _parsed(where: str, data: bytes) -> dict[str, Any]:
    """Parse a manifest."""
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LoDError(f"{where}: is not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "lodcore":
        raise LoDError(f"{where}: is not lodcore's")
    if manifest.get("version") != VERSION:
        raise LoDError(f"{where}: has version {manifest.get('version')!r}; this lodcore reads version {VERSION}")
    return manifest


def _bare(where: str, names: list[str], array: Any) -> LoDTensor:
    """Read a file of `numpy.savez`."""
    wanted = ["values", *(f"offsets_{k}" for k in range(len(names) - 1))]
    if sorted(wanted) != sorted(names):
        raise LoDError(f"{where}: holds {', '.join(names) or 'nothing'}; {', '.join(wanted)} is needed")
    values, *offsets = (array(name) for name in wanted)
    try:
        return LoDTensor.from_offsets(values, *offsets)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{where}: {error}") from None


def dtype_of(where: str, description: Any) -> np.dtype[Any]:
    """Return the dtype of a description, which must not have Python objects."""
    try:
        dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(description)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, RecursionError, MemoryError) as error:
        raise DTypeError(f"{where}: has no dtype {str(description)[:60]!r}: {error}") from None
    if dtype.hasobject or dtype.subdtype is not None:
        raise DTypeError(f"{where}: has dtype {dtype}; Python objects are not read")
    return dtype


def _read_array(where: str, member: IO[bytes], size: int) -> Array:
    """Read one array with the size of its entry."""
    magic = member.read(8)
    if magic[:6] != b"\x93NUMPY" or magic[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise LoDError(f"{where}: begins with {magic[:8]!r}; an array of NumPy is needed")
    wide = magic[6] > 1
    count = member.read(4 if wide else 2)
    (length,) = struct.unpack("<I" if wide else "<H", count)
    if length > LONGEST_HEADER:
        raise LoDError(f"{where}: has a header of {length} bytes; {LONGEST_HEADER} is the most")
    try:
        header = ast.literal_eval(member.read(length).decode("utf-8" if magic[6] == 3 else "latin-1"))
        shape, fortran = tuple(header["shape"]), header["fortran_order"]
        description = header["descr"]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        raise LoDError(f"{where}: has an unreadable header") from None
    if not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 64 or type(fortran) is not bool:
        raise LoDError(f"{where}: has shape {shape!r}; numbers from 0 on are needed")
    dtype = dtype_of(where, description)
    check_size(where, *shape, dtype.itemsize)
    needed = dtype.itemsize
    for n in shape:
        needed *= n
    held = size - len(magic) - len(count) - length
    if needed != held:
        raise LoDError(f"{where}: has {held} bytes of values; shape {shape} of {dtype} has {needed}")
    data = np.empty(needed, np.uint8)
    place = memoryview(data.data)
    while place:
        got = member.readinto(place[:PIECE])  # type: ignore[attr-defined]
        if not got:
            raise LoDError(f"{where}: ends at byte {size - len(place)} of {size}")
        place = place[got:]  # after the last byte, zipfile compares the checksum
    check_bools(where, data, dtype)
    if not dtype.itemsize:
        return np.ndarray(shape, dtype, bytearray(1))
    return data.view(dtype).reshape(shape, order="F" if fortran else "C")


def check_bools(where: str, data: Array, dtype: np.dtype[Any]) -> None:
    """Raise for bytes that are neither false nor true: counting and gathering by such a mask would disagree."""
    if dtype.names is not None:
        records = data.view(dtype)
        for name in dtype.names:
            part = np.ascontiguousarray(records[name])
            check_bools(f"{where}: {name}", part.reshape(-1).view(np.uint8), part.dtype)
    elif dtype.kind == "b" and len(data) and data.max() > 1:
        raise LoDError(f"{where}: is {data.max()} at byte {int(np.argmax(data > 1))}; a bool is 0 or 1")
