"""Packing plans, batches, streams and samplers."""

DEFECTS = {
    ("lodcore/batching/batches.py", "tests/batching/test_batches.py"): [
        ("another-seed-with-the-old-plan", "built[:2] != (seed, number)", "built[1] != number"),
    ],
    ("lodcore/batching/epoch.py", "tests/batching/test_batches.py"): [
        (
            "the-odd-batches-go-to-the-first-ranks",
            'equal_shards("batches", sizes, size) if len(odd)',
            'equal_shards("batches", sizes, 1) if len(odd)',
        ),
    ],
    ("lodcore/batching/iterators.pyx", "tests/batching/test_stream.py"): [
        (
            "a-buffer-that-runs-empty",
            "while len(self.waiting) < self.size and self.arrive():",
            "while not self.waiting and self.arrive():",
        ),
    ],
    ("lodcore/batching/packing.py", "tests/batching/test_packing.py"): [
        (
            "rests-of-documents-dropped-in-silence",
            "counts = np.maximum(-(-lengths // budget), 1)",
            "counts = np.maximum(lengths // budget, 1)",
        ),
    ],
    (
        "lodcore/batching/reports/isolation.py",
        "tests/batching/test_attention_inputs.py tests/batching/reports/test_isolation.py",
    ): [
        ("a-leak-in-one-direction-only", "for one in (bit, ~bit)]", "for one in (bit,)]"),
    ],
    ("lodcore/batching/sampling.py", "tests/batching/test_sampling.py"): [
        (
            "a-source-drawn-anew-too-early",
            "turn, at = divmod(drawn, self.sizes.item(source))",
            "turn, at = divmod(drawn + 1, self.sizes.item(source))",
        ),
    ],
}
