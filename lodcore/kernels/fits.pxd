"""Bins of a budget for items in their order: next fit, first fit and best fit; and batches of neighbours.

A fit writes the bin of every item, and then the number of bins, and returns GOOD or NO_MEMORY.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from lodcore.kernels.rooms cimport RoomSet, RoomTree, close_rooms, first_room, grow_tree, make_place, open_rooms
from lodcore.kernels.rooms cimport put_room, set_room, take_room
from lodcore.kernels.simd cimport forced_void, prefetch

cdef enum:
    NO_MEMORY = -2
    GOOD = -1
    SHORT_WINDOW = 32
    FAR = 16  # items ahead, of which the lengths are fetched

# A tree of the waiting items, with the items as leaves: the least length below each node, and how many items wait.
ctypedef struct ItemTree:
    int64_t* least
    int64_t* waiting
    int64_t leaves


cdef inline int64_t first_misfit(const int64_t* lengths, int64_t count, int64_t budget) noexcept nogil:
    """Return the first length that is negative or above the budget, GOOD if there is none."""
    cdef uint64_t bad = 0  # its highest bit tells
    cdef int64_t k
    for k in range(count):
        bad |= <uint64_t> lengths[k] | (<uint64_t> budget - <uint64_t> lengths[k])
    if <int64_t> bad < 0:
        for k in range(count):
            if <uint64_t> lengths[k] > <uint64_t> budget:
                return k
    return GOOD


# -- next fit ----------------------------------------------------------------------------------------------------------


cdef inline int64_t first_item(
    const ItemTree* tree, int64_t item, int64_t room, int64_t window, int64_t* passed
) noexcept nogil:
    """Return the first waiting item from `item` on that is at most `room` long; add the number of those before it.

    -1 if there is none, or at least `window` are before it.
    """
    cdef int64_t k = tree.leaves + item
    while tree.least[k] > room:
        passed[0] += tree.waiting[k]
        while k & 1:
            k //= 2
        if k == 0 or passed[0] >= window:
            return -1
        k += 1
    while k < tree.leaves:
        k *= 2
        if tree.least[k] > room:
            passed[0] += tree.waiting[k]
            k += 1
    return k - tree.leaves if passed[0] < window else -1


cdef inline void remove_item(ItemTree* tree, int64_t item) noexcept nogil:
    cdef int64_t k = tree.leaves + item, left, right
    tree.least[k] = INT64_MAX
    tree.waiting[k] = 0
    k //= 2
    while k > 0:
        left, right = tree.least[2 * k], tree.least[2 * k + 1]
        tree.least[k] = left if left < right else right
        tree.waiting[k] -= 1
        k //= 2


cdef inline bint make_tree(ItemTree* tree, const int64_t* lengths, int64_t count) noexcept nogil:
    """Build a tree of all items; return whether there is memory for it."""
    cdef int64_t k, left, right
    tree.leaves = 1
    while tree.leaves <= count:  # one leaf more than items, so that there is one after the last item
        tree.leaves *= 2
    tree.least = <int64_t*> malloc(tree.leaves * 4 * sizeof(int64_t))
    if tree.least == NULL:
        return False
    tree.waiting = tree.least + 2 * tree.leaves
    for k in range(tree.leaves):
        tree.least[tree.leaves + k] = lengths[k] if k < count else INT64_MAX
        tree.waiting[tree.leaves + k] = k < count
    for k in range(tree.leaves - 1, 0, -1):
        left, right = tree.least[2 * k], tree.least[2 * k + 1]
        tree.least[k] = left if left < right else right
        tree.waiting[k] = tree.waiting[2 * k] + tree.waiting[2 * k + 1]
    return True


cdef inline int64_t fill_within(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t window, int64_t* out
) noexcept nogil:
    """Fill bins as `fill_next` does for long windows, in a time that does not depend on the window."""
    cdef ItemTree tree
    cdef int64_t bin = 0, first = 0, room, passed, held, k
    if not make_tree(&tree, lengths, count):
        return NO_MEMORY
    while tree.waiting[1] > 0:
        room, passed, held = budget, 0, 0
        while tree.waiting[tree.leaves + first] == 0:
            first += 1
        k = first
        while k >= 0:
            out[k] = bin
            room -= lengths[k]
            remove_item(&tree, k)
            held += 1
            k = first_item(&tree, k, room, window, &passed) if held < max_items else -1
        bin += 1
    out[count] = bin
    free(tree.least)
    return GOOD


cdef inline int64_t fill_in_order(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t* out
) noexcept nogil:
    """Fill one bin after the other, without skipping any item."""
    cdef int64_t bin = -1, room = -1, held = 0, k
    for k in range(count):
        if lengths[k] > room or held == max_items:
            bin += 1
            room = budget
            held = 0
        room -= lengths[k]
        held += 1
        out[k] = bin
    out[count] = bin + 1
    return GOOD


cdef inline int64_t fill_next(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t window, int64_t* out
) noexcept nogil:
    """Fill one bin after the other with the first waiting items, skipping fewer than `window` that do not fit."""
    cdef int64_t bin = 0, first = 0, room, held, passed, before, k
    cdef int64_t* next
    if window == 1:
        return fill_in_order(lengths, count, budget, max_items, out)
    if window > SHORT_WINDOW:
        return fill_within(lengths, count, budget, max_items, window, out)
    next = <int64_t*> malloc((count + 1) * sizeof(int64_t))  # list of waiting items
    if next == NULL:
        return NO_MEMORY
    for k in range(count):
        next[k] = k + 1
    while first < count:
        room, held, passed, before = budget, 0, 0, -1
        k = first
        while k < count and held < max_items and passed < window:
            if lengths[k] > room and held:
                before = k
                passed += 1
            else:
                room -= lengths[k]
                held += 1
                out[k] = bin
                if before < 0:
                    first = next[k]
                else:
                    next[before] = next[k]
            k = next[k]
        bin += 1
    out[count] = bin
    free(next)
    return GOOD


# -- first fit, best fit -----------------------------------------------------------------------------------------------


cdef inline int64_t fill_first(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t* out
) noexcept nogil:
    """Put each item into the first bin that has room for it."""
    cdef RoomTree tree
    cdef int64_t bins = 0, capacity = 0, state = GOOD, k, bin, room
    cdef int64_t* held = NULL
    tree.most, tree.leaves = NULL, 0
    for k in range(count):
        bin = first_room(&tree, lengths[k])
        if bin < 0:
            if (bins == tree.leaves and not grow_tree(&tree)) or not make_place(
                <void**> &held, &capacity, bins, sizeof(int64_t)
            ):
                state = NO_MEMORY
                break
            bin = bins
            bins += 1
            room = budget
            held[bin] = 0
        else:
            room = tree.most[tree.leaves + bin]
        held[bin] += 1
        set_room(&tree, bin, room - lengths[k] if held[bin] < max_items else -1)
        out[k] = bin
    out[count] = bins
    free(tree.most)
    free(held)
    return state


cdef inline int64_t fill_best(
    const int64_t* lengths, int64_t count, int64_t budget, int64_t max_items, int64_t* out
) noexcept nogil:
    """Put each item into the bin with the least sufficient room."""
    cdef RoomSet rooms
    cdef int64_t bins = 0, capacity = 0, state = GOOD, k, bin = -1, room = 0
    cdef int64_t* held = NULL
    cdef bint counted = max_items < count, done
    if not open_rooms(&rooms, budget, count):
        return NO_MEMORY
    for k in range(count):
        take_room(&rooms, lengths[k], &bin, &room)
        if bin < 0:
            bin = bins
            bins += 1
            room = budget
            if counted:
                if not make_place(<void**> &held, &capacity, bin, sizeof(int64_t)):
                    state = NO_MEMORY
                    break
                held[bin] = 0
        out[k] = bin
        if counted:
            held[bin] += 1
            if held[bin] == max_items:
                continue
        put_room(&rooms, bin, room - lengths[k], &done)
        if not done:
            state = NO_MEMORY
            break
    out[count] = bins
    close_rooms(&rooms)
    free(held)
    return state


# -- in the order of the bins, and of the items ------------------------------------------------------------------------


cdef inline int64_t list_by_bin(
    const int64_t* bins, int64_t count, const int64_t* order, int64_t n_bins, int64_t* offsets, int64_t* items
) noexcept nogil:
    """List the items bin by bin, in `order` within each bin; return the first position with a bad bin, or GOOD."""
    cdef int64_t total = 0, here, b, k
    for b in range(n_bins + 1):
        offsets[b] = 0
    for k in range(count):
        if <uint64_t> bins[k] >= <uint64_t> n_bins:
            return k
        offsets[bins[k]] += 1
    for b in range(n_bins + 1):
        here = offsets[b]
        offsets[b] = total
        total += here
    for k in range(count):
        here = offsets[bins[k]]
        offsets[bins[k]] = here + 1
        items[here] = order[k]
    for b in range(n_bins, 0, -1):
        offsets[b] = offsets[b - 1]
    offsets[0] = 0
    return GOOD


cdef inline int64_t items_of(int64_t length, int64_t budget, int64_t max_items) noexcept nogil:
    """Return how many items of a length a batch holds."""
    cdef int64_t most = budget // length if length else max_items
    return most if most < max_items else max_items


cdef inline forced_void cut_in_order(
    const int64_t* lengths, int64_t n_lengths, const int64_t* order, int64_t count, const int64_t* groups,
    int64_t n_groups, int64_t budget, const bint padded, int64_t max_items, int64_t* out, int64_t* state
) noexcept nogil:
    """Divide items in their order into batches within a budget, none across the end of a group.

    Write offsets and their number; `state` is the first position with a bad item, or GOOD.
    """
    cdef int64_t batches = 0, at = 0, g, held, length, after, stop, item
    cdef int64_t used  # the part of the budget that is used, or the longest length if padded
    cdef int64_t most  # if padded: how many items of the longest length a batch holds
    cdef bint full
    out[0] = 0
    for g in range(n_groups):
        held, used, most, stop = 0, 0, max_items, groups[g + 1]
        while at < stop:
            if at + FAR < count and <uint64_t> order[at + FAR] < <uint64_t> n_lengths:
                prefetch(lengths + order[at + FAR])
            item = order[at]
            if <uint64_t> item >= <uint64_t> n_lengths:
                state[0] = at
                return
            length = lengths[item]
            if <uint64_t> length > <uint64_t> budget:
                state[0] = at
                return
            if padded:
                after = length if length > used else used
                if length > used:
                    most = items_of(length, budget, max_items)
                full = held >= most
            else:
                full = (length > budget - used) | (held == max_items)
                after = 0 if full else used + length
            if full and held > 0:
                batches += 1
                out[batches] = at
                held = 0
                after = length
                if padded:
                    most = items_of(length, budget, max_items)
            used = after
            held += 1
            at += 1
        if held > 0:
            batches += 1
            out[batches] = at
    out[count + 1] = batches
    state[0] = GOOD
