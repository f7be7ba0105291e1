"""Twin of lodcore/kernels/neighbours.pyx."""

from numpy import errstate

PRODUCT, GREATEST, LEAST = range(3)


def _check_shorter(n_rows, offsets, kept, n_kept):
    fit = len(kept) == len(offsets) and n_rows == offsets[len(offsets) - 1] and kept[0] == 0
    for s in range(len(offsets) - 1 if fit else 0):
        length = offsets[s + 1] - offsets[s]
        fit = fit and kept[s + 1] - kept[s] == (length - 1 if length else 0)
    if not fit or n_kept != kept[len(kept) - 1]:
        raise ValueError("offsets and kept do not belong together")


def _wrapped(number, dtype):
    return dtype.type(number % 2 ** (8 * dtype.itemsize))


def subtract_rows(x, offsets, kept, out):
    """Subtract from each row the one before it."""
    _check_shorter(len(x), offsets, kept, len(out))
    if out.shape[1] != x.shape[1]:
        raise ValueError("x, offsets, kept and out do not belong together")
    for s in range(len(offsets) - 1):
        for k in range(kept[s + 1] - kept[s]):
            for c in range(x.shape[1]):
                one, before = x[offsets[s] + k + 1, c], x[offsets[s] + k, c]
                if x.dtype.type(0.5) == 0:
                    out[kept[s] + k, c] = _wrapped(int(one) - int(before), x.dtype)
                else:
                    with errstate(all="ignore"):
                        out[kept[s] + k, c] = one - before


def spread_differences(rows, offsets, kept, out):
    """Subtract from the cotangent of each difference that of the next one: the adjoint of `subtract_rows`."""
    _check_shorter(len(out), offsets, kept, len(rows))
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows, offsets, kept and out do not belong together")
    for s in range(len(offsets) - 1):
        for r in range(offsets[s + 1] - offsets[s]):
            for c in range(out.shape[1]):
                d = rows[kept[s] + r - 1, c] if r > 0 else out.dtype.type(0)
                out[offsets[s] + r, c] = d - rows[kept[s] + r, c] if r < kept[s + 1] - kept[s] else d


def shift_rows(x, offsets, n, fill, out):
    """Shift the rows of each sequence by n positions."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape or len(fill) != x.shape[1]:
        raise ValueError("x, offsets, fill and out do not belong together")
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(x.shape[1]):
                inside = offsets[s] <= int(r) - n < offsets[s + 1]
                out[r, c] = x[int(r) - n, c] if inside else fill[c]


def _is_beaten(best, cell, least):
    """Return whether a cell replaces the best one so far; the first nan stays."""
    return best == best and (cell != cell or (cell < best if least else cell > best))


def accumulate_rows(x, offsets, kind, out):
    """Compute the running product, maximum or minimum of the rows of each sequence, column by column."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape:
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                if r == offsets[s]:
                    out[r, c] = x[r, c]
                elif kind == PRODUCT and x.dtype == "int64":
                    product = int(out[r - 1, c]) * int(x[r, c]) % 2**64
                    out[r, c] = product - 2**64 if product >= 2**63 else product
                elif kind == PRODUCT and x.dtype == "uint64":
                    out[r, c] = int(out[r - 1, c]) * int(x[r, c]) % 2**64
                elif kind == PRODUCT:
                    with errstate(all="ignore"):
                        out[r, c] = out[r - 1, c] * x[r, c]
                else:
                    out[r, c] = x[r, c] if _is_beaten(out[r - 1, c], x[r, c], kind == LEAST) else out[r - 1, c]


def spread_accumulated(x, offsets, kind, rows, out):
    """Distribute cotangents to the rows that contributed: the adjoint of `accumulate_rows`."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape or rows.shape != x.shape:
        raise ValueError("x, offsets, rows and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            best, product, total = offsets[s], 1.0, 0.0
            for r in range(offsets[s], offsets[s + 1]):
                with errstate(all="ignore"):
                    if kind == PRODUCT:
                        out[r, c] = product
                        product *= float(x[r, c])
                    else:
                        out[r, c] = 0
                        best = r if _is_beaten(x[best, c], x[r, c], kind == LEAST) else best
                        out[best, c] += rows[r, c]
            for k in range(offsets[s + 1] - offsets[s] if kind == PRODUCT else 0):
                r = offsets[s + 1] - 1 - k
                with errstate(all="ignore"):
                    total = float(rows[r, c]) + total
                    out[r, c] = float(out[r, c]) * total
                    total *= float(x[r, c])


def decay_rows(x, offsets, share, reverse, out):
    """Add to each row a share of the previous sum: sum[t] = x[t] + share * sum[t - 1], column by column."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape:
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            total = 0.0
            for k in range(offsets[s + 1] - offsets[s]):
                r = offsets[s + 1] - 1 - k if reverse else offsets[s] + k
                with errstate(all="ignore"):
                    total = float(x[r, c]) + share * total
                    out[r, c] = total
