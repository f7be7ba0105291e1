/* Rows as opaque bytes: reading shared memory once, copying ranges of rows, and the two directions of
 * the time-major step order. Every function takes raw pointers that its caller has checked. */
#ifndef LODCORE_ROWS_H
#define LODCORE_ROWS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define LODCORE_PREFETCH(address) __builtin_prefetch(address)
#else
#define LODCORE_PREFETCH(address) ((void)(address))
#endif

/* Another thread may write into a caller's array while we check it: what was checked must be what is used. */
static inline int64_t read_once(const int64_t *place)
{
    return *(const volatile int64_t *)place;
}

#if defined(__GNUC__)
#define LODCORE_UNUSED __attribute__((unused))
#else
#define LODCORE_UNUSED
#endif

enum { CHUNK = 32, SHORT = 512, AHEAD = 8, BLOCK = 32, GROUP = 8 };

/* Copy the ranges of rows one behind the other. Short ranges go in whole chunks: what runs past their end is
 * overwritten by the next range, and never leaves either buffer. */
static LODCORE_UNUSED void copy_row_ranges(const char *rows, int64_t n_rows, int64_t row_bytes, const int64_t *ranges,
                            int64_t count, char *out, int64_t out_rows)
{
    const char *rows_end = rows + n_rows * row_bytes;
    char *out_end = out + out_rows * row_bytes;
    for (int64_t j = 0; j < count; j++) {
        const char *from = rows + ranges[2 * j] * row_bytes;
        int64_t size = (ranges[2 * j + 1] - ranges[2 * j]) * row_bytes;
        if (j + AHEAD < count)
            LODCORE_PREFETCH(rows + ranges[2 * (j + AHEAD)] * row_bytes);
        if (size <= SHORT && rows_end - from >= size + CHUNK && out_end - out >= size + CHUNK) {
            char *to = out;
            do {
                memcpy(to, from, CHUNK);
                to += CHUNK;
                from += CHUNK;
            } while (to < out + size);
        } else {
            memcpy(out, from, (size_t)size);
        }
        out += size;
    }
}

/* Write s beside every row of sequence s. Whole groups of ids are stored: what runs past the end of a sequence is
 * overwritten by the next one, and the last sequences are written to the row. */
static LODCORE_UNUSED void fill_ids(const int64_t *offsets, int64_t n_seqs, int64_t *out)
{
    int64_t n_rows = offsets[n_seqs], s = 0;
    for (; s < n_seqs && offsets[s + 1] + GROUP <= n_rows; s++) {
        int64_t *to = out + offsets[s], *end = out + offsets[s + 1];
        do {
            for (int k = 0; k < GROUP; k++)
                to[k] = s;
            to += GROUP;
        } while (to < end);
    }
    for (; s < n_seqs; s++)
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++)
            out[r] = s;
}

/* Move the rows of sequences, taken in the given order, to (or from) the places where each step goes on.
 * A block of sequences is walked step by step, so that both sides stay in cache; a sequence that ends leaves
 * the block. places[t] is where the next row of step t lies; it is moved on. */
