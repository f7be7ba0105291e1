"""Joining the elements of TensorArrays (stack, concat) and cutting tensors into TensorArrays (unstack).

The gradient of an array is a dict from the numbers of the elements that have one to the gradients of their values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.dtypes import alike
from lodcore.base.memory import integer
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import axis_of
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import NO_ELEMENTS, Dense, Steps
from lodcore.ops.arrays.tensor_arrays import (
    check_steps,
    cut_axis,
    element_spec,
    gradient_of_unstacked,
    of_elements,
    unstacked_spec,
)
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.joining import concat_lods
from lodcore.tensors.kinds import joinable
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import join_arrays
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray, source_of

__all__ = ["tensor_array_concat", "tensor_array_stack", "tensor_array_unstack"]


# -- joining and cutting -----------------------------------------------------------------------------------------------


def _checked_lods(where: str, elements: list[Any]) -> list[LoD]:
    """Return the LoDs of all elements, or an empty list if none has one; raise if only some have one."""
    kinds = [isinstance(element, LoDTensor) for element in elements]
    if any(kinds) and not all(kinds):
        raise LoDError(f"{where}: element {kinds.index(True)} has a LoD, element {kinds.index(False)} has none")
    return [element.lod for element in elements] if kinds[0] else []


def same_shapes(where: str, values: list[Array], except_axis: int | None) -> None:
    """Raise if shapes differ on any axis but one."""

    def rest(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if except_axis is None else shape[:except_axis] + shape[except_axis + 1 :]

    for at, value in enumerate(values):
        if value.ndim != values[0].ndim or rest(value.shape) != rest(values[0].shape):
            raise ShapeError(f"{where}: element {at}: has shape {value.shape}; element 0 has {values[0].shape}")


def _with_one_lod(where: str, values: Array, lods: list[LoD]) -> Any:
    """Return values with the LoD that all elements share."""
    if not lods:
        return values
    for at, lod in enumerate(lods):
        if lod != lods[0]:
            raise LoDError(f"{where}: element {at} has a different LoD from element 0")
    return lod_tensor_body.new_tensor(np.ascontiguousarray(values), lods[0])


def _none_of(where: str, spec: Spec | None, axis: int, stacked: bool) -> Any:
    """Return the result for no elements, whose shape follows from their Spec."""
    if spec is None or spec.dtype == NO_ELEMENTS.dtype:
        raise ValueError(f"{where}: the array is empty, and nothing is known of its elements")
    ndim = len(spec.shape) + stacked
    of_batches = bool(spec.num_levels)
    at = _stacked_axis(where, axis, ndim, of_batches) if stacked else _joined_axis(where, axis, ndim)
    shape = [0 if size is None else size for size in spec.shape]
    if of_batches:
        levels = spec.num_levels + (stacked and axis == 0)
        shape = shape if not (stacked and axis) else [*shape[:at], 0, *shape[at:]]
        return LoDTensor(np.empty(shape, spec.dtype), LoD.from_lengths(*[[]] * levels))
    if stacked:
        shape.insert(at, 0)
    else:
        shape[at] = 0
    return np.empty(shape, spec.dtype)


def _stacked_axis(where: str, axis: Any, ndim: int, of_batches: bool) -> int:
    """Check the axis of a result with `ndim` axes along which elements are stacked; batches keep their rows first."""
    at = axis_of(f"{where}: axis", axis, ndim, "the result has")
    if of_batches and axis and at == 0:
        raise ShapeError(f"{where}: axis: counts from the end to the rows; use axis=0")
    return at


def _joined_axis(where: str, axis: Any, ndim: int) -> int:
    """Check an axis along which elements with `ndim` axes are joined."""
    if not ndim:
        integer(f"{where}: axis", axis, bools=True)
        raise ShapeError(f"{where}: axis: elements have no axis; use stack")
    return axis_of(f"{where}: axis", axis, ndim, "elements have")


def _joinable(where: str, elements: list[Any]) -> list[Any]:
    """Return elements that can be joined; an array holds elements of one kind."""
    usual = not elements or type(elements[0]) is np.ndarray or type(elements[0]) is LoDTensor
    return elements if usual else joinable(where, elements)


def stacked_elements(ta: TensorArray, axis: int) -> tuple[Any, list[Any]]:
    """Join elements along a new axis; return the result and the elements."""
    where = "tensor_array_stack"
    axis = integer(f"{where}: axis", axis, bools=True)
    if axis == 0 and isinstance(ta.untouched_source, np.ndarray):
        return ta.untouched_source, []
    elements = _joinable(where, ta.elements(where))
    if not elements:
        return _none_of(where, ta.element_spec(), axis, True), elements
    lods = _checked_lods(where, elements)
    values = [rows_of(element) for element in elements]
    if lods and axis == 0:
        inner = concat_lods(where, lods)
        outer = LoD.from_lengths([*map(len, elements)]).offsets()
        levels = [inner.offsets(k) for k in range(inner.num_levels)]
        joined = join_arrays(where, values, None)[0]
        return LoDTensor(joined, LoD.from_offsets(outer, *levels), share=True), elements
    same_shapes(where, values, None)
    at = _stacked_axis(where, axis, values[0].ndim + 1, bool(lods))
    return _with_one_lod(where, np.stack(alike(values), at), lods), elements


def joined_elements(ta: TensorArray, axis: int, where: str = "tensor_array_concat") -> tuple[Any, list[Any]]:
    """Join elements along an existing axis; return the result and the elements."""
    axis = integer(f"{where}: axis", axis, bools=True)
    source = ta.untouched_source
    if axis == 0 and isinstance(source, LoDTensor) and len(source):
        return source.flatten(0), []
    if axis == 0 and isinstance(source, np.ndarray) and len(source) and source.ndim > 1 and source.flags.c_contiguous:
        joined = source.reshape(source.shape[0] * source.shape[1], *source.shape[2:])
        buffers.seal(joined)
        return joined, []
    elements = _joinable(where, ta.elements(where))
    if not elements:
        return _none_of(where, ta.element_spec(), axis, False), elements
    lods = _checked_lods(where, elements)
    values = [rows_of(element) for element in elements]
    axis = _joined_axis(where, axis, values[0].ndim)
    same_shapes(where, values, axis)
    if axis == 0:
        joined = join_arrays(where, values, None)[0]
        return (lod_tensor_body.new_tensor(joined, concat_lods(where, lods)) if lods else joined), elements
    return _with_one_lod(where, np.concatenate(alike(values), axis), lods), elements


def _shapes(ta: TensorArray, elements: list[Any]) -> list[tuple[int, ...]]:
    """List the shapes of the values of all elements."""
    return [rows_of(element).shape for element in elements or ta.elements("tensor_array_concat")]


@operator(ta=Steps, lod_rule="that of the elements, a level more with axis 0")
def tensor_array_stack(ta: Any, axis: int = 0, *, saved: Saved = None) -> Any:
    """Join the elements of an array along a new axis.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        The axis of the result. For LoDTensors, 0 makes a new outermost level with one sequence per element; any other
        axis is one of the values, and the structures must be equal.

    Returns
    -------
    ndarray or LoDTensor
        Has shape (0, ...) if there are no elements.

    Raises
    ------
    IndexError
        If an element is a hole.
    ShapeError, LoDError
        If an element differs from the first; the message names it.
    ValueError
        If there are no elements, and their Spec is unknown.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_stack(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]])
    """
    check_steps("tensor_array_stack", ta)
    stacked, elements = stacked_elements(ta, axis)
    if saved is not None:
        saved["shapes"] = _shapes(ta, elements)
    return stacked


@tensor_array_stack.define_infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    if one.num_levels and axis == 0:
        return one._replace(num_levels=one.num_levels + 1)
    at = _stacked_axis("tensor_array_stack", axis, len(one.shape) + 1, bool(one.num_levels))
    return one._replace(shape=(*one.shape[:at], None, *one.shape[at:]))


@tensor_array_stack.define_vjp
def _(d: Array, axis: int, out: Any, shapes: Any) -> dict[int, Array]:
    if isinstance(out, LoDTensor) and axis == 0:
        return cut_rows(d, [shape[0] for shape in shapes])
    return dict(enumerate(np.moveaxis(d, axis, 0)))


def cut_rows(d: Array, sizes: list[int]) -> dict[int, Array]:
    """Cut rows into pieces of given sizes."""
    pieces, start = {}, 0
    for index, size in enumerate(sizes):
        pieces[index] = d[start : start + size]
        start += size
    return pieces


@operator(ta=Steps, lod_rule=of_elements)
def tensor_array_concat(ta: Any, axis: int = 0, *, saved: Saved = None) -> Any:
    """Join the elements of an array along an existing axis.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        The axis of the values. 0 joins batches consecutively; any other axis requires equal structures.

    Returns
    -------
    ndarray or LoDTensor
        Has no rows, but the elements' width and dtype, if there are no elements.

    Raises
    ------
    IndexError
        If an element is a hole.
    ShapeError, LoDError
        If an element differs from the first; the message names it.
    ValueError
        If there are no elements, and their Spec is unknown.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_concat(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    check_steps("tensor_array_concat", ta)
    joined, elements = joined_elements(ta, axis)
    if saved is not None:
        saved["shapes"] = _shapes(ta, elements)
    return joined


@tensor_array_concat.define_infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    at = _joined_axis("tensor_array_concat", axis, len(one.shape))
    return one._replace(shape=(*one.shape[:at], None, *one.shape[at + 1 :]))


@tensor_array_concat.define_vjp
def _(d: Array, axis: int, shapes: Any) -> dict[int, Array]:
    axis %= d.ndim
    sizes = [shape[axis] for shape in shapes]
    if axis == 0:
        return cut_rows(d, sizes)
    return {index: np.moveaxis(piece, 0, axis) for index, piece in cut_rows(np.moveaxis(d, axis, 0), sizes).items()}


@operator(x=Dense, lod_rule="the levels of `x` without the first")
def tensor_array_unstack(x: Any, axis: int = 0) -> Any:
    """Cut a tensor along an axis.

    Parameters
    ----------
    x : array_like or LoDTensor
    axis : int
        Only 0 for a LoDTensor, whose elements are its outermost sequences.

    Returns
    -------
    TensorArray
        Its elements are read-only views.

    Raises
    ------
    DTypeError
        If x is a SparseTensor or holds Python objects.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.tensor_array_unstack(np.zeros((2, 3)), 1)
    TensorArray(3 elements)
    """
    where = "tensor_array_unstack"
    return TensorArray.over(source_of(f"{where}: x", x, cut_axis(where, axis, x)))


@tensor_array_unstack.define_infer
def _(x: Spec, axis: int) -> Spec:
    return unstacked_spec("tensor_array_unstack", x, axis)


@tensor_array_unstack.define_vjp
def _(d: dict[int, Array], x: Any, axis: int, context: Any) -> Array:
    return gradient_of_unstacked(context.new("x"), x, d, axis)
