/* Packing of items into bins of a budget: next fit, first fit, best fit, and best fit decreasing on counts of lengths.
 * */
#ifndef LODCORE_PACKING_H
#define LODCORE_PACKING_H

#include "rooms.h"
#include "rows.h"

enum { NO_MEMORY = -2, GOOD = -1, SHORT_WINDOW = 32 };

/* Return the first length that is negative or above the budget, -1 if there is none. */
static LODCORE_UNUSED int64_t first_misfit(const int64_t *lengths, int64_t count, int64_t budget)
{
    uint64_t most = 0;
    for (int64_t k = 0; k < count; k++) /* as unsigned, a negative length is greater than any budget */
        most = (uint64_t)lengths[k] > most ? (uint64_t)lengths[k] : most;
    for (int64_t k = 0; most > (uint64_t)budget && k < count; k++)
        if ((uint64_t)lengths[k] > (uint64_t)budget)
            return k;
    return GOOD;
}

/* -- item by item: out receives the bin of each item, and then the number of bins
 * ------------------------------------- */

/* A tree of the waiting items, with the items as leaves: the least length below each node, and how many items wait. */
typedef struct {
    int64_t *least, *waiting, leaves;
} item_tree;

/* Return the first waiting item from `item` on that is at most `room` long, and add the number of those before it to
 * `passed`; -1 if there is none, or at least `window` are before it. */
static LODCORE_UNUSED int64_t first_item(const item_tree *tree, int64_t item, int64_t room, int64_t window,
                                         int64_t *passed)
{
    int64_t k = tree->leaves + item;
    while (tree->least[k] > room) {
        *passed += tree->waiting[k];
        while (k & 1)
            k /= 2;
        if (k == 0 || *passed >= window)
            return -1;
        k++;
    }
    while (k < tree->leaves) {
        k *= 2;
        if (tree->least[k] > room)
            *passed += tree->waiting[k++];
    }
    return *passed < window ? k - tree->leaves : -1;
}

static LODCORE_UNUSED void remove_item(item_tree *tree, int64_t item)
{
    int64_t k = tree->leaves + item;
    tree->least[k] = INT64_MAX;
    tree->waiting[k] = 0;
    for (k /= 2; k > 0; k /= 2) {
        const int64_t left = tree->least[2 * k], right = tree->least[2 * k + 1];
        tree->least[k] = left < right ? left : right;
        tree->waiting[k]--;
    }
}

/* Fill bins as `fill_next` does for long windows, in a time that does not depend on the window. */
static LODCORE_UNUSED int64_t fill_within(const int64_t *lengths, int64_t count, int64_t budget, int64_t max_items,
                                          int64_t window, int64_t *out)
{
    item_tree tree = {NULL, NULL, 1};
    int64_t bin = 0, first = 0;
    while (tree.leaves <= count) /* one leaf more than items, so that there is one after the last item */
        tree.leaves *= 2;
    tree.least = (int64_t *)malloc((size_t)tree.leaves * 4 * sizeof(int64_t));
    if (tree.least == NULL)
        return NO_MEMORY;
    tree.waiting = tree.least + 2 * tree.leaves;
    for (int64_t k = 0; k < tree.leaves; k++) {
        tree.least[tree.leaves + k] = k < count ? lengths[k] : INT64_MAX;
        tree.waiting[tree.leaves + k] = k < count;
    }
    for (int64_t k = tree.leaves - 1; k > 0; k--) {
        const int64_t left = tree.least[2 * k], right = tree.least[2 * k + 1];
        tree.least[k] = left < right ? left : right;
        tree.waiting[k] = tree.waiting[2 * k] + tree.waiting[2 * k + 1];
    }
    for (; tree.waiting[1] > 0; bin++) {
        int64_t room = budget, passed = 0;
        while (tree.waiting[tree.leaves + first] == 0)
            first++;
        int64_t k = first, held = 0;
        while (k >= 0) {
            out[k] = bin;
            room -= lengths[k];
            remove_item(&tree, k);
            k = ++held < max_items ? first_item(&tree, k, room, window, &passed) : -1;
        }
    }
    out[count] = bin;
    free(tree.least);
    return GOOD;
}

/* Fill one bin after the other with the first waiting items, skipping fewer than `window` items that do not fit. */
static LODCORE_UNUSED int64_t fill_next(const int64_t *lengths, int64_t count, int64_t budget, int64_t max_items,
                                        int64_t window, int64_t *out)
{
    int64_t bin = 0, first = 0, *next = NULL;
    if (window == 1) {
        int64_t room = budget, held = 0;
        for (int64_t k = 0; k < count; k++) {
            if (lengths[k] > room || held == max_items) {
                bin++;
                room = budget;
                held = 0;
            }
            room -= lengths[k];
            held++;
            out[k] = bin;
        }
        out[count] = bin + (count > 0);
        return GOOD;
    }
    if (window > SHORT_WINDOW)
        return fill_within(lengths, count, budget, max_items, window, out);
    next = (int64_t *)malloc((size_t)(count + 1) * sizeof(int64_t)); /* list of waiting items */
    if (next == NULL)
        return NO_MEMORY;
    for (int64_t k = 0; k < count; k++)
        next[k] = k + 1;
    for (; first < count; bin++) {
        int64_t room = budget, held = 0, passed = 0, before = -1;
        for (int64_t k = first; k < count && held < max_items && passed < window; k = next[k]) {
            if (lengths[k] > room) {
                before = k;
                passed++;
                continue;
            }
            room -= lengths[k];
            held++;
            out[k] = bin;
            if (before < 0)
                first = next[k];
            else
                next[before] = next[k];
        }
    }
    out[count] = bin;
    free(next);
    return GOOD;
}

