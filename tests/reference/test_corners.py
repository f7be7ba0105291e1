"""The corner cases that a case covers: named by structures, rows and numbers."""

import math

import pytest

from reference.corners import corners_of, of_rows, of_structure, of_values
from reference.draw import to_float32
from reference.tensors import Dense, Ragged, Structure
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels

DEEP = [[["a"], []], [], [["b", "c"]]]


@for_each(
    ("nested", "level", "hit"),
    [
        ([], 0, {"no sequences", "no rows"}),
        ([[], []], 0, {"only empty sequences", "no rows"}),
        ([[]], 0, {"only empty sequences", "no rows"}),
        ([[], [1]], 0, {"first empty"}),
        ([[1], []], 0, {"last empty"}),
        ([[1, 2], [3]], 0, set()),
        ([[1], [2]], 0, {"one row each"}),
        ([[1]], 0, set()),
        ([[], [*range(8)]], 0, {"first empty", "one giant"}),
        ([[], [*range(7)]], 0, {"first empty"}),
        ([[*range(8)]], 0, set()),
        ([[*range(8)], [1]], 0, set()),
        (DEEP, 0, set()),
        (DEEP, 1, set()),
        (DEEP, -2, set()),
        ([[["a"], []], [[]]], -1, {"last empty"}),
    ],
)
def test_of_structure_names_the_corners_of_nested_lists(nested, level, hit):
    depth = 2 if nested in (DEEP, [[["a"], []], [[]]]) else 1
    assert of_structure(Structure(nested, depth), level) == hit | {f"depth {depth}"}


@for_each(
    ("numbers", "hit"),
    [
        ([], set()),
        ([1.0, 2.0], set()),
        ([1.0, 1.0], {"ties"}),
        ([math.nan], {"nan"}),
        ([math.nan, math.nan], {"nan"}),
        ([math.nan, -math.inf], {"nan", "infinite"}),
        ([0, 0], {"ties"}),
    ],
)
def test_of_values_names_the_corners_of_numbers(numbers, hit):
    assert of_values(Dense(numbers, (len(numbers),), "float64")) == hit


@for_each(
    ("shape", "hit"),
    [
        ((), {"rows of no axis"}),
        ((1,), {"rows of width 1"}),
        ((2,), set()),
        ((1, 1), {"rows of two axes"}),
        ((2, 0), {"rows of two axes", "rows of no width"}),
    ],
)
def test_of_rows_names_the_corners_of_row_shapes(shape, hit):
    assert of_rows(Ragged([], 1, shape, "float64")) == hit


@for_each(
    ("level", "hit"),
    [
        (0, {"level 0"}),
        (1, {"level 1"}),
        (-1, {"level 1", "level from the last"}),
        (-2, {"level 0", "level from the last"}),
    ],
)
@for_each("name", ["level", "ref_level"])
def test_corners_of_names_levels_counted_from_both_ends(name, level, hit):
    x = Ragged([[[1.0], [2.0, 3.0]], [[4.0]]], 2, (), "float64")
    assert corners_of({"x": x, name: level}, "x") == hit | {"float64", "depth 2", "rows of no axis"}
    assert (x.level(level), Structure(x.nested, 2).level(level)) == (level % 2, level % 2)


@for_each(
    ("number", "rounded"),
    [(1e39, math.inf), (-1e39, -math.inf), (0.1, 0.10000000149011612), (2**24 + 1, 2**24), (-math.inf, -math.inf)],
)
def test_numbers_of_float32(number, rounded):
    assert to_float32(number) == rounded
