/* Arithmetic on rows of a table for one type of cells: embedding.h includes this once per type, see pool_cells.h. */
#define LANES (256 / (int)sizeof(CELL))

/* Compute out[index[j]] += rows[j] in this order, starting from zeros. */
static int64_t OF_CELL(add_rows)(const CELL *rows, const int64_t *index, int64_t count, int64_t height, int64_t width,
                                 CELL *out)
{
    memset(out, 0, (size_t)(height * width) * sizeof(CELL));
    for (int64_t j = 0; j < count; j++, rows += width) {
        int64_t row = read_once(index + j);
        if (j + AHEAD < count)
            prefetch_cells(out, index[j + AHEAD], width * (int64_t)sizeof(CELL), width * (int64_t)sizeof(CELL));
        if ((uint64_t)row >= (uint64_t)height)
            return j;
        for (int64_t c = 0; c < width; c++)
            out[row * width + c] += rows[c];
    }
    return -1;
}

/* Gather the cells of a table of one column. */
LODCORE_INLINE int64_t OF_CELL(gather_cells)(const CELL *table, int64_t n_rows, const int64_t *index, int64_t count,
                                             CELL *cells)
{
    for (int64_t j = 0; j < count; j++) {
        int64_t row = read_once(index + j);
        if ((uint64_t)row >= (uint64_t)n_rows)
            return j;
        cells[j] = table[row];
    }
    return -1;
}

/* Pool one bag of rows of one cell that is longer than the number gathered at a time. */
static int64_t OF_CELL(pool_long_bag)(const CELL *table, int64_t n_rows, const int64_t *index, int64_t count,
                                      int verb, CELL *out)
{
    CELL cells[GATHERED], lane[LANES] = {0}, best = 0;
    for (int64_t done = 0; done < count; done += GATHERED) { /* a multiple of the lanes */
        int64_t size = count - done < GATHERED ? count - done : GATHERED;
        int64_t bad = OF_CELL(gather_cells)(table, n_rows, index + done, size, cells);
        if (bad >= 0)
            return done + bad;
        for (int64_t k = 0; verb == SUM && k < size; k++)
            lane[k % LANES] += cells[k];
        if (verb != SUM && done == 0)
            best = OF_CELL(best_cell)(cells, size, verb);
        else if (verb != SUM)
            best = OF_CELL(fold)(best, OF_CELL(best_cell)(cells, size, verb), verb);
    }
    *out = verb == SUM ? OF_CELL(sum_few)(lane, LANES, LANES) : best;
    return -1;
}

/* Pool bags of rows of one cell: gather the cells, then pool them as rows. */
static int64_t OF_CELL(pool_cell_bags)(const CELL *table, int64_t n_rows, const int64_t *index,
                                       const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out)
{
    CELL cells[GATHERED];
    int64_t ends[BLOCK + 1], bad = -1;
    for (int64_t s = 0, end; bad < 0 && s < n_seqs; s = end) {
        int64_t start = offsets[s], length = offsets[s + 1] - start;
        for (end = s + 1; end < n_seqs && end - s < BLOCK && offsets[end + 1] - start <= GATHERED;)
            end++;
        if (length > GATHERED) {
            bad = OF_CELL(pool_long_bag)(table, n_rows, index + start, length, verb, out + s);
            OF_CELL(divide_cells)(out + s, 1, length, divide);
        } else {
            for (int64_t k = s; k <= end; k++)
                ends[k - s] = offsets[k] - start;
            bad = OF_CELL(gather_cells)(table, n_rows, index + start, ends[end - s], cells);
            OF_CELL(pool_rows)(cells, ends, end - s, 1, verb, divide, out + s);
        }
        if (bad >= 0)
            bad += start;
    }
    return bad;
}

/* Find the greatest or least of `count` columns of one bag, row by row; a constant count keeps them in registers. */
LODCORE_INLINE int64_t OF_CELL(best_of_bag)(const CELL *restrict table, int64_t n_rows, int64_t width,
                                            const int64_t *index, int64_t start, int64_t end, int64_t total,
                                            int64_t count, int verb, CELL *restrict cells)
{
    for (int64_t c = 0; c < count; c++)
        cells[c] = 0;
    for (int64_t j = start; j < end; j++) {
        int64_t row = read_once(index + j);
        if (j + ROWS_AHEAD < total)
            prefetch_cells(table, index[j + ROWS_AHEAD], width * (int64_t)sizeof(CELL), count * (int64_t)sizeof(CELL));
        if ((uint64_t)row >= (uint64_t)n_rows)
            return j;
        for (int64_t c = 0; c < count; c++)
            cells[c] = j == start ? table[row * width + c] : OF_CELL(fold)(cells[c], table[row * width + c], verb);
    }
    return -1;
}

