"""A fast path for a beam search step on plain arrays without conversions, which matters if there are few sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import empty, ndarray

from lodcore import kernels
from lodcore.base.buffers import new_int64, new_offsets
from lodcore.operators.operands import Array
from lodcore.tensors.lod_body import make_lod
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.lod_tensor_body import owned_tensor

__all__ = ["DOUBLE", "INT32", "INT64", "MOST", "SINGLE", "plain_step"]

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
MOST = 2**31 - 1  # prefixes, and columns, since prefixes are numbered by int32


def plain_step(
    pre_ids: Any, pre_scores: Any, scores: LoDTensor, beam_size: Any, end_id: Any
) -> tuple[LoDTensor, LoDTensor, Array] | None:
    """Compute a step if the arguments have the usual types and dtypes; return None otherwise.

    Parameters
    ----------
    pre_ids, pre_scores : object
        A vector of int64, and one of the dtype of the scores.
    scores : LoDTensor
        Has one or two levels.
    beam_size, end_id : object
        Must be of type int.

    Returns
    -------
    tuple or None
        The results of `beam_search`, which handles all other arguments and raises the errors.
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
        last.dtype != INT64 or before.dtype != dtype or (dtype != SINGLE and dtype != DOUBLE)
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
