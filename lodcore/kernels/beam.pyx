"""A step of a beam search, and backtracking from its ends.

The best continuations of each source are kept, ordered by score, the best first; equal scores by prefix, the later
first; equal continuations of one prefix by column, except that one found when the beam is full replaces the last entry
if that is equal to it. A score of nan compares false with all others: it is appended to the beam, or replaces the last
entry of a full beam, and is itself replaced by the next candidate.
"""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from lodcore.kernels.beams cimport WIDE, Step, fill_beam, fill_wide, pick_few, write_beam
from lodcore.kernels.lanes cimport real
from lodcore.kernels.simd cimport SIMD_AVX2, avx2_void, forced_void, read_once, simd_level

cnp.import_array()


cdef int64_t length_of(cnp.ndarray array, int kind, bint written) except -2:
    """Return the length of a C-contiguous vector of the given dtype, or -1 if the array is not one."""
    if cnp.PyArray_NDIM(array) != 1 or cnp.PyArray_TYPE(array) != kind:
        return -1
    if not (cnp.PyArray_ISCARRAY(array) if written else cnp.PyArray_ISCARRAY_RO(array)):
        return -1
    return cnp.PyArray_DIM(array, 0)


def select_best(cnp.ndarray pre_ids not None, cnp.ndarray pre_scores not None, cnp.ndarray ids,
                cnp.ndarray scores not None, cnp.ndarray offsets not None, int64_t beam_size, int64_t end_id,
                cnp.ndarray out_ids not None, cnp.ndarray out_scores not None, cnp.ndarray out_parents not None,
                cnp.ndarray out_offsets not None):
    """Select the best continuations of the prefixes of each source, prefix by prefix, the best first.

    Parameters
    ----------
    pre_ids : int64, shape (n_prefixes,)
        A prefix whose last id is `end_id` has exactly one continuation, `end_id`, with the score of the prefix.
    pre_scores : float32 or float64, shape (n_prefixes,)
    ids : int64, shape (n_prefixes * columns,), or None
        None stands for the column numbers.
    scores : as pre_scores, shape (n_prefixes, columns)
        C-contiguous. At most 2**31 - 1 prefixes and columns.
    offsets : int64, shape (n_sources + 1,), in prefixes
    beam_size : int
        At least 1.
    end_id : int
    out_ids : int64, shape (room,)
        room is at least the sum of min(beam_size, number of candidates) over the sources, where each prefix has
        `columns` candidates, or 1 if `columns` is 0.
    out_scores : as scores, shape (room,)
    out_parents : int32, shape (room,)
        The prefix of each continuation.
    out_offsets : int64, shape (n_prefixes + 1,)
        Offsets of the continuations of each prefix. If all continuations that a source would keep had already ended, it
        keeps none.

    Returns
    -------
    int
        The number of continuations that are kept. The entries after them are undefined.
    """
    cdef int kind = cnp.PyArray_TYPE(scores)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise TypeError("scores are float32 or float64")
    if cnp.PyArray_NDIM(scores) != 2 or not cnp.PyArray_ISCARRAY_RO(scores):
        raise ValueError("scores are needed as C-contiguous arrays of one dtype")
    cdef int64_t n_prefixes = cnp.PyArray_DIM(scores, 0), columns = cnp.PyArray_DIM(scores, 1), room, total = 0
    cdef int64_t n_sources = length_of(offsets, cnp.NPY_INT64, False) - 1, widest, p
    if (length_of(pre_ids, cnp.NPY_INT64, False) != n_prefixes or length_of(pre_scores, kind, False) != n_prefixes
            or n_sources < 0 or length_of(out_offsets, cnp.NPY_INT64, True) != n_prefixes + 1 or beam_size < 1
            or (ids is not None and length_of(ids, cnp.NPY_INT64, False) != n_prefixes * columns)):
        raise ValueError("pre_ids, pre_scores, ids, scores and offsets do not belong together")
    cdef const int64_t* bounds = <const int64_t*> cnp.PyArray_DATA(offsets)
    cdef int64_t* ends = <int64_t*> cnp.PyArray_DATA(out_offsets)
    if bounds[n_sources] != n_prefixes:
        raise ValueError("pre_ids, pre_scores, ids, scores and offsets do not belong together")
    if n_prefixes >= 2**31 or columns >= 2**31:
        raise ValueError("there are too many prefixes or columns")
    widest = widest_beam(bounds, n_sources, max(columns, 1), beam_size, &room)
    if (length_of(out_ids, cnp.NPY_INT64, True) < room or length_of(out_scores, kind, True) < room
            or length_of(out_parents, cnp.NPY_INT32, True) < room):
        raise ValueError("out_ids, out_scores and out_parents are too short")
    ends[0] = 0
    if room == 0:
        for p in range(n_prefixes):
            ends[p + 1] = 0
        return 0
    cdef int64_t spare[2 * 128]
    cdef int64_t* memory = spare
    widest = max(widest, 8)
    if widest > 128:
        memory = <int64_t*> malloc(widest * 2 * sizeof(int64_t))
        if memory == NULL:
            raise MemoryError
    cdef Step step
    step.pre_ids, step.offsets = <const int64_t*> cnp.PyArray_DATA(pre_ids), bounds
    step.ids = NULL
    if ids is not None:
        step.ids = <const int64_t*> cnp.PyArray_DATA(ids)
    step.n_sources, step.columns, step.end_id = n_sources, columns, end_id
    step.beam_size = min(beam_size, widest)
    step.out_ids, step.out_offsets = <int64_t*> cnp.PyArray_DATA(out_ids), ends
    step.out_parents = <int32_t*> cnp.PyArray_DATA(out_parents)
    cdef void* best = memory + widest
    cdef const void* before = cnp.PyArray_DATA(pre_scores)
    cdef const void* source = cnp.PyArray_DATA(scores)
    cdef void* result = cnp.PyArray_DATA(out_scores)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            run_select(&step, <const float*> before, <const float*> source, <float*> best, memory, <float*> result,
                       &total)
        else:
            run_select(&step, <const double*> before, <const double*> source, <double*> best, memory, <double*> result,
                       &total)
        if memory != spare:
            free(memory)
    return total


