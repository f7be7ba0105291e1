"""Packing, batches, and inputs of attention."""

from tests.mutants.mutant import Mutant

ROOMS = "lodcore/kernels/rooms.pxd"
FITS = "lodcore/kernels/fits.pxd"
DOOR = "lodcore/kernels/packing.pyx"
BATCHING = "lodcore/batching"
KERNEL_TESTS = "tests/kernels/test_packing.py"

MUTANTS = [
    Mutant(
        "the-next-bin-takes-one-item-too-many",
        FITS,
        "if lengths[k] > room or held == max_items:",
        "if lengths[k] > room or held > max_items:",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-bin-of-many-counted-as-one",
        DOOR,
        "count -= full + (rest > 0)",
        "count -= full",
        KERNEL_TESTS,
    ),
    Mutant(
        "bits-of-rooms-that-stay",
        ROOMS,
        "        bits[level][place >> 6] &= ~(<uint64_t> 1 << (place & 63))",
        "        bits[level][place >> 6] &= ~(<uint64_t> 1 << (place & 31))",
        KERNEL_TESTS,
    ),
    Mutant(
        "half-of-a-full-block-lost",
        ROOMS,
        "here.count = here[1].count = BLOCK_ENTRIES // 2",
        "here.count = here[1].count = BLOCK_ENTRIES // 2 - 1",
        KERNEL_TESTS,
    ),
    Mutant(
        "first-fit-takes-any-bin",
        ROOMS,
        "k = 2 * k + (tree.most[2 * k] < need)",
        "k = 2 * k + (tree.most[2 * k + 1] >= need)",
        KERNEL_TESTS,
    ),
    Mutant(
        "the-first-label-of-a-document-learned",
        DOOR,
        "        to[0] = ignored",
        "        to[0] = targets[0]",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-tail-is-no-segment",
        DOOR,
        "if with_tails and size > 0:",
        "if with_tails and size > 1:",
        KERNEL_TESTS,
    ),
    Mutant(
        "rests-of-documents-dropped-in-silence",
        f"{BATCHING}/packing.py",
        "counts = np.maximum(-(-lengths // budget), 1)",
        "counts = np.maximum(lengths // budget, 1)",
        "tests/batching/test_packing.py",
    ),
    Mutant(
        "the-odd-batches-go-to-the-first-ranks",
        f"{BATCHING}/epoch.py",
        'equal_shards("batches", sizes, size) if len(odd)',
        'equal_shards("batches", sizes, 1) if len(odd)',
        "tests/batching/test_batches.py",
    ),
    Mutant(
        "a-leak-in-one-direction-only",
        f"{BATCHING}/reports/isolation.py",
        "for one in (bit, ~bit)]",
        "for one in (bit,)]",
        "tests/batching/test_attention.py tests/batching/reports/test_isolation.py",
    ),
    Mutant(
        "a-buffer-that-runs-empty",
        f"{BATCHING}/iterators.pyx",
        "while len(self.waiting) < self.size and self.arrive():",
        "while not self.waiting and self.arrive():",
        "tests/batching/test_stream.py",
    ),
    Mutant(
        "overlapping-windows-added-twice",
        "lodcore/ops/move/chunk.py",
        "starts = np.clip(starts, 0, np.maximum(over, 0)[sequences])",
        "starts = np.clip(starts, 0, lengths[sequences])",
        "tests/batching/test_chunks.py",
    ),
    Mutant(
        "a-source-drawn-anew-too-early",
        f"{BATCHING}/sampling.py",
        "turn, at = divmod(drawn, self.sizes.item(source))",
        "turn, at = divmod(drawn + 1, self.sizes.item(source))",
        "tests/batching/test_sampling.py",
    ),
]
