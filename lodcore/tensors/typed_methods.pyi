"""The methods of LoDTensors by the dtype of their values, for checkers and editors; `methods` has them at run time.

A method that keeps the dtype, or has a fixed one, is typed so. If the dtype is unknown, as with numbers of another
dtype, it is Any: a bare `LoDTensor` is a `LoDTensor[Any]`.
"""

from typing import Any, Generic, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.methods import TensorMethods

#: The dtypes of the values of a LoDTensor, of those of another one, and of numbers.
S = TypeVar("S", bound=np.generic, default=Any, covariant=True)
T = TypeVar("T", bound=np.generic, default=Any)
Number = TypeVar("Number", bound=np.number[Any], default=Any)
Integer = TypeVar("Integer", bound=np.integer[Any], default=Any)
Inexact = TypeVar("Inexact", bound=np.inexact[Any], default=Any)
Bits = TypeVar("Bits", bound=np.integer[Any] | np.bool_, default=Any)
Float = TypeVar("Float", bound=np.floating[Any], default=Any)

Array: TypeAlias = npt.NDArray[Any]
Axis: TypeAlias = int | tuple[int, ...] | None
Rows: TypeAlias = LoDTensor | Array
Scalar: TypeAlias = np.number[Any]
No: TypeAlias = Literal[False]
DType: TypeAlias = npt.DTypeLike | None
PoolType: TypeAlias = Literal["sum", "mean", "sqrt", "max", "min", "first", "last"]

class Arithmetic(Generic[T]):
    """The types of `x + other`: Python numbers adopt the dtype of x, as in NumPy."""

    @overload
    def __call__(
        self: Arithmetic[Number], other: LoDTensor[Number] | npt.NDArray[Number] | Number, /
    ) -> LoDTensor[Number]: ...
    @overload
    def __call__(self, other: np.generic, /) -> LoDTensor: ...
    @overload
    def __call__(self: Arithmetic[Number], other: int, /) -> LoDTensor[Number]: ...
    @overload
    def __call__(self: Arithmetic[Inexact], other: float, /) -> LoDTensor[Inexact]: ...
    @overload
    def __call__(self: Arithmetic[Integer], other: float, /) -> LoDTensor[np.float64]: ...
    @overload
    def __call__(self, other: object, /) -> LoDTensor: ...

class Division(Generic[T]):
    """The types of `x / other`: floats."""

    @overload
    def __call__(
        self: Division[Inexact], other: LoDTensor[Inexact] | npt.NDArray[Inexact] | Inexact, /
    ) -> LoDTensor[Inexact]: ...
    @overload
    def __call__(
        self: Division[Integer], other: LoDTensor[Integer] | npt.NDArray[Integer] | Integer, /
    ) -> LoDTensor[np.float64]: ...
    @overload
    def __call__(self, other: np.generic, /) -> LoDTensor: ...
    @overload
    def __call__(self: Division[Inexact], other: float, /) -> LoDTensor[Inexact]: ...
    @overload
    def __call__(self: Division[Integer], other: float, /) -> LoDTensor[np.float64]: ...
    @overload
    def __call__(self, other: object, /) -> LoDTensor: ...

class Bitwise(Generic[T]):
    """The types of `x & other`: the dtype of x, with the same kind and with Python numbers."""

    @overload
    def __call__(self: Bitwise[Bits], other: LoDTensor[Bits] | npt.NDArray[Bits] | Bits, /) -> LoDTensor[Bits]: ...
    @overload
    def __call__(self, other: np.generic, /) -> LoDTensor: ...
    @overload
    def __call__(self: Bitwise[Integer], other: int, /) -> LoDTensor[Integer]: ...
    @overload
    def __call__(self: Bitwise[np.bool_], other: bool, /) -> LoDTensor[np.bool_]: ...
    @overload
    def __call__(self, other: object, /) -> LoDTensor: ...

# -- made by `make pages` of the declarations in `methods.py`

