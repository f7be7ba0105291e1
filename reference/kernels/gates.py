"""Twin of lodcore/kernels/gates.pyx; its gates run the operations of gates_lanes.h one by one."""

from numpy import errstate

from reference.arithmetic import exp, one_nan, sigmoid_of

INFINITY = float("inf")


@errstate(all="ignore")
def lstm_steps(
    steps, starts, stride, first, stop, weight, projection, bias, peepholes, gate, cell_activation, candidate, clip,
    booted, state, state_cell, products, gates, cell, inner, hidden,
):  # fmt: skip
    """Run an LSTM over steps."""
    n_rows, width, states, wide = len(gates), state_cell.shape[1], len(starts), state.shape[1]
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 4 * width), (state, states, wide), (state_cell, states, width)])
    _check_shapes([(products, states, 4 * width)])
    _check_boots([(cell, n_rows, width), (inner, n_rows, width), (hidden, n_rows, wide)])
    _check_widths(n_rows, inner, wide, width)
    _check_lines([(bias, 4 * width), (peepholes, 3 * width)])
    _check_packed([(weight, wide, 4 * width), (projection, width, wide)])
    zero, limit = gates.dtype.type(0), gates.dtype.type(clip)
    for t in range(first if width else stop, stop):
        with_state = (t > 0 or booted) and wide > 0
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            if with_state:
                _set_product(state[r], 0, wide, weight, products[r], 0, 4 * width)
            for c in range(width):
                was = state_cell[r, c]
                u, i, f, o = [
                    (gates[row, k] + (products[r, k] if with_state else zero)) + (bias[k] if len(bias) else zero)
                    for k in range(c, 4 * width, width)
                ]
                if len(peepholes):
                    i = i + peepholes[c] * was
                    f = f + peepholes[width + c] * was
                u, i, f = _act(candidate, u), _act(gate, i), _act(gate, f)
                now = f * was + i * u
                now = limit if limit < now else -limit if now < -limit else now
                if len(peepholes):
                    o = o + peepholes[2 * width + c] * now
                o = _act(gate, o)
                gates[row, c], gates[row, width + c] = one_nan(u), one_nan(i)
                gates[row, 2 * width + c], gates[row, 3 * width + c] = one_nan(f), one_nan(o)
                state_cell[r, c] = one_nan(now)
                if len(cell):
                    cell[row, c] = one_nan(now)
                shown = one_nan(o * _act(cell_activation, now))
                if len(inner):
                    products[r, c] = inner[row, c] = shown
                else:
                    state[r, c] = shown
                    if len(hidden):
                        hidden[row, c] = shown
            if len(inner) and len(projection):
                _set_product(products[r], 0, width, projection, state[r], 0, wide)
                for c in range(wide if len(hidden) else 0):
                    hidden[row, c] = state[r, c]


