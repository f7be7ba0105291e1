"""The compiled body of LoDTensor: fields, trusted constructors, x[i], x[a:b], iteration, gathering sequences."""

cimport cython
cimport lodcore.kernels.arrays as cnp
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject, newfunc
from cpython.type cimport type as Class
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport int64_t

from types import GenericAlias

import numpy as np

from lodcore import kernels
from lodcore.base import recycling, threads
from lodcore.base.buffers cimport Memory, as_bytes, guarded, is_plain, is_untouched, memory_of
from lodcore.base.buffers cimport new_int64, new_rows, private, row_size, rows_over, seal
from lodcore.tensors cimport kernel_calls
from lodcore.tensors.lod_body cimport LoDBody, Splitter, cut_lod, instance_of, last, make_lod
from lodcore.tensors.lod_body cimport take_below, take_sequences
from lodcore.errors import ShapeError
from lodcore.base.dispatch cimport running
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_integer
from lodcore.base.handing_over cimport lent
from lodcore.base.handing_over import register_results

cdef extern from "Python.h":
    ctypedef struct PySliceObject:
        PyObject* start
        PyObject* stop

cnp.import_array()

cdef int64_t WIDE = threads.WIDE

cdef object TENSOR = LoDTensorBody  # the public class, which `register` gives
cdef object GENERAL_ITEM = None
cdef newfunc NEW_OF_PYTHON = NULL  # what calls `LoDTensor.__new__`
cdef tuple TENSORS = (Symbol, LoDTensorBody)
cdef cnp.ndarray NO_ROWS = np.empty(0)
cdef LoDBody NO_LEVELS = LoDBody()


def register(tensor, general_item):
    """Set the class that the trusted constructors make, and the function for x[key] with keys not handled here."""
    global TENSOR, GENERAL_ITEM, NEW_OF_PYTHON
    TENSOR, GENERAL_ITEM = tensor, general_item
    NEW_OF_PYTHON = (<PyTypeObject*> tensor).tp_new
    (<PyTypeObject*> tensor).tp_new = made_at_once


cdef made_at_once(Class kind, PyObject* args, PyObject* named):
    """Make `LoDTensor(values, lod)` of plain rows; a call of `__new__` would take as long again."""
    if named == NULL and len(<tuple> args) == 2:
        made = over_plain(kind, (<tuple> args)[0], (<tuple> args)[1])
        if made is not None:
            return made
    return NEW_OF_PYTHON(kind, args, named)


