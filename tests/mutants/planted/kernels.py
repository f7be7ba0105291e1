"""Kernels: `.pyx` and `.pxd` files."""

DEFECTS = {
    ("lodcore/kernels/bags.pxd", "tests/kernels/test_embedding.py tests/kernels/test_paths.py"): [
        ("long-bags-lose-their-first-part", "fold(&best, one, verb)", "best = one"),
    ],
    ("lodcore/kernels/beams.pxd", "tests/kernels/test_beam.py tests/kernels/test_paths.py"): [
        ("a-block-without-its-end", "passes |= not (row[c + k] < worst)", "passes |= row[c] > worst"),
    ],
    ("lodcore/kernels/beams.pxd", "tests/kernels/test_beam.py"): [
        ("ties-of-a-full-beam-are-skipped", "passes |= not (row[c + k] < worst)", "passes |= row[c + k] > worst"),
    ],
    ("lodcore/kernels/fits.pxd", "tests/kernels/test_packing.py"): [
        ("padded-batches-with-lengths-of-0", "full = held >= most", "full = held >= most + (length == 0)"),
    ],
    ("lodcore/kernels/foreign_data.pyx", "tests/kernels/test_foreign_data.py"): [
        (
            "offsets-are-checked-against-the-first-of-a-block",
            "        before = place[chunk - 1]\n        if first[0] != 0",
            "        before = first[0]\n        if first[0] != 0",
        ),
    ],
    ("lodcore/kernels/gather.pyx", "tests/kernels/test_gather.py"): [
        ("slice-from-a-negative-start", "if <uint64_t> first > <uint64_t> here or", "if first > here or"),
        ("reversed-range-accepted", "first < 0 or last < first or last > size", "first < 0 or last < 0 or last > size"),
    ],
    ("lodcore/kernels/index.pyx", "tests/kernels/test_index.py"): [
        ("run-up-to-the-end-has-none", "            places[k] = size\n", "            places[k] = size - 1\n"),
    ],
    ("lodcore/kernels/lines.pxd", "tests/kernels/test_pad.py"): [
        (
            "filling-on-the-wrong-side",
            "place, gap = out + rest if left else out,",
            "place, gap = out if left else out + rest,",
        ),
        (
            "filling-begins-a-chunk-late",
            "out if left else out + size\n        fits",
            "out if left else out + size + 1\n        fits",
        ),
        (
            "mask-does-not-saturate",
            "length = length if length < padded else padded",
            "length = length if length < padded else 0",
        ),
    ],
    ("lodcore/kernels/lod.pyx", "tests/kernels/test_lod.py tests/kernels/test_paths.py"): [
        ("compose-of-the-wrong-level", "result[s] = through[source[s]]", "result[s] = source[s]"),
        (
            "split-relative-to-the-wrong-level",
            "result[at] = level[s] - level[start]",
            "result[at] = level[s] - outer[d]",
        ),
    ],
    ("lodcore/kernels/offsets.pxd", "tests/kernels/test_gather.py"): [
        ("negative-index-off-by-one", "s = s + n_seqs if s < 0 else s", "s = s + n_seqs - 1 if s < 0 else s"),
    ],
    ("lodcore/kernels/packing.pyx", "tests/kernels/test_packing.py"): [
        ("the-first-label-of-a-document-learned", "        to[0] = ignored", "        to[0] = targets[0]"),
    ],
    ("lodcore/kernels/position.pyx", "tests/kernels/test_position.py"): [
        (
            "sums-of-positions-begin-with-nothing",
            "                for i in range(reached, size):\n                    sum_of[i] = row[i]",
            "                for i in range(reached, size):\n                    sum_of[i] = 0 + row[i]",
        ),
        (
            "shorter-sequences-forget-how-far-it-was",
            "                    best[i] = row[i]\n                reached = max(reached, size)",
            "                    best[i] = row[i]\n                reached = size",
        ),
    ],
    ("lodcore/kernels/product.pyx", "tests/kernels/test_product.py"): [
        (
            "all-of-nothing-is-false",
            "                    made[c] = every\n",
            "                    made[c] = every and bounds[s] < bounds[s + 1]\n",
        ),
    ],
    ("lodcore/kernels/product.pyx", "tests/operators/test_kinks.py"): [
        (
            "gradient-of-a-product-forgets-the-rest",
            (
                "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n"
                "                    made[r * width + c] = made[r * width + c] * product * last[s * width + c]"
            ),
            (
                "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n"
                "                    made[r * width + c] = made[r * width + c] * product * last[s * width + c] if "
                "made[r * width + c] != 0 else 0"
            ),
        ),
    ],
    ("lodcore/kernels/rank_table.pyx", "tests/kernels/test_rank_table.py"): [
        (
            "unstable-order",
            (
                "for s in range(n_seqs):\n"
                "            length = source[s + 1] - source[s]\n"
                "            result[place[length]]"
            ),
            (
                "for s in range(n_seqs - 1, -1, -1):\n"
                "            length = source[s + 1] - source[s]\n"
                "            result[place[length]]"
            ),
        ),
    ],
    ("lodcore/kernels/recurrent_steps.pxd", "tests/kernels/test_gates.py tests/kernels/test_paths.py"): [
        (
            "the-boot-state-is-not-multiplied",
            "made = products if (t > 0 or booted) and state_width > 0 else NULL",
            "made = products if t > 0 and state_width > 0 else NULL",
        ),
    ],
    ("lodcore/kernels/rolling.pyx", "tests/operators/test_kinks.py"): [
        (
            "variance-of-a-window-of-infinity",
            "one.squares = one.first - one.first  # 0, but nan if x is not finite",
            "one.squares = 0",
        ),
    ],
    ("lodcore/kernels/row_groups.pxd", "tests/kernels/test_expand.py"): [
        ("reversed-groups-in-order", "source + (group - 1 - k) * size", "source + k * size"),
    ],
    ("lodcore/kernels/softmax.pyx", "tests/kernels/test_softmax.py tests/kernels/test_paths.py"): [
        (
            "running-sums-go-on",
            "    cdef number total = x[0]\n    out[0] = one_nan(total)",
            "    cdef number total = x[0] + x[-step]\n    out[0] = one_nan(total)",
        ),
    ],
    ("lodcore/kernels/steps.pxd", "tests/kernels/test_rank_table.py"): [
        ("half-of-each-row-moved", "move_steps(rows, 8, offsets,", "move_steps(rows, 4, offsets,"),
    ],
    ("lodcore/kernels/tokens.pyx", "tests/kernels/test_tokens.py"): [
        ("few-tokens-filled-up-with-garbage", "for k in range(made.count, FEW):", "for k in range(made.count, 0):"),
    ],
    ("lodcore/kernels/windows.pxd", "tests/kernels/test_window.py"): [
        (
            "padding-behind-counted-from-the-row",
            "copy_padding(w, before + t + start + at - end, missing,",
            "copy_padding(w, before, missing,",
        ),
    ],
}
