"""A SparseTensor as an array, as an operator of Programs: the gradient of a table is one that only the run has."""

from __future__ import annotations

from typing import Any

from lodcore.errors import DTypeError
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.registry import Op
from lodcore.operators.roles import Anything
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Spec, is_holder
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["TO_DENSE"]


def to_dense(x: Any) -> Any:
    """Return the rows of a SparseTensor among zeros; an array stays as it is."""
    _check_kind(type(x))
    return x.to_dense() if isinstance(x, SparseTensor) else x.values if is_holder(x) else x


def _check_kind(kind: type) -> None:
    if issubclass(kind, (LoDTensor, TensorArray)):
        instead = "to_padded" if issubclass(kind, LoDTensor) else "stack"
        raise DTypeError(f"to_dense: x: is a {kind.__name__}; {instead}() makes an array of it")


TO_DENSE = Op(to_dense, {"x": Anything}, no_lod)  # type: ignore[arg-type]


@TO_DENSE.define_infer
def _(x: Spec) -> Spec:
    _check_kind(x.kind)
    return Spec(x.shape, x.dtype)


@TO_DENSE.define_vjp
def _(d: Any, x: Any) -> Any:
    return SparseTensor(x.indices, d[x.indices], x.height) if isinstance(x, SparseTensor) else d
