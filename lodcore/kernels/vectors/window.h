/* Windows over the rows of sequences: copied as opaque bytes, and filtered column by column. A batch is processed as
 * one long sequence, and windows that reach over the ends of a sequence are corrected afterwards. */
#ifndef LODCORE_WINDOW_H
#define LODCORE_WINDOW_H

#include <stdint.h>
#include <string.h>

#include "simd.h"

enum { CACHED = 1 << 15, LINE = 64, LANES = 16, TAPS = 16 };

static inline int64_t between(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Return the sequence that contains a row, which exists. */
static LODCORE_UNUSED int64_t sequence_of(const int64_t *offsets, int64_t n_seqs, int64_t row)
{
    int64_t low = 0, high = n_seqs;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (offsets[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* -- copied ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *rows;
    int64_t n_rows, row_bytes;
    const int64_t *offsets;
    int64_t n_seqs;
    const char *padding; /* no row: zeros; one row: everywhere; else the rows before a sequence, then after it */
    int64_t n_padding, start, length, first, count;
    char *out;
} windows;

#define LODCORE_SPREAD(TYPE)                                     \
    {                                                            \
        TYPE value = 0;                                          \
        if (row != NULL)                                         \
            memcpy(&value, row, sizeof value);                   \
        for (int64_t k = 0; k < count; k++)                      \
            memcpy(to + k * sizeof value, &value, sizeof value); \
        return;                                                  \
    }

/* Write one row `count` times; zeros if it is NULL. */
static inline void repeat_row(const char *row, int64_t row_bytes, int64_t count, char *to)
{
    switch (row_bytes) {
    case 2: LODCORE_SPREAD(uint16_t)
    case 4: LODCORE_SPREAD(uint32_t)
    case 8: LODCORE_SPREAD(uint64_t)
    default: break;
    }
    if (row == NULL) {
        memset(to, 0, (size_t)(count * row_bytes));
        return;
    }
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * row_bytes, row, (size_t)row_bytes);
}

/* Write `count` rows of padding, starting with number `from`. */
static inline void copy_padding(const windows *w, int64_t from, int64_t count, char *to)
{
    if (w->n_padding > 1)
        memcpy(to, w->padding + from * w->row_bytes, (size_t)(count * w->row_bytes));
    else
        repeat_row(w->n_padding ? w->padding : NULL, w->row_bytes, count, to);
}

/* Copy windows that lie within the batch, in whole chunks: bytes past the end of a window are overwritten by the next
 * one. `left` is the number of bytes that may be read, `room` the number that may be written. */
LODCORE_INLINE int64_t copy_chunks(const char *from, int64_t left, int64_t step, int64_t width, int64_t count, char *to,
                                   int64_t room, const int64_t chunk, const int64_t chunks)
{
    const int64_t reach = chunk * chunks;
    int64_t safe_in = left < reach ? 0 : (left - reach) / step + 1;
    int64_t safe_out = room < reach ? 0 : (room - reach) / width + 1;
    int64_t safe = safe_in < safe_out ? safe_in : safe_out;
    safe = safe < count ? safe : count;
    for (int64_t k = 0; k < safe; k++)
        for (int64_t c = 0; c < chunks; c++)
            memcpy(to + k * width + c * chunk, from + k * step + c * chunk, (size_t)chunk);
    return safe;
}

LODCORE_BODY copy_whole_body(const char *restrict from, int64_t left, int64_t step, int64_t width, int64_t count,
                             char *restrict to, int64_t room)
{
    int64_t done = 0;
    if (width <= 16)
        done = copy_chunks(from, left, step, width, count, to, room, 16, 1);
    else if (width <= 32)
        done = copy_chunks(from, left, step, width, count, to, room, 32, 1);
    else if (width <= LINE)
        done = copy_chunks(from, left, step, width, count, to, room, LINE, 1);
    else if (width <= 16 * LINE)
        done = copy_chunks(from, left, step, width, count, to, room, LINE, (width + LINE - 1) / LINE);
    for (; done < count; done++)
        memcpy(to + done * width, from + done * step, (size_t)width);
}
LODCORE_THRICE(copy_whole,
               (const char *from, int64_t left, int64_t step, int64_t width, int64_t count, char *to, int64_t room),
               (from, left, step, width, count, to, room))

/* Copy the part of the window at row t that lies within the batch. */
static inline void copy_part(const windows *w, int64_t t)
{
    int64_t low = between(0, t + w->start, w->n_rows), high = between(0, t + w->start + w->length, w->n_rows);
    if (low < high)
        memcpy(w->out + ((t - w->first) * w->length + low - t - w->start) * w->row_bytes, w->rows + low * w->row_bytes,
               (size_t)((high - low) * w->row_bytes));
}

/* Write padding into the windows at the rows from a to b that reach over the ends of a sequence. */
static inline void pad_windows(const windows *w, int64_t sequence, int64_t a, int64_t b)
{
    const int64_t begin = w->offsets[sequence], end = w->offsets[sequence + 1], start = w->start, length = w->length;
    const int64_t before = start < 0 ? -start : 0, width = length * w->row_bytes;
    int64_t low = begin > a ? begin : a, high = end < b ? end : b, stop = begin - start < high ? begin - start : high;
    for (int64_t t = low; t < stop; t++) {
        int64_t missing = between(0, begin - t - start, length);
        copy_padding(w, before + t + start - begin, missing, w->out + (t - w->first) * width);
    }
    int64_t from = end - start - length + 1;
    for (int64_t t = from > low ? from : low; t < high; t++) {
        int64_t missing = between(0, t + start + length - end, length), at = length - missing;
        copy_padding(w, before + t + start + at - end, missing, w->out + (t - w->first) * width + at * w->row_bytes);
    }
}

static LODCORE_UNUSED void copy_all_windows(const windows *w)
{
    const int64_t width = w->length * w->row_bytes, last = w->first + w->count, n_rows = w->n_rows;
    const char *rows_end = w->rows + n_rows * w->row_bytes, *out_end = w->out + w->count * width;
    int64_t rows = CACHED / width + 1, s = sequence_of(w->offsets, w->n_seqs, w->first);
    for (int64_t a = w->first; a < last; a += rows) {
        int64_t b = a + rows < last ? a + rows : last;
        int64_t low = between(a, -w->start, b), high = between(low, n_rows - w->start - w->length + 1, b);
        for (int64_t t = a; t < low; t++)
            copy_part(w, t);
        if (low < high) {
            const char *from = w->rows + (low + w->start) * w->row_bytes;
            char *to = w->out + (low - w->first) * width;
            copy_whole(from, rows_end - from, w->row_bytes, width, high - low, to, out_end - to);
        }
        for (int64_t t = high; t < b; t++)
            copy_part(w, t);
        for (; s < w->n_seqs && w->offsets[s] < b; s++) {
            pad_windows(w, s, a, b);
            if (w->offsets[s + 1] > b) /* it continues in the next block */
                break;
        }
    }
}

/* -- filtered ------------------------------------------------------------------------------------------------------
 * */


#define REAL float
#define NAME(base, part) base##_float##part
#include "taps.h"

#define REAL double
#define NAME(base, part) base##_double##part
#include "taps.h"

#endif
