"""Kinds of tensors from outside: which kind of the package each stands for, conversion to it, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.base import dispatch
from lodcore.base.articles import with_article
from lodcore.errors import DTypeError
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor, of_class_of
from lodcore.tensors.nested import as_array, refuse_conversion
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import PARENTS, DenseTensor, Spec, Tensor, may_stand_for, register_parents

__all__ = [
    "copied",
    "is_element",
    "is_foreign",
    "is_kept",
    "joinable",
    "of_kind",
    "of_kind_with",
    "plain_of",
    "plain_spec",
    "register_inheritance",
    "shared",
    "spec_of_kind",
]

#: The kinds of the package for which others stand; a subclass is one of them, unless it has registered parents.
OWN = frozenset((np.ndarray, LoDTensor, DenseTensor))

_FOUND: dict[type, type | None] = {}  # what `stands_for` has found


def register_inheritance(child: type, *parents: type) -> None:
    """Accept one kind of tensor where another is expected: the second of two steps to a kind of your own.

    Parameters
    ----------
    child : type
        Implements the interface `Tensor`, which is the first step. Operators take a kind that stands for a DenseTensor
        and has `__array__`, or for a LoDTensor and has `lod` and `values`. If it has `with_values(v)`, too, operators
        that keep the structure of an input return it. A subclass of LoDTensor or DenseTensor counts as one without
        being registered; registered, it is a kind of its own.
    *parents : type

    Raises
    ------
    DTypeError
        If anything other than a class is given.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Variable, is_inheritance_of, register_inheritance
    >>> class Diagonal(lodcore.Tensor):  # the first step: a kind of tensor
    ...     def __init__(self, entries=()):
    ...         self.entries = np.array(entries, np.float64)
    ...     shape = property(lambda self: (len(self.entries),) * 2)
    ...     dtype = property(lambda self: self.entries.dtype)
    ...     def clone(self):
    ...         return Diagonal(self.entries)
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.diag(self.entries).astype(dtype or float)
    >>> register_inheritance(Diagonal, lodcore.DenseTensor)  # the second
    >>> isinstance(Diagonal(), lodcore.DenseTensor)
    True
    >>> lodcore.ops.sum(Diagonal([1, 2]))
    np.float64(3.0)
    """
    for kind in (child, *parents):
        if not isinstance(kind, type):
            raise DTypeError(f"register_inheritance: is {kind!r}; a class is needed")
    if not hasattr(child, "instead_of_dense") and child is not np.ndarray:
        raise DTypeError(f"register_inheritance: child: is {child.__name__}; a subclass of lodcore.Tensor is needed")
    register_parents(child, *parents)
    _FOUND.clear()
    if issubclass(child, Tensor) and child not in OWN:
        if child.instead_of_dense is Tensor.instead_of_dense and stands_for(child) is not None:
            child.instead_of_dense = None
        dispatch.count_kinds()


def stands_for(kind: type) -> type | None:
    """Return LoDTensor or np.ndarray for a kind from outside that stands for it; None for kinds of the package."""
    found = _FOUND.get(kind, kind)
    if found is kind:
        derived = kind in OWN or (kind not in PARENTS and not OWN.isdisjoint(kind.__mro__))
        own = derived or not issubclass(kind, Tensor)
        found = None if own else _base(kind)
        _FOUND[kind] = found
    return found


def _base(kind: type) -> type | None:
    if may_stand_for(kind, LoDTensor):
        return LoDTensor
    return np.ndarray if may_stand_for(kind, DenseTensor) else None


def is_foreign(kind: Any) -> bool:
    """Return whether this is a registered kind from outside."""
    return isinstance(kind, type) and stands_for(kind) is not None


def is_kept(kind: type) -> bool:
    """Return whether operators return a kind from outside: whether it can be made again of other values."""
    return callable(getattr(kind, "with_values", None))


def plain_of(where: str, x: Any) -> Any:
    """Return the array or LoDTensor for which a tensor of a kind from outside stands."""
    kind = type(x)
    if stands_for(kind) is not LoDTensor:
        if not hasattr(kind, "__array__"):
            raise DTypeError(f"{where}: is {with_article(kind.__name__)}, which lacks __array__ to stand for an array")
        return as_array(where, x)
    lacks = [name for name in ("lod", "values") if not hasattr(x, name)]
    if lacks or not isinstance(x.lod, LoD):
        what = lacks[0] if lacks else "a LoD as `lod`"
        raise DTypeError(f"{where}: is {with_article(kind.__name__)}, which lacks {what} to stand for a LoDTensor")
    return LoDTensor(as_array(f"{where}: values", x.values), x.lod)


def of_kind(where: str, like: Any, result: Any) -> Any:
    """Return a result as a tensor of the kind of another one."""
    kind = type(like)
    rows, lod = (result.values, result.lod) if isinstance(result, LoDTensor) else (np.asarray(result), None)
    if kind.with_values is LoDTensor.with_values:  # which is an operator, and so would return to here
        return of_class_of(like, rows, like.lod if lod is None else lod)
    made = like.with_values(rows)
    if type(made) is not kind:
        raise DTypeError(
            f"{where}: with_values of {kind.__name__} returned {type(made).__name__}; the same kind is needed"
        )
    if made.dtype != rows.dtype:
        raise DTypeError(f"{where}: with_values of {kind.__name__} returned {made.dtype} for {rows.dtype}")
    return made


def of_kind_with(where: str, operands: Sequence[Any], lod: LoD | None, result: Any) -> Any:
    """Return a result as a tensor of the kind of the first operand from outside that has a LoD."""
    for x in operands:
        if type(x) is not LoDTensor and isinstance(x, LoDTensor) and x.lod is lod and is_foreign(type(x)):
            return of_kind(where, x, result)
    return result


def spec_of_kind(x: Any) -> Spec:
    """Return the Spec of a tensor of a kind from outside."""
    kind = type(x)
    if stands_for(kind) is LoDTensor and hasattr(x, "lod"):
        return Spec((None, *np.shape(x.values)[1:]), x.dtype, x.lod.num_levels, kind)
    return Spec(x.shape, x.dtype, 0, kind)


def plain_spec(spec: Spec) -> Spec:
    """Return the Spec of what a kind from outside stands for."""
    return spec._replace(kind=stands_for(spec.kind) or spec.kind)


# -- elements of arrays ------------------------------------------------------------------------------------------------


def is_element(value: Any) -> bool:
    """Return whether an element of a TensorArray stays what it is: a SparseTensor, or a kind from outside."""
    return isinstance(value, SparseTensor) or is_foreign(type(value))


def copied(element: Any) -> Any:
    """Return a copy of an element."""
    return element.copy() if isinstance(element, np.ndarray) else element.clone()


def shared(element: Any, data_shared: Any) -> Any:
    """Return an element itself, or a copy; raise for text, such as the name of a result in a wrong place."""
    if type(data_shared) is str:
        raise DTypeError(f"tensor_array_write: data_shared: is {data_shared!r}; True or False is needed")
    return element if data_shared else copied(element)


def joinable(where: str, elements: list[Any]) -> list[Any]:
    """Return elements that can be joined: what kinds from outside stand for; raise for a SparseTensor."""
    for at, element in enumerate(elements):
        if type(element) is not np.ndarray and is_element(element):
            refuse_conversion(f"{where}: element {at}", element)
            elements[at] = plain_of(f"{where}: element {at}", element)
    return elements
