"""Ranges of numbers, one per sequence."""

from libc.stdint cimport int64_t

from lodcore.kernels.sizes cimport agree, ends_at

ctypedef fused number:
    int64_t
    double


def fill_ranges(const number[::1] starts not None, const number[::1] steps not None,
                const int64_t[::1] offsets not None, number[::1] out not None):
    """Write start, start + step, start + 2 * step, ... for each sequence.

    Parameters
    ----------
    starts, steps : int64 or float64, shape (n_seqs,)
    offsets : int64, shape (n_seqs + 1,)
    out : of the same dtype, shape (n_rows,)
        Written; int64 results must not overflow.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(ends_at(offsets, n_seqs, out.shape[0]) and starts.shape[0] == n_seqs and steps.shape[0] == n_seqs)
    cdef const int64_t* bounds = &offsets[0]
    cdef number* result = &out[0] if out.shape[0] else NULL
    cdef int64_t place, first, size
    cdef number start, step
    with nogil:
        for s in range(n_seqs):
            first = bounds[s]
            size = bounds[s + 1] - first
            start = starts[s]
            step = steps[s]
            if step == 1:
                for place in range(size):
                    result[first + place] = start + <number> place
            else:
                for place in range(size):
                    result[first + place] = start + <number> place * step
