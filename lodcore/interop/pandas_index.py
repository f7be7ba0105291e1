"""The index of pandas tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from lodcore.errors import LoDError

__all__ = ["refuse_levels_of_one_name", "with_index_levels"]


def refuse_levels_of_one_name(where: str, names: Sequence[Any]) -> None:
    """Raise if two levels of an index have the same name as text."""
    for at, name in enumerate(names):
        if str(name) in map(str, names[:at]):
            raise LoDError(f"{where}: has two levels {str(name)!r} of the index; rename one")


def with_index_levels(where: str, frame: Any, keys: Collection[Any] = ()) -> Any:
    """Return a table with the named levels of its index, other than keys, as its first columns, and without an index.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    frame : pandas.DataFrame
    keys : collection of str
        The names of levels that are left out.

    Raises
    ------
    LoDError
        If a level has the name of a column, or of another level.
    """
    names = [name for name in frame.index.names if name is not None]
    refuse_levels_of_one_name(where, names)
    columns = set(map(str, frame.columns))
    for name in names:
        if str(name) in columns:
            raise LoDError(
                f"{where}: {name!r} is a column and a level of the index; rename one, or reset_index(drop=True)"
            )
    levels = {name: frame.index.get_level_values(name) for name in names if name not in keys}
    frame = frame.reset_index(drop=True)
    for at, (name, level) in enumerate(levels.items()):
        frame.insert(at, name, level)
    return frame
