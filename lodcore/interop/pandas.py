"""Tables of pandas: grouped rows, list columns, and columns that share one LoD."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.base.memory import flag
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.columns import texts_of_arrow
from lodcore.interop.missing_values import Key
from lodcore.interop.pandas_columns import column_of, is_lists, is_short_arrow_text, is_text
from lodcore.interop.pandas_index import refuse_levels_of_one_name, with_index_levels
from lodcore.interop.pandas_restored import arrow_series, key_entries, series_of
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
from lodcore.ops.order.keys import numbered_texts
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["from_pandas", "to_pandas"]

Array = np.ndarray[Any, Any]


def from_pandas(data: Any, by: Any = None, *, nulls: Any = "error") -> Any:
    """Convert a pandas table or column to LoDTensors.

    Parameters
    ----------
    data : pandas.DataFrame or pandas.Series
        Numbers, bools, dates, times, durations, text, categories, decimals, and lists of these. Categories become their
        labels, text has a fixed size, times with a zone are those of UTC, and decimals of up to 15 digits are float64.
    by : str or list of str, optional
        The columns to group by, coarse first, each of which makes a level: integers, floats, bools, dates, durations or
        text. Groups are in the order of their first rows. By default, the index is used if it is named or a MultiIndex
        (whose last level, if it has no name, only numbers the rows); in a table of list columns, a row is a sequence.
        Named levels of the index that are not keys become columns; those without a name are left out.
    nulls : {"error", "empty", "mask"} or a fill value, or dict of these by column
        What happens to missing values. "error" raises an error, "empty" makes missing lists empty (and raises an error
        for any other missing value), "mask" also returns where there are values, and a fill value replaces them; with
        either, missing lists are empty. nan and NaT of a column with a dtype of NumPy stay, unless there is a fill
        value.

    Returns
    -------
    LoDTensor for a column of lists; Groups for a grouped table; dict of LoDTensor and ndarray for any other table
        With "mask", a pair of this and the masks: true where there is a value, with the structure of the values; a
        table of groups has them as `masks`. They do not tell missing lists from empty ones.

    Raises
    ------
    DTypeError, LoDError, KeyError, ValueError
        If a column cannot be converted without loss; the message names it.
    """
    where = "lodcore.from_pandas"
    pandas = library("pandas", "pandas", where)
    if isinstance(data, pandas.Series):
        if by is None and (is_lists(data) or not _keys_of(where, data.to_frame("values"), None)):
            return plain_column(where, column_of(pandas, f"{where}: data", data), nulls)
        ways = nulls if isinstance(nulls, Mapping) else {"values": nulls}
        made = from_pandas(_without_levels(data.to_frame("values"), by), by, nulls=ways)
        return (made["values"], made.masks["values"]) if made.masks else made["values"]
    if not isinstance(data, pandas.DataFrame):
        raise of_another_library(f"{where}: data", data, "pandas")
    names = [str(name) for name in data.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise LoDError(f"{where}: data: has two columns {twice!r}")
    if by is None and any(is_lists(data[name]) for name in data.columns):
        data = with_index_levels(f"{where}: data", data)
    given = _keys_of(where, data, by)
    if by is not None:
        data = with_index_levels(f"{where}: data", data, given)
    columns = {
        str(name): column_of(pandas, f"{where}: data[{name!r}]", data[name])
        for name in data.columns
        if name not in given or by is None
    }
    if not given:
        return plain_table(where, columns, nulls)
    keys = {str(name): _key_of(pandas, f"{where}: data[{name!r}]", key) for name, key in given.items()}
    return grouped_table(where, columns, keys, nulls)


def _without_levels(frame: Any, by: Any) -> Any:
    """Return a table without the levels of its index that are not keys; by default all are."""
    if by is None:
        return frame
    names = frame.index.names
    others = [level for level, name in enumerate(names) if name is None or name not in names_of_keys("", by)]
    return frame.reset_index(drop=True) if len(others) == len(names) else frame.droplevel(others)


def _keys_of(where: str, data: Any, by: Any) -> dict[Any, Any]:
    """Return the keys by which rows are grouped, by name."""
    index = data.index
    if by is not None:
        refuse_levels_of_one_name(f"{where}: data", [name for name in index.names if name is not None])
        keys = {}
        for name in names_of_keys(where, by):
            if name in data.columns:
                keys[name] = data[name]
            elif name in index.names:
                keys[name] = index.get_level_values(name).to_series()
            else:
                raise KeyError(f"{where}: by: {name!r} is neither a column nor a level of the index")
        return keys
    if index.nlevels > 1:
        used = index.nlevels - (index.names[-1] is None)
        names = [f"level_{k}" if name is None else name for k, name in enumerate(index.names[:used])]
        refuse_levels_of_one_name(f"{where}: data", names)
        return {name: index.get_level_values(k).to_series() for k, name in enumerate(names)}
    return {} if index.name is None else {index.name: index.to_series()}


def _key_of(pandas: Any, name: str, series: Any) -> Key:
    """Return a key column; text is numbered by its bytes, or by pandas."""

    def entries(rows: Array) -> Any:
        return column_of(pandas, name, series.iloc[rows])

    if is_short_arrow_text(series):
        texts, there = texts_of_arrow(name, series.array._pa_array)
        numbers, firsts = numbered_texts(texts)
        return Key(numbers, entries, there, firsts)
    if is_text(pandas, series):
        numbers, _ = pandas.factorize(series)
        return Key(np.asarray(numbers, np.int64), entries, None if (numbers >= 0).all() else numbers >= 0)
    column = column_of(pandas, name, series)
    if isinstance(column.values, LoDTensor):
        raise DTypeError(f"{name}: holds lists; keys are numbers, dates or text")
    return Key(column.values, entries, column.present)


def to_pandas(columns: Any, keys: Mapping[str, Any] | None = None, *, lists: bool = False) -> Any:
    """Convert LoDTensors to a pandas table: one line per row, with a MultiIndex, or one line per sequence.

    Parameters
    ----------
    columns : LoDTensor, nested lists, Groups, or mapping of str to LoDTensor or array_like
        The columns, with equal LoDs if lines are rows; an array has one entry per outermost sequence.
    keys : mapping of str to array_like, optional
        The index of the sequences of each level, coarse first; by default the numbers 0, 1, 2, ... of sequences within
        their sequence.
    lists : bool
        Whether to make columns of lists instead (with pyarrow's types, without copying the values).

    Returns
    -------
    pandas.DataFrame, or pandas.Series for one LoDTensor
        With one line per row, an empty sequence has no line; with `lists=True` it is an empty list. Rows with axes and
        records have types of Arrow (`fixed_size_list`, `struct`), which need pyarrow, so that `from_pandas` reads them
        as they were.
    """
    where = "lodcore.to_pandas"
    lists = flag(f"{where}: lists", lists)
    pandas = library("pandas", "pandas", where)
    table = outgoing(where, columns, keys)
    frame = _lists(pandas, where, table) if lists or not table.has_rows else _rows(pandas, where, table)
    return frame["values"] if table.single else frame


def _rows(pandas: Any, where: str, table: Any) -> Any:
    """Return a table with one line per row."""
    lod, columns, masks = table.of_rows(where)
    names, levels = row_keys(where, lod, table.keys)
    levels = [
        key_entries(pandas, f"{where}: keys[{name!r}]", level, table.kept.get(name))
        for name, level in zip(names, levels, strict=True)
    ]
    index = pandas.MultiIndex.from_arrays([*levels, lod.positions(-1)], names=[*names, None])
    made = {
        name: series_of(pandas, where, name, rows, table.kept.get(name), masks.get(name))
        for name, rows in columns.items()
    }
    frame = pandas.DataFrame(made)
    frame.index = index
    return frame


def _lists(pandas: Any, where: str, table: Any) -> Any:
    """Return a table with one line per outermost sequence."""
    made = {}
    index = None
    for name, x in with_keys(where, table.key_columns(where), table.columns).items():
        if isinstance(x, LoDTensor):
            made[name] = arrow_series(pandas, where, name, x, table.kept.get(name), table.masks.get(name))
        elif table.keys and name == next(iter(table.keys)):
            index = pandas.Index(key_entries(pandas, f"{where}: keys[{name!r}]", x, table.kept.get(name)), name=name)
        else:
            made[name] = series_of(pandas, where, name, x, table.kept.get(name))
    frame = pandas.DataFrame(made)
    if index is not None:
        frame.index = index
    return frame
