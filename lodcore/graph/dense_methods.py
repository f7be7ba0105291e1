"""Declarations of the methods of NumPy's arrays that dense Variables have, besides those that LoDTensors share."""

from __future__ import annotations

from typing import Any

from lodcore.base.later import Later
from lodcore.tensors.methods import BODIES, method

__all__ = ["DenseMethods"]


class DenseMethods:
    """The methods that call NumPy's functions on dense Variables, described in docs/numpy.md."""

    __slots__ = ()

    @method
    def ravel(self, order: str = "C") -> Any:
        """Return all values in one axis, as `numpy.ravel` does."""

    @method
    def flatten(self, level: Any = None, *, order: str = "C") -> Any:
        """Return all values in one axis; of sequences, drop a level."""

    @method
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return diagonals, as `numpy.diagonal` does."""

    @method
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
        """Add up diagonals, as `numpy.trace` does."""

    @method
    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
        """Gather entries along an axis, as `numpy.take` does."""

    @method
    def compress(self, condition: Any, axis: int | None = None) -> Any:
        """Keep entries along an axis, as `numpy.compress` does."""

    @method
    def dot(self, b: Any) -> Any:
        """Multiply matrices, as `numpy.dot` does."""

    @method
    def conj(self) -> Any:
        """Return the conjugates, as `numpy.conj` does."""

    @method
    def conjugate(self) -> Any:
        """Return the conjugates, as `numpy.conjugate` does."""

    #: The real parts, the imaginary parts, and the number of values.
    real: Any = Later(BODIES)
    imag: Any = Later(BODIES)
    size: Any = Later(BODIES)
