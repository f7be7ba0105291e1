/* Prefix sums of lengths, and copies of offsets that are checked meanwhile. Every number of the caller is read once, so
 * that the one that was checked is the one that is used. */
#ifndef LODCORE_OFFSETS_H
#define LODCORE_OFFSETS_H

#include "intrinsics.h"

#if LODCORE_HAS_SIMD
/* The vector of a caller's numbers is read once: the compiler must not read it again. */
#define LODCORE_READ_ONCE(vector) __asm__ volatile("" : "+v"(vector))

LODCORE_AVX512 static LODCORE_UNUSED uint64_t join_lanes(__m512i x)
{
    uint64_t lanes[8], any = 0;
    _mm512_storeu_si512(lanes, x);
    for (int j = 0; j < 8; j++)
        any |= lanes[j];
    return any;
}

/* Add eight lengths at a time in three steps, which add the lanes 1, 2 and 4 before; return the number that is done. */
LODCORE_AVX512 static LODCORE_UNUSED int64_t add_eights(const int64_t *lengths, int64_t n_seqs, int64_t *restrict out,
                                                        uint64_t *signs)
{
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512i total = zero, any = zero;
    int64_t s = 0;
    for (; s + 8 <= n_seqs; s += 8) {
        __m512i x = _mm512_loadu_si512(lengths + s);
        LODCORE_READ_ONCE(x);
        any = _mm512_or_si512(any, x);
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
        const __m512i sum = _mm512_permutexvar_epi64(last, x);
        x = _mm512_add_epi64(x, total);
        total = _mm512_add_epi64(total, sum);
        any = _mm512_or_si512(any, x);
        _mm512_storeu_si512(out + s, x);
    }
    *signs = join_lanes(any);
    return s;
}

/* The same with four lengths in two steps. */
LODCORE_AVX2 static LODCORE_UNUSED int64_t add_fours(const int64_t *lengths, int64_t n_seqs, int64_t *restrict out,
                                                     uint64_t *signs)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i total = zero, any = zero;
    uint64_t lanes[4];
    int64_t s = 0;
    for (; s + 4 <= n_seqs; s += 4) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(lengths + s));
        LODCORE_READ_ONCE(x);
        any = _mm256_or_si256(any, x);
        x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
        x = _mm256_add_epi64(x, _mm256_blend_epi32(zero, _mm256_permute4x64_epi64(x, 0x50), 0xf0));
        const __m256i sum = _mm256_permute4x64_epi64(x, 0xff);
        x = _mm256_add_epi64(x, total);
        total = _mm256_add_epi64(total, sum);
        any = _mm256_or_si256(any, x);
        _mm256_storeu_si256((__m256i *)(out + s), x);
    }
    _mm256_storeu_si256((__m256i *)lanes, any);
    *signs = lanes[0] | lanes[1] | lanes[2] | lanes[3];
    return s;
}

/* Copy and check eight offsets at a time; return the number of those that are done. */
LODCORE_AVX512 static LODCORE_UNUSED int64_t copy_eights(const int64_t *offsets, int64_t count, int64_t *restrict out,
                                                         uint64_t *signs)
{
    __m512i before = _mm512_setzero_si512(), any = before;
    int64_t s = 0;
    for (; s + 8 <= count; s += 8) {
        __m512i x = _mm512_loadu_si512(offsets + s);
        LODCORE_READ_ONCE(x);
        const __m512i lengths = _mm512_sub_epi64(x, _mm512_alignr_epi64(x, before, 7));
        any = _mm512_or_si512(any, _mm512_or_si512(x, lengths));
        _mm512_storeu_si512(out + s, x);
        before = x;
    }
    *signs = join_lanes(any);
    return s;
}

/* The same with twice four offsets; `turned` has the last offset of the four before in its first lane. */
LODCORE_AVX2 static LODCORE_UNUSED int64_t copy_fours(const int64_t *offsets, int64_t count, int64_t *restrict out,
                                                      uint64_t *signs)
{
    __m256i turned = _mm256_setzero_si256(), any[2] = {turned, turned};
    uint64_t lanes[4];
    int64_t s = 0;
    for (; s + 8 <= count; s += 8)
        for (int half = 0; half < 2; half++) {
            __m256i x = _mm256_loadu_si256((const __m256i *)(offsets + s + 4 * half));
            LODCORE_READ_ONCE(x);
            const __m256i next = _mm256_permute4x64_epi64(x, 0x93);
            const __m256i lengths = _mm256_sub_epi64(x, _mm256_blend_epi32(next, turned, 0x03));
            any[half] = _mm256_or_si256(any[half], _mm256_or_si256(x, lengths));
            _mm256_storeu_si256((__m256i *)(out + s + 4 * half), x);
            turned = next;
        }
    _mm256_storeu_si256((__m256i *)lanes, _mm256_or_si256(any[0], any[1]));
    *signs = lanes[0] | lanes[1] | lanes[2] | lanes[3];
    return s;
}
#endif

/* Compute offsets from the first lengths; return how many of them. The sign bit of `signs` is set if a length or a sum
 * is negative. */
LODCORE_INLINE int64_t add_many(const int64_t *lengths, int64_t n_seqs, int64_t *out, uint64_t *signs)
{
#if LODCORE_HAS_SIMD
    if (simd_level() == SIMD_AVX512)
        return add_eights(lengths, n_seqs, out, signs);
    if (simd_level() == SIMD_AVX2)
        return add_fours(lengths, n_seqs, out, signs);
#else
    (void)lengths, (void)n_seqs, (void)out, (void)signs;
#endif
    return 0;
}

/* Copy the first offsets; return how many. The sign bit of `signs` is set if one is negative or less than the one
 * before. */
LODCORE_INLINE int64_t copy_many(const int64_t *offsets, int64_t count, int64_t *out, uint64_t *signs)
{
#if LODCORE_HAS_SIMD
    if (simd_level() == SIMD_AVX512)
        return copy_eights(offsets, count, out, signs);
    if (simd_level() == SIMD_AVX2)
        return copy_fours(offsets, count, out, signs);
#else
    (void)offsets, (void)count, (void)out, (void)signs;
#endif
    return 0;
}

#endif
