"""Beam search: one step, which selects the best continuations of each source, and decoding of all steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol, recorder_of
from lodcore.base.dtypes import native_dtype
from lodcore.base.later import operators
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import dense_of, integer_of, level_of, operand_of
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Index, Optional, Role, Rows
from lodcore.ops.arrays.joined_arrays import joined_elements
from lodcore.ops.arrays.tensor_arrays import check_steps, element_spec
from lodcore.ops.networks.beam_gradients import back_to_candidates, of_form
from lodcore.ops.networks.beam_step import DOUBLE, INT32, INT64, MOST, SINGLE, plain_step
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["beam_search", "beam_search_decode"]

#: The usual dtypes.
MOSTLY = {"pre_ids": (INT64,), "pre_scores": (SINGLE, DOUBLE)}


# -- one step ----------------------------------------------------------------------------------------------------------


@operator(
    pre_ids=Index,
    pre_scores=Dense,
    ids=Optional,
    scores=Rows,
    results=3,
    lod_rule=(
        "the levels of `scores` up to `level`, which counts prefixes, and what is kept of each; `parent_idx` has none"
    ),
)
def beam_search(
    pre_ids: Any,
    pre_scores: Any,
    ids: Any,
    scores: Any,
    beam_size: int,
    end_id: int,
    level: int = 0,
    is_accumulated: bool = True,
) -> tuple[LoDTensor, LoDTensor, Array]:
    """Select the best continuations of the prefixes of each source: one step of a beam search.

    Parameters
    ----------
    pre_ids : array_like of integers, shape (n_prefixes,) or (n_prefixes, 1), or one integer
        The last id of each prefix.
    pre_scores : array_like of numbers, shape (n_prefixes,) or (n_prefixes, 1), or one number
    ids : array_like of integers, shape (n_prefixes, k), or None
        The ids of the candidates; None for the column numbers of `scores`.
    scores : LoDTensor of float32 or float64, rows of shape (k,)
        One row per prefix; the LoD assigns the prefixes to sources. A source may have none.
    beam_size : int
        The maximum number of continuations per source; at least 1.
    end_id : int
        A prefix that ends with it has one candidate: `end_id` again, with an unchanged score.
    level : int
        The level of the sources in the LoD of `scores`.
    is_accumulated : bool
        Whether `scores` include the scores of the prefixes. If not, they are probabilities: the score of a candidate is
        the sum of the prefix's score and the logarithm of its probability.

    Returns
    -------
    selected_ids, selected_scores : LoDTensor
        The selected continuations, prefix by prefix, the best first. One level groups the prefixes by source, the last
        one groups the selected continuations by prefix; the next step takes scores with this LoD. The dtypes are those
        of `ids` (`pre_ids`, if `ids` is None) and of `scores`; rows have the shape of those of `pre_ids` and
        `pre_scores`.
    parent_idx : ndarray of int32, shape (n_selected,)
        The prefix that each selected id continues.

    Raises
    ------
    LoDError
        If scores have no LoD.
    ShapeError
        If there is not one entry, or row, per prefix.
    DTypeError
        If ids are not integers, or scores are not float32 or float64.
    ValueError
        If beam_size is below 1, or the dtype of the ids cannot hold end_id.

    Notes
    -----
    A better score comes first; among equal scores, that of the later prefix. Equal scores of one prefix keep the order
    of their columns, but if the beam is full, a later one replaces an equal one at its end, as in PaddlePaddle's
    operator: of ``[.5, .5, .5]`` a beam of 1 selects the third, a beam of 2 the first and the third. nan compares false
    with every score.

    The gradient of a selected score goes to the candidate that was selected; if its prefix had ended, or if
    `is_accumulated` is False, it goes to the score of the prefix (too).

    If all selected continuations of a source had ended before, none is selected: its end tokens were selected in the
    previous step.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> scores = lodcore.LoDTensor.from_lengths(np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.9, 0.0, 0.1]]), [2, 1])
    >>> ids, scores, parents = lodcore.beam_search([1, 2, 3], [0.0, 0.0, 0.0], None, scores, 2, 0)
    >>> ids.tolist()
    [[[0], [1]], [[0, 2]]]
    >>> scores.tolist()
    [[[0.5], [0.6]], [[0.9, 0.1]]]
    >>> parents
    array([0, 1, 2, 2], dtype=int32)
    """
    if ids is None and type(level) is int and level == 0 and is_accumulated is True and type(scores) is LoDTensor:
        found = plain_step(pre_ids, pre_scores, scores, beam_size, end_id)
        if found is not None:
            return found
    where = "beam_search"
    values, lod, at = _prefixes(where, scores, level)
    most = beam_size if type(beam_size) is int and 0 < beam_size <= MOST else _beam_size(where, beam_size)
    n_prefixes, columns = values.shape
    last, before = _one_each(where, "pre_ids", pre_ids), _one_each(where, "pre_scores", pre_scores)
    candidates = None if ids is None else _candidates(where, ids, values.shape)
    dtype = INT64 if ids is None and last.dtype == INT64 else _id_dtype(where, last, ids, columns)
    end = _end_id(where, end_id, dtype)
    last, before = _sized(where, "pre_ids", last, n_prefixes), _sized(where, "pre_scores", before, n_prefixes)
    if before.dtype != values.dtype:
        before = before.astype(values.dtype)
    if not is_accumulated:
        values = _accumulated(values, before)
    offsets = lod.row_offsets(at) if at + 1 < lod.num_levels else lod.offsets(at)
    room = min((len(offsets) - 1) * most, n_prefixes * (columns or 1))
    kept_ids, kept_scores = buffers.new_int64(room), np.empty(room, values.dtype)
    parents, kept = np.empty(room, INT32), buffers.new_offsets(n_prefixes + 1)
    flat = _flat_ids(last)
    earlier = _as_line(before)
    count = kernels.beam.select_best(
        flat, earlier, candidates, values, offsets, most, end, kept_ids, kept_scores, parents, kept
    )
    if count < room:
        kept_ids, kept_scores, parents = kept_ids[:count].copy(), kept_scores[:count].copy(), parents[:count].copy()
    if dtype != INT64:
        kept_ids = kept_ids.astype(dtype)
    if last.ndim == 2:
        kept_ids = kept_ids.reshape(-1, 1)
    if before.ndim == 2:
        kept_scores = kept_scores.reshape(-1, 1)
    upper = [lod.offsets(k) for k in range(at)] if at else []
    made = lod_body.make_lod([*upper, offsets, kept], count)
    return lod_tensor_body.new_tensor(kept_ids, made), lod_tensor_body.new_tensor(kept_scores, made), parents


@beam_search.define_infer
def _(
    pre_ids: Any,
    pre_scores: Any,
    ids: Any,
    scores: Spec,
    beam_size: int,
    end_id: int,
    level: int,
    is_accumulated: bool,
) -> tuple[Spec, Spec, Spec]:
    where = "beam_search"
    if not scores.num_levels:
        raise _no_lod(where)
    count = level_of(where, scores, level) + 2
    _check_rows(where, scores.shape, scores.dtype)
    _beam_size(where, beam_size)
    last, before = _one_each(where, "pre_ids", pre_ids), _one_each(where, "pre_scores", pre_scores)
    if ids is not None:
        _check_candidates(where, _spec_like(where, "ids", ids), (None, scores.shape[1]))
    _end_id(where, end_id, dtype := _id_dtype(where, last, ids, scores.shape[1]))
    rows = [(None, 1) if len(x.shape) == 2 else (None,) for x in (last, before)]
    return Spec(rows[0], dtype, count), Spec(rows[1], scores.dtype, count), Spec((None,), INT32)


@beam_search.define_vjp
def _(d_ids: None, d: Any, d_parents: None, scores: Any, out: Any, context: Any) -> tuple[None, Any, None, Any]:
    if d is None:
        return None, None, None, None
    n_prefixes, where = len(scores.values), "beam_search"
    last = _sized(where, "pre_ids", _one_each(where, "pre_ids", context.pre_ids), n_prefixes)
    before = _sized(where, "pre_scores", _one_each(where, "pre_scores", context.pre_scores), n_prefixes)
    ended = _flat_ids(last) == int(context.end_id)
    values = scores.values if context.is_accumulated else _accumulated(scores.values, before)
    of_before, of_values = back_to_candidates(d.reshape(-1), out, values, context.ids, ended)
    if not context.is_accumulated:
        of_before, of_values = of_before + of_values.sum(axis=1), of_values / np.where(of_values, scores.values, 1)
    return None, of_form(rows_of(context.pre_scores), of_before), None, of_values


def _prefixes(where: str, scores: Any, level: Any) -> tuple[Array, LoD, int]:
    """Return the scores, their LoD, and the level that groups the prefixes by source."""
    if type(scores) is not LoDTensor or not scores.lod.num_levels:
        raise _no_lod(where)
    values, lod = scores.values, scores.lod
    at = lod_body.normalize_level(lod, level, where)
    _check_rows(where, values.shape, values.dtype)
    if values.shape[0] > MOST or values.shape[1] > MOST:
        raise ValueError(f"{where}: scores: has shape {values.shape}; at most {MOST} are numbered by int32")
    if values.dtype != SINGLE and values.dtype != DOUBLE:  # another byte order
        values = values.astype(native_dtype(values.dtype))
    return values, lod, at


def _no_lod(where: str) -> LoDError:
    return LoDError(f"{where}: scores: has no LoD; one that groups the prefixes by source is needed")


def _check_rows(where: str, shape: tuple[int | None, ...], dtype: np.dtype[Any]) -> None:
    if dtype not in (SINGLE, DOUBLE):
        raise DTypeError(f"{where}: scores: has dtype {dtype}; float32 or float64 is needed")
    if len(shape) != 2:
        raise ShapeError(f"{where}: scores: has rows of shape {shape[1:]}; (k,) is needed, one entry per candidate")


def _beam_size(where: str, beam_size: Any) -> int:
    return min(integer_of(f"{where}: beam_size", beam_size, 1), 2**62)


def _spec_like(where: str, name: str, given: Any) -> Any:
    """Return an object with a shape and a dtype: an array, the values of a LoDTensor, or a Spec."""
    if type(given) is LoDTensor:
        return given.values
    if type(given) is Spec:
        return operand_of(f"{where}: {name}", given)
    return dense_of(f"{where}: {name}", given, levels=True)


def _one_each(where: str, name: str, given: Any) -> Any:
    """Return one number per prefix, or one for all: an array of shape (n,), (n, 1) or (), or a Spec."""
    rows = given.values if type(given) is LoDTensor else given
    if type(rows) is np.ndarray and rows.ndim == 1 and rows.dtype in MOSTLY[name]:
        return rows
    if type(rows) is not np.ndarray:
        rows = _spec_like(where, name, given)
    kinds, needed = ("iu", "integers are needed") if name == "pre_ids" else ("fiu", "real numbers are needed")
    nothing = isinstance(given, (list, tuple)) and rows.shape == (0,)  # has no dtype of its own
    if rows.dtype.kind not in kinds and not nothing:
        raise DTypeError(f"{where}: {name}: has dtype {rows.dtype}; {needed}")
    shape = rows.shape
    if len(shape) > 2 or (len(shape) == 2 and shape[1] not in (1, None)):
        raise ShapeError(f"{where}: {name}: has shape {shape}; (n,) or (n, 1) is needed")
    return rows


def _sized(where: str, name: str, rows: Array, count: int) -> Array:
    """Return one number per prefix: an array of shape (n,) or (n, 1)."""
    if not rows.shape:
        return np.full(count, rows)
    if len(rows) != count:
        raise ShapeError(f"{where}: {name}: has {len(rows)} entries; scores has {count} rows, one per prefix")
    return rows.astype(INT64) if name == "pre_ids" and rows.dtype.kind not in "iu" else rows  # of an empty list


def _is_line(x: Array) -> bool:
    """Return whether an array is a contiguous, aligned vector, as kernels need."""
    return x.ndim == 1 and x.flags.c_contiguous and x.flags.aligned


def _as_line(x: Array) -> Array:
    """Return an array as a contiguous, aligned vector."""
    return x if _is_line(x) else np.require(x.ravel(), requirements=["C", "A"])


def _flat_ids(rows: Array) -> Array:
    """Return ids for a kernel."""
    if rows.dtype == INT64:
        return _as_line(rows)
    return buffers.as_int64(rows, "beam_search: pre_ids", IndexError)


def _candidates(where: str, ids: Any, shape: tuple[int, ...]) -> Array:
    """Return the ids of the candidates, for a kernel."""
    given = _spec_like(where, "ids", ids)
    _check_candidates(where, given, shape)
    return buffers.as_int64(given.ravel(), f"{where}: ids", IndexError)


def _check_candidates(where: str, ids: Any, shape: tuple[int | None, ...]) -> None:
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{where}: ids: has dtype {ids.dtype}; integers are needed")
    fits = len(ids.shape) == 2 and all(a == b or a is None or b is None for a, b in zip(ids.shape, shape, strict=True))
    if not fits:
        raise ShapeError(f"{where}: ids: has shape {ids.shape}; scores has {shape}")


def _id_dtype(where: str, last: Any, ids: Any, columns: int | None) -> np.dtype[Any]:
    """Return the dtype of the selected ids."""
    dtype: np.dtype[Any] = last.dtype if ids is None else getattr(ids, "dtype", INT64)
    if dtype == INT64:
        return INT64
    if dtype.kind not in "iu":
        return INT64  # for lists without entries; anything else is refused elsewhere
    if ids is None and columns and columns - 1 > np.iinfo(dtype).max:
        raise ValueError(f"{where}: scores: has {columns} columns; {dtype}, that of pre_ids, cannot number them")
    return native_dtype(dtype)


def _end_id(where: str, end_id: Any, dtype: np.dtype[Any]) -> int:
    """Return the end id, which the dtype of the ids must be able to hold."""
    if type(end_id) is int and dtype == INT64 and -MOST <= end_id <= MOST:
        return end_id
    end = integer_of(f"{where}: end_id", end_id)
    low, high = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), 2**63 - 1)
    if not low <= end <= high:
        raise ValueError(f"{where}: end_id: is {end}; {low} .. {high} is valid for ids of {dtype}")
    return end


def _accumulated(values: Array, before: Array) -> Array:
    """Compute the scores of continued prefixes from probabilities."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.log(values)
        found += before.reshape(-1, 1)
    return found


