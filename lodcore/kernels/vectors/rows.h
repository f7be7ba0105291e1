/* Rows as opaque bytes: reads of shared memory, copies of ranges of rows, and both directions of the time-major step
 * order. The caller has checked the raw pointers. */
#ifndef LODCORE_ROWS_H
#define LODCORE_ROWS_H

#include "simd.h"
#include "stream.h"
#include <stdint.h>
#include <string.h>

/* Another thread may write to a caller's array during a check: the value that was checked must be the one that is
 * used. */
static inline int64_t read_once(const int64_t *place)
{
    return *(const volatile int64_t *)place;
}

enum { CHUNK = 64, SHORT = 512, AHEAD = 8, FAR = 16, LINE = 64, BLOCK = 16 };

/* out[s] = offsets[s + 1] - offsets[s] */
LODCORE_BODY differences_body(const int64_t *restrict offsets, int64_t n_seqs, int64_t *restrict out)
{
    for (int64_t s = 0; s < n_seqs; s++)
        out[s] = offsets[s + 1] - offsets[s];
}
LODCORE_TWICE(differences, (const int64_t *offsets, int64_t n_seqs, int64_t *out), (offsets, n_seqs, out))

/* out[s] = offsets[s] + shift */
LODCORE_BODY shift_offsets_body(const int64_t *restrict offsets, int64_t count, int64_t shift, int64_t *restrict out)
{
    for (int64_t s = 0; s < count; s++)
        out[s] = offsets[s] + shift;
}
LODCORE_TWICE(shift_offsets, (const int64_t *offsets, int64_t count, int64_t shift, int64_t *out),
              (offsets, count, shift, out))

/* Return a number whose sign bit is set if an offset is negative or less than the one before. */
LODCORE_BODY offset_signs_body(const int64_t *restrict offsets, int64_t n_seqs, int64_t *restrict signs)
{
    uint64_t any = (uint64_t)offsets[0];
    for (int64_t s = 0; s < n_seqs; s++) /* differences of nonnegative numbers cannot overflow */
        any |= (uint64_t)offsets[s + 1] | ((uint64_t)offsets[s + 1] - (uint64_t)offsets[s]);
    *signs = (int64_t)any;
}
LODCORE_TWICE(offset_signs, (const int64_t *offsets, int64_t n_seqs, int64_t *signs), (offsets, n_seqs, signs))

/* Return the greatest length, 0 if there are no sequences. */
static LODCORE_UNUSED int64_t longest(const int64_t *offsets, int64_t n_seqs)
{
    int64_t most = 0;
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        most = length > most ? length : most;
    }
    return most;
}

/* Compute the offsets of the steps from the number of sequences that reach each of them. */
static LODCORE_UNUSED void add_steps(const int64_t *restrict offsets, int64_t n_seqs, int64_t n_steps,
                                     int64_t *restrict out)
{
    memset(out, 0, (size_t)(n_steps + 1) * sizeof(int64_t));
    for (int64_t s = 0; s < n_seqs; s++) /* first the number of sequences of each length, */
        out[offsets[s + 1] - offsets[s]]++;
    int64_t reach = n_seqs - out[0];
    out[0] = 0;
    for (int64_t t = 0; t < n_steps; t++) { /* then the running sum of those that are longer */
        int64_t ended = out[t + 1];
        out[t + 1] = out[t] + reach;
        reach -= ended;
    }
}

/* Compute offsets and ranges of sequences selected by their numbers; return the first bad number or overflow, or -1.
 * */
