"""The compiled body of LoD: fields, trusted constructors, gathering, slicing, split.

The offsets of all levels of a LoD are contiguous in one block of int64, coarse first. The number of sequences of the
first level is stored; each level's last offset is the number of sequences of the next level. So dropping the coarsest
or the finest level only moves a pointer, and two LoDs are equal if their blocks are.

A slice of many sequences has no block until its offsets are requested: it refers to the LoD of which it is a part, and
then writes offsets that start at 0.

The memory of a block is a `bytes` object, which NumPy can never make writable. Callers get new arrays over it, so that
changes of their shape or dtype do not affect the LoD.
"""

cimport cython
cimport lodcore.kernels.arrays as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

import numpy as np

from lodcore import kernels
from lodcore.base.buffers cimport array_over, as_int64, new_int64, new_offsets, seal
from lodcore.errors import DTypeError, LevelError, LoDError
from lodcore.base.memory import as_integer
from lodcore.tensors cimport kernel_calls

cnp.import_array()

cdef object INT64_DTYPE = np.dtype(np.int64)
cdef cnp.PyArray_Descr* INT64 = <cnp.PyArray_Descr*> INT64_DTYPE
# A slice with more offsets than this writes them when they are requested; with fewer, this is not worth it. Until then
# it refers to those of the whole batch, if these are at most this many times as many.
cdef Py_ssize_t MANY = 512, MOST_HELD = 16
cdef object LOD = LoDBody  # the public class, which `register` gives


def register(lod):
    """Set the class that the trusted constructors make."""
    global LOD
    LOD = lod


# -- structure ---------------------------------------------------------------------------------------------------------


