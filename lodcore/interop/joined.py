"""Tables with one row per key, which are joined to groups: their columns, and their missing values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base.missing import is_column
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop.arrow.columns import column_of_arrow, columns_of_arrow
from lodcore.interop.missing_values import TableColumn, filled, first_missing, policies
from lodcore.interop.pandas_columns import column_of
from lodcore.interop.pandas_index import with_index_levels
from lodcore.interop.polars_columns import column_of as column_of_polars
from lodcore.interop.presence import whole
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = ["columns_with_keys", "entries_without_nulls", "refuse_rounded", "ways_of"]

Array = np.ndarray[Any, Any]


def columns_with_keys(where: str, other: Any) -> dict[str, TableColumn]:
    """Read a table; every column has one value per row.

    Parameters
    ----------
    where : str
    other : mapping of str to array_like, or a table of pandas, Polars or with Arrow's interface

    Raises
    ------
    DTypeError, LoDError
        If there is no table, or a column holds lists; the message names it.
    """
    pandas, polars = (_loaded(name) for name in ("pandas", "polars"))
    if pandas is not None and isinstance(other, pandas.DataFrame):
        other = with_index_levels(f"{where}: other", other)
        given = list(other.items())
        made = {name: column_of(pandas, _label(where, name), column) for name, column in given}
        if len(made) < len(given):
            twice = next(name for j, (name, _) in enumerate(given) if name in [one for one, _ in given[:j]])
            raise LoDError(f"{where}: other: has two columns {twice!r}")
    elif polars is not None and isinstance(other, (polars.DataFrame, polars.LazyFrame)):
        made = {
            column.name: column_of_polars(polars, _label(where, column.name), column)
            for column in other.lazy().collect().get_columns()
        }
    elif isinstance(other, Mapping):
        made = {name: _column(pandas, polars, _label(where, name), column) for name, column in other.items()}
    elif not (hasattr(other, "__arrow_c_stream__") or hasattr(other, "__arrow_c_array__")):
        raise DTypeError(f"{where}: other: is {type(other).__name__}; a dict of columns or a table is needed")
    else:
        found = columns_of_arrow(where, other, "other", "other")
        if found is None:
            raise DTypeError(f"{where}: other: is {type(other).__name__} without columns; a table is needed")
        made = found
    for name, column in made.items():
        if isinstance(column.values, LoDTensor):
            raise _nested(_label(where, name))
    return made


def _loaded(name: str) -> Any:
    """Return a library if it is loaded, without which nobody has a table of it."""
    module = sys.modules.get(name)
    return module if hasattr(module, "DataFrame") else None


def _label(where: str, name: Any) -> str:
    return f"{where}: other[{name!r}]"


def _nested(label: str) -> LoDError:
    return LoDError(f"{label}: holds sequences; one value per key is needed")


def _column(pandas: Any, polars: Any, label: str, given: Any) -> TableColumn:
    """Read one column of a mapping."""
    if isinstance(given, LoDTensor):
        raise _nested(label)
    if pandas is not None and isinstance(given, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)):
        return column_of(pandas, label, pandas.Series(given))
    if polars is not None and isinstance(given, polars.Series):
        return column_of_polars(polars, label, given)
    spoken = hasattr(given, "__arrow_c_array__") or hasattr(given, "__arrow_c_stream__")
    if spoken and (is_column(given) or not hasattr(given, "__array__")):  # an array of xarray is a table to Arrow
        return column_of_arrow(label, given)
    try:
        return TableColumn(as_values(label, given))
    except ShapeError:
        if isinstance(given, (list, tuple)) and any(isinstance(entry, (list, tuple, np.ndarray)) for entry in given):
            raise _nested(label) from None
        raise


def refuse_rounded(label: str, mine: Array, theirs: Array, rows: Array) -> None:
    """Raise for an integer key beside floats that these do not hold, since it would equal its neighbours.

    Parameters
    ----------
    label : str
        The names of the function and the keys of the table that is joined.
    mine, theirs : ndarray
        The keys of the groups, and those of the table that are not missing.
    rows : ndarray of int64
        The rows of the latter.
    """
    if mine.dtype.kind in "iu" and theirs.dtype.kind == "f":
        at = _first_rounded(mine, theirs.dtype)
        if at is not None:
            raise DTypeError(
                f"{label}: has dtype {theirs.dtype}; group {at} is {mine[at]}, which it does not hold exactly: give "
                "integers"
            )
    elif mine.dtype.kind == "f" and theirs.dtype.kind in "iu":
        at = _first_rounded(theirs, mine.dtype)
        if at is not None:
            raise DTypeError(
                f"{label}: is {theirs[at]} at row {rows[at]}; the groups have {mine.dtype}, which does not hold it "
                "exactly"
            )


def _first_rounded(integers: Array, dtype: np.dtype[Any]) -> int | None:
    """Return the place of the first integer that is another number among floats of a dtype; None if none is."""
    common = np.promote_types(integers.dtype, dtype)
    made = integers.astype(common)
    inside = made < float(np.iinfo(integers.dtype).max + 1)  # the way back is undefined for others
    exact = inside & (np.where(inside, made, 0).astype(integers.dtype) == integers)
    return None if exact.all() else int(np.argmin(exact))


def ways_of(where: str, columns: Mapping[str, TableColumn], nulls: Any) -> dict[str, Any]:
    """Return what to do with the missing values of columns: an error, or a value in their place."""
    return policies(where, columns, nulls, ("error",))


def entries_without_nulls(where: str, name: str, column: TableColumn, way: Any, rows: Array) -> Array:
    """Return the entries of some rows of a column, which alone may not be missing.

    Parameters
    ----------
    where, name : str
    column : TableColumn
    way : "error" or a fill value
    rows : ndarray of int64
    """
    entries: Array = column.values[rows]
    if column.present is None:
        return entries
    if isinstance(way, str) and way == "error":
        if (told := column.untold(rows)) is None:
            return entries
        at, field, example = first_missing(entries.dtype, told)
        raise LoDError(
            f"{_label(where, name)}: row {rows[at]} is null{field}; use a fill value such as "
            f"nulls={{{name!r}: {example}}}"
        )
    there = column.present[rows]
    return entries if whole(there) else filled(f"{where}: nulls[{name!r}]", entries, there, way)
