"""NumPy's linear algebra and Fourier transforms on dense Variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.errors import ShapeError
from lodcore.numpy_api.dense import DENSE, axis_in, call, dense_of, integers, on_dense
from lodcore.numpy_api.dense_shapes import matrix_transpose, roll

__all__ = ["DENSE"]


def _named(function: Any, parts: tuple[Any, ...]) -> Any:
    """Return several results in the named tuple that NumPy returns them in."""
    kind = type(function(np.eye(1)))
    return parts if kind is tuple else kind(*parts)


# -- inverses, determinants, equations ---------------------------------------------------------------------------------


@on_dense(np.linalg.inv)
def inv(a: Any) -> Any:
    """Invert square matrices."""
    return call([dense_of("linalg.inv", a)], "linalg.inv")


@on_dense(np.linalg.det)
def det(a: Any) -> Any:
    """Compute determinants."""
    return call([dense_of("linalg.det", a)], "linalg.det")


@on_dense(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """Compute signs, and logarithms of absolute values, of determinants."""
    return _named(np.linalg.slogdet, call([dense_of("linalg.slogdet", a)], "linalg.slogdet"))


@on_dense(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """Solve linear equations."""
    x, y = dense_of("linalg.solve", a), dense_of("linalg.solve", b)
    if y.ndim == 1:
        found = call([x, ops.index_values(y, [Ellipsis, None])], "linalg.solve")
        return ops.index_values(found, [Ellipsis, 0])
    return call([x, y], "linalg.solve")


@on_dense(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Compute pseudo-inverses."""
    if hermitian:
        raise TypeError("numpy.linalg.pinv: hermitian: is not supported where it is recorded")
    least = rcond if rtol is None or rtol is np._NoValue else rtol
    return call([dense_of("linalg.pinv", a)], "linalg.pinv", rcond=least)


# -- decompositions ----------------------------------------------------------------------------------------------------