def find_ends(cnp.ndarray scores not None, const int64_t[::1] offsets not None, int64_t n_sources, int64_t beam_size,
              int64_t[::1] ends not None, int64_t[::1] out_offsets not None):
    """Find the final items of the hypotheses of each source: those of its last step that has any items.

    Parameters
    ----------
    scores : float32 or float64, shape (n_items,)
        C-contiguous; the items of the first step come first.
    offsets : int64, shape (n_steps * n_sources + 1,), in items
        At least one step.
    n_sources : int
    beam_size : int
        The maximum number of hypotheses per source; those with the best scores are kept, and nan comes after all
        others.
    ends : int64, shape (n_items,)
        Item numbers, source by source, the best first; equal items keep their order.
    out_offsets : int64, shape (n_sources + 1,)

    Returns
    -------
    int
        The number of ends. The entries after them are undefined.
    """
    cdef int64_t n_items = cnp.PyArray_DIM(scores, 0), n_steps = (offsets.shape[0] - 1) // max(n_sources, 1), total = 0
    cdef int kind = cnp.PyArray_TYPE(scores)
    if (n_items != offsets[offsets.shape[0] - 1] or n_steps * n_sources != offsets.shape[0] - 1
            or ends.shape[0] != n_items or out_offsets.shape[0] != n_sources + 1
            or not cnp.PyArray_ISCARRAY_RO(scores) or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE)):
        raise ValueError("scores, offsets, ends and out_offsets do not belong together")
    out_offsets[0] = 0
    if n_items == 0:
        out_offsets[:] = 0
        return 0
    cdef int64_t* spare = <int64_t*> malloc(n_items * sizeof(int64_t))
    if spare == NULL:
        raise MemoryError
    cdef const void* source = cnp.PyArray_DATA(scores)
    cdef const int64_t* bounds = &offsets[0]
    cdef int64_t* found = &ends[0]
    cdef int64_t* result = &out_offsets[0]
    with nogil:
        if kind == cnp.NPY_FLOAT:
            total = order_ends(<const float*> source, bounds, n_steps, n_sources, beam_size, spare, found, result)
        else:
            total = order_ends(<const double*> source, bounds, n_steps, n_sources, beam_size, spare, found, result)
        free(spare)
    return total


def measure_ways(const int64_t[::1] ids not None, const int64_t[::1] parents not None, const int64_t[::1] ends not None,
                 int64_t end_id, int64_t[::1] out_offsets not None):
    """Compute offsets from the number of items on the path from each end back to the first step.

    Parameters
    ----------
    ids : int64, shape (n_items,)
        Items with `end_id` that are followed by an item that is kept are left out.
    parents : int64, shape (n_items,)
        The number of the preceding item, which is lower than the item's own; negative in the first step.
    ends : int64, shape (n_ends,)
        Item numbers, 0 .. n_items - 1.
    end_id : int
    out_offsets : int64, shape (n_ends + 1,)
    """
    cdef Py_ssize_t n_items = ids.shape[0], n_ends = ends.shape[0], k
    if parents.shape[0] != n_items or out_offsets.shape[0] != n_ends + 1 or (n_ends and not n_items):
        raise ValueError("ids, parents, ends and out_offsets do not belong together")
    out_offsets[0] = 0
    cdef int64_t total = 0
    with nogil:
        for k in range(n_ends):
            total += measure_way(&ids[0], &parents[0], ends[k], end_id)
            out_offsets[k + 1] = total


