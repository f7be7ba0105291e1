"""The table that attaches operators as methods, indexing, and NumPy's protocols to LoDTensors and Variables.

`docs/numpy.md` describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.base.naming import call_named, named, without_any
from lodcore.errors import DTypeError
from lodcore.numpy_api import dense_facts, dense_joins, dense_orders, dense_products, dense_shapes
from lodcore.numpy_api.dense_linalg import DENSE as DENSE  # importing it registers its functions
from lodcore.numpy_api.functions import FUNCTIONS  # importing it registers its functions
from lodcore.numpy_api.indexing import getitem, refuse_setitem, setitem
from lodcore.numpy_api.number_by_number import astype, clip, copy
from lodcore.numpy_api.number_by_number import round as rounded
from lodcore.numpy_api.protocols import array_function, array_ufunc, cumsum, lists_converted
from lodcore.numpy_api.shapes import matrix_transpose, nonzero, ptp, repeat, reshape, squeeze, swapaxes, transpose
from lodcore.numpy_api.sorting import argsort, cumprod
from lodcore.ops.move.lod_data import structure_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import is_moment
from lodcore.tensors.rank_table import IndicesMap

__all__ = ["FUNCTIONS", "MethodBodies", "attach"]


def _operator(function: Callable[..., Any], reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return the method of an operator, which returns NotImplemented if the other operand is not a tensor."""

    def operator(self: Any, other: Any) -> Any:
        try:
            return function(self, other)
        except DTypeError:
            if _is_operand(other):
                raise
            return NotImplemented

    def reflected_operator(self: Any, other: Any) -> Any:
        try:
            return function(other, self)
        except DTypeError:
            if _is_operand(other):
                raise
            return NotImplemented

    return reflected_operator if reflected else operator


def _is_operand(x: Any) -> bool:
    known = isinstance(x, (Number, str, bytes, list, tuple, Symbol)) or hasattr(x, "__array__")
    return known or is_moment(x) or hasattr(x, "toarray")  # of SciPy, which would try other operators


def _binary(ufunc: np.ufunc, reflected: bool = False) -> Callable[[Any, Any], Any]:
    return _operator(lambda x, y: ops.elementwise([x, y], ufunc), reflected)


