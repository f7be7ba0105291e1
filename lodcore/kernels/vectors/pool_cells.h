/* Pooling for one type of cells: pool.h includes this once per type. CELL is the type, OF_CELL and BODY_OF_CELL name
 * its functions, PLACE is an integer of its size. Only floating-point types have LANES. */

/* Return whether the maximum or minimum so far stays: the first of equal cells does, and the first nan. */
LODCORE_INLINE int OF_CELL(stays)(CELL best, CELL cell, int verb)
{
    int good = verb == GREATEST ? best >= cell : best <= cell;
#ifdef LANES
    good |= best != best;
#endif
    return good;
}

/* Combine the result of a column with one more cell. */
LODCORE_INLINE CELL OF_CELL(fold)(CELL so_far, CELL cell, int verb)
{
    CELL best = verb == GREATEST ? (so_far >= cell ? so_far : cell) : so_far <= cell ? so_far : cell;
#ifdef LANES
    best = so_far == so_far ? best : so_far; /* in two steps, each of which compilers turn into a blend */
    return verb == SUM ? so_far + cell : best;
#else
    return verb == SUM ? (CELL)((uint64_t)so_far + (uint64_t)cell) : best; /* whole numbers wrap around */
#endif
}

#ifdef LANES
/* Return the divisor of the sum of a sequence; the sum of an empty one stays 0. */
LODCORE_INLINE CELL OF_CELL(divisor_of)(int64_t length, int divide)
{
    return divide == BY_ONE || length == 0 ? 1 : divide == BY_ROOT ? (CELL)sqrt((double)length) : (CELL)length;
}
#endif

LODCORE_BODY OF_CELL(divide_cells)(CELL *cells, int64_t count, int64_t length, int divide)
{
#ifdef LANES
    CELL by = OF_CELL(divisor_of)(length, divide);
    for (int64_t c = 0; divide != BY_ONE && c < count; c++)
        cells[c] /= by;
#else
    (void)cells, (void)count, (void)length, (void)divide;
#endif
}

/* -- rows of one cell ---------------------------------------------------------------------------------------------- */

LODCORE_INLINE CELL OF_CELL(best_cell)(const CELL *x, int64_t length, int verb)
{
    CELL best = length ? x[0] : 0;
    for (int64_t r = 1; r < length; r++)
        best = OF_CELL(fold)(best, x[r], verb);
    return best;
}

/* Return the position of a cell in a sequence that contains it, or 0 if another thread has changed it; any nan matches
 * nan. */
LODCORE_INLINE int64_t OF_CELL(first_place)(const CELL *x, int64_t length, CELL cell)
{
    int64_t r = 0;
#ifdef LANES
    if (cell != cell)
        while (r < length && x[r] == x[r])
            r++;
    else
#endif
        while (r < length && x[r] != cell)
            r++;
    return r < length ? r : 0;
}

#ifdef LANES
/* Find the first 0 of a column whose best cell is 0, since zeros have signs. Bounded, because another thread may
 * change the cells. */
LODCORE_INLINE CELL OF_CELL(first_zero)(const CELL *x, int64_t length, int64_t width)
{
    for (int64_t r = 0; r < length; r++)
        if (x[r * width] == 0)
            return x[r * width];
    return 0;
}

/* Resolve what vectors leave open for some sequences: which zero came first, and which nan. */
LODCORE_APART void OF_CELL(choose_first)(const CELL *x, const int64_t *offsets, int count, int nan, int verb, CELL *out)
{
    for (int s = 0; s < count; s++) {
        const CELL *cells = x + offsets[s];
        if (nan)
            out[s] = OF_CELL(best_cell)(cells, offsets[s + 1] - offsets[s], verb);
        else if (out[s] == 0)
            out[s] = OF_CELL(first_zero)(cells, offsets[s + 1] - offsets[s], 1);
    }
}
#endif