@errstate(all="ignore")
def lstm_steps_back(
    steps, starts, stride, first, stop, weight, projection, peepholes, gate, cell_activation, candidate, clip,
    boot_cell, gates, cell, d_hidden, d_cell, to_boot, d_state, carry, d_step, d_full, d_gates,
):  # fmt: skip
    """Run the backward pass of `lstm_steps`, from the last step to the first."""
    n_rows, width, states, wide = len(gates), carry.shape[1], len(starts), d_state.shape[1]
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 4 * width), (cell, n_rows, width), (d_gates, n_rows, 4 * width)])
    _check_shapes([(d_state, states, wide), (carry, states, width), (d_step, states, 4 * width)])
    _check_boots([(boot_cell, states, width), (d_hidden, n_rows, wide), (d_cell, n_rows, width)])
    _check_boots([(d_full, n_rows, wide)])
    _check_widths(n_rows, d_full, wide, width)
    _check_lines([(peepholes, 3 * width)])
    _check_packed([(weight, 4 * width, wide), (projection, wide, width)])
    zero, limit = gates.dtype.type(0), gates.dtype.type(clip)
    for t in range(stop - 1, (first if width else stop) - 1, -1):
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            if len(d_full):
                for c in range(wide if len(projection) else 0):
                    d_state[r, c] = d_state[r, c] + (d_hidden[row, c] if len(d_hidden) else zero)
                    d_full[row, c] = d_state[r, c]
                for c in range(width if wide == 0 else 0):
                    d_step[r, c] = zero
                _set_product(d_state[r], 0, wide, projection, d_step[r], 0, width)
            for c in range(width):
                u, i, f, o = [gates[row, j * width + c] for j in range(4)]
                was, now = _before(cell, boot_cell, t, r, row - stride, c), cell[row, c]
                if len(d_full):
                    d = d_step[r, c]
                else:
                    d = d_state[r, c] + d_hidden[row, c] if len(d_hidden) else d_state[r, c]
                shown = _act(cell_activation, now)
                d_o, d_now = _act_back(gate, o, d * shown), carry[r, c]
                if len(d_cell):
                    d_now = d_now + d_cell[row, c]
                d_now = d_now + _act_back(cell_activation, shown, d * o)
                if len(peepholes):
                    d_now = d_now + d_o * peepholes[2 * width + c]
                if limit < INFINITY:
                    d_now = d_now if (-now if now < 0 else now) < limit else zero
                d_u, d_i = _act_back(candidate, u, d_now * i), _act_back(gate, i, d_now * u)
                d_f, d_old = _act_back(gate, f, d_now * was), d_now * f
                if len(peepholes):
                    d_old = (d_old + d_i * peepholes[c]) + d_f * peepholes[width + c]
                d_gates[row, c] = d_step[r, c] = one_nan(d_u)
                d_gates[row, width + c] = d_step[r, width + c] = one_nan(d_i)
                d_gates[row, 2 * width + c] = d_step[r, 2 * width + c] = one_nan(d_f)
                d_gates[row, 3 * width + c] = d_step[r, 3 * width + c] = one_nan(d_o)
                carry[r, c] = one_nan(d_old)
            if t > 0 or to_boot:
                _set_product(d_step[r], 0, 4 * width, weight, d_state[r], 0, wide)


@errstate(all="ignore")
def gru_steps(
    steps, starts, stride, first, stop, stage, weight, weight_candidate, bias, gate, candidate, origin, booted, state,
    products, gates, hidden,
):  # fmt: skip
    """Run a GRU over steps."""
    n_rows, width, states = len(gates), state.shape[1], len(starts)
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 3 * width), (hidden, n_rows, width)])
    _check_shapes([(state, states, width), (products, states, 3 * width)])
    _check_lines([(bias, 3 * width)])
    _check_packed([(weight, width, 2 * width), (weight_candidate, width, width)])
    zero, one = gates.dtype.type(0), gates.dtype.type(1)
    for t in range(first, stop):
        with_state = t > 0 or booted
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            if stage != 2:
                if with_state:
                    _set_product(state[r], 0, width, weight, products[r], 0, 2 * width)
                for c in range(width):
                    for k in (c, width + c):
                        total = gates[row, k] + (products[r, k] if with_state else zero)
                        gates[row, k] = one_nan(_act(gate, total + (bias[k] if len(bias) else zero)))
                    if with_state:
                        products[r, c] = one_nan(gates[row, width + c] * state[r, c])
            if stage == 0 and with_state:
                _set_product(products[r], 0, width, weight_candidate, products[r], 2 * width, width)
            if stage != 1:
                for c in range(width):
                    k = 2 * width + c
                    total = gates[row, k] + (products[r, k] if with_state else zero)
                    n = _act(candidate, total + (bias[k] if len(bias) else zero))
                    u, was = gates[row, c], state[r, c]
                    gates[row, k] = one_nan(n)
                    now = one_nan(u * was + (one - u) * n if origin else (one - u) * was + u * n)
                    hidden[row, c] = state[r, c] = now