static LODCORE_UNUSED int64_t fill_first(const int64_t *lengths, int64_t count, int64_t budget, int64_t max_items,
                                         int64_t *out)
{
    room_tree tree = {NULL, 0};
    int64_t bins = 0, *held = NULL, capacity = 0, state = GOOD;
    for (int64_t k = 0; k < count; k++) {
        int64_t bin = first_room(&tree, lengths[k]), room;
        if (bin < 0) {
            if ((bins == tree.leaves && !grow_tree(&tree)) ||
                !make_place((void **)&held, &capacity, bins, sizeof(int64_t))) {
                state = NO_MEMORY;
                break;
            }
            bin = bins++;
            room = budget;
            held[bin] = 0;
        } else {
            room = tree.most[tree.leaves + bin];
        }
        set_room(&tree, bin, ++held[bin] < max_items ? room - lengths[k] : -1);
        out[k] = bin;
    }
    out[count] = bins;
    free(tree.most);
    free(held);
    return state;
}

static LODCORE_UNUSED int64_t fill_best(const int64_t *lengths, int64_t count, int64_t budget, int64_t max_items,
                                        int64_t *out)
{
    room_set set;
    int64_t bins = 0, *held = NULL, capacity = 0, state = GOOD;
    const int counted = max_items < count;
    if (!open_rooms(&set, budget, count))
        return NO_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        int64_t room, bin = take_room(&set, lengths[k], &room);
        if (bin < 0) {
            bin = bins++;
            room = budget;
            if (counted) {
                if (!make_place((void **)&held, &capacity, bin, sizeof(int64_t))) {
                    state = NO_MEMORY;
                    break;
                }
                held[bin] = 0;
            }
        }
        out[k] = bin;
        if (!(counted && ++held[bin] == max_items) && !put_room(&set, bin, room - lengths[k])) {
            state = NO_MEMORY;
            break;
        }
    }
    out[count] = bins;
    close_rooms(&set);
    free(held);
    return state;
}

/* -- by counts of lengths -------------------------------------------------------------------------------------------- */

/* A group of bins with equal content: that of `parent` (-1: empty bins), and `times` items of one more size in each.
 * */
typedef struct {
    int64_t parent, size, times, depth, room, places, count;
} bin_group;

typedef struct {
    bin_group *groups;
    int64_t count, capacity;
    room_set open;
} group_list;

/* Append a group of bins; return 0 if there is no memory. */
static LODCORE_UNUSED int add_group(group_list *list, int64_t parent, bin_group like, int64_t size, int64_t length,
                                    int64_t times, int64_t count)
{
    if (!make_place((void **)&list->groups, &list->capacity, list->count, sizeof(bin_group)))
        return 0;
    bin_group *group = list->groups + list->count;
    group->parent = parent;
    group->size = size;
    group->times = times;
    group->depth = like.depth + 1;
    group->room = like.room - times * length;
    group->places = like.places - times;
    group->count = count;
    list->count++;
    return group->places == 0 || put_room(&list->open, list->count - 1, group->room);
}

/* Run best fit decreasing, all items of one size at a time; return 0 if there is no memory. */
static LODCORE_UNUSED int fill_groups(group_list *list, const int64_t *sizes, const int64_t *counts, int64_t n_sizes,
                                      int64_t budget, int64_t max_items)
{
    for (int64_t k = 0; k < n_sizes; k++) {
        int64_t left = counts[k];
        while (left > 0) {
            int64_t room, parent = take_room(&list->open, sizes[k], &room);
            bin_group like = {-1, 0, 0, 0, budget, max_items, INT64_MAX};
            if (parent >= 0)
                like = list->groups[parent];
            int64_t times = like.places;
            if (sizes[k] > 0 && like.room / sizes[k] < times)
                times = like.room / sizes[k];
            int64_t full = left / times, rest = left % times;
            if (full >= like.count) {
                full = like.count;
                rest = 0;
            }
            left -= full * times + rest;
            if (parent >= 0) {
                list->groups[parent].count -= full + (rest > 0);
                if (list->groups[parent].count > 0 && !put_room(&list->open, parent, room))
                    return 0;
            }
            if (full > 0 && !add_group(list, parent, like, k, sizes[k], times, full))
                return 0;
            if (rest > 0 && !add_group(list, parent, like, k, sizes[k], rest, 1))
                return 0;
        }
    }
    return 1;
}

