"""The values of programs: numbers and NumPy arrays, nested batches as lists, arrays as lists with holes.

A batch of k levels is a list of batches of k - 1 levels, and one of no levels is an ndarray, so that almost every
function here is a list comprehension.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["HOLE", "Array", "Element", "GraphError", "LoDError", "Nested", "Rank", "Refused", "ShapeError", "Unsized"]

HOLE = "hole"
MANY = 500  # maximum number of sequences, or rows


class ShapeError(Exception):
    """Error for shapes that do not match."""


class LoDError(Exception):
    """Error for structures that do not match."""


class GraphError(Exception):
    """Error for a program without a meaning."""


class Refused(Exception):
    """Error for a program without a meaning, where either the program or an argument can be considered wrong."""


# -- batches -------------------------------------------------------------------------------------------------------


@dataclass
class Nested:
    """A batch of sequences; `row_shape` and `dtype` are used if it has no rows."""

    sequences: list[Any]
    num_levels: int
    row_shape: tuple[int, ...]
    dtype: str = "float64"

    def __len__(self):
        return len(self.sequences)

    def made(self, elements, num_levels):
        """Make a batch of a number of levels, with rows like these; an ndarray if there are no levels."""
        return batch(elements, num_levels, self.row_shape, self.dtype)

    def of_level(self, level):
        """List the sequences of a level of all coarser sequences, consecutively."""
        found = self.sequences
        for _ in range(level):
            found = [inside for sequence in found for inside in sequence.sequences]
        return found

    def lengths(self, level):
        """List the lengths of the sequences of a level."""
        return [len(sequence) for sequence in self.of_level(level)]


def batch(elements, num_levels, row_shape, dtype):
    """Make a batch from its elements, which are rows if there is no level."""
    if num_levels:
        return Nested(list(elements), num_levels, tuple(row_shape), dtype)
    return np.array(list(elements), dtype).reshape(len(elements), *row_shape)


def elements(value):
    """List the outermost sequences of a batch, or the rows of an array."""
    return value.sequences if isinstance(value, Nested) else list(value)


def rows(value):
    """Concatenate all rows of a batch."""
    if not isinstance(value, Nested):
        return np.asarray(value)
    return np.concatenate([value.made([], 0), *map(rows, value.sequences)])


def each(function, *values):
    """Apply a function of arrays to the rows of batches, sequence by sequence; dense values are shared by all."""
    batches = [value for value in values if isinstance(value, Nested)]
    if not batches:
        return function(*values)
    parts = [value.sequences if isinstance(value, Nested) else [value] * len(batches[0]) for value in values]
    found = [each(function, *part) for part in zip(*parts, strict=True)]
    none = function(*[value.made([], 0) if isinstance(value, Nested) else value for value in values])
    return Nested(found, batches[0].num_levels, none.shape[1:], str(none.dtype))


def pool(function, x):
    """Reduce the rows of each sequence of the last level to one row; zeros for empty sequences."""
    if x.num_levels > 1:
        return x.made([pool(function, sequence) for sequence in x.sequences], x.num_levels - 1)
    return x.made([function(part) if len(part) else np.zeros(x.row_shape) for part in x.sequences], 0)


def reverse(x):
    """Reverse the sequences of the last level."""
    turned = [reverse(part) if isinstance(part, Nested) else part[::-1] for part in x.sequences]
    return x.made(turned, x.num_levels)


def joined(x, *others):
    """Concatenate batches or arrays; a result that would grow without bound is refused before it is large."""
    if sum(map(len, (x, *others))) > MANY:
        raise OverflowError("a batch grows without end")
    if isinstance(x, Nested):
        return x.made([element for value in (x, *others) for element in value.sequences], x.num_levels)
    return np.concatenate([x, *others])


def divided(x, mask, level):
    """Divide the sequences of a level by a mask: coarser sequences keep what is left of them on either side."""
    if not isinstance(x, Nested):
        return x[mask], x[~mask]
    if level:
        found = [divided(part, chosen, level - 1) for part, chosen in shares(x.sequences, mask, level)]
        return tuple(x.made([sides[j] for sides in found], x.num_levels) for j in (0, 1))
    return tuple(
        x.made([part for part, m in zip(x.sequences, mask, strict=True) if m == j], x.num_levels) for j in (1, 0)
    )


def shares(parts, mask, level):
    """Pair the sequences of a batch with their entries of a mask of a level inside."""
    counts = [len(part.of_level(level - 1)) for part in parts]
    return zip(parts, np.split(mask, np.cumsum(counts)[:-1]) if counts else [], strict=True)


def merged(true, false, mask, level):
    """Merge the sequences of a level of two sides in the order of a mask."""
    if isinstance(true, Nested) and level:
        both = [
            true.made([*one.of_level(0), *other.of_level(0)], one.num_levels) for one, other in pairs_of(true, false)
        ]
        of_both = [chosen for _, chosen in shares(both, mask, level)]
        found = [merged(*pair, chosen, level - 1) for pair, chosen in zip(pairs_of(true, false), of_both, strict=True)]
        return true.made(found, true.num_levels)
    rest = {True: iter(elements(true)), False: iter(elements(false))}
    found = [next(rest[bool(m)]) for m in mask]
    if isinstance(true, Nested):
        return true.made(found, true.num_levels)
    return np.array(found, true.dtype).reshape(len(found), *true.shape[1:])


def pairs_of(true, false):
    """Pair the sequences of two batches."""
    return list(zip(true.sequences, false.sequences, strict=True))


# -- arrays --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Element:
    """The Spec of values that do not exist yet; None is an unknown length."""

    dtype: str
    num_levels: int
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class Unsized:
    """An array without entries, some lengths of which are unknown."""

    shape: tuple[int | None, ...]
    dtype: str


def without_entries(shape, dtype):
    """Make an array without entries, as far as its shape is known."""
    return Unsized(tuple(shape), dtype) if None in shape else np.zeros(shape, dtype)


@dataclass
class Array:
    """A TensorArray; `element` is the Spec of elements still to be written, `rank` that of unpacked sequences."""

    slots: list[Any] = field(default_factory=list)
    dynamic: bool = True
    element: Element | None = None
    rank: Rank | None = None

    def read(self, index):
        """Read an element."""
        if not 0 <= index < len(self.slots) or self.slots[index] is HOLE:
            raise IndexError(index)
        return self.slots[index]

    def write(self, index, value):
        """Write an element, after holes where nothing has been written."""
        if index < 0 or (index >= len(self.slots) and not self.dynamic):
            raise IndexError(index)
        self.slots += [HOLE] * (index + 1 - len(self.slots))
        self.slots[index] = value

    def all(self):
        """List all elements."""
        return [self.read(index) for index in range(len(self.slots))]

    def stack(self, axis=0):
        """Stack the elements along a new axis, or as sequences of a new level."""
        found = self.all()
        if not found:
            if self.element.num_levels:
                return Nested([], self.element.num_levels + 1, self.element.shape[1:], self.element.dtype)
            shape = list(self.element.shape)
            return without_entries((*shape[:axis], 0, *shape[axis:]), self.element.dtype)
        if isinstance(found[0], Nested):
            return found[0].made(found, found[0].num_levels + 1)
        if len({np.shape(value) for value in found}) > 1:
            raise ShapeError("stack")
        return np.stack(found, axis)

    def concat(self, axis=0):
        """Concatenate the elements along an existing axis."""
        found = self.all()
        if not found:
            none = self.element
            if none.num_levels:
                return Nested([], none.num_levels, none.shape[1:], none.dtype)
            return without_entries((*none.shape[:axis], 0, *none.shape[axis + 1 :]), none.dtype)
        if isinstance(found[0], Nested):
            return joined(*found)
        if len({(*np.shape(value)[:axis], *np.shape(value)[axis + 1 :]) for value in found}) > 1:
            raise ShapeError("concat")
        return np.concatenate(found, axis)

    def sizes(self):
        """List the lengths of the elements."""
        return np.array([len(value) for value in self.all()], "int64")


def unstack(x):
    """Make an array from the outermost sequences of a batch, or from the rows of an array."""
    if isinstance(x, Nested):
        element = Element(x.dtype, x.num_levels - 1, (None, *x.row_shape))
    else:
        element = Element(str(x.dtype), 0, x.shape[1:])
    return Array(list(elements(x)), True, element)


# -- steps ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rank:
    """The order of the sequences in their steps: `lengths[i]` is the length of sequence i, `order` lists the sequences.

    `above` lists the number of sequences of the next level for each sequence of the coarser levels.
    """

    order: tuple[int, ...]
    lengths: tuple[int, ...]
    above: tuple[tuple[int, ...], ...] = ()
    level: int = 0

    def longer_than(self, step):
        """List the sequences that have an element with this number."""
        return [at for at in self.order if self.lengths[at] > step]


def rank(x, level=0, sort=True):
    """Order the sequences of a level, the longest first and equal ones in their order; or keep the order of all."""
    lengths = x.lengths(level)
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at]) if sort else range(len(lengths))
    return Rank(tuple(order), tuple(lengths), tuple(tuple(x.lengths(above)) for above in range(level)), level)


def unpack(x, level, sort):
    """Convert the sequences of a level to steps: step t has element t of all sequences that have one."""
    made, found = rank(x, level, sort), x.of_level(level)
    inside = x.num_levels - level - 1
    steps = [
        x.made([elements(found[at])[step] for at in made.longer_than(step)], inside)
        for step in range(max(made.lengths, default=0))
    ]
    return Array(steps, True, Element(x.dtype, inside, (None, *x.row_shape)), made), made


def pack(array, level, made):
    """Convert steps back to their sequences."""
    steps, inside = array.all(), array.element.num_levels
    if level != made.level or [len(step) for step in steps] != [
        len(made.longer_than(step)) for step in range(max(made.lengths, default=0))
    ]:
        raise LoDError("pack")
    taken = [[] for _ in made.lengths]
    for number, step in enumerate(steps):
        for at, element in zip(made.longer_than(number), elements(step), strict=True):
            taken[at].append(element)
    row_shape, dtype = array.element.shape[1:], array.element.dtype
    sequences = [batch(part, inside, row_shape, dtype) for part in taken]
    for counts in reversed(made.above):
        inside, parts = inside + 1, iter(sequences)
        sequences = [batch([next(parts) for _ in range(count)], inside, row_shape, dtype) for count in counts]
    return batch(sequences, inside + 1, row_shape, dtype)


def reorder(x, made):
    """Reorder one entry per sequence to the order of the steps."""
    if len(x) != len(made.order):
        raise LoDError("reorder_by_rank")
    found = [elements(x)[at] for at in made.order]
    return x.made(found, x.num_levels) if isinstance(x, Nested) else np.array(found).reshape(x.shape)


def shrink(x, step, made):
    """Keep the entries of sequences that continue; x has those of an earlier step, or of all of them, in their order.

    If the longest sequence is first, x may have any sufficient number of entries.
    """
    if step < 0:
        raise IndexError(step)
    held = list(made.order)
    if all(made.lengths[one] >= made.lengths[other] for one, other in pairwise(held)):
        held = held[: max(len(x), len(made.longer_than(step)))]
    for earlier in range(step + 1):
        if len(x) != len(held):
            held = made.longer_than(earlier)
    if len(x) != len(held):
        raise LoDError("shrink_memory")
    kept = [element for at, element in zip(held, elements(x), strict=True) if made.lengths[at] > step]
    return x.made(kept, x.num_levels) if isinstance(x, Nested) else np.array(kept).reshape(len(kept), *x.shape[1:])
