/* Positions of the maxima and minima of sequences, for one type of cells: pool_cells.h includes this once per type. */

/* Find the best cells of up to COLUMNS columns of one nonempty sequence, and their rows in it. */
LODCORE_BODY OF_CELL(find_best_columns)(const CELL *restrict x, int64_t length, int64_t width, int count, int verb,
                                        CELL *restrict out, int64_t *restrict index)
{
    PLACE place[COLUMNS];
    for (int c = 0; c < count; c++) {
        out[c] = x[c];
        index[c] = 0;
    }
    for (int64_t done = 1; done < length; done += PIECE) { /* a row number of a piece fits a PLACE */
        const CELL *row = x + done * width;
        PLACE rows = (PLACE)(length - done < PIECE ? length - done : PIECE);
        for (int c = 0; c < count; c++)
            place[c] = -1;
        for (PLACE r = 0; r < rows; r++, row += width)
            for (int c = 0; c < count; c++) {
                int stays = OF_CELL(stays)(out[c], row[c], verb);
                out[c] = stays ? out[c] : row[c];
                place[c] = stays ? place[c] : r;
            }
        for (int c = 0; c < count; c++)
            index[c] = place[c] < 0 ? index[c] : done + place[c];
    }
}

LODCORE_BODY OF_CELL(find_best_by)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,
                                   CELL *out, int64_t *index)
{
    for (int64_t s = 0; s < n_seqs; s++, out += width, index += width) {
        const CELL *rows = x + offsets[s] * width;
        int64_t length = offsets[s + 1] - offsets[s];
        for (int64_t c = 0; length == 0 && c < width; c++) {
            out[c] = 0;
            index[c] = -1;
        }
        for (int64_t c = 0; length > 0 && c < width; c += COLUMNS)
            OF_CELL(find_best_columns)(rows + c, length, width, (int)(width - c < COLUMNS ? width - c : COLUMNS),
                                   verb, out + c, index + c);
    }
}

LODCORE_BODY BODY_OF_CELL(find_best_wide)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                          int verb, CELL *out, int64_t *index)
{
    if (verb == GREATEST)
        OF_CELL(find_best_by)(x, offsets, n_seqs, width, GREATEST, out, index);
    else
        OF_CELL(find_best_by)(x, offsets, n_seqs, width, LEAST, out, index);
}
LODCORE_TWICE(OF_CELL(find_best_wide),
              (const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb, CELL *out,
               int64_t *index),
              (x, offsets, n_seqs, width, verb, out, index))

/* Pool as pool_rows does, and write the row, within its sequence, of each cell; -1 for an empty one. */
static LODCORE_UNUSED void OF_CELL(find_best_rows)(const CELL *x, const int64_t *offsets, int64_t n_seqs,
                                                   int64_t width, int verb, CELL *out, int64_t *index)
{
    if (width != 1) {
        OF_CELL(find_best_wide)(x, offsets, n_seqs, width, verb, out, index);
        return;
    }
    OF_CELL(pool_rows)(x, offsets, n_seqs, 1, verb, BY_ONE, out);
#if defined(LANES) && LODCORE_HAS_SIMD
    if (simd_level() == SIMD_AVX512)
        OF_CELL(places_avx512)(x, offsets, n_seqs, out, index);
    else if (simd_level() == SIMD_AVX2)
        OF_CELL(places_avx2)(x, offsets, n_seqs, out, index);
    if (simd_level() >= SIMD_AVX2)
        return;
#endif
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        index[s] = length ? OF_CELL(first_place)(x + offsets[s], length, out[s]) : -1;
    }
}
