/* Maxima and minima of rows of several cells with vectors, and their places: pool_lanes.h includes this, and defines its
 * macros. */

/* Compute the maximum or minimum of a column cell by cell if there was a nan, which stays, and find its first zero. */
TARGET LODCORE_APART void PATH(best_columns)(const CELL *rows, int64_t length, int64_t width, int nan, int verb, CELL *out)
{
    for (int64_t c = 0; c < width; c++) {
        if (nan) {
            out[c] = rows[c];
            for (int64_t r = 1; r < length; r++)
                out[c] = PATH(better)(out[c], rows[r * width + c], verb);
        } else if (out[c] == 0)
            out[c] = PATH(first_zero)(rows + c, length, width);
    }
}

/* Load the vector of a row, or the last one of the two, which overlap; without `whole`, the row is shorter than it. */
TARGET LODCORE_INLINE VECTOR PATH(of_row)(const CELL *row, int64_t second, int j, int whole, MASKS masks, VECTOR fill)
{
    return whole ? LOAD(row + j * second) : LOAD_PART(masks, row, 0, fill);
}

/* Compute the maximum or minimum of the columns of each sequence in one vector, or in two. */
TARGET LODCORE_BODY PATH(best_narrow)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int vectors,
                                      int whole, int verb, CELL *out)
{
    const CELL *row = x + offsets[0] * width;
    VECTOR best[2], fill = verb == GREATEST ? ALL((CELL)-INFINITY) : ALL((CELL)INFINITY);
    MASKS masks = MASKS_OF(width);
    int64_t second = width - PER, left = n_seqs * width;
    CELL last[PER];
    for (int64_t s = 0; s < n_seqs; s++, out += width, left -= width) {
        const CELL *rows = row, *end = x + offsets[s + 1] * width;
        NANS nans = NO_NANS;
        int zeros = 0;
        for (int j = 0; j < vectors; j++)
            best[j] = fill;
        for (; row < end; row += 2 * width) {
            const CELL *next = row + width < end ? row + width : row; /* an odd last row once more, without a branch */
            for (int j = 0; j < vectors; j++) {
                VECTOR one = PATH(of_row)(row, second, j, whole, masks, fill);
                VECTOR other = PATH(of_row)(next, second, j, whole, masks, fill);
                NOTE_NANS(nans, one, other);
                best[j] = PATH(fold)(best[j], PATH(fold)(one, other, verb), verb);
            }
        }
        row = end;
        for (int j = 0; j < vectors; j++) {
            best[j] = rows < end ? best[j] : ALL(0);
            zeros |= (int)EQUAL(best[j], ALL(0));
        }
        if (whole || left >= PER) /* what lies behind is written later */
            for (int j = 0; j < vectors; j++)
                STORE(out + j * second, best[j]);
        else {
            STORE(last, best[0]);
            memcpy(out, last, (size_t)width * sizeof(CELL));
        }
        if ((ANY(nans) | zeros) && rows < end)
            PATH(best_columns)(rows, (end - rows) / width, width, ANY(nans) != 0, verb, out);
    }
}

/* Find the best cells of the columns of a sequence with nan, and their rows in it. Apart: there are few of them. */
TARGET LODCORE_APART void PATH(find_nans)(const CELL *rows, int64_t length, int64_t width, int verb, CELL *out,
                                          int64_t *index)
{
    find_columns(rows, length, width, width, verb == GREATEST, out, index);
}

