"""Rules of NumPy's linear algebra on dense arrays; the last two axes are those of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.operands import Array, unbroadcast
from lodcore.ops.dense.numpy_rules import NumpyRule, RuleInputs, Shape, broadcast, of_floats
from lodcore.tensors.tensor import Spec

__all__ = ["RULES"]


def _t(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _matrices(name: str, argument: str, x: Spec, square: bool = True) -> np.dtype[Any]:
    """Check matrices; return the dtype of the computation."""
    where = f"numpy.linalg.{name}"
    if len(x.shape) < 2:
        raise ShapeError(f"{where}: {argument}: has shape {x.shape}; matrices are needed")
    rows, columns = x.shape[-2:]
    if square and None not in (rows, columns) and rows != columns:
        raise ShapeError(f"{where}: {argument}: has matrices of shape {x.shape[-2:]}; square ones are needed")
    return of_floats(where, argument, x.dtype)


def _real(name: str, x: Array) -> None:
    """Refuse gradients that are known for real numbers only."""
    if x.dtype.kind == "c":
        raise DTypeError(f"numpy.linalg.{name}: a: has dtype {x.dtype}; its gradient is known only for real numbers")


def _size(x: Spec) -> int | None:
    """Return the length of both axes of a square matrix."""
    return x.shape[-1] if x.shape[-2] is None else x.shape[-2]


def _square(x: Spec) -> Shape:
    return (*x.shape[:-2], _size(x), _size(x))


# -- inverses, determinants, equations ---------------------------------------------------------------------------------


def _inverse(x: Spec) -> Spec:
    dtype = _matrices("inv", "a", x)
    return Spec(_square(x), dtype)


def _vjp_inverse(given: RuleInputs, x: Array) -> Array:
    across = _t(given.out)
    return -(across @ given.d @ across)  # type: ignore[no-any-return]


def _cofactors(x: Array) -> Array:
    """Return the derivative of the determinant, even of singular matrices."""
    u, s, vh = np.linalg.svd(x)
    rest = np.stack([np.prod(np.delete(s, j, -1), -1) for j in range(s.shape[-1])], -1)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * (np.conj(u) * rest[..., None, :]) @ np.conj(vh)  # type: ignore[no-any-return]


def _determinant(x: Spec) -> Spec:
    return Spec(x.shape[:-2], _matrices("det", "a", x))


def _vjp_determinant(given: RuleInputs, x: Array) -> Array:
    if x.shape[-1] == 0:
        return np.zeros(x.shape, x.dtype)
    d, out = np.asarray(given.d)[..., None, None], np.asarray(given.out)[..., None, None]
    return d * (_cofactors(x) if np.any(out == 0) else out * _t(np.linalg.inv(x)))  # type: ignore[no-any-return]


def _logarithm(x: Spec) -> tuple[Spec, Spec]:
    dtype = _matrices("slogdet", "a", x)
    return Spec(x.shape[:-2], dtype), Spec(x.shape[:-2], np.zeros(0, dtype).real.dtype)


def _vjp_logarithm(given: RuleInputs, x: Array) -> Array | None:
    d_sign, d = given.d
    if d_sign is not None and np.any(d_sign):
        _real("slogdet", x)
    return None if d is None else np.asarray(d)[..., None, None] * _t(np.linalg.inv(x))


def _solution(a: Spec, b: Spec) -> Spec:
    where = "numpy.linalg.solve"
    dtype = np.result_type(_matrices("solve", "a", a), of_floats(where, "b", b.dtype))
    if len(b.shape) < 2 or (None not in (_size(a), b.shape[-2]) and _size(a) != b.shape[-2]):
        raise ShapeError(f"{where}: a, b: have shapes {a.shape}, {b.shape}; as many rows are needed")
    return Spec((*broadcast(where, a.shape[:-2], b.shape[:-2]), _size(a), b.shape[-1]), dtype)


def _vjp_solution(given: RuleInputs, a: Array, b: Array) -> tuple[Any, Any]:
    d_b = np.linalg.solve(_t(a), given.d)
    d_a = unbroadcast(-(d_b @ _t(given.out)), a.shape) if given.needs[0] else None
    return d_a, unbroadcast(d_b, b.shape) if given.needs[1] else None


def _pseudo(x: Spec, rcond: Any) -> Spec:
    dtype = _matrices("pinv", "a", x, False)
    return Spec((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype)


def _vjp_pseudo(given: RuleInputs, x: Array, rcond: Any) -> Array:
    """Turn the cotangent into the directions of singular values, of which those that are cut off count as 0."""
    _real("pinv", x)
    tall = x.shape[-2] >= x.shape[-1]
    x, p, d = (x, _t(given.out), _t(given.d)) if tall else (_t(x), given.out, given.d)
    u, s, vh = np.linalg.svd(x)
    inverse = np.einsum("...ij,...ij->...j", u[..., : s.shape[-1]], p @ _t(vh))  # of those that were kept, otherwise 0
    kept = inverse * s > 0.5
    turned = _t(u) @ d @ _t(vh)
    across, below = turned[..., : s.shape[-1], :], turned[..., s.shape[-1] :, :]
    known = np.where(kept, s, 1)
    f = np.where(kept, 1 / known, 0)
    row, column = (kept[..., None], s[..., None], f[..., None]), (kept[..., None, :], s[..., None, :], f[..., None, :])
    one = row[0] ^ column[0]  # of a pair, one is kept
    apart, total = np.where(one, row[1] - column[1], 1), np.where(one, row[1] + column[1], 1)
    even = np.where(one, (row[2] - column[2]) / apart, -row[2] * column[2])
    odd = np.where(one, (row[2] + column[2]) / total, row[2] * column[2])
    made = (even * (across + _t(across)) + odd * (across - _t(across))) / 2
    d_x = u @ np.concatenate([made, below * (f * f)[..., None, :]], -2) @ vh
    return d_x if tall else _t(d_x)


# -- decompositions ----------------------------------------------------------------------------------------------------


def _symmetric(x: Array) -> Array:
    return (x + _t(x)) / 2


def _cholesky(x: Spec) -> Spec:
    dtype = _matrices("cholesky", "a", x)
    return Spec(_square(x), dtype)


def _vjp_cholesky(given: RuleInputs, x: Array) -> Array:
    _real("cholesky", x)
    lower = given.out
    inner = np.tril(_t(lower) @ given.d)
    inner[..., np.arange(x.shape[-1]), np.arange(x.shape[-1])] /= 2
    half = np.linalg.solve(_t(lower), inner)
    return _symmetric(_t(np.linalg.solve(_t(lower), _t(half))))


def _apart(values: Array) -> Array:
    """Return 1 / (value j - value i), 0 where both are equal."""
    gaps = values[..., None, :] - values[..., :, None]
    return np.divide(1, gaps, out=np.zeros_like(gaps), where=gaps != 0)  # type: ignore[no-any-return]


def _eigh(x: Spec, UPLO: str) -> tuple[Spec, Spec]:
    dtype = _matrices("eigh", "a", x)
    if UPLO not in ("L", "U"):
        raise ValueError(f"numpy.linalg.eigh: UPLO: is {UPLO!r}; 'L' or 'U' is needed")
    return Spec(_square(x)[:-1], np.zeros(0, dtype).real.dtype), Spec(_square(x), dtype)


def _vjp_eigh(given: RuleInputs, x: Array, UPLO: str) -> Array:
    _real("eigh", x)
    (d_w, d_v), (w, v) = given.d, given.out
    inner = np.zeros(x.shape, x.dtype)
    if d_v is not None:
        inner += _apart(w) * (_t(v) @ d_v)
    if d_w is not None:
        inner[..., np.arange(w.shape[-1]), np.arange(w.shape[-1])] += d_w
    return _symmetric(v @ inner @ _t(v))


def _eig(x: Spec) -> tuple[Spec, Spec]:
    dtype = np.result_type(_matrices("eig", "a", x), np.complex64)
    return Spec(_square(x)[:-1], dtype), Spec(_square(x), dtype)


def _eigenvectors(x: Array) -> tuple[Array, ...]:
    """Return complex numbers even where all are real, which depends on the values."""
    dtype = np.result_type(x if x.dtype.kind in "fc" else np.float64, np.complex64)
    return tuple([one.astype(dtype) for one in np.linalg.eig(x)])


def _vjp_eig(given: RuleInputs, x: Array) -> Array:
    (d_w, d_v), (w, v) = given.d, given.out
    across = _t(v)
    inner = np.zeros(x.shape, w.dtype)
    if d_v is not None:
        turned = across @ d_v
        lengths = np.eye(x.shape[-1]) * turned.real  # vectors keep the length 1
        inner += _apart(w) * (turned - across @ np.conj(v) @ lengths)
    if d_w is not None:
        inner[..., np.arange(w.shape[-1]), np.arange(w.shape[-1])] += d_w
    return np.linalg.solve(across, inner @ across)


def _svd(x: Spec, full_matrices: bool) -> tuple[Spec, ...]:
    dtype = _matrices("svd", "a", x, False)
    front, (rows, columns) = x.shape[:-2], x.shape[-2:]
    least = None if rows is None or columns is None else min(rows, columns)
    wide, high = (rows, columns) if full_matrices else (least, least)
    shapes: tuple[Shape, ...] = ((*front, rows, wide), (*front, least), (*front, high, columns))
    return tuple([Spec(s, np.zeros(0, dtype).real.dtype if j == 1 else dtype) for j, s in enumerate(shapes)])


def _vjp_svd(given: RuleInputs, x: Array, full_matrices: bool) -> Array:
    _real("svd", x)
    (u, s, vh), (d_u, d_s, d_vh) = given.out, given.d
    count = s.shape[-1]
    if full_matrices:
        beyond = [d_u is not None and np.any(d_u[..., count:]), d_vh is not None and np.any(d_vh[..., count:, :])]
        if any(beyond):
            raise ValueError(
                "numpy.linalg.svd: full_matrices: is True; vectors beyond the singular values have no gradient"
            )
        u, vh = u[..., :count], vh[..., :count, :]
        d_u = None if d_u is None else d_u[..., :count]
        d_vh = None if d_vh is None else d_vh[..., :count, :]
    inner = np.zeros((*s.shape, count), x.dtype)
    gaps = _apart(s * s)
    if d_s is not None:
        inner[..., np.arange(count), np.arange(count)] += d_s
    if d_u is not None:
        turned = _t(u) @ d_u
        inner += gaps * (turned - _t(turned)) * s[..., None, :]
    if d_vh is not None:
        turned = vh @ _t(d_vh)
        inner += s[..., :, None] * gaps * (turned - _t(turned))
    d_x = u @ inner @ vh
    if d_u is not None and x.shape[-2] > count:
        d_x += (d_u - u @ (_t(u) @ d_u)) / s[..., None, :] @ vh
    if d_vh is not None and x.shape[-1] > count:
        d_x += u / s[..., None, :] @ (d_vh - (d_vh @ _t(vh)) @ vh)
    return d_x  # type: ignore[no-any-return]


def _qr(x: Spec) -> tuple[Spec, Spec]:
    dtype = _matrices("qr", "a", x, False)
    rows, columns = x.shape[-2:]
    if rows is not None and columns is not None and rows < columns:
        raise ShapeError(f"numpy.linalg.qr: a: has shape {x.shape}; at least as many rows as columns are needed")
    return Spec(x.shape, dtype), Spec((*x.shape[:-2], columns, columns), dtype)


def _vjp_qr(given: RuleInputs, x: Array) -> Array:
    _real("qr", x)
    (q, r), (d_q, d_r) = given.out, given.d
    d_q = np.zeros_like(q) if d_q is None else d_q
    inner = -_t(d_q) @ q if d_r is None else r @ _t(d_r) - _t(d_q) @ q
    lower = np.tril(inner, -1)
    both = np.tril(inner) + _t(lower)
    return _t(np.linalg.solve(r, _t(d_q + q @ both)))


# -- norms -------------------------------------------------------------------------------------------------------------


def _length(x: Spec, axis: tuple[int, ...], keepdims: bool) -> Spec:
    if x.dtype.kind not in "biufc":
        raise DTypeError(f"numpy.linalg.norm: x: has dtype {x.dtype}; numbers are needed")
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    kept = [1 if j in axis else size for j, size in enumerate(x.shape) if keepdims or j not in axis]
    return Spec(tuple(kept), np.zeros(0, dtype).real.dtype)


def _norm(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    if len(axis) > 2 or not axis:
        found = np.sqrt(np.sum(np.abs(x) ** 2, axis, keepdims=keepdims))
        return found
    return np.linalg.norm(x, axis=axis if len(axis) == 2 else axis[0], keepdims=keepdims)


def _vjp_norm(given: RuleInputs, x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    shape = [1 if j in axis else size for j, size in enumerate(x.shape)]
    d, out = np.asarray(given.d).reshape(shape), np.asarray(given.out).reshape(shape)
    return np.conj(x) * np.divide(d, out, out=np.zeros_like(out), where=out != 0)  # type: ignore[no-any-return]


#: The rules; right-hand sides of equations are matrices, `norm` is the root of the sum of squares over axes.
RULES = {
    "linalg.inv": NumpyRule(np.linalg.inv, _inverse, _vjp_inverse),
    "linalg.det": NumpyRule(np.linalg.det, _determinant, _vjp_determinant),
    "linalg.slogdet": NumpyRule(lambda x: tuple(np.linalg.slogdet(x)), _logarithm, _vjp_logarithm),
    "linalg.solve": NumpyRule(np.linalg.solve, _solution, _vjp_solution),
    "linalg.pinv": NumpyRule(
        lambda x, rcond: np.linalg.pinv(x) if rcond is None else np.linalg.pinv(x, rcond), _pseudo, _vjp_pseudo
    ),
    "linalg.cholesky": NumpyRule(np.linalg.cholesky, _cholesky, _vjp_cholesky),
    "linalg.eigh": NumpyRule(lambda x, UPLO: tuple(np.linalg.eigh(x, UPLO)), _eigh, _vjp_eigh),
    "linalg.eig": NumpyRule(_eigenvectors, _eig, _vjp_eig),
    "linalg.svd": NumpyRule(lambda x, full_matrices: tuple(np.linalg.svd(x, full_matrices)), _svd, _vjp_svd),
    "linalg.qr": NumpyRule(lambda x: tuple(np.linalg.qr(x)), _qr, _vjp_qr),
    "linalg.norm": NumpyRule(_norm, _length, _vjp_norm),
}
