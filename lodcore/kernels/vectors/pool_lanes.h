/* Pooling of rows of one cell with vectors: pool.h includes this once per type of cells and instruction set. CELL is
 * the type, PATH(NAME) names functions of both, and LANES is the number of lanes of a sum. Halving the lanes of a
 * sequence leaves one vector per sequence; those of PER sequences are then halved together, at about one operation per
 * sequence, into one vector with one result each. Loads that reach outside a sequence are masked. */
#include "pool_vectors.h"

#define PARTS (LANES / PER)

/* -- what vectors leave open, cell by cell ----------------------------------------------------------------------- */

/* Return the better of two cells: the first of equal ones, and the first nan. */
TARGET LODCORE_INLINE CELL PATH(better)(CELL best, CELL cell, int verb)
{
    int stays = (verb == GREATEST ? best >= cell : best <= cell) | (best != best);
    return stays ? best : cell;
}

/* Find the first 0 of a column whose best cell is 0, since zeros have signs. Bounded, because another thread may
 * change the cells. */
TARGET LODCORE_INLINE CELL PATH(first_zero)(const CELL *x, int64_t length, int64_t width)
{
    for (int64_t r = 0; r < length; r++)
        if (x[r * width] == 0)
            return x[r * width];
    return 0;
}

/* Resolve what vectors leave open for some sequences: which zero came first, and which nan. */
TARGET LODCORE_APART void PATH(choose_first)(const CELL *x, const int64_t *offsets, int count, int nan, int verb, CELL *out)
{
    for (int s = 0; s < count; s++) {
        const CELL *cells = x + offsets[s];
        if (nan && offsets[s + 1] > offsets[s]) {
            out[s] = cells[0];
            for (int64_t r = 1; r < offsets[s + 1] - offsets[s]; r++)
                out[s] = PATH(better)(out[s], cells[r], verb);
        } else if (out[s] == 0)
            out[s] = PATH(first_zero)(cells, offsets[s + 1] - offsets[s], 1);
    }
}

/* Return the position of a cell in a sequence that contains it, or 0 if another thread has changed it; any nan matches
 * nan. */
TARGET LODCORE_INLINE int64_t PATH(first_place)(const CELL *x, int64_t length, CELL cell)
{
    int64_t r = 0;
    while (r < length && (cell == cell ? x[r] != cell : x[r] == x[r]))
        r++;
    return r < length ? r : 0;
}

/* Return the divisor of the sum of a sequence; the sum of an empty one stays 0. */
TARGET LODCORE_INLINE CELL PATH(divisor_of)(int64_t length, int divide)
{
    return divide == BY_ONE || length == 0 ? 1 : divide == BY_ROOT ? (CELL)sqrt((double)length) : (CELL)length;
}

/* -- vectors ------------------------------------------------------------------------------------------------------- */

TARGET LODCORE_INLINE VECTOR PATH(fold)(VECTOR so_far, VECTOR cells, int verb)
{
    return verb == SUM ? ADD(so_far, cells) : verb == GREATEST ? MAXIMUM(so_far, cells) : MINIMUM(so_far, cells);
}

