/* The product of a block of rows and a panel in plain C; matrix.h includes this once per type of cells. Cell k of row
 * i of the block is a[i * row + k * step]; a row of the panel has PANEL cells. */

enum { OF_CELL(PANEL) = PANEL_BYTES / sizeof(CELL) };

static LODCORE_UNUSED void OF_CELL(block)(const CELL *restrict a, int64_t row, int64_t step, int64_t rows, int64_t depth,
                                        const CELL *restrict panel, int64_t panel_line, int64_t columns, int adding,
                                        CELL *restrict out, int64_t line)
{
    CELL sums[PANEL_BYTES / sizeof(CELL)];
    (void)columns;
    for (int64_t i = 0; i < rows; i++, a += row, out += line) {
        for (int64_t c = 0; c < OF_CELL(PANEL); c++)
            sums[c] = adding ? out[c] : 0;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t c = 0; c < OF_CELL(PANEL); c++)
                sums[c] += a[k * step] * panel[k * panel_line + c];
        memcpy(out, sums, sizeof sums);
    }
}
