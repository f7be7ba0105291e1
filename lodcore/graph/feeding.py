"""Fed values: checked against the Specs of the `data` of a Program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dtypes import native_dtype
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.graph.gradients.cotangents import values_of
from lodcore.graph.program import Program
from lodcore.graph.variable import Variable, spec_text
from lodcore.operators.operands import kept_in
from lodcore.operators.roles import spec_of
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.from_lists import array
from lodcore.tensors.kinds import is_foreign, plain_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, is_moment
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import DenseTensor, Spec, Tensor, is_holder
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["fed_values"]


def fed_values(program: Program, feed: Mapping[Any, Any]) -> dict[Variable, Any]:
    """Return the checked fed values."""
    if not isinstance(feed, Mapping):
        raise DTypeError(f"Executor.run: feed: is {type(feed).__name__}; a dict is needed")
    fed: dict[Variable, Any] = {}
    places = {v.name: v for v in program.feeds}
    for key, value in feed.items():
        name = key.name if isinstance(key, Variable) else key
        variable = places.get(name)
        if variable is None or (isinstance(key, Variable) and key is not variable):
            known = ", ".join(places) or "none"
            raise GraphError(f"Executor.run: feed: {name}: the Program has no such data; it has {known}")
        if variable in fed:
            raise GraphError(f"Executor.run: feed: {name}: is fed twice")
        fed[variable] = _checked(f"Executor.run: feed: {name}", variable.spec, value, variable in program.casts)
    return fed


def _checked(where: str, spec: Spec, value: Any, cast: bool) -> Any:
    """Check a fed value against the Spec of its `data`, and convert its dtype if it may be cast."""
    if isinstance(value, (list, tuple, bool, int, float)) or is_moment(value):
        value = _of_lists(where, spec, value)
    elif not isinstance(value, (Tensor, TensorArray)):
        value = as_array(where, value)
    if is_foreign(type(value)) and spec.kind in (np.ndarray, LoDTensor, DenseTensor):
        value = plain_of(where, value)
        value = DenseTensor(value) if spec.kind is DenseTensor else value
    found = spec_of(value)
    if spec.kind is not np.ndarray and spec.kind is not LoDTensor and spec.kind not in type(value).__mro__:
        raise DTypeError(f"{where}: is {type(value).__name__}; the Program needs {spec.kind.__name__}")
    if found.num_levels != spec.num_levels:
        raise LoDError(f"{where}: has {with_number(found.num_levels, 'level')}; the Program needs {spec.num_levels}")
    swapped = found.dtype != spec.dtype and native_dtype(found.dtype) == spec.dtype
    if swapped or (found.dtype != spec.dtype and cast and _may_cast(found, spec)):
        value = _cast(where, value, spec.dtype)
    elif found.dtype != spec.dtype:
        raise DTypeError(f"{where}: has dtype {found.dtype}; the Program needs {spec.dtype}")
    shape = value.values.shape if isinstance(value, LoDTensor) else found.shape
    sizes = zip(shape, spec.shape, strict=False)
    if len(shape) != len(spec.shape) or any(b is not None and a != b for a, b in sizes):
        raise ShapeError(f"{where}: has values of shape {shape}; the Program needs {spec_text(spec)}")
    return value


def _of_lists(where: str, spec: Spec, value: Any) -> Any:
    """Convert lists and numbers, which have no dtype, to a tensor with the dtype of the Program."""
    made: Any = call_named(where, array, value) if spec.num_levels else as_array(where, value)
    if isinstance(made, LoDTensor) and made.num_levels < spec.num_levels and not made.num_rows:
        made = array(value, num_levels=spec.num_levels)  # empty lists do not show all levels
    values = values_of(made)
    if values.dtype == spec.dtype or not (values.size == 0 or np.can_cast(values.dtype, spec.dtype, "same_kind")):
        return made
    return _cast(where, made, spec.dtype)


def _may_cast(found: Spec, spec: Spec) -> bool:
    """Return whether a fed value may be cast: between integers, real numbers, or complex numbers."""
    kinds = found.dtype.kind.replace("u", "i") + spec.dtype.kind.replace("u", "i")
    return kinds in ("ii", "ff", "cc") and found.kind in (np.ndarray, LoDTensor, DenseTensor, SparseTensor)


def _cast(where: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a tensor to a dtype that can hold its values."""
    made = kept_in(where, values_of(value.values if isinstance(value, SparseTensor) else value), dtype)
    if isinstance(value, LoDTensor):
        return lod_tensor_body.new_tensor(np.ascontiguousarray(made), value.lod)
    if isinstance(value, SparseTensor):
        return SparseTensor(value.indices, made, value.height)
    return DenseTensor(made) if is_holder(value) else made
