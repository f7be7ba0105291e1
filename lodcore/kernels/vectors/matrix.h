/* Products of matrices, for matrices that are multiplied often or with few rows.
 *
 * The right operand is packed into panels of PANEL columns, each with all its rows one after another, and with zeros
 * after the last column. The product of a block of rows and a panel stays in registers. Every cell of a result is one
 * chain of fused multiply-adds, in the order of the rows of the right operand, that starts with the previous value of
 * the cell or with 0. So it does not depend on the division of rows and columns into blocks, on the number of rows,
 * or on the instruction set. If the processor has no fused multiply-adds (has_product), a plain loop of products and
 * sums runs instead (matrix.pyx). */
#ifndef LODCORE_MATRIX_H
#define LODCORE_MATRIX_H

#include "intrinsics.h"
#include <stdint.h>
#include <stddef.h>

enum { PANEL_BYTES = 128 };

#if LODCORE_HAS_SIMD
#define LODCORE_FMA256 __attribute__((target("avx2,fma,bmi,bmi2")))
#define LODCORE_FMA512 __attribute__((target("avx2,fma,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))
static LODCORE_UNUSED int has_product(void)
{
    return simd_level() >= SIMD_AVX2 && __builtin_cpu_supports("fma");
}
#else
#define has_product() 0
#endif

/* Write the rows of a panel, whose columns are rows of b, in squares of four: all of them except the last depth % 4,
 * which the caller writes. Return how many are written. */
static LODCORE_UNUSED int64_t transpose_fours(const float *b, int64_t line, int64_t depth, float *out)
{
    int64_t k = 0;
#if LODCORE_HAS_SIMD
    const int64_t columns = PANEL_BYTES / sizeof(float);
    for (; k + 4 <= depth; k += 4)
        for (int64_t c = 0; c < columns; c += 4) {
            const float *from = b + c * line + k;
            __m128 r0 = _mm_loadu_ps(from), r1 = _mm_loadu_ps(from + line), r2 = _mm_loadu_ps(from + 2 * line);
            __m128 r3 = _mm_loadu_ps(from + 3 * line);
            _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
            _mm_storeu_ps(out + k * columns + c, r0);
            _mm_storeu_ps(out + (k + 1) * columns + c, r1);
            _mm_storeu_ps(out + (k + 2) * columns + c, r2);
            _mm_storeu_ps(out + (k + 3) * columns + c, r3);
        }
#else
    (void)b, (void)line, (void)depth, (void)out;
#endif
    return k;
}

#if defined(__clang__)
#define LODCORE_UNROLLED _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LODCORE_UNROLLED _Pragma("GCC unroll 16")
#else
#define LODCORE_UNROLLED
#endif

#if LODCORE_HAS_SIMD
#define CELL float
#define TARGET LODCORE_FMA256
#define OF(NAME) NAME##_float_avx2
#define VECTOR __m256
#define DO(VERB) _mm256_##VERB##_ps
#define LANES 8
#define TALL 6
#include "matrix_lanes.h"
#define TARGET LODCORE_FMA512
#define OF(NAME) NAME##_float_avx512
#define VECTOR __m512
#define DO(VERB) _mm512_##VERB##_ps
#define LANES 16
#define TALL 12
#include "matrix_lanes.h"
#undef CELL

#define CELL double
#define TARGET LODCORE_FMA256
#define OF(NAME) NAME##_double_avx2
#define VECTOR __m256d
#define DO(VERB) _mm256_##VERB##_pd
#define LANES 4
#define TALL 6
#include "matrix_lanes.h"
#define TARGET LODCORE_FMA512
#define OF(NAME) NAME##_double_avx512
#define VECTOR __m512d
#define DO(VERB) _mm512_##VERB##_pd
#define LANES 8
#define TALL 12
#include "matrix_lanes.h"
#undef CELL

#define LODCORE_BLOCK(NAME, CELL)                                                                         \
    static LODCORE_UNUSED void NAME(const CELL *a, int64_t row, int64_t step, int64_t rows,               \
                                    int64_t depth, const CELL *panel, int64_t panel_line,                 \
                                    int64_t columns, int adding, CELL *out, int64_t line)                 \
    {                                                                                                     \
        if (simd_level() == SIMD_AVX512)                                                                  \
            block_##CELL##_avx512(a, row, step, rows, depth, panel, panel_line, columns, adding, out, line); \
        else                                                                                              \
            block_##CELL##_avx2(a, row, step, rows, depth, panel, panel_line, columns, adding, out, line); \
    }
LODCORE_BLOCK(block_of_floats, float)
LODCORE_BLOCK(block_of_doubles, double)

/* For both types of cells: that of the result. */
#define block_of(a, row, step, rows, depth, panel, panel_line, columns, adding, out, line)                \
    _Generic((out), float *: block_of_floats, double *: block_of_doubles)(a, row, step, rows, depth, panel, \
                                                                          panel_line, columns, adding, out, line)
#else
#define block_of(...) ((void)0)
#endif

#endif
