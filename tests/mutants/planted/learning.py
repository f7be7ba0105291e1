"""Layers, attention, dropout, optimizers, and resuming."""

from tests.mutants.mutant import Mutant

ATTENTION = "lodcore/ops/networks/attention.py"
DROPOUT = "lodcore/ops/elementwise/dropout.py"
DENSE = "lodcore/ops/networks/matmul.py"
NORM = "lodcore/ops/networks/norm.py"
ADDITIVE = "lodcore/nn/additive_attention.py"
CLIPPING = "lodcore/nn/clipping.py"
OPTIMIZERS = "lodcore/nn/optimizers.py"
UPDATES = "lodcore/nn/updates.py"
SCHEDULES = "lodcore/nn/schedules.py"
TREES = "lodcore/interop/files/tree_data.py"
STEPS = "lodcore/graph/loops/frames.py"
TESTS = "tests/nn"

MUTANTS = [
    Mutant("scale-of-attention-forgotten", ATTENTION, "return 1 / math.sqrt(width or 1)", "return 1.0", TESTS),
    Mutant("half-is-dropped-whatever-the-rate", DROPOUT, ">= np.float32(chance)", ">= np.float32(0.5)", TESTS),
    Mutant("only-the-first-block-for-scale", NORM, "of_scale.sum(axis=0)", "of_scale[:1].sum(axis=0)", TESTS),
    Mutant(
        "bias-of-additive-attention-forgotten",
        ADDITIVE,
        "add(matmul(query, weight), bias)",
        "matmul(query, weight)",
        TESTS,
    ),
    Mutant("rows-named-twice-count-twice", CLIPPING, "leaf.value.merge() if", "leaf.value if", TESTS),
    Mutant("clipped-beyond-the-limit", CLIPPING, "most / norm) for value", "1 / norm) for value", TESTS),
    Mutant("rows-are-not-merged", UPDATES, "leaf.gradient.merge()", "leaf.gradient", TESTS),
    Mutant("rows-change-the-table-that-is-given", UPDATES, "[x.copy() for x in held]", "held", TESTS),
    Mutant("indices-beyond-the-height-are-read", TREES, 'int(node["height"], 16))', "2**40)", TESTS),
]
