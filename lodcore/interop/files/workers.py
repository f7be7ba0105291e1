"""Mapped tensors that multiprocessing sends to other processes: the names of their files, not their data.

A plain pickle keeps the data, since it may be read later, or elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.archives import check_values, checked_dtype
from lodcore.errors import LoDError
from lodcore.interop.files.folder import MAPPED, MissingFile, StoredStructure, map_file, read_lod
from lodcore.interop.files.manifest import MANIFEST, StoredFile, parse_manifest, read_content
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["send_names"]


def send_names() -> None:
    """Let multiprocessing send mapped tensors as the names of their files."""
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(LoDTensor, _reduced)
    ForkingPickler.register(StoredStructure, _reduced_structure)


def _reduced(x: LoDTensor) -> tuple[Any, ...]:
    """Return how another process makes a tensor: from the files that it is mapped from, or from its data."""
    values = x.values
    found = _region(values)
    if found is None:
        return x.__reduce__()
    mapped, start = found
    structure = next((one for one in mapped.structures if one.lod is x.lod), None)
    place = mapped.folder, mapped.file, start, values.dtype, values.shape
    return _received, (*place, x.lod if structure is None else structure)


def _reduced_structure(structure: StoredStructure) -> tuple[Any, ...]:
    return _received_lod, (structure.folder, structure.files, structure.lod.num_rows)


def _region(values: Any) -> Any:
    """Return the mapped file of which values are a part, and the byte at which they begin; None if they are not."""
    address = values.ctypes.data
    if not values.nbytes or not values.flags.c_contiguous:
        return None
    for start, mapped in list(MAPPED.items()):
        if start <= address and address + values.nbytes <= start + len(mapped):
            return mapped, address - start
    return None


def _stored(folder: str, files: list[str]) -> list[StoredFile]:
    """Return the entries of files of a folder; raise if it holds another save by now."""
    where = f"LoDTensor: {folder}"
    try:
        manifest = parse_manifest(where, read_content(where, folder, MANIFEST))
    except FileNotFoundError:
        raise LoDError(f"{where}: is not there, and another process sent a tensor that is mapped from it") from None
    known = {stored.file: stored for stored in manifest.stored}
    for file in files:
        if file not in known:
            raise _other_save(folder, file)
    return [known[file] for file in files]


def _other_save(folder: str, file: str) -> LoDError:
    return LoDError(
        f"LoDTensor: {folder}: has been saved again since a tensor loaded from it was sent: {file} is missing; load "
        "it again, and send that"
    )


def _received(folder: str, file: str, start: int, kind: Any, shape: tuple[int, ...], lod: LoD) -> LoDTensor:
    """Map a tensor that another process sent."""
    where = f"LoDTensor: {folder}"
    dtype = checked_dtype(where, kind)
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    data = next((one for one in list(MAPPED.values()) if (one.folder, one.file) == (folder, file)), None)
    if data is None or len(data) < start + size:
        [stored] = _stored(folder, [file])
        try:
            raw = map_file(where, folder, stored, [])
        except MissingFile:
            raise _other_save(folder, file) from None
    else:
        raw = np.frombuffer(data, np.uint8)
    if start + size > len(raw):
        raise LoDError(f"{where}: {file}: has {len(raw)} bytes; the tensor needs {start + size}")
    check_values(f"{where}: {file}", raw[start : start + size], dtype)
    values = raw[start : start + size].view(dtype).reshape(shape)
    if shape[0] != lod.num_rows:
        raise LoDError(f"{where}: {file}: has {shape[0]} rows; the structure has {lod.num_rows}")
    return lod_tensor_body.new_tensor(values, lod)


def _received_lod(folder: str, files: list[tuple[str, int]], num_rows: int) -> LoD:
    """Read a structure that another process sent."""
    levels = _stored(folder, [file for file, _ in files])
    for stored, (_, count) in zip(levels, files, strict=True):
        stored.shape = [count]  # what was appended since is not meant
    try:
        return read_lod(f"LoDTensor: {folder}", folder, levels, num_rows, False)
    except MissingFile as gone:
        raise _other_save(folder, str(gone)) from None
