"""Tables of Polars: grouped rows, list columns, and columns that share one LoD."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from lodcore.base.dtypes import in_unit
from lodcore.base.libraries import library
from lodcore.base.memory import flag
from lodcore.errors import DTypeError
from lodcore.interop.arrow.columns import short_views
from lodcore.interop.arrow.interface import arrow_table
from lodcore.interop.arrow.types import has_digits
from lodcore.interop.missing_values import Key, TableColumn
from lodcore.interop.polars_columns import column_of
from lodcore.interop.tables import (
    grouped_table,
    names_of_keys,
    of_another_library,
    outgoing,
    plain_column,
    plain_table,
    row_keys,
    with_keys,
)
from lodcore.ops.order.keys import numbered, numbered_if_few
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["from_polars", "to_polars"]

Array = np.ndarray[Any, Any]

#: The random seed of the hash, so that nobody can choose texts that collide.
HASH = int.from_bytes(os.urandom(7), "little")


def from_polars(data: Any, by: Any = None, *, nulls: Any = "error") -> Any:
    """Convert a Polars table or column to LoDTensors.

    Parameters
    ----------
    data : polars.DataFrame, polars.LazyFrame or polars.Series
        Numbers, bools, dates, times, durations, text, categories, decimals, and lists of these. Categories become their
        labels, text has a fixed size, times with a zone are those of UTC, and decimals of up to 15 digits are float64.
    by : str or list of str, optional
        The columns to group by, coarse first, each of which makes a level: integers, floats, bools, dates, durations
        or text. Groups are in the order of their first rows. Without it, a column of lists becomes a LoDTensor, any
        other an ndarray.
    nulls : {"error", "empty", "mask"} or a fill value, or dict of these by column
        As in `from_pandas`. Null dates, times and durations are NaT, also in records with another value.

    Returns
    -------
    LoDTensor for a column of lists; Groups for a table with `by`; dict of LoDTensor and ndarray for one without
        With "mask" as in `from_pandas`.

    Raises
    ------
    DTypeError, LoDError, KeyError, ValueError
        If a column cannot be converted without loss; the message names it.
    """
    where = "lodcore.from_polars"
    polars = library("polars", "polars", where)
    if isinstance(data, polars.LazyFrame):
        data = data.collect()
    if isinstance(data, polars.Series):
        return plain_column(where, column_of(polars, f"{where}: data", data), nulls)
    if not isinstance(data, polars.DataFrame):
        raise of_another_library(f"{where}: data", data, "Polars")
    names = [] if by is None else names_of_keys(where, by)
    for name in names:
        if not isinstance(name, str) or name not in data.columns:
            raise KeyError(f"{where}: by: {name!r} is not a column")
    columns = {
        name: column_of(polars, f"{where}: data[{name!r}]", data[name]) for name in data.columns if name not in names
    }
    if not names:
        return plain_table(where, columns, nulls)
    keys = {name: _key_of(polars, f"{where}: data[{name!r}]", data[name]) for name in names}
    return grouped_table(where, columns, keys, nulls)


def _key_of(polars: Any, name: str, series: Any) -> Key:
    """Return a key column; text is numbered by Polars."""

    def entries(rows: Array) -> TableColumn:
        return column_of(polars, name, series.gather(rows))

    present = series.is_not_null().to_numpy() if series.null_count() else None
    if series.dtype == polars.String:
        numbers, firsts = _numbers_of_text(polars, series)
        return Key(numbers, entries, present, firsts)
    if isinstance(series.dtype, (polars.Categorical, polars.Enum)):
        return Key(series.to_physical().fill_null(0).to_numpy(), entries, present)
    column = column_of(polars, name, series)
    if isinstance(column.values, LoDTensor) or column.values.ndim > 1:
        raise DTypeError(f"{name}: holds {series.dtype}; keys are numbers, dates or text")
    return Key(column.values, entries, column.present)


def _numbers_of_text(polars: Any, series: Any) -> tuple[Array, Array]:
    """Return the numbers of texts in the order of their first rows.

    A few short texts are numbered as they are; others by their hashes, unless two of them collide.
    """
    views = short_views(series)
    found = None if views is None else numbered_if_few(views)
    if found is not None:
        return found
    ids, firsts = numbered(np.ascontiguousarray(series.hash(HASH).to_numpy()))
    if (series == series.gather(firsts).gather(polars.Series(ids.astype(np.uint32)))).all():
        return ids, firsts
    return numbered(np.ascontiguousarray(series.cast(polars.Categorical).to_physical().fill_null(0).to_numpy()))


def to_polars(columns: Any, keys: Mapping[str, Any] | None = None, *, lists: bool = True) -> Any:
    """Convert LoDTensors to a Polars table: one line per sequence, or per row.

    Parameters
    ----------
    columns : LoDTensor, nested lists, Groups, or mapping of str to LoDTensor or array_like
        The columns, with equal LoDs if lines are rows; an array has one entry per outermost sequence.
    keys : mapping of str to array_like, optional
        The keys of the sequences of each level, coarse first; by default, with one line per row, the numbers 0, 1, 2,
        ... of sequences within their sequence, called level_0, level_1, ...
    lists : bool
        Whether to make columns of lists, whose values are not copied; otherwise, one line per row with its keys.

    Returns
    -------
    polars.DataFrame, or polars.Series for one LoDTensor
    """
    where = "lodcore.to_polars"
    lists = flag(f"{where}: lists", lists)
    polars = library("polars", "polars", where)
    table = outgoing(where, columns, keys)
    if lists or not table.has_rows:
        if table.single and not table.keys:
            return _frame(polars, where, table.columns, {})["values"]
        made = with_keys(where, table.key_columns(where), table.columns)
        return _restored(polars, _frame(polars, where, made, table.masks), table.kept)
    lod, rows, masks = table.of_rows(where)
    names, levels = row_keys(where, lod, table.keys)
    made = with_keys(where, dict(zip(names, levels, strict=True)), rows)
    return _restored(polars, _frame(polars, where, made, masks), table.kept)


def _frame(polars: Any, where: str, columns: Mapping[str, Any], masks: Mapping[str, Any]) -> Any:
    """Return a table of columns; raise for rows without entries, at which Polars would panic, and for times too far."""
    for name, column in columns.items():
        rows = column.values if isinstance(column, LoDTensor) else np.asarray(column)
        if _is_empty(rows.shape[1:], rows.dtype):
            raise DTypeError(
                f"{where}: columns[{name!r}]: has rows of shape {rows.shape[1:]} and dtype {rows.dtype}; Polars takes "
                "none without entries"
            )
        _check_times(f"{where}: columns[{name!r}]", rows)
    return polars.DataFrame(arrow_table(where, columns, masks))


def _check_times(where: str, rows: Array) -> None:
    """Raise for a time whose milliseconds int64 cannot hold, also in a field: Polars has no seconds and would wrap."""
    for field in rows.dtype.names or ():
        _check_times(f"{where}: field {field!r}", rows[field])
    kind = rows.dtype.kind
    if kind in "mM" and np.datetime_data(rows.dtype)[0] in ("h", "m", "s", *("W", "D") * (kind == "m")):
        in_unit(where, rows, np.dtype(f"{kind}8[ms]"))


def _is_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Return whether rows, or fields of them, have an axis of size 0, or are raw bytes without a byte."""
    if dtype.names is None:
        return 0 in shape or (dtype.kind == "V" and not dtype.itemsize)
    return 0 in shape or any(_is_empty(dtype[name].shape, dtype[name].base) for name in dtype.names)


