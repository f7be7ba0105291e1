"""Gradients of Variables while a way back through recorded operators is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lodcore.errors import GraphError
from lodcore.graph.block import Frame, Operator, value_in
from lodcore.graph.variable import Variable
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor
from lodcore.tensor_array import TensorArray

__all__ = ["Context", "Gradients", "differentiable", "differentiable_spec", "fitting", "path", "values_of"]

Array = np.ndarray[Any, Any]


class Context:
    """What a backward rule sees of a call: every argument by its name, `out`, and `hidden`.

    Parameters
    ----------
    operator : Operator
    frame : dict
        Values, and what operators saved.
    gradients : Gradients
        What is wanted, and where to write it.
    """

    __slots__ = ("_frame", "_gradients", "_operator")

    def __init__(self, operator: Operator, frame: Frame, gradients: Gradients) -> None:
        self._operator = operator
        self._frame = frame
        self._gradients = gradients

    def __getattr__(self, name: str) -> Any:
        try:
            return value_in(self._frame, self._operator.arguments[name])
        except KeyError:
            raise AttributeError(name) from None

    @property
    def out(self) -> Any:
        """The result; a tuple, if there are several."""
        outputs = self._operator.outputs
        return self._frame[outputs[0]] if self._operator.single else tuple(self._frame[out] for out in outputs)

    @property
    def hidden(self) -> Any:
        """What the saving variant of the operator gave besides."""
        return self._frame.get(self._operator)

    def needs(self, name: str) -> bool:
        """Tell whether the gradient of an argument is wanted."""
        given = self._operator.arguments[name]
        needed = self._gradients.needed
        return any(isinstance(x, Variable) and x in needed for x in (given if isinstance(given, list) else [given]))

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as they were recorded: Variables and constants."""
        return self._operator.arguments

    def wants(self, x: Any) -> bool:
        """Tell whether the gradient of a Variable is wanted."""
        return isinstance(x, Variable) and x in self._gradients.needed

    def input_lod(self, name: str) -> Any:
        """Give the LoD of an argument by its name, None if it has none (the InputSeq of the design documents)."""
        return getattr(getattr(self, name), "lod", None)

    def new(self, name: str) -> Array:
        """Make an uninitialised array for the gradient of an argument: with the shape and dtype of its values."""
        given = self._operator.arguments[name]
        place: Array | None = self._gradients.places.pop(given, None) if isinstance(given, Variable) else None
        if place is not None:
            return place
        value = values_of(value_in(self._frame, given))
        return np.empty(value.shape, value.dtype)


class Gradients:
    """Gradients of Variables while a way back is gone.

    Parameters
    ----------
    needed : set of Variable
        Those whose gradient leads somewhere.
    places : dict, optional
        Arrays in which the gradient of a Variable is to be written.
    """

    __slots__ = ("found", "needed", "own", "places")

    def __init__(self, needed: set[Variable], places: dict[Variable, Array] | None = None) -> None:
        self.needed = needed
        self.places = {} if places is None else places
        self.found: dict[Variable, Any] = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self.own: set[Variable] = set()  # those whose sum nobody else holds

    def add(self, variable: Variable, gradient: Any) -> None:
        """Add to the gradient of a Variable."""
        known = self.found.get(variable)
        if known is None:
            self.found[variable] = gradient
        elif variable in self.own and type(known) is np.ndarray and type(gradient) is np.ndarray:
            known += gradient
        elif type(known) is dict:
            for index, one in gradient.items():
                known[index] = known[index] + one if index in known else one
        else:
            self.found[variable] = known + gradient
            self.own.add(variable)

    def take(self, variable: Variable) -> Any:
        """Give the gradient of a Variable, and forget it."""
        self.own.discard(variable)
        return self.found.pop(variable, None)

    def step_back(self, operator: Operator, frame: Frame) -> None:
        """Go back through one operator: from the gradients of its results to those of its inputs."""
        cotangents = [self.take(out) for out in operator.outputs]
        if all(cotangent is None for cotangent in cotangents):
            return
        op = operator.op
        if op._backward is None:
            raise GraphError(f"{op.__name__}: has no gradient")
        found = op._backward(Context(operator, frame, self), *cotangents)
        for name, gradient in zip(op.roles, found, strict=True):
            if gradient is None:
                continue
            given = operator.arguments[name]
            pairs = zip(given, gradient, strict=True) if isinstance(given, list) else [(given, gradient)]
            for x, one in pairs:
                if one is not None and isinstance(x, Variable) and x in self.needed:
                    self.add(x, fitting(one, frame[x]))


def values_of(value: Any) -> Array:
    """Give the array in which the numbers of a tensor are."""
    return value.values if isinstance(value, (LoDTensor, DenseTensor)) else np.asarray(value)


def fitting(gradient: Any, value: Any) -> Any:
    """Give a gradient the dtype of the value that it belongs to, in contiguous memory."""
    if isinstance(gradient, dict) or hasattr(gradient, "to_dense"):
        return gradient
    values = values_of(value)
    if type(gradient) is np.ndarray and gradient.dtype == values.dtype and gradient.flags.c_contiguous:
        return gradient
    return np.require(gradient, values.dtype, ["C"])


def differentiable_spec(spec: Spec) -> bool:
    """Tell whether there may be gradients with respect to what a Spec describes."""
    return (
        spec.kind is object or spec.kind is TensorArray or (spec.dtype.kind in "fc" and issubclass(spec.kind, Tensor))
    )


def differentiable(value: Any) -> bool:
    """Tell whether there are gradients with respect to a value."""
    if isinstance(value, TensorArray):
        return True
    if not isinstance(value, (Tensor, np.generic, float, complex)):
        return False
    return np.dtype(value.dtype if hasattr(value, "dtype") else float).kind in "fc"


def path(
    ops: Iterable[Any], wanted: Iterable[Variable], kept: Callable[[Variable], bool]
) -> tuple[set[Variable], list[Any]]:
    """Find what lies on the way from the wanted Variables: the Variables that need a gradient, and the operators.

    Parameters
    ----------
    ops : list of Operator
        In the order in which they ran.
    wanted : list of Variable
    kept : callable
        Tells whether a Variable can have a gradient.
    """
    needed = set(wanted)
    way = []
    for operator in ops:
        if operator.op.gradient and any(x in needed for x in operator.inputs):
            outputs = [out for out in operator.outputs if kept(out)]
            if outputs:
                needed.update(outputs)
                way.append(operator)
    return needed, way
