"""Matrix products, and the loss of a classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.buffers import is_plain
from lodcore.base.caller import named_caller
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import integer, unharmed
from lodcore.base.recycling import Recycled, computed
from lodcore.base.threads import get_num_threads, in_parts, over_sequences, parts
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.numbers import number_of
from lodcore.operators.operands import Array, array_of, check_equal, on_rows, rows_of, unbroadcast
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Index
from lodcore.ops.elementwise.math import float_of
from lodcore.ops.networks.matrix import SharedMatrix
from lodcore.ops.networks.softmax import log_sums
from lodcore.ops.reduce.pool import DIVIDE, along_axis, extremes
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.tensor import Spec

__all__ = ["cross_entropy", "matmul"]

COST = 8  # of one exponential, relative to copying a number


@operator(x=Dense, y=Dense, on_arrays=np.matmul, rowwise="x")
def matmul(x: Any, y: Any) -> Any:
    """Multiply matrices; the rows of a LoDTensor are those of the left one.

    Parameters
    ----------
    x : LoDTensor or array_like, shape (..., n, k), or (k,)
    y : array_like, shape (..., k, m), or (k,)
        If x has a LoD, the same for all rows: (k, m) or (k,) for rows of shape (k,); for rows with more axes also what
        broadcasts with a row, and one more axis in front, of length 1.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    LoDError
        If y has a LoD.
    ShapeError
        If the inner sizes differ, shapes do not broadcast, or y would not be the same for all rows of a LoDTensor.
    DTypeError
        If x or y do not hold numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    >>> lodcore.ops.matmul(x, np.array([[1.0], [2.0]])).values
    array([[3.],
           [3.],
           [3.]])
    """
    left = x if type(x) is ndarray and not x.dtype.hasobject else _as_numbers("x", rows_of(x))
    right = y if type(y) is ndarray and not y.dtype.hasobject else _as_numbers("y", rows_of(y))
    if right is not y and isinstance(y, LoDTensor) and y.lod.num_levels:
        raise _two_structures(isinstance(x, LoDTensor))
    nested = left is not x and isinstance(x, LoDTensor)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        _check_inner(left.shape, right.shape, nested)
    try:
        product = computed(np.matmul, (_as_saved(left), _as_saved(right)))
    except ValueError:
        raise ShapeError(f"matmul: x, y: have shapes {left.shape}, {right.shape}, which do not broadcast") from None
    except TypeError as error:
        raise DTypeError(f"matmul: x, y: have dtypes {left.dtype}, {right.dtype}: {error}") from None
    return on_rows("matmul", product, x.lod, product.ndim) if nested else product


def _two_structures(both: bool) -> LoDError:
    """Return the error for a right operand with levels."""
    hint = "; sequence_matmul(x, y) multiplies sequence by sequence" if both else ""
    return LoDError(f"matmul: y: has levels; only the left operand may have them{hint}")


def _as_numbers(name: str, x: Any) -> Array:
    """Return an operand that is not a LoDTensor as an array of numbers."""
    if type(x) is np.ndarray and not x.dtype.hasobject:
        return x
    if x is None or isinstance(x, (str, bytes)) or not (hasattr(x, "__array__") or np.isscalar(x) or type(x) is list):
        raise DTypeError(f"matmul: {name}: is {type(x).__name__}; a tensor is needed")
    made = as_array(f"matmul: {name}", x)
    if made.dtype.hasobject:
        raise DTypeError(f"matmul: {name}: makes dtype {made.dtype}; numbers are needed")
    return made


def _as_saved(x: Array) -> Array:
    """Return an operand as it would be if it were saved and loaded: last bits depend on the layout."""
    if is_plain(x):
        return x
    if x.flags.aligned and x.dtype.isnative and (x.flags.f_contiguous or _is_part(x.strides, x.shape, x.itemsize)):
        return x
    return x.astype(native_dtype(x.dtype), order="A")


def _is_part(strides: tuple[int, ...], shape: tuple[int, ...], size: int) -> bool:
    """Return whether an array is some lines, or columns, of a larger matrix, which products take as it is."""
    if len(strides) != 2 or size not in strides:
        return False
    (line, cell), width = (strides, shape[1]) if strides[1] == size else (strides[::-1], shape[0])
    return line >= width * cell and line % cell == 0


def _check_inner(left: tuple[int | None, ...], right: tuple[int | None, ...], nested: bool) -> None:
    """Raise if the inner sizes differ, or rows would not stay rows; numbers of rows of LoDTensors are not compared."""
    have = f"matmul: x, y: have rows of shape {left[1:]}, and shape" if nested else f"matmul: x, y: have shapes {left},"
    if not left or not right:
        raise ShapeError(f"{have} {right}; a number is multiplied by mul, or *")
    if nested and len(left) < 2:
        raise ShapeError(f"{have} {right}; rows of one axis or more are needed")
    if nested and len(right) > len(left):
        raise ShapeError(f"{have} {right}; {len(left)} axes at most, one more than a row has, are allowed for y")
    inner = (left[-1], right[-2 if len(right) > 1 else 0])
    if None not in inner and inner[0] != inner[1]:
        raise ShapeError(f"{have} {right}; the inner sizes must be equal")
    if nested and len(right) == len(left) > 2 and right[0] not in (1, None):
        raise ShapeError(f"{have} {right}; one matrix for all rows is needed, whose first axis is 1")


@matmul.define_infer
def _(x: Spec, y: Spec) -> Spec:
    if y.num_levels:
        raise _two_structures(x.num_levels > 0)
    _check_inner(x.shape, y.shape, x.num_levels > 0)
    try:
        dtype = np.matmul.resolve_dtypes((x.dtype, y.dtype, None))[2]
    except TypeError as error:
        raise DTypeError(f"matmul: x, y: have dtypes {x.dtype}, {y.dtype}: {error}") from None
    front = _front(x.shape[:-2], y.shape[:-2]) if len(x.shape) > 2 or len(y.shape) > 2 else ()
    return Spec((*front, *x.shape[-2:-1], *(y.shape[-1:] if len(y.shape) > 1 else ())), dtype)


def _front(left: tuple[int | None, ...], right: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Broadcast the axes in front of those of the matrices."""
    ndim = max(len(left), len(right))
    pairs = zip((1,) * (ndim - len(left)) + left, (1,) * (ndim - len(right)) + right, strict=True)
    return tuple(b if a == 1 else a if b == 1 else None if None in (a, b) else a for a, b in pairs)


