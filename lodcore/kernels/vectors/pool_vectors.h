/* Vectors of VECTOR_BYTES for pool_lanes.h, which undefines all of this. A VECTOR has PER cells; LANES == 64 means
 * that they are float. MASKS_OF(n) masks the first n cells of a sequence, and LOAD_PART loads part j of them, with
 * FILL elsewhere. NANS accumulates whether there was a nan. EQUAL yields one bit per cell, and
 * ABOVE what CHOOSE takes the first vector by, else the second. HALVE adds (or compares)
 * the lower and upper halves of vectors, or of parts of vectors, and combines the results of two neighbours in one
 * vector. */
#define HALVE(COUNT, LOWER, UPPER)      \
    for (int j = 0; j < COUNT; j++)     \
        part[j] = PATH(fold)(LOWER(part[2 * j], part[2 * j + 1]), UPPER(part[2 * j], part[2 * j + 1]), verb);

#if VECTOR_BYTES == 64
#define MASKS uint64_t
#define MASKS_OF(LENGTH) (~(~(uint64_t)0 << (LENGTH)))
#define NANS int
#define NO_NANS 0
#define ANY(NANS) (NANS)
#if LANES == 64
#define VECTOR __m512
#define PER 16
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define ADD _mm512_add_ps
#define MAXIMUM _mm512_max_ps
#define MINIMUM _mm512_min_ps
#define ALL _mm512_set1_ps
#define LOAD_PART(MASKS, X, J, FILL) _mm512_mask_loadu_ps(FILL, (__mmask16)((MASKS) >> 16 * (J)), (X) + 16 * (J))
#define NOTE_NANS(NANS, A, B) ((NANS) |= _mm512_cmp_ps_mask(A, B, _CMP_UNORD_Q))
#define EQUAL(A, B) _mm512_cmp_ps_mask(A, B, _CMP_EQ_OQ)
#define CHOSEN __mmask16
#define ABOVE(A, B) _mm512_cmp_ps_mask(A, B, _CMP_GT_OQ)
#define CHOOSE(CHOSEN, A, B) _mm512_mask_mov_ps(B, CHOSEN, A)
#define LONGER(OFFSETS) _mm512_cmpgt_epi64_mask(_mm512_loadu_si512((OFFSETS) + 1), _mm512_loadu_si512(OFFSETS))
#define ZERO_FOR_EMPTY(A, OFFSETS) \
    _mm512_maskz_mov_ps((__mmask16)(LONGER(OFFSETS) | (unsigned)LONGER((OFFSETS) + 8) << 8), A)
#define LOWER_8(A, B) _mm512_shuffle_f32x4(A, B, 0x44)
#define UPPER_8(A, B) _mm512_shuffle_f32x4(A, B, 0xEE)
#define LOWER_4(A, B) _mm512_shuffle_f32x4(A, B, 0x88)
#define UPPER_4(A, B) _mm512_shuffle_f32x4(A, B, 0xDD)
#define LOWER_2(A, B) _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(A), _mm512_castps_pd(B)))
#define UPPER_2(A, B) _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(A), _mm512_castps_pd(B)))
#define LOWER_1(A, B) _mm512_shuffle_ps(A, B, 0x88)
#define UPPER_1(A, B) _mm512_shuffle_ps(A, B, 0xDD)
#define HALVE_TOGETHER                                                         \
    HALVE(8, LOWER_8, UPPER_8)                                                 \
    HALVE(4, LOWER_4, UPPER_4)                                                 \
    HALVE(2, LOWER_2, UPPER_2)                                                 \
    HALVE(1, LOWER_1, UPPER_1)                                                 \
    part[0] = _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), part[0]);
#else
#define VECTOR __m512d
#define PER 8
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define ADD _mm512_add_pd
#define MAXIMUM _mm512_max_pd
#define MINIMUM _mm512_min_pd
#define ALL _mm512_set1_pd
#define LOAD_PART(MASKS, X, J, FILL) _mm512_mask_loadu_pd(FILL, (__mmask8)((MASKS) >> 8 * (J)), (X) + 8 * (J))
#define NOTE_NANS(NANS, A, B) ((NANS) |= _mm512_cmp_pd_mask(A, B, _CMP_UNORD_Q))
#define EQUAL(A, B) _mm512_cmp_pd_mask(A, B, _CMP_EQ_OQ)
#define CHOSEN __mmask8
#define ABOVE(A, B) _mm512_cmp_pd_mask(A, B, _CMP_GT_OQ)
#define CHOOSE(CHOSEN, A, B) _mm512_mask_mov_pd(B, CHOSEN, A)
#define ZERO_FOR_EMPTY(A, OFFSETS) \
    _mm512_maskz_mov_pd(_mm512_cmpgt_epi64_mask(_mm512_loadu_si512((OFFSETS) + 1), _mm512_loadu_si512(OFFSETS)), A)
#define LOWER_4(A, B) _mm512_shuffle_f64x2(A, B, 0x44)
#define UPPER_4(A, B) _mm512_shuffle_f64x2(A, B, 0xEE)
#define LOWER_2(A, B) _mm512_shuffle_f64x2(A, B, 0x88)
#define UPPER_2(A, B) _mm512_shuffle_f64x2(A, B, 0xDD)
#define LOWER_1 _mm512_unpacklo_pd
#define UPPER_1 _mm512_unpackhi_pd
#define HALVE_TOGETHER         \
    HALVE(4, LOWER_4, UPPER_4) \
    HALVE(2, LOWER_2, UPPER_2) \
    HALVE(1, LOWER_1, UPPER_1) \
    part[0] = _mm512_permutexvar_pd(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), part[0]);
