"""NumPy's products of dense Variables: einsum, tensordot, outer and their relatives."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.memory import integer
from lodcore.errors import ShapeError
from lodcore.numpy_api.dense import ALL, DENSE, axis_in, call, dense_of, flat, integers, of_length, on_dense
from lodcore.numpy_api.dense_shapes import moveaxis

__all__ = ["dot", "outer_of"]

# -- einsum ------------------------------------------------------------------------------------------------------------


@on_dense(np.einsum)
def einsum(*operands: Any, optimize: Any = False, dtype: Any = None, order: str = "K", casting: str = "safe") -> Any:
    """Sum products over labels, which are given as text, or as lists of integers after each operand."""
    if not operands:
        raise ValueError("numpy.einsum: operands: there are none; subscripts and operands are needed")
    if dtype is not None or order not in ("K", "C") or casting != "safe":
        raise TypeError("numpy.einsum: dtype, order, casting: are not supported where it is recorded")
    text, given = (operands[0], operands[1:]) if isinstance(operands[0], str) else _as_text(operands)
    xs = [dense_of("einsum", x) for x in given]
    subscripts = _with_all_labels(text.replace(" ", ""), [x.ndim for x in xs])
    return call(xs, "einsum", subscripts=subscripts, optimize=optimize)


def _as_text(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return the subscripts that are given as lists of integers, as text."""

    def text(labels: Any) -> str:
        numbers = [one if one is Ellipsis else integer("numpy.einsum: labels", one) for one in labels]
        if any(one is not Ellipsis and not 0 <= one < len(string.ascii_letters) for one in numbers):
            raise ValueError(f"numpy.einsum: labels: are {labels}; integers of 0 .. 51, and ..., are needed")
        return "".join(["..." if one is Ellipsis else string.ascii_letters[one] for one in numbers])

    pairs = list(operands[: len(operands) // 2 * 2])
    subscripts = ",".join(map(text, pairs[1::2]))
    return subscripts + (f"->{text(operands[-1])}" if len(operands) % 2 else ""), pairs[::2]


def _with_all_labels(text: str, ndims: list[int]) -> str:
    """Return subscripts in which each axis has a letter, and the result is given."""
    inputs, arrow, result = text.partition("->")
    labels = inputs.split(",")
    if len(labels) != len(ndims):
        raise ValueError(f"numpy.einsum: subscripts: {text!r} are for {len(labels)} operands; there are {len(ndims)}")
    if not set(text.replace("...", "").replace("->", "")) <= {*string.ascii_letters, ","}:
        raise ValueError(f"numpy.einsum: subscripts: are {text!r}; letters, commas, '...' and '->' are needed")
    free = [one for one in string.ascii_letters if one not in text]
    widths = []
    for own, ndim in zip(labels, ndims, strict=True):
        widths.append(ndim - len(own.replace("...", "")))
        if widths[-1] < 0 or (widths[-1] and "..." not in own):
            raise ShapeError(
                f"numpy.einsum: subscripts: {own!r} are for another number of axes; the operand has {ndim}"
            )
    most = max(widths)
    spread = "".join(free[:most])
    labels = [own.replace("...", spread[most - width :]) for own, width in zip(labels, widths, strict=True)]
    if not arrow:
        letters = "".join(labels)
        once = sorted(one for one in set(letters) if letters.count(one) == 1 and one not in spread)
        result = spread + "".join(once)
    else:
        result = result.replace("...", spread)
    if len(set(result)) < len(result) or not set(result) <= set("".join(labels)):
        raise ValueError(
            f"numpy.einsum: subscripts: the result is {result!r}; labels of operands, once each, are needed"
        )
    return f"{','.join(labels)}->{result}"


# -- sums over axes ----------------------------------------------------------------------------------------------------


@on_dense(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, /, axes: Any = 2) -> Any:
    """Sum products over axes: the last ones of a and the first ones of b, or two lists of axes."""
    x, y = dense_of("tensordot", a), dense_of("tensordot", b)
    if isinstance(axes, (list, tuple, np.ndarray)):
        given = [np.atleast_1d(one).tolist() for one in axes]
        if len(given) != 2 or len(given[0]) != len(given[1]):
            raise ShapeError(f"numpy.tensordot: axes: are {axes}; as many axes of a as of b are needed")
    else:
        count = integer("numpy.tensordot: axes", axes)
        if not 0 <= count <= min(x.ndim, y.ndim):
            raise ShapeError(f"numpy.tensordot: axes: is {axes}; a and b have {x.ndim} and {y.ndim} axes")
        given = [list(range(x.ndim - count, x.ndim)), list(range(count))]
    first, second = (
        tuple([axis_in("tensordot", one, of.ndim, "axes") for one in part])
        for part, of in zip(given, (x, y), strict=True)
    )
    return call([x, y], "tensordot", axes_a=first, axes_b=second)


@on_dense(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Sum products over the last axes."""
    x, y = dense_of("inner", a), dense_of("inner", b)
    if not x.ndim or not y.ndim:
        return ops.mul(x, y)
    return call([x, y], "tensordot", axes_a=(x.ndim - 1,), axes_b=(y.ndim - 1,))


@on_dense(np.dot)
def dot(a: Any, b: Any) -> Any:
    """Multiply matrices, vectors and numbers; of more axes, sum over the last of a and the last but one of b."""
    x, y = dense_of("dot", a), dense_of("dot", b)
    if not x.ndim or not y.ndim:
        return ops.mul(x, y)
    if y.ndim < 3:
        return ops.matmul(x, y)
    return call([x, y], "tensordot", axes_a=(x.ndim - 1,), axes_b=(y.ndim - 2,))


@on_dense(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """Sum the products of all values; those of a are conjugated."""
    x, y = flat("vdot", a), flat("vdot", b)
    return ops.matmul(ops.elementwise([x], np.conjugate) if x.dtype.kind == "c" else x, y)


@on_dense(np.outer)
def outer(a: Any, b: Any) -> Any:
    """Multiply each value of a by each of b."""
    return call([flat("outer", a), flat("outer", b)], "outer")


@on_dense(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """Multiply each value of a vector by each of another."""
    for x in (x1, x2):
        if dense_of("linalg.outer", x).ndim != 1:
            raise ShapeError(f"numpy.linalg.outer: x1, x2: one has shape {np.shape(x)}; vectors are needed")
    return outer(x1, x2)


@on_dense(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices."""
    return ops.matmul(x1, x2)


def matvec(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices by vectors."""
    matrix, vector = dense_of("matvec", x1), dense_of("matvec", x2)
    if matrix.ndim < 2 or vector.ndim < 1:
        raise ShapeError(f"numpy.matvec: x1, x2: have shapes {matrix.shape}, {vector.shape}; a matrix is needed first")
    found = ops.matmul(x1, ops.index_values(vector, [Ellipsis, None]))
    return ops.index_values(found, [Ellipsis, 0])


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Multiply vectors, which are conjugated, by matrices."""
    vector, matrix = dense_of("vecmat", x1), dense_of("vecmat", x2)
    if matrix.ndim < 2 or vector.ndim < 1:
        raise ShapeError(f"numpy.vecmat: x1, x2: have shapes {vector.shape}, {matrix.shape}; a matrix is needed last")
    vector = ops.elementwise([vector], np.conjugate) if vector.dtype.kind == "c" else vector
    found = ops.matmul(ops.index_values(vector, [Ellipsis, None, ALL]), x2)
    return ops.index_values(found, [Ellipsis, 0, ALL])


on_dense(getattr(np, "matvec", None))(matvec)
on_dense(getattr(np, "vecmat", None))(vecmat)


def outer_of(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Apply a ufunc to each pair of values."""
    x, y = dense_of(f"{ufunc.__name__}.outer", a), dense_of(f"{ufunc.__name__}.outer", b)
    x = ops.index_values(x, [*[ALL] * x.ndim, *[None] * y.ndim]) if y.ndim else x
    return ops.elementwise([x, y], ufunc)


DENSE["outer"] = outer_of


@on_dense(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Multiply each value of a by all of b, as blocks."""
    x, y = dense_of("kron", a), dense_of("kron", b)
    ndim = max(x.ndim, y.ndim)
    keys: list[list[Any]] = [[None] * 2 * (ndim - x.ndim), [None] * 2 * (ndim - y.ndim)]
    keys[0] += [ALL, None] * x.ndim
    keys[1] += [None, ALL] * y.ndim
    product: Any = ops.mul(ops.index_values(x, keys[0]), ops.index_values(y, keys[1]))
    pairs = zip((1,) * (ndim - x.ndim) + x.shape, (1,) * (ndim - y.ndim) + y.shape, strict=True)
    sizes = [None if None in pair else pair[0] * pair[1] for pair in pairs]
    if sizes.count(None) > 1:
        raise ShapeError("numpy.kron: a, b: the lengths of more than one axis are known only at run time")
    return ops.reshape(product, [-1 if size is None else size for size in sizes])


@on_dense(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Compute the cross product of vectors of 3 numbers, or of 2."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(dense_of("cross", a), axisa, -1), moveaxis(dense_of("cross", b), axisb, -1)
    sizes = (x.shape[-1], y.shape[-1])
    if not {*sizes} <= {2, 3}:
        raise ShapeError(f"numpy.cross: a, b: have vectors of {sizes[0]} and {sizes[1]} numbers; 2 or 3 are needed")

    def part(one: int, other: int) -> Any:
        """Return the product of two entries minus that of the same entries, exchanged; a missing one is 0."""
        terms = [
            ops.mul(ops.index_values(x, [Ellipsis, j]), ops.index_values(y, [Ellipsis, k]))
            for j, k in ((one, other), (other, one))
            if j < sizes[0] and k < sizes[1]
        ]
        if len(terms) == 2:
            return ops.minus(terms[0], terms[1])
        return terms[0] if one < sizes[0] and other < sizes[1] else ops.elementwise(terms, np.negative)

    if sizes == (2, 2):
        return part(0, 1)
    parts = [part(one, other) for one, other in ((1, 2), (2, 0), (0, 1))]
    return moveaxis(np.stack(parts, -1), -1, axisc)


@on_dense(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute the cross product of vectors of 3 numbers."""
    return cross(x1, x2, axis=axis)


@on_dense(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Convolve two vectors."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"numpy.convolve: mode: is {mode!r}; 'full', 'same' or 'valid' is needed")
    return call([dense_of("convolve", a), dense_of("convolve", v)], "convolve", mode=mode)


@on_dense(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Correlate two vectors, of which the second is conjugated."""
    x, y = dense_of("correlate", a), dense_of("correlate", v)
    if x.ndim > 1 or y.ndim > 1:
        raise ShapeError(f"numpy.correlate: a, v: have shapes {x.shape}, {y.shape}; vectors are needed")
    x, y = flat("correlate", x), flat("correlate", y)
    if mode == "same" and (None in (x.shape[0], y.shape[0]) or x.shape[0] < y.shape[0]):
        raise ShapeError(
            "numpy.correlate: a, v: v is longer, or the lengths are known only at run time; 'same' needs a longer a"
        )
    y = ops.elementwise([y], np.conjugate) if y.dtype.kind == "c" else y
    return convolve(x, ops.index_values(y, [slice(None, None, -1)]), mode)


@on_dense(np.linalg.multi_dot)
def multi_dot(arrays: Any) -> Any:
    """Multiply several matrices, one after another; the first and the last may be vectors."""
    xs = [dense_of("linalg.multi_dot", x) for x in arrays]
    if len(xs) < 2:
        raise ValueError("numpy.linalg.multi_dot: arrays: two or more are needed")
    for j, x in enumerate(xs):
        if x.ndim != 2 and not (x.ndim == 1 and j in (0, len(xs) - 1)):
            raise ShapeError(f"numpy.linalg.multi_dot: arrays[{j}]: has shape {x.shape}; a matrix is needed")
    found = xs[0]
    for x in xs[1:]:
        found = ops.matmul(found, x)
    return found


@on_dense(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """Raise square matrices to a power; a negative one inverts them."""
    x, power = dense_of("linalg.matrix_power", a), integers("linalg.matrix_power", "n", n)
    if x.ndim < 2 or x.shape[-1] is None or x.shape[-2] not in (None, x.shape[-1]):
        raise ShapeError(f"numpy.linalg.matrix_power: a: has shape {x.shape}; square matrices are needed")
    x = of_length("numpy.linalg.matrix_power: a", x, x.ndim - 2, x.shape[-1], True)
    if power == 0:
        return ops.add(ops.full_like(x, 0), np.eye(x.shape[-1], dtype=x.dtype))
    square, found = call([x], "linalg.inv") if power < 0 else x, None
    power = abs(power)
    while power:
        if power % 2:
            found = square if found is None else ops.matmul(found, square)
        power //= 2
        square = ops.matmul(square, square) if power else square
    return found
