"""The operators of TensorArray. Where they are recorded an array is a value: a write makes its next version.

The gradient of an array is a dict: for each element that has one, its number and the gradient of its values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import elements
from lodcore.errors import DTypeError, ShapeError
from lodcore.lod_rules import computed
from lodcore.ops.common import Array, rows_of
from lodcore.registry import Dense, Index, Op, Spec, Steps, op, operator
from lodcore.tensor import LoDTensor
from lodcore.tensor_array import TensorArray

__all__ = [
    "tensor_array_concat",
    "tensor_array_read",
    "tensor_array_size",
    "tensor_array_sizes",
    "tensor_array_stack",
    "tensor_array_unstack",
    "tensor_array_write",
]


def plain(method: Any) -> Any:
    """Give the method that computes, whether or not a Block is open."""
    return getattr(method, "__func__", method).__wrapped__


def check_steps(where: str, ta: Any) -> None:
    """Raise if this is no TensorArray."""
    if not isinstance(ta, TensorArray):
        raise DTypeError(f"{where}: ta: is {type(ta).__name__}; a TensorArray is needed")


_READ, _WRITE = plain(TensorArray.read), plain(TensorArray.write)


def number_of(index: Any) -> int:
    """Give the number of an element, of an index that was valid: in loops, a scalar."""
    return int(index) if type(index) is np.int64 else int(np.asarray(index).item())


#: The LoD rules of arrays, and of what is read from them.
of_elements = computed("that of the elements", lambda ta: ta.num_levels)
of_written = computed("that of the elements", lambda ta, x: (x if element_spec(ta).kind is object else ta).num_levels)


def element_spec(ta: Spec) -> Spec:
    """Describe an element of an array."""
    if ta.dtype.kind == "V" and not ta.shape:
        return ta._replace(kind=object)
    return ta._replace(kind=LoDTensor if ta.num_levels else np.ndarray)


@operator(ta=Steps, index=Index, x=Dense, lod_rule=of_written, writes="ta")
def tensor_array_write(ta: Any, index: Any, x: Any, data_shared: bool = True) -> Any:
    """Write an element of an array.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.
    x : array_like or LoDTensor
    data_shared : bool, default True
        Keep x itself, so that memory is shared, or a copy.

    Returns
    -------
    TensorArray
        The array that was given.

    Raises
    ------
    IndexError
        If the index is negative, or past the end of an array that does not grow.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_write(lodcore.TensorArray(), 0, [1, 2])
    TensorArray(1 element)
    """
    check_steps("tensor_array_write", ta)
    _WRITE(ta, index, x, data_shared)
    return ta


@tensor_array_write.define_infer
def _(ta: Spec, index: Any, x: Any, data_shared: bool) -> Spec:
    if not isinstance(x, Spec):
        return ta
    known = element_spec(ta)
    shape = tuple([None, *x.shape[1:]]) if x.shape else ()
    return Spec(shape, x.dtype, x.num_levels, TensorArray) if known.kind is object else ta


@tensor_array_write.define_vjp
def _(d: dict[int, Any], index: Any) -> tuple[Any, None, Any]:
    return d, None, d.pop(number_of(index), None)


@operator(ta=Steps, index=Index, lod_rule=of_elements)
def tensor_array_read(ta: Any, index: Any) -> Any:
    """Read an element of an array.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        If the index is negative, past the end, or that of a hole.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_read(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]), 1)
    array([3, 4])
    """
    check_steps("tensor_array_read", ta)
    return _READ(ta, index)


@tensor_array_read.define_infer
def _(ta: Spec, index: Any) -> Spec:
    return element_spec(ta)


@tensor_array_read.define_vjp
def _(d: Array, index: Any) -> tuple[dict[int, Array], None]:
    return {number_of(index): d}, None


@op(lod="none", gradient=False)
def tensor_array_size(ta: Steps) -> Any:
    """Give the number of elements of an array, holes included.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_size(lodcore.TensorArray(3))
    3
    """
    check_steps("tensor_array_size", ta)
    return ta._size


@tensor_array_size.infer
def _(ta: Spec) -> Spec:
    return Spec((), np.dtype(np.int64), 0)


@op(lod="none", gradient=False)
def tensor_array_sizes(ta: Steps, axis: int = 0) -> Any:
    """Give the length of each element along an axis: an ndarray of int64.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tensor_array_sizes(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([2, 2])
    """
    check_steps("tensor_array_sizes", ta)
    return plain(TensorArray.sizes)(ta, axis)


@tensor_array_sizes.infer
def _(ta: Spec, axis: int) -> Spec:
    return Spec((None,), np.dtype(np.int64), 0)


# -- all together --------------------------------------------------------------------------------------------------


@op(lod="own")
def tensor_array_stack(ta: Steps, axis: int = 0) -> Any:
    """Put the elements of an array behind each other along a new axis.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        Of the result. For LoDTensors, 0 makes a new outermost level, one sequence an element.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        At a hole.
    ShapeError, LoDError
        Naming the element that differs from the first.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_stack(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]])
    """
    check_steps("tensor_array_stack", ta)
    return plain(TensorArray.stack)(ta, axis)


def _axis(where: str, axis: Any, ndim: int) -> int:
    """Turn an axis, which may count from the last, into 0 .. ndim - 1."""
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{where}: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{where}: axis: is {axis}; there are {ndim} axes")
    return int(axis % ndim)


def _saving_sizes(made: Op, method: Any) -> None:
    """Let an operator that joins elements save their rows."""

    @made.saving
    def _(ta: Any, axis: int = 0) -> Any:
        joined = plain(method)(ta, axis)
        values = [rows_of(element) for element in ta._elements("stack")]
        return joined, [value.shape for value in values]


_saving_sizes(tensor_array_stack, TensorArray.stack)


@tensor_array_stack.infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    if one.num_levels and axis == 0:
        return one._replace(num_levels=one.num_levels + 1)
    at = _axis("tensor_array_stack", axis, len(one.shape) + 1)
    return one._replace(shape=(*one.shape[:at], None, *one.shape[at:]))


@tensor_array_stack.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    shapes, axis = saved.hidden, saved.axis
    if isinstance(saved.out, LoDTensor) and axis == 0:
        return (cut_rows(d, [shape[0] for shape in shapes]),)
    return (dict(enumerate(np.moveaxis(d, axis, 0))),)


def cut_rows(d: Array, sizes: list[int]) -> dict[int, Array]:
    """Cut rows into pieces of given sizes."""
    pieces, start = {}, 0
    for index, size in enumerate(sizes):
        pieces[index] = d[start : start + size]
        start += size
    return pieces


@op(lod="own")
def tensor_array_concat(ta: Steps, axis: int = 0) -> Any:
    """Put the elements of an array behind each other along an axis that they have.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        Of the values. 0 puts batches behind each other; another axis needs equal structures.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        At a hole.
    ShapeError, LoDError
        Naming the element that differs from the first.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_concat(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    check_steps("tensor_array_concat", ta)
    return plain(TensorArray.concat)(ta, axis)


_saving_sizes(tensor_array_concat, TensorArray.concat)


@tensor_array_concat.infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    at = _axis("tensor_array_concat", axis, len(one.shape))
    return one._replace(shape=(*one.shape[:at], None, *one.shape[at + 1 :]))


@tensor_array_concat.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    axis = saved.axis % d.ndim
    sizes = [shape[axis] for shape in saved.hidden]
    if axis == 0:
        return (cut_rows(d, sizes),)
    return ({index: np.moveaxis(piece, 0, axis) for index, piece in cut_rows(np.moveaxis(d, axis, 0), sizes).items()},)


@op(lod="own")
def tensor_array_unstack(x: Dense, axis: int = 0) -> Any:
    """Cut a tensor along an axis.

    Parameters
    ----------
    x : array_like or LoDTensor
    axis : int
        Only 0 for a LoDTensor, whose elements are its outermost sequences.

    Returns
    -------
    TensorArray
        Of read-only views.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.tensor_array_unstack(np.zeros((2, 3)), 1)
    TensorArray(3 elements)
    """
    return plain(TensorArray.unstack)(TensorArray, x, axis)


@tensor_array_unstack.infer
def _(x: Spec, axis: int) -> Spec:
    if x.num_levels:
        if axis not in (0, -x.num_levels - len(x.shape)):
            raise ShapeError(f"tensor_array_unstack: axis: is {axis}; a LoDTensor is cut along axis 0")
        return x._replace(num_levels=x.num_levels - 1, kind=TensorArray)
    at = _axis("tensor_array_unstack", axis, len(x.shape))
    return x._replace(shape=x.shape[:at] + x.shape[at + 1 :], kind=TensorArray)


@tensor_array_unstack.backward
def _(saved: Any, d: dict[int, Array]) -> tuple[Any]:
    d_x = saved.new("x")
    d_x[...] = 0
    if isinstance(saved.x, LoDTensor):
        bounds = saved.x.lod.row_offsets(0)
        for index, one in d.items():
            d_x[bounds[index] : bounds[index + 1]] = one
    else:
        by_step = np.moveaxis(d_x, saved.axis, 0)
        for index, one in d.items():
            by_step[index] = one
    return (d_x,)


for _name in ("write", "read", "size", "sizes", "stack", "concat", "unstack"):
    elements.RECORDED[_name] = globals()[f"tensor_array_{_name}"]
