/* Rows that are numbers: removal of those in a set. */
#ifndef LODCORE_TOKENS_H
#define LODCORE_TOKENS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "simd.h"

enum { FEW = 4, SOME_ROWS = 1024 };

/* A set of numbers: a few are compared with each number; many are bits of a table, or a sorted list if they are far
 * apart. */
typedef struct {
    int64_t count;
    uint64_t few[FEW];
    uint64_t *sorted, range;
    uint8_t *bits;
} token_set;

/* Return the bits of a number of some size, as an unsigned number; 0 if that size cannot represent it. */
static LODCORE_UNUSED int bits_of(int64_t number, int64_t size, int is_signed, uint64_t *bits)
{
    const int64_t half = size < 8 ? (int64_t)1 << (8 * size - 1) : INT64_MAX;
    *bits = size < 8 ? (uint64_t)number & (2 * (uint64_t)half - 1) : (uint64_t)number;
    if (!is_signed)
        return number >= 0 && (size == 8 || number < 2 * half);
    return size == 8 || (number >= -half && number < half);
}

static LODCORE_UNUSED int by_number(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* Build the set of the tokens that a number of some size can represent; `rows` numbers will be looked up. Return 0 if
 * there is no memory. */
static LODCORE_UNUSED int make_set(token_set *set, const int64_t *tokens, int64_t count, int64_t size, int is_signed,
                                   int64_t rows)
{
    uint64_t bits, *sorted = set->few;
    set->count = 0;
    set->sorted = NULL;
    set->bits = NULL;
    if (count > FEW) {
        sorted = set->sorted = (uint64_t *)malloc((size_t)count * sizeof(uint64_t));
        if (sorted == NULL)
            return 0;
    }
    for (int64_t k = 0; k < count; k++)
        if (bits_of(read_once(tokens + k), size, is_signed, &bits))
            sorted[set->count++] = bits;
    for (int64_t k = set->count; 0 < k && k < FEW; k++)
        sorted[k] = sorted[0];
    if (set->count <= FEW) {
        memcpy(set->few, sorted, sizeof set->few);
        return 1;
    }
    qsort(sorted, (size_t)set->count, sizeof(uint64_t), by_number);
    set->range = sorted[set->count - 1] - sorted[0];
    if (set->range / 16 <= (uint64_t)rows + 4096) /* no more bits than it pays to clear */
        set->bits = (uint8_t *)calloc((size_t)(set->range / 8 + 2), 1);
    if (set->bits != NULL)
        for (int64_t k = 0; k < set->count; k++) {
            uint64_t place = sorted[k] - sorted[0];
            set->bits[place >> 3] |= (uint8_t)(1 << (place & 7));
        }
    return 1;
}

static LODCORE_UNUSED void free_set(token_set *set)
{
    free(set->sorted);
    free(set->bits);
}


#define UINT uint8_t
#define NAME(base, part) base##_1##part
#include "drop.h"

#define UINT uint16_t
#define NAME(base, part) base##_2##part
#include "drop.h"

#define UINT uint32_t
#define NAME(base, part) base##_4##part
#include "drop.h"

#define UINT uint64_t
#define NAME(base, part) base##_8##part
#include "drop.h"

/* Copy the rows that are not tokens, and write their offsets; `out` has room for all rows. Return 0 if there is no
 * memory. */
static LODCORE_UNUSED int drop_rows(const void *x, int64_t size, int is_signed, const int64_t *offsets, int64_t n_seqs,
                                    const int64_t *tokens, int64_t n_tokens, void *out, int64_t *out_offsets)
{
    token_set set;
    const int64_t n_rows = offsets[n_seqs];
    if (!make_set(&set, tokens, n_tokens, size, is_signed, n_rows))
        return 0;
    if (set.count == 0 || n_rows == 0) {
        if (n_rows)
            memcpy(out, x, (size_t)(n_rows * size));
        memcpy(out_offsets, offsets, (size_t)(n_seqs + 1) * sizeof(int64_t));
    } else if (size == 1) {
        drop_1((const uint8_t *)x, offsets, n_seqs, &set, (uint8_t *)out, out_offsets);
    } else if (size == 2) {
        drop_2((const uint16_t *)x, offsets, n_seqs, &set, (uint16_t *)out, out_offsets);
    } else if (size == 4) {
        drop_4((const uint32_t *)x, offsets, n_seqs, &set, (uint32_t *)out, out_offsets);
    } else {
        drop_8((const uint64_t *)x, offsets, n_seqs, &set, (uint64_t *)out, out_offsets);
    }
    free_set(&set);
    return 1;
}

#endif
