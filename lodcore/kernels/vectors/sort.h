/* Sorting of the cells of each column of sequences, and selection of the first ones.
 *
 * A cell becomes a key, an integer of 32 or 64 bits with the same order: nan comes after all others, -0 and 0 are
 * equal, and everything is reversed for a descending order. Equal keys keep the order of their rows. A few cells are
 * ranked, each against all others, without branches; for many cells, either the best few are selected, or the keys
 * are sorted by NumPy, alone or combined with the rows into one integer. */
#ifndef LODCORE_SORT_H
#define LODCORE_SORT_H

#include "intrinsics.h"
#include <stdint.h>

enum { RANKED = 64, ALONE = 40, PICKED = 32, ALIKE = 64 };

enum {
    CELL_UINT8, CELL_UINT16, CELL_UINT32, CELL_INT8, CELL_INT16, CELL_INT32, CELL_HALF, CELL_FLOAT, /* keys of 32 bits */
    CELL_UINT64, CELL_INT64, CELL_DOUBLE, KINDS
};

LODCORE_INLINE int64_t size_of_cell(int kind)
{
    static const int8_t sizes[] = {1, 2, 4, 1, 2, 4, 2, 4, 8, 8, 8};
    return sizes[kind];
}

#include "sort_whole.h"
#include "sort_ranks.h"
#include "sort_lines.h"

#define KEY int32_t
#define UNSIGNED uint32_t
#define KEY_LANES 16
#define OF_KEY(NAME) NAME##_by_32
#define BODY_OF_KEY(NAME) NAME##_by_32_body
#define OF_AVX2(NAME) NAME##_by_32_avx2
#define OF_AVX512(NAME) NAME##_by_32_avx512
#include "sort_keys.h"
#undef KEY
#undef UNSIGNED
#undef KEY_LANES
#undef OF_KEY
#undef BODY_OF_KEY
#undef OF_AVX2
#undef OF_AVX512

#define KEY int64_t
#define UNSIGNED uint64_t
#define KEY_LANES 8
#define OF_KEY(NAME) NAME##_by_64
#define BODY_OF_KEY(NAME) NAME##_by_64_body
#define OF_AVX2(NAME) NAME##_by_64_avx2
#define OF_AVX512(NAME) NAME##_by_64_avx512
#include "sort_keys.h"
#undef KEY
#undef UNSIGNED
#undef KEY_LANES
#undef OF_KEY
#undef BODY_OF_KEY
#undef OF_AVX2
#undef OF_AVX512

#endif
