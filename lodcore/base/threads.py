"""Threads for large operations: kernels run in parallel on parts of the sequences, with the same bits.

One thread is the default. Kernels release the interpreter's lock, sequences are never divided, and every row is
written by one thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np

from lodcore.base.memory import integer
from lodcore.base.wakeful import WakefulQueue

__all__ = ["get_num_threads", "in_parts", "over_sequences", "parts", "set_num_threads"]

#: Operations on fewer bytes stay in one thread, since waking a second one takes at least as long as copying a megabyte.
WIDE = 2**23

#: The number of runs of sequences per thread.
RUNS = 4

_count = 1
_pool: _Pool | None = None


def set_num_threads(n: int) -> None:
    """Set the number of threads that wide operators use.

    Parameters
    ----------
    n : int
        At least 1. The default is the value of the environment variable LODCORE_NUM_THREADS, or 1.

    Raises
    ------
    DTypeError, ValueError
        If n is not an integer, or is less than 1.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.set_num_threads(2)
    >>> lodcore.get_num_threads()
    2
    >>> lodcore.set_num_threads(1)
    """
    global _count
    count = integer("set_num_threads: n", n)
    if not 1 <= count <= 1024:
        raise ValueError(f"set_num_threads: n: is {count}; 1 .. 1024 is valid")
    if count != _count:
        _forget_pool()
    _count = count


def get_num_threads() -> int:
    """Return the number of threads that wide operators may use.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.get_num_threads()
    1
    """
    return _count


def over_sequences(kernel: Callable[..., Any], roles: str, *arguments: Any, cost: int = 1) -> None:
    """Run a kernel on all sequences: at once, or on runs of them in parallel if allowed and worth it.

    Parameters
    ----------
    kernel : callable
        Processes each sequence separately, and returns None.
    roles : str
        One letter per argument: "o" offsets, in rows; "r" one entry per row; "s" one entry per sequence; "." passed
        unchanged.
    *arguments
    cost : int
        The approximate time of the kernel, relative to copying the arguments.
    """
    if _count == 1:
        kernel(*arguments)
        return
    offsets = np.asarray(arguments[roles.index("o")])
    size = sum(x.nbytes for x, role in zip(arguments, roles, strict=True) if role in "rs")
    runs = parts(offsets, cost * size)
    if len(runs) == 1:
        kernel(*arguments)
        return

    def run(start: int, stop: int) -> None:
        low, high = int(offsets[start]), int(offsets[stop])

        def piece(role: str, x: Any) -> Any:
            if role == "o":
                return offsets[start : stop + 1] - low
            return x[low:high] if role == "r" else x[start:stop] if role == "s" else x

        kernel(*map(piece, roles, arguments))

    in_parts(run, runs)


def parts(offsets: Any, size: int) -> list[tuple[int, int]]:
    """Split sequences into runs of about equally many rows, a few per thread.

    Parameters
    ----------
    offsets : array of int64, shape (n_seqs + 1,), in rows
    size : int
        The total number of bytes that are copied, or could be copied in the same time.

    Returns
    -------
    list of (int, int)
        The start and stop of each run of sequences; a single run for one thread.
    """
    n_seqs, count = len(offsets) - 1, _count
    if count == 1 or n_seqs < 2 or size < WIDE:
        return [(0, n_seqs)]
    n_rows = int(offsets[-1]) - int(offsets[0])
    wanted = int(offsets[0]) + np.arange(1, RUNS * count) * n_rows // (RUNS * count)
    cuts = [0, *np.searchsorted(np.asarray(offsets), wanted).tolist(), n_seqs]
    return [(start, stop) for start, stop in pairwise(cuts) if start < stop] or [(0, n_seqs)]


def in_parts(work: Callable[[int, int], Any], runs: list[tuple[int, int]]) -> None:
    """Call a function on each run of sequences, in parallel.

    Each thread takes the next run when it has finished one, so a thread that starts late costs nothing.

    Parameters
    ----------
    work : callable
        A function of the start and stop of a run.
    runs : list of (int, int)
    """
    if len(runs) == 1:
        work(*runs[0])
        return
    left = deque(runs)
    failed: list[BaseException] = []

    def take() -> None:
        while left:
            try:
                run = left.popleft()
            except IndexError:  # another thread was faster
                return
            work(*run)

    pool = _started_pool()
    missing = min(_count, len(runs), pool.started + 1) - 1
    asked = deque(range(missing))
    done: WakefulQueue[None] = WakefulQueue()

    def help_out() -> None:
        try:
            asked.popleft()
        except IndexError:  # too late: all runs are done
            return
        try:
            take()
        except BaseException as error:
            failed.append(error)
        finally:
            done.put(None)

    try:
        for _ in range(missing):
            pool.calls.put(help_out)
        take()
    finally:
        left.clear()
        with suppress(IndexError):
            while True:  # threads that have not begun are not needed
                asked.popleft()
                missing -= 1
        for _ in range(missing):
            done.get()
    for error in failed:
        raise error


class _Pool:
    """Threads that serve one queue. It is known before the first of them runs, so that each of them can be ended."""

    def __init__(self, wanted: int) -> None:
        self.calls: WakefulQueue[Callable[[], None] | None] = WakefulQueue()
        self.started, self.wanted = 0, wanted

    def fill(self) -> None:
        """Start the threads that are missing, also after an exception left some unstarted."""
        try:
            while self.started < self.wanted:
                name = f"lodcore_{self.started}"
                Thread(target=_serve, args=(self.calls,), name=name, daemon=True).start()
                self.started += 1
        except RuntimeError:  # no more threads can be started: the running ones do all the work
            self.wanted = self.started


def _started_pool() -> _Pool:
    """Return the pool, which is started at first use."""
    global _pool
    pool = _pool  # another thread may release it
    if pool is None or not pool.wanted:
        pool = _pool = _Pool(_count - 1)
    pool.fill()
    return pool


def _serve(calls: WakefulQueue[Callable[[], None] | None]) -> None:
    """Run calls from a queue until it ends."""
    while True:
        call = calls.get()
        if call is None:
            calls.put(None)  # for the next thread, however many there are
            return
        call()
        del call  # keeps arrays alive


def _forget_pool() -> None:
    """Release the pool, for another number of threads."""
    global _pool
    pool = _pool  # another thread may release it, too, which does no harm
    if pool is not None:
        pool.wanted = 0  # before anything can come between: it is not used again
        pool.calls.put(None)
    _pool = None


def _forget_threads() -> None:
    """Forget the pool in a child process, in which its threads do not exist."""
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget_threads)

_wish = os.environ.get("LODCORE_NUM_THREADS", "")
if _wish.isdigit() and 1 <= int(_wish) <= 1024:
    _count = int(_wish)
