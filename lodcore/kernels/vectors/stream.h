/* Non-temporal stores: large results in memory that is already mapped are written past the caches, so that the
 * processor neither fetches what is overwritten nor evicts other data. For fresh pages this would be slower, because
 * the system has just cleared them in the caches. The bytes are the same. */
#ifndef LODCORE_STREAM_H
#define LODCORE_STREAM_H

#include <stdint.h>

#include "simd.h"

#if LODCORE_HAS_SIMD && defined(__linux__)
#include <emmintrin.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STREAM_UNIT = 16, STREAM_LEAST = 1 << 25, STREAM_PROBES = 8 };

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

/* Return whether rows that come from many places are written past the caches, too: Intel's processors then take 0.57 to
 * 0.8 of the time, while AMD's Zen 5 takes up to 1.6 times as long. No feature of a processor tells, nor does a trial of a
 * few milliseconds: with 2 to 16 MB, it found ratios of 0.8 to 1.26 where calls take 0.57 to 0.75, since others use the
 * caches and the memory of the machine, too. */
static LODCORE_UNUSED int stream_pays_for_ranges(const char *out, int64_t size, int64_t piece)
{
    return __builtin_cpu_is("intel") && stream_pays(out, size, piece);
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
#define stream_pays_for_ranges(out, size, piece) 0
#define stream_copy(to, from, size) memcpy(to, from, (size_t)(size))
#define stream_fill(to, chunk, size) ((void)(chunk))
#define stream_end() ((void)0)
#endif

#endif
