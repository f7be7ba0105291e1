"""Sequences to steps and back, as operators: each is the gradient of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, elements, kernels, tensor_core
from lodcore.indices_map import IndicesMap
from lodcore.ops.array import check_steps, cut_rows, element_spec, plain
from lodcore.ops.common import Array, rows_of
from lodcore.ops.moving import spec_level
from lodcore.registry import Map, Nested, Spec, Steps, op
from lodcore.tensor import LoDTensor
from lodcore.tensor_array import TensorArray

__all__ = ["tensor_array_pack", "tensor_array_unpack"]


@op(lod="own", results=2)
def tensor_array_unpack(x: Nested, level: int, sort_by_length: bool = True) -> Any:
    """Cut the sequences of a level into steps: step t holds element t of every sequence longer than t.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int
    sort_by_length : bool, default True
        Within each step the longest sequence comes first, equal lengths in their order; otherwise all sequences
        keep their order.

    Returns
    -------
    steps : TensorArray
    indices_map : IndicesMap
        What `tensor_array_pack` needs to bring steps back.

    Examples
    --------
    >>> import lodcore
    >>> steps, indices_map = lodcore.tensor_array_unpack([[1, 2], [], [3, 4, 5]], 0)
    >>> list(steps)
    [array([3, 1]), array([4, 2]), array([5])]
    """
    return plain(TensorArray.unpack)(TensorArray, x, level, sort_by_length)


@tensor_array_unpack.saving
def _(x: Any, level: int, sort_by_length: bool = True) -> Any:
    steps, indices_map = plain(TensorArray.unpack)(TensorArray, x, level, sort_by_length)
    return (steps, indices_map), steps._source


@tensor_array_unpack.infer
def _(x: Spec, level: int, sort_by_length: bool) -> tuple[Spec, Spec]:
    k = spec_level("tensor_array_unpack", x.num_levels, level)
    return (
        x._replace(num_levels=x.num_levels - k - 1, kind=TensorArray),
        Spec((None,), np.dtype(np.int32), 0, IndicesMap),
    )


@tensor_array_unpack.backward
def _(saved: Any, d: dict[int, Array], _: Any) -> tuple[Any]:
    by_step, indices_map = saved.hidden, saved.out[1]
    bounds = by_step.lod.row_offsets(0).tolist()
    count, shape = len(bounds) - 1, by_step.values.shape
    if count and by_step.num_levels == 1:  # the gradients are packed from where they are
        steps = TensorArray(count)
        for index in range(count):
            found = d.get(index)
            rows = (bounds[index + 1] - bounds[index], *shape[1:])
            steps._items[index] = np.zeros(rows, by_step.values.dtype) if found is None else found
    else:
        buffer = np.empty(shape, by_step.values.dtype)
        for index in range(count):
            buffer[bounds[index] : bounds[index + 1]] = d.get(index, 0)
        steps = TensorArray._over(tensor_core.new_tensor(buffer, by_step.lod))
    return (plain(TensorArray.pack)(steps, indices_map.level, indices_map, saved.new("x")).values,)


@op(lod="own")
def tensor_array_pack(ta: Steps, level: int, indices_map: Map) -> Any:
    """Bring steps back into sequences: the inverse of `tensor_array_unpack`.

    Parameters
    ----------
    ta : TensorArray
    level : int
        The level that was unpacked.
    indices_map : IndicesMap

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError
        If the level or the sizes of the steps are not the map's.

    Examples
    --------
    >>> import lodcore
    >>> steps, indices_map = lodcore.tensor_array_unpack([[1, 2], [], [3, 4, 5]], 0)
    >>> lodcore.tensor_array_pack(steps, 0, indices_map)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2], [], [3, 4, 5]])
    """
    check_steps("tensor_array_pack", ta)
    return plain(TensorArray.pack)(ta, level, indices_map)


@tensor_array_pack.saving
def _(ta: Any, level: int, indices_map: Any) -> Any:
    packed = plain(TensorArray.pack)(ta, level, indices_map)
    return packed, [len(rows_of(element)) for element in ta._elements("pack")]


@tensor_array_pack.infer
def _(ta: Spec, level: int, indices_map: Spec) -> Spec:
    one = element_spec(ta)
    if one.kind is object or level < 0:
        return one._replace(kind=object)
    return one._replace(num_levels=one.num_levels + level + 1, kind=LoDTensor)


@tensor_array_pack.backward
def _(saved: Any, d: Array) -> tuple[Any, None]:
    packed, indices_map = saved.out, saved.indices_map
    k, lod = indices_map.level, indices_map.lod
    d_x = tensor_core.new_tensor(d, packed.lod)
    if packed.num_levels == k + 1:
        rows = np.empty_like(d)
        kernels.rank.unpack_rows(
            buffers.as_bytes(d), lod._view(k), indices_map._order, indices_map._steps, buffers.as_bytes(rows)
        )
    else:
        rows = d_x._gather("tensor_array_pack", k + 1, indices_map.values).values
    return cut_rows(rows, saved.hidden), None


elements.RECORDED["unpack"] = tensor_array_unpack
elements.RECORDED["pack"] = tensor_array_pack
