"""Groups of HDF5 and Zarr: the values, one array of offsets per level, and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.archives import check_values
from lodcore.base.memory import check_size
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["load_from_group", "save_to_group"]


def save_to_group(group: Any, x: Any, **options: Any) -> None:
    """Write a LoDTensor to a group of HDF5 (h5py) or Zarr.

    Parameters
    ----------
    group : h5py.Group or zarr.Group
        Receives the arrays `values`, `offsets_0`, `offsets_1`, ..., and the attributes `format` and `num_levels`.
    x : LoDTensor, or nested lists
    **options
        Options for the array of values, such as ``chunks=`` or ``compression=``.

    Raises
    ------
    DTypeError
        If `group` is not a group.
    """
    where = "lodcore.interop.save_to_group"
    x = as_nested(f"{where}: x", x)
    create = getattr(group, "create_array", None) or getattr(group, "create_dataset", None)
    if create is None or not hasattr(group, "attrs"):
        raise DTypeError(f"{where}: group: is {type(group).__name__}; a group of h5py or zarr is needed")
    create("values", data=x.values, **options)
    for level in range(x.num_levels):
        create(f"offsets_{level}", data=x.lod.offsets(level))
    group.attrs["format"] = "lodcore"
    group.attrs["num_levels"] = x.num_levels


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
    offsets = [_read(where, group, f"offsets_{level}", count) for level in range(count)]
    if values.dtype.kind in "bU" and values.nbytes:
        check_values(f"{where}: group: values", np.ascontiguousarray(values).reshape(-1).view(np.uint8), values.dtype)
    if not offsets:
        return LoDTensor(values, LoD.from_offsets(num_rows=len(values)))
    return LoDTensor.from_offsets(values, *offsets)


def _read(where: str, group: Any, name: str, count: Any) -> np.ndarray[Any, Any]:
    """Read an array of a group."""
    stored: Any = group.get(name)
    if not hasattr(stored, "shape") or not hasattr(stored, "dtype"):
        raise LoDError(f"{where}: group: has no array {name!r}; its attribute num_levels is {count}")
    check_size(f"{where}: group: {name}", *stored.shape, stored.dtype.itemsize)  # as compressed ones have any size
    return np.asarray(stored[...])
