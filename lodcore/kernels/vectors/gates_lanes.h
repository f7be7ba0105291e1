/* The gates of a step with vectors, which may have a single lane; gates.h includes this once per type of cells and
 * instruction set. CELL is the type, a vector has LANES cells, and OF(NAME) names functions of the set. A row of gates
 * has `width` cells for each gate. Rows maps row r of a step to its row of the batch: arrays of a step have one row
 * for each r, those of the batch have all rows. `products` are those of the state before the step, NULL for zeros. */

#define V OF(vector)

TARGET LODCORE_INLINE V OF(sigmoid)(V x)
{
    return OF(all)(1) / (OF(all)(1) + OF(exp)(-x));
}

static TARGET void OF(sigmoid_numbers)(int64_t count, const CELL *x, CELL *out)
{
    int64_t c;
    for (c = 0; c + LANES <= count; c += LANES)
        OF(store)(out + c, OF(one_nan)(OF(sigmoid)(OF(load)(x + c))));
    if (LANES > 1 && c < count) {
        OF(mask) some = OF(first)(count - c);
        OF(store_some)(out + c, some, OF(one_nan)(OF(sigmoid)(OF(load_some)(some, x + c))));
    }
}

TARGET LODCORE_INLINE V OF(tanh)(V x)
{
    V zero = OF(all)(0), size = OF(if_less)(x, zero, -x, x), z = x * x;
    V large = OF(all)(1) - OF(all)(2) / (OF(all)(1) + OF(exp)(size + size));
    return OF(if_less)(size, OF(all)((CELL)0.625), SMALL_TANH(x, z), OF(if_less)(x, zero, -large, large));
}

TARGET LODCORE_INLINE V OF(act)(int kind, V x)
{
    if (kind == SIGMOID)
        return OF(sigmoid)(x);
    if (kind == TANH)
        return OF(tanh)(x);
    return kind == RELU ? OF(if_less)(x, OF(all)(0), OF(all)(0), x) : x;
}

/* Return a cotangent of y = act(x) times the derivative, computed from y. */
TARGET LODCORE_INLINE V OF(act_back)(int kind, V y, V d)
{
    if (kind == SIGMOID)
        return d * (y * (OF(all)(1) - y));
    if (kind == TANH)
        return d * (OF(all)(1) - y * y);
    return kind == RELU ? OF(if_less)(OF(all)(0), y, d, OF(all)(0)) : d;
}

#define GET(place) (full ? OF(load)(place) : OF(load_some)(some, place))
#define GET_OR_ZERO(place, c) ((place) == NULL ? OF(all)(0) : GET((place) + (c)))
#define SET(place, v)                               \
    do {                                            \
        V made = OF(one_nan)(v);                    \
        if (full)                                   \
            OF(store)(place, made);                 \
        else                                        \
            OF(store_some)(place, some, made);      \
    } while (0)
#define SET_BOTH(place, other, shift, v)            \
    do {                                            \
        V both = v;                                 \
        SET((place) + (shift), both);               \
        SET((other) + (shift), both);               \
    } while (0)
#define PLUS_BIAS(v, k) ((v) + GET_OR_ZERO((const CELL *)rule->bias, (k) * width + c))

/* Loop over all columns of all rows: BODY(full) handles a vector of columns starting at c. */
#define EACH_VECTOR(BODY, ...)                                                      \
    int64_t width = rule->width, c;                                                 \
    for (int64_t r = 0; r < rows->count; r++) {                                     \
        int64_t row = rows->starts[r] + rows->shift;                                \
        for (c = 0; c + LANES <= width; c += LANES)                                 \
            BODY(rule, rows, r, row, c, 1, OF(first)(LANES), __VA_ARGS__);          \
        if (LANES > 1 && c < width)                                                 \
            BODY(rule, rows, r, row, c, 0, OF(first)(width - c), __VA_ARGS__);      \
    }
#define WHERE const Rule *rule, const Rows *rows, int64_t r, int64_t row, int64_t c, const int full, OF(mask) some

/* A cell of row r of the step, or of row `row` of the batch, and its value one step before, at first from `boot`. */
#define OF_STEP(array, wide, k) ((array) + r * (wide) + (k) * width + c)
#define OF_BATCH(array, wide, k) ((array) + row * (wide) + (k) * width + c)
#define BEFORE(array, boot)                                                                                 \
    (rows->back == 0 ? GET_OR_ZERO(boot, r * width + c) : GET((array) + (row - rows->back) * width + c))

/* -- LSTM: candidate, input, forget and output gate ------------------------------------------------------------------- */

