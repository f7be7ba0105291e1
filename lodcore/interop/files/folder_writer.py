"""Writing of folders: one writer at a time, whose work becomes valid when a manifest is renamed.

`save` (1) records the names that it will write, and those that it will replace, in `writer.json`; (2) writes the files;
(3) replaces the manifest; and (4) removes what the record, but not the manifest, names. Each step is durable before the
next one begins. `append` writes after the valid bytes of the files, and then the manifest. Wherever a writer ends, by
an error or with its process, the manifest tells whether its work is valid, and the record what may be removed: step 4
follows every failure, and the next writer makes it up for one that died. Nothing else in the folder is removed, and no
file is overwritten.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base import files
from lodcore.base.articles import with_number
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.files.manifest import (
    FILE,
    MANIFEST,
    RECORD,
    Manifest,
    StoredFile,
    check_length,
    is_intact,
    parse_manifest,
    parse_record,
    read_content,
    record,
)
from lodcore.interop.files.tree_data import Packed, pack

__all__ = ["append_to_folder", "write_folder"]

Array = np.ndarray[Any, Any]
LOCK = "lock"
NEW = ".new"  # the ending of a manifest or record that is not yet complete
DRAFTS = (MANIFEST + NEW, RECORD + NEW)
OURS = {MANIFEST, RECORD, *DRAFTS, LOCK}
#: The beginning of a manifest. What begins otherwise is somebody else's `manifest.json`.
MARK = b'{"checksum": '


def write_folder(where: str, name: str, packed: Packed) -> None:
    """Write a tree into a folder; an earlier tree stays valid until the new one is complete."""
    place = os.path.abspath(name)
    made: list[str] = []
    try:
        _make_folders(place, made)
        _check_entries(where, name, place)
        _locked(f"{where}: {name}", place, lambda held: _save(f"{where}: {name}", place, packed, held))
    except BaseException:
        for folder in reversed(made):
            with contextlib.suppress(OSError):  # raised for one that is not there, or not empty
                os.rmdir(folder)
        raise


def _make_folders(place: str, made: list[str]) -> None:
    """Make a folder and those above it; list those that did not exist."""
    if os.path.isdir(place):
        return
    parent = os.path.dirname(place)
    _make_folders(parent, made)
    made.append(place)  # before it is there, so that no interrupt leaves it
    try:
        os.mkdir(place)
    except FileExistsError:
        made.pop()
        if not os.path.isdir(place):
            raise
        return
    files.sync_folder(parent)


def _locked(where: str, place: str, act: Callable[[io.FileIO], None]) -> None:
    """Run the work of a writer under the lock of the folder, and clean up after it and after dead ones."""
    path = os.path.join(place, LOCK)
    ours = not os.path.lexists(path) or _has(place, RECORD)
    try:
        with _taken(where, path) as held:  # bound to no name before, so that an interrupt frees the lock
            _write(place, act, held, ours)
    except BaseException:  # once more, since an interrupt may come at any place
        with contextlib.suppress(OSError), files.lock(path) as held:
            _leave(place, held, ours, durable=False)
        raise


def _write(place: str, act: Callable[[io.FileIO], None], held: io.FileIO, ours: bool) -> None:
    durable = False
    try:
        _clean(place, durable)
        act(held)
        durable = True
    finally:
        _leave(place, held, ours, durable)


def _taken(where: str, path: str) -> io.FileIO:
    try:
        return files.lock(path)
    except BlockingIOError:
        raise BlockingIOError(f"{where}: is being written by another process or thread") from None


def _leave(place: str, held: io.FileIO, ours: bool, durable: bool) -> None:
    """Clean up and release the lock; nothing in a forked copy of the writer, where it is closed."""
    if not held.closed:
        _clean(place, durable)
        if ours and not _has(place, MANIFEST):
            files.remove(os.path.join(place, LOCK))
        files.unlock(held)


def _has(place: str, entry: str) -> bool:
    return os.path.lexists(os.path.join(place, entry))


def _manifest(where: str, place: str) -> Manifest:
    return parse_manifest(where, read_content(where, place, MANIFEST))


def _record(where: str, place: str) -> set[str]:
    return parse_record(where, read_content(where, place, RECORD)) if _has(place, RECORD) else set()


def _clean(place: str, durable: bool) -> None:
    """Remove the files that the record of a writer names, but not the manifest; then the record."""
    with contextlib.suppress(OSError, LoDError):  # the record stays, for the next writer
        for entry in DRAFTS:
            if _has(place, entry) and _is_ours("", place, entry):
                files.remove(os.path.join(place, entry))
        if not _has(place, RECORD):
            return
        kept = {stored.file for stored in _manifest("", place).stored} if _has(place, MANIFEST) else set()
        names = _record("", place) - kept
        if names and not durable:
            files.sync_folder(place)  # the manifest is durable before what it has replaced is gone,
        left = {name for name in names if not files.remove(os.path.join(place, name))}
        if names:
            files.sync_folder(place)  # and that is gone for good before the record is
        if left:
            _put(place, RECORD, record(left))
        else:
            files.remove(os.path.join(place, RECORD))


def _put(place: str, entry: str, data: bytes) -> None:
    """Replace the manifest, or the record, atomically."""
    path = os.path.join(place, entry)
    try:
        with files.create(path + NEW, _mode(place)) as opened:
            files.write(opened, data)
            files.sync(opened)
        os.replace(path + NEW, path)
    except BaseException:
        files.remove(path + NEW)
        raise
    files.sync_folder(place)


def _mode(place: str) -> int | None:
    """Return the permissions that new files get: those of the manifest, if there is one."""
    return files.mode_of(os.path.join(place, MANIFEST))


# -- save --------------------------------------------------------------------------------------------------------------


def _save(where: str, place: str, packed: Packed, held: io.FileIO) -> None:
    """Write new files, and the manifest that names them."""
    replaced = _replaced(where, place)
    mark = os.urandom(8).hex()
    manifest = Manifest(packed.tree, {}, [], [lod.num_rows for lod in packed.lods])
    rows: list[Array] = []
    for k, (key, values) in enumerate(packed.arrays.items()):
        shaped = values if values.ndim else values.reshape(1)
        kind, shape = np.lib.format.dtype_to_descr(values.dtype), [0, *shaped.shape[1:]]
        manifest.arrays[key] = StoredFile(f"{mark}-{k}.bin", kind, shape, single=not values.ndim)
        rows.append(shaped)
    for j, lod in enumerate(packed.lods):
        manifest.lods.append([StoredFile(f"{mark}-lod{j}-{level}.bin", "<i8", [0]) for level in range(lod.num_levels)])
        rows += [lod.offsets(level) for level in range(lod.num_levels)]
    _put(place, RECORD, record(replaced | {stored.file for stored in manifest.stored}))
    for stored, part in zip(manifest.stored, rows, strict=True):
        with files.create(os.path.join(place, stored.file), _mode(place)) as opened:
            _add(opened, stored, part)
    files.sync_folder(place)
    _commit(where, place, manifest, held)


def _check_entries(where: str, name: str, place: str) -> None:
    """Raise if there are files of others, except for rows, which those of dead writers of older versions look like.

    NFS gives names like .nfs0001 to files that have been removed and are still mapped.
    """
    for entry in os.listdir(place):
        if entry not in OURS and not FILE.fullmatch(entry) and not entry.startswith(".nfs"):
            here = f"{where}: {name}: has {entry!r} in it"
            raise FileExistsError(f"{here}; an empty folder, or one of lodcore, is needed")
    for entry in (MANIFEST, RECORD, *DRAFTS):
        if not _is_ours(f"{where}: {name}", place, entry):
            here = f"{where}: {name}: has {entry!r} in it"
            raise FileExistsError(f"{here}, which is not lodcore's; an empty folder, or one of lodcore, is needed")


def _is_ours(where: str, place: str, entry: str) -> bool:
    """Return whether a manifest or record is lodcore's, as far as its beginning tells, or is not there."""
    try:
        with files.regular(f"{where}: {entry}", os.path.join(place, entry)) as opened:
            return MARK.startswith((opened.read(len(MARK)) or b"").rstrip(b"\0"))  # zeros: a lost block of a draft
    except FileNotFoundError:  # or another writer has just removed its record
        return True