@cython.no_gc
cdef class LoDBody:
    """The fields of a LoD, and the methods that read them."""

    @property
    def num_levels(self):
        """The number of levels, 0 or more."""
        return self.n_levels

    @property
    def num_rows(self):
        """The number of rows that the last level counts."""
        return self.n_rows

    cdef const int64_t* block(self) except? NULL:
        """Return the offsets of all levels, or NULL without levels; a slice writes them now."""
        if self._block == NULL and self.n_levels:
            self.write_offsets()
        return self._block

    cdef int write_offsets(self) except -1:
        """Write the offsets of a slice, once, whichever threads read them first."""
        cdef cnp.ndarray memory
        with cython.critical_section(self):
            if self._block == NULL:
                memory = offsets_from_0(self._source, self._first, self._start, self._start + self.n_outer)
                if self._block == NULL:  # another thread may have run while kernels in Python did
                    self._memory = memory
                    self._block = <const int64_t*> cnp.PyArray_DATA(memory)
                    self._source = None
        return 0

    cdef const int64_t* level(self, Py_ssize_t k, Py_ssize_t* count) except? NULL:
        """Return the offsets of level k, which exists, and the number of its sequences."""
        cdef const int64_t* offsets = self.block()
        cdef Py_ssize_t size = self.n_outer, _j
        if k > NEAR:
            offsets += self.places()[k]
            size, k = (offsets - 1)[0], 0
        for _j in range(k):
            offsets += size + 1
            size = (offsets - 1)[0]
        count[0] = size
        return offsets

    cdef const int64_t* places(self) except NULL:
        """Return the position of each level in the block, so that all of many levels are found in linear time."""
        with cython.critical_section(self):
            if self._places is None:
                listed = PyBytes_FromStringAndSize(NULL, 8 * self.n_levels)
                list_places(self.block(), self.n_outer, self.n_levels, <int64_t*> PyBytes_AS_STRING(listed))
                self._places = listed
        return <const int64_t*> PyBytes_AS_STRING(self._places)

    cdef Py_ssize_t number(self, level, str where="LoD") except -1:
        """Return a level, which may count from the last, as one of 0 .. num_levels - 1."""
        cdef Py_ssize_t k
        try:
            k = level if isinstance(level, int) else as_integer(level)
        except OverflowError:
            k = self.n_levels
        except TypeError:
            raise DTypeError(f"{where}: level: is {level!r}; an integer is needed") from None
        if k < -self.n_levels or k >= self.n_levels:
            there = "is 1 level" if self.n_levels == 1 else f"are {self.n_levels} levels"
            raise LevelError(f"{where}: level: is {level}; there {there}")
        return k + self.n_levels if k < 0 else k

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
        self.level(self.number(level), &count)
        return count

    def offsets(self, level=0):
        """Return the offsets of a level, in sequences of the next level, or rows at the last.

        Parameters
        ----------
        level : int

        Returns
        -------
        ndarray
            int64, shape (num_sequences(level) + 1,), permanently read-only.
        """
        return self.array(self.number(level))

    cdef cnp.ndarray array(self, Py_ssize_t k):
        cdef Py_ssize_t count
        cdef const int64_t* offsets = self.level(k, &count)
        cdef cnp.npy_intp[1] shape = [count + 1]
        return array_over(self._memory, INT64, 1, shape, NULL, offsets, False)

    cdef view(self, Py_ssize_t k):
        """Return the offsets of level k for a kernel: a typed memoryview, taken once."""
        cdef const int64_t[::1] taken
        if self._views is None:
            self._views = [None] * self.n_levels
        if self._views[k] is None:
            taken = self.array(k)
            self._views[k] = taken
        return self._views[k]

    cdef Py_ssize_t block_size(self) except -1:
        cdef Py_ssize_t count
        cdef const int64_t* last = self.level(self.n_levels - 1, &count) if self.n_levels else NULL
        return 0 if last == NULL else last - self._block + count + 1

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, LoDBody):
            return NotImplemented
        cdef LoDBody that = other
        cdef Py_ssize_t size
        if self.n_levels != that.n_levels or self.n_rows != that.n_rows or self.n_outer != that.n_outer:
            return False
        size = self.block_size()
        return size == that.block_size() and (size == 0 or memcmp(self._block, that._block, 8 * size) == 0)

    def __hash__(self):
        if self._hash == 0:
            block = PyBytes_FromStringAndSize(<const char*> self.block(), 8 * self.block_size())
            self._hash = hash((self.n_levels, self.n_rows, block)) or 1
        return self._hash

    cdef LoDBody part(self, Py_ssize_t first, Py_ssize_t stop):
        """Return the levels from `first` to `stop`, which share memory."""
        cdef Py_ssize_t count = 0, rows = self.n_rows
        if stop < self.n_levels:
            self.level(stop, &rows)
        if first >= stop:
            return new_lod(None, NULL, 0, 0, rows)
        cdef const int64_t* block = self.level(first, &count)
        return new_lod(self._memory, block, count, stop - first, rows)

    def take(self, index, level=0):
        """Select sequences of a level by their numbers, without the levels before it.

        Parameters
        ----------
        index : array_like of integers, shape (n,)
            Numbers in any order. They may repeat; negative ones count from the end.
        level : int

        Returns
        -------
        LoD

        Raises
        ------
        IndexError
            If an index is out of range; the message names it and its position.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).take([2, -1, 1])
        LoD([xxx] [xxx] [])
        """
        cdef Py_ssize_t k = self.number(level)
        cdef list levels = []
        cdef cnp.ndarray ranges = take_sequences("LoD.take", self, k, index, levels)
        cdef int64_t size = last(levels[0])
        return make_lod(take_below("LoD.take", self, k + 1, ranges, levels, &size), size)

    def drop(self, level=0):
        """Remove a level: the one before it then counts its elements.

        Parameters
        ----------
        level : int

        Returns
        -------
        LoD
            Has one level fewer and the same rows.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 1], [2, 0, 3]).drop(0)
        LoD([xx] [] [xxx])
        >>> LoD.from_lengths([2, 1], [2, 0, 3]).drop(1)
        LoD([xx] [xxx])
        """
        return self.dropped(self.number(level))

    cdef LoDBody dropped(self, Py_ssize_t k):
        """Return the structure without level k."""
        cdef Py_ssize_t count, inner_count, before, total
        if k == 0:
            return self.part(1, self.n_levels)
        cdef const int64_t* inner = self.level(k, &inner_count)
        cdef const int64_t* outer = self.level(k - 1, &count)
        before, total = outer - self._block, self.block_size() - inner_count - 1
        cdef cnp.ndarray memory = new_offsets(total)
        cdef int64_t* place = <int64_t*> cnp.PyArray_DATA(memory)
        memcpy(place, self._block, 8 * before)
        kernel_calls.compose(outer, count, inner, inner_count, place + before)
        before += count + 1
        memcpy(place + before, inner + inner_count + 1, 8 * (total - before))
        seal(memory)
        return new_lod(memory, place, self.n_outer, self.n_levels - 1, self.n_rows)

    def split(self):
        """Return the LoD of each outermost sequence, which has one level fewer.

        Returns
        -------
        list of LoD
        """
        return [element for element in Splitter(self)]


