"""Gradients by the backward pass through recorded operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

import numpy as np

from lodcore.base.articles import with_article
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import is_native, native_dtype
from lodcore.base.memory import check_out, flag, integer
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.graph.gradients.cotangents import GradientOwner, Gradients, differentiable, of_type, values_of
from lodcore.graph.gradients.inputs import Given, Taken
from lodcore.graph.gradients.rule_calls import computing, taping
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.tape import Tape, recorded_error
from lodcore.graph.trees import map_leaves_of_two, tree_leaves, tree_map
from lodcore.graph.variable import Variable
from lodcore.operators.arguments import function_of
from lodcore.operators.operands import check_equal
from lodcore.tensors.from_lists import array
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Pullback", "value_and_grad", "vjp"]

Array = np.ndarray[Any, Any]
T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
G = TypeVar("G", covariant=True)
P = ParamSpec("P")


class Pullback(Generic[G]):
    """The function from cotangents of the results to gradients of the inputs; it may be called repeatedly."""

    __slots__ = ("_inputs", "_needed", "_ops", "_result")

    def __init__(self, tape: Tape, inputs: tuple[Any, ...], result: Any) -> None:
        self._needed, self._ops = tape.needed, tape.ops
        self._inputs, self._result = inputs, result

    def __reduce__(self) -> Any:
        raise TypeError("pullback: cannot be copied or pickled; lodcore.save keeps a Program with its gradients")

    def __call__(self, *cotangents: Any, out: Any = None) -> G:
        """Return the gradients.

        Parameters
        ----------
        *cotangents : tensor or None
            One per result, with its shape, and an equal LoD or none; None is zero.
        out : tuple or ndarray, optional
            One entry per input: the ndarray to which its gradient is written, or None. For a single input, it may be
            the ndarray itself.

        Returns
        -------
        tuple
            One entry per input, with its type; None for integers.
        """
        gradients = Gradients(self._needed)
        self._begin(gradients, cotangents)
        places = {} if out is None else self._place(gradients, (out,) if isinstance(out, np.ndarray) else out)
        owner = GradientOwner(gradients.places.values(), True)
        computing(gradients.back_alone, self._ops)
        given: Callable[[Any], Any] = functools.partial(self._given, gradients.found, owner, places)
        if not places:
            given = Given(gradients.found, owner, given)
        made = [
            given(x) if type(x) is Variable else None if isinstance(x, str) else tree_map(given, x)
            for x in self._inputs
        ]
        return tuple(made)  # type: ignore[return-value]

    def _begin(self, gradients: Gradients, cotangents: tuple[Any, ...]) -> None:
        """Add the cotangents to the gradients."""
        result = self._result
        if type(result) is Variable and len(cotangents) == 1:  # the usual case
            made = checked_cotangent("pullback: cotangents[0]", result.held, cotangents[0])
            if made is not None and result in self._needed:
                gradients.add(result, made)
            return
        several = isinstance(result, (list, tuple)) and not (len(cotangents) == 1 != len(result))
        results = list(result) if several else [result]
        if len(cotangents) != len(results):
            raise ValueError(f"pullback: cotangents: are {len(cotangents)}; the function gave {len(results)}")

        def begin(x: Any, cotangent: Any, where: str) -> None:
            if isinstance(x, Variable):
                made = checked_cotangent(where, x.held, cotangent)
                if made is not None and x in self._needed:
                    gradients.add(x, made)
            elif differentiable(x):
                checked_cotangent(where, x, cotangent)

        for j, (one, cotangent) in enumerate(zip(results, cotangents, strict=True)):
            map_leaves_of_two(begin, one, cotangent, f"pullback: cotangents[{j}]")

    def _place(self, gradients: Gradients, out: Any) -> dict[Any, tuple[Array, Array]]:
        """Check the caller's arrays for gradients; return for each input the array to write to, and the given one."""
        if not isinstance(out, (list, tuple)) or len(out) != len(self._inputs):
            raise ValueError(
                f"pullback: out: a tuple with an entry for each of the {len(self._inputs)} inputs is needed"
            )
        variables = [x for x in tree_leaves(self._inputs) if isinstance(x, Variable) and isinstance(x.held, Tensor)]
        given = [values_of(x.held) for x in variables]
        given += [d for d in gradients.found.values() if isinstance(d, np.ndarray)]
        places = {}
        for j, (x, place) in enumerate(zip(self._inputs, out, strict=True)):
            if place is None:
                continue
            if not isinstance(x, Variable) or x not in self._needed or isinstance(x.held, TensorArray):
                raise DTypeError(f"pullback: out[{j}]: the input has no gradient of its own")
            values = values_of(x.held)
            taken = check_out(f"pullback: out[{j}]", place, values.shape, values.dtype, *given)
            given.append(taken)
            if is_native(taken.dtype):
                gradients.places[x] = taken
            places[x] = taken, place
        return places

    def _given(
        self, found: dict[Any, Any], owner: GradientOwner, places: dict[Any, tuple[Array, Array]], x: Any
    ) -> Any:
        """Convert the gradient of an input to its type; return text in a tree unchanged."""
        if not isinstance(x, Variable):
            return x if isinstance(x, str) else None
        if not differentiable(x.held):
            return None
        taken, place = places.get(x, (None, None))
        made = of_type(x.held, owner.own(found.get(x), taken), taken)
        return made if place is None or made is not taken else place


