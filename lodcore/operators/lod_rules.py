"""LoD rules: the structure of the result of an operator as determined by its arguments, for tensors and Specs alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.memory import integer
from lodcore.errors import LevelError
from lodcore.operators.arguments import level_of
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = [
    "LoDRule",
    "before",
    "below_rows",
    "counted",
    "deepest",
    "first_levels",
    "levels_of",
    "no_lod",
    "outer",
    "said",
    "same",
    "same_as",
    "sources_of",
    "spec_with_levels",
]


class LoDRule:
    """The structure of a result.

    Parameters
    ----------
    text : str
        The rule in words, for the table of operators.
    source : callable
        Maps the arguments by name to the one whose levels the result has: any object with `num_levels`, or None.
    kept : callable
        Maps the name of the operator, the arguments, and the number of levels of the source to the number of outer
        levels that the result shares with the source.
    total : callable, optional
        Maps the same to the number of levels of the result; by default, the result has the shared levels only.
    same_object : bool
        Whether the LoD of the result is the same object as that of the source.
    by_spec : bool
        Whether the Spec rule says what the structure is.
    reads : tuple of str
        The parameters of the operator that the rule names, which it must have.
    """

    __module__ = "lodcore.ops"

    def __init__(
        self,
        text: str,
        source: Callable[[dict[str, Any]], Any],
        kept: Callable[[str, dict[str, Any], int], int],
        total: Callable[[str, dict[str, Any], int], int] | None = None,
        same_object: bool = False,
        by_spec: bool = False,
        reads: tuple[str, ...] = (),
    ) -> None:
        self.text, self.source, self.kept, self.same_object = text, source, kept, same_object
        self.total, self.by_spec, self.reads = total or kept, by_spec, reads

    def __repr__(self) -> str:
        return f"<LoD rule: {self.text}>"

    def num_levels(self, where: str, arguments: dict[str, Any]) -> int:
        """Count the levels of the result from the arguments, tensors or Specs, by name."""
        levels = 0 if self.source is _nothing else levels_of(self.source(arguments))
        return levels if self.same_object else self.total(where, arguments, levels)

    def structure(self, where: str, arguments: dict[str, Any]) -> Any:
        """Return the sources of the levels of the result.

        Parameters
        ----------
        where : str
            The name of the operator, for messages.
        arguments : dict
            The arguments by name, with a Spec instead of each tensor.

        Returns
        -------
        Spec or list
            The argument whose LoD the result shares as the same object. Otherwise one entry per level: an argument and
            its level that the result has, or None for a computed level.
        """
        source = self.source(arguments)
        count = levels_of(source)
        if self.same_object:
            return source if count else []
        kept = self.kept(where, arguments, count)
        return [*first_levels(source, kept), *[None] * (self.total(where, arguments, count) - kept)]


def _nothing(arguments: dict[str, Any]) -> None:
    """Return None, since the structure of the result is not that of an argument."""


def levels_of(x: Any) -> int:
    """Count the levels of a tensor or a Spec; an object without a structure has none."""
    return x.num_levels if isinstance(x, (Spec, LoDTensor, LoD)) else 0


def _argument(name: str) -> Callable[[dict[str, Any]], Any]:
    """Return a function that returns the argument with a name; of a list, its first element."""

    def find(arguments: dict[str, Any]) -> Any:
        given = arguments[name]
        return given[0] if type(given) is list and given else given

    return find


def _first(arguments: dict[str, Any]) -> Any:
    """Return the first argument that has levels, including those in lists."""
    for given in arguments.values():
        if type(given) is list:
            for x in given:
                if levels_of(x):
                    return x
        elif levels_of(given):
            return given
    return None


#: The rule of a result that has the LoD of the first argument that has one, as the same object.
same = LoDRule("that of the first input that has one", _first, lambda where, given, count: count, same_object=True)

#: The rule of a result without levels.
no_lod = LoDRule("none", _nothing, lambda where, given, count: 0)


def _deepest(arguments: dict[str, Any]) -> Any:
    """Return the first argument with the most levels, including those in lists."""
    found, most = None, -1
    for given in arguments.values():
        for x in given if type(given) is list else (given,):
            levels = x.num_levels if type(x) is Spec else levels_of(x)
            if levels > most:
                found, most = x, levels
    return found


#: The rule of a result that has the LoD of the first argument with the most levels, as the same object.
deepest = LoDRule(
    "that of the first input with the most levels", _deepest, lambda where, given, count: count, same_object=True
)


def same_as(name: str) -> LoDRule:
    """Return the rule of a result that has the LoD of one argument, as the same object."""
    return LoDRule(
        f"that of `{name}`",
        lambda given: given[name],
        lambda where, given, count: count,
        same_object=True,
        reads=(name,),
    )


def below_rows(axes: str, of: str = "x") -> LoDRule:
    """Return the rule of a result that has the LoD of an argument, unless axis 0 of its values is reduced."""

    def source(given: dict[str, Any]) -> Any:
        x, reduced = given[of], given[axes]
        ndim = len(x.shape) if type(x) is Spec else np.ndim(getattr(x, "values", x))
        return None if reduced is None or 0 in reduced or -ndim in reduced else x

    text = f"that of `{of}`, unless axis 0 is reduced"
    return LoDRule(text, source, lambda where, given, count: count, same_object=True, reads=(of, axes))


def _up_to(level: str) -> Callable[[str, dict[str, Any], int], int]:
    """Return a function that counts the levels before the one given by a parameter."""
    return lambda where, given, count: level_of(where, count, given[level], level)


def before(level: str, of: str = "x") -> LoDRule:
    """Return the rule of a result that has the levels of an argument before the one given by a parameter."""
    return LoDRule(f"the levels of `{of}` before `{level}`", _argument(of), _up_to(level), reads=(of, level))


def outer(level: str, of: str = "x") -> LoDRule:
    """Return the rule of a result with as many levels as an argument; those before one, a parameter, are shared."""
    text = f"as `{of}` before `{level}`; that and what is below is computed"
    before_it = _up_to(level)

    def total(where: str, given: dict[str, Any], count: int) -> int:
        if count:  # otherwise the argument is not known yet
            before_it(where, given, count)  # raises if the level does not exist
        return count

    return LoDRule(text, _argument(of), before_it, total, reads=(of, level))


def said(text: str) -> LoDRule:
    """Return the rule of a result whose structure the Spec rule says; the text is for the table of operators."""
    return LoDRule(text, _nothing, lambda where, given, count: 0, by_spec=True)


def first_levels(x: Any, count: int, computed: int = 0) -> Any:
    """List the first levels of an argument, and computed ones below, for the Spec of a result.

    Parameters
    ----------
    x : Spec
    count : int
        The number of levels of x, from the first.
    computed : int

    Returns
    -------
    list

    Raises
    ------
    LevelError
        If x has fewer levels.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.ops import Spec, first_levels
    >>> x = Spec((None,), np.dtype(float), 2)
    >>> first_levels(x, 1, 2) == [(x, 0), None, None]
    True
    """
    if not 0 <= integer("first_levels: count", count) <= levels_of(x):
        raise LevelError(f"first_levels: count: is {count}; x has {with_number(levels_of(x), 'level')}")
    return [*[(x, level) for level in range(count)], *[None] * computed]


def counted(spec: Spec) -> Spec:
    """Return the Spec that a Spec rule made of the result, with the number of levels instead of their sources."""
    levels: Any = spec.num_levels
    if type(levels) is not int:
        levels = levels_of(levels) if isinstance(levels, (Spec, LoD)) else len(levels)
    return spec_with_levels(spec, levels)


def sources_of(spec: Spec) -> Any:
    """Return the sources of the levels of a result, as `LoDRule.structure` does, from what a Spec rule made of it."""
    levels: Any = spec.num_levels
    return None if spec.kind is object else [None] * levels if type(levels) is int else levels


def spec_with_levels(spec: Spec, num_levels: int) -> Spec:
    """Return a Spec with a number of levels, and the corresponding kind."""
    kind = spec.kind
    if kind is np.ndarray or kind is LoDTensor:
        kind = LoDTensor if num_levels else np.ndarray
    same_spec = kind is spec.kind and num_levels == spec.num_levels
    return spec if same_spec else Spec(spec.shape, spec.dtype, num_levels, kind)
