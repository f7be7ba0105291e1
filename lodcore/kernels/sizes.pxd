"""Sizes that must agree before a kernel touches memory: each kernel compares them on entry."""

from libc.stdint cimport int64_t


cdef inline int agree(bint sizes) except -1:
    """Raise ValueError if the sizes of arrays do not match."""
    if not sizes:
        raise ValueError("the arrays do not belong together")
    return 0


cdef inline bint ends_at(const int64_t[::1] offsets, Py_ssize_t n_seqs, Py_ssize_t n_rows) noexcept:
    """Return whether offsets have the given numbers of sequences and rows."""
    return n_seqs >= 0 and offsets.shape[0] == n_seqs + 1 and offsets[n_seqs] == n_rows


cdef inline int64_t size_of_ranges(const int64_t[:, ::1] ranges, int64_t size) noexcept nogil:
    """Sum the sizes of ranges; return -1 if one is reversed, or exceeds 0 .. size."""
    cdef Py_ssize_t count = ranges.shape[0], j
    cdef const int64_t* pairs
    cdef int64_t total = 0, signs = 0
    if ranges.shape[1] != 2:
        return -1
    if count == 0:
        return 0
    pairs = &ranges[0, 0]
    for j in range(count):
        signs |= pairs[2 * j] | (pairs[2 * j + 1] - pairs[2 * j]) | (size - pairs[2 * j + 1])
        total += pairs[2 * j + 1] - pairs[2 * j]
    return -1 if signs < 0 else total
