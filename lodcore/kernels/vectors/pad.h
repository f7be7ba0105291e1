/* Sequences padded to lines of one length, and back. The caller has checked the raw pointers.
 *
 * Short lines are copied in whole chunks: bytes past the end of a sequence are overwritten by what follows, and where
 * they could leave a buffer, exactly the bytes of the sequence are copied. In Cython, without the promise that arrays do
 * not overlap, these loops took 1.1 to 1.3 times as long. */
#ifndef LODCORE_PAD_H
#define LODCORE_PAD_H

#include "rows.h"

/* The padding: a row, and the chunk that repeats it. */
typedef struct {
    const char *row; /* NULL for zero bytes */
    int64_t row_bytes;
    int even;    /* all bytes are the same */
    int regular; /* each `chunk` starts at a row */
    char chunk[CHUNK];
} filling;

static LODCORE_UNUSED filling filling_of(const char *row, int64_t row_bytes)
{
    filling made = {row, row_bytes, 1, 1, {0}};
    if (row == NULL)
        return made;
    for (int64_t k = 1; k < row_bytes; k++)
        made.even &= row[k] == row[0];
    made.regular = made.even || (row_bytes <= CHUNK && CHUNK % row_bytes == 0);
    if (made.regular)
        for (int64_t k = 0; k < CHUNK; k++)
            made.chunk[k] = row[made.even ? 0 : k % row_bytes];
    return made;
}

/* Fill a gap of any size that starts with a whole row. */
static LODCORE_UNUSED void fill_gap(char *out, int64_t size, const filling *fill)
{
    int64_t done = size < fill->row_bytes ? size : fill->row_bytes;
    if (fill->even) {
        memset(out, fill->chunk[0], (size_t)size);
        return;
    }
    memcpy(out, fill->row, (size_t)done);
    while (done < size) { /* by doubling what is there */
        int64_t more = size - done < done ? size - done : done;
        memcpy(out + done, out, (size_t)more);
        done += more;
    }
}

/* In short lines the maximum is copied, so that there is no length to predict. */
LODCORE_BODY copy_short(char *to, const char *from, int64_t line)
{
    for (int64_t k = 0; k < line; k += CHUNK / 2)
        memcpy(to + k, from + k, CHUNK / 2);
}

LODCORE_BODY fill_short(char *to, const char *chunk, int64_t line)
{
    for (int64_t k = 0; k < line; k += CHUNK)
        memcpy(to + k, chunk, CHUNK);
}

LODCORE_BODY fill_chunks(char *to, int64_t size, const char *chunk)
{
    for (const char *end = to + size; to < end; to += CHUNK)
        memcpy(to, chunk, CHUNK);
}

LODCORE_BODY pad_lines_body(const char *restrict rows, int64_t row_bytes, const int64_t *restrict offsets,
                            int64_t n_seqs, const char *row, int64_t line, int left, char *restrict out)
{
    filling fill = filling_of(row, row_bytes);
    const char *rows_end = rows + offsets[n_seqs] * row_bytes, *out_end = out + n_seqs * line;
    if (rows_end - rows == out_end - out) { /* no gaps */
        memcpy(out, rows, (size_t)(out_end - out));
        return;
    }
    const int stream = fill.regular && stream_pays(out, n_seqs * line, row_bytes);
    for (int64_t s = 0; s < n_seqs; s++, out += line) {
        int64_t size = (offsets[s + 1] - offsets[s]) * row_bytes, rest = line - size;
        char *place = left ? out + rest : out, *gap = left ? out : out + size;
        int fits = fill.regular && rows_end - rows >= line + CHUNK && out_end - out >= 2 * line + CHUNK;
        if (stream) {
            stream_copy(place, rows, size);
            stream_fill(gap, fill.chunk, rest);
        } else if (fits && line <= SHORT / 2) { /* the part that comes first is overwritten by the other */
            if (left)
                fill_short(gap, fill.chunk, line);
            copy_short(place, rows, line);
            if (!left)
                fill_short(gap, fill.chunk, line);
        } else if (fits && line <= SHORT) {
            if (left)
                fill_chunks(gap, rest, fill.chunk);
            copy_chunks(place, rows, size);
            if (!left)
                fill_chunks(gap, rest, fill.chunk);
        } else {
            memcpy(place, rows, (size_t)size);
            fill_gap(gap, rest, &fill);
        }
        rows += size;
    }
    if (stream)
        stream_end();
}
LODCORE_TWICE(pad_lines,
              (const char *rows, int64_t row_bytes, const int64_t *offsets, int64_t n_seqs, const char *row,
               int64_t line, int left, char *out),
              (rows, row_bytes, offsets, n_seqs, row, line, left, out))

LODCORE_BODY unpad_lines_body(const char *restrict padded, int64_t row_bytes, const int64_t *restrict offsets,
                              int64_t n_seqs, int64_t line, int left, char *restrict out)
{
    const char *padded_end = padded + n_seqs * line, *out_end = out + offsets[n_seqs] * row_bytes;
    if (padded_end - padded == out_end - out) { /* no gaps */
        memcpy(out, padded, (size_t)(out_end - out));
        return;
    }
    const int stream = stream_pays_for_ranges(out, out_end - out, row_bytes);
    for (int64_t s = 0; s < n_seqs; s++, padded += line) {
        int64_t size = (offsets[s + 1] - offsets[s]) * row_bytes;
        const char *from = left ? padded + line - size : padded;
        if (stream)
            stream_copy(out, from, size);
        else if (line <= SHORT / 2 && padded_end - from >= line + CHUNK && out_end - out >= line + CHUNK)
            copy_short(out, from, line);
        else if (line <= SHORT && padded_end - from >= size + CHUNK && out_end - out >= size + CHUNK)
            copy_chunks(out, from, size);
        else
            memcpy(out, from, (size_t)size);
        out += size;
    }
    if (stream)
        stream_end();
}
LODCORE_TWICE(unpad_lines,
              (const char *padded, int64_t row_bytes, const int64_t *offsets, int64_t n_seqs, int64_t line, int left,
               char *out),
              (padded, row_bytes, offsets, n_seqs, line, left, out))

/* Fill the rest of each line that has a row with its last row, or on the left with its first row. */
static LODCORE_UNUSED void repeat_in_lines(const int64_t *offsets, int64_t n_seqs, int64_t row_bytes, int64_t line,
                                           int left, char *out)
{
    for (int64_t s = 0; s < n_seqs; s++, out += line) {
        int64_t size = (offsets[s + 1] - offsets[s]) * row_bytes, rest = line - size;
        if (size == 0 || rest == 0)
            continue;
        filling fill = filling_of(left ? out + rest : out + size - row_bytes, row_bytes);
        fill_gap(left ? out : out + size, rest, &fill);
    }
}

/* Write one item for each position before the length, zero bytes for the others; return the first negative length, or
 * -1. */
LODCORE_INLINE int64_t mask_lines(const int64_t *lengths, int64_t n, int64_t padded, const char *one,
                                  int64_t item_bytes, char *restrict out)
{
    filling ones = filling_of(one, item_bytes);
    for (int64_t s = 0; s < n; s++) {
        int64_t length = read_once(lengths + s);
        if (length < 0)
            return s;
        if (out == NULL)
            continue;
        length = length < padded ? length : padded;
        fill_gap(out, length * item_bytes, &ones);
        memset(out + length * item_bytes, 0, (size_t)((padded - length) * item_bytes));
        out += padded * item_bytes;
    }
    return -1;
}
#endif
