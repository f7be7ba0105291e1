"""Recurrent networks, step by step: one product and the gates of each step, in the forward and in the backward pass.

Rows stay in the order of the batch. Step t has steps[t + 1] - steps[t] rows: those of the sequences that are longer
than t, longest first, where the row of sequence k is starts[k] + stride * t. Arrays of states, and of the work space of
a step, have one row for each sequence that is not empty, in the same order. Activations are numbers: 0 sigmoid, 1 tanh,
2 relu, 3 identity. Weights are packed by `matrix.pack_columns`, and transposed in the backward pass. If they are empty,
the caller computes the products and calls step by step: the functions then compute only the gates of steps first ..
stop, whose bits are the same on every processor. Every nan that gates store is the positive quiet nan.

The steps of any cell run on `machine`, those of an LSTM or a GRU, too. These kernels stay since that takes longer: as a
Program 1.06 to 1.2 (LSTM) and 1.1 to 1.3 times as long with AVX-512, 1.01 to 1.08 and 1.10 to 1.18 with AVX2, the most
at width 64. The machine computes one operator after the other, and calls NumPy's hyperbolic tangent.

Empty arrays stand for absent arguments.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from lodcore.kernels.matrix cimport real
from lodcore.kernels.recurrent_steps cimport Rule, gru_backward, gru_forward, lstm_backward, lstm_forward
from lodcore.kernels.recurrent_steps cimport simple_backward, simple_forward

cdef extern from "gates.h" nogil:
    void sigmoid_numbers(int64_t count, const void* x, void* out)  # of float or of double

cdef enum:
    PANEL_BYTES = 128  # of a packed matrix


cdef void sigmoid_of(const real* x, int64_t count, real* out) noexcept nogil:
    sigmoid_numbers(count, x, out)


def sigmoid(const real[::1] x not None, real[::1] out not None):
    """Compute 1 / (1 + exp(-x)) of each number: 0 where exp(-x) is infinite.

    Parameters
    ----------
    x : float32 or float64, shape (n,)
    out : as x
        May be x itself.
    """
    cdef Py_ssize_t count = x.shape[0]
    if out.shape[0] != count:
        raise ValueError("x and out do not belong together")
    cdef const real* given = line(x)
    cdef real* made = &out[0] if count else NULL
    with nogil:
        sigmoid_of(given, count, made)


def lstm_steps(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, const real[::1] weight not None, const real[::1] projection not None,
    const real[::1] bias not None, const real[::1] peepholes not None, int gate, int cell_activation, int candidate,
    double clip, bint booted, real[:, ::1] state not None, real[:, ::1] state_cell not None,
    real[:, ::1] products not None, real[:, ::1] gates not None, real[:, ::1] cell not None,
    real[:, ::1] inner not None, real[:, ::1] hidden not None,
):
    """Run an LSTM over steps.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
        1, or -1 for sequences that run from their last row to the first.
    first, stop : int
        The steps to run; the results of earlier steps are in place.
    weight : float32 or float64, packed of shape (state_width, 4 * width), or empty
    projection : as weight, packed of shape (width, state_width), or empty
    bias : as weight, shape (4 * width,) or (0,)
    peepholes : as weight, shape (3 * width,) or (0,)
        Weights of the previous cell for the input and the forget gate, and of the new cell for the output gate.
    gate, cell_activation, candidate : int
        Activations.
    clip : float
        The cell is clamped to -clip .. clip; inf for no bounds.
    booted : bool
        Whether the state before the first step is not just zeros.
    state, state_cell : as weight, shape (n_states, state_width) and (n_states, width)
        Before the call, the state before the first step; after it, the state of each sequence after its last row.
    products : as weight, shape (n_states, 4 * width)
        Written: the products of the state. They are read if the caller multiplies, from the second step on, or from the
        first if `booted` is true. With a projection, the first columns finally hold the input of the projection at the
        last step.
    gates : as weight, shape (n_rows, 4 * width)
        Candidate, input, forget and output gate: on entry the products of the inputs, on return the activations.
    cell : as weight, shape (n_rows, width), or no rows if it is not needed
    inner : as weight, shape (n_rows, width), or no rows without a projection
        The input of the projection. If the caller multiplies, the caller also writes `state` and `hidden`.
    hidden : as weight, shape (n_rows, state_width), or no rows if it is not needed
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = state_cell.shape[1], state_width = state.shape[1]
    cdef Py_ssize_t n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(gates, n_rows, 4 * width)
            or not has_shape(state_cell, n_states, width) or not has_shape(products, n_states, 4 * width)
            or state.shape[0] != n_states or (inner.shape[0] == 0 and n_rows and state_width != width)
            or not is_boot(cell, n_rows, width) or not is_boot(inner, n_rows, width)
            or not is_boot(hidden, n_rows, state_width) or not is_packed(weight, state_width, 4 * width)
            or not is_packed(projection, width, state_width)
            or (bias.shape[0] and bias.shape[0] != 4 * width)
            or (peepholes.shape[0] and peepholes.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, cell_activation, candidate, 0, clip, line(bias), line(peepholes))
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(projection)
    cdef real* states = &state[0, 0]
    cdef real* cells = &state_cell[0, 0]
    cdef real* made = &products[0, 0]
    cdef real* place = &gates[0, 0]
    cdef real* cell_place = rows(cell)
    cdef real* inner_place = rows(inner)
    cdef real* result = rows(hidden)
    with nogil:
        lstm_forward(
            &rule, bounds, begin, stride, first, stop, matrix, second, state_width, booted, states, cells, made, place,
            cell_place, inner_place, result,
        )


