"""Fast paths of frequent functions of tensors, without recording, conversion or threads, directly on their memory.

Each function returns None for all other cases, which the caller handles in general.
"""

cimport lodcore.kernels.arrays as cnp
from cpython.long cimport PyLong_AsLongAndOverflow
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t

from lodcore import kernels
from lodcore.base import threads
from lodcore.base.buffers cimport as_bytes, new_int64, new_offsets, new_rows
from lodcore.base.dispatch cimport Symbol, VariableBody, recorder
from lodcore.kernels.index cimport count_true, take_true_rows
from lodcore.kernels.pool cimport pool_reals, verb_of
from lodcore.tensors.kernel_calls cimport own_kernels
from lodcore.tensors.lod_body cimport last, make_lod
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.lod_tensor_body cimport LoDTensorBody, owned_tensor

cnp.import_array()

cdef int64_t WIDE = threads.WIDE
cdef int64_t BRIEF = 4096  # bytes that take less time than releasing the lock, and taking it again
cdef double LARGEST = 3e38  # below the largest number of float32
cdef int SUM = verb_of("sum"), GREATEST = verb_of("max"), LEAST = verb_of("min")


def where_true(LoDTensorBody x not None, cnp.ndarray mask not None, cnp.ndarray offsets not None):
    """Return the rows for which a mask is true.

    Parameters
    ----------
    x : LoDTensor
    mask : ndarray
        uint8, shape (num_rows,), a private array.
    offsets : ndarray
        int64: the offsets of the last level of the result.
    """
    x.refresh()
    cdef Py_ssize_t k, size = last(offsets), n_rows = x.structure.n_rows, row_bytes = x.row_bytes
    cdef cnp.ndarray rows = new_rows("select_by_mask", x.array, size)
    cdef const char* source = cnp.PyArray_BYTES(x.array)
    cdef const unsigned char* held = <const unsigned char*> cnp.PyArray_DATA(mask)
    cdef char* target = cnp.PyArray_BYTES(rows)
    if cnp.PyArray_DIM(mask, 0) != n_rows:
        raise ValueError("the mask does not belong to the rows")
    if not own_kernels():
        kernels.index.take_true(x.bytes_view(), mask, as_bytes(rows))
    elif size and row_bytes and n_rows * (row_bytes + 1) <= BRIEF:
        take_true_rows(source, n_rows, row_bytes, held, target, size)
    elif size and row_bytes:
        with nogil:
            take_true_rows(source, n_rows, row_bytes, held, target, size)
    outer = [x.structure.array(k) for k in range(x.structure.n_levels - 1)]
    return owned_tensor(rows, make_lod([*outer, offsets], size))


def chosen(LoDTensorBody x not None, LoDTensorBody mask not None):
    """Return the rows for which a mask with an equal structure is true.

    Returns
    -------
    LoDTensor or None
    """
    cdef const int64_t* bounds
    cdef Py_ssize_t n_seqs
    cdef cnp.ndarray held, offsets
    cdef const unsigned char* bits
    cdef int64_t* out
    if (mask.structure is not x.structure or x.structure.n_levels == 0 or cnp.PyArray_TYPE(mask.array) != cnp.NPY_BOOL
            or cnp.PyArray_NDIM(mask.array) != 1 or x.row_bytes not in (1, 2, 4, 8) or mask.field is not None
            or not own_kernels() or recorder(()) is not None):  # tensors do not belong to a Block
        return None
    held = cnp.PyArray_NewCopy(mask.array, cnp.NPY_CORDER)  # a private copy
    bounds = x.structure.level(x.structure.n_levels - 1, &n_seqs)
    offsets = new_offsets(n_seqs + 1)
    bits, out = <const unsigned char*> cnp.PyArray_DATA(held), <int64_t*> cnp.PyArray_DATA(offsets)
    if x.structure.n_rows + 8 * n_seqs <= BRIEF:
        count_true(bounds, n_seqs, bits, out)
    else:
        with nogil:
            count_true(bounds, n_seqs, bits, out)
    return where_true(x, held, offsets)


