"""Conversion of LoDTensors to nodes of Arrow's C data interface: types, and buffers without copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base.dtypes import is_native, native_dtype
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.reading import Column
from lodcore.interop.arrow.types import format_of
from lodcore.interop.presence import some, whole
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.utf8 import utf8_of

__all__ = ["Node", "node_of", "table_node", "without_rows"]

Array = np.ndarray[Any, Any]
WHERE = "LoDTensor.__arrow_c_array__"
VALUES = f"{WHERE}: values"

#: Format, name, length, number of nulls, buffers, children.
Node = tuple[bytes, bytes, int, int, tuple[Any, ...], tuple[Any, ...]]

INT32_MAX = 2**31 - 1


def node_of(x: Any, wish: Column | None = None, name: bytes = b"", present: Any = None, where: str = VALUES) -> Node:
    """Return the node of a LoDTensor or a dense array.

    Parameters
    ----------
    x : LoDTensor or ndarray
    wish : Column, optional
        The requested type; offsets of 32 bits, if they fit, and bytes as strings are supported.
    name : bytes
    present : LoDTensor or ndarray of bool, optional
        Which rows have a value; the others become nulls.
    where : str
        The names of function and argument, for messages.

    Returns
    -------
    Node
    """
    if not isinstance(x, LoDTensor):
        return _with_nulls(_values(where, x, name), present)
    if isinstance(present, LoDTensor):
        present = present.values
    values: Array = x.values
    lod: LoD = x.lod
    wishes = [wish]
    for _ in range(lod.num_levels):
        below = wishes[-1].children if wishes[-1] is not None else ()
        wishes.append(below[0] if len(below) == 1 else None)
    level = lod.num_levels
    node: Node | None = None
    while level:
        level -= 1
        asked = "" if (found := wishes[level]) is None else found.format
        called = b"item" if level else name
        offsets = lod.offsets(level)
        count = len(offsets) - 1
        text = node is None and asked in ("u", "z", "U", "Z") and values.ndim == 1 and values.dtype == np.uint8
        if asked in ("+l", "u", "z") and offsets[-1] <= INT32_MAX:
            offsets, short = offsets.astype(np.int32), True
        else:
            short = False
        if text:
            node = _text(values, offsets, asked, short, called)
        else:
            node = node or _with_nulls(_values(where, values, b"item"), present)
            node = (b"+l" if short else b"+L", called, count, 0, (None, offsets), (node,))
    return node or _with_nulls(_values(where, values, name), present)


def _with_nulls(node: Node, present: Array | None) -> Node:
    """Return a node of rows, of which some are nulls."""
    if present is None or whole(present):
        return node
    format, name, count, _, (validity, *others), children = node
    if present.ndim > 1:  # numbers within rows
        children = (_with_nulls(children[0], present.reshape(-1, *present.shape[2:])),)
    elif present.dtype.names is not None:
        children = tuple(
            _with_nulls(child, present[key]) for child, key in zip(children, present.dtype.names, strict=True)
        )
    present = some(present)  # a row or a record of which nothing is there is null
    if validity is not None:  # of NaT
        present = present & np.unpackbits(validity, count=count, bitorder="little").view(np.bool_)
    missing = count - int(np.count_nonzero(present))
    return format, name, count, missing, (np.packbits(present, bitorder="little"), *others), children


def _text(values: Array, offsets: Array, asked: str, short: bool, name: bytes) -> Node:
    """Return the node of sequences of bytes as the requested strings."""
    if asked in "uU":
        try:
            values.tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise DTypeError(f"{WHERE}: requested_schema: requests text; byte {error.start} is not UTF-8") from None
        inner = offsets[:-1][np.diff(offsets) > 0]
        if ((values[inner] & 0xC0) == 0x80).any():
            raise DTypeError(f"{WHERE}: requested_schema: requests text; a sequence begins inside a character")
    format = asked.lower() if short else asked.upper()
    return format.encode(), name, len(offsets) - 1, 0, (None, offsets, values), ()


def _values(where: str, values: Array, name: bytes) -> Node:
    """Return the node of rows; an axis of a row is a list of a fixed size."""
    if values.ndim > 1:
        width = values.shape[1]
        if width > INT32_MAX:
            raise DTypeError(f"{where}: has rows of {width} entries; Arrow counts up to {INT32_MAX}")
        inner = np.ascontiguousarray(values).reshape(values.shape[0] * width, *values.shape[2:])
        return b"+w:%d" % width, name, len(values), 0, (None,), (_values(where, inner, b"item"),)
    return _leaf(where, values, name)


def _leaf(where: str, values: Array, name: bytes) -> Node:
    dtype = values.dtype
    count = len(values)
    if not is_native(dtype):
        values = values.astype(native_dtype(dtype))
    if dtype.names is not None:
        fields = tuple(
            _values(f"{where}[{key!r}]", np.ascontiguousarray(values[key]), _name_of(where, key)) for key in dtype.names
        )
        return b"+s", name, count, 0, (None,), fields
    if dtype.kind == "b":
        return b"b", name, count, 0, (None, np.packbits(values, bitorder="little")), ()
    if dtype.kind in "US":  # an Arrow type of a fixed size would show the zeros behind shorter bytes
        offsets, encoded = utf8_of(where, values)
        return b"U" if dtype.kind == "U" else b"Z", name, count, 0, (None, offsets, encoded), ()
    if dtype.kind in "mM":
        return _times(where, values, name)
    return format_of(where, dtype), name, count, 0, (None, np.ascontiguousarray(values)), ()


def _times(where: str, values: Array, name: bytes) -> Node:
    """Return the node of dates or time differences; NaT becomes a null."""
    kind = values.dtype.kind
    unit, step = np.datetime_data(values.dtype)
    if step < 1:  # NumPy takes such a dtype, and would divide by 0
        raise DTypeError(f"{where}: has dtype {values.dtype}, which Arrow does not have")
    missing = np.isnat(values)
    validity = np.packbits(~missing, bitorder="little") if missing.any() else None
    nulls = int(np.count_nonzero(missing))
    if kind == "M" and unit in ("Y", "M", "W", "D"):
        days = _with_unit(where, values, "D").view(np.int64)
        short = np.where(missing, 0, days).astype(np.int32)
        if (short != np.where(missing, 0, days)).any():
            at = int(np.argmax(short != np.where(missing, 0, days)))
            raise DTypeError(f"{where}: is {values[at]} at row {at}; Arrow counts days in 32 bits")
        return b"tdD", name, len(values), nulls, (validity, short), ()
    if step != 1 or unit not in ("s", "ms", "us", "ns"):
        if unit in ("Y", "M", "generic", "ps", "fs", "as"):
            raise DTypeError(f"{where}: has dtype {values.dtype}, which Arrow does not have")
        wanted = "s" if unit in ("W", "D", "h", "m", "s") else unit
        values = _with_unit(where, values, wanted)
    return format_of(where, values.dtype), name, len(values), nulls, (validity, np.ascontiguousarray(values)), ()


def _with_unit(where: str, values: Array, unit: str) -> Array:
    """Return times in another unit. If some do not fit, NumPy 2.5 raises an error, and older versions wrap around."""
    try:
        changed = values.astype(f"{values.dtype.kind}8[{unit}]")
    except OverflowError:
        changed = None
    if changed is None or not np.array_equal(changed.astype(values.dtype), values, equal_nan=True):
        raise DTypeError(f"{where}: has dtype {values.dtype}; some are out of range for [{unit}]")
    return changed


def table_node(columns: Mapping[str, Any], masks: Mapping[str, Any]) -> Node:
    """Return the node of a table of columns of one length, with masks of some: a struct that is not in a list."""
    where = "lodcore.interop.ArrowTable"
    sizes = {name: len(column) for name, column in columns.items()}
    count = next(iter(sizes.values()), 0)
    for name, size in sizes.items():
        if size != count:
            raise LoDError(f"{where}: columns: {name!r} has {size} entries, {next(iter(sizes))!r} {count}")
    children = tuple(
        node_of(column, None, _name_of(f"{where}: columns", name), masks.get(name), f"{where}: columns[{name!r}]")
        for name, column in columns.items()
    )
    return b"+s", b"", count, 0, (None,), children


def _name_of(where: str, name: str) -> bytes:
    """Return a name as Arrow has it: text that ends before the first zero."""
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise LoDError(f"{where}: has the name {described(name)}; text without zeros is needed")
    return encoded


def without_rows(x: Any) -> Any:
    """Return an object of the same type without rows."""
    if not isinstance(x, LoDTensor):
        return x[:0]
    return LoDTensor(x.values[:0], LoD.from_offsets(*[[0]] * x.num_levels, num_rows=0))
