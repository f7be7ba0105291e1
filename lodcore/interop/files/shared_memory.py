"""A LoDTensor in shared memory, which is written once and sealed, for forked or spawned processes."""

from __future__ import annotations

import mmap
import os
from multiprocessing import reduction
from typing import Any

import numpy as np

from lodcore.base.archives import checked_dtype
from lodcore.errors import LoDError
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.joining import lod_over
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["Shared", "share"]

ALIGNED = 64


def share(x: Any) -> Shared:
    """Copy a LoDTensor to shared memory, which other processes map without further copies.

    Parameters
    ----------
    x : LoDTensor, or nested lists
        Copied once.

    Returns
    -------
    Shared
        A handle that can be passed to forked or spawned processes; `tensor()` returns the LoDTensor in each of them.

    Raises
    ------
    NotImplementedError
        If the system does not have memory that can be sealed, as Linux has.

    Notes
    -----
    A mapped folder does not need this: forked processes share it, and others can `lodcore.load` it, which copies only
    the offsets.

    Examples
    --------
    >>> from lodcore.interop import share
    >>> share([[1, 2], [3]]).tensor()
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """
    where = "lodcore.interop.share"
    x = as_nested(f"{where}: x", x)
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError(f"{where}: this system has no memory that can be sealed")
    lod: Any = x.lod
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    sizes = np.array([*(len(level) - 1 for level in levels), lod.num_rows], np.int64)
    words = sum(map(len, levels)) + len(sizes)
    start = -(-8 * words // ALIGNED) * ALIGNED
    handle = os.memfd_create("lodcore", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(handle, max(1, start + x.nbytes))
        with mmap.mmap(handle, 0) as memory:
            block = np.frombuffer(memory, np.uint8)
            np.concatenate([sizes, *levels], out=block[: 8 * words].view(np.int64))
            if x.nbytes:
                block[start : start + x.nbytes] = x.values.reshape(-1).view(np.uint8)
            del block
        _seal(handle)
        return _holding(handle, lod.num_levels, words, start, x.values.shape, x.dtype)
    except BaseException:
        os.close(handle)
        raise


def _seal(handle: int) -> None:
    import fcntl

    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, _seals())


def _seals() -> int:
    import fcntl

    return fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Shared:
    """A LoDTensor in sealed memory; made by `share`.

    It can be passed to another process when that is started, or through a queue. The memory cannot be written, shrunk
    or unsealed, so its structure is checked there, but not copied.
    """

    __module__ = "lodcore.interop"

    _handle: int
    _parts: tuple[int, int, int, tuple[int, ...], Any]

    def __init__(self, *arguments: Any) -> None:
        raise TypeError("Shared: is made by lodcore.interop.share")

    def __del__(self) -> None:
        handle = self.__dict__.pop("_handle", None)
        if handle is not None:
            os.close(handle)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self._handle), self._parts)

    def tensor(self) -> LoDTensor:
        """Map the memory, read-only.

        Returns
        -------
        LoDTensor

        Raises
        ------
        LoDError
            If the memory is not sealed, or its contents are invalid.
        """
        import fcntl

        where = "Shared.tensor"
        num_levels, words, start, shape, dtype = self._parts
        if fcntl.fcntl(self._handle, fcntl.F_GET_SEALS) & _seals() != _seals():
            raise LoDError(f"{where}: its memory is not sealed")
        memory = mmap.mmap(self._handle, 0, access=mmap.ACCESS_READ)
        block = np.frombuffer(memory, np.uint8)
        checked_dtype(where, dtype)
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if not 0 <= num_levels < words or not 8 * words <= start <= len(block) - size:
            raise LoDError(f"{where}: its memory has {len(block)} bytes, which cannot hold it")
        lod = lod_over(block[: 8 * words].view(np.int64), num_levels)
        values = block[start : start + size].view(dtype).reshape(shape) if size else np.zeros(shape, dtype)
        if not shape or shape[0] != lod.num_rows:
            raise LoDError(f"{where}: its values have shape {shape}; the structure has {lod.num_rows} rows")
        return lod_tensor_body.new_tensor(values, lod)


def _received(handle: Any, parts: tuple[Any, ...]) -> Shared:
    """Return the Shared of a handle that another process sent."""
    return _holding(handle.detach(), *parts)


def _holding(handle: int, *parts: Any) -> Shared:
    """Return a Shared that closes the handle when it is deleted."""
    made = Shared.__new__(Shared)
    made._handle, made._parts = handle, parts
    return made