def _compared(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return the method of a comparison, which converts nested lists to sequences."""
    return lambda x, y: function(*lists_converted(x, y)) if isinstance(y, (list, tuple)) else function(x, y)


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    def operator(self: Any) -> Any:
        return ops.elementwise([self], ufunc)

    return operator


#: Exponents for which NumPy has a special function.
POWERS = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}


def _power(x: Any, y: Any) -> Any:
    if type(y) in (int, float) and y in POWERS and x.dtype.kind in ("iufc" if y == 2 and type(y) is int else "fc"):
        return ops.elementwise([x], POWERS[y])
    return ops.elementwise([x, y], np.power)


_pow = _operator(_power)


class MethodBodies:
    """The methods that LoDTensors and Variables share."""

    __slots__ = ()

    # -- operators -----------------------------------------------------------------------------------------------------

    __add__ = _operator(ops.add)
    __radd__ = _operator(ops.add, True)
    __sub__ = _operator(ops.minus)
    __rsub__ = _operator(ops.minus, True)
    __mul__ = _operator(ops.mul)
    __rmul__ = _operator(ops.mul, True)
    __truediv__ = _operator(ops.div)
    __rtruediv__ = _operator(ops.div, True)
    __matmul__ = _operator(ops.matmul)
    __rmatmul__ = _operator(ops.matmul, True)
    __floordiv__ = _binary(np.floor_divide)
    __rfloordiv__ = _binary(np.floor_divide, True)
    __mod__ = _binary(np.remainder)
    __rmod__ = _binary(np.remainder, True)

    def __pow__(self: Any, other: Any, modulo: Any = None) -> Any:
        return _pow(self, other) if modulo is None else NotImplemented  # as NumPy's arrays

    __rpow__ = _binary(np.power, True)
    __and__ = _binary(np.bitwise_and)
    __rand__ = _binary(np.bitwise_and, True)
    __or__ = _binary(np.bitwise_or)
    __ror__ = _binary(np.bitwise_or, True)
    __xor__ = _binary(np.bitwise_xor)
    __rxor__ = _binary(np.bitwise_xor, True)
    __lshift__ = _binary(np.left_shift)
    __rlshift__ = _binary(np.left_shift, True)
    __rshift__ = _binary(np.right_shift)
    __rrshift__ = _binary(np.right_shift, True)

    __lt__ = _operator(ops.less_than)
    __le__ = _operator(ops.less_equal_than)
    __gt__ = _operator(ops.greater_than)
    __ge__ = _operator(ops.greater_equal_than)
    __eq__ = _operator(_compared(ops.equal))
    __ne__ = _operator(_compared(ops.not_equal))

    __neg__ = _unary(np.negative)
    __pos__ = _unary(np.positive)
    __abs__ = _unary(np.absolute)
    __invert__ = _unary(np.invert)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __round__(self, ndigits: int | None = None) -> Any:
        return rounded(self, ndigits or 0)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("rows cannot be deleted; select those that remain: x[mask]")

    def __contains__(self: Any, value: Any) -> bool:
        try:
            return bool(ops.any(ops.equal(self, value)))
        except DTypeError:  # no number equals text, None or another object
            if isinstance(value, Symbol) or (hasattr(value, "__array__") and not isinstance(value, np.generic)):
                raise
            return False

    # -- NumPy ---------------------------------------------------------------------------------------------------------

    __array_ufunc__ = array_ufunc
    __array_function__ = array_function

    # -- reductions ----------------------------------------------------------------------------------------------------

    sum = ops.sum
    prod = ops.prod
    mean = ops.mean
    var = ops.var
    std = ops.std
    max = ops.max
    min = ops.min
    any = ops.any
    all = ops.all
    argmax = ops.argmax
    argmin = ops.argmin

    # -- methods -------------------------------------------------------------------------------------------------------

    argsort = argsort
    clip = clip
    cumprod = cumprod
    cumsum = cumsum
    round = rounded

    def astype(
        self: Any, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """Convert to another dtype.

        Parameters
        ----------
        dtype : dtype_like
        order, subok
            Ignored, but accepted as by the method of arrays.
        casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
            Which conversions are allowed.
        copy : bool
            Whether to copy values that already have the dtype; if not, the result is then the tensor itself.

        Returns
        -------
        LoDTensor
            Has the same LoD.

        Raises
        ------
        DTypeError
            If the dtype does not exist, or `casting` does not allow it.
        ValueError
            If text is not a number.
        """
        return astype(self, dtype, order=order, casting=casting, subok=subok, copy=copy)

    def copy(self) -> Any:
        """Copy the values; the structure is shared."""
        return copy(self)

    def per_sequence(self: Any, v: Any, level: int = -1) -> Any:
        """Repeat an entry per sequence for its rows; see `lodcore.ops.per_sequence`.

        Parameters
        ----------
        v : LoDTensor or array_like
            One entry per sequence of the level.
        level : int

        Returns
        -------
        LoDTensor
        """
        return ops.per_sequence(self, v, level)

    with_values = ops.with_values
    num = ops.lod_num
    positions = ops.lod_positions
    segment_ids = ops.lod_segment_ids
    nonzero = nonzero
    ptp = named(ptp)
    repeat = repeat
    squeeze = squeeze
    swapaxes = swapaxes

    def reshape(self, *shape: Any) -> Any:
        """Reshape rows; the axes of levels are kept.

        Parameters
        ----------
        *shape : int or None, or one tuple of them
            First None, or -1, for axis 0 and for each level: `x.reshape(None, None, 2, 3)` for one level. Then the
            shape of a row, in which one size may be -1. A single -1 lists all values.

        Returns
        -------
        LoDTensor, or ndarray for a single -1

        Raises
        ------
        ShapeError
            If the axes of levels do not stay, or a row has another number of values.

        Examples
        --------
        >>> import numpy as np
        >>> import lodcore
        >>> x = lodcore.LoDTensor.from_lengths(np.arange(18).reshape(3, 6), [1, 2])
        >>> x.reshape(None, None, 2, -1).shape
        (2, None, 2, 3)
        """
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Any:
        """Permute axes: of rows, and of levels if their sequences have equal lengths and are not empty.

        Parameters
        ----------
        *axes : int, or one tuple of int
            All axes in their new order; by default, they are reversed.

        Returns
        -------
        LoDTensor

        Raises
        ------
        LoDError
            If sequences of a level that is moved have different lengths, or are empty.
        ShapeError, DTypeError
            If an axis does not exist, or is missing.
        """
        return transpose(self, None if not axes else axes[0] if isinstance(axes[0], (list, tuple)) else axes)

    @property
    def T(self) -> Any:
        """The tensor with reversed axes."""
        return transpose(self)

    @property
    def mT(self) -> Any:
        """The tensor with the last two axes swapped."""
        return swapaxes(self, -1, -2)

    pool = ops.sequence_pool
    softmax = ops.sequence_softmax
    logsumexp = ops.sequence_logsumexp
    topk = ops.sequence_topk
    expand = ops.sequence_expand
    expand_as = ops.sequence_expand_as
    reverse = ops.sequence_reverse
    gather = ops.gather_sequences


def _iterated(self: Any) -> Iterator[Any]:
    """Yield the sequences, or rows."""
    return (self[at] for at in range(len(self)))


def _values(self: Any) -> Any:
    """Return the rows of all sequences consecutively; for an IndicesMap, the map."""
    return structure_of(self, "values") if self.spec.kind is IndicesMap else ops.rows(self)


def _flatten(self: Any, level: Any = None, *, order: str = "C") -> Any:
    """Drop a level, by default the outermost; of a dense array, return all values in one axis."""
    if self.num_levels:
        return ops.drop_level(self, 0 if level is None else level)
    return dense_shapes.ravel(self, level if isinstance(level, str) else order)


def _dense_or(dense: Callable[..., Any], nested: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method that calls one function on a dense Variable, another one on sequences."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (nested if self.num_levels else dense)(self, *args, **kwargs)

    method.__doc__ = f"{_line(nested)}\n\nOf a dense array: {_line(dense)}"
    return method


def _line(function: Callable[..., Any]) -> str:
    """Return the first line of a docstring."""
    return (function.__doc__ or "").partition("\n")[0]


def _of_dense(name: str, dense: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method that only dense Variables have."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.num_levels:
            raise AttributeError(f"Variable {self.name}: has levels; {name} is a method of dense arrays")
        return call_named(f"numpy.{name}", dense, self, *args, **kwargs)

    method.__doc__ = f"{_line(dense)}\n\nOnly dense arrays have it, not sequences."
    return method


def _reshape(self: Any, *shape: Any, order: str = "C") -> Any:
    """Give the values another shape; None keeps the length of the first axis, even where it is not known."""
    return dense_shapes.reshape(self, shape[0] if len(shape) == 1 else shape, order)


def _compress(self: Any, condition: Any, axis: Any = None) -> Any:
    """Keep the entries along an axis for which a condition holds; by default, values."""
    return dense_joins.compress(condition, self, axis)


def _transpose(self: Any, *axes: Any) -> Any:
    """Permute axes; by default, reverse all of them."""
    several = axes and (axes[0] is None or isinstance(axes[0], (list, tuple)))
    return dense_shapes.transpose(self, axes[0] if several else axes or None)


#: Attributes that every class defines itself.
OWN = {
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__hash__",
    "__module__",
    "__qualname__",
    "__slots__",
    "__static_attributes__",
    "__weakref__",
}

#: Attributes that only one of the kinds needs: x[i] and iteration of LoDTensors are compiled.
TENSORS: dict[str, Any] = {"_select": getitem, "__setitem__": setitem}
SYMBOLS: dict[str, Any] = {
    "__getitem__": getitem,
    "__setitem__": refuse_setitem,
    "__iter__": _iterated,
    "values": property(_values),
    "flatten": _flatten,
    "reshape": _dense_or(_reshape, MethodBodies.reshape),
    "transpose": _dense_or(_transpose, MethodBodies.transpose),
    "T": property(_dense_or(_transpose, MethodBodies.transpose), doc="The tensor with reversed axes."),
    "mT": property(
        _dense_or(dense_shapes.matrix_transpose, matrix_transpose), doc="The tensor with the last two axes swapped."
    ),
    "swapaxes": _dense_or(dense_shapes.swapaxes, swapaxes),
    "squeeze": _dense_or(dense_shapes.squeeze, squeeze),
    "repeat": _dense_or(dense_shapes.repeat, repeat),
    "ravel": _of_dense("ravel", dense_shapes.ravel),
    "diagonal": _of_dense("diagonal", dense_shapes.diagonal),
    "trace": _of_dense("trace", dense_shapes.trace),
    "take": _of_dense("take", dense_joins.take),
    "compress": _of_dense("compress", _compress),
    "size": property(_of_dense("size", dense_facts.size), doc="The number of values of a dense array."),
    "dot": _of_dense("dot", dense_products.dot),
    "argsort": _dense_or(dense_orders.argsort, argsort),
    "cumsum": _dense_or(dense_orders.cumsum, cumsum),
    "cumprod": _dense_or(dense_orders.cumprod, cumprod),
    "conj": _of_dense("conj", dense_orders.conjugate),
    "conjugate": _of_dense("conjugate", dense_orders.conjugate),
    "real": property(_of_dense("real", dense_orders.real)),
    "imag": property(_of_dense("imag", dense_orders.imag)),
}


without_any(MethodBodies)
for _name, _member in vars(MethodBodies).items():
    if isinstance(_member, FunctionType) and _member.__qualname__ == f"MethodBodies.{_name}":
        _member.__qualname__ = f"LoDTensor.{_name}"  # which Python's own errors show


def attach(kind: type) -> None:
    """Attach the methods to a class of tensors, or of placeholders for tensors.

    Parameters
    ----------
    kind : type
        LoDTensor, or a subclass of Symbol.
    """
    table = {name: member for name, member in vars(MethodBodies).items() if name not in OWN}
    table |= SYMBOLS if issubclass(kind, Symbol) else TENSORS
    for name, member in table.items():
        setattr(kind, name, member)


attach(LoDTensor)
