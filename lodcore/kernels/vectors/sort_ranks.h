/* Sorting of a few keys by counting the keys that come before each. Lanes of keys are compared with one key at a time,
 * so that no branch depends on them. `keys` has spare lanes after the last one. */
#ifndef LODCORE_SORT_RANKS_H
#define LODCORE_SORT_RANKS_H

#include "intrinsics.h"
#include <stdint.h>

#if LODCORE_HAS_SIMD

#define LODCORE_IN_ORDER(KEY, LANES, STORE, before)                                                       \
    KEY places[LANES];                                                                                    \
    STORE((void *)places, before);                                                                        \
    for (row = first; row < stop; row++)                                                                  \
        order[places[row - first]] = row;

/* An equal key comes first if its row does: rows before this vector, rows in it, rows after it. */
#define LODCORE_RANK_512(NAME, KEY, LANES, DO, MASK)                                                      \
    static LODCORE_AVX512 void NAME(const KEY *keys, int length, int64_t *order)                          \
    {                                                                                                     \
        const __m512i one = DO(set1)(1);                                                                  \
        for (int first = 0; first < length; first += LANES) {                                             \
            int stop = length < first + LANES ? length : first + LANES, row = 0;                          \
            __m512i own = _mm512_loadu_si512(keys + first), before = _mm512_setzero_si512();              \
            for (; row < first; row++)                                                                    \
                before = DO(mask_add)(before, MASK(cmpge)(own, DO(set1)(keys[row])), before, one);        \
            for (; row < stop; row++) {                                                                   \
                __m512i key = DO(set1)(keys[row]);                                                        \
                unsigned behind = ~1u << (row - first);                                                   \
                unsigned above = MASK(cmpgt)(own, key) | (MASK(cmpeq)(own, key) & behind);                \
                before = DO(mask_add)(before, above, before, one);                                        \
            }                                                                                             \
            for (; row < length; row++)                                                                   \
                before = DO(mask_add)(before, MASK(cmpgt)(own, DO(set1)(keys[row])), before, one);        \
            LODCORE_IN_ORDER(KEY, LANES, _mm512_storeu_si512, before)                                     \
        }                                                                                                 \
    }

#define RANK_DO_32(VERB) _mm512_##VERB##_epi32
#define RANK_MASK_32(VERB) _mm512_##VERB##_epi32_mask
LODCORE_RANK_512(rank_by_32_avx512, int32_t, 16, RANK_DO_32, RANK_MASK_32)
#define RANK_DO_64(VERB) _mm512_##VERB##_epi64
#define RANK_MASK_64(VERB) _mm512_##VERB##_epi64_mask
LODCORE_RANK_512(rank_by_64_avx512, int64_t, 8, RANK_DO_64, RANK_MASK_64)

/* The same with AVX2, whose comparisons yield -1. */
#define LODCORE_RANK_256(NAME, KEY, LANES, DO, LANE, SET1)                                                \
    static LODCORE_AVX2 void NAME(const KEY *keys, int length, int64_t *order)                            \
    {                                                                                                     \
        const __m256i lane = LANE;                                                                        \
        for (int first = 0; first < length; first += LANES) {                                             \
            int stop = length < first + LANES ? length : first + LANES, row = 0;                          \
            __m256i own = _mm256_loadu_si256((const __m256i *)(keys + first)), before = SET1(first);      \
            for (; row < first; row++) /* all of them, but those above */                                 \
                before = DO(add)(before, DO(cmpgt)(SET1(keys[row]), own));                                \
            for (; row < stop; row++) {                                                                   \
                __m256i key = SET1(keys[row]);                                                            \
                __m256i equal = _mm256_and_si256(DO(cmpeq)(own, key), DO(cmpgt)(lane, SET1(row - first)));\
                before = DO(sub)(before, _mm256_or_si256(DO(cmpgt)(own, key), equal));                    \
            }                                                                                             \
            for (; row < length; row++)                                                                   \
                before = DO(sub)(before, DO(cmpgt)(own, SET1(keys[row])));                                \
            LODCORE_IN_ORDER(KEY, LANES, _mm256_storeu_si256, before)                                     \
        }                                                                                                 \
    }

#define RANK_DO_256_32(VERB) _mm256_##VERB##_epi32
LODCORE_RANK_256(rank_by_32_avx2, int32_t, 8, RANK_DO_256_32, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                 _mm256_set1_epi32)
#define RANK_DO_256_64(VERB) _mm256_##VERB##_epi64
LODCORE_RANK_256(rank_by_64_avx2, int64_t, 4, RANK_DO_256_64, _mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x)

/* For both sizes of keys. */
#define rank_avx2(keys, length, order) \
    _Generic((keys), int32_t *: rank_by_32_avx2, int64_t *: rank_by_64_avx2)(keys, length, order)
#define rank_avx512(keys, length, order) \
    _Generic((keys), int32_t *: rank_by_32_avx512, int64_t *: rank_by_64_avx512)(keys, length, order)
#else
#define rank_avx2(...) ((void)0) /* never called: simd_level() is SIMD_NONE */
#define rank_avx512(...) ((void)0)
#endif
#endif
