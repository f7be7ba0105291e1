/* One step of a beam search, which keeps the best continuations of the branches of each source, and backtracking.
 *
 * The continuations of a source are ordered by score, the best first, and equal scores by prefix, the later first.
 * Equal ones of one prefix keep the order in which they were found, except that one found when the beam is full
 * replaces the last entry if that is equal to it. Scores that are nan compare false, as in the plain insertion below.
 * */
#ifndef LODCORE_BEAM_H
#define LODCORE_BEAM_H

#include "rows.h"
#include "simd.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Beams of at most NARROW entries are kept in registers if there are at most FEW columns; more columns are read in
 * blocks. Beams of more than WIDE entries are heaps, since an insertion would move all entries if scores rise. */
enum { NARROW = 8, FEW = 16, BLOCK_COLUMNS = 32, WIDE = 128 };

/* A place combines a prefix (within its source) and a column, so that places of later prefixes are greater. */
#define PLACE_OF(PREFIX, COLUMN) ((int64_t)(((uint64_t)(PREFIX) << 32) | (uint64_t)(COLUMN)))
#define PREFIX_OF(PLACE) ((PLACE) >> 32)
#define COLUMN_OF(PLACE) ((PLACE) & 0xffffffff)

typedef struct {
    const int64_t *pre_ids, *ids, *offsets; /* ids is NULL if the ids are the column numbers */
    int64_t n_sources, columns, beam_size, end_id;
    int64_t *out_ids, *out_offsets;
    int32_t *out_parents;
} Step;

/* Return the largest number of entries that one source can keep; `room` receives the total over all sources. */
static LODCORE_UNUSED int64_t widest_beam(const int64_t *offsets, int64_t n_sources, int64_t columns, int64_t beam_size,
                                          int64_t *room)
{
    int64_t widest = 0, total = 0;
    for (int64_t s = 0; s < n_sources; s++) {
        int64_t here = (offsets[s + 1] - offsets[s]) * columns;
        here = here < beam_size ? here : beam_size;
        widest = here > widest ? here : widest;
        total += here;
    }
    *room = total;
    return widest;
}

/* -- few candidates -------------------------------------------------------------------------------------------------- */

/* Map a score to an integer of 32 bits with the same order; -0 and 0 map to the same integer. */
LODCORE_INLINE int32_t rank_of_score(float score)
{
    int32_t bits;
    score += 0.0f;
    memcpy(&bits, &score, sizeof bits);
    return bits ^ ((bits >> 31) & INT32_MAX);
}

/* Pick the best of few candidates without branches. A candidate is one integer: the rank of its score, its prefix, and
 * its column counted from the last, so that integer order is the order of scores and then prefixes. Return -1 if the
 * result depends on the order in which candidates are found (two of them are equal, one in the beam and one not), or
 * if a score is nan. */
LODCORE_INLINE int64_t pick(const Step *step, const float *pre_scores, const float *x, int64_t start, int64_t stop,
                            const int most, int64_t *places)
{
    int64_t best[NARROW], count = 0;
    int odd = 0;
    for (int k = 0; k < most; k++)
        best[k] = INT64_MIN;
    for (int64_t p = start; p < stop; p++) {
        const int ended = step->pre_ids[p] == step->end_id;
        const int64_t columns = ended ? 1 : step->columns;
        const float *row = ended ? pre_scores + p : x + p * step->columns;
        const int64_t tail = (p - start) * FEW + FEW - 1;
        for (int64_t c = 0; c < columns; c++) {
            int64_t one = (int64_t)((uint64_t)(int64_t)rank_of_score(row[c]) << 32 | (uint64_t)(tail - c));
            odd |= row[c] != row[c];
            for (int k = 0; k < most; k++) {
                const int64_t above = best[k] > one ? best[k] : one;
                one = best[k] > one ? one : best[k];
                best[k] = above;
            }
            odd |= (uint64_t)(one ^ best[most - 1]) - 1 < FEW - 1; /* no two are equal, except empty entries */
        }
        count += columns;
    }
    count = count < most ? count : most;
    for (int k = 0; k < count; k++) {
        int64_t place = best[k] & UINT32_MAX;
        places[k] = PLACE_OF(place / FEW, FEW - 1 - place % FEW);
    }
    return odd ? -1 : count;
}

LODCORE_INLINE int64_t pick_few_float(const Step *step, const float *pre_scores, const float *x, int64_t start,
                                      int64_t stop, int64_t *places)
{
    if (step->columns > FEW || stop - start >= INT32_MAX / FEW)
        return -1;
#define NARROW_BEAM(WIDTH) \
    case WIDTH:            \
        return pick(step, pre_scores, x, start, stop, WIDTH, places);
    switch (step->beam_size) {
        NARROW_BEAM(1)
        NARROW_BEAM(2)
        NARROW_BEAM(3)
        NARROW_BEAM(4)
        NARROW_BEAM(5)
        NARROW_BEAM(6)
        NARROW_BEAM(7)
        NARROW_BEAM(8)
        default:
            return -1;
    }
#undef NARROW_BEAM
}

/* Ranks of 64 bits do not fit beside their place in one integer. */
LODCORE_INLINE int64_t pick_few_double(const Step *step, const double *pre_scores, const double *x, int64_t start,
                                       int64_t stop, int64_t *places)
{
    return -1;
}

/* -- both types of scores ------------------------------------------------------------------------------------------ */

#define CELLS "beam_cells.h"
#include "both_cells.h"

/* -- backtracking ---------------------------------------------------------------------------------------------------
 * */

/* Count the items on the path from an item back to the first step, without end tokens that are followed by another
 * item. The parent of an item has a lower number; the path ends at an item whose parent does not. */
LODCORE_INLINE int64_t measure_way(const int64_t *ids, const int64_t *parents, int64_t item, int64_t end_id)
{
    int64_t count = 0;
    for (;;) {
        count += count == 0 || read_once(ids + item) != end_id;
        int64_t before = read_once(parents + item);
        if (before < 0 || before >= item)
            return count;
        item = before;
    }
}

#endif
