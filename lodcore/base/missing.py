"""What columns of pandas, Polars and pyarrow call missing, by what they have in common: nothing here imports them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError

__all__ = ["complete", "decoded", "is_column", "is_column_type", "missing_in", "refuse_missing", "refuse_null", "said"]

Array = np.ndarray[Any, Any]

#: What errors say of types that have no missing value, by the first letters of their names in all libraries.
EXACT = {"int": "integers have", "uint": "integers have", "bool": "bools have"}


def is_column(given: Any) -> bool:
    """Return whether an object has values in order, some of which it may call missing."""
    return is_column_type(type(given))


def is_column_type(kind: type) -> bool:
    """Return whether the objects of a type are columns."""
    return hasattr(kind, "null_count") or hasattr(kind, "isna")


def decoded(given: Any) -> Any:
    """Return a column of Arrow without its dictionary; of several, or of one with a null, NumPy makes wrong values."""
    array = given
    if hasattr(getattr(given, "dtype", None), "pyarrow_dtype"):
        array = getattr(given, "array", given)._pa_array
    kind: Any = getattr(array, "type", None)
    return array.cast(kind.value_type) if hasattr(kind, "index_type") else given


def refuse_missing(where: str, given: Any) -> None:
    """Raise for an integer or a bool that is missing, since NumPy would make floats, or objects, of all of them.

    An array with a mask is refused, too, since NumPy would show what the mask hides.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    given : object
        A column, a table or a list of columns, or anything else, which is not looked at.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise DTypeError(f"{where}: is a masked array; fill or drop the masked entries first")
    if isinstance(given, (list, tuple)):
        if any(issubclass(kind, np.ma.MaskedArray) or is_column_type(kind) for kind in set(map(type, given))):
            for j, one in enumerate(given):
                refuse_missing(f"{where}[{j}]", one)
        return
    names = getattr(given, "column_names", getattr(given, "columns", None))
    if names is not None and hasattr(type(given), "__getitem__"):
        for name in names:
            if is_column(given[name]):
                refuse_missing(f"{where}: column {name!r}", given[name])
    elif is_column(given):
        has = said(given, EXACT)
        if has is not None:
            refuse_null(where, missing_in(given), has)


def complete(where: str, given: Any) -> Any:
    """Return a column that NumPy makes the right array of, and anything else unchanged; see `refuse_missing`."""
    if type(given) is np.ndarray:
        return given
    given = decoded(given)
    refuse_missing(where, given)
    return given


def missing_in(given: Any) -> Array | None:
    """Return which values of a column are missing; None if none is."""
    given = decoded(given)
    if hasattr(given, "isna"):  # pandas
        gone = np.asarray(given.isna())
    else:
        count = given.null_count
        runs = hasattr(getattr(given, "type", None), "run_end_type")  # which count nothing
        if not (runs or (count() if callable(count) else count)):
            return None
        gone = np.asarray(given.is_null())
    return gone if gone.any() else None


def said(given: Any, types: dict[str, str]) -> str | None:
    """Return what is said of the type of the values of a column, if it is one of these."""
    kind = getattr(given, "dtype", None)
    kind = getattr(given, "type", None) if kind is None else kind
    kind = getattr(getattr(kind, "categories", None), "dtype", kind)  # of pandas
    kind = getattr(kind, "pyarrow_dtype", kind)
    kind = getattr(kind, "value_type", kind)  # of a dictionary, or of runs, of Arrow
    text = str(kind).lower()
    return next((has for name, has in types.items() if text.startswith(name)), None)


def refuse_null(where: str, gone: Array | None, has: str) -> None:
    """Raise for the first value that is missing, with what is said of its type."""
    if gone is not None:
        raise LoDError(
            f"{where}: row {int(np.argmax(gone))} is null; {has} no value for it: fill it, or leave the row out"
        )
