"""Columns of pandas as NumPy has them, whatever their dtype."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np

from lodcore.base.missing import is_column
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop.arrow.columns import column_of_arrow
from lodcore.interop.arrow.types import DIGITS
from lodcore.interop.missing_values import TableColumn
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import array
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import levels_and_leaves
from lodcore.tensors.python_dates import dates_of, refuse_far

__all__ = ["column_of", "is_lists", "is_short_arrow_text", "is_text"]

Array = np.ndarray[Any, Any]

EPOCH = date(1970, 1, 1)

#: The units of periods that are dates or times of NumPy.
PERIODS = {"Y": "Y", "Y-DEC": "Y", "A-DEC": "Y", "M": "M", "D": "D", "h": "h", "min": "m", "s": "s", "ms": "ms"}


def is_lists(series: Any) -> bool:
    """Return whether a column holds lists; those of a fixed size are rows."""
    kind = getattr(series.dtype, "pyarrow_dtype", None)
    if kind is not None:
        while str(kind).startswith("fixed_size_list"):
            kind = kind.value_type
        return str(kind).startswith(("list", "large_list"))
    if not isinstance(series.dtype, np.dtype) or not series.dtype.hasobject:
        return False
    first = series.first_valid_index()
    return first is not None and isinstance(series.dropna().iloc[0], (list, tuple, np.ndarray))


#: The bytes of a text, with its offset, up to which its bytes are numbered faster than pandas numbers it.
SHORT = 64


def is_short_arrow_text(series: Any) -> bool:
    """Return whether a column holds text in Arrow's memory, with offsets, which is mostly short."""
    found: Any = getattr(series.array, "_pa_array", None)
    kind = str(getattr(found, "type", None))
    return kind in ("string", "large_string") and found.nbytes <= SHORT * len(series)


def is_text(pandas: Any, series: Any) -> bool:
    """Return whether a column holds text, or categories."""
    dtype = series.dtype
    if isinstance(dtype, (pandas.StringDtype, pandas.CategoricalDtype)):
        return True
    return (
        isinstance(dtype, np.dtype)
        and dtype.hasobject
        and pandas.api.types.infer_dtype(series, skipna=True) == "string"
    )


def column_of(pandas: Any, name: str, series: Any) -> TableColumn:
    """Read a column.

    Parameters
    ----------
    pandas : module
    name : str
        The names of function and column, for messages.
    series : pandas.Series

    Raises
    ------
    DTypeError
        If its values cannot be converted without loss.
    """
    if not isinstance(series, pandas.Series):
        raise DTypeError(f"{name}: is {type(series).__name__}; a column is needed")
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _of_objects(pandas, name, series) if dtype.hasobject else _of_numpy(name, series.to_numpy())
    if isinstance(dtype, pandas.CategoricalDtype):
        return _of_categories(pandas, name, series)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        found = _of_numpy(name, series.dt.tz_convert(None).to_numpy())
        return found._replace(kept=("zone", str(dtype.tz)))
    if isinstance(dtype, pandas.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return column_of_arrow(name, series.array._pa_array)
    if isinstance(dtype, pandas.StringDtype):
        return _of_text(name, series, "")
    if isinstance(dtype, pandas.SparseDtype):
        return column_of(pandas, name, series.sparse.to_dense())
    if isinstance(dtype, pandas.PeriodDtype):
        return _of_periods(name, series)
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype):  # with a mask: Int64, Float32, boolean
        there = series.notna().to_numpy()
        zero = np.zeros((), dtype.numpy_dtype)[()]
        return TableColumn(
            series.array.to_numpy(dtype=dtype.numpy_dtype, na_value=zero), None if there.all() else there
        )
    raise DTypeError(f"{name}: has dtype {dtype}, which NumPy does not have; give its parts as columns")


def _of_numpy(name: str, rows: Array) -> TableColumn:
    """Return numbers, whose missing values are nan or NaT."""
    if rows.dtype.kind in "fcmM":
        gone = np.isnat(rows) if rows.dtype.kind in "mM" else np.isnan(rows)
        return TableColumn(rows, ~gone if gone.any() else None, lossless=True)
    return TableColumn(rows)


