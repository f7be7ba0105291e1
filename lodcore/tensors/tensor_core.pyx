"""The compiled body of LoDTensor: fields, trusted constructor, x[i], x[a:b], iteration, taking sequences."""

cimport cython
cimport numpy as cnp
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport int64_t

import numpy as np

from lodcore import kernels
from lodcore.base import threads
from lodcore.base.buffers cimport as_bytes, new_int64, new_rows, row_size, view_rows
from lodcore.tensors.core cimport LoDBody, Splitter, cut, instance_of, last, make_lod, own_kernels, take_below, take_sequences
from lodcore.errors import ShapeError
from lodcore.base.dispatch import Symbol

cdef extern from "Python.h":
    ctypedef struct PySliceObject:
        PyObject* start
        PyObject* stop

cdef extern from "../kernels/rows.h" nogil:
    void copy_row_ranges(const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* ranges,
                         int64_t count, char* out, int64_t out_rows)

cnp.import_array()

cdef int64_t WIDE = threads.WIDE

cdef object TENSOR = LoDTensorBody  # the public class, which `register` gives
cdef cnp.ndarray NO_ROWS = np.empty(0)
cdef LoDBody NO_LEVELS = LoDBody()


def register(tensor):
    """Tell the trusted constructor which class to make."""
    global TENSOR
    TENSOR = tensor


@cython.no_gc
cdef class LoDTensorBody:
    """The fields of a LoDTensor, and indexing that computes nothing."""

    cdef cnp.ndarray _values
    cdef LoDBody _lod
    cdef Py_ssize_t _row_bytes
    cdef object _bytes

    def __cinit__(self):
        self._values = NO_ROWS
        self._lod = NO_LEVELS
        self._row_bytes = 8

    @property
    def values(self):
        """The rows of all sequences behind each other: ndarray, shape (num_rows, ...)."""
        self.check()
        return self._values

    @property
    def lod(self):
        """The structure: LoD."""
        return self._lod

    @property
    def offsets(self):
        """Offsets of the outermost level: int64, read-only."""
        return self._lod.array(0 if self._lod._num_levels else self._lod._level(0))

    cdef int check(self) except -1:
        """Make sure that nobody gave the values another shape in place."""
        if (cnp.PyArray_NDIM(self._values) == 0 or cnp.PyArray_DIM(self._values, 0) != self._lod._num_rows
                or row_size(self._values) != self._row_bytes or not cnp.PyArray_IS_C_CONTIGUOUS(self._values)):
            raise ShapeError(f"LoDTensor: values: were given the shape {(<object> self._values).shape} in place; the "
                             f"structure has {self._lod._num_rows} rows, of {self._row_bytes} bytes")
        return 0

    def _rows(self):
        """Give the values for a kernel: a typed memoryview of bytes, shape (num_rows, row_bytes), taken once."""
        cdef const unsigned char[:, ::1] taken
        self.check()
        if self._bytes is None:
            taken = as_bytes(self._values)
            self._bytes = taken
        return self._bytes

    cpdef LoDTensorBody _take(self, str where, Py_ssize_t level, cnp.ndarray ranges, int64_t size, out=None,
                              list upper=None):
        """Take ranges of the sequences of a level (or of rows, if there is none), with all levels below.

        Parameters
        ----------
        where : str
            The function, for the message.
        level : int
            0 .. num_levels.
        ranges : ndarray
            int64, shape (n, 2), checked; rewritten.
        size : int
            The sum of the sizes of the ranges.
        out : ndarray, optional
            Where to write the rows.
        upper : list of ndarray, optional
            Offsets of levels to stand before; added to.

        Returns
        -------
        LoDTensor
            The upper levels, `level` and the levels below.
        """
        cdef list levels = take_below(where, self._lod, level, ranges, [] if upper is None else upper, &size)
        self.check()
        cdef cnp.ndarray rows = new_rows(where, self._values, size, out)
        self.check()  # again: looking at `out` may have let another thread run
        if cnp.PyArray_DIM(rows, 0) != size or row_size(rows) != self._row_bytes:
            raise ShapeError(f"{where}: out: was given another shape meanwhile")
        cdef const char* source = cnp.PyArray_BYTES(self._values)
        cdef char* target = cnp.PyArray_BYTES(rows)
        cdef const int64_t* pairs = <const int64_t*> cnp.PyArray_DATA(ranges)
        cdef int64_t n_rows = self._lod._num_rows, row_bytes = self._row_bytes, count = cnp.PyArray_DIM(ranges, 0)
        if size * row_bytes >= WIDE and threads.get_num_threads() > 1:
            copy_in_parts(self._rows(), ranges, as_bytes(rows))
        elif not own_kernels():
            kernels.gather.copy_ranges(self._rows(), ranges, as_bytes(rows))
        elif size and row_bytes:
            with nogil:
                copy_row_ranges(source, n_rows, row_bytes, pairs, count, target, size)
        return new_tensor(rows, make_lod(levels, size))

    cpdef LoDTensorBody _gather(self, str where, level, index, out=None, list upper=None):
        """Take sequences of a level by their numbers, with all levels below; arguments as in `_take`."""
        cdef list levels = [] if upper is None else upper
        cdef Py_ssize_t k = self._lod._level(level, where)
        cdef cnp.ndarray ranges = take_sequences(where, self._lod, k, index, levels)
        cdef int64_t size = last(levels[len(levels) - 1])
        return self._take(where, k + 1, ranges, size, out, levels)

    def __len__(self):
        return self._lod._count if self._lod._num_levels else self._lod._num_rows

    def __getitem__(self, key):
        cdef Py_ssize_t i, start, stop, step, size = len(self)
        cdef const int64_t* outer = self._lod._block
        if type(key) is slice:
            if is_symbol((<PySliceObject*> key).start) or is_symbol((<PySliceObject*> key).stop):
                return self._select(key)
            PySlice_Unpack(key, &start, &stop, &step)
            if step != 1:
                return self._select(key)
            PySlice_AdjustIndices(size, &start, &stop, step)
            return self.cut_out(0, start, max(start, stop))
        if not PyLong_CheckExact(key):
            if (isinstance(key, (bool, np.bool_, Symbol, LoDTensorBody)) or not hasattr(key, "__index__")
                    or np.ndim(key) > 0):
                return self._select(key)
            key = key.__index__()
        if not -size <= key < size:
            raise IndexError(f"index {key} is out of bounds for axis 0 with size {size}")
        i = key
        i = i + size if i < 0 else i
        if self._lod._num_levels == 1:
            self.check()
            return view_rows(self._values, outer[i], outer[i + 1])
        if self._lod._num_levels == 0:
            return self.values[i]
        return self.cut_out(1, outer[i], outer[i + 1])

    cdef cut_out(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop):
        """Give the sequences from `start` to `stop` of a level as a view."""
        self.check()
        lod, low, high = cut(self._lod, level, start, stop)
        return new_tensor(view_rows(self._values, low, high), lod)

    def __iter__(self):
        if self._lod._num_levels == 0:
            return iter(self.values)
        return Sequences(self)


