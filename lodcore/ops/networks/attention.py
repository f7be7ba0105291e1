"""Attention over the rows of each sequence: one kernel for one query per sequence, matrix products for several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.articles import with_number
from lodcore.base.threads import over_sequences
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.numbers import number_of, reals_of
from lodcore.operators.operands import Array, array_of, check_equal
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.networks.sequence_matmul import by_transposed, scores_lod, weighted, weighted_back
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["dot_attention"]

WHERE = "dot_attention"
COST = 8  # of one number of the memory, relative to copying it
Shape = tuple[int | None, ...]


@operator(
    query=Dense,
    memory=Nested,
    values=Nested,
    results=2,
    lod_rule="that of `query`, and that of `memory`, or of `query` and a level of one entry per row",
)
def dot_attention(query: Any, memory: Any, values: Any = None, scale: float | None = None) -> Any:
    """Compute dot-product attention of one or several queries per sequence over the rows of each sequence.

    Parameters
    ----------
    query : array_like or LoDTensor
        One row per sequence of the last level of the memory: shape (n, width), or a LoDTensor with all levels of the
        memory but the last. Or several: a LoDTensor with as many levels as the memory, whose innermost sequences may
        have other lengths.
    memory : LoDTensor
        Rows of shape (width,): the keys.
    values : LoDTensor, optional
        Rows of shape (value_width,), with the LoD of the memory; by default the memory.
    scale : float, optional
        The factor of the products of query and memory; by default 1 / sqrt(width).

    Returns
    -------
    context : ndarray or LoDTensor
        For each query the sum of weights times values, shape (value_width,); zeros for an empty sequence. It has the
        LoD of the queries.
    weights : LoDTensor
        The softmax of the scores of each query over the rows of its sequence. For one query per sequence, it has the
        LoD of the memory, with one number per row; for several, that of the queries and one more level.

    Raises
    ------
    ShapeError, LoDError, DTypeError
        If widths or structures do not fit together, or the numbers are not real.

    Notes
    -----
    For one query per sequence, sums are computed in the same order on every machine, see `lodcore.kernels.attention`;
    for several, NumPy computes the products. If a score is nan or inf, or all of a sequence are -inf, the weights are
    nan.

    Examples
    --------
    >>> import lodcore
    >>> memory = lodcore.LoDTensor.from_lengths([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [2, 0, 1])
    >>> context, weights = lodcore.nn.dot_attention([[0.0, 0.0], [5.0, 5.0], [1.0, 1.0]], memory)
    >>> context
    array([[0.5, 0.5],
           [0. , 0. ],
           [2. , 2. ]])
    >>> weights
    LoDTensor(3 sequences of lengths 0..2, float64: [[0.5, 0.5], [], [1.]])
    >>> context, weights = lodcore.nn.dot_attention(memory, memory, scale=1000.0)
    >>> weights.tolist()
    [[[1.0, 0.0], [0.0, 1.0]], [], [[1.0]]]
    """
    _check_levels(query, memory, values)
    asked, given = array_of(WHERE, query, "query"), None if values is None else values.values
    dtype = _dtype(asked.dtype, memory.dtype, None if given is None else given.dtype)
    _check_shapes(asked.shape, memory.values.shape, None if given is None else given.shape)
    factor = _scale(scale, asked.shape[1])
    several = _has_several(query, memory)
    _check_structures(query, memory.lod, values, several)
    asked, rows = np.ascontiguousarray(asked, dtype), np.ascontiguousarray(memory.values, dtype)
    summed = rows if given is None else np.ascontiguousarray(given, dtype)
    context = np.empty((len(asked), summed.shape[1]), dtype)
    if several:
        lod, weights = _attend_to_all(asked, query.lod, rows, memory.lod, summed, factor, context)
    else:
        lod, weights = memory.lod, np.empty(len(rows), dtype)
        over_sequences(
            kernels.attention.attend_rows,
            "srro.rs",
            asked,
            rows,
            summed,
            lod_body.in_rows(lod, lod.num_levels - 1),
            factor,
            weights,
            context,
            cost=COST,
        )
    outer = query.lod if isinstance(query, LoDTensor) else lod_body.slice_levels(memory.lod, 0, memory.num_levels - 1)
    shown = lod_tensor_body.new_tensor(context, outer) if outer.num_levels else context
    return shown, lod_tensor_body.new_tensor(weights, lod)


def _attend_to_all(
    asked: Array, query_lod: LoD, rows: Array, lod: LoD, summed: Array, factor: float, context: Array
) -> tuple[LoD, Array]:
    """Compute attention for each row of the queries; return the LoD of the weights, and the weights."""
    starts, offsets = _bounds(query_lod, lod)
    pairs = scores_lod(WHERE, query_lod, np.diff(starts), np.diff(offsets), rows.itemsize)
    scores = np.empty((pairs.num_rows, 1), rows.dtype)
    by_transposed(asked * rows.dtype.type(factor), starts, rows, offsets, scores.reshape(-1))
    weights = np.empty_like(scores)
    over_sequences(
        kernels.softmax.softmax_rows,
        "ror",
        scores,
        lod_body.in_rows(pairs, pairs.num_levels - 1),
        weights,
        cost=COST,
    )
    weighted(weights.reshape(-1), starts, summed, offsets, context)
    return pairs, weights.reshape(-1)


def _bounds(query_lod: LoD, lod: LoD) -> tuple[Array, Array]:
    """Return the offsets in rows of the last levels of queries and memory."""
    asked, given = (np.asarray(lod_body.in_rows(one, one.num_levels - 1)) for one in (query_lod, lod))
    return asked, given


# -- arguments ---------------------------------------------------------------------------------------------------------


def _has_several(query: Any, memory: Any) -> bool:
    """Return whether there may be several queries per sequence: whether they have as many levels as the memory."""
    return bool(levels_of(query) == memory.num_levels)


def _dtype(query: np.dtype[Any], memory: np.dtype[Any], values: np.dtype[Any] | None) -> np.dtype[Any]:
    """Return the dtype in which attention is computed."""
    return reals_of(WHERE, query=query, memory=memory, values=memory if values is None else values)


def _scale(scale: Any, width: int | None) -> float:
    """Return the factor of scores; rows without columns have scores of zero."""
    if scale is None:
        return 1 / math.sqrt(width or 1)
    return number_of(f"{WHERE}: scale", scale)


def _check_shapes(query: Shape, memory: Shape, values: Shape | None) -> None:
    """Raise if rows do not have one axis, or the widths of query and memory differ."""
    for name, shape in (("memory", memory), ("values", values)):
        if shape is not None and len(shape) != 2:
            raise ShapeError(f"{WHERE}: {name}: has rows of shape {shape[1:]}; rows of one axis are needed")
    if len(query) != 2:
        raise ShapeError(f"{WHERE}: query: has values of shape {query}; rows of one axis are needed")
    if None not in (query[1], memory[1]) and query[1] != memory[1]:
        raise ShapeError(f"{WHERE}: query: has rows of {query[1]} entries; those of memory have {memory[1]}")


def _check_structures(query: Any, lod: LoD, values: Any, several: bool) -> None:
    """Raise if queries do not belong to the sequences of the memory, or values have another LoD."""
    last = lod.num_levels - 1
    if isinstance(query, LoDTensor):
        count = query.lod.num_sequences(last) if several else query.num_rows
        outer = lod_body.slice_levels(query.lod, 0, last)
        if last:
            check_equal(WHERE, lod_body.slice_levels(lod, 0, last), outer, "query", "memory without its last level")
    else:
        count = len(query)
    if count != lod.num_sequences(last):
        whose = "sequences" if several else "rows"
        raise LoDError(
            f"{WHERE}: query: has {count} {whose}; memory has {lod.num_sequences(last)} sequences at level {last}"
        )
    if values is not None:
        check_equal(WHERE, lod, values.lod, "values", "memory")


def _check_levels(query: Any, memory: Any, values: Any) -> None:
    """Raise if tensors, or their Specs, have numbers of levels that do not fit."""
    if levels_of(query) not in (0, memory.num_levels - 1, memory.num_levels):
        raise LoDError(
            f"{WHERE}: query: has {with_number(query.num_levels, 'level')}; "
            f"memory has {memory.num_levels}, and as many or one fewer are needed"
        )
    if values is not None and values.num_levels != memory.num_levels:
        raise LoDError(
            f"{WHERE}: values: has {with_number(values.num_levels, 'level')}; memory has {memory.num_levels}"
        )


@dot_attention.define_infer
def _(query: Spec, memory: Spec, values: Spec | None, scale: Any) -> tuple[Spec, Spec]:
    _check_levels(query, memory, values)
    dtype = _dtype(query.dtype, memory.dtype, None if values is None else values.dtype)
    _check_shapes(query.shape, memory.shape, None if values is None else values.shape)
    _scale(scale, query.shape[1])
    width = (memory if values is None else values).shape[1]
    several = _has_several(query, memory)
    of_query = Spec((query.shape[0], width), dtype, memory.num_levels - (not several))
    return of_query, Spec((None,), dtype, memory.num_levels + several)


# -- gradients ---------------------------------------------------------------------------------------------------------


@dot_attention.define_vjp
def _(
    d_context: Any, d_weights: Any, query: Any, memory: LoDTensor, values: Any, scale: Any, out: Any,
    needs: Any,
) -> tuple[Any, ...]:  # fmt: skip
    weights: Array = out[1].values
    dtype = weights.dtype
    given = (array_of(WHERE, query, "query"), memory.values, memory.values if values is None else values.values)
    asked, rows, summed = (np.ascontiguousarray(x, dtype) for x in given)
    shape = (len(asked), summed.shape[1])
    d_context = np.zeros(shape, dtype) if d_context is None else np.ascontiguousarray(d_context, dtype)
    if d_weights is not None:
        d_weights = np.ascontiguousarray(d_weights, dtype)
    made = [np.empty(x.shape, dtype) for x in (asked, rows)]
    made.append(made[1] if values is None else np.empty(summed.shape, dtype))
    arrays = (d_context, d_weights, weights, _scale(scale, asked.shape[1]), made)
    if _has_several(query, memory):
        _back_from_all(asked, query.lod, rows, memory.lod, summed, out[1].lod, *arrays)
    else:
        _back_from_one(asked, rows, summed, memory.lod, *arrays)
    wanted = (needs.query, needs.memory, needs.values and values is not None)
    return tuple(
        [
            one.astype(like.dtype, copy=False) if needed else None
            for one, like, needed in zip(made, given, wanted, strict=True)
        ]
    )


def _back_from_one(
    asked: Array, rows: Array, summed: Array, lod: LoD, d_context: Array, d_weights: Array | None, weights: Array,
    factor: float, made: list[Array],
) -> None:  # fmt: skip
    """Write the gradients of queries, memory and values for one query per sequence."""
    shared = made[2] is made[1]
    over_sequences(
        kernels.attention.attend_rows_back,
        "srsrro.rrsr" + (".." if shared else "r."),
        d_context,
        np.zeros_like(weights) if d_weights is None else d_weights,
        asked,
        rows,
        summed,
        lod_body.in_rows(lod, lod.num_levels - 1),
        factor,
        weights,
        np.empty_like(weights),
        made[0],
        made[1],
        made[2][:0] if shared else made[2],
        shared,
        cost=COST,
    )


def _back_from_all(
    asked: Array, query_lod: LoD, rows: Array, lod: LoD, summed: Array, pairs: LoD, d_context: Array,
    d_weights: Array | None, weights: Array, factor: float, made: list[Array],
) -> None:  # fmt: skip
    """Write the gradients of queries, memory and values for several queries per sequence."""
    starts, offsets = _bounds(query_lod, lod)
    of_weights, of_scores = np.empty((len(weights), 1), rows.dtype), np.empty((len(weights), 1), rows.dtype)
    by_transposed(d_context, starts, summed, offsets, of_weights.reshape(-1))
    if d_weights is not None:
        of_weights[:, 0] += d_weights
    bounds = lod_body.in_rows(pairs, pairs.num_levels - 1)
    pull = kernels.softmax.pull_softmax
    over_sequences(pull, "rror", weights.reshape(-1, 1), of_weights, bounds, of_scores, cost=COST)
    of_scores *= rows.dtype.type(factor)
    weighted(of_scores.reshape(-1), starts, rows, offsets, made[0])
    weighted_back(of_scores.reshape(-1), starts, asked, offsets, made[1])
    if made[2] is made[1]:
        of_values = np.empty(summed.shape, rows.dtype)
        weighted_back(weights, starts, d_context, offsets, of_values)
        made[1] += of_values
    else:
        weighted_back(weights, starts, d_context, offsets, made[2])
