/* Rows as opaque bytes: reads of shared memory, and copies of short pieces. */
#ifndef LODCORE_ROWS_H
#define LODCORE_ROWS_H

#include "simd.h"
#include "stream.h"
#include <stdint.h>
#include <string.h>

/* Another thread may write to a caller's array during a check: the value that was checked must be the one that is
 * used. */
static inline int64_t read_once(const int64_t *place)
{
    return *(const volatile int64_t *)place;
}

enum { CHUNK = 64, SHORT = 512, AHEAD = 8, FAR = 16, LINE = 64, BLOCK = 16 };

/* Copy in whole chunks; up to a chunk more than `size` bytes is read and written. */
LODCORE_BODY copy_chunks(char *to, const char *from, int64_t size)
{
    const char *end = to + size;
    do {
        memcpy(to, from, CHUNK);
        to += CHUNK;
        from += CHUNK;
    } while (to < end);
}

/* Copy a piece that is followed by another one. Short pieces are copied in whole chunks: bytes past their end are
 * overwritten by the next piece, and never leave either buffer. */
LODCORE_BODY copy_piece(char *to, const char *to_end, const char *from, const char *from_end, int64_t size)
{
    if (size <= SHORT && from_end - from >= size + CHUNK && to_end - to >= size + CHUNK)
        copy_chunks(to, from, size);
    else
        memcpy(to, from, (size_t)size);
}

#endif