TARGET LODCORE_INLINE void OF(lstm_cells)(WHERE, const int gate, const int act, const int candidate,
                                          const CELL *products, CELL *gates, CELL *state_cell, CELL *cell, CELL *state,
                                          int64_t line, CELL *shown)
{
    int64_t width = rule->width, wide = 4 * width;
    const CELL *peep = rule->peepholes, *product = products == NULL ? NULL : OF_STEP(products, wide, 0);
    CELL *place = OF_BATCH(gates, wide, 0);
    V old = GET(OF_STEP(state_cell, width, 0)), limit = OF(all)((CELL)rule->clip);
    V u = PLUS_BIAS(GET(place) + GET_OR_ZERO(product, 0), 0);
    V i = PLUS_BIAS(GET(place + width) + GET_OR_ZERO(product, width), 1);
    V f = PLUS_BIAS(GET(place + 2 * width) + GET_OR_ZERO(product, 2 * width), 2);
    V o = PLUS_BIAS(GET(place + 3 * width) + GET_OR_ZERO(product, 3 * width), 3);
    if (peep != NULL) {
        i = i + GET(peep + c) * old;
        f = f + GET(peep + width + c) * old;
    }
    u = OF(act)(candidate, u);
    i = OF(act)(gate, i);
    f = OF(act)(gate, f);
    V now = f * old + i * u;
    now = OF(if_less)(limit, now, limit, OF(if_less)(now, -limit, -limit, now));
    if (peep != NULL)
        o = o + GET(peep + 2 * width + c) * now;
    o = OF(act)(gate, o);
    SET(place, u);
    SET(place + width, i);
    SET(place + 2 * width, f);
    SET(place + 3 * width, o);
    SET(OF_STEP(state_cell, width, 0), now);
    if (cell != NULL)
        SET(OF_BATCH(cell, width, 0), now);
    o = o * OF(act)(act, now);
    SET(OF_STEP(state, line, 0), o);
    if (shown != NULL)
        SET(OF_BATCH(shown, width, 0), o);
}

/* The output of the output gate is written to `state`, whose rows are `line` apart, and to `shown`. */
static TARGET void OF(lstm_rows)(const Rule *rule, const Rows *rows, const CELL *products, CELL *gates,
                                 CELL *state_cell, CELL *cell, CELL *state, int64_t line, CELL *shown)
{
    if (rule->gate == SIGMOID && rule->cell == TANH && rule->candidate == TANH) {
        EACH_VECTOR(OF(lstm_cells), SIGMOID, TANH, TANH, products, gates, state_cell, cell, state, line, shown)
    } else {
        EACH_VECTOR(OF(lstm_cells), rule->gate, rule->cell, rule->candidate, products, gates, state_cell, cell, state,
                    line, shown)
    }
}

TARGET LODCORE_INLINE void OF(lstm_back_cells)(WHERE, const int gate, const int act, const int candidate,
                                               const CELL *boot_cell, const CELL *gates, const CELL *cell,
                                               const CELL *d_shown, const CELL *d_state, int64_t line,
                                               const CELL *d_cell, CELL *carry, CELL *d_step, CELL *d_gates)
{
    int64_t width = rule->width, wide = 4 * width;
    const CELL *place = OF_BATCH(gates, wide, 0), *peep = rule->peepholes;
    CELL *d_place = OF_BATCH(d_gates, wide, 0), *d_here = OF_STEP(d_step, wide, 0);
    V u = GET(place), i = GET(place + width), f = GET(place + 2 * width), o = GET(place + 3 * width);
    V old = BEFORE(cell, boot_cell), now = GET(OF_BATCH(cell, width, 0)), shown = OF(act)(act, now);
    V d = GET(OF_STEP(d_state, line, 0));
    if (d_shown != NULL)
        d = d + GET(OF_BATCH(d_shown, width, 0));
    V d_o = OF(act_back)(gate, o, d * shown), d_now = GET(OF_STEP(carry, width, 0));
    if (d_cell != NULL)
        d_now = d_now + GET(OF_BATCH(d_cell, width, 0));
    d_now = d_now + OF(act_back)(act, shown, d * o);
    if (peep != NULL)
        d_now = d_now + d_o * GET(peep + 2 * width + c);
    if ((CELL)rule->clip < (CELL)INFINITY) {
        V size = OF(if_less)(now, OF(all)(0), -now, now);
        d_now = OF(if_less)(size, OF(all)((CELL)rule->clip), d_now, OF(all)(0));
    }
    V d_u = OF(act_back)(candidate, u, d_now * i), d_i = OF(act_back)(gate, i, d_now * u);
    V d_f = OF(act_back)(gate, f, d_now * old), d_old = d_now * f;
    if (peep != NULL)
        d_old = (d_old + d_i * GET(peep + c)) + d_f * GET(peep + width + c);
    SET_BOTH(d_place, d_here, 0, d_u);
    SET_BOTH(d_place, d_here, width, d_i);
    SET_BOTH(d_place, d_here, 2 * width, d_f);
    SET_BOTH(d_place, d_here, 3 * width, d_o);
    SET(OF_STEP(carry, width, 0), d_old);
}

