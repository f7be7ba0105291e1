"""The manifest of a folder: what it holds; and the record of its writer: the names that it may leave behind."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import files
from lodcore.base.archives import dtype_of, size_of
from lodcore.base.naming import described
from lodcore.errors import LoDError

__all__ = [
    "LARGEST",
    "MANIFEST",
    "RECORD",
    "Manifest",
    "StoredFile",
    "check_length",
    "is_intact",
    "parse_manifest",
    "parse_record",
    "read_content",
    "record",
]

Array = np.ndarray[Any, Any]
MANIFEST = "manifest.json"
RECORD = "writer.json"
FORMAT, RECORD_FORMAT = "lodcore folder", "lodcore writer"
VERSION = 1
LARGEST = 1 << 26  # bytes of a manifest, which is parsed as a whole
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.bin")
WORD = 8


@dataclass
class StoredFile:
    """One file of raw rows.

    Parameters
    ----------
    file : str
    dtype : object
        The description of the dtype by `numpy.lib.format`.
    shape : list of int
        The number of valid rows, and the shape of a row.
    sum : int
        The checksum of the whole words of the valid bytes; see `lodcore.kernels.foreign_data.checksum`.
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
        return dtype_of(f"{where}: {self.file}", self.dtype)

    def size(self, where: str) -> int:
        """Return the number of valid bytes."""
        return size_of(f"{where}: {self.file}", self.shape, self.kind(where))

    def check_offsets(self, where: str) -> None:
        """Raise unless these are the offsets of a level."""
        if self.kind(where) != np.int64 or len(self.shape) != 1 or not self.shape[0]:
            has = f"has dtype {described(self.dtype)} and shape {self.shape}"
            raise LoDError(f"{where}: {self.file}: {has}; offsets are int64, (n + 1,)")

    def add(self, rows: Array) -> None:
        """Add rows to the valid size and the checksum."""
        data = np.frombuffer(bytes.fromhex(self.rest), np.uint8)
        raw = np.ascontiguousarray(rows).reshape(-1).view(np.uint8) if rows.nbytes else np.empty(0, np.uint8)
        data = np.concatenate([data, raw]) if len(data) else raw
        whole = len(data) // WORD * WORD
        self.sum = kernels.foreign_data.checksum(data[:whole], self.sum)
        self.rest = data[whole:].tobytes().hex()
        self.shape[0] += len(rows)


@dataclass
class Manifest:
    """The valid contents of a folder."""

    tree: Any
    arrays: dict[str, StoredFile]
    lods: list[list[StoredFile]]
    num_rows: list[int]

    @property
    def stored(self) -> list[StoredFile]:
        """All files of rows."""
        return [*self.arrays.values(), *(level for levels in self.lods for level in levels)]

    def text(self) -> bytes:
        """Return the manifest as JSON with a checksum."""
        return _sealed(
            {
                "format": FORMAT,
                "version": VERSION,
                "tree": self.tree,
                "arrays": {name: asdict(stored) for name, stored in self.arrays.items()},
                "lods": [
                    {"offsets": [asdict(stored) for stored in levels], "num_rows": rows}
                    for levels, rows in zip(self.lods, self.num_rows, strict=True)
                ],
            }
        )


def check_length(where: str, length: int) -> None:
    """Raise for a manifest that would not be read again."""
    if length > LARGEST:
        has = f"its keys, text and numbers have {length} bytes"
        raise LoDError(f"{where}: tree: {has}; {LARGEST} is the most, and arrays have no limit")


def record(names: Iterable[str]) -> bytes:
    """Return the record of a writer: files that may be removed if no manifest names them."""
    return _sealed({"format": RECORD_FORMAT, "version": VERSION, "files": sorted(names)})


def _sealed(body: dict[str, Any]) -> bytes:
    text = json.dumps(body)
    return json.dumps({"checksum": zlib.crc32(text.encode()), "content": text}).encode()


# -- reading -----------------------------------------------------------------------------------------------------------


