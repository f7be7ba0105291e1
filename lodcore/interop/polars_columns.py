"""Columns of Polars as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.interop.arrow.columns import column_of_arrow
from lodcore.interop.missing_values import TableColumn

__all__ = ["column_of"]


def column_of(polars: Any, name: str, series: Any) -> TableColumn:
    """Read a column.

    Parameters
    ----------
    polars : module
    name : str
        The names of function and column, for messages.
    series : polars.Series

    Raises
    ------
    DTypeError
        If its values cannot be converted without loss.
    """
    kind = series.dtype
    if kind == polars.Object:
        raise DTypeError(f"{name}: has dtype Object; Python objects have no fixed size")
    if str(kind) in ("Int128", "UInt128"):
        raise DTypeError(f"{name}: has dtype {kind}, which NumPy does not have; cast it to Int64, or to text")
    column = column_of_arrow(name, series)
    return column._replace(kept=_kept(polars, kind, column.kept))


def _kept(polars: Any, kind: Any, found: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Return what dtypes do not say, as Arrow says it, but for the labels of categories."""
    while isinstance(kind, (polars.List, polars.Array)):
        kind = kind.inner
    if isinstance(kind, polars.Enum):
        return "category", np.array(kind.categories.to_list(), np.str_), True
    if isinstance(kind, polars.Categorical):  # whose labels may be those of all columns of a program
        return "category", None, False
    if isinstance(kind, polars.Struct) and found is not None:
        kinds = {field.name: field.dtype for field in kind.fields}
        return "fields", {name: _kept(polars, kinds[name], one) for name, one in found[1].items()}
    return found
