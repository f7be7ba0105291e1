"""Twin of lodcore/kernels/norm.pyx: sums of a row in 16 lanes, sums over rows in blocks of 256."""

from numpy import errstate

from reference.arithmetic import one_nan, square_root, sum_in_lanes

LANES, BLOCK = 16, 256


@errstate(all="ignore")
def normalize_rows(x, scale, shift, eps, out, means, factors):
    """Normalize each row: subtract its mean, divide by the root of its variance plus eps, scale and shift."""
    width, real = x.shape[1], x.dtype.type
    if not (x.shape == out.shape and scale.shape == shift.shape == (width,)) or not (
        means.shape == factors.shape == (len(x),)
    ):
        raise ValueError("the arrays do not belong together")
    for r in range(len(x) if width else 0):
        mean = sum_in_lanes([x[r, c] for c in range(width)], LANES, real(0)) / real(width)
        square = sum_in_lanes([(x[r, c] - mean) * (x[r, c] - mean) for c in range(width)], LANES, real(0))
        factor = real(1) / square_root(square / real(width) + real(eps), real)
        for c in range(width):
            out[r, c] = one_nan((x[r, c] - mean) * factor * scale[c] + shift[c])
        means[r], factors[r] = one_nan(mean), one_nan(factor)


@errstate(all="ignore")
def normalize_rows_back(d, x, scale, means, factors, d_x, d_scale, d_shift):
    """Compute the gradients of `normalize_rows`."""
    width, real = x.shape[1], x.dtype.type
    blocks = ((len(x) + BLOCK - 1) // BLOCK, width)
    if not (d.shape == x.shape == d_x.shape and scale.shape == (width,) and d_scale.shape == d_shift.shape == blocks):
        raise ValueError("the arrays do not belong together")
    if not means.shape == factors.shape == (len(x),):
        raise ValueError("the arrays do not belong together")
    for r in range(len(x) if width else 0):
        y = [(x[r, c] - means[r]) * factors[r] for c in range(width)]
        g = [d[r, c] * scale[c] for c in range(width)]
        least = sum_in_lanes(g, LANES, real(0)) / real(width)
        derivative = sum_in_lanes([g[c] * y[c] for c in range(width)], LANES, real(0)) / real(width)
        block = r // BLOCK
        for c in range(width):
            d_x[r, c] = one_nan(factors[r] * (g[c] - least - y[c] * derivative))
            if r % BLOCK == 0:
                d_scale[block, c] = d_shift[block, c] = 0
            d_scale[block, c] = one_nan(d_scale[block, c] + d[r, c] * y[c])
            d_shift[block, c] = one_nan(d_shift[block, c] + d[r, c])
