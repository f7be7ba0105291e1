"""Recurrent layers, and cells in loops."""

from tests.mutants.mutant import Mutant

OPERATORS = "lodcore/ops/networks/recurrent_layers.py"
STATES = "lodcore/ops/networks/states.py"
LSTM = "lodcore/ops/networks/lstm.py"
GATES = "lodcore/ops/networks/gates.py"
LAYERS = "lodcore/nn/recurrent.py"
COMBINED = "lodcore/nn/combined.py"
LOOP = "lodcore/nn/dynamic_rnn.py"
LAYER_TESTS = "tests/nn/test_recurrent.py tests/nn/test_layers.py"
LOOP_TESTS = "tests/nn/test_dynamic_rnn.py"
CELL_TESTS = "tests/nn/test_cells.py"

MUTANTS = [
    Mutant(
        "last-cells-in-another-order",
        GATES,
        "        made[run.order] = some\n",
        "        made[: len(some)] = some\n",
        LAYER_TESTS,
    ),
    Mutant(
        "empty-sequences-lose-their-boot-cell",
        GATES,
        "made = boot.astype(dtype)",
        "made = np.zeros_like(boot, dtype)",
        LAYER_TESTS,
    ),
    Mutant(
        "peepholes-left-out-of-the-gradient-of-a-bias",
        OPERATORS,
        "np.concatenate([of.bias, of.peepholes])",
        "np.concatenate([of.bias, 0 * of.peepholes])",
        LAYER_TESTS,
    ),
    Mutant(
        "a-layer-is-run-at-the-last-level-only",
        OPERATORS,
        "k = level_of(where, x.lod, level)\n",
        "k = x.num_levels - 1\n",
        LAYER_TESTS,
    ),
    Mutant("a-bound-that-is-not-applied", OPERATORS, "return float(clip)", "return np.inf", LAYER_TESTS),
    Mutant(
        "the-cell-of-a-gru-with-the-other-convention",
        LAYERS,
        "if self.origin_mode else",
        "if not self.origin_mode else",
        LAYER_TESTS,
    ),
    Mutant("both-directions-forwards", COMBINED, "not is_reverse, level", "bool(is_reverse), level", LAYER_TESTS),
    Mutant(
        "stacked-layers-lose-their-states",
        COMBINED,
        "layer(of, x, boot, is_reverse, level)",
        "layer(of, x, None, is_reverse, level)",
        LAYER_TESTS,
    ),
    Mutant(
        "states-stay-in-the-order-of-the-batch",
        LOOP,
        "[call_named(where, reorder_by_rank, one, rank) for one in tree_leaves(state)]",
        "tree_leaves(state)",
        LOOP_TESTS,
    ),
    Mutant(
        "outputs-are-not-turned-back",
        LOOP,
        "sequence_reverse(packed, k) if is_reverse",
        "packed if is_reverse",
        LOOP_TESTS,
    ),
    Mutant(
        "several-inputs-are-not-compared",
        STATES,
        "    check_equal(where, lod_body.slice_levels(y.lod, 0, k + 1), "
        "lod_body.slice_levels(x.lod, 0, k + 1), name, other)\n",
        "",
        LOOP_TESTS,
    ),
    Mutant(
        "what-is-known-of-a-step-is-forgotten",
        "lodcore/nn/cell_loop.py",
        "keeps_shapes=True",
        "keeps_shapes=False",
        LAYER_TESTS,
    ),
    Mutant(
        "a-body-that-somebody-refers-to-is-kept",
        "lodcore/nn/cell_loop.py",
        "if loop.script.is_alone():",
        "if True:",
        CELL_TESTS,
    ),
    Mutant(
        "constants-of-a-call-are-not-compared",
        "lodcore/nn/script.pyx",
        "return kind in PLAIN and one == other",
        "return kind in PLAIN",
        CELL_TESTS,
    ),
    Mutant(
        "a-kept-value-lies-where-its-product-is-still-read",
        "lodcore/graph/loops/scheduled.py",
        "if read.get(other, -1) < at and",
        "if",
        CELL_TESTS,
    ),
    Mutant(
        "the-first-rows-of-a-last-step",
        STATES,
        "made[rank.order[start:stop]] = rows_of(element)[start:]",
        "made[rank.order[start:stop]] = rows_of(element)[: stop - start]",
        "tests/operators/test_operators.py",
    ),
    Mutant(
        "boot-states-keep-what-steps-replaced",
        STATES,
        "            d_boot[rank.order[start:stop]] = 0\n",
        "",
        LOOP_TESTS,
    ),
]
