"""Offsets, lengths, segment ids and positions of one level; levels that are sliced, composed, joined and split."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from lodcore.kernels.offsets cimport add_lengths, differences, longest, offset_signs, shift_offsets
from lodcore.kernels.simd cimport avx2_void, forced_void, has_wide, read_once
from lodcore.kernels.sizes cimport agree, ends_at

cdef enum:
    LONG = 1 << 15  # offsets that are copied without the lock of the interpreter


def offsets_from_lengths(const int64_t[::1] lengths not None, int64_t[::1] out not None):
    """Compute offsets from lengths.

    Parameters
    ----------
    lengths : int64, shape (n_seqs,)
        Any values; each is read once.
    out : int64, shape (n_seqs + 1,)
        Undefined if a length is invalid.

    Returns
    -------
    int
        The first length that is negative or whose offset overflows, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = lengths.shape[0], bad
    agree(out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &lengths[0] if n_seqs else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        bad = -1 if add_lengths(source, n_seqs, result) >= 0 else first_fall(result, n_seqs) - 1
    return bad


cdef Py_ssize_t first_fall(const int64_t* offsets, Py_ssize_t n_seqs) noexcept nogil:
    """Return the first position whose value is negative or less than the one before, -1 if there is none."""
    cdef Py_ssize_t s
    for s in range(n_seqs + 1):
        if offsets[s] < 0 or (s > 0 and offsets[s] < offsets[s - 1]):
            return s
    return -1


def lengths_from_offsets(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Compute lengths from offsets.

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
        The required last offset; -1 if any value is valid.

    Returns
    -------
    int
        The first invalid position: 0 if offset 0 is not 0, otherwise the first offset that is less than the one before,
        otherwise the last one if it is not `stop`; -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, bad = -1
    agree(n_seqs >= 0)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t signs
    with nogil:
        signs = offset_signs(source, n_seqs)
        if source[0] != 0:
            bad = 0
        elif signs < 0:
            bad = first_fall(source, n_seqs)
        elif stop >= 0 and source[n_seqs] != stop:
            bad = n_seqs
    return bad


def max_length(const int64_t[::1] offsets not None):
    """Compute the maximum length, 0 if there are no sequences.

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
    """Write for each row the number of its sequence.

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
        fill(source, n_seqs, result, False)


def positions(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Write for each row its position in its sequence.

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
        fill(source, n_seqs, result, True)


def offsets_from_segment_ids(const int64_t[::1] ids not None, int64_t[::1] out not None):
    """Count the rows of each sequence.

    Parameters
    ----------
    ids : int64, shape (n_rows,)
        Any values; each is read once. Valid ids never decrease and are in 0 .. n_seqs - 1.
    out : int64, shape (n_seqs + 1,), in rows
        Undefined if an id is invalid.

    Returns
    -------
    int
        The first row whose id decreases or is out of range, -1 if there is none.
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


def rebase(const int64_t[::1] offsets not None, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] out not None):
    """Extract the sequences from `start` to `stop` of a level, shifted so that they start at 0.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    start, stop : int, in sequences
        0 <= start <= stop <= n_seqs.
    out : int64, shape (stop - start + 1,)
    """
    cdef Py_ssize_t count = stop - start + 1
    agree(0 <= start <= stop < offsets.shape[0] and out.shape[0] == count)
    cdef const int64_t* source = &offsets[start]
    cdef int64_t* result = &out[0]
    with nogil:
        shift_offsets(source, count, -source[0], result)


def compose(const int64_t[::1] outer not None, const int64_t[::1] inner not None, int64_t[::1] out not None):
    """Express the offsets of the outer level in the units of the inner level.

    Parameters
    ----------
    outer : int64, shape (n_outer + 1,), in sequences of `inner`
    inner : int64, shape (n_inner + 1,)
    out : int64, shape (n_outer + 1,)
        out[s] = inner[outer[s]].
    """
    cdef Py_ssize_t count = outer.shape[0], s
    agree(count > 0 and out.shape[0] == count and 0 <= outer[count - 1] < inner.shape[0])
    cdef const int64_t* source = &outer[0]
    cdef const int64_t* through = &inner[0]
    cdef int64_t* result = &out[0]
    with nogil:
        for s in range(count):
            result[s] = through[source[s]]


def relative(const int64_t[::1] outer not None, const int64_t[::1] inner not None, int64_t[::1] out not None):
    """Invert `compose`: express the offsets of the outer level in sequences of the inner level.

    Empty sequences of the inner level at a boundary belong to the outer sequence that begins there; those at the very
    end belong to the last one.

    Parameters
    ----------
    outer : int64, shape (n_outer + 1,)
        Offsets in the units of `inner`, with the same end.
    inner : int64, shape (n_inner + 1,)
    out : int64, shape (n_outer + 1,), in sequences of `inner`
        Undefined if an offset is invalid.

    Returns
    -------
    int
        The first outer offset that is not an offset of `inner`, or the last one if it is not the end of `inner`; -1 if
        there is none.
    """
    cdef Py_ssize_t count = outer.shape[0], last = inner.shape[0] - 1, s, at = 0, bad = -1
    agree(count > 0 and last >= 0 and out.shape[0] == count)
    cdef const int64_t* source = &outer[0]
    cdef const int64_t* through = &inner[0]
    cdef int64_t* result = &out[0]
    with nogil:
        for s in range(count):
            while at < last and through[at] < source[s]:
                at += 1
            if through[at] != source[s]:
                bad = s
                break
            result[s] = at
        if bad < 0 and (through[last] != source[count - 1] or (count == 1 and last > 0)):
            bad = count - 1
        if bad < 0:
            result[count - 1] = last
    return bad


def join(levels, int64_t[::1] out not None):
    """Concatenate the sequences of one level of several batches.

    Parameters
    ----------
    levels : list of int64 arrays, shape (n_seqs + 1,) each
    out : int64, shape (sum of n_seqs + 1,)
    """
    cdef Py_ssize_t at = 0
    cdef int64_t base = 0
    agree(out.shape[0] > 0)
    cdef int64_t* result = &out[0]
    cdef const int64_t[::1] offsets
    result[0] = 0
    for offsets in levels:
        agree(0 < offsets.shape[0] <= out.shape[0] - at)
        if offsets.shape[0] < LONG:
            shift_offsets(&offsets[0], offsets.shape[0], base, result + at)
        else:
            with nogil:
                shift_offsets(&offsets[0], offsets.shape[0], base, result + at)
        at += offsets.shape[0] - 1
        base = result[at]


cdef Py_ssize_t room_for(const int64_t[::1] outer, list finer) except -2:
    """Count the numbers that `split` writes; return -1 if a level has fewer sequences than the level before counts."""
    cdef Py_ssize_t n_outer = outer.shape[0] - 1, n_seqs = outer[n_outer], total = 0
    cdef const int64_t[::1] inner
    for inner in finer:
        if inner.shape[0] != n_seqs + 1:
            return -1
        total += n_seqs + n_outer
        n_seqs = inner[n_seqs]
    return total


def split(levels, int64_t[::1] out not None):
    """Write the remaining levels of each outermost sequence, sequence by sequence.

    Parameters
    ----------
    levels : list of int64 arrays, at least two
        All levels of a batch, the coarsest first: shape (n_seqs + 1,) each.
    out : int64, shape (sum over sequences and finer levels of the sequences there + 1,)
        For each outermost sequence its finer levels, the coarsest first, each starting at 0.
    """
    cdef Py_ssize_t n_outer = levels[0].shape[0] - 1, d, s, start, stop, at = 0
    cdef const int64_t[::1] outer = levels[0]
    cdef const int64_t[::1] inner
    cdef int64_t* result = &out[0] if out.shape[0] else NULL
    finer = list(levels[1:])
    agree(n_outer >= 0 and room_for(outer, finer) == out.shape[0])
    if len(finer) == 1:  # the most common depth, without a memoryview per sequence
        inner = finer[0]
        with nogil:
            for d in range(n_outer):
                start = outer[d]
                for s in range(start, outer[d + 1] + 1):
                    result[at] = inner[s] - inner[start]
                    at += 1
        return
    cdef list views = [<object> view for view in finer]  # alive while the loop runs without the lock
    cdef Py_ssize_t n_levels = len(views), k
    cdef const int64_t* level
    cdef const int64_t** first = <const int64_t**> malloc(n_levels * sizeof(int64_t*))
    if first == NULL:
        raise MemoryError
    for k in range(n_levels):
        inner = views[k]
        first[k] = &inner[0]
    with nogil:
        for d in range(n_outer):
            start, stop = outer[d], outer[d + 1]
            for k in range(n_levels):
                level = first[k]
                for s in range(start, stop + 1):
                    result[at] = level[s] - level[start]
                    at += 1
                start, stop = level[start], level[stop]
        free(first)


# -- a number for each row ---------------------------------------------------------------------------------------------


cdef inline forced_void fill_row(
    int64_t s, int64_t length, const int64_t group, const bint positions, int64_t* out
) noexcept nogil:
    """Write s, or positions, for the rows of sequence s, and up to a group more."""
    cdef int64_t at = 0, k
    while True:
        for k in range(group):
            out[at + k] = at + k if positions else s
        at += group
        if at >= length:
            return


cdef inline forced_void fill_by_group(
    const int64_t* offsets, int64_t n_seqs, int64_t* out, const int64_t group, const bint positions
) noexcept nogil:
    """Store whole groups: what runs past the end of a sequence is overwritten by the next one.

    The last sequences are written exactly. Groups of about the mean length leave the processor few branches to predict.
    """
    cdef int64_t n_rows = offsets[n_seqs], s = 0, at
    while s < n_seqs and offsets[s + 1] + group <= n_rows:
        fill_row(s, offsets[s + 1] - offsets[s], group, positions, out + offsets[s])
        s += 1
    while s < n_seqs:
        for at in range(offsets[s + 1] - offsets[s]):
            out[offsets[s] + at] = at if positions else s
        s += 1


cdef inline forced_void fill_ones(
    const int64_t* offsets, int64_t n_seqs, int64_t* out, const bint positions
) noexcept nogil:
    """Fill where sequences of one row are the rule: a group of sequences at a time."""
    cdef int64_t first = 0, others, start, count, s, at, j
    while first < n_seqs:
        others, start = 0, offsets[first]
        if first + 16 <= n_seqs:
            for j in range(16):
                others |= (offsets[first + j + 1] - offsets[first + j]) ^ 1
        else:
            others = 1
        if others == 0:
            for j in range(16):
                out[start + j] = 0 if positions else first + j
        else:
            count = first + 16 if first + 16 < n_seqs else n_seqs
            for s in range(first, count):
                for at in range(offsets[s + 1] - offsets[s]):
                    out[offsets[s] + at] = at if positions else s
        first += 16


cdef inline forced_void fill_all(
    const int64_t* offsets, int64_t n_seqs, int64_t* out, const bint positions
) noexcept nogil:
    cdef int64_t n_rows = offsets[n_seqs]
    if n_rows == n_seqs:
        fill_ones(offsets, n_seqs, out, positions)
    elif n_rows > 16 * n_seqs:
        fill_by_group(offsets, n_seqs, out, 32, positions)
    elif n_rows > 4 * n_seqs:
        fill_by_group(offsets, n_seqs, out, 16, positions)
    else:
        fill_by_group(offsets, n_seqs, out, 4, positions)


cdef avx2_void fill_ids_avx2(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    fill_all(offsets, n_seqs, out, False)


cdef avx2_void fill_positions_avx2(const int64_t* offsets, int64_t n_seqs, int64_t* out) noexcept nogil:
    fill_all(offsets, n_seqs, out, True)


cdef void fill(const int64_t* offsets, int64_t n_seqs, int64_t* out, bint positions) noexcept nogil:
    """Write for each row its sequence, or its position in it."""
    if has_wide() and positions:
        fill_positions_avx2(offsets, n_seqs, out)
    elif has_wide():
        fill_ids_avx2(offsets, n_seqs, out)
    elif positions:
        fill_all(offsets, n_seqs, out, True)
    else:
        fill_all(offsets, n_seqs, out, False)
