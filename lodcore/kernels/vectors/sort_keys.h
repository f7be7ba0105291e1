/* Sorting by keys of one size; sort.h includes this once per size. KEY is the type of keys, UNSIGNED the unsigned type
 * of its size, KEY_LANES the number of keys in 64 bytes; OF_KEY(NAME), OF_AVX2(NAME) and OF_AVX512(NAME) name
 * functions. */

/* Convert the bits of a float to a key: for negative numbers the order of the bits is reversed. The key of -0 would be
 * -1, which no other number has; nan becomes the greatest key. */
LODCORE_INLINE KEY OF_KEY(key_of_float)(KEY bits, KEY highest, KEY infinite)
{
    KEY key = bits ^ (bits < 0 ? highest : 0), is_nan = -(KEY)((bits & highest) > infinite);
    key += key == -1;
    return (key & ~is_nan) | (highest & is_nan);
}

#define LOAD_KEYS_BY(STEP, CELL, KEY_OF_CELL)                                                         \
    for (int64_t r = 0; r < length; r++) {                                                            \
        CELL cell;                                                                                    \
        memcpy(&cell, x + r * (STEP), sizeof cell);                                                   \
        keys[r] = (KEY)(KEY_OF_CELL) ^ flip;                                                          \
    }
#define LOAD_KEYS(CELL, KEY_OF_CELL)                                                                  \
    if (beside) /* a constant step, for which the compiler uses vectors */                            \
        LOAD_KEYS_BY((int64_t)sizeof(CELL), CELL, KEY_OF_CELL)                                        \
    else                                                                                              \
        LOAD_KEYS_BY(step, CELL, KEY_OF_CELL)                                                         \
    break;

LODCORE_INLINE void OF_KEY(load_keys)(const char *x, int64_t length, int64_t step, int kind, KEY flip, KEY *keys)
{
    const int beside = step == size_of_cell(kind);
    const KEY lowest = (KEY)((UNSIGNED)1 << (8 * sizeof(KEY) - 1));
    switch (kind) {
    case CELL_UINT8: LOAD_KEYS(uint8_t, cell)
    case CELL_UINT16: LOAD_KEYS(uint16_t, cell)
    case CELL_UINT32: LOAD_KEYS(uint32_t, sizeof(KEY) == 4 ? (KEY)cell ^ lowest : (KEY)cell)
    case CELL_INT8: LOAD_KEYS(int8_t, cell)
    case CELL_INT16: LOAD_KEYS(int16_t, cell)
    case CELL_INT32: LOAD_KEYS(int32_t, cell)
    case CELL_HALF: LOAD_KEYS(int16_t, OF_KEY(key_of_float)(cell, INT16_MAX, 0x7c00))
    case CELL_FLOAT: LOAD_KEYS(int32_t, OF_KEY(key_of_float)(cell, INT32_MAX, 0x7f800000))
#if KEY_LANES == 8
    case CELL_UINT64: LOAD_KEYS(uint64_t, (KEY)cell ^ lowest)
    case CELL_INT64: LOAD_KEYS(int64_t, cell)
    case CELL_DOUBLE: LOAD_KEYS(int64_t, OF_KEY(key_of_float)(cell, INT64_MAX, 0x7ff0000000000000))
#endif
    }
}

/* Select the rows of the `count` least keys, in order: each is inserted among those found so far. */
LODCORE_INLINE void OF_KEY(pick)(const KEY *keys, int64_t length, int64_t count, int64_t *order)
{
    KEY found[PICKED];
    int64_t have = 0;
    for (int64_t r = 0; r < length; r++) {
        KEY key = keys[r];
        if (have == count && key >= found[count - 1])
            continue;
        int64_t k = have < count ? have++ : count - 1;
        for (; k > 0 && found[k - 1] > key; k--) {
            found[k] = found[k - 1];
            order[k] = order[k - 1];
        }
        found[k] = key;
        order[k] = r;
    }
}

#define WRITE_KEYS(CELL, CELL_OF_KEY)                                                                 \
    for (int64_t r = 0; r < count; r++) {                                                             \
        KEY key = sorted[r] ^ flip;                                                                   \
        CELL cell = (CELL)(CELL_OF_KEY);                                                              \
        memcpy(to + r * step, &cell, sizeof cell);                                                    \
    }                                                                                                 \
    break;

