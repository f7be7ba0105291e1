"""Results of operators: plain rows that a function returns receive the structure that the LoD rule determines."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.base.dispatch import NO_RESULTS
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.lod_rules import LoDRule
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["finished", "with_lod"]


def finished(where: str, rule: LoDRule, result: Any, named: dict[str, Any]) -> Any:
    """Return plain rows, alone or in a tuple, with the levels that a LoD rule determines.

    Parameters
    ----------
    where : str
        The name of the operator, for messages.
    rule : LoDRule
    result : ndarray, tensor, or tuple of them
    named : dict
        The arguments of the call by name, defaults included.

    Returns
    -------
    tensor, or tuple of them
    """
    for one in result if type(result) is tuple else (result,):
        if type(one) in NO_RESULTS:
            what = "None" if one is None else with_article(type(one).__name__)
            raise DTypeError(f"{where}: the result is {what}; an array, or a tensor, is needed")
    source = rule.source(named)
    if not rule.same_object:
        count = rule.num_levels(where, named)
        kept = rule.kept(where, named, source.num_levels) if isinstance(source, LoDTensor) else None
        source = _Outer(lod_body.slice_levels(source.lod, 0, count)) if count and kept == count else None
    elif not isinstance(source, LoDTensor) or not source.num_levels:
        return result
    else:
        count = source.num_levels
    if type(result) is tuple:
        return tuple([_with_levels(where, one, source, count) for one in result])
    return _with_levels(where, result, source, count)


class _Outer:
    """The outer levels of a structure, whose elements are the rows of a result."""

    def __init__(self, lod: LoD) -> None:
        self.lod, self.num_rows = lod, lod.num_rows


def _with_levels(where: str, result: Any, source: Any, count: int) -> Any:
    if type(result) is not np.ndarray or not count:
        return result
    if source is None:
        raise LoDError(f"{where}: the result has no levels; its LoD rule says {count}, so return a LoDTensor")
    return with_lod(where, result, source)


def with_lod(where: str, rows: Any, source: Any) -> LoDTensor:
    """Return plain rows with the LoD of an argument."""
    if rows.ndim == 0 or len(rows) != source.num_rows:
        raise ShapeError(
            f"{where}: the result has shape {rows.shape}; there are {source.num_rows} rows, and one entry per row is "
            "needed"
        )
    made: LoDTensor = lod_tensor_body.new_tensor(np.ascontiguousarray(rows), source.lod)
    return made