/* The cotangent of the output is the sum of `d_state`, whose rows are `line` apart, and `d_shown` (NULL for none).
 * `carry` is the cotangent of the cell from the following step, and becomes that of the previous cell. */
static TARGET void OF(lstm_back_rows)(const Rule *rule, const Rows *rows, const CELL *boot_cell, const CELL *gates,
                                      const CELL *cell, const CELL *d_shown, const CELL *d_state, int64_t line,
                                      const CELL *d_cell, CELL *carry, CELL *d_step, CELL *d_gates)
{
    if (rule->gate == SIGMOID && rule->cell == TANH && rule->candidate == TANH) {
        EACH_VECTOR(OF(lstm_back_cells), SIGMOID, TANH, TANH, boot_cell, gates, cell, d_shown, d_state, line, d_cell,
                    carry, d_step, d_gates)
    } else {
        EACH_VECTOR(OF(lstm_back_cells), rule->gate, rule->cell, rule->candidate, boot_cell, gates, cell, d_shown,
                    d_state, line, d_cell, carry, d_step, d_gates)
    }
}

/* -- GRU: update and reset gate, candidate. A step has products of three widths: those of the two gates, the first of
 * which is overwritten by the reset state, and that of the candidate. */

TARGET LODCORE_INLINE void OF(gru_reset_cells)(WHERE, const int gate, const CELL *state, CELL *products, CELL *gates)
{
    int64_t width = rule->width, wide = 3 * width;
    CELL *place = OF_BATCH(gates, wide, 0), *product = products == NULL ? NULL : OF_STEP(products, wide, 0);
    V u = OF(act)(gate, PLUS_BIAS(GET(place) + GET_OR_ZERO(product, 0), 0));
    V e = OF(act)(gate, PLUS_BIAS(GET(place + width) + GET_OR_ZERO(product, width), 1));
    SET(place, u);
    SET(place + width, e);
    if (product != NULL)
        SET(product, e * GET(OF_STEP(state, width, 0)));
}

static TARGET void OF(gru_reset_rows)(const Rule *rule, const Rows *rows, const CELL *state, CELL *products, CELL *gates)
{
    if (rule->gate == SIGMOID) {
        EACH_VECTOR(OF(gru_reset_cells), SIGMOID, state, products, gates)
    } else {
        EACH_VECTOR(OF(gru_reset_cells), rule->gate, state, products, gates)
    }
}

TARGET LODCORE_INLINE void OF(gru_update_cells)(WHERE, const int candidate, const CELL *products, CELL *state,
                                                CELL *gates, CELL *hidden)
{
    int64_t width = rule->width, wide = 3 * width;
    CELL *place = OF_BATCH(gates, wide, 0);
    const CELL *product = products == NULL ? NULL : OF_STEP(products, wide, 0);
    V n = OF(act)(candidate, PLUS_BIAS(GET(place + 2 * width) + GET_OR_ZERO(product, 2 * width), 2));
    V u = GET(place), rest = OF(all)(1) - u, old = GET(OF_STEP(state, width, 0));
    V now = rule->origin ? u * old + rest * n : rest * old + u * n;
    SET(place + 2 * width, n);
    SET_BOTH(OF_STEP(state, width, 0), OF_BATCH(hidden, width, 0), 0, now);
}

static TARGET void OF(gru_update_rows)(const Rule *rule, const Rows *rows, const CELL *products, CELL *state,
                                       CELL *gates, CELL *hidden)
{
    if (rule->candidate == TANH) {
        EACH_VECTOR(OF(gru_update_cells), TANH, products, state, gates, hidden)
    } else {
        EACH_VECTOR(OF(gru_update_cells), rule->candidate, products, state, gates, hidden)
    }
}

/* Propagate to the candidate and the update gate; d_state becomes the part that reaches the previous state directly.
 * */
