"""Rules of NumPy's products of dense arrays: sums over labels and axes, and convolutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.operands import Array
from lodcore.ops.dense.numpy_rules import NumpyRule, RuleInputs, Shape, added, broadcast
from lodcore.tensors.tensor import Spec

__all__ = ["RULES"]

#: Multiplications in a sum over labels above which the order of products is worth finding.
MANY = 100_000


def _numbers(where: str, *xs: Spec) -> np.dtype[Any]:
    for j, x in enumerate(xs):
        if x.dtype.kind not in "biufc":
            raise DTypeError(f"{where}: operand {j}: has dtype {x.dtype}; numbers are needed")
    return np.result_type(*[x.dtype for x in xs])


# -- sums over labels --------------------------------------------------------------------------------------------------


def _labels(subscripts: str) -> tuple[list[str], str]:
    """Return the labels of each operand, and of the result."""
    operands, _, result = subscripts.partition("->")
    return operands.split(","), result


def _label_sizes(labels: list[str], shapes: list[Shape]) -> dict[str, int | None]:
    """Return the length of each label; those of length 1 broadcast."""
    sizes: dict[str, int | None] = {}
    for given, shape in zip(labels, shapes, strict=True):
        if len(given) != len(shape):
            raise ShapeError(f"numpy.einsum: subscripts: {given!r} are {len(given)} labels; the operand has {shape}")
        for label, size in zip(given, shape, strict=True):
            known = sizes.get(label, 1)
            if known != size and 1 not in (known, size) and None not in (known, size):
                raise ShapeError(f"numpy.einsum: subscripts: {label!r} has the lengths {known} and {size}")
            sizes[label] = size if known == 1 or (known is None and size != 1) else known
    return sizes


def _einsum(*xs: Array, subscripts: str, optimize: Any) -> Array:
    if optimize:  # which multiplies some operands first: with all digits of the widest one
        wide = np.result_type(*xs)
        xs = tuple([x.astype(wide, copy=False) for x in xs])
    return np.einsum(subscripts, *xs, optimize=optimize)  # type: ignore[no-any-return]


def _summed(*xs: Spec, subscripts: str, optimize: Any) -> Spec:
    labels, result = _labels(subscripts)
    sizes = _label_sizes(labels, [x.shape for x in xs])
    return Spec(tuple([sizes[label] for label in result]), _numbers("numpy.einsum", *xs))


def _vjp_summed(given: RuleInputs, *xs: Array, subscripts: str, optimize: Any) -> tuple[Array | None, ...]:
    labels, result = _labels(subscripts)
    sizes = _label_sizes(labels, [x.shape for x in xs])
    several = len(xs) > 1 and math.prod([size or 0 for size in sizes.values()]) > MANY
    found: list[Array | None] = []
    for j, x in enumerate(xs):
        others = [one for k, one in enumerate(xs) if k != j]
        known = [result, *[one for k, one in enumerate(labels) if k != j]]
        if given.needs[j]:
            found.append(_vjp_of_one(given.d, x, others, labels[j], known, bool(optimize) or several))
        else:
            found.append(None)
    return tuple(found) if len(found) > 1 else found[0]  # type: ignore[return-value]


def _vjp_of_one(d: Array, x: Array, others: list[Array], own: str, known: list[str], optimize: bool) -> Array:
    """Return the gradient of one operand: the sum over labels that it lacks, spread over labels that only it has."""
    each = "".join(dict.fromkeys(own))
    kept = "".join([label for label in each if any(label in one for one in known)])
    found = _einsum(d, *others, subscripts=f"{','.join(known)}->{kept}", optimize=optimize)
    sizes = [x.shape[own.index(label)] for label in each]
    widths = iter(found.shape)
    found = found.reshape([next(widths) if label in kept else 1 for label in each])
    stretched = tuple([j for j, size in enumerate(sizes) if size == 1 != found.shape[j]])
    found = found.sum(stretched, keepdims=True) if stretched else found
    made = np.zeros(x.shape, found.dtype)
    np.einsum(f"{own}->{each}", made)[...] = found  # a view, of diagonals where labels are repeated
    return made


# -- sums over axes ----------------------------------------------------------------------------------------------------


def _free(ndim: int, axes: tuple[int, ...]) -> list[int]:
    return [axis for axis in range(ndim) if axis not in axes]


def _contracted(a: Spec, b: Spec, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> Spec:
    where = "numpy.tensordot"
    sizes = [(a.shape[one], b.shape[other]) for one, other in zip(axes_a, axes_b, strict=True)]
    if any(None not in pair and pair[0] != pair[1] for pair in sizes):
        raise ShapeError(f"{where}: a, b: have shapes {a.shape}, {b.shape}; axes {axes_a} and {axes_b} must be equal")
    shape = [a.shape[j] for j in _free(len(a.shape), axes_a)] + [b.shape[j] for j in _free(len(b.shape), axes_b)]
    return Spec(tuple(shape), _numbers(where, a, b))


def _vjp_contracted(given: RuleInputs, a: Array, b: Array, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> Any:
    free_a, free_b = _free(a.ndim, axes_a), _free(b.ndim, axes_b)
    d, d_a, d_b = given.d, None, None
    if given.needs[0]:
        order = [*free_a, *[axes_a[axes_b.index(one)] for one in sorted(axes_b)]]
        d_a = np.tensordot(d, b, (list(range(len(free_a), d.ndim)), free_b)).transpose(np.argsort(order))
    if given.needs[1]:
        order = [*[axes_b[axes_a.index(one)] for one in sorted(axes_a)], *free_b]
        d_b = np.tensordot(a, d, (free_a, list(range(len(free_a))))).transpose(np.argsort(order))
    return d_a, d_b


# -- convolutions ------------------------------------------------------------------------------------------------------


def _first_of(mode: str, a: int, v: int) -> int:
    """Return the position in the whole convolution at which the result begins."""
    least = min(a, v)
    return 0 if mode == "full" else least - 1 if mode == "valid" else (least - 1) // 2


def _convolved(a: Spec, v: Spec, mode: str) -> Spec:
    where = "numpy.convolve"
    for name, x in (("a", a), ("v", v)):
        if len(x.shape) != 1 or x.shape[0] == 0:
            raise ShapeError(f"{where}: {name}: has shape {x.shape}; a vector with values is needed")
    one, other = a.shape[0], v.shape[0]
    if one is None or other is None:
        size = added(one, other, -1) if mode == "full" else None
    else:
        size = {"full": one + other - 1, "same": max(one, other), "valid": abs(one - other) + 1}[mode]
    return Spec((size,), _numbers(where, a, v))


def _vjp_convolved(given: RuleInputs, a: Array, v: Array, mode: str) -> tuple[Array, Array]:
    first = _first_of(mode, len(a), len(v))
    d = np.zeros(len(a) + len(v) - 1, given.d.dtype)
    d[first : first + len(given.d)] = given.d
    return np.convolve(d, v[::-1], "valid"), np.convolve(d, a[::-1], "valid")


def _outer(a: Spec, b: Spec) -> Spec:
    return Spec(broadcast("numpy.outer", (*a.shape, 1), (1, *b.shape)), _numbers("numpy.outer", a, b))


def _vjp_outer(given: RuleInputs, a: Array, b: Array) -> tuple[Any, Any]:
    d_a = given.d @ b if given.needs[0] else None
    return d_a, a @ given.d if given.needs[1] else None


def _of_rows(rows: Any, *xs: Any, subscripts: str, optimize: Any) -> Any:
    """Multiply rows in a loop by a matrix, or add the products of two rows each."""
    given, _, out = subscripts.partition("->")
    labels = given.split(",")
    if len(labels) != 2 or any(len(set(one)) != 2 or len(one) != 2 for one in labels):
        return None
    left, right = labels
    if left == right and out == left[0]:
        return rows.sums_of_products(*xs)
    if left[1] == right[0] and left[0] != right[1] and out == left[0] + right[1]:
        return rows.product(*xs)
    return None


#: The rules. Of `einsum`, all labels are letters, and those of the result are given; axes are counted from the first.
RULES = {
    "einsum": NumpyRule(_einsum, _summed, _vjp_summed, _of_rows),
    "tensordot": NumpyRule(
        lambda a, b, axes_a, axes_b: np.tensordot(a, b, (list(axes_a), list(axes_b))), _contracted, _vjp_contracted
    ),
    "outer": NumpyRule(np.outer, _outer, _vjp_outer),
    "convolve": NumpyRule(np.convolve, _convolved, _vjp_convolved),
}