def _restored(polars: Any, frame: Any, kept: Mapping[str, tuple[Any, ...]]) -> Any:
    """Return a table with what dtypes do not say: zones, categories, decimals; also within lists."""
    changes = []
    for name, kind in kept.items():
        change = _change_of_column(polars, frame[name], kind) if name in frame.columns else None
        if change is not None:
            changes.append(change(polars.col(name)).alias(name))
    return frame.with_columns(changes)


def _change_of_column(polars: Any, series: Any, kind: tuple[Any, ...]) -> Any:
    """Return the expression that restores a column, also within its lists, or None if its values do not fit."""
    depth, inner = 0, series.dtype
    while isinstance(inner, (polars.List, polars.Array)):
        depth, inner = depth + 1, inner.inner
    if kind[0] == "fields":
        change = _change_of_fields(polars, _entries(series, depth), kind[1]) if inner == polars.Struct else None
    else:
        change = _change(polars, inner, kind)
        change = change if change is not None and _fits(polars, series, depth, kind) else None
    return None if change is None else lambda column: _within(polars, series.dtype, column, change)


def _change_of_fields(polars: Any, series: Any, kinds: Mapping[str, tuple[Any, ...]]) -> Any:
    """Return the expression that restores the fields of structs, or None if the values of none of them fit."""
    names = [field.name for field in series.dtype.fields if field.name in kinds]
    found = {name: _change_of_column(polars, series.struct.field(name), kinds[name]) for name in names}
    changes = {name: change for name, change in found.items() if change is not None}
    if not changes:
        return None
    return lambda x: x.struct.with_fields([change(polars.field(name)).alias(name) for name, change in changes.items()])


def _entries(series: Any, depth: int) -> Any:
    """Return what is in the lists of a column."""
    for _ in range(depth):
        series = series.explode()
    return series


def _within(polars: Any, kind: Any, column: Any, change: Any) -> Any:
    """Return the expression that changes what is in the lists, and the rows of a fixed size, of a column."""
    if isinstance(kind, polars.List):
        return column.list.eval(_within(polars, kind.inner, polars.element(), change))
    if isinstance(kind, polars.Array):  # which older versions do not change in place
        changed = _within(polars, kind.inner, polars.element(), change)
        return column.arr.to_list().list.eval(changed).list.to_array(kind.size)
    return change(column)


def _fits(polars: Any, series: Any, depth: int, kind: tuple[Any, ...]) -> bool:
    """Return whether all values are labels of an Enum, times of a day or of few digits; Polars would refuse others."""
    if kind[0] not in ("decimal", "time") and not (kind[0] == "category" and kind[2]):
        return True
    series = _entries(series, depth)
    if kind[0] == "decimal":
        return has_digits(series.drop_nulls().to_numpy(), kind[1], kind[2])
    if kind[0] == "time":
        return bool(series.drop_nulls().is_between(timedelta(0), timedelta(1), closed="left").all())
    return bool(series.drop_nulls().is_in(kind[1].tolist()).all())


def _change(polars: Any, inner: Any, kind: tuple[Any, ...]) -> Any:
    """Return the expression that restores one column, or None if it has other values by now."""
    if kind[0] == "zone" and isinstance(inner, polars.Datetime):
        return lambda x: x.dt.replace_time_zone("UTC").dt.convert_time_zone(kind[1])
    if kind[0] == "time" and isinstance(inner, polars.Duration):
        return lambda x: x.cast(polars.Duration("ns")).cast(polars.Int64).cast(polars.Time)
    if kind[0] == "decimal" and kind[1] >= 0 and inner == polars.Float64:
        return lambda x: x.cast(polars.Decimal(kind[2] or 38, kind[1]))
    if kind[0] == "category" and inner == polars.String:
        return lambda x: x.cast(polars.Enum(kind[1].tolist()) if kind[2] else polars.Categorical)
    return None
