"""Fetched values: of which Variables, and protected so that nobody changes a parameter or a fed value through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lodcore.base.handing_over import lent
from lodcore.base.memory import is_iterable
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.program import Program
from lodcore.graph.variable import Variable, resolved
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import DenseTensor, is_holder
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["arrays_of", "protected", "wanted_of"]

Array = NDArray[Any]


def wanted_of(program: Program, fetch: Any) -> list[Variable]:
    """Return the Variables to fetch."""
    if isinstance(fetch, (str, Variable, Mapping)) or not is_iterable(fetch):
        raise DTypeError(f"Executor.run: fetch: is {type(fetch).__name__}; a list of Variables or names is needed")
    return [_found(program, one) for one in fetch]


def _found(program: Program, one: Any) -> Variable:
    """Return a Variable to fetch."""
    if isinstance(one, str):
        try:
            found = program.var(one)
        except KeyError:
            raise GraphError(f"Executor.run: fetch: {one}: the Program has no such Variable") from None
    else:
        found = program.output(resolved(one))
    if not isinstance(found, Variable):
        raise GraphError(f"Executor.run: fetch: is {type(one).__name__}; a Variable of the Program or a name is needed")
    if found.block is not None and not program.has(found):
        is_clone = any(v.block is found.block for v in program.names.values())
        where = "left out of this clone, for tests" if is_clone else f"of another {type(found.block).__name__}"
        raise GraphError(f"Executor.run: fetch: {found.name}: is {where}")
    return program.versions.get(found, found)


def arrays_of(values: Iterable[Any]) -> list[Array]:
    """Return the arrays that have the numbers of tensors."""
    found: list[Array] = []
    for x in values:
        if isinstance(x, np.ndarray):
            found.append(x)
        elif isinstance(x, TensorArray):
            found += arrays_of(_elements(x).values())
        elif isinstance(x, (LoDTensor, SparseTensor)) or is_holder(x):
            found.append(x.values)
    return found


def _elements(x: TensorArray) -> dict[int, Any]:
    """Return the elements of an array by number; none of one that was only unstacked, which are read-only."""
    return x.known_elements() if x.untouched_source is None else {}


def protected(found: list[Any], read: Iterable[Any]) -> list[Any]:
    """Return fetched values; those that share memory with values that the run has read are read-only views."""
    known = arrays_of(read)
    return [_protected(x, known) for x in found]


def unwritten(x: Any) -> Any:
    """Return a tensor of the caller, which is a result, too, as a read-only view; a Variable is returned as it is."""
    return x if isinstance(x, Variable) else _protected(x, arrays_of([x]))


def _protected(x: Any, known: list[Array]) -> Any:
    if isinstance(x, TensorArray):  # of the caller, who may write to it, but not to its elements
        for at, element in _elements(x).items():
            own = _protected(element, known)
            if own is not element:
                x.put(at, own)
        return x
    for values in arrays_of([x]):
        kept = lent(values, known)
        return x if kept is values else _with(x, kept)
    return x


def _with(x: Any, values: Array) -> Any:
    """Return a tensor like another one, over a view of its values."""
    if isinstance(x, LoDTensor):
        return lod_tensor_body.new_tensor(values, x.lod)
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, values, x.height)
    return DenseTensor(values) if is_holder(x) else values