@errstate(all="ignore")
def gru_steps_back(
    steps, starts, stride, first, stop, stage, weight, weight_candidate, gate, candidate, origin, boot, gates, hidden,
    d_hidden, to_boot, d_state, d_step, reset, d_gates,
):  # fmt: skip
    """Run the backward pass of `gru_steps`, from the last step to the first."""
    n_rows, width, states = len(gates), d_state.shape[1], len(starts)
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 3 * width), (hidden, n_rows, width), (d_hidden, n_rows, width)])
    _check_shapes([(reset, n_rows, width), (d_gates, n_rows, 3 * width)])
    _check_shapes([(d_state, states, width), (d_step, states, 3 * width)])
    _check_boots([(boot, states, width)])
    _check_packed([(weight, 2 * width, width), (weight_candidate, width, width)])
    zero, one = gates.dtype.type(0), gates.dtype.type(1)
    for t in range(stop - 1, first - 1, -1):
        with_state = t > 0 or len(boot) > 0
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            if stage != 2:
                for c in range(width):
                    u, n, d = gates[row, c], gates[row, 2 * width + c], d_state[r, c] + d_hidden[row, c]
                    was = _before(hidden, boot, t, r, row - stride, c)
                    d_u = one_nan(_act_back(gate, u, d * (was - n if origin else n - was)))
                    d_n = one_nan(_act_back(candidate, n, d * ((one - u) if origin else u)))
                    d_gates[row, c] = d_step[r, c] = d_u
                    d_gates[row, 2 * width + c] = d_step[r, 2 * width + c] = d_n
                    d_state[r, c] = one_nan(d * (u if origin else (one - u)))
            if stage == 0 and with_state:
                _set_product(d_step[r], 2 * width, width, weight_candidate, d_step[r], width, width)
            if stage != 1:
                for c in range(width):
                    e, was = gates[row, width + c], _before(hidden, boot, t, r, row - stride, c)
                    d = d_step[r, width + c] if with_state else zero
                    d_gates[row, width + c] = d_step[r, width + c] = one_nan(_act_back(gate, e, d * was))
                    d_state[r, c] = one_nan(d_state[r, c] + d * e)
                    reset[row, c] = one_nan(e * was)
                if (t > 0 or to_boot) and len(weight):
                    for c in range(width):
                        d_state[r, c] = _product_cell(d_step[r], 0, 2 * width, weight, c, d_state[r, c])


@errstate(all="ignore")
def simple_steps(steps, starts, stride, first, stop, weight, bias, activation, booted, state, products, hidden):
    """Run a recurrent network whose new state is an activation of the products of input and state plus the bias."""
    n_rows, width, states = len(hidden), state.shape[1], len(starts)
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(hidden, n_rows, width), (state, states, width), (products, states, width)])
    _check_lines([(bias, width)])
    _check_packed([(weight, width, width)])
    zero = hidden.dtype.type(0)
    for t in range(first, stop):
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            if t > 0 or booted:
                _set_product(state[r], 0, width, weight, products[r], 0, width)
            for c in range(width):
                total = hidden[row, c] + (products[r, c] if t > 0 or booted else zero)
                now = one_nan(_act(activation, total + (bias[c] if len(bias) else zero)))
                hidden[row, c] = state[r, c] = now


@errstate(all="ignore")
def simple_steps_back(
    steps, starts, stride, first, stop, weight, activation, hidden, d_hidden, to_boot, d_state, d_step, d_gates
):
    """Run the backward pass of `simple_steps`, from the last step to the first."""
    n_rows, width, states = len(hidden), d_state.shape[1], len(starts)
    _check(steps, starts, stride, first, stop, n_rows)
    _check_shapes([(hidden, n_rows, width), (d_hidden, n_rows, width), (d_gates, n_rows, width)])
    _check_shapes([(d_state, states, width), (d_step, states, width)])
    _check_packed([(weight, width, width)])
    for t in range(stop - 1, first - 1, -1):
        for r in range(steps[t + 1] - steps[t]):
            row = starts[r] + stride * t
            for c in range(width):
                d = one_nan(_act_back(activation, hidden[row, c], d_state[r, c] + d_hidden[row, c]))
                d_gates[row, c] = d_step[r, c] = d
            if t > 0 or to_boot:
                _set_product(d_step[r], 0, width, weight, d_state[r], 0, width)


# -- activations -------------------------------------------------------------------------------------------------------


@errstate(all="ignore")
def sigmoid(x, out):
    """Compute 1 / (1 + exp(-x)) of each number."""
    if len(x) != len(out):
        raise ValueError("x and out do not belong together")
    for j in range(len(x)):
        out[j] = sigmoid_of(x[j])


def _act(kind, x):
    """Compute an activation: sigmoid, tanh, relu, identity."""
    real = type(x)
    if kind == 0:
        return sigmoid_of(x)
    if kind == 1:
        return _tanh(x, real)
    if kind == 2:
        return real(0) if x < 0 else x
    return x


