/* Bins by their remaining room: the set from which best fit selects, and the tree that first fit searches. */
#ifndef LODCORE_ROOMS_H
#define LODCORE_ROOMS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simd.h"

enum { BLOCK_ENTRIES = 512, BIT_LEVELS = 11, SMALL_TABLE = 1 << 16 };

/* Return the position of the lowest bit that is set; there is one. */
LODCORE_INLINE int64_t lowest_bit(uint64_t word)
{
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int64_t place = 0;
    while (!(word & 1)) {
        word >>= 1;
        place++;
    }
    return place;
#endif
}

/* Ensure room for entry `count` of an array of capacity `*capacity`; return 0 if there is no memory. */
static LODCORE_UNUSED int make_place(void **array, int64_t *capacity, int64_t count, size_t size)
{
    if (count < *capacity)
        return 1;
    const int64_t wanted = *capacity ? 2 * *capacity : 1024;
    void *grown = realloc(*array, (size_t)wanted * size);
    if (grown == NULL)
        return 0;
    *array = grown;
    *capacity = wanted;
    return 1;
}

/* -- members by their room, among equal ones the latest first --------------------------------------------------------
 * */

typedef struct {
    int64_t room, member;
} entry;

typedef struct {
    entry *entries;
    int64_t count;
} block;

/* For small budgets: a list of members per room, and bits, 64 per word on each level, for the lists that are not
 * empty. Otherwise: blocks of entries sorted by room. */
typedef struct {
    int64_t *heads, *next, next_capacity; /* heads: the latest member plus 1; next: the one before it plus 1 */
    uint64_t *bits[BIT_LEVELS];
    int64_t sizes[BIT_LEVELS]; /* the number of places on each level */
    int bit_levels;
    block *blocks;
    int64_t n_blocks, block_capacity;
} room_set;

static LODCORE_UNUSED void close_rooms(room_set *set)
{
    for (int level = 0; level < set->bit_levels; level++)
        free(set->bits[level]);
    for (int64_t k = 0; k < set->n_blocks; k++)
        free(set->blocks[k].entries);
    free(set->heads);
    free(set->next);
    free(set->blocks);
}

/* Initialize a set for rooms 0 .. budget that will receive about `count` members; return 0 if there is no memory. */
static LODCORE_UNUSED int open_rooms(room_set *set, int64_t budget, int64_t count)
{
    memset(set, 0, sizeof *set);
    if (budget > SMALL_TABLE && budget / 4 > count)
        return 1;
    set->heads = (int64_t *)calloc((size_t)budget + 1, sizeof(int64_t));
    int done = set->heads != NULL;
    int64_t words = budget + 1;
    while (done) {
        set->sizes[set->bit_levels] = words;
        words = (words + 63) / 64;
        set->bits[set->bit_levels] = (uint64_t *)calloc((size_t)words, sizeof(uint64_t));
        done = set->bits[set->bit_levels] != NULL;
        set->bit_levels += done;
        if (words == 1)
            break;
    }
    if (!done)
        close_rooms(set);
    return done;
}

