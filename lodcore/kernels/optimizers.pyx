"""Steps of optimizers, and the sum of squares for clipping.

Every number is computed separately. A result may be the same array as the argument that it replaces, so numbers are
read and computed 16 at a time before they are stored. Every nan that is stored is the positive quiet nan. The sum of
squares runs in double: lane k of 16 starts at 0 and adds numbers k, k + 16, ...; then lane k adds lane k + 8, then
lane k + 4, and so on until one is left.
"""

from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport folded_lanes, one_nan, root_of
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, simd_level

cdef enum:
    LANES = 16
    PLAIN_LANES = 4  # of Adam without wider registers: its three arrays are in registers, too

ctypedef fused real:
    float
    double


def adam_step(
    const real[::1] x not None, const real[::1] d not None, const real[::1] mean not None,
    const real[::1] square not None, double rate, double beta, double other_beta, double eps, double kept, double root,
    real[::1] out not None, real[::1] out_mean not None, real[::1] out_square not None,
):
    """Compute a step of Adam.

    Parameters
    ----------
    x : float32 or float64, shape (count,)
    d : as x
        The gradient.
    mean, square : as x
        Running means of the gradient and of its square.
    rate : float
        The learning rate, divided by the correction of `mean`.
    beta, other_beta : float
        The decay rates of `mean` and `square`.
    eps : float
    kept : float
        The share of x that is kept: one minus the weight decay.
    root : float
        1 / sqrt(correction of `square`).
    out, out_mean, out_square : as x
        kept * x - rate * (m / (sqrt(v) * root + eps)), m = beta * mean + (1 - beta) * d, and v = other_beta * square +
        (1 - other_beta) * (d * d). All numbers, including 1 - beta, have the dtype of x.
    """
    cdef Py_ssize_t count = x.shape[0]
    if not (d.shape[0] == mean.shape[0] == square.shape[0] == out.shape[0] == out_mean.shape[0]
            == out_square.shape[0] == count):
        raise ValueError("the arrays do not belong together")
    if count == 0:
        return
    cdef const real* source = &x[0]
    cdef const real* gradient = &d[0]
    cdef const real* means = &mean[0]
    cdef const real* squares = &square[0]
    cdef real* result = &out[0]
    cdef real* new_means = &out_mean[0]
    cdef real* new_squares = &out_square[0]
    with nogil:
        run_adam(
            source, gradient, means, squares, count, <real> rate, <real> beta, <real> (1 - beta), <real> other_beta,
            <real> (1 - other_beta), <real> eps, <real> kept, <real> root, result, new_means, new_squares,
        )


def sgd_step(
    const real[::1] x not None, const real[::1] d not None, const real[::1] speed not None, double rate,
    double momentum, double decay, real[::1] out not None, real[::1] out_speed not None,
):
    """Compute a step of gradient descent, with momentum if there are speeds.

    Parameters
    ----------
    x : float32 or float64, shape (count,)
    d : as x
        The gradient.
    speed : as x, or empty
        The velocity of the previous steps; empty without momentum.
    rate, momentum, decay : float
    out : as x
        x - rate * v, v = momentum * speed + (d + decay * x).
    out_speed : as speed
        v.
    """
    cdef Py_ssize_t count = x.shape[0]
    if (d.shape[0] != count or out.shape[0] != count or (speed.shape[0] != count and speed.shape[0] != 0)
            or out_speed.shape[0] != speed.shape[0]):
        raise ValueError("the arrays do not belong together")
    if count == 0:
        return
    cdef const real* source = &x[0]
    cdef const real* gradient = &d[0]
    cdef real* result = &out[0]
    cdef const real* speeds = NULL
    cdef real* new_speeds = NULL
    if speed.shape[0]:
        speeds, new_speeds = &speed[0], &out_speed[0]
    with nogil:
        if speeds == NULL:
            run_descend(source, gradient, count, <real> rate, <real> decay, result)
        else:
            run_roll(
                source, gradient, speeds, count, <real> rate, <real> momentum, <real> decay, result, new_speeds
            )


