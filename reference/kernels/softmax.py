"""Twin of lodcore/kernels/softmax.pyx; `_exp` spells the operations of exponential.h."""

from math import log as _log

from numpy import errstate

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
                out[offsets[s] + j, c] = _one_nan(_normal(powers[j], total) * (x.dtype.type(1) / total))


@errstate(all="ignore")
def spread_softmax(rows, x, offsets, out):
    """Spread one row per sequence over its rows by their softmax."""
    if x.shape != out.shape or rows.shape != (len(offsets) - 1, x.shape[1]) or offsets[len(offsets) - 1] != len(x):
        raise ValueError("rows, x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            powers, total, _ = _powers(x, offsets[s], offsets[s + 1], c)
            for j in range(len(powers)):
                out[offsets[s] + j, c] = _one_nan(_normal(powers[j], total) * (rows[s, c] / total))


@errstate(all="ignore")
def pull_softmax(y, d, offsets, out):
    """Compute y * (d - sum(y * d)) within each sequence."""
    if not y.shape == d.shape == out.shape or offsets[len(offsets) - 1] != len(y):
        raise ValueError("y, d, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(y.shape[1]):
            total = _sum([y[r, c] * d[r, c] for r in range(offsets[s], offsets[s + 1])], y, _lanes(y))
            for r in range(offsets[s], offsets[s + 1]):
                out[r, c] = _one_nan(y[r, c] * (d[r, c] - total))


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
    """Compute log(sum(exp(x))) - x[label] of each row; give the first row whose label is not a class, or -1."""
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
        total = _sum([_exp(shifted[r, c] - most) for c in range(classes)], x, 256 // x.itemsize)
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
    """Compute the running sums of each sequence, from its first or from its last row on."""
    if x.shape != out.shape or offsets[len(offsets) - 1] != len(x):
        raise ValueError("x, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        first, step = (offsets[s + 1] - 1, -1) if backwards else (offsets[s], 1)
        for j in range(offsets[s + 1] - offsets[s]):
            for c in range(x.shape[1]):
                r = first + step * j
                out[r, c] = _one_nan(x[r, c] if j == 0 else out[r - step, c] + x[r, c])


def _powers(x, start, stop, c):
    """List exp(x - max) of a column of a sequence; their sum, and max."""
    most = x.dtype.type(-float("inf"))
    for r in range(start, stop):
        if x[r, c] > most:
            most = x[r, c]
    powers = [_exp(x[r, c] - most) for r in range(start, stop)]
    return powers, _sum(powers, x, _lanes(x)), most


def _lanes(x):
    """Count the lanes of a sum: of rows of one cell several, of others one per column."""
    return 256 // x.itemsize if x.shape[1] == 1 else 1


def _sum(cells, x, num_lanes):
    """Add cell k to lane k modulo the number of lanes, then the upper half of the lanes to the lower one."""
    lanes = [x.dtype.type(0) for _ in range(num_lanes)]
    for k in range(len(cells)):
        lanes[k % num_lanes] += cells[k]
    while num_lanes > 1:
        num_lanes //= 2
        for k in range(num_lanes):
            lanes[k] += lanes[k + num_lanes]
    return lanes[0]


def _one_nan(cell):
    """Return a cell, with one bit pattern for every nan."""
    return cell if cell == cell else NAN


def _normal(power, total):
    """Return 0 for a power whose quotient by the sum would be below all normal numbers."""
    real = type(total)
    least = total * real(2.0**-126 if total.itemsize == 4 else 2.0**-1022)
    return real(0) if power < least else power


def _exp(x):
    return _exp_float(x, x.dtype.type) if x.itemsize == 4 else _exp_double(x, x.dtype.type)


def _exp_float(x, real):
    if x < real(-87.33654) or x != x:
        return real(0) if x < 0 else x
    if x > 89:
        x = real(89)
    n = (x * real(1.442695) + real(12583039)) - real(12583039)
    r = (x - n * real(0.69314575)) - n * real(1.4286068e-06)
    q = (r * real(0.16666521) + real(0.49999994)) + (r * r) * (
        (r * real(0.008368717) + real(0.04166839)) + (r * r) * real(0.0013814606)
    )
    return _scaled(((r * r) * q + r) + real(1), int(n), real)


def _exp_double(x, real):
    if x < real(-708.396418532264) or x != x:
        return real(0) if x < 0 else x
    if x > 710:
        x = real(710)
    n = (x * real(1.4426950408889634) + real(6755399441056767)) - real(6755399441056767)
    r = (x - n * real(0.6931471803691238)) - n * real(1.9082149292705877e-10)
    r2, r4 = r * r, (r * r) * (r * r)
    low = (r * real(0.16666666666666413) + real(0.5000000000000011)) + r2 * (
        r * real(0.00833333333349447) + real(0.04166666666653016)
    )
    middle = (r * real(0.00019841269506559994) + real(0.0013888888943629938)) + r2 * (
        r * real(2.755758639170296e-06) + real(2.480149309906733e-05)
    )
    high = r * real(2.500005566675992e-08) + real(2.7630248326985926e-07)
    return _scaled((r2 * (low + r4 * (middle + r4 * high)) + r) + real(1), int(n), real)


def _scaled(p, n, real):
    """Multiply by 2**n in two halves, of which the first is exact."""
    return p * real(2.0 ** (n // 2)) * real(2.0 ** (n - n // 2))
