"""Compares results with the oracles, which work on nested lists of the numbers of rows."""

import contextlib

import numpy as np

from lodcore import LoDTensor, TensorArray
from reference.nested import flatten, nest


def offsets_of(lod):
    """List the offsets of all levels."""
    return [lod.offsets(k).tolist() for k in range(lod.num_levels)]


def numbered(lod):
    """Give the batch as nested lists in which each row is its number."""
    return nest(range(lod.num_rows), offsets_of(lod))


def from_the_first(level, lod):
    """Turn a level that may count from the last into one that counts from the first."""
    return level % lod.num_levels


def same_memory(array, other):
    """Tell whether two arrays are views of the same cells."""
    return array.shape == other.shape and array.dtype == other.dtype and array.ctypes.data == other.ctypes.data


def assert_lod(lod, nested, num_levels):
    """Make sure that a LoD is the structure of nested lists."""
    rows, levels = flatten(nested, num_levels)
    assert (lod.num_levels, lod.num_rows, offsets_of(lod)) == (num_levels, len(rows), levels)


def assert_rows(result, nested, num_levels, source):
    """Make sure that a result is nested lists of rows of `source`, bit by bit; an ndarray if there are no levels."""
    assert type(result) is (LoDTensor if num_levels else np.ndarray)
    if num_levels:
        assert_lod(result.lod, nested, num_levels)
    values = result.values if num_levels else result
    rows = source[np.array(flatten(nested, num_levels)[0], np.int64)]
    assert (values.dtype, values.shape) == (source.dtype, rows.shape)
    assert values.tobytes() == rows.tobytes()
    assert values.flags.c_contiguous


def same(x, y):
    """Tell whether two LoDTensors have equal structure, dtype, shape and bits."""
    return (x.lod, x.dtype, x.values.shape, x.values.tobytes()) == (y.lod, y.dtype, y.values.shape, y.values.tobytes())


def elements_of(array):
    """Give the elements of a TensorArray, None for holes."""
    held = dict.fromkeys(range(array.size()))
    for at in held:
        with contextlib.suppress(IndexError):
            held[at] = array.read(at)
    return list(held.values())


def of_elements(elements):
    """Make a TensorArray of elements, None for holes."""
    array = TensorArray(len(elements))
    for at, element in enumerate(elements):
        if element is not None:
            array.write(at, element)
    return array
