"""Columns with Arrow's interface as NumPy has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.interop.arrow.importing import Options, content
from lodcore.interop.arrow.objects import naming, read_arrow
from lodcore.interop.arrow.parts import mask_of_fields
from lodcore.interop.arrow.reading import Column, read_stream
from lodcore.interop.arrow.strings import INLINE, VIEW
from lodcore.interop.arrow.types import below_lists, kept_of
from lodcore.interop.missing_values import TableColumn, records_of
from lodcore.interop.presence import whole
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["column_of_arrow", "columns_of_arrow", "short_views", "texts_of_arrow"]

Array = np.ndarray[Any, Any]


def column_of_arrow(name: str, obj: Any) -> TableColumn:
    """Read a column as NumPy has it: text of a fixed size, the labels of categories, and where there are values.

    Parameters
    ----------
    name : str
        The names of function and column, for messages.
    obj : object with Arrow's interface
    """
    with naming(name):
        found = read_arrow(obj, "mask", Options(fixed_strings=True, decode=True, records=True))
    return _column(name, found.value, found.present, found.column, found.chunks)


def texts_of_arrow(name: str, obj: Any) -> tuple[Any, Any]:
    """Read text as sequences of its bytes, which are not copied, and where there is text.

    Parameters
    ----------
    name : str
        The names of function and column, for messages.
    obj : object with Arrow's interface
        Strings with offsets.
    """
    with naming(name):
        found = read_arrow(obj, "mask", Options(fixed_strings=False, decode=True, records=True))
    there = found.present[0]
    return found.value, None if there.all() else there


def short_views(obj: Any) -> Array | None:
    """Return strings of one chunk that are all stored in their views, as these views; None for any others."""
    chunks, _ = read_stream(obj.__arrow_c_stream__())
    if len(chunks) != 1 or chunks[0].format != "vu" or chunks[0].null_count:
        return None
    column = chunks[0]
    views = column.buffer(1, VIEW, column.offset, column.offset + column.length, "views")
    return None if views["size"].max(initial=0) > INLINE else views


def columns_of_arrow(where: str, obj: Any, table: str = "obj", column: str = "data") -> dict[str, TableColumn] | None:
    """Read the columns of a table; None for an object that is not a table.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    obj : object with Arrow's interface
    table, column : str
        What the table is called in messages, and in those of a column.
    """
    with naming(f"{where}: {table}"):
        found = read_arrow(obj, "mask", Options(fixed_strings=True, decode=True, records=None))
    if not isinstance(found.value, dict):
        return None
    children = {child.name: j for j, child in enumerate(found.column.children)}
    made = {}
    for name, value in found.value.items():
        parts = [one.children[children[name]] for one in (found.column, *found.chunks)]
        made[name] = _column(f"{where}: {column}[{name!r}]", value, found.present[name], parts[0], parts[1:])
    return made


def _column(name: str, value: Any, present: Any, column: Column, chunks: Sequence[Column]) -> TableColumn:
    if isinstance(value, dict):
        if not all(isinstance(field, np.ndarray) for field in value.values()):
            raise DTypeError(f"{name}: has structs of lists or structs; give their fields as columns")
        (count,) = {len(field) for field in value.values()}
        made = records_of(name, (count,), value)
        value, present = made, [mask_of_fields(made, {key: mask for key, (mask,) in present.items()})]
    *sequences, there = present
    rows = value.values if isinstance(value, LoDTensor) else value
    kept = _kept(column, chunks)
    if whole(there):
        return TableColumn(value, None, sequences, kept=kept)
    if not _has_times(rows.dtype):
        return TableColumn(value, there, sequences, kept=kept)
    rows = rows.copy()
    _put_nat(rows, there)
    value = lod_tensor_body.new_tensor(rows, value.lod) if isinstance(value, LoDTensor) else rows
    return TableColumn(value, there, sequences, True, kept)


def _has_times(dtype: np.dtype[Any]) -> bool:
    """Return whether values are dates or durations, which NumPy has a missing one of, or records with such a field."""
    return dtype.kind in "mM" or any(_has_times(dtype[name].base) for name in dtype.names or ())


def _put_nat(rows: Array, there: Array) -> None:
    """Write NaT where there is no date or duration."""
    if rows.dtype.kind in "mM":
        rows[~there] = np.array("NaT", rows.dtype)
    for name in rows.dtype.names or ():
        _put_nat(rows[name], there[name])


def _kept(column: Column, chunks: Sequence[Column]) -> tuple[Any, ...] | None:
    """Return what dtypes do not say of a column, or of the fields of its structs, as in `TableColumn`."""
    column, chunks = below_lists(column), [below_lists(chunk) for chunk in chunks]
    if column.format == "+s":
        parts = {child.name: (child, [one.children[k] for one in chunks]) for k, child in enumerate(column.children)}
        fields = {name: kept for name, part in parts.items() if (kept := _kept(*part)) is not None}
        return ("fields", fields) if fields else None
    kept = kept_of(column)
    return _categories(chunks) if kept is None and column.dictionary is not None else kept


def _categories(chunks: Sequence[Column]) -> tuple[Any, ...]:
    """Return the labels of dictionaries, in their order; those of several chunks may be different."""
    found: list[Array] = []
    for chunk in chunks:
        words: Any = chunk.dictionary
        try:
            part = content(words, 0, words.length, Options(fixed_strings=True, decode=True, records=True))
        except DTypeError:  # one that is not in the column
            return "category", None, False
        if part.levels or isinstance(part.values, dict) or part.values.ndim > 1:
            return "category", None, False
        there = part.present[-1]
        found.append(part.values if there is None else part.values[there])
    if not found:
        return "category", None, False
    alike = all(np.array_equal(one, found[0]) for one in found)
    labels = np.concatenate(found[:1] if alike else found)
    _, firsts = np.unique(labels, return_index=True)  # Arrow allows a label twice
    labels = labels[np.sort(firsts)]
    return "category", labels, alike and chunks[0].ordered
