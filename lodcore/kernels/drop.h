/* Removal of the rows that are tokens, for one size of rows. This is included once per size, with UINT and NAME(base,
 * part) defined. */

/* Set keep[i] to whether x[i] is not a token. */
LODCORE_BODY NAME(mark, _body)(const UINT *restrict x, int64_t count, const token_set *restrict set,
                               uint8_t *restrict keep)
{
    if (set->count <= FEW) {
        const UINT a = (UINT)set->few[0], b = (UINT)set->few[1], c = (UINT)set->few[2], d = (UINT)set->few[3];
        for (int64_t i = 0; i < count; i++)
            keep[i] = (x[i] != a) & (x[i] != b) & (x[i] != c) & (x[i] != d);
    } else if (set->bits != NULL) {
        const uint64_t low = set->sorted[0], range = set->range;
        const uint8_t *bits = set->bits;
        for (int64_t i = 0; i < count; i++) {
            uint64_t place = (uint64_t)x[i] - low;
            place = place <= range ? place : range + 1; /* the bit after the last one is 0 */
            keep[i] = !(bits[place >> 3] >> (place & 7) & 1);
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            const uint64_t *at = set->sorted;
            for (int64_t rest = set->count; rest > 1; rest -= rest / 2)
                at = at[rest / 2] <= x[i] ? at + rest / 2 : at;
            keep[i] = *at != x[i];
        }
    }
}
LODCORE_THRICE(NAME(mark, ), (const UINT *x, int64_t count, const token_set *set, uint8_t *keep),
                  (x, count, set, keep))

/* Copy the rows that are kept, and write the number of kept rows before each row, without branches on the data. */
static LODCORE_UNUSED int64_t NAME(keep, )(const UINT *restrict x, int64_t count, const uint8_t *restrict keep,
                                           UINT *restrict out, int32_t *restrict place)
{
    int32_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        place[i] = kept;
        out[kept] = x[i];
        kept += keep[i];
    }
    return kept;
}

static LODCORE_UNUSED void NAME(drop, )(const UINT *x, const int64_t *offsets, int64_t n_seqs, const token_set *set,
                                        UINT *out, int64_t *out_offsets)
{
    uint8_t keep[SOME_ROWS];
    int32_t place[SOME_ROWS];
    int64_t n_rows = offsets[n_seqs], kept = 0, s = 0;
    for (int64_t first = 0; first < n_rows; first += SOME_ROWS) {
        int64_t count = n_rows - first < SOME_ROWS ? n_rows - first : SOME_ROWS;
        NAME(mark, )(x + first, count, set, keep);
        int64_t more = NAME(keep, )(x + first, count, keep, out + kept, place);
        for (; offsets[s] < first + count; s++)
            out_offsets[s] = kept + place[offsets[s] - first];
        kept += more;
    }
    for (; s <= n_seqs; s++)
        out_offsets[s] = kept;
}

#undef UINT
#undef NAME