matmul.prepare = SharedMatrix.of


@matmul.define_vjp
def _(d: Array, x: Any, y: Any, needs: Any) -> tuple[Any, Any]:
    if not type(x) is type(y) is ndarray:
        x, y = np.asarray(rows_of(x)), np.asarray(rows_of(y))
    if not (is_plain(d) and is_plain(x) and is_plain(y)):
        d, x, y = _as_saved(d), _as_saved(x), _as_saved(y)
    if x.ndim == y.ndim == 2:  # for two matrices the method does the same with less overhead
        return d.dot(y.T) if needs.x else None, x.T.dot(d) if needs.y else None
    left = x if x.ndim > 1 else x[None, :]
    right = y if y.ndim > 1 else y[:, None]
    d = np.expand_dims(d, -1) if y.ndim == 1 else d
    d = np.expand_dims(d, -2) if x.ndim == 1 else d
    d_x = d_y = None
    if needs.x:
        d_x = unbroadcast(np.matmul(d, np.swapaxes(right, -1, -2)), left.shape).reshape(x.shape)
    if needs.y:
        if right.ndim == 2 and left.ndim > 2:  # one product for all
            count = math.prod(left.shape[:-1])
            left, d = left.reshape(count, left.shape[-1]), d.reshape(count, d.shape[-1])
        d_y = unbroadcast(np.matmul(np.swapaxes(left, -1, -2), d), right.shape).reshape(y.shape)
    return d_x, d_y


@matmul.define_steps
def _(rows: Any, x: Any, y: Any) -> Any:
    return rows.product(x, y)