def checked_cotangent(where: str, value: Any, cotangent: Any) -> Any:
    """Convert a cotangent to an array with the shape and dtype of the values of a result: a view or a new array.

    Raises
    ------
    LoDError, ShapeError, DTypeError
        If the cotangent has another structure or shape, or does not hold real numbers.
    """
    if type(cotangent) is np.ndarray and (type(value) is np.ndarray or isinstance(value, np.generic)):  # the usual case
        alike = cotangent.dtype == value.dtype and cotangent.shape == value.shape and cotangent.flags.c_contiguous
        if alike and value.dtype.kind == "f" and value.dtype.isnative:
            return cotangent.view()
    if cotangent is None or not differentiable(value):
        return None
    if type(cotangent) is LoDTensor and type(value) is LoDTensor and cotangent.lod is value.lod:  # as usual
        cotangent = cotangent.values
    if isinstance(cotangent, Symbol):
        raise GraphError(
            f"{where}: is {with_article(type(cotangent).__name__)}; gradients of gradients are not supported"
        )
    if isinstance(value, TensorArray):
        return _checked_elements(where, value, cotangent)
    if type(cotangent) is float and isinstance(value, np.floating):  # of a loss
        return np.asarray(cotangent, value.dtype)
    values = values_of(value)
    if isinstance(cotangent, (list, tuple)):
        cotangent = _of_lists(where, value, cotangent)
    if isinstance(cotangent, LoDTensor):
        if not isinstance(value, LoDTensor):
            raise LoDError(f"{where}: has levels; the result has none")
        check_equal("pullback", value.lod, cotangent.lod, where.removeprefix("pullback: "), "the result")
    elif type(cotangent) is not np.ndarray and hasattr(cotangent, "to_dense"):
        cotangent = cotangent.to_dense()
    made = values_of(cotangent)
    if made.dtype.kind not in "biuf" and not (made.dtype.kind == "c" and values.dtype.kind == "c"):
        raise DTypeError(f"{where}: has dtype {made.dtype}; {values.dtype} is needed")
    if made.shape != values.shape:
        raise ShapeError(f"{where}: has shape {made.shape}; the result has {values.shape}")
    made = np.ascontiguousarray(made, native_dtype(values.dtype)).reshape(values.shape)
    return np.conjugate(made) if made.dtype.kind == "c" else made  # as rules have it, see `conjugated`


def _of_lists(where: str, value: Any, cotangent: Any) -> Any:
    """Convert a cotangent given as lists to a tensor."""
    if isinstance(value, LoDTensor) and any(isinstance(one, (list, tuple, np.ndarray)) for one in cotangent):
        return array(cotangent)
    try:
        return np.asarray(cotangent)
    except ValueError:
        raise ShapeError(f"{where}: is a list of uneven lists; the result has shape {np.shape(value)}") from None


def _checked_elements(where: str, value: TensorArray, cotangent: Any) -> dict[int, Any]:
    """Convert the cotangent of an array, with one entry per element or None, to the gradients of its elements."""
    if isinstance(cotangent, TensorArray):
        entries, count = cotangent.known_elements(), cotangent.num_slots
    elif isinstance(cotangent, (list, tuple)):
        entries, count = dict(enumerate(cotangent)), len(cotangent)
    else:
        raise DTypeError(f"{where}: is {type(cotangent).__name__}; a TensorArray or a list is needed, like the result")
    if count != value.num_slots:
        raise ShapeError(f"{where}: has {count} elements; the result has {value.num_slots}")
    found = {
        at: checked_cotangent(f"{where}[{at}]", value.element(where, at), one)
        for at, one in entries.items()
        if one is not None
    }
    return {at: one for at, one in found.items() if one is not None}


