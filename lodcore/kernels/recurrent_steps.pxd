"""All steps of a recurrent batch: the product of each, and its gates.

Step t has steps[t + 1] - steps[t] rows, a prefix of the sequences of the step before, the longest first; its row r is
row starts[r] + stride * t of the batch. Packed weights are those of `matrix`, NULL if the caller multiplies. States
have one row per sequence. `booted` says whether they are nonzero before the first step, `to_boot` whether their
cotangents there are needed.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.matrix cimport real, times_packed

cdef extern from "gates.h" nogil:
    ctypedef struct Rule:
        int64_t width
        int gate, cell, candidate, origin
        double clip
        const void* bias
        const void* peepholes
    ctypedef struct Rows:
        int64_t count, shift
        const int64_t* starts
        int64_t back

    # of float or of double: all arrays of cells have the type of the first one that is written
    void lstm_rows(const Rule*, const Rows*, const void* products, void* gates, void* state_cell, void* cell,
                   void* state, int64_t line, void* shown)
    void lstm_back_rows(const Rule*, const Rows*, const void* boot_cell, const void* gates, const void* cell,
                        const void* d_shown, const void* d_state, int64_t line, const void* d_cell, void* carry,
                        void* d_step, void* d_gates)
    void gru_reset_rows(const Rule*, const Rows*, const void* state, void* products, void* gates)
    void gru_update_rows(const Rule*, const Rows*, const void* products, void* state, void* gates, void* hidden)
    void gru_update_back_rows(const Rule*, const Rows*, const void* boot, const void* gates, const void* hidden,
                              const void* d_hidden, void* d_state, void* d_step, void* d_gates)
    void gru_reset_back_rows(const Rule*, const Rows*, const void* boot, const void* gates, const void* hidden,
                             void* d_state, void* d_step, void* d_gates, void* reset)
    void simple_rows(const Rule*, const Rows*, const void* products, void* state, void* hidden)
    void simple_back_rows(const Rule*, const Rows*, const void* hidden, const void* d_hidden, const void* d_state,
                          void* d_step, void* d_gates)


cdef inline Rows rows_of(const int64_t* steps, const int64_t* starts, int64_t stride, int64_t t) noexcept nogil:
    return Rows(steps[t + 1] - steps[t], stride * t, starts, stride if t > 0 else 0)


cdef inline void times(
    const real* rows, int64_t line, int64_t count, int64_t depth, const real* weight, int64_t columns, bint adding,
    real* out, int64_t out_line
) noexcept nogil:
    """Compute out (+)= rows @ weight; the rows are `line` apart, those of out `out_line`."""
    if weight != NULL:
        times_packed(rows, line, count, depth, weight, columns, adding, out, out_line)


# -- LSTM. `inner` is the input of the projection; NULL without one, when it is the state itself -----------------------


cdef inline void lstm_forward(
    const Rule* rule, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first, int64_t stop,
    const real* weight, const real* projection, int64_t state_width, bint booted, real* state, real* state_cell,
    real* products, real* gates, real* cell, real* inner, real* hidden
) noexcept nogil:
    cdef int64_t width = rule.width, wide = 4 * rule.width, t, r
    cdef Rows rows
    cdef real* made
    for t in range(first, stop):
        rows = rows_of(steps, starts, stride, t)
        made = products if (t > 0 or booted) and state_width > 0 else NULL
        if made != NULL:
            times(state, state_width, rows.count, state_width, weight, wide, False, made, wide)
        if inner == NULL:
            lstm_rows(rule, &rows, made, gates, state_cell, cell, state, width, hidden)
            continue
        lstm_rows(rule, &rows, made, gates, state_cell, cell, products, wide, inner)
        times(products, wide, rows.count, width, projection, state_width, False, state, state_width)
        if projection != NULL and hidden != NULL:
            for r in range(rows.count):
                memcpy(hidden + (starts[r] + rows.shift) * state_width, state + r * state_width,
                       state_width * sizeof(real))


cdef inline void lstm_backward(
    const Rule* rule, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first, int64_t stop,
    const real* weight, const real* projection, int64_t state_width, const real* boot_cell, const real* gates,
    const real* cell, const real* d_hidden, const real* d_cell, bint to_boot, real* d_state, real* carry, real* d_step,
    real* d_full, real* d_gates
) noexcept nogil:
    """Run back; the weights are transposed.

    With a projection, `d_full` is the sum of d_hidden and the cotangents from later steps.
    """
    cdef int64_t width = rule.width, wide = 4 * rule.width, t, r
    cdef const real* none = NULL
    cdef Rows rows
    for t in range(stop - 1, first - 1, -1):
        rows = rows_of(steps, starts, stride, t)
        if d_full == NULL:
            lstm_back_rows(rule, &rows, boot_cell, gates, cell, d_hidden, d_state, width, d_cell, carry, d_step,
                           d_gates)
        else:
            if projection != NULL:
                add_later(&rows, state_width, d_hidden, d_state, d_full)
            if state_width == 0:
                for r in range(rows.count):
                    memset(d_step + r * wide, 0, width * sizeof(real))
            times(d_state, state_width, rows.count, state_width, projection, width, False, d_step, wide)
            lstm_back_rows(rule, &rows, boot_cell, gates, cell, none, d_step, wide, d_cell, carry, d_step, d_gates)
        if t > 0 or to_boot:
            times(d_step, wide, rows.count, wide, weight, state_width, False, d_state, state_width)


cdef inline void add_later(
    const Rows* rows, int64_t width, const real* d_hidden, real* d_state, real* d_full
) noexcept nogil:
    """Add the cotangent of the state of a step to that from later steps."""
    cdef int64_t r, c, at
    for r in range(rows.count):
        at = (rows.starts[r] + rows.shift) * width
        for c in range(width):
            d_state[r * width + c] += 0 if d_hidden == NULL else d_hidden[at + c]
            d_full[at + c] = d_state[r * width + c]


# -- GRU. Both passes have a product in the middle; `stage` 1 is the part before it, 2 the part after it, 0 both -------


cdef inline void gru_forward(
    const Rule* rule, int stage, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first,
    int64_t stop, const real* weight, const real* weight_candidate, bint booted, real* state, real* products,
    real* gates, real* hidden
) noexcept nogil:
    cdef int64_t width = rule.width, wide = 3 * rule.width, t
    cdef Rows rows
    cdef real* made
    for t in range(first, stop):
        rows = rows_of(steps, starts, stride, t)
        made = products if t > 0 or booted else NULL
        if stage != 2:
            if made != NULL:
                times(state, width, rows.count, width, weight, 2 * width, False, made, wide)
            gru_reset_rows(rule, &rows, state, made, gates)
        if stage == 0 and made != NULL:
            times(made, wide, rows.count, width, weight_candidate, width, False, made + 2 * width, wide)
        if stage != 1:
            gru_update_rows(rule, &rows, made, state, gates, hidden)


cdef inline void gru_backward(
    const Rule* rule, int stage, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first,
    int64_t stop, const real* weight, const real* weight_candidate, const real* boot, const real* gates,
    const real* hidden, const real* d_hidden, bint to_boot, real* d_state, real* d_step, real* reset, real* d_gates
) noexcept nogil:
    cdef int64_t width = rule.width, wide = 3 * rule.width, t
    cdef Rows rows
    for t in range(stop - 1, first - 1, -1):
        rows = rows_of(steps, starts, stride, t)
        if stage != 2:
            gru_update_back_rows(rule, &rows, boot, gates, hidden, d_hidden, d_state, d_step, d_gates)
        if stage == 0 and (t > 0 or boot != NULL):
            times(d_step + 2 * width, wide, rows.count, width, weight_candidate, width, False, d_step + width, wide)
        if stage != 1:
            gru_reset_back_rows(rule, &rows, boot, gates, hidden, d_state, d_step, d_gates, reset)
            if t > 0 or to_boot:
                times(d_step, wide, rows.count, 2 * width, weight, width, True, d_state, width)


# -- one activation ----------------------------------------------------------------------------------------------------


cdef inline void simple_forward(
    const Rule* rule, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first, int64_t stop,
    const real* weight, bint booted, real* state, real* products, real* hidden
) noexcept nogil:
    cdef int64_t width = rule.width, t
    cdef Rows rows
    cdef real* made
    for t in range(first, stop):
        rows = rows_of(steps, starts, stride, t)
        made = products if t > 0 or booted else NULL
        if made != NULL:
            times(state, width, rows.count, width, weight, width, False, made, width)
        simple_rows(rule, &rows, made, state, hidden)


cdef inline void simple_backward(
    const Rule* rule, const int64_t* steps, const int64_t* starts, int64_t stride, int64_t first, int64_t stop,
    const real* weight, const real* hidden, const real* d_hidden, bint to_boot, real* d_state, real* d_step,
    real* d_gates
) noexcept nogil:
    cdef int64_t width = rule.width, t
    cdef Rows rows
    for t in range(stop - 1, first - 1, -1):
        rows = rows_of(steps, starts, stride, t)
        simple_back_rows(rule, &rows, hidden, d_hidden, d_state, d_step, d_gates)
        if t > 0 or to_boot:
            times(d_step, width, rows.count, width, weight, width, False, d_state, width)
