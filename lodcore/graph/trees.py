"""Lists, tuples and dicts of tensors: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["leaves", "map_leaves", "map_leaves_of_two"]


def leaves(tree: Any) -> list[Any]:
    """List what is in nested lists, tuples and dicts, in their order."""
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in leaves(branch)]
    if isinstance(tree, dict):
        return [leaf for branch in tree.values() for leaf in leaves(branch)]
    return [tree]


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Make the same lists, tuples and dicts of what a function makes of each leaf."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[map_leaves(function, branch) for branch in tree])
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_leaves(function, branch) for branch in tree])
    if isinstance(tree, dict):
        return {key: map_leaves(function, branch) for key, branch in tree.items()}
    return function(tree)


def map_leaves_of_two(function: Callable[[Any, Any, str], Any], tree: Any, other: Any, where: str) -> None:
    """Call a function with the leaves of two trees of one form, and their place; None in the second is a whole branch.

    Raises
    ------
    ValueError
        If the second has another form.
    """
    if other is None:
        return
    if isinstance(tree, (list, tuple)):
        if not isinstance(other, (list, tuple)) or len(other) != len(tree):
            raise ValueError(f"{where}: is {_form(other)}; {_form(tree)} is needed")
        for j, (branch, twig) in enumerate(zip(tree, other, strict=True)):
            map_leaves_of_two(function, branch, twig, f"{where}[{j}]")
    elif isinstance(tree, dict):
        if not isinstance(other, dict) or not other.keys() <= tree.keys():
            raise ValueError(f"{where}: is {_form(other)}; a dict with keys of {list(tree)} is needed")
        for key, twig in other.items():
            map_leaves_of_two(function, tree[key], twig, f"{where}[{key!r}]")
    else:
        function(tree, other, where)


def _form(tree: Any) -> str:
    entries = f" of {len(tree)}" if isinstance(tree, (list, tuple, dict)) else ""
    return f"{type(tree).__name__}{entries}"
