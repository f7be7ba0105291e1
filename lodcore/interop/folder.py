"""A folder for a tree: raw arrays that are mapped into memory, and a manifest with their valid sizes.

Files only grow, and a manifest stays valid forever, so that readers need no lock. A writer that dies leaves bytes after
the valid end, which are never read and which the next writer removes.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.npz import LARGEST_MANIFEST, check_bools, dtype_of
from lodcore.interop.trees import Packed, Reader
from lodcore.tensors import core
from lodcore.tensors.lod import LoD

__all__ = ["append_to_folder", "is_folder", "read_folder", "write_folder"]

Array = np.ndarray[Any, Any]
MANIFEST = "manifest.json"
VERSION = 1
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.bin")
WORD = 8
PIECE = 1 << 19  # bytes of offsets that are read at once, so that they are in cache when they are checked
INT64 = np.dtype(np.int64)


@dataclass
class Stored:
    """One file of raw rows.

    Parameters
    ----------
    file : str
    dtype : object
        The description of the dtype by `numpy.lib.format`.
    shape : list of int
        The number of valid rows, and the shape of a row.
    sum : int
        The checksum of the whole words of the valid bytes; see `lodcore.kernels.doors.checksum`.
    rest : str
        The bytes after the last whole word, in hexadecimal digits.
    single : bool
        Whether this is an array without an axis.
    """

    file: str
    dtype: Any
    shape: list[int]
    sum: int = 0
    rest: str = ""
    single: bool = False

    def kind(self, where: str) -> np.dtype[Any]:
        """Return the dtype."""
        return dtype_of(f"{where}: {self.file}", _tuples(self.dtype))

    def size(self, where: str) -> int:
        """Return the number of valid bytes."""
        size = self.kind(where).itemsize
        for n in self.shape:
            size *= n
        return size

    def add(self, rows: Array) -> None:
        """Add rows to the valid size and the checksum."""
        data = np.frombuffer(bytes.fromhex(self.rest), np.uint8)
        raw = np.ascontiguousarray(rows).reshape(-1).view(np.uint8) if rows.nbytes else np.empty(0, np.uint8)
        data = np.concatenate([data, raw]) if len(data) else raw
        whole = len(data) // WORD * WORD
        self.sum = kernels.doors.checksum(data[:whole], self.sum)
        self.rest = data[whole:].tobytes().hex()
        self.shape[0] += len(rows)


def is_folder(name: str) -> bool:
    """Return whether a folder exists."""
    return os.path.isdir(name)


def _tuples(description: Any) -> Any:
    """Convert the lists of JSON to the tuples of a description of fields."""
    if not isinstance(description, list):
        return description
    return [tuple(_tuples(part) if k == 1 else _names(part) for k, part in enumerate(field)) for field in description]


def _names(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part


# -- manifests ---------------------------------------------------------------------------------------------------------


@dataclass
class Manifest:
    """The valid contents of a folder."""

    tree: Any
    arrays: dict[str, Stored]
    lods: list[list[Stored]]
    num_rows: list[int]

    def text(self) -> bytes:
        """Return the manifest as JSON with a checksum."""
        body = {
            "format": "lodcore folder",
            "version": VERSION,
            "tree": self.tree,
            "arrays": {name: asdict(stored) for name, stored in self.arrays.items()},
            "lods": [
                {"offsets": [asdict(stored) for stored in levels], "num_rows": rows}
                for levels, rows in zip(self.lods, self.num_rows, strict=True)
            ],
        }
        text = json.dumps(body)
        return json.dumps({"checksum": zlib.crc32(text.encode()), "content": text}).encode()


def _read_manifest(where: str, name: str) -> Manifest:
    """Read and check a manifest."""
    path = os.path.join(name, MANIFEST)
    where = f"{where}: {MANIFEST}"
    try:
        opened = open(path, "rb", buffering=0)  # noqa: SIM115
    except FileNotFoundError:
        raise LoDError(f"{where}: is missing; lodcore.save writes such folders") from None
    with opened:
        size = os.fstat(opened.fileno()).st_size
        if size > LARGEST_MANIFEST:
            raise LoDError(f"{where}: has {size} bytes; {LARGEST_MANIFEST} is the most")
        data = opened.read()
    try:
        outer = json.loads(data)
        text = outer["content"]
        if zlib.crc32(text.encode()) != outer["checksum"]:
            raise LoDError(f"{where}: is damaged: its checksum differs")
        body = json.loads(text)
        if body["format"] != "lodcore folder":
            raise LoDError(f"{where}: is not lodcore's")
        if body["version"] != VERSION:
            raise LoDError(f"{where}: has version {body['version']!r}; this lodcore reads version {VERSION}")
        arrays = {key: _stored(where, entry) for key, entry in body["arrays"].items()}
        lods = [[_stored(where, entry) for entry in structure["offsets"]] for structure in body["lods"]]
        rows = [_count(where, structure["num_rows"]) for structure in body["lods"]]
        files = [stored.file for stored in [*arrays.values(), *(level for levels in lods for level in levels)]]
        if len(set(files)) != len(files):
            raise LoDError(f"{where}: names a file twice")
        return Manifest(body["tree"], arrays, lods, rows)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LoDError(f"{where}: is not a valid manifest: {error}") from None
    except ValueError as error:
        if isinstance(error, LoDError):
            raise
        raise LoDError(f"{where}: is not JSON: {error}") from None


def _stored(where: str, entry: Any) -> Stored:
    """Check the entry of a file."""
    stored = Stored(**entry)
    if not isinstance(stored.file, str) or not FILE.fullmatch(stored.file):
        raise LoDError(f"{where}: names the file {stored.file!r}; letters, digits and .bin make a name")
    if not isinstance(stored.shape, list) or not 1 <= len(stored.shape) <= 64:
        raise LoDError(f"{where}: {stored.file}: has shape {stored.shape!r}")
    for n in stored.shape:
        _count(f"{where}: {stored.file}", n)
    if type(stored.sum) is not int or not 0 <= stored.sum < 2**64 or not isinstance(stored.rest, str):
        raise LoDError(f"{where}: {stored.file}: has no checksum")
    if len(bytes.fromhex(stored.rest)) >= WORD:
        raise LoDError(f"{where}: {stored.file}: has no checksum")
    return stored


def _count(where: str, number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**63 - 1:
        raise LoDError(f"{where}: has {number!r} where a number of rows is needed")
    return number


def _sync_folder(name: str) -> None:
    """Make the entries of a folder durable."""
    with contextlib.suppress(OSError, AttributeError):  # not supported by every system
        handle = os.open(name, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _commit(name: str, manifest: Manifest) -> None:
    """Replace the manifest atomically."""
    path = os.path.join(name, MANIFEST)
    with open(path + ".new", "wb") as opened:
        opened.write(manifest.text())
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(path + ".new", path)
    _sync_folder(name)


# -- writing -----------------------------------------------------------------------------------------------------------


def write_folder(where: str, name: str, packed: Packed) -> None:
    """Write a tree into a folder; an earlier tree stays valid until the new one is complete."""
    os.makedirs(name, exist_ok=True)
    foreign = [entry for entry in os.listdir(name) if entry not in _known(name)]
    if foreign:
        raise FileExistsError(
            f"{where}: {name}: has {foreign[0]!r} in it; an empty folder, or one of lodcore, is needed"
        )
    with _writer(where, name):
        before = {entry for entry in os.listdir(name) if FILE.fullmatch(entry)}
        turn = 1 + max((int(entry.split("-")[0]) for entry in before if entry.split("-")[0].isdigit()), default=0)
        manifest = Manifest(packed.tree, {}, [], [lod.num_rows for lod in packed.lods])
        for k, (key, values) in enumerate(packed.arrays.items()):
            shaped = values if values.ndim else values.reshape(1)
            shape = [0, *shaped.shape[1:]]
            stored = Stored(
                f"{turn}-{k}.bin", np.lib.format.dtype_to_descr(values.dtype), shape, single=not values.ndim
            )
            _write_rows(name, stored, np.ascontiguousarray(shaped))
            manifest.arrays[key] = stored
        for j, lod in enumerate(packed.lods):
            levels = []
            for level in range(lod.num_levels):
                stored = Stored(f"{turn}-lod{j}-{level}.bin", "<i8", [0])
                _write_rows(name, stored, lod.offsets(level))
                levels.append(stored)
            manifest.lods.append(levels)
        _commit(name, manifest)
        for entry in before:
            os.unlink(os.path.join(name, entry))


def _known(name: str) -> set[str]:
    return {MANIFEST, MANIFEST + ".new", "lock", *(entry for entry in os.listdir(name) if FILE.fullmatch(entry))}


def _write_rows(name: str, stored: Stored, rows: Array, start: int = 0) -> None:
    """Write rows after the valid bytes, and truncate the file after them."""
    path = os.path.join(name, stored.file)
    with open(path, "r+b" if os.path.exists(path) else "w+b") as opened:
        opened.truncate(start)
        opened.seek(start)
        opened.write(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data if rows.nbytes else b"")
        opened.flush()
        os.fsync(opened.fileno())
    stored.add(rows)


@contextlib.contextmanager
def _writer(where: str, name: str) -> Iterator[None]:
    """Hold the lock for writing."""
    with open(os.path.join(name, "lock"), "ab") as lock:
        try:
            import fcntl
        except ImportError:  # not a POSIX system: the caller must ensure exclusive writes
            yield
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(f"{where}: {name}: is being written by another process") from None
        yield


def append_to_folder(where: str, name: str, packed: Packed) -> None:
    """Append sequences to the folder."""
    if not is_folder(name):
        raise FileNotFoundError(f"{where}: {name}: is not a folder; lodcore.save makes one")
    with _writer(where, name):
        manifest = _read_manifest(f"{where}: {name}", name)
        new = _matched(f"{where}: {name}", manifest, packed)
        for stored, rows in new:
            size = stored.size(where)
            held = os.stat(os.path.join(name, stored.file)).st_size
            if held < size:
                raise LoDError(f"{where}: {name}: {stored.file}: has {held} bytes; its manifest counts {size}")
            _write_rows(name, stored, rows, size)
        _commit(name, manifest)


def _matched(where: str, manifest: Manifest, packed: Packed) -> list[tuple[Stored, Array]]:
    """Return the rows to append to each file, after checking that they fit."""
    entries = packed.tree.get("dict", [["", packed.tree]])
    if not all("lodtensor" in entry for _, entry in entries):
        raise DTypeError(f"{where}: tree: a LoDTensor, or a dict of LoDTensors, can be added")
    if packed.tree != manifest.tree:
        raise LoDError(f"{where}: tree: has other entries, or shares other structures, than what is there")
    new: list[tuple[Stored, Array]] = []
    for key, values in packed.arrays.items():
        stored = manifest.arrays[key]
        if list(values.shape[1:]) != stored.shape[1:] or values.dtype != stored.kind(where):
            raise DTypeError(
                f"{where}: {key}: has dtype {values.dtype} and rows of shape {values.shape[1:]}; what is there has "
                f"{stored.kind(where)} and {tuple(stored.shape[1:])}"
            )
        new.append((stored, values))
    for j, lod in enumerate(packed.lods):
        levels = manifest.lods[j]
        if lod.num_levels != len(levels):
            raise LoDError(f"{where}: tree: has {lod.num_levels} levels; what is there has {len(levels)}")
        counts = [*(level.shape[0] - 1 for level in levels[1:]), manifest.num_rows[j]]
        for k, level in enumerate(levels):
            new.append((level, lod.offsets(k)[1:] + counts[k]))
        manifest.num_rows[j] += lod.num_rows
    return new


# -- reading -----------------------------------------------------------------------------------------------------------


def read_folder(where: str, name: str, verify: bool) -> Any:
    """Read a tree from a folder, mapping its values into memory."""
    manifest = _read_manifest(where, name)

    def array(key: str) -> Array:
        if key not in manifest.arrays:
            raise LoDError(f"{where}: tree: names {key!r}, which the manifest does not have")
        return _mapped(where, name, manifest.arrays[key], verify)

    def lod(number: int) -> LoD:
        if number >= len(manifest.lods):
            raise LoDError(f"{where}: tree: names structure {number}, which the manifest does not have")
        return _lod(where, name, manifest.lods[number], manifest.num_rows[number], verify)

    return Reader(where, array, lod).read(manifest.tree)


def _lod(where: str, name: str, levels: list[Stored], num_rows: int, verify: bool) -> LoD:
    """Read the offsets of a structure into memory that cannot be written, and check them there."""
    made: list[Array] = []
    counts = [*(stored.shape[0] - 1 for stored in levels[1:]), num_rows][: len(levels)]
    for stored, count in zip(levels, counts, strict=True):
        here = f"{where}: {stored.file}"
        if stored.kind(where) != INT64 or len(stored.shape) != 1 or not stored.shape[0]:
            raise LoDError(f"{here}: has dtype {stored.dtype!r} and shape {stored.shape}; offsets are int64, (n + 1,)")
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
    return core.make_lod(made, num_rows)


def _read_offsets(where: str, path: str, count: int) -> tuple[Array, int]:
    """Read the first offsets of a file, checking each piece while it is in cache; return the first bad one or -1."""
    try:
        opened = open(path, "rb", buffering=0)  # noqa: SIM115
    except FileNotFoundError:
        raise LoDError(f"{where}: is missing") from None
    read = checked = before = 0
    with opened:
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
            bad = kernels.doors.first_fall(part, before)
            if offsets[0] or bad >= 0:
                return offsets, checked + bad if not offsets[0] else 0
            before, checked = int(part[-1]), checked + len(part)
    return offsets, -1


def _verify(where: str, stored: Stored, raw: Array) -> None:
    """Raise if bytes do not have their checksum."""
    whole = len(raw) // WORD * WORD
    if kernels.doors.checksum(raw[:whole], 0) != stored.sum or raw[whole:].tobytes().hex() != stored.rest:
        raise LoDError(f"{where}: is damaged: its checksum differs")


def _mapped(where: str, name: str, stored: Stored, verify: bool) -> Array:
    """Map the valid bytes of a file."""
    path, where = os.path.join(name, stored.file), f"{where}: {stored.file}"
    dtype, size = stored.kind(where), stored.size(where)
    if size >= 2**63:
        raise LoDError(f"{where}: has {size} bytes according to its manifest")
    try:
        with open(path, "rb", buffering=0) as opened:
            held = os.fstat(opened.fileno()).st_size
            if held < size:
                raise LoDError(f"{where}: has {held} bytes; its manifest counts {size}")
            data = mmap.mmap(opened.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise LoDError(f"{where}: is missing") from None
    raw = np.frombuffer(data, np.uint8)
    if verify:
        _verify(where, stored, raw)
    check_bools(where, raw, dtype)
    shape = () if stored.single and stored.shape == [1] else tuple(stored.shape)
    if not size:
        check_size(where, *shape, dtype.itemsize)
        return np.ndarray(shape, dtype, bytearray(1))
    return raw.view(dtype).reshape(shape)
