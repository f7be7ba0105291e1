"""Convolutions."""

from tests.mutants.mutant import Mutant

WINDOW = "lodcore/kernels/window.pyx"
WINDOWS = "lodcore/kernels/windows.pxd"
TAPS = "lodcore/kernels/vectors/taps.h"
OPS = "lodcore/ops/windows/window.py"
KERNEL_TESTS = "tests/kernels/test_window.py"
TESTS = "tests/ops/windows/test_window.py"

MUTANTS = [
    Mutant(
        "a-window-at-the-end-left-out",
        WINDOW,
        "for t in range(high, b):",
        "for t in range(high + 1, b):",
        KERNEL_TESTS,
    ),
    Mutant(
        "windows-written-past-the-end",
        WINDOWS,
        "(room - reach) // width + 1",
        "(room - reach) // width + 2",
        KERNEL_TESTS,
    ),
    Mutant(
        "padding-behind-counted-from-the-row",
        WINDOWS,
        "copy_padding(w, before + t + start + at - end, missing,",
        "copy_padding(w, before, missing,",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-sequence-ends-with-the-block",
        WINDOW,
        "if w.offsets[s + 1] > b:  # it continues in the next block",
        "if False:",
        KERNEL_TESTS,
    ),
    Mutant(
        "taps-over-the-end-of-a-sequence",
        TAPS,
        "int64_t edge = end - taps + 1 < stop ? end - taps + 1 : stop;",
        "int64_t edge = end - taps + 2 < stop ? end - taps + 2 : stop;",
        KERNEL_TESTS,
    ),
    Mutant(
        "taps-of-the-sequence-before",
        TAPS,
        "int64_t edge = begin + taps - 1 < end ? begin + taps - 1 : end,",
        "int64_t edge = begin + taps - 2 < end ? begin + taps - 2 : end,",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-second-group-of-taps-begins-anew",
        TAPS,
        "                if (first)\n",
        "                if (0)\n",
        KERNEL_TESTS,
    ),
    Mutant(
        "lagged-products-in-single-precision",
        TAPS,
        "out[j * width + c] += (double)x[(t + j) * width + c] * (double)y[t * width + c];",
        "out[j * width + c] += x[(t + j) * width + c] * y[t * width + c];",
        KERNEL_TESTS,
    ),
    Mutant(
        "useful-taps-end-one-early",
        OPS,
        "stop = max(min(length, longest - start), first)",
        "stop = max(min(length, longest - start - 1), first)",
        TESTS,
    ),
    Mutant(
        "filter-gradient-of-the-last-block",
        OPS,
        "        d_filter += product",
        "        d_filter[...] = product",
        TESTS,
    ),
    Mutant(
        "padding-gradient-of-the-wrong-end",
        OPS,
        "((sums[:before], 1 - length), (sums[before:], 0))",
        "((sums[:before], 0), (sums[before:], 1 - length))",
        TESTS,
    ),
    Mutant(
        "conv-keeps-the-width",
        OPS,
        "return Spec((x.shape[0], weights.shape[1]), dtype)",
        "return Spec(x.shape, dtype)",
        "tests/operators/test_operators.py",
    ),
    Mutant(
        "row-conv-of-the-last-level",
        OPS,
        'offsets = below(x.lod, lod_body.normalize_level(x.lod, level, "row_conv"))',
        'offsets = below(x.lod, lod_body.normalize_level(x.lod, -1, "row_conv"))',
        TESTS,
    ),
]
