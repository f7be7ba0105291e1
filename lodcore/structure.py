"""Structures put together: what tensors and operators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lodcore import buffers, core, kernels
from lodcore.errors import DTypeError, LoDError

__all__ = ["concat_lods"]


def concat_lods(where: str, lods: Sequence[core.LoDBody]) -> Any:
    """Put the structures of batches behind each other.

    Parameters
    ----------
    where : str
        The function, for the message.
    lods : list of LoD
        At least one.

    Returns
    -------
    LoD
    """
    num_levels = lods[0].num_levels
    for j, lod in enumerate(lods):
        if not isinstance(lod, core.LoDBody):
            raise DTypeError(f"{where}: batch {j}: is {type(lod).__name__}; a LoD is needed")
        if lod.num_levels != num_levels:
            raise LoDError(f"{where}: batch {j}: has {lod.num_levels} levels; the first one has {num_levels}")
    rows = sum([lod.num_rows for lod in lods])
    if rows >= 2**63:
        raise MemoryError(f"{where}: the result has {rows} rows; 2**63 - 1 is the most")
    levels = []
    for k in range(num_levels):
        views = [lod._view(k) for lod in lods]
        joined = buffers.new_offsets(sum([len(view) - 1 for view in views]) + 1)
        kernels.levels.join(views, joined)
        levels.append(joined)
    return core.make_lod(levels, rows)
