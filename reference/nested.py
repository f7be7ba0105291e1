"""Conversion of nested lists to rows and offsets, and back; and nested lists as text, "[[x x] [] [x]]".

The outermost list is the batch. Each level of lists below it is a level of offsets; the entries of the last level are
rows, which may be any objects. The number of levels must be passed, because it does not follow from empty lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["flatten", "nest", "parse", "show"]


def flatten(nested: Iterable[Any], num_levels: int) -> tuple[list[Any], list[list[int]]]:
    """Convert nested lists to rows and offsets.

    Parameters
    ----------
    nested : list
        Rows, if there are no levels.
    num_levels : int

    Returns
    -------
    (list, list of list of int)
        The rows of all sequences, and the offsets of each level, the coarsest first.

    Examples
    --------
    >>> flatten([[["a", "b"], []], [["c"]]], 2)
    (['a', 'b', 'c'], [[0, 2, 3], [0, 2, 2, 3]])
    """
    elements = list(nested)
    levels = []
    for _ in range(num_levels):
        inside: list[Any] = []
        offsets = [0]
        for sequence in elements:
            inside.extend(sequence)
            offsets.append(len(inside))
        levels.append(offsets)
        elements = inside
    return elements, levels


def nest(rows: Iterable[Any], levels: Sequence[Sequence[int]]) -> list[Any]:
    """Convert rows and offsets to nested lists: the inverse of `flatten`.

    Parameters
    ----------
    rows : list
    levels : list of list of int
        The offsets of each level, the coarsest first.

    Returns
    -------
    list

    Examples
    --------
    >>> nest("abc", [[0, 2, 3], [0, 2, 2, 3]])
    [[['a', 'b'], []], [['c']]]
    """
    elements = list(rows)
    for offsets in reversed(levels):
        elements = [elements[offsets[s] : offsets[s + 1]] for s in range(len(offsets) - 1)]
    return elements


def parse(text: str) -> list[Any]:
    """Parse the text of nested lists of words.

    Parameters
    ----------
    text : str
        Words in brackets.

    Returns
    -------
    list
        Each word is a row.

    Raises
    ------
    ValueError
        If the brackets do not match, or the text is not a single list.

    Examples
    --------
    >>> parse("[[x x] [] [x]]")
    [['x', 'x'], [], ['x']]
    """
    open_lists: list[list[Any]] = [[]]
    for word in text.replace("[", " [ ").replace("]", " ] ").split():
        if word == "[":
            open_lists.append([])
        elif word != "]":
            open_lists[-1].append(word)
        elif len(open_lists) > 1:
            done = open_lists.pop()
            open_lists[-1].append(done)
        else:
            raise ValueError(f"parse: text: {text!r} closes a list that is not open")
    if len(open_lists) != 1 or len(open_lists[0]) != 1 or not isinstance(open_lists[0][0], list):
        raise ValueError(f"parse: text: {text!r} is not one list in matching brackets")
    return open_lists[0][0]


def show(nested: Any) -> str:
    """Format nested lists as text: the inverse of `parse`.

    Parameters
    ----------
    nested : list

    Returns
    -------
    str

    Examples
    --------
    >>> show(nest("xxx", [[0, 2, 2, 3]]))
    '[[x x] [] [x]]'
    """
    if isinstance(nested, list):
        return f"[{' '.join(show(entry) for entry in nested)}]"
    return str(nested)
