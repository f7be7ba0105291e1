"""Arrays in .npz and .npy files: nothing is unpickled, and a size that the file cannot hold is refused."""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from lodcore.base import files
from lodcore.base.dtypes import NO_DTYPE
from lodcore.base.memory import check_size
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError

__all__ = [
    "Archive",
    "Whole",
    "WrittenArchive",
    "check_open",
    "check_values",
    "checked_dtype",
    "dtype_of",
    "read_archive",
    "read_npy",
    "size_of",
    "write_array",
]

Array = np.ndarray[Any, Any]
Result = TypeVar("Result")
LONGEST_HEADER = 10_000  # bytes of the header of an array, as in NumPy
DENSEST = 1100  # bytes that one compressed byte can expand to
PIECE = 1 << 24
LAST_CODE_POINT = 0x10FFFF
#: The errors that `zipfile` raises for invalid bytes.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error)


class WrittenArchive(zipfile.ZipFile):
    """An archive to write that ends where it is closed: one that is given up writes nothing when it is deleted."""

    def __del__(self) -> None:
        pass

    def give_up(self) -> None:
        """Let a member that is still open end in memory, not in the file."""
        if self.fp is not None:
            self.fp = io.BytesIO()


def write_array(where: str, archive: zipfile.ZipFile, name: str, values: Array, method: int) -> None:
    """Write an array to an archive, without a date, so that equal arrays make equal files."""
    if values.dtype.names is not None and len(str(np.lib.format.dtype_to_descr(values.dtype))) > LONGEST_HEADER - 500:
        raise DTypeError(
            f"{where}: {name}: has a dtype of {len(values.dtype.names)} fields, whose description is too long"
        )
    info = zipfile.ZipInfo(name + ".npy")
    info.compress_type = method
    with archive.open(info, "w", force_zip64=True) as member:
        np.lib.format.write_array(member, values, allow_pickle=False)


# -- reading -----------------------------------------------------------------------------------------------------------


class Archive:
    """The members of an .npz file, whose sizes are possible.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    archive : ZipFile
    total : int
        The number of bytes of the file.
    """

    def __init__(self, where: str, archive: zipfile.ZipFile, total: int) -> None:
        self.where = where
        self._archive = archive
        self._members = _members(where, archive, total)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return [name.removesuffix(".npy") for name in self._members]

    def array(self, name: str) -> Array:
        """Read an array."""
        info = self._members.get(name + ".npy")
        if info is None:
            raise LoDError(f"{self.where}: {name}.npy: is missing")
        with self._archive.open(info) as member:
            return _read_array(f"{self.where}: {info.filename}", member, info.file_size)

    def content(self, name: str, most: int) -> bytes:
        """Read the bytes of a member, at most so many."""
        size = self._members[name].file_size
        if size > most:
            raise LoDError(f"{self.where}: {name}: has {size} bytes; {most} is the most")
        return self._archive.read(self._members[name])


