"""Columns of tables as NumPy has them, and what happens to their missing values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore.base import buffers
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.types import decimals_as_floats, example_of
from lodcore.interop.presence import every, mask_dtype, whole
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.padding import hold

__all__ = ["Key", "TableColumn", "filled", "first_missing", "policies", "records_of", "without_nulls"]

Array = np.ndarray[Any, Any]
WAYS = ("error", "empty", "mask")


class TableColumn(NamedTuple):
    """A column as NumPy has it.

    Parameters
    ----------
    values : ndarray or LoDTensor
        The entry of a missing value has no meaning.
    present : ndarray of bool, or None
        Which rows have a value; None if all have. For a LoDTensor, there is one entry per innermost row. Records have
        bools by field.
    sequences : sequence of ndarray of bool, or None
        For a LoDTensor, which sequences of each level are not null.
    lossless : bool
        Whether nan or NaT stands where a value is missing, as it does in pandas; in records, where a date or a duration
        is.
    kept : tuple, or None
        What the dtype does not say: ("zone", name), ("decimal", digits after the point, digits or None), ("time",),
        ("category", labels or None, ordered), or ("fields", dict of these by field of records).
    """

    values: Any
    present: Array | None = None
    sequences: Sequence[Array | None] = ()
    lossless: bool = False
    kept: tuple[Any, ...] | None = None

    def untold(self, rows: Any = slice(None)) -> Array | None:
        """Return which values of some rows are there, or are told by nan or NaT that they are not; None if all."""
        if self.present is None:
            return None
        there: Array = self.present[rows]
        if whole(there):
            return None
        if not self.lossless:
            return there
        if there.dtype.names is None:
            return None
        values = self.values.values if isinstance(self.values, LoDTensor) else self.values
        told = _told(values.dtype, there)
        return None if whole(told) else told


def _told(dtype: np.dtype[Any], there: Array) -> Array:
    """Return which fields of records are there, or are NaT beside another value: of a null record, none is there."""
    made, known = there.copy(), _known(there)
    for name in dtype.names or ():
        inner = dtype[name].base
        if inner.names is not None:
            made[name] = _told(inner, there[name])
        elif inner.kind in "mM":
            made[name] |= known.reshape(known.shape + (1,) * (made[name].ndim - known.ndim))
    return made


def _known(there: Array) -> Array:
    """Return for each record whether any of its values is there."""
    if there.dtype.names is None:
        return there
    fields = [_known(there[name]) for name in there.dtype.names]
    return np.asarray(np.logical_or.reduce([x.any(axis=tuple(range(there.ndim, x.ndim))) for x in fields]))


class Key(NamedTuple):
    """A column of keys.

    Parameters
    ----------
    numbers : ndarray, shape (n_rows,)
        Equal if the keys are: the keys themselves, or numbers of them.
    entries : callable
        Returns the keys of some rows, as a TableColumn.
    present : ndarray of bool, or None
        Which rows have a key; None if all have.
    firsts : ndarray, or None
        The row of the first key of each number, if keys are numbered 0, 1, ... in the order of their first rows.
    """

    numbers: Array
    entries: Callable[[Array], TableColumn]
    present: Array | None = None
    firsts: Array | None = None


# -- missing values ----------------------------------------------------------------------------------------------------


def policies(where: str, columns: Mapping[str, TableColumn], nulls: Any, ways: Sequence[str] = WAYS) -> dict[str, Any]:
    """Return what to do with missing values by column, checked: one of these ways, or a fill value.

    Raises
    ------
    KeyError, ValueError, DTypeError
        If a column does not exist, or cannot hold its fill value.
    """
    if isinstance(nulls, Mapping):
        for name, way in nulls.items():
            if name not in columns:
                raise KeyError(f"{where}: nulls: {name!r} is not a column")
            values = columns[name].values
            if isinstance(way, str) and way not in ways and (way in WAYS or not _has_text(values.dtype)):
                raise _unknown(where, f"nulls[{name!r}]", way, ways, f"the column holds {values.dtype}")
            if not isinstance(way, str):
                _entry(f"{where}: nulls[{name!r}]", values, way)
        return {name: nulls.get(name, "error") for name in columns}
    text = any(_has_text(column.values.dtype) for column in columns.values())
    if isinstance(nulls, str) and nulls not in ways and (nulls in WAYS or not text):
        raise _unknown(where, "nulls", nulls, ways, "no column holds text")
    return dict.fromkeys(columns, nulls)


def _has_text(dtype: np.dtype[Any]) -> bool:
    """Return whether values are text, or records with text."""
    return dtype.kind in "US" or any(dtype[name].base.kind in "US" for name in dtype.names or ())


def _unknown(where: str, name: str, way: str, ways: Sequence[str], why: str) -> ValueError:
    return ValueError(f"{where}: {name}: is {way!r}; {', '.join(map(repr, ways))} or a fill value is needed; {why}")


def _entry(where: str, values: Any, given: Any) -> Array:
    """Return a fill value as an array of one entry."""
    dtype = values.dtype
    if isinstance(given, str if dtype.kind == "U" else bytes if dtype.kind == "S" else ()):
        dtype = np.promote_types(dtype, np.asarray(given).dtype)
    entry = np.empty((1, *values.shape[1:]) if isinstance(values, np.ndarray) else (1, *values.values.shape[1:]), dtype)
    hold(where, decimals_as_floats(given), entry)
    return entry


def without_nulls(where: str, name: str, column: TableColumn, way: Any) -> tuple[Any, Any]:
    """Return a column without missing values, and if asked for, where it has values.

    Parameters
    ----------
    where : str
    name : str
        The name of the column: "data['user']", or "data".
    column : TableColumn
    way : {"error", "empty", "mask"} or a fill value

    Returns
    -------
    (ndarray or LoDTensor, ndarray or LoDTensor of bools, or None)
    """
    option = way if isinstance(way, str) and way in WAYS else None
    for level, there in enumerate(column.sequences):
        if there is not None and option == "error" and not there.all():
            raise LoDError(
                f"{where}: {name}: sequence {int(np.argmin(there))} of level {level} is null; use "
                f'nulls="empty" to make it empty'
            )
    values = column.values
    rows = values.values if isinstance(values, LoDTensor) else values
    present = column.present
    if present is not None and whole(present):
        present = None
    if option in ("error", "empty"):
        if (told := column.untold()) is not None:
            at, field, example = first_missing(rows.dtype, told)
            named = f" (nulls={{{name[5:-1]}: {example}}} for this column)" if "[" in name else ""
            raise LoDError(
                f'{where}: {name}: row {at} is null{field}; use nulls="mask", or a fill value such as '
                f"nulls={example}{named}"
            )
    elif present is not None and not (column.lossless and option == "mask"):
        rows = filled(
            f"{where}: nulls{name[4:]}", rows, present, np.zeros((), rows.dtype)[()] if option == "mask" else way
        )
        values = lod_tensor_body.new_tensor(rows, values.lod) if isinstance(values, LoDTensor) else rows
    if option != "mask":
        return values, None
    mask = np.ones(rows.shape, mask_dtype(rows.dtype)) if present is None else present
    return values, lod_tensor_body.new_tensor(mask, values.lod) if isinstance(values, LoDTensor) else mask


def records_of(where: str, shape: tuple[int, ...], fields: Mapping[str, Array]) -> Array:
    """Return records of a shape with these fields, whose dtypes are as wide as they are."""
    if "" in fields:
        raise DTypeError(f"{where}: has a field without a name; a structured dtype has none")
    try:
        dtype = np.dtype([(key, x.dtype, x.shape[len(shape) :]) for key, x in fields.items()])
    except ValueError as error:
        raise DTypeError(f"{where}: {error}") from None
    made = buffers.new_rows(where, np.empty((0, *shape[1:]), dtype), shape[0])
    for key, field in fields.items():
        made[key] = field
    return made


def first_missing(dtype: np.dtype[Any], told: Array) -> tuple[int, str, str]:
    """Return the first row with a missing value, what errors say of its field, and a value that stands for it."""
    at = int(np.argmin(every(told)))
    if dtype.names is None:
        return at, "", example_of(dtype)
    gone = [name for name in dtype.names if not whole(told[name][at : at + 1])]
    field = min(gone, key=lambda name: dtype[name].base.kind in "mM")  # which alone are null only in a null record
    return at, f" in field {field!r}", example_of(dtype[field].base)


def filled(where: str, rows: Array, present: Array, fill: Any) -> Array:
    """Return rows with a value where there is none; of a record, in the fields where there is none."""
    if present.dtype.names is not None:
        by_field = isinstance(fill, (np.void, np.ndarray)) and fill.dtype.names is not None
        fields = {
            key: rows[key]
            if whole(present[key])
            else filled(f"{where}[{key!r}]", rows[key], present[key], fill[key] if by_field else fill)
            for key in present.dtype.names
        }
        return records_of(where, rows.shape, fields)
    entry = _entry(where, rows, fill)
    made: Array = rows.astype(entry.dtype)
    made[~present] = np.broadcast_to(entry[0], made.shape)[~present]
    return made