def write_ways(const int64_t[::1] ids not None, cnp.ndarray scores, const int64_t[::1] parents not None,
               const int64_t[::1] ends not None, const int64_t[::1] offsets not None, int64_t end_id,
               int64_t[::1] out_ids not None, cnp.ndarray out_scores):
    """Write the items on the paths to the ends, starting from the first step.

    Parameters
    ----------
    ids : int64, shape (n_items,)
    scores : float32 or float64, shape (n_items,), or None
    parents, ends : int64
        As in `measure_ways`.
    offsets : int64, shape (n_ends + 1,)
        The result of `measure_ways`.
    end_id : int
    out_ids : int64, shape (offsets[n_ends],)
    out_scores : as scores, shape (offsets[n_ends],), or None
    """
    cdef Py_ssize_t n_items = ids.shape[0], n_ends = ends.shape[0]
    cdef int kind = cnp.NPY_DOUBLE if scores is None else cnp.PyArray_TYPE(scores)
    if (parents.shape[0] != n_items or offsets.shape[0] != n_ends + 1 or out_ids.shape[0] != offsets[n_ends]
            or (scores is None) != (out_scores is None) or (n_ends and not n_items)):
        raise ValueError("ids, parents, ends, offsets and out_ids do not belong together")
    if scores is not None and (
        cnp.PyArray_DIM(scores, 0) != n_items or cnp.PyArray_DIM(out_scores, 0) != out_ids.shape[0]
        or not cnp.PyArray_ISCARRAY_RO(scores) or not cnp.PyArray_ISCARRAY(out_scores)
        or cnp.PyArray_TYPE(out_scores) != kind or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE)
    ):
        raise ValueError("scores and out_scores do not belong together")
    if out_ids.shape[0] == 0:
        return
    cdef const void* source = NULL if scores is None else cnp.PyArray_DATA(scores)
    cdef void* result = NULL if scores is None else cnp.PyArray_DATA(out_scores)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            write_all_ways(&ids[0], <const float*> source, &parents[0], &ends[0], &offsets[0], n_ends, end_id,
                           &out_ids[0], <float*> result)
        else:
            write_all_ways(&ids[0], <const double*> source, &parents[0], &ends[0], &offsets[0], n_ends, end_id,
                           &out_ids[0], <double*> result)


