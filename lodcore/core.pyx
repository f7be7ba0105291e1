"""The compiled bodies of LoD and LoDTensor: fields, trusted constructors, x[i], x[a:b] and split.

The offsets of all levels of a LoD lie behind each other in one block of int64, coarse first. The first level's
number of sequences is kept; each level's last offset tells how many sequences the next one has. So dropping the
coarsest or the finest level is a matter of a pointer, and two LoDs are equal if their blocks are.

The memory of a block is a `bytes` object, which NumPy can never make writable. What is handed out are fresh
arrays over it: whatever is done to their shape or dtype does not reach the LoD.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.long cimport PyLong_CheckExact
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

import numpy as np

from lodcore import kernels
from lodcore.buffers cimport array_over, as_bytes, as_int64, new_int64, new_offsets, new_rows, seal, view_rows
from lodcore.errors import DTypeError, LevelError, ShapeError

cdef extern from "core.h":
    object instance_of(object base, object type)

cnp.import_array()

cdef object INT64_DTYPE = np.dtype(np.int64)
cdef cnp.PyArray_Descr* INT64 = <cnp.PyArray_Descr*> INT64_DTYPE
cdef object LOD = LoDBody  # the public classes, which `register` gives
cdef object TENSOR = LoDTensorBody
cdef cnp.ndarray NO_ROWS = np.empty(0)
cdef LoDBody NO_LEVELS = LoDBody()


def register(lod, tensor):
    """Tell the trusted constructors which classes to make."""
    global LOD, TENSOR
    LOD, TENSOR = lod, tensor


# -- structure -------------------------------------------------------------------------------------------------


@cython.no_gc
cdef class LoDBody:
    """The fields of a LoD, and what reads them."""

    cdef object _memory  # the array over the bytes
    cdef const int64_t* _block
    cdef Py_ssize_t _count, _num_levels, _num_rows
    cdef list _views
    cdef Py_hash_t _hash

    @property
    def num_levels(self):
        """Number of levels, 0 or more."""
        return self._num_levels

    @property
    def num_rows(self):
        """Number of rows that the last level counts."""
        return self._num_rows

    cdef const int64_t* level(self, Py_ssize_t k, Py_ssize_t* count) noexcept:
        """Give the offsets of level k, which exists, and the number of its sequences."""
        cdef const int64_t* offsets = self._block
        cdef Py_ssize_t size = self._count, j
        for j in range(k):
            offsets += size + 1
            size = (offsets - 1)[0]
        count[0] = size
        return offsets

    cpdef Py_ssize_t _level(self, level) except -1:
        """Turn a level, which may count from the last, into 0 .. num_levels - 1."""
        cdef Py_ssize_t k
        try:
            k = level
        except (TypeError, OverflowError):
            if not hasattr(level, "__index__"):
                raise DTypeError(f"level: is {level!r}; an integer is needed") from None
            k = self._num_levels
        if k < -self._num_levels or k >= self._num_levels:
            raise LevelError(f"level: is {level}; there are {self._num_levels} levels")
        return k + self._num_levels if k < 0 else k

    def num_sequences(self, level=0):
        """Count the sequences of a level.

        Parameters
        ----------
        level : int

        Returns
        -------
        int
        """
        cdef Py_ssize_t count
        self.level(self._level(level), &count)
        return count

    def offsets(self, level=0):
        """Give the offsets of a level, in sequences of the next level, or rows at the last.

        Parameters
        ----------
        level : int

        Returns
        -------
        ndarray
            int64, shape (num_sequences(level) + 1,), read-only for good.
        """
        return self.array(self._level(level))

    cdef cnp.ndarray array(self, Py_ssize_t k):
        cdef Py_ssize_t count
        cdef const int64_t* offsets = self.level(k, &count)
        cdef cnp.npy_intp shape[1]
        shape[0] = count + 1
        return array_over(self._memory, INT64, 1, shape, NULL, offsets, False)

    cpdef _view(self, Py_ssize_t k):
        """Give the offsets of level k for a kernel: a typed memoryview, taken once."""
        cdef const int64_t[::1] taken
        if self._views is None:
            self._views = [None] * self._num_levels
        found = self._views[k]
        if found is None:
            taken = self.array(k)
            found = self._views[k] = taken
        return found

    cdef Py_ssize_t block_size(self) noexcept:
        cdef Py_ssize_t count
        if self._num_levels == 0:
            return 0
        return self.level(self._num_levels - 1, &count) - self._block + count + 1

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, LoDBody):
            return NotImplemented
        cdef LoDBody that = other
        cdef Py_ssize_t size
        if self._num_levels != that._num_levels or self._num_rows != that._num_rows or self._count != that._count:
            return False
        size = self.block_size()
        return size == that.block_size() and memcmp(self._block, that._block, 8 * size) == 0

    def __hash__(self):
        if self._hash == 0:
            block = PyBytes_FromStringAndSize(<const char*> self._block, 8 * self.block_size())
            self._hash = hash((self._num_levels, self._num_rows, block)) or 1
        return self._hash

    cpdef LoDBody _part(self, Py_ssize_t first, Py_ssize_t stop):
        """Give the levels from `first` to `stop`, which count what they counted, sharing memory."""
        cdef Py_ssize_t count = 0, rows = self._num_rows
        if stop < self._num_levels:
            self.level(stop, &rows)
        if first >= stop:
            return new_lod(None, NULL, 0, 0, rows)
        cdef const int64_t* block = self.level(first, &count)
        return new_lod(self._memory, block, count, stop - first, rows)

    def take(self, index, level=0):
        """Take sequences of a level by their numbers, without the levels before it.

        Parameters
        ----------
        index : array_like of integers, shape (n,)
            In any order, with repeats; negative ones count from the end.
        level : int

        Returns
        -------
        LoD

        Raises
        ------
        IndexError
            Naming the place and the index that is out of range.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).take([2, -1, 1])
        LoD([xxx] [xxx] [])
        """
        cdef Py_ssize_t k = self._level(level)
        cdef list levels = []
        cdef cnp.ndarray ranges = take_sequences("LoD.take", self, k, index, levels)
        cdef int64_t size = last(levels[0])
        return make_lod(take_below("LoD.take", self, k + 1, ranges, levels, &size), size)

    def split(self):
        """Give each outermost sequence's own LoD, which has one level fewer.

        Returns
        -------
        list of LoD
        """
        return [element for element in Splitter(self)]


cdef LoDBody new_lod(memory, const int64_t* block, Py_ssize_t count, Py_ssize_t num_levels, Py_ssize_t num_rows):
    """Make a LoD of a block that is known to be right."""
    cdef LoDBody lod = <LoDBody> instance_of(LoDBody, LOD)
    lod._memory, lod._block, lod._count = memory, block, count
    lod._num_levels, lod._num_rows = num_levels, num_rows
    return lod


def make_lod(list levels, Py_ssize_t num_rows):
    """Make a LoD of offsets that are known to be right, one int64 array a level, coarse first.

    A single array from `new_offsets` is kept, others are copied.
    """
    cdef cnp.ndarray memory, level
    cdef int64_t* place
    cdef Py_ssize_t total = 0
    if not levels:
        return new_lod(None, NULL, 0, 0, num_rows)
    if len(levels) == 1:
        memory = levels[0]
        base = <object> cnp.PyArray_BASE(memory) if cnp.PyArray_BASE(memory) != NULL else None
        if type(base) is not bytes or cnp.PyArray_DATA(memory) != <void*> PyBytes_AS_STRING(base):
            memory = new_offsets(cnp.PyArray_DIM(memory, 0))
            memory[:] = levels[0]
    else:
        for level in levels:
            total += cnp.PyArray_DIM(level, 0)
        memory = new_offsets(total)
        place = <int64_t*> cnp.PyArray_DATA(memory)
        for level in levels:
            memcpy(place, cnp.PyArray_DATA(level), cnp.PyArray_NBYTES(level))
            place += cnp.PyArray_DIM(level, 0)
    seal(memory)
    return new_lod(memory, <const int64_t*> cnp.PyArray_DATA(memory), cnp.PyArray_DIM(levels[0], 0) - 1,
                   len(levels), num_rows)


cdef int64_t last(cnp.ndarray offsets) noexcept:
    return (<int64_t*> cnp.PyArray_DATA(offsets))[cnp.PyArray_DIM(offsets, 0) - 1]


cdef list take_below(str where, LoDBody lod, Py_ssize_t first, cnp.ndarray ranges, list levels, int64_t* size):
    """Take ranges of the sequences of level `first` with all levels below; add their offsets to `levels`.

    `ranges` is rewritten to the ranges of rows, and `size` from the sum of their sizes to the number of rows.
    """
    cdef cnp.ndarray offsets
    cdef Py_ssize_t k
    for k in range(first, lod._num_levels):
        offsets = new_offsets(size[0] + 1)
        bad = kernels.gather.take_offsets(lod._view(k), ranges, offsets)
        if bad >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows with entry {bad}")
        levels.append(offsets)
        size[0] = last(offsets)
    return levels


cdef cnp.ndarray take_sequences(str where, LoDBody lod, Py_ssize_t k, index, list levels):
    """Take sequences of level k by their numbers; add its offsets to `levels`, and give the ranges below."""
    cdef cnp.ndarray places = as_int64(index, where + ": index", IndexError)
    cdef Py_ssize_t count = cnp.PyArray_DIM(places, 0), sequences
    cdef cnp.ndarray ranges = new_int64(count, 2), offsets = new_offsets(count + 1)
    bad = kernels.gather.take_sequences(lod._view(k), places, ranges, offsets)
    if bad >= 0:
        lod.level(k, &sequences)
        number = int(places[bad])
        if -sequences <= number < sequences:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows with entry {bad}")
        raise IndexError(f"{where}: index: is {number} at position {bad}; there are {sequences} sequences")
    levels.append(offsets)
    return ranges


cpdef cut(LoDBody lod, Py_ssize_t first, Py_ssize_t start, Py_ssize_t stop):
    """Cut the sequences from `start` to `stop` of level `first` out.

    Returns
    -------
    (LoD, int, int)
        Their LoD, without the levels before `first`, and where their rows start and stop.
    """
    cdef Py_ssize_t k, count, total = 0, num_levels = lod._num_levels - first
    cdef Py_ssize_t low = start, high = stop
    cdef const int64_t* offsets
    cdef cnp.npy_intp shape[1]
    cdef cnp.ndarray memory, target
    cdef int64_t* place
    if num_levels == 0:
        return new_lod(None, NULL, 0, 0, stop - start), start, stop
    for k in range(first, lod._num_levels):
        offsets = lod.level(k, &count)
        total += high - low + 1
        low, high = offsets[low], offsets[high]
    memory = new_offsets(total)
    place = <int64_t*> cnp.PyArray_DATA(memory)
    target = memory
    rebase = kernels.levels.rebase
    low, high = start, stop
    for k in range(first, lod._num_levels):
        offsets = lod.level(k, &count)
        if num_levels > 1:
            shape[0] = high - low + 1
            target = array_over(memory, INT64, 1, shape, NULL, place, True)
        rebase(lod._view(k), low, high, target)
        place += high - low + 1
        low, high = offsets[low], offsets[high]
    seal(memory)
    return (new_lod(memory, <const int64_t*> cnp.PyArray_DATA(memory), stop - start, num_levels, high - low), low, high)


cdef class Splitter:
    """Iterates over the LoDs of the outermost sequences, all cut at once."""

    cdef LoDBody lod
    cdef object memory
    cdef const int64_t* place
    cdef const int64_t* outer
    cdef Py_ssize_t at, count

    def __cinit__(self, LoDBody lod not None):
        cdef Py_ssize_t k, count, total = 0
        lod._level(0)
        self.lod = lod
        self.outer = lod.level(0, &self.count)
        if lod._num_levels > 1:
            for k in range(1, lod._num_levels):
                lod.level(k, &count)
                total += count + self.count
            self.memory = new_offsets(total)
            kernels.levels.split([lod._view(k) for k in range(lod._num_levels)], self.memory)
            seal(self.memory)
            self.place = <const int64_t*> cnp.PyArray_DATA(self.memory)

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.count:
            raise StopIteration
        return self.following()

    cdef LoDBody following(self):
        """Give the next LoD; there is one."""
        cdef Py_ssize_t size = self.outer[self.at + 1] - self.outer[self.at], rows = size, k
        cdef const int64_t* block = self.place
        self.at += 1
        for k in range(1, self.lod._num_levels):
            self.place += rows + 1
            rows = (self.place - 1)[0]
        return new_lod(self.memory, block, size if self.lod._num_levels > 1 else 0, self.lod._num_levels - 1, rows)


# -- tensors ---------------------------------------------------------------------------------------------------


@cython.no_gc
cdef class LoDTensorBody:
    """The fields of a LoDTensor, and indexing that computes nothing."""

    cdef cnp.ndarray _values
    cdef LoDBody _lod
    cdef object _bytes

    def __cinit__(self):
        self._values = NO_ROWS
        self._lod = NO_LEVELS

    @property
    def values(self):
        """The rows of all sequences behind each other: ndarray, shape (num_rows, ...)."""
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
        if cnp.PyArray_NDIM(self._values) == 0 or cnp.PyArray_DIM(self._values, 0) != self._lod._num_rows:
            raise ShapeError(f"LoDTensor: values: were given the shape {(<object> self._values).shape} in place; "
                             f"the structure has {self._lod._num_rows} rows")
        return 0

    def _rows(self):
        """Give the values for a kernel: a typed memoryview of bytes, shape (num_rows, row_bytes), taken once."""
        cdef const unsigned char[:, ::1] taken
        if self._bytes is None:
            self.check()
            if not cnp.PyArray_IS_C_CONTIGUOUS(self._values):
                raise ShapeError(f"LoDTensor: values: were given the strides {(<object> self._values).strides} in place")
            taken = as_bytes(self._values)
            self._bytes = taken
        return self._bytes

    def _take(self, str where, Py_ssize_t level, cnp.ndarray ranges not None, int64_t size, out=None, list upper=None):
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
        cdef cnp.ndarray rows = new_rows(where, self._values, size, out)
        kernels.gather.copy_ranges(self._rows(), ranges, as_bytes(rows))
        return new_tensor(rows, make_lod(levels, size))

    def _gather(self, str where, Py_ssize_t level, index, out=None, list upper=None):
        """Take sequences of a level by their numbers, with all levels below; arguments as in `_take`."""
        cdef list levels = [] if upper is None else upper
        cdef cnp.ndarray ranges = take_sequences(where, self._lod, level, index, levels)
        cdef int64_t size = last(levels[len(levels) - 1])
        return self._take(where, level + 1, ranges, size, out, levels)

    def __len__(self):
        return self._lod._count if self._lod._num_levels else self._lod._num_rows

    def __getitem__(self, key):
        cdef Py_ssize_t i, start, stop, step, size = len(self)
        cdef const int64_t* outer = self._lod._block
        if type(key) is slice:
            PySlice_Unpack(key, &start, &stop, &step)
            if step != 1:
                return self._select(key)
            PySlice_AdjustIndices(size, &start, &stop, step)
            return self.cut_out(0, start, max(start, stop))
        if not PyLong_CheckExact(key):
            if isinstance(key, (bool, np.bool_)) or not hasattr(key, "__index__") or np.ndim(key) > 0:
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
            return self._values[i]
        return self.cut_out(1, outer[i], outer[i + 1])

    cdef cut_out(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop):
        """Give the sequences from `start` to `stop` of a level as a view."""
        self.check()
        lod, first, last = cut(self._lod, level, start, stop)
        return new_tensor(view_rows(self._values, first, last), lod)

    def __iter__(self):
        if self._lod._num_levels == 0:
            return iter(self._values)
        return Sequences(self)


cpdef LoDTensorBody new_tensor(cnp.ndarray values, LoDBody lod):
    """Make a LoDTensor of values and structure that are known to agree."""
    cdef LoDTensorBody x = <LoDTensorBody> instance_of(LoDTensorBody, TENSOR)
    x._values, x._lod = values, lod
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
