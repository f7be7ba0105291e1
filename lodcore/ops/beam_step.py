"""A step of a beam search of plain arrays, which needs no conversion: searches of few sources take such steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import empty, ndarray

from lodcore import kernels
from lodcore.base.buffers import new_int64, new_offsets
from lodcore.ops.common import Array
from lodcore.tensors.core import make_lod
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor_core import owned_tensor

__all__ = ["DOUBLE", "INT32", "INT64", "MOST", "SINGLE", "plain_step"]

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
MOST = 2**31 - 1  # prefixes, and columns: int32 numbers the prefixes


def plain_step(
    pre_ids: Any, pre_scores: Any, scores: LoDTensor, beam_size: Any, end_id: Any
) -> tuple[LoDTensor, LoDTensor, Array] | None:
    """Take a step, if what is given is what a search mostly has; None if not.

    Parameters
    ----------
    pre_ids, pre_scores : object
        Vectors of int64, and of the dtype of the scores.
    scores : LoDTensor
        Of one level or two.
    beam_size, end_id : object
        Of type int.

    Returns
    -------
    tuple or None
        As of `beam_search`, which takes all else, and says what is wrong.
    """
    values, lod = scores.values, scores.lod
    dtype, shape, levels = values.dtype, values.shape, lod.num_levels
    last = pre_ids if type(pre_ids) is ndarray else pre_ids.values if type(pre_ids) is LoDTensor else None
    before = pre_scores if type(pre_scores) is ndarray else pre_scores.values if type(pre_scores) is LoDTensor else None
    if last is None or before is None or type(beam_size) is not int or type(end_id) is not int or len(shape) != 2:
        return None
    n_prefixes, columns = shape
    line = (n_prefixes,)
    if (
        last.dtype is not INT64 or before.dtype is not dtype or (dtype is not SINGLE and dtype is not DOUBLE)
        or last.shape != line or before.shape != line or not 0 < levels < 3 or not 0 < beam_size <= MOST
        or not 0 < columns <= MOST or n_prefixes > MOST or not -MOST <= end_id <= MOST
    ):  # fmt: skip
        return None
    offsets = lod.offsets() if levels == 1 else lod.row_offsets()
    room, most = n_prefixes * columns, (len(offsets) - 1) * beam_size
    room = most if most < room else room
    ids, kept, parents = new_int64(room), empty(room, dtype), empty(room, INT32)
    ends = new_offsets(n_prefixes + 1)
    try:
        count = kernels.beam.select_best(
            last, before, None, values, offsets, beam_size, end_id, ids, kept, parents, ends
        )
    except ValueError:  # these vectors have gaps
        return None
    if count < room:
        ids, kept, parents = ids[:count].copy(), kept[:count].copy(), parents[:count].copy()
    found = make_lod([offsets, ends], count)
    return owned_tensor(ids, found), owned_tensor(kept, found), parents
