"""Columns of pandas, Polars and pyarrow as arrays, by what they have in common: nothing here imports them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.errors import LoDError
from lodcore.tensors.text import refuse_nul

__all__ = ["array_of_text", "dtype_for", "is_array", "is_column", "refuse_missing"]

Array = np.ndarray[Any, Any]

#: What is said of types without a value for what is missing, by the first letters of their names in all libraries.
EXACT = {"int": "integers have", "uint": "integers have", "bool": "bools have"}
TEXT = {"str": "text has", "large_string": "text has", "utf8": "text has"}


def is_column(given: Any) -> bool:
    """Return whether an object has values in order, some of which it may call missing."""
    return hasattr(type(given), "null_count") or hasattr(type(given), "isna")


def is_array(given: Any) -> bool:
    """Return whether an object of another library is an array with at least one axis, or a column."""
    kind = type(given)
    if not hasattr(kind, "__array__") or isinstance(given, (np.ndarray, np.generic, Symbol)):
        return False
    return not hasattr(kind, "instead_of_dense") and len(getattr(given, "shape", (None,))) > 0


def dtype_for(given: Any) -> Any:
    """Return the dtype with which NumPy makes an array: text of Polars as objects, which keep NUL and null; or None."""
    return object if is_column(given) and not hasattr(given, "columns") and _said(given, TEXT) else None


def refuse_missing(where: str, given: Any) -> None:
    """Raise for an integer or a bool that is missing, since NumPy would make floats, or objects, of all of them.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    given : object
        A column, a table of columns, or anything else, which is not looked at.
    """
    names = getattr(given, "column_names", getattr(given, "columns", None))
    if names is not None and hasattr(type(given), "__getitem__"):
        for name in names:
            if is_column(given[name]):
                refuse_missing(f"{where}: column {name!r}", given[name])
    elif is_column(given):
        has = _said(given, EXACT)
        if has is not None:
            _refuse(where, missing_in(given), has)


def array_of_text(where: str, given: Any, made: Array) -> Array | None:
    """Return a column of text, or of bytes, of which NumPy makes objects; None for any other one.

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
    has = _said(given, TEXT) if kind is None else "text has" if kind is str else "bytes have"
    if has is None:
        return None
    gone = missing_in(given)
    known = values if gone is None else [value for value, lost in zip(values, gone.tolist(), strict=True) if not lost]
    if not all(issubclass(found, kind or str) for found in set(map(type, known))):
        return None
    _refuse(where, gone, has)
    refuse_nul(where, known)
    return np.array(known, kind or str)


def missing_in(given: Any) -> Array | None:
    """Return which values of a column are missing; None if none is."""
    if hasattr(given, "isna"):  # pandas
        gone = np.asarray(given.isna())
    else:
        count = given.null_count
        if not (count() if callable(count) else count):
            return None
        gone = np.asarray(given.is_null())
    return gone if gone.any() else None


def _said(given: Any, types: dict[str, str]) -> str | None:
    """Return what is said of the type of the values of a column, if it is one of these."""
    kind = getattr(given, "dtype", None)
    kind = getattr(given, "type", None) if kind is None else kind
    kind = getattr(getattr(kind, "categories", None), "dtype", kind)  # of pandas
    kind = getattr(kind, "value_type", kind)  # of a dictionary of Arrow
    text = str(kind).lower()
    return next((has for name, has in types.items() if text.startswith(name)), None)


def _refuse(where: str, gone: Array | None, has: str) -> None:
    if gone is not None:
        raise LoDError(
            f"{where}: row {int(np.argmax(gone))} is null; {has} no value for it: fill it, or leave the row out"
        )
