"""The operators of TensorArray, which are its methods.

Where they are recorded an array is a value, and a write makes its next version. The gradient of an array is a dict: for
each element that has one, its number and the gradient of its values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.lod_rules import computed, no_lod
from lodcore.memory import integer
from lodcore.nested import join_arrays, refuse_conversion
from lodcore.ops.common import Array, rows_of
from lodcore.rank_table import IndicesMap
from lodcore.registry import Dense, Given, Index, Spec, Steps, operator
from lodcore.structure import concat_lods
from lodcore.tensor import LoDTensor
from lodcore.tensor_array import ArrayVersion, TensorArray, integer_of, source_of

__all__ = [
    "check_steps",
    "cut_rows",
    "element_spec",
    "joined_elements",
    "number_of",
    "of_elements",
    "stacked_elements",
    "tensor_array_concat",
    "tensor_array_fill",
    "tensor_array_new",
    "tensor_array_rank",
    "tensor_array_read",
    "tensor_array_size",
    "tensor_array_sizes",
    "tensor_array_stack",
    "tensor_array_unstack",
    "tensor_array_write",
]


def check_steps(where: str, ta: Any) -> None:
    """Raise if this is not a TensorArray."""
    if not isinstance(ta, TensorArray):
        raise DTypeError(f"{where}: ta: is {type(ta).__name__}; a TensorArray is needed")


def number_of(index: Any) -> int:
    """Return the number of an element, of an index that was valid: in loops, a scalar."""
    return int(index) if type(index) is np.int64 else int(np.asarray(index).item())


def _levels_below(x: Any) -> int:
    """Count the levels that the elements have which `unstack` makes."""
    return max(getattr(x, "num_levels", 0) - 1, 0)


def element_spec(ta: Spec) -> Spec:
    """Describe an element of an array."""
    if ta.dtype.kind == "V" and not ta.shape:
        return ta._replace(kind=object)
    return ta._replace(kind=LoDTensor if ta.num_levels else np.ndarray)


#: The LoD rules of arrays, and of what is read from them.
of_elements = computed("that of the elements", lambda ta: ta.num_levels)
of_made = computed("that of the elements", lambda unstack_from: _levels_below(unstack_from))
of_cut = computed("the levels of `x` without the first", lambda x: _levels_below(x))
of_filled = computed("that of the elements", lambda filled: filled.num_levels)
of_stacked = computed(
    "that of the elements, a level more with axis 0",
    lambda ta, axis: ta.num_levels + (ta.num_levels > 0 and axis == 0),
)
of_written = computed("that of the elements", lambda ta, x: (x if element_spec(ta).kind is object else ta).num_levels)
of_read = computed(
    "that of the elements",
    lambda ta, default: getattr(default, "num_levels", 0) if element_spec(ta).kind is object else ta.num_levels,
)


# -- to make, to write, to read ----------------------------------------------------------------------------------------


@operator(size=Index, unstack_from=Dense, lod_rule=of_made)
def tensor_array_new(size: Any = None, dynamic: bool = True, unstack_from: Any = None, repeated: bool = False) -> Any:
    """Make an array: what `TensorArray(...)` records.

    Parameters
    ----------
    size : int, or array of one, optional
    dynamic : bool, default True
    unstack_from : array_like or LoDTensor, optional
    repeated : bool, default False
        Whether the call stands in the body of a loop, which makes the array anew in every step.

    Returns
    -------
    TensorArray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.array.tensor_array_new(3)
    TensorArray(3 elements, 3 of them holes)
    """
    made: Any = TensorArray.of_elements(0, {})
    made.begin(size, dynamic, unstack_from)
    return ArrayVersion.of(made, True) if repeated else made


@tensor_array_new.define_infer
def _(size: Any, dynamic: bool, unstack_from: Any, repeated: bool) -> Spec:
    if isinstance(unstack_from, Spec):
        return unstacked_spec("tensor_array_new", unstack_from, 0)
    return Spec((), np.dtype(np.void), 0, TensorArray)


@tensor_array_new.define_vjp
def _(d: dict[int, Array], unstack_from: Any, context: Any) -> tuple[Any, Any]:
    if not context.needs("unstack_from"):
        return None, None
    return None, gradient_of_unstacked(context.new("unstack_from"), unstack_from, d, 0)


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
        The array that was given; where it is recorded, its next version.

    Raises
    ------
    IndexError
        If the index is negative, or past the end of an array that does not grow.
    DTypeError
        If x is a SparseTensor or holds Python objects.

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


@operator(ta=Steps, filled=Steps, lod_rule=of_filled, writes="ta")
def tensor_array_fill(ta: Any, filled: Any, how: str = "fill") -> Any:
    """Let an array to which nothing has been written have the elements of another: what `ta.unstack(x)` does.

    Parameters
    ----------
    ta : TensorArray
        Without elements; any `size` that fits.
    filled : TensorArray
    how : str
        The method that is called, for messages.

    Returns
    -------
    TensorArray
        The array that was given; where it is recorded, its next version.

    Raises
    ------
    ValueError
        If the array has elements, or fewer slots than it needs and a fixed size.

    Examples
    --------
    >>> import lodcore
    >>> ta = lodcore.TensorArray(3)
    >>> lodcore.ops.array.tensor_array_fill(ta, lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    TensorArray(3 elements, 1 of them holes)
    """
    check_steps("tensor_array_fill", ta)
    count, slots = filled.num_slots, ta.num_slots
    if ta.known_elements():
        written = len(ta.known_elements())
        raise ValueError(
            f"TensorArray.{how}: has {written} elements that were written; only an empty one can be filled"
        )
    if count > slots and not ta.grows:
        raise ValueError(f"TensorArray.{how}: the size is fixed at {slots}; {count} elements are to be filled in")
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


@operator(ta=Steps, index=Index, default=Given, lod_rule=of_read)
def tensor_array_read(ta: Any, index: Any, default: Any = None) -> Any:
    """Read an element of an array.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.
    default : tensor or number, optional
        Returned if and only if the index is negative.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        If the index is negative and there is no default, past the end, or that of a hole.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_read(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]), 1)
    array([3, 4])
    """
    where = "TensorArray.read"
    check_steps("tensor_array_read", ta)
    at = int(index) if type(index) is np.int64 else integer_of(f"{where}: index", index)
    if at < 0:
        if default is None:
            raise IndexError(f"{where}: index: is {at}; slots count from 0")
        refuse_conversion("tensor_array_read: default", default)
        return default if isinstance(default, (LoDTensor, int, float, complex)) else np.asarray(default)
    if at >= ta.num_slots:
        raise IndexError(f"{where}: index: is {at}; the size is {ta.num_slots}{ta.hint}")
    return ta.element(where, at)


@tensor_array_read.define_infer
def _(ta: Spec, index: Any, default: Any) -> Spec:
    element = element_spec(ta)
    if element.kind is object and type(default) in (int, float, complex):
        return Spec((), np.dtype(type(default)), 0, type(default))
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
    check_steps("tensor_array_size", ta)
    return ta.num_slots


@tensor_array_size.define_infer
def _(ta: Spec) -> Spec:
    return Spec((), np.dtype(np.int64), 0)


@operator(ta=Steps, lod_rule=no_lod, differentiable=False)
def tensor_array_sizes(ta: Any, axis: int = 0) -> Any:
    """Return the length of each element along an axis: an ndarray of int64.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tensor_array_sizes(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([2, 2])
    """
    check_steps("tensor_array_sizes", ta)
    axis = integer("TensorArray.sizes: axis", axis, bools=True)
    source = ta.untouched_source
    if axis == 0 and isinstance(source, LoDTensor):
        return source.lengths
    sizes = []
    for at, element in enumerate(ta.elements("TensorArray.sizes")):
        shape = element.shape
        if not -len(shape) <= axis < len(shape) or shape[axis] is None:
            raise IndexError(f"TensorArray.sizes: axis: is {axis}; element {at} has shape {shape}")
        sizes.append(shape[axis])
    return np.array(sizes, np.int64)


@tensor_array_sizes.define_infer
def _(ta: Spec, axis: int) -> Spec:
    return Spec((None,), np.dtype(np.int64), 0)


@operator(ta=Steps, lod_rule=no_lod, differentiable=False)
def tensor_array_rank(ta: Any) -> Any:
    """Return in which order the sequences go through the steps that `unpack` made.

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
    >>> lodcore.ops.array.tensor_array_rank(steps) is indices_map
    True
    """
    check_steps("tensor_array_rank", ta)
    if ta.step_rank is None:
        raise LoDError("tensor_array_rank: ta: was not made by unpack; its steps have no rank")
    return ta.step_rank


@tensor_array_rank.define_infer
def _(ta: Spec) -> Spec:
    return Spec((None,), np.dtype(np.int32), 0, IndicesMap)


# -- all together --------------------------------------------------------------------------------------------------


def _alike(where: str, elements: list[Any]) -> list[LoD]:
    """Check that all elements have a LoD or none has, and list their structures."""
    kinds = [isinstance(element, LoDTensor) for element in elements]
    if any(kinds) and not all(kinds):
        raise LoDError(
            f"{where}: element {kinds.index(True)} has a LoD, element {kinds.index(False)} has none; all have one, or none"
        )
    return [element.lod for element in elements] if kinds[0] else []


def same_shapes(where: str, values: list[Array], except_axis: int | None) -> None:
    """Raise if shapes differ on any other axis."""

    def rest(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if except_axis is None else shape[:except_axis] + shape[except_axis + 1 :]

    for at, value in enumerate(values):
        if value.ndim != values[0].ndim or rest(value.shape) != rest(values[0].shape):
            raise ShapeError(f"{where}: element {at}: has shape {value.shape}; element 0 has {values[0].shape}")


def _with_one_lod(where: str, values: Array, lods: list[LoD], axis: int) -> Any:
    """Return values with the structure that all elements have."""
    if not lods:
        return values
    if axis == 0:
        raise ShapeError(f"{where}: axis: is 0 of the values; use axis=0")
    for at, lod in enumerate(lods):
        if lod != lods[0]:
            raise LoDError(f"{where}: element {at} has another LoD than element 0")
    return tensor_core.new_tensor(np.ascontiguousarray(values), lods[0])


def _none_of(where: str, spec: Spec | None, axis: int, stacked: bool) -> Any:
    """Return what no elements make, of what is known of them."""
    if spec is None or spec.dtype.kind == "V":
        raise ValueError(f"{where}: the array is empty, and nothing is known of its elements")
    ndim = len(spec.shape) + stacked
    if not spec.shape and not stacked:
        raise ShapeError(f"{where}: axis: elements have no axis; use stack")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{where}: axis: is {axis}; {'the result has' if stacked else 'elements have'} {ndim} axes")
    shape = [0 if size is None else size for size in spec.shape]
    if spec.num_levels:
        levels = spec.num_levels + (stacked and axis == 0)
        shape = shape if not (stacked and axis) else [*shape[: axis % ndim], 0, *shape[axis % ndim :]]
        return LoDTensor(np.empty(shape, spec.dtype), LoD.from_lengths(*[[]] * levels))
    if stacked:
        shape.insert(axis % ndim, 0)
    else:
        shape[axis % ndim] = 0
    return np.empty(shape, spec.dtype)


def stacked_elements(ta: TensorArray, axis: int) -> tuple[Any, list[Any]]:
    """Join elements along a new axis; return the result and the elements."""
    where = "TensorArray.stack"
    axis = integer(f"{where}: axis", axis, bools=True)
    if axis == 0 and isinstance(ta.untouched_source, np.ndarray):
        return ta.untouched_source, []
    elements = ta.elements(where)
    if not elements:
        return _none_of(where, ta.element_spec(), axis, True), elements
    lods = _alike(where, elements)
    values = [rows_of(element) for element in elements]
    if lods and axis == 0:
        inner = concat_lods(where, lods)
        outer = LoD.from_lengths([*map(len, elements)]).offsets()
        levels = [inner.offsets(k) for k in range(inner.num_levels)]
        joined = join_arrays(where, values, None)[0]
        return LoDTensor(joined, LoD.from_offsets(outer, *levels), share=True), elements
    same_shapes(where, values, None)
    ndim = values[0].ndim + 1
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{where}: axis: is {axis}; the result has {ndim} axes")
    return _with_one_lod(where, np.stack(values, axis), lods, axis % ndim), elements


def joined_elements(ta: TensorArray, axis: int, where: str = "TensorArray.concat") -> tuple[Any, list[Any]]:
    """Join elements along an axis that they have; return the result and the elements."""
    axis = integer(f"{where}: axis", axis, bools=True)
    source = ta.untouched_source
    if axis == 0 and isinstance(source, LoDTensor) and len(source):
        return source.flatten(0), []
    elements = ta.elements(where)
    if not elements:
        return _none_of(where, ta.element_spec(), axis, False), elements
    lods = _alike(where, elements)
    values = [rows_of(element) for element in elements]
    if values[0].ndim == 0:
        raise ShapeError(f"{where}: axis: elements have no axis; use stack")
    if not -values[0].ndim <= axis < values[0].ndim:
        raise ShapeError(f"{where}: axis: is {axis}; elements have {values[0].ndim} axes")
    axis %= values[0].ndim
    same_shapes(where, values, axis)
    if axis == 0:
        joined = join_arrays(where, values, None)[0]
        return (tensor_core.new_tensor(joined, concat_lods(where, lods)) if lods else joined), elements
    return _with_one_lod(where, np.concatenate(values, axis), lods, axis), elements


def _shapes(ta: TensorArray, elements: list[Any]) -> list[tuple[int, ...]]:
    """List the shapes of the values of all elements."""
    return [rows_of(element).shape for element in elements or ta.elements("TensorArray")]


@operator(ta=Steps, lod_rule=of_stacked)
def tensor_array_stack(ta: Any, axis: int = 0) -> Any:
    """Join the elements of an array along a new axis.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        Of the result. For LoDTensors, 0 makes a new outermost level, one sequence per element.

    Returns
    -------
    ndarray or LoDTensor
        Of no elements, shape (0, ...).

    Raises
    ------
    IndexError
        At a hole.
    ShapeError, LoDError
        Naming the element that differs from the first.
    ValueError
        If there are no elements, and nothing is known of them.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_stack(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]])
    """
    check_steps("tensor_array_stack", ta)
    return stacked_elements(ta, axis)[0]


def _axis(where: str, axis: Any, ndim: int) -> int:
    """Turn an axis, which may count from the last, into 0 .. ndim - 1."""
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{where}: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{where}: axis: is {axis}; there are {ndim} axes")
    return int(axis % ndim)


@tensor_array_stack.define_residuals("shapes")
def _(ta: Any, axis: int = 0) -> Any:
    stacked, elements = stacked_elements(ta, axis)
    return stacked, _shapes(ta, elements)


@tensor_array_stack.define_infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    if one.num_levels and axis == 0:
        return one._replace(num_levels=one.num_levels + 1)
    at = _axis("tensor_array_stack", axis, len(one.shape) + 1)
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
def tensor_array_concat(ta: Any, axis: int = 0) -> Any:
    """Join the elements of an array along an axis that they have.

    Parameters
    ----------
    ta : TensorArray
    axis : int
        Of the values. 0 puts batches one after another; another axis needs equal structures.

    Returns
    -------
    ndarray or LoDTensor
        Of no elements, no rows of their width and dtype.

    Raises
    ------
    IndexError
        At a hole.
    ShapeError, LoDError
        Naming the element that differs from the first.
    ValueError
        If there are no elements, and nothing is known of them.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tensor_array_concat(lodcore.TensorArray(unstack_from=[[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    check_steps("tensor_array_concat", ta)
    return joined_elements(ta, axis)[0]


@tensor_array_concat.define_residuals("shapes")
def _(ta: Any, axis: int = 0) -> Any:
    joined, elements = joined_elements(ta, axis)
    return joined, _shapes(ta, elements)


@tensor_array_concat.define_infer
def _(ta: Spec, axis: int) -> Spec:
    one = element_spec(ta)
    if one.kind is object:
        return one
    at = _axis("tensor_array_concat", axis, len(one.shape))
    return one._replace(shape=(*one.shape[:at], None, *one.shape[at + 1 :]))


@tensor_array_concat.define_vjp
def _(d: Array, axis: int, shapes: Any) -> dict[int, Array]:
    axis %= d.ndim
    sizes = [shape[axis] for shape in shapes]
    if axis == 0:
        return cut_rows(d, sizes)
    return {index: np.moveaxis(piece, 0, axis) for index, piece in cut_rows(np.moveaxis(d, axis, 0), sizes).items()}


@operator(x=Dense, lod_rule=of_cut)
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
        Of read-only views.

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
    where = "TensorArray.unstack"
    return TensorArray.over(source_of(f"{where}: x", x, integer(f"{where}: axis", axis, bools=True)))


def unstacked_spec(where: str, x: Spec, axis: int) -> Spec:
    """Describe the array that `unstack` makes of a tensor."""
    if x.num_levels:
        if axis not in (0, -x.num_levels - len(x.shape)):
            raise ShapeError(f"{where}: axis: is {axis}; a LoDTensor is cut along axis 0")
        return x._replace(num_levels=x.num_levels - 1, kind=TensorArray)
    at = _axis(where, axis, len(x.shape))
    return x._replace(shape=x.shape[:at] + x.shape[at + 1 :], kind=TensorArray)


@tensor_array_unstack.define_infer
def _(x: Spec, axis: int) -> Spec:
    return unstacked_spec("tensor_array_unstack", x, axis)


def gradient_of_unstacked(d_x: Array, x: Any, d: dict[int, Array], axis: int) -> Array:
    """Write the gradients of elements to where they were cut from."""
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


@tensor_array_unstack.define_vjp
def _(d: dict[int, Array], x: Any, axis: int, context: Any) -> Array:
    return gradient_of_unstacked(context.new("x"), x, d, axis)
