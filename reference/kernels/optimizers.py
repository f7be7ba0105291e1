"""Twin of lodcore/kernels/optimizers.pyx."""

from numpy import errstate

from reference.arithmetic import one_nan, square_root, sum_in_lanes

LANES = 16


@errstate(all="ignore")
def adam_step(x, d, mean, square, rate, beta, other_beta, eps, kept, root, out, out_mean, out_square):
    """Compute a step of Adam."""
    _check(x, [d, mean, square, out, out_mean, out_square])
    real = x.dtype.type
    for j in range(len(x)):
        m = real(beta) * mean[j] + real(1 - beta) * d[j]
        v = real(other_beta) * square[j] + real(1 - other_beta) * (d[j] * d[j])
        moved = real(kept) * x[j] - real(rate) * (m / (square_root(v, real) * real(root) + real(eps)))
        out[j], out_mean[j], out_square[j] = one_nan(moved), one_nan(m), one_nan(v)


@errstate(all="ignore")
def sgd_step(x, d, speed, rate, momentum, decay, out, out_speed):
    """Compute a step of gradient descent, with momentum if there are speeds."""
    _check(x, [d, out, speed, out_speed] if len(speed) else [d, out])
    if len(speed) != len(out_speed):
        raise ValueError("the arrays do not belong together")
    real = x.dtype.type
    for j in range(len(x)):
        v = d[j] + real(decay) * x[j]
        if len(speed):
            v = real(momentum) * speed[j] + v
            out_speed[j] = one_nan(v)
        out[j] = one_nan(x[j] - real(rate) * v)


@errstate(all="ignore")
def sum_squares(x):
    """Compute the sum of the squares of all numbers, in float64."""
    return sum_in_lanes([float(x[j]) * float(x[j]) for j in range(len(x))], LANES, 0.0)


def _check(x, others):
    if not all(len(other) == len(x) for other in others):
        raise ValueError("the arrays do not belong together")
