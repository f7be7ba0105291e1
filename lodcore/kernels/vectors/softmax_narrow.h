/* Softmax of rows that are shorter than a vector; softmax_lanes.h includes this, and defines its macros. */

/* -- rows of a few cells: vectors of several rows, whose lane k has column k % width ------------------------------ */

/* The orders of lanes for a width: `column` has each column in all its lanes, row[r] begins with row r, and turn[j]
 * with row 2^j, followed by the rows before. */
typedef struct {
    int rows, turns;
    OF(order) column, row[LANES / 2 + 1], turn[4];
} OF(orders);

TARGET LODCORE_INLINE OF(order) OF(order_from)(int64_t first, int64_t count)
{
    int32_t place[sizeof(OF(vector)) / 4], each = sizeof(CELL) / 4;
    for (int32_t k = 0; k < LANES; k++)
        for (int32_t j = 0; j < each; j++)
            place[k * each + j] = (int32_t)((first + k) % count) * each + j;
    return OF(order_of)(place);
}

TARGET LODCORE_APART void OF(orders_of)(int64_t width, OF(orders) *orders)
{
    orders->rows = (int)(LANES / width);
    orders->column = OF(order_from)(0, width);
    for (int r = 0; r < orders->rows; r++)
        orders->row[r] = OF(order_from)(r * width, LANES);
    orders->turns = 0;
    for (int r = 1; r < orders->rows; r *= 2)
        orders->turn[orders->turns++] = OF(order_from)(r * width, orders->rows * width);
}

/* Return the maximum of each column in all its lanes. */
TARGET LODCORE_INLINE OF(vector) OF(greatest_of_columns)(const CELL *x, int64_t cells, int64_t step, const OF(orders) *orders)
{
    OF(vector) top = OF(all)(-INFINITY);
    int64_t p = 0;
    for (; p + LANES <= cells; p += step)
        top = OF(max)(top, OF(load)(x + p));
    if (p < cells)
        top = OF(max)(top, OF(load_or)(OF(all)(-INFINITY), OF(first)(cells - p), x + p));
    for (int j = 0; j < orders->turns; j++)
        top = OF(max)(top, OF(in_order)(top, orders->turn[j]));
    return OF(in_order)(top, orders->column);
}

/* Sum exp(x - most) of the columns of a sequence, row after row; all else is done with as many rows as a vector holds,
 * and the excess of a vector is computed once more with the next ones. The terms go to `kept` or to `out`, if they are
 * not NULL. */
TARGET LODCORE_INLINE OF(vector) OF(exp_narrow)(const CELL *x, int64_t cells, int64_t width, const OF(orders) *orders,
                                                OF(vector) *kept, CELL *out, OF(vector) *most)
{
    int64_t step = orders->rows * width, p = 0;
    OF(vector) top = OF(greatest_of_columns)(x, cells, step, orders), sum = OF(all)(0);
    for (; p < cells; p += step) {
        int whole = p + LANES <= cells, rows = whole ? orders->rows : (int)((cells - p) / width);
        OF(mask) some = OF(first)(whole ? LANES : cells - p);
        OF(vector) e = OF(exp)((whole ? OF(load)(x + p) : OF(load_some)(some, x + p)) - top);
        if (kept != NULL)
            *kept++ = e;
        else if (out != NULL && whole)
            OF(store)(out + p, e);
        else if (out != NULL)
            OF(store_some)(out + p, some, e);
        for (int r = 0; r < rows; r++)
            sum += OF(in_order)(e, orders->row[r]);
        if (!whole)
            break;
    }
    *most = top;
    return sum;
}

/* Up to KEPT vectors are not read from `out`: what was just stored is slow to load with another beginning. */
TARGET LODCORE_INLINE void OF(softmax_narrow)(const CELL *x, int64_t length, int64_t width, const OF(orders) *orders,
                                              const CELL *weights, CELL *out)
{
    int64_t cells = length * width, step = orders->rows * width, p;
    int few = cells <= KEPT * step, n = 0;
    OF(vector) kept[KEPT], most;
    OF(vector) sum = few ? OF(exp_narrow)(x, cells, width, orders, kept, NULL, &most)
                         : OF(exp_narrow)(x, cells, width, orders, NULL, out, &most);
    OF(vector) by = (weights == NULL ? OF(all)(1) : OF(load_some)(OF(first)(width), weights)) / sum;
    OF(vector) least = OF(in_order)(sum * OF(all)(LEAST_NORMAL), orders->column);
    OF(mask) taken = OF(first)(step);
    by = OF(in_order)(by, orders->column);
    for (p = 0; p + LANES <= cells; p += step)
        if (few)
            OF(store)(out + p, OF(times)(kept[n++], least, by));
        else
            OF(store_some)(out + p, taken, OF(times)(OF(load)(out + p), least, by));
    if (p < cells) {
        OF(mask) some = OF(first)(cells - p);
        OF(store_some)(out + p, some, OF(times)(few ? kept[n] : OF(load_some)(some, out + p), least, by));
    }
}

TARGET LODCORE_INLINE void OF(log_sum_narrow)(const CELL *x, int64_t length, int64_t width, const OF(orders) *orders,
                                              CELL *out)
{
    OF(vector) most, sum = OF(exp_narrow)(x, length * width, width, orders, NULL, NULL, &most);
    CELL tops[LANES], totals[LANES];
    OF(store)(tops, most);
    OF(store)(totals, sum);
    for (int64_t c = 0; c < width; c++)
        out[c] = OF_CELL(log_of_sum)(tops[c], totals[c], x + c, length, width);
}

TARGET LODCORE_INLINE void OF(pull_narrow)(const CELL *y, const CELL *d, int64_t length, int64_t width,
                                           const OF(orders) *orders, CELL *out)
{
    int64_t cells = length * width, step = LANES - LANES % width, p;
    OF(vector) sum = OF(all)(0);
    OF(mask) row = OF(first)(width);
    for (p = 0; p < cells; p += width)
        sum += OF(load_some)(row, y + p) * OF(load_some)(row, d + p);
    sum = OF(in_order)(sum, orders->column);
    for (p = 0; p + LANES <= cells; p += step)
        OF(store)(out + p, OF(one_nan)(OF(load)(y + p) * (OF(load)(d + p) - sum)));
    if (p < cells) {
        OF(mask) some = OF(first)(cells - p);
        OF(store_some)(out + p, some, OF(one_nan)(OF(load_some)(some, y + p) * (OF(load_some)(some, d + p) - sum)));
    }
}
