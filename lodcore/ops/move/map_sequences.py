"""Any Python function, called sequence by sequence."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, recorder
from lodcore.base.memory import flag
from lodcore.base.naming import call_named, with_arguments
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.operators.arguments import function_of
from lodcore.tensors.from_lists import array, as_nested
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = ["map_sequences"]

EVERY = 0.1  # seconds between two updates of the progress bar


def map_sequences(f: Callable[..., Any], x: Any, *others: Any, progress: bool = False) -> Any:
    """Call a function on each outermost sequence, and join the results.

    Parameters
    ----------
    f : callable
        Any Python function; its argument is an ndarray of rows, or a LoDTensor if `x` has more than one level. For
        gradients and in Programs use `map_fn`, which records the function's operators.
    x : LoDTensor or nested lists
    *others : LoDTensor, nested lists, list of numbers, ndarray
        Further arguments of `f`, with as many sequences, or entries.
    progress : bool
        Whether to draw a progress bar on stderr.

    Returns
    -------
    LoDTensor, or ndarray
        For numbers, an ndarray with one entry per sequence; for arrays of rows, a LoDTensor with one sequence per call;
        for LoDTensors, one with one more level; for tuples or dicts, a tuple or a dict of these. Without sequences f is
        not called: an ndarray of shape (0,), float64.

    Raises
    ------
    LoDError
        If `others` have another number of sequences.
    ShapeError, DTypeError
        If results do not fit together; the message names the first such call. The text of an error of `f` begins with
        the sequence.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[3, 1, 2], [], [5, 4]])
    >>> lodcore.map_sequences(np.sort, x)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    >>> lodcore.map_sequences(len, x)
    array([3, 0, 2])
    """
    where = "map_sequences"
    if recorder((x,)) is not None or isinstance(x, Symbol):
        raise GraphError(f"{where}: calls Python for each sequence and cannot be recorded; use map_fn")
    function_of(f"{where}: f", f)
    progress = flag(f"{where}: progress", progress)
    given = as_nested(f"{where}: x", x)
    columns = [given, *(_entries(f"{where}: others[{j}]", each) for j, each in enumerate(others))]
    for j, column in enumerate(columns[1:]):
        if len(column) != len(given):
            raise LoDError(f"{where}: others[{j}]: has {len(column)} sequences; x has {len(given)}")
    calls = zip(*columns, strict=True)
    return _joined(where, _called(f"{where}: f", f, _drawn(calls, len(given)) if progress else calls))


def _entries(where: str, given: Any) -> Any:
    """Return a further argument, which has an entry for each sequence."""
    if isinstance(given, list):
        several = not given or any(isinstance(entry, (list, tuple, np.ndarray, LoDTensor)) for entry in given)
        return as_nested(where, given) if several else as_values(where, given)
    if not hasattr(given, "__len__") or isinstance(given, (str, bytes, dict)) or getattr(given, "ndim", 1) == 0:
        raise DTypeError(f"{where}: is {type(given).__name__}; one entry per sequence is needed, as in an array")
    return given


def _called(where: str, f: Callable[..., Any], calls: Iterator[Any]) -> list[Any]:
    """Return the results of all calls; the text of an error of f, if it has one, begins with the sequence."""
    found: list[Any] = []
    try:
        for one in calls:
            found.append(f(*one))
    except Exception as error:
        if len(error.args) == 1 and type(error.args[0]) is str:
            error.args = (f"{where}: in sequence {len(found)}: {error.args[0]}",)
        raise
    return found


def _joined(where: str, found: list[Any]) -> Any:
    """Join the results of all calls."""
    kind = type(found[0]) if found else float
    if kind in (tuple, dict):
        for j, one in enumerate(found):
            if type(one) is not kind or len(one) != len(found[0]) or (kind is dict and one.keys() != found[0].keys()):
                raise ShapeError(
                    f"{where}: f: returned {_said(one)} for sequence {j}, {_said(found[0])} for sequence 0"
                )
        if kind is dict:
            return {key: _joined(where, [one[key] for one in found]) for key in found[0]}
        return tuple(_joined(where, [one[k] for one in found]) for k in range(len(found[0])))
    rows = isinstance(found[0], (np.ndarray, list)) and np.ndim(found[0]) > 0 if found else False
    for j, one in enumerate(found):
        if isinstance(one, LoDTensor) != isinstance(found[0], LoDTensor) or (
            not isinstance(one, LoDTensor) and (isinstance(one, (np.ndarray, list)) and np.ndim(one) > 0) != rows
        ):
            raise _differs(where, j, found)
    if rows:
        arrays = [np.asarray(one) for one in found]
        return call_named(where, with_arguments, {"arrays": "results of f"}, LoDTensor.from_arrays, arrays)
    if found and isinstance(found[0], LoDTensor):
        return array(found)
    text = (str, bytes)
    for j, one in enumerate(found):
        if isinstance(one, (tuple, dict)) or isinstance(one, text) != isinstance(found[0], text):
            raise _differs(where, j, found)
    made = np.array(found)
    if made.dtype.hasobject:
        j = next(j for j, one in enumerate(found) if np.asarray(one).dtype.hasobject)
        raise DTypeError(
            f"{where}: f: returned {_said(found[j])} for sequence {j}; numbers, arrays, LoDTensors, or tuples of them "
            "are joined"
        )
    return made


def _differs(where: str, j: int, found: list[Any]) -> ShapeError:
    """Return the error for a result whose kind is not that of the first."""
    return ShapeError(f"{where}: f: returned {_said(found[j])} for sequence {j}, {_said(found[0])} for sequence 0")


def _said(one: Any) -> str:
    """Describe a result for messages."""
    if isinstance(one, np.ndarray):
        return f"ndarray of shape {one.shape}"
    return f"{type(one).__name__} of {len(one)}" if isinstance(one, (tuple, dict)) else type(one).__name__


def _drawn(calls: Iterator[Any], count: int) -> Iterator[Any]:
    """Yield the results of calls, and draw how many are done."""
    begin = last = time.monotonic()
    for done, one in enumerate(calls):
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            _draw(done, count, now - begin)
        yield one
    _draw(count, count, time.monotonic() - begin, "\n")


def _draw(done: int, count: int, seconds: float, end: str = "") -> None:
    if sys.stderr is None:  # closed by whoever started the process, or a program without a console
        return
    full = 30 * done // max(count, 1)
    rate = f", {done / seconds:,.0f} per second" if seconds > 0 else ""
    sys.stderr.write(f"\r[{'#' * full}{'.' * (30 - full)}] {done:,} of {count:,} sequences{rate}  {end}")
    sys.stderr.flush()
