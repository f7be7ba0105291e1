/* The exponential function, in plain C and for vectors: every path runs the same operations and gives the same bits.
 *
 * exp(x) = 2^n * exp(r), where n is the integer nearest to x / log(2), so that |r| <= log(2) / 2, and exp(r) is 1 + r
 * + r^2 * q(r). The polynomials q minimize the relative error of exp(r) (2^-28.2 for float, 2^-57.9 for double); with
 * all roundings the result is within 1.1 units in the last place. It is 0 below LOWEST, where results would be close
 * to subnormal (subnormal numbers take a hundred times as long), and inf above HIGHEST; nan stays nan. No
 * multiply-add is fused.
 *
 * Adding SHIFT brings an integer into the low bits of a float: 1.5 * 2^23 (or 2^52) plus the bias of exponents, so
 * that these bits, shifted into the exponent, are 2^n. Plain C and AVX2 multiply by 2^n in two halves, because 2^n
 * may exceed all finite numbers. LN2_HIGH has so few bits that its products with n are exact. */
#ifndef LODCORE_EXPONENTIAL_H
#define LODCORE_EXPONENTIAL_H

#include "intrinsics.h"
#include <stdint.h>

#define FLOAT_LOWEST (-87.33654f)
#define FLOAT_HIGHEST 89.0f
#define FLOAT_SHIFT 12583039.0f
#define FLOAT_LOG2_E 1.442695f
#define FLOAT_LN2_HIGH 0.69314575f
#define FLOAT_LN2_LOW 1.4286068e-06f

#define DOUBLE_LOWEST (-708.396418532264)
#define DOUBLE_HIGHEST 710.0
#define DOUBLE_SHIFT 6755399441056767.0
#define DOUBLE_LOG2_E 1.4426950408889634
#define DOUBLE_LN2_HIGH 0.6931471803691238
#define DOUBLE_LN2_LOW 1.9082149292705877e-10

/* The bodies for one number or a vector of them, V. IN_RANGE(x) is x clamped to HIGHEST from above, and anything
 * harmless below LOWEST; SCALE(p, n, x) is p * 2^n, or 0 where x is below LOWEST. */
#define LODCORE_EXP_FLOAT(NAME, TARGET, V, IN_RANGE, SCALE)                                              \
    TARGET LODCORE_INLINE V NAME(V x)                                                                    \
    {                                                                                                    \
        V near = IN_RANGE(x);                                                                            \
        V n = (near * FLOAT_LOG2_E + FLOAT_SHIFT) - FLOAT_SHIFT;                                         \
        V r = (near - n * FLOAT_LN2_HIGH) - n * FLOAT_LN2_LOW;                                           \
        V r2 = r * r;                                                                                    \
        V q = (r * 0.16666521f + 0.49999994f) +                                                    \
              r2 * ((r * 0.008368717f + 0.04166839f) + r2 * 0.0013814606f);                       \
        return SCALE((r2 * q + r) + 1.0f, n, x);                                                         \
    }

#define LODCORE_EXP_DOUBLE(NAME, TARGET, V, IN_RANGE, SCALE)                                             \
    TARGET LODCORE_INLINE V NAME(V x)                                                                    \
    {                                                                                                    \
        V near = IN_RANGE(x);                                                                            \
        V n = (near * DOUBLE_LOG2_E + DOUBLE_SHIFT) - DOUBLE_SHIFT;                                      \
        V r = (near - n * DOUBLE_LN2_HIGH) - n * DOUBLE_LN2_LOW;                                         \
        V r2 = r * r, r4 = r2 * r2;                                                                      \
        V low = (r * 0.16666666666666413 + 0.5000000000000011) +                                      \
                r2 * (r * 0.00833333333349447 + 0.04166666666653016);                                  \
        V middle = (r * 0.00019841269506559994 + 0.0013888888943629938) +                                 \
                   r2 * (r * 2.755758639170296e-06 + 2.480149309906733e-05);                             \
        V q = low + r4 * (middle + r4 * (r * 2.500005566675992e-08 + 2.7630248326985926e-07));            \
        return SCALE((r2 * q + r) + 1.0, n, x);                                                          \
    }

/* Multiply by 2^n in two halves; POWER(m + SHIFT) is 2^m. */
#define LODCORE_BY_HALVES(V, p, n, SHIFT, POWER)                                                         \
    V half = n * 0.5f + SHIFT;                                                                           \
    V scaled = p * POWER(half) * POWER(n - (half - SHIFT) + SHIFT);

