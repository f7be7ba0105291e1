"""Memory exchanged with other libraries: offsets are copied and checked, values are shared where that is safe."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import lod_body
from lodcore.tensors.lod import LoD

__all__ = ["INT32_MAX", "lent", "private_level", "private_lod"]

Array = np.ndarray[Any, Any]
INT32_MAX = 2**31 - 1


def private_level(where: str, given: Any) -> tuple[Array, int]:
    """Return a checked copy of another library's offsets, shifted to begin at 0.

    Parameters
    ----------
    where : str
        The names of function and argument, for the message.
    given : array_like of integers, shape (n_seqs + 1,)

    Returns
    -------
    (ndarray, int)
        The offsets, int64, and the original first offset.

    Raises
    ------
    LoDError
        If offsets are invalid; the message names the first bad position and value.
    """
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise DTypeError(f"{where}: have dtype {array.dtype}; integers are needed")
    if array.ndim != 1:
        raise ShapeError(f"{where}: have shape {array.shape}; (n + 1,) is needed")
    if array.dtype not in (np.int32, np.int64) or not (array.flags.c_contiguous and array.flags.aligned):
        array = np.ascontiguousarray(buffers.as_int64(array, where, LoDError))
    if not len(array):
        raise LoDError(f"{where}: is empty; offsets have one entry more than there are sequences")
    first, offsets = buffers.new_int64(1), buffers.new_offsets(len(array))
    bad = kernels.foreign_data.copy_offsets(array, first, offsets)
    if bad >= 0:
        found = f"{array[bad - 1]} -> {array[bad]}" if bad else array[bad]
        raise LoDError(f"{where}: fall at position {bad} ({found}); offsets are not negative and never fall")
    return offsets, int(first[0])


def private_lod(where: str, given: Any) -> tuple[LoD, int, int]:
    """Make a LoD of one level from another library's offsets; return also the start and stop of its rows."""
    offsets, first = private_level(where, given)
    rows = offsets.item(len(offsets) - 1)
    lod: Any = lod_body.make_lod([offsets], rows)
    return lod, first, first + rows


def lent(values: Array) -> Array | None:
    """Return a writable array over the memory of values, for another library that may write to them.

    The values of a LoDTensor are read-only views, so what counts is the array that owns the memory: if its owner may
    write to it, so may the library, and what it writes is seen wherever the memory is shared.

    Parameters
    ----------
    values : ndarray
        C-contiguous.

    Returns
    -------
    ndarray or None
        None unless the memory is that of a writable array: writing to read-only memory of a file or of the system would
        crash the process, and a bytes object must not change.
    """
    if values.flags.writeable:
        return values if _is_own(values) else None
    owner: Any = values
    while isinstance(base := buffers.owner_of(owner), np.ndarray):
        owner = base
    if owner is values or not owner.flags.writeable or not owner.flags.c_contiguous or not _is_own(owner):
        return None
    if owner.nbytes == values.nbytes and owner.dtype == values.dtype:  # the whole array
        whole: Array = owner.reshape(values.shape)
        return whole
    return np.ndarray(values.shape, values.dtype, owner, buffers.bytes_between(owner, values))


def _is_own(array: Array) -> bool:
    """Return whether a writable array has memory that stays writable."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = buffers.owner_of(base)
    base = base.obj if isinstance(base, memoryview) else base
    return not isinstance(base, (bytes, mmap.mmap))