def lstm_steps_back(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, const real[::1] weight not None, const real[::1] projection not None,
    const real[::1] peepholes not None, int gate, int cell_activation, int candidate, double clip,
    const real[:, ::1] boot_cell not None, const real[:, ::1] gates not None, const real[:, ::1] cell not None,
    const real[:, ::1] d_hidden not None, const real[:, ::1] d_cell not None, bint to_boot,
    real[:, ::1] d_state not None, real[:, ::1] carry not None, real[:, ::1] d_step not None,
    real[:, ::1] d_full not None, real[:, ::1] d_gates not None,
):
    """Run the backward pass of `lstm_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
    first, stop : int
    weight : float32 or float64, packed of shape (4 * width, state_width), transposed, or empty
    projection : as weight, packed of shape (state_width, width), transposed, or empty
    peepholes : as weight, shape (3 * width,) or (0,)
    gate, cell_activation, candidate : int
    clip : float
    boot_cell : as weight, shape (n_states, width), or no rows for zeros
        The cell before the first step.
    gates, cell : as weight, shape (n_rows, 4 * width) and (n_rows, width)
        The results of `lstm_steps`.
    d_hidden, d_cell : as weight, shape (n_rows, state_width) and (n_rows, width), or no rows for zeros
        Cotangents of states and cells.
    to_boot : bool
        Whether the cotangent of the state before the first step is needed.
    d_state, carry : as weight, shape (n_states, state_width) and (n_states, width)
        On entry the cotangents of state and cell after the last step, on return those before the first step. If the
        caller multiplies, the caller writes d_state.
    d_step : as weight, shape (n_states, 4 * width)
        Written: cotangents of the gates of a step. With a projection and a caller that multiplies, the first columns
        are read as the cotangent of the input of the projection.
    d_full : as weight, shape (n_rows, state_width), or no rows without a projection
        Written: cotangents of the states, including those from later steps. If the caller multiplies, the caller writes
        them.
    d_gates : as weight, shape (n_rows, 4 * width)
        Written: cotangents of the gates before their activations.
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = carry.shape[1], state_width = d_state.shape[1]
    cdef Py_ssize_t n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(gates, n_rows, 4 * width)
            or not has_shape(cell, n_rows, width) or not has_shape(carry, n_states, width)
            or d_state.shape[0] != n_states or (d_full.shape[0] == 0 and n_rows and state_width != width)
            or not has_shape(d_step, n_states, 4 * width) or not has_shape(d_gates, n_rows, 4 * width)
            or not is_boot(boot_cell, n_states, width) or not is_boot(d_hidden, n_rows, state_width)
            or not is_boot(d_cell, n_rows, width) or not is_boot(d_full, n_rows, state_width)
            or not is_packed(weight, 4 * width, state_width) or not is_packed(projection, state_width, width)
            or (peepholes.shape[0] and peepholes.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, cell_activation, candidate, 0, clip, NULL, line(peepholes))
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(projection)
    cdef const real* boot = read_rows(boot_cell)
    cdef const real* place = &gates[0, 0]
    cdef const real* cell_place = &cell[0, 0]
    cdef const real* d_rows = read_rows(d_hidden)
    cdef const real* d_cells = read_rows(d_cell)
    cdef real* d_states = &d_state[0, 0]
    cdef real* carried = &carry[0, 0]
    cdef real* d_here = &d_step[0, 0]
    cdef real* full = rows(d_full)
    cdef real* result = &d_gates[0, 0]
    with nogil:
        lstm_backward(
            &rule, bounds, begin, stride, first, stop, matrix, second, state_width, boot, place, cell_place, d_rows,
            d_cells, to_boot, d_states, carried, d_here, full, result,
        )


def gru_steps(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, int stage, const real[::1] weight not None, const real[::1] weight_candidate not None,
    const real[::1] bias not None, int gate, int candidate, bint origin, bint booted, real[:, ::1] state not None,
    real[:, ::1] products not None, real[:, ::1] gates not None, real[:, ::1] hidden not None,
):
    """Run a GRU over steps.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
        1, or -1 for sequences that run from their last row to the first.
    first, stop : int
        The steps to run; the results of earlier steps are in place.
    stage : int
        1 for the part before the product of the reset state and the weight of the candidate, 2 for the part after it, 0
        for both.
    weight : float32 or float64, packed of shape (width, 2 * width), or empty
        The weight of the update and the reset gate.
    weight_candidate : as weight, packed of shape (width, width), or empty
    bias : as weight, shape (3 * width,) or (0,)
    gate, candidate : int
        Activations.
    origin : bool
        If true, the new state is u * before + (1 - u) * n; otherwise it is (1 - u) * before + u * n.
    booted : bool
        Whether the state before the first step is not just zeros.
    state : as weight, shape (n_states, width)
        Before the call, the state before the first step; after it, the state of each sequence after its last row.
    products : as weight, shape (n_states, 3 * width)
        Written: the products of the state, and in the last columns those of the reset state r * before, which itself is
        written to the first columns. They are read if the caller multiplies, from the second step on, or from the first
        if `booted` is true.
    gates : as weight, shape (n_rows, 3 * width)
        Update gate u, reset gate r and candidate n: on entry the products of the inputs, on return the activations.
    hidden : as weight, shape (n_rows, width)
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = state.shape[1], n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(gates, n_rows, 3 * width)
            or not has_shape(hidden, n_rows, width) or not has_shape(state, n_states, width)
            or not has_shape(products, n_states, 3 * width) or not is_packed(weight, width, 2 * width)
            or not is_packed(weight_candidate, width, width) or (bias.shape[0] and bias.shape[0] != 3 * width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, 0, candidate, origin, INFINITY, line(bias), NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(weight_candidate)
    cdef real* states = &state[0, 0]
    cdef real* made = &products[0, 0]
    cdef real* place = &gates[0, 0]
    cdef real* result = &hidden[0, 0]
    with nogil:
        gru_forward(
            &rule, stage, bounds, begin, stride, first, stop, matrix, second, booted, states, made, place, result,
        )


def gru_steps_back(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, int stage, const real[::1] weight not None, const real[::1] weight_candidate not None, int gate,
    int candidate, bint origin, const real[:, ::1] boot not None, const real[:, ::1] gates not None,
    const real[:, ::1] hidden not None, const real[:, ::1] d_hidden not None, bint to_boot,
    real[:, ::1] d_state not None, real[:, ::1] d_step not None, real[:, ::1] reset not None,
    real[:, ::1] d_gates not None,
):
    """Run the backward pass of `gru_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
    first, stop : int
    stage : int
        1 for the part before the product of the candidate's cotangent and its weight, 2 for the part after it, 0 for
        both.
    weight : float32 or float64, packed of shape (2 * width, width), transposed, or empty
    weight_candidate : as weight, packed of shape (width, width), transposed, or empty
    gate, candidate : int
    origin : bool
    boot : as weight, shape (n_states, width), or no rows for zeros
        The state before the first step.
    gates, hidden : as weight, shape (n_rows, 3 * width) and (n_rows, width)
        The results of `gru_steps`.
    d_hidden : as weight, shape (n_rows, width)
        The cotangent of the hidden state.
    to_boot : bool
        Whether the cotangent of the state before the first step is needed.
    d_state : as weight, shape (n_states, width)
        On entry the cotangent of the state after the last step, on return that before the first step. If the caller
        multiplies, the caller adds the part that flows through the gates.
    d_step : as weight, shape (n_states, 3 * width)
        Written: cotangents of the gates of a step. Between the stages, the middle columns hold the cotangent of the
        reset state r * before.
    reset : as weight, shape (n_rows, width)
        Written: r * before.
    d_gates : as weight, shape (n_rows, 3 * width)
        Written: cotangents of the gates before their activations.
    """
    cdef Py_ssize_t n_rows = gates.shape[0], width = d_state.shape[1], n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(gates, n_rows, 3 * width)
            or not has_shape(hidden, n_rows, width) or not has_shape(d_hidden, n_rows, width)
            or not has_shape(d_state, n_states, width) or not has_shape(d_step, n_states, 3 * width)
            or not has_shape(reset, n_rows, width) or not has_shape(d_gates, n_rows, 3 * width)
            or not is_boot(boot, n_states, width) or not is_packed(weight, 2 * width, width)
            or not is_packed(weight_candidate, width, width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, gate, 0, candidate, origin, INFINITY, NULL, NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef const real* second = line(weight_candidate)
    cdef const real* boots = read_rows(boot)
    cdef const real* place = &gates[0, 0]
    cdef const real* states = &hidden[0, 0]
    cdef const real* d_rows = &d_hidden[0, 0]
    cdef real* d_states = &d_state[0, 0]
    cdef real* d_here = &d_step[0, 0]
    cdef real* reset_place = &reset[0, 0]
    cdef real* result = &d_gates[0, 0]
    with nogil:
        gru_backward(
            &rule, stage, bounds, begin, stride, first, stop, matrix, second, boots, place, states, d_rows, to_boot,
            d_states, d_here, reset_place, result,
        )


def simple_steps(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, const real[::1] weight not None, const real[::1] bias not None, int activation, bint booted,
    real[:, ::1] state not None, real[:, ::1] products not None, real[:, ::1] hidden not None,
):
    """Run a recurrent network whose new state is an activation of the products of input and state plus the bias.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
        1, or -1 for sequences that run from their last row to the first.
    first, stop : int
        The steps to run; the results of earlier steps are in place.
    weight : float32 or float64, packed of shape (width, width), or empty
    bias : as weight, shape (width,) or (0,)
    activation : int
    booted : bool
        Whether the state before the first step is not just zeros.
    state : as weight, shape (n_states, width)
        Before the call, the state before the first step; after it, the state of each sequence after its last row.
    products : as weight, shape (n_states, width)
        Written: the products of the state. They are read if the caller multiplies, from the second step on, or from the
        first if `booted` is true.
    hidden : as weight, shape (n_rows, width)
        On entry the products of the inputs, on return the states.
    """
    cdef Py_ssize_t n_rows = hidden.shape[0], width = state.shape[1], n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(hidden, n_rows, width)
            or not has_shape(state, n_states, width) or not has_shape(products, n_states, width)
            or not is_packed(weight, width, width) or (bias.shape[0] and bias.shape[0] != width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, 0, 0, activation, 0, INFINITY, line(bias), NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef real* states = &state[0, 0]
    cdef real* made = &products[0, 0]
    cdef real* result = &hidden[0, 0]
    with nogil:
        simple_forward(&rule, bounds, begin, stride, first, stop, matrix, booted, states, made, result)


def simple_steps_back(
    const int64_t[::1] steps not None, const int64_t[::1] starts not None, int64_t stride, Py_ssize_t first,
    Py_ssize_t stop, const real[::1] weight not None, int activation, const real[:, ::1] hidden not None,
    const real[:, ::1] d_hidden not None, bint to_boot, real[:, ::1] d_state not None, real[:, ::1] d_step not None,
    real[:, ::1] d_gates not None,
):
    """Run the backward pass of `simple_steps`, from the last step to the first.

    Parameters
    ----------
    steps : int64, shape (n_steps + 1,)
    starts : int64, shape (n_states,)
    stride : int
    first, stop : int
    weight : float32 or float64, packed of shape (width, width), transposed, or empty
    activation : int
    hidden : as weight, shape (n_rows, width)
        The results of `simple_steps`.
    d_hidden : as weight, shape (n_rows, width)
        The cotangent of the hidden state.
    to_boot : bool
        Whether the cotangent of the state before the first step is needed.
    d_state : as weight, shape (n_states, width)
        On entry the cotangent of the state after the last step, on return that before the first step. If the caller
        multiplies, the caller writes it.
    d_step : as weight, shape (n_states, width)
        Written: cotangents of a step.
    d_gates : as weight, shape (n_rows, width)
        Written: cotangents before the activation.
    """
    cdef Py_ssize_t n_rows = hidden.shape[0], width = d_state.shape[1], n_states = starts.shape[0]
    if (not fits(steps, starts, stride, first, stop, n_rows) or not has_shape(hidden, n_rows, width)
            or not has_shape(d_hidden, n_rows, width) or not has_shape(d_state, n_states, width)
            or not has_shape(d_step, n_states, width) or not has_shape(d_gates, n_rows, width)
            or not is_packed(weight, width, width)):
        raise ValueError("the arrays do not belong together")
    if width == 0 or first == stop:
        return
    cdef Rule rule = Rule(width, 0, 0, activation, 0, INFINITY, NULL, NULL)
    cdef const int64_t* bounds = &steps[0]
    cdef const int64_t* begin = &starts[0]
    cdef const real* matrix = line(weight)
    cdef const real* states = &hidden[0, 0]
    cdef const real* d_rows = &d_hidden[0, 0]
    cdef real* d_states = &d_state[0, 0]
    cdef real* d_here = &d_step[0, 0]
    cdef real* result = &d_gates[0, 0]
    with nogil:
        simple_backward(
            &rule, bounds, begin, stride, first, stop, matrix, states, d_rows, to_boot, d_states, d_here, result,
        )


cdef bint fits(const int64_t[::1] steps, const int64_t[::1] starts, int64_t stride, Py_ssize_t first, Py_ssize_t stop,
               Py_ssize_t n_rows) noexcept nogil:
    """Return whether the steps are in the batch, and none of them has more rows than the one before."""
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, t, k
    cdef int64_t count = starts.shape[0], more
    if n_steps < 0 or not 0 <= first <= stop <= n_steps or steps[0] != 0 or (stride != 1 and stride != -1):
        return False
    for k in range(count):
        if not 0 <= starts[k] < n_rows:
            return False
    for t in range(n_steps):
        more = steps[t + 1] - steps[t]
        if more < 1 or more > count or (t == 0 and more != count):
            return False
        for k in range(more, count):  # sequences that end at the previous step
            if not 0 <= starts[k] + stride * (t - 1) < n_rows:
                return False
        count = more
    for k in range(count):
        if n_steps == 0 or not 0 <= starts[k] + stride * (n_steps - 1) < n_rows:
            return False
    return True


cdef inline bint has_shape(const real[:, ::1] array, Py_ssize_t n_rows, Py_ssize_t width) noexcept:
    return array.shape[0] == n_rows and array.shape[1] == width


cdef inline bint is_boot(const real[:, ::1] array, Py_ssize_t n_rows, Py_ssize_t width) noexcept:
    """Return whether an array has this shape, or no rows."""
    return array.shape[0] == 0 or (array.shape[0] == n_rows and array.shape[1] == width)


cdef inline bint is_packed(const real[::1] weight, Py_ssize_t depth, Py_ssize_t columns) noexcept:
    """Return whether an array has the length of a packed matrix of this shape, or is empty."""
    cdef Py_ssize_t cells = PANEL_BYTES // sizeof(real)
    return weight.shape[0] == 0 or weight.shape[0] == (columns + cells - 1) // cells * cells * depth


cdef inline const real* line(const real[::1] array) noexcept:
    return &array[0] if array.shape[0] else NULL


cdef inline const real* read_rows(const real[:, ::1] array) noexcept:
    return &array[0, 0] if array.shape[0] else NULL


cdef inline real* rows(real[:, ::1] array) noexcept:
    return &array[0, 0] if array.shape[0] else NULL
