/* Sorting of the cells of each column of sequences, and selection of the first ones.
 *
 * A cell becomes a key, an integer of 32 or 64 bits with the same order: nan comes after all others, -0 and 0 are
 * equal, and everything is reversed for a descending order. Equal keys keep the order of their rows. A few cells are
 * ranked, each against all others, without branches; for many cells, either the best few are selected, or the keys
 * are sorted by NumPy, alone or combined with the rows into one integer. */
#ifndef LODCORE_SORT_H
#define LODCORE_SORT_H

#include "intrinsics.h"
#include <stdint.h>

enum { RANKED = 64, ALONE = 40, PICKED = 32, ALIKE = 64 };

enum {
    CELL_UINT8, CELL_UINT16, CELL_UINT32, CELL_INT8, CELL_INT16, CELL_INT32, CELL_HALF, CELL_FLOAT, /* keys of 32 bits */
    CELL_UINT64, CELL_INT64, CELL_DOUBLE, KINDS
};

LODCORE_INLINE int64_t size_of_cell(int kind)
{
    static const int8_t sizes[] = {1, 2, 4, 1, 2, 4, 2, 4, 8, 8, 8};
    return sizes[kind];
}

#include "sort_whole.h"
#include "sort_ranks.h"
#include "sort_lines.h"

#define KEY int32_t
#define UNSIGNED uint32_t
#define KEY_LANES 16
#define OF_KEY(NAME) NAME##_by_32
#define BODY_OF_KEY(NAME) NAME##_by_32_body
#define OF_AVX2(NAME) NAME##_by_32_avx2
#define OF_AVX512(NAME) NAME##_by_32_avx512
#include "sort_keys.h"
#undef KEY
#undef UNSIGNED
#undef KEY_LANES
#undef OF_KEY
#undef BODY_OF_KEY
#undef OF_AVX2
#undef OF_AVX512

#define KEY int64_t
#define UNSIGNED uint64_t
#define KEY_LANES 8
#define OF_KEY(NAME) NAME##_by_64
#define BODY_OF_KEY(NAME) NAME##_by_64_body
#define OF_AVX2(NAME) NAME##_by_64_avx2
#define OF_AVX512(NAME) NAME##_by_64_avx512
#include "sort_keys.h"
#undef KEY
#undef UNSIGNED
#undef KEY_LANES
#undef OF_KEY
#undef BODY_OF_KEY
#undef OF_AVX2
#undef OF_AVX512

/* Compute the offsets of the first k rows of each sequence. */
static LODCORE_UNUSED void count_first(const int64_t *offsets, int64_t n_seqs, int64_t k, int64_t *out)
{
    int64_t total = 0;
    out[0] = 0;
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        total += length < k ? length : k;
        out[s + 1] = total;
    }
}

/* Scatter cells to the rows from which they were taken, and write zeros elsewhere; return the first kept row with a
 * position that is not in its sequence, or -1. */
#define LODCORE_PLACE_CELLS(SIZE)                                                                         \
    case SIZE:                                                                                            \
        for (int64_t r = kept[s]; r < kept[s + 1]; r++)                                                   \
            for (int64_t c = 0; c < width; c++) {                                                         \
                int64_t row = *(const volatile int64_t *)(positions + r * width + c);                     \
                if (row < 0 || row >= length)                                                             \
                    return r;                                                                             \
                memcpy(to + (row * width + c) * SIZE, cells + (r * width + c) * SIZE, SIZE);              \
            }                                                                                             \
        break;

static LODCORE_UNUSED int64_t place_cells(const char *cells, int64_t size, const int64_t *offsets, const int64_t *kept,
                                          int64_t n_seqs, int64_t width, const int64_t *positions, char *out)
{
    memset(out, 0, (size_t)(offsets[n_seqs] * width * size));
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        char *to = out + offsets[s] * width * size;
        switch (size) {
            LODCORE_PLACE_CELLS(2)
            LODCORE_PLACE_CELLS(4)
            LODCORE_PLACE_CELLS(8)
        }
    }
    return -1;
}

/* Sort every column of every sequence, and keep the first cells; return -1 if there is no memory. */
static LODCORE_UNUSED int sort_cells(const char *x, int kind, const int64_t *offsets, const int64_t *kept,
                                     int64_t n_seqs, int64_t width, int descending, char *out, int64_t *positions)
{
    int64_t longest = 0, *lines = NULL;
    void *space = NULL;
    for (int64_t s = 0; s < n_seqs; s++)
        if (offsets[s + 1] - offsets[s] > longest)
            longest = offsets[s + 1] - offsets[s];
    int wide = kind >= CELL_UINT64;
    if (longest > UINT32_MAX) /* a row number must fit beside a key */
        return -1;
    if (longest > (width >= LEAST_COLUMNS ? LINES_SORTED : ALONE)) {
        size_t each = 2 * sizeof(int64_t) + (wide ? sizeof(int64_t) : sizeof(int32_t));
        space = (uint64_t)longest > SIZE_MAX / each ? NULL : malloc((size_t)longest * each);
        if (space == NULL)
            return -1;
    }
    if (width >= LEAST_COLUMNS) {
        lines = malloc((size_t)(longest < LINES_SORTED ? longest : LINES_SORTED) * 2 * LINE * sizeof(int64_t));
        if (lines == NULL) {
            free(space);
            return -1;
        }
    }
    if (wide)
        sort_cells_by_64(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, longest, lines);
    else
        sort_cells_by_32(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, longest, lines);
    free(space);
    free(lines);
    return 0;
}

#endif
