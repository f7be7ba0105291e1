/* The gates of recurrent networks: what a step computes besides its products, in the forward and in the backward pass.
 *
 * Every path runs the same operations in the same order and returns the same bits. The exponential is that of
 * exponential.h; sigmoid(x) = 1 / (1 + exp(-x)); tanh(x) = 1 - 2 / (1 + exp(2 |x|)) with the sign of x, and for |x|
 * below 0.625 an odd polynomial (float) or rational function (double) of x, as in Cephes. No multiply-add is fused,
 * and every nan that is stored has the same bits. */
#ifndef LODCORE_GATES_H
#define LODCORE_GATES_H

#include "exponential.h"
#include "lanes.h"

enum { SIGMOID, TANH, RELU, IDENTITY };

/* -- one cell as a vector of one lane, for plain C ------------------------------------------------------------------- */

#define LODCORE_ONE_LANE(CELL)                                                                                       \
    typedef CELL vector_##CELL##_plain;                                                                              \
    typedef int mask_##CELL##_plain;                                                                                 \
    LODCORE_INLINE CELL load_##CELL##_plain(const CELL *place) { return *place; }                                    \
    LODCORE_INLINE CELL load_some_##CELL##_plain(int some, const CELL *place) { return some ? *place : 0; }          \
    LODCORE_INLINE void store_##CELL##_plain(CELL *place, CELL v) { *place = v; }                                    \
    LODCORE_INLINE void store_some_##CELL##_plain(CELL *place, int some, CELL v) { *place = some ? v : *place; }     \
    LODCORE_INLINE CELL all_##CELL##_plain(CELL x) { return x; }                                                     \
    LODCORE_INLINE int first_##CELL##_plain(int64_t n) { return n > 0; }                                             \
    LODCORE_INLINE CELL one_nan_##CELL##_plain(CELL x) { return x == x ? x : (CELL)NAN; }                            \
    LODCORE_INLINE CELL exp_##CELL##_plain(CELL x) { return exp_##CELL(x); }                                         \
    LODCORE_INLINE CELL if_less_##CELL##_plain(CELL x, CELL y, CELL then, CELL otherwise)                            \
    {                                                                                                                \
        return x < y ? then : otherwise;                                                                             \
    }
LODCORE_ONE_LANE(float)
LODCORE_ONE_LANE(double)

#if LODCORE_HAS_SIMD
#define LODCORE_IF_LESS_256(NAME, VECTOR, DO)                                                                        \
    LODCORE_AVX2 LODCORE_INLINE VECTOR NAME(VECTOR x, VECTOR y, VECTOR then, VECTOR otherwise)                       \
    {                                                                                                                \
        return DO(blendv)(otherwise, then, DO(cmp)(x, y, _CMP_LT_OQ));                                               \
    }
#define LODCORE_IF_LESS_512(NAME, VECTOR, DO, LESS)                                                                  \
    LODCORE_AVX512 LODCORE_INLINE VECTOR NAME(VECTOR x, VECTOR y, VECTOR then, VECTOR otherwise)                     \
    {                                                                                                                \
        return DO(mask_mov)(otherwise, LESS(x, y, _CMP_LT_OQ), then);                                                \
    }
LODCORE_IF_LESS_256(if_less_float_avx2, __m256, DO_FLOAT_256)
LODCORE_IF_LESS_256(if_less_double_avx2, __m256d, DO_DOUBLE_256)
LODCORE_IF_LESS_512(if_less_float_avx512, __m512, DO_FLOAT_512, _mm512_cmp_ps_mask)
LODCORE_IF_LESS_512(if_less_double_avx512, __m512d, DO_DOUBLE_512, _mm512_cmp_pd_mask)
#endif

/* -- tanh(x) for |x| < 0.625, of x and z = x * x; V is a cell or a vector -------------------------------------------- */

