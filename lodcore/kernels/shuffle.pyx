"""Random orders within sequences, computed from random numbers that the caller has drawn."""

from libc.stdint cimport int64_t

from lodcore.kernels.sizes cimport agree, ends_at


def shuffle_places(const int64_t[::1] offsets not None, const int64_t[::1] sizes not None,
                   const double[::1] random not None, int64_t[::1] work not None, int64_t[::1] out not None):
    """Draw elements of each sequence without replacement, by a partial Fisher-Yates shuffle.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    sizes : int64, shape (n_seqs + 1,)
        Offsets of the elements to draw; from each sequence at most as many as it has.
    random : float64, shape (n_drawn,)
        In [0, 1), one per element to draw; a number outside leaves the element at its position.
    work : int64, shape (longest,)
        Work space, as long as the longest sequence.
    out : int64, shape (n_drawn,)
        Written: the positions of the drawn elements within their sequences.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(ends_at(sizes, n_seqs, out.shape[0]) and random.shape[0] == out.shape[0])
    for s in range(n_seqs):
        agree(0 <= sizes[s + 1] - sizes[s] <= offsets[s + 1] - offsets[s] and (
            sizes[s + 1] - sizes[s] in (0, offsets[s + 1] - offsets[s]) or offsets[s + 1] - offsets[s] <= work.shape[0]
        ))
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* drawn = &sizes[0]
    cdef const double* chances = &random[0] if random.shape[0] else NULL
    cdef int64_t* result = &out[0] if out.shape[0] else NULL
    cdef int64_t* scratch = &work[0] if work.shape[0] else NULL
    cdef int64_t* places
    cdef int64_t length, size, first, i, j, kept
    cdef double chance
    with nogil:
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            first = drawn[s]
            size = drawn[s + 1] - first
            if size == 0:
                continue
            places = result + first if size == length else scratch
            for i in range(length):
                places[i] = i
            for i in range(size):
                chance = chances[first + i]
                j = i
                if 0 < chance < 1:
                    j = i + <int64_t> (chance * <double> (length - i))
                    if j >= length:
                        j = length - 1
                kept = places[j]
                places[j] = places[i]
                result[first + i] = kept
