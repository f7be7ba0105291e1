"""Layer norm: each row minus its mean, divided by its standard deviation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.memory import check_out
from lodcore.base.recycling import Recycled
from lodcore.base.threads import in_parts
from lodcore.errors import ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.numbers import number_of, reals_of, runs
from lodcore.operators.operands import Array, array_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["layer_norm"]

WHERE = "layer_norm"
BLOCK = 256  # rows whose contributions to the gradients of scale and shift are summed together


@operator(x=Dense, scale=Dense, shift=Dense)
def layer_norm(
    x: Any, scale: Any, shift: Any, eps: float = 1e-5, out: Array | None = None, *, saved: Saved = None
) -> Any:
    """Normalize each row: subtract its mean, divide by its standard deviation, scale and shift.

    Parameters
    ----------
    x : LoDTensor or array_like, shape (..., width)
        Rows of real numbers; the last axis of the values is normalized.
    scale, shift : array_like, shape (width,)
    eps : float
        Added to the variance, 0 or more.
    out : ndarray, optional
        The array to write to, with the shape of the values.

    Returns
    -------
    LoDTensor or ndarray
        (x - mean) / sqrt(variance + eps) * scale + shift, with the LoD of x; float32, or float64 if an argument has
        dtype float64 or holds integers. The variance is the mean of squared distances.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If x has no axis of columns, scale or shift do not match it or have levels, the numbers are not real, or eps is
        below 0.

    Notes
    -----
    Sums are computed in the same order on every machine, see `lodcore.kernels.norm`.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1.0, 3.0], [5.0, 5.0]], [1, 0, 1])
    >>> lodcore.ops.layer_norm(x, [1.0, 1.0], [0.0, 0.5], eps=0.0625).values.round(3)
    array([[-0.97,  1.47],
           [ 0.  ,  0.5 ]])
    """
    values = array_of(WHERE, x)
    lines = [dense_of(f"{WHERE}: {name}", given) for name, given in (("scale", scale), ("shift", shift))]
    eps = number_of(f"{WHERE}: eps", eps, 0, math.inf)
    dtype = reals_of(WHERE, x=values.dtype, scale=lines[0].dtype, shift=lines[1].dtype)
    width = _check_shapes(values.shape, isinstance(x, LoDTensor), lines[0].shape, lines[1].shape)
    assert width is not None
    if out is not None:
        check_out(WHERE, out, values.shape, dtype, values, *lines)
    rows, (scales, shifts) = _rows(values, dtype), [np.ascontiguousarray(line, dtype) for line in lines]
    with Recycled():
        result = np.empty(values.shape, dtype) if out is None else out
        means, factors = np.empty(len(rows), dtype), np.empty(len(rows), dtype)
    made = _rows(result, dtype)

    def normalize(start: int, stop: int) -> None:
        some = slice(start, stop)
        kernels.norm.normalize_rows(rows[some], scales, shifts, eps, made[some], means[some], factors[some])

    in_parts(normalize, runs(len(rows), rows.nbytes, BLOCK))
    if saved is not None:
        saved.update(means=means, factors=factors)
    return result


def _rows(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the rows of an array as a matrix of a dtype, with the same number of rows even without columns."""
    flat = np.ascontiguousarray(values, dtype)
    return flat.reshape(math.prod(flat.shape[:-1]), flat.shape[-1])


Shape = tuple[int | None, ...]


def _check_shapes(x: Shape, nested: bool, scale: Shape, shift: Shape) -> int | None:
    """Check that scale and shift have as many numbers as a row; return this number."""
    if len(x) < 1 + nested:
        raise ShapeError(f"{WHERE}: x: has rows of shape (); rows of numbers are needed")
    width = x[-1]
    for name, shape in (("scale", scale), ("shift", shift)):
        if len(shape) != 1 or (None not in (width, shape[0]) and shape[0] != width):
            raise ShapeError(f"{WHERE}: {name}: has shape {shape}; ({width},) is needed, one number per column of x")
        width = shape[0] if width is None else width
    return width


@layer_norm.define_infer
def _(x: Spec, scale: Spec, shift: Spec, eps: float) -> Spec:
    lines = [dense_of(f"{WHERE}: {name}", given) for name, given in (("scale", scale), ("shift", shift))]
    number_of(f"{WHERE}: eps", eps, 0, math.inf)
    dtype = reals_of(WHERE, x=x.dtype, scale=scale.dtype, shift=shift.dtype)
    _check_shapes(x.shape, x.num_levels > 0, lines[0].shape, lines[1].shape)
    return Spec(x.shape, dtype)


@layer_norm.define_steps
def _(rows: Any, x: Any, scale: Any, shift: Any, eps: float) -> Any:
    given = rows.vectors(x)
    away = given - given.mean(-1, keepdims=True)
    factor = 1 / np.sqrt((away * away).mean(-1, keepdims=True) + eps)
    return (away * factor * rows.operand(scale) + rows.operand(shift)).value


@layer_norm.define_vjp
def _(
    d: Array, x: Any, scale: Any, shift: Any, means: Array, factors: Array, needs: Any, context: Any
) -> tuple[Any, ...]:
    values, dtype = array_of(WHERE, x), means.dtype
    rows, given = _rows(values, dtype), _rows(d, dtype)
    line = np.ascontiguousarray(dense_of(WHERE, scale), dtype)
    d_x = context.new("x") if needs.x and values.dtype == dtype else np.empty(values.shape, dtype)
    d_rows = _rows(d_x, dtype)
    of_scale, of_shift = (np.empty((-(-len(rows) // BLOCK), rows.shape[1]), dtype) for _ in range(2))

    def back(start: int, stop: int) -> None:
        some, blocks = slice(start, stop), slice(start // BLOCK, -(-stop // BLOCK))
        kernels.norm.normalize_rows_back(
            given[some], rows[some], line, means[some], factors[some], d_rows[some], of_scale[blocks], of_shift[blocks]
        )

    in_parts(back, runs(len(rows), rows.nbytes, BLOCK))
    made = (d_x, of_scale.sum(axis=0), of_shift.sum(axis=0))
    kept = (values, dense_of(WHERE, scale), dense_of(WHERE, shift))
    return tuple(
        [
            one.astype(like.dtype, copy=False) if needed else None
            for one, like, needed in zip(made, kept, needs, strict=True)
        ]
    )
