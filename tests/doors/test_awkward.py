"""awkward arrays."""

import numpy as np
import pytest
from hypothesis import given

import lodcore
from lodcore import LoDTensor, from_awkward, to_awkward
from lodcore.errors import DTypeError, LoDError
from tests.helpers.draw import lod_tensors
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

awkward = imported("awkward")
pytestmark = MARKS

NUMBERS = [np.dtype(name) for name in ("?", "i1", "u4", "i8", "f4", "f8", "c16", "M8[s]")]
NESTED = [[[1, 2], []], [], [[3]]]


@given(lod_tensors(0, 4, NUMBERS, [(), (3,), (2, 2), (0,)]))
def test_to_awkward_and_from_awkward_are_inverse(x):
    array = to_awkward(x)
    again = from_awkward(array)
    values = again.values if x.num_levels else again
    assert values.dtype == x.dtype
    assert values.shape == x.values.shape
    assert values.tobytes() == x.values.tobytes()
    if x.num_levels:
        assert again.lod == x.lod
        assert lodcore.array(array).lod == x.lod
    assert len(array) == len(x)


def test_conversion_to_and_from_awkward_copies_neither_values_nor_offsets():
    x = lodcore.array(NESTED)
    layout = x.to_awkward().layout
    assert np.asarray(layout.offsets.data).ctypes.data == x.offsets.ctypes.data
    assert from_awkward(x.to_awkward()).values.ctypes.data == x.values.ctypes.data
    assert not from_awkward(x.to_awkward()).values.flags.writeable
    assert x.to_awkward().to_list() == NESTED


def test_other_layouts():
    array = awkward.Array(NESTED)
    assert from_awkward(array[1:]).tolist() == NESTED[1:]
    assert from_awkward(array[[2, 0, 2]]).tolist() == [NESTED[k] for k in (2, 0, 2)]
    assert from_awkward(array[::-1]).tolist() == NESTED[::-1]
    assert from_awkward(awkward.Array(np.zeros((2, 3)))).shape == (2, 3)
    regular = awkward.to_regular(awkward.Array([[[1, 2]], [[3, 4], [5, 6]]]), axis=2)
    assert from_awkward(regular).shape == (2, None, 2)
    outer = awkward.to_regular(awkward.Array([[[1], []], [[2, 3], [4]]]), axis=1)
    assert from_awkward(outer).tolist() == [[[1], []], [[2, 3], [4]]]
    assert from_awkward(awkward.Array([[], []])).tolist() == [[], []]
    assert from_awkward(awkward.fill_none(awkward.Array([[1, None], []]), 0)).tolist() == [[1, 0], []]
    assert from_awkward(awkward.mask(awkward.Array([[1], [2]]), [True, True])).tolist() == [[1], [2]]


def test_records_and_strings():
    found = from_awkward(awkward.Array([[{"a": 1, "b": [2, 3]}], []]))
    assert (found["a"].tolist(), found["b"].tolist()) == ([[1], []], [[[2, 3]], []])
    assert from_awkward(awkward.Array([["ab", "c"], []])).tolist() == [[[97, 98], [99]], []]
    records = lodcore.LoDTensor.from_lengths(np.array([(1, 2.5), (3, 4.5)], "i4, f8"), [0, 2])
    assert records.to_awkward().to_list() == [[], [{"f0": 1, "f1": 2.5}, {"f0": 3, "f1": 4.5}]]


def test_from_awkward_refuses_missing_entries():
    with pytest.raises(LoDError, match="entry 1 below 1 level is missing"):
        from_awkward(awkward.Array([[1, None]]))
    with pytest.raises(LoDError, match="entry 0 below 0 levels is missing"):
        from_awkward(awkward.Array([None, [1]]))


def test_from_awkward_refuses_lists_and_unions():
    with pytest.raises(DTypeError, match="x: is list; an awkward array is needed"):
        from_awkward([[1]])
    with pytest.raises(DTypeError, match="has UnionArray"):
        from_awkward(awkward.Array([1, [2]]))


@pytest.mark.parametrize("offsets", [[0, 4, 2, 5], [0, -1, 5], [0, 3, 100], [0, 10**9, 5], [0, 2**31 + 3], [0, 2**62]])
def test_from_awkward_refuses_wrong_offsets(offsets):
    """awkward accepts them, and crashes or reads beyond its memory."""
    content = awkward.contents.NumpyArray(np.arange(5.0))
    try:
        layout = awkward.contents.ListOffsetArray(awkward.index.Index64(np.array(offsets)), content)
    except ValueError:
        return  # newer releases check the last one
    with pytest.raises(LoDError, match="offsets of level 0"):
        from_awkward(layout)


@for_each("shape", [(3, 0), (3, 0, 0), (3, 2, 0), (3, 0, 2), (0, 2, 0), (0, 3), (3, 2, 2)])
def test_rows_of_any_shape_go_out_and_come_back(shape):
    x = LoDTensor.from_lengths(np.zeros(shape), [shape[0], 0])
    assert str(to_awkward(x).type) == " * ".join(map(str, (2, "var", *shape[1:], "float64")))
    assert from_awkward(to_awkward(x)).equals(x)
    field = LoDTensor.from_lengths(np.zeros(shape[:1], [("a", "f8", shape[1:])]), [shape[0], 0])
    assert from_awkward(to_awkward(field))["a"].equals(x)


def test_to_awkward_of_a_lone_surrogate_is_refused():
    with pytest.raises(DTypeError, match=r"^lodcore.to_awkward: x: holds a lone surrogate, which UTF-8 does not have"):
        to_awkward([["a", "\ud800"]])


def test_to_awkward_of_raw_bytes_names_the_dtype():
    with pytest.raises(DTypeError, match=r"^lodcore.to_awkward: x: has dtype \|V3, which awkward does not have"):
        to_awkward(LoDTensor.from_lengths(np.zeros(1, "V3"), [1]))
