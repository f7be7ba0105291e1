"""Operators: plain functions with their rules beside them, in one registry that serves every way of running."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, GraphError, LoDError
from lodcore.lod import LoD
from lodcore.nested import as_array, has_leaves
from lodcore.sparse_tensor import SparseTensor
from lodcore.symbol import OpBody, Symbol
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor, array, as_nested, as_nested_index
from lodcore.tensor_array import TensorArray

__all__ = [
    "LISTS",
    "OPS",
    "Batches",
    "Dense",
    "Index",
    "Keys",
    "Map",
    "Nested",
    "NestedIndex",
    "Op",
    "Operands",
    "Rows",
    "Spec",
    "Steady",
    "Steps",
    "Structured",
    "Table",
    "as_batches",
    "op",
    "spec_of",
]

#: Roles of parameters, as their annotations. Every other parameter is an attribute.
Nested = Any  # a LoDTensor, for which nested lists may be given
NestedIndex = Any  # the same, of integers
Rows = Any  # the same, or rows without a level: an array or a flat list
Dense = Any  # a dense array
Index = Any  # integers or bool, one or several: numbers, lengths, a mask
Steps = Any  # a TensorArray
Map = Any  # the map of its steps
Table = Any  # a RankTable
Structured = Any  # what has a structure: a LoDTensor, a LoD, a RankTable or an IndicesMap
Batches = Any  # a list of what is Nested
Operands = Any  # a list of what is Dense
Keys = Any  # a list of what stands between brackets
ROLES = ("Nested", "NestedIndex", "Rows", "Dense", "Index", "Steps", "Map", "Table", "Structured", "Batches", "Operands", "Keys")
#: Roles of lists, and what is in them.
LISTS = {"Batches": "Nested", "Operands": "Dense", "Keys": "Index"}
#: The kinds of tensor that have roles of their own.
PLACES = {"Steps": ("TensorArray",), "Map": ("IndicesMap", "RankTable"), "Table": ("RankTable", "IndicesMap"),
          "Structured": ("LoDTensor", "RankTable", "IndicesMap", "LoD")}  # fmt: skip
LOD_RULES = ("share", "drop", "none", "own")

#: Operators that take a LoD in place of what has one.
STRUCTURES = ("lod_lengths", "lod_rank_table", "lod_reset", "sequence_expand", "sequence_expand_as")

#: The Spec of a value of which nothing is known before it is computed, and that of a TensorArray without elements.
UNKNOWN = Spec((), np.dtype(np.void), 0, object)
NO_ELEMENTS = UNKNOWN._replace(kind=TensorArray)

#: All operators by their names.
OPS: dict[str, Op] = {}


class Steady:
    """How gradients go back through calls of which one operand is the same array in all; the other is rows, a matrix.

    Parameters
    ----------
    places : tuple of int
        Which operand may be that one.
    ndim : int
        The number of its axes.
    elementwise : bool
        Whether it is for rows of the shape of the result alone.
    prepared : callable
        Makes of the operand what `slope` takes; called once for all calls.
    slope : callable
        From the cotangent of a call, and what was prepared, to the gradient of the rows.
    total : callable
        From lists of the cotangents and the rows of calls to the gradient of the operand, the sum of all.
    """

    def __init__(
        self,
        places: tuple[int, ...],
        ndim: int,
        elementwise: bool,
        prepared: Callable[[Any], Any],
        slope: Callable[[Any, Any], Any],
        total: Callable[[list[Any], list[Any]], Any],
    ) -> None:
        self.places, self.ndim, self.elementwise = places, ndim, elementwise
        self.prepared, self.slope, self.total = prepared, slope, total


class Op(OpBody):
    """An operator: called on tensors it computes, on Variables it records; made by `op`.

    Parameters
    ----------
    function : callable
        Computes on tensors. The annotations of its parameters give their roles.
    lod : str
        The LoD of the result: "share" (that of the first input that has one), "drop" (without `level` and what is
        below), "none", or "own" (the rule of shapes knows).
    gradient : bool
        Whether it has one.
    writes : str, optional
        The TensorArray that it writes to: its result is the next version.
    results : int
        How many tensors it gives.

    Attributes
    ----------
    parameters : tuple of str
        All but `out`.
    roles : dict
        The parameters that may be tensors, each with its role.
    defaults : dict
        Values of parameters that need not be given.
    on_arrays : callable or None
        What computes the same on arrays and numbers alone; loops call it in place of the function.
    slopes : callable or None
        What gives the gradients in place of `backward`, in less time: of the cotangent, the inputs, the result, and for
        each input whether its gradient is wanted. With `on_arrays` it is called for arrays and numbers alone, and what
        it gives may be as wide as the result. None leaves it to `backward`.
    unread : set of str
        The parameters, and "out", whose values `slopes` does not read, at most their shapes.
    steady : Steady or None
        How gradients go back through calls that share an operand, as the steps of a loop share a weight.
    """

    def __init__(self, function: FunctionType, lod: str, gradient: bool, writes: str | None, results: int) -> None:
        if lod not in LOD_RULES:
            raise ValueError(f"op: lod: is {lod!r}; one of {', '.join(LOD_RULES)} is needed")
        code = function.__code__  # what inspect.signature says, which takes too long for an import
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional = names[: code.co_argcount]
        given = function.__defaults__ or ()
        defaults = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
        defaults.update(function.__kwdefaults__ or {})
        self.parameters = tuple(name for name in names if name != "out")
        notes = {name: str(function.__annotations__.get(name)).split(" |")[0] for name in self.parameters}
        self.roles = {name: note for name, note in notes.items() if note in ROLES}
        if not self.roles:
            raise TypeError(f"op: {function.__name__}: no parameter is a tensor; annotate one as {' or '.join(ROLES)}")
        self.defaults = {name: value for name, value in defaults.items() if name != "out"}
        self.required = len(positional) - len(given)  # of those that need no name
        self.keywords = names[code.co_argcount :]
        self.takes_out = "out" in names
        self.lod = lod
        self.gradient = gradient
        self.writes = writes
        self.results = results
        self.on_arrays: Callable[..., Any] | None = None
        self.slopes: Callable[..., Any] | None = None
        self.unread: frozenset[str] = frozenset()
        self.steady: Steady | None = None
        self._saving: Callable[..., Any] | None = None
        self._infer: Callable[..., Any] | None = None
        self._described: frozenset[str] = frozenset()  # where that takes a Spec, no number
        self._backward: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)
        batches = [name for name, role in self.roles.items() if role in LISTS]
        where = self.parameters.index(batches[0]) if batches else -1
        super().__init__(function, where, batches[0] if batches else "")

    def __repr__(self) -> str:
        return f"<operator {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__qualname__

    def __deepcopy__(self, memo: dict[int, Any]) -> Op:
        return self

    __name__: str
    __qualname__: str

    # -- rules -----------------------------------------------------------------------------------------------------

    def saving(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Register what runs when the call is recorded: it returns the result, and what `backward` needs besides."""
        self._saving = rule
        return rule

    def infer(self, *args: Any, **kwargs: Any) -> Any:
        """Tell what a call gives: Spec for Spec; or register the rule, which is given alone.

        Parameters
        ----------
        *args, **kwargs
            As of the operator, with a Spec in place of each tensor.

        Returns
        -------
        Spec, or tuple of Spec
        """
        if len(args) == 1 and not kwargs and isinstance(args[0], FunctionType):
            self._infer, notes = args[0], args[0].__annotations__
            self._described = frozenset([name for name in notes if str(notes[name]).startswith("Spec")])
            return None
        return self.infer_arguments(self.bind(args, kwargs))

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Tell what a call gives, of arguments by their names, with a Spec in place of each tensor."""
        for given in arguments.values():
            if isinstance(given, Spec) and given.kind is object:
                return UNKNOWN if self.results == 1 else (UNKNOWN,) * self.results
        if self._infer is None:
            raise GraphError(f"{self.__name__}: has no rule of shapes; it cannot be recorded without values")
        specs = []
        for name, role in self.roles.items():
            given = arguments[name]
            if role in LISTS:
                kind = given.kind if isinstance(given, Spec) else type(given)
                if kind not in (list, tuple):
                    raise DTypeError(f"{self.__name__}: {name}: is a {kind.__name__}; a list is needed")
                arguments[name] = given = [self.taken(name, x) if isinstance(x, Spec) else x for x in given]
                specs += [x for x in given if isinstance(x, Spec)]
            elif isinstance(given, Spec):
                arguments[name] = spec = self.taken(name, given)
                specs.append(spec)
            elif isinstance(given, (list, tuple)):
                arguments[name] = spec = _spec_of_list(f"{self.__name__}: {name}", given)
                specs.append(spec)
            elif name in self._described and isinstance(given, (int, float, complex, str, np.generic)):
                arguments[name] = spec = self.taken(name, spec_of(given))
                specs.append(spec)
        found = self._infer(**arguments)
        if self.lod == "own":
            return found
        levels = self._num_levels(specs, arguments)
        return with_levels(found, levels) if isinstance(found, Spec) else tuple([with_levels(x, levels) for x in found])

    def taken(self, name: str, spec: Spec) -> Spec:
        """Make sure that an operator takes a kind of tensor; what holds a dense array is one."""
        kind, place = spec.kind, PLACES.get(self.roles[name])
        if kind is object:
            return spec
        if place is None:
            if kind is np.ndarray or kind is LoDTensor or kind in (int, float, complex) or (kind is LoD and self.__name__ in STRUCTURES):
                return spec
            if hasattr(kind, "__array__") and kind is not SparseTensor and not issubclass(kind, LoDTensor):
                return Spec(spec.shape, spec.dtype)
            if issubclass(kind, DenseTensor):
                return spec._replace(kind=np.ndarray)
        elif kind.__name__ in place:
            return spec
        needed = f"a {place[0]}" if place else "a LoDTensor or an array"
        raise DTypeError(f"{self.__name__}: {name}: is a {kind.__name__}; {needed} is needed")

    def _num_levels(self, specs: list[Spec], arguments: dict[str, Any]) -> int:
        """Count the levels of the result, by the LoD rule."""
        if self.lod == "none":
            return 0
        if self.lod == "share":
            levels = [spec.num_levels for spec in specs if spec.num_levels]
            return levels[0] if levels else 0
        level: int = arguments["level"]
        count = specs[0].num_levels
        if not -count <= level < count:
            raise LoDError(f"{self.__name__}: level: is {level}; x has {count} levels")
        return level % count

    def backward(self, *args: Any) -> Any:
        """Give the gradients of the inputs, of what was saved and the cotangents; or register the rule, given alone."""
        if len(args) == 1 and isinstance(args[0], FunctionType):
            self._backward = args[0]
            return None
        if self._backward is None:
            raise GraphError(f"{self.__name__}: has no gradient")
        return self._backward(*args)

    @property
    def differentiable(self) -> bool:
        """Whether there is a gradient rule."""
        return self._backward is not None

    # -- arguments -------------------------------------------------------------------------------------------------

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Give the arguments of a call by their names, defaults included; TypeError as of the plain function."""
        parameters = self.parameters
        given = dict(zip(parameters, args, strict=False))
        if not kwargs and not self.keywords and self.required <= len(args) <= len(parameters):
            for name in parameters[len(args) :]:
                given[name] = self.defaults[name]
            return given
        if len(args) > len(parameters) - len(self.keywords) or not given.keys().isdisjoint(kwargs):
            inspect.signature(self).bind(*args, **kwargs)
        if "out" in kwargs:
            if kwargs["out"] is not None:
                raise GraphError(f"{self.__name__}: out: a result that is recorded has no place of its own")
            kwargs = {name: value for name, value in kwargs.items() if name != "out"}
        arguments = {**self.defaults, **given, **kwargs}
        if arguments.keys() != set(parameters):
            inspect.signature(self).bind(*args, **kwargs)
        return {name: arguments[name] for name in parameters}

    def constant(self, name: str, given: Any) -> Any:
        """Turn lists that are given for tensors into tensors, as the operator itself would; all else stays.

        Lists of integers that tell where something is stay lists: without entries, or with too large ones, they would
        become an array of float64, which says less.
        """
        if not isinstance(given, (list, tuple)):
            return given
        role, where = self.roles[name], f"{self.__name__}: {name}"
        if role == "Batches":
            return as_batches(where, given)
        if role in LISTS:
            return [_constant(LISTS[role], f"{where}[{j}]", x) for j, x in enumerate(given)]
        return _constant(role, where, given)