def read_content(where: str, name: str, entry: str) -> bytes:
    """Return the bytes of the manifest, or of the record, of a folder."""
    where = f"{where}: {entry}"
    with files.regular(where, os.path.join(name, entry)) as opened:
        size = os.fstat(opened.fileno()).st_size
        if size > LARGEST:
            raise LoDError(f"{where}: has {size} bytes; {LARGEST} is the most")
        return opened.read(size) or b""


def _unsealed(where: str, data: bytes, wanted: str) -> dict[str, Any]:
    """Parse JSON with a checksum."""
    outer = json.loads(data)
    text = outer["content"]
    if zlib.crc32(text.encode()) != outer["checksum"]:
        raise LoDError(f"{where}: is damaged: its checksum differs")
    body: dict[str, Any] = json.loads(text)
    if body["format"] != wanted:
        raise LoDError(f"{where}: is not lodcore's")
    if body["version"] != VERSION:
        raise LoDError(f"{where}: has version {described(body['version'])}; this lodcore reads version {VERSION}")
    return body


def is_intact(data: bytes) -> bool:
    """Return whether a manifest has its checksum, whatever it says."""
    try:
        outer = json.loads(data)
        return bool(zlib.crc32(outer["content"].encode()) == outer["checksum"])
    except (KeyError, TypeError, AttributeError, RecursionError, ValueError):
        return False


def parse_manifest(where: str, data: bytes) -> Manifest:
    """Parse and check a manifest.

    Parameters
    ----------
    where : str
        The names of function and folder, for messages.
    data : bytes

    Returns
    -------
    Manifest
    """
    where = f"{where}: {MANIFEST}"
    try:
        body = _unsealed(where, data, FORMAT)
        arrays = {key: _stored(where, entry) for key, entry in body["arrays"].items()}
        lods = [[_stored(where, entry) for entry in structure["offsets"]] for structure in body["lods"]]
        rows = [_count(where, structure["num_rows"]) for structure in body["lods"]]
        manifest = Manifest(body["tree"], arrays, lods, rows)
    except LoDError:
        raise
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LoDError(f"{where}: is not a valid manifest: {error}") from None
    except ValueError as error:
        raise LoDError(f"{where}: is not JSON: {error}") from None
    names = [stored.file for stored in manifest.stored]
    if len(set(names)) != len(names):
        raise LoDError(f"{where}: names a file twice")
    return manifest


def parse_record(where: str, data: bytes) -> set[str]:
    """Return the names in a record; raise LoDError if it is damaged."""
    where = f"{where}: {RECORD}"
    try:
        names = _unsealed(where, data, RECORD_FORMAT)["files"]
        if not all(FILE.fullmatch(name) for name in names):
            raise LoDError(f"{where}: has names other than those of rows")
        return set(names)
    except (KeyError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise LoDError(f"{where}: is not a valid record: {error}") from None


def _stored(where: str, entry: Any) -> StoredFile:
    """Check the entry of a file."""
    stored = StoredFile(**entry)
    if not isinstance(stored.file, str) or not FILE.fullmatch(stored.file):
        raise LoDError(f"{where}: names the file {described(stored.file)}; letters, digits and .bin make a name")
    if not isinstance(stored.shape, list) or not 1 <= len(stored.shape) <= 64:
        raise LoDError(f"{where}: {stored.file}: has shape {described(stored.shape)}")
    for n in stored.shape:
        _count(f"{where}: {stored.file}", n)
    if type(stored.sum) is not int or not 0 <= stored.sum < 2**64 or not isinstance(stored.rest, str):
        raise LoDError(f"{where}: {stored.file}: has no checksum")
    if len(bytes.fromhex(stored.rest)) >= WORD:
        raise LoDError(f"{where}: {stored.file}: has no checksum")
    return stored


def _count(where: str, number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**63 - 1:
        raise LoDError(f"{where}: has {described(number)} where a number of rows is needed")
    return number
