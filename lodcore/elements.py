"""The elements of a TensorArray: checks, and what they are views of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from lodcore import buffers, tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.nested import as_array, as_values
from lodcore.symbol import Symbol, open_block
from lodcore.tensor import LoDTensor

__all__ = [
    "RECORDED",
    "alike",
    "check_sizes",
    "one_kind",
    "recorded",
    "same_shapes",
    "slot_number",
    "source_of",
    "values_of",
    "with_one_lod",
]

Array = np.ndarray[Any, Any]
Method = TypeVar("Method", bound=Callable[..., Any])

#: The operators that stand behind the methods; `ops.array` enters them.
RECORDED: dict[str, Any] = {}


def recorded(method: Method) -> Method:
    """Let a method record itself where a Variable is given, a Block is open, or one has written to the array."""
    name = method.__name__

    @functools.wraps(method)
    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            open_block() is None
            and (isinstance(first, type) or first._block is None)
            and not any(isinstance(given, Symbol) for given in (*args, *kwargs.values()))
        ):
            return method(first, *args, **kwargs)
        if "value" in kwargs:  # as `x` of the operator
            kwargs["x"] = kwargs.pop("value")
        return RECORDED[name](*args, **kwargs) if isinstance(first, type) else RECORDED[name](first, *args, **kwargs)

    return call  # type: ignore[return-value]


def values_of(elements: list[Any]) -> list[Array]:
    """Give the values of elements of either kind."""
    return [element.values if isinstance(element, LoDTensor) else element for element in elements]


def alike(name: str, elements: list[Any]) -> tuple[list[Any], list[LoD]]:
    """Check that all elements have a LoD or none has, and list their structures."""
    if not elements:
        raise ValueError(f"TensorArray.{name}: the array is empty; at least one element is needed")
    kinds = [isinstance(element, LoDTensor) for element in elements]
    if any(kinds) and not all(kinds):
        raise LoDError(
            f"TensorArray.{name}: element {kinds.index(True)} has a LoD, element {kinds.index(False)} has none; "
            "all or none have one"
        )
    return elements, [element.lod for element in elements] if kinds[0] else []


def one_kind(where: str, elements: list[Array]) -> list[Array]:
    """Make elements C-contiguous and of one dtype."""
    same_shapes("pack", elements, 0)
    dtype = np.result_type(*{element.dtype for element in elements})
    return [as_values(where, np.ascontiguousarray(element, dtype)) for element in elements]


def same_shapes(name: str, values: list[Array], except_axis: int | None) -> None:
    """Raise if shapes differ on any other axis."""

    def rest(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if except_axis is None else shape[:except_axis] + shape[except_axis + 1 :]

    for at, value in enumerate(values):
        if value.ndim != values[0].ndim or rest(value.shape) != rest(values[0].shape):
            raise ShapeError(
                f"TensorArray.{name}: element {at}: has shape {value.shape}; element 0 has {values[0].shape}"
            )


def check_sizes(where: str, sizes: Array, steps: Array) -> None:
    """Raise if steps do not have the sizes of a map."""
    if len(sizes) != len(steps) - 1:
        raise LoDError(f"{where}: indices_map: is of {len(steps) - 1} steps; the array has {len(sizes)}")
    wrong = sizes != steps[1:] - steps[:-1]
    if wrong.any():
        t = int(np.argmax(wrong))
        raise LoDError(
            f"{where}: indices_map: has {steps[t + 1] - steps[t]} elements at step {t}; the array has {sizes[t]}"
        )


def slot_number(where: str, given: Any) -> int:
    """Turn an integer, or an array of one, into the number of a slot."""
    number: Any = int(given) if type(given) is np.int64 else given
    if type(number) is not int:
        if isinstance(number, np.ndarray):
            number = number.item() if number.size == 1 and number.dtype.kind in "iu" else None
        if isinstance(number, (bool, np.bool_)) or not hasattr(number, "__index__"):
            raise DTypeError(f"{where}: is {given!r}; an integer, or an array of one, is needed")
        number = int(number.__index__())
    if number < 0:
        raise IndexError(f"{where}: is {number}; slots count from 0")
    return int(number)


def source_of(where: str, x: Any, axis: int) -> Any:
    """Give what indexing turns into the elements of an unstacked array: read-only."""
    if isinstance(x, LoDTensor):
        if axis not in (0, -x.ndim):
            raise ShapeError(f"{where}: axis: is {axis}; a LoDTensor is cut along axis 0")
        rows = buffers.view_rows(x.values, 0, len(x.values))
        buffers.seal(rows)
        return tensor_core.new_tensor(rows, x.lod)
    dense = as_array(where, x)
    if dense.dtype.hasobject:
        raise DTypeError(f"{where}: has dtype {dense.dtype}; Python objects have no fixed size")
    if not dense.dtype.isnative:
        dense = dense.astype(dense.dtype.newbyteorder("="))
    if not dense.ndim or not -dense.ndim <= axis < dense.ndim:
        raise ShapeError(f"{where}: axis: is {axis}; the tensor has {dense.ndim} axes")
    source = np.moveaxis(dense, axis, 0).view()
    buffers.seal(source)
    return source


def with_one_lod(name: str, values: Array, lods: list[LoD], axis: int) -> Any:
    """Give values the structure that all elements have."""
    if not lods:
        return values
    if axis == 0:
        raise ShapeError(f"TensorArray.{name}: axis: is 0 of the values; use axis=0")
    for at, lod in enumerate(lods):
        if lod != lods[0]:
            raise LoDError(f"TensorArray.{name}: element {at} has another LoD than element 0")
    return tensor_core.new_tensor(np.ascontiguousarray(values), lods[0])
