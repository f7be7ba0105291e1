"""How much memory this process has. Reads /proc, as Linux has it."""

import ctypes
import gc
import resource
import sys
from pathlib import Path

__all__ = ["C", "allocated", "growth", "resident"]


def resident():
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ["arena", "a", "b", "c", "mapped", "d", "e", "used", "f", "g"]]


C = ctypes.CDLL(None)
if hasattr(C, "mallinfo2"):
    C.mallinfo2.restype = Mallinfo


def allocated():
    """Return the bytes that malloc has handed out, or what comes close to it where the C library does not tell."""
    if not hasattr(C, "mallinfo2"):
        return resident()
    info = C.mallinfo2()
    return info.used + info.mapped


def growth(repeat, times, few=None, small=1):
    """Count the objects and the bytes that some rounds of calls leave behind: the least of three rounds.

    Parameters
    ----------
    repeat : callable
        Makes so many calls.
    times : int
        How many a round has.
    few, small : int
        A round that leaves fewer objects (a tenth of `times` by default) and fewer bytes is the last one.
    """
    few = times // 10 if few is None else few
    repeat(times // 10)
    rounds = []
    for _ in range(3):
        gc.collect()
        objects, size = sys.getallocatedblocks(), allocated()
        repeat(times)
        gc.collect()
        rounds.append((sys.getallocatedblocks() - objects, allocated() - size))
        if rounds[-1][0] < few and rounds[-1][1] < small:
            return rounds[-1]
    return [min(column) for column in zip(*rounds, strict=True)]