def _replaced(where: str, place: str) -> set[str]:
    """Return the names of the files that a save replaces."""
    names: set[str] = set()
    if _has(place, MANIFEST):
        data = read_content(where, place, MANIFEST)
        if is_intact(data):  # otherwise it names nothing that could be trusted
            names = {stored.file for stored in parse_manifest(where, data).stored}
    with contextlib.suppress(LoDError):
        names |= _record(where, place)  # of files that could not be removed
    return names


def _add(opened: io.FileIO, stored: StoredFile, rows: Array) -> None:
    """Write rows at the place of an open file, and count them."""
    rows = np.ascontiguousarray(rows)
    if rows.nbytes:
        files.write(opened, rows.reshape(-1).view(np.uint8).data)
    files.sync(opened)
    stored.add(rows)


def _commit(where: str, place: str, manifest: Manifest, held: io.FileIO) -> None:
    """Make the work of a writer valid."""
    if held.closed:
        raise RuntimeError("lodcore: a folder is written by a process, not by one that was forked meanwhile")
    text = manifest.text()
    check_length(where, len(text))
    _put(place, MANIFEST, text)


# -- append ------------------------------------------------------------------------------------------------------------


def append_to_folder(where: str, name: str, tree: Any) -> None:
    """Append sequences to the folder."""
    place = os.path.abspath(name)
    if not os.path.isdir(place):
        raise FileNotFoundError(f"{where}: {name}: is not a folder; lodcore.save makes one")
    where = f"{where}: {name}"
    if not _has(place, MANIFEST):
        raise LoDError(f"{where}: {MANIFEST}: is missing; lodcore.save writes such folders")
    if not _is_ours(where, place, MANIFEST):
        raise LoDError(f"{where}: {MANIFEST}: is not lodcore's")
    _locked(where, place, lambda held: _append(where, place, tree, held))


