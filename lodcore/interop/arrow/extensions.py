"""Extension types of Arrow: what their storage means."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.parts import Part
from lodcore.interop.arrow.reading import Column
from lodcore.interop.arrow.types import width_of

__all__ = ["is_known", "meant"]

WHERE = "lodcore.from_arrow: obj"
TENSOR, BOOL = "arrow.fixed_shape_tensor", "arrow.bool8"

#: Types whose storage has the values as they are, and those of libraries, by the beginning of their names.
AS_STORED = {"", "arrow.json", "arrow.uuid", "awkward"}
LIBRARIES = ("datasets.",)


def is_known(column: Column) -> bool:
    """Return whether the values of a column are read exactly."""
    return column.extension in (TENSOR, BOOL, *AS_STORED) or column.extension.startswith(LIBRARIES)


def meant(column: Column, part: Part) -> Part:
    """Return what the storage of an extension type means: a shape of rows, or bools.

    Parameters
    ----------
    column : Column
    part : Part
        Its storage.

    Raises
    ------
    LoDError, DTypeError
        If the parameters of the type do not fit its storage, or NumPy has no rows of their shape.
    """
    if column.extension == BOOL:
        if column.format != "c":
            raise LoDError(f"{WHERE}{column.path}: is {BOOL} of format {column.format!r}; 'c' is needed")
        part.values = part.values != 0
    elif column.extension == TENSOR:
        shape, axes = _shape_of(column)
        there = part.present[-1]
        part.values = _with_axes(column, part.values, shape, axes)
        if there is not None and there.ndim > 1:
            part.present[-1] = _with_axes(column, there, shape, axes)
    return part


def _shape_of(column: Column) -> tuple[list[int], list[int]]:
    """Return the shape of rows in memory, and the order of its axes."""
    try:
        said = json.loads(column.parameters)
        shape, axes = said["shape"], said.get("permutation", list(range(len(said["shape"]))))
        width = math.prod(shape) if all(type(size) is int and size >= 0 for size in shape) else -1
        valid = sorted(axes) == list(range(len(shape)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        width, valid = -1, False
    if not valid or not column.format.startswith("+w:") or width != width_of(column.format, 3):
        raise LoDError(
            f"{WHERE}{column.path}: is {TENSOR} with the parameters {column.parameters[:200]!r} and format "
            f"{column.format!r}; a shape of as many numbers, and an order of its axes, are needed"
        )
    return shape, axes


def _with_axes(column: Column, rows: Any, shape: list[int], axes: list[int]) -> Any:
    """Return rows of a shape, with its axes in an order."""
    try:
        made = rows.reshape(len(rows), *shape, *rows.shape[2:])
    except ValueError:
        raise DTypeError(f"{WHERE}{column.path}: has rows of shape {tuple(shape)}, which NumPy does not have") from None
    order = [0, *(axis + 1 for axis in axes), *range(len(shape) + 1, made.ndim)]
    return np.ascontiguousarray(made.transpose(order))
