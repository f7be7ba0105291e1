"""Files that are replaced as a whole: the new contents are complete and durable before they get the name."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import re
import shutil
import stat
import zlib
from collections.abc import Callable

from lodcore.base import files

__all__ = ["replace"]

LOCK = "lock"
NEW = "new"
DRAFT = re.compile(r"\.lodcore-[0-9a-f]{8}-[0-9]+")


def replace(where: str, path: str, write: Callable[[str], None]) -> None:
    """Let a function write a file or folder, and put it in the place of a file at once.

    Whatever happens, the name refers to the old contents or to the new ones, which have the permissions of the old
    ones. If the name is a link, the file that it leads to is replaced. A folder next to the file,
    ``.lodcore-<checksum of the name>-<number>``, holds a draft and a lock. The lock of a dead writer is free: whoever
    writes next to its draft removes it first, which gives its space back. On a file system without locks it stays.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    path : str
        Need not exist; may be an empty folder if a folder is written.
    write : callable
        Writes to the path that it is given, which has the same ending.

    Raises
    ------
    LoDError
        If the path refers to a device, a pipe or a socket, which are not replaced.
    OSError
        If the new contents cannot be written; then nothing of them is left.
    """
    path, place = os.path.abspath(path), NEW + os.path.splitext(path)[1]
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if not os.path.isdir(path):
            files.check_regular(f"{where}: {path}", mode)
    path = os.path.realpath(path)
    tried: list[str] = []
    try:
        try:
            with _draft(path, tried) as held:  # bound to no name before, so that an interrupt frees the lock
                _replace(path, write, os.path.join(tried[-1], place), held)
        finally:
            _give_up(tried)
    finally:  # once more, since an interrupt may come just before the other try
        _give_up(tried)


def _replace(path: str, write: Callable[[str], None], place: str, held: io.FileIO) -> None:
    """Write a draft, put it in the place of the file, and remove its folder."""
    try:
        write(place)
        _sync(place, files.mode_of(path))
        os.replace(place, path)
        files.sync_folder(os.path.dirname(path))
    finally:
        if not held.closed:  # as it is in a forked copy of the writer
            _remove(os.path.dirname(place))
            files.unlock(held)


def _draft(path: str, tried: list[str]) -> io.FileIO:
    """Make and lock the folder of a draft, whose name is noted before it is there; remove those of dead writers."""
    parent, name = os.path.split(path)
    if not os.path.isdir(parent):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    _sweep_all(parent)
    stem = os.path.join(parent, f".lodcore-{zlib.crc32(os.fsencode(name)):08x}-")
    for number in itertools.count():
        folder = f"{stem}{number}"
        tried.append(folder)
        if not _make(folder, path):
            tried.pop()
            continue
        try:
            return files.lock(os.path.join(folder, LOCK), needed=False)
        except (BlockingIOError, FileNotFoundError):  # another writer has taken it for that of a dead one
            tried.pop()
        except BaseException:
            _remove(folder)
            raise
    raise AssertionError


def _give_up(tried: list[str]) -> None:
    """Remove what an interrupted writer has left of its drafts; nothing, unless it was interrupted."""
    for folder in tried:
        if os.path.isdir(folder):
            _sweep(folder)


def _sweep_all(parent: str) -> None:
    """Remove the drafts of dead writers in a folder."""
    with contextlib.suppress(OSError):  # who may add entries need not be allowed to list them
        for name in os.listdir(parent):
            if DRAFT.fullmatch(name):
                _sweep(os.path.join(parent, name))


def _make(folder: str, path: str) -> bool:
    """Make the folder of a draft; return False if there is one."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return False
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    return True


def _sweep(folder: str) -> None:
    """Remove a draft unless its writer lives. Nobody else can put a link in the place of a folder of ours in time."""
    with contextlib.suppress(OSError):
        found = os.lstat(folder)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            with files.lock(os.path.join(folder, LOCK)) as held:
                _remove(folder)
                files.unlock(held)


def _remove(folder: str) -> None:
    """Remove a draft; the lock last, so that what an interrupted removal leaves is swept."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            entry = os.path.join(folder, name)
            if os.path.isdir(entry) and not os.path.islink(entry):
                shutil.rmtree(entry, ignore_errors=True)
            elif name != LOCK:
                files.remove(entry)
        files.remove(os.path.join(folder, LOCK))
        os.rmdir(folder)


def _sync(place: str, mode: int | None = None) -> None:
    """Make a file durable, or all files of a folder, with other permissions if they are given."""
    if not os.path.isdir(place):
        with files.regular("", place) as opened:
            files.permit(opened, mode)
            files.sync(opened)
        return
    for name in os.listdir(place):
        _sync(os.path.join(place, name))
    if mode is not None:
        os.chmod(place, mode)
    files.sync_folder(place)
