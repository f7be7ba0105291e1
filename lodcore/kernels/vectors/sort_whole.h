/* Many cells are sorted by NumPy, which uses the widest registers available, and rows are sorted by their keys with
 * the same functions; sort.h includes this, and sort.pyx looks the functions up. */

typedef int (*numpy_sort)(void *start, Py_ssize_t count, void *array);

static LODCORE_UNUSED struct {
    numpy_sort sort; /* NULL for short cells: sorting them as keys is faster */
    void *array;     /* an array of the dtype to sort */
} sorts[KINDS];

LODCORE_INLINE void sort_whole(int kind, void *cells, int64_t count)
{
    sorts[kind].sort(cells, (Py_ssize_t)count, sorts[kind].array);
}

/* Sort a column and write its first cells; zeros and nans are in any order. `spare` has room for the column. */
#define LODCORE_SORT_COLUMN(CELL)                                                                         \
    {                                                                                                     \
        CELL *cells = step == sizeof(CELL) && count == length && (uintptr_t)to % sizeof(CELL) == 0        \
                          ? (CELL *)to : (CELL *)spare;                                                   \
        if (step == sizeof(CELL))                                                                         \
            memcpy(cells, x, (size_t)length * sizeof(CELL));                                              \
        else                                                                                              \
            for (int64_t r = 0; r < length; r++)                                                          \
                memcpy(cells + r, x + r * step, sizeof(CELL));                                            \
        sort_whole(kind, cells, length);                                                                  \
        if (descending)                                                                                   \
            for (int64_t low = 0, high = length - 1; low < high; low++, high--) {                         \
                CELL cell = cells[low];                                                                   \
                cells[low] = cells[high];                                                                 \
                cells[high] = cell;                                                                       \
            }                                                                                             \
        if ((char *)cells != to)                                                                          \
            for (int64_t r = 0; r < count; r++)                                                           \
                memcpy(to + r * step, cells + r, sizeof(CELL));                                           \
    }

static void sort_column(const char *x, int64_t length, int64_t count, int64_t step, int kind, int descending,
                        char *spare, char *to)
{
    if (size_of_cell(kind) == 4)
        LODCORE_SORT_COLUMN(uint32_t)
    else
        LODCORE_SORT_COLUMN(uint64_t)
}

/* Sort the rows by their keys; `packed` has room for as many numbers. */
LODCORE_BODY pack_with_rows_body(const int32_t *keys, int64_t length, int64_t *packed)
{
    for (int64_t r = 0; r < length; r++)
        packed[r] = (int64_t)((uint64_t)(uint32_t)keys[r] << 32 | (uint64_t)r);
}
LODCORE_THRICE(pack_with_rows, (const int32_t *keys, int64_t length, int64_t *packed), (keys, length, packed))

static void order_rows_by_32(const int32_t *keys, int64_t length, int64_t *packed, int64_t *order)
{
    (void)packed;
    pack_with_rows(keys, length, order);
    sort_whole(CELL_INT64, order, length);
    for (int64_t r = 0; r < length; r++)
        order[r] &= UINT32_MAX;
}

LODCORE_INLINE int bits_of(uint64_t number)
{
    int bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

/* Find the least and the greatest key. */
LODCORE_BODY find_ends_body(const int64_t *keys, int64_t count, int64_t *low, int64_t *high)
{
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int64_t k = 0; k < count; k++) {
        least = keys[k] < least ? keys[k] : least;
        greatest = keys[k] > greatest ? keys[k] : greatest;
    }
    *low = least;
    *high = greatest;
}
LODCORE_THRICE(find_ends, (const int64_t *keys, int64_t count, int64_t *low, int64_t *high), (keys, count, low, high))

/* Combine each key, counted from the least key and without its last bits, with its position. */
LODCORE_BODY pack_body(const int64_t *keys, int64_t count, int64_t low, int lost, int bits, int64_t *packed)
{
    for (int64_t k = 0; k < count; k++) {
        uint64_t key = (uint64_t)keys[k] - (uint64_t)low;
        packed[k] = (int64_t)((key >> lost << bits | (uint64_t)k) ^ (uint64_t)1 << 63);
    }
}
LODCORE_THRICE(pack, (const int64_t *keys, int64_t count, int64_t low, int lost, int bits, int64_t *packed),
               (keys, count, low, lost, bits, packed))

/* Sort keys with their positions; return the number of bits of a position, and of the bits of a key that were omitted.
 * */
static int sort_packed(const int64_t *keys, int64_t count, int64_t *packed, int *lost)
{
    int64_t low, high;
    find_ends(keys, count, &low, &high);
    int bits = bits_of((uint64_t)count - 1), over = bits_of((uint64_t)high - (uint64_t)low) + bits - 64;
    *lost = over > 0 ? over : 0;
    pack(keys, count, low, *lost, bits, packed);
    sort_whole(CELL_INT64, packed, count);
    return bits;
}

/* Sort the rows by their keys. Keys that differ only in the omitted bits differ in so few bits that these fit beside
 * the position of a row. */
static void order_rows_by_64(const int64_t *keys, int64_t length, int64_t *packed, int64_t *order)
{
    int lost;
    const int bits = sort_packed(keys, length, packed, &lost);
    const int64_t places = ((int64_t)1 << bits) - 1;
    for (int64_t r = 0; r < length; r++)
        order[r] = packed[r] & places;
    if (lost == 0)
        return;
    for (int64_t first = 0, stop; first < length; first = stop) {
        int in_order = 1;
        for (stop = first + 1; stop < length && packed[stop] >> bits == packed[first] >> bits; stop++)
            in_order &= keys[order[stop - 1]] <= keys[order[stop]];
        if (in_order)
            continue;
        for (int64_t k = first; k < stop; k++)
            packed[k] = keys[order[k]];
        int some = sort_packed(packed + first, stop - first, packed + first, &lost);
        for (int64_t k = first; k < stop; k++)
            packed[k] = order[first + (packed[k] & (((int64_t)1 << some) - 1))];
        memcpy(order + first, packed + first, (size_t)(stop - first) * sizeof *order);
    }
}
