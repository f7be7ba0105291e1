"""Beam search: a step, backtracking, and the decoder."""

from tests.mutants.mutant import Mutant

BEAMS = "lodcore/kernels/beams.pxd"
KERNELS = "lodcore/kernels/beam.pyx"
OPS = "lodcore/ops/networks/beam.py"
NN = "lodcore/nn/beam_search.py"
SAMPLING = "lodcore/nn/token_sampling.py"
KERNEL_TESTS = "tests/kernels/test_beam.py"
TESTS = "tests/ops/networks/test_beam.py"
DECODER_TESTS = "tests/nn/test_beam_search.py"

MUTANTS = [
    Mutant(
        "equal-ones-keep-the-last-place",
        BEAMS,
        "odd |= <uint64_t> (one ^ best[most - 1]) - 1 < FEW - 1",
        "odd |= 0",
        KERNEL_TESTS,
    ),
    Mutant("minus-zero-is-below-zero", BEAMS, "    score += zero\n", "    score -= zero\n", KERNEL_TESTS),
    Mutant("nan-has-a-rank", BEAMS, "odd |= row[c] != row[c]", "odd |= 0", KERNEL_TESTS),
    Mutant(
        "earlier-prefixes-first",
        BEAMS,
        "if not (prefix_of(places[at - 1]) < prefix):",
        "if not (prefix_of(places[at - 1]) > prefix):",
        KERNEL_TESTS,
    ),
    Mutant("what-has-ended-stays", BEAMS, "count = count if going else 0", "pass", KERNEL_TESTS),
    Mutant(
        "a-block-without-its-end",
        BEAMS,
        "passes |= not (row[c + k] < worst)",
        "passes |= row[c] > worst",
        KERNEL_TESTS,
    ),
    Mutant(
        "every-end-token-counts",
        KERNELS,
        "count += count == 0 or read_once(ids + item) != end_id",
        "count += 1",
        KERNEL_TESTS,
    ),
    Mutant(
        "stops-before-the-best-is-found",
        NN,
        "exact / decoder.penalty(decoder.max_length))",
        "exact / decoder.penalty(soonest))",
        DECODER_TESTS,
    ),
    Mutant(
        "ends-too-soon",
        NN,
        "if length < decoder.min_length and",
        "if length + 1 < decoder.min_length and",
        DECODER_TESTS,
    ),
    Mutant(
        "states-stay-where-they-are",
        NN,
        "state if stays or not len(parents)",
        "state if len(parents) == len(log_probs) or not len(parents)",
        DECODER_TESTS,
    ),
    Mutant(
        "masks-of-other-sources",
        NN,
        "forbidden = forbidden[self.sources]",
        "forbidden = forbidden[: len(self.ids)]",
        DECODER_TESTS,
    ),
    Mutant("drawn-without-its-chance", SAMPLING, "sums <= (chances *", "sums <= (0.5 *", DECODER_TESTS),
    Mutant("one-token-too-many", SAMPLING, "sums - shares <", "sums - 2 * shares <", DECODER_TESTS),
]