#endif

#else
#define MASKS __m256i
#if LANES == 64
#define VECTOR __m256
#define PER 8
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define ADD _mm256_add_ps
#define MAXIMUM _mm256_max_ps
#define MINIMUM _mm256_min_ps
#define ALL _mm256_set1_ps
#define MASKS_OF(LENGTH) _mm256_set1_epi32((int)(LENGTH))
#define MASK(MASKS, J) \
    _mm256_cmpgt_epi32(MASKS, _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(8 * (J))))
#define LOAD_PART(MASKS, X, J, FILL)                                                                                  \
    _mm256_blendv_ps(FILL, _mm256_maskload_ps((X) + 8 * (J), MASK(MASKS, J)), _mm256_castsi256_ps(MASK(MASKS, J)))
#define NANS __m256
#define NO_NANS _mm256_setzero_ps()
#define NOTE_NANS(NANS, A, B) ((NANS) = _mm256_or_ps(NANS, _mm256_cmp_ps(A, B, _CMP_UNORD_Q)))
#define ANY(NANS) _mm256_movemask_ps(NANS)
#define EQUAL(A, B) _mm256_movemask_ps(_mm256_cmp_ps(A, B, _CMP_EQ_OQ))
#define CHOSEN VECTOR
#define ABOVE(A, B) _mm256_cmp_ps(A, B, _CMP_GT_OQ)
#define CHOOSE(CHOSEN, A, B) _mm256_blendv_ps(B, A, CHOSEN)
#define FOUR(OFFSETS) _mm256_loadu_si256((const __m256i *)(OFFSETS))
#define LONGER(OFFSETS) _mm256_castsi256_ps(_mm256_cmpgt_epi64(FOUR((OFFSETS) + 1), FOUR(OFFSETS)))
#define ZERO_FOR_EMPTY(A, OFFSETS)                                                                                    \
    _mm256_and_ps(A, _mm256_castpd_ps(_mm256_permute4x64_pd(                                                          \
                         _mm256_castps_pd(_mm256_shuffle_ps(LONGER(OFFSETS), LONGER((OFFSETS) + 4), 0x88)), 0xD8)))
#define LOWER_4(A, B) _mm256_permute2f128_ps(A, B, 0x20)
#define UPPER_4(A, B) _mm256_permute2f128_ps(A, B, 0x31)
#define LOWER_2(A, B) _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(A), _mm256_castps_pd(B)))
#define UPPER_2(A, B) _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(A), _mm256_castps_pd(B)))
#define LOWER_1(A, B) _mm256_shuffle_ps(A, B, 0x88)
#define UPPER_1(A, B) _mm256_shuffle_ps(A, B, 0xDD)
#define HALVE_TOGETHER         \
    HALVE(4, LOWER_4, UPPER_4) \
    HALVE(2, LOWER_2, UPPER_2) \
    HALVE(1, LOWER_1, UPPER_1) \
    part[0] = _mm256_permutevar8x32_ps(part[0], _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#else
#define VECTOR __m256d
#define PER 4
#define LOAD _mm256_loadu_pd
#define STORE _mm256_storeu_pd
#define ADD _mm256_add_pd
#define MAXIMUM _mm256_max_pd
#define MINIMUM _mm256_min_pd
#define ALL _mm256_set1_pd
#define MASKS_OF(LENGTH) _mm256_set1_epi64x(LENGTH)
#define MASK(MASKS, J) \
    _mm256_cmpgt_epi64(MASKS, _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(4 * (J))))
#define LOAD_PART(MASKS, X, J, FILL)                                                                                  \
    _mm256_blendv_pd(FILL, _mm256_maskload_pd((X) + 4 * (J), MASK(MASKS, J)), _mm256_castsi256_pd(MASK(MASKS, J)))
#define NANS __m256d
#define NO_NANS _mm256_setzero_pd()
#define NOTE_NANS(NANS, A, B) ((NANS) = _mm256_or_pd(NANS, _mm256_cmp_pd(A, B, _CMP_UNORD_Q)))
#define ANY(NANS) _mm256_movemask_pd(NANS)
#define EQUAL(A, B) _mm256_movemask_pd(_mm256_cmp_pd(A, B, _CMP_EQ_OQ))
#define CHOSEN VECTOR
#define ABOVE(A, B) _mm256_cmp_pd(A, B, _CMP_GT_OQ)
#define CHOOSE(CHOSEN, A, B) _mm256_blendv_pd(B, A, CHOSEN)
#define FOUR(OFFSETS) _mm256_loadu_si256((const __m256i *)(OFFSETS))
#define ZERO_FOR_EMPTY(A, OFFSETS) \
    _mm256_and_pd(A, _mm256_castsi256_pd(_mm256_cmpgt_epi64(FOUR((OFFSETS) + 1), FOUR(OFFSETS))))
#define LOWER_2(A, B) _mm256_permute2f128_pd(A, B, 0x20)
#define UPPER_2(A, B) _mm256_permute2f128_pd(A, B, 0x31)
#define LOWER_1 _mm256_unpacklo_pd
#define UPPER_1 _mm256_unpackhi_pd
#define HALVE_TOGETHER         \
    HALVE(2, LOWER_2, UPPER_2) \
    HALVE(1, LOWER_1, UPPER_1) \
    part[0] = _mm256_permute4x64_pd(part[0], 0xD8);
#endif
#endif
