"""Operators that convert sequences to steps and back; the gradient of each is computed by the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dtypes import common_dtype, in_unit
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import integer_of, level_of
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Anything, Nested, Steps, Table
from lodcore.ops.arrays.joined_arrays import cut_rows, joined_elements, same_shapes
from lodcore.ops.arrays.tensor_arrays import check_steps, element_spec
from lodcore.tensors import joining, lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values
from lodcore.tensors.rank_table import IndicesMap, map_of, map_of_order
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["tensor_array_pack", "tensor_array_unpack"]


@operator(x=Nested, lod_rule="of the steps the levels below `level`, of the map none", results=2)
def tensor_array_unpack(
    x: Any, level: int, sort_by_length: bool = True, out: Array | None = None, *, saved: Saved = None
) -> Any:
    """Cut the sequences of a level into steps: step t holds element t of every sequence longer than t.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int
    sort_by_length : bool, default True
        Whether sequences are ordered by length within each step, longest first, equal lengths in the order of the
        batch; otherwise all sequences keep their order.
    out : ndarray, optional
        The buffer of the steps, with the shape of x.values.

    Returns
    -------
    steps : TensorArray
        One per element of the longest sequence: read-only views of one buffer. Finer levels are the LoD of each
        step.
    indices_map : IndicesMap
        The map that `tensor_array_pack` needs; also `steps.rank`.

    Examples
    --------
    >>> import lodcore
    >>> steps, indices_map = lodcore.tensor_array_unpack([[1, 2], [], [3, 4, 5]], 0)
    >>> list(steps)
    [array([3, 1]), array([4, 2]), array([5])]
    """
    by_step, indices_map = in_step_order("tensor_array_unpack", x, level, sort_by_length, out)
    if saved is not None:
        saved.update(by_step=by_step, order=indices_map)
    return TensorArray.over(by_step, indices_map), indices_map


def in_step_order(
    where: str, x: Any, level: int, sort_by_length: bool, out: Array | None
) -> tuple[LoDTensor, IndicesMap]:
    """Reorder the elements of a level by steps; return a LoDTensor whose outermost sequences are steps, and the map.

    The arguments are those of `tensor_array_unpack`.
    """
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = lod_body.normalize_level(lod, level, where)
    offsets = lod_body.offsets_view(lod, k)
    count = len(offsets) - 1
    steps = joining.steps_of(lod, k)
    if sort_by_length:
        order = buffers.new_offsets(count)
        kernels.rank_table.rank_by_length(offsets, steps, order)
    else:
        order = np.arange(count)
    indices_map = map_of_order(lod, k, order, steps)
    order, steps = indices_map.order, indices_map.steps
    if k == lod.num_levels - 1:
        rows = buffers.new_rows(where, x.values, lod.num_rows, out)
        kernels.rank_table.unpack_rows(lod_tensor_body.rows_as_bytes(x), offsets, order, steps, buffers.as_bytes(rows))
        buffers.seal(rows)
        by_step = lod_tensor_body.owned_tensor(rows, lod_body.make_lod([steps], lod.num_rows))
    else:
        by_step = lod_tensor_body.gather(x, where, k + 1, indices_map.values, out, [steps])
        rows = by_step.values
        buffers.seal(rows)
        by_step = lod_tensor_body.new_tensor(rows, by_step.lod)
    return by_step, indices_map


@tensor_array_unpack.define_infer
def _(x: Spec, level: int, sort_by_length: bool) -> tuple[Spec, Spec]:
    k = level_of("tensor_array_unpack", x, level)
    return (
        x._replace(num_levels=x.num_levels - k - 1, kind=TensorArray),
        Spec((None,), np.dtype(np.int32), 0, IndicesMap),
    )


@tensor_array_unpack.define_vjp
def _(d: dict[int, Array], d_map: None, by_step: LoDTensor, order: IndicesMap, context: Any) -> Array:
    bounds = by_step.lod.row_offsets(0).tolist()
    count, shape = len(bounds) - 1, by_step.values.shape
    elements = {}
    if count and by_step.num_levels == 1:  # the gradients are packed without copying
        for index in range(count):
            found = d.get(index)
            rows = (bounds[index + 1] - bounds[index], *shape[1:])
            elements[index] = np.zeros(rows, by_step.values.dtype) if found is None else found
        steps = TensorArray.of_elements(count, elements)
    else:
        buffer = np.empty(shape, by_step.values.dtype)
        for index in range(count):
            buffer[bounds[index] : bounds[index + 1]] = d.get(index, 0)
        steps = TensorArray.over(lod_tensor_body.new_tensor(buffer, by_step.lod))
    return packed(steps, order.level, order, context.new("x")).values


@operator(ta=Steps, indices_map=Anything, lod_rule="up to `level` that of the map; below that of the steps")
def tensor_array_pack(ta: Any, level: int, indices_map: Any, out: Array | None = None, *, saved: Saved = None) -> Any:
    """Join steps into sequences: the inverse of `tensor_array_unpack`.

    Parameters
    ----------
    ta : TensorArray
    level : int
        The level that was unpacked. In a Program, count it from the first level: how many levels a map has is known
        only at run time, and so is the result of a negative level.
    indices_map : IndicesMap, RankTable, or ndarray of int
        The map that `tensor_array_unpack` returned, or the rank of the steps; or only the places, such as its `values`,
        if the array knows its structure because `tensor_array_unpack` made it, perhaps with other elements.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has the levels of the unpacked tensor up to `level`, and below them the finer levels of the steps. Steps may
        have any width, dtype and finer levels; only their numbers of elements must be those of the map.

    Raises
    ------
    LoDError
        If the level or the sizes of the steps are not those of the map, or the array knows that the map is of another
        batch.

    Notes
    -----
    Steps that were written into a new array, such as those of a network, know nothing of the batch. If the map of
    another batch has as many elements in each step, the mistake goes unnoticed: rows go to the places of that map.

    Examples
    --------
    >>> import lodcore
    >>> steps, indices_map = lodcore.tensor_array_unpack([[1, 2], [], [3, 4, 5]], 0)
    >>> lodcore.tensor_array_pack(steps, 0, indices_map)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2], [], [3, 4, 5]])
    """
    check_steps("tensor_array_pack", ta)
    order = _map_for(ta, indices_map)
    made = packed(ta, level, order, out)
    if saved is not None:
        saved.update(sizes=[len(rows_of(element)) for element in ta.elements("tensor_array_pack")], order=order)
    return made


def _map_for(ta: TensorArray, given: Any) -> IndicesMap:
    """Return the map to pack an array by; raise LoDError if the array is known to be of another batch."""
    where = "tensor_array_pack: indices_map"
    rank: IndicesMap | None = ta.step_rank
    if isinstance(given, np.ndarray):
        if rank is None:
            raise LoDError(
                f"{where}: has places only, and the array does not know the structure of the batch; the map that "
                "`unpack` returned is needed, or its rank"
            )
        if not np.array_equal(given, rank.values):
            raise LoDError(f"{where}: has positions other than those of the array's steps, which are of another batch")
        return rank
    made = map_of(where, given)
    if rank is None or rank is made or not np.array_equal(rank.steps, made.steps):  # `packed` names the step
        return made
    if not _alike(rank, made):
        raise LoDError(f"{where}: is of a batch other than that of the array: {made!r}; the array has {rank!r}")
    return made


def _alike(one: IndicesMap, other: IndicesMap) -> bool:
    """Return whether two maps have the same level, structure down to it, and order of the sequences."""
    if one.level != other.level or not np.array_equal(one.order, other.order):
        return False
    return all(np.array_equal(one.lod.offsets(j), other.lod.offsets(j)) for j in range(one.level + 1))


def packed(ta: TensorArray, level: int, indices_map: IndicesMap, out: Array | None = None) -> LoDTensor:
    """Join steps into sequences; see `tensor_array_pack`."""
    where = "tensor_array_pack"
    lod, k, steps = indices_map.lod, indices_map.level, indices_map.steps
    if lod_body.normalize_level(lod, level, where) != k:
        raise LoDError(f"{where}: level: is {level}; the map is of level {k}")
    source = ta.untouched_source
    if isinstance(source, LoDTensor):
        if not lod_body.has_offsets(source.lod, 0, steps):
            _check_sizes(where, source.lengths, steps)
        if source.num_levels == 1:
            return _pack_buffer(where, source, indices_map, steps, out)
    else:
        elements = ta.elements(where)
        counted = buffers.new_int64(len(elements) + 1)
        joinable = kernels.gather.count_rows(elements, counted) < 0
        if not joinable:
            counted[0] = 0
            for at, element in enumerate(elements):
                if not element.shape:
                    raise IndexError(f"{where}: element {at}: has no axis, to count sequences")
            np.cumsum([len(element) for element in elements], out=counted[1:])
        if not np.array_equal(counted, steps):
            _check_sizes(where, counted[1:] - counted[:-1], steps)
        if elements and (joinable or not any(isinstance(element, LoDTensor) for element in elements)):
            rows = elements if joinable else _of_one_kind(where, elements)
            return _pack_arrays(where, rows, indices_map, steps, out)
    flat = joined_elements(ta, 0, where)[0]
    upper = [lod.offsets(j) for j in range(k + 1)]
    if not isinstance(flat, LoDTensor):  # for no steps
        return lod_tensor_body.new_tensor(flat, lod_body.make_lod(upper, 0))
    back = np.empty(len(indices_map), np.int64)
    back[indices_map.values] = np.arange(len(back))
    return lod_tensor_body.gather(flat, where, 0, back, out, upper)


def _levels_to(lod: LoD, k: int) -> LoD:
    """Return the levels of a structure up to a level."""
    return lod if k == lod.num_levels - 1 else lod_body.slice_levels(lod, 0, k + 1)


def _check_sizes(where: str, sizes: Array, steps: Array) -> None:
    """Raise if steps do not have the sizes of a map."""
    if len(sizes) != len(steps) - 1:
        raise LoDError(f"{where}: indices_map: is of {len(steps) - 1} steps; the array has {len(sizes)}")
    wrong = sizes != steps[1:] - steps[:-1]
    if wrong.any():
        t = int(np.argmax(wrong))
        raise LoDError(f"{where}: ta: has {sizes[t]} elements at step {t}; indices_map has {steps[t + 1] - steps[t]}")


def _of_one_kind(where: str, elements: list[Array]) -> list[Array]:
    """Convert elements to C-contiguous arrays with one dtype."""
    same_shapes(where, [element[:0] for element in elements], 0)
    dtype = common_dtype(where, {f"elements[{t}]": element.dtype for t, element in enumerate(elements)})
    return [as_values(where, in_unit(f"{where}: elements", element, dtype)) for element in elements]


def _pack_buffer(where: str, given: LoDTensor, indices_map: IndicesMap, steps: Array, out: Array | None) -> LoDTensor:
    """Pack rows of one buffer, step by step."""
    lod, k = indices_map.lod, indices_map.level
    rows = buffers.new_rows(where, given.values, given.num_rows, out)
    kernels.rank_table.pack_rows(
        lod_tensor_body.rows_as_bytes(given),
        lod_body.offsets_view(lod, k),
        indices_map.order,
        steps,
        buffers.as_bytes(rows),
    )
    return lod_tensor_body.owned_tensor(rows, _levels_to(lod, k))


def _pack_arrays(
    where: str, elements: list[Array], indices_map: IndicesMap, steps: Array, out: Array | None
) -> LoDTensor:
    """Pack one ndarray per step."""
    lod, k = indices_map.lod, indices_map.level
    rows = buffers.new_rows(where, as_values(where, elements[0]), len(indices_map), out)
    target = buffers.as_bytes(rows)
    if out is not None and kernels.gather.first_overlap(elements, target) >= 0:
        raise ValueError(f"{where}: out: overlaps an input; it must have memory of its own")
    bad = kernels.rank_table.pack_steps(elements, lod_body.offsets_view(lod, k), indices_map.order, steps, target)
    if bad >= 0:
        raise ShapeError(f"{where}: element {bad}: changed while it was read")
    return lod_tensor_body.owned_tensor(rows, _levels_to(lod, k))


@tensor_array_pack.define_infer
def _(ta: Spec, level: int, indices_map: Spec) -> Spec:
    if indices_map.kind is not np.ndarray:  # the places of sequences
        Table.spec("tensor_array_pack: indices_map", indices_map)
    one = element_spec(ta)
    if one.kind is object or integer_of("tensor_array_pack: level", level) < 0:
        return one._replace(kind=object)
    return one._replace(num_levels=one.num_levels + level + 1, kind=LoDTensor)


@tensor_array_pack.define_vjp
def _(d: Array, out: LoDTensor, sizes: list[int], order: IndicesMap) -> tuple[Any, None]:
    whole, indices_map = out, order
    k, lod = indices_map.level, indices_map.lod
    if whole.num_levels == k + 1:
        rows = np.empty_like(d)
        kernels.rank_table.unpack_rows(
            buffers.as_bytes(d),
            lod_body.offsets_view(lod, k),
            indices_map.order,
            indices_map.steps,
            buffers.as_bytes(rows),
        )
    else:
        d_x = lod_tensor_body.new_tensor(d, whole.lod)
        rows = lod_tensor_body.gather(d_x, "tensor_array_pack", k + 1, indices_map.values).values
    return cut_rows(rows, sizes), None
