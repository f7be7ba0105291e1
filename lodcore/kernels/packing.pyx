"""Packing of items into bins, division into batches of a budget, and inputs of attention for packed documents.

A length counts units of the budget, mostly tokens. The lengths of the items of a bin add up to at most the budget, and
a bin holds at most `max_items` items. Best fit selects the bin with the least sufficient room, and among equal ones
that which received an item last.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from lodcore.kernels.fits cimport GOOD, NO_MEMORY, cut_in_order, fill_best, fill_first, fill_next, first_misfit
from lodcore.kernels.fits cimport list_by_bin
from lodcore.kernels.rooms cimport RoomSet, close_rooms, make_place, open_rooms, put_room, take_room

# A group of bins with equal content: that of `parent` (-1: empty bins), and `times` items of one more size in each.
ctypedef struct BinGroup:
    int64_t parent, size, times, depth, room, places, count

ctypedef struct GroupList:
    BinGroup* groups
    int64_t count, capacity
    RoomSet open


cdef int64_t checked(int64_t state) except -2:
    """Raise MemoryError if the memory of a loop could not be allocated."""
    if state == NO_MEMORY:
        raise MemoryError("the bins find no memory")
    return state


ctypedef int64_t (*fit)(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t* out) noexcept nogil


cdef int64_t fitted(const int64_t[::1] lengths, int64_t budget, int64_t max_items, int64_t[::1] out,
                    fit fill) except -2:
    """Check the arguments, and fill bins by one of the methods that consider every bin."""
    cdef int64_t count = lengths.shape[0], state
    check_shapes(out.shape[0] == count + 1 and max_items > 0)
    cdef const int64_t* source = &lengths[0] if count else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        state = first_misfit(source, count, budget)
        if state < 0:
            state = fill(source, count, budget, max_items, result)
    return checked(state)


def next_fit(const int64_t[::1] lengths not None, int64_t budget, int64_t max_items, int64_t window,
             int64_t[::1] out not None):
    """Fill one bin after the other, in the order of the items.

    Parameters
    ----------
    lengths : int64, shape (n,)
        0 or more. An item that is longer than the budget is alone in its bin.
    budget : int, 0 .. 2**62
    max_items : int, 1 or more
    window : int, 1 or more
        The bin is closed when this many waiting items do not fit, and the first of them opens the next bin. With 1, the
        order of the items is that of the bins.
    out : int64, shape (n + 1,)
        The bin of each item, and then the number of bins. Undefined if a length is invalid.

    Returns
    -------
    int
        The first item whose length is out of range, -1 if there is none.
    """
    cdef int64_t count = lengths.shape[0], state
    check_shapes(out.shape[0] == count + 1 and max_items > 0 and window > 0)
    cdef const int64_t* source = &lengths[0] if count else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        state = first_misfit(source, count, INT64_MAX)
        if state < 0:
            state = fill_next(source, count, budget, max_items, window, result)
    return checked(state)


def first_fit(const int64_t[::1] lengths not None, int64_t budget, int64_t max_items, int64_t[::1] out not None):
    """Put each item into the first bin that has room for it.

    Parameters
    ----------
    lengths : int64, shape (n,)
        0 .. budget.
    budget : int, 0 .. 2**62
    max_items : int, 1 or more
    out : int64, shape (n + 1,)
        The bin of each item, and then the number of bins. Undefined if a length is invalid.

    Returns
    -------
    int
        The first item whose length is out of range, -1 if there is none.
    """
    return fitted(lengths, budget, max_items, out, fill_first)


def best_fit(const int64_t[::1] lengths not None, int64_t budget, int64_t max_items, int64_t[::1] out not None):
    """Put each item into the bin with the least sufficient room.

    Parameters
    ----------
    lengths : int64, shape (n,)
        0 .. budget.
    budget : int, 0 .. 2**62
    max_items : int, 1 or more
    out : int64, shape (n + 1,)
        The bin of each item, and then the number of bins. Undefined if a length is invalid.

    Returns
    -------
    int
        The first item whose length is out of range, -1 if there is none.
    """
    return fitted(lengths, budget, max_items, out, fill_best)


def histogram_fit(const int64_t[::1] sizes not None, const int64_t[::1] counts not None,
                  const int64_t[::1] order not None, int64_t budget, int64_t max_items, int64_t[::1] items not None,
                  int64_t[::1] out not None):
    """Pack counts of lengths by best fit decreasing, all bins with equal content at a time, and then assign the items.

    Parameters
    ----------
    sizes : int64, shape (n_sizes,)
        The lengths that occur, longest first, 0 .. budget.
    counts : int64, shape (n_sizes,)
        The number of items of each length, 0 or more; their sum is n.
    order : int64, shape (n,)
        The items, the longest first.
    budget : int, 0 .. 2**62
    max_items : int, 1 or more
    items : int64, shape (n,)
        The items bin by bin. Bins whose content was completed later come later.
    out : int64, shape (n + 2,)
        The offsets of the bins in `items`; its last entry is the number of bins. The entries between the last offset
        and this number are not written. The content of `items` and `out` is undefined if a size is invalid.

    Returns
    -------
    int
        The first size that is out of range or has a negative count, -1 if there is none.
    """
    cdef int64_t count = order.shape[0], n_sizes = sizes.shape[0], total = 0, k, state
    check_shapes(counts.shape[0] == n_sizes and items.shape[0] == count and out.shape[0] == count + 2)
    check_shapes(max_items > 0)
    for k in range(n_sizes):
        if sizes[k] < 0 or sizes[k] > budget or counts[k] < 0 or counts[k] > count - total:
            return k
        total += counts[k]
    check_shapes(total == count)
    cdef const int64_t* longest = &sizes[0] if n_sizes else NULL
    cdef const int64_t* number = &counts[0] if n_sizes else NULL
    cdef const int64_t* sorted_items = &order[0] if count else NULL
    cdef int64_t* result = &items[0] if count else NULL
    cdef int64_t* ends = &out[0]
    with nogil:
        state = fill_by_counts(longest, number, n_sizes, sorted_items, count, budget, max_items, result, ends)
    return checked(state)


cdef bint add_group(
    GroupList* made, int64_t parent, int64_t depth, int64_t room, int64_t places, int64_t size, int64_t times,
    int64_t count
) noexcept nogil:
    """Append a group of bins; return whether there is memory for it."""
    cdef BinGroup* group
    cdef bint done = True
    if not make_place(<void**> &made.groups, &made.capacity, made.count, sizeof(BinGroup)):
        return False
    group = made.groups + made.count
    group.parent, group.size, group.times, group.count = parent, size, times, count
    group.depth, group.room, group.places = depth, room, places
    made.count += 1
    if places:
        put_room(&made.open, made.count - 1, room, &done)
    return done


cdef bint fill_size(
    GroupList* made, int64_t k, int64_t size, int64_t left, int64_t budget, int64_t max_items
) noexcept nogil:
    """Put the `left` items of size number k into groups of bins; return whether there is memory for them."""
    cdef int64_t room, places, depth, count, parent, times, full, rest
    cdef bint done = True
    while left > 0:
        room, places, depth, count, parent = budget, max_items, 0, INT64_MAX, -1
        take_room(&made.open, size, &parent, &room)
        if parent >= 0:
            places, depth = made.groups[parent].places, made.groups[parent].depth
            count = made.groups[parent].count
        times = places
        if room - size < size:  # without a division, which takes as long as all else here
            times = 1
        elif size > 0 and room // size < times:
            times = room // size
        if times == 1:
            full, rest = left, 0
        elif left < times:
            full, rest = 0, left
        else:
            full, rest = left // times, left % times
        if full >= count:
            full, rest = count, 0
        left -= full * times + rest
        if parent >= 0:
            count -= full + (rest > 0)
            made.groups[parent].count = count
            if count > 0:
                put_room(&made.open, parent, room, &done)
                if not done:
                    return False
        if full > 0 and not add_group(
            made, parent, depth + 1, room - times * size, places - times, k, times, full
        ):
            return False
        if rest > 0 and not add_group(made, parent, depth + 1, room - rest * size, places - rest, k, rest, 1):
            return False
    return True


cdef void fill_bins(
    const GroupList* made, int64_t* next, int64_t* path, const int64_t* order, int64_t count,
    int64_t* items, int64_t* out
) noexcept nogil:
    """Assign items to each bin of each group: of each size, those that come next in `order`."""
    cdef int64_t bins = 0, at = 0, g, k, step, depth, first, times, _
    cdef const BinGroup* taken
    out[0] = 0
    for g in range(made.count):
        depth = made.groups[g].depth
        if made.groups[g].count == 0:
            continue
        k = g
        for step in range(depth - 1, -1, -1):
            path[step] = k
            k = made.groups[k].parent
        for _ in range(made.groups[g].count):
            for step in range(depth):
                taken = made.groups + path[step]
                times = taken.times
                first = next[taken.size]
                next[taken.size] = first + times
                if times < 8:  # most often
                    for k in range(times):
                        items[at + k] = order[first + k]
                else:
                    memcpy(items + at, order + first, times * sizeof(int64_t))
                at += times
            bins += 1
            out[bins] = at
    out[count + 1] = bins


cdef int64_t fill_by_counts(
    const int64_t* sizes, const int64_t* counts, int64_t n_sizes, const int64_t* order, int64_t count, int64_t budget,
    int64_t max_items, int64_t* items, int64_t* out
) noexcept nogil:
    """Pack counts of sizes, and assign the items; return GOOD or NO_MEMORY."""
    cdef GroupList made
    cdef int64_t deepest = 0, k
    cdef int64_t* next = <int64_t*> malloc((n_sizes + 1) * sizeof(int64_t))
    cdef int64_t* path = NULL
    cdef bint done = next != NULL and open_rooms(&made.open, budget, count)
    made.groups, made.count, made.capacity = NULL, 0, 0
    if done:
        for k in range(n_sizes):
            done = fill_size(&made, k, sizes[k], counts[k], budget, max_items)
            if not done:
                break
        close_rooms(&made.open)
    for k in range(made.count):
        deepest = made.groups[k].depth if made.groups[k].depth > deepest else deepest
    if done:
        path = <int64_t*> malloc((deepest + 1) * sizeof(int64_t))
        done = path != NULL
    if done:
        next[0] = 0
        for k in range(n_sizes):
            next[k + 1] = next[k] + counts[k]
        fill_bins(&made, next, path, order, count, items, out)
    free(made.groups)
    free(next)
    free(path)
    return GOOD if done else NO_MEMORY


def group_items(const int64_t[::1] bins not None, const int64_t[::1] order not None, int64_t[::1] offsets not None,
                int64_t[::1] items not None):
    """List items bin by bin.

    Parameters
    ----------
    bins : int64, shape (n,)
        Any values; valid bins are 0 .. n_bins - 1. The bin of the item at each position of `order`.
    order : int64, shape (n,)
        The items, in their order within the bins.
    offsets : int64, shape (n_bins + 1,)
        Written: the offsets of the bins in `items`.
    items : int64, shape (n,)
        Written. The content of `offsets` and `items` is undefined if a bin is invalid.

    Returns
    -------
    int
        The first position whose bin is out of range, -1 if there is none.
    """
    cdef int64_t count = bins.shape[0], n_bins = offsets.shape[0] - 1, state
    check_shapes(order.shape[0] == count and items.shape[0] == count and offsets.shape[0] > 0)
    cdef const int64_t* source = &bins[0] if count else NULL
    cdef const int64_t* numbers = &order[0] if count else NULL
    cdef int64_t* ends = &offsets[0]
    cdef int64_t* result = &items[0] if count else NULL
    with nogil:
        state = list_by_bin(source, count, numbers, n_bins, ends, result)
    return state


def cut_batches(const int64_t[::1] lengths not None, const int64_t[::1] order not None,
                const int64_t[::1] groups not None, int64_t budget, bint padded, int64_t max_items,
                int64_t[::1] out not None):
    """Divide items into batches, each with as many items as the budget allows.

    Parameters
    ----------
    lengths : int64, shape (n_lengths,)
        0 .. budget.
    order : int64, shape (n,)
        The items in their order, 0 .. n_lengths - 1.
    groups : int64, shape (n_groups + 1,)
        Offsets in `order`, from 0 to n; no batch extends across one of them.
    budget : int, 0 .. 2**62
    padded : bool
        Whether the budget counts the longest length times the number of items, instead of the sum of lengths.
    max_items : int, 1 or more
    out : int64, shape (n + 2,)
        The offsets of the batches in `order`; its last entry is the number of batches. The entries between the last
        offset and this number are not written. Undefined if an item is invalid.

    Returns
    -------
    int
        The first position whose item or length is out of range, -1 if there is none.
    """
    cdef int64_t count = order.shape[0], n_groups = groups.shape[0] - 1, n_lengths = lengths.shape[0], state = GOOD
    check_shapes(out.shape[0] == count + 2 and max_items > 0 and n_groups >= 0 and groups[n_groups] == count)
    cdef const int64_t* sizes = &lengths[0] if n_lengths else NULL
    cdef const int64_t* numbers = &order[0] if count else NULL
    cdef const int64_t* ends = &groups[0]
    cdef int64_t* result = &out[0]
    with nogil:
        if padded:
            cut_in_order(sizes, n_lengths, numbers, count, ends, n_groups, budget, True, max_items, result, &state)
        else:
            cut_in_order(sizes, n_lengths, numbers, count, ends, n_groups, budget, False, max_items, result, &state)
    return state


def segment_ends(const int64_t[::1] documents not None, const int64_t[::1] bins not None, int64_t length,
                 bint with_tails, int32_t[::1] out not None):
    """Compute the offsets of the segments of rows that are filled up to one length: cu_seqlens.

    Parameters
    ----------
    documents : int64, shape (n_documents + 1,), in tokens
    bins : int64, shape (n_bins + 1,), in documents
        A bin has at most `length` tokens.
    length : int
        The number of tokens per row.
    with_tails : bool
        Whether the filling of a row is a segment of its own.
    out : int32, shape (n_documents + n_bins + 3,)
        The start of each segment, and the end of the last one; the last two entries are the number of segments and the
        longest segment. The entries between are not written. Undefined if a bin is invalid.

    Returns
    -------
    int
        The first bin whose row has more tokens than `length`, or ends beyond the range of int32; -1 if there is none.
    """
    cdef int64_t n_bins = bins.shape[0] - 1, n_documents = documents.shape[0] - 1, b, s, at = 0, segments = 0
    cdef int64_t longest = 0, size, bad = -1
    check_shapes(n_bins >= 0 and n_documents >= 0 and length >= 0)
    check_shapes(out.shape[0] == n_documents + n_bins + 3 and bins[n_bins] == n_documents)
    cdef const int64_t* ends = &documents[0]
    cdef const int64_t* rows = &bins[0]
    cdef int32_t* result = &out[0]
    with nogil:
        result[0] = 0
        for b in range(n_bins):
            if length > INT32_MAX - at or ends[rows[b + 1]] - ends[rows[b]] > length:
                bad = b
                break
            for s in range(rows[b], rows[b + 1]):
                size = ends[s + 1] - ends[s]
                longest = max(longest, size)
                at += size
                segments += 1
                result[segments] = <int32_t> at
            size = (b + 1) * length - at
            if with_tails and size > 0:
                longest = max(longest, size)
                segments += 1
                result[segments] = <int32_t> (at + size)
            at += size
        result[n_documents + n_bins + 1] = <int32_t> segments
        result[n_documents + n_bins + 2] = <int32_t> longest
    return bad


def attention_rows(
    const int64_t[::1] tokens not None, const int64_t[::1] targets not None, const int64_t[::1] documents not None,
    const int64_t[::1] bins not None, const int64_t[::1] settings not None, int64_t[:, ::1] input_ids not None,
    int64_t[:, ::1] labels not None, int64_t[:, ::1] positions not None, int32_t[:, ::1] segment_ids not None,
    int32_t[:, ::1] seq_idx not None,
):
    """Write bins as rows of one length, with labels, positions, and the document of each token.

    Parameters
    ----------
    tokens, targets : int64, shape (n_tokens,)
    documents : int64, shape (n_documents + 1,), in tokens
    bins : int64, shape (n_bins + 1,), in documents
    settings : int64, shape (5,)
        The token that fills rows, the label that is ignored, the position of the first token of a document, the shift
        of labels (0: the first label of a document is ignored; 1: each token has the label of the next one, and the
        last is ignored), and whether the filling is a segment of its own.
    input_ids, labels, positions : int64, shape (n_bins, length)
        A bin has at most `length` tokens. Positions in the filling count up as in a document.
    segment_ids : int32, shape (n_bins, length)
        The number of the document in its row, starting at 1; 0 in the filling.
    seq_idx : int32, shape (n_bins, length)
        The same starting at 0; in the filling, the next number if it is a segment, otherwise -1.

    Returns
    -------
    int
        The first bin with more tokens than a row, -1 if there is none.
    """
    cdef int64_t n_bins = bins.shape[0] - 1, length = input_ids.shape[1], b, s, at, size, first, k
    check_shapes(settings.shape[0] == 5 and targets.shape[0] == tokens.shape[0] and n_bins >= 0 and documents.shape[0])
    check_shapes(documents[documents.shape[0] - 1] == tokens.shape[0] and bins[n_bins] == documents.shape[0] - 1)
    check_shapes(input_ids.shape[0] == n_bins and same(input_ids, labels) and same(input_ids, positions))
    check_shapes(segment_ids.shape[0] == n_bins and segment_ids.shape[1] == length)
    check_shapes(seq_idx.shape[0] == n_bins and seq_idx.shape[1] == length)
    for b in range(n_bins):
        if documents[bins[b + 1]] - documents[bins[b]] > length:
            return b
    if n_bins == 0 or length == 0:
        return -1
    cdef const int64_t* ids = &tokens[0] if tokens.shape[0] else NULL
    cdef const int64_t* wanted = &targets[0] if tokens.shape[0] else NULL
    cdef const int64_t* ends = &documents[0]
    cdef const int64_t* rows = &bins[0]
    cdef int64_t filling = settings[0], ignored = settings[1], start = settings[2], shift = settings[3]
    cdef bint own = settings[4] != 0
    cdef int64_t* to_ids = &input_ids[0, 0]
    cdef int64_t* to_labels = &labels[0, 0]
    cdef int64_t* to_positions = &positions[0, 0]
    cdef int32_t* to_segments = &segment_ids[0, 0]
    cdef int32_t* to_idx = &seq_idx[0, 0]
    with nogil:
        for b in range(n_bins):
            at = b * length
            for s in range(rows[b], rows[b + 1]):
                first = ends[s]
                size = ends[s + 1] - first
                if size > 0:
                    memcpy(to_ids + at, ids + first, size * sizeof(int64_t))
                    write_labels(to_labels + at, wanted + first, size, ignored, shift)
                    write_document(to_positions + at, to_segments + at, to_idx + at, size, start,
                                   <int32_t> (s - rows[b] + 1), <int32_t> (s - rows[b]))
                at += size
            size = (b + 1) * length - at
            for k in range(size):
                to_ids[at + k] = filling
                to_labels[at + k] = ignored
            write_document(to_positions + at, to_segments + at, to_idx + at, size, start, 0,
                           <int32_t> (rows[b + 1] - rows[b]) if own else -1)
    return -1


cdef bint same(int64_t[:, ::1] one, int64_t[:, ::1] other):
    """Return whether two arrays have the same shape."""
    return one.shape[0] == other.shape[0] and one.shape[1] == other.shape[1]


cdef void write_labels(int64_t* to, const int64_t* targets, int64_t size, int64_t ignored,
                       int64_t shift) noexcept nogil:
    """Write the labels of a document, which has at least one token."""
    if shift:
        memcpy(to, targets + 1, (size - 1) * sizeof(int64_t))
        to[size - 1] = ignored
    else:
        memcpy(to + 1, targets + 1, (size - 1) * sizeof(int64_t))
        to[0] = ignored


cdef void write_document(int64_t* positions, int32_t* segments, int32_t* numbers, int64_t size, int64_t start,
                         int32_t segment, int32_t number) noexcept nogil:
    """Write consecutive positions, and the number of a document, for all its tokens."""
    cdef int64_t k
    for k in range(size):
        positions[k] = start + k
    for k in range(size):
        segments[k] = segment
        numbers[k] = number


cdef int check_shapes(bint good) except -1:
    """Raise ValueError if the shapes of arrays do not match."""
    if not good:
        raise ValueError("the arrays have shapes that do not belong together, or a limit is below 1")
    return 0