class TypedMethods(TensorMethods, Generic[S]):
    __add__: Arithmetic[S]
    __radd__: Arithmetic[S]
    __sub__: Arithmetic[S]
    __rsub__: Arithmetic[S]
    __mul__: Arithmetic[S]
    __rmul__: Arithmetic[S]
    __truediv__: Division[S]
    __rtruediv__: Division[S]
    __matmul__: Arithmetic[S]
    __rmatmul__: Arithmetic[S]
    __floordiv__: Arithmetic[S]
    __rfloordiv__: Arithmetic[S]
    __mod__: Arithmetic[S]
    __rmod__: Arithmetic[S]
    __pow__: Arithmetic[S]
    __rpow__: Arithmetic[S]
    __and__: Bitwise[S]
    __rand__: Bitwise[S]
    __or__: Bitwise[S]
    __ror__: Bitwise[S]
    __xor__: Bitwise[S]
    __rxor__: Bitwise[S]
    __lshift__: Arithmetic[S]
    __rlshift__: Arithmetic[S]
    __rshift__: Arithmetic[S]
    __rrshift__: Arithmetic[S]
    def __divmod__(self, other: Any) -> tuple[LoDTensor, LoDTensor]: ...
    def __rdivmod__(self, other: Any) -> tuple[LoDTensor, LoDTensor]: ...
    def __lt__(self, other: Any) -> LoDTensor[np.bool_]: ...
    def __le__(self, other: Any) -> LoDTensor[np.bool_]: ...
    def __gt__(self, other: Any) -> LoDTensor[np.bool_]: ...
    def __ge__(self, other: Any) -> LoDTensor[np.bool_]: ...
    def __eq__(self, other: object) -> LoDTensor[np.bool_]: ...
    def __ne__(self, other: object) -> LoDTensor[np.bool_]: ...
    def __neg__(self) -> LoDTensor[S]: ...
    def __pos__(self) -> LoDTensor[S]: ...
    @overload
    def __abs__(self: TypedMethods[np.complexfloating[Any]]) -> LoDTensor: ...
    @overload
    def __abs__(self) -> LoDTensor[S]: ...
    def __invert__(self) -> LoDTensor[S]: ...
    def __round__(self, ndigits: int | None = None) -> LoDTensor[S]: ...
    @overload
    def sum(
        self,
        axis: None = None,
        dtype: DType = None,
        out: None = None,
        keepdims: No = False,
        initial: Any = None,
        where: Any = True,
    ) -> Scalar: ...
    @overload
    def sum(
        self,
        axis: Axis = None,
        dtype: DType = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def prod(
        self,
        axis: None = None,
        dtype: DType = None,
        out: None = None,
        keepdims: No = False,
        initial: Any = None,
        where: Any = True,
    ) -> Scalar: ...
    @overload
    def prod(
        self,
        axis: Axis = None,
        dtype: DType = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def mean(
        self,
        axis: None = None,
        dtype: DType = None,
        out: None = None,
        keepdims: No = False,
        *,
        where: Any = True,
        empty: Any = None,
    ) -> Scalar: ...
    @overload
    def mean(
        self,
        axis: Axis = None,
        dtype: DType = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        empty: Any = None,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def var(
        self,
        axis: None = None,
        dtype: DType = None,
        out: None = None,
        ddof: float = 0,
        keepdims: No = False,
        *,
        where: Any = True,
    ) -> Scalar: ...
    @overload
    def var(
        self,
        axis: Axis = None,
        dtype: DType = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def std(
        self,
        axis: None = None,
        dtype: DType = None,
        out: None = None,
        ddof: float = 0,
        keepdims: No = False,
        *,
        where: Any = True,
    ) -> Scalar: ...
    @overload
    def std(
        self,
        axis: Axis = None,
        dtype: DType = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def max(
        self,
        axis: None = None,
        out: None = None,
        keepdims: No = False,
        initial: Any = None,
        where: Any = True,
        *,
        empty: Any = None,
    ) -> S: ...
    @overload
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
    ) -> LoDTensor[S] | npt.NDArray[S]: ...
    @overload
    def min(
        self,
        axis: None = None,
        out: None = None,
        keepdims: No = False,
        initial: Any = None,
        where: Any = True,
        *,
        empty: Any = None,
    ) -> S: ...
    @overload
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
    ) -> LoDTensor[S] | npt.NDArray[S]: ...
    @overload
    def any(self, axis: None = None, out: None = None, keepdims: No = False, *, where: Any = True) -> Scalar: ...
    @overload
    def any(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def all(self, axis: None = None, out: None = None, keepdims: No = False, *, where: Any = True) -> Scalar: ...
    @overload
    def all(
        self,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def argmax(self, axis: None = None, out: None = None, *, keepdims: No = False, empty: Any = None) -> Scalar: ...
    @overload
    def argmax(
        self,
        axis: Axis = None,
        out: None = None,
        *,
        keepdims: bool = False,
        empty: Any = None,
        level: int | None = None,
    ) -> Rows: ...
    @overload
    def argmin(self, axis: None = None, out: None = None, *, keepdims: No = False, empty: Any = None) -> Scalar: ...
    @overload
    def argmin(
        self,
        axis: Axis = None,
        out: None = None,
        *,
        keepdims: bool = False,
        empty: Any = None,
        level: int | None = None,
    ) -> Rows: ...
    def round(self, decimals: int = 0, out: None = None) -> LoDTensor[S]: ...
    @overload
    def astype(
        self,
        dtype: type[T] | np.dtype[T],
        order: Any = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> LoDTensor[T]: ...
    @overload
    def astype(
        self, dtype: npt.DTypeLike, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> LoDTensor: ...
    def copy(self) -> LoDTensor[S]: ...
    @overload
    def with_values(self, v: npt.NDArray[T]) -> LoDTensor[T]: ...
    @overload
    def with_values(self, v: Any) -> LoDTensor: ...
    def per_sequence(self, v: Any, level: int = -1) -> LoDTensor: ...
    def positions(self, level: int = 0) -> LoDTensor[np.int64]: ...
    def segment_ids(self, level: int = 0) -> LoDTensor[np.int64]: ...
    @overload
    def pool(
        self: TypedMethods[Float], pool_type: PoolType, pad_value: Any = 0.0, level: int = -1, out: Array | None = None
    ) -> LoDTensor[Float] | npt.NDArray[Float]: ...
    @overload
    def pool(self, pool_type: PoolType, pad_value: Any = 0.0, level: int = -1, out: Array | None = None) -> Rows: ...
    @overload
    def softmax(self: TypedMethods[Float], level: int = -1, out: Array | None = None) -> LoDTensor[Float]: ...
    @overload
    def softmax(self, level: int = -1, out: Array | None = None) -> LoDTensor: ...
    @overload
    def logsumexp(self: TypedMethods[Float], level: int = -1) -> LoDTensor[Float] | npt.NDArray[Float]: ...
    @overload
    def logsumexp(self, level: int = -1) -> Rows: ...
    def topk(self, k: int, level: int = -1) -> tuple[LoDTensor[S], LoDTensor[np.int64]]: ...
    def expand(self, y: Any, ref_level: int = -1, out: Array | None = None) -> LoDTensor[S] | npt.NDArray[S]: ...
    def expand_as(self, y: Any, level: int = -1, out: Array | None = None) -> LoDTensor[S]: ...
    def reverse(self, level: int = -1, out: Array | None = None) -> LoDTensor[S]: ...
    def gather(self, index: Any, level: int = 0, out: Array | None = None) -> LoDTensor[S]: ...
