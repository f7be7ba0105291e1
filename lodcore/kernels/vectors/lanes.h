/* Vectors of float and double for AVX2 and AVX-512, under names that a template can construct: NAME_float_avx2 and so
 * on. A mask selects the first n lanes; a masked load sets the other lanes to 0 or to a given value, and reads no
 * memory for them. Sums, products and quotients are written with the operators of C. */
#ifndef LODCORE_LANES_H
#define LODCORE_LANES_H

#include "intrinsics.h"
#include <stdint.h>
#include <math.h>

#if LODCORE_HAS_SIMD

#define LODCORE_VECTOR(OF, TARGET, CELL, VECTOR, MASK, DO)                                           \
    typedef VECTOR OF(vector);                                                                            \
    typedef MASK OF(mask);                                                                                \
    TARGET LODCORE_INLINE VECTOR OF(load)(const CELL *place) { return DO(loadu)(place); }                 \
    TARGET LODCORE_INLINE void OF(store)(CELL *place, VECTOR v) { DO(storeu)(place, v); }                 \
    TARGET LODCORE_INLINE VECTOR OF(all)(CELL x) { return DO(set1)(x); }                                  \
    TARGET LODCORE_INLINE VECTOR OF(max)(VECTOR x, VECTOR y) { return DO(max)(x, y); }

/* -- AVX-512 --------------------------------------------------------------------------------------------------------- */

#define LODCORE_VECTOR_512(OF, CELL, VECTOR, MASK, DO, UNORDERED)                                    \
    LODCORE_VECTOR(OF, LODCORE_AVX512, CELL, VECTOR, MASK, DO)                                       \
    LODCORE_AVX512 LODCORE_INLINE MASK OF(first)(int64_t n) /* n is 1 .. 63 */                            \
    {                                                                                                     \
        return (MASK)(((uint64_t)1 << n) - 1);                                                            \
    }                                                                                                     \
    LODCORE_AVX512 LODCORE_INLINE VECTOR OF(load_or)(VECTOR other, MASK some, const CELL *place)          \
    {                                                                                                     \
        return DO(mask_loadu)(other, some, place);                                                        \
    }                                                                                                     \
    LODCORE_AVX512 LODCORE_INLINE VECTOR OF(load_some)(MASK some, const CELL *place)                      \
    {                                                                                                     \
        return DO(maskz_loadu)(some, place);                                                              \
    }                                                                                                     \
    LODCORE_AVX512 LODCORE_INLINE void OF(store_some)(CELL *place, MASK some, VECTOR v)                   \
    {                                                                                                     \
        DO(mask_storeu)(place, some, v);                                                                  \
    }                                                                                                     \
    LODCORE_AVX512 LODCORE_INLINE VECTOR OF(one_nan)(VECTOR v)                                            \
    {                                                                                                     \
        return DO(mask_mov)(v, UNORDERED(v, v, _CMP_UNORD_Q), DO(set1)(NAN));                             \
    }                                                                                                     \
    LODCORE_AVX512 LODCORE_INLINE VECTOR OF(not_below)(VECTOR v, VECTOR least) /* 0 where it is */        \
    {                                                                                                     \
        return DO(maskz_mov)(UNORDERED(v, least, _CMP_NLT_UQ), v);                                        \
    }

/* An order has numbers of 32 bits: those of lanes of float, and two for each lane of double. */
#define LODCORE_ORDER(OF, TARGET, VECTOR, ORDER, LOAD, ORDERED)                                      \
    typedef ORDER OF(order);                                                                              \
    TARGET LODCORE_INLINE ORDER OF(order_of)(const int32_t *place) { return LOAD((const void *)place); }  \
    TARGET LODCORE_INLINE VECTOR OF(in_order)(VECTOR v, ORDER order) { return ORDERED; }

#define FLOAT_512(NAME) NAME##_float_avx512
#define DO_FLOAT_512(VERB) _mm512_##VERB##_ps
LODCORE_VECTOR_512(FLOAT_512, float, __m512, __mmask16, DO_FLOAT_512, _mm512_cmp_ps_mask)

#define DOUBLE_512(NAME) NAME##_double_avx512
#define DO_DOUBLE_512(VERB) _mm512_##VERB##_pd
LODCORE_VECTOR_512(DOUBLE_512, double, __m512d, __mmask8, DO_DOUBLE_512, _mm512_cmp_pd_mask)
LODCORE_ORDER(FLOAT_512, LODCORE_AVX512, __m512, __m512i, _mm512_loadu_si512, _mm512_permutexvar_ps(order, v))
LODCORE_ORDER(DOUBLE_512, LODCORE_AVX512, __m512d, __m512i, _mm512_loadu_si512,
              _mm512_castps_pd(_mm512_permutexvar_ps(order, _mm512_castpd_ps(v))))

/* -- AVX2 ------------------------------------------------------------------------------------------------------------ */