@on_dense(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Compute the triangular factors of positive definite matrices; the gradient is symmetric."""
    x = dense_of("linalg.cholesky", a)
    found = call([matrix_transpose(x) if upper else x], "linalg.cholesky")
    return matrix_transpose(found) if upper else found


@on_dense(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Compute eigenvalues and eigenvectors of symmetric matrices; the gradient is symmetric."""
    return _named(np.linalg.eigh, call([dense_of("linalg.eigh", a)], "linalg.eigh", UPLO=UPLO))


@on_dense(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Compute eigenvalues of symmetric matrices."""
    return call([dense_of("linalg.eigvalsh", a)], "linalg.eigh", UPLO=UPLO)[0]


@on_dense(np.linalg.eig)
def eig(a: Any) -> Any:
    """Compute eigenvalues and eigenvectors of square matrices, always as complex numbers."""
    return _named(np.linalg.eig, call([dense_of("linalg.eig", a)], "linalg.eig"))


@on_dense(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """Compute eigenvalues of square matrices, always as complex numbers."""
    return call([dense_of("linalg.eigvals", a)], "linalg.eig")[0]


@on_dense(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute singular value decompositions."""
    if hermitian:
        raise TypeError("numpy.linalg.svd: hermitian: is not supported where it is recorded; eigh computes it")
    x = dense_of("linalg.svd", a)
    if not compute_uv:
        return call([x], "linalg.svd", full_matrices=False)[1]
    return _named(np.linalg.svd, call([x], "linalg.svd", full_matrices=bool(full_matrices)))


@on_dense(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """Compute singular values."""
    return svd(x, compute_uv=False)


@on_dense(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices into orthonormal and triangular ones."""
    if mode not in ("reduced", "r"):
        raise ValueError(f"numpy.linalg.qr: mode: is {mode!r}; 'reduced' or 'r' is needed where it is recorded")
    found = call([dense_of("linalg.qr", a)], "linalg.qr")
    return found[1] if mode == "r" else _named(np.linalg.qr, found)


# -- norms -------------------------------------------------------------------------------------------------------------


def _inexact(x: Any) -> Any:
    """Convert integers and bool to float64, as NumPy computes their norms."""
    return x if x.dtype.kind in "fc" else ops.cast(x, np.float64)


@on_dense(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute norms of vectors or matrices, as NumPy names them."""
    x = _inexact(dense_of("linalg.norm", x))
    if axis is None:
        axes = tuple(range(x.ndim))
        if ord is not None and len(axes) not in (1, 2):
            raise ShapeError(f"numpy.linalg.norm: x: has shape {x.shape}; a vector or a matrix is needed with ord")
    else:
        axes = tuple([axis_in("linalg.norm", one, x.ndim) for one in (axis if isinstance(axis, tuple) else (axis,))])
        if len(axes) > 2 or len(set(axes)) < len(axes):
            raise ShapeError(f"numpy.linalg.norm: axis: is {axis}; one axis, or two different ones, are needed")
    if ord is None or (len(axes) == 2 and ord in ("fro", "f")) or (len(axes) == 1 and ord == 2):
        return call([x], "linalg.norm", axis=axes, keepdims=bool(keepdims))
    if len(axes) == 1:
        return _of_vectors(x, ord, axes[0], keepdims)
    return _of_matrices(x, ord, axes, keepdims)


def _of_vectors(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    """Compute norms of vectors other than the length."""
    if isinstance(ord, str):
        raise ValueError(f"numpy.linalg.norm: ord: is {ord!r}, a norm of matrices; a number is needed for vectors")
    if ord == 0:
        return ops.sum(ops.cast(ops.not_equal(x, 0), np.zeros(0, x.dtype).real.dtype), axis, keepdims=keepdims)
    size = ops.elementwise([x], np.absolute)
    if ord in (np.inf, -np.inf):
        return (ops.max if ord > 0 else ops.min)(size, axis, keepdims=keepdims)
    if ord == 1:
        return ops.sum(size, axis, keepdims=keepdims)
    powers = ops.sum(_power(size, float(ord)), axis, keepdims=keepdims)
    return _power(powers, 1 / float(ord))


def _power(x: Any, exponent: float) -> Any:
    """Compute powers of what is not negative; at 0 the derivative is 0."""
    zero = ops.equal(x, 0)
    powers = ops.elementwise([ops.where(zero, 1, x), exponent], np.power)
    return ops.where(zero, np.inf if exponent < 0 else 0, powers)


def _of_matrices(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Compute norms of matrices other than that of all values."""
    rows, columns = axes
    if ord in (2, -2, "nuc"):
        values = svd(np.moveaxis(x, axes, (-2, -1)), compute_uv=False)
        found = (ops.sum if ord == "nuc" else ops.max if ord == 2 else ops.min)(values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        summed, best = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = ops.sum(ops.elementwise([x], np.absolute), summed)
        found = (ops.max if ord > 0 else ops.min)(sums, best - (best > summed))
    else:
        raise ValueError(f"numpy.linalg.norm: ord: is {ord!r}; 'fro', 'nuc', 1, 2, inf and their negatives are valid")
    return np.expand_dims(found, tuple(sorted(axes))) if keepdims else found


@on_dense(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute norms of vectors, along one axis or over several."""
    x = _inexact(dense_of("linalg.vector_norm", x))
    given = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([axis_in("linalg.vector_norm", one, x.ndim) for one in given])
    if ord == 2:
        return call([x], "linalg.norm", axis=axes, keepdims=bool(keepdims))
    return _of_vectors(x, ord, axes, keepdims)  # type: ignore[arg-type]


@on_dense(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Compute norms of matrices, the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@on_dense(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """Compute condition numbers."""
    x = dense_of("linalg.cond", x)
    if p in (None, 2, -2):
        values = svd(x, compute_uv=False)
        first, last = (ops.index_values(values, [Ellipsis, j]) for j in (0, -1))
        found = ops.div(last, first) if p == -2 else ops.div(first, last)
        return ops.where(ops.equal(first, 0), np.inf, found)
    return ops.mul(norm(x, p, (-2, -1)), norm(inv(x), p, (-2, -1)))


# -- Fourier transforms ------------------------------------------------------------------------------------------------


def _along_one(name: str) -> Any:
    def transformed(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        """Transform along one axis."""
        x = dense_of(f"fft.{name}", a)
        size = None if n is None else integers(f"fft.{name}", "n", n)
        return call([x], f"fft.{name}", n=size, axis=axis_in(f"fft.{name}", axis, x.ndim), norm=norm)

    on_dense(getattr(np.fft, name))(transformed)
    return transformed


fft, ifft, rfft, irfft = map(_along_one, ("fft", "ifft", "rfft", "irfft"))

SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


@on_dense(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """Transform what has the symmetry of a real spectrum."""
    return irfft(ops.elementwise([a], np.conjugate), n, axis, SWAPPED.get(norm, norm))


@on_dense(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """Compute the inverse of `hfft`."""
    return ops.elementwise([rfft(a, n, axis, SWAPPED.get(norm, norm))], np.conjugate)


def _sizes(name: str, x: Any, s: Any, axes: Any, real: bool = False) -> list[tuple[Any, int]]:
    """Return the length, None for that of x, and the axis of each transform, in NumPy's order."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = range(x.ndim - count, x.ndim)
    places = [axis_in(f"fft.{name}", one, x.ndim, "axes") for one in axes]
    sizes = [None] * len(places) if s is None else [None if one in (None, -1) else int(one) for one in s]
    if len(sizes) != len(places) or not places:
        raise ShapeError(
            f"numpy.fft.{name}: s, axes: are {s}, {axes}; the same number of both, at least one, is needed"
        )
    return list(zip(sizes, places, strict=True))


def _along_several(name: str, two: bool) -> Any:
    """Return the transform of several axes: of real numbers the last axis is the first, or the last one."""
    kind, inverse = name.rstrip("n2"), "i" in name

    def transformed(a: Any, s: Any = None, axes: Any = (-2, -1) if two else None, norm: Any = None) -> Any:
        """Transform along several axes."""
        x = dense_of(f"fft.{name}", a)
        pairs = _sizes(name, x, s, axes)
        if kind == "rfft":
            x = rfft(x, pairs[-1][0], pairs[-1][1], norm)
            pairs = pairs[:-1]
        for size, axis in pairs[: -1 if kind == "irfft" else None][:: 1 if kind == "irfft" else -1]:
            x = (ifft if inverse else fft)(x, size, axis, norm)
        return irfft(x, pairs[-1][0], pairs[-1][1], norm) if kind == "irfft" else x

    return transformed


for _name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
    on_dense(getattr(np.fft, _name))(_along_several(_name, _name[-1] == "2"))


def _shifted(name: str, inverse: bool) -> Any:
    def shifted(x: Any, axes: Any = None) -> Any:
        """Move the zero frequency to the centre, or back."""
        x = dense_of(f"fft.{name}", x)
        given = range(x.ndim) if axes is None else axes if isinstance(axes, (list, tuple)) else (axes,)
        places = [axis_in(f"fft.{name}", one, x.ndim, "axes") for one in given]
        if any(x.shape[at] is None for at in places):
            raise ShapeError(f"numpy.fft.{name}: axes: are {axes}; one has a length that is known only at run time")
        return roll(x, tuple([(-(x.shape[at] // 2) if inverse else x.shape[at] // 2) for at in places]), tuple(places))

    return shifted


on_dense(np.fft.fftshift)(_shifted("fftshift", False))
on_dense(np.fft.ifftshift)(_shifted("ifftshift", True))
