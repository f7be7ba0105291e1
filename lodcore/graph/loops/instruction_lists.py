"""Lists of instructions: two that become one, arrays that lie in others, and the cells of the scratch memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from lodcore.graph.loops.instruction_numbers import BATCH, TILE

__all__ = ["Line", "Place", "cells_of", "in_moved", "moved_arrays", "together"]

#: Instructions that compute what two others do: by these two, and the operand of the second that the first one makes.
TOGETHER = {
    ("mul", "add", 1): "mul_add",
    ("mul", "add", 2): "mul_add",
    ("mul", "sub", 1): "mul_sub",
    ("mul", "sub", 2): "sub_mul",
    ("sub", "mul", 1): "times_sub",
    ("sub", "mul", 2): "times_sub",
    ("mul", "logistic_back", 1): "logistic_back_mul",
    ("mul", "tanh_back", 1): "tanh_back_mul",
}

#: Those that do not read as many columns as they write.
OTHER_WIDTHS = frozenset(["product", "added", "call", "sum", "largest", "expand", "first"])


class Place(NamedTuple):
    """Where the rows of a value lie.

    Attributes
    ----------
    kind : int
    key : hashable
        The array; for a kind with two arrays the first, whose other one is `other`; for the scratch memory, the cell.
    line, column : int
        The width of the array, and the first column.
    other : hashable
    """

    kind: int
    key: Hashable
    line: int
    column: int = 0
    other: Hashable = None


#: An instruction: its code, its width, the places of its result and of its operands, and a number.
Line = tuple[str, int, list[Place], Any]


def together(lines: list[Line]) -> list[Line]:
    """Compute two instructions by one where only the second one reads what the first one writes, in the same tile."""
    writers: dict[Any, list[int]] = {}
    readers: dict[Any, list[tuple[int, int]]] = {}
    for at, (_, _, places, _) in enumerate(lines):
        writers.setdefault(places[0].key, []).append(at)
        for k, place in enumerate(places[1:], 1):
            readers.setdefault(place.key, []).append((at, k))
    found: list[Any] = [*lines]
    for at, (code, width, places, _) in enumerate(lines):
        out, *given = places
        if (
            out.kind != TILE
            or found[at] is not lines[at]
            or len(writers[out.key]) != 1
            or len(readers.get(out.key, ())) != 1
        ):
            continue
        ((where, k),) = readers[out.key]
        other, other_width, other_places, _ = lines[where]
        both = TOGETHER.get((code, other, k))
        if both is None or found[where] is not lines[where] or other_width != width or other_places[k] != out:
            continue
        if any(at < one < where for x in given for one in writers.get(x.key, ())):
            continue  # an operand is written in between
        found[at] = None
        found[where] = (both, width, [other_places[0], *given, other_places[3 - k]], -1)
    return [one for one in found if one is not None]


def moved_arrays(lines: list[Line], spare: dict[Any, int], movable: set[Any]) -> dict[Any, Place]:
    """Return the places of arrays in columns of others that are read for the last time before theirs are written."""
    read: dict[Any, list[tuple[int, int, int]]] = {}
    written: dict[Any, tuple[int, int]] = {}
    for at, (code, width, places, _) in enumerate(lines):
        for place in places[1:]:
            columns_read = (0, place.line) if code in OTHER_WIDTHS else (place.column, place.column + width)
            read.setdefault(place.key, []).append((at, *columns_read))
        if places[0].key in movable:
            written.setdefault(places[0].key, (at, places[0].line))
    columns = dict.fromkeys(spare, 0)
    found: dict[Any, Place] = {}
    for key, (at, width) in written.items():
        for other, end in columns.items():
            late = any(end < stop and start < end + width for when, start, stop in read.get(other, ()) if when >= at)
            if not late and end + width <= spare[other]:
                found[key], columns[other] = Place(BATCH, other, spare[other], end), end + width
                break
    return found


def in_moved(moved: dict[Any, Place], place: Place) -> Place:
    """Return a place, in another array if its own one was moved there."""
    found = moved.get(place.key) if place.kind == BATCH else None
    return place if found is None else found._replace(column=found.column + place.column)


def cells_of(lines: list[Line]) -> dict[Hashable, int]:
    """Return the first cell of each value in the scratch memory: that of a value that is no longer read, if it fits."""
    last: dict[Hashable, int] = {}
    for at, (_, _, places, _) in enumerate(lines):
        for place in places:
            if place.kind == TILE:
                last[place.key] = at
    cells: dict[Hashable, int] = {}
    free: dict[int, list[int]] = {}
    end = 0
    for at, (_, _, places, _) in enumerate(lines):
        tiles = {place.key: place.line for place in places if place.kind == TILE}
        for key, line in tiles.items():
            if key not in cells:
                if free.get(line):
                    cells[key] = free[line].pop()
                else:
                    cells[key], end = end, end + line
        for key, line in tiles.items():
            if last[key] == at:
                free.setdefault(line, []).append(cells[key])
    return cells
