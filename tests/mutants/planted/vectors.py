"""Kernels: the headers and the files of loops that they include, and sorting."""

from tests.mutants.mutant import Mutant

EXPONENTIAL = "lodcore/kernels/vectors/exponential.h"
GATES_LANES = "lodcore/kernels/vectors/gates_lanes.h"
KEYS = "lodcore/kernels/keys.pxd"
POOL_LANES = "lodcore/kernels/vectors/pool_lanes.h"
POOL_PLACES = "lodcore/kernels/vectors/pool_places.h"
POOLING = "lodcore/kernels/pooling.pxd"
SOFTMAX_LANES = "lodcore/kernels/vectors/softmax_lanes.h"
TAPS = "lodcore/kernels/taps.pxd"
WHOLE_SORTS = "lodcore/kernels/whole_sorts.pxd"

TEST_GATES = "tests/kernels/test_gates.py tests/kernels/test_paths.py"
TEST_POOL = "tests/kernels/test_pool.py tests/kernels/test_paths.py"
TEST_SOFTMAX = "tests/kernels/test_softmax.py tests/kernels/test_paths.py"
TEST_SORT = "tests/kernels/test_sort.py tests/kernels/test_paths.py"
TEST_WINDOW = "tests/kernels/test_window.py"

MUTANTS = [
    Mutant(
        "exponential-one-digit",
        EXPONENTIAL,
        "r * 0.008368717f + 0.04166839f",
        "r * 0.008368717f + 0.0416f",
        TEST_SOFTMAX,
    ),
    Mutant(
        "exponential-never-zero",
        EXPONENTIAL,
        "_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(FLOAT_LOWEST), _CMP_NLT_UQ), p, n)",
        "_mm512_scalef_ps(p, n)",
        TEST_SOFTMAX,
    ),
    Mutant(
        "the-output-gate-sees-the-old-cell",
        GATES_LANES,
        "o = o + GET(peep + 2 * width + c) * now;",
        "o = o + GET(peep + 2 * width + c) * old;",
        TEST_GATES,
    ),
    Mutant("the-carry-forgets-the-forget-gate", GATES_LANES, "d_old = d_now * f;", "d_old = d_now;", TEST_GATES),
    Mutant(
        "sum-of-eight-lengths-overflows",
        "lodcore/kernels/vectors/offsets.h",
        "any = _mm512_or_si512(any, x);\n        _mm512_storeu_si512(out + s, x);",
        "_mm512_storeu_si512(out + s, x);",
        "tests/kernels/test_lod.py tests/kernels/test_paths.py",
    ),
    Mutant(
        "plain-sums-in-fewer-lanes",
        POOLING,
        "sum_few(x, <int> length, lanes // 4, out)",
        "sum_few(x, <int> length, lanes // 8, out)",
        TEST_POOL,
    ),
    Mutant(
        "the-last-of-equal-cells-wins",
        POOL_PLACES,
        "(greatest ? out[c] >= row[c] : out[c] <= row[c])",
        "(greatest ? out[c] > row[c] : out[c] < row[c])",
        TEST_POOL,
    ),
    Mutant("spread-past-the-end", POOLING, "if r + span <= n_rows:", "if r < n_rows:", TEST_POOL),
    Mutant(
        "roots-of-lengths-forgotten",
        POOLING,
        "by[0] = <real> sqrt(<double> length)",
        "by[0] = <real> length",
        TEST_POOL,
    ),
    Mutant(
        "sums-of-cells-may-be-negative-zero",
        POOL_LANES,
        "STORE(out, ADD(part[0], ALL(0)));",
        "STORE(out, part[0]);",
        TEST_POOL,
    ),
    Mutant(
        "lanes-in-another-order",
        POOL_LANES,
        ("part[j] = PATH(fold)(part[j], part[j + half], verb);\n    return part[0];\n}\n\nTARGET LODCORE_INLINE"),
        ("part[j] = PATH(fold)(part[2 * j], part[2 * j + 1], verb);\n    return part[0];\n}\n\nTARGET LODCORE_INLINE"),
        TEST_POOL,
    ),
    Mutant("a-later-zero-wins", POOL_LANES, "odd = nan | (int)EQUAL(part[0], ALL(0));", "odd = nan;", TEST_POOL),
    Mutant(
        "nan-unseen-in-long-sequences",
        POOL_LANES,
        ("            if (verb != SUM)\n                NOTE_NANS(*nans, cells, cells);\n            part[j]"),
        "            part[j]",
        TEST_POOL,
    ),
    Mutant(
        "sum-of-nothing-is-zero",
        "lodcore/kernels/vectors/softmax.h",
        "return -INFINITY;",
        "return 0;",
        TEST_SOFTMAX,
    ),
    Mutant(
        "subnormal-results",
        SOFTMAX_LANES,
        "return OF(one_nan)(OF(not_below)(x, least) * y);",
        "(void)least;\n    return OF(one_nan)(x * y);",
        TEST_SOFTMAX,
    ),
    Mutant(
        "masked-rows-count",
        SOFTMAX_LANES,
        "v[count - 1] = OF(load_or)(OF(all)(-INFINITY), OF(first)",
        "v[count - 1] = OF(load_or)(OF(all)(0), OF(first)",
        TEST_SOFTMAX,
    ),
    Mutant(
        "another-order-of-lanes",
        SOFTMAX_LANES,
        "            if (k + half < count)\n                v[k] += v[k + half];",
        "            if (2 * k + 1 < count && half)\n                v[k] = v[2 * k] + v[2 * k + 1];",
        TEST_SOFTMAX,
    ),
    Mutant("minus-zero-below-zero", KEYS, "    value += <key> (value == -1)\n", "", TEST_SORT),
    Mutant(
        "zeros-as-they-come",
        WHOLE_SORTS,
        "        put_alike(x, length, step, kind, flip, <key> 0, count, to)\n",
        "",
        TEST_SORT,
    ),
    Mutant(
        "equal-keys-the-other-way",
        "lodcore/kernels/vectors/sort_ranks.h",
        "unsigned behind = ~1u << (row - first);",
        "unsigned behind = ~(~1u << (row - first));",
        TEST_SORT,
    ),
    Mutant(
        "last-bits-of-keys-forgotten",
        WHOLE_SORTS,
        "            if not in_order:\n",
        "            if not in_order and stop - first <= 1:\n",
        TEST_SORT,
    ),
    Mutant("descending-as-ascending", WHOLE_SORTS, "    if descending:\n", "    if descending < 0:\n", TEST_SORT),
    Mutant(
        "rows-past-the-caches-in-one-place",
        "lodcore/kernels/vectors/stream.h",
        "(to + k), _mm_loadu_si128((const __m128i *)(from + k)",
        "(to + k), _mm_loadu_si128((const __m128i *)(from)",
        "tests/kernels/test_streaming_stores.py",
    ),
    Mutant(
        "taps-over-the-end-of-a-sequence",
        TAPS,
        "edge = end - taps + 1 if end - taps + 1 < stop else stop",
        "edge = end - taps + 2 if end - taps + 2 < stop else stop",
        TEST_WINDOW,
    ),
    Mutant(
        "taps-of-the-sequence-before",
        TAPS,
        "edge = begin + taps - 1 if begin + taps - 1 < end else end",
        "edge = begin + taps - 2 if begin + taps - 2 < end else end",
        TEST_WINDOW,
    ),
    Mutant(
        "a-second-group-of-taps-begins-anew",
        TAPS,
        "                if first:\n",
        "                if False:\n",
        TEST_WINDOW,
    ),
    Mutant(
        "lagged-products-in-single-precision",
        TAPS,
        "out[j * width + c] += <double> x[(t + j) * width + c] * <double> y[t * width + c]",
        "out[j * width + c] += x[(t + j) * width + c] * y[t * width + c]",
        TEST_WINDOW,
    ),
]
