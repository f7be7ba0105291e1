"""Elementwise functions of whole arrays as programs for the machine, which runs them in one pass over their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import threads
from lodcore.graph.loops.instruction_lists import Place
from lodcore.graph.loops.instruction_numbers import LINE, ROW
from lodcore.graph.loops.scheduled import Sink, scheduled
from lodcore.graph.loops.traced import NATIVE, Untraceable, Value, Values, traced
from lodcore.operators.operands import Array
from lodcore.operators.vjp_rules import VJPRule

__all__ = ["FlatProgram", "Numbers"]

#: Ufuncs of two operands whose results are the same in each of their loops, including the one for a number and an
#: array.
EXACT = frozenset([*NATIVE, np.maximum, np.minimum, np.fmax, np.fmin, np.logical_and, np.logical_or])
EXACT |= {np.bitwise_and, np.bitwise_or}

#: Threads begin at multiples of this many numbers: loops that compute several at once get the same ones together.
BLOCK = 256


class Numbers(Values):
    """What is computed with each number of arrays: rows of one number, whatever the shape of the arrays is.

    Parameters
    ----------
    dtype : dtype
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype)
        self.inside = 1

    def ufunc(self, ufunc: np.ufunc, *operands: Value) -> Value:
        """Return the value of a ufunc."""
        if len(operands) == 2 and ufunc not in EXACT:
            raise Untraceable(f"{ufunc.__name__} of two operands")
        return super().ufunc(ufunc, *operands)

    def elementwise(self, function: Any, operands: Sequence[Any], rule: VJPRule | None, **rest: Any) -> Value:
        """Trace an elementwise operator."""
        return self.taken(traced(function, *operands))


class FlatProgram:
    """A program that reads and writes arrays of one column.

    Parameters
    ----------
    dtype : dtype
    made : list of (Value, hashable)
        What is written, and the key of its array.
    key_of : callable
        Returns the key of the array that has a value, None for one that is computed. Values of the code "line" are
        repeated.

    Attributes
    ----------
    length : int
        The number of instructions.
    written : list of hashable
        The keys of the arrays that are written.
    """

    def __init__(
        self, dtype: np.dtype[Any], made: Iterable[tuple[Value, Hashable]], key_of: Callable[[Value], Hashable | None]
    ) -> None:
        def source(v: Value) -> Place | None:
            if v.code == "number":
                return Place(LINE, ("number", v.detail), 1)
            key = key_of(v)
            return None if key is None else Place(LINE if v.code == "line" else ROW, key, 1)

        self._dtype = dtype
        sinks = [Sink(v, Place(ROW, key, 1)) for v, key in made]
        self._program = program = scheduled(sinks, source)
        self.length = len(program.instructions)
        self.written = [sink.place.key for sink in sinks]
        known = {key[1]: np.full((1, 1), key[1][0], dtype) for key in program.arrays if _is_number(key)}
        self._arrays = [known[key[1]] if _is_number(key) else None for key in program.arrays]
        self._lines = {program.arrays[at] for kind, at, _, _ in program.operands.tolist() if kind == LINE}
        self._places = [(at, key) for at, key in enumerate(program.arrays) if self._arrays[at] is None]

    def run(self, arrays: Mapping[Any, Array], count: int) -> int:
        """Run on arrays by key; return what `kernels.chains.run_chain` does."""
        given: list[Any] = self._arrays.copy()
        for at, key in self._places:
            given[at] = arrays[key]
        flags: list[int] = []

        def work(start: int, stop: int) -> None:
            some = given
            if stop - start < count:
                some = [x if at not in rows else x[start:stop] for at, x in enumerate(given)]
                some = [_turned(x, start) if at in lines and len(x) > 1 else x for at, x in enumerate(some)]
            one = self._program
            flags.append(kernels.chains.run_chain(some, one.ufuncs, one.operands, one.instructions, stop - start))

        if threads.get_num_threads() == 1 or count * self._dtype.itemsize < threads.WIDE:
            work(0, count)
            return flags[0]
        rows = {at for at, key in self._places if key not in self._lines}
        lines = {at for at, key in self._places if key in self._lines}
        several = threads.RUNS * threads.get_num_threads()
        bounds = [count * k // several // BLOCK * BLOCK for k in range(several)]
        runs = itertools.pairwise([*bounds, count])
        threads.in_parts(work, [(start, stop) for start, stop in runs if start < stop])
        return int(np.bitwise_or.reduce(flags))


def _is_number(key: Any) -> bool:
    return type(key) is tuple and key[0] == "number"


def _turned(line: Array, start: int) -> Array:
    """Return a repeated line as it reads from one of its numbers on."""
    return np.roll(line, -(start % len(line)), 0)
