"""Layers, attention, beam search and optimizers."""

DEFECTS = {
    ("lodcore/nn/additive_attention.py", "tests/nn"): [
        ("bias-of-additive-attention-forgotten", "add(matmul(query, weight), bias)", "matmul(query, weight)"),
    ],
    ("lodcore/nn/beam_search.py", "tests/nn/test_beam_search.py"): [
        (
            "stops-before-what-weighs-more",
            (
                "        return np.maximum(exact / decoder.penalty(soonest), exact / "
                "decoder.penalty(decoder.max_length))"
            ),
            "        return exact / decoder.penalty(max(soonest, decoder.max_length))",
        ),
        (
            "stops-before-the-best-is-found",
            "exact / decoder.penalty(decoder.max_length))",
            "exact / decoder.penalty(soonest))",
        ),
        ("ends-too-soon", "if length < decoder.min_length and", "if length + 1 < decoder.min_length and"),
        (
            "states-stay-where-they-are",
            "state if stays or not len(parents)",
            "state if len(parents) == len(log_probs) or not len(parents)",
        ),
        ("masks-of-other-sources", "forbidden = forbidden[self.sources]", "forbidden = forbidden[: len(self.ids)]"),
    ],
    ("lodcore/nn/clipping.py", "tests/nn/test_optimizers.py"): [
        (
            "imaginary-parts-not-clipped",
            "        values = np.stack([values.real, values.imag])",
            "        values = values.real",
        ),
    ],
    ("lodcore/nn/clipping.py", "tests/nn"): [
        ("clipped-beyond-the-limit", "most / norm) for value", "1 / norm) for value"),
    ],
    ("lodcore/nn/dynamic_rnn.py", "tests/nn/test_dynamic_rnn.py"): [
        (
            "only-the-first-input-runs-backwards",
            "[sequence_reverse(one, k) for one in made] if is_reverse",
            "[sequence_reverse(first, k), *made[1:]] if is_reverse",
        ),
        (
            "states-stay-in-the-order-of-the-batch",
            "[call_named(where, reorder_by_rank, one, rank) for one in tree_leaves(state)]",
            "tree_leaves(state)",
        ),
    ],
    ("lodcore/nn/recurrent.py", "tests/nn/test_settings.py"): [
        (
            "a-limit-that-is-nan",
            "        if clip is not None and not (is_real(clip) and clip > 0):",
            "        if clip is not None and (not is_real(clip) or clip <= 0):",
        ),
    ],
    ("lodcore/nn/recurrent.py", "tests/nn/test_recurrent.py tests/nn/test_layers.py"): [
        ("the-cell-of-a-gru-with-the-other-convention", "if self.origin_mode else", "if not self.origin_mode else"),
    ],
    ("lodcore/nn/token_sampling.py", "tests/nn/test_beam_search.py"): [
        ("drawn-without-its-chance", "sums <= (chances *", "sums <= (0.5 *"),
        ("one-token-too-many", "sums - shares <", "sums - 2 * shares <"),
    ],
    ("lodcore/nn/updates.py", "tests/nn"): [
        ("rows-change-the-table-that-is-given", "[x.copy() for x in held]", "held"),
    ],
}
