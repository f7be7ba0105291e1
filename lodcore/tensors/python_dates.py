"""Dates and durations of the standard library as NumPy has them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from lodcore.base import dtypes
from lodcore.errors import DTypeError
from lodcore.tensors.text import shortened

__all__ = ["MOMENTS", "MOST_DAYS", "dates_of", "nat_of_none", "refuse_far"]

Array = np.ndarray[Any, Any]

#: Dates, times and durations, of the standard library and of NumPy.
MOMENTS = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)

#: The days whose microseconds int64 cannot hold.
MOST_DAYS = 106751991


def dates_of(where: str, leaves: list[Any]) -> Array:
    """Convert dates, times without a zone, or durations of the standard library: to days, or to microseconds.

    Those of NumPy among them keep their unit, if it is the finer one.
    """
    known = [leaf for leaf in leaves if not _is_nat(leaf)]
    first = known[0] if known else leaves[0]
    is_duration = isinstance(first, (datetime.timedelta, np.timedelta64))
    kind, of_numpy = (datetime.timedelta, np.timedelta64) if is_duration else (datetime.date, np.datetime64)
    for j, leaf in enumerate(leaves):
        if not isinstance(leaf, (kind, of_numpy)) and not (_is_nat(leaf) and isinstance(leaf, datetime.date)):
            needed = nat_of_none(first) if leaf is None else "values are of one kind"
            others = "durations" if is_duration else "dates"
            raise DTypeError(f"{where}: value {j} is {shortened(leaf)} among {others}; {needed}")
        if isinstance(leaf, datetime.datetime) and leaf.tzinfo is not None:
            raise DTypeError(
                f"{where}: value {j} is {shortened(leaf)}, and dtypes of dates have no zones; "
                ".astimezone(UTC).replace(tzinfo=None) makes one without"
            )
    if len(known) < len(leaves):
        of_known = dates_of(where, known) if known else np.empty(0, "m8[us]" if is_duration else "M8[us]")
        made = np.full(len(leaves), np.array("NaT", of_known.dtype))
        made[[not _is_nat(leaf) for leaf in leaves]] = of_known
        return made
    if any(isinstance(leaf, of_numpy) for leaf in leaves):
        each = [np.array([leaf]) if isinstance(leaf, of_numpy) else dates_of(where, [leaf]) for leaf in leaves]
        dtype = dtypes.common_dtype(where, {f"value {j}": one.dtype for j, one in enumerate(each)})
        return np.concatenate([dtypes.in_unit(f"{where}: value {j}", one, dtype) for j, one in enumerate(each)])
    if any(hasattr(leaf, "to_numpy") for leaf in leaves):  # those of pandas, which also count nanoseconds
        return np.array(
            [leaf.to_numpy() if hasattr(leaf, "to_numpy") else dates_of(where, [leaf])[0] for leaf in leaves]
        )
    if kind is datetime.timedelta:
        for j, leaf in enumerate(leaves):
            if not MOST_DAYS > leaf.days > -MOST_DAYS:
                raise DTypeError(f"{where}: value {j} is {shortened(leaf)}; int64 cannot hold its microseconds")
        return np.array(leaves, "m8[us]")
    return np.array(leaves, "M8[us]" if any(isinstance(leaf, datetime.datetime) for leaf in leaves) else "M8[D]")


def _is_nat(leaf: Any) -> bool:
    """Return whether this is the NaT of pandas, which is a date, or of NumPy."""
    return isinstance(leaf, (datetime.date, np.datetime64, np.timedelta64)) and leaf != leaf


def nat_of_none(other: Any) -> str:
    """Return the advice for None among dates or durations of the standard library."""
    return f"dtype={'m8[us]' if isinstance(other, datetime.timedelta) else 'M8[us]'!r} makes NaT of it"


def refuse_far(where: str, leaves: list[Any], dtype: np.dtype[Any]) -> None:
    """Raise for a date, a duration, or text of one, that the unit cannot hold; NumPy would let it wrap."""
    units: dict[Any, list[Any]] = {}
    other = (np.timedelta64, datetime.timedelta) if dtype.kind == "M" else (np.datetime64, datetime.date)
    for j, leaf in enumerate(leaves):
        if _is_nat(leaf):
            continue
        if isinstance(leaf, other):
            among = "dates" if dtype.kind == "M" else "durations"
            raise DTypeError(f"{where}: value {j} is {shortened(leaf)} among {among}; values are of one kind")
        if isinstance(leaf, (np.datetime64, np.timedelta64)):
            units.setdefault(leaf.dtype, []).append(leaf)
        elif isinstance(leaf, (str, datetime.date, datetime.timedelta)):  # microseconds hold any year that one writes
            units.setdefault(np.dtype(f"{dtype.kind}8[us]"), []).append(leaf)
    for unit, some in units.items():
        dtypes.in_unit(where, np.array(some, unit), dtype)
