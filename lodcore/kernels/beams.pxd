"""The beam of one source: its best continuations, found entry by entry, without branches, or in a heap.

The continuations of a source are ordered by score, the best first, and equal scores by prefix, the later first. Equal
ones of one prefix keep the order in which they were found, except that one found when the beam is full replaces the
last entry if that is equal to it. Scores that are nan compare false, as in the plain insertion below.

An insertion reads the score and the place of an entry at once, before it knows whether it needs both: beams of 40
entries and more then take 0.87 to 1.06 of the time, and 0.99 to 1.06 of that of C where no branches are learned.
"""

from libc.stdint cimport INT32_MAX, INT64_MIN, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.lanes cimport real
from lodcore.kernels.simd cimport forced_void

# Beams of at most NARROW entries are kept in registers if there are at most FEW columns; more columns are read in
# blocks. Beams of more than WIDE entries are heaps, since an insertion would move all entries if scores rise.
cdef enum:
    NARROW = 8
    FEW = 16
    BLOCK_COLUMNS = 32
    WIDE = 128

ctypedef struct Step:
    const int64_t* pre_ids
    const int64_t* ids  # NULL if the ids are the column numbers
    const int64_t* offsets
    int64_t n_sources, columns, beam_size, end_id
    int64_t* out_ids
    int64_t* out_offsets
    int32_t* out_parents

# A wide beam. Its last `count` entries are a heap with the last entry of the beam, the worst, at its root; no candidate
# passes the `sealed` ones before it, which end with nan. A nan that came when no other place was free is the last entry
# until the next candidate replaces it.
ctypedef struct Heap:
    int64_t sealed, count, most, odd_place
    bint odd


# -- places: a prefix (within its source) and a column; those of later prefixes are greater ----------------------------


cdef inline int64_t place_of(int64_t prefix, int64_t column) noexcept nogil:
    return <int64_t> ((<uint64_t> prefix << 32) | <uint64_t> column)


cdef inline int64_t prefix_of(int64_t place) noexcept nogil:
    return place >> 32


cdef inline int64_t column_of(int64_t place) noexcept nogil:
    return <uint32_t> place


# -- few candidates ----------------------------------------------------------------------------------------------------


cdef inline int32_t rank_of_score(float score) noexcept nogil:
    """Map a score to an integer with the same order; -0 and 0 map to the same one."""
    cdef int32_t bits
    cdef float zero = 0
    score += zero
    memcpy(&bits, &score, sizeof(bits))
    return bits ^ ((bits >> 31) & INT32_MAX)


