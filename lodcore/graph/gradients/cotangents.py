"""Gradients of Variables during a backward pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lodcore.base.dtypes import is_native
from lodcore.graph.gradients.backward_pass import Context, Gradients, values_of
from lodcore.graph.gradients.rule_calls import GradientOwner, conjugated, differentiable
from lodcore.graph.variable import Variable
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.kinds import is_foreign, is_kept, of_kind
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import DenseTensor, Spec, Tensor, is_holder
from lodcore.tensors.tensor_array import TensorArray

__all__ = [
    "Context",
    "GradientOwner",
    "Gradients",
    "conjugated",
    "differentiable",
    "differentiable_spec",
    "of_type",
    "path",
    "values_of",
]

Array = np.ndarray[Any, Any]


def of_type(value: Any, gradient: Any, place: Array | None = None) -> Any:
    """Convert a gradient to the type of a value; None becomes zeros."""
    if type(gradient) is np.ndarray and place is None:  # the usual case
        if type(value) is np.ndarray and value.dtype.isnative:
            return gradient
        if type(value) is LoDTensor and value.dtype.isnative:
            return lod_tensor_body.new_tensor(np.ascontiguousarray(gradient), value.lod)
    if isinstance(value, TensorArray):
        return _array_of_type(value, {} if gradient is None else gradient)
    if isinstance(gradient, SparseTensor):
        if place is None:
            return gradient
        gradient = gradient.to_dense()
    if gradient is None:
        values = values_of(value)
        gradient = np.zeros(values.shape, values.dtype) if place is None else place
        gradient[...] = 0
    elif place is not None and gradient is not place:
        place[...] = gradient
        gradient = place
    elif place is None:  # the gradient may be a sum of arrays without axes
        gradient = np.asarray(gradient, None if is_native(dtype := values_of(value).dtype) else dtype)
    if is_foreign(type(value)) and is_kept(type(value)):
        return of_kind("gradient", value, gradient)
    if isinstance(value, LoDTensor):
        return lod_tensor_body.new_tensor(np.ascontiguousarray(gradient), value.lod)
    return DenseTensor(gradient) if is_holder(value) else gradient


def _array_of_type(array: TensorArray, gradient: dict[int, Any]) -> TensorArray:
    """Return the gradient of an array: one per element with numbers, and holes where the array has holes."""
    known = array.known_elements().items()
    return TensorArray.of_elements(
        array.num_slots, {at: of_type(one, gradient.get(at)) for at, one in known if differentiable(one)}
    )


def differentiable_spec(spec: Spec) -> bool:
    """Return whether a value with a Spec may have gradients."""
    if spec.kind in (object, TensorArray, float, complex):
        return True
    dense = spec.kind is np.ndarray or spec.kind is LoDTensor
    return spec.dtype.kind in "fc" and (dense or issubclass(spec.kind, Tensor))


def path(ops: Iterable[Any], wanted: Iterable[Variable]) -> tuple[set[Variable], list[Any]]:
    """Return the Variables that need a gradient, and the operators, that depend on the wanted Variables.

    Parameters
    ----------
    ops : list of Operator
        In the order in which they ran.
    wanted : list of Variable
    """
    needed = set(wanted)
    way = []
    for operator in ops:
        if not operator.op.cuts and not needed.isdisjoint(operator.inputs):
            depends = False
            for out in operator.outputs:
                if differentiable_spec(out.spec):
                    needed.add(out)
                    depends = True
            if depends:
                way.append(operator)
    return needed, way
