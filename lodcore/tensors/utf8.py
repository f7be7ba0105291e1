"""Text: conversion of NumPy's strings to bytes of UTF-8, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.dtypes import native_dtype
from lodcore.errors import DTypeError
from lodcore.tensors import lod_body, lod_tensor_body

__all__ = ["fixed_width", "is_text", "utf8_of", "utf8_of_strings"]

Array = np.ndarray[Any, Any]
AT_ONCE = 1 << 16  # strings of a fixed width that are converted at once, to limit the memory that is needed


def is_text(dtype: np.dtype[Any]) -> bool:
    """Return whether values are strings, of a fixed width or of NumPy's StringDType."""
    return dtype.kind in "UST"


def utf8_of(where: str, values: Array) -> tuple[Array, Array]:
    """Encode strings.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    values : ndarray of str, bytes or StringDType, shape (n,)
        Bytes are not encoded again.

    Returns
    -------
    (ndarray, ndarray)
        Offsets in bytes, int64 of shape (n + 1,), for `make_lod`; and the bytes, uint8.

    Raises
    ------
    DTypeError
        If a string contains a lone surrogate.
    """
    if values.dtype.kind == "T":
        return utf8_of_strings(where, values.tolist())
    encode = _of_points if values.dtype.kind == "U" else _of_bytes
    parts = [encode(where, values[at : at + AT_ONCE]) for at in range(0, len(values), AT_ONCE)]
    lengths = np.concatenate([part[0] for part in parts] or [np.zeros(0, np.int64)])
    letters = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.uint8)])
    return _offsets(lengths), letters


def _offsets(lengths: Array) -> Array:
    offsets: Array = buffers.new_offsets(len(lengths) + 1)
    offsets[0] = 0
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def utf8_of_strings(where: str, strings: Sequence[Any]) -> tuple[Array, Array]:
    """Encode Python strings as `utf8_of` does; bytes are not encoded again."""
    found = _of_text(strings)
    if found is not None:
        return found
    try:
        encoded = [string if isinstance(string, bytes) else str.encode(string) for string in strings]
    except TypeError:
        for at, string in enumerate(strings):
            if not isinstance(string, (str, bytes)):
                raise DTypeError(f"{where}: is {string!r} at position {at}; a string is needed") from None
        raise DTypeError(f"{where}: changed while it was read") from None
    except UnicodeError as error:
        raise DTypeError(f"{where}: is not text: {error}") from None
    offsets = _offsets(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return offsets, np.frombuffer(b"".join(encoded), np.uint8)


def _of_text(strings: Sequence[Any]) -> tuple[Array, Array] | None:
    """Encode Python strings at once; None if some are bytes or not text, or changed while they were read."""
    try:
        joined = "".join(strings)
        offsets, letters = _offsets(np.fromiter(map(len, strings), np.int64)), np.frombuffer(joined.encode(), np.uint8)
    except (TypeError, UnicodeError):
        return None
    if offsets[-1] != len(joined):
        return None
    if len(letters) > len(joined):  # some characters are several bytes, all of which but the first begin with 10
        begins = np.append(np.flatnonzero((letters & 0xC0) != 0x80), len(letters))
        np.take(begins, offsets.copy(), out=offsets)
    return offsets, letters


def _of_points(where: str, values: Array) -> tuple[Array, Array]:
    """Encode strings of a fixed width; return lengths in bytes, and the bytes."""
    width = values.dtype.itemsize // 4
    plain = np.ascontiguousarray(values, native_dtype(values.dtype))
    points = plain.view(np.uint32).reshape(len(values), width)
    lengths = np.where(points != 0, np.arange(1, width + 1), 0).max(axis=1, initial=0)
    flat = points[np.arange(width) < lengths[:, None]]
    try:
        encoded = flat.astype("<u4").tobytes().decode("utf-32-le").encode("utf-8")
    except UnicodeError as error:
        raise DTypeError(f"{where}: is not text: {error}") from None
    sizes = 1 + (flat >= 0x80).astype(np.int64) + (flat >= 0x800) + (flat >= 0x10000)
    reach = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return np.diff(reach[ends]), np.frombuffer(encoded, np.uint8)


def _of_bytes(where: str, values: Array) -> tuple[Array, Array]:
    """Remove trailing zeros from bytes of a fixed width; return lengths, and the bytes."""
    width = values.dtype.itemsize
    cells = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), width)
    lengths = np.where(cells != 0, np.arange(1, width + 1), 0).max(axis=1, initial=0)
    return lengths, cells[np.arange(width) < lengths[:, None]]


def fixed_width(where: str, letters: Array, offsets: Array, unicode: bool) -> Array:
    """Return strings as wide as the longest.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    letters : ndarray of uint8
    offsets : ndarray of int64, shape (n + 1,), in bytes
    unicode : bool
        Whether the bytes are UTF-8 and become characters, or stay bytes.

    Returns
    -------
    ndarray of str or bytes, shape (n,)

    Raises
    ------
    DTypeError
        If the bytes are not UTF-8, or a string ends with NUL, which NumPy would drop.
    """
    data = letters
    if unicode:
        data, offsets = _characters(where, letters, offsets)
    lengths = np.diff(offsets)
    ended = lengths > 0
    last = data[offsets[1:][ended] - 1]
    if (last == 0).any():
        at = int(np.flatnonzero(ended)[np.argmax(last == 0)])
        raise DTypeError(f"{where}: string {at} ends with NUL, which NumPy drops; bytes with a level keep it")
    x: Any = lod_tensor_body.new_tensor(
        np.ascontiguousarray(data), lod_body.make_lod([offsets.copy()], int(offsets[-1]))
    )
    padded = x.to_padded()
    width = padded.shape[1]
    if not width:
        return np.zeros(len(lengths), "U1" if unicode else "S1")
    strings: Array = padded.view(f"{'U' if unicode else 'S'}{width}")[:, 0]
    return strings


def _characters(where: str, data: Array, offsets: Array) -> tuple[Array, Array]:
    """Decode UTF-8; return code points, and offsets that count them."""
    try:
        decoded = data.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DTypeError(f"{where}: is not UTF-8 at byte {error.start}: {error.reason}") from None
    begins = (data & 0xC0) != 0x80
    counts = np.concatenate([[0], np.cumsum(begins)])
    inner = offsets[:-1][np.diff(offsets) > 0]
    if not begins[inner].all():
        raise DTypeError(f"{where}: a string begins inside a character")
    points = np.frombuffer(decoded.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    return points, counts[offsets]
