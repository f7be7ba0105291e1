/* The gates of a step with vectors, of one lane too; gates.h includes this once a type of cells and instruction set. CELL
 * is the type, a vector has LANES of them; OF(NAME) names functions of the set. A row of gates has one width of cells
 * for each gate. `before` is the state before the step, NULL for zeros. */

#define V OF(vector)

TARGET LODCORE_INLINE V OF(sigmoid)(V x)
{
    return OF(all)(1) / (OF(all)(1) + OF(exp)(-x));
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

/* A cotangent of y = act(x), times the derivative, which y tells. */
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
#define PLUS_BIAS(v, k) ((v) + GET_OR_ZERO((const CELL *)rule->bias, (k) * width + c))

/* All columns of all rows: BODY(full) is what is done with a vector of columns from c on. */
#define EACH_VECTOR(BODY, ...)                                                      \
    int64_t width = rule->width, c;                                                 \
    for (int64_t r = 0; r < rows; r++) {                                            \
        for (c = 0; c + LANES <= width; c += LANES)                                 \
            BODY(rule, r, c, 1, OF(first)(LANES), __VA_ARGS__);                     \
        if (LANES > 1 && c < width)                                                 \
            BODY(rule, r, c, 0, OF(first)(width - c), __VA_ARGS__);                 \
    }
#define WHERE const Rule *rule, int64_t r, int64_t c, const int full, OF(mask) some

/* -- LSTM: candidate, input, forget and output gate ------------------------------------------------------------------- */

TARGET LODCORE_INLINE void OF(lstm_cells)(WHERE, const int gate, const int act, const int candidate, const CELL *before,
                                          CELL *gates, CELL *cell, CELL *hidden)
{
    int64_t width = rule->width, at = r * width + c;
    CELL *place = gates + 4 * r * width + c;
    const CELL *peep = rule->peepholes;
    V old = GET_OR_ZERO(before, at), limit = OF(all)((CELL)rule->clip);
    V u = PLUS_BIAS(GET(place), 0), i = PLUS_BIAS(GET(place + width), 1), f = PLUS_BIAS(GET(place + 2 * width), 2);
    V o = PLUS_BIAS(GET(place + 3 * width), 3);
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
    SET(cell + at, now);
    SET(hidden + at, o * OF(act)(act, now));
}

static TARGET void OF(lstm_rows)(const Rule *rule, int64_t rows, const CELL *before, CELL *gates, CELL *cell,
                                 CELL *hidden)
{
    if (rule->gate == SIGMOID && rule->cell == TANH && rule->candidate == TANH) {
        EACH_VECTOR(OF(lstm_cells), SIGMOID, TANH, TANH, before, gates, cell, hidden)
    } else {
        EACH_VECTOR(OF(lstm_cells), rule->gate, rule->cell, rule->candidate, before, gates, cell, hidden)
    }
}

/* `carry` is the cotangent of the cell from the step behind, and becomes that of the cell before. */
TARGET LODCORE_INLINE void OF(lstm_back_cells)(WHERE, const int gate, const int act, const int candidate,
                                               const CELL *before, const CELL *gates, const CELL *cell,
                                               const CELL *d_hidden, const CELL *d_cell, CELL *carry, CELL *d_gates)
{
    int64_t width = rule->width, at = r * width + c;
    const CELL *place = gates + 4 * r * width + c, *peep = rule->peepholes;
    CELL *d_place = d_gates + 4 * r * width + c;
    V u = GET(place), i = GET(place + width), f = GET(place + 2 * width), o = GET(place + 3 * width);
    V old = GET_OR_ZERO(before, at), now = GET(cell + at), d = GET(d_hidden + at), shown = OF(act)(act, now);
    V d_o = OF(act_back)(gate, o, d * shown), d_now = GET(carry + at);
    if (d_cell != NULL)
        d_now = d_now + GET(d_cell + at);
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
    SET(d_place, d_u);
    SET(d_place + width, d_i);
    SET(d_place + 2 * width, d_f);
    SET(d_place + 3 * width, d_o);
    SET(carry + at, d_old);
}

static TARGET void OF(lstm_back_rows)(const Rule *rule, int64_t rows, const CELL *before, const CELL *gates,
                                      const CELL *cell, const CELL *d_hidden, const CELL *d_cell, CELL *carry,
                                      CELL *d_gates)
{
    if (rule->gate == SIGMOID && rule->cell == TANH && rule->candidate == TANH) {
        EACH_VECTOR(OF(lstm_back_cells), SIGMOID, TANH, TANH, before, gates, cell, d_hidden, d_cell, carry, d_gates)
    } else {
        EACH_VECTOR(OF(lstm_back_cells), rule->gate, rule->cell, rule->candidate, before, gates, cell, d_hidden,
                    d_cell, carry, d_gates)
    }
}

/* -- GRU: update and reset gate, candidate --------------------------------------------------------------------------- */

TARGET LODCORE_INLINE void OF(gru_reset_cells)(WHERE, const int gate, const CELL *before, CELL *gates, CELL *reset)
{
    int64_t width = rule->width;
    CELL *place = gates + 3 * r * width + c;
    V u = OF(act)(gate, PLUS_BIAS(GET(place), 0)), e = OF(act)(gate, PLUS_BIAS(GET(place + width), 1));
    SET(place, u);
    SET(place + width, e);
    if (before != NULL)
        SET(reset + r * width + c, e * GET(before + r * width + c));
}

static TARGET void OF(gru_reset_rows)(const Rule *rule, int64_t rows, const CELL *before, CELL *gates, CELL *reset)
{
    if (rule->gate == SIGMOID) {
        EACH_VECTOR(OF(gru_reset_cells), SIGMOID, before, gates, reset)
    } else {
        EACH_VECTOR(OF(gru_reset_cells), rule->gate, before, gates, reset)
    }
}

TARGET LODCORE_INLINE void OF(gru_update_cells)(WHERE, const int candidate, const CELL *before, CELL *gates,
                                                CELL *hidden)
{
    int64_t width = rule->width, at = r * width + c;
    CELL *place = gates + 3 * r * width + c;
    V u = GET(place), rest = OF(all)(1) - u, n = OF(act)(candidate, PLUS_BIAS(GET(place + 2 * width), 2));
    V old = GET_OR_ZERO(before, at);
    SET(place + 2 * width, n);
    SET(hidden + at, rule->origin ? u * old + rest * n : rest * old + u * n);
}

static TARGET void OF(gru_update_rows)(const Rule *rule, int64_t rows, const CELL *before, CELL *gates, CELL *hidden)
{
    if (rule->candidate == TANH) {
        EACH_VECTOR(OF(gru_update_cells), TANH, before, gates, hidden)
    } else {
        EACH_VECTOR(OF(gru_update_cells), rule->candidate, before, gates, hidden)
    }
}

/* Back to the candidate and the update gate; d_before (NULL if nobody wants it) grows. */
TARGET LODCORE_INLINE void OF(gru_update_back_cells)(WHERE, const CELL *before, const CELL *gates, const CELL *d_hidden,
                                                     CELL *d_before, CELL *d_gates)
{
    int64_t width = rule->width, at = r * width + c;
    const CELL *place = gates + 3 * r * width + c;
    CELL *d_place = d_gates + 3 * r * width + c;
    V u = GET(place), n = GET(place + 2 * width), old = GET_OR_ZERO(before, at), d = GET(d_hidden + at);
    V rest = OF(all)(1) - u;
    SET(d_place, OF(act_back)(rule->gate, u, d * (rule->origin ? old - n : n - old)));
    SET(d_place + 2 * width, OF(act_back)(rule->candidate, n, d * (rule->origin ? rest : u)));
    if (d_before != NULL)
        SET(d_before + at, GET(d_before + at) + d * (rule->origin ? u : rest));
}

static TARGET void OF(gru_update_back_rows)(const Rule *rule, int64_t rows, const CELL *before, const CELL *gates,
                                            const CELL *d_hidden, CELL *d_before, CELL *d_gates)
{
    EACH_VECTOR(OF(gru_update_back_cells), before, gates, d_hidden, d_before, d_gates)
}

/* Back to the reset gate: `reset` is the cotangent of the reset state, and becomes that state. */
TARGET LODCORE_INLINE void OF(gru_reset_back_cells)(WHERE, const CELL *before, const CELL *gates, CELL *reset,
                                                    CELL *d_before, CELL *d_gates)
{
    int64_t width = rule->width, at = r * width + c;
    V e = GET(gates + 3 * r * width + width + c), old = GET_OR_ZERO(before, at);
    V d = before == NULL ? OF(all)(0) : GET(reset + at);
    SET(d_gates + 3 * r * width + width + c, OF(act_back)(rule->gate, e, d * old));
    if (d_before != NULL)
        SET(d_before + at, GET(d_before + at) + d * e);
    SET(reset + at, e * old);
}

static TARGET void OF(gru_reset_back_rows)(const Rule *rule, int64_t rows, const CELL *before, const CELL *gates,
                                           CELL *reset, CELL *d_before, CELL *d_gates)
{
    EACH_VECTOR(OF(gru_reset_back_cells), before, gates, reset, d_before, d_gates)
}

/* -- one activation ---------------------------------------------------------------------------------------------------- */

TARGET LODCORE_INLINE void OF(simple_cells)(WHERE, const int candidate, CELL *hidden)
{
    int64_t width = rule->width;
    CELL *place = hidden + r * width + c;
    SET(place, OF(act)(candidate, PLUS_BIAS(GET(place), 0)));
}

static TARGET void OF(simple_rows)(const Rule *rule, int64_t rows, CELL *hidden)
{
    if (rule->candidate == TANH) {
        EACH_VECTOR(OF(simple_cells), TANH, hidden)
    } else {
        EACH_VECTOR(OF(simple_cells), rule->candidate, hidden)
    }
}

TARGET LODCORE_INLINE void OF(simple_back_cells)(WHERE, const CELL *hidden, const CELL *d_hidden, CELL *d_gates)
{
    int64_t at = r * rule->width + c;
    SET(d_gates + at, OF(act_back)(rule->candidate, GET(hidden + at), GET(d_hidden + at)));
}

static TARGET void OF(simple_back_rows)(const Rule *rule, int64_t rows, const CELL *hidden, const CELL *d_hidden,
                                        CELL *d_gates)
{
    EACH_VECTOR(OF(simple_back_cells), hidden, d_hidden, d_gates)
}

#undef V
#undef GET
#undef GET_OR_ZERO
#undef SET
#undef PLUS_BIAS
#undef EACH_VECTOR
#undef WHERE
#undef TARGET
#undef OF
#undef LANES
