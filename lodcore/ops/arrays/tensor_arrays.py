"""The operators of TensorArray, which are its methods.

When recorded, an array is a value, and a write makes its next version. The gradient of an array is a dict from the
numbers of the elements that have one to the gradients of their values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.memory import index_of, integer
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import axis_of, check_index, of_another_kind
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import NO_ELEMENTS, Dense, Element, Index, Optional, Steps
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import refuse_conversion
from lodcore.tensors.rank_table import IndicesMap
from lodcore.tensors.tensor import DenseTensor, Spec
from lodcore.tensors.tensor_array import ArrayVersion, TensorArray

__all__ = ["tensor_array_read", "tensor_array_size", "tensor_array_sizes", "tensor_array_write"]


def check_steps(where: str, ta: Any, name: str = "ta") -> None:
    """Raise if an argument is not a TensorArray."""
    if not isinstance(ta, TensorArray):
        raise of_another_kind(f"{where}: {name}", type(ta), "TensorArray")


def number_of(index: Any) -> int:
    """Return a checked index, which is a 0-d array in loops, as an int."""
    return int(index) if type(index) is np.int64 else int(np.asarray(index).item())


def element_spec(ta: Spec) -> Spec:
    """Return the Spec of an element of an array."""
    shape, dtype, num_levels, _ = ta
    return Spec(shape, dtype, num_levels, object if is_empty(ta) else LoDTensor if num_levels else np.ndarray)


def is_empty(ta: Spec) -> bool:
    """Return whether this is the Spec of an array without elements so far."""
    return not ta.shape and ta.dtype == NO_ELEMENTS.dtype


#: The LoD rules of arrays and of their elements.
#: The structure of arrays and of what is read from them, in words.
of_elements = "that of the elements"


def _is_other(x: Any) -> bool:
    """Return whether an element is a SparseTensor, or of a kind from outside: reads say which when they run."""
    return isinstance(x, Spec) and x.kind not in (np.ndarray, LoDTensor, DenseTensor, object, int, float, complex)


def cut_axis(where: str, axis: Any, x: Any) -> int:
    """Check the axis along which a tensor, or a Spec, is cut into elements."""
    number = integer(f"{where}: axis", axis, bools=True)
    levels = x.num_levels if isinstance(x, (LoDTensor, Spec)) else 0
    if not levels and not isinstance(x, LoDTensor):
        return axis_of(f"{where}: axis", number, len(x.shape) if isinstance(x, Spec) else np.ndim(x), "the tensor has")
    if number not in (0, -levels - len(x.shape if isinstance(x, Spec) else x.values.shape)):
        raise ShapeError(f"{where}: axis: is {number}; a LoDTensor is cut along axis 0")
    return 0


def unstacked_spec(where: str, x: Spec, axis: int) -> Spec:
    """Return the Spec of the array that `unstack` makes of a tensor."""
    at = cut_axis(where, axis, x)
    if x.num_levels:
        return x._replace(num_levels=x.num_levels - 1, kind=TensorArray)
    return x._replace(shape=x.shape[:at] + x.shape[at + 1 :], kind=TensorArray)


def gradient_of_unstacked(d_x: Array, x: Any, d: dict[int, Array], axis: int) -> Array:
    """Write the gradients of elements to the positions from which the elements were cut."""
    d_x[...] = 0
    if isinstance(x, LoDTensor):
        bounds = x.lod.row_offsets(0)
        for index, one in d.items():
            d_x[bounds[index] : bounds[index + 1]] = one
    else:
        by_step = np.moveaxis(d_x, axis, 0)
        for index, one in d.items():
            by_step[index] = one
    return d_x


def refuse_name(where: str, given: Any, needed: str) -> None:
    """Raise for text, such as the name of a result, where it has no meaning."""
    if type(given) is str:
        raise DTypeError(f"{where}: is {given!r}; {needed} is needed")


# -- making, writing, reading ------------------------------------------------------------------------------------------


@operator(size=Index, unstack_from=Dense, lod_rule=of_elements)
def tensor_array_new(size: Any = None, dynamic: bool = True, unstack_from: Any = None, repeated: bool = False) -> Any:
    """Make an array; this is the operator that `TensorArray(...)` records.

    Parameters
    ----------
    size : int, or array of one, optional
    dynamic : bool, default True
    unstack_from : array_like or LoDTensor, optional
    repeated : bool, default False
        Whether the call is in the body of a loop, which makes a new array in every step.

    Returns
    -------
    TensorArray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.arrays.tensor_arrays.tensor_array_new(3)
    TensorArray(3 elements, 3 of them holes)
    """
    made: Any = TensorArray.of_elements(0, {})
    made.begin(size, dynamic, unstack_from)
    return ArrayVersion.of(made, True) if repeated else made


@tensor_array_new.define_infer
def _(size: Any, dynamic: bool, unstack_from: Any, repeated: bool) -> Spec:
    if isinstance(unstack_from, Spec):
        return unstacked_spec("TensorArray: unstack_from", unstack_from, 0)
    return Spec((), np.dtype(np.void), 0, TensorArray)


@tensor_array_new.define_vjp
def _(d: dict[int, Array], unstack_from: Any, needs: Any, context: Any) -> tuple[Any, Any]:
    if not needs.unstack_from:
        return None, None
    return None, gradient_of_unstacked(context.new("unstack_from"), unstack_from, d, 0)


@operator(ta=Steps, index=Index, x=Element, lod_rule=of_elements, writes="ta")
def tensor_array_write(ta: Any, index: Any, x: Any, data_shared: bool = True) -> Any:
    """Write an element of an array.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.
    x : array_like, LoDTensor, SparseTensor, or a registered kind
        `ta.write` calls it `value`.
    data_shared : bool, default True
        Whether to store x itself, sharing its memory, or a copy.

    Returns
    -------
    TensorArray
        The given array, or its next version if recorded; as a method, None.

    Raises
    ------
    IndexError
        If the index is negative, or past the end of an array of fixed size.
    DTypeError
        If x holds Python objects.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_write(lodcore.TensorArray(), 0, [1, 2])
    TensorArray(1 element)
    """
    if type(ta) is ArrayVersion:
        return ta.written(index, x, data_shared)
    check_steps("tensor_array_write", ta)
    ta.put(index, x, data_shared)
    return ta


tensor_array_write.other_names = {"value": "x"}


@tensor_array_write.define_infer
def _(ta: Spec, index: Any, x: Any, data_shared: bool) -> Spec:
    refuse_name("tensor_array_write: data_shared", data_shared, "True or False")
    check_index("tensor_array_write: index", index)
    if not isinstance(x, Spec):
        return ta
    if _is_other(x):
        return NO_ELEMENTS
    known = element_spec(ta)
    if known.kind is object:
        return Spec(x.shape, x.dtype, x.num_levels, TensorArray)
    same_rows = ta.shape[:1] == x.shape[:1]  # the numbers of rows of elements may differ
    return ta if same_rows or not ta.shape else ta._replace(shape=(None, *ta.shape[1:]))


@tensor_array_write.define_vjp
def _(d: dict[int, Any], index: Any) -> tuple[Any, None, Any]:
    return d, None, d.pop(number_of(index), None)


@operator(ta=Steps, filled=Steps, lod_rule=of_elements, writes="ta")
def tensor_array_fill(ta: Any, filled: Any, how: str = "fill") -> Any:
    """Fill an empty array with the elements of another one, as `ta.unstack(x)` does.

    Parameters
    ----------
    ta : TensorArray
        An array without elements, of any `size` that fits.
    filled : TensorArray
    how : str
        The name of the method that was called, for messages.

    Returns
    -------
    TensorArray
        The given array, or its next version if recorded.

    Raises
    ------
    ValueError
        If the array has elements, or has a fixed size that is too small.

    Examples
    --------
    >>> import lodcore
    >>> ta = lodcore.TensorArray(3)
    >>> lodcore.ops.arrays.tensor_arrays.tensor_array_fill(ta, lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    TensorArray(3 elements, 1 of them holes)
    """
    check_steps("tensor_array_fill", ta)
    check_steps("tensor_array_fill", filled, "filled")
    count, slots = filled.num_slots, ta.num_slots
    if ta.known_elements():
        written = len(ta.known_elements())
        raise ValueError(
            f"tensor_array_{how}: has {written} elements that were written; only an empty one can be filled"
        )
    if count > slots and not ta.grows:
        raise ValueError(f"tensor_array_{how}: the size is fixed at {slots}; {count} elements are to be filled in")
    made = filled.snapshot()
    made.reserve(max(slots, count), ta.grows)
    if type(ta) is ArrayVersion:
        return ArrayVersion.of(made)
    ta.become(made)
    return ta


@tensor_array_fill.define_infer
def _(ta: Spec, filled: Spec, how: str) -> Spec:
    return filled


@tensor_array_fill.define_vjp
def _(d: dict[int, Any]) -> tuple[None, Any]:
    return None, d


@operator(ta=Steps, index=Index, default=Optional, lod_rule=of_elements)
def tensor_array_read(ta: Any, index: Any, default: Any = None) -> Any:
    """Read an element of an array.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.
    default : tensor or number, optional
        The result if and only if the index is negative.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        If the index is negative and there is no default, is past the end, or is that of a hole.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_read(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]), 1)
    array([3, 4])
    """
    where = "tensor_array_read"
    if not isinstance(ta, TensorArray):
        check_steps(where, ta)
    at = int(index) if type(index) is np.int64 else index_of(f"{where}: index", index)
    if default is not None:
        refuse_name(f"{where}: default", default, "a tensor or a number")
    if at < 0:
        if default is None:
            raise IndexError(f"{where}: index: is {at}; slots count from 0")
        refuse_conversion(f"{where}: default", default)
        return default if isinstance(default, (LoDTensor, int, float, complex)) else np.asarray(default)
    return ta.element(where, at)


@tensor_array_read.define_infer
def _(ta: Spec, index: Any, default: Any) -> Spec:
    check_index("tensor_array_read: index", index)
    refuse_name("tensor_array_read: default", default, "a tensor or a number")
    element = element_spec(ta)
    if element.kind is object and type(default) in (int, float, complex):
        return Spec((), np.dtype(type(default)), 0, type(default))
    if element.kind is object and isinstance(default, np.generic):
        return Spec((), default.dtype)
    return default if element.kind is object and isinstance(default, Spec) else element


@tensor_array_read.define_vjp
def _(d: Any, index: Any) -> tuple[Any, None, Any]:
    at = number_of(index)
    return (None, None, d) if at < 0 else ({at: d}, None, None)


@operator(ta=Steps, lod_rule=no_lod, differentiable=False)
def tensor_array_size(ta: Any) -> Any:
    """Return the number of elements of an array, holes included.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_size(lodcore.TensorArray(3))
    3
    """
    if not isinstance(ta, TensorArray):
        check_steps("tensor_array_size", ta)
    return ta.num_slots


@tensor_array_size.define_infer
def _(ta: Spec) -> Spec:
    return Spec((), np.dtype(np.int64), 0)


@operator(ta=Steps, lod_rule=no_lod, differentiable=False)
def tensor_array_sizes(ta: Any, axis: int = 0) -> Any:
    """Return the length of each element along an axis: an ndarray of int64.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        Axis 0 counts the outermost sequences of a LoDTensor or the rows of an ndarray.

    Raises
    ------
    IndexError
        If an element is a hole or does not have the axis.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tensor_array_sizes(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([2, 2])
    """
    check_steps("tensor_array_sizes", ta)
    axis = integer("tensor_array_sizes: axis", axis, bools=True)
    source = ta.untouched_source
    if axis == 0 and isinstance(source, LoDTensor):
        return source.lengths
    sizes = []
    for at, element in enumerate(ta.elements("tensor_array_sizes")):
        shape = element.shape
        if not -len(shape) <= axis < len(shape) or shape[axis] is None:
            raise IndexError(f"tensor_array_sizes: axis: is {axis}; element {at} has shape {shape}")
        sizes.append(shape[axis])
    return np.array(sizes, np.int64)


@tensor_array_sizes.define_infer
def _(ta: Spec, axis: int) -> Spec:
    return Spec((None,), np.dtype(np.int64), 0)


@operator(ta=Steps, lod_rule=no_lod, differentiable=False)
def tensor_array_rank(ta: Any) -> Any:
    """Return the order of the sequences in the steps that `unpack` made.

    Returns
    -------
    IndicesMap

    Raises
    ------
    LoDError
        If the array was not made by `unpack`.

    Examples
    --------
    >>> import lodcore
    >>> steps, indices_map = lodcore.tensor_array_unpack([[1, 2], [], [3, 4, 5]], 0)
    >>> lodcore.ops.arrays.tensor_arrays.tensor_array_rank(steps) is indices_map
    True
    """
    check_steps("tensor_array_rank", ta)
    if ta.step_rank is None:
        raise LoDError("tensor_array_rank: ta: was not made by unpack; its steps have no rank")
    return ta.step_rank


@tensor_array_rank.define_infer
def _(ta: Spec) -> Spec:
    return Spec((None,), np.dtype(np.int32), 0, IndicesMap)
