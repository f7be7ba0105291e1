/* All steps of a batch: step t has steps[t + 1] - steps[t] rows, a prefix of the sequences of the step before, the
 * longest first; its row r is row starts[r] + stride * t of the batch. gates_loops.h includes this once per type of
 * cells; OF_CELL(NAME) names functions. Packed weights are those of matrix.h, NULL if the caller multiplies. States
 * have one row per sequence. `booted` says whether they are nonzero before the first step, `to_boot` whether their
 * cotangents there are needed. */

#define ROWS_OF(t) {steps[(t) + 1] - steps[t], stride * (t), starts, (t) > 0 ? stride : 0}

/* Compute out (+)= rows @ weight; the rows are `line` apart, those of out `out_line`. */
LODCORE_INLINE void OF_CELL(times)(const CELL *rows, int64_t line, int64_t count, int64_t depth, const CELL *weight,
                                 int64_t columns, int adding, CELL *out, int64_t out_line)
{
    if (weight != NULL)
        OF_CELL(multiply)(rows, line, count, depth, weight, columns, adding, out, out_line);
}

/* -- LSTM. `inner` is the input of the projection; NULL without one, when it is the state itself
 * ------------------------- */

static void OF_CELL(lstm_forward)(const Rule *rule, const int64_t *steps, const int64_t *starts, int64_t stride,
                                int64_t first, int64_t stop, const CELL *weight, const CELL *projection,
                                int64_t state_width, int booted, CELL *state, CELL *state_cell, CELL *products,
                                CELL *gates, CELL *cell, CELL *inner, CELL *hidden)
{
    int64_t width = rule->width, wide = 4 * width;
    for (int64_t t = first; t < stop; t++) {
        Rows rows = ROWS_OF(t);
        CELL *made = (t > 0 || booted) && state_width > 0 ? products : NULL;
        if (made != NULL)
            OF_CELL(times)(state, state_width, rows.count, state_width, weight, wide, 0, made, wide);
        if (inner == NULL) {
            OF_CELL(lstm_rows)(rule, &rows, made, gates, state_cell, cell, state, width, hidden);
            continue;
        }
        OF_CELL(lstm_rows)(rule, &rows, made, gates, state_cell, cell, products, wide, inner);
        OF_CELL(times)(products, wide, rows.count, width, projection, state_width, 0, state, state_width);
        for (int64_t r = 0; r < rows.count && projection != NULL && hidden != NULL; r++)
            memcpy(hidden + (starts[r] + rows.shift) * state_width, state + r * state_width, state_width * sizeof(CELL));
    }
}

/* The weights are transposed here. With a projection, `d_full` is the sum of d_hidden and the cotangents from later
 * steps. */
static void OF_CELL(lstm_backward)(const Rule *rule, const int64_t *steps, const int64_t *starts, int64_t stride,
                                 int64_t first, int64_t stop, const CELL *weight, const CELL *projection,
                                 int64_t state_width, const CELL *boot_cell, const CELL *gates, const CELL *cell,
                                 const CELL *d_hidden, const CELL *d_cell, int to_boot, CELL *d_state, CELL *carry,
                                 CELL *d_step, CELL *d_full, CELL *d_gates)
{
    int64_t width = rule->width, wide = 4 * width;
    for (int64_t t = stop - 1; t >= first; t--) {
        Rows rows = ROWS_OF(t);
        if (d_full == NULL) {
            OF_CELL(lstm_back_rows)(rule, &rows, boot_cell, gates, cell, d_hidden, d_state, width, d_cell, carry, d_step,
                                    d_gates);
        } else {
            for (int64_t r = 0; r < rows.count && projection != NULL; r++) {
                int64_t at = (starts[r] + rows.shift) * state_width;
                for (int64_t c = 0; c < state_width; c++)
                    d_full[at + c] = d_state[r * state_width + c] += d_hidden == NULL ? 0 : d_hidden[at + c];
            }
            for (int64_t r = 0; r < rows.count && state_width == 0; r++)
                memset(d_step + r * wide, 0, width * sizeof(CELL));
            OF_CELL(times)(d_state, state_width, rows.count, state_width, projection, width, 0, d_step, wide);
            OF_CELL(lstm_back_rows)(rule, &rows, boot_cell, gates, cell, NULL, d_step, wide, d_cell, carry, d_step,
                                    d_gates);
        }
        if (t > 0 || to_boot)
            OF_CELL(times)(d_step, wide, rows.count, wide, weight, state_width, 0, d_state, state_width);
    }
}