# -- decoding all steps ------------------------------------------------------------------------------------------------


def _steps_of(where: str, given: Any) -> Any:
    """Return a TensorArray, which may be given as a list of tensors."""
    if not isinstance(given, (list, tuple)) or type(given) is Spec:
        return given
    if not any(isinstance(x, Symbol) for x in given):
        return TensorArray.of_elements(len(given), {j: as_nested(f"{where}[{j}]", x) for j, x in enumerate(given)})
    array = TensorArray()
    for j, x in enumerate(given):  # may be recorded
        array.write(j, x)
    return array


#: A TensorArray, or a list of tensors.
Selected = Role("Selected", _steps_of, _steps_of, frozenset([TensorArray]), place=("TensorArray",))


@operator(
    ids_array=Selected,
    scores_array=Selected,
    results=2,
    lod_rule="two levels: the sentences of each source, and the tokens of each sentence",
    differentiable=False,
)
def beam_search_decode(ids_array: Any, scores_array: Any, beam_size: int, end_id: int) -> tuple[LoDTensor, LoDTensor]:
    """Trace back the selections of all steps of a beam search to the sentences of each source.

    Parameters
    ----------
    ids_array, scores_array : TensorArray, or list of LoDTensor
        The selections of each step, as `beam_search` returns them: integers, and float32 or float64.
    beam_size : int
        The maximum number of sentences per source, of which the best are kept; at least 1.
    end_id : int
        A sentence contains it at most once, at its end.

    Returns
    -------
    sentence_ids, sentence_scores : LoDTensor
        Both have one LoD: the sentences of each source, and the tokens of each sentence. The score of a token is that
        accumulated up to it. Sentences are sorted by the scores of their last tokens, the best first; equal ones keep
        their order, and nan comes last. The first step is included, even if it consists of start tokens.

    Raises
    ------
    ValueError
        If there are no steps, the numbers of steps differ, or beam_size is below 1.
    LoDError
        If a step does not have two levels or does not continue the previous one, or its ids and scores have different
        LoDs.
    DTypeError, ShapeError
        If ids are not integers, scores are not float32 or float64, or a row has several entries.

    Notes
    -----
    A source ends in the last step that selected anything for it; the selections of that step are the ends of its
    sentences.

    Examples
    --------
    >>> import lodcore
    >>> ids, scores = lodcore.TensorArray(), lodcore.TensorArray()
    >>> ids[0], scores[0] = lodcore.array([[[5]]]), lodcore.array([[[0.0]]])
    >>> ids[1], scores[1] = lodcore.array([[[7, 8]]]), lodcore.array([[[-1.0, -2.0]]])
    >>> ids[2], scores[2] = lodcore.array([[[1], [9]]]), lodcore.array([[[-4.0], [-3.0]]])
    >>> sentences, scores = lodcore.beam_search_decode(ids, scores, beam_size=2, end_id=1)
    >>> sentences.tolist()
    [[[5, 8, 9], [5, 7, 1]]]
    >>> scores.tolist()
    [[[0.0, -2.0, -3.0], [0.0, -1.0, -4.0]]]
    """
    if recorder_of(ids_array) is not None or recorder_of(scores_array) is not None:  # for lists of Variables
        return operators.beam_search_decode(ids_array, scores_array, beam_size, end_id)  # type: ignore[no-any-return]
    where = "beam_search_decode"
    most = _beam_size(where, beam_size)
    end = integer_of(f"{where}: end_id", end_id)
    ids, n_sources = _joined(where, "ids_array", ids_array)
    scores, _ = _joined(where, "scores_array", scores_array)
    if len(ids_array) != len(scores_array):
        raise ValueError(f"{where}: scores_array: has {len(scores_array)} steps; ids_array has {len(ids_array)}")
    lod = ids.lod
    if lod != scores.lod:
        raise LoDError(f"{where}: scores_array: has different LoDs from ids_array")
    _check_decoded(where, Spec(ids.values.shape, ids.dtype), Spec(scores.values.shape, scores.dtype))
    bounds = lod.row_offsets(0)
    by_step = (len(ids_array), n_sources)
    _check_sequel(where, lod.lengths(0).reshape(by_step), np.diff(bounds).reshape(by_step))
    first = lod.offsets(0).item(n_sources)  # prefixes of the first step
    tokens = buffers.as_int64(ids.values.ravel(), f"{where}: ids_array", IndexError)
    values = np.ascontiguousarray(scores.values.ravel(), native_dtype(scores.dtype))
    parents = lod.segment_ids(1) - first
    ends, sentences = buffers.new_int64(len(tokens)), buffers.new_offsets(n_sources + 1)
    count = kernels.beam.find_ends(values, bounds, n_sources, most, ends, sentences)
    ends, offsets = ends[:count], buffers.new_offsets(count + 1)
    if not -(2**63) <= end < 2**63:  # no token equals it
        end = _unused(tokens)
    kernels.beam.measure_ways(tokens, parents, ends, end, offsets)
    total = offsets.item(count)
    out_ids, out_scores = buffers.new_int64(total), np.empty(total, values.dtype)
    kernels.beam.write_ways(tokens, values, parents, ends, offsets, end, out_ids, out_scores)
    found = lod_body.make_lod([sentences, offsets], total)
    made = out_ids if ids.dtype == INT64 else out_ids.astype(native_dtype(ids.dtype))
    shapes = [(-1, *x.values.shape[1:]) for x in (ids, scores)]
    return (
        lod_tensor_body.new_tensor(made.reshape(shapes[0]), found),
        lod_tensor_body.new_tensor(out_scores.reshape(shapes[1]), found),
    )


