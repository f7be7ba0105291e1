"""Conversion and checks of operators' arguments, for values and Specs alike, with one error message for both.

Each function takes the names of the operator and of the argument, for messages, and the argument itself. It converts a
value to what the operator computes with. It checks a Spec as far as possible and returns it. So a function and its
shape rule take an argument by the same call, and a wrong argument raises the same error whether computed or recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.articles import there_are, with_article, with_number
from lodcore.base.memory import as_integer, check_single, index_of, integer
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.tensors import lod_body
from lodcore.tensors.from_lists import as_nested, as_nested_index, exactly
from lodcore.tensors.kinds import is_foreign, plain_of
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, error_of_objects, is_moment, refuse_conversion
from lodcore.tensors.tensor import Spec, is_holder

__all__ = [
    "WEAK",
    "axis_of",
    "check_index",
    "choice_of",
    "dense_of",
    "each_of",
    "function_of",
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
    "rows_given_of",
    "single_of",
    "structure_of",
]

Array = np.ndarray[Any, Any]
NUMBERS = (bool, int, float, complex, np.generic, str, bytes)
STAYS = NUMBERS
AS_GIVEN = frozenset((np.ndarray, list, int))  #: Types that usually need no conversion.
BOOL = np.dtype(np.bool_)
#: Kinds of the Specs of Python numbers, which have no dtype of their own.
WEAK = frozenset((int, float, complex))


# -- numbers and names -------------------------------------------------------------------------------------------------


def fits(shape: tuple[int | None, ...], *needed: int | None) -> bool:
    """Return whether a shape equals the needed one, where both are known."""
    if shape == needed:  # the usual case
        return True
    if len(shape) != len(needed):
        return False
    for size, wanted in zip(shape, needed, strict=True):
        if size != wanted and size is not None and wanted is not None:
            return False
    return True


def level_of(where: str, of: Any, level: Any, name: str = "level") -> int:
    """Return a level, which may count from the last, as one of 0 .. num_levels - 1.

    Parameters
    ----------
    where : str
        The name of the operator, for the message.
    of : LoD, LoDTensor, Spec or int
        An object with levels, or their number.
    level : int
    name : str
        The name of the argument.

    Raises
    ------
    DTypeError, LevelError
        If the level is not an integer, or does not exist, or `of` has no levels.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.level_of("scaled", lodcore.array([[[1], []], [[2]]]), -1)
    1
    """
    if type(of) is LoD:
        try:
            return lod_body.normalize_level(of, level, where)
        except (DTypeError, LevelError):
            if name == "level":
                raise
    count: int | None = of if type(of) is int else getattr(of, "num_levels", None)
    if count is None:
        raise DTypeError(f"level_of: of: is {type(of).__name__}; a LoD, LoDTensor, Spec or int is needed")
    try:
        number = index(level)
    except TypeError:
        raise DTypeError(f"{where}: {name}: is {level!r}; an integer is needed") from None
    if not -count <= number < count:
        raise LevelError(f"{where}: {name}: is {level}; {there_are(count, 'level')}")
    return number % count


def axis_of(where: str, axis: Any, ndim: int, having: str = "the values have") -> int:
    """Return an axis, which may count from the last, as one of 0 .. ndim - 1; `having` is a part of the message."""
    number = integer(where, axis, bools=True)
    if not -ndim <= number < ndim:
        raise ShapeError(f"{where}: is {axis}; {having} {ndim} axes")
    return number % ndim


def integer_of(where: str, given: Any, least: int | None = None, most: int | None = None) -> int:
    """Return one integer; raise ValueError if it is out of bounds."""
    number = given if type(given) is int else integer(where, given)
    if least is not None and most is not None and not least <= number <= most:
        raise ValueError(f"{where}: is {number}; {least} .. {most} is valid")
    if least is not None and number < least:
        raise ValueError(f"{where}: is {number}; {least} or more is needed")
    return number


def single_of(where: str, given: Any) -> int:
    """Return one integer, which may be given as an array of one."""
    number = given
    if hasattr(given, "__array__"):
        made = np.asarray(given_of(where, given))
        number = made.item() if made.size == 1 and made.dtype.kind in "iu" else None
    single = as_integer(number)
    if single is None:
        raise DTypeError(f"{where}: is {given!r}; an integer is needed")
    return single


def check_index(where: str, given: Any) -> None:
    """Raise an error for anything that is not an index; for a Spec, too, so that recording a wrong call fails."""
    if not isinstance(given, Spec):
        index_of(where, given)
    elif given.kind is not object:
        check_single(where, given)


def choice_of(where: str, given: Any, known: Sequence[str]) -> str:
    """Return a name; raise ValueError unless it is one of several."""
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"{where}: is {given!r}; one of {', '.join(f'{name!r}' for name in known)} is needed")
    return given


def function_of(where: str, given: Any) -> Any:
    """Return a function; raise for anything that cannot be called."""
    if not callable(given):
        raise DTypeError(f"{where}: is {type(given).__name__}; a function is needed")
    return given


def of_another_kind(where: str, kind: type, *needed: str) -> DTypeError:
    """Return the error for a tensor whose kind is not one of those needed."""
    named = " or ".join(map(with_article, needed))
    return DTypeError(f"{where}: is {kind.__name__}; {named} is needed")


# -- tensors -----------------------------------------------------------------------------------------------------------


def refuse_none(where: str, given: Any) -> None:
    """Raise for None where a tensor is needed."""
    if given is None:
        raise DTypeError(f"{where}: is None; a tensor or a number is needed")


def given_of(where: str, given: Any) -> Any:
    """Return an argument unchanged; raise for None, and for a kind of tensor that must not become an array."""
    refuse_none(where, given)
    if isinstance(given, np.ma.MaskedArray):
        raise DTypeError(f"{where}: is a masked array; fill or drop the masked entries first")
    refuse_conversion(where, given.kind if type(given) is Spec else given)
    return exactly(given) if isinstance(given, LoDTensor) else given


def operand_of(where: str, given: Any) -> Any:
    """Return a LoDTensor, an array or a number; convert lists and objects with `__array__` to arrays.

    Returns
    -------
    LoDTensor, ndarray, number or Spec
    """
    if type(given) is np.ndarray:
        if given.dtype.hasobject:
            raise error_of_objects(f"{where}: has dtype", given.dtype)
        return given
    if type(given) is not list:
        if isinstance(given, LoDTensor):
            return exactly(given)
        if isinstance(given, STAYS):
            return given
        if type(given) is Spec:
            return _dense_kind(where, given)
        if is_holder(given):
            return given.values
        if is_foreign(type(given)):
            return plain_of(where, given)
        refuse_none(where, given)
        if not hasattr(given, "__array__") and not isinstance(given, Sequence) and not is_moment(given):
            refuse_conversion(where, given)
            way = "; .toarray() makes one of it" if hasattr(given, "toarray") else ""  # of SciPy's sparse matrices
            raise DTypeError(
                f"{where}: is {with_article(type(given).__name__)}; a LoDTensor or an array is needed{way}"
            )
    made = as_array(where, given)
    if made.dtype.hasobject:
        raise error_of_objects(f"{where}: has dtype", made.dtype)
    return made


def _dense_kind(where: str, spec: Spec) -> Spec:
    """Check that a kind of tensor is accepted as a LoDTensor or an array; one with `__array__` counts as an array."""
    kind = spec.kind
    if kind is np.ndarray or kind is LoDTensor or kind is object or kind in WEAK:
        return spec
    if issubclass(kind, LoDTensor):
        return spec._replace(kind=LoDTensor)
    refuse_conversion(where, kind)
    if kind.__name__ == "TensorArray" or not hasattr(kind, "__array__"):
        raise DTypeError(f"{where}: is {with_article(kind.__name__)}; a LoDTensor or an array is needed")
    return spec._replace(kind=np.ndarray)


def dense_of(where: str, given: Any, levels: bool = False) -> Any:
    """Return a dense array; with `levels`, accept a tensor with levels, too, and return its values.

    Returns
    -------
    ndarray or Spec
    """
    if levels and type(given) is LoDTensor:
        return given.values
    if type(given) is not np.ndarray:
        given = operand_of(where, given)
        if not levels and isinstance(given, (LoDTensor, Spec)) and given.num_levels:
            raise LoDError(f"{where}: has {with_number(given.num_levels, 'level')}; a dense array is needed")
        if type(given) is Spec:
            return given
        given = given.values if isinstance(given, LoDTensor) else np.asarray(given)
    if given.dtype.hasobject:
        raise error_of_objects(f"{where}: has dtype", given.dtype)
    return given


def nested_of(where: str, given: Any) -> Any:
    """Return a LoDTensor, which may be given as nested lists.

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
    if kind is LoDTensor or (kind is object and type(given) is Spec):
        return given
    if is_foreign(type(given)):
        return nested_of(where, plain_of(where, given))
    if issubclass(kind, LoDTensor) or (kind is np.ndarray and type(given) is Spec and given.num_levels):
        return given._replace(kind=LoDTensor)
    refuse_conversion(where, kind)
    raise DTypeError(f"{where}: is {kind.__name__}; a LoDTensor or nested lists are needed")


