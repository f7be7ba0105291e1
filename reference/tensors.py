"""Tensors of the cases: nested lists with what does not follow from them (levels, shape of a row, dtype)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from reference.nested import flatten, nest

__all__ = ["Dense", "Map", "Ragged", "Steps", "Structure", "Table", "fill", "leaves", "map_leaves", "spread"]


class Values:
    """The attributes that arrays and batches share."""

    def made(self, nested, num_levels=None, row_shape=None, dtype=None):
        """Make a tensor like this one from nested lists, with the given changes; Dense if it has no levels."""
        num_levels = self.num_levels if num_levels is None else num_levels
        row_shape = self.row_shape if row_shape is None else row_shape
        dtype = self.dtype if dtype is None else dtype
        if num_levels:
            return Ragged(nested, num_levels, row_shape, dtype)
        return Dense(nested, (len(nested), *row_shape), dtype)

    def level(self, level):
        """Return the number of a level counted from the first."""
        return level % self.num_levels


@dataclass(frozen=True)
class Dense(Values):
    """An array without levels, or a number if it has no axes."""

    nested: Any
    shape: tuple[int, ...]
    dtype: str

    num_levels = 0
    offsets = ()

    @property
    def row_shape(self):
        """The shape of a row."""
        return self.shape[1:]

    @property
    def rows(self):
        """The rows."""
        return self.nested

    def numbers(self):
        """List all numbers, the last axis fastest."""
        return spread(self.nested, len(self.shape))

    def with_numbers(self, numbers):
        """Return the same array with other numbers."""
        return replace(self, nested=fill(numbers, self.shape))


@dataclass(frozen=True)
class Ragged(Values):
    """A batch of sequences: `num_levels` levels of lists, then rows."""

    nested: list[Any]
    num_levels: int
    row_shape: tuple[int, ...]
    dtype: str

    @property
    def offsets(self):
        """The offsets of each level, the coarsest first."""
        return flatten(self.nested, self.num_levels)[1]

    @property
    def rows(self):
        """The rows of all sequences."""
        return flatten(self.nested, self.num_levels)[0]

    @property
    def shape(self):
        """The shape of the array of all rows."""
        return (len(self.rows), *self.row_shape)

    def numbers(self):
        """List all numbers, the last axis fastest."""
        return [number for row in self.rows for number in spread(row, len(self.row_shape))]

    def with_numbers(self, numbers):
        """Return the same batch with other numbers."""
        return replace(self, nested=nest(fill(numbers, self.shape), self.offsets))


@dataclass(frozen=True)
class Structure:
    """Levels without values; `nested` has the number of each row in its place."""

    nested: list[Any]
    num_levels: int

    @property
    def offsets(self):
        """The offsets of each level, the coarsest first."""
        return flatten(self.nested, self.num_levels)[1]

    @property
    def num_rows(self):
        """The number of rows."""
        return len(flatten(self.nested, self.num_levels)[0])

    def level(self, level):
        """Return the number of a level counted from the first."""
        return level % self.num_levels


@dataclass(frozen=True)
class Steps:
    """A TensorArray: tensors by step, None for a hole."""

    elements: list[Any]


@dataclass(frozen=True)
class Map:
    """The map that `tensor_array_unpack` returns with the steps: the number of each element, step by step."""

    source: Structure
    level: int
    sort_by_length: bool
    indices: list[int]


@dataclass(frozen=True)
class Table:
    """A rank table: the numbers of sequences, the longest first, and their lengths."""

    indices: list[int]
    lengths: list[int]


def spread(nested, ndim):
    """List the numbers in nested lists of `ndim` levels."""
    numbers = [nested] if ndim == 0 else nested
    for _ in range(ndim - 1):
        numbers = [number for inner in numbers for number in inner]
    return list(numbers)


def fill(numbers, shape):
    """Arrange numbers in nested lists of a shape: the inverse of `spread`."""
    numbers = list(numbers)
    for axis in range(len(shape) - 1, 0, -1):
        size, count = shape[axis], math.prod(shape[:axis])
        numbers = [numbers[at * size : (at + 1) * size] for at in range(count)]
    return numbers if shape else numbers[0]


def leaves(thing):
    """List the Dense and Ragged tensors in arguments or results, also in lists, dicts and Steps."""
    if isinstance(thing, (Dense, Ragged)):
        return [thing]
    if isinstance(thing, Steps):
        thing = thing.elements
    if isinstance(thing, dict):
        thing = list(thing.values())
    return [leaf for one in thing for leaf in leaves(one)] if isinstance(thing, (list, tuple)) else []


def map_leaves(function, thing):
    """Replace each Dense or Ragged tensor by the result of a function."""
    if isinstance(thing, (Dense, Ragged)):
        return function(thing)
    if isinstance(thing, Steps):
        return Steps(map_leaves(function, thing.elements))
    if isinstance(thing, dict):
        return {name: map_leaves(function, one) for name, one in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(map_leaves(function, one) for one in thing)
    return thing
