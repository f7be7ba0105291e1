"""The index of pandas tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from lodcore.errors import LoDError

__all__ = ["with_index_levels"]


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
        If a level has the name of a column.
    """
    names = [name for name in frame.index.names if name is not None]
    for name in names:
        if name in frame.columns:
            raise LoDError(
                f"{where}: {name!r} is a column and a level of the index; rename one, or reset_index(drop=True)"
            )
    levels = {name: frame.index.get_level_values(name) for name in names if name not in keys}
    frame = frame.reset_index(drop=True)
    for at, (name, level) in enumerate(levels.items()):
        frame.insert(at, name, level)
    return frame
