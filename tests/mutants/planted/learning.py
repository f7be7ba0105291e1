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
    Mutant(
        "cotangent-of-weights-forgotten", ATTENTION, "        of_weights[:, 0] += d_weights\n", "        pass\n", TESTS
    ),
    Mutant("values-of-a-shared-memory-forgotten", ATTENTION, "made[1] += of_values", "pass", TESTS),
    Mutant("dropped-numbers-do-not-grow", DROPOUT, "    if rate < 1:\n", "    if False:\n", TESTS),
    Mutant("half-is-dropped-whatever-the-rate", DROPOUT, ">= np.float32(chance)", ">= np.float32(0.5)", TESTS),
    Mutant(
        "smoothing-without-its-gradient",
        DENSE,
        "    if spread:\n        d_logits",
        "    if False:\n        d_logits",
        TESTS,
    ),
    Mutant("only-the-first-block-for-scale", NORM, "of_scale.sum(axis=0)", "of_scale[:1].sum(axis=0)", TESTS),
    Mutant(
        "bias-of-additive-attention-forgotten",
        ADDITIVE,
        "add(matmul(query, weight), bias)",
        "matmul(query, weight)",
        TESTS,
    ),
    Mutant(
        "steps-count-from-zero",
        OPTIMIZERS,
        "rate, 0), step + 1)",
        "rate, 0), step + 2)",
        TESTS,
    ),
    Mutant(
        "decay-without-the-rate", OPTIMIZERS, "1 - rate * self.weight_decay, root", "1 - self.weight_decay, root", TESTS
    ),
    Mutant("rows-named-twice-count-twice", CLIPPING, "leaf.value.merge() if", "leaf.value if", TESTS),
    Mutant("clipped-beyond-the-limit", CLIPPING, "most / norm) for value", "1 / norm) for value", TESTS),
    Mutant("rows-are-not-merged", UPDATES, "leaf.gradient.merge()", "leaf.gradient", TESTS),
    Mutant("rows-change-the-table-that-is-given", UPDATES, "[x.copy() for x in held]", "held", TESTS),
    Mutant(
        "state-is-not-checked-first", OPTIMIZERS, "            check(leaf, in_place)\n", "            pass\n", TESTS
    ),
    Mutant(
        "warmup-starts-at-nothing",
        SCHEDULES,
        "peak * (step + 1) / warmup_steps\n    if",
        "peak * step / warmup_steps\n    if",
        TESTS,
    ),
    Mutant("indices-beyond-the-height-are-read", TREES, 'int(node["height"], 16))', "2**40)", TESTS),
    Mutant("steps-computed-again-draw-anew", STEPS, "if trace is not None and self._generators:", "if False:", TESTS),
]