def read_archive(where: str, file: Any, use: Callable[[Archive], Result]) -> Result:
    """Open an .npz file and call a function with its members.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    file : binary file
    use : callable
        Called with an Archive.

    Returns
    -------
    Any
        The result of the call.

    Raises
    ------
    LoDError, DTypeError
        If the file is damaged, or not a regular one.
    """
    try:
        check_open(where, file, "readable", "read", "seek", "tell")
        _check_regular(where, file)
        with _buffered(file) as opened, zipfile.ZipFile(opened) as archive:
            opened.seek(0, os.SEEK_END)
            return use(Archive(where, archive, opened.tell()))
    except (LoDError, DTypeError, MemoryError):
        raise
    except (*DAMAGED, ValueError, OverflowError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # raised for a position before the file
            raise
        raise LoDError(f"{where}: is damaged, or not an .npz file: {error or type(error).__name__}") from None


@contextlib.contextmanager
def _buffered(file: Any) -> Iterator[Any]:
    """Give the bytes of a file, of which a raw one may return fewer than were asked for."""
    if isinstance(file, io.BufferedIOBase):
        yield file
        return
    opened = io.BufferedReader(file if isinstance(file, io.RawIOBase) else _Raw(file))
    try:
        yield opened
    finally:
        opened.detach()  # the caller's file stays open


class _Raw(io.RawIOBase):
    """A file of the caller's that is read like a raw one."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return int(self._file.tell())

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, place: Any) -> int | None:
        data = self._file.read(len(place))
        if data is None:  # nothing is there yet
            return None
        place[: len(data)] = data
        return len(data)


class Whole:
    """A file of the caller's to which all bytes are written, one after the other, or an error is raised.

    A file without a buffer may take only some of the bytes that it is given, as a full disk does; and one that was
    opened for appending writes at its end, wherever it was moved to.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    file : binary file
    """

    def __init__(self, where: str, file: Any) -> None:
        check_open(f"{where}: file", file, "writable", "write")
        self._file = file

    def write(self, data: Any) -> int:
        """Write all bytes of a buffer; return their number."""
        rest = memoryview(data).cast("B")
        count = len(rest)
        while rest:
            taken = self._file.write(rest)
            if taken is None:
                if isinstance(self._file, io.RawIOBase):
                    raise BlockingIOError(errno.EAGAIN, "the file takes no bytes now")
                break  # a writer that does not count
            rest = rest[taken:]
        return count

    def flush(self) -> None:
        """Write what the file holds in a buffer, if it has one."""
        flush = getattr(self._file, "flush", None)
        if flush is not None:
            flush()


def check_open(where: str, file: Any, able: str, *methods: str) -> None:
    """Raise unless a file of the caller's is open for bytes.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    file : object
    able : {"readable", "writable"}
    *methods : str
        The names of methods that are used.

    Raises
    ------
    LoDError, DTypeError
    """
    if isinstance(file, io.TextIOBase) or not all(hasattr(file, name) for name in methods):
        raise DTypeError(f"{where}: is {type(file).__name__}; a binary file with {', '.join(methods)} is needed")
    if getattr(file, "closed", False):
        raise LoDError(f"{where}: is closed; an open file is needed")
    if not getattr(file, able, lambda: True)():
        raise LoDError(f"{where}: is not {able}; a file that is open for this is needed")


def _check_regular(where: str, file: Any) -> None:
    """Raise if a file that the caller has opened is one of the system, but not a regular one, which may not end."""
    try:
        mode = os.fstat(file.fileno()).st_mode
    except (AttributeError, OSError, TypeError, ValueError):  # in memory, or of another library
        return
    files.check_regular(where, mode)


def _members(where: str, archive: zipfile.ZipFile, total: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a file; raise for impossible sizes."""
    members: dict[str, zipfile.ZipInfo] = {}
    packed = 0
    for info in archive.infolist():
        if info.filename in members:
            raise LoDError(f"{where}: {info.filename}: occurs twice")
        if info.comment:  # one that was made longer by damage holds the entries that follow
            raise LoDError(f"{where}: {info.filename}: has a comment, as no array of NumPy has")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise LoDError(f"{where}: {info.filename}: is encrypted, or compressed by a method other than deflate")
        most = info.compress_size if info.compress_type == zipfile.ZIP_STORED else info.compress_size * DENSEST + 100
        packed += info.compress_size
        if info.file_size > most or packed > total:
            raise LoDError(f"{where}: {info.filename}: claims {info.file_size} bytes, which is impossible")
        members[info.filename] = info
    check_size(where, sum(info.file_size for info in members.values()))
    return members


def read_npy(where: str, path: str) -> Array:
    """Read an array from an .npy file.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    path : str

    Returns
    -------
    ndarray
    """
    with files.regular(where, path) as opened:
        try:
            return _read_array(where, opened, os.fstat(opened.fileno()).st_size)
        except struct.error:
            raise LoDError(f"{where}: ends inside of its header") from None


def dtype_of(where: str, description: Any) -> np.dtype[Any]:
    """Return the dtype of a description, also one in JSON, which must not have Python objects."""
    known = isinstance(description, (str, list, tuple)) and "\0" not in description  # NumPy takes None for float64
    if not known:
        raise DTypeError(f"{where}: has no dtype {described(description)}")
    try:
        dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(_with_tuples(description))
    except (*NO_DTYPE, Warning) as error:
        raise DTypeError(f"{where}: has no dtype {described(description)}: {str(error)[:200]}") from None
    return checked_dtype(where, dtype)


def checked_dtype(where: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype from outside; raise DTypeError if values may not be read as it."""
    if dtype.hasobject or dtype.subdtype is not None:
        raise DTypeError(f"{where}: has dtype {dtype}; Python objects are not read")
    if _stands_still(dtype):
        raise DTypeError(f"{where}: has no dtype {dtype.str}: its times are counted in steps of 0")
    return dtype


def _stands_still(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype, or a field of it, has times in steps of 0, by which NumPy divides without a check."""
    if dtype.names is not None:
        return any(_stands_still(dtype[name].base) for name in dtype.names)
    return dtype.kind in "mM" and np.datetime_data(dtype)[1] < 1


def _with_tuples(description: Any) -> Any:
    """Return a description whose fields, with their titles and shapes, are tuples, as JSON has none."""
    if not isinstance(description, list):
        return description
    fields = []
    for name, kind, *shape in description:
        parts = [tuple(part) if isinstance(part, list) else part for part in (name, *shape)]
        fields.append((parts[0], _with_tuples(kind), *parts[1:]))
    return fields


def _read_array(where: str, member: Any, size: int) -> Array:
    """Read one array with the size of its entry."""
    magic = member.read(8)
    if magic[:6] != b"\x93NUMPY" or magic[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise LoDError(f"{where}: begins with {magic[:8]!r}; a NumPy array is needed")
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
        raise LoDError(f"{where}: has shape {shape!r}; numbers of 0 or more are needed")
    dtype = dtype_of(where, description)
    needed = size_of(where, shape, dtype)
    held = size - len(magic) - len(count) - length
    if needed != held:
        raise LoDError(f"{where}: has {held} bytes of values; shape {shape} of {dtype} has {needed}")
    check_size(where, needed)
    data = np.empty(needed, np.uint8)
    place = memoryview(data.data)
    while place:
        got = member.readinto(place[:PIECE])
        if not got:
            raise LoDError(f"{where}: ends at byte {size - len(place)} of {size}")
        place = place[got:]  # after the last byte, zipfile compares the checksum
    check_values(where, data, dtype)
    if not dtype.itemsize:
        return np.ndarray(shape, dtype, bytearray(1))
    return data.view(dtype).reshape(shape, order="F" if fortran else "C")


def size_of(where: str, shape: Iterable[int], dtype: np.dtype[Any]) -> int:
    """Return the number of bytes of an array in a file; raise LoDError for a shape that no array has."""
    size, reach = dtype.itemsize, max(dtype.itemsize, 1)
    for n in shape:
        size *= n
        reach *= max(n, 1)  # as in NumPy, even for arrays without bytes
    if reach >= 2**63:
        raise LoDError(f"{where}: has shape {described(tuple(shape))} of {dtype}, which no array has")
    return size


def check_values(where: str, data: Array, dtype: np.dtype[Any]) -> None:
    """Raise for bytes that no value of the dtype has.

    Counting and gathering by a bool that is neither false nor true would disagree, and NumPy cannot show a string with
    a code point that Unicode does not have.

    Parameters
    ----------
    where : str
        The names of function and file, for the message.
    data : ndarray of uint8
    dtype : dtype

    Raises
    ------
    LoDError
    """
    if dtype.names is not None:
        records = data.view(dtype) if dtype.itemsize else np.empty(0, dtype)
        for name in dtype.names:
            part = np.ascontiguousarray(records[name])
            if part.dtype.itemsize:
                check_values(f"{where}: {name}", part.reshape(-1).view(np.uint8), part.dtype)
    elif dtype.kind == "b" and len(data) and data.max() > 1:
        raise LoDError(f"{where}: is {data.max()} at byte {int(np.argmax(data > 1))}; a bool is 0 or 1")
    elif dtype.kind == "U" and len(data):
        points = data.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if points.max() > LAST_CODE_POINT:
            at = int(np.argmax(points > LAST_CODE_POINT))
            raise LoDError(
                f"{where}: is {points[at]:#x} at character {at}; {LAST_CODE_POINT:#x} is the last code point"
            )