def _constant(role: str, where: str, given: Any) -> Any:
    """Turn a list into what a role asks for, as operators do."""
    if not isinstance(given, (list, tuple)):
        return given
    if role == "Index":
        return _copied(given)
    if role == "Dense" or (role == "Rows" and not (given and isinstance(given[0], (list, tuple)))):
        return as_array(where, given)
    if role in PLACES:
        return given
    if role == "NestedIndex" and given and not isinstance(given[0], (list, tuple, np.ndarray)):
        return as_array(where, given)
    return as_nested(where, given) if role != "NestedIndex" else as_nested_index(where, given)


def _spec_of_list(where: str, given: Any) -> Spec:
    """Describe integers in a list: none, or some that are too large, are integers still."""
    made = as_array(where, given)
    whole = made.dtype.kind not in "iub" and all(isinstance(x, int) for x in np.asarray(given, object).flat)
    return Spec(made.shape, np.dtype(np.int64) if whole else made.dtype)


def _copied(given: Any) -> Any:
    """Copy a list, and the lists in it, so that nobody changes them."""
    return [_copied(x) if isinstance(x, (list, tuple)) else x for x in given]


def as_batches(where: str, xs: Any) -> list[Any]:
    """Make LoDTensors of the nested lists among batches; all else stays.

    Parameters
    ----------
    where : str
        The function and argument, for the message.
    xs : list

    Returns
    -------
    list
        Lists that hold nothing but empty lists say nothing of values: they get the dtype, the shape of rows and the
        missing levels of the first batch that does.
    """
    made = [as_nested(f"{where}[{j}]", x) if isinstance(x, (list, tuple)) else x for j, x in enumerate(xs)]
    silent = [
        type(x) is not LoDTensor and isinstance(one, LoDTensor) and not one.num_rows and not has_leaves(x)
        for x, one in zip(xs, made, strict=True)
    ]
    if True not in silent or False not in silent:
        return made
    model = made[silent.index(False)]
    known: Any = model.current() if isinstance(model, Symbol) else model  # type: ignore[attr-defined]
    spec = known.spec if isinstance(known, Symbol) else spec_of(known)  # type: ignore[attr-defined]
    if spec.kind is not LoDTensor or None in spec.shape[1:]:
        return made
    empty = np.empty((0, *spec.shape[1:]), spec.dtype)
    for j, x in enumerate(xs):
        if silent[j]:
            deeper = made[j].num_levels < spec.num_levels
            lod = array(list(x), num_levels=spec.num_levels).lod if deeper else made[j].lod
            made[j] = LoDTensor(empty, lod)
    return made


