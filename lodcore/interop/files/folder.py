"""A folder for a tree: raw arrays that are mapped into memory, and a manifest with their valid sizes.

Readers need no lock. What a manifest names is complete and durable, is only appended to, and never gets other contents,
since each save writes files of new names. A reader that finds a file gone has lost a race against a later save, and
reads the manifest again. What is mapped lasts as long as its tensors: the system keeps the pages of a removed file.
What cannot be removed stays in the record of its writer for a later one.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from lodcore import kernels
from lodcore.base import buffers, files
from lodcore.base.archives import check_values
from lodcore.base.naming import described
from lodcore.errors import LoDError
from lodcore.interop.files.manifest import MANIFEST, WORD, Manifest, StoredFile, parse_manifest, read_content
from lodcore.interop.files.tree_data import Reader
from lodcore.tensors import lod_body
from lodcore.tensors.lod import LoD

__all__ = [
    "MANIFEST",
    "MAPPED",
    "Mapped",
    "MissingFile",
    "StoredStructure",
    "is_folder",
    "map_file",
    "read_folder",
    "read_lod",
]

Array = np.ndarray[Any, Any]
PIECE = 1 << 19  # bytes of offsets that are read at once, so that they are in cache when they are checked
#: What is mapped now, by its address.
MAPPED: WeakValueDictionary[int, Mapped] = WeakValueDictionary()


class MissingFile(Exception):
    """A file that the manifest names is not there."""


class Mapped(mmap.mmap):
    """The valid bytes of a file, and from where they are, so that another process can map them, too.

    Attributes
    ----------
    folder, file : str
        No other file ever has this name: each save draws new ones, and `append` only adds to them.
    structures : list of StoredStructure
        Those that were read with it.
    """

    folder: str
    file: str
    structures: list[StoredStructure]


class StoredStructure(NamedTuple):
    """A LoD that was read from files: their names and counts of offsets, level by level."""

    lod: LoD
    folder: str
    files: list[tuple[str, int]]


def is_folder(name: str) -> bool:
    """Return whether a folder exists."""
    return os.path.isdir(name)


def read_folder(where: str, name: str, verify: bool) -> Any:
    """Read a tree from a folder, mapping its values into memory."""
    name, before = os.path.abspath(name), b""
    while True:
        try:
            data = read_content(where, name, MANIFEST)
        except FileNotFoundError:
            raise LoDError(f"{where}: {MANIFEST}: is missing; lodcore.save writes such folders") from None
        try:
            return _read(where, name, parse_manifest(where, data), verify)
        except MissingFile as gone:
            if data == before:  # no save has replaced it
                raise LoDError(f"{where}: {gone}: is missing") from None
            before = data


def _read(where: str, name: str, manifest: Manifest, verify: bool) -> Any:
    """Read the tree of a manifest. All values are mapped first, so that a later save has little time to remove them."""
    structures: list[StoredStructure] = []
    mapped = {key: map_file(where, name, stored, structures) for key, stored in manifest.arrays.items()}

    def array(key: str) -> Array:
        if key not in mapped:
            raise LoDError(f"{where}: tree: names {described(key)}, which the manifest does not have")
        return _array(where, manifest.arrays[key], mapped[key], verify)

    def lod(number: int) -> LoD:
        if number >= len(manifest.lods):
            raise LoDError(f"{where}: tree: names structure {number}, which the manifest does not have")
        levels = manifest.lods[number]
        made = read_lod(where, name, levels, manifest.num_rows[number], verify)
        structures.append(StoredStructure(made, name, [(stored.file, stored.shape[0]) for stored in levels]))
        return made

    return Reader(where, array, lod).read(manifest.tree)


def read_lod(where: str, name: str, levels: list[StoredFile], num_rows: int, verify: bool) -> LoD:
    """Read the offsets of a structure into memory that cannot be written, and check them there."""
    made: list[Array] = []
    counts = [*(stored.shape[0] - 1 for stored in levels[1:]), num_rows][: len(levels)]
    for stored, count in zip(levels, counts, strict=True):
        stored.check_offsets(where)
        here = f"{where}: {stored.file}"
        offsets, bad = _read_offsets(here, os.path.join(name, stored.file), stored.shape[0])
        if bad < 0 and offsets[-1] != count:
            bad = len(offsets) - 1
        if bad >= 0:
            raise LoDError(
                f"{here}: is {offsets[bad]} at position {bad}; offsets start at 0, never fall, and end at {count}"
            )
        if verify:
            _verify(here, stored, offsets.view(np.uint8))
        made.append(offsets)
    return lod_body.make_lod(made, num_rows)


def _read_offsets(where: str, path: str, count: int) -> tuple[Array, int]:
    """Read the first offsets of a file, checking each piece while it is in cache; return the first bad one or -1."""
    read = checked = before = 0
    with _opened(where, path) as opened:
        held, size = os.fstat(opened.fileno()).st_size, WORD * count
        if held < size:
            raise LoDError(f"{where}: has {held} bytes; its manifest counts {size}")
        offsets = buffers.new_offsets(count)
        place = memoryview(offsets.view(np.uint8).data)
        while read < size:
            got = opened.readinto(place[read : read + PIECE])
            if not got:
                raise LoDError(f"{where}: ends at byte {read}; its manifest counts {size}")
            read += got
            part = offsets[checked : read // WORD]  # a read may end inside a word
            if not len(part):
                continue
            bad = kernels.foreign_data.first_fall(part, before)
            if offsets[0] or bad >= 0:
                return offsets, checked + bad if not offsets[0] else 0
            before, checked = int(part[-1]), checked + len(part)
    return offsets, -1


def _verify(where: str, stored: StoredFile, raw: Array) -> None:
    """Raise if bytes do not have their checksum."""
    whole = len(raw) // WORD * WORD
    if kernels.foreign_data.checksum(raw[:whole], 0) != stored.sum or raw[whole:].tobytes().hex() != stored.rest:
        raise LoDError(f"{where}: is damaged: its checksum differs")


def _opened(where: str, path: str) -> io.FileIO:
    """Open a file of rows."""
    try:
        return files.regular(where, path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):  # ESTALE: removed on the server of a network file system
            raise MissingFile(os.path.basename(path)) from None
        raise


def map_file(where: str, name: str, stored: StoredFile, structures: list[StoredStructure]) -> Array:
    """Map the valid bytes of a file."""
    size = stored.size(where)
    where = f"{where}: {stored.file}"
    with _opened(where, os.path.join(name, stored.file)) as opened:
        held = os.fstat(opened.fileno()).st_size
        if held < size:
            raise LoDError(f"{where}: has {held} bytes; its manifest counts {size}")
        if not size:
            return np.frombuffer(b"", np.uint8)
        data = Mapped(opened.fileno(), size, access=mmap.ACCESS_READ)
    data.folder, data.file, data.structures = name, stored.file, structures
    made = np.frombuffer(data, np.uint8)
    MAPPED[made.ctypes.data] = data
    return made


def _array(where: str, stored: StoredFile, raw: Array, verify: bool) -> Array:
    """Return the array of mapped bytes."""
    dtype = stored.kind(where)
    where = f"{where}: {stored.file}"
    if verify:
        _verify(where, stored, raw)
    check_values(where, raw, dtype)
    shape = () if stored.single and stored.shape == [1] else tuple(stored.shape)
    if not len(raw):
        return np.ndarray(shape, dtype, bytearray(1))
    return raw.view(dtype).reshape(shape)
