"""Steps of optimizers, and the sum of squares for clipping.

Every number is computed separately. A result may be the same array as the argument that it replaces. Every nan that is
stored is the positive quiet nan.
"""

from libc.stdint cimport int64_t

cdef extern from "optimizers.h" nogil:
    void adam_float(const float* x, const float* d, const float* mean, const float* square, int64_t count, float rate,
                    float beta, float rest, float other_beta, float other_rest, float eps, float kept, float root,
                    float* out, float* out_mean, float* out_square)
    void adam_double(const double* x, const double* d, const double* mean, const double* square, int64_t count,
                     double rate, double beta, double rest, double other_beta, double other_rest, double eps,
                     double kept, double root, double* out, double* out_mean, double* out_square)
    void descend_float(const float* x, const float* d, int64_t count, float rate, float decay, float* out)
    void descend_double(const double* x, const double* d, int64_t count, double rate, double decay, double* out)
    void roll_float(const float* x, const float* d, const float* speed, int64_t count, float rate, float momentum,
                    float decay, float* out, float* out_speed)
    void roll_double(const double* x, const double* d, const double* speed, int64_t count, double rate,
                     double momentum, double decay, double* out, double* out_speed)
    void squares_float(const float* x, int64_t count, double* total)
    void squares_double(const double* x, int64_t count, double* total)

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
        if real is float:
            adam_float(source, gradient, means, squares, count, <float> rate, <float> beta, <float> (1 - beta),
                       <float> other_beta, <float> (1 - other_beta), <float> eps, <float> kept, <float> root, result,
                       new_means, new_squares)
        else:
            adam_double(source, gradient, means, squares, count, rate, beta, 1 - beta, other_beta, 1 - other_beta,
                        eps, kept, root, result, new_means, new_squares)


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
            if real is float:
                descend_float(source, gradient, count, <float> rate, <float> decay, result)
            else:
                descend_double(source, gradient, count, rate, decay, result)
        elif real is float:
            roll_float(
                source, gradient, speeds, count, <float> rate, <float> momentum, <float> decay, result, new_speeds
            )
        else:
            roll_double(source, gradient, speeds, count, rate, momentum, decay, result, new_speeds)


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
        if real is float:
            squares_float(source, count, &total)
        else:
            squares_double(source, count, &total)
    return total
