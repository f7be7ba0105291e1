/* Rows repeated, rows reversed, and rows of several batches joined. The caller has checked the raw pointers.
 *
 * Small rows are stored in whole groups or chunks: bytes past the end of a sequence are overwritten by the next
 * sequence, and where they could leave a buffer, rows are written one by one. Groups of about the mean length leave
 * the processor few branches to predict. In Cython, without the promise that arrays do not overlap, these loops took 1.1
 * to 1.2 times as long, and 1.9 times for short sequences of rows of 2 bytes. */
#ifndef LODCORE_EXPAND_H
#define LODCORE_EXPAND_H

#include "rows.h"

enum { RUN = 16 };

/* Return whether each of the RUN sequences from the first of these offsets on has exactly one row. */
#if defined(__GNUC__)
static inline __attribute__((always_inline)) int
#else
static inline int
#endif
all_ones(const int64_t *offsets)
{
    int64_t odd = 0;
    for (int64_t k = 0; k <= RUN; k++)
        odd |= offsets[k] ^ (offsets[0] + k);
    return odd == 0;
}

/* Write row s to all rows of sequence s, in whole groups of rows of `size` bytes. */
LODCORE_BODY repeat_group(const char *restrict rows, const int64_t *restrict offsets, int64_t s, char *restrict out,
                          const int64_t size, const int64_t group)
{
    char *to = out + offsets[s] * size, *end = out + offsets[s + 1] * size;
    char row[16];
    memcpy(row, rows + s * size, (size_t)size);
    do {
        for (int64_t k = 0; k < group; k++)
            memcpy(to + k * size, row, (size_t)size);
        to += group * size;
    } while (to < end);
}

LODCORE_BODY repeat_small(const char *restrict rows, const int64_t *restrict offsets, int64_t n_seqs,
                          char *restrict out, const int64_t size, const int64_t group)
{
    int64_t n_rows = offsets[n_seqs], s = 0;
    if (n_rows < 6 * n_seqs) { /* mostly short ones: copy runs of single rows, write others in small groups */
        for (; s + RUN <= n_seqs && offsets[s + RUN] + 8 <= n_rows; s += RUN)
            if (all_ones(offsets + s))
                memcpy(out + offsets[s] * size, rows + s * size, (size_t)(RUN * size));
            else
                for (int64_t k = s; k < s + RUN; k++)
                    repeat_group(rows, offsets, k, out, size, 8);
    } else {
        for (; s < n_seqs && offsets[s + 1] + group <= n_rows; s++)
            repeat_group(rows, offsets, s, out, size, group);
    }
    for (; s < n_seqs; s++)
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++)
            memcpy(out + r * size, rows + s * size, (size_t)size);
}

/* Copy a row of up to `chunk` bytes; the whole chunk is read and written where both buffers are long enough. */
LODCORE_BODY copy_row(char *to, const char *from, int64_t row_bytes, const char *to_end, const char *from_end,
                      const int64_t chunk)
{
    if (row_bytes <= chunk && to_end - to >= chunk && from_end - from >= chunk)
        memcpy(to, from, (size_t)chunk);
    else
        memcpy(to, from, (size_t)row_bytes);
}

LODCORE_BODY repeat_large(const char *restrict rows, int64_t row_bytes, const int64_t *restrict offsets,
                          int64_t n_seqs, char *restrict out, const int64_t chunk)
{
    const char *rows_end = rows + n_seqs * row_bytes;
    char *out_end = out + offsets[n_seqs] * row_bytes;
    const int stream = stream_pays(out, out_end - out, row_bytes);
    for (int64_t s = 0; s < n_seqs; s++, rows += row_bytes) {
        char *end = out + (offsets[s + 1] - offsets[s]) * row_bytes;
        for (; out < end; out += row_bytes)
            if (stream)
                stream_copy(out, rows, row_bytes);
            else
                copy_row(out, rows, row_bytes, out_end, rows_end, chunk);
    }
    if (stream)
        stream_end();
}

LODCORE_BODY repeat_by_size_body(const char *restrict rows, int64_t row_bytes, const int64_t *restrict offsets,
                                 int64_t n_seqs, char *restrict out)
{
    switch (row_bytes) {
    case 1: repeat_small(rows, offsets, n_seqs, out, 1, 64); break;
    case 2: repeat_small(rows, offsets, n_seqs, out, 2, 64); break;
    case 4: repeat_small(rows, offsets, n_seqs, out, 4, 32); break;
    case 8: repeat_small(rows, offsets, n_seqs, out, 8, 16); break;
    case 16: repeat_small(rows, offsets, n_seqs, out, 16, 8); break;
    default:
        if (row_bytes <= 32)
            repeat_large(rows, row_bytes, offsets, n_seqs, out, 32);
        else
            repeat_large(rows, row_bytes, offsets, n_seqs, out, 64);
    }
}
LODCORE_TWICE(repeat_by_size,
              (const char *rows, int64_t row_bytes, const int64_t *offsets, int64_t n_seqs, char *out),
              (rows, row_bytes, offsets, n_seqs, out))

/* Write the rows of a sequence in reverse order, in whole groups of rows of `size` bytes. Up to a group before the
 * sequence is read. */