@overload
def vjp(f: Callable[[X], T], x: X, /) -> tuple[T, Pullback[tuple[X]]]: ...
@overload
def vjp(f: Callable[[X, Y], T], x: X, y: Y, /) -> tuple[T, Pullback[tuple[X, Y]]]: ...
@overload
def vjp(f: Callable[..., T], x: Any, y: Any, z: Any, /, *inputs: Any) -> tuple[T, Pullback[tuple[Any, ...]]]: ...
def vjp(f: Callable[..., Any], *inputs: Any) -> tuple[Any, Pullback[Any]]:
    """Call a function, and return its results and its pullback, which maps cotangents of the results to gradients.

    Parameters
    ----------
    f : callable
        A function that calls operators, with any Python control flow.
    *inputs : tensor, or lists, tuples and dicts of tensors
        Each tensor and number in them is passed to f as a Variable, everything else unchanged.

    Returns
    -------
    outputs
        The results of f.
    pullback : callable
        `pullback(*cotangents, out=None)` returns a tuple with one entry per input: zeros if there is no path, None for
        integers.

    Raises
    ------
    GraphError
        If an input is a Variable that is being recorded, since gradients of gradients are not supported.
    DTypeError
        If f returns anything but tensors, numbers, and lists, tuples and dicts of them.

    Notes
    -----
    The pullback reads inputs and results in place and copies neither: writing into one of them before the last call of
    the pullback changes the gradients.

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
    made: tuple[Any, Pullback[Any]] = taping(Tape(), _recorded, function_of("vjp: f", f), inputs)
    return made


#: The usual inputs, which are not trees.
LEAVES = frozenset((np.ndarray, LoDTensor))


def _recorded(tape: Tape, f: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Any, Pullback[Any]]:
    """Call a function on a tape; return its results and its pullback."""
    begin = Taken("vjp", tape)
    variables = tuple([begin(one) if type(one) in LEAVES else tree_map(begin, one) for one in inputs])
    recorded = computing(f, *variables)
    if isinstance(recorded, Variable):
        if tape.versions or type(recorded) is not Variable:
            recorded = tape.output(recorded)
        result = recorded.held if type(recorded) is Variable and type(recorded.held) in LEAVES else _result(recorded)
    else:
        recorded = tree_map(tape.output, recorded)
        result = tree_map(_result, recorded)
    made: tuple[Any, Pullback[Any]] = result, Pullback(tape, variables, recorded)
    if tape.given_to_loops or tape.captured_arrays or tape.made_arrays:
        tape.write_outside()
    return made


def _result(x: Any) -> Any:
    """Check a result of a differentiated function, and return it as the user sees it."""
    if isinstance(x, Variable):
        return of_user(x.held)
    if x is not None and not isinstance(x, (Symbol, Tensor, TensorArray, int, float, complex, np.generic, str)):
        raise DTypeError(
            f"vjp: f: returned {with_article(type(x).__name__)}; tensors (in lists, tuples or dicts) are needed"
        )
    return of_user(x)


@overload
def value_and_grad(f: Callable[Concatenate[X, P], T]) -> Callable[Concatenate[X, P], tuple[T, X]]: ...
@overload
def value_and_grad(f: Callable[P, T], argnums: int) -> Callable[P, tuple[T, Any]]: ...
@overload
def value_and_grad(f: Callable[P, T], argnums: tuple[int, ...]) -> Callable[P, tuple[T, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], tuple[T, Y]], *, has_aux: Literal[True]
) -> Callable[Concatenate[X, P], tuple[tuple[T, Y], X]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[T, Y]], argnums: int | tuple[int, ...], has_aux: Literal[True]
) -> Callable[P, tuple[tuple[T, Y], Any]]: ...
def value_and_grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that computes the value and the gradient of a function.

    Parameters
    ----------
    f : callable
        A function that returns one real number; with `has_aux`, a pair of that number and anything else.
    argnums : int or tuple of int
        The arguments to differentiate with respect to.
    has_aux : bool
        Whether f returns a pair: the number, and a tree of tensors, numbers and text, which has no gradient.

    Returns
    -------
    callable
        Has the same arguments; returns the value, with `has_aux` the pair, and the gradient (a tuple if argnums is a
        tuple).

    Raises
    ------
    IndexError, ValueError
        If argnums has a number that is not an argument, or one number twice.
    ShapeError, DTypeError
        If f does not return one real number, or, with `has_aux`, a pair; if an argument to differentiate has no
        floating-point tensor.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> value, gradient = lodcore.value_and_grad(lambda w: lodcore.ops.sum(lodcore.mul(w, w)))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    >>> def loss(w):
    ...     scores = lodcore.tanh(w)
    ...     return lodcore.ops.sum(scores), {"scores": scores}
    >>> (value, aux), gradient = lodcore.value_and_grad(loss, has_aux=True)(np.array([0.0, 1.0]))
    >>> aux["scores"].round(2)
    array([0.  , 0.76])
    """
    has_aux = flag("value_and_grad: has_aux", has_aux)
    several = isinstance(argnums, (list, tuple))
    numbers = [integer("value_and_grad: argnums", number, bools=True) for number in (argnums if several else [argnums])]  # type: ignore[union-attr]

    @functools.wraps(function_of("value_and_grad: f", f), updated=())
    def with_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise IndexError(f"value_and_grad: argnums: is {number}; there are {len(args)} arguments")
        places = [number % len(args) for number in numbers]
        if len(set(places)) < len(places):
            raise ValueError(f"value_and_grad: argnums: are {argnums}; each argument is needed once")

        def of_chosen(*chosen: Any) -> Any:
            every = list(args)
            for place, x in zip(places, chosen, strict=True):
                every[place] = x
            found = f(*every, **kwargs)
            if has_aux and (not isinstance(found, tuple) or len(found) != 2):
                kind = type(found.held if isinstance(found, Variable) else found).__name__
                raise DTypeError(
                    f"value_and_grad: f: returned {with_article(kind)}; a pair of a number and anything else is "
                    "needed with has_aux"
                )
            return found

        for place in places:
            check_differentiable(f"value_and_grad: argument {place}", args[place])
        value, pullback = vjp(of_chosen, *[args[place] for place in places])
        loss = value[0] if has_aux else value
        seed = np.array(1, loss.dtype) if isinstance(loss, np.floating) else _seed(loss)
        gradients = pullback(seed, None) if has_aux else pullback(seed)
        return value, gradients if several else gradients[0]

    return with_gradient


