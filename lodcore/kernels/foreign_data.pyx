"""Checks of data from outside: offsets from another library, and files that may be damaged."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.simd cimport SIMD_AVX2, avx2_void, forced_void, simd_level
from lodcore.kernels.sizes cimport agree

cdef enum:
    AT_ONCE = 1024  # copied offsets are still in the first-level cache when they are checked

ctypedef fused integer:
    int32_t
    int64_t


def copy_offsets(const integer[::1] offsets not None, int64_t[::1] first not None, int64_t[::1] out not None):
    """Copy offsets that start anywhere, shifted so that they start at 0.

    Parameters
    ----------
    offsets : int32 or int64, shape (n_seqs + 1,)
        Any values; each is read once. Valid offsets are nonnegative and never decrease.
    first : int64, shape (1,)
        Written: the first offset.
    out : int64, shape (n_seqs + 1,)
        Its content, and that of `first`, is undefined if an offset is invalid.

    Returns
    -------
    int
        The first offset that is negative or decreases, -1 if there is none.
    """
    cdef Py_ssize_t count = offsets.shape[0], bad
    agree(count > 0 and first.shape[0] == 1 and out.shape[0] == count)
    cdef const integer* source = &offsets[0]
    cdef int64_t* begin = &first[0]
    cdef int64_t* result = &out[0]
    with nogil:
        bad = copy_checked(source, count, begin, result)
    return bad


def first_fall(const int64_t[::1] offsets not None, int64_t before):
    """Check a part of the offsets of one level.

    Parameters
    ----------
    offsets : int64, shape (count,)
        Any values. Valid offsets are nonnegative and never decrease.
    before : int
        The offset before the first of them; 0 or more.

    Returns
    -------
    int
        The first that is negative or less than the one before, -1 if there is none.
    """
    cdef Py_ssize_t count = offsets.shape[0], s = 0
    if count == 0:
        return -1
    cdef const int64_t* source = &offsets[0]
    cdef int64_t signs = 0
    with nogil:
        run_step_signs(source, count, before, &signs)
        if signs >= 0:
            s = -1
        elif source[0] >= 0 and source[0] >= before:
            s = 1
            while s < count and source[s] >= source[s - 1]:
                s += 1
    return s


def checksum(const unsigned char[::1] data not None, uint64_t before):
    """Compute a checksum of words of 8 bytes (little-endian) that every change of a single word alters.

    Parameters
    ----------
    data : uint8, shape (8 n,)
    before : int
        The checksum of the preceding words; 0 .. 2**64 - 1.

    Returns
    -------
    int
        before * p**n + the sum of word[i] * p**(n - 1 - i), modulo 2**64, where p is 0x9E3779B97F4A7C15.
    """
    cdef Py_ssize_t n_words = data.shape[0] // 8
    cdef const unsigned char* source = &data[0] if n_words else NULL
    cdef uint64_t result
    with nogil:
        result = word_sum(source, n_words, before)
    return result


# -- offsets -----------------------------------------------------------------------------------------------------------


cdef inline forced_void widen(const integer* given, int64_t count, int64_t* out) noexcept nogil:
    cdef int64_t s
    for s in range(count):
        out[s] = given[s]


cdef avx2_void widen_avx2(const integer* given, int64_t count, int64_t* out) noexcept nogil:
    widen(given, count, out)


cdef void widen_plain(const integer* given, int64_t count, int64_t* out) noexcept nogil:
    widen(given, count, out)


cdef void run_widen(const integer* given, int64_t count, int64_t* out) noexcept nogil:
    cdef int level = simd_level()
    if level >= SIMD_AVX2:
        widen_avx2(given, count, out)
    else:
        widen_plain(given, count, out)


cdef inline forced_void step_signs(
    const int64_t* offsets, int64_t count, int64_t before, int64_t* signs
) noexcept nogil:
    """Compute a number whose sign bit is set if an offset is negative or less than the one before."""
    cdef uint64_t found = <uint64_t> offsets[0] | (<uint64_t> offsets[0] - <uint64_t> before)
    cdef int64_t s
    for s in range(1, count):  # differences of nonnegative numbers cannot overflow
        found |= <uint64_t> offsets[s] | (<uint64_t> offsets[s] - <uint64_t> offsets[s - 1])
    signs[0] = <int64_t> found


cdef avx2_void step_signs_avx2(const int64_t* offsets, int64_t count, int64_t before, int64_t* signs) noexcept nogil:
    step_signs(offsets, count, before, signs)


cdef void step_signs_plain(const int64_t* offsets, int64_t count, int64_t before, int64_t* signs) noexcept nogil:
    step_signs(offsets, count, before, signs)


cdef void run_step_signs(const int64_t* offsets, int64_t count, int64_t before, int64_t* signs) noexcept nogil:
    cdef int level = simd_level()
    if level >= SIMD_AVX2:
        step_signs_avx2(offsets, count, before, signs)
    else:
        step_signs_plain(offsets, count, before, signs)


cdef inline forced_void move_to_zero(int64_t* offsets, int64_t count, int64_t first) noexcept nogil:
    cdef int64_t s
    for s in range(count):
        offsets[s] -= first


cdef avx2_void move_to_zero_avx2(int64_t* offsets, int64_t count, int64_t first) noexcept nogil:
    move_to_zero(offsets, count, first)


cdef void move_to_zero_plain(int64_t* offsets, int64_t count, int64_t first) noexcept nogil:
    move_to_zero(offsets, count, first)


cdef void run_move_to_zero(int64_t* offsets, int64_t count, int64_t first) noexcept nogil:
    cdef int level = simd_level()
    if level >= SIMD_AVX2:
        move_to_zero_avx2(offsets, count, first)
    else:
        move_to_zero_plain(offsets, count, first)


cdef int64_t copy_checked(const integer* given, int64_t count, int64_t* first, int64_t* out) noexcept nogil:
    """Copy offsets, each read once and then checked and shifted; return the first that is bad, or -1."""
    cdef int64_t before = 0, start = 0, signs = 0, chunk, s
    cdef int64_t* place
    while start < count:
        chunk = count - start if count - start < AT_ONCE else AT_ONCE
        place = out + start
        run_widen(given + start, chunk, place)
        if start == 0:
            before = place[0]
            first[0] = before
        run_step_signs(place, chunk, before, &signs)
        if signs < 0:
            for s in range(chunk):
                if place[s] < before or place[s] < 0:
                    return start + s
                before = place[s]
        before = place[chunk - 1]
        if first[0] != 0:
            run_move_to_zero(place, chunk, first[0])
        start += AT_ONCE
    return -1


# -- checksums ---------------------------------------------------------------------------------------------------------


cdef uint64_t word_sum(const unsigned char* data, int64_t n_words, uint64_t total) noexcept nogil:
    """A polynomial in the words of 8 bytes, modulo 2**64.

    Eight sums run at once, since one would wait for each product.
    """
    cdef uint64_t prime = 0x9E3779B97F4A7C15ULL, power = prime * prime, word
    cdef uint64_t lanes[8]
    cdef int64_t w = 0, k
    power *= power
    power *= power  # prime ** 8
    if n_words >= 8:
        for k in range(7):
            lanes[k] = 0
        lanes[7] = total  # treated as the last word before
        while w + 8 <= n_words:
            for k in range(8):
                memcpy(&word, data + 8 * (w + k), 8)
                lanes[k] = lanes[k] * power + word
            w += 8
        total = 0
        for k in range(8):
            total = total * prime + lanes[k]
    while w < n_words:
        memcpy(&word, data + 8 * w, 8)
        total = total * prime + word
        w += 1
    return total
