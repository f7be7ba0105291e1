/* Step after step of a batch in step order: step t has the rows steps[t] .. steps[t + 1], the first of those that step
 * t - 1 has. gates_loops.h includes this once a type of cells, OF_CELL(NAME) names functions. Packed weights are those of
 * matrix.h, NULL where the caller multiplies; `boot` is the state before the first step, NULL for zeros. */

#define ROWS(t) (steps[(t) + 1] - steps[t])
#define STATE(states, t, wide) ((t) == 0 ? boot : (states) + steps[(t) - 1] * (wide))

/* out (+)= state @ weight, for the rows of a step. */
LODCORE_INLINE void OF_CELL(times)(const CELL *state, int64_t line, int64_t rows, int64_t depth, const CELL *weight,
                                 int64_t columns, int adding, CELL *out, int64_t out_line)
{
    if (weight != NULL && state != NULL && out != NULL)
        OF_CELL(multiply)(state, line, rows, depth, weight, columns, adding, out, out_line);
}

/* -- LSTM. `inner` is what a projection makes the hidden state of; without one it is the hidden state itself -------------- */

static void OF_CELL(lstm_forward)(const Rule *rule, const int64_t *steps, int64_t first, int64_t stop, const CELL *weight,
                                const CELL *projection, int64_t state_width, const CELL *boot, const CELL *boot_cell,
                                CELL *gates, CELL *cell, CELL *inner, CELL *hidden)
{
    int64_t width = rule->width;
    for (int64_t t = first; t < stop; t++) {
        int64_t at = steps[t], rows = ROWS(t);
        const CELL *cell_before = t == 0 ? boot_cell : cell + steps[t - 1] * width;
        OF_CELL(times)(STATE(hidden, t, state_width), state_width, rows, state_width, weight, 4 * width, 1,
                     gates + 4 * at * width, 4 * width);
        OF_CELL(lstm_rows)(rule, rows, cell_before, gates + 4 * at * width, cell + at * width, inner + at * width);
        OF_CELL(times)(inner + at * width, width, rows, width, projection, state_width, 0, hidden + at * state_width,
                     state_width);
    }
}

/* Weights are transposed here. Cotangents of states grow in d_hidden, and d_boot in the end. */
static void OF_CELL(lstm_backward)(const Rule *rule, const int64_t *steps, int64_t first, int64_t stop, const CELL *weight,
                                 const CELL *projection, int64_t state_width, const CELL *boot_cell, const CELL *gates,
                                 const CELL *cell, const CELL *d_cell, CELL *d_inner, CELL *d_hidden, CELL *carry,
                                 CELL *d_gates, CELL *d_boot)
{
    int64_t width = rule->width;
    for (int64_t t = stop - 1; t >= first; t--) {
        int64_t at = steps[t], rows = ROWS(t);
        const CELL *cell_before = t == 0 ? boot_cell : cell + steps[t - 1] * width;
        OF_CELL(times)(d_hidden + at * state_width, state_width, rows, state_width, projection, width, 0,
                     d_inner + at * width, width);
        OF_CELL(lstm_back_rows)(rule, rows, cell_before, gates + 4 * at * width, cell + at * width, d_inner + at * width,
                              d_cell == NULL ? NULL : d_cell + at * width, carry, d_gates + 4 * at * width);
        OF_CELL(times)(d_gates + 4 * at * width, 4 * width, rows, 4 * width, weight, state_width, 1,
                     t == 0 ? d_boot : d_hidden + steps[t - 1] * state_width, state_width);
    }
}

/* -- GRU. Both ways have a product in the middle; `stage` 1 is what is before it, 2 what is behind, 0 all ------------------ */

static void OF_CELL(gru_forward)(const Rule *rule, int stage, const int64_t *steps, int64_t first, int64_t stop,
                               const CELL *weight, const CELL *weight_candidate, const CELL *boot, CELL *gates,
                               CELL *reset, CELL *hidden)
{
    int64_t width = rule->width;
    for (int64_t t = first; t < stop; t++) {
        int64_t rows = ROWS(t);
        const CELL *before = STATE(hidden, t, width);
        CELL *place = gates + 3 * steps[t] * width;
        if (stage != 2) {
            OF_CELL(times)(before, width, rows, width, weight, 2 * width, 1, place, 3 * width);
            OF_CELL(gru_reset_rows)(rule, rows, before, place, reset);
        }
        if (stage == 0 && before != NULL)
            OF_CELL(times)(reset, width, rows, width, weight_candidate, width, 1, place + 2 * width, 3 * width);
        if (stage != 1)
            OF_CELL(gru_update_rows)(rule, rows, before, place, hidden + steps[t] * width);
    }
}

static void OF_CELL(gru_backward)(const Rule *rule, int stage, const int64_t *steps, int64_t first, int64_t stop,
                                const CELL *weight, const CELL *weight_candidate, const CELL *boot, const CELL *gates,
                                const CELL *hidden, CELL *d_hidden, CELL *reset, CELL *d_gates, CELL *d_boot)
{
    int64_t width = rule->width;
    for (int64_t t = stop - 1; t >= first; t--) {
        int64_t at = steps[t], rows = ROWS(t);
        const CELL *before = STATE(hidden, t, width), *place = gates + 3 * at * width;
        CELL *d_before = t == 0 ? d_boot : d_hidden + steps[t - 1] * width, *d_place = d_gates + 3 * at * width;
        if (stage != 2)
            OF_CELL(gru_update_back_rows)(rule, rows, before, place, d_hidden + at * width, d_before, d_place);
        if (stage == 0 && before != NULL)
            OF_CELL(times)(d_place + 2 * width, 3 * width, rows, width, weight_candidate, width, 0, reset + at * width,
                         width);
        if (stage != 1) {
            OF_CELL(gru_reset_back_rows)(rule, rows, before, place, reset + at * width, d_before, d_place);
            OF_CELL(times)(d_place, 3 * width, rows, 2 * width, weight, width, 1, d_before, width);
        }
    }
}

/* -- one activation ---------------------------------------------------------------------------------------------------- */

static void OF_CELL(simple_forward)(const Rule *rule, const int64_t *steps, int64_t first, int64_t stop,
                                  const CELL *weight, const CELL *boot, CELL *hidden)
{
    int64_t width = rule->width;
    for (int64_t t = first; t < stop; t++) {
        OF_CELL(times)(STATE(hidden, t, width), width, ROWS(t), width, weight, width, 1, hidden + steps[t] * width, width);
        OF_CELL(simple_rows)(rule, ROWS(t), hidden + steps[t] * width);
    }
}

static void OF_CELL(simple_backward)(const Rule *rule, const int64_t *steps, int64_t first, int64_t stop,
                                   const CELL *weight, const CELL *hidden, CELL *d_hidden, CELL *d_gates, CELL *d_boot)
{
    int64_t width = rule->width;
    for (int64_t t = stop - 1; t >= first; t--) {
        int64_t at = steps[t] * width;
        OF_CELL(simple_back_rows)(rule, ROWS(t), hidden + at, d_hidden + at, d_gates + at);
        OF_CELL(times)(d_gates + at, width, ROWS(t), width, weight, width, 1,
                     t == 0 ? d_boot : d_hidden + steps[t - 1] * width, width);
    }
}

#undef ROWS
#undef STATE
