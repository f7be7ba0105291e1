"""Packing plans, batches, streams and samplers."""

from tests.mutants.mutant import Mutant

TEST_BATCHES = "tests/batching/test_batches.py"

MUTANTS = [
    Mutant(
        "another-seed-with-the-old-plan",
        "lodcore/batching/batches.py",
        "built[:2] != (seed, number)",
        "built[1] != number",
        TEST_BATCHES,
    ),
    Mutant(
        "the-odd-batches-go-to-the-first-ranks",
        "lodcore/batching/epoch.py",
        'equal_shards("batches", sizes, size) if len(odd)',
        'equal_shards("batches", sizes, 1) if len(odd)',
        TEST_BATCHES,
    ),
    Mutant(
        "a-buffer-that-runs-empty",
        "lodcore/batching/iterators.pyx",
        "while len(self.waiting) < self.size and self.arrive():",
        "while not self.waiting and self.arrive():",
        "tests/batching/test_stream.py",
    ),
    Mutant(
        "rests-of-documents-dropped-in-silence",
        "lodcore/batching/packing.py",
        "counts = np.maximum(-(-lengths // budget), 1)",
        "counts = np.maximum(lengths // budget, 1)",
        "tests/batching/test_packing.py",
    ),
    Mutant(
        "a-leak-in-one-direction-only",
        "lodcore/batching/reports/isolation.py",
        "for one in (bit, ~bit)]",
        "for one in (bit,)]",
        "tests/batching/test_attention_inputs.py tests/batching/reports/test_isolation.py",
    ),
    Mutant(
        "a-source-drawn-anew-too-early",
        "lodcore/batching/sampling.py",
        "turn, at = divmod(drawn, self.sizes.item(source))",
        "turn, at = divmod(drawn + 1, self.sizes.item(source))",
        "tests/batching/test_sampling.py",
    ),
]