def sum_squares(const real[::1] x not None):
    """Compute the sum of the squares of all numbers, in float64.

    Parameters
    ----------
    x : float32 or float64, shape (count,)

    Returns
    -------
    float
        Lane k of 16 starts at 0 and adds numbers k, k + 16, ...; then lane k adds lane k + 8, and so on.
    """
    cdef Py_ssize_t count = x.shape[0]
    cdef double total = 0
    if count == 0:
        return total
    cdef const real* source = &x[0]
    with nogil:
        run_squares(source, count, &total)
    return total


# -- Adam --------------------------------------------------------------------------------------------------------------


cdef inline forced_void adam_some(
    const real* x, const real* d, const real* mean, const real* square, const int64_t count, real rate, real beta, real
    rest, real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square
) noexcept nogil:
    """The decay rate of the means is beta; rest is 1 - beta computed in double, which float would round."""
    cdef real y[LANES]
    cdef real m[LANES]
    cdef real v[LANES]
    cdef int64_t j
    for j in range(count):
        m[j] = beta * mean[j] + rest * d[j]
    for j in range(count):
        v[j] = other_beta * square[j] + other_rest * (d[j] * d[j])
    for j in range(count):
        y[j] = one_nan(kept * x[j] - rate * (m[j] / (root_of(v[j]) * root + eps)))
    for j in range(count):
        out[j] = y[j]
    for j in range(count):
        out_mean[j] = one_nan(m[j])
    for j in range(count):
        out_square[j] = one_nan(v[j])


cdef inline forced_void adam(
    const real* x, const real* d, const real* mean, const real* square, int64_t count, real rate, real beta, real rest,
    real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square,
    const int64_t some
) noexcept nogil:
    cdef int64_t j = 0
    while j + some <= count:
        adam_some(
            x + j, d + j, mean + j, square + j, some, rate, beta, rest, other_beta, other_rest, eps, kept, root, out +
            j, out_mean + j, out_square + j
        )
        j += some
    if j < count:
        adam_some(
            x + j, d + j, mean + j, square + j, count - j, rate, beta, rest, other_beta, other_rest, eps, kept, root,
            out + j, out_mean + j, out_square + j
        )


cdef avx512_void adam_avx512(
    const real* x, const real* d, const real* mean, const real* square, int64_t count, real rate, real beta, real rest,
    real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square
) noexcept nogil:
    adam(
        x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean, out_square,
        LANES
    )


cdef avx2_void adam_avx2(
    const real* x, const real* d, const real* mean, const real* square, int64_t count, real rate, real beta, real rest,
    real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square
) noexcept nogil:
    adam(
        x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean, out_square,
        LANES
    )


cdef void adam_plain(
    const real* x, const real* d, const real* mean, const real* square, int64_t count, real rate, real beta, real rest,
    real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square
) noexcept nogil:
    adam(
        x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean, out_square,
        PLAIN_LANES
    )