#ifdef LANES
/* Pool at most `size` cells, after which at least `size` cells can be read. */
LODCORE_INLINE CELL OF_CELL(sum_few)(const CELL *x, PLACE length, int size)
{
    CELL lane[LANES];
    for (PLACE k = 0; k < size; k++) {
        CELL cell = x[k];
        lane[k] = k < length ? cell : 0;
    }
    for (int half = size / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    return lane[0] + 0;
}

LODCORE_INLINE CELL OF_CELL(sum_cell)(const CELL *x, int64_t length, int64_t readable)
{
    if (length <= LANES && readable >= LANES) {
        if (length <= 1)
            return length ? x[0] + 0 : 0;
        if (length <= LANES / 4)
            return OF_CELL(sum_few)(x, (PLACE)length, LANES / 4);
        return OF_CELL(sum_few)(x, (PLACE)length, LANES);
    }
    CELL lane[LANES] = {0};
    for (; length >= LANES; x += LANES, length -= LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += x[k];
    for (int64_t k = 0; k < length; k++)
        lane[k] += x[k];
    return OF_CELL(sum_few)(lane, LANES, LANES);
}
#else
LODCORE_INLINE CELL OF_CELL(sum_cell)(const CELL *x, int64_t length, int64_t readable)
{
    CELL total = 0;
    (void)readable;
    for (int64_t r = 0; r < length; r++)
        total = OF_CELL(fold)(total, x[r], SUM);
    return total;
}
#endif

LODCORE_BODY OF_CELL(pool_cells_by)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int verb, int divide,
                                    CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        const CELL *cells = x + offsets[s];
        if (verb == SUM)
            out[s] = OF_CELL(sum_cell)(cells, length, offsets[n_seqs] - offsets[s]);
        else
            out[s] = OF_CELL(best_cell)(cells, length, verb);
        OF_CELL(divide_cells)(out + s, 1, length, divide);
    }
}

static void OF_CELL(pool_cells)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out)
{
    if (verb == SUM)
        OF_CELL(pool_cells_by)(x, offsets, n_seqs, SUM, divide, out);
    else if (verb == GREATEST)
        OF_CELL(pool_cells_by)(x, offsets, n_seqs, GREATEST, BY_ONE, out);
    else
        OF_CELL(pool_cells_by)(x, offsets, n_seqs, LEAST, BY_ONE, out);
}

/* -- rows of several cells ----------------------------------------------------------------------------------------- */

/* Pool few columns, whose number the compiler knows, so that they stay in registers. */
LODCORE_BODY OF_CELL(pool_narrow_by)(const CELL *restrict x, const int64_t *offsets, int64_t n_seqs, int width,
                                     int verb, int divide, CELL *restrict out)
{
    for (int64_t s = 0; s < n_seqs; s++, out += width) {
        const CELL *row = x + offsets[s] * width, *end = x + offsets[s + 1] * width;
        CELL cells[NARROW];
        for (int c = 0; c < width; c++)
            cells[c] = verb == SUM || row == end ? 0 : row[c];
        for (row += verb == SUM || row == end ? 0 : width; row != end; row += width)
            for (int c = 0; c < width; c++)
                cells[c] = OF_CELL(fold)(cells[c], row[c], verb);
        for (int c = 0; c < width; c++)
            out[c] = cells[c];
        OF_CELL(divide_cells)(out, width, offsets[s + 1] - offsets[s], divide);
    }
}

static void OF_CELL(pool_narrow)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,
                                 int divide, CELL *out)
{
#define POOL_NARROW(WIDTH)                                                                     \
    case WIDTH:                                                                                \
        if (verb == SUM)                                                                       \
            OF_CELL(pool_narrow_by)(x, offsets, n_seqs, WIDTH, SUM, divide, out);              \
        else if (verb == GREATEST)                                                             \
            OF_CELL(pool_narrow_by)(x, offsets, n_seqs, WIDTH, GREATEST, BY_ONE, out);         \
        else                                                                                   \
            OF_CELL(pool_narrow_by)(x, offsets, n_seqs, WIDTH, LEAST, BY_ONE, out);            \
        break;
    switch (width) {
        POOL_NARROW(2)
        POOL_NARROW(3)
        POOL_NARROW(4)
        POOL_NARROW(5)
        POOL_NARROW(6)
        POOL_NARROW(7)
        POOL_NARROW(8)
    }
#undef POOL_NARROW
}

