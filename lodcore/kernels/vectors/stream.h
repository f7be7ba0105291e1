/* Non-temporal stores: large results in memory that is already mapped are written past the caches, so that the
 * processor neither fetches what is overwritten nor evicts other data. For fresh pages this would be slower, because
 * the system has just cleared them in the caches. The bytes are the same. */
#ifndef LODCORE_STREAM_H
#define LODCORE_STREAM_H

#include <stdint.h>

#include "simd.h"

#if LODCORE_HAS_SIMD
enum { LONG_COPY = 512, COPY_BYTES = 128 };
typedef long long copied_part __attribute__((vector_size(32), aligned(1), may_alias));

LODCORE_AVX2 LODCORE_BODY copy_block(char *to, const char *from)
{
    copied_part a = ((const copied_part *)from)[0], b = ((const copied_part *)from)[1];
    copied_part c = ((const copied_part *)from)[2], d = ((const copied_part *)from)[3];
    ((copied_part *)to)[0] = a, ((copied_part *)to)[1] = b, ((copied_part *)to)[2] = c, ((copied_part *)to)[3] = d;
}

static LODCORE_UNUSED LODCORE_AVX2 void copy_long(char *to, const char *from, int64_t size)
{
    for (int64_t k = 0; k < size - COPY_BYTES; k += COPY_BYTES)
        copy_block(to + k, from + k);
    copy_block(to + size - COPY_BYTES, from + size - COPY_BYTES);
}

/* Copy bytes that do not overlap. From a few kilobytes on, memcpy of glibc 2.36 uses "rep movsb", which takes 1.1 to 1.3
 * times as long on a Zen 4 if the source lies otherwise in its cache line than the result. On Intel's processors, where
 * this was not measured, memcpy copies. */
LODCORE_BODY copy_bytes(char *to, const char *from, int64_t size)
{
    if (size >= LONG_COPY && has_wide() && !__builtin_cpu_is("intel"))
        copy_long(to, from, size);
    else
        memcpy(to, from, (size_t)size);
}
#else
#define copy_bytes(to, from, size) memcpy(to, from, (size_t)(size))
#endif

#if LODCORE_HAS_SIMD && defined(__linux__)
#include <emmintrin.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STREAM_UNIT = 16, STREAM_LEAST = 1 << 25, STREAM_PROBES = 8, LONG_RANGE = 1 << 16 };

/* Return whether a result of this many bytes, in pieces of whole units, is written past the caches. */
static LODCORE_UNUSED int stream_pays(const char *out, int64_t size, int64_t piece)
{
    if (size < STREAM_LEAST || piece % STREAM_UNIT || (uintptr_t)out % STREAM_UNIT)
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)out, last = first + (uintptr_t)size - 1;
    for (uintptr_t probe = 0; probe <= STREAM_PROBES; probe++) {
        uintptr_t place = first + (last - first) / STREAM_PROBES * probe;
        unsigned char mapped = 0;
        if (mincore((void *)(place - place % page), page, &mapped) != 0 || !(mapped & 1))
            return 0;
    }
    return 1;
}

/* Return whether rows that come from `count` places are written past the caches, too: Intel's processors then take 0.57 to
 * 0.8 of the time, while AMD's Zen 5 takes up to 1.6 times as long; its Zen 4 takes 0.7 to 0.85 if the ranges have 30 KB or
 * more each, and 1.05 times as long if they have 8. No feature of a processor tells, nor does a trial of a
 * few milliseconds: with 2 to 16 MB, it found ratios of 0.8 to 1.26 where calls take 0.57 to 0.75, since others use the
 * caches and the memory of the machine, too. */
static LODCORE_UNUSED int stream_pays_for_ranges(const char *out, int64_t size, int64_t piece, int64_t count)
{
    return (__builtin_cpu_is("intel") || size / LONG_RANGE >= count) && stream_pays(out, size, piece);
}

LODCORE_BODY stream_copy(char *to, const char *from, int64_t size)
{
    for (int64_t k = 0; k < size; k += STREAM_UNIT)
        _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(from + k)));
}

/* Repeat a chunk of four units. */
LODCORE_BODY stream_fill(char *to, const char *chunk, int64_t size)
{
    for (int64_t k = 0; k < size; k += STREAM_UNIT)
        _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(chunk + k % (4 * STREAM_UNIT))));
}

/* Make the stores visible to other threads. */
LODCORE_BODY stream_end(void)
{
    _mm_sfence();
}

#else
#define stream_pays(out, size, piece) 0
#define stream_pays_for_ranges(out, size, piece, count) 0
#define stream_copy(to, from, size) memcpy(to, from, (size_t)(size))
#define stream_fill(to, chunk, size) ((void)(chunk))
#define stream_end() ((void)0)
#endif

#endif