static LODCORE_UNUSED int64_t take_by_index(const int64_t *restrict offsets, int64_t n_seqs, const int64_t *restrict index,
                                            int64_t count, int64_t *restrict ranges, int64_t *restrict out)
{
    int64_t total = 0;
    out[0] = 0;
    for (int64_t j = 0; j < count; j++) {
        int64_t ahead = j + FAR < count ? read_once(index + j + FAR) : -1;
        if ((uint64_t)ahead < (uint64_t)n_seqs)
            LODCORE_PREFETCH(offsets + ahead);
        int64_t s = read_once(index + j);
        s = s < 0 ? s + n_seqs : s;
        if ((uint64_t)s >= (uint64_t)n_seqs)
            return j;
        int64_t start = offsets[s], stop = offsets[s + 1];
        if (stop - start > INT64_MAX - total)
            return j;
        total += stop - start;
        ranges[2 * j] = start;
        ranges[2 * j + 1] = stop;
        out[j + 1] = total;
    }
    return -1;
}

/* Compute offsets of ranges of sequences, and replace the ranges by those of the next level; return the first that
 * overflows, or -1. */
static LODCORE_UNUSED int64_t take_range_offsets(const int64_t *restrict offsets, int64_t *restrict ranges, int64_t count,
                                                 int64_t *restrict out)
{
    int64_t total = 0;
    *out++ = 0;
    for (int64_t j = 0; j < count; j++) {
        if (j + FAR < count)
            LODCORE_PREFETCH(offsets + ranges[2 * (j + FAR)]);
        const int64_t *first = offsets + ranges[2 * j], *last = offsets + ranges[2 * j + 1];
        int64_t start = *first, stop = *last, shift = total - start;
        if (stop - start > INT64_MAX - total)
            return j;
        ranges[2 * j] = start;
        ranges[2 * j + 1] = stop;
        while (++first < last)
            *out++ = *first + shift;
        total = stop + shift;
        if (first == last)
            *out++ = total;
    }
    return -1;
}

/* Copy in whole chunks; up to a chunk more than `size` bytes is read and written. */
LODCORE_BODY copy_chunks(char *to, const char *from, int64_t size)
{
    const char *end = to + size;
    do {
        memcpy(to, from, CHUNK);
        to += CHUNK;
        from += CHUNK;
    } while (to < end);
}

/* Copy a piece that is followed by another one. Short pieces are copied in whole chunks: bytes past their end are
 * overwritten by the next piece, and never leave either buffer. */
LODCORE_BODY copy_piece(char *to, const char *to_end, const char *from, const char *from_end, int64_t size)
{
    if (size <= SHORT && from_end - from >= size + CHUNK && to_end - to >= size + CHUNK)
        copy_chunks(to, from, size);
    else
        memcpy(to, from, (size_t)size);
}

/* Copy the ranges of rows one after another. */
LODCORE_BODY copy_row_ranges_body(const char *restrict rows, int64_t n_rows, int64_t row_bytes,
                                  const int64_t *restrict ranges, int64_t count, char *restrict out, int64_t out_rows)
{
    const char *rows_end = rows + n_rows * row_bytes, *out_end = out + out_rows * row_bytes;
    const int stream = stream_pays_for_ranges(out, out_rows * row_bytes, row_bytes);
    for (int64_t j = 0; j < count; j++) {
        const char *from = rows + ranges[2 * j] * row_bytes;
        int64_t size = (ranges[2 * j + 1] - ranges[2 * j]) * row_bytes;
        if (j + AHEAD < count)
            LODCORE_PREFETCH(rows + ranges[2 * (j + AHEAD)] * row_bytes);
        if (stream)
            stream_copy(out, from, size);
        else
            copy_piece(out, out_end, from, rows_end, size);
        out += size;
    }
    if (stream)
        stream_end();
}
LODCORE_TWICE(copy_row_ranges,
              (const char *rows, int64_t n_rows, int64_t row_bytes, const int64_t *ranges, int64_t count, char *out,
               int64_t out_rows),
              (rows, n_rows, row_bytes, ranges, count, out, out_rows))

/* Write s (or the position in sequence s) for every row of sequence s. Whole groups are stored: what runs past the end
 * of a sequence is overwritten by the next one, and the last sequences are written exactly. Groups of about the mean
 * length leave the processor few branches to predict. */