#ifdef LANES
/* Pool as many columns as there are lanes in registers, row by row, and prefetch far ahead. */
LODCORE_BODY OF_CELL(pool_columns)(const CELL *restrict x, int64_t length, int64_t width, int verb, CELL *restrict out)
{
    CELL cells[LANES];
    int64_t r = length > 0 && verb != SUM;
    for (int c = 0; c < LANES; c++)
        cells[c] = r ? x[c] : 0;
    for (x += r * width; r < length; r++, x += width) {
        for (size_t byte = 0; byte < LANES * sizeof(CELL); byte += LINE)
            LODCORE_PREFETCH((const void *)((uintptr_t)x + (size_t)(FAR * width) * sizeof(CELL) + byte));
        for (int c = 0; c < LANES; c++)
            cells[c] = OF_CELL(fold)(cells[c], x[c], verb);
    }
    for (int c = 0; c < LANES; c++)
        out[c] = cells[c];
}
#endif

/* Pool many columns: as many at a time as there are lanes, and the others four rows at a time into the result. */
LODCORE_BODY OF_CELL(pool_wide_by)(const CELL *restrict x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                   int verb, int divide, CELL *restrict out)
{
    for (int64_t s = 0; s < n_seqs; s++, out += width) {
        int64_t length = offsets[s + 1] - offsets[s], r = length > 0 && verb != SUM, first = 0;
        const CELL *row = x + offsets[s] * width;
#ifdef LANES
        for (; first + LANES <= width; first += LANES)
            OF_CELL(pool_columns)(row + first, length, width, verb, out + first);
        if (verb != SUM && first > 0 && first < width) { /* the last columns, some of them once more */
            OF_CELL(pool_columns)(row + width - LANES, length, width, verb, out + width - LANES);
            first = width;
        }
#endif
        for (int64_t c = first; c < width; c++)
            out[c] = r ? row[c] : 0;
        for (row += r * width; first < width && r + 4 <= length; r += 4, row += 4 * width)
            for (int64_t c = first; c < width; c++) {
                CELL so_far = OF_CELL(fold)(out[c], row[c], verb);
                so_far = OF_CELL(fold)(so_far, row[c + width], verb);
                so_far = OF_CELL(fold)(so_far, row[c + 2 * width], verb);
                out[c] = OF_CELL(fold)(so_far, row[c + 3 * width], verb);
            }
        for (; first < width && r < length; r++, row += width)
            for (int64_t c = first; c < width; c++)
                out[c] = OF_CELL(fold)(out[c], row[c], verb);
        OF_CELL(divide_cells)(out, width, length, divide);
    }
}

LODCORE_BODY BODY_OF_CELL(pool_wide)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,
                                     int divide, CELL *out)
{
    if (verb == SUM)
        OF_CELL(pool_wide_by)(x, offsets, n_seqs, width, SUM, divide, out);
    else if (verb == GREATEST)
        OF_CELL(pool_wide_by)(x, offsets, n_seqs, width, GREATEST, BY_ONE, out);
    else
        OF_CELL(pool_wide_by)(x, offsets, n_seqs, width, LEAST, BY_ONE, out);
}
LODCORE_TWICE(OF_CELL(pool_wide),
              (const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb, int divide, CELL *out),
              (x, offsets, n_seqs, width, verb, divide, out))

/* -- dispatch ------------------------------------------------------------------------------------------------------
 * */

#if defined(LANES) && LODCORE_HAS_SIMD
#define PATH(NAME) OF_CELL(NAME##_avx2)
#define VECTOR_BYTES 32
#include "pool_lanes.h"
#undef PATH
#undef VECTOR_BYTES
#define PATH(NAME) OF_CELL(NAME##_avx512)
#define VECTOR_BYTES 64
#include "pool_lanes.h"
#undef PATH
#undef VECTOR_BYTES
#endif

