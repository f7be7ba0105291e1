"""Files that are opened, locked, replaced and made durable in one way.

- Only regular files are opened: a pipe would block, and a device may never end.
- A forked child closes the files that are open here, so that it holds no lock and no disk space of its parent. Closing
  at exec would not suffice, as a forked child need not call exec; and a lock by `flock` belongs to the open file,
  which parent and child share, so that it would last until both have closed it. (Locks by `fcntl.lockf` are not shared
  with children, but the system drops them when any part of the process closes the same file, as a backup may do.)
- New files have the permissions that the process's umask leaves, or those of the files that they replace; no state of
  the process is changed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import stat
import threading
import weakref
from typing import Any

from lodcore.base.contexts import Folder, Opener, held
from lodcore.errors import LoDError
from lodcore.kernels.loading import hold_at_fork

__all__ = [
    "Opened",
    "check_regular",
    "create",
    "lock",
    "mode_of",
    "permit",
    "regular",
    "remove",
    "sync",
    "sync_folder",
    "unlock",
    "write",
]

#: Held while a file is opened, so that no other thread forks before the file is known here; and while it is closed, as
#: a file that says that it is closed may still have its descriptor, which a child could not close any more.
_guard = threading.RLock()
_opened: weakref.WeakSet[io.FileIO | Folder] = weakref.WeakSet()

#: What is opened by mistake must not block (a pipe without a writer), or become the terminal of the process.
_WARY = os.O_NONBLOCK | os.O_NOCTTY
_NO_LINK = os.O_NOFOLLOW

#: The errors of file systems that cannot make a folder durable.
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}


def _in_child() -> None:
    """Close the parent's files in a forked child."""
    for opened in list(_opened):
        with contextlib.suppress(OSError):
            opened.close()
    _opened.clear()


hold_at_fork(_guard)
os.register_at_fork(after_in_child=_in_child)


class Opened(io.FileIO):
    """A file that is known here, so that no child keeps its descriptor."""

    def close(self) -> None:
        """Close the file while no thread forks; without memory for that, close it at once."""
        try:
            with held(_guard):
                super().close()
        finally:
            if not self.closed:
                io.FileIO.close(self)


def _open(path: str, mode: str, flags: int = 0) -> io.FileIO:
    with held(_guard):
        opened = Opened(path, mode, opener=Opener(flags))
        _opened.add(opened)
    return opened


def check_regular(where: str, mode: int) -> None:
    """Raise if the mode of a file is not that of a regular one.

    Parameters
    ----------
    where : str
        The names of function and file, for the message.
    mode : int
        As in `os.stat_result.st_mode`.

    Raises
    ------
    LoDError
    """
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise LoDError(f"{where}: is {kind}; a regular file is needed")


def regular(where: str, path: str, mode: str = "r") -> io.FileIO:
    """Open a regular file without a buffer.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    path : str
    mode : {"r", "r+"}

    Returns
    -------
    FileIO

    Raises
    ------
    LoDError
        If it is a folder, a pipe, a device or a socket.
    OSError
        If it cannot be opened.
    """
    try:
        opened = _open(path, mode, _WARY | _NO_LINK)
    except IsADirectoryError:
        raise LoDError(f"{where}: is a folder; a regular file is needed") from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK, errno.ENXIO):  # a link, or a socket
            raise
        check_regular(where, os.stat(path).st_mode)  # a link may lead to a device that acts when it is opened
        opened = _open(path, mode, _WARY)
    try:
        check_regular(where, os.fstat(opened.fileno()).st_mode)
    except BaseException:
        opened.close()
        raise
    return opened


def create(path: str, mode: int | None = None) -> io.FileIO:
    """Make a new file without a buffer; raise FileExistsError if there is anything of this name.

    Parameters
    ----------
    path : str
    mode : int, optional
        Its permissions; by default those that the umask leaves.

    Returns
    -------
    FileIO
    """
    opened = _open(path, "x", _NO_LINK)
    try:
        permit(opened, mode)
    except BaseException:
        opened.close()
        raise
    return opened


def mode_of(path: str) -> int | None:
    """Return the permissions of a file or folder, which one in its place gets; None if there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode) & 0o777
    except FileNotFoundError:
        return None


def permit(opened: io.FileIO, mode: int | None) -> None:
    """Give permissions to an open file, unless it has them, as on a file system that knows no others."""
    if mode is not None and stat.S_IMODE(os.fstat(opened.fileno()).st_mode) != mode:
        os.fchmod(opened.fileno(), mode)


def write(opened: io.FileIO, data: Any) -> None:
    """Write all bytes of a buffer, or raise OSError."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[opened.write(rest) :]


def sync(opened: io.FileIO) -> None:
    """Make the contents of an open file durable."""
    os.fsync(opened.fileno())


def sync_folder(path: str) -> None:
    """Make the entries of a folder durable; raise OSError if that fails."""
    with held(_guard):
        try:
            folder = Folder(path)
        except PermissionError:  # who may add entries need not be allowed to list them
            return
        _opened.add(folder)
    try:
        os.fsync(folder.fileno())
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        with held(_guard):
            folder.close()


def remove(path: str) -> bool:
    """Remove a file or link, if there is one; return False if it is still there."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def lock(path: str, needed: bool = True) -> io.FileIO:
    """Open and lock a file, which is made if there is none; closing it releases the lock.

    The lock is held by this process, not by its children, and ends with it. Threads exclude each other, too. The holder
    may remove the file: whoever has opened it before then does not get the lock of a file that is gone.

    Parameters
    ----------
    path : str
    needed : bool
        Whether to raise OSError on a file system without locks.

    Returns
    -------
    FileIO
        To be used in a `with` statement, which ends with `unlock`. In a forked child it is closed.

    Raises
    ------
    BlockingIOError
        If it is locked.
    OSError
        If it cannot be opened, is not a regular file, or is on a file system without locks.
    """
    while True:
        held = [_open(path, "a", _WARY | _NO_LINK)]
        try:
            now = os.fstat(held[0].fileno())
            if not stat.S_ISREG(now.st_mode):
                raise FileExistsError(f"{path}: is not a regular file, so that it cannot be the file of a lock")
            _flock(held[0], needed)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(now, os.lstat(path)):
                    return held.pop()  # so that no frame of a traceback holds it if an interrupt comes now
            held.pop().close()
        except BaseException:
            for opened in held:
                opened.close()
            raise


def _flock(held: io.FileIO, needed: bool) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if needed or error.errno not in (errno.ENOLCK, *_UNSUPPORTED):
            raise


def unlock(held: io.FileIO) -> None:
    """Release a lock, even if a child that was forked without Python has a copy of the file."""
    if not held.closed:
        with contextlib.suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_UN)
