/* The product of a block of rows and a panel with vectors; matrix.h includes this once per type of cells and
 * instruction set. TALL rows times two vectors of columns stay in registers. */

#define WIDE 2 /* vectors side by side */

TARGET LODCORE_INLINE void OF(tile)(const CELL *a, int64_t row, int64_t step, const int tall, int64_t depth,
                                    const CELL *panel, int64_t panel_line, int adding, CELL *out, int64_t line)
{
    VECTOR sums[TALL][WIDE];
LODCORE_UNROLLED
    for (int i = 0; i < tall; i++)
LODCORE_UNROLLED
        for (int j = 0; j < WIDE; j++)
            sums[i][j] = adding ? DO(loadu)(out + i * line + j * LANES) : DO(setzero)();
    for (int64_t k = 0; k < depth; k++, a += step, panel += panel_line) {
        VECTOR b[WIDE];
LODCORE_UNROLLED
        for (int j = 0; j < WIDE; j++)
            b[j] = DO(loadu)(panel + j * LANES);
LODCORE_UNROLLED
        for (int i = 0; i < tall; i++) {
            VECTOR x = DO(set1)(a[i * row]);
LODCORE_UNROLLED
            for (int j = 0; j < WIDE; j++)
                sums[i][j] = DO(fmadd)(x, b[j], sums[i][j]);
        }
    }
LODCORE_UNROLLED
    for (int i = 0; i < tall; i++)
LODCORE_UNROLLED
        for (int j = 0; j < WIDE; j++)
            DO(storeu)(out + i * line + j * LANES, sums[i][j]);
}

/* The number of rows of a tile is known to the compiler. */
#define TILE(tall, from, row, step) \
    case tall: OF(tile)(from, row, step, tall, depth, panel + c, panel_line, adding, out + done * line + c, line); break;
#define TILES(from, row, step)                                                                             \
    switch (tall) {                                                                                        \
        TILE(1, from, row, step) TILE(2, from, row, step) TILE(3, from, row, step) TILE(4, from, row, step) \
        TILE(5, from, row, step) TILE(6, from, row, step) MORE_TILES(from, row, step)                      \
    }
#if TALL > 6
#define MORE_TILES(from, row, step)                                                                        \
    TILE(7, from, row, step) TILE(8, from, row, step) TILE(9, from, row, step) TILE(10, from, row, step)   \
    TILE(11, from, row, step) TILE(12, from, row, step)
#else
#define MORE_TILES(from, row, step)
#endif

static TARGET LODCORE_UNUSED void OF(block)(const CELL *a, int64_t row, int64_t step, int64_t rows, int64_t depth,
                                            const CELL *panel, int64_t panel_line, int64_t columns, int adding, CELL *out,
                                            int64_t line)
{
    int64_t tiles = (rows + TALL - 1) / TALL;
    for (int64_t c = 0; c < columns; c += WIDE * LANES) {
        for (int64_t t = 0, done = 0, tall; t < tiles; t++, done += tall) {
            tall = (rows - done + tiles - t - 1) / (tiles - t);
            if (step == 1)
                TILES(a + done * row, row, 1)
            else if (row == 1)
                TILES(a + done, 1, step)
        }
    }
}

#undef TILE
#undef TILES
#undef MORE_TILES
#undef WIDE
#undef TARGET
#undef OF
#undef VECTOR
#undef DO
#undef LANES
#undef TALL
