"""Conversions for awkward arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.libraries import library
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.foreign_data import private_level
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.nested import guarded_values

__all__ = ["from_awkward", "to_awkward"]

Array = np.ndarray[Any, Any]
WHERE = "lodcore.from_awkward"


def to_awkward(x: Any) -> Any:
    """Convert a LoDTensor to an awkward array, which shares values and offsets.

    Parameters
    ----------
    x : LoDTensor, or nested lists

    Returns
    -------
    awkward.Array
        Axes of a row are regular; a structured dtype becomes records.

    Raises
    ------
    DTypeError
        If awkward does not have the dtype, or text contains a lone surrogate.
    """
    awkward = library("awkward", "awkward", "lodcore.to_awkward")
    x = as_nested("lodcore.to_awkward: x", x)
    layout = _layout(awkward, x.values)
    for level in reversed(range(x.num_levels)):
        layout = awkward.contents.ListOffsetArray(awkward.index.Index64(x.lod.offsets(level)), layout)
    return awkward.Array(layout)


def _layout(awkward: Any, values: Array) -> Any:
    """Return rows as a layout: their axes are regular, also without entries; those of records are those of fields."""
    if values.dtype.names is not None:
        fields = [_layout(awkward, np.ascontiguousarray(values[name])) for name in values.dtype.names]
        return awkward.contents.RecordArray(fields, list(values.dtype.names), length=len(values))
    try:
        layout = awkward.from_numpy(values.reshape(-1), highlevel=False)
    except TypeError:
        raise DTypeError(f"lodcore.to_awkward: x: has dtype {values.dtype}, which awkward does not have") from None
    except UnicodeEncodeError:
        raise DTypeError("lodcore.to_awkward: x: holds a lone surrogate, which UTF-8 does not have") from None
    for axis in range(values.ndim - 1, 0, -1):
        layout = awkward.contents.RegularArray(layout, values.shape[axis], math.prod(values.shape[:axis]))
    return layout


def from_awkward(x: Any) -> Any:
    """Convert an awkward array to a LoDTensor.

    Parameters
    ----------
    x : awkward.Array
        Lists of any depth. Strings are sequences of bytes. Records become a dict of LoDTensors; missing values are an
        error (remove them with `awkward.fill_none` or `awkward.drop_none`).

    Returns
    -------
    LoDTensor, or ndarray if there is no list, or a dict of these
        Values are shared, read-only, if they are contiguous.

    Raises
    ------
    LoDError
        If a value is missing.
    DTypeError
        If x is not an awkward array, or has a union.
    """
    awkward = library("awkward", "awkward", WHERE)
    if not isinstance(x, (awkward.Array, awkward.contents.Content)):
        raise DTypeError(f"{WHERE}: x: is {type(x).__name__}; an awkward array is needed")
    layout = awkward.to_layout(x)
    if layout.backend.name != "cpu":
        raise DTypeError(
            f"{WHERE}: x: has backend {layout.backend.name}; awkward.to_backend(x, 'cpu') makes it NumPy's"
        )
    return _content(layout, [], awkward.to_numpy)


def _content(layout: Any, levels: list[Array], to_numpy: Any) -> Any:
    """Convert a layout, descending through its lists."""
    if layout.is_option:
        missing = np.asarray(layout.mask_as_bool(valid_when=False))
        if missing.any():
            raise LoDError(
                f"{WHERE}: x: entry {int(np.argmax(missing))} below {with_number(len(levels), 'level')} is missing; "
                "use awkward.fill_none or awkward.drop_none"
            )
    if layout.is_option or layout.is_indexed:
        return _content(layout.project(), levels, to_numpy)
    if layout.is_record:
        return {name: _content(layout.content(name), list(levels), to_numpy) for name in layout.fields}
    if layout.is_union or layout.is_unknown:
        if layout.is_union or len(layout):
            raise DTypeError(f"{WHERE}: x: has {type(layout).__name__}, which NumPy has no dtype for")
        return _made(np.empty(0), levels)
    if layout.is_numpy:
        return _made(np.asarray(layout.data), levels)
    if layout.is_regular and _is_dense(layout):
        return _made(to_numpy(layout), levels)
    if not hasattr(layout, "offsets") or layout.is_regular:
        layout = layout.to_ListOffsetArray64(True)
    offsets, first = private_level(f"{WHERE}: x: offsets of level {len(levels)}", np.asarray(layout.offsets.data))
    last = first + int(offsets[-1])
    if last > len(layout.content):
        raise LoDError(f"{WHERE}: x: offsets of level {len(levels)}: end at {last}; {len(layout.content)} are below")
    return _content(layout.content[first:last], [*levels, offsets], to_numpy)


def _is_dense(layout: Any) -> bool:
    """Return whether a layout consists of axes of a row only."""
    while layout.is_regular and not layout.is_numpy:
        layout = layout.content
    return bool(layout.is_numpy) and layout.parameter("__array__") not in ("char", "byte")


def _made(values: Array, levels: list[Array]) -> Any:
    rows = guarded_values(f"{WHERE}: x", values)
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod(levels, len(rows))) if levels else rows