/* Assign items to each bin of each group: of each size, those that come next in `order`. */
static LODCORE_UNUSED void fill_bins(const group_list *list, int64_t *next, int64_t *path, const int64_t *order,
                                     int64_t count, int64_t *items, int64_t *out)
{
    int64_t bins = 0, at = 0;
    out[0] = 0;
    for (int64_t g = 0; g < list->count; g++) {
        const bin_group *group = list->groups + g;
        const int64_t depth = group->depth;
        if (group->count == 0)
            continue;
        for (int64_t step = depth, k = g; step > 0; step--, k = list->groups[k].parent)
            path[step - 1] = k;
        for (int64_t bin = 0; bin < group->count; bin++) {
            for (int64_t step = 0; step < depth; step++) {
                const bin_group *taken = list->groups + path[step];
                int64_t *from = next + taken->size;
                for (int64_t j = 0; j < taken->times; j++)
                    items[at++] = order[(*from)++];
            }
            out[++bins] = at;
        }
    }
    out[count + 1] = bins;
}

static LODCORE_UNUSED int64_t fill_by_counts(const int64_t *sizes, const int64_t *counts, int64_t n_sizes,
                                             const int64_t *order, int64_t count, int64_t budget, int64_t max_items,
                                             int64_t *items, int64_t *out)
{
    group_list list = {NULL, 0, 0, {0}};
    int64_t *next = (int64_t *)malloc((size_t)(n_sizes + 1) * sizeof(int64_t)), *path = NULL, deepest = 0;
    int done = next != NULL && open_rooms(&list.open, budget, count);
    if (done) {
        done = fill_groups(&list, sizes, counts, n_sizes, budget, max_items);
        close_rooms(&list.open);
    }
    for (int64_t g = 0; done && g < list.count; g++)
        deepest = list.groups[g].depth > deepest ? list.groups[g].depth : deepest;
    if (done)
        path = (int64_t *)malloc((size_t)(deepest + 1) * sizeof(int64_t));
    done = done && path != NULL;
    if (done) {
        next[0] = 0;
        for (int64_t k = 0; k < n_sizes; k++)
            next[k + 1] = next[k] + counts[k];
        fill_bins(&list, next, path, order, count, items, out);
    }
    free(list.groups);
    free(next);
    free(path);
    return done ? GOOD : NO_MEMORY;
}

/* -- in the order of the bins ------------------------------------------------------------------------------------------ */

/* List the items bin by bin, in `order` within each bin; return the first position whose bin is out of range, or -1.
 * */
static LODCORE_UNUSED int64_t list_by_bin(const int64_t *bins, int64_t count, const int64_t *order, int64_t n_bins,
                                          int64_t *offsets, int64_t *items)
{
    for (int64_t b = 0; b <= n_bins; b++)
        offsets[b] = 0;
    for (int64_t k = 0; k < count; k++) {
        if ((uint64_t)bins[k] >= (uint64_t)n_bins)
            return k;
        offsets[bins[k]]++;
    }
    for (int64_t b = 0, sum = 0; b <= n_bins; b++) {
        const int64_t here = offsets[b];
        offsets[b] = sum;
        sum += here;
    }
    for (int64_t k = 0; k < count; k++)
        items[offsets[bins[k]]++] = order[k];
    for (int64_t b = n_bins; b > 0; b--)
        offsets[b] = offsets[b - 1];
    offsets[0] = 0;
    return GOOD;
}

/* Divide items in their order into batches within a budget, none across the end of a group; write offsets and their
 * number. */
static LODCORE_UNUSED int64_t cut_in_order(const int64_t *lengths, int64_t n_lengths, const int64_t *order,
                                           int64_t count, const int64_t *groups, int64_t n_groups, int64_t budget,
                                           int padded, int64_t max_items, int64_t *out)
{
    int64_t batches = 0, stop = 0, at = 0;
    out[0] = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        int64_t held = 0, used = 0; /* used: the part of the budget that is used, or the longest length if padded */
        stop = groups[g + 1];
        for (; at < stop; at++) {
            if (at + FAR < count && (uint64_t)order[at + FAR] < (uint64_t)n_lengths)
                LODCORE_PREFETCH(lengths + order[at + FAR]);
            if ((uint64_t)order[at] >= (uint64_t)n_lengths)
                return at;
            const int64_t length = lengths[order[at]];
            if ((uint64_t)length > (uint64_t)budget)
                return at;
            int64_t after = padded ? (length > used ? length : used) : used + length;
            const int full = padded ? after > 0 && held + 1 > budget / after : after > budget;
            if (held > 0 && (full || held == max_items)) {
                out[++batches] = at;
                held = 0;
                after = length;
            }
            used = after;
            held++;
        }
        if (held > 0)
            out[++batches] = at;
    }
    out[count + 1] = batches;
    return GOOD;
}

#endif