def _seed(value: Any) -> Array:
    """Return the cotangent of a result, one real number, with respect to itself."""
    if not isinstance(value, (np.generic, int, float, Tensor)) or np.size(values_of(value)) != 1:
        raise ShapeError(f"value_and_grad: f: returned {_described(value)}; one number is needed")
    if values_of(value).dtype.kind != "f":
        raise DTypeError(f"value_and_grad: f: returned dtype {values_of(value).dtype}; a real number is needed")
    return np.ones(values_of(value).shape)


def check_differentiable(where: str, argument: Any) -> None:
    """Raise if no part of an argument can have a gradient."""
    for x in tree_leaves(argument):
        if isinstance(x, Variable) and x.block is not None:
            raise recorded_error(where, x)
        if differentiable(x.get() if isinstance(x, Variable) else x):
            break
    else:
        dtypes = ", ".join(dict.fromkeys([str(values_of(x).dtype) for x in tree_leaves(argument) if _is_number(x)]))
        hint = "; x.astype(np.float64) converts one" if dtypes else ""
        raise DTypeError(
            f"{where}: {f'has dtype {dtypes}' if dtypes else f'is {_described(argument)}'}; a floating-point tensor is "
            f"needed, or a tree with one{hint}"
        )


def _is_number(x: Any) -> bool:
    x = x.held if isinstance(x, Variable) else x
    return isinstance(x, (bool, int, np.generic, np.ndarray, LoDTensor))


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return "a tuple (has_aux=True takes a pair of a number and of anything else)"
    if isinstance(value, Tensor):
        return f"shape {values_of(value).shape}"
    package = type(value).__module__.partition(".")[0]  # torch has a Tensor, too
    return type(value).__name__ if package in ("builtins", "lodcore") else f"{package}.{type(value).__name__}"