def _of_categories(pandas: Any, name: str, series: Any) -> TableColumn:
    """Return the labels of categories."""
    labels = column_of(pandas, name, pandas.Series(series.dtype.categories))
    codes = series.cat.codes.to_numpy()
    there = codes >= 0
    known = labels.values if len(labels.values) else np.zeros(1, labels.values.dtype)
    rows = known[np.where(there, codes, 0)]
    kept = labels.kept or ("category", np.asarray(labels.values), bool(series.dtype.ordered))
    return TableColumn(rows, None if there.all() else there, kept=kept)


def _of_periods(name: str, series: Any) -> TableColumn:
    unit = PERIODS.get(series.dtype.freq.freqstr)
    if unit is None:
        raise DTypeError(
            f"{name}: has dtype {series.dtype}, which NumPy does not have; .dt.to_timestamp() makes it a date"
        )
    rows = series.dt.to_timestamp().to_numpy()
    return _of_numpy(name, rows.astype(f"M8[{unit}]"))


# -- Python objects ----------------------------------------------------------------------------------------------------


def _of_objects(pandas: Any, name: str, series: Any) -> TableColumn:
    """Return the values of Python objects, if all are of one kind."""
    if is_lists(series):
        return _of_lists(pandas, name, series)
    kind = pandas.api.types.infer_dtype(series, skipna=True)
    if kind in ("datetime", "datetime64", "timedelta", "timedelta64"):
        parse = pandas.to_datetime if kind.startswith("date") else pandas.to_timedelta
        try:
            return column_of(pandas, name, parse(series))
        except (ValueError, OverflowError) as error:  # several zones, or times that no unit holds together
            raise DTypeError(
                f"{name}: has dtype {series.dtype}, of {kind} objects that no dtype holds: {error}"
            ) from None
    if kind in ("string", "bytes"):
        return _of_text(name, series, "" if kind == "string" else b"")
    if kind == "decimal":
        return _of_decimals(name, series)
    makers: dict[str, tuple[Callable[[list[Any]], Any], Any]] = {
        "boolean": (lambda found: np.array(found, np.bool_), False),
        "integer": (_integers, 0),
        "floating": (np.array, 0.0),
        "mixed-integer-float": (_floats, 0.0),
        "complex": (np.array, 0.0),
        "date": (lambda found: _dates(name, found), None),
        "time": (_times, None),
        "empty": (lambda found: np.zeros(len(found)), 0.0),
    }
    if kind not in makers:
        raise DTypeError(f"{name}: has dtype {series.dtype}, of {kind} objects; Python objects have no fixed size")
    make, fill = makers[kind]
    floats = kind in ("floating", "mixed-integer-float")
    missing_is_nan = floats and not any(one is None or one is pandas.NA for one in series)
    fill = np.nan if missing_is_nan else fill
    there = series.notna().to_numpy()
    found = [entry if known else fill for entry, known in zip(series, there.tolist(), strict=True)]
    rows = make(found)
    if rows is None or rows.dtype == object or (kind == "integer" and rows.dtype.kind not in "iu"):
        raise DTypeError(f"{name}: has dtype {series.dtype}, of {kind} objects that no dtype of NumPy holds exactly")
    lossless = rows.dtype.kind in "mM" or missing_is_nan
    kept = ("time",) if kind == "time" else None
    return TableColumn(rows, None if there.all() else there, lossless=lossless, kept=kept)


def _integers(found: list[Any]) -> Array:
    """Return integers with or without a sign, as 64 bits hold them."""
    unsigned = max(found) > np.iinfo(np.int64).max and min(found) >= 0 and max(found) <= np.iinfo(np.uint64).max
    return np.array(found, np.uint64 if unsigned else None)


def _dates(name: str, found: list[Any]) -> Array:
    """Return dates as days or, if there are times of day among them, as microseconds; None is missing."""
    there = [one is not None for one in found]
    leaves = [one for one in found if one is not None]
    known = dates_of(name, leaves)
    refuse_far(name, leaves, known.dtype)
    rows = np.full(len(found), np.array("NaT", known.dtype))
    rows[there] = known
    return rows


def _times(found: list[Any]) -> Array | None:
    """Return times of day as durations since midnight; None if they have a zone."""
    if any(one is not None and one.tzinfo is not None for one in found):
        return None
    midnight = np.datetime64(0, "us")
    days = ["NaT" if one is None else datetime.combine(EPOCH, one) for one in found]
    return np.array(days, "M8[us]") - midnight