def op(lod: str = "share", gradient: bool = True, writes: str | None = None, results: int = 1) -> Callable[[Any], Op]:
    """Make an operator of a function, and enter it into the registry.

    Parameters
    ----------
    lod : str
        The rule for the LoD of the result, see `Op`.
    gradient : bool
    writes : str, optional
    results : int

    Returns
    -------
    callable
        To decorate the function with.
    """

    def register(function: Any) -> Op:
        made = Op(function, lod, gradient, writes, results)
        OPS[made.__name__] = made
        return made

    return register


def with_levels(spec: Spec, num_levels: int) -> Spec:
    """Give a Spec a number of levels, and the kind that goes with it."""
    kind = spec.kind
    if kind is np.ndarray or kind is LoDTensor:
        kind = LoDTensor if num_levels else np.ndarray
    same = kind is spec.kind and num_levels == spec.num_levels
    return spec if same else Spec(spec.shape, spec.dtype, num_levels, kind)


def spec_of(value: Any) -> Spec:
    """Describe a tensor: the shape of its values, None for the number of rows of a LoDTensor.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.registry import spec_of
    >>> spec_of(lodcore.array([[1, 2], [3]])).num_levels
    1
    """
    if isinstance(value, LoDTensor):
        return Spec((None, *value.values.shape[1:]), value.dtype, value.num_levels, LoDTensor)
    if isinstance(value, np.ndarray):
        return Spec(value.shape, value.dtype, 0, np.ndarray)
    if isinstance(value, TensorArray):
        return _spec_of_elements(value)
    if isinstance(value, LoD):
        return Spec((None,), np.dtype(np.int64), value.num_levels, LoD)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Spec((), np.asarray(value).dtype, 0, np.ndarray)
    if isinstance(value, Tensor):
        return Spec(value.shape, value.dtype, 0, type(value))
    return Spec((), np.dtype(np.void), 0, type(value))


def _spec_of_elements(array: TensorArray) -> Spec:
    """Describe a TensorArray: its elements, if it has any, with None for their numbers of rows."""
    spec = array.element_spec()
    return NO_ELEMENTS if spec is None else spec._replace(kind=TensorArray)
