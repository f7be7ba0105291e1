/* The step of a beam search; beam.h includes this once per type of scores. CELL is the type; OF_CELL(NAME) names
 * functions, BODY_OF_CELL(NAME) names bodies that are compiled twice. */

/* Insert a candidate into a beam of `count` entries with room for `most`, exactly as PaddlePaddle did. */
LODCORE_INLINE int64_t OF_CELL(insert)(CELL *scores, int64_t *places, int64_t count, int64_t most, CELL score,
                                       int64_t place)
{
#define BELOW(AT) (scores[AT] < score || (scores[AT] == score && PREFIX_OF(places[AT]) < PREFIX_OF(place)))
    int64_t at;
    if (count < most)
        count++;
    else if (score < scores[most - 1] ||
             (score == scores[most - 1] && PREFIX_OF(place) < PREFIX_OF(places[most - 1])))
        return count;
    for (at = count - 1; at > 0 && BELOW(at - 1); at--) {
        scores[at] = scores[at - 1];
        places[at] = places[at - 1];
    }
    scores[at] = score;
    places[at] = place;
    return count;
#undef BELOW
}

/* A wide beam. Its last `count` entries are a heap with the last entry of the beam, the worst, at its root; no
 * candidate passes the `sealed` ones before it, which end with nan. A nan that came when no other place was free is the
 * last entry until the next candidate replaces it. */
typedef struct {
    CELL *scores, odd_score;
    int64_t *places, sealed, count, most, odd_place;
    int odd;
} OF_CELL(Heap);

/* Return whether one entry comes after another; equal ones of one prefix are in the order of their columns. */
LODCORE_INLINE int OF_CELL(is_behind)(CELL score, int64_t place, CELL other_score, int64_t other)
{
    if (score != other_score)
        return score < other_score;
    return PREFIX_OF(place) != PREFIX_OF(other) ? place < other : place > other;
}

/* Put an entry in the place of the root, and restore the heap. */
static LODCORE_UNUSED void OF_CELL(sink)(CELL *scores, int64_t *places, int64_t count, CELL score, int64_t place)
{
    int64_t at = 0;
    for (int64_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count &&
            OF_CELL(is_behind)(scores[child + 1], places[child + 1], scores[child], places[child]))
            child++;
        if (!OF_CELL(is_behind)(scores[child], places[child], score, place))
            break;
        scores[at] = scores[child];
        places[at] = places[child];
        at = child;
    }
    scores[at] = score;
    places[at] = place;
}

/* Sort the heap, the best entry first. */
static LODCORE_UNUSED void OF_CELL(sort_heap)(CELL *scores, int64_t *places, int64_t count)
{
    for (int64_t last = count - 1; last > 0; last--) {
        const CELL score = scores[last];
        const int64_t place = places[last];
        scores[last] = scores[0];
        places[last] = places[0];
        OF_CELL(sink)(scores, places, last, score, place);
    }
}

/* Do what `insert` does. */
static LODCORE_UNUSED void OF_CELL(offer)(OF_CELL(Heap) *heap, CELL score, int64_t place)
{
    CELL *scores = heap->scores + heap->sealed;
    int64_t *places = heap->places + heap->sealed, free = heap->most - heap->sealed - heap->count - heap->odd;
    if (score != score && free > 1) {
        OF_CELL(sort_heap)(scores, places, heap->count);
        scores[heap->count] = score;
        places[heap->count] = place;
        heap->sealed += heap->count + 1;
        heap->count = 0;
    } else if (score != score) {
        if (free == 0 && !heap->odd) {
            heap->count--;
            OF_CELL(sink)(scores, places, heap->count, scores[heap->count], places[heap->count]);
        }
        heap->odd = 1;
        heap->odd_score = score;
        heap->odd_place = place;
    } else if (free > 0 || heap->odd) {
        int64_t at = heap->count++;
        for (; at > 0 && OF_CELL(is_behind)(score, place, scores[(at - 1) / 2], places[(at - 1) / 2]); at = (at - 1) / 2) {
            scores[at] = scores[(at - 1) / 2];
            places[at] = places[(at - 1) / 2];
        }
        scores[at] = score;
        places[at] = place;
        heap->odd = 0;
    } else if (score > scores[0] || (score == scores[0] && PREFIX_OF(place) >= PREFIX_OF(places[0]))) {
        OF_CELL(sink)(scores, places, heap->count, score, place);
    }
}