def _floats(found: list[Any]) -> Array | None:
    """Return integers beside floats as floats, if they are exact."""
    rows = np.array([float(entry) for entry in found])
    pairs = zip(found, rows.tolist(), strict=True)
    return rows if all(entry == made or entry != entry for entry, made in pairs) else None


def _of_text(name: str, series: Any, blank: str | bytes) -> TableColumn:
    """Return strings or bytes of a fixed size."""
    there = series.notna().to_numpy()
    found = [entry if known else blank for entry, known in zip(series, there.tolist(), strict=True)]
    rows = np.array(found, np.str_ if isinstance(blank, str) else np.bytes_)
    end = "\0" if isinstance(blank, str) else b"\0"
    for at, entry in enumerate(found):
        if entry.endswith(end):  # type: ignore[arg-type]
            raise DTypeError(f"{name}: row {at} ends with NUL, which NumPy drops")
    return TableColumn(rows, None if there.all() else there)


def _of_decimals(name: str, series: Any) -> TableColumn:
    """Return decimal numbers as floats, if those hold all of their digits."""
    there = series.notna().to_numpy()
    rows, digits = np.zeros(len(series)), 0
    for at in np.flatnonzero(there).tolist():
        entry = series.iloc[at]
        _, figures, exponent = entry.as_tuple()
        if isinstance(exponent, str) or len(figures) > DIGITS:
            raise DTypeError(f"{name}: is {entry} at row {at}; float64 holds {DIGITS} digits: convert it to text")
        rows[at], digits = float(entry), max(digits, -exponent)
    return TableColumn(rows, None if there.all() else there, kept=("decimal", digits, None))


def _of_lists(pandas: Any, name: str, series: Any) -> TableColumn:
    """Return lists as sequences; missing ones are empty."""
    gone = series.isna().to_numpy()
    sequences = [~gone if gone.any() else None]
    entries = [[] if missing else entry for entry, missing in zip(series, gone.tolist(), strict=True)]
    for row, entry in enumerate(entries):
        if not (isinstance(entry, (list, tuple, np.ndarray)) or is_column(entry)):
            raise ShapeError(f"{name}: is {described(entry)} in row {row}, among lists; a list is needed")
    filled = [entry for entry in entries if len(entry)]
    if all(isinstance(entry, np.ndarray) for entry in filled):
        empty = filled[0][:0] if filled else np.empty(0)
        x = _nested(name, [entry if len(entry) else empty for entry in entries])
        _refuse_inexact(name, entries, x.dtype)
        return TableColumn(x, None, sequences)
    lists = [_listed(entry) for entry in entries]
    levels, leaves, arrays = levels_and_leaves(name, lists, None)
    if arrays or (leaves and isinstance(leaves[0], dict)):
        return TableColumn(_nested(name, lists), None, sequences)
    rows = column_of(pandas, name, pandas.Series(leaves, dtype=object))
    made: Any = lod_tensor_body.new_tensor(rows.values, lod_body.make_lod(levels, len(leaves)))
    return rows._replace(values=made, sequences=sequences)


def _listed(entry: Any) -> list[Any]:
    """Return a sequence as a list of objects of Python, or of dates of NumPy, which may be finer."""
    return entry.tolist() if isinstance(entry, np.ndarray) and entry.dtype.kind not in "mM" else list(entry)


def _nested(name: str, lists: list[Any]) -> LoDTensor:
    """Make a LoDTensor of lists; errors name the column."""
    try:
        return array(lists)
    except (DTypeError, LoDError, ShapeError) as error:
        raise type(error)(str(error).replace("lodcore.array: obj", name)) from None


def _refuse_inexact(name: str, entries: list[Any], dtype: np.dtype[Any]) -> None:
    """Raise for an integer of an array that the joined floats of all arrays do not hold."""
    for row, entry in enumerate(entries):
        if len(entry) and entry.dtype.kind in "iu" and dtype.kind == "f":
            for given, made in zip(entry.ravel().tolist(), entry.astype(dtype).ravel().tolist(), strict=True):
                if given != made:
                    raise DTypeError(f"{name}: has {given} in row {row}, among floats, which cannot hold it exactly")
