/* Whole products, in blocks; matrix.h includes this once per type of cells. Leading dimensions are in cells. */

#define LEAST(x, y) ((x) < (y) ? (x) : (y))

/* Multiply at most BLOCK_ROWS rows by a panel; only the part of the last panel that is in the matrix is read and
 * written. */
static LODCORE_UNUSED void OF_CELL(multiply_block)(const CELL *a, int64_t row, int64_t step, int64_t rows, int64_t depth,
                                                 const CELL *panel, int64_t panel_line, int64_t columns, int adding, CELL *out,
                                                 int64_t line)
{
    CELL edge[BLOCK_ROWS * PANEL_BYTES / sizeof(CELL)];
    if (columns >= OF_CELL(PANEL)) {
        OF_CELL(whole_block)(a, row, step, rows, depth, panel, panel_line, OF_CELL(PANEL), adding, out, line);
        return;
    }
    if (adding)
        for (int64_t i = 0; i < rows; i++)
            memcpy(edge + i * OF_CELL(PANEL), out + i * line, columns * sizeof(CELL));
    OF_CELL(whole_block)(a, row, step, rows, depth, panel, panel_line, columns, adding, edge, OF_CELL(PANEL));
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * line, edge + i * OF_CELL(PANEL), columns * sizeof(CELL));
}

/* Pack rows first .. first + depth of a matrix, selected by `index`, and its columns from `column` on, as one panel.
 * */
LODCORE_INLINE void OF_CELL(pack_panel)(const CELL *restrict b, int64_t line, const int64_t *index, int64_t first,
                                      int64_t depth, int64_t column, int64_t columns, CELL *restrict out)
{
    columns = LEAST(columns, OF_CELL(PANEL));
    for (int64_t k = 0; k < depth; k++, out += OF_CELL(PANEL)) {
        const CELL *from = b + ROW_AT(index, first + k) * line + column;
        if (columns == OF_CELL(PANEL)) {
            memcpy(out, from, PANEL_BYTES);
            continue;
        }
        for (int64_t c = 0; c < columns; c++)
            out[c] = from[c];
        for (int64_t c = columns; c < OF_CELL(PANEL); c++)
            out[c] = 0;
    }
}

/* Pack the transposed matrix likewise: its rows are the columns of the panel. */
LODCORE_INLINE void OF_CELL(pack_transposed)(const CELL *restrict b, int64_t line, int64_t depth, int64_t column,
                                           int64_t columns, CELL *restrict out)
{
    enum { SQUARE = 16 };
    int64_t done = 0;
    columns = LEAST(columns, OF_CELL(PANEL));
    for (int64_t c = columns; c < OF_CELL(PANEL); c++)
        for (int64_t k = 0; k < depth; k++)
            out[k * OF_CELL(PANEL) + c] = 0;
#if LODCORE_HAS_SIMD
    if (columns == OF_CELL(PANEL) && sizeof(CELL) == sizeof(float))
        done = transpose_fours((const float *)b + column * line, line, depth, (float *)out);
#endif
    for (int64_t begin = done; begin < depth; begin += SQUARE)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = begin; k < LEAST(begin + SQUARE, depth); k++)
                out[k * OF_CELL(PANEL) + c] = b[(column + c) * line + k];
}

static LODCORE_UNUSED void OF_CELL(pack)(const CELL *b, int64_t line, int64_t depth, int64_t columns, int transposed,
                                       CELL *out)
{
    for (int64_t c = 0; c < columns; c += OF_CELL(PANEL), out += depth * OF_CELL(PANEL)) {
        if (transposed)
            OF_CELL(pack_transposed)(b, line, depth, c, columns - c, out);
        else
            OF_CELL(pack_panel)(b, line, NULL, 0, depth, c, columns - c, out);
    }
}

/* Compute out (+)= a @ packed. */
static LODCORE_UNUSED void OF_CELL(multiply)(const CELL *a, int64_t a_line, int64_t rows, int64_t depth, const CELL *packed,
                                           int64_t columns, int adding, CELL *out, int64_t line)
{
    if (depth == 0 && !adding)
        for (int64_t i = 0; i < rows; i++)
            memset(out + i * line, 0, columns * sizeof(CELL));
    for (int64_t i = 0; i < rows; i += BLOCK_ROWS)
        for (int64_t k = 0; k < depth; k += BLOCK_DEPTH)
            for (int64_t c = 0; c < columns; c += OF_CELL(PANEL))
                OF_CELL(multiply_block)(a + i * a_line + k, a_line, 1, LEAST(BLOCK_ROWS, rows - i),
                                      LEAST(BLOCK_DEPTH, depth - k), packed + c * depth + k * OF_CELL(PANEL),
                                      OF_CELL(PANEL), columns - c, adding || k > 0, out + i * line + c, line);
}

/* Compute out (+)= the sum over pairs of rows of a and b of their outer products. `blocks` has BLOCK_DEPTH cells for
 * each row of out, rounded up to BLOCK_ROWS; `panel` has BLOCK_DEPTH * PANEL; an index is NULL for all rows in their
 * order. */
static LODCORE_UNUSED void OF_CELL(multiply_pairs)(const CELL *a, int64_t a_line, const int64_t *a_index, const CELL *b,
                                                 int64_t b_line, const int64_t *b_index, int64_t pairs, int64_t rows,
                                                 int64_t columns, int adding, CELL *out, int64_t line, CELL *blocks,
                                                 CELL *panel)
{
    if (pairs == 0 && !adding)
        for (int64_t i = 0; i < rows; i++)
            memset(out + i * line, 0, columns * sizeof(CELL));
    /* lines at the same offset of different pages share the sets of the cache */
    int b_copied = b_index != NULL || b_line * (int64_t)sizeof(CELL) % 4096 == 0;
    for (int64_t k = 0; k < pairs; k += BLOCK_DEPTH) {
        int64_t deep = LEAST(BLOCK_DEPTH, pairs - k);
        for (int64_t i = 0; i < rows && a_index != NULL; i += BLOCK_ROWS)
            for (int64_t r = 0; r < deep; r++)
                memcpy(blocks + i * BLOCK_DEPTH + r * BLOCK_ROWS, a + a_index[k + r] * a_line + i,
                       LEAST(BLOCK_ROWS, rows - i) * sizeof(CELL));
        for (int64_t c = 0; c < columns; c += OF_CELL(PANEL)) {
            const CELL *place = b + k * b_line + c;
            int copied = b_copied || columns - c < OF_CELL(PANEL);
            if (copied)
                OF_CELL(pack_panel)(b, b_line, b_index, k, deep, c, columns - c, panel);
            for (int64_t i = 0; i < rows; i += BLOCK_ROWS)
                OF_CELL(multiply_block)(a_index == NULL ? a + k * a_line + i : blocks + i * BLOCK_DEPTH, 1,
                                      a_index == NULL ? a_line : BLOCK_ROWS, LEAST(BLOCK_ROWS, rows - i), deep,
                                      copied ? panel : place, copied ? OF_CELL(PANEL) : b_line, columns - c,
                                      adding || k > 0, out + i * line + c, line);
        }
    }
}

#undef LEAST
