"""Sizes that must agree before a kernel touches memory: each kernel compares them at its door."""

from libc.stdint cimport int64_t


cdef inline int agree(bint sizes) except -1:
    """Raise if arrays do not belong together."""
    if not sizes:
        raise ValueError("the arrays do not belong together")
    return 0


cdef inline bint ends_at(const int64_t[::1] offsets, Py_ssize_t n_seqs, Py_ssize_t n_rows) noexcept:
    """Return whether offsets are those of so many sequences, which have so many rows."""
    return n_seqs >= 0 and offsets.shape[0] == n_seqs + 1 and offsets[n_seqs] == n_rows


cdef inline int64_t size_of_ranges(const int64_t[:, ::1] ranges, int64_t size) noexcept:
    """Add up the sizes of ranges; -1 if one is reversed, or leaves 0 .. size."""
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