def normalize_level(LoDBody lod not None, level, str where="LoD"):
    """Return a level, which may count from the last, as one of 0 .. num_levels - 1; `where` is for messages."""
    return lod.number(level, where)


def offsets_view(LoDBody lod not None, Py_ssize_t k):
    """Return the offsets of level k for a kernel: a typed memoryview, taken once."""
    if k < 0 or k >= lod.n_levels:
        raise LevelError(f"LoD: level: is {k}; there are {lod.n_levels} levels")
    return lod.view(k)


def in_rows(LoDBody lod not None, Py_ssize_t k):
    """Return the offsets of level k for a kernel, counted in rows."""
    return offsets_view(lod, k) if k == lod.n_levels - 1 else lod.row_offsets(k)


def has_offsets(LoDBody lod not None, Py_ssize_t k, cnp.ndarray offsets not None):
    """Return whether the offsets of level k are those of a private array of int64."""
    cdef Py_ssize_t size
    if k < 0 or k >= lod.n_levels:
        raise LevelError(f"LoD: level: is {k}; there are {lod.n_levels} levels")
    cdef const int64_t* own = lod.level(k, &size)
    return cnp.PyArray_DIM(offsets, 0) == size + 1 and memcmp(own, cnp.PyArray_DATA(offsets), 8 * (size + 1)) == 0


def slice_levels(LoDBody lod not None, Py_ssize_t first, Py_ssize_t stop):
    """Return the levels from `first` to `stop`, which share memory."""
    if first < 0 or stop > lod.n_levels:
        raise LevelError(f"LoD: levels: are {first} to {stop}; there are {lod.n_levels} levels")
    return lod.part(first, stop)


cdef LoDBody new_lod(memory, const int64_t* block, Py_ssize_t count, Py_ssize_t num_levels, Py_ssize_t num_rows):
    """Make a LoD from a valid block."""
    cdef LoDBody lod = <LoDBody> instance_of(LoDBody, LOD)
    lod._memory, lod._block, lod.n_outer = memory, block, count
    lod.n_levels, lod.n_rows = num_levels, num_rows
    return lod


cpdef LoDBody make_lod(list levels, Py_ssize_t num_rows):
    """Make a LoD from valid offsets, one int64 array per level, coarse first.

    A single array from `new_offsets` is not copied, others are.
    """
    cdef cnp.ndarray memory, level
    cdef int64_t* place
    cdef Py_ssize_t total = 0
    if not levels:
        return new_lod(None, NULL, 0, 0, num_rows)
    if last(levels[len(levels) - 1]) != num_rows:  # another thread has changed the data meanwhile
        raise LoDError(f"LoD: the last offset is {last(levels[len(levels) - 1])}; there are {num_rows} rows")
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
    """Gather ranges of the sequences of level `first` with all levels below; append their offsets to `levels`.

    `ranges` is rewritten to the ranges of rows, and `size`, the sum of their sizes, to the number of rows.
    """
    cdef cnp.ndarray offsets
    cdef Py_ssize_t k, sequences, bad
    cdef const int64_t* level
    for k in range(first, lod.n_levels):
        offsets = new_offsets(size[0] + 1)
        level = lod.level(k, &sequences)
        bad = kernel_calls.take_offsets(level, sequences, ranges, offsets)
        if bad >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows with entry {bad}")
        levels.append(offsets)
        size[0] = last(offsets)
    return levels


cdef cnp.ndarray take_sequences(str where, LoDBody lod, Py_ssize_t k, index, list levels):
    """Gather sequences of level k by their numbers; append its offsets to `levels`, and return the ranges below."""
    cdef cnp.ndarray places = as_int64(index, where + ": index", IndexError)
    cdef Py_ssize_t count = cnp.PyArray_DIM(places, 0), sequences, bad
    cdef const int64_t* numbers = <const int64_t*> cnp.PyArray_DATA(places)  # at once, before anything else runs
    cdef cnp.ndarray ranges = new_int64(count, 2), offsets = new_offsets(count + 1)
    cdef const int64_t* level = lod.level(k, &sequences)
    bad = kernel_calls.take_sequences(level, sequences, places, ranges, offsets)
    if bad >= 0:
        number = numbers[bad]
        if -sequences <= number < sequences:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows with entry {bad}")
        raise IndexError(f"{where}: index: is {number} at position {bad}; there are {sequences} sequences")
    levels.append(offsets)
    return ranges