def _tanh(x, real):
    size, z = -x if x < 0 else x, x * x
    if size < real(0.625):
        return _small_tanh_float(x, z, real) if x.itemsize == 4 else _small_tanh_double(x, z, real)
    large = real(1) - real(2) / (real(1) + exp(size + size))
    return -large if x < 0 else large


def _small_tanh_float(x, z, real):
    p = (z * real(-5.70498872745e-3) + real(2.06390887954e-2)) * z - real(5.37397155531e-2)
    return ((p * z + real(1.33314422036e-1)) * z - real(3.33332819422e-1)) * z * x + x


def _small_tanh_double(x, z, real):
    p = (z * real(-9.64399179425052238628e-1) - real(9.92877231001918586564e1)) * z - real(1.61468768441708447952e3)
    q = ((z + real(1.12811678491632931402e2)) * z + real(2.23548839060100448583e3)) * z + real(4.84406305325125486048e3)
    return p * z / q * x + x


def _act_back(kind, y, d):
    """Multiply a cotangent of y = act(x) by the derivative."""
    real = type(y)
    if kind == 0:
        return d * (y * (real(1) - y))
    if kind == 1:
        return d * (real(1) - y * y)
    if kind == 2:
        return d if y > 0 else real(0)
    return d


# -- states and products -----------------------------------------------------------------------------------------------


def _before(states, boot, t, r, row, c):
    """Return a cell of the state before a row of a step, which is in `row` of the batch, or in the initial states."""
    if t > 0:
        return states[row, c]
    return boot[r, c] if len(boot) else states.dtype.type(0)


def _product_cell(row, first, depth, packed, c, total):
    """Add to a number the product of some cells of a row and a column of a packed matrix."""
    cells = 128 // row.itemsize
    for k in range(depth):
        total += row[first + k] * packed[(c // cells * depth + k) * cells + c % cells]
    return total


def _set_product(row, first, depth, packed, out, at, width):
    """Write the product of some cells of a row and a packed matrix to cells of a row, if there is a matrix."""
    if len(packed):
        found = [_product_cell(row, first, depth, packed, c, row.dtype.type(0)) for c in range(width)]
        for c in range(width):
            out[at + c] = found[c]


# -- arguments ---------------------------------------------------------------------------------------------------------


def _check(steps, starts, stride, first, stop, n_rows):
    """Check that the steps are in the batch, and none of them has more rows than the one before."""
    n_steps, count = len(steps) - 1, len(starts)
    fit = n_steps >= 0 and 0 <= first <= stop <= n_steps and steps[0] == 0 and stride in (1, -1)
    sizes = [steps[t + 1] - steps[t] for t in range(n_steps)]
    fit = fit and all(sizes[t] > 0 and (t == 0 or sizes[t] <= sizes[t - 1]) for t in range(n_steps))
    fit = fit and (sizes[0] if n_steps > 0 else 0) == count
    for t in range(n_steps if fit else 0):
        for k in range(sizes[t]):
            fit = fit and 0 <= starts[k] + stride * t < n_rows
    if not fit:
        raise ValueError("the arrays do not belong together")


def _check_widths(n_rows, projected, state_width, width):
    """Check that state and cell have the same width, unless there is a projection."""
    if n_rows and len(projected) == 0 and state_width != width:
        raise ValueError("the arrays do not belong together")


def _check_shapes(given):
    if any(array.shape != (rows, width) for array, rows, width in given):
        raise ValueError("the arrays do not belong together")


def _check_boots(given):
    """Check that arrays have a shape, or no rows."""
    if any(len(array) and array.shape != (rows, width) for array, rows, width in given):
        raise ValueError("the arrays do not belong together")


def _check_lines(given):
    """Check that arrays have a length, or are empty."""
    if any(len(array) not in (0, length) for array, length in given):
        raise ValueError("the arrays do not belong together")


def _check_packed(given):
    """Check that arrays have the length of packed matrices, or are empty."""
    for packed, depth, columns in given:
        cells = 128 // packed.itemsize
        if len(packed) not in (0, (columns + cells - 1) // cells * cells * depth):
            raise ValueError("the arrays do not belong together")
