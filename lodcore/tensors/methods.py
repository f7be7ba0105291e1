"""Declarations of the methods that LoDTensors and Variables share: Python operators, NumPy's protocols and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lodcore.base.later import Later, later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

__all__ = ["TensorMethods", "method"]

Axis = Any  # int, tuple of int, or None

#: The decorator of a method whose body is an operator, or calls one in NumPy's way.
BODIES = "lodcore.numpy_api.attached_methods"
method = later(BODIES)


class TensorMethods:
    """The methods that call operators, described in docs/numpy.md."""

    __slots__ = ()

    # -- Python operators ----------------------------------------------------------------------------------------------

    @method
    def __add__(self, other: Any) -> Self: ...
    @method
    def __radd__(self, other: Any) -> Self: ...
    @method
    def __sub__(self, other: Any) -> Self: ...
    @method
    def __rsub__(self, other: Any) -> Self: ...
    @method
    def __mul__(self, other: Any) -> Self: ...
    @method
    def __rmul__(self, other: Any) -> Self: ...
    @method
    def __truediv__(self, other: Any) -> Self: ...
    @method
    def __rtruediv__(self, other: Any) -> Self: ...
    @method
    def __matmul__(self, other: Any) -> Self: ...
    @method
    def __rmatmul__(self, other: Any) -> Self: ...
    @method
    def __floordiv__(self, other: Any) -> Self: ...
    @method
    def __rfloordiv__(self, other: Any) -> Self: ...
    @method
    def __mod__(self, other: Any) -> Self: ...
    @method
    def __rmod__(self, other: Any) -> Self: ...
    @method
    def __pow__(self, other: Any) -> Self: ...
    @method
    def __rpow__(self, other: Any) -> Self: ...
    @method
    def __and__(self, other: Any) -> Self: ...
    @method
    def __rand__(self, other: Any) -> Self: ...
    @method
    def __or__(self, other: Any) -> Self: ...
    @method
    def __ror__(self, other: Any) -> Self: ...
    @method
    def __xor__(self, other: Any) -> Self: ...
    @method
    def __rxor__(self, other: Any) -> Self: ...
    @method
    def __lshift__(self, other: Any) -> Self: ...
    @method
    def __rlshift__(self, other: Any) -> Self: ...
    @method
    def __rshift__(self, other: Any) -> Self: ...
    @method
    def __rrshift__(self, other: Any) -> Self: ...
    @method
    def __divmod__(self, other: Any) -> tuple[Self, Self]: ...
    @method
    def __rdivmod__(self, other: Any) -> tuple[Self, Self]: ...
    @method
    def __lt__(self, other: Any) -> Self: ...
    @method
    def __le__(self, other: Any) -> Self: ...
    @method
    def __gt__(self, other: Any) -> Self: ...
    @method
    def __ge__(self, other: Any) -> Self: ...
    @method
    def __eq__(self, other: object) -> Self: ...  # type: ignore[override]
    @method
    def __ne__(self, other: object) -> Self: ...  # type: ignore[override]

    __hash__ = object.__hash__

    @method
    def __neg__(self) -> Self: ...
    @method
    def __pos__(self) -> Self: ...
    @method
    def __abs__(self) -> Self: ...
    @method
    def __invert__(self) -> Self: ...
    @method
    def __round__(self, ndigits: int | None = None) -> Self: ...
    @method
    def __contains__(self, value: Any) -> bool: ...
    @method
    def __setitem__(self, key: Any, value: Any) -> None: ...
    @method
    def __delitem__(self, key: Any) -> None: ...

    # -- NumPy's protocols ---------------------------------------------------------------------------------------------

    @method
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    @method
    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    # -- NumPy's methods -----------------------------------------------------------------------------------------------

    @method
    def sum(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        level: int | None = None,
    ) -> Any:
        """Sum the values; see `lodcore.ops.sum`."""

    @method
    def prod(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        level: int | None = None,
    ) -> Any:
        """Multiply the values; see `lodcore.ops.prod`."""

    @method
    def mean(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        empty: Any = None,
        level: int | None = None,
    ) -> Any:
        """Compute the mean; see `lodcore.ops.mean`."""

    @method
    def var(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Any:
        """Compute the variance; see `lodcore.ops.var`."""

    @method
    def std(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Any:
        """Compute the standard deviation; see `lodcore.ops.std`."""

    @method
    def max(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        empty: Any = None,
        level: int | None = None,
    ) -> Any:
        """Return the maximum; see `lodcore.ops.max`."""

    @method
    def min(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        empty: Any = None,
        level: int | None = None,
    ) -> Any:
        """Return the minimum; see `lodcore.ops.min`."""

    @method
    def any(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Any:
        """Test whether any value is true; see `lodcore.ops.any`."""

    @method
    def all(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Any:
        """Test whether all values are true; see `lodcore.ops.all`."""

    @method
    def argmax(
        self,
        axis: Axis = None,
        out: None = None,
        *,
        keepdims: bool = False,
        empty: Any = None,
        level: int | None = None,
    ) -> Any:
        """Return the position of the maximum; see `lodcore.ops.argmax`."""

    @method
    def argmin(
        self,
        axis: Axis = None,
        out: None = None,
        *,
        keepdims: bool = False,
        empty: Any = None,
        level: int | None = None,
    ) -> Any:
        """Return the position of the minimum; see `lodcore.ops.argmin`."""

    @method
    def argsort(self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
        """Return the indices that sort along an axis, as `numpy.argsort` does."""

    @method
    def cumprod(self, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: None = None) -> Any:
        """Compute cumulative products along an axis, which sequences need: `numpy.cumprod`."""

    @method
    def clip(self, a_min: Any = None, a_max: Any = None, out: None = None, *, min: Any = None, max: Any = None) -> Any:
        """Clip values to a range, as `numpy.clip` does."""

    @method
    def cumsum(self, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: None = None) -> Any:
        """Compute cumulative sums along an axis, which sequences need: `numpy.cumsum`."""

    @method
    def round(self, decimals: int = 0, out: None = None) -> Any:
        """Round to a number of decimals, as `numpy.round` does."""

    @method
    def astype(
        self, dtype: npt.DTypeLike, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """Convert to another dtype; the result is a copy, except with copy=False where the dtype is the same."""

    @method
    def copy(self) -> Any:
        """Copy the values; the structure is shared."""

    @method
    def nonzero(self) -> Any:
        """Return the positions of nonzero values, as `numpy.nonzero` does."""

    @method
    def ptp(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> Any:
        """Return the maximum minus the minimum, as `numpy.ptp` does."""

    @method
    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Repeat entries along an axis, as `numpy.repeat` does."""

    @method
    def squeeze(self, axis: Axis = None) -> Any:
        """Remove axes of length 1, as `numpy.squeeze` does."""

    @method
    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Swap two axes, as `numpy.swapaxes` does."""

    @method
    def reshape(self, *shape: Any) -> Any:
        """Reshape rows; None, or -1, stands for axis 0 and for each level, which are kept."""

    @method
    def transpose(self, *axes: Any) -> Any:
        """Permute axes, as `numpy.transpose` does; by default, reverse them."""

    #: The tensor with reversed axes; the tensor with the last two axes swapped.
    T: Any = Later(BODIES)
    mT: Any = Later(BODIES)

    # -- operators by name ---------------------------------------------------------------------------------------------

    @method
    def with_values(self, v: Any) -> Any:
        """Return the same structure with other values; see `lodcore.ops.with_values`."""

    @method
    def per_sequence(self, v: Any, level: int = -1) -> Any:
        """Repeat an entry per sequence for its rows; see `lodcore.ops.per_sequence`."""

    @method
    def num(self, level: int = 0) -> Any:
        """Count the elements of each sequence of a level; see `lodcore.lod_num`."""

    @method
    def positions(self, level: int = 0) -> Any:
        """Return the position of each row in its sequence; see `lodcore.lod_positions`."""

    @method
    def segment_ids(self, level: int = 0) -> Any:
        """Return the number of the sequence of each row; see `lodcore.lod_segment_ids`."""

    @method
    def pool(self, pool_type: str, pad_value: Any = 0.0, level: int = -1, out: npt.NDArray[Any] | None = None) -> Any:
        """Pool each sequence to one row; see `lodcore.sequence_pool`."""

    @method
    def softmax(self, level: int = -1, out: npt.NDArray[Any] | None = None) -> Any:
        """Compute the softmax within each sequence; see `lodcore.sequence_softmax`."""

    @method
    def logsumexp(self, level: int = -1) -> Any:
        """Compute log(sum(exp)) of each sequence; see `lodcore.sequence_logsumexp`."""

    @method
    def topk(self, k: int, level: int = -1) -> Any:
        """Return the greatest rows of each sequence; see `lodcore.sequence_topk`."""

    @method
    def expand(self, y: Any, ref_level: int = -1, out: npt.NDArray[Any] | None = None) -> Any:
        """Repeat sequences; see `lodcore.sequence_expand`."""

    @method
    def expand_as(self, y: Any, level: int = -1, out: npt.NDArray[Any] | None = None) -> Any:
        """Repeat rows for the rows of sequences; see `lodcore.sequence_expand_as`."""

    @method
    def reverse(self, level: int = -1, out: npt.NDArray[Any] | None = None) -> Any:
        """Reverse each sequence; see `lodcore.sequence_reverse`."""

    @method
    def gather(self, index: Any, level: int = 0, out: npt.NDArray[Any] | None = None) -> Any:
        """Select sequences by their numbers; see `lodcore.gather_sequences`."""