static const int32_t chosen_256[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

#define LODCORE_VECTOR_256(OF, CELL, VECTOR, DO, AS_VECTOR)                                          \
    LODCORE_VECTOR(OF, LODCORE_AVX2, CELL, VECTOR, __m256i, DO)                                      \
    LODCORE_AVX2 LODCORE_INLINE __m256i OF(first)(int64_t n) /* n is 1 or more */                         \
    {                                                                                                     \
        int64_t missing = (int64_t)(sizeof(VECTOR) / sizeof(CELL)) - n;                                   \
        const int32_t *place = chosen_256 + (missing > 0 ? missing : 0) * (int64_t)(sizeof(CELL) / 4);    \
        return _mm256_loadu_si256((const __m256i *)place);                                                \
    }                                                                                                     \
    LODCORE_AVX2 LODCORE_INLINE VECTOR OF(load_or)(VECTOR other, __m256i some, const CELL *place)         \
    {                                                                                                     \
        return DO(blendv)(other, DO(maskload)(place, some), AS_VECTOR(some));                             \
    }                                                                                                     \
    LODCORE_AVX2 LODCORE_INLINE VECTOR OF(load_some)(__m256i some, const CELL *place)                     \
    {                                                                                                     \
        return DO(maskload)(place, some);                                                                 \
    }                                                                                                     \
    LODCORE_AVX2 LODCORE_INLINE void OF(store_some)(CELL *place, __m256i some, VECTOR v)                  \
    {                                                                                                     \
        DO(maskstore)(place, some, v);                                                                    \
    }                                                                                                     \
    LODCORE_AVX2 LODCORE_INLINE VECTOR OF(one_nan)(VECTOR v)                                              \
    {                                                                                                     \
        return DO(blendv)(v, DO(set1)(NAN), DO(cmp)(v, v, _CMP_UNORD_Q));                                 \
    }                                                                                                     \
    LODCORE_AVX2 LODCORE_INLINE VECTOR OF(not_below)(VECTOR v, VECTOR least) /* 0 where it is */          \
    {                                                                                                     \
        return DO(and)(v, DO(cmp)(v, least, _CMP_NLT_UQ));                                                \
    }

#define FLOAT_256(NAME) NAME##_float_avx2
#define DO_FLOAT_256(VERB) _mm256_##VERB##_ps
LODCORE_VECTOR_256(FLOAT_256, float, __m256, DO_FLOAT_256, _mm256_castsi256_ps)

#define DOUBLE_256(NAME) NAME##_double_avx2
#define DO_DOUBLE_256(VERB) _mm256_##VERB##_pd
LODCORE_VECTOR_256(DOUBLE_256, double, __m256d, DO_DOUBLE_256, _mm256_castsi256_pd)
LODCORE_ORDER(FLOAT_256, LODCORE_AVX2, __m256, __m256i, _mm256_loadu_si256, _mm256_permutevar8x32_ps(v, order))
LODCORE_ORDER(DOUBLE_256, LODCORE_AVX2, __m256d, __m256i, _mm256_loadu_si256,
              _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order)))

/* -- within a vector: the greatest lane, broadcast to all lanes, and the sum of lane k and lane k + half, until one is
 * left -- */

LODCORE_AVX2 LODCORE_INLINE __m256 greatest_lane_float_avx2(__m256 v)
{
    v = _mm256_max_ps(v, _mm256_permute2f128_ps(v, v, 1));
    v = _mm256_max_ps(v, _mm256_permute_ps(v, 0x4e));
    return _mm256_max_ps(v, _mm256_permute_ps(v, 0xb1));
}

LODCORE_AVX2 LODCORE_INLINE float add_lanes_float_avx2(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

LODCORE_AVX2 LODCORE_INLINE __m256d greatest_lane_double_avx2(__m256d v)
{
    v = _mm256_max_pd(v, _mm256_permute2f128_pd(v, v, 1));
    return _mm256_max_pd(v, _mm256_permute_pd(v, 5));
}

LODCORE_AVX2 LODCORE_INLINE double add_lanes_double_avx2(__m256d v)
{
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

LODCORE_AVX512 LODCORE_INLINE __m512 greatest_lane_float_avx512(__m512 v)
{
    v = _mm512_max_ps(v, _mm512_shuffle_f32x4(v, v, 0x4e));
    v = _mm512_max_ps(v, _mm512_shuffle_f32x4(v, v, 0xb1));
    v = _mm512_max_ps(v, _mm512_permute_ps(v, 0x4e));
    return _mm512_max_ps(v, _mm512_permute_ps(v, 0xb1));
}

LODCORE_AVX512 LODCORE_INLINE float add_lanes_float_avx512(__m512 v)
{
    return add_lanes_float_avx2(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}

LODCORE_AVX512 LODCORE_INLINE __m512d greatest_lane_double_avx512(__m512d v)
{
    v = _mm512_max_pd(v, _mm512_shuffle_f64x2(v, v, 0x4e));
    v = _mm512_max_pd(v, _mm512_shuffle_f64x2(v, v, 0xb1));
    return _mm512_max_pd(v, _mm512_permute_pd(v, 0x55));
}

LODCORE_AVX512 LODCORE_INLINE double add_lanes_double_avx512(__m512d v)
{
    return add_lanes_double_avx2(_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
}

LODCORE_AVX2 LODCORE_INLINE float first_lane_float_avx2(__m256 v) { return _mm256_cvtss_f32(v); }
LODCORE_AVX2 LODCORE_INLINE double first_lane_double_avx2(__m256d v) { return _mm256_cvtsd_f64(v); }
LODCORE_AVX512 LODCORE_INLINE float first_lane_float_avx512(__m512 v) { return _mm512_cvtss_f32(v); }
LODCORE_AVX512 LODCORE_INLINE double first_lane_double_avx512(__m512d v) { return _mm512_cvtsd_f64(v); }

#endif
#endif
