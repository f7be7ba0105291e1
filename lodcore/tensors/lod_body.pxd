cimport cython
cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int64_t

cdef extern from "lod_body.h":
    object instance_of(object base, object type)
    const Py_ssize_t NEAR
    void list_places(const int64_t* offsets, int64_t count, int64_t n_levels, int64_t* out)


@cython.no_gc
cdef class LoDBody:
    cdef object __weakref__
    cdef object _memory  # the array over the bytes
    cdef const int64_t* _block  # NULL without levels, and for a slice whose offsets have not been written
    cdef LoDBody _source  # the LoD of which this is a slice, until its offsets are written
    cdef Py_ssize_t _first, _start  # the level of the source that is the first one here, and its start there
    cdef Py_ssize_t n_outer, n_levels, n_rows  # n_outer: sequences of level 0
    cdef list _views
    cdef bytes _places  # the position of each level in the block, once a level below the first few was needed
    cdef Py_hash_t _hash

    cdef const int64_t* block(self) except? NULL
    cdef int write_offsets(self) except -1
    cdef const int64_t* level(self, Py_ssize_t k, Py_ssize_t* count) except? NULL
    cdef const int64_t* places(self) except NULL
    cdef Py_ssize_t number(self, level, str where=*) except -1
    cdef cnp.ndarray array(self, Py_ssize_t k)
    cdef view(self, Py_ssize_t k)
    cdef Py_ssize_t block_size(self) except -1
    cdef LoDBody dropped(self, Py_ssize_t k)
    cdef LoDBody part(self, Py_ssize_t first, Py_ssize_t stop)


cdef class Splitter:
    cdef LoDBody lod
    cdef object memory
    cdef const int64_t* place
    cdef const int64_t* outer
    cdef Py_ssize_t at, count

    cdef LoDBody following(self)


cdef LoDBody new_lod(memory, const int64_t* block, Py_ssize_t count, Py_ssize_t num_levels, Py_ssize_t num_rows)
cpdef LoDBody make_lod(list levels, Py_ssize_t num_rows)
cdef int64_t last(cnp.ndarray offsets) noexcept
cdef list take_below(str where, LoDBody lod, Py_ssize_t first, cnp.ndarray ranges, list levels, int64_t* size)
cdef cnp.ndarray take_sequences(str where, LoDBody lod, Py_ssize_t k, index, list levels)
cpdef cut(LoDBody lod, Py_ssize_t first, Py_ssize_t start, Py_ssize_t stop)
cdef LoDBody cut_lod(LoDBody lod, Py_ssize_t first, Py_ssize_t* start, Py_ssize_t* stop)
