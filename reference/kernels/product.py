"""Twin of lodcore/kernels/product.pyx."""


def multiply_rows(x, offsets, out):
    """Multiply the rows of each sequence, starting from 1. Integers wrap around."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            out[s, c] = 1
            for r in range(offsets[s], offsets[s + 1]):
                if x.dtype == "int64":
                    product = int(out[s, c]) * int(x[r, c]) % 2**64
                    out[s, c] = product - 2**64 if product >= 2**63 else product
                elif x.dtype == "uint64":
                    out[s, c] = int(out[s, c]) * int(x[r, c]) % 2**64
                else:
                    out[s, c] *= x[r, c]


def multiply_others(x, offsets, rows, out):
    """Multiply, for each row, the other rows of its sequence and the row of the sequence: the gradient of a product."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                before = behind = 1
                for k in range(offsets[s], r):
                    before *= x[k, c]
                for k in range(offsets[s + 1] - 1, r, -1):
                    behind *= x[k, c]
                out[r, c] = before * behind * rows[s, c]


def true_sequences(x, offsets, every, out):
    """Compute whether any row of each sequence (or every one) is true, column by column."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            count = 0
            for r in range(offsets[s], offsets[s + 1]):
                count += x[r, c] != 0
            out[s, c] = count == offsets[s + 1] - offsets[s] if every else count > 0
