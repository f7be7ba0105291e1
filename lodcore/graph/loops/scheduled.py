"""Values as a program for the machine: in which order they are computed, and where they lie.

Elementwise instructions run in passes over tiles of rows; a product needs all rows of its left operand, and so it ends
a pass. A value that only its own pass reads lies in the scratch memory; one that a later pass or a product reads has an
array with a row for each row of a step; one that is kept has a row for each row of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from lodcore.graph.loops.instruction_lists import Line, Place, cells_of, in_moved, moved_arrays, together
from lodcore.graph.loops.instruction_numbers import AFTER, BATCH, BEFORE, CODES, ROW, TILE
from lodcore.graph.loops.traced import SOURCES, Value, root_of
from lodcore.operators.operands import Array

__all__ = ["Schedule", "Sink", "scheduled"]


#: Instructions that run on all rows of a step at once.
OF_ALL_ROWS = frozenset(["product", "call"])


class Sink(NamedTuple):
    """A value that is needed after the step, and the place for it."""

    value: Value
    place: Place


class Schedule(NamedTuple):
    """What the machine runs.

    Attributes
    ----------
    operands, instructions : ndarray
    arrays : list of hashable
        The key of each array.
    weights : list of (object, bool)
        The matrix of each product, and whether it is transposed.
    ufuncs : list of numpy.ufunc
    moved : dict
        The places of arrays that lie in others, by key.
    calls : list of (hashable, int, int)
        What is called, and the arrays of its result and its operand.
    """

    operands: Array
    instructions: Array
    arrays: list[Any]
    weights: list[tuple[Any, bool]]
    ufuncs: list[Any]
    moved: dict[Any, Place]
    calls: list[tuple[Any, int, int]]


def scheduled(
    sinks: list[Sink],
    source: Callable[[Value], Place | None],
    first: Callable[[Value], int] = lambda v: 0,
    spare: dict[Any, int] | None = None,
    movable: Iterable[Any] = (),
) -> Schedule:
    """Make the program that computes values.

    Parameters
    ----------
    sinks : list of Sink
        Two may have one value; each has a place of its own.
    source : callable
        Returns the place of a value that is there before the step, None for one that must be computed.
    first : callable
        Returns what a product does at the first step, as `kernels.machine` says.
    spare : dict, optional
        The arrays of the batch, by key with their widths, that nobody needs once the program has read their row.
    movable : iterable of key
        The arrays of the batch that may lie in these.
    """
    return _Schedule(sinks, source, first).program(spare or {}, set(movable))


class _Schedule:
    def __init__(
        self, sinks: list[Sink], source: Callable[[Value], Place | None], first: Callable[[Value], int]
    ) -> None:
        self._source, self._first = source, first
        self._copies: dict[Value, Value] = {}  # of the left operands of products that lie elsewhere
        self._given: dict[Value, Value] = {}  # what calls read
        self.order: list[Value] = []  # each after its operands
        self.turn: dict[Value, int] = {}  # the pass from which on a value can be read
        self.readers: dict[Value, list[Value]] = {}
        self.places: dict[Value, Place] = {}
        self.sinks: dict[Value, list[Place]] = {}
        for sink in sinks:
            self._visit(sink.value)
            self.sinks.setdefault(sink.value, []).append(sink.place)
        if max(self.turn.values(), default=0) > 1:
            self._wait()
        self._arrays: dict[Hashable, int] = {}
        self._keys: list[Hashable] = []
        self._operands: dict[Place, int] = {}
        self._weights: dict[Any, int] = {}
        self._ufuncs: dict[Any, int] = {}
        self._called: dict[Value, int] = {}

    # -- order ---------------------------------------------------------------------------------------------------------

    def operands_of(self, v: Value) -> tuple[Value, ...]:
        """Return the operands of an instruction; the left one of a product as it can be read."""
        if v.code == "call":
            return (self._given[v],)
        return (self._copies.get(v.inputs[0], v.inputs[0]), *v.inputs[1:]) if v.code == "product" else v.inputs

    def _visit(self, value: Value) -> None:
        """Put a value in order, after the values that it is computed from."""
        todo = [value]
        while todo:
            v = todo[-1]
            if v not in self.turn and not self._begun(v):
                given = self.operands_of(v)
                if more := [x for x in reversed(given) if x not in self.turn]:
                    todo += more
                    continue
                self._end(v, given)
            todo.pop()

    def _begun(self, v: Value) -> bool:
        """Begin with a value; return whether that is all, since it exists already."""
        place = self._source(v)
        if place is not None:
            self.turn[v], self.places[v] = 0, place
            return True
        if v.code in SOURCES:
            raise ValueError(f"{v} is not there")
        if v.code == "product" and v.inputs[0] not in self._copies:
            left = root_of(v.inputs[0])
            place = self._source(left)
            if place is not None and place.kind not in (ROW, BEFORE, AFTER):
                x = v.inputs[0]
                self._copies.setdefault(x, Value("move", (x,), x.width, None, False))
        if v.code == "call" and v not in self._given:  # which reads an array that is its own
            self._given[v] = Value("move", v.inputs, v.inputs[0].width, None, False)
        return False

    def _end(self, v: Value, given: tuple[Value, ...]) -> None:
        for x in given:
            self.readers.setdefault(x, []).append(v)
        self.turn[v] = max([self.turn[x] for x in given], default=0) + (v.code in OF_ALL_ROWS)
        self.order.append(v)

    # -- which pass ----------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Compute values in later passes, where that leaves fewer that need an array from one pass to the next."""
        self.turn = self._waiting(None)
        for v in self.order:
            if self._is_plain(v) and not self._is_row(v):
                later = self._waiting(v)
                if self._rows_of(later) < self._rows_of(self.turn):
                    self.turn = later

    def _waiting(self, kept: Value | None) -> dict[Value, int]:
        """Return the passes of all values, each as late as its readers allow if what it reads is there, too.

        `kept` is a value that is assumed to be there.
        """
        before, self.turn = self.turn, self.turn.copy()
        for v in reversed(self.order):
            if self._is_plain(v) and v is not kept:
                last = self._last_turn(v)
                some = self.together(v, last, kept) if last > self.turn[v] else None
                self.turn.update(dict.fromkeys(some or (), last))
        found, self.turn = self.turn, before
        return found

    def _is_plain(self, v: Value) -> bool:
        """Return whether an instruction of a pass makes a value that only other instructions read."""
        return v.code not in OF_ALL_ROWS and v.code not in ("slice", "join", "move") and v not in self.sinks

    def _last_turn(self, v: Value) -> int:
        """Return the last pass in which a value can be computed, for all that read it."""
        return min([self.turn[reader] - (reader.code in OF_ALL_ROWS) for reader in self.readers[v]])

    def together(self, v: Value, turn: int, kept: Value | None) -> list[Value] | None:
        """Return the values that move to a pass with one; None if it reads others that would have to be stored."""
        found = [v]
        for x in v.inputs:
            whole = root_of(x)
            if whole is kept or whole in self.places or whole in self.sinks or self._is_row(whole):
                continue
            if not self._is_plain(x) or any(self.turn[one] < turn for one in self.readers[x] if one is not v):
                return None
            more = self.together(x, turn, kept)
            if more is None:
                return None
            found += more
        return found

    def _rows_of(self, turns: dict[Value, int]) -> int:
        """Count the values that need an array for themselves."""
        before, self.turn = self.turn, turns
        count = sum([self._is_row(v) for v in self.order if self._is_plain(v)])
        self.turn = before
        return count

    def _is_row(self, v: Value) -> bool:
        """Return whether a product, or a later pass, reads a value."""
        for reader in self.readers.get(v, []):
            if reader.code in OF_ALL_ROWS or self.turn[reader] > self.turn[v]:
                return True
            if reader.code == "slice" and self._is_row(reader):
                return True
        return False

    def _is_left(self, v: Value) -> bool:
        """Return whether a product or a call reads a value, which then has a row for each row of the step."""
        return any(
            reader.code in OF_ALL_ROWS or (reader.code == "slice" and self._is_left(reader))
            for reader in self.readers.get(v, [])
        )

    # -- places --------------------------------------------------------------------------------------------------------

    def _place_all(self) -> None:
        """Give each value that an instruction makes a place; later ones first, so that parts of a join lie in it."""
        for v in reversed(self.order):
            if v in self.places or v.code == "slice":
                continue
            places = self.sinks.get(v, [])
            if v.code == "call" or any(reader.code == "call" for reader in self.readers.get(v, [])):
                place = Place(ROW, ("row", v), v.width)
            elif v.code == "product" or (self._is_row(v) and not (places and not self._is_left(v))):
                pairs = [place for place in places if place.kind in (ROW, BEFORE, AFTER)]
                place = pairs[0] if pairs else Place(ROW, ("row", v), v.width)
            elif places:
                place = min(places, key=lambda place: place.kind != BATCH)
            else:
                place = Place(TILE, v, v.width)
            self._put(v, place)

    def _put(self, v: Value, place: Place) -> None:
        self.places[v] = place
        if v.code == "product" and len(v.inputs) > 1:
            x = v.inputs[1]
            if len(self.readers[x]) == 1 and self._may_liein_moved(x, place, self.turn[v], True):
                self._put(x, place)
        if v.code == "join":
            column = place.column
            for x in v.inputs:
                if self._may_liein_moved(x, place, self.turn[v]):
                    self._put(x, place._replace(column=column))
                column += x.width

    def _may_liein_moved(self, x: Value, place: Place, turn: int, whole: bool = False) -> bool:
        """Return whether a value that has no place yet may be computed in that of another one, or in a part of it."""
        if x in self.places or x.code in ("slice", "call") or (x.code == "product" and not whole):
            return False
        if x in self.sinks or any(reader.code == "call" for reader in self.readers.get(x, [])):
            return False
        if self._source(x) is not None:
            return False
        if place.kind == TILE and (self._is_row(x) or self.turn[x] != turn):
            return False
        return place.kind != BATCH or not self._is_row(x)

    def place(self, v: Value) -> Place:
        """Return the place of a value; a slice lies inside the value that it is cut from."""
        if v in self.places:
            return self.places[v]
        whole = self.place(v.inputs[0])
        assert v.code == "slice"
        return whole._replace(column=whole.column + v.detail)

    # -- instructions --------------------------------------------------------------------------------------------------

    def program(self, spare: dict[Any, int], movable: set[Any]) -> Schedule:
        """Return the program; see `scheduled`."""
        self._place_all()
        lines = together(list(self._in_passes()))
        moved = moved_arrays(lines, spare, movable)
        if moved:
            lines = [
                (code, width, [in_moved(moved, p) for p in places], number) for code, width, places, number in lines
            ]
        cells = cells_of(lines)
        rows = []
        for code, width, operands, number in lines:
            places = [p._replace(key=cells[p.key]) if p.kind == TILE else p for p in operands]
            found = [self._operand(p) for p in places]
            if code == "call":
                number = number[0], len(self._ufuncs) + number[1], 0
            rest = number if code in ("product", "added", "call") else (-1, number, 0)
            rows.append([CODES[code], width, *found, *[-1] * (3 - len(found)), *rest])
            if len(found) == 4:
                rows[-1][5:] = [found[3], number, 0]
        table = np.array([row[:8] for row in rows], np.int64).reshape(len(rows), 8)
        return Schedule(self._table(), table, self._keys, list(self._weights), list(self._ufuncs), moved, self._calls())

    def _in_passes(self) -> Iterable[Line]:
        """Yield code, width, places of result and operands, and a number, of each instruction."""
        last = max(self.turn.values(), default=0)
        for turn in range(last + 1):
            for v, places in self.sinks.items():
                if turn == 0 and self._source(v) is not None:
                    for place in places:
                        yield "move", v.width, [place, self.place(v)], -1
            for v in self.order:
                if self.turn[v] == turn:
                    if v.code not in OF_ALL_ROWS:
                        yield from self._made(v)
                    yield from self._copied(v)
            for v in self.order:
                if self.turn[v] == turn + 1 and v.code == "product":
                    yield from self._product(v)
                elif self.turn[v] == turn + 1 and v.code == "call":
                    number = (v.inputs[0].width, self._called.setdefault(v, len(self._called)))
                    yield "call", v.width, [self.place(v), self.place(self._given[v])], number

    def _made(self, v: Value) -> Iterable[Line]:
        if v.code == "slice":
            return
        place = self.place(v)
        if v.code == "join":
            column = place.column
            for x in v.inputs:
                part = place._replace(column=column)
                if self.place(x) != part:
                    yield "move", x.width, [part, self.place(x)], -1
                column += x.width
            return
        number = self._ufuncs.setdefault(v.detail, len(self._ufuncs)) if v.code == "ufunc" else -1
        width = v.inputs[0].width if v.code in ("sum", "largest") else v.width
        yield v.code, width, [place, *[self.place(x) for x in v.inputs]], number

    def _copied(self, v: Value) -> Iterable[Line]:
        for place in self.sinks.get(v, []):
            if place != self.place(v):
                yield "move", v.width, [place, self.place(v)], -1

    def _product(self, v: Value) -> Iterable[Line]:
        place, x = self.place(v), self.operands_of(v)[0]
        weight = self._weights.setdefault(v.detail, len(self._weights))
        if len(v.inputs) > 1 and self.place(v.inputs[1]) != place:
            yield "move", v.width, [place, self.place(v.inputs[1])], -1
        code = "added" if len(v.inputs) > 1 else "product"
        yield code, v.width, [place, self.place(x)], (x.width, weight, self._first(v))

    def _calls(self) -> list[tuple[Any, int, int]]:
        """Return what is called, with its arrays, in the order of its numbers."""
        both = [(v.detail, self.place(v), self.place(self._given[v])) for v in self._called]
        return [(detail, self._array(out), self._array(x)) for detail, out, x in both]

    # -- tables --------------------------------------------------------------------------------------------------------

    def _operand(self, place: Place) -> int:
        if place.kind != TILE:
            self._array(place)
        return self._operands.setdefault(place, len(self._operands))

    def _array(self, place: Place) -> int:
        """Return the number of an array; two that belong together follow one another."""
        key = place.key, place.other
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = len(self._keys)
            self._keys += [place.key] if place.other is None else [place.key, place.other]
        return found

    def _table(self) -> Array:
        rows = [(p.kind, p.key if p.kind == TILE else self._array(p), p.line, p.column) for p in self._operands]
        return np.array(rows, np.int64).reshape(len(rows), 4)
