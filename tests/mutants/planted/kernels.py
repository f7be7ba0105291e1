"""Kernels: `.pyx` and `.pxd` files."""

from tests.mutants.mutant import Mutant

BEAMS = "lodcore/kernels/beams.pxd"
GATHER = "lodcore/kernels/gather.pyx"
LINES = "lodcore/kernels/lines.pxd"
LOD = "lodcore/kernels/lod.pyx"
POSITION = "lodcore/kernels/position.pyx"
PRODUCT = "lodcore/kernels/product.pyx"

TEST_GATHER = "tests/kernels/test_gather.py"
TEST_KINKS = "tests/operators/test_kinks.py"
TEST_LOD = "tests/kernels/test_lod.py tests/kernels/test_paths.py"
TEST_PACKING = "tests/kernels/test_packing.py"
TEST_PAD = "tests/kernels/test_pad.py"
TEST_POSITION = "tests/kernels/test_position.py"
TEST_RANK_TABLE = "tests/kernels/test_rank_table.py"

MUTANTS = [
    Mutant(
        "the-boot-state-is-not-multiplied",
        "lodcore/kernels/recurrent_steps.pxd",
        "made = products if (t > 0 or booted) and state_width > 0 else NULL",
        "made = products if t > 0 and state_width > 0 else NULL",
        "tests/kernels/test_gates.py tests/kernels/test_paths.py",
    ),
    Mutant(
        "long-bags-lose-their-first-part",
        "lodcore/kernels/bags.pxd",
        "fold(&best, one, verb)",
        "best = one",
        "tests/kernels/test_embedding.py tests/kernels/test_paths.py",
    ),
    Mutant(
        "a-block-without-its-end",
        BEAMS,
        "passes |= not (row[c + k] < worst)",
        "passes |= row[c] > worst",
        "tests/kernels/test_beam.py tests/kernels/test_paths.py",
    ),
    Mutant(
        "ties-of-a-full-beam-are-skipped",
        BEAMS,
        "passes |= not (row[c + k] < worst)",
        "passes |= row[c + k] > worst",
        "tests/kernels/test_beam.py",
    ),
    Mutant(
        "padded-batches-with-lengths-of-0",
        "lodcore/kernels/fits.pxd",
        "full = held >= most",
        "full = held >= most + (length == 0)",
        TEST_PACKING,
    ),
    Mutant(
        "offsets-are-checked-against-the-first-of-a-block",
        "lodcore/kernels/foreign_data.pyx",
        "        before = place[chunk - 1]\n        if first[0] != 0",
        "        before = first[0]\n        if first[0] != 0",
        "tests/kernels/test_foreign_data.py",
    ),
    Mutant(
        "slice-from-a-negative-start",
        GATHER,
        "if <uint64_t> first > <uint64_t> here or",
        "if first > here or",
        TEST_GATHER,
    ),
    Mutant(
        "reversed-range-accepted",
        GATHER,
        "first < 0 or last < first or last > size",
        "first < 0 or last < 0 or last > size",
        TEST_GATHER,
    ),
    Mutant(
        "run-up-to-the-end-has-none",
        "lodcore/kernels/index.pyx",
        "            places[k] = size\n",
        "            places[k] = size - 1\n",
        "tests/kernels/test_index.py",
    ),
    Mutant(
        "filling-on-the-wrong-side",
        LINES,
        "place, gap = out + rest if left else out,",
        "place, gap = out if left else out + rest,",
        TEST_PAD,
    ),
    Mutant(
        "filling-begins-a-chunk-late",
        LINES,
        "out if left else out + size\n        fits",
        "out if left else out + size + 1\n        fits",
        TEST_PAD,
    ),
    Mutant(
        "mask-does-not-saturate",
        LINES,
        "length = length if length < padded else padded",
        "length = length if length < padded else 0",
        TEST_PAD,
    ),
    Mutant("compose-of-the-wrong-level", LOD, "result[s] = through[source[s]]", "result[s] = source[s]", TEST_LOD),
    Mutant(
        "split-relative-to-the-wrong-level",
        LOD,
        "result[at] = level[s] - level[start]",
        "result[at] = level[s] - outer[d]",
        TEST_LOD,
    ),
    Mutant(
        "negative-index-off-by-one",
        "lodcore/kernels/offsets.pxd",
        "s = s + n_seqs if s < 0 else s",
        "s = s + n_seqs - 1 if s < 0 else s",
        TEST_GATHER,
    ),
    Mutant(
        "the-first-label-of-a-document-learned",
        "lodcore/kernels/packing.pyx",
        "        to[0] = ignored",
        "        to[0] = targets[0]",
        TEST_PACKING,
    ),
    Mutant(
        "sums-of-positions-begin-with-nothing",
        POSITION,
        "                for i in range(reached, size):\n                    sum_of[i] = row[i]",
        "                for i in range(reached, size):\n                    sum_of[i] = 0 + row[i]",
        TEST_POSITION,
    ),
    Mutant(
        "shorter-sequences-forget-how-far-it-was",
        POSITION,
        "                    best[i] = row[i]\n                reached = max(reached, size)",
        "                    best[i] = row[i]\n                reached = size",
        TEST_POSITION,
    ),
    Mutant(
        "all-of-nothing-is-false",
        PRODUCT,
        "                found = every\n",
        "                found = every and bounds[s] < bounds[s + 1]\n",
        "tests/kernels/test_product.py",
    ),
    Mutant(
        "gradient-of-a-product-forgets-the-rest",
        PRODUCT,
        (
            "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n"
            "                    made[r * width + c] = made[r * width + c] * product * last[s * width + c]"
        ),
        (
            "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n"
            "                    made[r * width + c] = made[r * width + c] * product * last[s "
            "* width + c] if made[r * width + c] != 0 else 0"
        ),
        TEST_KINKS,
    ),
    Mutant(
        "unstable-order",
        "lodcore/kernels/rank_table.pyx",
        ("for s in range(n_seqs):\n            length = source[s + 1] - source[s]\n            result[place[length]]"),
        (
            "for s in range(n_seqs - 1, -1, -1):\n            length = source[s + 1] - source[s]\n"
            "            result[place[length]]"
        ),
        TEST_RANK_TABLE,
    ),
    Mutant(
        "variance-of-a-window-of-infinity",
        "lodcore/kernels/rolling.pyx",
        "one.squares = one.first - one.first  # 0, but nan if x is not finite",
        "one.squares = 0",
        TEST_KINKS,
    ),
    Mutant(
        "reversed-groups-in-order",
        "lodcore/kernels/row_groups.pxd",
        "source + (group - 1 - k) * size",
        "source + k * size",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "running-sums-go-on",
        "lodcore/kernels/softmax.pyx",
        "    cdef number total = x[0]\n    out[0] = one_nan(total)",
        "    cdef number total = x[0] + x[-step]\n    out[0] = one_nan(total)",
        "tests/kernels/test_softmax.py tests/kernels/test_paths.py",
    ),
    Mutant(
        "half-of-each-row-moved",
        "lodcore/kernels/steps.pxd",
        "move_steps(rows, 8, offsets,",
        "move_steps(rows, 4, offsets,",
        TEST_RANK_TABLE,
    ),
    Mutant(
        "few-tokens-filled-up-with-garbage",
        "lodcore/kernels/tokens.pyx",
        "for k in range(made.count, FEW):",
        "for k in range(made.count, 0):",
        "tests/kernels/test_tokens.py",
    ),
    Mutant(
        "padding-behind-counted-from-the-row",
        "lodcore/kernels/windows.pxd",
        "copy_padding(w, before + t + start + at - end, missing,",
        "copy_padding(w, before, missing,",
        "tests/kernels/test_window.py",
    ),
]
