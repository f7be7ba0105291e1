"""Offsets, lengths, segment ids and positions of one level, and the check of its offsets."""

from libc.stdint cimport int64_t

from lodcore.kernels.sizes cimport agree, ends_at

cdef extern from "rows.h" nogil:
    int64_t read_once(const int64_t* place)
    int64_t add_lengths(const int64_t* lengths, int64_t n_seqs, int64_t* out)
    int64_t longest(const int64_t* offsets, int64_t n_seqs)
    void differences(const int64_t* offsets, int64_t n_seqs, int64_t* out)
    void offset_signs(const int64_t* offsets, int64_t n_seqs, int64_t* signs)
    void fill_ids(const int64_t* offsets, int64_t n_seqs, int64_t* out)
    void fill_positions(const int64_t* offsets, int64_t n_seqs, int64_t* out)


def offsets_from_lengths(const int64_t[::1] lengths not None, int64_t[::1] out not None):
    """Add up lengths to offsets.

    Parameters
    ----------
    lengths : int64, shape (n_seqs,)
        Any values; each is read once.
    out : int64, shape (n_seqs + 1,)
        Its content after a bad length is of no use.

    Returns
    -------
    int
        The first length that is negative or makes the sum overflow, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = lengths.shape[0], bad
    agree(out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &lengths[0] if n_seqs else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        bad = -1 if add_lengths(source, n_seqs, result) >= 0 else first_fall(result, n_seqs) - 1
    return bad


cdef Py_ssize_t first_fall(const int64_t* offsets, Py_ssize_t n_seqs) noexcept nogil:
    """Return the first position whose value is negative or below the one before, -1 if there is none."""
    cdef Py_ssize_t s
    for s in range(n_seqs + 1):
        if offsets[s] < 0 or (s > 0 and offsets[s] < offsets[s - 1]):
            return s
    return -1


def lengths_from_offsets(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Take the differences of neighbouring offsets.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    out : int64, shape (n_seqs,)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    agree(n_seqs >= 0 and out.shape[0] == n_seqs)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0] if n_seqs else NULL
    with nogil:
        differences(source, n_seqs, result)


def first_bad_offset(const int64_t[::1] offsets not None, int64_t stop):
    """Check the offsets of one level.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
        Any values, at least one.
    stop : int
        What the last offset must be; -1 if any will do.

    Returns
    -------
    int
        The first position that is wrong: 0 if it is not 0, else one below its left neighbour, else the last
        if it is not `stop`; -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, bad = -1
    agree(n_seqs >= 0)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t signs
    with nogil:
        offset_signs(source, n_seqs, &signs)
        if source[0] != 0:
            bad = 0
        elif signs < 0:
            bad = first_fall(source, n_seqs)
        elif stop >= 0 and source[n_seqs] != stop:
            bad = n_seqs
    return bad


def max_length(const int64_t[::1] offsets not None):
    """Find the greatest length, 0 if there is no sequence.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)

    Returns
    -------
    int
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    agree(n_seqs >= 0)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t most
    with nogil:
        most = longest(source, n_seqs)
    return most


def segment_ids(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Write the number of its sequence beside each row.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
    out : int64, shape (n_rows,)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    agree(ends_at(offsets, n_seqs, out.shape[0]))
    if out.shape[0] == 0:
        return
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    with nogil:
        fill_ids(source, n_seqs, result)


def positions(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Write its place in its sequence beside each row.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
    out : int64, shape (n_rows,)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    agree(ends_at(offsets, n_seqs, out.shape[0]))
    if out.shape[0] == 0:
        return
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    with nogil:
        fill_positions(source, n_seqs, result)


def offsets_from_segment_ids(const int64_t[::1] ids not None, int64_t[::1] out not None):
    """Count how many rows each sequence has.

    Parameters
    ----------
    ids : int64, shape (n_rows,)
        Any values; each is read once. They never fall and lie in 0 .. n_seqs - 1.
    out : int64, shape (n_seqs + 1,), in rows
        Its content after a bad id is of no use.

    Returns
    -------
    int
        The first row whose id falls or is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_rows = ids.shape[0], n_seqs = out.shape[0] - 1, r, bad = -1
    agree(n_seqs >= 0)
    cdef const int64_t* source = &ids[0] if n_rows else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t now = -1, following
    with nogil:
        for r in range(n_rows):
            following = read_once(source + r)
            if following < now or following < 0 or following >= n_seqs:
                bad = r
                break
            while now < following:
                now += 1
                result[now] = r
        if bad < 0:
            while now < n_seqs:
                now += 1
                result[now] = n_rows
    return bad