@beam_search_decode.define_infer
def _(ids_array: Spec, scores_array: Spec, beam_size: int, end_id: int) -> tuple[Spec, Spec]:
    where = "beam_search_decode"
    _beam_size(where, beam_size)
    integer_of(f"{where}: end_id", end_id)
    ids, scores = element_spec(ids_array), element_spec(scores_array)
    if ids.kind is object or scores.kind is object:
        return Spec((None,), INT64, 2), Spec((None,), SINGLE, 2)
    for name, one in (("ids_array", ids), ("scores_array", scores)):
        if one.num_levels != 2:
            raise _no_two_levels(where, name, 0, one.num_levels)
    _check_decoded(where, ids, scores)
    return Spec((None, *ids.shape[1:]), ids.dtype, 2), Spec((None, *scores.shape[1:]), scores.dtype, 2)


def _unused(tokens: Array) -> int:
    """Return a number that is not a token."""
    known = np.unique(tokens[tokens >= 0])
    gaps = np.flatnonzero(known != np.arange(len(known)))
    return int(gaps[0]) if len(gaps) else len(known)


def _joined(where: str, name: str, array: Any) -> tuple[LoDTensor, int]:
    """Concatenate the steps; return the result and the number of sources, which must be equal for all steps."""
    check_steps(where, array, name)
    elements = array.elements(f"{where}: {name}")
    if not elements:
        raise ValueError(f"{where}: {name}: has no steps; at least one is needed")
    for t, x in enumerate(elements):
        levels = x.num_levels if isinstance(x, LoDTensor) else 0
        if levels != 2:
            raise _no_two_levels(where, name, t, levels)
        if len(x) != len(elements[0]):
            raise LoDError(f"{where}: {name}: step {t} has {len(x)} sources; step 0 has {len(elements[0])}")
    joined: LoDTensor = joined_elements(array, 0, f"{where}: {name}")[0]
    return joined, len(elements[0])