TARGET LODCORE_INLINE void OF(gru_update_back_cells)(WHERE, const CELL *boot, const CELL *gates, const CELL *hidden,
                                                     const CELL *d_hidden, CELL *d_state, CELL *d_step, CELL *d_gates)
{
    int64_t width = rule->width, wide = 3 * width;
    const CELL *place = OF_BATCH(gates, wide, 0);
    CELL *d_place = OF_BATCH(d_gates, wide, 0), *d_here = OF_STEP(d_step, wide, 0);
    V u = GET(place), n = GET(place + 2 * width), old = BEFORE(hidden, boot), rest = OF(all)(1) - u;
    V d = GET(OF_STEP(d_state, width, 0)) + GET(OF_BATCH(d_hidden, width, 0));
    SET_BOTH(d_place, d_here, 0, OF(act_back)(rule->gate, u, d * (rule->origin ? old - n : n - old)));
    SET_BOTH(d_place, d_here, 2 * width, OF(act_back)(rule->candidate, n, d * (rule->origin ? rest : u)));
    SET(OF_STEP(d_state, width, 0), d * (rule->origin ? u : rest));
}

static TARGET void OF(gru_update_back_rows)(const Rule *rule, const Rows *rows, const CELL *boot, const CELL *gates,
                                            const CELL *hidden, const CELL *d_hidden, CELL *d_state, CELL *d_step,
                                            CELL *d_gates)
{
    EACH_VECTOR(OF(gru_update_back_cells), boot, gates, hidden, d_hidden, d_state, d_step, d_gates)
}

/* Propagate to the reset gate: its columns of `d_step` hold the cotangent of the reset state, which is written to
 * `reset`. */
TARGET LODCORE_INLINE void OF(gru_reset_back_cells)(WHERE, const CELL *boot, const CELL *gates, const CELL *hidden,
                                                    CELL *d_state, CELL *d_step, CELL *d_gates, CELL *reset)
{
    int64_t width = rule->width, wide = 3 * width;
    CELL *d_here = OF_STEP(d_step, wide, 1);
    V e = GET(OF_BATCH(gates, wide, 1)), old = BEFORE(hidden, boot);
    V d = rows->back == 0 && boot == NULL ? OF(all)(0) : GET(d_here);
    SET_BOTH(OF_BATCH(d_gates, wide, 1), d_here, 0, OF(act_back)(rule->gate, e, d * old));
    SET(OF_STEP(d_state, width, 0), GET(OF_STEP(d_state, width, 0)) + d * e);
    SET(OF_BATCH(reset, width, 0), e * old);
}

static TARGET void OF(gru_reset_back_rows)(const Rule *rule, const Rows *rows, const CELL *boot, const CELL *gates,
                                           const CELL *hidden, CELL *d_state, CELL *d_step, CELL *d_gates, CELL *reset)
{
    EACH_VECTOR(OF(gru_reset_back_cells), boot, gates, hidden, d_state, d_step, d_gates, reset)
}

/* -- one activation ---------------------------------------------------------------------------------------------------- */

TARGET LODCORE_INLINE void OF(simple_cells)(WHERE, const int candidate, const CELL *products, CELL *state, CELL *hidden)
{
    int64_t width = rule->width;
    CELL *place = OF_BATCH(hidden, width, 0);
    const CELL *product = products == NULL ? NULL : OF_STEP(products, width, 0);
    V now = OF(act)(candidate, PLUS_BIAS(GET(place) + GET_OR_ZERO(product, 0), 0));
    SET_BOTH(place, OF_STEP(state, width, 0), 0, now);
}

static TARGET void OF(simple_rows)(const Rule *rule, const Rows *rows, const CELL *products, CELL *state, CELL *hidden)
{
    if (rule->candidate == TANH) {
        EACH_VECTOR(OF(simple_cells), TANH, products, state, hidden)
    } else {
        EACH_VECTOR(OF(simple_cells), rule->candidate, products, state, hidden)
    }
}

TARGET LODCORE_INLINE void OF(simple_back_cells)(WHERE, const CELL *hidden, const CELL *d_hidden, const CELL *d_state,
                                                 CELL *d_step, CELL *d_gates)
{
    int64_t width = rule->width;
    V d = GET(OF_STEP(d_state, width, 0)) + GET(OF_BATCH(d_hidden, width, 0));
    d = OF(act_back)(rule->candidate, GET(OF_BATCH(hidden, width, 0)), d);
    SET_BOTH(OF_BATCH(d_gates, width, 0), OF_STEP(d_step, width, 0), 0, d);
}

static TARGET void OF(simple_back_rows)(const Rule *rule, const Rows *rows, const CELL *hidden, const CELL *d_hidden,
                                        const CELL *d_state, CELL *d_step, CELL *d_gates)
{
    EACH_VECTOR(OF(simple_back_cells), hidden, d_hidden, d_state, d_step, d_gates)
}

#undef V
#undef GET
#undef GET_OR_ZERO
#undef SET
#undef SET_BOTH
#undef OF_STEP
#undef OF_BATCH
#undef BEFORE
#undef PLUS_BIAS
#undef EACH_VECTOR
#undef WHERE
#undef TARGET
#undef OF
#undef LANES
