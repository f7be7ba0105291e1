"""Gradients: back through recorded operators, from the last to the first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.graph.arrays import new_variable
from lodcore.graph.block import Block
from lodcore.graph.gradients import Gradients, differentiable, path, values_of
from lodcore.graph.trees import leaves, map_leaves, map_leaves_of_two
from lodcore.graph.variable import Variable
from lodcore.memory import check_out
from lodcore.symbol import open_block, recording
from lodcore.tensor import LoDTensor, Tensor
from lodcore.tensor_array import TensorArray

__all__ = ["of_type", "value_and_grad", "vjp"]

Array = np.ndarray[Any, Any]


class Pullback:
    """From cotangents of the results to gradients of the inputs; may be called any number of times."""

    __slots__ = ("_arrays", "_block", "_inputs", "_needed", "_result", "_way")

    def __init__(self, block: Block, inputs: tuple[Any, ...], arrays: dict[Variable, TensorArray], result: Any) -> None:
        self._block, self._inputs, self._arrays, self._result = block, inputs, arrays, result
        wanted = [x for x in leaves(inputs) if isinstance(x, Variable) and differentiable(x._value)]
        self._needed, self._way = path(block.ops, wanted, lambda out: differentiable(out._value))

    def __call__(self, *cotangents: Any, out: Any = None) -> tuple[Any, ...]:
        """Give the gradients.

        Parameters
        ----------
        *cotangents : tensor or None
            One a result, as the function returned them: of its shape, an equal LoD or none; None is zero.
        out : tuple, optional
            One entry an input: an ndarray in which its gradient is written, or None.

        Returns
        -------
        tuple
            One entry an input, of its type; None for integers.
        """
        gradients = Gradients(self._needed)
        several = isinstance(self._result, (list, tuple)) and not (len(cotangents) == 1 != len(self._result))
        result = list(self._result) if several else [self._result]
        if len(cotangents) != len(result):
            raise ValueError(f"pullback: cotangents: are {len(cotangents)}; the function gave {len(result)}")
        for j, (one, cotangent) in enumerate(zip(result, cotangents, strict=True)):
            begin = functools.partial(self._begin, gradients, f"pullback: cotangents[{j}]")
            map_leaves_of_two(begin, one, cotangent, f"pullback: cotangents[{j}]")
        self._place(gradients, out)
        frame = self._block.frame
        for operator in reversed(self._way):
            gradients.step_back(operator, frame)
        outs = [None] * len(self._inputs) if out is None else out
        return tuple(
            map_leaves(functools.partial(self._given, gradients, place), x)
            for x, place in zip(self._inputs, outs, strict=True)
        )

    def _begin(self, gradients: Gradients, name: str, x: Any, cotangent: Any) -> None:
        """Take in the cotangent of one result."""
        if isinstance(x, Variable):
            made = checked_cotangent(name, x._value, cotangent)
            if x in self._needed and made is not None:
                gradients.add(x, made)

    def _place(self, gradients: Gradients, out: Any) -> None:
        """Check the arrays that the caller gives for gradients."""
        if out is None:
            return
        if not isinstance(out, (list, tuple)) or len(out) != len(self._inputs):
            raise ValueError(f"pullback: out: a tuple of {len(self._inputs)} entries is needed, one an input")
        given = [
            values_of(x._value)
            for x in leaves(self._inputs)
            if isinstance(x, Variable) and isinstance(x._value, Tensor)
        ]
        given += [d for d in gradients.found.values() if isinstance(d, np.ndarray)]
        for j, (x, place) in enumerate(zip(self._inputs, out, strict=True)):
            if place is None:
                continue
            if not isinstance(x, Variable) or x not in self._needed:
                raise DTypeError(f"pullback: out[{j}]: the input has no gradient of its own")
            values = values_of(x._value)
            check_out(f"pullback: out[{j}]", place, values.shape, values.dtype, *given)
            given.append(place)
            gradients.places[x] = place

    def _given(self, gradients: Gradients, place: Array | None, x: Any) -> Any:
        """Give the gradient of an input its type."""
        if not isinstance(x, Variable) or x not in self._needed:
            return None
        return of_type(self._arrays.get(x, x._value), gradients.found.get(x), place)


def of_type(value: Any, gradient: Any, place: Array | None = None) -> Any:
    """Make of a gradient a tensor of the type of a value, zeros if there is none."""
    if isinstance(value, TensorArray):
        steps = TensorArray(value.size())
        for index, one in (gradient or {}).items():
            element = value._element("read", index)
            steps.write(index, of_type(element, one))
        return steps
    if hasattr(gradient, "to_dense") and place is not None:
        gradient = gradient.to_dense()
    if hasattr(gradient, "to_dense"):
        return gradient
    values = values_of(value)
    if gradient is None:
        gradient = np.zeros(values.shape, values.dtype) if place is None else place
        gradient[...] = 0
    elif place is not None and gradient is not place:
        place[...] = gradient
        gradient = place
    if isinstance(value, LoDTensor):
        return tensor_core.new_tensor(np.ascontiguousarray(gradient), value.lod)
    return gradient


def checked_cotangent(where: str, value: Any, cotangent: Any) -> Any:
    """Turn a cotangent into an array of the shape and dtype of the values of a result.

    Raises
    ------
    LoDError, ShapeError, DTypeError
        If it has another structure, another shape, or no real numbers.
    """
    if cotangent is None or not differentiable(value):
        return None
    if isinstance(value, TensorArray):
        return {
            index: checked_cotangent(f"{where}[{index}]", value._element("read", index), one)
            for index, one in enumerate(cotangent)
            if one is not None
        }
    if isinstance(cotangent, Variable):
        raise GraphError(f"{where}: is a Variable; gradients of gradients are not supported")
    values = values_of(value)
    if isinstance(cotangent, LoDTensor):
        if not isinstance(value, LoDTensor):
            raise LoDError(f"{where}: has levels; the result has none")
        if cotangent.lod != value.lod:
            raise LoDError(f"{where}: has another LoD than the result")
    if hasattr(cotangent, "to_dense"):
        cotangent = cotangent.to_dense()
    made = values_of(cotangent)
    if made.dtype.kind not in "biuf" and not (made.dtype.kind == "c" and values.dtype.kind == "c"):
        raise DTypeError(f"{where}: has dtype {made.dtype}; {values.dtype} is needed")
    if made.shape != values.shape:
        raise ShapeError(f"{where}: has shape {made.shape}; the result has {values.shape}")
    return np.ascontiguousarray(made, values.dtype).reshape(values.shape)


def vjp(f: Callable[..., Any], *inputs: Any) -> tuple[Any, Pullback]:
    """Run a function, and give the way back: from cotangents of its results to gradients of its inputs.

    Parameters
    ----------
    f : callable
        Of operators, with any Python control flow.
    *inputs : tensor, or lists, tuples and dicts of tensors

    Returns
    -------
    outputs
        As f returns them.
    pullback : callable
        `pullback(*cotangents, out=None)` gives a tuple, one entry an input: zeros where there is no path, None for
        integers.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> y, pullback = lodcore.vjp(lambda x: lodcore.ops.sum(lodcore.mul(x, x)), x)
    >>> float(y)
    14.0
    >>> pullback(1.0)
    (LoDTensor(3 sequences of lengths 0..2, float64: [[2., 4.], [], [6.]]),)
    """
    block = Block()
    variables = tuple(map_leaves(lambda x: _valued("vjp", x, block), one) for one in inputs)
    arrays = {x: x._value._snapshot() for x in leaves(variables) if type(getattr(x, "_value", None)) is TensorArray}
    if open_block() is None:
        result = f(*variables)
    else:
        with recording(None):
            result = f(*variables)
    settled = map_leaves(lambda x: block.output(x), result)
    outputs = map_leaves(lambda x: x._value if isinstance(x, Variable) else x, settled)
    block.close()
    return outputs, Pullback(block, variables, arrays, settled)


def _valued(where: str, x: Any, block: Block) -> Any:
    """Make a Variable of a tensor or number; everything else stays."""
    if isinstance(x, Variable):
        raise GraphError(f"{where}: Variable {x.name}: is recorded already; gradients of gradients are not supported")
    if isinstance(x, (bool, int, float, complex, np.generic)):
        x = np.asarray(x)
    if isinstance(x, np.ndarray) and x.dtype.hasobject:
        raise DTypeError(f"{where}: an input has dtype {x.dtype}; Python objects have no fixed size")
    if not isinstance(x, (Tensor, TensorArray)):
        return x
    made = new_variable(None, x._snapshot() if isinstance(x, TensorArray) else x, None, block)
    block.frame[made] = made._value
    return made


def value_and_grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., tuple[Any, Any]]:
    """Make the function that gives a number and its gradient.

    Parameters
    ----------
    f : callable
        Gives one real number.
    argnums : int or tuple of int
        With respect to which arguments.

    Returns
    -------
    callable
        Of the same arguments; gives the number, and the gradient (a tuple, if argnums is one).

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> value, slope = lodcore.value_and_grad(lambda w: lodcore.ops.sum(lodcore.mul(w, w)))(np.array([1.0, 2.0]))
    >>> float(value), slope
    (5.0, array([2., 4.]))
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def with_gradient(*args: Any) -> tuple[Any, Any]:
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise IndexError(f"value_and_grad: argnums: is {number}; there are {len(args)} arguments")
        places = [number % len(args) for number in numbers]

        def of_chosen(*chosen: Any) -> Any:
            every = list(args)
            for place, x in zip(places, chosen, strict=True):
                every[place] = x
            return f(*every)

        value, pullback = vjp(of_chosen, *[args[place] for place in places])
        if isinstance(value, (list, tuple, dict)) or np.size(values_of(value)) != 1:
            raise ShapeError(f"value_and_grad: f: gave {_described(value)}; one number is needed")
        if not differentiable(value):
            raise DTypeError(f"value_and_grad: f: gave dtype {values_of(value).dtype}; a real number is needed")
        slopes = pullback(np.ones(values_of(value).shape))
        return value, slopes if isinstance(argnums, tuple) else slopes[0]

    return with_gradient


def _described(value: Any) -> str:
    return f"shape {values_of(value).shape}" if isinstance(value, Tensor) else type(value).__name__
