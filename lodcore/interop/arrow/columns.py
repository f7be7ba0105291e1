"""Columns with Arrow's interface as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.interop.arrow.importing import Options
from lodcore.interop.arrow.objects import naming, read_arrow
from lodcore.interop.arrow.parts import mask_of_fields
from lodcore.interop.arrow.reading import Column, read_stream
from lodcore.interop.arrow.strings import INLINE, VIEW
from lodcore.interop.arrow.types import kept_of
from lodcore.interop.missing_values import TableColumn
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
    return _column(name, found.value, found.present, found.column)


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
    children = {child.name: child for child in found.column.children}
    return {
        name: _column(f"{where}: {column}[{name!r}]", value, found.present[name], children[name])
        for name, value in found.value.items()
    }


def _column(name: str, value: Any, present: Any, column: Column) -> TableColumn:
    if isinstance(value, dict):
        if not all(isinstance(field, np.ndarray) for field in value.values()):
            raise DTypeError(f"{name}: has structs of lists or structs; give their fields as columns")
        (count,) = {len(field) for field in value.values()}
        made = np.empty(count, [(key, field.dtype, field.shape[1:]) for key, field in value.items()])
        for key, field in value.items():
            made[key] = field
        value, present = made, [mask_of_fields(made, {key: mask for key, (mask,) in present.items()})]
    *sequences, there = present
    rows = value.values if isinstance(value, LoDTensor) else value
    kept = kept_of(column)
    if whole(there):
        return TableColumn(value, None, sequences, kept=kept)
    if rows.dtype.kind in "mM":  # NumPy has a value for it
        rows = rows.copy()
        rows[~there] = np.array("NaT", rows.dtype)
        value = lod_tensor_body.new_tensor(rows, value.lod) if isinstance(value, LoDTensor) else rows
        return TableColumn(value, there, sequences, True, kept)
    return TableColumn(value, there, sequences, kept=kept)