/* Fill a wide beam of one source. */
static LODCORE_UNUSED int64_t OF_CELL(fill_wide)(const Step *step, const CELL *pre_scores, const CELL *x, int64_t start,
                                                 int64_t stop, CELL *scores, int64_t *places)
{
    OF_CELL(Heap) heap = {.scores = scores, .places = places, .most = step->beam_size};
    for (int64_t p = start; p < stop; p++) {
        const int ended = step->pre_ids[p] == step->end_id;
        const CELL *row = ended ? pre_scores + p : x + p * step->columns;
        for (int64_t c = 0; c < (ended ? 1 : step->columns); c++)
            OF_CELL(offer)(&heap, row[c], PLACE_OF(p - start, c));
    }
    OF_CELL(sort_heap)(scores + heap.sealed, places + heap.sealed, heap.count);
    if (heap.odd) {
        scores[heap.sealed + heap.count] = heap.odd_score;
        places[heap.sealed + heap.count] = heap.odd_place;
    }
    return heap.sealed + heap.count + heap.odd;
}

/* Fill the beam of one source, entry by entry. */
LODCORE_INLINE int64_t OF_CELL(fill_beam)(const Step *step, const CELL *pre_scores, const CELL *x, int64_t start,
                                          int64_t stop, CELL *scores, int64_t *places)
{
    const int64_t most = step->beam_size;
    int64_t count = 0;
    for (int64_t p = start; p < stop; p++) {
        const CELL *row = x + p * step->columns;
        if (step->pre_ids[p] == step->end_id) {
            count = OF_CELL(insert)(scores, places, count, most, pre_scores[p], PLACE_OF(p - start, 0));
            continue;
        }
        int64_t c = 0;
        for (; c < step->columns && count < most; c++)
            count = OF_CELL(insert)(scores, places, count, most, row[c], PLACE_OF(p - start, c));
        for (; c + BLOCK_COLUMNS <= step->columns; c += BLOCK_COLUMNS) {
            const CELL worst = scores[most - 1];
            int passes = 0;
            for (int k = 0; k < BLOCK_COLUMNS; k++)
                passes |= !(row[c + k] < worst);
            if (passes)
                for (int k = 0; k < BLOCK_COLUMNS; k++)
                    OF_CELL(insert)(scores, places, most, most, row[c + k], PLACE_OF(p - start, c + k));
        }
        for (; c < step->columns; c++)
            OF_CELL(insert)(scores, places, most, most, row[c], PLACE_OF(p - start, c));
    }
    return count;
}

/* Write the continuations of a source, prefix by prefix, and return the number of all that are written. */
LODCORE_INLINE int64_t OF_CELL(write_beam)(const Step *step, const CELL *pre_scores, const CELL *x, int64_t start,
                                           int64_t stop, int64_t count, const int64_t *places, int64_t total,
                                           CELL *out_scores)
{
    int64_t *ends = step->out_offsets + 1;
    int open = 0;
    for (int64_t k = 0; k < count; k++)
        open |= step->pre_ids[start + PREFIX_OF(places[k])] != step->end_id;
    count = open ? count : 0;
    for (int64_t p = start; p < stop; p++)
        ends[p] = 0;
    for (int64_t k = 0; k < count; k++)
        ends[start + PREFIX_OF(places[k])]++;
    for (int64_t p = start; p < stop; p++)
        ends[p] = total += ends[p];
    for (int64_t k = count - 1; k >= 0; k--) {
        int64_t p = start + PREFIX_OF(places[k]), column = COLUMN_OF(places[k]), at = --ends[p];
        int ended = step->pre_ids[p] == step->end_id;
        int64_t from = p * step->columns + column;
        step->out_ids[at] = ended ? step->end_id : step->ids == NULL ? column : step->ids[from];
        step->out_parents[at] = (int32_t)p;
        out_scores[at] = ended ? pre_scores[p] : x[from];
    }
    for (int64_t p = start; p + 1 < stop; p++)
        ends[p] = ends[p + 1];
    if (start < stop)
        ends[stop - 1] = total;
    return total;
}


