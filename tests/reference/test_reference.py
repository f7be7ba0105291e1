"""Conversion of nested lists to rows and offsets in plain Python, on which the oracles depend."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import nested
from tests.helpers.draw import levels, nested_lists

pytestmark = pytest.mark.not_on_reference  # no kernels


@given(nested_lists())
def test_nest_undoes_flatten(drawn):
    batch, num_levels = drawn
    rows, offsets = nested.flatten(batch, num_levels)
    assert len(offsets) == num_levels
    assert nested.nest(rows, offsets) == batch


@given(levels(1, 4))
def test_flatten_undoes_nest(offsets):
    rows = list(range(offsets[-1][-1]))
    assert nested.flatten(nested.nest(rows, offsets), len(offsets)) == (rows, offsets)


@given(st.lists(st.integers()))
def test_without_levels_the_batch_is_its_rows(rows):
    assert nested.flatten(rows, 0) == (rows, [])
    assert nested.nest(rows, []) == rows


@given(nested_lists(rows=st.sampled_from(["x", "row"])))
def test_parse_undoes_show(drawn):
    batch, _ = drawn
    assert nested.parse(nested.show(batch)) == batch


@pytest.mark.parametrize("text", ["", "x", "[x", "x]", "[]]", "[] []", "[[x]"])
def test_parse_refuses_text_that_is_not_one_list(text):
    with pytest.raises(ValueError, match="parse: text: "):
        nested.parse(text)


def test_examples_of_nested_lists_run():
    assert doctest.testmod(nested).failed == 0