/* Find the best cells of the columns of each sequence, and their rows in it, which are counted in cells. */
TARGET LODCORE_BODY PATH(find_narrow)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int vectors,
                                      int whole, int verb, CELL *out, int64_t *index)
{
    VECTOR best[2], place[2], fill = verb == GREATEST ? ALL((CELL)-INFINITY) : ALL((CELL)INFINITY);
    MASKS masks = MASKS_OF(width);
    int64_t second = width - PER;
    CELL cells[2 * PER], places[2 * PER];
    for (int64_t s = 0; s < n_seqs; s++, out += width, index += width) {
        const CELL *rows = x + offsets[s] * width, *end = x + offsets[s + 1] * width;
        int64_t length = offsets[s + 1] - offsets[s];
        VECTOR at = ALL(0);
        NANS nans = NO_NANS;
        if (length == 0) {
            for (int64_t c = 0; c < width; c++) {
                out[c] = 0;
                index[c] = -1;
            }
            continue;
        }
        for (int j = 0; j < vectors; j++) {
            best[j] = fill;
            place[j] = ALL(0);
        }
        for (const CELL *row = rows; row < end; row += 2 * width) {
            const CELL *next = row + width < end ? row + width : row; /* an odd last row once more */
            for (int j = 0; j < vectors; j++) {
                VECTOR one = PATH(of_row)(row, second, j, whole, masks, fill);
                VECTOR other = PATH(of_row)(next, second, j, whole, masks, fill);
                CHOSEN later = verb == GREATEST ? ABOVE(other, one) : ABOVE(one, other);
                VECTOR better = CHOOSE(later, other, one), number = CHOOSE(later, ADD(at, ALL(1)), at);
                CHOSEN changes = verb == GREATEST ? ABOVE(better, best[j]) : ABOVE(best[j], better);
                NOTE_NANS(nans, one, other);
                best[j] = CHOOSE(changes, better, best[j]);
                place[j] = CHOOSE(changes, number, place[j]);
            }
            at = ADD(at, ALL(2));
        }
        if (ANY(nans)) {
            PATH(find_nans)(rows, length, width, verb, out, index);
            continue;
        }
        for (int j = 0; j < vectors; j++) {
            STORE(cells + j * second, best[j]);
            STORE(places + j * second, place[j]);
        }
        for (int64_t c = 0; c < width; c++) {
            out[c] = cells[c];
            index[c] = (int32_t)places[c];
        }
    }
}

TARGET LODCORE_BODY PATH(find_in_registers)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                            int verb, CELL *out, int64_t *index)
{
    if (width < PER)
        PATH(find_narrow)(x, offsets, n_seqs, width, 1, 0, verb, out, index);
    else if (width == PER)
        PATH(find_narrow)(x, offsets, n_seqs, width, 1, 1, verb, out, index);
    else
        PATH(find_narrow)(x, offsets, n_seqs, width, 2, 1, verb, out, index);
}

TARGET LODCORE_BODY PATH(best_in_registers)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                            int verb, CELL *out)
{
    if (width < PER)
        PATH(best_narrow)(x, offsets, n_seqs, width, 1, 0, verb, out);
    else if (width == PER)
        PATH(best_narrow)(x, offsets, n_seqs, width, 1, 1, verb, out);
    else
        PATH(best_narrow)(x, offsets, n_seqs, width, 2, 1, verb, out);
}

/* Fold one vector of `count` rows. */
TARGET LODCORE_INLINE VECTOR PATH(best_of)(VECTOR best, const CELL *row, int64_t width, int count, int verb, NANS *nans)
{
    for (int r = 0; r < count; r += 2) {
        VECTOR first = LOAD(row + r * width);
        VECTOR second = r + 1 < count ? LOAD(row + (r + 1) * width) : first;
        NOTE_NANS(*nans, first, second);
        best = PATH(fold)(PATH(fold)(best, first, verb), second, verb);
    }
    return best;
}

/* Compute the maximum or minimum of `count` rows of more than PER columns. The last vector overlaps the one before; it
 * stays in a register, since what was just stored is slow to load with another beginning. */
TARGET LODCORE_INLINE void PATH(best_of_rows)(const CELL *row, int64_t width, int count, int verb, CELL *out,
                                              VECTOR *last, NANS *nans)
{
    for (int64_t c = 0; c + PER < width; c += PER)
        STORE(out + c, PATH(best_of)(LOAD(out + c), row + c, width, count, verb, nans));
    *last = PATH(best_of)(*last, row + width - PER, width, count, verb, nans);
}

TARGET LODCORE_BODY PATH(best_wide)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,
                                    CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++, out += width) {
        const CELL *rows = x + offsets[s] * width, *row = rows;
        int64_t length = offsets[s + 1] - offsets[s], left = length;
        VECTOR last = length == 0 ? ALL(0) : verb == GREATEST ? ALL((CELL)-INFINITY) : ALL((CELL)INFINITY);
        NANS nans = NO_NANS;
        int zeros = 0;
        for (int64_t c = 0; c + PER < width; c += PER)
            STORE(out + c, last);
        for (; left >= 4; left -= 4, row += 4 * width)
            PATH(best_of_rows)(row, width, 4, verb, out, &last, &nans);
        for (; left > 0; left--, row += width)
            PATH(best_of_rows)(row, width, 1, verb, out, &last, &nans);
        STORE(out + width - PER, last);
        for (int64_t c = 0; c < width; c += PER)
            zeros |= (int)EQUAL(LOAD(out + (c + PER <= width ? c : width - PER)), ALL(0));
        if ((ANY(nans) | zeros) && length)
            PATH(best_columns)(rows, length, width, ANY(nans) != 0, verb, out);
    }
}