def _no_two_levels(where: str, name: str, step: int, levels: int) -> LoDError:
    return LoDError(
        f"{where}: {name}: step {step} has {with_number(levels, 'level')}; 2 are needed, sources and prefixes"
    )


def _check_decoded(where: str, ids: Spec, scores: Spec) -> None:
    """Check the rows and dtypes of the steps."""
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{where}: ids_array: has dtype {ids.dtype}; integers are needed")
    if scores.dtype not in (SINGLE, DOUBLE):
        raise DTypeError(f"{where}: scores_array: has dtype {scores.dtype}; float32 or float64 is needed")
    for name, shape in (("ids_array", ids.shape), ("scores_array", scores.shape)):
        if len(shape) > 2 or (len(shape) == 2 and shape[1] not in (1, None)):
            raise ShapeError(f"{where}: {name}: has rows of shape {shape[1:]}; () or (1,) is needed")


def _check_sequel(where: str, prefixes: Array, items: Array) -> None:
    """Check that each step has as many prefixes of each source as the previous step selected."""
    differ = prefixes[1:] != items[:-1]
    if differ.any():
        t, s = (int(x) for x in np.argwhere(differ)[0])
        raise LoDError(
            f"{where}: ids_array: step {t + 1} has {prefixes[t + 1, s]} prefixes of source {s}; step {t} has kept "
            f"{items[t, s]}"
        )