/* Load the first `parts` vectors of a sequence, which has no cells after them, and reduce them to one vector. */
TARGET LODCORE_INLINE VECTOR PATH(short_lanes)(const CELL *x, int64_t length, int parts, int verb, VECTOR fill,
                                               NANS *nans)
{
    VECTOR part[PARTS];
    MASKS masks = MASKS_OF(length);
    for (int j = 0; j < parts; j++)
        part[j] = LOAD_PART(masks, x, j, fill);
    for (int j = 0; verb != SUM && j + 1 < parts; j += 2)
        NOTE_NANS(*nans, part[j], part[j + 1]);
    if (verb != SUM && parts == 1)
        NOTE_NANS(*nans, part[0], part[0]);
    for (int half = parts / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            part[j] = PATH(fold)(part[j], part[j + half], verb);
    return part[0];
}

TARGET LODCORE_INLINE VECTOR PATH(lanes)(const CELL *x, int64_t length, int verb, VECTOR fill, NANS *nans)
{
    if (length <= LANES / 2)
        return PATH(short_lanes)(x, length, PARTS / 2, verb, fill, nans);
    if (length < LANES)
        return PATH(short_lanes)(x, length, PARTS, verb, fill, nans);
    VECTOR part[PARTS];
    for (int j = 0; j < PARTS; j++)
        part[j] = fill;
    for (; length >= LANES; x += LANES, length -= LANES) {
        for (int j = 0; j < PARTS; j++) {
            VECTOR cells = LOAD(x + j * PER);
            if (verb != SUM)
                NOTE_NANS(*nans, cells, cells);
            part[j] = PATH(fold)(part[j], cells, verb);
        }
    }
    MASKS masks = MASKS_OF(length);
    for (int j = 0; j < PARTS; j++) {
        VECTOR cells = LOAD_PART(masks, x, j, fill);
        if (verb != SUM)
            NOTE_NANS(*nans, cells, cells);
        part[j] = PATH(fold)(part[j], cells, verb);
    }
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            part[j] = PATH(fold)(part[j], part[j + half], verb);
    return part[0];
}

/* Pool PER sequences. */
TARGET LODCORE_BODY PATH(block)(const CELL *x, const int64_t *offsets, int verb, int divide, CELL *out)
{
    VECTOR part[PER], fill = verb == SUM ? ALL(0) : verb == GREATEST ? ALL((CELL)-INFINITY) : ALL((CELL)INFINITY);
    NANS nans = NO_NANS;
    int64_t most = 0;
    for (int j = 0; j < PER; j++)
        most = offsets[j + 1] - offsets[j] > most ? offsets[j + 1] - offsets[j] : most;
    if (most == 1 && offsets[PER] - offsets[0] == PER) { /* the rows are the result, but a sum is never -0 */
        VECTOR cells = LOAD(x + offsets[0]);
        STORE(out, verb == SUM ? ADD(cells, ALL(0)) : cells);
        return;
    }
    if (most <= PER)
        for (int j = 0; j < PER; j++)
            part[j] = PATH(short_lanes)(x + offsets[j], offsets[j + 1] - offsets[j], 1, verb, fill, &nans);
    else
        LODCORE_ROLLED
        for (int j = 0; j < PER; j++)
            part[j] = PATH(lanes)(x + offsets[j], offsets[j + 1] - offsets[j], verb, fill, &nans);
    HALVE_TOGETHER
    if (verb == SUM) {
        STORE(out, ADD(part[0], ALL(0)));
        for (int j = 0; divide != BY_ONE && j < PER; j++)
            out[j] /= PATH(divisor_of)(offsets[j + 1] - offsets[j], divide);
        return;
    }
    int nan = ANY(nans), odd = nan | (int)EQUAL(part[0], ALL(0));
    STORE(out, ZERO_FOR_EMPTY(part[0], offsets));
    if (odd)
        PATH(choose_first)(x, offsets, PER, nan, verb, out);
}

TARGET LODCORE_BODY PATH(blocks)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out)
{
    int64_t ends[PER + 1];
    CELL results[PER];
    for (int64_t s = 0; s < n_seqs; s += PER) {
        int whole = s + PER <= n_seqs;
        for (int64_t j = 0; !whole && j <= PER; j++) /* filled up with empty sequences */
            ends[j] = offsets[s + j < n_seqs ? s + j : n_seqs];
        PATH(block)(x, whole ? offsets + s : ends, verb, divide, whole ? out + s : results);
        if (!whole)
            memcpy(out + s, results, (size_t)(n_seqs - s) * sizeof(CELL));
    }
}

/* Return a bit for each of up to LANES cells that equals the known best cell. */
TARGET LODCORE_INLINE uint64_t PATH(equal_bits)(const CELL *x, int64_t length, int parts, CELL cell)
{
    uint64_t bits = 0;
    MASKS masks = MASKS_OF(length);
    for (int j = 0; j < parts; j++)
        bits |= (uint64_t)EQUAL(LOAD_PART(masks, x, j, ALL(cell)), ALL(cell)) << j * PER;
    return bits;
}

/* Find the row, within its sequence, of each cell of `best`, the result for rows of one cell; -1 for an empty
 * sequence. */