cdef copy_in_parts(rows, cnp.ndarray ranges, cnp.ndarray out):
    """Copy ranges of rows behind each other, in several threads."""
    offsets = new_int64(cnp.PyArray_DIM(ranges, 0) + 1)
    kernels.gather.count_ranges(ranges, offsets)

    def copy(start, stop):
        kernels.gather.copy_ranges(rows, ranges[start:stop], out[offsets[start]:offsets[stop]])

    threads.in_parts(copy, threads.parts(offsets, out.size))


cdef inline bint is_symbol(PyObject* bound):
    return not PyLong_CheckExact(<object> bound) and isinstance(<object> bound, Symbol)


cpdef LoDTensorBody new_tensor(cnp.ndarray values, LoDBody lod):
    """Make a LoDTensor of values and structure that are known to agree."""
    cdef LoDTensorBody x = <LoDTensorBody> instance_of(LoDTensorBody, TENSOR)
    x._values, x._lod, x._row_bytes = values, lod, row_size(values)
    return x


def new_of_class(cls, cnp.ndarray values, LoDBody lod):
    """Make a tensor of a subclass of LoDTensor, of values and structure that are known to agree."""
    if cls is TENSOR:
        return new_tensor(values, lod)
    cdef LoDTensorBody x = LoDTensorBody.__new__(cls)
    x._values, x._lod, x._row_bytes = values, lod, row_size(values)
    return x


cdef class Sequences:
    """Iterates over the outermost sequences of a LoDTensor."""

    cdef LoDTensorBody x
    cdef Splitter lods
    cdef Py_ssize_t at, row

    def __cinit__(self, LoDTensorBody x not None):
        x.check()
        self.x = x
        if x._lod._num_levels > 1:
            self.lods = Splitter(x._lod)

    def __iter__(self):
        return self

    def __length_hint__(self):
        return max(0, self.x._lod._count - self.at)

    def __next__(self):
        cdef LoDBody lod
        cdef Py_ssize_t start
        if self.at >= self.x._lod._count:
            raise StopIteration
        if self.lods is None:
            self.at += 1
            self.x.check()
            return view_rows(self.x._values, self.x._lod._block[self.at - 1], self.x._lod._block[self.at])
        lod = self.lods.following()
        self.at += 1
        start = self.row
        self.row += lod._num_rows
        return new_tensor(view_rows(self.x._values, start, self.row), lod)


def alike(list tensors):
    """Give values and structures of tensors, if that is what a list holds, of one dtype and row shape; else None.

    Parameters
    ----------
    tensors : list

    Returns
    -------
    (list of ndarray, list of LoD), or None
    """
    cdef LoDTensorBody tensor
    cdef cnp.ndarray first = None, values
    cdef list found = [], lods = []
    cdef int axis
    for entry in tensors:
        if type(entry) is not TENSOR:
            return None
        tensor = entry
        tensor.check()
        values = tensor._values
        if first is None:
            first = values
        if (cnp.PyArray_DESCR(values) != cnp.PyArray_DESCR(first)
                or cnp.PyArray_NDIM(values) != cnp.PyArray_NDIM(first)):
            return None
        for axis in range(1, cnp.PyArray_NDIM(first)):
            if cnp.PyArray_DIM(values, axis) != cnp.PyArray_DIM(first, axis):
                return None
        found.append(values)
        lods.append(tensor._lod)
    return None if first is None else (found, lods)
