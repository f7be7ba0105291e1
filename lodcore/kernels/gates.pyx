"""Recurrent networks, step after step: one product and the gates of a step, in the forward and in the backward pass.

Rows lie in step order, as `rank.unpack_rows` brings them: step t has the rows steps[t] .. steps[t + 1], longest
sequence first. A state belongs to the sequences that have any rows, longest first. Activations are numbers: 0 sigmoid,
1 tanh, 2 relu, 3 identity. Weights are packed by `matrix.pack_columns`, transposed in the backward pass. Where they are
empty the caller multiplies and calls step by step: the functions then compute the gates of steps first .. stop alone,
whose bits are the same on every processor. Every nan that gates store is the positive quiet one.

Empty arrays stand for what there is none of.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

cdef extern from "gates_loops.h" nogil:
    enum: PANEL_BYTES
    ctypedef struct Rule:
        int64_t width
        int gate, cell, candidate, origin
        double clip
        const void* bias
        const void* peepholes

    void lstm_forward_float(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const float* weight, const float* projection,
        int64_t state_width, const float* boot, const float* boot_cell, float* gates, float* cell, float* inner,
        float* hidden)
    void lstm_backward_float(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const float* weight, const float* projection,
        int64_t state_width, const float* boot_cell, const float* gates, const float* cell, const float* d_cell,
        float* d_inner, float* d_hidden, float* carry, float* d_gates, float* d_boot)
    void gru_forward_float(
        const Rule*, int stage, const int64_t* steps, int64_t first, int64_t stop, const float* weight,
        const float* weight_candidate, const float* boot, float* gates, float* reset, float* hidden)
    void gru_backward_float(
        const Rule*, int stage, const int64_t* steps, int64_t first, int64_t stop, const float* weight,
        const float* weight_candidate, const float* boot, const float* gates, const float* hidden, float* d_hidden,
        float* reset, float* d_gates, float* d_boot)
    void simple_forward_float(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const float* weight, const float* boot,
        float* hidden)
    void simple_backward_float(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const float* weight, const float* hidden,
        float* d_hidden, float* d_gates, float* d_boot)
    void lstm_forward_double(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const double* weight, const double* projection,
        int64_t state_width, const double* boot, const double* boot_cell, double* gates, double* cell, double* inner,
        double* hidden)
    void lstm_backward_double(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const double* weight, const double* projection,
        int64_t state_width, const double* boot_cell, const double* gates, const double* cell, const double* d_cell,
        double* d_inner, double* d_hidden, double* carry, double* d_gates, double* d_boot)
    void gru_forward_double(
        const Rule*, int stage, const int64_t* steps, int64_t first, int64_t stop, const double* weight,
        const double* weight_candidate, const double* boot, double* gates, double* reset, double* hidden)
    void gru_backward_double(
        const Rule*, int stage, const int64_t* steps, int64_t first, int64_t stop, const double* weight,
        const double* weight_candidate, const double* boot, const double* gates, const double* hidden, double* d_hidden,
        double* reset, double* d_gates, double* d_boot)
    void simple_forward_double(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const double* weight, const double* boot,
        double* hidden)
    void simple_backward_double(
        const Rule*, const int64_t* steps, int64_t first, int64_t stop, const double* weight, const double* hidden,
        double* d_hidden, double* d_gates, double* d_boot)

ctypedef fused real:
    float
    double


def lstm_steps(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, const real[::1] weight not None,
    const real[::1] projection not None, const real[::1] bias not None, const real[::1] peepholes not None,
    int gate, int cell_activation, int candidate, double clip, const real[:, ::1] boot not None,
    const real[:, ::1] boot_cell not None, real[:, ::1] gates not None, real[:, ::1] cell not None,
    real[:, ::1] inner not None, real[:, ::1] hidden not None,
):
    """Run an LSTM over steps.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
        The steps that are run; what those before have written is there.
    weight : float32 or float64, packed of shape (state_width, 4 * width), or empty
    projection : as weight, packed of shape (width, state_width), or empty
    bias : as weight, shape (4 * width,) or (0,)
    peepholes : as weight, shape (3 * width,) or (0,)
        Weights of the cell before for the input and the forget gate, and of the new one for the output gate.
    gate, cell_activation, candidate : int
        Activations.
    clip : float
        The cell stays within -clip .. clip; inf for no bounds.
    boot, boot_cell : as weight, shape (n_states, state_width) and (n_states, width), or no rows for zeros
    gates : as weight, shape (n_rows, 4 * width)
        Candidate, input, forget and output gate: products of the inputs before, activations after.
    cell : as weight, shape (n_rows, width)
    inner : as weight, shape (n_rows, width)
        What a projection makes the state of; `hidden` itself if there is none, and the caller's to project where
        weights are empty.
    hidden : as weight, shape (n_rows, state_width)
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = cell.shape[1], state_width = hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not has_shape(gates, n_rows, 4 * width)
            or not has_shape(cell, n_rows, width) or not has_shape(inner, n_rows, width)
            or hidden.shape[0] != n_rows or not is_packed(weight, state_width, 4 * width)
            or not is_packed(projection, width, state_width) or not is_boot(boot, n_states, state_width)
            or not is_boot(boot_cell, n_states, width) or (bias.shape[0] and bias.shape[0] != 4 * width)
            or (peepholes.shape[0] and peepholes.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or state_width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, cell_activation, candidate, 0, clip, line(bias), line(peepholes))
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(projection)
    cdef const real* state = rows(boot)
    cdef const real* cells = rows(boot_cell)
    cdef real* place = &gates[0, 0]
    cdef real* cell_place = &cell[0, 0]
    cdef real* inner_place = &inner[0, 0]
    cdef real* result = &hidden[0, 0]
    with nogil:
        if real is float:
            lstm_forward_float(&rule, bounds, first, stop, matrix, second, state_width, state, cells, place,
                               cell_place, inner_place, result)
        else:
            lstm_forward_double(&rule, bounds, first, stop, matrix, second, state_width, state, cells, place,
                                cell_place, inner_place, result)


