"""Layers, attention, beam search and optimizers."""

from tests.mutants.mutant import Mutant

BEAM_SEARCH = "lodcore/nn/beam_search.py"
CLIPPING = "lodcore/nn/clipping.py"
DYNAMIC_RNN = "lodcore/nn/dynamic_rnn.py"
RECURRENT = "lodcore/nn/recurrent.py"
TOKEN_SAMPLING = "lodcore/nn/token_sampling.py"

TEST_BEAM_SEARCH = "tests/nn/test_beam_search.py"
TEST_DYNAMIC_RNN = "tests/nn/test_dynamic_rnn.py"
TEST_NN = "tests/nn"

MUTANTS = [
    Mutant(
        "bias-of-additive-attention-forgotten",
        "lodcore/nn/additive_attention.py",
        "add(matmul(query, weight), bias)",
        "matmul(query, weight)",
        TEST_NN,
    ),
    Mutant(
        "stops-before-what-weighs-more",
        BEAM_SEARCH,
        ("        return np.maximum(exact / decoder.penalty(soonest), exact / decoder.penalty(decoder.max_length))"),
        "        return exact / decoder.penalty(max(soonest, decoder.max_length))",
        TEST_BEAM_SEARCH,
    ),
    Mutant(
        "stops-before-the-best-is-found",
        BEAM_SEARCH,
        "exact / decoder.penalty(decoder.max_length))",
        "exact / decoder.penalty(soonest))",
        TEST_BEAM_SEARCH,
    ),
    Mutant(
        "ends-too-soon",
        BEAM_SEARCH,
        "if length < decoder.min_length and",
        "if length + 1 < decoder.min_length and",
        TEST_BEAM_SEARCH,
    ),
    Mutant(
        "states-stay-where-they-are",
        BEAM_SEARCH,
        "state if stays or not len(parents)",
        "state if len(parents) == len(log_probs) or not len(parents)",
        TEST_BEAM_SEARCH,
    ),
    Mutant(
        "masks-of-other-sources",
        BEAM_SEARCH,
        "forbidden = forbidden[self.sources]",
        "forbidden = forbidden[: len(self.ids)]",
        TEST_BEAM_SEARCH,
    ),
    Mutant(
        "imaginary-parts-not-clipped",
        CLIPPING,
        "        values = np.stack([values.real, values.imag])",
        "        values = values.real",
        "tests/nn/test_optimizers.py",
    ),
    Mutant("clipped-beyond-the-limit", CLIPPING, "most / norm) for value", "1 / norm) for value", TEST_NN),
    Mutant(
        "only-the-first-input-runs-backwards",
        DYNAMIC_RNN,
        "[sequence_reverse(one, k) for one in made] if is_reverse",
        "[sequence_reverse(first, k), *made[1:]] if is_reverse",
        TEST_DYNAMIC_RNN,
    ),
    Mutant(
        "states-stay-in-the-order-of-the-batch",
        DYNAMIC_RNN,
        "[call_named(where, reorder_by_rank, one, rank) for one in tree_leaves(state)]",
        "tree_leaves(state)",
        TEST_DYNAMIC_RNN,
    ),
    Mutant(
        "a-limit-that-is-nan",
        RECURRENT,
        ("            isinstance(clip, bool) or not (isinstance(clip, (int, float, np.number)) and clip > 0)"),
        ("            isinstance(clip, bool) or not isinstance(clip, (int, float, np.number)) or clip <= 0"),
        "tests/nn/test_settings.py",
    ),
    Mutant(
        "the-cell-of-a-gru-with-the-other-convention",
        RECURRENT,
        "if self.origin_mode else",
        "if not self.origin_mode else",
        "tests/nn/test_recurrent.py tests/nn/test_layers.py",
    ),
    Mutant("drawn-without-its-chance", TOKEN_SAMPLING, "sums <= (chances *", "sums <= (0.5 *", TEST_BEAM_SEARCH),
    Mutant("one-token-too-many", TOKEN_SAMPLING, "sums - shares <", "sums - 2 * shares <", TEST_BEAM_SEARCH),
    Mutant("rows-change-the-table-that-is-given", "lodcore/nn/updates.py", "[x.copy() for x in held]", "held", TEST_NN),
]
