"""Kinds of tensors and their substitution: VarGetMutable and IsInherienceOf of the design of LODTensor."""

from __future__ import annotations

from typing import Any

from lodcore.base.memory import flag
from lodcore.errors import DTypeError
from lodcore.graph.variable import Variable
from lodcore.tensors.kinds import register_inheritance
from lodcore.tensors.tensor import may_stand_for

__all__ = ["is_inheritance_of", "register_inheritance", "var_get_mutable"]


def is_inheritance_of(var: Variable, T: type) -> bool:
    """Return whether the value of a Variable is accepted as a kind of tensor.

    Parameters
    ----------
    var : Variable
    T : type
        The expected kind.

    Returns
    -------
    bool
        False if the Variable has no value.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import Variable, is_inheritance_of
    >>> is_inheritance_of(Variable("x", lodcore.array([[1], []])), lodcore.DenseTensor)
    True
    """
    if not isinstance(var, Variable):
        raise DTypeError(f"is_inheritance_of: var: is {type(var).__name__}; a Variable is needed")
    if not isinstance(T, type):
        raise DTypeError(f"is_inheritance_of: T: is {T!r}; a class is needed")
    return var.has_value and may_stand_for(type(var.get()), T)


def var_get_mutable(var: Variable, T: type, enable_inheritance: bool = True) -> Any:
    """Return the value of a Variable as a kind of tensor, or set it to an empty one.

    Parameters
    ----------
    var : Variable
    T : type
        The expected kind of tensor.
    enable_inheritance : bool, default True
        Whether to return a value that is accepted as T (`is_inheritance_of`) unchanged, instead of making a T.

    Returns
    -------
    tensor
        The value of the Variable afterwards.

    Raises
    ------
    GraphError
        If the value exists only while a Program or a loop runs: `data` is fed.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import Variable, var_get_mutable
    >>> x = Variable("x", lodcore.array([[1], []]))
    >>> var_get_mutable(x, lodcore.DenseTensor)
    LoDTensor(2 sequences of lengths 0..1, int64: [[1], []])
    >>> var_get_mutable(x, lodcore.DenseTensor, enable_inheritance=False)
    DenseTensor(shape=(0,), dtype=float64)
    """
    if not isinstance(var, Variable):
        raise DTypeError(f"var_get_mutable: var: is {type(var).__name__}; a Variable is needed")
    if not isinstance(T, type):
        raise DTypeError(f"var_get_mutable: T: is {T!r}; a class is needed")
    if flag("var_get_mutable: enable_inheritance", enable_inheritance) and is_inheritance_of(var, T):
        return var.get()
    return var.get_mutable(T)
