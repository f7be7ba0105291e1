"""Defects of the operators that move whole sequences."""

from tests.mutants.mutant import Mutant

GROUPS = "lodcore/kernels/row_groups.pxd"
EXPAND = "lodcore/kernels/expand.pyx"
LINES = "lodcore/kernels/lines.pxd"
OPS_EXPAND = "lodcore/ops/move/expand.py"
OPS_GATHER = "lodcore/ops/move/gather.py"
OPS_MOVING = "lodcore/operators/copies.py"
OPS_PAD = "lodcore/ops/move/pad.py"
OPS_SELECT = "lodcore/ops/move/masks.py"
OPS_STRUCTURE = "lodcore/ops/move/structure.py"
STRUCTURE = "lodcore/tensors/joining.pyx"

MUTANTS = [
    # -- kernels
    Mutant(
        "repeat-runs-past-the-end",
        GROUPS,
        "while s < n_seqs and offsets[s + 1] + group <= n_rows:\n            repeat_group",
        "while s < n_seqs and offsets[s + 1] <= n_rows:\n            repeat_group",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "one-of-a-run-may-be-longer",
        GROUPS,
        "for k in range(RUN + 1):",
        "for k in range(RUN):",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "reverse-runs-past-the-end",
        GROUPS,
        "while s < n_seqs and offsets[s + 1] + group <= n_rows:\n            reverse_group",
        "while s < n_seqs and offsets[s + 1] <= n_rows:\n            reverse_group",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "reversed-groups-in-order",
        GROUPS,
        "source + (group - 1 - k) * size",
        "source + k * size",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "merge-takes-the-other-side",
        EXPAND,
        "side = &sides[chosen[s] == 0]",
        "side = &sides[chosen[s] == 1]",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "merge-beyond-the-last",
        EXPAND,
        "if side.left == 0:",
        "if side.left < 0:",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "cells-lost-in-reshape",
        EXPAND,
        "if result[s] * new_width != source[s] * width:",
        "if result[s] * new_width > source[s] * width:",
        "tests/kernels/test_expand.py",
    ),
    Mutant(
        "filling-begins-a-chunk-late",
        LINES,
        "out if left else out + size\n        fits",
        "out if left else out + size + 1\n        fits",
        "tests/kernels/test_pad.py",
    ),
    Mutant(
        "mask-does-not-saturate",
        LINES,
        "length = length if length < padded else padded",
        "length = length if length < padded else 0",
        "tests/kernels/test_pad.py",
    ),
    Mutant(
        "rows-past-the-caches-in-one-place",
        "lodcore/kernels/vectors/stream.h",
        "(to + k), _mm_loadu_si128((const __m128i *)(from + k)",
        "(to + k), _mm_loadu_si128((const __m128i *)(from)",
        "tests/kernels/test_stream.py",
    ),
    # -- operators and their structures
    Mutant(
        "expand-counts-the-wrong-level",
        OPS_EXPAND,
        "return lod_tensor_body.gather(x, where, 0, sequence_numbers(lod_body.offsets_view(lod, k)), out)",
        "return lod_tensor_body.gather(x, where, 0, sequence_numbers(lod_body.offsets_view(lod, lod.num_levels - 1)), "
        "out)",
        "tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-sequence_expand]",
    ),
    Mutant(
        "concat-forgets-the-coarser-levels",
        STRUCTURE,
        "if level == k or mine == theirs:",
        "if level <= k or mine == theirs:",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "split-keeps-the-coarser-lengths",
        OPS_SELECT,
        "left[lod.offsets(k - 1)]]",
        "lod.offsets(k - 1)]",
        "tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-split_by_mask]",
    ),
    Mutant(
        "pad-drops-finer-levels",
        OPS_PAD,
        "    if k + 1 != of.num_levels:\n        raise",
        "    if k > of.num_levels:\n        raise",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    # -- gradients
    Mutant(
        "gradient-of-gather-reads-the-index-again",
        OPS_GATHER,
        '"gather_sequences: index", IndexError).copy()',
        '"gather_sequences: index", IndexError)',
        "tests/ops/move/test_moving.py",
    ),
    Mutant(
        "gradient-of-reverse-is-not-reversed",
        OPS_EXPAND,
        'd_x: Array = compute(lod_tensor_body.new_tensor(d, out.lod), level, context.new("x")).values',
        "d_x = d",
        "tests/ops/move/test_moving.py",
    ),
    Mutant(
        "gradient-of-the-filling-counts-rows-too",
        OPS_PAD,
        "np.ascontiguousarray(sums[1::2])",
        "np.ascontiguousarray(sums[::2])",
        "tests/ops/move/test_moving.py",
    ),
    Mutant(
        "gradient-of-merge-for-the-other-side",
        OPS_SELECT,
        "return found[0], found[1], None",
        "return found[1], found[0], None",
        "tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-merge_by_mask]",
    ),
    # -- rules of shapes
    Mutant(
        "rule-of-reset-forgets-y",
        OPS_STRUCTURE,
        "return levels_of(y) or int((y.kind if isinstance(y, Spec) else type(y)) is not LoD)",
        "return 1",
        "tests/operators/test_operators.py::test_spec_and_lod_rules_hold_and_all_ways_agree[lodcore.kernels-lod_reset]",
    ),
]
