/* Numbering of equal keys by hashing: records of one size, compared byte by byte. */
#ifndef LODCORE_GROUP_H
#define LODCORE_GROUP_H

#include "simd.h"
#include <stdint.h>
#include <string.h>

/* The finalizer of MurmurHash3: every bit of the key reaches every bit of the hash. */
LODCORE_INLINE uint64_t mixed(uint64_t key)
{
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdULL;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33);
}

/* Multiply two words, and combine the halves of the product. */
LODCORE_INLINE uint64_t folded(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    return mixed(a) ^ (mixed(b) * 0x9e3779b97f4a7c15ULL);
#endif
}

/* Constants of the hash, derived from a seed so that nobody can choose keys that collide. */
typedef struct {
    uint64_t first, second, third;
} hash_words;

LODCORE_INLINE hash_words words_of(uint64_t seed)
{
    hash_words words = {mixed(seed + 0x9e3779b97f4a7c15ULL), mixed(seed + 0x3c6ef372fe94f82aULL) | 1,
                        mixed(seed + 0xdaa66d2c7ddf743fULL)};
    return words;
}

LODCORE_INLINE uint64_t word_at(const char *key)
{
    uint64_t word;
    memcpy(&word, key, 8);
    return word;
}

/* Hash sixteen bytes at a time; the last ones overlap those before. */
LODCORE_INLINE uint64_t hash_of(const char *key, int64_t size, hash_words words)
{
    uint64_t hash = words.second, word = 0;
    if (size <= 8) {
        memcpy(&word, key, (size_t)size);
        return folded(word ^ words.first, hash);
    }
    const char *last = key + size - 8;
    for (; size > 16; size -= 16, key += 16)
        hash = folded(word_at(key) ^ words.third, word_at(key + 8) ^ hash);
    word = size > 8 ? word_at(key) : 0;
    return folded(word ^ words.first, word_at(last) ^ hash);
}

LODCORE_INLINE int same_key(const char *one, const char *other, int64_t size)
{
    if (size < 8)
        return memcmp(one, other, (size_t)size) == 0;
    int64_t at = 0;
    for (; at + 8 <= size; at += 8)
        if (word_at(one + at) != word_at(other + at))
            return 0;
    return word_at(one + size - 8) == word_at(other + size - 8);
}

/* A slot of the table: the number of a key (-1 if the slot is free) and its hash; for keys of 8 bytes, the key itself.
 * */
typedef struct {
    int64_t id;
    uint64_t hash;
} key_slot;

/* Number equal keys in the order of their first appearance; return -1 if there are more than `most`, which is three
 * quarters of the slots. */
LODCORE_INLINE int64_t number_sized(const char *keys, int64_t size, int64_t n_keys, uint64_t seed, key_slot *table,
                                    uint64_t mask, int64_t most, int64_t *ids, int64_t *firsts)
{
    const hash_words words = words_of(seed);
    int64_t count = 0, last = -1;
    uint64_t last_hash = 0;
    for (int64_t r = 0; r < n_keys; r++) {
        const char *key = keys + r * size;
        uint64_t hash, slot;
        if (size == 8)
            memcpy(&hash, key, 8);
        else
            hash = hash_of(key, size, words);
        if (last >= 0 && hash == last_hash && (size == 8 || same_key(keys + firsts[last] * size, key, size))) {
            ids[r] = last; /* runs of equal keys are common */
            continue;
        }
        slot = (size == 8 ? hash_of(key, 8, words) : hash) & mask;
        while (table[slot].id >= 0 &&
               (table[slot].hash != hash ||
                (size != 8 && !same_key(keys + firsts[table[slot].id] * size, key, size))))
            slot = (slot + 1) & mask;
        if (table[slot].id < 0) {
            if (count == most)
                return -1;
            firsts[count] = r;
            table[slot].hash = hash;
            table[slot].id = count++;
        }
        ids[r] = last = table[slot].id;
        last_hash = hash;
    }
    return count;
}

static LODCORE_UNUSED int64_t number_all(const char *keys, int64_t size, int64_t n_keys, uint64_t seed, int64_t *table,
                                         int64_t slots, int64_t *ids, int64_t *firsts)
{
    for (int64_t slot = 0; slot < slots; slot++)
        table[2 * slot] = -1;
    uint64_t mask = (uint64_t)slots - 1;
    if (size == 8)
        return number_sized(keys, 8, n_keys, seed, (key_slot *)table, mask, slots / 4 * 3, ids, firsts);
    if (size == 4)
        return number_sized(keys, 4, n_keys, seed, (key_slot *)table, mask, slots / 4 * 3, ids, firsts);
    return number_sized(keys, size, n_keys, seed, (key_slot *)table, mask, slots / 4 * 3, ids, firsts);
}

/* List the first row of each run of equal keys. */
static LODCORE_UNUSED int64_t find_all_runs(const char *keys, int64_t size, int64_t n_keys, int64_t *out)
{
    int64_t count = 0;
    if (size == 8) {
        const uint64_t *words = (const uint64_t *)keys;
        for (int64_t r = 0; r < n_keys; r++) {
            out[count] = r;
            count += r == 0 || words[r] != words[r - 1];
        }
        return count;
    }
    for (int64_t r = 0; r < n_keys; r++)
        if (r == 0 || memcmp(keys + r * size, keys + (r - 1) * size, (size_t)size) != 0)
            out[count++] = r;
    return count;
}

/* Group rows by their numbers with a stable counting sort: write offsets of the groups, and the rows. */
static LODCORE_UNUSED void order_all(const int64_t *ids, int64_t n_rows, int64_t count, int64_t *offsets, int64_t *out)
{
    memset(offsets, 0, (size_t)(count + 1) * sizeof(int64_t));
    for (int64_t r = 0; r < n_rows; r++)
        offsets[ids[r] + 1]++;
    for (int64_t id = 0; id < count; id++)
        offsets[id + 1] += offsets[id];
    for (int64_t r = 0; r < n_rows; r++)
        out[offsets[ids[r]]++] = r;
    for (int64_t id = count; id > 0; id--)
        offsets[id] = offsets[id - 1];
    offsets[0] = 0;
}

#endif