cpdef cut(LoDBody lod, Py_ssize_t first, Py_ssize_t start, Py_ssize_t stop):
    """Slice the sequences from `start` to `stop` of level `first`.

    Returns
    -------
    (LoD, int, int)
        Their LoD, without the levels before `first`, and the start and stop of their rows.
    """
    return cut_lod(lod, first, &start, &stop), start, stop


cdef LoDBody cut_lod(LoDBody lod, Py_ssize_t first, Py_ssize_t* start, Py_ssize_t* stop):
    """Slice sequences as `cut` does, and replace `start` and `stop` by those of their rows."""
    cdef Py_ssize_t low = start[0], count = stop[0] - low, total, base, end
    cdef LoDBody whole = lod._source, made
    if lod.n_levels == first:
        return new_lod(None, NULL, 0, 0, count)
    if first == 0 and whole is not None:  # a slice of a slice, whose offsets need not be written
        base = end = lod._start
        count_offsets(whole, lod._first, &base, &end)
        start[0], stop[0] = lod._start + low, lod._start + low + count
        made = cut_lod(whole, lod._first, start, stop)
        start[0], stop[0] = start[0] - base, stop[0] - base
        return made
    total = count_offsets(lod, first, start, stop)
    made = new_lod(None, NULL, count, lod.n_levels - first, stop[0] - start[0])
    made._source, made._first, made._start = lod, first, low
    if total < MANY or MOST_HELD * total < lod.block_size():
        made.write_offsets()
    return made


cdef Py_ssize_t count_offsets(LoDBody lod, Py_ssize_t first, Py_ssize_t* low, Py_ssize_t* high) except -1:
    """Count the offsets of sequences of level `first` and of all levels below; replace `low` and `high` by rows."""
    cdef Py_ssize_t k, count, total = 0
    cdef const int64_t* offsets
    for k in range(first, lod.n_levels):
        offsets = lod.level(k, &count)
        total += high[0] - low[0] + 1
        low[0], high[0] = offsets[low[0]], offsets[high[0]]
    return total


cdef cnp.ndarray offsets_from_0(LoDBody lod, Py_ssize_t first, Py_ssize_t start, Py_ssize_t stop):
    """Return the offsets of the sequences from `start` to `stop` of level `first`, and of all levels below."""
    cdef Py_ssize_t k, count, low = start, high = stop
    cdef const int64_t* offsets
    cdef cnp.ndarray memory = new_offsets(count_offsets(lod, first, &low, &high))
    cdef int64_t* place = <int64_t*> cnp.PyArray_DATA(memory)
    low, high = start, stop
    for k in range(first, lod.n_levels):
        offsets = lod.level(k, &count)
        kernel_calls.rebase(offsets, low, high, place)
        place += high - low + 1
        low, high = offsets[low], offsets[high]
    seal(memory)
    return memory


cdef class Splitter:
    """An iterator over the LoDs of the outermost sequences, which are all made at once."""

    def __cinit__(self, LoDBody lod not None):
        cdef Py_ssize_t k, count, total = 0
        lod.number(0)
        self.lod = lod
        self.outer = lod.level(0, &self.count)
        if lod.n_levels > 1:
            for k in range(1, lod.n_levels):
                lod.level(k, &count)
                total += count + self.count
            self.memory = new_offsets(total)
            kernels.lod.split([lod.view(k) for k in range(lod.n_levels)], self.memory)
            seal(self.memory)
            self.place = <const int64_t*> cnp.PyArray_DATA(self.memory)

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.count:
            raise StopIteration
        return self.following()

    cdef LoDBody following(self):
        """Return the next LoD, which must exist."""
        cdef Py_ssize_t size = self.outer[self.at + 1] - self.outer[self.at], rows = size, _k
        cdef const int64_t* block = self.place
        self.at += 1
        for _k in range(1, self.lod.n_levels):
            self.place += rows + 1
            rows = (self.place - 1)[0]
        return new_lod(self.memory, block, size if self.lod.n_levels > 1 else 0, self.lod.n_levels - 1, rows)
