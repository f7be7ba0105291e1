"""`np.array` and `np.asarray` of each kind of tensor: a copy if one is requested, none if it is forbidden."""

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, LoD, LoDTensor, TensorArray, Variable

ROWS = np.arange(6.0).reshape(3, 2)


def slot():
    """Return a slot of a VarArray that holds an array."""
    states = lodcore.VarArray()
    states.write(0, ROWS.copy())
    return states[0]


KINDS = {
    "DenseTensor": lambda: DenseTensor(ROWS.copy()),
    "LoDTensor without levels": lambda: LoDTensor(ROWS.copy(), LoD.from_offsets(num_rows=3)),
    "IndicesMap": lambda: TensorArray.unpack(lodcore.array([[1, 2], [], [3, 4, 5]]), 0)[1],
    "Variable": lambda: Variable(ROWS.copy()),
    "slot": slot,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_np_array_with_copy_or_another_dtype_copies(make):
    x = make()
    seen = np.asarray(x)
    copied, narrow = np.array(x, copy=True), np.array(x, dtype=np.float32)
    assert copied.flags.writeable
    assert not np.shares_memory(copied, seen)
    assert copied.dtype == seen.dtype
    np.testing.assert_array_equal(copied, seen)
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(narrow, seen.astype(np.float32))
    copied[...] = 99
    assert 99 not in np.asarray(x)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_no_copy_is_made_where_none_may_be(make):
    x = make()
    assert np.shares_memory(np.asarray(x), np.array(x, copy=False))
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float16, copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=np.float16, copy=False)
