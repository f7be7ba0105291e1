"""NumPy's functions that inspect LoDTensors, or compute number by number without being recorded."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import alike, promoted
from lodcore.base.missing import refuse_missing
from lodcore.numpy_api.protocols import FUNCTIONS, axis_of, lists_converted, refuse_symbols, stands_for
from lodcore.operators.alignment import shared
from lodcore.operators.operands import rows_of
from lodcore.tensors.foreign_columns import is_array
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, with_dates

__all__ = ["FUNCTIONS"]


@stands_for(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether structures and values are equal; nested lists are converted to sequences."""
    refuse_symbols("array_equal", (a1, a2))
    a1, a2 = lists_converted(a1, a2)
    if not (isinstance(a1, LoDTensor) and isinstance(a2, LoDTensor)) or a1.lod != a2.lod:
        return False
    return bool(np.array_equal(a1.values, a2.values, equal_nan))


@stands_for(np.allclose)
def allclose(a: Any, b: Any, *args: Any, **kwargs: Any) -> bool:
    """Return whether values are approximately equal; structures must be equal."""
    return bool(np.all(FUNCTIONS[np.isclose](*lists_converted(a, b), *args, **kwargs).values))


@stands_for(np.shape)
def shape(a: Any) -> Any:
    """Return the ragged shape."""
    return a.shape


@stands_for(np.ndim)
def ndim(a: Any) -> Any:
    """Count the axes, those of levels included."""
    return a.ndim


@stands_for(np.size)
def size(a: Any, axis: Any = None) -> Any:
    """Count the values, or the sequences of the batch."""
    if axis is None:
        return rows_of(a.get() if isinstance(a, Symbol) else a).size
    at = axis_of("size", axis, a.ndim)
    if a.shape[at] is None:
        raise TypeError(f"numpy.size: axis: is {axis}, along which sequences differ")
    return a.shape[at]


@stands_for(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the common dtype of operands."""
    given: list[Any] = list(arrays_and_dtypes)
    return promoted(*[x.dtype if hasattr(x, "num_levels") else x for x in given])


@stands_for(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Return whether the values are complex."""
    return bool(x.dtype.kind == "c")


@stands_for(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Return whether the values are not complex."""
    return not iscomplexobj(x)


def _valuewise(function: Any, count: int = 1) -> None:
    """Register a function that computes number by number on its first operands, and is not recorded."""
    names = list(inspect.signature(function).parameters)[:count]

    @stands_for(function)
    def computed(*operands: Any, **kwargs: Any) -> Any:
        """Compute number by number, as NumPy does, without being recorded."""
        refuse_symbols(function.__name__, [*operands, *kwargs.values()])
        if len(operands) < count:
            operands += tuple([kwargs.pop(name) for name in names[len(operands) :] if name in kwargs])
        rest = operands[count:]
        others = {**{f"argument {j}": x for j, x in enumerate(rest, count)}, **kwargs}
        odd = next((name for name, x in others.items() if isinstance(x, LoDTensor)), None)
        if odd is not None:
            raise TypeError(f"numpy.{function.__name__}: {odd}: is a LoDTensor; a number or an array is needed")
        return shared(function.__name__, lambda *x: function(*x, *rest, **kwargs), *operands[:count])


_valuewise(np.isclose, 2)
for _one in (np.real, np.imag, np.angle, np.isneginf, np.isposinf):
    _valuewise(_one)


@stands_for(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace nan and infinities by numbers, or by those of arrays and sequences that align with x."""
    refuse_symbols("nan_to_num", (x, nan, posinf, neginf))
    by = {"nan": nan, "posinf": posinf, "neginf": neginf}
    aligned = [name for name, one in by.items() if isinstance(one, (list, tuple)) or np.ndim(one)]

    def replaced(values: Any, *others: Any) -> Any:
        found = dict(zip(by, others, strict=True)) if others else {}
        return np.nan_to_num(values, copy, **{**by, **{name: found[name] for name in aligned}})

    others = [lists_converted(x, by[name])[1] if name in aligned else 0.0 for name in by] if aligned else []
    return shared("nan_to_num", replaced, x, *others)


@stands_for(np.isin)
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, **kwargs: Any) -> Any:
    """Return elementwise whether a number is among others, whose structure is ignored."""
    refuse_symbols("isin", (element, test_elements))
    where = "isin: test_elements"
    refuse_missing(where, test_elements)
    others = as_array(where, test_elements) if is_array(test_elements) else rows_of(test_elements)
    others = with_dates(where, np.asarray(others)) if isinstance(others, (list, tuple)) else others

    def is_among(values: Any) -> Any:
        values, among = alike([values, others])
        return np.isin(values, among, assume_unique, invert, **kwargs)

    return shared("isin", is_among, element)