/* Find them in bags of rows of several cells, as many columns at a time as there are lanes. */
LODCORE_BODY OF_CELL(best_of_bags)(const CELL *restrict table, int64_t n_rows, int64_t width, const int64_t *index,
                                   const int64_t *offsets, int64_t n_seqs, int verb, CELL *restrict out, int64_t *bad)
{
    for (int64_t s = 0; *bad < 0 && s < n_seqs; s++, out += width) {
        int64_t start = offsets[s], end = offsets[s + 1], total = offsets[n_seqs], c = 0;
        for (; *bad < 0 && c + LANES <= width; c += LANES) {
            CELL cells[LANES];
            *bad = OF_CELL(best_of_bag)(table + c, n_rows, width, index, start, end, total, LANES, verb, cells);
            for (int k = 0; k < LANES; k++)
                out[c + k] = cells[k];
        }
        if (*bad < 0 && c < width)
            *bad = OF_CELL(best_of_bag)(table + c, n_rows, width, index, start, end, total, width - c, verb, out + c);
    }
}

/* Sum `count` parts of the rows of one bag, row by row, each times its weight if there are any. A part is a vector: of
 * arrays of 8 or 16 cells, compilers make single cells, and larger ones they clear by "rep stos", which takes 20 ns. */
#define SUM_BAG(NAME, PART)                                                                                            \
    LODCORE_INLINE int64_t NAME(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,                \
                                const CELL *weights, int64_t start, int64_t end, int64_t total, int64_t lines,         \
                                int count, CELL *out)                                                                  \
    {                                                                                                                  \
        PART sums[PARTS];                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            sums[k] = (PART){0};                                                                                       \
        for (int64_t j = start; j < end; j++) {                                                                        \
            int64_t row = read_once(index + j);                                                                        \
            if (j + ROWS_AHEAD < total)                                                                                \
                prefetch_lines(table, index[j + ROWS_AHEAD], width * (int64_t)sizeof(CELL), lines);                    \
            if ((uint64_t)row >= (uint64_t)n_rows)                                                                     \
                return j;                                                                                              \
            const PART *from = (const PART *)(table + row * width);                                                    \
            for (int k = 0; k < count; k++)                                                                            \
                if (weights != NULL)                                                                                   \
                    sums[k] += weights[j] * from[k];                                                                   \
                else                                                                                                   \
                    sums[k] += from[k];                                                                                \
        }                                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            ((PART *)out)[k] = sums[k];                                                                                \
        return -1;                                                                                                     \
    }
#if defined(__GNUC__)
typedef CELL OF_CELL(long_part) __attribute__((vector_size(LONG_PART), aligned(sizeof(CELL)), may_alias));
typedef CELL OF_CELL(short_part) __attribute__((vector_size(LONG_PART / 2), aligned(sizeof(CELL)), may_alias));
SUM_BAG(OF_CELL(sum_long_parts), OF_CELL(long_part))
SUM_BAG(OF_CELL(sum_short_parts), OF_CELL(short_part))
#endif
SUM_BAG(OF_CELL(sum_cells), CELL)
#undef SUM_BAG

/* Sum bags of rows of several cells, in blocks of columns; where a block does not fit, the last one overlaps the one
 * before, rather than being cut into several. The first block of a bag prefetches for all. */
LODCORE_BODY OF_CELL(sum_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                               const int64_t *offsets, int64_t n_seqs, const CELL *weights, int divide, CELL *out,
                               int64_t *bad)
{
    enum { LONG_CELLS = LONG_PART / sizeof(CELL), MOST = PARTS_ARE_VECTORS ? PARTS * LONG_CELLS : 2 };
    int64_t lines = lines_of(table, width * (int64_t)sizeof(CELL));
    for (int64_t s = 0; *bad < 0 && s < n_seqs; s++, out += width) {
        for (int64_t c = 0, block; *bad < 0 && c < width; c += block) {
            for (block = MOST; block > width - c;)
                block /= 2;
            if (block < MOST && block < width - c && 2 * block <= width) {
                block *= 2;
                c = width - block;
            }
            int64_t ahead = c == 0 ? lines : 0;
#define BY(PARTS_OF, COUNT, LINES_AHEAD)                                                                               \
    *bad = OF_CELL(PARTS_OF)(table + c, n_rows, width, index, weights, offsets[s], offsets[s + 1], offsets[n_seqs],    \
                             LINES_AHEAD, COUNT, out + c)
#if defined(__GNUC__)
            if (block == 8 * LONG_CELLS)
                BY(sum_long_parts, 8, ahead);
            else if (block == 4 * LONG_CELLS)
                BY(sum_long_parts, 4, ahead);
            else if (block == 2 * LONG_CELLS)
                BY(sum_long_parts, 2, 1);
            else if (block == LONG_CELLS)
                BY(sum_long_parts, 1, 1);
            else if (block == LONG_CELLS / 2)
                BY(sum_short_parts, 1, 1);
            else
#endif
                if (block == 2)
                BY(sum_cells, 2, 1);
            else
                BY(sum_cells, 1, 1);
#undef BY
        }
        OF_CELL(divide_cells)(out, width, offsets[s + 1] - offsets[s], divide);
    }
}

