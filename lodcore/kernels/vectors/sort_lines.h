/* Wide rows: LINE columns are sorted side by side by one sorting network, which is the same for all of them; sort.h
 * includes this. The network is Knuth's merge exchange (volume 3, algorithm 5.2.2 M), which sorts any number of lines.
 * */

enum { LINE = 16, LINES_SORTED = 512, LEAST_COLUMNS = 4 };

/* Sort two lines, lane by lane, and their rows with them; equal keys are ordered by their rows. */
LODCORE_INLINE void exchange_keys_and_rows(int64_t *restrict low, int64_t *restrict high)
{
    for (int c = 0; c < LINE; c++) {
        int64_t key = low[c], other = high[c], row = low[c + LINE], other_row = high[c + LINE];
        int64_t swap = -(int64_t)((key > other) | ((key == other) & (row > other_row)));
        int64_t keys = (key ^ other) & swap, rows = (row ^ other_row) & swap;
        low[c] = key ^ keys;
        high[c] = other ^ keys;
        low[c + LINE] = row ^ rows;
        high[c + LINE] = other_row ^ rows;
    }
}

/* Sort two lines where the row is the lower half of a number, and its key the upper half. */
LODCORE_INLINE void exchange_packed(int64_t *restrict low, int64_t *restrict high)
{
    for (int c = 0; c < LINE; c++) {
        int64_t one = low[c], other = high[c];
        low[c] = one < other ? one : other;
        high[c] = one < other ? other : one;
    }
}

/* Sort `count` lines of `size` numbers, which is 2 * LINE or LINE. */
LODCORE_INLINE void sort_lines(int64_t *lines, int64_t count, int64_t size)
{
    int64_t most = 1;
    while (2 * most < count)
        most *= 2;
    for (int64_t p = most; p > 0; p /= 2) {
        int64_t distance = p, first = 0;
        for (int64_t q = most;; q /= 2) {
            for (int64_t run = first; run + distance < count; run += 2 * p) {
                int64_t stop = run + p < count - distance ? run + p : count - distance;
                for (int64_t k = run; k < stop; k++) {
                    if (size == LINE)
                        exchange_packed(lines + k * size, lines + (k + distance) * size);
                    else
                        exchange_keys_and_rows(lines + k * size, lines + (k + distance) * size);
                }
            }
            if (q == p)
                break;
            distance = q - p;
            first = p;
        }
    }
}
