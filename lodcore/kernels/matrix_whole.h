/* Whole products, in blocks; matrix.h includes this once a type of cells. Leading dimensions are in cells. */

#define LEAST(x, y) ((x) < (y) ? (x) : (y))

/* A block of at most BLOCK_ROWS rows times a panel; of the last panel only what is in the matrix is read and written. */
static LODCORE_UNUSED void PLAIN(multiply_block)(const CELL *a, int64_t row, int64_t step, int64_t rows, int64_t depth,
                                                 const CELL *panel, int64_t panel_line, int64_t columns, int adding, CELL *out,
                                                 int64_t line)
{
    CELL edge[BLOCK_ROWS * PANEL_BYTES / sizeof(CELL)];
    if (columns >= PLAIN(PANEL)) {
        PLAIN(whole_block)(a, row, step, rows, depth, panel, panel_line, PLAIN(PANEL), adding, out, line);
        return;
    }
    if (adding)
        for (int64_t i = 0; i < rows; i++)
            memcpy(edge + i * PLAIN(PANEL), out + i * line, columns * sizeof(CELL));
    PLAIN(whole_block)(a, row, step, rows, depth, panel, panel_line, columns, adding, edge, PLAIN(PANEL));
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * line, edge + i * PLAIN(PANEL), columns * sizeof(CELL));
}

/* Pack rows first .. first + depth of a matrix, taken by `index`, and its columns from `column` on, as one panel. */
LODCORE_INLINE void PLAIN(pack_panel)(const CELL *restrict b, int64_t line, const int64_t *index, int64_t first,
                                      int64_t depth, int64_t column, int64_t columns, CELL *restrict out)
{
    columns = LEAST(columns, PLAIN(PANEL));
    for (int64_t k = 0; k < depth; k++, out += PLAIN(PANEL)) {
        const CELL *from = b + ROW_AT(index, first + k) * line + column;
        if (columns == PLAIN(PANEL)) {
            memcpy(out, from, PANEL_BYTES);
            continue;
        }
        for (int64_t c = 0; c < columns; c++)
            out[c] = from[c];
        for (int64_t c = columns; c < PLAIN(PANEL); c++)
            out[c] = 0;
    }
}

/* The same of the transposed matrix: its rows are the columns of the panel. */
LODCORE_INLINE void PLAIN(pack_transposed)(const CELL *restrict b, int64_t line, int64_t depth, int64_t column,
                                           int64_t columns, CELL *restrict out)
{
    enum { SQUARE = 16 };
    int64_t done = 0;
    columns = LEAST(columns, PLAIN(PANEL));
    for (int64_t c = columns; c < PLAIN(PANEL); c++)
        for (int64_t k = 0; k < depth; k++)
            out[k * PLAIN(PANEL) + c] = 0;
#if LODCORE_HAS_SIMD
    if (columns == PLAIN(PANEL) && sizeof(CELL) == sizeof(float))
        done = transpose_fours((const float *)b + column * line, line, depth, (float *)out);
#endif
    for (int64_t begin = done; begin < depth; begin += SQUARE)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = begin; k < LEAST(begin + SQUARE, depth); k++)
                out[k * PLAIN(PANEL) + c] = b[(column + c) * line + k];
}

static LODCORE_UNUSED void PLAIN(pack)(const CELL *b, int64_t line, int64_t depth, int64_t columns, int transposed,
                                       CELL *out)
{
    for (int64_t c = 0; c < columns; c += PLAIN(PANEL), out += depth * PLAIN(PANEL)) {
        if (transposed)
            PLAIN(pack_transposed)(b, line, depth, c, columns - c, out);
        else
            PLAIN(pack_panel)(b, line, NULL, 0, depth, c, columns - c, out);
    }
}

/* out (+)= a @ packed. */
static LODCORE_UNUSED void PLAIN(multiply)(const CELL *a, int64_t a_line, int64_t rows, int64_t depth, const CELL *packed,
                                           int64_t columns, int adding, CELL *out, int64_t line)
{
    if (depth == 0 && !adding)
        for (int64_t i = 0; i < rows; i++)
            memset(out + i * line, 0, columns * sizeof(CELL));
    for (int64_t i = 0; i < rows; i += BLOCK_ROWS)
        for (int64_t k = 0; k < depth; k += BLOCK_DEPTH)
            for (int64_t c = 0; c < columns; c += PLAIN(PANEL))
                PLAIN(multiply_block)(a + i * a_line + k, a_line, 1, LEAST(BLOCK_ROWS, rows - i),
                                      LEAST(BLOCK_DEPTH, depth - k), packed + c * depth + k * PLAIN(PANEL),
                                      PLAIN(PANEL), columns - c, adding || k > 0, out + i * line + c, line);
}

/* out (+)= the sum over pairs of rows of a and b of the transposed row times the row. `blocks` has BLOCK_DEPTH cells for
 * each row of out, rounded up to BLOCK_ROWS, `panel` BLOCK_DEPTH * PANEL; an index is NULL for the rows in their order. */
static LODCORE_UNUSED void PLAIN(multiply_pairs)(const CELL *a, int64_t a_line, const int64_t *a_index, const CELL *b,
                                                 int64_t b_line, const int64_t *b_index, int64_t pairs, int64_t rows,
                                                 int64_t columns, int adding, CELL *out, int64_t line, CELL *blocks,
                                                 CELL *panel)
{
    if (pairs == 0 && !adding)
        for (int64_t i = 0; i < rows; i++)
            memset(out + i * line, 0, columns * sizeof(CELL));
    /* lines of a whole page lie in the same sets of the cache */
    int b_copied = b_index != NULL || b_line * (int64_t)sizeof(CELL) % 4096 == 0;
    for (int64_t k = 0; k < pairs; k += BLOCK_DEPTH) {
        int64_t deep = LEAST(BLOCK_DEPTH, pairs - k);
        for (int64_t i = 0; i < rows && a_index != NULL; i += BLOCK_ROWS)
            for (int64_t r = 0; r < deep; r++)
                memcpy(blocks + i * BLOCK_DEPTH + r * BLOCK_ROWS, a + a_index[k + r] * a_line + i,
                       LEAST(BLOCK_ROWS, rows - i) * sizeof(CELL));
        for (int64_t c = 0; c < columns; c += PLAIN(PANEL)) {
            const CELL *place = b + k * b_line + c;
            int copied = b_copied || columns - c < PLAIN(PANEL);
            if (copied)
                PLAIN(pack_panel)(b, b_line, b_index, k, deep, c, columns - c, panel);
            for (int64_t i = 0; i < rows; i += BLOCK_ROWS)
                PLAIN(multiply_block)(a_index == NULL ? a + k * a_line + i : blocks + i * BLOCK_DEPTH, 1,
                                      a_index == NULL ? a_line : BLOCK_ROWS, LEAST(BLOCK_ROWS, rows - i), deep,
                                      copied ? panel : place, copied ? PLAIN(PANEL) : b_line, columns - c,
                                      adding || k > 0, out + i * line + c, line);
        }
    }
}

#undef LEAST