/* -- GRU. Both passes have a product in the middle; `stage` 1 is the part before it, 2 the part after it, 0 both
 * ----------- */

static void OF_CELL(gru_forward)(const Rule *rule, int stage, const int64_t *steps, const int64_t *starts,
                               int64_t stride, int64_t first, int64_t stop, const CELL *weight,
                               const CELL *weight_candidate, int booted, CELL *state, CELL *products, CELL *gates,
                               CELL *hidden)
{
    int64_t width = rule->width, wide = 3 * width;
    for (int64_t t = first; t < stop; t++) {
        Rows rows = ROWS_OF(t);
        CELL *made = t > 0 || booted ? products : NULL;
        if (stage != 2) {
            if (made != NULL)
                OF_CELL(times)(state, width, rows.count, width, weight, 2 * width, 0, made, wide);
            OF_CELL(gru_reset_rows)(rule, &rows, state, made, gates);
        }
        if (stage == 0 && made != NULL)
            OF_CELL(times)(made, wide, rows.count, width, weight_candidate, width, 0, made + 2 * width, wide);
        if (stage != 1)
            OF_CELL(gru_update_rows)(rule, &rows, made, state, gates, hidden);
    }
}

static void OF_CELL(gru_backward)(const Rule *rule, int stage, const int64_t *steps, const int64_t *starts,
                                int64_t stride, int64_t first, int64_t stop, const CELL *weight,
                                const CELL *weight_candidate, const CELL *boot, const CELL *gates, const CELL *hidden,
                                const CELL *d_hidden, int to_boot, CELL *d_state, CELL *d_step, CELL *reset,
                                CELL *d_gates)
{
    int64_t width = rule->width, wide = 3 * width;
    for (int64_t t = stop - 1; t >= first; t--) {
        Rows rows = ROWS_OF(t);
        if (stage != 2)
            OF_CELL(gru_update_back_rows)(rule, &rows, boot, gates, hidden, d_hidden, d_state, d_step, d_gates);
        if (stage == 0 && (t > 0 || boot != NULL))
            OF_CELL(times)(d_step + 2 * width, wide, rows.count, width, weight_candidate, width, 0, d_step + width, wide);
        if (stage != 1) {
            OF_CELL(gru_reset_back_rows)(rule, &rows, boot, gates, hidden, d_state, d_step, d_gates, reset);
            if (t > 0 || to_boot)
                OF_CELL(times)(d_step, wide, rows.count, 2 * width, weight, width, 1, d_state, width);
        }
    }
}

/* -- one activation ---------------------------------------------------------------------------------------------------- */

static void OF_CELL(simple_forward)(const Rule *rule, const int64_t *steps, const int64_t *starts, int64_t stride,
                                  int64_t first, int64_t stop, const CELL *weight, int booted, CELL *state,
                                  CELL *products, CELL *hidden)
{
    int64_t width = rule->width;
    for (int64_t t = first; t < stop; t++) {
        Rows rows = ROWS_OF(t);
        CELL *made = t > 0 || booted ? products : NULL;
        if (made != NULL)
            OF_CELL(times)(state, width, rows.count, width, weight, width, 0, made, width);
        OF_CELL(simple_rows)(rule, &rows, made, state, hidden);
    }
}

static void OF_CELL(simple_backward)(const Rule *rule, const int64_t *steps, const int64_t *starts, int64_t stride,
                                   int64_t first, int64_t stop, const CELL *weight, const CELL *hidden,
                                   const CELL *d_hidden, int to_boot, CELL *d_state, CELL *d_step, CELL *d_gates)
{
    int64_t width = rule->width;
    for (int64_t t = stop - 1; t >= first; t--) {
        Rows rows = ROWS_OF(t);
        OF_CELL(simple_back_rows)(rule, &rows, hidden, d_hidden, d_state, d_step, d_gates);
        if (t > 0 || to_boot)
            OF_CELL(times)(d_step, width, rows.count, width, weight, width, 0, d_state, width);
    }
}

#undef ROWS_OF
