"""Twin of lodcore/kernels/tokens.pyx."""


def drop_tokens(x, offsets, tokens, out, out_offsets):
    """Copy the rows that are not tokens."""
    out_offsets[0] = kept = 0
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            if all(int(x[t]) != int(tokens[j]) for j in range(len(tokens))):
                out[kept] = x[t]
                kept += 1
        out_offsets[s + 1] = kept


def add_at(updates, ids, offsets, n_columns, out):
    """Add each row to the column given by its id, in the line of its sequence."""
    for s in range(len(out)):
        for t in range(offsets[s], offsets[s + 1]):
            if not 0 <= ids[t] < n_columns:
                return t
            width = out.shape[1] // n_columns
            for c in range(width):
                out[s, ids[t] * width + c] += updates[t * width + c]
    return -1


def take_at(rows, ids, offsets, n_columns, out):
    """Copy the column given by each id from the line of its sequence: the adjoint of `add_at`."""
    row_bytes = out.shape[1]
    if rows.shape[1] != n_columns * row_bytes:
        raise ValueError("rows and out have columns of different sizes")
    for s in range(len(rows)):
        for t in range(offsets[s], offsets[s + 1]):
            if not 0 <= ids[t] < n_columns:
                return t
            for k in range(row_bytes):
                out[t, k] = rows[s, ids[t] * row_bytes + k]
    return -1
