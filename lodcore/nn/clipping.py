"""Clipping of gradients by their global norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.recycling import Recycled
from lodcore.graph.trees import copy_of_tree
from lodcore.graph.variable import Variable
from lodcore.nn.updates import in_form_of, leaves_of
from lodcore.operators.numbers import number_of
from lodcore.operators.registry import Op
from lodcore.operators.roles import Batches
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor, new_sparse
from lodcore.tensors.tensor import Spec

__all__ = ["clip_by_global_norm"]

#: Squares of smaller numbers have few digits in float64, or none.
SMALL = 1e-140


def clip_by_global_norm(gradients: Any, limit: float) -> tuple[Any, float]:
    """Scale gradients down so that their global norm is at most a limit.

    Parameters
    ----------
    gradients : tree
        A tree of ndarrays, SparseTensors, LoDTensors, numbers and None, or of the Variables of gradients in a Program.
        What holds no floating-point or complex numbers is no gradient, and kept.
    limit : float
        Above 0.

    Returns
    -------
    gradients : tree
        A tree of the same form; the same object if the norm is within the limit, or is not finite.
    norm : float, or a Variable of it
        The root of the sum of all squares before scaling, computed in float64. Repeated rows of a SparseTensor are
        added first.

    Raises
    ------
    DTypeError, ValueError
        If the limit is not a number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.nn.clip_by_global_norm({"weight": np.array([3.0, 0.0]), "bias": np.array([4.0])}, 1.0)
    ({'weight': array([0.6, 0. ]), 'bias': array([0.8])}, 5.0)
    """
    where = "clip_by_global_norm"
    most = number_of(f"{where}: limit", limit)
    if most <= 0:
        raise ValueError(f"{where}: limit: is {limit!r}; a number above 0 is needed")
    form = copy_of_tree(gradients)
    leaves = leaves_of(where, form, None, {})
    places = [j for j, leaf in enumerate(leaves) if isinstance(leaf.value, Variable)]
    if places:
        given = [leaf.value for leaf in leaves]
        *clipped, norm = CLIP([given[j] for j in places], most)
        found = dict(zip(places, clipped, strict=True))
        return in_form_of(form, [found.get(j, x) for j, x in enumerate(given)]), norm
    merged = [leaf.value.merge() if isinstance(leaf.value, SparseTensor) else leaf.value for leaf in leaves]
    norm = _norm(merged)
    if norm <= most or not math.isfinite(norm):
        return gradients, norm
    with Recycled():
        return in_form_of(form, [_scaled(value, most / norm) for value in merged]), norm


def _gradient_values(gradient: Any) -> Any:
    """Return the values of a gradient, or None for anything else."""
    if isinstance(gradient, (SparseTensor, LoDTensor)):
        gradient = gradient.values
    found = isinstance(gradient, (np.ndarray, np.generic, float)) and np.asarray(gradient).dtype.kind in "fc"
    return np.asarray(gradient) if found else None


def _norm(gradients: list[Any]) -> float:
    """Return the root of the sum of all squares, also where float64 cannot hold the squares."""
    given = [values for values in map(_gradient_values, gradients) if values is not None]
    try:
        norm = math.sqrt(math.fsum(kernels.optimizers.sum_squares(_real_values(values)) for values in given))
    except OverflowError:  # of a sum of finite squares
        norm = math.inf
    if SMALL < norm < math.inf or math.isnan(norm):
        return norm
    most = max((float(np.abs(_real_values(values)).max()) for values in given if values.size), default=0.0)
    if not 0 < most < math.inf:
        return most
    shares = (_real_values(values).astype(np.float64) / most for values in given)
    return most * math.sqrt(math.fsum(map(kernels.optimizers.sum_squares, shares)))


def _real_values(values: Any) -> Any:
    """Return the real and imaginary parts of numbers, consecutively, as float32 if they are that, float64 otherwise."""
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    real: Any = np.float32 if values.dtype.char == "f" else np.float64  # in native byte order
    return np.ascontiguousarray(values, real).reshape(-1)


def _scaled(gradient: Any, factor: float) -> Any:
    values = _gradient_values(gradient)
    if values is None:
        return gradient
    scaled = values * values.dtype.type(factor)
    if isinstance(gradient, SparseTensor):
        return new_sparse(gradient.indices, scaled, gradient.height)
    return LoDTensor(scaled, gradient.lod) if isinstance(gradient, LoDTensor) else scaled


# -- in a Program ------------------------------------------------------------------------------------------------------


def _clip(gradients: list[Any], limit: float) -> tuple[Any, ...]:
    """Return clipped gradients, and their norm before."""
    clipped, norm = clip_by_global_norm(gradients, limit)
    return *clipped, np.float64(norm)


class ClipOp(Op):
    """Clipping as an operator; the norm is its last result."""

    keeps_versions = True  # gradients may be SparseTensors, which the role of a list would refuse

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Specs of the results: those of the gradients, and of the norm."""
        return (*arguments["gradients"], Spec((), np.dtype(np.float64)))


CLIP = ClipOp(_clip, {"gradients": Batches}, differentiable=False, results=None)  # type: ignore[arg-type]
CLIP.__name__ = "clip_by_global_norm"
