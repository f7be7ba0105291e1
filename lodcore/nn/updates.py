"""Updates of trees by optimizers: leaf by leaf, dense or only in the rows of a sparse gradient."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from lodcore.base import buffers
from lodcore.base.dtypes import native_dtype
from lodcore.base.threads import get_num_threads, in_parts
from lodcore.errors import DTypeError, ShapeError
from lodcore.graph.names import Unnamed
from lodcore.graph.trees import map_leaves_of_two, tree_leaves, tree_map
from lodcore.graph.variable import Variable
from lodcore.nn.plain_updates import run_all
from lodcore.operators.numbers import runs
from lodcore.tensors.sparse_tensor import SparseTensor

__all__ = ["Call", "Calls", "Leaf", "check", "in_form_of", "leaves_of", "refuse_twice", "updated_leaves"]

Array = np.ndarray[Any, Any]
Call = Callable[[], Any]
Kernel = Callable[[list[Array], tuple[float, ...], list[Array]], Call]

#: An array, and where it is, from which the addresses of others follow without a call of Python.
ORIGIN = np.empty(1)
ADDRESS = ORIGIN.ctypes.data


class Leaf:
    """A parameter, its gradient, and its entries of the state.

    Attributes
    ----------
    value : object
        The parameter, or another leaf.
    place : str
        The name of the function, and the position of the gradient in the tree, for messages.
    gradient : object
        The gradient, or None.
    state : list
        One entry per tree of the state.
    """

    __slots__ = ("gradient", "place", "state", "value")

    def __init__(self, value: Any, place: str, count: int) -> None:
        self.value, self.place = value, place
        self.gradient: Any = None
        self.state: list[Any] = [None] * count

    @property
    def learns(self) -> bool:
        """Whether there is a gradient; the gradient of text is the text itself."""
        gradient = self.gradient
        return gradient is not None and not (isinstance(gradient, str) and isinstance(self.value, str))

    def zeros(self, name: str) -> Any:
        """Return zeros with the shape and dtype of the parameter, or None if it cannot have a gradient."""
        value = self.value
        if isinstance(value, Variable):
            made = Leaf(value.get(), self.place, 0).zeros(name)
            return None if made is None else Variable(Unnamed(name), made)
        if isinstance(value, (np.ndarray, np.floating, float)) and np.asarray(value).dtype.kind == "f":
            return np.zeros(np.shape(value), np.asarray(value).dtype)
        return None


def leaves_of(where: str, parameters: Any, gradients: Any, states: dict[str, Any]) -> list[Leaf]:
    """Return the leaves of parameters, gradients and states together.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    parameters, gradients : tree
        Gradients may be None for a whole branch.
    states : dict of tree
        The trees of the state by name.

    Returns
    -------
    list of Leaf
        In the order of `tree_leaves`.

    Raises
    ------
    ValueError
        If a tree has another form; the message names the place.
    """
    leaves = [Leaf(value, where, len(states)) for value in tree_leaves(parameters)]
    numbers = itertools.count()
    numbered = tree_map(lambda _: next(numbers), parameters)

    def put_gradient(number: int, gradient: Any, place: str) -> None:
        leaves[number].gradient, leaves[number].place = gradient, place

    map_leaves_of_two(put_gradient, numbered, gradients, f"{where}: gradients")
    for at, (name, tree) in enumerate(states.items()):

        def put_state(number: int, value: Any, place: str, at: int = at) -> None:
            leaves[number].state[at] = value

        map_leaves_of_two(put_state, numbered, tree, f"{where}: state[{name!r}]")
    return leaves


def refuse_twice(where: str, parameters: Any, gradients: Any) -> None:
    """Raise if memory is twice in a tree that is overwritten: it would be updated twice."""
    met: dict[int, int] = {}
    leaves = tree_leaves(parameters)
    for j, one in enumerate(leaves):
        first = met.setdefault(id(one), j)
        if first != j and isinstance(one, np.ndarray):
            raise ValueError(
                f"{where}: parameters[{j}]: is the array that parameters[{first}] is, which in_place would update twice"
            )
    arrays = {j: one for j, one in enumerate(leaves) if isinstance(one, np.ndarray) and one.size}
    if [one for one in arrays.values() if one.base is not None]:  # usually none is a view
        given = tree_leaves(gradients)
        updated = {j: one for j, one in arrays.items() if len(given) != len(leaves) or given[j] is not None}
        found = _shared(updated)
        if found is not None:
            rule = f"shares memory with parameters[{found[0]}], which in_place would update twice"
            raise ValueError(f"{where}: parameters[{found[1]}]: {rule}")


def _shared(arrays: Mapping[int, Array]) -> tuple[int, int] | None:
    """Return the numbers of two arrays that share memory, in time that is linear in their bytes."""
    begins = {j: ADDRESS + buffers.bytes_between(ORIGIN, one) for j, one in arrays.items()}
    bounds = []
    for j, one in arrays.items():
        bounds.append((*((begins[j], begins[j] + one.nbytes) if one.flags.c_contiguous else byte_bounds(one)), j))
    groups: list[tuple[int, list[int]]] = []  # where one begins, and its arrays, if they may overlap
    last = 0  # where the last group ends
    for start, end, j in sorted(bounds):
        if groups and start < last:
            groups[-1][1].append(j)
        else:
            groups.append((start, [j]))
        last = max(last, end)
    for start, numbers in groups:
        if len(numbers) == 1:
            continue
        marks = np.zeros(max(byte_bounds(arrays[j])[1] for j in numbers) - start, bool)
        for at, j in enumerate(numbers):
            one = arrays[j]
            own = as_strided(marks[begins[j] - start :], (*one.shape, one.itemsize), (*one.strides, 1))
            if own.any():
                other = next(k for k in numbers[:at] if np.shares_memory(arrays[k], one))
                return min(j, other), max(j, other)
            own[...] = True
    return None


def in_form_of(tree: Any, leaves: Iterable[Any]) -> Any:
    """Return a tree of the same form with other leaves."""
    following = iter(leaves)
    return tree_map(lambda _: next(following), tree)


class Calls:
    """The calls that make an update: those of kernels, and those that then write into arrays of the caller.

    Nothing is written before all are known. In one thread they run without Python code between them, so that a signal
    comes before the first one or after the last one.

    Attributes
    ----------
    kernel : callable
    numbers : tuple of float
    first : list of callable
        The calls of the kernel.
    in_one : bool
        Whether one thread makes them, which needs no parts of them.
    """

    def __init__(self, kernel: Kernel, numbers: tuple[float, ...]) -> None:
        self.kernel, self.numbers = kernel, numbers
        self.first: list[Call] = []
        self._then: list[Call] = []
        self.in_one, self._in_parts = get_num_threads() == 1, False

    def add(self, flat: list[Array], outs: list[Array]) -> None:
        """Add the calls of the kernel on vectors, as many as there are threads for."""
        parts = [] if self.in_one else runs(outs[0].size, len(flat) * outs[0].nbytes, 1)
        if len(parts) < 2:
            self.first.append(self.kernel(flat, self.numbers, outs))
            return
        self._in_parts = True
        for start, stop in parts:
            some = slice(start, stop)
            self.first.append(self.kernel([x[some] for x in flat], self.numbers, [out[some] for out in outs]))

    def write(self, x: Array, where: Any, values: Array) -> None:
        """Add an assignment, for when the kernels have run."""
        self._then.append(partial(x.__setitem__, where, values))

    def run(self) -> None:
        """Run all calls."""
        if not self._in_parts:
            run_all(self.first + self._then)
            return
        in_parts(lambda start, stop: run_all(self.first[start:stop]), [(j, j + 1) for j in range(len(self.first))])
        run_all(self._then)


def updated_leaves(leaves: list[Leaf], kernel: Kernel, numbers: tuple[float, ...], in_place: bool) -> list[list[Any]]:
    """Compute the next values of checked leaves, and of their states.

    Parameters
    ----------
    leaves : list of Leaf
    kernel : callable
        A function of arrays of one axis, numbers, and the arrays to write to, which returns the call that writes.
    numbers : tuple of float
    in_place : bool
        Whether to overwrite the given arrays.

    Returns
    -------
    list of list
        For each leaf the value, followed by the state; unchanged if there is no gradient.
    """
    calls = Calls(kernel, numbers)
    made = [_update(leaf, calls, in_place) for leaf in leaves]
    calls.run()
    for leaf, one in zip(leaves, made, strict=True):
        if leaf.learns and not isinstance(leaf.value, np.ndarray):
            one[0] = type(leaf.value)(one[0])
    return made


def _update(leaf: Leaf, calls: Calls, in_place: bool) -> list[Any]:
    """Return the arrays that the calls fill for one leaf."""
    if not leaf.learns:
        return [leaf.value, *leaf.state]
    held = [np.asarray(x) for x in (leaf.value, *leaf.state)]
    if isinstance(leaf.gradient, SparseTensor):
        return _update_rows(held, leaf.gradient.merge(), calls, in_place)
    return _update_all(held, np.asarray(leaf.gradient), calls, in_place)


def check(leaf: Leaf, in_place: bool) -> None:
    """Raise if value, gradient and state do not match, or in_place is requested for a read-only array."""
    if not leaf.learns:
        return
    value, place, gradient = leaf.value, leaf.place, leaf.gradient
    if not isinstance(value, (np.ndarray, np.floating, float)) or np.asarray(value).dtype.char not in "fd":
        kind = f"dtype {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
        raise DTypeError(f"{place}: belongs to a parameter of {kind}; a float32 or float64 array is needed")
    if not isinstance(gradient, (SparseTensor, np.ndarray, np.generic, float, int)):
        raise DTypeError(f"{place}: is {type(gradient).__name__}; an ndarray or a SparseTensor is needed")
    dtype = gradient.dtype if hasattr(gradient, "dtype") else np.asarray(gradient).dtype
    if dtype.kind not in "biuf":
        raise DTypeError(f"{place}: has dtype {dtype}; real numbers are needed")
    if np.shape(value) != np.shape(gradient):
        raise ShapeError(f"{place}: has shape {np.shape(gradient)}; the parameter has {np.shape(value)}")
    for state in leaf.state:
        known = isinstance(state, np.ndarray) and state.shape == np.shape(value)
        if not known or native_dtype(state.dtype) != native_dtype(np.asarray(value).dtype):
            raise DTypeError(
                f"{place}: has a state of {_described(state)}; the parameter has {_described(np.asarray(value))}"
            )
    for j, x in enumerate((value, *leaf.state) if in_place else ()):
        if isinstance(x, np.ndarray) and not x.flags.writeable:
            what = "is read-only" if j == 0 else "has a read-only state"
            raise ValueError(
                f"{place.replace(': gradients', ': parameters', 1)}: {what}; in_place needs a writable array"
            )


def _described(x: Any) -> str:
    return f"shape {x.shape}, {x.dtype}" if isinstance(x, np.ndarray) else type(x).__name__


def _update_all(held: list[Array], gradient: Array, calls: Calls, in_place: bool) -> list[Any]:
    """Update all numbers of a parameter and its state."""
    dtype = held[0].dtype
    flat = [_line(x, dtype) for x in (held[0], gradient, *held[1:])]
    fits = [in_place and x.flags.c_contiguous and x.dtype.isnative for x in held]
    made = [x if fit else np.empty(x.shape, native_dtype(dtype)) for x, fit in zip(held, fits, strict=True)]
    calls.add(flat, [x.reshape(-1) for x in made])
    for x, one in zip(held, made, strict=True):
        if in_place and one is not x:
            calls.write(x, ..., one)
    return list(held) if in_place else made


def _line(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return the numbers of an array as a vector for a kernel."""
    return np.ascontiguousarray(x, native_dtype(dtype)).reshape(-1)


def _update_rows(held: list[Array], gradient: SparseTensor, calls: Calls, in_place: bool) -> list[Any]:
    """Update the rows of a parameter and its state that a sparse gradient has, each once."""
    index = gradient.indices
    changed = _update_all([x[index] for x in held], gradient.values, calls, True)
    made = list(held) if in_place else [x.copy() for x in held]
    for x, one in zip(made, changed, strict=True):
        calls.write(x, index, one)
    return made
