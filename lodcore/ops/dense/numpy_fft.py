"""Rules of NumPy's discrete Fourier transforms along one axis; those of several axes are made of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.operators.arguments import choice_of
from lodcore.operators.operands import Array
from lodcore.ops.dense.numpy_rules import NumpyRule, RuleInputs, added, along, with_size
from lodcore.tensors.tensor import Spec

__all__ = ["RULES"]

#: The norms whose factors change places between a transform and its inverse.
SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


@functools.cache
def _dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    return getattr(np.fft, name)(np.ones(2, dtype)).dtype  # type: ignore[no-any-return]


def _transform(name: str) -> Any:
    def spec(x: Spec, n: int | None, axis: int, norm: Any) -> Spec:
        where = f"numpy.fft.{name}"
        if x.dtype.kind not in "biufc" or (name == "rfft" and x.dtype.kind == "c"):
            needed = "real numbers" if name == "rfft" else "numbers"
            raise DTypeError(f"{where}: a: has dtype {x.dtype}; {needed} are needed")
        if norm is not None:
            choice_of(f"{where}: norm", norm, ("backward", "ortho", "forward"))
        size = x.shape[axis]
        if name == "irfft":
            made = n if n is not None else None if size is None else 2 * (size - 1)
        else:
            made = size if n is None else n
        if made is not None and made < 1:
            raise ValueError(f"{where}: n: is {made}; 1 or more is needed")
        if name == "rfft":
            made = added(None if made is None else made // 2, 1)
        return Spec(with_size(x.shape, axis, made), _dtype(name, x.dtype))

    return spec


def _fitted(d: Array, axis: int, size: int) -> Array:
    """Cut an axis to a length, or fill it with zeros."""
    if d.shape[axis] >= size:
        return d[along(axis, slice(0, size))]  # type: ignore[no-any-return]
    shape: Any = with_size(d.shape, axis, size)
    made = np.zeros(shape, d.dtype)
    made[along(axis, slice(0, d.shape[axis]))] = d
    return made


def _vjp_same(transform: Any) -> Any:
    """Return the vjp rule of a transform whose matrix is symmetric."""

    def vjp_same(given: RuleInputs, x: Array, n: int | None, axis: int, norm: Any) -> Array:
        return _fitted(transform(given.d, None, axis, norm), axis, x.shape[axis])

    return vjp_same


def _vjp_real(given: RuleInputs, x: Array, n: int | None, axis: int, norm: Any) -> Array:
    found = np.fft.fft(given.d, x.shape[axis] if n is None else n, axis, norm)
    return _fitted(found.real, axis, x.shape[axis])


def _vjp_to_real(given: RuleInputs, x: Array, n: int | None, axis: int, norm: Any) -> Array:
    size = given.d.shape[axis]
    found = np.conj(np.fft.rfft(given.d, size, axis, SWAPPED[norm]))  # type: ignore[arg-type]
    found[along(axis, slice(1, (size + 1) // 2))] *= 2  # each of them stands for its conjugate, too
    return _fitted(found, axis, x.shape[axis])


#: The rules; `norm` is that of NumPy.
RULES = {
    "fft.fft": NumpyRule(np.fft.fft, _transform("fft"), _vjp_same(np.fft.fft)),
    "fft.ifft": NumpyRule(np.fft.ifft, _transform("ifft"), _vjp_same(np.fft.ifft)),
    "fft.rfft": NumpyRule(np.fft.rfft, _transform("rfft"), _vjp_real),
    "fft.irfft": NumpyRule(np.fft.irfft, _transform("irfft"), _vjp_to_real),
}
