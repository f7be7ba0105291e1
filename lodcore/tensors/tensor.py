"""The interface of tensors, dense tensors, and Specs of tensors without values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lodcore.tensors.nested import as_array, error_of_objects

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

__all__ = [
    "PARENTS",
    "DenseTensor",
    "Spec",
    "Tensor",
    "attributes_of",
    "is_holder",
    "may_stand_for",
    "register_parents",
    "take_attributes",
]

Array = np.ndarray[Any, Any]


class Tensor(ABC):
    """The interface of all tensors: a shape, a dtype, and a copy.

    `numpy.ndarray` is registered as one. A new kind of tensor takes two steps: it implements this interface, and
    `register_inheritance` says which kind it stands for. Operators take it if it has `__array__`, or `lod` and `values`
    if it stands for a LoDTensor. If it has `with_values(v)`, which returns the same kind with other values, operators
    that keep the structure of an input return it.
    """

    __module__ = "lodcore"

    __slots__ = ()

    #: The advice if operators need an array or a LoDTensor; None for a kind that may become one.
    instead_of_dense: str | None = (
        "register_inheritance(kind, lodcore.DenseTensor), or another kind for which it stands, is the second step to it"
    )

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        if cls is Tensor:
            raise TypeError(
                "Tensor: is the abstract interface of all kinds; lodcore.array(lists) makes a LoDTensor, "
                "DenseTensor(array) holds an array, SparseTensor(indices, values, height) selected rows"
            )
        return super().__new__(cls)

    @property
    @abstractmethod
    def shape(self) -> tuple[int | None, ...]:
        """The lengths of the axes, None where they differ."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""

    @abstractmethod
    def clone(self) -> Tensor:
        """Return a copy of the values."""


Tensor.register(np.ndarray)


def attributes_of(x: Any) -> dict[str, Any]:
    """Return the attributes that a subclass adds to a tensor."""
    slots = [name for kind in type(x).__mro__ for name in getattr(kind, "__slots__", ()) if name[:2] != "__"]
    found = {name: getattr(x, name) for name in slots if name != "values" and hasattr(x, name)}
    return {**getattr(x, "__dict__", {}), **found}


def take_attributes(x: Any, other: Any) -> None:
    """Give a tensor the attributes that a subclass added to another one."""
    for name, attribute in attributes_of(other).items():
        setattr(x, name, attribute)


class DenseTensor(Tensor):
    """The holder of a dense array.

    Parameters
    ----------
    values : array_like

    Raises
    ------
    DTypeError
        If the values are Python objects or a SparseTensor.

    Examples
    --------
    >>> from lodcore import DenseTensor
    >>> DenseTensor([[1, 2], [3, 4]]).shape
    (2, 2)
    """

    __module__ = "lodcore"

    __slots__ = ("__weakref__", "values")

    instead_of_dense = None

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        """Let `isinstance` follow `register_inheritance`."""
        return True if cls is DenseTensor and may_stand_for(other, DenseTensor) else NotImplemented

    def __init__(self, values: npt.ArrayLike) -> None:
        usual = type(values) is np.ndarray
        self.values: Array = values if usual else as_array("DenseTensor: values", values)  # type: ignore[assignment]
        if self.values.dtype.hasobject:
            raise error_of_objects("DenseTensor: values: have dtype", self.values.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        shape: tuple[int, ...] = self.values.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    def clone(self) -> DenseTensor:
        """Return a copy of the values."""
        made = Tensor.__new__(type(self))
        made.values = self.values.copy()
        take_attributes(made, self)
        return made

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype, copy=copy)

    def __repr__(self) -> str:
        return f"DenseTensor(shape={self.shape}, dtype={self.dtype})"


#: The kinds for which a kind of tensor stands, as registered.
PARENTS: dict[type, tuple[type, ...]] = {np.ndarray: (DenseTensor,)}


class _Counted(ABC):  # noqa: B024, a registration here makes all other `isinstance` forget what they had found
    pass


def register_parents(child: type, *parents: type) -> None:
    """Let a kind of tensor stand for others; see `register_inheritance`."""
    PARENTS[child] = tuple(dict.fromkeys((*PARENTS.get(child, ()), *parents)))
    _Counted.register(type("Counted", (), {}))


def may_stand_for(child: type, kind: type, seen: set[type] | None = None) -> bool:
    """Return whether a kind of tensor is another one, or was registered to stand for it."""
    seen = set() if seen is None else seen
    if kind in child.__mro__ or (kind is Tensor and issubclass(child, Tensor)):
        return True
    for base in child.__mro__:
        for parent in PARENTS.get(base, ()):
            if parent not in seen:
                seen.add(parent)
                if may_stand_for(parent, kind, seen):
                    return True
    return False


def is_holder(x: Any) -> bool:
    """Return whether this is a DenseTensor itself, not only a kind that stands for one."""
    return DenseTensor in type(x).__mro__


class Spec(NamedTuple):
    """The known properties of a tensor before it has values.

    Parameters
    ----------
    shape : tuple of int or None
        The shape of the values, with None for an unknown number of rows.
    dtype : dtype
    num_levels : int
        A Spec rule of an operator whose LoD rule is in words may also give the argument whose LoD the result has, as
        the same object; or a list with one entry per level: `(x, level)` for that level of the argument x, None for a
        computed one.
    kind : type
        The class of the tensor.
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    num_levels: int = 0
    kind: type = np.ndarray


Spec.__module__ = "lodcore"
