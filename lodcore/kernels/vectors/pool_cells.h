/* Pooling with vectors for one type of cells: pool.h includes this once per type. CELL is the type, OF_CELL names its
 * functions, LANES is the number of lanes of a sum. First what vectors leave open, cell by cell. */

/* Return the better of two cells: the first of equal ones, and the first nan. */
LODCORE_INLINE CELL OF_CELL(better)(CELL best, CELL cell, int verb)
{
    int stays = (verb == GREATEST ? best >= cell : best <= cell) | (best != best);
    return stays ? best : cell;
}

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
        if (nan && offsets[s + 1] > offsets[s]) {
            out[s] = cells[0];
            for (int64_t r = 1; r < offsets[s + 1] - offsets[s]; r++)
                out[s] = OF_CELL(better)(out[s], cells[r], verb);
        } else if (out[s] == 0)
            out[s] = OF_CELL(first_zero)(cells, offsets[s + 1] - offsets[s], 1);
    }
}

/* Return the position of a cell in a sequence that contains it, or 0 if another thread has changed it; any nan matches
 * nan. */
LODCORE_INLINE int64_t OF_CELL(first_place)(const CELL *x, int64_t length, CELL cell)
{
    int64_t r = 0;
    while (r < length && (cell == cell ? x[r] != cell : x[r] == x[r]))
        r++;
    return r < length ? r : 0;
}

/* Return the divisor of the sum of a sequence; the sum of an empty one stays 0. */
LODCORE_INLINE CELL OF_CELL(divisor_of)(int64_t length, int divide)
{
    return divide == BY_ONE || length == 0 ? 1 : divide == BY_ROOT ? (CELL)sqrt((double)length) : (CELL)length;
}

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

/* Pool with vectors where they pay, and return whether they do. */
static int OF_CELL(pool_vectors)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,
                                 int divide, CELL *out)
{
    if (simd_level() == SIMD_AVX512 && OF_CELL(pool_avx512)(x, offsets, n_seqs, width, verb, divide, out))
        return 1;
    return has_wide() && OF_CELL(pool_avx2)(x, offsets, n_seqs, width, verb, divide, out);
}

/* Find the places of the best cells of rows of one cell, and return whether there are vectors. */
static int OF_CELL(find_places)(const CELL *x, const int64_t *offsets, int64_t n_seqs, const CELL *best, int64_t *index)
{
    if (simd_level() == SIMD_AVX512)
        OF_CELL(places_avx512)(x, offsets, n_seqs, best, index);
    else if (has_wide())
        OF_CELL(places_avx2)(x, offsets, n_seqs, best, index);
    return has_wide();
}
