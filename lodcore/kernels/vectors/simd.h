/* Loops for wider registers: the instruction set is chosen once, at run time. Every path of a kernel returns the same
 * bits; LODCORE_SIMD=none|avx2|avx512 forces one that the processor supports. */
#ifndef LODCORE_SIMD_H
#define LODCORE_SIMD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef LODCORE_UNUSED
#if defined(__GNUC__)
#define LODCORE_UNUSED __attribute__((unused))
#else
#define LODCORE_UNUSED
#endif
#endif

#if defined(__GNUC__)
#define LODCORE_INLINE static inline __attribute__((always_inline))
#define LODCORE_APART static __attribute__((noinline, unused))
#else
#define LODCORE_INLINE static inline
#define LODCORE_APART static
#endif
#define LODCORE_BODY LODCORE_INLINE void
#if defined(__GNUC__) /* for functions that Cython declares static and inline itself */
#define LODCORE_FORCED __attribute__((always_inline))
#define LODCORE_OWN __attribute__((noinline))
#else
#define LODCORE_FORCED
#define LODCORE_OWN
#endif
#if defined(__clang__)
#define LODCORE_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define LODCORE_ROLLED _Pragma("GCC unroll 1")
#else
#define LODCORE_ROLLED
#endif

#if defined(__GNUC__)
#define LODCORE_PREFETCH(address) __builtin_prefetch(address)
#define LODCORE_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define LODCORE_PREFETCH(address) ((void)(address))
#define LODCORE_PREFETCH_TO_WRITE(address) ((void)(address))
#endif

/* Return the position of the lowest bit that is set; there is one. */
LODCORE_INLINE int64_t lowest_bit(uint64_t word)
{
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int64_t place = 0;
    for (; !(word & 1); word >>= 1)
        place++;
    return place;
#endif
}

/* Multiply two words, and combine the halves of the product. */
LODCORE_INLINE uint64_t folded(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    a = (a ^ (a >> 33)) * 0xff51afd7ed558ccdULL;
    b = (b ^ (b >> 29)) * 0xc4ceb9fe1a85ec53ULL;
    return (a ^ (a >> 33)) ^ ((b ^ (b >> 31)) * 0x9e3779b97f4a7c15ULL);
#endif
}

enum { SIMD_NONE, SIMD_AVX2, SIMD_AVX512 };

/* LODCORE_HAS_SIMD guards code with intrinsics, which intrinsics.h declares; LODCORE_AVX2 and LODCORE_AVX512 are
 * attributes of its functions. Neither lets the compiler fuse a product and a sum: -ffp-contract=off, see setup.py. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(LODCORE_PLAIN)
#define LODCORE_HAS_SIMD 1
#define LODCORE_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define LODCORE_AVX512 __attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))
static LODCORE_UNUSED int simd_level(void)
{
    static int known = -1;
    if (known < 0) {
        const char *wish = getenv("LODCORE_SIMD");
        int most = SIMD_AVX512, found = SIMD_NONE;
        if (wish != NULL && strcmp(wish, "none") == 0)
            most = SIMD_NONE;
        else if (wish != NULL && strcmp(wish, "avx2") == 0)
            most = SIMD_AVX2;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
            found = SIMD_AVX2;
        if (found && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            found = SIMD_AVX512;
        known = found < most ? found : most;
    }
    return known;
}
#else
#define LODCORE_HAS_SIMD 0
#define LODCORE_AVX2
#define LODCORE_AVX512
#define simd_level() SIMD_NONE
#endif
#define has_wide() (simd_level() >= SIMD_AVX2)

#endif
