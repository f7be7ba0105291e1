"""Arguments of operators: one way to take each kind of them, of values and of Specs, with one text for what is wrong.

Each function takes the name of the operator and of the argument for the message, and what the caller gave. Of a value
it returns what the operator computes with. Of a Spec it checks what a Spec shows, and returns the Spec: so a function
and its shape rule take an argument by the same call, and a wrong one is the same error, computed or recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.memory import integer
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.tensors import core
from lodcore.tensors.from_lists import as_nested, as_nested_index, exactly
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, refuse_conversion
from lodcore.tensors.tensor import DenseTensor, Spec

__all__ = [
    "WEAK",
    "axis_of",
    "choice_of",
    "dense_of",
    "each_of",
    "given_of",
    "integer_of",
    "integers_of",
    "level_of",
    "list_of",
    "mask_of",
    "nested_index_of",
    "nested_of",
    "of_another_kind",
    "operand_of",
    "refuse_none",
    "refuse_objects",
    "rows_given_of",
    "single_of",
    "structure_of",
]

Array = np.ndarray[Any, Any]
NUMBERS = (bool, int, float, complex, np.generic, str, bytes)
STAYS = NUMBERS
AS_GIVEN = frozenset((np.ndarray, list, int))  #: What stays as it is given, mostly.
BOOL = np.dtype(np.bool_)
#: Kinds of the Specs of numbers of Python, which have no dtype of their own.
WEAK = frozenset((int, float, complex))


# -- numbers and names -------------------------------------------------------------------------------------------------


def level_of(where: str, of: Any, level: Any, name: str = "level") -> int:
    """Turn a level, which may count from the last, into 0 .. num_levels - 1.

    Parameters
    ----------
    where : str
        The operator, for the message.
    of : LoD, LoDTensor, Spec or int
        What has the levels, or how many there are.
    level : int
    name : str
        That of the argument.

    Raises
    ------
    DTypeError, LevelError
        If it is not an integer, or there is no such level.
    """
    if type(of) is LoD:
        try:
            return core.normalize_level(of, level, where)
        except (DTypeError, LevelError):
            if name == "level":
                raise
    count: int = of if type(of) is int else of.num_levels
    try:
        number = index(level)
    except TypeError:
        raise DTypeError(f"{where}: {name}: is {level!r}; an integer is needed") from None
    if not -count <= number < count:
        there = "is 1 level" if count == 1 else f"are {count} levels"
        raise LevelError(f"{where}: {name}: is {level}; there {there}")
    return number % count


def axis_of(where: str, axis: Any, ndim: int, having: str = "the values have") -> int:
    """Turn an axis, which may count from the last, into 0 .. ndim - 1; what has the axes, the message says."""
    number = integer(where, axis, bools=True)
    if not -ndim <= number < ndim:
        raise ShapeError(f"{where}: is {axis}; {having} {ndim} axes")
    return number % ndim


def integer_of(where: str, given: Any, least: int | None = None, most: int | None = None) -> int:
    """Take one integer, within bounds; ValueError beyond them."""
    number = given if type(given) is int else integer(where, given)
    if least is not None and most is not None and not least <= number <= most:
        raise ValueError(f"{where}: is {number}; {least} .. {most} is valid")
    if least is not None and number < least:
        raise ValueError(f"{where}: is {number}; {least} or more is needed")
    return number


def single_of(where: str, given: Any) -> int:
    """Take one integer, or an array of one."""
    number = given
    if hasattr(given, "__array__"):
        made = np.asarray(given_of(where, given))
        number = made.item() if made.size == 1 and made.dtype.kind in "iu" else None
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise DTypeError(f"{where}: is {given!r}; an integer is needed")
    single: int = number.__index__()
    return single


def choice_of(where: str, given: Any, known: Sequence[str]) -> str:
    """Take one of several names."""
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"{where}: is {given!r}; one of {', '.join(f'{name!r}' for name in known)} is needed")
    return given


def of_another_kind(where: str, kind: type, *needed: str) -> DTypeError:
    """Make the error for a tensor of another kind than those that are needed, which are named."""
    named = " or ".join([f"{'an' if name[0] in 'AEIOU' else 'a'} {name}" for name in needed])
    return DTypeError(f"{where}: is {kind.__name__}; {named} is needed")


# -- tensors -----------------------------------------------------------------------------------------------------------


def refuse_none(where: str, given: Any) -> None:
    """Raise for None where a tensor is needed."""
    if given is None:
        raise DTypeError(f"{where}: is None; a tensor or a number is needed")


def refuse_objects(where: str, dtype: np.dtype[Any]) -> None:
    """Raise for a dtype of Python objects."""
    if dtype.hasobject:
        raise DTypeError(f"{where}: has dtype {dtype}; Python objects have no fixed size")


def given_of(where: str, given: Any) -> Any:
    """Take what stays as it is given; raise for None, and for a kind of tensor that is not to become an array."""
    refuse_none(where, given)
    if isinstance(given, np.ma.MaskedArray):
        raise DTypeError(f"{where}: is a masked array; fill or drop the masked entries first")
    refuse_conversion(where, given.kind if type(given) is Spec else given)
    return exactly(given) if isinstance(given, LoDTensor) else given


def operand_of(where: str, given: Any) -> Any:
    """Take a tensor that may have levels: a LoDTensor, an array, or a number; lists, and what has an array, become one.

    Returns
    -------
    LoDTensor, ndarray, number or Spec
    """
    if type(given) is np.ndarray:
        refuse_objects(where, given.dtype)
        return given
    if type(given) is not list:
        if isinstance(given, LoDTensor):
            return exactly(given)
        if isinstance(given, STAYS):
            return given
        if type(given) is Spec:
            return _dense_kind(where, given)
        if isinstance(given, DenseTensor):
            return given.values
        refuse_none(where, given)
        if not hasattr(given, "__array__") and not isinstance(given, Sequence):
            refuse_conversion(where, given)
            raise DTypeError(f"{where}: is a {type(given).__name__}; a LoDTensor or an array is needed")
    made = as_array(where, given)
    refuse_objects(where, made.dtype)
    return made


def _dense_kind(where: str, spec: Spec) -> Spec:
    """Check that a kind of tensor is accepted as a LoDTensor or an array; what has an array is one."""
    kind = spec.kind
    if kind is np.ndarray or kind is LoDTensor or kind is object or kind in WEAK:
        return spec
    if issubclass(kind, LoDTensor):
        return spec._replace(kind=LoDTensor)
    refuse_conversion(where, kind)
    if kind.__name__ == "TensorArray" or not hasattr(kind, "__array__"):
        raise DTypeError(f"{where}: is a {kind.__name__}; a LoDTensor or an array is needed")
    return spec._replace(kind=np.ndarray)


def dense_of(where: str, given: Any, levels: bool = False) -> Any:
    """Take a dense array; with `levels` also the values of a tensor that has some.

    Returns
    -------
    ndarray or Spec
    """
    if levels and type(given) is LoDTensor:
        return given.values
    if type(given) is not np.ndarray:
        given = operand_of(where, given)
        if not levels and isinstance(given, (LoDTensor, Spec)) and given.num_levels:
            count = "1 level" if given.num_levels == 1 else f"{given.num_levels} levels"
            raise LoDError(f"{where}: has {count}; a dense array is needed")
        if type(given) is Spec:
            return given
        given = given.values if isinstance(given, LoDTensor) else np.asarray(given)
    if given.dtype.hasobject:
        refuse_objects(where, given.dtype)
    return given


def nested_of(where: str, given: Any) -> Any:
    """Take a LoDTensor, or make one of nested lists.

    Returns
    -------
    LoDTensor or Spec
    """
    if isinstance(given, (list, tuple)) and type(given) is not Spec:
        return as_nested(where, given)
    if isinstance(given, LoDTensor):
        return exactly(given)
    refuse_none(where, given)
    kind = given.kind if type(given) is Spec else type(given)
    if kind is LoDTensor or kind is object:
        return given
    if issubclass(kind, LoDTensor) or (kind is np.ndarray and type(given) is Spec and given.num_levels):
        return given._replace(kind=LoDTensor)
    refuse_conversion(where, kind)
    raise DTypeError(f"{where}: is {kind.__name__}; a LoDTensor or nested lists are needed")


def nested_index_of(where: str, given: Any) -> Any:
    """Take a LoDTensor of integers, or make one of nested lists: of int64, if there is nothing in them."""
    nested = isinstance(given, (list, tuple)) and type(given) is not Spec
    return as_nested_index(where, given) if nested else nested_of(where, given)


# -- vectors -----------------------------------------------------------------------------------------------------------


def integers_of(where: str, given: Any, error: type[Exception] = IndexError) -> Any:
    """Take a vector of integers, shape (n,) or (n, 1); `error` is raised for what int64 cannot hold.

    Returns
    -------
    ndarray of int64, or Spec
    """
    if type(given) is Spec:
        return _vector(where, given, "iu", "integers are needed")
    return buffers.as_int64(given_of(where, given), where, error)


def each_of(where: str, given: Any, count: int | None) -> Any:
    """Take `count` integers, or one for all; None for a number that is not known yet.

    Returns
    -------
    ndarray of int64, shape (count,), or Spec
    """
    if type(given) is Spec:
        return _vector(where, given, "iu", "integers are needed", True)
    if type(given) not in AS_GIVEN:
        given = given_of(where, given)
    if count is None:
        return buffers.as_int64(given if np.ndim(given) else [given], where, IndexError)
    return buffers.for_each(given, where, count)


def mask_of(where: str, given: Any, count: int | None) -> Any:
    """Take `count` booleans, shape (n,) or (n, 1), or one for all.

    Returns
    -------
    ndarray of uint8, or Spec
        Private, each 0 or 1, whatever memory lies under it.
    """
    if type(given) is np.ndarray and given.dtype is BOOL and given.shape == (count,):
        return given.astype(np.uint8)
    if isinstance(given, LoDTensor) or (type(given) is Spec and given.kind is LoDTensor):
        raise DTypeError(f"{where}: is LoDTensor; an array of bool is needed")
    if type(given) is Spec:
        return _vector(where, given, "b", "bool is needed", True)
    mask = as_array(where, given_of(where, given))
    if mask.ndim > 1 and (mask.ndim > 2 or mask.shape[1] != 1):
        raise ShapeError(f"{where}: has shape {mask.shape}; (n,) or (n, 1) is needed")
    if mask.dtype != BOOL and not (mask.size == 0 and isinstance(given, (list, tuple))):
        raise DTypeError(f"{where}: has dtype {mask.dtype}; bool is needed")
    if count is not None:
        mask = np.broadcast_to(mask, count) if mask.ndim == 0 else mask
        if len(mask) != count:
            raise ShapeError(f"{where}: has {len(mask)} entries; there are {count} sequences")
    return mask.reshape(-1).astype(bool).astype(np.uint8)


def _vector(where: str, spec: Spec, kinds: str, needed: str, one_for_all: bool = False) -> Spec:
    """Check what a Spec shows of a vector, or of one number for all entries."""
    _dense_kind(where, spec)
    if spec.kind is object or spec.num_levels:  # looked at when it runs
        return spec
    fits = len(spec.shape) == 1 or (len(spec.shape) == 2 and spec.shape[1] in (1, None))
    if not fits and not (one_for_all and spec.shape == ()):
        raise ShapeError(f"{where}: has shape {spec.shape}; (n,) or (n, 1) is needed")
    if spec.dtype.kind not in kinds and spec.shape != (0,):  # an empty list has no dtype of its own
        raise DTypeError(f"{where}: has dtype {spec.dtype}; {needed}")
    return spec


# -- lists, rows and structures ----------------------------------------------------------------------------------------


def list_of(where: str, given: Any) -> Any:
    """Take a list or a tuple."""
    kind = given.kind if type(given) is Spec else type(given)
    if not issubclass(kind, (list, tuple)):
        raise DTypeError(f"{where}: is {kind.__name__}; a list is needed")
    return given


def rows_given_of(where: str, given: Any) -> Any:
    """Take what may be rows: a LoDTensor, an array, or what makes one; it stays as it is given."""
    refuse_none(where, given)
    spec = type(given) is Spec
    kind = given.kind if spec else type(given)
    if spec and given.shape == () and kind is not object:
        raise ShapeError(f"{where}: has no axis; its first axis counts the rows")
    if kind is np.ndarray or kind is object:
        return given
    if issubclass(kind, LoDTensor):
        return given if spec else exactly(given)
    refuse_conversion(where, kind)
    if issubclass(kind, (str, bytes, dict, set, LoD)) or (spec and not hasattr(kind, "__array__")):
        raise DTypeError(f"{where}: is {kind.__name__}; a LoDTensor, an ndarray or lists are needed")
    return given._replace(kind=np.ndarray) if spec else given


def structure_of(where: str, given: Any) -> Any:
    """Take a LoD, or what has one: a LoDTensor, or nested lists.

    Returns
    -------
    LoD, LoDTensor or Spec
    """
    if isinstance(given, LoD) or (type(given) is Spec and given.kind is LoD):
        return given
    return nested_of(where, given)