def note_best(const double[::1] scores not None, const int64_t[::1] sources not None, double[:, ::1] best not None):
    """Insert scores into the lists of the best scores of each source.

    Parameters
    ----------
    scores : float64, shape (n,)
    sources : int64, shape (n,)
        0 .. n_sources - 1.
    best : float64, shape (n_sources, k)
        Each row is in descending order, with -inf for missing scores. A score that is better than the last of its row
        is inserted after equal scores, and the last one is dropped.

    Returns
    -------
    int
        The first score whose source is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n = scores.shape[0], most = best.shape[1], k, at
    cdef int64_t source, bad = -1
    cdef double* line
    if sources.shape[0] != n:
        raise ValueError("scores and sources have different lengths")
    if n == 0 or most == 0:
        return -1
    with nogil:
        for k in range(n):
            source = sources[k]
            if source < 0 or source >= best.shape[0]:
                bad = k
                break
            line = &best[source, 0]
            at = most
            while at > 0 and line[at - 1] < scores[k]:
                if at < most:
                    line[at] = line[at - 1]
                at -= 1
            if at < most:
                line[at] = scores[k]
    return bad


# -- a step ------------------------------------------------------------------------------------------------------------


cdef int64_t widest_beam(
    const int64_t* offsets, int64_t n_sources, int64_t columns, int64_t beam_size, int64_t* room
) noexcept nogil:
    """Return the largest number of entries that one source can keep; `room` receives the total over all sources."""
    cdef int64_t widest = 0, s, here
    room[0] = 0
    for s in range(n_sources):
        here = (offsets[s + 1] - offsets[s]) * columns
        here = here if here < beam_size else beam_size
        widest = here if here > widest else widest
        room[0] += here
    return widest


cdef inline forced_void select(
    const Step* step, const real* pre_scores, const real* x, real* scores, int64_t* places, real* out_scores, int64_t*
    total
) noexcept nogil:
    cdef int64_t s, start, stop, count
    total[0] = 0
    for s in range(step.n_sources):
        start, stop, count = step.offsets[s], step.offsets[s + 1], -1
        if real is float:  # ranks of 64 bits do not fit beside their place in one integer
            count = pick_few(step, pre_scores, x, start, stop, places)
        if count < 0 and step.beam_size > WIDE:
            count = fill_wide(step, pre_scores, x, start, stop, scores, places)
        elif count < 0:
            fill_beam(step, pre_scores, x, start, stop, scores, places, &count)
        total[0] = write_beam(step, pre_scores, x, start, stop, count, places, total[0], out_scores)


cdef avx2_void select_avx2(
    const Step* step, const real* pre_scores, const real* x, real* scores, int64_t* places, real* out_scores, int64_t*
    total
) noexcept nogil:
    select(step, pre_scores, x, scores, places, out_scores, total)


cdef void select_plain(
    const Step* step, const real* pre_scores, const real* x, real* scores, int64_t* places, real* out_scores, int64_t*
    total
) noexcept nogil:
    select(step, pre_scores, x, scores, places, out_scores, total)


cdef void run_select(
    const Step* step, const real* pre_scores, const real* x, real* scores, int64_t* places, real* out_scores, int64_t*
    total
) noexcept nogil:
    cdef int level = simd_level()
    if level >= SIMD_AVX2:
        select_avx2(step, pre_scores, x, scores, places, out_scores, total)
    else:
        select_plain(step, pre_scores, x, scores, places, out_scores, total)


# -- backtracking ------------------------------------------------------------------------------------------------------


cdef inline bint comes_first(real score, real other) noexcept nogil:
    """Return whether an item stays before a later one: nan comes after all others."""
    return not (other > score or (score != score and other == other))


cdef int64_t order_ends(
    const real* scores, const int64_t* offsets, int64_t n_steps, int64_t n_sources, int64_t beam_size, int64_t* spare,
    int64_t* ends, int64_t* out_offsets
) noexcept nogil:
    """Find the ends of each source, the best first, by merge sort, which is stable.

    `offsets` are those of the items, step by step and source by source.
    """
    cdef int64_t total = 0, s, t, k, a, b, size, left, middle, stop, count
    cdef const int64_t* bounds
    cdef int64_t* given
    cdef int64_t* to
    out_offsets[0] = 0
    for s in range(n_sources):
        bounds = offsets + (n_steps - 1) * n_sources + s
        t = n_steps - 1
        while t > 0 and bounds[0] == bounds[1]:
            bounds -= n_sources
            t -= 1
        count = bounds[1] - bounds[0]
        given, to, size = ends + total, spare, 1
        for k in range(count):
            given[k] = bounds[0] + k
        while size < count:
            left = 0
            while left < count:
                middle = left + size if left + size < count else count
                stop = middle + size if middle + size < count else count
                a, b = left, middle
                for k in range(left, stop):
                    if b == stop or (a < middle and comes_first(scores[given[a]], scores[given[b]])):
                        to[k] = given[a]
                        a += 1
                    else:
                        to[k] = given[b]
                        b += 1
                left += 2 * size
            given, to = to, given
            size *= 2
        count = count if count < beam_size else beam_size
        if given == spare:
            for k in range(count):
                ends[total + k] = spare[k]
        total += count
        out_offsets[s + 1] = total
    return total


cdef int64_t measure_way(const int64_t* ids, const int64_t* parents, int64_t item, int64_t end_id) noexcept nogil:
    """Count the items on the path from an item back to the first step, without end tokens that another item follows.

    The parent of an item has a lower number; the path ends at an item whose parent does not.
    """
    cdef int64_t count = 0, before
    while True:
        count += count == 0 or read_once(ids + item) != end_id
        before = read_once(parents + item)
        if before < 0 or before >= item:
            return count
        item = before


cdef void write_all_ways(
    const int64_t* ids, const real* scores, const int64_t* parents, const int64_t* ends, const int64_t* offsets,
    int64_t n_ends, int64_t end_id, int64_t* out_ids, real* out_scores
) noexcept nogil:
    """Write the items of each path, starting from the first step; `scores` and `out_scores` may be NULL."""
    cdef int64_t k, item, at, number
    for k in range(n_ends):
        item, at = ends[k], offsets[k + 1]
        while item >= 0 and at > offsets[k]:
            number = read_once(ids + item)
            if at == offsets[k + 1] or number != end_id:
                at -= 1
                out_ids[at] = number
                if out_scores != NULL:
                    out_scores[at] = scores[item]
            item = read_once(parents + item)
