"""Groups of HDF5 and Zarr: the values, one array of offsets per level, and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lodcore.base.archives import check_values
from lodcore.base.dtypes import as_dtype, native_dtype
from lodcore.base.memory import check_size
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["load_from_group", "save_to_group"]

Array = np.ndarray[Any, Any]


def save_to_group(group: Any, x: Any, **options: Any) -> None:
    """Write a LoDTensor to a group of HDF5 (h5py) or Zarr.

    Parameters
    ----------
    group : h5py.Group or zarr.Group
        Receives the arrays `values`, `offsets_0`, `offsets_1`, ..., and the attributes `format` and `num_levels`. HDF5
        has neither NumPy's text nor dates: it receives bytes of UTF-8, or int64, and their dtype as the attribute
        `dtype`.
    x : LoDTensor, or nested lists
    **options
        Options for the array of values, such as ``chunks=`` or ``compression=``.

    Raises
    ------
    DTypeError
        If `group` is not a group, or HDF5 cannot hold the values: text and dates in records, and fields without bytes.
    LoDError
        If one of the arrays already exists.
    """
    where = "lodcore.interop.save_to_group"
    x = as_nested(f"{where}: x", x)
    create = getattr(group, "create_array", None) or getattr(group, "create_dataset", None)
    if create is None or not hasattr(group, "attrs"):
        raise DTypeError(f"{where}: group: is {type(group).__name__}; a group of h5py or zarr is needed")
    values, dtype = x.values, None
    if not hasattr(group, "create_array"):  # other than that of zarr, whose arrays have all dtypes
        values, dtype = _stored(f"{where}: x", values)
    arrays = {"values": values, **{f"offsets_{level}": x.lod.offsets(level) for level in range(x.num_levels)}}
    for name in arrays:
        if name in group:
            raise LoDError(f"{where}: group: has {name!r} already; delete it, or use a group of its own")
    create("values", data=values, **options)
    for name in list(arrays)[1:]:
        create(name, data=arrays[name])
    group.attrs["format"] = "lodcore"
    group.attrs["num_levels"] = x.num_levels
    if dtype is not None:
        group.attrs["dtype"] = dtype


def _stored(where: str, values: Array) -> tuple[Array, str | None]:
    """Return values as HDF5 has them, and their dtype if that is another one."""
    dtype = values.dtype
    if dtype.kind in "mM":
        return values.view(np.int64), dtype.str
    if dtype.kind == "U":
        try:
            encoded = np.char.encode(values, "utf-8")
        except UnicodeEncodeError as error:
            raise DTypeError(f"{where}: {error}; text that UTF-8 can encode is needed") from None
        width = max(encoded.dtype.itemsize, dtype.itemsize // 4, 1)  # at least that of the dtype, which bounds it
        return encoded.astype(f"S{width}"), dtype.str
    if any(field.kind in "UmM" for field in _fields_of(dtype)):
        raise DTypeError(f"{where}: has dtype {dtype}; HDF5 has no text or dates in records: save each field")
    if _has_no_bytes(dtype):
        raise DTypeError(f"{where}: has dtype {dtype}; HDF5 has no values or fields without bytes: leave them out")
    return values, None


def _has_no_bytes(dtype: np.dtype[Any]) -> bool:
    """Return whether values, or some of their fields, are without bytes, as those with an axis of size 0 are."""
    inner = dtype.base
    return not dtype.itemsize or any(_has_no_bytes(inner[name]) for name in inner.names or ())


def _fields_of(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """Return the dtypes of fields, also of those within fields."""
    if dtype.names is None:
        yield dtype.base
    for name in dtype.names or ():
        yield from _fields_of(dtype[name].base)


def _restored(where: str, values: Array, given: Any) -> Array:
    """Return values of HDF5 with the dtype that was saved beside them."""
    dtype = as_dtype(f"{where}: group: its attribute dtype", given) if isinstance(given, str) else None
    if dtype is not None and dtype.kind in "mM" and values.dtype == np.int64:
        return values.view(native_dtype(dtype))
    if dtype is None or dtype.kind != "U" or values.dtype.kind != "S" or dtype.itemsize // 4 > values.dtype.itemsize:
        raise LoDError(
            f"{where}: group: its attribute dtype is {described(given)}, of values of {values.dtype}; that of text as "
            "bytes, or of dates as int64, is needed"
        )
    try:
        decoded = np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        raise LoDError(f"{where}: group: values: {error}") from None
    if decoded.dtype.itemsize > dtype.itemsize and decoded.size:
        raise LoDError(f"{where}: group: values: are longer than their dtype, {dtype}")
    return decoded.astype(native_dtype(dtype))


def load_from_group(group: Any) -> LoDTensor:
    """Read a LoDTensor that `save_to_group` wrote.

    Parameters
    ----------
    group : h5py.Group or zarr.Group

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError
        If the group does not hold a LoDTensor.
    """
    where = "lodcore.interop.load_from_group"
    if not hasattr(group, "attrs"):
        raise DTypeError(f"{where}: group: is {type(group).__name__}; a group of h5py or zarr is needed")
    found = group.attrs.get("format")
    if not isinstance(found, str) or found != "lodcore":
        raise LoDError(f"{where}: group: its attribute format is {described(found)}; 'lodcore' is needed")
    count = group.attrs.get("num_levels")
    if not isinstance(count, (int, np.integer)) or count < 0:
        raise LoDError(f"{where}: group: its attribute num_levels is {described(count)}; 0 or more is needed")
    values = _read(where, group, "values", count)
    dtype = group.attrs.get("dtype")
    if dtype is not None:
        values = _restored(where, np.ascontiguousarray(values), dtype)
    offsets = [_read(where, group, f"offsets_{level}", count) for level in range(count)]
    if values.dtype.kind in "bU" and values.nbytes:
        check_values(f"{where}: group: values", np.ascontiguousarray(values).reshape(-1).view(np.uint8), values.dtype)
    if not offsets:
        return LoDTensor(values, LoD.from_offsets(num_rows=len(values)))
    return LoDTensor.from_offsets(values, *offsets)


def _read(where: str, group: Any, name: str, count: Any) -> Array:
    """Read an array of a group."""
    stored: Any = group.get(name)
    if not hasattr(stored, "shape") or not hasattr(stored, "dtype"):
        raise LoDError(f"{where}: group: has no array {name!r}; its attribute num_levels is {count}")
    check_size(f"{where}: group: {name}", *stored.shape, stored.dtype.itemsize)  # as compressed ones have any size
    return np.asarray(stored[...])