LODCORE_BODY BODY_OF_CELL(pool_wide_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                          const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out,
                                          int64_t *bad)
{
    if (verb == SUM)
        OF_CELL(sum_bags)(table, n_rows, width, index, offsets, n_seqs, NULL, divide, out, bad);
    else if (verb == GREATEST)
        OF_CELL(best_of_bags)(table, n_rows, width, index, offsets, n_seqs, GREATEST, out, bad);
    else
        OF_CELL(best_of_bags)(table, n_rows, width, index, offsets, n_seqs, LEAST, out, bad);
}
LODCORE_THRICE(OF_CELL(pool_wide_bags),
              (const CELL *table, int64_t n_rows, int64_t width, const int64_t *index, const int64_t *offsets,
               int64_t n_seqs, int verb, int divide, CELL *out, int64_t *bad),
              (table, n_rows, width, index, offsets, n_seqs, verb, divide, out, bad))

static int64_t OF_CELL(pool_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                  const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out)
{
    int64_t bad = -1;
    if (width == 1)
        bad = OF_CELL(pool_cell_bags)(table, n_rows, index, offsets, n_seqs, verb, divide, out);
    else
        OF_CELL(pool_wide_bags)(table, n_rows, width, index, offsets, n_seqs, verb, divide, out, &bad);
    return bad;
}

/* Sum bags of weighted rows: each cell is one sum, in the order of the bag. */
LODCORE_BODY BODY_OF_CELL(weigh_wide_bags)(const CELL *restrict table, int64_t n_rows, int64_t width,
                                           const int64_t *index, const int64_t *offsets, int64_t n_seqs,
                                           const CELL *weights, CELL *restrict out, int64_t *bad)
{
    OF_CELL(sum_bags)(table, n_rows, width, index, offsets, n_seqs, weights, BY_ONE, out, bad);
}
LODCORE_THRICE(OF_CELL(weigh_wide_bags),
              (const CELL *table, int64_t n_rows, int64_t width, const int64_t *index, const int64_t *offsets,
               int64_t n_seqs, const CELL *weights, CELL *out, int64_t *bad),
              (table, n_rows, width, index, offsets, n_seqs, weights, out, bad))

static int64_t OF_CELL(weigh_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                   const int64_t *offsets, int64_t n_seqs, const CELL *weights, CELL *out)
{
    int64_t bad = -1;
    OF_CELL(weigh_wide_bags)(table, n_rows, width, index, offsets, n_seqs, weights, out, &bad);
    return bad;
}

/* Compute out[j] = sum of table[index[j]] * rows[s], for each position j of bag s. */
static int64_t OF_CELL(product_with_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                          const int64_t *offsets, int64_t n_seqs, const CELL *rows, CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++, rows += width)
        for (int64_t j = offsets[s]; j < offsets[s + 1]; j++) {
            int64_t row = read_once(index + j);
            CELL lane[LANES / 4] = {0}, total = 0;
            if (j + AHEAD < offsets[n_seqs])
                prefetch_cells(table, index[j + AHEAD], width * (int64_t)sizeof(CELL), width * (int64_t)sizeof(CELL));
            if ((uint64_t)row >= (uint64_t)n_rows)
                return j;
            const CELL *cells = table + row * width;
            int64_t c = 0;
            for (; c + LANES / 4 <= width; c += LANES / 4)
                for (int k = 0; k < LANES / 4; k++)
                    lane[k] += cells[c + k] * rows[c + k];
            for (; c < width; c++)
                lane[c % (LANES / 4)] += cells[c] * rows[c];
            for (int k = 0; k < LANES / 4; k++)
                total += lane[k];
            out[j] = total;
        }
    return -1;
}

/* Find for each cell of `best` the first position in its bag whose row has it; -1 for an empty bag. */
static int64_t OF_CELL(find_in_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                     const int64_t *offsets, int64_t n_seqs, const CELL *best, int64_t *places)
{
    for (int64_t s = 0; s < n_seqs; s++, best += width, places += width) {
        for (int64_t c = 0; c < width; c++)
            places[c] = offsets[s + 1] > offsets[s] ? 0 : -1;
        for (int64_t j = offsets[s + 1] - 1; j >= offsets[s]; j--) {
            int64_t row = read_once(index + j);
            if ((uint64_t)row >= (uint64_t)n_rows)
                return j;
            for (int64_t c = 0; c < width; c++) {
                CELL cell = table[row * width + c];
                int same = (cell == best[c]) | ((cell != cell) & (best[c] != best[c]));
                places[c] = same ? j - offsets[s] : places[c];
            }
        }
    }
    return -1;
}
#undef LANES
