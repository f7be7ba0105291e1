"""Checks of data from outside: offsets from another library, and files that may be damaged."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from lodcore.kernels.sizes cimport agree

cdef extern from "foreign_data.h" nogil:
    int64_t copy_checked(const char* given, int64_t count, int64_t size, int64_t* first, int64_t* out)
    void step_signs(const int64_t* offsets, int64_t count, int64_t before, int64_t* signs)
    uint64_t word_sum(const unsigned char* data, int64_t n_words, uint64_t sum)

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
    cdef const char* source = <const char*> &offsets[0]
    cdef int64_t* begin = &first[0]
    cdef int64_t* result = &out[0]
    with nogil:
        bad = copy_checked(source, count, sizeof(integer), begin, result)
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
    cdef int64_t signs
    with nogil:
        step_signs(source, count, before, &signs)
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
