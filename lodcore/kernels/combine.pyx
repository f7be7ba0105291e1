"""Combinations of elements: pairs within a sequence, pairs of two sequences, and several sequences interleaved.

An element of a level is a sequence of the next level, or a row at the last level. A range is a pair (start, stop).
"""

from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc

from lodcore.kernels.sizes cimport agree


def pair_ranges(const int64_t[::1] offsets not None, int64_t gap, int64_t[::1] repeats not None,
                int64_t[:, ::1] ranges not None, int64_t[::1] out not None):
    """List for each element its partners: the elements that follow it in its sequence.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    gap : int
        0 if an element is also a partner of itself, otherwise 1.
    repeats : int64, shape (n_elements + 1,)
        Written: the offsets of the partners of each element.
    ranges : int64, shape (n_elements, 2)
        Written: the range of the partners of each element.
    out : int64, shape (n_seqs + 1,)
        Written: the offsets of the pairs of each sequence.

    Returns
    -------
    int
        The first sequence with more pairs than int64 can count, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, bad = -1
    agree(n_seqs >= 0 and repeats.shape[0] == offsets[n_seqs] + 1 and ranges.shape[0] == offsets[n_seqs]
          and ranges.shape[1] == 2 and out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* counted = &repeats[0]
    cdef int64_t* pairs = &ranges[0, 0] if ranges.shape[0] else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t e, stop, size, total = 0
    with nogil:
        counted[0] = 0
        result[0] = 0
        for s in range(n_seqs):
            stop = source[s + 1]
            for e in range(source[s], stop):
                size = stop - e - gap
                if total > INT64_MAX - size:
                    bad = s
                    break
                total += size
                pairs[2 * e] = e + gap
                pairs[2 * e + 1] = stop
                counted[e + 1] = total
            if bad >= 0:
                break
            result[s + 1] = total
    return bad


def product_ranges(const int64_t[::1] offsets not None, const int64_t[::1] others not None,
                   int64_t[::1] repeats not None, int64_t[:, ::1] ranges not None, int64_t[::1] out not None):
    """List for each element of a sequence s its partners: all elements of the other sequence s.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    others : int64, shape (n_seqs + 1,)
        Offsets of the other sequences.
    repeats : int64, shape (n_elements + 1,)
        Written: the offsets of the partners of each element.
    ranges : int64, shape (n_elements, 2)
        Written: the range of the partners of each element.
    out : int64, shape (n_seqs + 1,)
        Written: the offsets of the pairs of each sequence.

    Returns
    -------
    int
        The first sequence with more pairs than int64 can count, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, bad = -1
    agree(n_seqs >= 0 and repeats.shape[0] == offsets[n_seqs] + 1 and ranges.shape[0] == offsets[n_seqs]
          and ranges.shape[1] == 2 and out.shape[0] == n_seqs + 1 and others.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* partners = &others[0]
    cdef int64_t* counted = &repeats[0]
    cdef int64_t* pairs = &ranges[0, 0] if ranges.shape[0] else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t e, size, total = 0
    with nogil:
        counted[0] = 0
        result[0] = 0
        for s in range(n_seqs):
            size = partners[s + 1] - partners[s]
            for e in range(source[s], source[s + 1]):
                if total > INT64_MAX - size:
                    bad = s
                    break
                total += size
                pairs[2 * e] = partners[s]
                pairs[2 * e + 1] = partners[s + 1]
                counted[e + 1] = total
            if bad >= 0:
                break
            result[s + 1] = total
    return bad


cdef int64_t ways(int64_t count, int64_t n) noexcept nogil:
    """Return the number of combinations of n of `count` elements, or -1 if int64 cannot hold it."""
    cdef int64_t found = 1, i, left
    if n > count:
        return 0
    left = n if n < count - n else count - n
    for i in range(1, left + 1):  # found is the number of combinations of i - 1, so each division is exact
        if found > INT64_MAX // (count - left + i):
            return -1
        found = found * (count - left + i) // i
    return found


def combination_offsets(const int64_t[::1] offsets not None, int64_t n, int64_t again, int64_t[::1] out not None):
    """Count the combinations of n elements of each sequence, and compute their offsets.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    n : int
        1 or more.
    again : int
        1 if an element may be used several times, otherwise 0.
    out : int64, shape (n_seqs + 1,)
        Written: the offsets of the combinations of each sequence.

    Returns
    -------
    int
        The first sequence with more combinations than int64 can count, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, bad = -1
    cdef int64_t size, length, total = 0
    agree(n_seqs >= 0 and out.shape[0] == n_seqs + 1)
    with nogil:
        out[0] = 0
        for s in range(n_seqs):
            length = offsets[s + 1] - offsets[s]
            size = ways(length + (n - 1) * again, n) if length else 0
            if size < 0 or total > INT64_MAX - size:
                bad = s
                break
            total += size
            out[s + 1] = total
    return bad


def list_combinations(const int64_t[::1] offsets not None, int64_t n, int64_t again, int64_t column, bint counted,
                      int64_t[::1] chosen not None, int64_t[::1] out not None):
    """List one element of each combination of n elements of a sequence, in lexicographic order.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    n, again : int
        As in `combination_offsets`.
    column : int
        Which of the n elements is listed: 0 .. n - 1.
    counted : bool
        Whether elements are numbered over the whole batch, or from the start of their sequence.
    chosen : int64, shape (n,)
        Work space.
    out : int64, shape (n_combinations,)
        Written.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    agree(chosen.shape[0] == n and 0 <= column < n)
    cdef int64_t* result = &out[0] if out.shape[0] else NULL
    cdef int64_t* digits = &chosen[0]
    cdef int64_t length, first, last, e, j, gap = 1 - again, place = 0
    with nogil:
        for s in range(n_seqs):
            length = offsets[s + 1] - offsets[s]
            if length < 1 or length < n * gap:
                continue
            first = offsets[s] if counted else 0
            for j in range(n):
                digits[j] = j * gap
            while True:
                last = digits[n - 2] + gap if n > 1 else 0
                if column == n - 1:
                    for e in range(last, length):
                        result[place] = first + e
                        place += 1
                else:
                    while last < length:
                        result[place] = first + digits[column]
                        place += 1
                        last += 1
                j = n - 2  # the next choice of all but the last element
                while j >= 0 and digits[j] >= length - 1 - (n - 1 - j) * gap:
                    j -= 1
                if j < 0:
                    break
                digits[j] += 1
                for e in range(j + 1, n - 1):
                    digits[e] = digits[e - 1] + gap


def take_turns(levels, int64_t[::1] out not None):
    """List the elements of joined sequences in turn: the first element of each part, then the second of each.

    Parameters
    ----------
    levels : list of int64, shape (n_seqs + 1,) each
        Offsets of the parts, in their order; sequence s is the concatenation of the sequences s of all parts.
    out : int64, shape (n_elements,)
        Written, sequence by sequence: positions in the joined sequence. A part that has ended is skipped.
    """
    cdef Py_ssize_t n_parts = len(levels), n_seqs, j, s
    cdef const int64_t[::1] view
    cdef const int64_t** parts
    cdef int64_t* result = &out[0] if out.shape[0] else NULL
    cdef int64_t turn, size, left, before, place = 0
    if n_parts == 0 or out.shape[0] == 0:
        return
    parts = <const int64_t**> malloc(n_parts * sizeof(int64_t*))
    if parts == NULL:
        raise MemoryError
    try:
        view = levels[0]
        n_seqs = view.shape[0] - 1
        before = 0
        for j in range(n_parts):
            view = levels[j]
            if view.shape[0] - 1 != n_seqs:
                raise ValueError("levels have different numbers of sequences")
            parts[j] = &view[0]
            before += view[n_seqs]
        agree(before == out.shape[0])
        with nogil:
            for s in range(n_seqs):
                left = 0
                for j in range(n_parts):
                    left += parts[j][s + 1] - parts[j][s]
                turn = 0
                while left > 0:
                    before = 0
                    for j in range(n_parts):
                        size = parts[j][s + 1] - parts[j][s]
                        if turn < size:
                            result[place] = before + turn
                            place += 1
                            left -= 1
                        before += size
                    turn += 1
    finally:
        free(parts)
