"""One .npz file for a tree: NumPy can read its arrays, and nothing in it is ever unpickled."""

from __future__ import annotations

import json
import zipfile
from typing import IO, Any

from lodcore.base.archives import Archive, WrittenArchive, read_archive, write_array
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.files.manifest import LARGEST, check_length
from lodcore.interop.files.tree_data import Packed, Reader
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["MANIFEST", "read_npz", "write_npz"]

MANIFEST = "lodcore.json"
VERSION = 1


def write_npz(where: str, file: Any, packed: Packed, compress: bool) -> None:
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
    text = json.dumps(manifest)
    check_length(where, len(text))
    archive = WrittenArchive(file, "w", method, allowZip64=True)
    try:
        for name, values in packed.arrays.items():
            write_array(where, archive, name, values, method)
        for names, lod in zip(levels, packed.lods, strict=True):
            for k, name in enumerate(names):
                write_array(where, archive, name, lod.offsets(k), method)
        info = zipfile.ZipInfo(MANIFEST)
        info.compress_type = method
        archive.writestr(info, text)
        archive.close()
    except BaseException:
        archive.give_up()
        raise


def _offsets_name(single: bool, j: int, k: int) -> str:
    return f"offsets_{k}" if single else f"offsets_{j}_{k}"


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
    return read_archive(where, file, lambda archive: _read(where, archive))


def _read(where: str, archive: Archive) -> Any:
    array = archive.array
    if MANIFEST not in archive:
        return _bare(where, archive.names, array)
    manifest = _parsed(f"{where}: {MANIFEST}", archive.content(MANIFEST, LARGEST))
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
        raise LoDError(
            f"{where}: has version {described(manifest.get('version'))}; this lodcore reads version {VERSION}"
        )
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
        raise (DTypeError if isinstance(error, DTypeError) else LoDError)(f"{where}: {error}") from None
