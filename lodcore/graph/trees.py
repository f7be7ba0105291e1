"""Trees: lists, tuples, dicts and dataclasses of tensors."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

__all__ = ["copy_of_tree", "in_lists", "map_leaves_of_two", "tree_leaves", "tree_map"]


def _has_branches(kind: type) -> bool:
    """Return whether objects of a type have branches."""
    return issubclass(kind, (list, tuple, dict)) or dataclasses.is_dataclass(kind)


_is_tree: Callable[[type], bool] = functools.lru_cache(maxsize=256)(_has_branches)


def _branches(tree: Any) -> dict[Any, Any] | None:
    """Return the branches of a tree by position, or None for a leaf."""
    if not _is_tree(type(tree)):
        return None
    if isinstance(tree, (list, tuple)):
        return dict(enumerate(tree))
    if isinstance(tree, dict):
        return tree
    return {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}


def _like(tree: Any, branches: dict[Any, Any]) -> Any:
    """Return a tree of the same form with other branches."""
    if isinstance(tree, dict):
        return branches
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*branches.values())
    if isinstance(tree, (list, tuple)):
        return type(tree)(list(branches.values()))
    made = object.__new__(type(tree))
    for name, branch in branches.items():
        object.__setattr__(made, name, branch)  # works for frozen dataclasses, and __init__ may need other arguments
    return made


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, in order.

    Parameters
    ----------
    tree : list, tuple, named tuple, dict or dataclass of trees; anything else is a leaf

    Returns
    -------
    list

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tree_leaves({"weight": 1, "layers": [2, (3, 4)]})
    [1, 2, 3, 4]
    """
    kind = type(tree)
    if not _is_tree(kind):
        return [tree]
    branches = tree
    if kind is dict:
        branches = tree.values()
    elif kind is not tuple and kind is not list:
        branches = (_branches(tree) or {}).values()
    found = []
    for branch in branches:
        if _is_tree(type(branch)):
            found += tree_leaves(branch)
        else:
            found.append(branch)
    return found


def tree_map(f: Callable[..., Any], tree: Any, *trees: Any) -> Any:
    """Return a tree of the same form with the results of a function of the leaves.

    Parameters
    ----------
    f : callable
        Called with one leaf of each tree.
    tree : list, tuple, named tuple, dict or dataclass of trees; anything else is a leaf
    *trees
        Further trees of the same form.

    Returns
    -------
    tree

    Raises
    ------
    ValueError
        If a tree has a different form from the first; the message names the position.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.tree_map(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
    {'a': [11, 22]}
    """
    return _mapped(f, tree, trees, "") if trees or _is_tree(type(tree)) else f(tree)


def copy_of_tree(tree: Any) -> Any:
    """Return a tree of new containers with the same leaves.

    What reads a tree several times reads a copy: a function of the user that is called in between, or another thread,
    may change the tree.
    """
    return tree_map(_itself, tree)


def in_lists(function: Callable[[Any], Any], given: Any) -> Any:
    """Return a function of what is given, or a list of those of its entries."""
    return [in_lists(function, one) for one in given] if isinstance(given, list) else function(given)


def _itself(leaf: Any) -> Any:
    return leaf


def _mapped(function: Callable[..., Any], tree: Any, trees: tuple[Any, ...], place: str) -> Any:
    kind = type(tree)
    if kind is dict and not trees:
        return {
            key: _mapped(function, one, (), "") if _is_tree(type(one)) else function(one) for key, one in tree.items()
        }
    if kind is tuple or kind is list:
        if not trees:
            return kind([_mapped(function, one, (), "") if _is_tree(type(one)) else function(one) for one in tree])
        if len(trees) == 1 and type(trees[0]) is kind and len(trees[0]) == len(tree):
            pairs = enumerate(zip(tree, trees[0], strict=True))
            return kind(
                [
                    _mapped(function, one, (other,), f"{place}[{j}]") if _is_tree(type(one)) else function(one, other)
                    for j, (one, other) in pairs
                ]
            )
    branches = _branches(tree)
    if branches is None:
        return function(tree, *trees) if trees else function(tree)
    if not trees:  # positions are not needed, since no form can differ
        mapped = {
            key: _mapped(function, branch, (), "") if _is_tree(type(branch)) else function(branch)
            for key, branch in branches.items()
        }
        return _like(tree, mapped)
    others = [_branches(other) for other in trees]
    for j, (other, found) in enumerate(zip(trees, others, strict=True)):
        if found is None or found.keys() != branches.keys():
            dicts = isinstance(tree, dict) and isinstance(other, dict)
            is_, needed = [f"a dict with keys {list(one)}" if dicts else _form(one) for one in (other, tree)]
            raise ValueError(f"tree_map: trees[{j}]{place}: is {is_}; {needed} is needed")
    made = {
        key: _mapped(
            function, branch, tuple([other[key] for other in others if other is not None]), f"{place}[{key!r}]"
        )
        for key, branch in branches.items()
    }
    return _like(tree, made)


def map_leaves_of_two(function: Callable[[Any, Any, str], Any], tree: Any, other: Any, where: str) -> None:
    """Call a function with the leaves of two trees, and their position; None in the second replaces a whole branch.

    Raises
    ------
    ValueError
        If the second has another form.
    """
    if other is None:
        return
    branches = _branches(tree)
    if branches is None:
        function(tree, other, where)
        return
    given = _branches(other)
    part_of_dict = isinstance(tree, dict) and isinstance(other, dict) and other.keys() <= tree.keys()
    if not part_of_dict and (given is None or given.keys() != branches.keys()):
        needed = f"a dict with keys of {list(tree)}" if isinstance(tree, dict) else _form(tree)
        raise ValueError(f"{where}: is {_form(other)}; {needed} is needed")
    for key, twig in (given or {}).items():
        map_leaves_of_two(function, branches[key], twig, f"{where}[{key!r}]")


def _form(tree: Any) -> str:
    branches = _branches(tree)
    return type(tree).__name__ if branches is None else f"{type(tree).__name__} of {len(branches)}"