/* Return the first block whose last room is at least `room`; the number of blocks if there is none. */
static LODCORE_UNUSED int64_t find_block(const room_set *set, int64_t room)
{
    int64_t low = 0, high = set->n_blocks;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const block *here = set->blocks + middle;
        if (here->entries[here->count - 1].room < room)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the first entry of a block whose room is at least `room`. */
static LODCORE_UNUSED int64_t find_entry(const block *here, int64_t room)
{
    int64_t low = 0, high = here->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (here->entries[middle].room < room)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Insert a block at position k; return 0 if there is no memory. */
static LODCORE_UNUSED int insert_block(room_set *set, int64_t k)
{
    if (!make_place((void **)&set->blocks, &set->block_capacity, set->n_blocks, sizeof(block)))
        return 0;
    entry *entries = (entry *)malloc(BLOCK_ENTRIES * sizeof(entry));
    if (entries == NULL)
        return 0;
    memmove(set->blocks + k + 1, set->blocks + k, (size_t)(set->n_blocks - k) * sizeof(block));
    set->blocks[k].entries = entries;
    set->blocks[k].count = 0;
    set->n_blocks++;
    return 1;
}

static LODCORE_UNUSED int put_entry(room_set *set, int64_t member, int64_t room)
{
    int64_t k = find_block(set, room);
    if (set->n_blocks == 0 && !insert_block(set, 0))
        return 0;
    if (k == set->n_blocks)
        k--;
    if (set->blocks[k].count == BLOCK_ENTRIES) {
        if (!insert_block(set, k + 1))
            return 0;
        block *full = set->blocks + k, *fresh = full + 1;
        full->count = fresh->count = BLOCK_ENTRIES / 2;
        memcpy(fresh->entries, full->entries + full->count, BLOCK_ENTRIES / 2 * sizeof(entry));
        k += full->entries[full->count - 1].room < room;
    }
    block *here = set->blocks + k;
    const int64_t at = here->count ? find_entry(here, room) : 0;
    memmove(here->entries + at + 1, here->entries + at, (size_t)(here->count - at) * sizeof(entry));
    here->entries[at].room = room;
    here->entries[at].member = member;
    here->count++;
    return 1;
}

static LODCORE_UNUSED int64_t take_entry(room_set *set, int64_t need, int64_t *room)
{
    const int64_t k = find_block(set, need);
    if (k == set->n_blocks)
        return -1;
    block *here = set->blocks + k;
    const int64_t at = find_entry(here, need), member = here->entries[at].member;
    *room = here->entries[at].room;
    here->count--;
    memmove(here->entries + at, here->entries + at + 1, (size_t)(here->count - at) * sizeof(entry));
    if (here->count == 0) {
        free(here->entries);
        set->n_blocks--;
        memmove(here, here + 1, (size_t)(set->n_blocks - k) * sizeof(block));
    }
    return member;
}

/* Insert a member into the set; return 0 if there is no memory. */
LODCORE_INLINE int put_room(room_set *set, int64_t member, int64_t room)
{
    if (set->heads == NULL)
        return put_entry(set, member, room);
    while (member >= set->next_capacity)
        if (!make_place((void **)&set->next, &set->next_capacity, set->next_capacity, sizeof(int64_t)))
            return 0;
    set->next[member] = set->heads[room];
    set->heads[room] = member + 1;
    for (int level = 0; level < set->bit_levels; level++) {
        const uint64_t before = set->bits[level][room >> 6];
        set->bits[level][room >> 6] = before | (uint64_t)1 << (room & 63);
        if (before)
            break;
        room >>= 6;
    }
    return 1;
}

/* Remove and return the latest member with the least room that is at least `need`; -1 if there is none. */
LODCORE_INLINE int64_t take_room(room_set *set, int64_t need, int64_t *room)
{
    if (set->heads == NULL)
        return take_entry(set, need, room);
    int64_t place = need;
    int level = 0;
    for (;;) { /* upwards, to a word with a bit at or after `place` */
        if (place < set->sizes[level]) {
            const uint64_t word = set->bits[level][place >> 6] & ~(uint64_t)0 << (place & 63);
            if (word) {
                place = (place & ~(int64_t)63) + lowest_bit(word);
                break;
            }
        }
        place = (place >> 6) + 1;
        if (++level == set->bit_levels)
            return -1;
    }
    for (; level > 0; level--)
        place = 64 * place + lowest_bit(set->bits[level - 1][place]);
    *room = place;
    const int64_t member = set->heads[place] - 1;
    set->heads[place] = set->next[member];
    for (level = 0; level < set->bit_levels && (level > 0 || set->heads[place] == 0); level++) {
        set->bits[level][place >> 6] &= ~((uint64_t)1 << (place & 63));
        place >>= 6;
        if (set->bits[level][place])
            break;
    }
    return member;
}

/* -- the first bin with enough room --------------------------------------------------------------------------------- */

/* A tree of the most room below each node, with the bins as leaves; -1 for missing bins. */
typedef struct {
    int64_t *most, leaves;
} room_tree;

/* Double the number of leaves; return 0 if there is no memory. */
static LODCORE_UNUSED int grow_tree(room_tree *tree)
{
    const int64_t leaves = tree->leaves ? 2 * tree->leaves : 1024;
    int64_t *most = (int64_t *)malloc((size_t)leaves * 2 * sizeof(int64_t));
    if (most == NULL)
        return 0;
    for (int64_t k = 0; k < leaves; k++)
        most[leaves + k] = k < tree->leaves ? tree->most[tree->leaves + k] : -1;
    for (int64_t k = leaves - 1; k > 0; k--)
        most[k] = most[2 * k] > most[2 * k + 1] ? most[2 * k] : most[2 * k + 1];
    free(tree->most);
    tree->most = most;
    tree->leaves = leaves;
    return 1;
}

/* Return the first bin whose room is at least `need`, -1 if there is none. */
LODCORE_INLINE int64_t first_room(const room_tree *tree, int64_t need)
{
    if (tree->leaves == 0 || tree->most[1] < need)
        return -1;
    int64_t k = 1;
    while (k < tree->leaves)
        k = 2 * k + (tree->most[2 * k] < need);
    return k - tree->leaves;
}

LODCORE_INLINE void set_room(room_tree *tree, int64_t bin, int64_t room)
{
    int64_t k = tree->leaves + bin;
    tree->most[k] = room;
    for (k /= 2; k > 0; k /= 2) {
        const int64_t left = tree->most[2 * k], right = tree->most[2 * k + 1], most = left > right ? left : right;
        if (tree->most[k] == most)
            break;
        tree->most[k] = most;
    }
}

#endif
