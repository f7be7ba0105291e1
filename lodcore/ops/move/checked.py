"""Checks of values by a rule with a name: at once where the values are known, or else by the run that knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import choice_of, level_of, operand_of
from lodcore.operators.lod_rules import same_as
from lodcore.operators.operands import Array, check_equal, known_value, no_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Operands
from lodcore.tensors import lod_body
from lodcore.tensors.tensor import Spec

__all__ = ["checked"]

#: The rules by name: functions of the tensors, or their Specs, and the options, which raise what these show. A saved
#: Program names them, so they are defined in files that are loaded together with Programs.
RULES: dict[str, Callable[..., None]] = {}


def rule(function: Callable[..., None]) -> Callable[..., None]:
    """Register a rule under the name of its function."""
    RULES[function.__name__] = function
    return function


@operator(x=Dense, others=Operands, lod_rule=same_as("x"))
def checked(x: Any, others: Any, name: str, options: dict[str, Any]) -> Any:
    """Return x itself; raise an error if it breaks a rule.

    Parameters
    ----------
    x : LoDTensor or array_like
    others : list of LoDTensor or array_like
        Further arguments of the rule.
    name : str
        The name of the rule.
    options : dict
        Its other arguments.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    ValueError
        If there is no such rule.

    Examples
    --------
    >>> import lodcore
    >>> keys, names = {"where": "group_by", "name": "column 0"}, ["a", "b"]
    >>> lodcore.ops.checked([1.5, 2.0], [names], "one_per_key", keys)
    array([1.5, 2. ])
    """
    given = [operand_of(f"checked: others[{j}]", one) for j, one in enumerate(others)]
    RULES[choice_of("checked: name", name, tuple(RULES))](x, *given, **options)
    return x


@checked.define_infer
def _(x: Spec, others: list[Spec], name: str, options: dict[str, Any]) -> Spec:
    RULES[choice_of("checked: name", name, tuple(RULES))](x, *others, **options)
    return x


@checked.define_vjp
def _(d: Array, others: list[Any]) -> tuple[Array, list[None]]:
    return d, [None] * len(others)


def check(function: Callable[..., None], x: Any, *others: Any, **options: Any) -> Any:
    """Return x; raise an error if it breaks a rule, or return a Variable for which a run does so.

    Parameters
    ----------
    function : callable
        A rule.
    x : LoDTensor, ndarray or Variable
    *others : LoDTensor, ndarray or Variable
        Further arguments of the rule.
    **options : object
        Its other arguments: numbers and text.

    Returns
    -------
    LoDTensor, ndarray or Variable

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.ops.move.checked import check, one_per_key
    >>> check(one_per_key, [1.5, 2.0], ["a", "b"], where="group_by", name="column 0")
    [1.5, 2.0]
    """
    if not any(isinstance(one, Symbol) for one in (x, *others)):
        function(x, *others, **options)
        return x
    known = [known_value(one) for one in (x, *others)]
    if any(one is None for one in known):
        return checked(x, list(others), function.__name__, options)
    function(*known, **options)
    return x


# -- structure -------------------------------------------------------------------------------------------------------


@rule
def same_structure(x: Any, y: Any, where: str, name: str, other: str) -> None:
    """Raise if the structure of x is not that of y."""
    if x.num_levels != y.num_levels:
        raise no_levels(where, name, x.num_levels, other, y.num_levels)
    if type(x) is not Spec and type(y) is not Spec:
        check_equal(where, y.lod, x.lod, name, other)


@rule
def same_sequences(x: Any, y: Any, where: str, level: int, name: str, other: str) -> None:
    """Raise if sequences of x differ from those of y, down to a level that has the same number in both."""
    k = level_of(f"{where}: {name}", x, level)
    if level_of(f"{where}: {other}", y, level) != k:
        raise LoDError(
            f"{where}: {name}: has {with_number(x.num_levels, 'level')}, {other} {y.num_levels}, so level {level} "
            "is not the same; one that counts from the first is needed"
        )
    if type(x) is not Spec and type(y) is not Spec:
        check_equal(where, lod_body.slice_levels(y.lod, 0, k + 1), lod_body.slice_levels(x.lod, 0, k + 1), name, other)


# -- columns ---------------------------------------------------------------------------------------------------------


@rule
def one_per_key(x: Any, key: Any, where: str, name: str) -> None:
    """Raise if a column has another number of rows, or of sequences, than there are keys."""
    rows, keys = map(_count, (x, key))
    if None not in (rows, keys) and rows != keys:
        raise ShapeError(f"{where}: {name}: has {rows} rows; there are {keys} keys")


def _count(x: Any) -> int | None:
    """Return the number of rows, or sequences, if it is known."""
    if type(x) is Spec and x.num_levels:
        return None  # a Spec says how many rows the values have
    count: int | None = (x.shape if hasattr(x, "shape") else np.shape(x))[0]
    return count


# -- plans of documents ----------------------------------------------------------------------------------------------


@rule
def documents_planned(x: Any, lengths: Any, where: str) -> None:
    """Raise if the lengths of documents differ from the planned ones."""
    if not x.num_levels:
        raise LoDError(f"{where}: x: has no levels; documents are needed")
    if type(x) is Spec:
        return
    found = np.diff(x.lod.row_offsets(0))
    if len(found) != len(lengths):
        raise LoDError(f"{where}: x: has {with_number(len(found), 'document')}; the plan has {len(lengths)}")
    if not np.array_equal(found, lengths):
        bad = int(np.argmax(found != lengths))
        raise LoDError(
            f"{where}: x: document {bad} has {with_number(found[bad], 'token')}; {lengths[bad]} were planned"
        )


@rule
def bins_planned(y: Any, counts: Any, where: str) -> None:
    """Raise if the numbers of documents in bins differ from those of the plan."""
    if type(y) is Spec:
        return
    found = y.lod.lengths()
    if len(found) != len(counts):
        raise LoDError(f"{where}: y: has {with_number(len(found), 'bin')}; the plan has {len(counts)}")
    if not np.array_equal(found, counts):
        bad = int(np.argmax(found != counts))
        raise LoDError(
            f"{where}: y: bin {bad} has {with_number(found[bad], 'document')}; the plan has {counts[bad]} there"
        )


@rule
def rows_planned(y: Any, where: str, count: int, planned: str) -> None:
    """Raise if the number of rows differs from the planned one."""
    if y.shape[0] not in (None, count):
        raise LoDError(f"{where}: y: has {y.shape[0]} rows; {planned}")


@rule
def windows_planned(y: Any, planned: Any, where: str) -> None:
    """Raise if the windows of documents differ from the planned ones."""
    if type(y) is not Spec and y.lod != planned.lod:
        count = planned.lod.num_sequences(1)
        raise LoDError(f"{where}: y: has windows other than the {count} that were planned")
