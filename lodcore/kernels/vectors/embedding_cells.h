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

/* Pool `count` columns of one bag, row by row; a count that the compiler knows keeps the sums in registers. */
LODCORE_INLINE int64_t OF_CELL(pool_bag)(const CELL *restrict table, int64_t n_rows, int64_t width,
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
            cells[c] = verb != SUM && j == start ? table[row * width + c]
                                                 : OF_CELL(fold)(cells[c], table[row * width + c], verb);
    }
    return -1;
}

/* Pool bags of rows of several cells, as many columns at a time as there are lanes. */
LODCORE_BODY OF_CELL(pool_bags_by)(const CELL *restrict table, int64_t n_rows, int64_t width, const int64_t *index,
                                   const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *restrict out,
                                   int64_t *bad)
{
    for (int64_t s = 0; *bad < 0 && s < n_seqs; s++, out += width) {
        int64_t start = offsets[s], end = offsets[s + 1], total = offsets[n_seqs], c = 0;
        for (; *bad < 0 && c + LANES <= width; c += LANES) {
            CELL cells[LANES];
            *bad = OF_CELL(pool_bag)(table + c, n_rows, width, index, start, end, total, LANES, verb, cells);
            for (int k = 0; k < LANES; k++)
                out[c + k] = cells[k];
        }
        if (*bad < 0 && c < width)
            *bad = OF_CELL(pool_bag)(table + c, n_rows, width, index, start, end, total, width - c, verb, out + c);
        OF_CELL(divide_cells)(out, width, end - start, divide);
    }
}

LODCORE_BODY BODY_OF_CELL(pool_wide_bags)(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,
                                          const int64_t *offsets, int64_t n_seqs, int verb, int divide, CELL *out,
                                          int64_t *bad)
{
    if (verb == SUM)
        OF_CELL(pool_bags_by)(table, n_rows, width, index, offsets, n_seqs, SUM, divide, out, bad);
    else if (verb == GREATEST)
        OF_CELL(pool_bags_by)(table, n_rows, width, index, offsets, n_seqs, GREATEST, BY_ONE, out, bad);
    else
        OF_CELL(pool_bags_by)(table, n_rows, width, index, offsets, n_seqs, LEAST, BY_ONE, out, bad);
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

/* Sum `count` columns of one bag, each row times its weight. */
LODCORE_INLINE int64_t OF_CELL(weigh_bag)(const CELL *restrict table, int64_t n_rows, int64_t width,
                                          const int64_t *index, const CELL *weights, int64_t start, int64_t end,
                                          int64_t total, int64_t count, CELL *restrict cells)
{
    for (int64_t c = 0; c < count; c++)
        cells[c] = 0;
    for (int64_t j = start; j < end; j++) {
        int64_t row = read_once(index + j);
        CELL weight = weights[j];
        if (j + ROWS_AHEAD < total)
            prefetch_cells(table, index[j + ROWS_AHEAD], width * (int64_t)sizeof(CELL), count * (int64_t)sizeof(CELL));
        if ((uint64_t)row >= (uint64_t)n_rows)
            return j;
        for (int64_t c = 0; c < count; c++)
            cells[c] += weight * table[row * width + c];
    }
    return -1;
}

/* Sum bags of weighted rows: each cell is one sum, in the order of the bag. */
LODCORE_BODY BODY_OF_CELL(weigh_wide_bags)(const CELL *restrict table, int64_t n_rows, int64_t width,
                                           const int64_t *index, const int64_t *offsets, int64_t n_seqs,
                                           const CELL *weights, CELL *restrict out, int64_t *bad)
{
    for (int64_t s = 0; *bad < 0 && s < n_seqs; s++, out += width) {
        int64_t start = offsets[s], end = offsets[s + 1], total = offsets[n_seqs], c = 0;
        for (; *bad < 0 && c + LANES <= width; c += LANES) {
            CELL cells[LANES];
            *bad = OF_CELL(weigh_bag)(table + c, n_rows, width, index, weights, start, end, total, LANES, cells);
            for (int k = 0; k < LANES; k++)
                out[c + k] = cells[k];
        }
        if (*bad < 0 && c < width)
            *bad = OF_CELL(weigh_bag)(table + c, n_rows, width, index, weights, start, end, total, width - c, out + c);
    }
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