#define LODCORE_FILL(NAME, VALUE)                                                                                 \
    LODCORE_BODY NAME##_by_group(const int64_t *restrict offsets, int64_t n_seqs, int64_t *restrict out,          \
                                 const int64_t group)                                                             \
    {                                                                                                             \
        int64_t n_rows = offsets[n_seqs], s = 0;                                                                  \
        for (; s < n_seqs && offsets[s + 1] + group <= n_rows; s++) {                                             \
            int64_t *to = out + offsets[s], length = offsets[s + 1] - offsets[s], at = 0;                         \
            do {                                                                                                  \
                for (int64_t k = 0; k < group; k++)                                                               \
                    to[at + k] = VALUE;                                                                           \
                at += group;                                                                                      \
            } while (at < length);                                                                                \
        }                                                                                                         \
        for (; s < n_seqs; s++) {                                                                                 \
            int64_t *to = out + offsets[s], length = offsets[s + 1] - offsets[s];                                 \
            int64_t k = 0;                                                                                        \
            (void)k;                                                                                              \
            for (int64_t at = 0; at < length; at++)                                                               \
                to[at] = VALUE;                                                                                   \
        }                                                                                                         \
    }                                                                                                             \
    /* Where sequences of one row are the rule, a group of sequences at a time. */                                \
    LODCORE_BODY NAME##_of_ones(const int64_t *restrict offsets, int64_t n_seqs, int64_t *restrict out)           \
    {                                                                                                             \
        int64_t first = 0;                                                                                        \
        for (; first + 16 <= n_seqs; first += 16) {                                                               \
            int64_t others = 0, start = offsets[first];                                                           \
            const int64_t at = 0, k = 0;                                                                          \
            for (int64_t j = 0; j < 16; j++)                                                                      \
                others |= (offsets[first + j + 1] - offsets[first + j]) ^ 1;                                      \
            if (others != 0) {                                                                                    \
                for (int64_t s = first; s < first + 16; s++)                                                      \
                    for (int64_t at = 0; at < offsets[s + 1] - offsets[s]; at++)                                  \
                        out[offsets[s] + at] = VALUE;                                                             \
            } else {                                                                                              \
                for (int64_t s = first; s < first + 16; s++)                                                      \
                    out[start + s - first] = VALUE;                                                               \
            }                                                                                                     \
            (void)at, (void)k;                                                                                    \
        }                                                                                                         \
        for (int64_t s = first; s < n_seqs; s++) {                                                                \
            const int64_t k = 0;                                                                                  \
            (void)k;                                                                                              \
            for (int64_t at = 0; at < offsets[s + 1] - offsets[s]; at++)                                          \
                out[offsets[s] + at] = VALUE;                                                                     \
        }                                                                                                         \
    }                                                                                                             \
    LODCORE_BODY NAME##_body(const int64_t *restrict offsets, int64_t n_seqs, int64_t *restrict out)              \
    {                                                                                                             \
        int64_t n_rows = offsets[n_seqs];                                                                         \
        if (n_rows == n_seqs)                                                                                     \
            NAME##_of_ones(offsets, n_seqs, out);                                                                 \
        else if (n_rows > 16 * n_seqs)                                                                                 \
            NAME##_by_group(offsets, n_seqs, out, 32);                                                            \
        else if (n_rows > 4 * n_seqs)                                                                             \
            NAME##_by_group(offsets, n_seqs, out, 16);                                                            \
        else                                                                                                      \
            NAME##_by_group(offsets, n_seqs, out, 4);                                                             \
    }                                                                                                             \
    LODCORE_TWICE(NAME, (const int64_t *offsets, int64_t n_seqs, int64_t *out), (offsets, n_seqs, out))

LODCORE_FILL(fill_ids, s)
LODCORE_FILL(fill_positions, at + k)