TARGET LODCORE_APART void PATH(places)(const CELL *x, const int64_t *offsets, int64_t n_seqs, const CELL *best,
                                       int64_t *index)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s], r;
        const CELL *cells = x + offsets[s];
        if (length <= LANES / 2 && best[s] == best[s]) /* a bit is set: cells outside a sequence count as equal */
            r = __builtin_ctzll(PATH(equal_bits)(cells, length, PARTS / 2, best[s]) | (uint64_t)1 << (LANES / 2 - 1));
        else if (length < LANES && best[s] == best[s])
            r = __builtin_ctzll(PATH(equal_bits)(cells, length, PARTS, best[s]) | (uint64_t)1 << (LANES - 1));
        else
            r = PATH(first_place)(cells, length, best[s]);
        index[s] = length == 0 ? -1 : r < length ? r : 0;
    }
}

#include "pool_columns.h"

/* Separate functions, so that each has all registers. */
TARGET LODCORE_APART void PATH(sum_cells)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int divide, CELL *out)
{
    PATH(blocks)(x, offsets, n_seqs, SUM, divide, out);
}

TARGET LODCORE_APART void PATH(greatest)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                         CELL *out)
{
    if (width == 1)
        PATH(blocks)(x, offsets, n_seqs, GREATEST, BY_ONE, out);
    else if (width <= 2 * PER)
        PATH(best_in_registers)(x, offsets, n_seqs, width, GREATEST, out);
    else
        PATH(best_wide)(x, offsets, n_seqs, width, GREATEST, out);
}

TARGET LODCORE_APART void PATH(least)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, CELL *out)
{
    if (width == 1)
        PATH(blocks)(x, offsets, n_seqs, LEAST, BY_ONE, out);
    else if (width <= 2 * PER)
        PATH(best_in_registers)(x, offsets, n_seqs, width, LEAST, out);
    else
        PATH(best_wide)(x, offsets, n_seqs, width, LEAST, out);
}

TARGET LODCORE_APART void PATH(find_greatest)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                              CELL *out, int64_t *index)
{
    PATH(find_in_registers)(x, offsets, n_seqs, width, GREATEST, out, index);
}

TARGET LODCORE_APART void PATH(find_least)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                           CELL *out, int64_t *index)
{
    PATH(find_in_registers)(x, offsets, n_seqs, width, LEAST, out, index);
}

/* Pool with vectors where they pay, and return whether they do. */
static int PATH(pool)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb, int divide,
                      CELL *out)
{
    if (width != 1 && (verb == SUM || width > 4 * LANES || width % LANES == 0))
        return 0;
    if (verb == SUM)
        PATH(sum_cells)(x, offsets, n_seqs, divide, out);
    else if (verb == GREATEST)
        PATH(greatest)(x, offsets, n_seqs, width, out);
    else
        PATH(least)(x, offsets, n_seqs, width, out);
    return 1;
}

/* Find the places of maxima or minima with vectors where they pay, and return whether they do. */
static int PATH(find)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb, CELL *out,
                      int64_t *index)
{
    if (width > 2 * PER)
        return 0;
    for (int64_t s = 0; width != 1 && offsets[n_seqs] - offsets[0] > COUNTED && s < n_seqs; s++)
        if (offsets[s + 1] - offsets[s] > COUNTED)
            return 0;
    if (width == 1) {
        PATH(pool)(x, offsets, n_seqs, 1, verb, BY_ONE, out);
        PATH(places)(x, offsets, n_seqs, out, index);
    } else if (verb == GREATEST)
        PATH(find_greatest)(x, offsets, n_seqs, width, out, index);
    else
        PATH(find_least)(x, offsets, n_seqs, width, out, index);
    return 1;
}

#undef PARTS
#undef CHOSEN
#undef ABOVE
#undef CHOOSE
#undef LONGER
#undef FOUR
#undef ZERO_FOR_EMPTY
#undef EQUAL
#undef HALVE
#undef MASKS
#undef MASKS_OF
#undef NANS
#undef NO_NANS
#undef ANY
#undef VECTOR
#undef PER
#undef LOAD
#undef STORE
#undef ADD
#undef MAXIMUM
#undef MINIMUM
#undef ALL
#undef LOAD_PART
#undef NOTE_NANS
#undef LOWER_8
#undef UPPER_8
#undef LOWER_4
#undef UPPER_4
#undef LOWER_2
#undef UPPER_2
#undef LOWER_1
#undef UPPER_1
#undef HALVE_TOGETHER
#undef MASK