def _append(where: str, place: str, tree: Any, held: io.FileIO) -> None:
    manifest = _manifest(where, place)
    rows = _matched(where, manifest, pack(where, _in_order(tree, manifest)))
    try:
        for stored, part in rows:
            size = stored.size(where)
            with _opened(where, place, stored, size) as opened:
                opened.truncate(size)
                opened.seek(size)
                _add(opened, stored, part)
        _commit(where, place, manifest, held)
    except BaseException:
        if not held.closed:
            _cut(place)
        raise


def _in_order(tree: Any, manifest: Manifest) -> Any:
    """Return a dict with its keys in the order of what is there, if they are the same."""
    entries = manifest.tree.get("dict") if isinstance(manifest.tree, dict) else None
    keys = [entry[0] for entry in entries if isinstance(entry, list) and entry] if isinstance(entries, list) else []
    if type(tree) is dict and len(tree) == len(keys) and all(key in keys for key in tree):
        return {key: tree[key] for key in sorted(tree, key=keys.index)}
    return tree


def _opened(where: str, place: str, stored: StoredFile, size: int) -> io.FileIO:
    """Open a file of rows for writing."""
    where = f"{where}: {stored.file}"
    try:
        opened = files.regular(where, os.path.join(place, stored.file), "r+")
    except FileNotFoundError:
        raise LoDError(f"{where}: is missing") from None
    held = os.fstat(opened.fileno()).st_size
    if held < size:
        opened.close()
        raise LoDError(f"{where}: has {held} bytes; its manifest counts {size}")
    return opened


def _cut(place: str) -> None:
    """Cut off what an append has left behind the valid ends of files; the manifest tells whether it became valid."""
    with contextlib.suppress(OSError, LoDError, DTypeError):
        for stored in _manifest("", place).stored:
            path, size = os.path.join(place, stored.file), stored.size("")
            if os.path.getsize(path) > size:
                with files.regular("", path, "r+") as opened:
                    opened.truncate(size)


def _matched(where: str, manifest: Manifest, packed: Packed) -> list[tuple[StoredFile, Array]]:
    """Return the rows to append to each file, after checking that they fit."""
    entries = packed.tree.get("dict", [["", packed.tree]])
    if not all("lodtensor" in entry for _, entry in entries):
        raise DTypeError(f"{where}: tree: a LoDTensor, or a dict of LoDTensors, can be added")
    same = packed.tree == manifest.tree and packed.arrays.keys() == manifest.arrays.keys()
    if not same or len(packed.lods) != len(manifest.lods):
        raise LoDError(f"{where}: tree: has other entries, or shares other structures, than what is there")
    new: list[tuple[StoredFile, Array]] = []
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
            raise LoDError(
                f"{where}: tree: has {with_number(lod.num_levels, 'level')}; what is there has {len(levels)}"
            )
        counts = [*(level.shape[0] - 1 for level in levels[1:]), manifest.num_rows[j]]
        for k, level in enumerate(levels):
            level.check_offsets(where)
            new.append((level, lod.offsets(k)[1:] + counts[k]))
        manifest.num_rows[j] += lod.num_rows
    return new
