"""Conversions for thinc's Ragged."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.articles import with_number
from lodcore.base.libraries import library
from lodcore.base.memory import narrow
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors import lod_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["from_thinc", "to_thinc"]


def to_thinc(x: Any) -> Any:
    """Convert a LoDTensor of one level to a thinc Ragged, which shares the values; its lengths are int32.

    Parameters
    ----------
    x : LoDTensor, or nested lists

    Returns
    -------
    thinc.types.Ragged
    """
    where = "lodcore.to_thinc"
    types = library("thinc.types", "thinc", where)
    x = as_nested(f"{where}: x", x)
    if x.num_levels != 1:
        raise LoDError(f"{where}: x: has {with_number(x.num_levels, 'level')}; a Ragged has one: x.flatten(0)")
    return types.Ragged(
        x.values, narrow(where, np.append(x.lengths, kernels.lod.max_length(lod_body.offsets_view(x.lod, 0))))[:-1]
    )


def from_thinc(x: Any) -> LoDTensor:
    """Convert a thinc Ragged to a LoDTensor, which shares its data.

    Parameters
    ----------
    x : thinc.types.Ragged

    Returns
    -------
    LoDTensor
    """
    where = "lodcore.from_thinc"
    if not hasattr(x, "dataXd") or not hasattr(x, "lengths"):
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a Ragged is needed")
    return LoDTensor.from_lengths(x.dataXd, x.lengths)