cdef void run_adam(
    const real* x, const real* d, const real* mean, const real* square, int64_t count, real rate, real beta, real rest,
    real other_beta, real other_rest, real eps, real kept, real root, real* out, real* out_mean, real* out_square
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        adam_avx512(
            x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean,
            out_square
        )
    elif level == SIMD_AVX2:
        adam_avx2(
            x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean,
            out_square
        )
    else:
        adam_plain(
            x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean,
            out_square
        )


# -- gradient descent --------------------------------------------------------------------------------------------------


cdef inline forced_void descend_some(
    const real* x, const real* d, const int64_t count, real rate, real decay, real* out
) noexcept nogil:
    cdef real y[LANES]
    cdef int64_t j
    for j in range(count):
        y[j] = x[j] - rate * (d[j] + decay * x[j])
    for j in range(count):
        out[j] = one_nan(y[j])


cdef inline forced_void descend(
    const real* x, const real* d, int64_t count, real rate, real decay, real* out
) noexcept nogil:
    cdef int64_t j = 0
    while j + LANES <= count:
        descend_some(x + j, d + j, LANES, rate, decay, out + j)
        j += LANES
    if j < count:
        descend_some(x + j, d + j, count - j, rate, decay, out + j)


cdef avx512_void descend_avx512(
    const real* x, const real* d, int64_t count, real rate, real decay, real* out
) noexcept nogil:
    descend(x, d, count, rate, decay, out)


cdef avx2_void descend_avx2(
    const real* x, const real* d, int64_t count, real rate, real decay, real* out
) noexcept nogil:
    descend(x, d, count, rate, decay, out)


cdef void descend_plain(const real* x, const real* d, int64_t count, real rate, real decay, real* out) noexcept nogil:
    descend(x, d, count, rate, decay, out)


cdef void run_descend(const real* x, const real* d, int64_t count, real rate, real decay, real* out) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        descend_avx512(x, d, count, rate, decay, out)
    elif level == SIMD_AVX2:
        descend_avx2(x, d, count, rate, decay, out)
    else:
        descend_plain(x, d, count, rate, decay, out)


cdef inline forced_void roll_some(
    const real* x, const real* d, const real* speed, const int64_t count, real rate, real momentum, real decay, real*
    out, real* out_speed
) noexcept nogil:
    cdef real y[LANES]
    cdef real v[LANES]
    cdef int64_t j
    for j in range(count):
        v[j] = momentum * speed[j] + (d[j] + decay * x[j])
        y[j] = x[j] - rate * v[j]
    for j in range(count):
        out[j] = one_nan(y[j])
    for j in range(count):
        out_speed[j] = one_nan(v[j])


cdef inline forced_void roll(
    const real* x, const real* d, const real* speed, int64_t count, real rate, real momentum, real decay, real* out,
    real* out_speed
) noexcept nogil:
    cdef int64_t j = 0
    while j + LANES <= count:
        roll_some(x + j, d + j, speed + j, LANES, rate, momentum, decay, out + j, out_speed + j)
        j += LANES
    if j < count:
        roll_some(x + j, d + j, speed + j, count - j, rate, momentum, decay, out + j, out_speed + j)


cdef avx512_void roll_avx512(
    const real* x, const real* d, const real* speed, int64_t count, real rate, real momentum, real decay, real* out,
    real* out_speed
) noexcept nogil:
    roll(x, d, speed, count, rate, momentum, decay, out, out_speed)


cdef avx2_void roll_avx2(
    const real* x, const real* d, const real* speed, int64_t count, real rate, real momentum, real decay, real* out,
    real* out_speed
) noexcept nogil:
    roll(x, d, speed, count, rate, momentum, decay, out, out_speed)


cdef void roll_plain(
    const real* x, const real* d, const real* speed, int64_t count, real rate, real momentum, real decay, real* out,
    real* out_speed
) noexcept nogil:
    roll(x, d, speed, count, rate, momentum, decay, out, out_speed)


cdef void run_roll(
    const real* x, const real* d, const real* speed, int64_t count, real rate, real momentum, real decay, real* out,
    real* out_speed
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        roll_avx512(x, d, speed, count, rate, momentum, decay, out, out_speed)
    elif level == SIMD_AVX2:
        roll_avx2(x, d, speed, count, rate, momentum, decay, out, out_speed)
    else:
        roll_plain(x, d, speed, count, rate, momentum, decay, out, out_speed)


# -- the sum of squares ------------------------------------------------------------------------------------------------


cdef inline forced_void squares(const real* x, int64_t count, double* total) noexcept nogil:
    cdef double lane[LANES]
    cdef int64_t j = 0, k
    for k in range(LANES):
        lane[k] = 0
    while j + LANES <= count:
        for k in range(LANES):
            lane[k] += <double> x[j + k] * <double> x[j + k]
        j += LANES
    for k in range(count - j):
        lane[k] += <double> x[j + k] * <double> x[j + k]
    total[0] = folded_lanes(lane)


cdef avx512_void squares_avx512(const real* x, int64_t count, double* total) noexcept nogil:
    squares(x, count, total)


cdef avx2_void squares_avx2(const real* x, int64_t count, double* total) noexcept nogil:
    squares(x, count, total)


cdef void squares_plain(const real* x, int64_t count, double* total) noexcept nogil:
    squares(x, count, total)


cdef void run_squares(const real* x, int64_t count, double* total) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        squares_avx512(x, count, total)
    elif level == SIMD_AVX2:
        squares_avx2(x, count, total)
    else:
        squares_plain(x, count, total)
