cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int64_t

cdef bint own_kernels() noexcept
cdef int compose(const int64_t* outer, Py_ssize_t n_outer, const int64_t* inner, Py_ssize_t n_inner,
                 int64_t* out) except -1
cdef int rebase(const int64_t* offsets, Py_ssize_t start, Py_ssize_t stop, int64_t* out) except -1
cdef int append(const int64_t* offsets, Py_ssize_t n_seqs, int64_t* out) except -1
cdef Py_ssize_t take_offsets(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray ranges, cnp.ndarray out) except -2
cdef Py_ssize_t take_sequences(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray index, cnp.ndarray ranges,
                               cnp.ndarray out) except -2
cdef int copy_ranges(cnp.ndarray rows, Py_ssize_t n_rows, Py_ssize_t row_bytes, cnp.ndarray ranges, cnp.ndarray out,
                     Py_ssize_t size) except -1
cdef Py_ssize_t offsets_from_lengths(cnp.ndarray lengths, cnp.ndarray out) except -2
cdef Py_ssize_t copy_checked(const int64_t* given, cnp.ndarray copy) except -2
cdef Py_ssize_t max_length(const int64_t* offsets, Py_ssize_t n_seqs) except -1
cdef int step_offsets(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray out) except -1