@operator(logits=Dense, labels=Index)
def cross_entropy(
    logits: Any, labels: Any, label_smoothing: float = 0.0, ignore_index: int | None = None, *, saved: Saved = None
) -> Any:
    """Compute the loss of each row: log(sum(exp(logits))) - logits[label].

    Parameters
    ----------
    logits : LoDTensor or array_like, shape (n, classes)
    labels : LoDTensor or array_like of integers, shape (n,) or (n, 1)
    label_smoothing : float
        The part of the target probability, 0 .. 1, that is distributed evenly over all classes; the label gets the
        rest.
    ignore_index : int, optional
        The label of rows that do not count, such as -100, which `lodcore.batching.attention_inputs` gives to tokens
        without a target: their loss is 0, and their logits get no gradient. The mean of the others is the sum of all
        losses divided by the number of other labels.

    Returns
    -------
    LoDTensor or ndarray, of n rows of shape ()
        One loss per row.

    Raises
    ------
    IndexError
        If a label is not a class; the message names the first such row.
    LoDError
        If both have LoDs, which differ.
    ValueError
        If label_smoothing is out of bounds.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.cross_entropy([[0.0, 0.0], [1000.0, 0.0]], [0, 0])
    array([0.69314718, 0.        ])
    >>> lodcore.ops.cross_entropy([[0.0, 0.0], [1000.0, 0.0]], [0, 0], label_smoothing=0.1)
    array([ 0.69314718, 50.        ])
    >>> lodcore.ops.cross_entropy([[0.0, 0.0], [1000.0, 0.0]], [0, -100], ignore_index=-100)
    array([0.69314718, 0.        ])
    >>> scores = lodcore.LoDTensor.from_lengths([[0.0, 0.0], [1000.0, 0.0], [0.0, 0.0]], [2, 0, 1])
    >>> lodcore.ops.cross_entropy(scores, [0, 0, 1])
    LoDTensor(3 sequences of lengths 0..2, float64: [[0.693147, 0.], [], [0.693147]])
    """
    spread, ignore = _options(label_smoothing, ignore_index)
    scores = array_of("cross_entropy", logits, "logits")
    _check_real(scores.dtype)
    nested = isinstance(logits, LoDTensor) and isinstance(labels, LoDTensor)
    if nested and labels.lod is not logits.lod:
        check_equal("cross_entropy", logits.lod, labels.lod, "labels", "logits")
    if scores.ndim != 2:
        raise ShapeError(f"cross_entropy: logits: have shape {scores.shape}, {scores.dtype}; (n, classes) is needed")
    count, num_classes = scores.shape
    classes, ignored = _labels(labels, count, num_classes, ignore)
    scores = np.ascontiguousarray(scores, float_of("cross_entropy", scores.dtype))
    if not spread and scores.dtype.char in "fd":
        losses, shifted = _label_losses(scores, classes)
    else:
        losses, shifted = _smooth_losses(scores, classes, spread)
    if ignored is not None:
        losses[ignored] = 0
    if saved is not None:
        saved.update(shifted=shifted, classes=classes, ignored=ignored)
    return losses


def _smooth_losses(scores: Array, classes: Array, spread: float) -> tuple[Array, Array]:
    """Compute the loss of each row if `spread` of the target is even, and the row minus its maximum."""
    with named_caller():
        with np.errstate(invalid="ignore"), Recycled():  # inf - inf
            shifted = scores - _greatest(scores) if scores.size else scores
        losses = _log_sums(shifted)
        picked = shifted[np.arange(len(scores)), classes]
        if not spread:
            return losses - picked, shifted
        with np.errstate(invalid="ignore"):
            return losses - (1 - spread) * picked - spread * _means(shifted), shifted


def _label_losses(x: Array, classes: Array) -> tuple[Array, Array]:
    """Compute the loss of each row, and the row minus its maximum."""
    shifted, losses = buffers.new_rows("cross_entropy", x, len(x)), np.empty(len(x), x.dtype)

    def some(start: int, stop: int) -> None:
        rows = slice(start, stop)
        unharmed(kernels.softmax.label_losses(x[rows], classes[rows], shifted[rows], losses[rows]))

    if get_num_threads() == 1 or len(x) < 2:
        unharmed(kernels.softmax.label_losses(x, classes, shifted, losses))
    else:
        in_parts(some, parts(np.arange(len(x) + 1), COST * x.nbytes))
    return losses, shifted


