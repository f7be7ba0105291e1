"""Twin of lodcore/kernels/softmax.pyx; `exp` runs the operations of exponential.h one by one."""

from math import log as _log

from numpy import errstate

from reference.arithmetic import exp, one_nan, sum_in_lanes

NAN = float("nan")


@errstate(all="ignore")
def softmax_rows(x, offsets, out):
    """Compute exp(x - max) / sum(exp(x - max)) within each sequence."""
    if x.shape != out.shape or offsets[len(offsets) - 1] != len(x):
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            powers, total, _ = _powers(x, offsets[s], offsets[s + 1], c)
            for j in range(len(powers)):
                out[offsets[s] + j, c] = one_nan(_normal(powers[j], total) * (x.dtype.type(1) / total))


@errstate(all="ignore")
def spread_softmax(rows, x, offsets, out):
    """Distribute one row per sequence over its rows in proportion to their softmax: the gradient of `log_sum_exp`."""
    if x.shape != out.shape or rows.shape != (len(offsets) - 1, x.shape[1]) or offsets[len(offsets) - 1] != len(x):
        raise ValueError("rows, x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            powers, total, _ = _powers(x, offsets[s], offsets[s + 1], c)
            for j in range(len(powers)):
                out[offsets[s] + j, c] = one_nan(_normal(powers[j], total) * (rows[s, c] / total))


@errstate(all="ignore")
def pull_softmax(y, d, offsets, out):
    """Compute y * (d - sum(y * d)) within each sequence: the gradient of `softmax_rows`, which returned y."""
    if not y.shape == d.shape == out.shape or offsets[len(offsets) - 1] != len(y):
        raise ValueError("y, d, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(y.shape[1]):
            total = sum_in_lanes(
                [y[r, c] * d[r, c] for r in range(offsets[s], offsets[s + 1])], _lanes(y), y.dtype.type(0)
            )
            for r in range(offsets[s], offsets[s + 1]):
                out[r, c] = one_nan(y[r, c] * (d[r, c] - total))


@errstate(all="ignore")
def log_sum_exp(x, offsets, out):
    """Compute max + log(sum(exp(x - max))) of each sequence."""
    if out.shape != (len(offsets) - 1, x.shape[1]) or offsets[len(offsets) - 1] != len(x):
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            _, total, most = _powers(x, offsets[s], offsets[s + 1], c)
            if total > 0:
                out[s, c] = float(most) + _log(float(total))
            elif any(x[r, c] != x[r, c] for r in range(offsets[s], offsets[s + 1])):
                out[s, c] = NAN
            else:
                out[s, c] = most


@errstate(all="ignore")
def label_losses(x, labels, shifted, out):
    """Compute log(sum(exp(x))) - x[label] of each row; return the first invalid position, or -1."""
    n, classes = x.shape
    if len(labels) != n or out.shape != (n,) or shifted.shape != x.shape:
        raise ValueError("x, labels, shifted and out do not belong together")
    for r in range(n):
        if not 0 <= labels[r] < classes:
            return r
    for r in range(n):
        best = x[r, 0]
        for c in range(1, classes):
            if x[r, c] > best or (x[r, c] != x[r, c] and best == best):
                best = x[r, c]
        for c in range(classes):
            shifted[r, c] = x[r, c] - best
        most = x.dtype.type(-float("inf"))
        for c in range(classes):
            if shifted[r, c] > most:
                most = shifted[r, c]
        total = sum_in_lanes([exp(shifted[r, c] - most) for c in range(classes)], 256 // x.itemsize, x.dtype.type(0))
        if total > 0:
            out[r] = float(most) + _log(float(total))
        elif any(shifted[r, c] != shifted[r, c] for c in range(classes)):
            out[r] = NAN
        else:
            out[r] = most
        out[r] = out[r] - shifted[r, labels[r]]
    return -1


@errstate(all="ignore")
def add_up_rows(x, offsets, backwards, out):
    """Compute the running sums of each sequence. Those from the last row are the adjoint of those from the first."""
    if x.shape != out.shape or offsets[len(offsets) - 1] != len(x):
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        first, step = (offsets[s + 1] - 1, -1) if backwards else (offsets[s], 1)
        for j in range(offsets[s + 1] - offsets[s]):
            for c in range(x.shape[1]):
                r = first + step * j
                out[r, c] = one_nan(x[r, c] if j == 0 else out[r - step, c] + x[r, c])


def _powers(x, start, stop, c):
    """List exp(x - max) of a column of a sequence; return also their sum, and max."""
    most = x.dtype.type(-float("inf"))
    for r in range(start, stop):
        if x[r, c] > most:
            most = x[r, c]
    powers = [exp(x[r, c] - most) for r in range(start, stop)]
    return powers, sum_in_lanes(powers, _lanes(x), x.dtype.type(0)), most


def _lanes(x):
    """Return the number of lanes of a sum: several for rows of one cell, one per column for others."""
    return 256 // x.itemsize if x.shape[1] == 1 else 1


def _normal(power, total):
    """Return 0 for a power whose quotient by the sum would be subnormal."""
    real = type(total)
    least = total * real(2.0**-126 if total.itemsize == 4 else 2.0**-1022)
    return real(0) if power < least else power