#define SMALL_TANH_float(x, z)                                                                                       \
    (((((z * -5.70498872745e-3f + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f) * z -         \
      3.33332819422e-1f) * z * x + x)
#define SMALL_TANH_double(x, z)                                                                                      \
    (((z * -9.64399179425052238628e-1 - 9.92877231001918586564e1) * z - 1.61468768441708447952e3) * z /              \
         (((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3) * x + x)

/* The rows of a step, and their positions in the batch. */
typedef struct {
    int64_t count, shift;  /* row r of the step is row starts[r] + shift */
    const int64_t *starts;
    int64_t back; /* how many rows before it the row of the previous step is; 0 for the first step */
} Rows;

/* The arguments of the functions below other than rows. */
typedef struct {
    int64_t width;                     /* of a state */
    int gate, cell, candidate, origin; /* activations; whether a GRU keeps the old state by its update gate */
    double clip;                       /* bound of the cell of an LSTM; inf for none */
    const void *bias, *peepholes;      /* cells; NULL for none */
} Rule;

#define CELL float
#define SMALL_TANH SMALL_TANH_float
#define TARGET
#define OF(NAME) NAME##_float_plain
#define LANES 1
#include "gates_lanes.h"
#if LODCORE_HAS_SIMD
#define TARGET LODCORE_AVX2
#define OF FLOAT_256
#define LANES 8
#include "gates_lanes.h"
#define TARGET LODCORE_AVX512
#define OF FLOAT_512
#define LANES 16
#include "gates_lanes.h"
#endif
#undef CELL
#undef SMALL_TANH

#define CELL double
#define SMALL_TANH SMALL_TANH_double
#define TARGET
#define OF(NAME) NAME##_double_plain
#define LANES 1
#include "gates_lanes.h"
#if LODCORE_HAS_SIMD
#define TARGET LODCORE_AVX2
#define OF DOUBLE_256
#define LANES 4
#include "gates_lanes.h"
#define TARGET LODCORE_AVX512
#define OF DOUBLE_512
#define LANES 8
#include "gates_lanes.h"
#endif
#undef CELL
#undef SMALL_TANH

#if LODCORE_HAS_SIMD
#define LODCORE_GATES_OF(NAME, CELL, PARAMETERS, ARGUMENTS)       \
    static LODCORE_UNUSED void NAME##_##CELL PARAMETERS           \
    {                                                             \
        if (simd_level() == SIMD_AVX512)                          \
            NAME##_##CELL##_avx512 ARGUMENTS;                     \
        else if (simd_level() == SIMD_AVX2)                       \
            NAME##_##CELL##_avx2 ARGUMENTS;                       \
        else                                                      \
            NAME##_##CELL##_plain ARGUMENTS;                      \
    }
#else
#define LODCORE_GATES_OF(NAME, CELL, PARAMETERS, ARGUMENTS)       \
    static LODCORE_UNUSED void NAME##_##CELL PARAMETERS           \
    {                                                             \
        NAME##_##CELL##_plain ARGUMENTS;                          \
    }
#endif

#define LODCORE_GATES(CELL)                                                                                          \
    LODCORE_GATES_OF(sigmoid_numbers, CELL, (int64_t count, const CELL *x, CELL *out), (count, x, out))              \
    LODCORE_GATES_OF(lstm_rows, CELL,                                                                                \
                     (const Rule *rule, const Rows *rows, const CELL *products, CELL *gates, CELL *state_cell,       \
                      CELL *cell, CELL *state, int64_t line, CELL *shown),                                           \
                     (rule, rows, products, gates, state_cell, cell, state, line, shown))                            \
    LODCORE_GATES_OF(lstm_back_rows, CELL,                                                                           \
                     (const Rule *rule, const Rows *rows, const CELL *boot_cell, const CELL *gates,                  \
                      const CELL *cell, const CELL *d_shown, const CELL *d_state, int64_t line, const CELL *d_cell,  \
                      CELL *carry, CELL *d_step, CELL *d_gates),                                                     \
                     (rule, rows, boot_cell, gates, cell, d_shown, d_state, line, d_cell, carry, d_step, d_gates))   \
    LODCORE_GATES_OF(gru_reset_rows, CELL,                                                                           \
                     (const Rule *rule, const Rows *rows, const CELL *state, CELL *products, CELL *gates),           \
                     (rule, rows, state, products, gates))                                                           \
    LODCORE_GATES_OF(gru_update_rows, CELL,                                                                          \
                     (const Rule *rule, const Rows *rows, const CELL *products, CELL *state, CELL *gates,            \
                      CELL *hidden),                                                                                 \
                     (rule, rows, products, state, gates, hidden))                                                   \
    LODCORE_GATES_OF(gru_update_back_rows, CELL,                                                                     \
                     (const Rule *rule, const Rows *rows, const CELL *boot, const CELL *gates, const CELL *hidden,   \
                      const CELL *d_hidden, CELL *d_state, CELL *d_step, CELL *d_gates),                             \
                     (rule, rows, boot, gates, hidden, d_hidden, d_state, d_step, d_gates))                          \
    LODCORE_GATES_OF(gru_reset_back_rows, CELL,                                                                      \
                     (const Rule *rule, const Rows *rows, const CELL *boot, const CELL *gates, const CELL *hidden,   \
                      CELL *d_state, CELL *d_step, CELL *d_gates, CELL *reset),                                      \
                     (rule, rows, boot, gates, hidden, d_state, d_step, d_gates, reset))                             \
    LODCORE_GATES_OF(simple_rows, CELL,                                                                              \
                     (const Rule *rule, const Rows *rows, const CELL *products, CELL *state, CELL *hidden),          \
                     (rule, rows, products, state, hidden))                                                          \
    LODCORE_GATES_OF(simple_back_rows, CELL,                                                                         \
                     (const Rule *rule, const Rows *rows, const CELL *hidden, const CELL *d_hidden,                  \
                      const CELL *d_state, CELL *d_step, CELL *d_gates),                                             \
                     (rule, rows, hidden, d_hidden, d_state, d_step, d_gates))

LODCORE_GATES(float)
LODCORE_GATES(double)

/* For both types of cells: that of an array, named `place`, which is written. */
#define LODCORE_BY_TYPE(NAME, place, ...)                                                         \
    _Generic((place), float *: NAME##_float, double *: NAME##_double)(__VA_ARGS__)
#define sigmoid_numbers(count, x, out) LODCORE_BY_TYPE(sigmoid_numbers, out, count, x, out)
#define lstm_rows(rule, rows, products, gates, ...)                                               \
    LODCORE_BY_TYPE(lstm_rows, gates, rule, rows, products, gates, __VA_ARGS__)
#define lstm_back_rows(rule, rows, boot, gates, cell, d_shown, d_state, line, d_cell, carry, ...) \
    LODCORE_BY_TYPE(lstm_back_rows, carry, rule, rows, boot, gates, cell, d_shown, d_state, line, d_cell, carry,  \
                    __VA_ARGS__)
#define gru_reset_rows(rule, rows, state, products, gates)                                        \
    LODCORE_BY_TYPE(gru_reset_rows, gates, rule, rows, state, products, gates)
#define gru_update_rows(rule, rows, products, state, ...)                                         \
    LODCORE_BY_TYPE(gru_update_rows, state, rule, rows, products, state, __VA_ARGS__)
#define gru_update_back_rows(rule, rows, boot, gates, hidden, d_hidden, d_state, ...)             \
    LODCORE_BY_TYPE(gru_update_back_rows, d_state, rule, rows, boot, gates, hidden, d_hidden, d_state, __VA_ARGS__)
#define gru_reset_back_rows(rule, rows, boot, gates, hidden, d_state, ...)                        \
    LODCORE_BY_TYPE(gru_reset_back_rows, d_state, rule, rows, boot, gates, hidden, d_state, __VA_ARGS__)
#define simple_rows(rule, rows, products, state, ...)                                             \
    LODCORE_BY_TYPE(simple_rows, state, rule, rows, products, state, __VA_ARGS__)
#define simple_back_rows(rule, rows, hidden, d_hidden, d_state, d_step, d_gates)                  \
    LODCORE_BY_TYPE(simple_back_rows, d_step, rule, rows, hidden, d_hidden, d_state, d_step, d_gates)

#endif
