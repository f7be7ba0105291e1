"""Twin of lodcore/kernels/pad.pyx."""


def pad_rows(rows, offsets, fill, left, out):
    """Copy each sequence to the start (or the end) of its line, and fill the rest."""
    n_seqs, padded_length, row_bytes = out.shape
    if rows.shape[1] != row_bytes or len(fill) not in (0, row_bytes):
        raise ValueError("rows, fill and out have rows of different sizes")
    for k in range(row_bytes):
        for s in range(n_seqs):
            length = offsets[s + 1] - offsets[s]
            first = padded_length - length if left else 0
            for t in range(padded_length):
                inside = first <= t < first + length
                filling = fill[k] if len(fill) > 0 else 0
                out[s, t, k] = rows[offsets[s] + t - first, k] if inside else filling


def unpad_rows(padded, offsets, left, out):
    """Copy the sequences out of their lines: the inverse of `pad_rows`."""
    n_seqs, padded_length, row_bytes = padded.shape
    if out.shape[1] != row_bytes:
        raise ValueError("padded and out have rows of different sizes")
    for k in range(row_bytes):
        for s in range(n_seqs):
            length = offsets[s + 1] - offsets[s]
            first = padded_length - length if left else 0
            for t in range(length):
                out[offsets[s] + t, k] = padded[s, first + t, k]


def repeat_ends(offsets, left, out):
    """Fill the rest of each line with the last row of its sequence, or with the first row."""
    n_seqs, padded_length, row_bytes = out.shape
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        for t in range(padded_length - length if length > 0 else 0):
            for k in range(row_bytes):
                if left:
                    out[s, t, k] = out[s, padded_length - length, k]
                else:
                    out[s, length + t, k] = out[s, length - 1, k]


def greatest(lengths):
    """Compute the maximum of lengths."""
    most = 0
    for s in range(len(lengths)):
        most = lengths[s] if lengths[s] > most else most
    return int(most)


def mask_rows(lengths, one, out):
    """Write an item for each position before a length, and zero bytes for those from there on."""
    n, padded_length, item_bytes = out.shape
    if len(one) != item_bytes:
        raise ValueError("one and out have items of different sizes")
    for s in range(n):
        if lengths[s] < 0:
            return s
        for t in range(padded_length):
            for k in range(item_bytes):
                out[s, t, k] = one[k] if t < lengths[s] else 0
    return -1
