"""Comparison of results with the oracles, which work on nested lists of row numbers."""

import contextlib

import numpy as np

from lodcore import IndicesMap, LoDTensor, RankTable, TensorArray
from reference.nested import flatten, nest


def offsets_of(lod):
    """List the offsets of all levels."""
    return [lod.offsets(k).tolist() for k in range(lod.num_levels)]


def values_of(x):
    """Return the values of a tensor, or an array as it is."""
    return np.asarray(getattr(x, "values", x))


def numbered(lod):
    """Return the batch as nested lists in which each row is replaced by its number."""
    return nest(range(lod.num_rows), offsets_of(lod))


def from_the_first(level, lod):
    """Return the number of a level counted from the first; it may be given counted from the last."""
    return level % lod.num_levels


def same_memory(array, other):
    """Return whether two arrays are views of the same cells."""
    return array.shape == other.shape and array.dtype == other.dtype and array.ctypes.data == other.ctypes.data


def assert_lod(lod, nested, num_levels):
    """Check that a LoD has the structure of nested lists."""
    rows, levels = flatten(nested, num_levels)
    assert (lod.num_levels, lod.num_rows, offsets_of(lod)) == (num_levels, len(rows), levels)


def assert_rows(result, nested, num_levels, source):
    """Check that a result equals nested lists of rows of `source`, bit by bit; an ndarray if there are no levels."""
    assert type(result) is (LoDTensor if num_levels else np.ndarray)
    if num_levels:
        assert_lod(result.lod, nested, num_levels)
    values = result.values if num_levels else result
    rows = source[np.array(flatten(nested, num_levels)[0], np.int64)]
    assert (values.dtype, values.shape) == (source.dtype, rows.shape)
    assert values.tobytes() == rows.tobytes()
    assert values.flags.c_contiguous


def same(x, y):
    """Return whether two LoDTensors have equal structure, dtype, shape and bits."""
    return (x.lod, x.dtype, x.values.shape, x.values.tobytes()) == (y.lod, y.dtype, y.values.shape, y.values.tobytes())


def elements_of(array):
    """Return the elements of a TensorArray, None for holes."""
    held = dict.fromkeys(range(array.size()))
    for at in held:
        with contextlib.suppress(IndexError):
            held[at] = array.read(at)
    return list(held.values())


def of_elements(elements):
    """Make a TensorArray from elements, None for holes."""
    array = TensorArray(len(elements))
    for at, element in enumerate(elements):
        if element is not None:
            array.write(at, element)
    return array


def assert_close(got, want, exact, tolerance):
    """Compare nested lists of numbers, to the last bit or approximately; nan equals nan."""
    assert type(got) is type(want) or not isinstance(got, (list, tuple)), (got, want)
    if isinstance(got, (list, tuple)):
        assert len(got) == len(want), (got, want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, other, exact, tolerance)
    elif exact or isinstance(got, (bool, bytes, str)):
        assert got == want or (got != got and want != want), (got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def numbers(x):
    """Return a result as nested lists."""
    if isinstance(x, tuple):
        return tuple(map(numbers, x))
    if isinstance(x, TensorArray):
        return list(map(numbers, elements_of(x)))
    if isinstance(x, RankTable):
        return x.indices.tolist(), x.lengths.tolist()
    return x.tolist() if isinstance(x, (LoDTensor, np.ndarray, np.generic, IndicesMap)) else x


def tolerance_of(result):
    """Return the tolerance of a result relative to the one computed with Python's floats."""
    found = result if isinstance(result, tuple) else (result,)
    sizes = [x.dtype.itemsize for x in found if hasattr(x, "dtype") and np.dtype(x.dtype).kind == "f"]
    return {2: 2e-2, 4: 2e-5}.get(min(sizes, default=8), 1e-11)