def nested_index_of(where: str, given: Any) -> Any:
    """Return a LoDTensor of integers, which may be given as nested lists; those without elements become int64."""
    nested = isinstance(given, (list, tuple)) and type(given) is not Spec
    return as_nested_index(where, given) if nested else nested_of(where, given)


# -- vectors -----------------------------------------------------------------------------------------------------------


def integers_of(where: str, given: Any, error: type[Exception] = IndexError) -> Any:
    """Return a vector of integers, shape (n,) or (n, 1); raise `error` for a number that int64 cannot hold.

    Returns
    -------
    ndarray of int64, or Spec
    """
    if type(given) is Spec:
        return _vector(where, given, "iu", "integers are needed")
    return buffers.as_int64(given_of(where, given), where, error)


def each_of(where: str, given: Any, count: int | None) -> Any:
    """Return `count` integers, or one for all; `count` is None while it is unknown.

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
    """Return `count` booleans, shape (n,) or (n, 1), or one for all.

    Returns
    -------
    ndarray of uint8, or Spec
        A private copy in which each entry is 0 or 1, even if the given memory holds other bytes.
    """
    if type(given) is np.ndarray and given.dtype == BOOL and given.ndim == 1 and count in (None, len(given)):
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
    """Check the Spec of a vector, or of one number for all entries."""
    _dense_kind(where, spec)
    if spec.kind is object or spec.num_levels:  # checked when it runs
        return spec
    fits = len(spec.shape) == 1 or (len(spec.shape) == 2 and spec.shape[1] in (1, None))
    if not fits and not (one_for_all and spec.shape == ()):
        raise ShapeError(f"{where}: has shape {spec.shape}; (n,) or (n, 1) is needed")
    if spec.dtype.kind not in kinds and spec.shape != (0,):  # an empty list has no dtype of its own
        raise DTypeError(f"{where}: has dtype {spec.dtype}; {needed}")
    return spec


# -- lists, rows and structures ----------------------------------------------------------------------------------------


def list_of(where: str, given: Any) -> Any:
    """Return a list or a tuple; raise for anything else."""
    kind = given.kind if type(given) is Spec else type(given)
    if not issubclass(kind, (list, tuple)):
        raise DTypeError(f"{where}: is {kind.__name__}; a list is needed")
    return given


def rows_given_of(where: str, given: Any) -> Any:
    """Check that an argument may be rows (a LoDTensor, an array, or lists) and return it unchanged."""
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
    """Return a LoD, or an object that has one: a LoDTensor, which may be given as nested lists.

    Returns
    -------
    LoD, LoDTensor or Spec
    """
    if isinstance(given, LoD) or (type(given) is Spec and given.kind is LoD):
        return given
    return nested_of(where, given)