/* -- plain C ------------------------------------------------------------------------------------------------------- */

LODCORE_INLINE float float_power(float shifted)
{
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&shifted, &bits, sizeof bits);
    return shifted;
}

LODCORE_INLINE double double_power(double shifted)
{
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&shifted, &bits, sizeof bits);
    return shifted;
}

LODCORE_INLINE float float_scaled(float p, float n, float x)
{
    LODCORE_BY_HALVES(float, p, n, FLOAT_SHIFT, float_power)
    return x < FLOAT_LOWEST ? 0 : scaled;
}

LODCORE_INLINE double double_scaled(double p, double n, double x)
{
    LODCORE_BY_HALVES(double, p, n, DOUBLE_SHIFT, double_power)
    return x < DOUBLE_LOWEST ? 0 : scaled;
}

#define FLOAT_RANGE(x) (x < FLOAT_LOWEST ? 0 : x > FLOAT_HIGHEST ? FLOAT_HIGHEST : x)
#define DOUBLE_RANGE(x) (x < DOUBLE_LOWEST ? 0 : x > DOUBLE_HIGHEST ? DOUBLE_HIGHEST : x)
LODCORE_EXP_FLOAT(exp_float, , float, FLOAT_RANGE, float_scaled)
LODCORE_EXP_DOUBLE(exp_double, , double, DOUBLE_RANGE, double_scaled)

#if LODCORE_HAS_SIMD

/* -- AVX2: the minimum of a nan and a number is the second operand
 * ---------------------------------------------------- */

LODCORE_AVX2 LODCORE_INLINE __m256 not_low_float_avx2(__m256 x, __m256 chosen)
{
    return _mm256_and_ps(chosen, _mm256_cmp_ps(x, _mm256_set1_ps(FLOAT_LOWEST), _CMP_NLT_UQ));
}

LODCORE_AVX2 LODCORE_INLINE __m256d not_low_double_avx2(__m256d x, __m256d chosen)
{
    return _mm256_and_pd(chosen, _mm256_cmp_pd(x, _mm256_set1_pd(DOUBLE_LOWEST), _CMP_NLT_UQ));
}

#define POWER_PS(x) _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23))
#define POWER_PD(x) _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(x), 52))

LODCORE_AVX2 LODCORE_INLINE __m256 scaled_float_avx2(__m256 p, __m256 n, __m256 x)
{
    LODCORE_BY_HALVES(__m256, p, n, FLOAT_SHIFT, POWER_PS)
    return not_low_float_avx2(x, scaled);
}

LODCORE_AVX2 LODCORE_INLINE __m256d scaled_double_avx2(__m256d p, __m256d n, __m256d x)
{
    LODCORE_BY_HALVES(__m256d, p, n, DOUBLE_SHIFT, POWER_PD)
    return not_low_double_avx2(x, scaled);
}

#define RANGE_PS_256(x) _mm256_min_ps(_mm256_set1_ps(FLOAT_HIGHEST), not_low_float_avx2(x, x))
#define RANGE_PD_256(x) _mm256_min_pd(_mm256_set1_pd(DOUBLE_HIGHEST), not_low_double_avx2(x, x))
LODCORE_EXP_FLOAT(exp_float_avx2, LODCORE_AVX2, __m256, RANGE_PS_256, scaled_float_avx2)
LODCORE_EXP_DOUBLE(exp_double_avx2, LODCORE_AVX2, __m256d, RANGE_PD_256, scaled_double_avx2)

/* -- AVX-512: scalef multiplies by 2^n ------------------------------------------------------------------------------- */

#define SCALE_PS(p, n, x) \
    _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(FLOAT_LOWEST), _CMP_NLT_UQ), p, n)
#define SCALE_PD(p, n, x) \
    _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(x, _mm512_set1_pd(DOUBLE_LOWEST), _CMP_NLT_UQ), p, n)
#define RANGE_PS_512(x) _mm512_min_ps(_mm512_set1_ps(FLOAT_HIGHEST), x)
#define RANGE_PD_512(x) _mm512_min_pd(_mm512_set1_pd(DOUBLE_HIGHEST), x)
LODCORE_EXP_FLOAT(exp_float_avx512, LODCORE_AVX512, __m512, RANGE_PS_512, SCALE_PS)
LODCORE_EXP_DOUBLE(exp_double_avx512, LODCORE_AVX512, __m512d, RANGE_PD_512, SCALE_PD)

#endif
#endif
