"""Columns of pandas, Polars and pyarrow as arrays, by what they have in common: nothing here imports them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.missing import is_column, missing_in, refuse_null, said
from lodcore.tensors.text import refuse_nul

__all__ = ["array_of_text", "dtype_for", "is_array", "zone_of"]

Array = np.ndarray[Any, Any]

#: What errors say of text types that have no missing value, by the first letters of their names.
TEXT = dict.fromkeys(("str", "large_string", "utf8", "categorical", "enum"), "text has")
#: Types that say nothing of their values.
OPEN = dict.fromkeys(("object", "null"), "")


def is_array(given: Any) -> bool:
    """Return whether an object of another library is an array with at least one axis, or a column."""
    kind = type(given)
    if not hasattr(kind, "__array__") or isinstance(given, (np.ndarray, np.generic, Symbol)):
        return False
    return not hasattr(kind, "instead_of_dense") and len(getattr(given, "shape", (None,))) > 0


def dtype_for(given: Any) -> Any:
    """Return the dtype with which NumPy makes an array of a column, or None.

    Text of Polars becomes objects, which keep NUL and null; times of pandas with a zone become those of UTC, as those
    of Polars and Arrow do.
    """
    if not is_column(given) or hasattr(given, "columns"):
        return None
    if hasattr(given, "isna") and zone_of(given) is not None:
        return f"M8[{getattr(given.dtype, 'pyarrow_dtype', given.dtype).unit}]"
    return object if said(given, TEXT) else None


def zone_of(given: Any) -> str | None:
    """Return the zone of a column of times; None for any other column, and for anything else."""
    if not is_column(given):
        return None
    kind = getattr(given, "dtype", getattr(given, "type", None))
    kind = getattr(kind, "pyarrow_dtype", kind)
    zone = getattr(kind, "tz", getattr(kind, "time_zone", None))
    return None if zone is None else str(zone)


def array_of_text(where: str, given: Any, made: Array) -> Array | None:
    """Return a column of text, or of bytes, of which NumPy makes objects; None for any other one.

    One without entries, whose type says nothing of them, is an array without rows, as an empty list is.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    given : object
        A column.
    made : ndarray of objects
        What NumPy makes of it.

    Raises
    ------
    LoDError, DTypeError
        If a text is missing, or ends with NUL.
    """
    if not is_column(given) or hasattr(given, "columns"):
        return None
    values = made.tolist()
    kind = next((kind for value in values for kind in (str, bytes) if isinstance(value, kind)), None)
    has = said(given, TEXT) if kind is None else "text has" if kind is str else "bytes have"
    if has is None:
        return np.empty(0) if not values and said(given, OPEN) is not None else None
    gone = missing_in(given)
    known = values if gone is None else [value for value, lost in zip(values, gone.tolist(), strict=True) if not lost]
    if not all(issubclass(found, kind or str) for found in set(map(type, known))):
        return None
    refuse_null(where, gone, has)
    refuse_nul(where, known)
    return np.array(known, kind or str)
