"""Defects of softmax, logarithms of sums, running sums, sorting and the greatest rows."""

from tests.mutants.mutant import Mutant

SCORES, SORT = "lodcore/ops/networks/softmax.py", "lodcore/ops/order/sort.py"
KERNELS = "tests/kernels/test_softmax.py"
ORDER = "tests/kernels/test_sort.py"
OPERATORS = "tests/ops/networks/test_softmax.py tests/ops/order/test_sort.py"

MUTANTS = [
    # -- softmax: kernels
    Mutant(
        "exponential-one-digit",
        "lodcore/kernels/vectors/exponential.h",
        "r * 0.008368717f + 0.04166839f",
        "r * 0.008368717f + 0.0416f",
        KERNELS,
    ),
    Mutant(
        "exponential-never-zero",
        "lodcore/kernels/vectors/exponential.h",
        "_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(FLOAT_LOWEST), _CMP_NLT_UQ), p, n)",
        "_mm512_scalef_ps(p, n)",
        KERNELS,
    ),
    Mutant(
        "subnormal-results",
        "lodcore/kernels/vectors/softmax_lanes.h",
        "return OF(one_nan)(OF(not_below)(x, least) * y);",
        "(void)least;\n    return OF(one_nan)(x * y);",
        KERNELS,
    ),
    Mutant(
        "masked-rows-count",
        "lodcore/kernels/vectors/softmax_lanes.h",
        "v[count - 1] = OF(load_or)(OF(all)(-INFINITY), OF(first)",
        "v[count - 1] = OF(load_or)(OF(all)(0), OF(first)",
        KERNELS,
    ),
    Mutant(
        "another-order-of-lanes",
        "lodcore/kernels/vectors/softmax_lanes.h",
        "            if (k + half < count)\n                v[k] += v[k + half];",
        "            if (2 * k + 1 < count && half)\n                v[k] = v[2 * k] + v[2 * k + 1];",
        KERNELS,
    ),
    Mutant(
        "sum-of-nothing-is-zero",
        "lodcore/kernels/vectors/softmax_cells.h",
        "        return -INFINITY;\n    if (sum == sum)",
        "        return 0;\n    if (sum == sum)",
        KERNELS,
    ),
    Mutant(
        "columns-beyond-the-block",
        "lodcore/kernels/vectors/softmax_lanes.h",
        "        for (; c + FEW * LANES <= width; c += FEW * LANES)",
        "        for (; c + FEW * LANES < width; c += FEW * LANES)",
        KERNELS,
    ),
    Mutant(
        "running-sums-go-on",
        "lodcore/kernels/softmax.pyx",
        "    cdef number total = x[0]\n    out[0] = one_nan(total)",
        "    cdef number total = x[0] + x[-step]\n    out[0] = one_nan(total)",
        KERNELS,
    ),
    # -- softmax: operators
    Mutant(
        "derivative-without-the-mean",
        "lodcore/kernels/vectors/softmax_cells.h",
        "y[at + k] * (d[at + k] - sum[k])",
        "y[at + k] * d[at + k]",
        KERNELS,
    ),
    Mutant(
        "softmax-of-integers-is-integer",
        SCORES,
        '    where = "sequence_softmax"\n    dtype = _reals_of(where, x.dtype)[1]',
        '    where = "sequence_softmax"\n    dtype = x.dtype',
        OPERATORS,
    ),
    Mutant(
        "logsumexp-keeps-its-level",
        SCORES,
        '@operator(x=Nested, lod_rule=before("level"))\ndef sequence_logsumexp',
        "@operator(x=Nested)\ndef sequence_logsumexp",
        OPERATORS,
    ),
    Mutant(
        "softmax-of-the-last-level",
        SCORES,
        'kernels.softmax.softmax_rows, "ror", cells_of(values, work), below(lod, k), cells',
        'kernels.softmax.softmax_rows, "ror", cells_of(values, work), below(lod, lod.num_levels - 1), cells',
        OPERATORS,
    ),
    # -- order: kernels
    Mutant(
        "minus-zero-below-zero",
        "lodcore/kernels/vectors/sort_keys.h",
        "    key += key == -1;\n",
        "",
        ORDER,
    ),
    Mutant(
        "equal-keys-the-other-way",
        "lodcore/kernels/vectors/sort_ranks.h",
        "unsigned behind = ~1u << (row - first);",
        "unsigned behind = ~(~1u << (row - first));",
        ORDER,
    ),
    Mutant(
        "picked-the-last-of-equal-ones",
        "lodcore/kernels/vectors/sort_keys.h",
        "if (have == count && key >= found[count - 1])",
        "if (have == count && key > found[count - 1])",
        ORDER,
    ),
    Mutant(
        "network-without-its-last-line",
        "lodcore/kernels/vectors/sort_lines.h",
        "for (int64_t run = first; run + distance < count; run += 2 * p)",
        "for (int64_t run = first; run + distance < count - 1; run += 2 * p)",
        ORDER,
    ),
    Mutant(
        "zeros-as-they-come",
        "lodcore/kernels/vectors/sort_keys.h",
        "        OF_KEY(put_alike)(x, length, step, kind, flip, 0, count, to);\n",
        "",
        ORDER,
    ),
    Mutant(
        "last-bits-of-keys-forgotten",
        "lodcore/kernels/vectors/sort_whole.h",
        "        if (in_order)\n            continue;",
        "        if (in_order || stop - first > 1)\n            continue;",
        ORDER,
    ),
    Mutant(
        "descending-as-ascending",
        "lodcore/kernels/vectors/sort_whole.h",
        "        if (descending)   ",
        "        if (descending < 0)",
        ORDER,
    ),
    Mutant(
        "positions-from-outside-unchecked",
        "lodcore/kernels/sort.pyx",
        "if row < 0 or row >= length:",
        "if row >= length:",
        ORDER,
    ),
    # -- order: operators
    Mutant(
        "topk-level-of-the-last",
        SORT,
        'spec_rows(x), level_of("sequence_topk", x, level) + 1',
        'spec_rows(x), max(level_of("sequence_topk", x, level) + 1, x.num_levels)',
        OPERATORS,
    ),
    Mutant(
        "topk-derivative-in-order",
        SORT,
        "below(lod, k), lod_body.offsets_view(positions.lod, k), places",
        "below(lod, k), lod_body.offsets_view(positions.lod, k), places * 0",
        OPERATORS,
    ),
    Mutant(
        "sort-saves-no-order",
        "lodcore/ops/order/order.py",
        "if positions and target.size else None",
        "if positions and target.size > 1 else None",
        OPERATORS,
    ),
    Mutant(
        "negative-k",
        SORT,
        'integer_of("sequence_topk: k", k, 0)',
        'integer_of("sequence_topk: k", k, -1)',
        OPERATORS,
    ),
]