def lstm_steps_back(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, const real[::1] weight not None,
    const real[::1] projection not None, const real[::1] peepholes not None, int gate, int cell_activation,
    int candidate, double clip, const real[:, ::1] boot_cell not None, const real[:, ::1] gates not None,
    const real[:, ::1] cell not None, const real[:, ::1] d_cell not None, real[:, ::1] d_inner not None,
    real[:, ::1] d_hidden not None, real[:, ::1] carry not None, real[:, ::1] d_gates not None,
    real[:, ::1] d_boot not None,
):
    """Run the backward pass of `lstm_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
    weight : float32 or float64, packed of shape (4 * width, state_width), transposed, or empty
    projection : as weight, packed of shape (state_width, width), transposed, or empty
    peepholes : as weight, shape (3 * width,) or (0,)
    gate, cell_activation, candidate : int
    clip : float
    boot_cell : as weight, shape (n_states, width), or no rows for zeros
    gates, cell : as weight, shape (n_rows, 4 * width) and (n_rows, width)
        What `lstm_steps` has written.
    d_cell : as weight, shape (n_rows, width), or no rows for zeros
        The cotangent of the cell.
    d_inner : as weight, shape (n_rows, width)
        Written, if there is a projection; `d_hidden` itself if there is none.
    d_hidden : as weight, shape (n_rows, state_width)
        The cotangent of the hidden state; grows by what comes from later steps.
    carry : as weight, shape (n_states, width)
        Zeros; in the end the cotangent of the boot cell.
    d_gates : as weight, shape (n_rows, 4 * width)
        Written: cotangents of the gates before their activations.
    d_boot : as weight, shape (n_states, state_width), or no rows
        Grows by the cotangent of the boot state.
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = cell.shape[1], state_width = d_hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not has_shape(gates, n_rows, 4 * width)
            or not has_shape(cell, n_rows, width) or not has_shape(d_inner, n_rows, width)
            or d_hidden.shape[0] != n_rows or not is_packed(weight, 4 * width, state_width)
            or not is_packed(projection, state_width, width) or not has_shape(d_gates, n_rows, 4 * width)
            or not has_shape(carry, n_states, width) or not is_boot(boot_cell, n_states, width)
            or not is_boot(d_cell, n_rows, width) or not is_boot(d_boot, n_states, state_width)
            or (peepholes.shape[0] and peepholes.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or state_width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, cell_activation, candidate, 0, clip, NULL, line(peepholes))
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(projection)
    cdef const real* cells = rows(boot_cell)
    cdef const real* place = &gates[0, 0]
    cdef const real* cell_place = &cell[0, 0]
    cdef const real* d_cells = rows(d_cell)
    cdef real* d_inner_place = &d_inner[0, 0]
    cdef real* d_hidden_place = &d_hidden[0, 0]
    cdef real* carried = &carry[0, 0]
    cdef real* result = &d_gates[0, 0]
    cdef real* d_first = &d_boot[0, 0] if d_boot.shape[0] else NULL
    with nogil:
        if real is float:
            lstm_backward_float(&rule, bounds, first, stop, matrix, second, state_width, cells, place, cell_place,
                                d_cells, d_inner_place, d_hidden_place, carried, result, d_first)
        else:
            lstm_backward_double(&rule, bounds, first, stop, matrix, second, state_width, cells, place, cell_place,
                                 d_cells, d_inner_place, d_hidden_place, carried, result, d_first)


def gru_steps(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, int stage, const real[::1] weight not None,
    const real[::1] weight_candidate not None, const real[::1] bias not None, int gate, int candidate, bint origin,
    const real[:, ::1] boot not None, real[:, ::1] gates not None, real[:, ::1] reset not None,
    real[:, ::1] hidden not None,
):
    """Run a GRU over steps.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
        The steps that are run; what those before have written is there.
    stage : int
        1 for what comes before the product of the reset state and the weight of the candidate, 2 for what comes behind
        it, 0 for all.
    weight : float32 or float64, packed of shape (width, 2 * width), or empty
        Of the update and the reset gate.
    weight_candidate : as weight, packed of shape (width, width), or empty
    bias : as weight, shape (3 * width,) or (0,)
    gate, candidate : int
        Activations.
    origin : bool
        The new state is u * before + (1 - u) * n; otherwise (1 - u) * before + u * n.
    boot : as weight, shape (n_states, width), or no rows for zeros
    gates : as weight, shape (n_rows, 3 * width)
        Update gate u, reset gate r and candidate n: products of the inputs before, activations after.
    reset : as weight, shape (n_states, width)
        Written: r * before of the last step; left alone where there is no state before.
    hidden : as weight, shape (n_rows, width)
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not has_shape(gates, n_rows, 3 * width)
            or hidden.shape[0] != n_rows or not is_packed(weight, width, 2 * width)
            or not is_packed(weight_candidate, width, width) or not is_boot(boot, n_states, width)
            or not has_shape(reset, n_states, width) or (bias.shape[0] and bias.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, 0, candidate, origin, INFINITY, line(bias), NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(weight_candidate)
    cdef const real* state = rows(boot)
    cdef real* place = &gates[0, 0]
    cdef real* reset_place = &reset[0, 0]
    cdef real* result = &hidden[0, 0]
    with nogil:
        if real is float:
            gru_forward_float(&rule, stage, bounds, first, stop, matrix, second, state, place, reset_place, result)
        else:
            gru_forward_double(&rule, stage, bounds, first, stop, matrix, second, state, place, reset_place, result)


def gru_steps_back(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, int stage, const real[::1] weight not None,
    const real[::1] weight_candidate not None, int gate, int candidate, bint origin, const real[:, ::1] boot not None,
    const real[:, ::1] gates not None, const real[:, ::1] hidden not None, real[:, ::1] d_hidden not None,
    real[:, ::1] reset not None, real[:, ::1] d_gates not None, real[:, ::1] d_boot not None,
):
    """Run the backward pass of `gru_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
    stage : int
        1 for what comes before the product of the candidate's cotangent and its weight, 2 for what comes behind it, 0
        for all.
    weight : float32 or float64, packed of shape (2 * width, width), transposed, or empty
    weight_candidate : as weight, packed of shape (width, width), transposed, or empty
    gate, candidate : int
    origin : bool
    boot : as weight, shape (n_states, width), or no rows for zeros
    gates, hidden : as weight, shape (n_rows, 3 * width) and (n_rows, width)
        What `gru_steps` has written.
    d_hidden : as weight, shape (n_rows, width)
        The cotangent of the hidden state; grows by what comes from later steps.
    reset : as weight, shape (n_rows, width)
        The cotangent of the reset state, between the stages; becomes that state, r * before.
    d_gates : as weight, shape (n_rows, 3 * width)
        Written: cotangents of the gates before their activations.
    d_boot : as weight, shape (n_states, width), or no rows
        Grows by the cotangent of the boot state.
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not has_shape(gates, n_rows, 3 * width)
            or hidden.shape[0] != n_rows or not has_shape(d_hidden, n_rows, width)
            or not has_shape(reset, n_rows, width) or not has_shape(d_gates, n_rows, 3 * width)
            or not is_packed(weight, 2 * width, width) or not is_packed(weight_candidate, width, width)
            or not is_boot(boot, n_states, width) or not is_boot(d_boot, n_states, width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, 0, candidate, origin, INFINITY, NULL, NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(weight_candidate)
    cdef const real* state = rows(boot)
    cdef const real* place = &gates[0, 0]
    cdef const real* states = &hidden[0, 0]
    cdef real* d_hidden_place = &d_hidden[0, 0]
    cdef real* reset_place = &reset[0, 0]
    cdef real* result = &d_gates[0, 0]
    cdef real* d_first = &d_boot[0, 0] if d_boot.shape[0] else NULL
    with nogil:
        if real is float:
            gru_backward_float(&rule, stage, bounds, first, stop, matrix, second, state, place, states,
                               d_hidden_place, reset_place, result, d_first)
        else:
            gru_backward_double(&rule, stage, bounds, first, stop, matrix, second, state, place, states,
                                d_hidden_place, reset_place, result, d_first)


def simple_steps(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, const real[::1] weight not None,
    const real[::1] bias not None, int activation, const real[:, ::1] boot not None, real[:, ::1] hidden not None,
):
    """Run a network whose new state is the activation of input, state and bias.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
        The steps that are run; what those before have written is there.
    weight : float32 or float64, packed of shape (width, width), or empty
    bias : as weight, shape (width,) or (0,)
    activation : int
    boot : as weight, shape (n_states, width), or no rows for zeros
    hidden : as weight, shape (n_rows, width)
        Products of the inputs, then states.
    """
    cdef Py_ssize_t n_rows = hidden.shape[0], width = hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not is_packed(weight, width, width)
            or not is_boot(boot, n_states, width) or (bias.shape[0] and bias.shape[0] != width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, 0, 0, activation, 0, INFINITY, line(bias), NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* state = rows(boot)
    cdef real* result = &hidden[0, 0]
    with nogil:
        if real is float:
            simple_forward_float(&rule, bounds, first, stop, matrix, state, result)
        else:
            simple_forward_double(&rule, bounds, first, stop, matrix, state, result)


def simple_steps_back(
    const int64_t[::1] steps not None, Py_ssize_t first, Py_ssize_t stop, const real[::1] weight not None,
    int activation, const real[:, ::1] hidden not None, real[:, ::1] d_hidden not None,
    real[:, ::1] d_gates not None, real[:, ::1] d_boot not None,
):
    """Run the backward pass of `simple_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,), in rows
    first, stop : int
    weight : float32 or float64, packed of shape (width, width), transposed, or empty
    activation : int
    hidden : as weight, shape (n_rows, width)
        What `simple_steps` has written.
    d_hidden : as weight, shape (n_rows, width)
        The cotangent of the hidden state; grows by what comes from later steps.
    d_gates : as weight, shape (n_rows, width)
        Written: cotangents before the activation.
    d_boot : as weight, shape (n_states, width), or no rows
        Grows by the cotangent of the boot state.
    """
    cdef Py_ssize_t n_rows = hidden.shape[0], width = hidden.shape[1]
    cdef Py_ssize_t n_states = steps[1] if steps.shape[0] > 1 else 0
    if (not fits(steps, first, stop, n_rows) or not is_packed(weight, width, width)
            or not has_shape(d_hidden, n_rows, width) or not has_shape(d_gates, n_rows, width)
            or not is_boot(d_boot, n_states, width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, 0, 0, activation, 0, INFINITY, NULL, NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const real* matrix = line(weight)
    cdef const real* states = &hidden[0, 0]
    cdef real* d_hidden_place = &d_hidden[0, 0]
    cdef real* result = &d_gates[0, 0]
    cdef real* d_first = &d_boot[0, 0] if d_boot.shape[0] else NULL
    with nogil:
        if real is float:
            simple_backward_float(&rule, bounds, first, stop, matrix, states, d_hidden_place, result, d_first)
        else:
            simple_backward_double(&rule, bounds, first, stop, matrix, states, d_hidden_place, result, d_first)


cdef bint fits(const int64_t[::1] steps, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t n_rows) noexcept:
    """Return whether there are such steps, of so many rows, of which none has more than the one before."""
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, t
    if n_steps < 0 or not 0 <= first <= stop <= n_steps or steps[0] != 0 or steps[n_steps] != n_rows:
        return False
    for t in range(n_steps):
        if steps[t + 1] <= steps[t] or (t > 0 and steps[t + 1] - steps[t] > steps[t] - steps[t - 1]):
            return False
    return True


cdef inline bint has_shape(const real[:, ::1] array, Py_ssize_t n_rows, Py_ssize_t width) noexcept:
    return array.shape[0] == n_rows and array.shape[1] == width


cdef inline bint is_boot(const real[:, ::1] array, Py_ssize_t n_rows, Py_ssize_t width) noexcept:
    """Return whether an array has this shape, or no rows."""
    return array.shape[0] == 0 or (array.shape[0] == n_rows and array.shape[1] == width)


cdef inline bint is_packed(const real[::1] weight, Py_ssize_t depth, Py_ssize_t columns) noexcept:
    """Return whether an array is as long as a packed matrix of this shape, or empty."""
    cdef Py_ssize_t cells = PANEL_BYTES // sizeof(real)
    return weight.shape[0] == 0 or weight.shape[0] == (columns + cells - 1) // cells * cells * depth


cdef inline const real* line(const real[::1] array) noexcept:
    return &array[0] if array.shape[0] else NULL


cdef inline const real* rows(const real[:, ::1] array) noexcept:
    return &array[0, 0] if array.shape[0] else NULL
