"""The memory of this process. Reads /proc, so it needs Linux."""

import ctypes
import gc
import resource
import sys
from pathlib import Path

__all__ = ["C", "allocated", "growth", "resident"]


def resident():
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize()


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ["arena", "a", "b", "c", "mapped", "d", "e", "used", "f", "g"]]


C = ctypes.CDLL(None)
if hasattr(C, "mallinfo2"):
    C.mallinfo2.restype = Mallinfo


def allocated():
    """Return the bytes allocated by malloc, or an approximation if the C library does not report them."""
    if not hasattr(C, "mallinfo2"):
        return resident()
    info = C.mallinfo2()
    return info.used + info.mapped


def growth(repeat, times, few=None, small=1, rounds=3):
    """Count the objects and bytes that rounds of calls leave behind: the minimum of all rounds.

    Parameters
    ----------
    repeat : callable
        Makes the given number of calls.
    times : int
        The number of calls per round.
    few, small : int
        After a round that leaves fewer objects (by default a tenth of `times`) and fewer bytes, no more rounds run.
    rounds : int
    """
    few = times // 10 if few is None else few
    repeat(times // 10)
    found = []
    for _ in range(rounds):
        gc.collect()
        objects, size = sys.getallocatedblocks(), allocated()
        repeat(times)
        gc.collect()
        found.append((sys.getallocatedblocks() - objects, allocated() - size))
        if found[-1][0] < few and found[-1][1] < small:
            return found[-1]
    return [min(column) for column in zip(*found, strict=True)]
