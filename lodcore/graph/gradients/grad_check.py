"""Comparison of gradients with numerical derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.graph.gradients.autodiff import check_differentiable, vjp
from lodcore.graph.gradients.cotangents import differentiable, values_of
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["grad_check"]

Array = np.ndarray[Any, Any]
PLACES = 500  # of a larger input, this many entries are compared


def grad_check(f: Callable[..., Any], *inputs: Any, rtol: float | None = None, step: float | None = None) -> None:
    """Compare the gradients of a function with numerical derivatives, entry by entry.

    Parameters
    ----------
    f : callable
        A function that calls operators.
    *inputs : tensor, or lists, tuples and dicts of tensors
        float64 is recommended for accurate derivatives.
    rtol : float, default 1e-5; 1e-2 with float32
        The allowed difference, relative to the maximum of 1 and the largest gradient of the input.
    step : float, default 1e-6; 1e-2 with float32
        The step of the central difference.

    Raises
    ------
    AssertionError
        If they differ; the message names the worst entry, its gradient and its derivative.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.grad_check(lambda x: lodcore.ops.tanh(x), np.array([0.5, -1.0]))
    """
    check_differentiable("grad_check: inputs", inputs)
    floats = [x for x in tree_leaves(inputs) if differentiable(x) and not isinstance(x, TensorArray)]
    coarse = any(values_of(x).dtype.itemsize < 8 for x in floats)
    rtol = (1e-2 if coarse else 1e-5) if rtol is None else rtol
    step = (1e-2 if coarse else 1e-6) if step is None else step
    random = np.random.default_rng(0)
    outputs, pullback = vjp(f, *inputs)
    weights = [
        random.standard_normal(values_of(y).shape) if differentiable(y) and not isinstance(y, TensorArray) else None
        for y in tree_leaves(outputs)
    ]
    rest = iter(weights)
    cotangents = tree_map(lambda y: next(rest), outputs)
    gradients = pullback(*cotangents) if isinstance(outputs, (list, tuple)) else pullback(cotangents)
    found = [g for g in tree_leaves(gradients) if g is not None and not isinstance(g, str)]
    if len(found) != len(floats):
        raise AssertionError(f"grad_check: {len(found)} gradients for {len(floats)} inputs of real numbers")

    def weighted(at: int, place: tuple[int, ...], values: Array) -> float:
        count = -1

        def changed(x: Any) -> Any:
            nonlocal count
            if not differentiable(x) or isinstance(x, TensorArray):
                return x
            count += 1
            if count != at:
                return x
            return lod_tensor_body.new_tensor(values, x.lod) if isinstance(x, LoDTensor) else values

        results = tree_leaves(vjp(f, *tree_map(changed, list(inputs)))[0])
        total = 0.0
        for y, w in zip(results, weights, strict=True):
            if w is not None:
                numbers = np.asarray(values_of(y), np.float64)
                if numbers.shape != w.shape:
                    raise AssertionError(
                        f"grad_check: input {at} at {place}: a step of {step} changes the shape of a result from "
                        f"{w.shape} to {numbers.shape}; a derivative needs numbers around which the shape stays"
                    )
                total += float(np.sum(numbers * w))
        return total

    for at, (x, gradient) in enumerate(zip(floats, found, strict=True)):
        values = values_of(x)
        dense = values_of(gradient.to_dense() if hasattr(gradient, "to_dense") else gradient)
        scale = max(1.0, float(np.max(np.abs(dense), initial=0)))
        worst, measured = 0.0, 0.0
        where: tuple[int, ...] = ()
        for place in _some_places(values.shape, random):
            moved = []
            for sign in (1, -1):
                near = np.array(values)
                near[place] += sign * step
                moved.append((float(near[place]), weighted(at, place, near)))
            derivative = (moved[0][1] - moved[1][1]) / (moved[0][0] - moved[1][0])
            wrong = abs(derivative - float(dense[place]))
            if not wrong <= worst:
                worst, where, measured = wrong, place, derivative
            if wrong != wrong:  # nan counts as the greatest difference
                break
        if not worst <= rtol * scale:
            raise AssertionError(
                f"grad_check: input {at} at {where}: gradient {float(dense[where])}, derivative {measured}, "
                f"difference {worst} above {rtol * scale}"
            )


def _some_places(shape: tuple[int, ...], random: np.random.Generator) -> list[tuple[int, ...]]:
    """Return the positions of an array, or PLACES of them if there are more."""
    size = int(np.prod(shape))
    chosen = np.arange(size) if size <= PLACES else random.choice(size, PLACES, replace=False)
    return [tuple(map(int, np.unravel_index(one, shape))) for one in chosen]
