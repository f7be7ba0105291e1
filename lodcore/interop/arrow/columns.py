"""Columns with Arrow's interface as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.interop.arrow.importing import Options
from lodcore.interop.arrow.objects import naming, read_arrow
from lodcore.interop.tables import Column
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["column_of_arrow", "columns_of_arrow"]


def column_of_arrow(name: str, obj: Any) -> Column:
    """Read a column as NumPy has it: text of a fixed size, the labels of categories, and where there are values.

    Parameters
    ----------
    name : str
        The names of function and column, for messages.
    obj : object with Arrow's interface
    """
    with naming(name):
        found = read_arrow(obj, "mask", Options(fixed_strings=True, decode=True, records=True))
    return _column(found.value, found.present)


def columns_of_arrow(where: str, obj: Any) -> dict[str, Column] | None:
    """Read the columns of a table; None for an object that is not a table."""
    with naming(f"{where}: obj"):
        found = read_arrow(obj, "mask", Options(fixed_strings=True, decode=True, records=None))
    if not isinstance(found.value, dict):
        return None
    return {name: _column(value, found.present[name]) for name, value in found.value.items()}


def _column(value: Any, present: Any) -> Column:
    if isinstance(value, dict):
        raise DTypeError("lodcore.from_arrow: obj: has structs of lists; give their fields as columns")
    *sequences, there = present
    rows = value.values if isinstance(value, LoDTensor) else value
    if there.all():
        return Column(value, None, sequences)
    if rows.dtype.kind in "mM":  # NumPy has a value for it
        rows = rows.copy()
        rows[~there] = np.array("NaT", rows.dtype)
        value = lod_tensor_body.new_tensor(rows, value.lod) if isinstance(value, LoDTensor) else rows
        return Column(value, there, sequences, True)
    return Column(value, there, sequences)
