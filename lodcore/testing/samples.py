"""Samples: calls of operators, and comparable representations of their results."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.articles import with_article
from lodcore.graph.gradients.cotangents import differentiable
from lodcore.operators.registry import Op
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.rank_table import IndicesMap, RankTable
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = [
    "Sample",
    "bits",
    "elements_of",
    "floats_of",
    "fresh",
    "is_tensor",
    "of_elements",
    "sample_of",
    "several",
    "tensors_of",
    "text_of",
    "with_tensors",
]


class Sample(NamedTuple):
    """A call of an operator.

    Parameters
    ----------
    args : tuple
    kwargs : dict
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def sample_of(given: Any) -> Sample:
    """Return a Sample from a tuple of arguments, an object with `args` and `kwargs`, or a function returning either."""
    if callable(given):
        given = given()
    if hasattr(given, "args") and hasattr(given, "kwargs"):
        return Sample(tuple(given.args), dict(given.kwargs))
    if not isinstance(given, tuple):
        raise TypeError(
            f"check_operator: samples: has {with_article(type(given).__name__)}; a tuple of arguments is needed"
        )
    return Sample(given, {})


def text_of(op: Op, sample: Sample) -> str:
    """Return a call as text."""
    given = [*map(_short, sample.args), *(f"{name}={_short(x)}" for name, x in sample.kwargs.items())]
    return f"{op.__name__}({', '.join(given)})"


def _short(x: Any) -> str:
    text = " ".join(repr(x).split())
    return text if len(text) <= 100 else f"{text[:100]}..."


def is_tensor(x: Any) -> bool:
    """Return whether an object is a tensor that a Variable can hold."""
    if isinstance(x, np.ndarray):
        return type(x) is np.ndarray and not x.dtype.hasobject
    return isinstance(x, (LoDTensor, TensorArray))


def with_tensors(sample: Sample, replace: Callable[[Any], Any]) -> Sample:
    """Return the same call with each tensor replaced, also in lists."""

    def change(x: Any) -> Any:
        if is_tensor(x):
            return replace(x)
        return [change(one) for one in x] if isinstance(x, list) and any(map(is_tensor, x)) else x

    return Sample(tuple(map(change, sample.args)), {name: change(x) for name, x in sample.kwargs.items()})


def tensors_of(sample: Sample) -> list[Any]:
    """Return the tensors of a call."""
    found: list[Any] = []
    with_tensors(sample, found.append)
    return found


def floats_of(sample: Sample) -> list[Any]:
    """Return the tensors of a call that have gradients; for a TensorArray, its elements."""
    every = [one for x in tensors_of(sample) for one in (elements_of(x) if isinstance(x, TensorArray) else [x])]
    return [x for x in every if x is not None and differentiable(x)]


def fresh(sample: Sample) -> Sample:
    """Return the same call with copies of arrays of steps, to which an operator may write."""
    return with_tensors(sample, lambda x: copy.copy(x) if isinstance(x, TensorArray) else x)


def several(result: Any) -> tuple[Any, ...]:
    """Return one result, or several, as a tuple."""
    return result if isinstance(result, tuple) and not isinstance(result, Spec) else (result,)


def elements_of(array: TensorArray) -> list[Any]:
    """Return the elements of an array, with None for holes."""
    found = []
    for at in range(len(array)):
        try:
            found.append(array.read(at))
        except IndexError:
            found.append(None)
    return found


def of_elements(elements: list[Any]) -> TensorArray:
    """Return an array of elements, with None for holes."""
    array = TensorArray(len(elements))
    for at, element in enumerate(elements):
        if element is not None:
            array.write(at, element)
    return array


def bits(x: Any) -> Any:
    """Return a value that is equal for results that agree bit for bit in types, structures, dtypes, and shapes."""
    if isinstance(x, (tuple, list)) and not isinstance(x, Spec):
        return tuple(map(bits, x))
    if isinstance(x, LoDTensor):
        return ("LoDTensor", x.lod, *bits(x.values))
    if isinstance(x, (np.ndarray, np.generic)):
        x = np.asarray(x)
        return (x.dtype, x.shape, x.tobytes())
    if isinstance(x, TensorArray):
        return ("TensorArray", *map(bits, elements_of(x)))
    if isinstance(x, IndicesMap):
        return ("IndicesMap", x.lod, x.level, *bits(x.values))
    if isinstance(x, RankTable):
        return ("RankTable", *bits(x.indices), *bits(x.lengths))
    if isinstance(x, SparseTensor):
        return ("SparseTensor", x.height, *bits(x.indices), *bits(x.values))
    return repr(x)
