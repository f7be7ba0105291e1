"""Inputs of attention, from lists of bins of documents of tokens."""


def attention_inputs(bins, length, labels, shift, ignored, filling, start, tail_is_segment):
    """Return the lists of input_ids, labels, position_ids, segment_ids, seq_idx; cu_seqlens; and max_seqlen."""
    rows = [[], [], [], [], []]
    ends = [0]
    longest = 0
    for documents, targets in zip(bins, labels, strict=True):
        row = [[], [], [], [], []]
        for number, (tokens, wanted) in enumerate(zip(documents, targets, strict=True)):
            shown = [*wanted[1:], ignored] if shift else [ignored, *wanted[1:]]
            row[0] += tokens
            row[1] += shown[: len(tokens)]
            row[2] += [start + k for k in range(len(tokens))]
            row[3] += [number + 1] * len(tokens)
            row[4] += [number] * len(tokens)
            ends.append(ends[-1] + len(tokens))
            longest = max(longest, len(tokens))
        more = length - len(row[0])
        row[0] += [filling] * more
        row[1] += [ignored] * more
        row[2] += [start + k for k in range(more)]
        row[3] += [0] * more
        row[4] += [len(documents) if tail_is_segment else -1] * more
        if more and tail_is_segment:
            ends.append(ends[-1] + more)
            longest = max(longest, more)
        for all_rows, one in zip(rows, row, strict=True):
            all_rows.append(one)
    return *rows, ends, longest


def mask(seq_idx, causal):
    """Compute which tokens each token of a row may attend to."""
    size = range(len(seq_idx))
    return [[seq_idx[a] == seq_idx[b] and seq_idx[a] >= 0 and (b <= a or not causal) for b in size] for a in size]