/* Compute sums, maxima or minima of the columns of each sequence; zeros for an empty one. */
static LODCORE_UNUSED void OF_CELL(pool_rows)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                              int verb, int divide, CELL *out)
{
#if defined(LANES) && LODCORE_HAS_SIMD
    if (simd_level() == SIMD_AVX512 && OF_CELL(pool_avx512)(x, offsets, n_seqs, width, verb, divide, out))
        return;
    if (simd_level() >= SIMD_AVX2 && OF_CELL(pool_avx2)(x, offsets, n_seqs, width, verb, divide, out))
        return;
#endif
    if (width == 1)
        OF_CELL(pool_cells)(x, offsets, n_seqs, verb, divide, out);
    else if (width <= NARROW)
        OF_CELL(pool_narrow)(x, offsets, n_seqs, width, verb, divide, out);
    else
        OF_CELL(pool_wide)(x, offsets, n_seqs, width, verb, divide, out);
}

#include "pool_places.h"

#ifdef LANES
/* -- back to the rows ---------------------------------------------------------------------------------------------- */

/* Copy the cell of a sequence to all its rows, `span` at a time: the next sequence overwrites the excess. */
LODCORE_BODY OF_CELL(spread_cell)(CELL cell, int64_t r, int64_t end, int span, int64_t n_rows, CELL *out)
{
    if (r + span <= n_rows) {
        do { /* also for an empty sequence, which costs less than a branch misprediction */
            for (int k = 0; k < span; k++)
                out[r + k] = cell;
            r += span;
        } while (r < end && r + span <= n_rows);
    }
    for (; r < end; r++)
        out[r] = cell;
}

LODCORE_BODY OF_CELL(spread_cells_by)(const CELL *cells, const int64_t *offsets, int64_t n_seqs, int divide, CELL *out)
{
    for (int64_t s = 0, end; s < n_seqs; s = end) {
        end = s + BLOCK < n_seqs ? s + BLOCK : n_seqs;
        int few = offsets[end] - offsets[s] <= 2 * BLOCK;
        for (int64_t k = s; k < end; k++) {
            CELL by = divide == BY_ONE ? 1 : OF_CELL(divisor_of)(offsets[k + 1] - offsets[k], divide);
            CELL cell = divide == BY_ONE ? cells[k] : cells[k] / by;
            if (few)
                OF_CELL(spread_cell)(cell, offsets[k], offsets[k + 1], 4, offsets[n_seqs], out);
            else
                OF_CELL(spread_cell)(cell, offsets[k], offsets[k + 1], SPAN, offsets[n_seqs], out);
        }
    }
}

LODCORE_BODY BODY_OF_CELL(spread_cells)(const CELL *cells, const int64_t *offsets, int64_t n_seqs, int divide,
                                        CELL *out)
{
    if (divide == BY_ONE)
        OF_CELL(spread_cells_by)(cells, offsets, n_seqs, BY_ONE, out);
    else
        OF_CELL(spread_cells_by)(cells, offsets, n_seqs, divide, out);
}
LODCORE_TWICE(OF_CELL(spread_cells),
              (const CELL *cells, const int64_t *offsets, int64_t n_seqs, int divide, CELL *out),
              (cells, offsets, n_seqs, divide, out))

/* Write each row of `rows`, divided, to all rows of its sequence. */
static LODCORE_UNUSED void OF_CELL(spread_rows)(const CELL *rows, const int64_t *offsets, int64_t n_seqs,
                                                int64_t width, int divide, CELL *out)
{
    if (width == 1) {
        OF_CELL(spread_cells)(rows, offsets, n_seqs, divide, out);
        return;
    }
    for (int64_t s = 0; s < n_seqs; s++, rows += width) {
        int64_t length = offsets[s + 1] - offsets[s];
        CELL by = OF_CELL(divisor_of)(length, divide), *first = out;
        for (int64_t c = 0; length > 0 && c < width; c++)
            first[c] = rows[c] / by;
        for (int64_t r = 0; r < length; r++, out += width)
            if (r > 0)
                memcpy(out, first, (size_t)width * sizeof(CELL));
    }
}
#endif