#define LODCORE_STEP_LOOP(NAME, CONST_SEQUENCES, CONST_PLACES, SIZE, MOVE, FETCH)                                \
    static LODCORE_UNUSED void NAME(CONST_SEQUENCES char *rows, size_t row_bytes, const int64_t *offsets,                       \
                     const int64_t *order, int64_t n_seqs, CONST_PLACES char **places)                           \
    {                                                                                                            \
        (void)row_bytes;                                                                                         \
        for (int64_t first = 0; first < n_seqs; first += BLOCK) {                                                \
            CONST_SEQUENCES char *sequence[BLOCK];                                                               \
            int64_t left[BLOCK];                                                                                 \
            int64_t active = 0, end = first + BLOCK < n_seqs ? first + BLOCK : n_seqs;                           \
            for (int64_t k = first; k < end; k++) {                                                              \
                int64_t s = order[k], length = offsets[s + 1] - offsets[s];                                      \
                if (length > 0) {                                                                                \
                    sequence[active] = rows + offsets[s] * (int64_t)(SIZE);                                      \
                    left[active++] = length;                                                                     \
                }                                                                                                \
            }                                                                                                    \
            size_t done = 0;                                                                                     \
            CONST_PLACES char **place = places;                                                                  \
            while (active > 0) {                                                                                 \
                int64_t run = left[0];                                                                           \
                for (int64_t k = 1; k < active; k++)                                                             \
                    run = left[k] < run ? left[k] : run;                                                         \
                for (int64_t t = 0; t < run; t++, place++, done += (SIZE)) {                                     \
                    CONST_PLACES char *at = *place;                                                              \
                    for (int64_t k = 0; k < active; k++, at += (SIZE)) {                                         \
                        FETCH;                                                                                   \
                        MOVE(at, sequence[k] + done, SIZE);                                                      \
                    }                                                                                            \
                    *place = at;                                                                                 \
                }                                                                                                \
                int64_t kept = 0;                                                                                \
                for (int64_t k = 0; k < active; k++) {                                                           \
                    if (left[k] > run) {                                                                         \
                        sequence[kept] = sequence[k];                                                            \
                        left[kept++] = left[k] - run;                                                            \
                    }                                                                                            \
                }                                                                                                \
                active = kept;                                                                                   \
            }                                                                                                    \
        }                                                                                                        \
    }

#define LODCORE_TO_STEPS(place, row, size) memcpy(place, row, size)
#define LODCORE_FROM_STEPS(place, row, size) memcpy(row, place, size)
#define LODCORE_NEXT (k + AHEAD < active ? LODCORE_PREFETCH(sequence[k + AHEAD] + done) : (void)0)

#define LODCORE_BOTH_WAYS(SUFFIX, SIZE, FETCH)                                                       \
    LODCORE_STEP_LOOP(unpack_##SUFFIX, const, , SIZE, LODCORE_TO_STEPS, FETCH)                       \
    LODCORE_STEP_LOOP(pack_##SUFFIX, , const, SIZE, LODCORE_FROM_STEPS, FETCH)

LODCORE_BOTH_WAYS(1, 1, (void)0)
LODCORE_BOTH_WAYS(2, 2, (void)0)
LODCORE_BOTH_WAYS(4, 4, (void)0)
LODCORE_BOTH_WAYS(8, 8, (void)0)
LODCORE_BOTH_WAYS(16, 16, (void)0)
LODCORE_BOTH_WAYS(any, row_bytes, LODCORE_NEXT)

#define LODCORE_BY_SIZE(VERB, CONST_SEQUENCES, CONST_PLACES)                                                     \
    static LODCORE_UNUSED void VERB##_by_size(CONST_SEQUENCES char *rows, size_t row_bytes, const int64_t *offsets,             \
                               const int64_t *order, int64_t n_seqs, CONST_PLACES char **places)                 \
    {                                                                                                            \
        switch (row_bytes) {                                                                                     \
        case 1: VERB##_1(rows, row_bytes, offsets, order, n_seqs, places); break;                                \
        case 2: VERB##_2(rows, row_bytes, offsets, order, n_seqs, places); break;                                \
        case 4: VERB##_4(rows, row_bytes, offsets, order, n_seqs, places); break;                                \
        case 8: VERB##_8(rows, row_bytes, offsets, order, n_seqs, places); break;                                \
        case 16: VERB##_16(rows, row_bytes, offsets, order, n_seqs, places); break;                              \
        default: VERB##_any(rows, row_bytes, offsets, order, n_seqs, places);                                    \
        }                                                                                                        \
    }

LODCORE_BY_SIZE(unpack, const, )
LODCORE_BY_SIZE(pack, , const)

#endif