/* Convert keys to cells: the inverse of `load_keys`. */
LODCORE_INLINE void OF_KEY(write_keys)(const KEY *sorted, int64_t count, int64_t step, int kind, KEY flip, char *to)
{
    const KEY lowest = (KEY)((UNSIGNED)1 << (8 * sizeof(KEY) - 1));
    switch (kind) {
    case CELL_UINT8:
    case CELL_INT8: WRITE_KEYS(int8_t, key)
    case CELL_UINT16:
    case CELL_INT16: WRITE_KEYS(int16_t, key)
    case CELL_UINT32: WRITE_KEYS(uint32_t, sizeof(KEY) == 4 ? key ^ lowest : key)
    case CELL_INT32: WRITE_KEYS(int32_t, key)
    case CELL_HALF: WRITE_KEYS(int16_t, key < 0 ? key ^ INT16_MAX : key)
    case CELL_FLOAT: WRITE_KEYS(int32_t, key < 0 ? key ^ INT32_MAX : key)
#if KEY_LANES == 8
    case CELL_UINT64: WRITE_KEYS(uint64_t, key ^ lowest)
    case CELL_INT64: WRITE_KEYS(int64_t, key)
    case CELL_DOUBLE: WRITE_KEYS(int64_t, key < 0 ? key ^ INT64_MAX : key)
#endif
    }
}

LODCORE_BODY BODY_OF_KEY(take_keys)(const char *x, int64_t length, int64_t step, int kind, KEY flip, KEY *keys)
{
    OF_KEY(load_keys)(x, length, step, kind, flip, keys);
}
LODCORE_THRICE(OF_KEY(take_keys), (const char *x, int64_t length, int64_t step, int kind, KEY flip, KEY *keys),
               (x, length, step, kind, flip, keys))

/* Cells with equal keys, zeros or nans, may differ: write them to their sorted positions in the order of their rows.
 * */
static void OF_KEY(put_alike)(const char *x, int64_t length, int64_t step, int kind, KEY flip, KEY alike, int64_t count,
                              char *to)
{
    KEY some[ALIKE];
    int64_t at = 0;
    for (int64_t end = count; at < end;) {
        int64_t middle = at + (end - at) / 2;
        OF_KEY(take_keys)(to + middle * step, 1, step, kind, flip, some);
        if (some[0] < (alike ^ flip))
            at = middle + 1;
        else
            end = middle;
    }
    if (at < count)
        OF_KEY(take_keys)(to + at * step, 1, step, kind, flip, some);
    if (at == count || some[0] != (alike ^ flip))
        return;
    for (int64_t r = 0; r < length; r += ALIKE) {
        int64_t here = length - r < ALIKE ? length - r : ALIKE;
        OF_KEY(take_keys)(x + r * step, here, step, kind, flip, some);
        for (int64_t k = 0; k < here; k++)
            if (some[k] == (alike ^ flip) && at < count)
                memcpy(to + at++ * step, x + (r + k) * step, (size_t)size_of_cell(kind));
    }
}

/* Sort a column, and keep its first cells, without their rows. */
static void OF_KEY(sort_alone)(const char *x, int64_t length, int64_t count, int64_t step, int kind, int descending,
                               KEY *keys, char *to)
{
    const KEY flip = descending ? -1 : 0;
    const KEY highest = kind == CELL_HALF ? INT16_MAX : kind == CELL_FLOAT ? INT32_MAX : (KEY)INT64_MAX;
    if (sorts[kind].sort != NULL) {
        sort_column(x, length, count, step, kind, descending, (char *)keys, to);
    } else {
        OF_KEY(take_keys)(x, length, step, kind, flip, keys);
        sort_whole(sizeof(KEY) == 4 ? CELL_INT32 : CELL_INT64, keys, length);
        OF_KEY(write_keys)(keys, count, step, kind, flip, to);
    }
    if (kind == CELL_HALF || kind == CELL_FLOAT || kind == CELL_DOUBLE) {
        OF_KEY(put_alike)(x, length, step, kind, flip, 0, count, to);
        OF_KEY(put_alike)(x, length, step, kind, flip, highest, count, to);
    }
}

/* Write cells of `size` bytes, and their rows if needed. */
#define WRITE_CELLS(SIZE, ROW)                                                                        \
    case SIZE:                                                                                        \
        for (int64_t r = 0; r < count; r++)                                                           \
            memcpy(to + r * step, from + (int64_t)(ROW)*step, SIZE);                                  \
        break;
#define WRITE(ROW)                                                                                    \
    switch (size) {                                                                                   \
        WRITE_CELLS(1, ROW)                                                                           \
        WRITE_CELLS(2, ROW)                                                                           \
        WRITE_CELLS(4, ROW)                                                                           \
        WRITE_CELLS(8, ROW)                                                                           \
    }                                                                                                 \
    for (int64_t r = 0; rows != NULL && r < count; r++)                                               \
        rows[r * width] = (int64_t)(ROW);

#define WRITE_LINE(SIZE)                                                                              \
    case SIZE:                                                                                        \
        for (int64_t c = 0; c < columns; c++)                                                         \
            memcpy(place + c * SIZE, from + (taken[c] & UINT32_MAX) * step + c * SIZE, SIZE);         \
        break;

