"""Checks of requested sizes, and of arrays that the caller provides for results (`out=`)."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from lodcore.base.dtypes import as_dtype
from lodcore.errors import DTypeError, LoDError, ShapeError

__all__ = [
    "LIMIT",
    "check_apart",
    "check_out",
    "check_single",
    "check_size",
    "flag",
    "index_of",
    "integer",
    "is_iterable",
    "narrow",
    "unharmed",
    "whole",
]


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return 2**47


def container_memory(root: str = "/") -> int | None:
    """Return the least memory limit of this process's Linux control groups, or None.

    Parameters
    ----------
    root : str
        The directory that has `proc` and `sys`.
    """
    limits: list[int] = []
    for line in _lines(os.path.join(root, "proc/self/cgroup")):
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            place, name = "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            place, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in group.split("/") if part and part != ".."]
        for depth in range(len(parts), -1, -1):  # limits of all parent groups apply, too
            text = "".join(_lines(os.path.join(root, place, *parts[:depth], name))[:1])
            limits += [int(text)] if text.isdigit() else []
    return min(limits, default=None)


def _lines(path: str) -> list[str]:
    """Return the lines of a small file, or none if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(2**16).splitlines()
    except OSError:
        return []


#: The memory of the machine, or of the container; a request for a larger array is an error of the caller.
LIMIT: int = min(_physical_memory(), container_memory() or 2**63)


def check_size(where: str, *factors: int) -> None:
    """Raise for an array with more bytes than the machine has memory, before it is requested.

    Parameters
    ----------
    where : str
        The name of the function that needs it, for the message.
    *factors : int
        The factors of the number of bytes.

    Raises
    ------
    MemoryError
        If the product is above `LIMIT`, or overflows int64 without the factors that are 0.
    """
    size = reach = 1
    for factor in factors:
        size *= factor
        reach *= max(factor, 1)  # as in NumPy, even for arrays without bytes
    if size > LIMIT or reach >= 2**63:
        product = " x ".join(map(str, factors))
        raise MemoryError(f"{where}: the result has {product} = {size} bytes; this machine has {LIMIT}")


def check_out(
    where: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], *inputs: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Check an array that the caller provides for the result, and return a private view.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    out : ndarray
        Must be writable, C-contiguous, with exactly this shape and dtype, and must not overlap inputs.
    shape : tuple of int
    dtype : dtype
    *inputs : ndarray

    Returns
    -------
    ndarray
        A view of `out`, so that the checked memory is written to even if another thread changes the shape of `out`.

    Raises
    ------
    DTypeError, ShapeError, ValueError
        In this order, if it is not an ndarray or has another dtype; has another shape; is read-only, not contiguous or
        overlaps an input.
    """
    if type(out) is not np.ndarray:
        raise DTypeError(f"{where}: out: is {type(out).__name__}; an ndarray is needed")
    out = out.view()
    if out.dtype != dtype:
        raise DTypeError(f"{where}: out: dtype {out.dtype}; the result has {dtype}")
    if out.shape != shape:
        raise ShapeError(f"{where}: out: shape {out.shape}; the result has {shape}")
    if not out.flags.writeable:
        raise ValueError(f"{where}: out: is read-only; it must be writable")
    if not (out.flags.c_contiguous and out.flags.aligned):
        raise ValueError(f"{where}: out: strides {out.strides}; it must be C-contiguous and aligned")
    check_apart(where, out, *inputs)
    taken: np.ndarray[Any, Any] = out
    return taken


def check_apart(where: str, out: Any, *inputs: Any) -> None:
    """Raise if an array that the caller provides for the result overlaps an input: rows, or an index."""
    if not isinstance(out, np.ndarray):
        return
    for given in inputs:
        if isinstance(given, np.ndarray) and np.may_share_memory(out, given):
            raise ValueError(f"{where}: out: overlaps an input; it must have memory of its own")


def unharmed(bad: int) -> None:
    """Raise if a kernel found bad data in checked data, which another thread must have changed meanwhile."""
    if bad >= 0:
        raise ValueError(f"lodcore: data changed at position {bad} while it was read")


def as_integer(number: Any, bools: bool = False) -> int | None:
    """Return a caller's integer, converted once; None if it is not one, such as an array, or a bool without `bools`."""
    if isinstance(number, np.bool_) or (isinstance(number, bool) and not bools):
        return None
    try:
        found = operator.index(number)
    except TypeError:
        return None
    has_axes = type(number) is not int and getattr(number, "ndim", None)  # as torch's tensors of one number
    return None if has_axes else found


