"""Python functions applied sequence by sequence, compared with an explicit loop."""

import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, GraphError, LoDError, LoDTensor, ShapeError, map_sequences
from lodcore.graph import Program, data
from tests.helpers.draw import lod_tensors


@given(lod_tensors(min_levels=1))
def test_map_sequences_joins_numbers_sequences_and_trees(x):
    assert map_sequences(len, x).tolist() == [len(one) for one in x]
    if len(x):
        assert map_sequences(lambda one: one, x).equals(x)
    shapes = map_sequences(lambda one: (len(one), {"whole": one}), x)
    if len(x):
        assert shapes[0].tolist() == x.lengths.tolist()
        assert shapes[1]["whole"].equals(x)


@given(st.lists(st.lists(st.integers(-9, 9), max_size=5), min_size=1, max_size=5), st.booleans())
def test_map_sequences_over_several_arguments(nested, progress):
    x = lodcore.array(nested) if any(nested) else lodcore.array(nested, dtype=int)
    weights = np.arange(len(nested))
    found = map_sequences(lambda one, other, weight: one * weight + other, x, nested, weights, progress=progress)
    assert found.tolist() == [[v * w + v for v in one] for one, w in zip(nested, weights.tolist(), strict=True)]


def test_map_sequences_shows_progress(capsys):
    map_sequences(len, [[1], [2, 3]], progress=True)
    assert "2 of 2 sequences" in capsys.readouterr().err


def test_map_sequences_shows_no_progress_where_stderr_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert map_sequences(len, [[1], [2, 3]], progress=True).tolist() == [1, 2]


def test_map_sequences_takes_results_without_axes_as_numbers():
    assert map_sequences(lambda one: np.array(one.sum()), X).tolist() == [3, 3]
    assert map_sequences(lambda one: (np.array(one.max()), one), X)[0].tolist() == [2, 3]
    assert map_sequences(lambda one: "ab"[len(one) - 1], X).tolist() == ["b", "a"]


def test_map_sequences_of_no_sequences_is_empty():
    assert map_sequences(len, []).tolist() == []


X = lodcore.array([[1, 2], [3]])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: map_sequences(len, X, [[1]]), LoDError, r"others\[0\]: has 1 sequences; x has 2"),
        (
            lambda: map_sequences(lambda one: one if len(one) > 1 else 3, X),
            ShapeError,
            "returned int for sequence 1.*sequence 0",
        ),
        (
            lambda: map_sequences(lambda one: (1,) * len(one), X),
            ShapeError,
            "tuple of 1 for sequence 1, tuple of 2",
        ),
        (lambda: map_sequences(lambda one: object(), X), DTypeError, "f: returned object"),
        (lambda: map_sequences(lambda one: None if len(one) == 1 else 2, X), DTypeError, "NoneType for sequence 1;"),
        (lambda: map_sequences(lambda one: (1,) if len(one) == 1 else 2, X), ShapeError, "tuple of 1 for sequence 1, "),
        (lambda: map_sequences(lambda one: 2 if len(one) == 1 else (1,), X), ShapeError, "int for sequence 1, tuple"),
        (lambda: map_sequences(lambda one: {} if len(one) == 1 else 2, X), ShapeError, "dict of 0 for sequence 1, int"),
        (lambda: map_sequences(lambda one: "a" if len(one) == 1 else 2, X), ShapeError, "str for sequence 1, int"),
        (lambda: map_sequences(lambda one: 2 if len(one) == 1 else b"a", X), ShapeError, "int for sequence 1, bytes"),
        (lambda: map_sequences(lambda one: X if len(one) == 1 else 2, X), ShapeError, "LoDTensor for sequence 1, int"),
        (lambda: map_sequences(lambda one: one.sum() if len(one) == 1 else one, X), ShapeError, "int64 for sequence 1"),
        (lambda: map_sequences(max, X, [[1], [2]], np.arange(3)), LoDError, r"others\[1\]: has 3 sequences; x has 2"),
        (lambda: map_sequences(len, 3), DTypeError, "map_sequences: x: is int"),
    ],
)
def test_wrong_calls_of_map_sequences_raise(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_map_sequences_of_a_variable_names_map_fn():
    with Program():
        x = data("x", (None,), num_levels=1)
        with pytest.raises(GraphError, match="use map_fn"):
            map_sequences(len, x)


def test_map_sequences_passes_errors_of_the_function():
    """Their type stays; a text says in which sequence."""
    with pytest.raises(ZeroDivisionError, match=r"^map_sequences: f: in sequence 1: "):
        map_sequences(lambda one: 1 // len(one), LoDTensor.from_lengths(np.zeros(1), [1, 0]))
    several = OSError(2, "no such file")
    with pytest.raises(OSError, match="no such file") as caught:
        map_sequences(mock.Mock(side_effect=several), X, progress=True)
    assert caught.value.args == (2, "no such file")
