"""How often each value occurs in a sequence."""

from __future__ import annotations

from typing import Any

from lodcore.base.memory import flag
from lodcore.base.naming import named
from lodcore.operators.copies import nested_operand
from lodcore.ops.order.order import sort_by_key
from lodcore.ops.order.runs import sequence_unique_all

__all__ = ["sequence_value_counts"]


@named
def sequence_value_counts(x: Any, level: int = -1, sort: bool = True) -> tuple[Any, Any]:
    """Return the distinct values of each sequence with their counts, the most frequent first.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of one number, text or date; see `sequence_argsort`.
    level : int
        The level of the sequences, with all rows below each.
    sort : bool
        Whether to sort by count; equally frequent values, and without `sort` all values, are sorted by value.

    Returns
    -------
    values : LoDTensor
        Has the levels up to `level`; nan is equal to nan.
    counts : LoDTensor of int64
        How often each of them occurs, with the structure of values.

    Raises
    ------
    ShapeError, LevelError, DTypeError
        As in `sequence_unique`.

    Examples
    --------
    >>> import lodcore
    >>> values, counts = lodcore.sequence_value_counts([["b", "a", "b"], [], ["c"]])
    >>> values.tolist(), counts.tolist()
    ([['b', 'a'], [], ['c']], [[2, 1], [], [1]])
    """
    sort = flag("sequence_value_counts: sort", sort)
    values, _, _, counts = sequence_unique_all(nested_operand("sequence_value_counts: x", x), level)
    if not sort:
        return values, counts
    return sort_by_key(values, counts, descending=True), sort_by_key(counts, counts, descending=True)
