"""Gradients of Variables while a way back through recorded operators is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import GraphError
from lodcore.graph.block import Operator
from lodcore.graph.variable import Variable
from lodcore.sparse_tensor import SparseTensor
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor
from lodcore.tensor_array import TensorArray

__all__ = [
    "Context",
    "Gradients",
    "differentiable",
    "differentiable_spec",
    "fitting",
    "of_type",
    "path",
    "values_of",
    "without_sharing",
]

Array = np.ndarray[Any, Any]


class Context:
    """What a backward rule sees of a call: the value of every argument by its name, `out`, and `hidden`.

    Parameters
    ----------
    saved : dict
        These values.
    operator : Operator
    gradients : Gradients
        What is wanted, and where to write it.
    """

    __slots__ = ("__dict__", "_gradients", "_operator")

    def __init__(self, saved: dict[str, Any], operator: Operator, gradients: Gradients) -> None:
        self.__dict__ = saved
        self._operator = operator
        self._gradients = gradients

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._operator.name}: has no argument {name}")

    def needs(self, name: str) -> bool:
        """Tell whether the gradient of an argument is wanted."""
        given = self._operator.arguments[name]
        if type(given) is list:
            return any(self.wants(x) for x in given)
        return self.wants(given)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as they were recorded: Variables and constants."""
        return self._operator.arguments

    def wants(self, x: Any) -> bool:
        """Tell whether the gradient of a Variable is wanted."""
        return isinstance(x, Variable) and x in self._gradients.needed

    def input_lod(self, name: str) -> Any:
        """Give the LoD of an argument by its name, None if it has none (the InputSeq of the design documents)."""
        return getattr(self.__dict__[name], "lod", None)

    def new(self, name: str) -> Array:
        """Make an uninitialised array for the gradient of an argument: with the shape and dtype of its values."""
        if self._gradients.places:
            given = self._operator.arguments[name]
            place = self._gradients.places.pop(given, None) if isinstance(given, Variable) else None
            if place is not None:
                return place
        value = values_of(self.__dict__[name])
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

    __slots__ = ("_own", "found", "needed", "places")

    def __init__(self, needed: set[Variable], places: dict[Variable, Array] | None = None) -> None:
        self.needed = needed
        self.places = {} if places is None else places
        self.found: dict[Variable, Any] = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self._own: set[Variable] = set()  # those whose sum nobody else holds

    def add(self, variable: Variable, gradient: Any) -> None:
        """Add to the gradient of a Variable; the dict of an array's gradient is given away."""
        known = self.found.get(variable)
        if known is None:
            self.found[variable] = gradient
        elif type(known) is dict:
            for index, one in gradient.items():
                known[index] = known[index] + one if index in known else one
        elif variable in self._own and type(gradient) is np.ndarray:
            known += gradient
        else:
            total = known + gradient
            self.found[variable] = total
            if type(total) is np.ndarray:
                self._own.add(variable)

    def take(self, variable: Variable) -> Any:
        """Give the gradient of a Variable, and forget it."""
        self._own.discard(variable)
        return self.found.pop(variable, None)

    def step_back(self, operator: Operator, saved: dict[str, Any]) -> None:
        """Go back through one operator: from the gradients of its results to those of its inputs.

        Parameters
        ----------
        operator : Operator
        saved : dict
            The values of its arguments, `out` and `hidden`.
        """
        cotangents = [self.take(out) for out in operator.outputs]
        for cotangent in cotangents:
            if cotangent is not None:
                break
        else:
            return
        op = operator.op
        if op._backward is None:
            raise GraphError(f"{op.__name__}: has no gradient")
        found = op._backward(Context(saved, operator, self), *cotangents)
        needed = self.needed
        for name, gradient in zip(op.roles, found, strict=True):
            if gradient is None:
                continue
            given = operator.arguments[name]
            if type(given) is list:
                for x, one, value in zip(given, gradient, saved[name], strict=True):
                    if one is not None and isinstance(x, Variable) and x in needed:
                        self.add(x, fitting(one, value))
            elif isinstance(given, Variable) and given in needed:
                self.add(given, fitting(gradient, saved[name]))


def values_of(value: Any) -> Array:
    """Give the array in which the numbers of a tensor are."""
    return value.values if isinstance(value, (LoDTensor, DenseTensor)) else np.asarray(value)


def fitting(gradient: Any, value: Any) -> Any:
    """Give a gradient the dtype of the value that it belongs to, in contiguous memory."""
    if isinstance(gradient, (dict, SparseTensor)):
        return gradient
    dtype = value.dtype
    if type(gradient) is np.ndarray and gradient.dtype == dtype and gradient.flags.c_contiguous:
        return gradient
    return np.require(gradient, dtype, ["C"])


def of_type(value: Any, gradient: Any, place: Array | None = None) -> Any:
    """Make of a gradient a tensor of the type of a value, zeros if there is none."""
    if isinstance(value, TensorArray):
        return _array_of_type(value, {} if gradient is None else gradient)
    if isinstance(gradient, SparseTensor):
        if place is None:
            return gradient
        gradient = gradient.to_dense()
    if gradient is None:
        values = values_of(value)
        gradient = np.zeros(values.shape, values.dtype) if place is None else place
        gradient[...] = 0
    elif place is not None and gradient is not place:
        place[...] = gradient
        gradient = place
    elif type(gradient) is not np.ndarray:  # a sum of arrays without axes
        gradient = np.asarray(gradient)
    if isinstance(value, LoDTensor):
        return tensor_core.new_tensor(np.ascontiguousarray(gradient), value.lod)
    return DenseTensor(gradient) if isinstance(value, DenseTensor) else gradient


def _array_of_type(array: TensorArray, gradient: dict[int, Any]) -> TensorArray:
    """Make the gradient of an array: one of each element that has numbers, and holes where it has holes."""
    made = TensorArray(array._size)
    known = range(len(array._source) if array._source is not None else 0)
    for index in sorted({*known, *array._items}):
        element = array._element("read", index)
        if differentiable(element):
            made._items[index] = of_type(element, gradient.get(index))
    return made


def without_sharing(gradients: Iterable[Any], *taken: Any) -> list[Any]:
    """Give gradients memory of their own, where several or something else are the same array or a view of one.

    Rules of gradients may hand on what they got; who gets two gradients may change one in place.
    """
    seen = set(map(id, taken))
    own = []
    for gradient in gradients:
        if isinstance(gradient, SparseTensor) or type(gradient) is np.ndarray:
            values = gradient.values if isinstance(gradient, SparseTensor) else gradient
            if id(values) in seen or isinstance(values.base, np.ndarray) or not values.flags.writeable:
                gradient = gradient.clone() if isinstance(gradient, SparseTensor) else gradient.copy()
            seen.add(id(values))
        own.append(gradient)
    return own


def differentiable_spec(spec: Spec) -> bool:
    """Tell whether there may be gradients with respect to what a Spec describes."""
    if spec.kind is object or spec.kind is TensorArray:
        return True
    return spec.dtype.kind in "fc" and issubclass(spec.kind, Tensor)


def differentiable(value: Any) -> bool:
    """Tell whether there are gradients with respect to a value."""
    if type(value) is np.ndarray or isinstance(value, (Tensor, np.generic)):
        return value.dtype.kind in "fc"
    return isinstance(value, (TensorArray, float, complex))


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