/* Move the rows of sequences, in the given order, to (or from) the places where each step continues. A block of
 * sequences is traversed step by step, so that both sides stay in the cache; a sequence that ends leaves the block.
 * places[t] is the position of the next row of step t, and advances. Both sides are prefetched a block ahead: narrow
 * rows whole, since each sequence and each step begins on lines of its own; of wide rows, only the first lines. */
enum { MOST_AHEAD = 16 * LINE };
#define LODCORE_STEP_LOOP(NAME, CONST_SEQUENCES, CONST_PLACES, SIZE, MOVE, FETCH, HINT, STEP_HINT, NARROW)       \
    static LODCORE_UNUSED void NAME(CONST_SEQUENCES char *rows, size_t row_bytes, const int64_t *offsets,        \
                     const int64_t *order, int64_t n_seqs, CONST_PLACES char **places)                           \
    {                                                                                                            \
        const int64_t stride = (NARROW) ? BLOCK * (int64_t)(SIZE) : 0, most = (NARROW) ? MOST_AHEAD : 2 * LINE;  \
        int64_t rows_left = offsets[n_seqs];                                                                     \
        (void)row_bytes;                                                                                         \
        for (int64_t first = 0; rows_left > 0 && first < n_seqs; first += BLOCK) { /* not the empty ones at the end */ \
            CONST_SEQUENCES char *sequence[BLOCK];                                                               \
            int64_t left[BLOCK];                                                                                 \
            int64_t active = 0, end = first + BLOCK < n_seqs ? first + BLOCK : n_seqs;                           \
            for (int64_t k = first; k < end; k++) {                                                              \
                int64_t s = order[k], length = offsets[s + 1] - offsets[s];                                      \
                if (k + 2 * BLOCK < n_seqs) { /* the next blocks' rows, and where they begin */                  \
                    const int64_t *next = offsets + order[k + BLOCK];                                            \
                    const char *ahead = rows + next[0] * (int64_t)(SIZE);                                        \
                    int64_t bytes = (next[1] - next[0]) * (int64_t)(SIZE);                                       \
                    LODCORE_PREFETCH(offsets + order[k + 2 * BLOCK]);                                            \
                    bytes = bytes < most ? bytes : most;                                                         \
                    for (int64_t at = 0; at < bytes; at += LINE)                                                 \
                        HINT(ahead + at);                                                                        \
                    HINT(ahead + bytes - 1);                                                                     \
                }                                                                                                \
                if (length > 0) {                                                                                \
                    sequence[active] = rows + offsets[s] * (int64_t)(SIZE);                                      \
                    left[active++] = length;                                                                     \
                    rows_left -= length;                                                                         \
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
                    for (int64_t b = 0; b < stride; b += LINE)                                                   \
                        STEP_HINT(at + stride + b + (stride < LINE ? stride : LINE) - 1);                        \
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

#define LODCORE_BOTH_WAYS(SUFFIX, SIZE, FETCH, NARROW)                                                            \
    LODCORE_STEP_LOOP(unpack_##SUFFIX, const, , SIZE, LODCORE_TO_STEPS, FETCH, LODCORE_PREFETCH,                 \
                      LODCORE_PREFETCH_TO_WRITE, NARROW)                                                         \
    LODCORE_STEP_LOOP(pack_##SUFFIX, , const, SIZE, LODCORE_FROM_STEPS, FETCH, LODCORE_PREFETCH_TO_WRITE,        \
                      LODCORE_PREFETCH, NARROW)

LODCORE_BOTH_WAYS(1, 1, (void)0, 1)
LODCORE_BOTH_WAYS(2, 2, (void)0, 1)
LODCORE_BOTH_WAYS(4, 4, (void)0, 1)
LODCORE_BOTH_WAYS(8, 8, (void)0, 1)
LODCORE_BOTH_WAYS(16, 16, (void)0, 1)
LODCORE_BOTH_WAYS(any, row_bytes, LODCORE_NEXT, 0)

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
