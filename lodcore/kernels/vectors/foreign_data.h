/* Offsets from another library: each is read once, widened, checked and shifted to start at 0. And a checksum for
 * files. */
#ifndef LODCORE_DOORS_H
#define LODCORE_DOORS_H

#include "simd.h"
#include <stdint.h>
#include <string.h>

enum { OFFSETS_AT_ONCE = 1024 }; /* copied offsets are still in the first-level cache when they are checked */

/* out[s] = given[s] */
LODCORE_BODY widen_body(const int32_t *restrict given, int64_t count, int64_t *restrict out)
{
    for (int64_t s = 0; s < count; s++)
        out[s] = given[s];
}
LODCORE_TWICE(widen, (const int32_t *given, int64_t count, int64_t *out), (given, count, out))

LODCORE_BODY copy_words_body(const int64_t *restrict given, int64_t count, int64_t *restrict out)
{
    for (int64_t s = 0; s < count; s++)
        out[s] = given[s];
}
LODCORE_TWICE(copy_words, (const int64_t *given, int64_t count, int64_t *out), (given, count, out))

/* Return a number whose sign bit is set if an offset is negative or less than the one before. */
LODCORE_BODY step_signs_body(const int64_t *restrict offsets, int64_t count, int64_t before, int64_t *restrict signs)
{
    uint64_t any = (uint64_t)offsets[0] | ((uint64_t)offsets[0] - (uint64_t)before);
    for (int64_t s = 1; s < count; s++) /* differences of nonnegative numbers cannot overflow */
        any |= (uint64_t)offsets[s] | ((uint64_t)offsets[s] - (uint64_t)offsets[s - 1]);
    *signs = (int64_t)any;
}
LODCORE_TWICE(step_signs, (const int64_t *offsets, int64_t count, int64_t before, int64_t *signs),
              (offsets, count, before, signs))

/* offsets[s] -= first */
LODCORE_BODY move_to_zero_body(int64_t *offsets, int64_t count, int64_t first)
{
    for (int64_t s = 0; s < count; s++)
        offsets[s] -= first;
}
LODCORE_TWICE(move_to_zero, (int64_t *offsets, int64_t count, int64_t first), (offsets, count, first))

/* Copy `count` offsets of `size` bytes each; return the first one that is negative or decreases, or -1. */
static LODCORE_UNUSED int64_t copy_checked(const char *given, int64_t count, int64_t size, int64_t *first, int64_t *out)
{
    int64_t before = 0;
    for (int64_t start = 0; start < count; start += OFFSETS_AT_ONCE) {
        int64_t chunk = count - start < OFFSETS_AT_ONCE ? count - start : OFFSETS_AT_ONCE, signs;
        int64_t *place = out + start;
        if (size == 4)
            widen((const int32_t *)given + start, chunk, place);
        else
            copy_words((const int64_t *)given + start, chunk, place);
        if (start == 0)
            *first = before = place[0];
        step_signs(place, chunk, before, &signs);
        if (signs < 0) {
            for (int64_t s = 0; s < chunk; s++) {
                if (place[s] < before || place[s] < 0)
                    return start + s;
                before = place[s];
            }
        }
        before = place[chunk - 1];
        if (*first != 0)
            move_to_zero(place, chunk, *first);
    }
    return -1;
}

/* A polynomial in the words of 8 bytes, modulo 2**64. Eight sums run at once, since one would wait for each product.
 * */
static LODCORE_UNUSED uint64_t word_sum(const unsigned char *data, int64_t n_words, uint64_t sum)
{
    const uint64_t prime = 0x9E3779B97F4A7C15u;
    uint64_t power = prime * prime, lanes[8] = {0}, word;
    int64_t w = 0;
    power *= power;
    power *= power; /* prime ** 8 */
    if (n_words >= 8) {
        lanes[7] = sum; /* treated as the last word before */
        for (; w + 8 <= n_words; w += 8) {
            for (int k = 0; k < 8; k++) {
                memcpy(&word, data + 8 * (w + k), 8);
                lanes[k] = lanes[k] * power + word;
            }
        }
        sum = 0;
        for (int k = 0; k < 8; k++)
            sum = sum * prime + lanes[k];
    }
    for (; w < n_words; w++) {
        memcpy(&word, data + 8 * w, 8);
        sum = sum * prime + word;
    }
    return sum;
}

#endif
