"""Arithmetic that several twins share: sums in lanes, exp, square roots, and nans."""

from math import sqrt as _sqrt

NAN = float("nan")


def sum_in_lanes(cells, num_lanes, zero):
    """Add cell k to lane k modulo the number of lanes, then the upper half of the lanes to the lower one."""
    lanes = [zero for _ in range(num_lanes)]
    for k in range(len(cells)):
        lanes[k % num_lanes] += cells[k]
    while num_lanes > 1:
        num_lanes //= 2
        for k in range(num_lanes):
            lanes[k] += lanes[k + num_lanes]
    return lanes[0]


def beats(cell, best, least):
    """Return whether a cell is greater (or less) than the best one before it; the first nan wins."""
    if best != best or cell != cell:
        return best == best
    return cell < best if least else cell > best


def square_root(x, real):
    """Compute a square root; nan for a negative number."""
    return real(_sqrt(float(x))) if x >= 0 else real(NAN)


def one_nan(cell):
    """Return a cell, with the same bits for every nan."""
    return cell if cell == cell else NAN


def exp(x):
    """Compute exp with the operations of exponential.h, one by one."""
    return _exp_float(x, x.dtype.type) if x.itemsize == 4 else _exp_double(x, x.dtype.type)


def sigmoid_of(x):
    """Compute 1 / (1 + exp(-x)) of a number."""
    real = type(x)
    return real(one_nan(real(1) / (real(1) + exp(-x))))


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
    """Multiply by 2**n in two halves, the first of which is exact."""
    return p * real(2.0 ** (n // 2)) * real(2.0 ** (n - n // 2))