def uniform_parts(list tensors):
    """Return values and structures of a list of tensors with one dtype and row shape; None for any other list.

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
        if type(entry) is not LoDTensor:
            return None
        tensor = entry
        tensor.refresh()
        values = tensor.array
        if first is None:
            first = values
        if (not cnp.is_same_dtype(values, first)
                or cnp.PyArray_NDIM(values) != cnp.PyArray_NDIM(first)):
            return None
        for axis in range(1, cnp.PyArray_NDIM(first)):
            if cnp.PyArray_DIM(values, axis) != cnp.PyArray_DIM(first, axis):
                return None
        found.append(values)  # never returned to callers
        lods.append(tensor.structure)
    return None if first is None else (found, lods)


def plain_keys(x, key):
    """Return the index of a Variable of an array, the usual case of a cell, as a list of integers and slices.

    Parameters
    ----------
    x, key : object
    """
    cdef Py_ssize_t axes
    if not isinstance(x, Symbol) or not (type(key) is tuple or type(key) is slice or type(key) is int):
        return None
    now = x.current()
    if not isinstance(now, VariableBody):
        return None
    held = (<VariableBody> now).held
    if type(held) is cnp.ndarray:
        axes = cnp.PyArray_NDIM(held)
    else:
        spec = (<VariableBody> now).known_spec
        if spec is None or spec.kind is not cnp.ndarray:
            return None
        axes = len(spec.shape)
    cdef list keys = list(key) if type(key) is tuple else [key]
    if len(keys) > axes:
        return None
    for one in keys:
        if type(one) is slice:
            if isinstance(one.start, Symbol) or isinstance(one.stop, Symbol) or isinstance(one.step, Symbol):
                return None
        elif type(one) is not int:
            return None
    return keys


def reduced(str name not None, given, axis, keepdims, where, first=None, second=None, third=None):
    """Reduce the rows of each sequence of the last level if all options are defaults.

    Parameters
    ----------
    name : {"sum", "mean", "max", "min"}
    given : object
        Must be a LoDTensor.
    axis : object
        Must be the axis of the last level, counted from the first or from the last.
    keepdims, where : object
        As in NumPy; `where` must be True.
    first, second : object
        Other options; must be None.
    third : object
        The initial value of a sum, which must be None, or a number that is the result of no rows, or None.

    Returns
    -------
    LoDTensor, ndarray or None
        None, too, for a maximum or minimum of an empty sequence without `third`.
    """
    if (type(given) is not LoDTensor or type(axis) is not int or (keepdims is not False and keepdims is not True)
            or where is not True or first is not None or second is not None
            or (third is not None and (name == "sum" or type(third) is not float))):
        return None
    found = _reduced(name, given, axis, third)
    if keepdims is False or found is None:
        return found
    if type(found) is cnp.ndarray:
        return found[:, None]
    return owned_tensor((<LoDTensorBody> found).array[:, None], found.lod)


cdef cnp.ndarray counted(cnp.ndarray mask, const int64_t* bounds, Py_ssize_t n_seqs):
    """Count the rows of each sequence for which a mask is true."""
    cdef cnp.ndarray out = new_int64(n_seqs + 1)
    cdef int64_t* counts = <int64_t*> cnp.PyArray_DATA(out)
    cdef const unsigned char* bits = <const unsigned char*> cnp.PyArray_DATA(mask)
    cdef Py_ssize_t s
    with nogil:
        count_true(bounds, n_seqs, bits, counts)
        for s in range(n_seqs):
            counts[s] = counts[s + 1] - counts[s]
    return out[:n_seqs]


cdef void pool_cells(const void* source, bint wide, const int64_t* bounds, Py_ssize_t n_seqs, Py_ssize_t width,
                     int verb, bint divide, bint fills, double empty, void* target) noexcept nogil:
    """Pool the rows of each sequence, of float64 (wide) or float32; that of no rows is `empty`, if it fills."""
    cdef Py_ssize_t s, c
    if wide:
        pool_reals(<const double*> source, bounds, n_seqs, width, verb, divide, <double*> target)
    else:
        pool_reals(<const float*> source, bounds, n_seqs, width, verb, divide, <float*> target)
    if fills:
        for s in range(n_seqs):
            if bounds[s] == bounds[s + 1]:
                for c in range(s * width, (s + 1) * width):
                    if wide:
                        (<double*> target)[c] = empty
                    else:
                        (<float*> target)[c] = <float> empty


cdef _reduced(str name, LoDTensorBody x, axis, empty):
    """Reduce the rows of each sequence, or return None."""
    cdef Py_ssize_t levels = x.structure.n_levels, n_seqs, s, width = 1
    cdef int ndim = cnp.PyArray_NDIM(x.array), kind = cnp.PyArray_TYPE(x.array), j, beyond = 0
    cdef long at = PyLong_AsLongAndOverflow(axis, &beyond)
    cdef const int64_t* bounds
    cdef cnp.ndarray out
    cdef void* source
    cdef void* target
    cdef int verb = GREATEST if name == "max" else LEAST if name == "min" else SUM, divide = name == "mean"
    cdef bint wide = kind == cnp.NPY_DOUBLE, fills = name == "mean" or empty is not None
    cdef double filling = NAN if empty is None else empty
    if levels == 0 or beyond or (at != levels and at != -ndim):
        return None
    if kind not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE) and not (kind == cnp.NPY_BOOL and name == "sum" and ndim == 1):
        return None
    if x.field is not None or not cnp.PyArray_ISNOTSWAPPED(x.array):
        return None
    if cnp.PyArray_NBYTES(x.array) >= WIDE and threads.get_num_threads() > 1:
        return None
    if not own_kernels() or recorder(()) is not None:
        return None
    bounds = x.structure.level(levels - 1, &n_seqs)
    if kind == cnp.NPY_BOOL:
        out = counted(x.array, bounds, n_seqs)
        return out if levels == 1 else owned_tensor(out, x.structure.part(0, levels - 1))
    if not wide and LARGEST < abs(filling) < INFINITY:
        return None
    if verb != SUM and not fills:
        for s in range(n_seqs):
            if bounds[s] == bounds[s + 1]:
                return None
    for j in range(1, ndim):
        width *= cnp.PyArray_DIM(x.array, j)
    out = new_rows(name, x.array, n_seqs)
    source, target = cnp.PyArray_DATA(x.array), cnp.PyArray_DATA(out)
    if cnp.PyArray_NBYTES(x.array) + cnp.PyArray_NBYTES(out) <= BRIEF:
        if n_seqs and width:
            pool_cells(source, wide, bounds, n_seqs, width, verb, divide, fills, filling, target)
    else:
        with nogil:
            pool_cells(source, wide, bounds, n_seqs, width, verb, divide, fills, filling, target)
    return out if levels == 1 else owned_tensor(out, x.structure.part(0, levels - 1))