LODCORE_BODY BODY_OF_CELL(select)(const Step *step, const CELL *pre_scores, const CELL *x, CELL *scores,
                                  int64_t *places, CELL *out_scores, int64_t *total)
{
    *total = 0;
    for (int64_t s = 0; s < step->n_sources; s++) {
        int64_t start = step->offsets[s], stop = step->offsets[s + 1], count;
        count = OF_CELL(pick_few)(step, pre_scores, x, start, stop, places);
        if (count < 0 && step->beam_size > WIDE)
            count = OF_CELL(fill_wide)(step, pre_scores, x, start, stop, scores, places);
        else if (count < 0)
            count = OF_CELL(fill_beam)(step, pre_scores, x, start, stop, scores, places);
        *total = OF_CELL(write_beam)(step, pre_scores, x, start, stop, count, places, *total, out_scores);
    }
}

LODCORE_TWICE(OF_CELL(select),
              (const Step *step, const CELL *pre_scores, const CELL *x, CELL *scores, int64_t *places, CELL *out_scores,
               int64_t *total),
              (step, pre_scores, x, scores, places, out_scores, total))

/* Find the ends of each source: the items of its last step that has any, the best first, at most `beam_size` of them.
 * nan comes after all others, and equal items keep their order. `offsets` are those of the items, step by step and
 * source by source. */
static LODCORE_UNUSED int64_t OF_CELL(order_ends)(const CELL *scores, const int64_t *offsets, int64_t n_steps,
                                                  int64_t n_sources, int64_t beam_size, int64_t *spare, int64_t *ends,
                                                  int64_t *out_offsets)
{
    int64_t total = 0;
    out_offsets[0] = 0;
    for (int64_t s = 0; s < n_sources; s++) {
        const int64_t *bounds = offsets + (n_steps - 1) * n_sources + s;
        for (int64_t t = n_steps - 1; t > 0 && bounds[0] == bounds[1]; t--)
            bounds -= n_sources;
        int64_t count = bounds[1] - bounds[0], *from = ends + total, *to = spare;
        for (int64_t k = 0; k < count; k++)
            from[k] = bounds[0] + k;
#define COMES_FIRST(A, B) !(scores[B] > scores[A] || (scores[A] != scores[A] && scores[B] == scores[B]))
        for (int64_t size = 1; size < count; size *= 2) { /* merge sort is stable */
            for (int64_t left = 0; left < count; left += 2 * size) {
                int64_t middle = left + size < count ? left + size : count;
                int64_t stop = middle + size < count ? middle + size : count, a = left, b = middle;
                for (int64_t k = left; k < stop; k++)
                    to[k] = b == stop || (a < middle && COMES_FIRST(from[a], from[b])) ? from[a++] : from[b++];
            }
            int64_t *other = from;
            from = to;
            to = other;
        }
#undef COMES_FIRST
        count = count < beam_size ? count : beam_size;
        if (from == spare)
            for (int64_t k = 0; k < count; k++)
                ends[total + k] = spare[k];
        out_offsets[s + 1] = total += count;
    }
    return total;
}

/* Write the items of each path, starting from the first step; `scores` and `out_scores` may be NULL. */
static LODCORE_UNUSED void OF_CELL(write_ways)(const int64_t *ids, const CELL *scores, const int64_t *parents,
                                               const int64_t *ends, const int64_t *offsets, int64_t n_ends,
                                               int64_t end_id, int64_t *out_ids, CELL *out_scores)
{
    for (int64_t k = 0; k < n_ends; k++) {
        int64_t item = ends[k], at = offsets[k + 1];
        while (item >= 0 && at > offsets[k]) {
            int64_t id = read_once(ids + item);
            if (at == offsets[k + 1] || id != end_id) {
                out_ids[--at] = id;
                if (out_scores != NULL)
                    out_scores[at] = scores[item];
            }
            item = read_once(parents + item);
        }
    }
}