def as_size(number: Any) -> int | None:
    """Return a caller's integer of 0 or more; None if it is not one."""
    found = as_integer(number, bools=True)
    return None if found is None or found < 0 else found


def integer(where: str, number: Any, bools: bool = False) -> int:
    """Return a caller's integer as `as_integer` does; raise DTypeError if it is not one."""
    found = as_integer(number, bools)
    if found is None:
        raise DTypeError(f"{where}: is {number!r}; an integer is needed")
    return found


def flag(where: str, given: Any) -> bool:
    """Return a caller's True or False, also as 1 or 0; raise DTypeError if it is anything else, such as a text."""
    if given is True or given is False:  # the usual case
        return given
    if isinstance(given, np.bool_) or as_integer(given) in (0, 1):
        return bool(given)
    plain = given is None or isinstance(given, (str, bytes, int, float))
    raise DTypeError(f"{where}: is {repr(given) if plain else type(given).__name__}; True or False is needed")


def is_iterable(given: Any) -> bool:
    """Return whether a caller's value has elements, as an array without axes has not."""
    return hasattr(given, "__iter__") and getattr(given, "ndim", None) != 0


def index_of(where: str, given: Any) -> int:
    """Convert an integer, or an array of one, to a Python int."""
    if type(given) is int:  # the usual case
        return given
    if isinstance(given, np.ndarray):
        check_single(where, given)
    found = as_integer(given.item() if isinstance(given, np.ndarray) else given)
    if found is None:
        raise DTypeError(f"{where}: is {given!r}; an integer, or an array of one, is needed")
    return found


def check_single(where: str, x: Any) -> None:
    """Raise unless an array, or a Spec, is of one integer."""
    if x.dtype.kind not in "iu" or not set(x.shape) <= {1, None}:
        wrong = f"dtype {x.dtype}" if x.dtype.kind not in "iu" else f"shape {x.shape}"
        raise DTypeError(f"{where}: has {wrong}; an integer, or an array of one, is needed")


def whole(number: Any, argument: str) -> int:
    """Convert a number of rows or sequences to an int.

    Parameters
    ----------
    number : int
    argument : str
        The name of the argument, for the message.

    Returns
    -------
    int

    Raises
    ------
    DTypeError, LoDError
        If it is not an integer, is negative, or exceeds int64.
    """
    count = integer(f"LoD: {argument}", number, bools=True)
    if not 0 <= count < 2**63 - 1:
        raise LoDError(f"LoD: {argument}: is {count}; 0 .. 2**63 - 2 is valid")
    return count


def narrow(where: str, offsets: np.ndarray[Any, Any], dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    """Copy offsets to a narrower integer dtype, which must hold all of them."""
    kind = as_dtype(f"{where}: dtype", dtype)
    if kind.kind not in "iu":
        raise DTypeError(f"{where}: dtype: is {kind}; integers are needed")
    if len(offsets) and int(offsets[-1]) > np.iinfo(kind).max:
        at = int(np.argmax(offsets > np.iinfo(kind).max))
        raise OverflowError(f"{where}: offsets: are {offsets[at]} at position {at}; {kind} holds {np.iinfo(kind).max}")
    return offsets.astype(kind)
