"""Roles: the arguments that a parameter of an operator accepts, and how they are converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.errors import DTypeError
from lodcore.operators.arguments import (
    given_of,
    list_of,
    nested_index_of,
    nested_of,
    of_another_kind,
    operand_of,
    rows_given_of,
)
from lodcore.tensors.from_lists import array, as_nested
from lodcore.tensors.kinds import is_foreign, spec_of_kind
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, has_leaves
from lodcore.tensors.rank_table import IndicesMap, RankTable
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Spec, Tensor, may_stand_for
from lodcore.tensors.tensor_array import TensorArray

__all__ = [
    "Anything",
    "Batches",
    "Counts",
    "Dense",
    "Index",
    "Keys",
    "Kind",
    "Nested",
    "NestedIndex",
    "Operands",
    "Optional",
    "Role",
    "Rows",
    "Steps",
    "Structure",
    "Table",
    "Updates",
]


class Role:
    """The arguments that a parameter of an operator accepts; a parameter without a role is an attribute.

    Parameters
    ----------
    name : str
    of_list : callable
        Converts a list to a tensor; called with the name of function and argument, for the message, and the list.
    take : callable, optional
        Converts an argument whose type is not `expected`, likewise. None if the operator converts it itself.
    expected : frozenset of type
        The types that need no `take`.
    kinds : frozenset of type
        The kinds of Specs that need no `take`.
    place : tuple of str, optional
        The names of the only kinds of tensors that are accepted; if empty, the operator checks the kind itself. None
        for LoDTensors and dense arrays.
    entries : Role, optional
        The role of each entry if a list is needed.
    described : bool
        Whether a shape rule receives numbers as Specs.
    kind : type, optional
        The kind of tensors that the function receives as they are, with those that stand for it.
    """

    __module__ = "lodcore.ops"

    def __init__(
        self,
        name: str,
        of_list: Callable[[str, Any], Any],
        take: Callable[[str, Any], Any] | None = None,
        expected: frozenset[type] = frozenset(),
        kinds: frozenset[type] = frozenset(),
        place: tuple[str, ...] | None = None,
        entries: Role | None = None,
        described: bool = True,
        kind: type | None = None,
    ) -> None:
        self.name, self.of_list, self.take, self.expected, self.kinds = name, of_list, take, expected, kinds
        self.place, self.entries, self.described, self.kind = place, entries, described, kind

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return self.name if self.kind is None else (Kind, (self.kind,))

    def receives(self, kind: type) -> bool:
        """Return whether the function receives tensors of a kind from outside as they are."""
        named = self.kind is not None and may_stand_for(kind, self.kind)
        return named or kind in self.kinds

    def types(self, optional: bool) -> frozenset[type] | None:
        """Return the types that need no `take`, or None for all types; an optional argument may be None."""
        if self.take is None:
            return None
        return self.expected | {type(None)} if optional else self.expected

    def constant(self, where: str, given: Any) -> Any:
        """Convert a list to a tensor as the operator itself would; return anything else unchanged.

        Lists of positions are kept: without entries, or with too large ones, they would become an array of float64.
        """
        return self.of_list(where, given) if isinstance(given, (list, tuple)) else given

    def spec(self, where: str, spec: Spec) -> Spec:
        """Check that a kind of tensor is accepted; one with `__array__` counts as a dense array."""
        if spec.kind in self.kinds or spec.kind is object:
            return spec
        if self.entries is not None:
            return self.entries.spec(where, spec)
        if self.place is None:
            taken: Spec = self.take(where, spec) if self.take is not None else operand_of(where, spec)
            return taken
        if self.place and spec.kind.__name__ not in self.place:
            raise of_another_kind(where, spec.kind, *self.place)
        return spec


# -- lists -------------------------------------------------------------------------------------------------------------


def _copied(where: str, given: Any) -> Any:
    """Return a deep copy of a nested list, which the caller cannot change."""
    return [_copied(where, x) if isinstance(x, (list, tuple)) else x for x in given]


def _element(where: str, given: Any) -> Any:
    """Return an element of an array: a SparseTensor, or a kind from outside, as it is."""
    kind = given.kind if type(given) is Spec else type(given)
    return given if kind is SparseTensor or is_foreign(kind) else operand_of(where, given)


def _rows_of_list(where: str, given: Any) -> Any:
    return as_nested(where, given) if given and isinstance(given[0], (list, tuple)) else as_array(where, given)


def _counts_of_list(where: str, given: Any) -> Any:
    nested = given and isinstance(given[0], (list, tuple))
    return nested_index_of(where, given) if nested else _copied(where, given)


def _index_of_list(where: str, given: Any) -> Any:
    flat = given and not isinstance(given[0], (list, tuple, np.ndarray))
    return as_array(where, given) if flat else nested_index_of(where, given)


def _kept(where: str, given: Any) -> Any:
    return given


def _each(role: Role) -> Callable[[str, Any], Any]:
    return lambda where, given: [role.constant(f"{where}[{j}]", x) for j, x in enumerate(given)]


def as_batches(where: str, xs: Any) -> list[Any]:
    """Convert the nested lists among batches to LoDTensors; keep everything else.

    Parameters
    ----------
    where : str
        The names of function and argument, for the message.
    xs : list

    Returns
    -------
    list
        Lists without values take the dtype, the shape of rows and the missing levels from the first batch with values.
    """
    xs = list(xs)  # copied once, since it may change meanwhile
    made = [as_nested(f"{where}[{j}]", x) if isinstance(x, (list, tuple)) else x for j, x in enumerate(xs)]
    silent = [
        isinstance(x, (list, tuple)) and isinstance(one, LoDTensor) and not one.num_rows and not has_leaves(x)
        for x, one in zip(xs, made, strict=True)
    ]
    if True not in silent or False not in silent:
        return made
    model = made[silent.index(False)]
    known: Any = model.current() if isinstance(model, Symbol) else model
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


# -- the roles ---------------------------------------------------------------------------------------------------------


def _stays(where: str, given: Any) -> Any:
    """Return an argument that the operator converts itself; raise for None and for refused kinds of tensors."""
    return operand_of(where, given) if type(given) is Spec else given_of(where, given)


def listed_or(
    of_list: Callable[[str, Any], Any], take_other: Callable[[str, Any], Any] = _stays
) -> Callable[[str, Any], Any]:
    """Return a function that converts lists to tensors, and anything else by another function."""

    def take(where: str, given: Any) -> Any:
        listed = isinstance(given, (list, tuple)) and type(given) is not Spec
        return of_list(where, given) if listed else take_other(where, given)

    return take


def _structure_of_list(where: str, given: Any) -> Any:
    flat = given and not isinstance(given[0], (list, tuple, np.ndarray, LoDTensor))
    return as_array(where, given) if flat else nested_of(where, given)


def _structure_or_array(where: str, given: Any) -> Any:
    return given if isinstance(given, LoD) else operand_of(where, given)


NUMBERS = (float, int, bool, complex, np.int64, np.float32, np.float64, np.bool_)
ANY = frozenset((np.ndarray, LoDTensor))


def Kind(kind: type) -> Role:
    """Return the role of a parameter for tensors of one kind, and those registered to stand for it, as they are.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops import Kind, no_lod, operator
    >>> @operator(x=Kind(lodcore.SparseTensor), lod_rule=no_lod)
    ... def heights(x):
    ...     return x.height
    >>> heights(lodcore.SparseTensor([0], [1.0], 5))
    5
    """
    if not isinstance(kind, type):
        raise DTypeError(f"Kind: kind: is {kind!r}; a class is needed")

    def take(where: str, given: Any) -> Any:
        found = given.kind if type(given) is Spec else type(given)
        if found is object or may_stand_for(found, kind):
            return given
        raise of_another_kind(where, found, kind.__name__)

    return Role(kind.__name__, take, take, frozenset([kind]), frozenset([kind]), kind=kind)


Nested = Role("Nested", nested_of, nested_of, frozenset([LoDTensor]), frozenset([LoDTensor]))
NestedIndex = Role("NestedIndex", _index_of_list, listed_or(_index_of_list), ANY, ANY)
Structure = Role(
    "Structure",
    _structure_of_list,
    listed_or(_structure_of_list, _structure_or_array),
    ANY | {LoD},
    ANY | {LoD},
    described=False,
)
Rows = Role("Rows", _rows_of_list, listed_or(_rows_of_list, rows_given_of), ANY | {list}, frozenset([LoDTensor]))
Dense = Role("Dense", as_array, operand_of, frozenset((np.ndarray, LoDTensor, *NUMBERS)), ANY)
#: An element of an array, which may be a SparseTensor.
Element = Role(
    "Element", as_array, _element, frozenset((np.ndarray, LoDTensor, *NUMBERS)), ANY | {SparseTensor}, kind=Tensor
)
#: A tensor or a number, or None; shape rules receive numbers unchanged.
Optional = Role("Optional", as_array, operand_of, Dense.expected | {type(None)}, ANY, described=False)
Index = Role("Index", _copied, _stays, ANY | {list, tuple, int, bool, np.int64, np.bool_}, ANY, described=False)
ORDERS = frozenset((RankTable, IndicesMap))

COUNTS = Index.expected - {list, tuple}
#: Integers, one for all or one each; nested lists become a LoDTensor.
Counts = Role("Counts", _counts_of_list, listed_or(_counts_of_list), COUNTS, ANY, described=False)
#: Rows, or a number, which adopts the dtype of the other operand; shape rules receive it unchanged.
Updates = Role("Updates", nested_of, listed_or(nested_of, operand_of), ANY | {int, float}, ANY, described=False)
Steps = Role("Steps", _kept, kinds=frozenset([TensorArray]), place=("TensorArray",))
Table = Role("Table", _kept, kinds=ORDERS, place=("RankTable", "IndicesMap"))
Anything = Role("Anything", _kept, place=())
Batches = Role("Batches", as_batches, entries=Nested)
Operands = Role("Operands", _each(Dense), entries=Dense)
Keys = Role("Keys", _each(Index), entries=Index)

#: Roles of lists, and those of their entries.
LISTS = {role: role.entries for role in (Batches, Operands, Keys)}


def entries_of(where: str, role: Role, given: Any) -> list[Any]:
    """Return the entries of a list of a recorded call; raise for the first batch that is not a tensor."""
    entries: list[Any] = list_of(where, given)
    for j, x in enumerate(entries if role is Batches else ()):
        if not isinstance(x, Spec):
            raise DTypeError(f"{where}[{j}]: is {type(x).__name__}; a LoDTensor or nested lists are needed")
    return entries


# -- Specs of values ---------------------------------------------------------------------------------------------------


def spec_of_list(where: str, given: Any) -> Spec:
    """Return the Spec of numbers in a list; integers stay integers even if there are none, or some are too large."""
    made = as_array(where, given)
    whole = made.dtype.kind not in "iub" and all(isinstance(x, int) for x in np.asarray(given, object).flat)
    return Spec(made.shape, np.dtype(np.int64) if whole else made.dtype)


def spec_of(value: Any) -> Spec:
    """Return the Spec of a tensor, with None for the number of rows of a LoDTensor.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.operators.roles import spec_of
    >>> spec_of(lodcore.array([[1, 2], [3]])).num_levels
    1
    """
    if isinstance(value, np.ndarray):
        return Spec(value.shape, value.dtype, 0, np.ndarray)
    # abstract classes take ten times as long to say that something is none of theirs
    if type(value) is not LoDTensor and isinstance(value, TensorArray):
        return _spec_of_elements(value)
    if type(value) is LoDTensor or (isinstance(value, LoDTensor) and not is_foreign(type(value))):
        return Spec((None, *value.values.shape[1:]), value.dtype, value.num_levels, LoDTensor)
    if isinstance(value, LoD):
        return Spec((None,), np.dtype(np.int64), value.num_levels, LoD)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Spec((), np.asarray(value).dtype, 0, np.ndarray)
    if isinstance(value, Tensor):
        return spec_of_kind(value)
    return Spec((), np.dtype(np.void), 0, type(value))


#: The Spec of a TensorArray without elements.
NO_ELEMENTS = Spec((), np.dtype(np.void), 0, TensorArray)


def _spec_of_elements(array: TensorArray) -> Spec:
    """Return the Spec of a TensorArray: that of its elements, if it has any, with None for their numbers of rows."""
    spec = array.element_spec()
    known = spec is not None and (spec.kind is np.ndarray or spec.kind is LoDTensor)
    return spec._replace(kind=TensorArray) if known and spec is not None else NO_ELEMENTS
