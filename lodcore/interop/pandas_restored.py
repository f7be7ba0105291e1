"""Columns that go out to pandas, with what dtypes of NumPy do not say."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from lodcore.base.dtypes import in_unit
from lodcore.base.libraries import library
from lodcore.errors import DTypeError
from lodcore.interop.arrow.interface import arrow_table
from lodcore.interop.arrow.restored import restored
from lodcore.interop.tables import lists_of, nested_lists
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["arrow_series", "key_entries", "series_of", "with_unit_of_pandas"]

Array = np.ndarray[Any, Any]


def arrow_series(pandas: Any, where: str, name: str, x: Any, kept: tuple[Any, ...] | None, present: Any = None) -> Any:
    """Return a column with a type of Arrow, which keeps axes of rows, fields and the values' dtype.

    Parameters
    ----------
    pandas : module
    where, name : str
        The names of the function and the column.
    x : LoDTensor or ndarray
    kept : tuple or None
        As in `TableColumn`.
    present : LoDTensor or ndarray of bool, optional
        Where there is a value.
    """
    pyarrow = library("pyarrow", "arrow", where)
    masks = {} if present is None else {name: present}
    chunks = pyarrow.table(arrow_table(where, {name: x}, masks)).column(0)
    return pandas.Series(pandas.arrays.ArrowExtensionArray(restored(pyarrow, chunks, kept)))


def series_of(pandas: Any, where: str, name: str, rows: Any, kept: tuple[Any, ...] | None, present: Any = None) -> Any:
    """Return a column with its zone, categories, decimals and missing values.

    Parameters
    ----------
    pandas : module
    where, name : str
        The names of the function and the column.
    rows : ndarray, or LoDTensor for a column of lists
    kept : tuple or None
        As in `TableColumn`.
    present : ndarray or LoDTensor of bool, optional
        Where there is a value.

    Raises
    ------
    DTypeError
        If pandas has no such dates or durations.
    """
    flat, there = (one.values if isinstance(one, LoDTensor) else one for one in (rows, present))
    if flat.ndim > 1 or flat.dtype.names is not None:  # as Python objects they would be lists, and tuples
        return arrow_series(pandas, where, name, rows, kept, present)
    if isinstance(rows, LoDTensor):
        if kept is None and flat.dtype.kind not in "mM":
            return pandas.Series(lists_of(rows, present), dtype=object)
        entries = series_of(pandas, where, name, flat, kept, there).tolist()
        return pandas.Series(nested_lists(entries, rows.lod), dtype=object)
    if rows.dtype.kind == "S":
        return pandas.Series(lists_of(rows, present), dtype=object)
    made = pandas.Series(_restored(pandas, f"{where}: columns[{name!r}]", rows, kept, present))
    if present is None:
        return made
    if rows.dtype.kind in "iub" and made.dtype == rows.dtype:
        kind = "boolean" if rows.dtype.kind == "b" else rows.dtype.name.replace("i", "I", 1).replace("u", "U", 1)
        made = made.astype(kind)
    return made.where(present)


def key_entries(pandas: Any, where: str, rows: Array, kept: tuple[Any, ...] | None) -> Any:
    """Return keys as the entries of an index, which holds no half precision."""
    return _restored(pandas, where, rows.astype(np.float32) if rows.dtype == np.float16 else rows, kept, None)


def _restored(pandas: Any, where: str, rows: Array, kept: tuple[Any, ...] | None, present: Any) -> Any:
    """Return a column or a key with what its dtype does not say, as long as that fits its values."""
    if rows.dtype.kind in "mM":
        rows = with_unit_of_pandas(where, rows)
    if kept is None:
        return rows
    if kept[0] == "zone" and rows.dtype.kind == "M":
        return pandas.Series(rows).dt.tz_localize("UTC").dt.tz_convert(kept[1]).array
    if kept[0] == "category":
        there = rows if present is None else rows[present]
        labels = pandas.Categorical(there).categories if kept[1] is None else pandas.Index(kept[1])
        codes = np.full(len(rows), -1)
        codes[slice(None) if present is None else present] = labels.get_indexer(there)
        if (codes >= 0).sum() == len(there):
            return pandas.Categorical.from_codes(codes, labels, ordered=kept[2])
    if kept[0] == "decimal" and rows.dtype == np.float64:
        decimals = [_decimal(entry, kept[1]) for entry in rows.tolist()]
        if np.array_equal(np.array(list(map(float, decimals))), rows, equal_nan=True):
            return pandas.array(decimals, dtype=object)
    if kept[0] == "time" and rows.dtype.kind == "m":
        return _times_of_day(pandas, rows)
    return rows


#: The units of pandas, and coarser ones, which become seconds.
UNITS = {**dict.fromkeys(("Y", "M", "W", "D", "h", "m", "s"), "s"), "ms": "ms", "us": "us", "ns": "ns"}


def with_unit_of_pandas(where: str, rows: Array, library: str = "pandas") -> Array:
    """Return dates or durations in a unit that pandas, or a library upon it, has; raise if there is none for them."""
    unit, step = np.datetime_data(rows.dtype)
    kind = rows.dtype.kind
    if unit not in UNITS or (kind == "m" and unit in ("Y", "M")) or step < 1:
        raise DTypeError(f"{where}: has dtype {rows.dtype}, which {library} does not have")
    made: Array = in_unit(where, rows, np.dtype(f"{kind}8[{UNITS[unit]}]"))
    return made


def _decimal(entry: float, digits: int) -> Any:
    return Decimal(f"{entry:.{max(digits, 0)}f}") if np.isfinite(entry) else entry


def _times_of_day(pandas: Any, rows: Array) -> Any:
    """Return durations since midnight as times, if those count so finely."""
    exact = rows.astype("m8[us]")
    gone = np.isnat(exact)
    day = (exact >= np.timedelta64(0)) & (exact < np.timedelta64(1, "D"))
    if not (gone | (exact.astype(rows.dtype) == rows) & day).all():
        return rows
    clock = (np.where(gone, np.timedelta64(0, "us"), exact) + np.datetime64(0, "us")).tolist()
    return pandas.array(
        [None if no else one.time() for one, no in zip(clock, gone.tolist(), strict=True)], dtype=object
    )
