"""Offset arithmetic for several compiled files: lengths, shifts, checks, steps, and sequences that are selected."""

from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.simd cimport avx2_void, forced_void, has_wide, prefetch, read_once

cdef enum:
    FAR = 16  # sequences ahead, of which the offsets are fetched

cdef extern from "offsets.h" nogil:
    int64_t add_many(const int64_t* lengths, int64_t n_seqs, int64_t* out, uint64_t* signs)
    int64_t copy_many(const int64_t* offsets, int64_t count, int64_t* out, uint64_t* signs)


# -- lengths and shifts ------------------------------------------------------------------------------------------------


cdef inline forced_void subtract(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    cdef int64_t s
    for s in range(n_seqs):
        out[s] = offsets[s + 1] - offsets[s]


cdef inline avx2_void subtract_avx2(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    subtract(offsets, n_seqs, out)


cdef inline void differences(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    """Compute the length of each sequence."""
    if has_wide():
        subtract_avx2(offsets, n_seqs, out)
    else:
        subtract(offsets, n_seqs, out)


cdef inline forced_void add_shift(const int64_t* offsets, int64_t count, int64_t shift, int64_t* out) noexcept nogil:
    cdef int64_t s
    for s in range(count):
        out[s] = offsets[s] + shift


cdef inline avx2_void add_shift_avx2(
    const int64_t* offsets, int64_t count, int64_t shift, int64_t* out
) noexcept nogil:
    add_shift(offsets, count, shift, out)


cdef inline void shift_offsets(const int64_t* offsets, int64_t count, int64_t shift, int64_t* out) noexcept nogil:
    """Add a number to each offset."""
    if has_wide():
        add_shift_avx2(offsets, count, shift, out)
    else:
        add_shift(offsets, count, shift, out)


cdef inline int64_t longest(const int64_t* offsets, int64_t n_seqs) noexcept nogil:
    """Return the greatest length, 0 if there are no sequences."""
    cdef int64_t most = 0, s
    for s in range(n_seqs):
        most = offsets[s + 1] - offsets[s] if offsets[s + 1] - offsets[s] > most else most
    return most


cdef inline void add_steps(const int64_t* offsets, int64_t n_seqs, int64_t n_steps, int64_t* out) noexcept nogil:
    """Compute the offsets of the steps from the number of sequences that reach each of them."""
    cdef int64_t reach, ended, total = 0, s, t
    memset(out, 0, (n_steps + 1) * sizeof(int64_t))
    for s in range(n_seqs):  # first the number of sequences of each length,
        out[offsets[s + 1] - offsets[s]] += 1
    reach = n_seqs - out[0]
    out[0] = 0
    for t in range(n_steps):  # then the running sum of those that are longer
        ended = out[t + 1]
        total += reach
        out[t + 1] = total
        reach -= ended


# -- offsets from outside: each number is read once, so that the one that was checked is the one that is used ----------


cdef inline forced_void join_signs(const int64_t* offsets, int64_t n_seqs, int64_t* signs) noexcept nogil:
    cdef uint64_t any = <uint64_t> offsets[0]
    cdef int64_t s
    for s in range(n_seqs):  # differences of nonnegative numbers cannot overflow
        any |= <uint64_t> offsets[s + 1] | (<uint64_t> offsets[s + 1] - <uint64_t> offsets[s])
    signs[0] = <int64_t> any


cdef inline avx2_void join_signs_avx2(const int64_t* offsets, int64_t n_seqs, int64_t* signs) noexcept nogil:
    join_signs(offsets, n_seqs, signs)


cdef inline int64_t offset_signs(const int64_t* offsets, int64_t n_seqs) noexcept nogil:
    """Return a number whose sign bit is set if an offset is negative or less than the one before."""
    cdef int64_t signs
    if has_wide():
        join_signs_avx2(offsets, n_seqs, &signs)
    else:
        join_signs(offsets, n_seqs, &signs)
    return signs


cdef inline int64_t add_lengths(const int64_t* lengths, int64_t n_seqs, int64_t* out) noexcept nogil:
    """Compute offsets from lengths; the sign bit of the result is set if a length or a sum is negative."""
    cdef uint64_t signs = 0, total, length
    cdef int64_t s
    out[0] = 0
    s = add_many(lengths, n_seqs, out + 1, &signs)
    total = <uint64_t> out[s]
    while s < n_seqs:
        length = <uint64_t> read_once(lengths + s)
        total += length
        signs |= length | total
        s += 1
        out[s] = <int64_t> total
    return <int64_t> signs


cdef inline int64_t copy_offsets(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    """Copy offsets; the sign bit of the result is set if one is negative or less than the one before."""
    cdef uint64_t signs = 0
    cdef int64_t s = copy_many(offsets, n_seqs + 1, out, &signs)
    if s == 0:
        out[0] = read_once(offsets)
        s = 1
    memcpy(out + s, offsets + s, (n_seqs + 1 - s) * sizeof(int64_t))
    return <int64_t> (signs | <uint64_t> offset_signs(out + s - 1, n_seqs + 1 - s))


# -- sequences that are selected ---------------------------------------------------------------------------------------


cdef inline int64_t take_by_index(
    const int64_t* offsets, int64_t n_seqs, const int64_t* index, int64_t count, int64_t* ranges, int64_t* out
) noexcept nogil:
    """Compute offsets and ranges of sequences from their numbers; return the first bad number or overflow, or -1."""
    cdef int64_t total = 0, ahead, j, s, start, stop
    out[0] = 0
    for j in range(count):
        ahead = read_once(index + j + FAR) if j + FAR < count else -1
        if <uint64_t> ahead < <uint64_t> n_seqs:
            prefetch(offsets + ahead)
        s = read_once(index + j)
        s = s + n_seqs if s < 0 else s
        if <uint64_t> s >= <uint64_t> n_seqs:
            return j
        start, stop = offsets[s], offsets[s + 1]
        if stop - start > INT64_MAX - total:
            return j
        total += stop - start
        ranges[2 * j] = start
        ranges[2 * j + 1] = stop
        out[j + 1] = total
    return -1


cdef inline int64_t take_range_offsets(
    const int64_t* offsets, int64_t* ranges, int64_t count, int64_t* out
) noexcept nogil:
    """Compute offsets of ranges of sequences, and replace the ranges by those of the next level.

    Return the first range whose offsets overflow, -1 if there is none.
    """
    cdef int64_t total = 0, j, start, stop, shift
    cdef const int64_t* first
    cdef const int64_t* last
    out[0] = 0
    out += 1
    for j in range(count):
        if j + FAR < count:
            prefetch(offsets + ranges[2 * (j + FAR)])
        first, last = offsets + ranges[2 * j], offsets + ranges[2 * j + 1]
        start, stop = first[0], last[0]
        shift = total - start
        if stop - start > INT64_MAX - total:
            return j
        ranges[2 * j] = start
        ranges[2 * j + 1] = stop
        first += 1
        while first < last:
            out[0] = first[0] + shift
            out += 1
            first += 1
        total = stop + shift
        if first == last:
            out[0] = total
            out += 1
    return -1