@cython.no_gc
cdef class LoDTensorBody:
    """The fields of a LoDTensor, and indexing by views.

    The array of the values is private. Callers get views of its memory, so that changes of their shape, dtype or flags
    do not affect the tensor, and the memory that a call reads cannot be resized.
    """

    def __cinit__(self):
        self.array = NO_ROWS
        self.structure = NO_LEVELS
        self.row_bytes = 8

    __class_getitem__ = classmethod(GenericAlias)  # LoDTensor[np.float32], for type checkers

    @property
    def values(self):
        """The rows of all sequences, consecutively: ndarray, shape (num_rows, ...)."""
        if self._given is not None and running == 0 and is_same(self._given, self.array):
            return self._given
        return self.shown()

    @property
    def lod(self):
        """The structure: LoD."""
        return self.structure

    @property
    def dtype(self):
        """The dtype of the values."""
        return <object> cnp.PyArray_DESCR(self.array)

    @property
    def ndim(self):
        """The number of axes, ragged ones included."""
        return self.structure.n_levels + cnp.PyArray_NDIM(self.array)

    @property
    def num_levels(self):
        """The number of levels."""
        return self.structure.n_levels

    @property
    def num_rows(self):
        """The number of rows of all sequences together."""
        return self.structure.n_rows

    @property
    def offsets(self):
        """The offsets of the outermost level: int64, read-only."""
        return self.structure.array(0 if self.structure.n_levels else self.structure.number(0))

    cdef int refresh(self) except -1:
        """Copy the field of records that this tensor shows, since the records may have been written to."""
        if self.field is not None:
            cnp.PyArray_CopyInto(self.array, self.field)
        return 0

    cdef Memory memory(self):
        if self._memory is None:
            self._memory = memory_of(self.array)
        return self._memory

    cdef cnp.ndarray shown(self):
        """Return a private view of the values, read-only for a field of records."""
        self.refresh()
        if self._shown is not None:
            if is_untouched(<PyObject*> self._shown, <PyObject*> self.array):
                return self._shown
            if self._second is not None and is_untouched(<PyObject*> self._second, <PyObject*> self.array):
                return self._second
            self._second = self._shown  # in use: x + x needs two
        self._shown = rows_over(self.memory(), self.array, 0, cnp.PyArray_DIM(self.array, 0))
        if self.field is not None:
            seal(self._shown)
        return self._shown

    cdef cnp.ndarray rows(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the rows from `start` to `stop`, which are in range, as a view."""
        return rows_over(self.memory(), self.array, start, stop)

    cdef bytes_view(self):
        """Return the values for a kernel: a typed memoryview of bytes, shape (num_rows, row_bytes), taken once."""
        cdef const unsigned char[:, ::1] taken
        self.refresh()
        if self._bytes is None:
            taken = as_bytes(self.array)
            self._bytes = taken
        return self._bytes

    def __len__(self):
        return self.structure.n_outer if self.structure.n_levels else self.structure.n_rows

    def __getitem__(self, key):
        cdef Py_ssize_t i, start, stop, step, size = len(self)
        cdef const int64_t* outer
        cdef int overflow
        if type(key) is slice:
            if is_symbol((<PySliceObject*> key).start) or is_symbol((<PySliceObject*> key).stop):
                return GENERAL_ITEM(self, key)
            PySlice_Unpack(key, &start, &stop, &step)
            if step != 1:
                return GENERAL_ITEM(self, key)
            PySlice_AdjustIndices(size, &start, &stop, step)
            return self.cut_out(0, start, max(start, stop))
        if not PyLong_CheckExact(key):
            number = None if isinstance(key, TENSORS) else as_integer(key)
            if number is None:
                return GENERAL_ITEM(self, key)
            key = number
        i = PyLong_AsLongLongAndOverflow(key, &overflow)
        i = i + size if i < 0 else i
        if overflow or i < 0 or i >= size:
            raise IndexError(f"index {key} is out of bounds for axis 0 with size {size}")
        outer = self.structure.block()
        if self.structure.n_levels == 1:
            return self.field[outer[i]:outer[i + 1]] if self.field is not None else self.rows(outer[i], outer[i + 1])
        if self.structure.n_levels == 0:
            return self.shown()[i]
        return self.cut_out(1, outer[i], outer[i + 1])

    cdef cut_out(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop):
        """Return the sequences from `start` to `stop` of a level as a view."""
        if level == 0 and start == 0 and stop == len(self):
            lod, stop = self.structure, self.structure.n_rows
        else:
            lod = cut_lod(self.structure, level, &start, &stop)
        rows = self.rows(start, stop) if self.field is None else self.field[start:stop]
        return owned_tensor(rows, lod) if self.field is None else field_tensor(rows, lod)

    def __iter__(self):
        if self.structure.n_levels == 0:
            return iter(self.shown())
        return Sequences(self) if self.field is None else (self[i] for i in range(len(self)))

    def flatten(self, level=0):
        """Remove a level, by default the outermost; see `LoD.drop`.

        Parameters
        ----------
        level : int
            With documents of sentences of words, 0 removes the documents, which leaves the sentences of all of them;
            1 removes the sentences, which leaves the words of each document.

        Returns
        -------
        LoDTensor, or ndarray if no level is left
            It shares the values.

        Examples
        --------
        >>> import lodcore
        >>> documents = lodcore.array([[[1, 2], [3]], [[4, 5]]])
        >>> documents.flatten().tolist(), documents.flatten(1).tolist()
        ([[1, 2], [3], [4, 5]], [[1, 2, 3], [4, 5]])
        """
        cdef LoDBody lod = self.structure.dropped(self.structure.number(level, "LoDTensor.flatten"))
        rows = self.array if lod.n_levels and self.field is None else self.shown()
        return owned_tensor(rows, lod) if lod.n_levels else rows


def private_values(LoDTensorBody x not None):
    """Return the values as a private view."""
    return x.shown()


def writable_values(LoDTensorBody x not None):
    """Return the array to write values to: a view of the values, or the field of records that a tensor shows."""
    return x.rows(0, x.structure.n_rows) if x.field is None else x.field


def rows_as_bytes(LoDTensorBody x not None):
    """Return the values for a kernel: a typed memoryview of bytes, shape (num_rows, row_bytes), taken once."""
    return x.bytes_view()


def take_ranges(LoDTensorBody x not None, str where, Py_ssize_t level, cnp.ndarray ranges not None, int64_t size,
                out=None, list upper=None):
    """Gather ranges of the sequences of a level (or of rows, if there is none), with all levels below.

    Parameters
    ----------
    x : LoDTensor
    where : str
        The name of the function, for the message.
    level : int
        0 .. num_levels.
    ranges : ndarray
        int64, shape (n, 2), checked; overwritten.
    size : int
        The sum of the sizes of the ranges.
    out : ndarray, optional
        The array to write the rows to.
    upper : list of ndarray, optional
        The offsets of the levels before; they are appended to.

    Returns
    -------
    LoDTensor
        The upper levels, `level` and the levels below.
    """
    return taken(x, where, level, ranges, size, out, [] if upper is None else upper)


cdef LoDTensorBody taken(LoDTensorBody x, str where, Py_ssize_t level, cnp.ndarray ranges, int64_t size, out,
                         list upper):
    """Take ranges, as `take_ranges` says."""
    cdef list levels = take_below(where, x.structure, level, ranges, upper, &size)
    cdef cnp.ndarray rows = new_rows(where, x.array, size, out)
    if x.field is not None and size < x.structure.n_rows // 4:  # a copy of the field would take longer
        lengths = ranges[:, 1] - ranges[:, 0]
        rows[...] = x.field[np.repeat(ranges[:, 1] - np.cumsum(lengths), lengths) + np.arange(size)]
        return owned_tensor(rows, make_lod(levels, size))
    x.refresh()
    if size * x.row_bytes >= WIDE and threads.get_num_threads() > 1:
        copy_in_parts(x.bytes_view(), ranges, as_bytes(rows))
    else:
        kernel_calls.copy_ranges(x.array, x.structure.n_rows, x.row_bytes, ranges, rows, size)
    return owned_tensor(rows, make_lod(levels, size))


def gather(LoDTensorBody x not None, str where, level, index, out=None, list upper=None):
    """Gather sequences of a level by their numbers, with all levels below; arguments as in `take_ranges`."""
    cdef list levels = [] if upper is None else upper
    cdef Py_ssize_t k = x.structure.number(level, where)
    cdef cnp.ndarray ranges = take_sequences(where, x.structure, k, index, levels)
    return taken(x, where, k + 1, ranges, last(levels[len(levels) - 1]), out, levels)


cdef copy_in_parts(rows, cnp.ndarray ranges, cnp.ndarray out):
    """Copy ranges of rows consecutively, in several threads."""
    offsets = new_int64(cnp.PyArray_DIM(ranges, 0) + 1)
    if kernels.gather.count_ranges(ranges, offsets) >= 0:
        raise MemoryError("lodcore: the result has more than 2**63 - 1 rows")

    def copy(start, stop):
        kernels.gather.copy_ranges(rows, ranges[start:stop], out[offsets[start]:offsets[stop]])

    threads.in_parts(copy, threads.parts(offsets, out.size))


cdef inline bint is_symbol(PyObject* bound):
    return not PyLong_CheckExact(<object> bound) and isinstance(<object> bound, Symbol)


cpdef LoDTensorBody owned_tensor(cnp.ndarray values, LoDBody lod):
    """Make a LoDTensor from a private C-contiguous array, and a structure with as many rows."""
    cdef LoDTensorBody x = <LoDTensorBody> instance_of(LoDTensorBody, TENSOR)
    return filled(x, values, lod)


cdef inline LoDTensorBody filled(LoDTensorBody x, cnp.ndarray values, LoDBody lod):
    if (values is None or lod is None or cnp.PyArray_NDIM(values) == 0
            or cnp.PyArray_DIM(values, 0) != lod.n_rows or not cnp.PyArray_IS_C_CONTIGUOUS(values)):
        raise ShapeError(f"LoDTensor: values: have shape {np.shape(values)} and strides "
                         f"{getattr(values, 'strides', None)}; the structure {lod!r} has other rows")
    x.array, x.structure, x.row_bytes = values, lod, row_size(values)
    return x


cpdef LoDTensorBody new_tensor(cnp.ndarray values, LoDBody lod):
    """Make a LoDTensor from a C-contiguous array that may be shared, and a structure with as many rows."""
    return owned_tensor(private(values), lod)


def field_tensor(cnp.ndarray field, LoDBody lod):
    """Make a LoDTensor from a field of records, with as many rows as the structure; writes go to the records.

    Kernels need contiguous rows: if the field is not contiguous, they read a copy, which `refresh` updates.
    """
    if cnp.PyArray_IS_C_CONTIGUOUS(field) and cnp.PyArray_ISALIGNED(field):
        return new_tensor(field, lod)
    dtype = field.dtype
    if dtype.names is not None:  # without the bytes of the other fields
        dtype = np.dtype([(name, dtype[name]) for name in dtype.names])
    cdef LoDTensorBody x = owned_tensor(np.empty((<object> field).shape, dtype), lod)
    x.field = field
    return x


def on_same_rows(function, tuple operands):
    """Compute on rows of tensors with one structure and number of axes, with numbers and smaller arrays; or on arrays.

    Returns
    -------
    LoDTensor, ndarray or None
        None if operands must be aligned first, or are invalid.
    """
    cdef LoDTensorBody x, first = None
    cdef int ndim = 0, wide = 0
    cdef list values = []
    for operand in operands:
        kind = type(operand)
        if kind is TENSOR:
            x = operand
            x.refresh()
            if first is None:
                first, ndim = x, cnp.PyArray_NDIM(x.array)
            elif x.structure is not first.structure or cnp.PyArray_NDIM(x.array) != ndim:
                return None
            values.append(x.array)
        elif kind is cnp.ndarray and not operand.dtype.hasobject:
            wide = max(wide, cnp.PyArray_NDIM(operand))
            values.append(operand)
        elif kind is float or kind is int:
            values.append(operand)
        else:
            return None
    if (not wide) if first is None else (wide >= ndim or first.structure.n_levels == 0):
        return None
    try:
        result = recycling.computed(function, values)
    except (TypeError, ValueError, OverflowError):
        return None  # aligning the operands raises the error
    if first is None:
        return result
    if (type(result) is not cnp.ndarray or cnp.PyArray_NDIM(result) != ndim or not cnp.PyArray_IS_C_CONTIGUOUS(result)
            or cnp.PyArray_DIM(result, 0) != first.structure.n_rows or result.dtype.hasobject):
        return None
    return owned_tensor(result, first.structure)


def over_plain(cls, values, lod):
    """Make a LoDTensor, or one of a subclass, over an array of the caller, whom the tensor does not let write to it.

    Returns
    -------
    LoDTensor or None
        None unless rows need no conversion, and the structure has as many.
    """
    if not is_plain(values) or not isinstance(lod, LoDBody) or len(values) != (<LoDBody> lod).n_rows:
        return None
    return owned_of_class(cls, guarded(values), lod)


def owned_of_class(cls, cnp.ndarray values, LoDBody lod):
    """Make a tensor of a subclass of LoDTensor; arguments as in `owned_tensor`."""
    if cls is TENSOR:
        return owned_tensor(values, lod)
    if not issubclass(cls, LoDTensorBody):
        raise TypeError(f"LoDTensor: {cls!r} is not a subclass")
    return filled((<PyTypeObject*> LoDTensorBody).tp_new(cls, <PyObject*> (), NULL), values, lod)


def new_of_class(cls, cnp.ndarray values, LoDBody lod):
    """Make a tensor of a subclass of LoDTensor; arguments as in `new_tensor`."""
    return owned_of_class(cls, private(values), lod)


def body_of(LoDTensorBody x not None):
    """Return a tensor of a subclass as a LoDTensor, without calling its methods."""
    x.refresh()
    return owned_tensor(x.array, x.structure)


cdef inline bint is_same(cnp.ndarray one, cnp.ndarray other) noexcept:
    """Return whether two arrays have the same memory, shape and dtype."""
    cdef int axis, ndim = cnp.PyArray_NDIM(one)
    if (cnp.PyArray_DATA(one) != cnp.PyArray_DATA(other) or ndim != cnp.PyArray_NDIM(other)
            or not cnp.is_same_dtype(one, other) or not cnp.PyArray_IS_C_CONTIGUOUS(one)):
        return False
    for axis in range(ndim):
        if cnp.PyArray_DIM(one, axis) != cnp.PyArray_DIM(other, axis):
            return False
    return True


def hand_out(result, out):
    """Return a result in which the caller's array `out` itself is the values of the tensor, or the result.

    Parameters
    ----------
    result : LoDTensor or ndarray, or a tuple that begins with one
    out : ndarray
    """
    cdef LoDTensorBody x
    if type(result) is tuple:
        return (hand_out(result[0], out), *result[1:])
    if type(out) is not cnp.ndarray:
        return result
    if isinstance(result, LoDTensorBody):
        x = result
        if is_same(out, x.array):
            x._given = out
    elif type(result) is cnp.ndarray and is_same(out, result):
        return out
    return result


def lend(LoDTensorBody x not None, list owners not None):
    """Return a tensor; one that shares the memory of arrays, as a tensor whose values cannot be written."""
    values = lent(x.array, owners)
    return x if values is x.array else owned_tensor(values, x.structure)


register_results(LoDTensorBody, hand_out, lend)


cdef class Sequences:
    """An iterator over the outermost sequences of a LoDTensor."""

    cdef LoDTensorBody x
    cdef Splitter lods
    cdef Py_ssize_t at, row

    def __cinit__(self, LoDTensorBody x not None):
        self.x = x
        if x.structure.n_levels > 1:
            self.lods = Splitter(x.structure)

    def __iter__(self):
        return self

    def __length_hint__(self):
        return max(0, self.x.structure.n_outer - self.at)

    def __next__(self):
        cdef LoDBody lod
        cdef Py_ssize_t start
        cdef const int64_t* outer
        if self.at >= self.x.structure.n_outer:
            raise StopIteration
        if self.lods is None:
            self.at += 1
            outer = self.x.structure.block()
            return self.x.rows(outer[self.at - 1], outer[self.at])
        lod = self.lods.following()
        self.at += 1
        start = self.row
        self.row += lod.n_rows
        return owned_tensor(self.x.rows(start, self.row), lod)
