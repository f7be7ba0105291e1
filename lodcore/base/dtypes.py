"""Dtypes that callers give, or files describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.errors import DTypeError

__all__ = [
    "NO_DTYPE",
    "alike",
    "as_dtype",
    "common_dtype",
    "descr_of",
    "in_unit",
    "is_held",
    "is_native",
    "native_dtype",
    "promoted",
    "refuse_far",
    "room_for",
]

NO_TIME = np.dtype(bool)
#: The errors that NumPy raises for what is not a dtype; it parses text like "08" or "i4,(" as Python.
NO_DTYPE = (TypeError, ValueError, SyntaxError, KeyError, IndexError, OverflowError, RecursionError, MemoryError)


def as_dtype(where: str, given: Any) -> np.dtype[Any]:
    """Convert what a caller gives for a dtype.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    given : dtype_like

    Returns
    -------
    dtype

    Raises
    ------
    DTypeError
        If it is none.
    """
    try:
        made: np.dtype[Any] = np.dtype(given)
    except TypeError as error:
        raise DTypeError(f"{where}: {error}") from None
    except NO_DTYPE:
        raise DTypeError(f"{where}: is {str(given)[:60]!r}, which is not a NumPy dtype") from None
    return made


def promoted(*given: Any) -> np.dtype[Any]:
    """Return the dtype to which NumPy promotes dtypes, arrays or numbers, with room for all of its fields.

    NumPy's own has the size of the first of several records if their fields are arrays of other numbers, such as
    ``("v", "i1", 4)`` and ``("v", "f8", 4)``, and NumPy then reads and writes beyond its buffers.
    """
    made = np.result_type(*given)
    return made if made.names is None else _with_room(made)


def _with_room(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.subdtype is not None:
        return np.dtype((_with_room(dtype.base), dtype.shape))
    if dtype.names is None:
        return dtype
    fields = [(name, _with_room(dtype[name])) for name in dtype.names]
    ends, fits = 0, True
    for name, field in fields:
        offset = dtype.fields[name][1]  # type: ignore[index]
        fits = fits and offset >= ends and field == dtype[name]
        ends = offset + field.itemsize
    return dtype if fits and ends <= dtype.itemsize else np.dtype(fields, align=dtype.isalignedstruct)


def is_native(dtype: np.dtype[Any]) -> bool:
    """Return whether numbers have the byte order of the machine; NumPy does not look at those of arrays in records."""
    return dtype.isnative and (dtype.names is None or dtype == dtype.newbyteorder("="))


def native_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in the byte order of the machine: the same object, which is quick to compare, if it is."""
    return dtype if is_native(dtype) else dtype.newbyteorder("=")


def alike(values: Sequence[Any]) -> Sequence[Any]:
    """Return arrays for NumPy to join: records of several dtypes have their common one."""
    if getattr(getattr(values[0], "dtype", None), "names", None) is None:  # the usual case
        return values
    kinds = dict.fromkeys(getattr(x, "dtype", None) for x in values)
    if len(kinds) < 2 or any(dtype is None or dtype.names is None for dtype in kinds):
        return values
    common = promoted(*kinds)
    return [x.astype(common) for x in values]


def descr_of(where: str, dtype: np.dtype[Any]) -> Any:
    """Return the description of a dtype in files; raise DTypeError for records that have none."""
    try:
        return np.lib.format.dtype_to_descr(dtype)
    except ValueError:
        raise DTypeError(
            f"{where}: has dtype {dtype}, whose fields overlap or are out of order in memory, which no file of NumPy "
            "describes: numpy.lib.recfunctions.repack_fields(x, recurse=True) puts them in order"
        ) from None


def common_dtype(where: str, dtypes: dict[str, np.dtype[Any]]) -> np.dtype[Any]:
    """Return the dtype to which NumPy promotes those of several arguments.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    dtypes : dict of str to dtype
        By the name of the argument; at least one.

    Returns
    -------
    dtype

    Raises
    ------
    DTypeError
        If there is none, as for durations of months and of days, or of days and attoseconds; the message names two
        arguments.
    """
    try:
        common = promoted(*dtypes.values())
    except (TypeError, OverflowError):  # units may be too far apart for a common one
        (first, one), *others = dtypes.items()
        name, other = next((pair for pair in others if not _has_common(one, pair[1])), others[-1])
        message = f"{where}: {name}: has dtype {other}; {first} has {one}, and they have no common one"
        raise DTypeError(message) from None
    return common


def _has_common(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Return whether NumPy promotes two dtypes to a third one."""
    try:
        np.promote_types(one, other)
    except (TypeError, OverflowError):
        return False
    return True


def in_unit(where: str, times: Any, dtype: np.dtype[Any]) -> Any:
    """Convert an array; raise for a date or duration that is too far for the unit of the dtype.

    A coarser unit holds all, rounded down as by NumPy.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    times : ndarray
    dtype : dtype
        Of any kind; only between units there is something to check.

    Returns
    -------
    ndarray
        The array itself if it has the dtype.

    Raises
    ------
    DTypeError
        Names the first such value.
    """
    if times.dtype == dtype:
        return times
    if times.dtype.kind == dtype.kind and dtype.kind in "mM":
        try:
            finer = np.result_type(times.dtype, dtype)
        except TypeError:  # months, whose days NumPy guesses
            finer = dtype
        if finer == np.dtype("M8[W]"):  # in which no year or month begins
            finer = np.dtype("M8[D]")
        held = np.bool_(True) if finer == times.dtype else is_held(times, finer)
        if not held.all():
            raise DTypeError(f"{where}: is {times[~held].flat[0]}; {dtype} cannot hold it")
    return times.astype(dtype)


def is_held(times: Any, dtype: np.dtype[Any]) -> Any:
    """Return which dates or durations a unit can hold; one that it cannot wraps, or is refused by NumPy 2.5."""
    try:
        again = times.astype(dtype).astype(times.dtype)
    except OverflowError:
        return np.array([is_held(time, dtype) for time in times]) if np.ndim(times) else np.bool_(False)
    return (again == times) | np.isnat(times)


def refuse_far(values: Sequence[Any]) -> None:
    """Raise an OverflowError for a date or duration that the common unit of several, in which NumPy computes, wraps."""
    times = [x for x in values if getattr(x, "dtype", NO_TIME).kind in "mM" and x.dtype.str[3:]]
    if len({x.dtype.str[3:] for x in times}) < 2:
        return
    try:
        unit = np.result_type(*[x.dtype for x in times]).str[3:]
    except (TypeError, OverflowError):  # as NumPy will say
        return
    for x in times:
        dtype = np.dtype(f"{x.dtype.kind}8{unit}")
        held = np.bool_(True) if x.dtype.str[3:] == unit else is_held(x, dtype)
        if not held.all():
            raise OverflowError(f"{np.asarray(x)[~held].flat[0]} is too far for {dtype}, in which both are computed")


def room_for(given: np.dtype[Any], dtype: np.dtype[Any]) -> str:
    """Return advice, as the end of a message, for text that is longer than a dtype holds; nothing for other values."""
    if given.kind != dtype.kind or given.kind not in "US":
        return ""
    return f"; x.astype('{given.kind}{given.itemsize // (4 if given.kind == 'U' else 1)}') has room for it"