cdef inline forced_void pick(
    const Step* step, const float* pre_scores, const float* x, int64_t start, int64_t stop, const int most,
    int64_t* places, int64_t* found
) noexcept nogil:
    """Pick the best of few candidates without branches.

    A candidate is one integer: the rank of its score, its prefix, and its column counted from the last, so that integer
    order is the order of scores and then prefixes. -1 is found if the result depends on the order in which candidates
    are found (two of them are equal, one in the beam and one not), or if a score is nan.
    """
    cdef int64_t best[NARROW]
    cdef int64_t count = 0, p, c, columns, tail, one, above, place
    cdef int k
    cdef bint odd = False, ended
    cdef const float* row
    for k in range(most):
        best[k] = INT64_MIN
    for p in range(start, stop):
        ended = step.pre_ids[p] == step.end_id
        columns = 1 if ended else step.columns
        row = pre_scores + p if ended else x + p * step.columns
        tail = (p - start) * FEW + FEW - 1
        for c in range(columns):
            one = <int64_t> (<uint64_t> <int64_t> rank_of_score(row[c]) << 32 | <uint64_t> (tail - c))
            odd |= row[c] != row[c]
            for k in range(most):
                above = best[k] if best[k] > one else one
                one = one if best[k] > one else best[k]
                best[k] = above
            odd |= <uint64_t> (one ^ best[most - 1]) - 1 < FEW - 1  # no two are equal, except empty entries
        count += columns
    count = count if count < most else most
    for k in range(count):
        place = column_of(best[k])
        places[k] = place_of(place // FEW, FEW - 1 - place % FEW)
    found[0] = -1 if odd else count


cdef inline int64_t pick_few(
    const Step* step, const float* pre_scores, const float* x, int64_t start, int64_t stop, int64_t* places
) noexcept nogil:
    cdef int64_t found = -1
    if step.columns > FEW or stop - start >= INT32_MAX // FEW:
        return -1
    if step.beam_size == 1:
        pick(step, pre_scores, x, start, stop, 1, places, &found)
    elif step.beam_size == 2:
        pick(step, pre_scores, x, start, stop, 2, places, &found)
    elif step.beam_size == 3:
        pick(step, pre_scores, x, start, stop, 3, places, &found)
    elif step.beam_size == 4:
        pick(step, pre_scores, x, start, stop, 4, places, &found)
    elif step.beam_size == 5:
        pick(step, pre_scores, x, start, stop, 5, places, &found)
    elif step.beam_size == 6:
        pick(step, pre_scores, x, start, stop, 6, places, &found)
    elif step.beam_size == 7:
        pick(step, pre_scores, x, start, stop, 7, places, &found)
    elif step.beam_size == 8:
        pick(step, pre_scores, x, start, stop, 8, places, &found)
    return found


# -- entry by entry ----------------------------------------------------------------------------------------------------


cdef inline forced_void insert(real* scores, int64_t* places, int64_t at, real score, int64_t place) noexcept nogil:
    """Insert a candidate into the entries before `at`, exactly as PaddlePaddle did; entry `at` is overwritten."""
    cdef int64_t prefix = prefix_of(place), other
    cdef real before
    while at > 0:
        before, other = scores[at - 1], places[at - 1]
        if not (before < score):
            if before != score or prefix_of(other) >= prefix:
                break
        scores[at] = before
        places[at] = other
        at -= 1
    scores[at] = score
    places[at] = place


cdef inline forced_void insert_full(
    real* scores, int64_t* places, int64_t most, real score, int64_t place
) noexcept nogil:
    """Insert a candidate into a full beam, unless it comes after the last entry."""
    cdef real worst = scores[most - 1]
    if score < worst or (score == worst and prefix_of(place) < prefix_of(places[most - 1])):
        return
    insert(scores, places, most - 1, score, place)


cdef inline forced_void fill_beam(
    const Step* step, const real* pre_scores, const real* x, int64_t start, int64_t stop, real* scores,
    int64_t* places, int64_t* found
) noexcept nogil:
    """Fill the beam of one source, and find the number of its entries."""
    cdef int64_t most = step.beam_size, columns = step.columns, count = 0, p, c, k
    cdef const real* row
    cdef real worst
    cdef int passes
    for p in range(start, stop):
        row = x + p * columns
        if step.pre_ids[p] == step.end_id:
            if count < most:
                insert(scores, places, count, pre_scores[p], place_of(p - start, 0))
                count += 1
            else:
                insert_full(scores, places, most, pre_scores[p], place_of(p - start, 0))
            continue
        c = 0
        while c < columns and count < most:
            insert(scores, places, count, row[c], place_of(p - start, c))
            count += 1
            c += 1
        while c + BLOCK_COLUMNS <= columns:
            worst = scores[most - 1]
            passes = 0
            for k in range(BLOCK_COLUMNS):
                passes |= not (row[c + k] < worst)
            if passes:
                for k in range(BLOCK_COLUMNS):
                    insert_full(scores, places, most, row[c + k], place_of(p - start, c + k))
            c += BLOCK_COLUMNS
        while c < columns:
            insert_full(scores, places, most, row[c], place_of(p - start, c))
            c += 1
    found[0] = count


# -- heaps -------------------------------------------------------------------------------------------------------------


cdef inline bint is_behind(real score, int64_t place, real other_score, int64_t other) noexcept nogil:
    """Return whether one entry comes after another; equal ones of one prefix are in the order of their columns."""
    if score != other_score:
        return score < other_score
    return place < other if prefix_of(place) != prefix_of(other) else place > other


cdef inline void sink(real* scores, int64_t* places, int64_t count, real score, int64_t place) noexcept nogil:
    """Put an entry in the place of the root, and restore the heap."""
    cdef int64_t at = 0, child = 1
    while child < count:
        if child + 1 < count and is_behind(scores[child + 1], places[child + 1], scores[child], places[child]):
            child += 1
        if not is_behind(scores[child], places[child], score, place):
            break
        scores[at] = scores[child]
        places[at] = places[child]
        at = child
        child = 2 * at + 1
    scores[at] = score
    places[at] = place


cdef inline void sort_heap(real* scores, int64_t* places, int64_t count) noexcept nogil:
    """Sort the heap, the best entry first."""
    cdef int64_t last, place
    cdef real score
    for last in range(count - 1, 0, -1):
        score, place = scores[last], places[last]
        scores[last], places[last] = scores[0], places[0]
        sink(scores, places, last, score, place)


cdef inline void offer(Heap* heap, real* scores, int64_t* places, real score, int64_t place) noexcept nogil:
    """Do what `insert` does."""
    cdef int64_t free = heap.most - heap.sealed - heap.count - heap.odd, at
    scores += heap.sealed
    places += heap.sealed
    if score != score and free > 1:
        sort_heap(scores, places, heap.count)
        scores[heap.count] = score
        places[heap.count] = place
        heap.sealed += heap.count + 1
        heap.count = 0
    elif score != score:
        if free == 0 and not heap.odd:
            heap.count -= 1
            sink(scores, places, heap.count, scores[heap.count], places[heap.count])
        heap.odd = True
        heap.odd_place = place
    elif free > 0 or heap.odd:
        at = heap.count
        heap.count += 1
        while at > 0 and is_behind(score, place, scores[(at - 1) // 2], places[(at - 1) // 2]):
            scores[at] = scores[(at - 1) // 2]
            places[at] = places[(at - 1) // 2]
            at = (at - 1) // 2
        scores[at] = score
        places[at] = place
        heap.odd = False
    elif score > scores[0] or (score == scores[0] and prefix_of(place) >= prefix_of(places[0])):
        sink(scores, places, heap.count, score, place)


cdef inline int64_t fill_wide(
    const Step* step, const real* pre_scores, const real* x, int64_t start, int64_t stop, real* scores, int64_t* places
) noexcept nogil:
    """Fill a wide beam of one source; the scores are those of the places, except that of the last one if it is nan."""
    cdef Heap heap
    cdef int64_t p, c, columns
    cdef const real* row
    heap.sealed, heap.count, heap.most, heap.odd_place, heap.odd = 0, 0, step.beam_size, 0, False
    for p in range(start, stop):
        if step.pre_ids[p] == step.end_id:
            row, columns = pre_scores + p, 1
        else:
            row, columns = x + p * step.columns, step.columns
        for c in range(columns):
            offer(&heap, scores, places, row[c], place_of(p - start, c))
    sort_heap(scores + heap.sealed, places + heap.sealed, heap.count)
    if heap.odd:
        places[heap.sealed + heap.count] = heap.odd_place
    return heap.sealed + heap.count + heap.odd


# -- the result --------------------------------------------------------------------------------------------------------


cdef inline int64_t write_beam(
    const Step* step, const real* pre_scores, const real* x, int64_t start, int64_t stop, int64_t count,
    const int64_t* places, int64_t total, real* out_scores
) noexcept nogil:
    """Write the continuations of a source, prefix by prefix, and return the number of all that are written."""
    cdef int64_t* ends = step.out_offsets + 1
    cdef int64_t k, p, column, at, source
    cdef bint going = False, ended
    for k in range(count):
        going |= step.pre_ids[start + prefix_of(places[k])] != step.end_id
    count = count if going else 0
    for p in range(start, stop):
        ends[p] = 0
    for k in range(count):
        ends[start + prefix_of(places[k])] += 1
    for p in range(start, stop):
        total += ends[p]
        ends[p] = total
    for k in range(count - 1, -1, -1):
        p = start + prefix_of(places[k])
        column = column_of(places[k])
        at = ends[p] - 1
        ends[p] = at
        ended = step.pre_ids[p] == step.end_id
        source = p * step.columns + column
        step.out_ids[at] = step.end_id if ended else column if step.ids == NULL else step.ids[source]
        step.out_parents[at] = <int32_t> p
        out_scores[at] = pre_scores[p] if ended else x[source]
    for p in range(start, stop - 1):
        ends[p] = ends[p + 1]
    if start < stop:
        ends[stop - 1] = total
    return total
