"""Roles: what a parameter of an operator may be given, and what the operator then gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.nested import as_array, has_leaves
from lodcore.symbol import Symbol
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor, array, as_nested, as_nested_index
from lodcore.tensor_array import TensorArray

__all__ = [
    "Batches",
    "Dense",
    "Index",
    "Keys",
    "Map",
    "Nested",
    "NestedIndex",
    "Operands",
    "Role",
    "Rows",
    "Steps",
    "Table",
]


class Role:
    """What a parameter of an operator may be given; every parameter without a role is an attribute.

    Parameters
    ----------
    name : str
    of_list : callable
        Makes a tensor of a list, of the function and argument for the message, and the list.
    take : callable, optional
        Makes what the operator gets of what is not `expected`, likewise. None: the operator looks itself.
    expected : frozenset of type
        What needs no `take`.
    place : str, optional
        The only kind of tensor that is accepted, by its name. None: LoDTensors and dense arrays.
    entries : Role, optional
        That of each entry, if a list is needed.
    described : bool
        Whether a shape rule sees numbers as Specs.
    nested : bool
        Whether an array is refused: only a LoDTensor will do.

    Attributes
    ----------
    kinds : frozenset of type
        Of tensors that are accepted as they are.
    """

    def __init__(
        self,
        name: str,
        of_list: Callable[[str, Any], Any],
        take: Callable[[str, Any], Any] | None = None,
        expected: frozenset[type] = frozenset(),
        place: str | None = None,
        entries: Role | None = None,
        described: bool = True,
        nested: bool = False,
    ) -> None:
        self.name, self.of_list, self.take, self.expected = name, of_list, take, expected
        self.place, self.entries, self.described = place, entries, described
        self.nested = nested
        tensors = {LoDTensor} if nested else {LoDTensor, np.ndarray}
        self.kinds = frozenset(tensors if place is None and entries is None else ())

    def __repr__(self) -> str:
        return self.name

    def constant(self, where: str, given: Any) -> Any:
        """Turn a list into a tensor, as the operator itself would; all else stays.

        Lists of integers that tell where something is stay lists: without entries, or with too large ones, they would
        become an array of float64, which says less.
        """
        return self.of_list(where, given) if isinstance(given, (list, tuple)) else given

    def spec(self, where: str, spec: Spec, strictly: bool = True) -> Spec:
        """Check that a kind of tensor is accepted; what holds a dense array is one.

        Without `strictly`, the operator is of the old form, and looks itself whether there are levels.
        """
        kind = spec.kind
        if strictly and self.nested and not spec.num_levels and kind is not LoDTensor and kind is not object:
            raise DTypeError(f"{where}: is {kind.__name__}; a LoDTensor or nested lists are needed")
        if kind is object:
            return spec
        if self.place is None:
            if kind is np.ndarray or kind is LoDTensor:
                return spec
            if issubclass(kind, DenseTensor):
                return spec._replace(kind=np.ndarray)
        elif kind.__name__ == self.place:
            return spec
        needed = f"a {self.place}" if self.place else "a LoDTensor or an array"
        raise DTypeError(f"{where}: is a {kind.__name__}; {needed} is needed")


# -- of lists ----------------------------------------------------------------------------------------------------------


def _copied(where: str, given: Any) -> Any:
    """Copy a list, and the lists in it, so that nobody changes them."""
    return [_copied(where, x) if isinstance(x, (list, tuple)) else x for x in given]


def _rows_of_list(where: str, given: Any) -> Any:
    return as_nested(where, given) if given and isinstance(given[0], (list, tuple)) else as_array(where, given)


def _index_of_list(where: str, given: Any) -> Any:
    flat = given and not isinstance(given[0], (list, tuple, np.ndarray))
    return as_array(where, given) if flat else as_nested_index(where, given)


def _kept(where: str, given: Any) -> Any:
    return given


def _each(role: Role) -> Callable[[str, Any], Any]:
    return lambda where, given: [role.constant(f"{where}[{j}]", x) for j, x in enumerate(given)]


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


# -- of everything else ------------------------------------------------------------------------------------------------


def _as_dense(where: str, x: Any) -> Any:
    """Take a dense operand: lists become arrays; numbers and None stay."""
    if isinstance(x, (list, tuple)):
        return as_array(where, x)
    if isinstance(x, DenseTensor):
        return x.values
    if isinstance(x, Tensor) and not isinstance(x, (np.ndarray, LoDTensor)):
        raise DTypeError(f"{where}: is a {type(x).__name__}; a LoDTensor or an array is needed")
    return x


NUMBERS = (float, int, bool, complex, np.int64, np.float32, np.float64, np.bool_)
DENSE = frozenset((np.ndarray, LoDTensor, type(None), *NUMBERS))

Nested = Role("Nested", as_nested, as_nested, frozenset([LoDTensor]), nested=True)
NestedIndex = Role("NestedIndex", _index_of_list)
Rows = Role("Rows", _rows_of_list)
Dense = Role("Dense", as_array, _as_dense, DENSE)
Index = Role("Index", _copied, described=False)
Steps = Role("Steps", _kept, place="TensorArray")
Map = Role("Map", _kept, place="IndicesMap")
Table = Role("Table", _kept, place="RankTable")
Batches = Role("Batches", as_batches, entries=Nested)
Operands = Role("Operands", _each(Dense), entries=Dense)
Keys = Role("Keys", _each(Index), entries=Index)

#: Roles of lists, and those of their entries.
LISTS = {role: role.entries for role in (Batches, Operands, Keys)}


# -- Specs of values ---------------------------------------------------------------------------------------------------


def spec_of_list(where: str, given: Any) -> Spec:
    """Describe numbers in a list; integers are integers still, if there are none, or some that are too large."""
    made = as_array(where, given)
    whole = made.dtype.kind not in "iub" and all(isinstance(x, int) for x in np.asarray(given, object).flat)
    return Spec(made.shape, np.dtype(np.int64) if whole else made.dtype)


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
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Spec((), np.asarray(value).dtype, 0, np.ndarray)
    if isinstance(value, Tensor):
        return Spec(value.shape, value.dtype, 0, type(value))
    return Spec((), np.dtype(np.void), 0, type(value))


#: The Spec of a TensorArray without elements.
NO_ELEMENTS = Spec((), np.dtype(np.void), 0, TensorArray)


def _spec_of_elements(array: TensorArray) -> Spec:
    """Describe a TensorArray: its elements, if it has any, with None for their numbers of rows."""
    source = array._source
    if source is None:
        if not array._items:
            return NO_ELEMENTS
        spec = spec_of(next(iter(array._items.values())))
        return spec._replace(shape=(None, *spec.shape[1:])[: len(spec.shape)], kind=TensorArray)
    spec = spec_of(source)
    if spec.num_levels:
        return spec._replace(num_levels=spec.num_levels - 1, kind=TensorArray)
    return spec._replace(shape=spec.shape[1:], kind=TensorArray)
