"""Kernels: the headers and the files of loops that they include, and sorting."""

DEFECTS = {
    ("lodcore/kernels/keys.pxd", "tests/kernels/test_sort.py tests/kernels/test_paths.py"): [
        ("minus-zero-below-zero", "    value += <key> (value == -1)\n", ""),
    ],
    ("lodcore/kernels/pooling.pxd", "tests/kernels/test_pool.py tests/kernels/test_paths.py"): [
        (
            "plain-sums-in-fewer-lanes",
            "sum_few(x, <int> length, lanes // 4, out)",
            "sum_few(x, <int> length, lanes // 8, out)",
        ),
        ("spread-past-the-end", "if r + span <= n_rows:", "if r < n_rows:"),
        ("roots-of-lengths-forgotten", "by[0] = <real> sqrt(<double> length)", "by[0] = <real> length"),
    ],
    ("lodcore/kernels/taps.pxd", "tests/kernels/test_window.py"): [
        (
            "taps-over-the-end-of-a-sequence",
            "edge = end - taps + 1 if end - taps + 1 < stop else stop",
            "edge = end - taps + 2 if end - taps + 2 < stop else stop",
        ),
        (
            "taps-of-the-sequence-before",
            "edge = begin + taps - 1 if begin + taps - 1 < end else end",
            "edge = begin + taps - 2 if begin + taps - 2 < end else end",
        ),
        ("a-second-group-of-taps-begins-anew", "                if first:\n", "                if False:\n"),
        (
            "lagged-products-in-single-precision",
            "out[j * width + c] += <double> x[(t + j) * width + c] * <double> y[t * width + c]",
            "out[j * width + c] += x[(t + j) * width + c] * y[t * width + c]",
        ),
    ],
    ("lodcore/kernels/vectors/exponential.h", "tests/kernels/test_softmax.py tests/kernels/test_paths.py"): [
        ("exponential-one-digit", "r * 0.008368717f + 0.04166839f", "r * 0.008368717f + 0.0416f"),
        (
            "exponential-never-zero",
            "_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(FLOAT_LOWEST), _CMP_NLT_UQ), p, n)",
            "_mm512_scalef_ps(p, n)",
        ),
    ],
    ("lodcore/kernels/vectors/gates_lanes.h", "tests/kernels/test_gates.py tests/kernels/test_paths.py"): [
        (
            "the-output-gate-sees-the-old-cell",
            "o = o + GET(peep + 2 * width + c) * now;",
            "o = o + GET(peep + 2 * width + c) * old;",
        ),
        ("the-carry-forgets-the-forget-gate", "d_old = d_now * f;", "d_old = d_now;"),
    ],
    ("lodcore/kernels/vectors/offsets.h", "tests/kernels/test_lod.py tests/kernels/test_paths.py"): [
        (
            "sum-of-eight-lengths-overflows",
            "any = _mm512_or_si512(any, x);\n        _mm512_storeu_si512(out + s, x);",
            "_mm512_storeu_si512(out + s, x);",
        ),
    ],
    ("lodcore/kernels/vectors/pool_lanes.h", "tests/kernels/test_pool.py tests/kernels/test_paths.py"): [
        ("sums-of-cells-may-be-negative-zero", "STORE(out, ADD(part[0], ALL(0)));", "STORE(out, part[0]);"),
        (
            "lanes-in-another-order",
            "part[j] = PATH(fold)(part[j], part[j + half], verb);\n    return part[0];\n}\n\nTARGET LODCORE_INLINE",
            (
                "part[j] = PATH(fold)(part[2 * j], part[2 * j + 1], verb);\n"
                "    return part[0];\n"
                "}\n"
                "\n"
                "TARGET LODCORE_INLINE"
            ),
        ),
        ("a-later-zero-wins", "odd = nan | (int)EQUAL(part[0], ALL(0));", "odd = nan;"),
        (
            "nan-unseen-in-long-sequences",
            "            if (verb != SUM)\n                NOTE_NANS(*nans, cells, cells);\n            part[j]",
            "            part[j]",
        ),
    ],
    ("lodcore/kernels/vectors/pool_places.h", "tests/kernels/test_pool.py tests/kernels/test_paths.py"): [
        (
            "the-last-of-equal-cells-wins",
            "(greatest ? out[c] >= row[c] : out[c] <= row[c])",
            "(greatest ? out[c] > row[c] : out[c] < row[c])",
        ),
    ],
    ("lodcore/kernels/vectors/softmax.h", "tests/kernels/test_softmax.py tests/kernels/test_paths.py"): [
        ("sum-of-nothing-is-zero", "return -INFINITY;", "return 0;"),
    ],
    ("lodcore/kernels/vectors/softmax_lanes.h", "tests/kernels/test_softmax.py tests/kernels/test_paths.py"): [
        (
            "subnormal-results",
            "return OF(one_nan)(OF(not_below)(x, least) * y);",
            "(void)least;\n    return OF(one_nan)(x * y);",
        ),
        (
            "masked-rows-count",
            "v[count - 1] = OF(load_or)(OF(all)(-INFINITY), OF(first)",
            "v[count - 1] = OF(load_or)(OF(all)(0), OF(first)",
        ),
        (
            "another-order-of-lanes",
            "            if (k + half < count)\n                v[k] += v[k + half];",
            "            if (2 * k + 1 < count && half)\n                v[k] = v[2 * k] + v[2 * k + 1];",
        ),
    ],
    ("lodcore/kernels/vectors/sort_ranks.h", "tests/kernels/test_sort.py tests/kernels/test_paths.py"): [
        (
            "equal-keys-the-other-way",
            "unsigned behind = ~1u << (row - first);",
            "unsigned behind = ~(~1u << (row - first));",
        ),
    ],
    ("lodcore/kernels/vectors/stream.h", "tests/kernels/test_streaming_stores.py"): [
        (
            "rows-past-the-caches-in-one-place",
            "(to + k), _mm_loadu_si128((const __m128i *)(from + k)",
            "(to + k), _mm_loadu_si128((const __m128i *)(from)",
        ),
    ],
    ("lodcore/kernels/whole_sorts.pxd", "tests/kernels/test_sort.py tests/kernels/test_paths.py"): [
        ("zeros-as-they-come", "        put_alike(x, length, step, kind, flip, <key> 0, count, to)\n", ""),
        (
            "last-bits-of-keys-forgotten",
            "            if not in_order:\n",
            "            if not in_order and stop - first <= 1:\n",
        ),
        ("descending-as-ascending", "    if descending:\n", "    if descending < 0:\n"),
    ],
}
