"""Functions that make structures without checks have no public name."""

import inspect

import numpy as np
import pytest

import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, SparseTensor, TensorArray
from lodcore.base import buffers
from lodcore.tensors import lod_tensor_body

pytestmark = pytest.mark.not_on_reference

CLASSES = [LoD, LoDTensor, RankTable, IndicesMap, SparseTensor, TensorArray]


@pytest.mark.parametrize("cls", CLASSES)
def test_class_methods_refuse_invalid_arguments(cls):
    """A class method with a public name refuses garbage, or returns a valid object."""
    lod = LoD.from_lengths([2, 1])
    garbage = [lod, 0, np.array([10**9, 5]), np.array([-1, 7, 3])]
    for name, method in inspect.getmembers(cls, inspect.ismethod):
        if name.startswith("_"):
            continue
        for count in range(1, 4):
            for first in range(len(garbage)):
                given = [garbage[(first + j) % len(garbage)] for j in range(count)]
                try:
                    made = method(*given)
                    repr(made)
                except (ValueError, TypeError, IndexError, KeyError, MemoryError, AttributeError):
                    continue
                if isinstance(made, LoDTensor):
                    assert len(made.values) == made.num_rows


def test_tensors_have_as_many_rows_as_their_structure_says():
    for make in (lod_tensor_body.new_tensor, lod_tensor_body.new_tensor):
        for values in (np.ones(2), np.ones(()), np.ones((6, 2))[::2, :1]):
            with pytest.raises(lodcore.ShapeError, match="the structure"):
                make(values, LoD.from_lengths([2, 1]))


def test_views_of_rows_stay_inside():
    for start, stop in ((-1, 2), (2, 1), (0, 4), (10**9, 10**9 + 1)):
        with pytest.raises(lodcore.ShapeError):
            buffers.view_rows(np.ones((3, 2)), start, stop)
    for call in (buffers.as_bytes, buffers.as_cells, buffers.as_lines):
        for wrong in (np.ones(()), np.ones((4, 4))[:, ::2]):
            with pytest.raises(lodcore.ShapeError):
                call(wrong)