def _check_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise DTypeError(f"cross_entropy: logits: have dtype {dtype}; real numbers are needed")


def _greatest(x: Array) -> Array:
    """Return the maximum of each row, nan if it contains nan: shape (n, 1)."""
    return extremes(x, 1, is_min=False) if x.dtype.char in "fd" else np.asarray(x.max(1, keepdims=True))


def _means(x: Array) -> Array:
    """Compute the mean of each row."""
    if x.dtype.char not in "fd":
        return np.asarray(x.mean(1))
    made = np.empty((len(x), 1), x.dtype)
    over_sequences(kernels.pool.sum_rows, "ro.s", *along_axis(x, 1), DIVIDE["mean"], made)
    return made[:, 0]


def _log_sums(x: Array) -> Array:
    """Compute log(sum(exp(x))) of each row, whose maximum must be 0."""
    return log_sums(x, 1)[:, 0] if x.dtype.char in "fd" else np.asarray(np.log(np.exp(x).sum(1)))


def _spread(d: Array, x: Array) -> Array:
    """Distribute one number per row over the row, weighted by the softmax of the row."""
    if x.dtype.char not in "fd":
        powers = np.exp(x)
        return np.asarray(powers * (d / powers.sum(1))[:, None])
    made, given = np.empty(x.shape, x.dtype), np.ascontiguousarray(d, x.dtype).reshape(-1, 1)
    over_sequences(kernels.softmax.spread_softmax, "sror", given, *along_axis(x, 1), made.reshape(-1, 1), cost=COST)
    return made


def _options(label_smoothing: Any, ignore_index: Any) -> tuple[float, int | None]:
    """Return the checked part of the target that is even, and the label of rows that do not count."""
    spread = number_of("cross_entropy: label_smoothing", label_smoothing, 0, 1)
    return spread, None if ignore_index is None else integer("cross_entropy: ignore_index", ignore_index)


def _labels(labels: Any, count: int, num_classes: int, ignore: int | None) -> tuple[Array, Array | None]:
    """Return a private copy of the labels, one per row, checked, and the rows that do not count, or None."""
    given = dense_of("cross_entropy: labels", labels, True)
    if given.size == 0 and count == 0:
        return np.empty(0, np.int64), None
    if given.dtype.kind not in "iu":
        raise DTypeError(f"cross_entropy: labels: have dtype {given.dtype}; integers are needed")
    if given.shape not in ((count,), (count, 1)):
        raise ShapeError(f"cross_entropy: labels: have shape {given.shape}; there are {count} rows of logits")
    held: Array = np.array(given, order="C").reshape(count)
    numbers = held.astype(np.int64, copy=ignore is not None)
    ignored = None
    if ignore is not None:
        ignored = (held == ignore).nonzero()[0]
        numbers[ignored] = 0  # a class that there is
    row = kernels.embedding.check_index(numbers, num_classes)
    if row >= 0:
        hint = "; ignore_index= leaves out the rows of such a label" if held[row] < 0 and ignore is None else ""
        raise IndexError(f"cross_entropy: labels: is {held[row]} at row {row}; there are {num_classes} classes{hint}")
    return numbers, ignored


@cross_entropy.define_infer
def _(logits: Spec, labels: Any, label_smoothing: float, ignore_index: int | None) -> Spec:
    _options(label_smoothing, ignore_index)
    _check_real(logits.dtype)
    return Spec(logits.shape[:1], float_of("cross_entropy", logits.dtype))


@cross_entropy.define_vjp
def _(d: Array, shifted: Array, classes: Array, ignored: Array | None, label_smoothing: float) -> tuple[Array, None]:
    spread = float(label_smoothing)
    d_logits = _spread(d, shifted)
    d_logits[np.arange(len(classes)), classes] -= d if not spread else (1 - spread) * d
    if spread:
        d_logits -= (spread / shifted.shape[1] * d)[:, None]
    if ignored is not None:
        d_logits[ignored] = 0
    return d_logits, None
