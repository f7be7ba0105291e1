"""The interface of tensors, dense tensors, and Specs of tensors without values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lodcore.tensors.nested import as_array, error_of_objects

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["DenseTensor", "Spec", "Tensor"]

Array = np.ndarray[Any, Any]


class Tensor(ABC):
    """The interface of all tensors: a shape, a dtype, and a copy.

    `numpy.ndarray` is registered as one. A new kind of tensor implements this interface.
    """

    __slots__ = ()

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

    __slots__ = ("values",)

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values: Array = as_array("DenseTensor: values", values)
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
        return DenseTensor(self.values.copy())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype, copy=copy)

    def __repr__(self) -> str:
        return f"DenseTensor(shape={self.shape}, dtype={self.dtype})"


class Spec(NamedTuple):
    """The known properties of a tensor before it has values.

    Parameters
    ----------
    shape : tuple of int or None
        The shape of the values, with None for an unknown number of rows.
    dtype : dtype
    num_levels : int
    kind : type
        The class of the tensor.
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    num_levels: int = 0
    kind: type = np.ndarray