/* Sort some columns of a sequence, at most LINE, side by side: `lines` has room for them and their rows. */
LODCORE_BODY BODY_OF_KEY(sort_beside)(const char *from, int kind, int64_t length, int64_t count, int64_t width,
                                      int64_t columns, KEY flip, char *to, int64_t *rows, int64_t *lines)
{
    const int64_t size = size_of_cell(kind), step = size * width, line = KEY_LANES == 8 ? 2 * LINE : LINE;
    KEY keys[LINE] = {0};
    for (int64_t r = 0; r < length; r++) {
        int64_t *here = lines + r * line;
        OF_KEY(load_keys)(from + r * step, columns, size, kind, flip, keys);
        for (int c = 0; c < LINE; c++) {
            here[c] = KEY_LANES == 8 ? (int64_t)keys[c] : (int64_t)((uint64_t)keys[c] << 32 | (uint64_t)r);
            here[c + line - LINE] = KEY_LANES == 8 ? r : here[c];
        }
    }
    sort_lines(lines, length, line);
    for (int64_t r = 0; r < count; r++) {
        const int64_t *taken = lines + r * line + line - LINE;
        char *place = to + r * step;
        switch (size) {
            WRITE_LINE(1)
            WRITE_LINE(2)
            WRITE_LINE(4)
            WRITE_LINE(8)
        }
        for (int64_t c = 0; rows != NULL && c < columns; c++)
            rows[r * width + c] = taken[c] & UINT32_MAX;
    }
}

LODCORE_THRICE(OF_KEY(sort_beside),
               (const char *from, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, KEY flip,
                char *to, int64_t *rows, int64_t *lines),
               (from, kind, length, count, width, columns, flip, to, rows, lines))

/* Sort every column of every sequence; `space` has room for two integers and a key per row of the longest sequence. */
static void OF_KEY(sort_cells)(const char *x, int kind, const int64_t *offsets, const int64_t *kept, int64_t n_seqs,
                               int64_t width, int descending, char *out, int64_t *positions, void *space,
                               int64_t longest, int64_t *lines)
{
    KEY few[RANKED + KEY_LANES] = {0}, flip = descending ? -1 : 0;
    int64_t order[RANKED], *packed = space, *places = space == NULL ? NULL : packed + longest;
    const int64_t size = size_of_cell(kind), step = size * width;
    void (*rank)(const KEY *, int, int64_t *) = OF_KEY(rank);
#if LODCORE_HAS_SIMD
    if (simd_level() == SIMD_AVX512)
        rank = OF_AVX512(rank);
    else if (simd_level() == SIMD_AVX2)
        rank = OF_AVX2(rank);
#endif
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s], count = kept[s + 1] - kept[s];
        if (length == 1 && count == 1) { /* copy a run of sequences of one row */
            int64_t first = s;
            while (s + 1 < n_seqs && offsets[s + 2] - offsets[s + 1] == 1 && kept[s + 2] - kept[s + 1] == 1)
                s++;
            memcpy(out + kept[first] * step, x + offsets[first] * step, (size_t)((s + 1 - first) * step));
            if (positions != NULL)
                memset(positions + kept[first] * width, 0, (size_t)((s + 1 - first) * width) * sizeof *positions);
            continue;
        }
        KEY *keys = length <= RANKED ? few : (KEY *)(places + longest);
        int64_t beside = length <= LINES_SORTED && width >= LEAST_COLUMNS ? width : 0;
        for (int64_t c = 0; c < beside && count > 0; c += LINE)
            OF_KEY(sort_beside)(x + offsets[s] * step + c * size, kind, length, count, width,
                                width - c < LINE ? width - c : LINE, flip, out + kept[s] * step + c * size,
                                positions == NULL ? NULL : positions + kept[s] * width + c, lines);
        if (beside)
            continue;
        for (int64_t c = 0; c < width && count > 0; c++) {
            const char *from = x + offsets[s] * step + c * size;
            char *to = out + kept[s] * step + c * size;
            int64_t *rows = positions == NULL ? NULL : positions + kept[s] * width + c;
            if (rows == NULL && length > ALONE && count > PICKED) {
                OF_KEY(sort_alone)(from, length, count, step, kind, descending, (KEY *)(places + longest), to);
                continue;
            }
            OF_KEY(take_keys)(from, length, step, kind, flip, keys);
            if (length <= RANKED || count <= PICKED) {
                if (length <= RANKED)
                    rank(keys, (int)length, order);
                else
                    OF_KEY(pick)(keys, length, count, order);
                WRITE(order[r])
            } else {
                OF_KEY(order_rows)(keys, length, packed, places);
                WRITE(places[r])
            }
        }
    }
}

#undef LOAD_KEYS_BY
#undef LOAD_KEYS
#undef WRITE_KEYS
#undef WRITE_CELLS
#undef WRITE_LINE
#undef WRITE
