"""Rows that are ids."""

from tests.mutants.mutant import Mutant

KERNELS = "lodcore/kernels/tokens.pyx"
OPS = "lodcore/ops/text/tokens.py"
KERNEL_TESTS = "tests/kernels/test_tokens.py"
TESTS = "tests/ops/text/test_tokens.py"

MUTANTS = [
    Mutant(
        "tokens-wrap-around",
        KERNELS,
        "return size == 8 or (number >= -half and number < half)",
        "return True",
        KERNEL_TESTS,
    ),
    Mutant(
        "unsigned-tokens-may-be-negative",
        KERNELS,
        "return number >= 0 and (size == 8 or number < 2 * half)",
        "return size == 8 or number < 2 * half",
        KERNEL_TESTS,
    ),
    Mutant(
        "few-tokens-filled-up-with-garbage",
        KERNELS,
        "for k in range(made.count, FEW):",
        "for k in range(made.count, 0):",
        KERNEL_TESTS,
    ),
    Mutant(
        "behind-the-table-is-its-last-entry",
        KERNELS,
        "place = place if place <= reach else reach + 1",
        "place = place if place <= reach else reach",
        KERNEL_TESTS,
    ),
    Mutant(
        "search-misses-the-first",
        KERNELS,
        "at = at + rest // 2 if at[rest // 2] <= x[i] else at",
        "at = at + rest // 2 if at[rest // 2] < x[i] else at",
        KERNEL_TESTS,
    ),
    Mutant(
        "offsets-of-the-first-block",
        KERNELS,
        "out_offsets[s] = kept + place[offsets[s] - first]",
        "out_offsets[s] = place[offsets[s] - first]",
        KERNEL_TESTS,
    ),
    Mutant(
        "last-column-is-out-of-range",
        KERNELS,
        "                if <uint64_t> column >= <uint64_t> n_columns:\n                    bad = t\n"
        "                    break\n                to = result",
        "                if <uint64_t> column > <uint64_t> n_columns:\n                    bad = t\n"
        "                    break\n                to = result",
        KERNEL_TESTS,
    ),
    Mutant(
        "updates-replace",
        KERNELS,
        "to[c] += source[t * width + c]",
        "to[c] = source[t * width + c]",
        KERNEL_TESTS,
    ),
    Mutant(
        "windows-of-the-last-level",
        OPS,
        'lod_body.normalize_level(x.lod, level, "sequence_enumerate")',
        'lod_body.normalize_level(x.lod, -1, "sequence_enumerate")',
        TESTS,
    ),
    Mutant(
        "pad-value-wraps-around",
        OPS,
        "    if not low <= number <= high:",
        "    if not low <= number:",
        "tests/operators/test_operators.py",
    ),
    Mutant(
        "gradient-of-updates-not-summed",
        OPS,
        "else unbroadcast(taken, shape)",
        "else taken[:1].reshape(shape)",
        TESTS,
    ),
    Mutant(
        "gradient-of-updates-of-the-first-line",
        OPS,
        "buffers.as_bytes(d_out)",
        "buffers.as_bytes(np.repeat(d_out[:1], len(d_out), 0))",
        TESTS,
    ),
]