LODCORE_BODY reverse_group(const char *restrict rows, const int64_t *restrict offsets, int64_t s, char *restrict out,
                           const int64_t size, const int64_t group)
{
    char *to = out + offsets[s] * size, *end = out + offsets[s + 1] * size;
    const char *from = rows + offsets[s + 1] * size;
    do {
        from -= group * size;
        for (int64_t k = 0; k < group; k++)
            memcpy(to + k * size, from + (group - 1 - k) * size, (size_t)size);
        to += group * size;
    } while (to < end);
}

LODCORE_BODY reverse_rows_of(const char *restrict rows, const int64_t *restrict offsets, int64_t s, char *restrict out,
                             const int64_t size)
{
    for (int64_t r = offsets[s], from = offsets[s + 1]; r < offsets[s + 1]; r++)
        memcpy(out + r * size, rows + --from * size, (size_t)size);
}

LODCORE_BODY reverse_small(const char *restrict rows, const int64_t *restrict offsets, int64_t n_seqs,
                           char *restrict out, const int64_t size, const int64_t group)
{
    int64_t n_rows = offsets[n_seqs], s = 0;
    for (; s < n_seqs && offsets[s] < group; s++)
        reverse_rows_of(rows, offsets, s, out, size);
    if (n_rows < 6 * n_seqs) {
        for (; s + RUN <= n_seqs && offsets[s + RUN] + 8 <= n_rows; s += RUN)
            if (all_ones(offsets + s))
                memcpy(out + offsets[s] * size, rows + offsets[s] * size, (size_t)(RUN * size));
            else
                for (int64_t k = s; k < s + RUN; k++)
                    reverse_group(rows, offsets, k, out, size, 8);
    } else {
        for (; s < n_seqs && offsets[s + 1] + group <= n_rows; s++)
            reverse_group(rows, offsets, s, out, size, group);
    }
    for (; s < n_seqs; s++)
        reverse_rows_of(rows, offsets, s, out, size);
}

LODCORE_BODY reverse_large(const char *restrict rows, int64_t row_bytes, const int64_t *restrict offsets,
                           int64_t n_seqs, char *restrict out, const int64_t chunk)
{
    const char *rows_end = rows + offsets[n_seqs] * row_bytes;
    char *out_end = out + offsets[n_seqs] * row_bytes;
    const int stream = stream_pays_for_ranges(out, out_end - out, row_bytes);
    for (int64_t s = 0; s < n_seqs; s++) {
        const char *first = rows + offsets[s] * row_bytes, *from = rows + offsets[s + 1] * row_bytes;
        for (; from > first; out += row_bytes) {
            from -= row_bytes;
            if (stream)
                stream_copy(out, from, row_bytes);
            else
                copy_row(out, from, row_bytes, out_end, rows_end, chunk);
        }
    }
    if (stream)
        stream_end();
}

LODCORE_BODY reverse_by_size_body(const char *restrict rows, int64_t row_bytes, const int64_t *restrict offsets,
                                  int64_t n_seqs, char *restrict out)
{
    switch (row_bytes) {
    case 1: reverse_small(rows, offsets, n_seqs, out, 1, 16); break;
    case 2: reverse_small(rows, offsets, n_seqs, out, 2, 32); break;
    case 4: reverse_small(rows, offsets, n_seqs, out, 4, 32); break;
    case 8: reverse_small(rows, offsets, n_seqs, out, 8, 32); break;
    case 16: reverse_large(rows, 16, offsets, n_seqs, out, 16); break;
    default:
        if (row_bytes <= 32)
            reverse_large(rows, row_bytes, offsets, n_seqs, out, 32);
        else
            reverse_large(rows, row_bytes, offsets, n_seqs, out, 64);
    }
}
LODCORE_TWICE(reverse_by_size,
              (const char *rows, int64_t row_bytes, const int64_t *offsets, int64_t n_seqs, char *out),
              (rows, row_bytes, offsets, n_seqs, out))

/* The rows of a batch, and how many of them have been used. */
typedef struct {
    char *rows;
    const char *end;
    const int64_t *offsets; /* of the next sequence */
    int64_t left;           /* sequences that are left */
} batch;

/* Copy the next sequence of a batch to `out`, or from `out`; return its size in bytes. */
LODCORE_INLINE int64_t move_next(batch *from, int64_t row_bytes, char *out, const char *out_end, const int back)
{
    int64_t size = (from->offsets[1] - from->offsets[0]) * row_bytes;
    if (back)
        copy_piece(from->rows, from->end, out, out_end, size);
    else
        copy_piece(out, out_end, from->rows, from->end, size);
    from->rows += size;
    from->offsets++;
    from->left--;
    return size;
}

/* Copy the sequences s of all batches, for every s, one after another; or copy them back to their batches. */
LODCORE_BODY join_batches_body(batch *batches, int64_t n_batches, int64_t row_bytes, char *out, const char *out_end,
                               int back)
{
    for (int64_t s = batches[0].left; s > 0; s--)
        for (int64_t j = 0; j < n_batches; j++)
            out += back ? move_next(batches + j, row_bytes, out, out_end, 1)
                        : move_next(batches + j, row_bytes, out, out_end, 0);
}
LODCORE_TWICE(join_batches,
              (batch * batches, int64_t n_batches, int64_t row_bytes, char *out, const char *out_end, int back),
              (batches, n_batches, row_bytes, out, out_end, back))

#endif
