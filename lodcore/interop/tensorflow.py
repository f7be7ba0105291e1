"""Conversions for TensorFlow's RaggedTensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["from_tensorflow", "to_tensorflow"]


def to_tensorflow(x: Any) -> Any:
    """Convert a LoDTensor to a TensorFlow RaggedTensor, which is a copy.

    Parameters
    ----------
    x : LoDTensor, or nested lists

    Returns
    -------
    tensorflow.RaggedTensor
    """
    where = "lodcore.to_tensorflow"
    tensorflow = library("tensorflow", "tensorflow", where)
    x = as_nested(f"{where}: x", x)
    if not x.num_levels:
        raise LoDError(f"{where}: x: has no level")
    splits = [x.lod.offsets(level) for level in range(x.num_levels)]
    return tensorflow.RaggedTensor.from_nested_row_splits(tensorflow.constant(x.values), splits, validate=False)


def from_tensorflow(x: Any) -> LoDTensor:
    """Convert an eager TensorFlow RaggedTensor to a LoDTensor.

    Parameters
    ----------
    x : tensorflow.RaggedTensor

    Returns
    -------
    LoDTensor
        Has one level per ragged axis; its offsets are checked.
    """
    where = "lodcore.from_tensorflow"
    if not hasattr(x, "nested_row_splits") or not hasattr(x, "flat_values"):
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a RaggedTensor is needed")
    values = np.asarray(x.flat_values)
    if values.dtype.hasobject:
        raise DTypeError(f"{where}: x: has dtype {x.dtype.name}; tensorflow.io.decode_raw makes numbers of strings")
    return LoDTensor.from_offsets(values, *(np.asarray(level) for level in x.nested_row_splits))
