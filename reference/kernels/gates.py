"""Twin of lodcore/kernels/gates.pyx; its gates spell the operations of gates_lanes.h."""

from numpy import errstate

from reference.arithmetic import exp, one_nan

INFINITY = float("inf")


@errstate(all="ignore")
def lstm_steps(
    steps, first, stop, weight, projection, bias, peepholes, gate, cell_activation, candidate, clip, boot, boot_cell,
    gates, cell, inner, hidden,
):  # fmt: skip
    """Run a LSTM over steps."""
    n_rows, width, states, wide = len(gates), cell.shape[1], _states(steps), hidden.shape[1]
    _check(steps, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 4 * width), (cell, n_rows, width), (inner, n_rows, width), (hidden, n_rows, wide)])
    _check_boots([(boot, states, wide), (boot_cell, states, width)])
    _check_lines([(bias, 4 * width), (peepholes, 3 * width)])
    _check_packed([(weight, wide, 4 * width), (projection, width, wide)])
    zero, limit = gates.dtype.type(0), gates.dtype.type(clip)
    for t in range(first, stop):
        for r in range(steps[t], steps[t + 1]):
            _add_product(_before(hidden, boot, steps, t, r), weight, gates, r, 0, 4 * width)
            old = _before(cell, boot_cell, steps, t, r)
            for c in range(width):
                was = zero if old is None else old[c]
                u, i, f, o = [gates[r, k * width + c] + (bias[k * width + c] if len(bias) else zero) for k in range(4)]
                if len(peepholes):
                    i = i + peepholes[c] * was
                    f = f + peepholes[width + c] * was
                u, i, f = _act(candidate, u), _act(gate, i), _act(gate, f)
                now = f * was + i * u
                now = limit if limit < now else -limit if now < -limit else now
                if len(peepholes):
                    o = o + peepholes[2 * width + c] * now
                o = _act(gate, o)
                gates[r, c], gates[r, width + c] = one_nan(u), one_nan(i)
                gates[r, 2 * width + c], gates[r, 3 * width + c] = one_nan(f), one_nan(o)
                cell[r, c] = one_nan(now)
                inner[r, c] = one_nan(o * _act(cell_activation, now))
            if len(projection):
                _set_product(inner[r], projection, hidden, r, wide)


@errstate(all="ignore")
def lstm_steps_back(
    steps, first, stop, weight, projection, peepholes, gate, cell_activation, candidate, clip, boot_cell, gates, cell,
    d_cell, d_inner, d_hidden, carry, d_gates, d_boot,
):  # fmt: skip
    """Run the backward pass of `lstm_steps`, from the last step to the first."""
    n_rows, width, states, wide = len(gates), cell.shape[1], _states(steps), d_hidden.shape[1]
    _check(steps, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 4 * width), (cell, n_rows, width), (d_inner, n_rows, width)])
    _check_shapes([(d_hidden, n_rows, wide), (carry, states, width), (d_gates, n_rows, 4 * width)])
    _check_boots([(boot_cell, states, width), (d_cell, n_rows, width), (d_boot, states, wide)])
    _check_lines([(peepholes, 3 * width)])
    _check_packed([(weight, 4 * width, wide), (projection, wide, width)])
    zero, limit = gates.dtype.type(0), gates.dtype.type(clip)
    for t in range(stop - 1, first - 1, -1):
        for r in range(steps[t], steps[t + 1]):
            if len(projection):
                _set_product(d_hidden[r], projection, d_inner, r, width)
            old, k = _before(cell, boot_cell, steps, t, r), r - steps[t]
            for c in range(width):
                u, i, f, o = [gates[r, j * width + c] for j in range(4)]
                was, now, d = zero if old is None else old[c], cell[r, c], d_inner[r, c]
                shown = _act(cell_activation, now)
                d_o, d_now = _act_back(gate, o, d * shown), carry[k, c]
                if len(d_cell):
                    d_now = d_now + d_cell[r, c]
                d_now = d_now + _act_back(cell_activation, shown, d * o)
                if len(peepholes):
                    d_now = d_now + d_o * peepholes[2 * width + c]
                if limit < INFINITY:
                    d_now = d_now if (-now if now < 0 else now) < limit else zero
                d_u, d_i = _act_back(candidate, u, d_now * i), _act_back(gate, i, d_now * u)
                d_f, d_old = _act_back(gate, f, d_now * was), d_now * f
                if len(peepholes):
                    d_old = (d_old + d_i * peepholes[c]) + d_f * peepholes[width + c]
                d_gates[r, c], d_gates[r, width + c] = one_nan(d_u), one_nan(d_i)
                d_gates[r, 2 * width + c], d_gates[r, 3 * width + c] = one_nan(d_f), one_nan(d_o)
                carry[k, c] = one_nan(d_old)
            if t > 0 or len(d_boot):
                place, at = (d_hidden, steps[t - 1] + k) if t > 0 else (d_boot, k)
                _add_product(d_gates[r], weight, place, at, 0, wide)


@errstate(all="ignore")
def gru_steps(
    steps, first, stop, stage, weight, weight_candidate, bias, gate, candidate, origin, boot, gates, reset, hidden
):
    """Run a GRU over steps."""
    n_rows, width, states = len(gates), hidden.shape[1], _states(steps)
    _check(steps, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 3 * width), (reset, states, width), (hidden, n_rows, width)])
    _check_boots([(boot, states, width)])
    _check_lines([(bias, 3 * width)])
    _check_packed([(weight, width, 2 * width), (weight_candidate, width, width)])
    zero, one = gates.dtype.type(0), gates.dtype.type(1)
    for t in range(first, stop):
        for r in range(steps[t], steps[t + 1]):
            old, k = _before(hidden, boot, steps, t, r), r - steps[t]
            if stage != 2:
                _add_product(old, weight, gates, r, 0, 2 * width)
                for c in range(width):
                    for at in (c, width + c):
                        gates[r, at] = one_nan(_act(gate, gates[r, at] + (bias[at] if len(bias) else zero)))
                    if old is not None:
                        reset[k, c] = one_nan(gates[r, width + c] * old[c])
            if stage == 0 and old is not None:
                _add_product(reset[k], weight_candidate, gates, r, 2 * width, width)
            if stage != 1:
                for c in range(width):
                    at = 2 * width + c
                    n = _act(candidate, gates[r, at] + (bias[at] if len(bias) else zero))
                    u, was = gates[r, c], zero if old is None else old[c]
                    gates[r, at] = one_nan(n)
                    hidden[r, c] = one_nan(u * was + (one - u) * n if origin else (one - u) * was + u * n)


@errstate(all="ignore")
def gru_steps_back(
    steps, first, stop, stage, weight, weight_candidate, gate, candidate, origin, boot, gates, hidden, d_hidden, reset,
    d_gates, d_boot,
):  # fmt: skip
    """Run the backward pass of `gru_steps`, from the last step to the first."""
    n_rows, width, states = len(gates), hidden.shape[1], _states(steps)
    _check(steps, first, stop, n_rows)
    _check_shapes([(gates, n_rows, 3 * width), (hidden, n_rows, width), (d_hidden, n_rows, width)])
    _check_shapes([(reset, n_rows, width), (d_gates, n_rows, 3 * width)])
    _check_boots([(boot, states, width), (d_boot, states, width)])
    _check_packed([(weight, 2 * width, width), (weight_candidate, width, width)])
    zero, one = gates.dtype.type(0), gates.dtype.type(1)
    for t in range(stop - 1, first - 1, -1):
        for r in range(steps[t], steps[t + 1]):
            old, k = _before(hidden, boot, steps, t, r), r - steps[t]
            place, at = (d_hidden, steps[t - 1] + k) if t > 0 else (d_boot, k)
            wanted = len(place) > 0
            if stage != 2:
                for c in range(width):
                    u, n, d = gates[r, c], gates[r, 2 * width + c], d_hidden[r, c]
                    was = zero if old is None else old[c]
                    d_gates[r, c] = one_nan(_act_back(gate, u, d * (was - n if origin else n - was)))
                    d_gates[r, 2 * width + c] = one_nan(_act_back(candidate, n, d * ((one - u) if origin else u)))
                    if wanted:
                        place[at, c] = one_nan(place[at, c] + d * (u if origin else (one - u)))
            if stage == 0 and old is not None:
                for c in range(width):
                    reset[r, c] = _product_cell(d_gates[r], 2 * width, width, weight_candidate, c, zero)
            if stage != 1:
                for c in range(width):
                    e, was = gates[r, width + c], zero if old is None else old[c]
                    d = zero if old is None else reset[r, c]
                    d_gates[r, width + c] = one_nan(_act_back(gate, e, d * was))
                    if wanted:
                        place[at, c] = one_nan(place[at, c] + d * e)
                    reset[r, c] = one_nan(e * was)
                if wanted and len(weight):
                    for c in range(width):
                        place[at, c] = _product_cell(d_gates[r], 0, 2 * width, weight, c, place[at, c])


@errstate(all="ignore")
def simple_steps(steps, first, stop, weight, bias, activation, boot, hidden):
    """Run a network whose new state is the activation of input, state and bias."""
    n_rows, width = len(hidden), hidden.shape[1]
    _check(steps, first, stop, n_rows)
    _check_boots([(boot, _states(steps), width)])
    _check_lines([(bias, width)])
    _check_packed([(weight, width, width)])
    zero = hidden.dtype.type(0)
    for t in range(first, stop):
        for r in range(steps[t], steps[t + 1]):
            _add_product(_before(hidden, boot, steps, t, r), weight, hidden, r, 0, width)
            for c in range(width):
                hidden[r, c] = one_nan(_act(activation, hidden[r, c] + (bias[c] if len(bias) else zero)))


@errstate(all="ignore")
def simple_steps_back(steps, first, stop, weight, activation, hidden, d_hidden, d_gates, d_boot):
    """Run the backward pass of `simple_steps`, from the last step to the first."""
    n_rows, width = len(hidden), hidden.shape[1]
    _check(steps, first, stop, n_rows)
    _check_shapes([(d_hidden, n_rows, width), (d_gates, n_rows, width)])
    _check_boots([(d_boot, _states(steps), width)])
    _check_packed([(weight, width, width)])
    for t in range(stop - 1, first - 1, -1):
        for r in range(steps[t], steps[t + 1]):
            for c in range(width):
                d_gates[r, c] = one_nan(_act_back(activation, hidden[r, c], d_hidden[r, c]))
            if t > 0 or len(d_boot):
                place, at = (d_hidden, steps[t - 1] + r - steps[t]) if t > 0 else (d_boot, r - steps[t])
                _add_product(d_gates[r], weight, place, at, 0, width)


# -- activations -------------------------------------------------------------------------------------------------------


def _act(kind, x):
    """Compute an activation: sigmoid, tanh, relu, identity."""
    real = type(x)
    if kind == 0:
        return real(1) / (real(1) + exp(-x))
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
    """Multiply a cotangent of y = act(x) with the derivative."""
    real = type(y)
    if kind == 0:
        return d * (y * (real(1) - y))
    if kind == 1:
        return d * (real(1) - y * y)
    if kind == 2:
        return d if y > 0 else real(0)
    return d


# -- states and products -----------------------------------------------------------------------------------------------


def _states(steps):
    """Count the sequences that have any rows."""
    return steps[1] if len(steps) > 1 else 0


def _before(states, boot, steps, t, r):
    """Return the state before a row of a step; None for zeros."""
    if t > 0:
        return states[steps[t - 1] + r - steps[t]]
    return boot[r - steps[t]] if len(boot) else None


def _product_cell(row, first, depth, packed, c, total):
    """Add to a number the product of some cells of a row and a column of a packed matrix."""
    cells = 128 // row.itemsize
    for k in range(depth):
        total += row[first + k] * packed[(c // cells * depth + k) * cells + c % cells]
    return total


def _add_product(row, packed, out, at, first, width):
    """Add the product of a row and a packed matrix to some columns of a row of `out`, if there are both."""
    if row is not None and len(packed):
        for c in range(width):
            out[at, first + c] = _product_cell(row, 0, len(row), packed, c, out[at, first + c])


def _set_product(row, packed, out, at, width):
    """Write the product of a row and a packed matrix to a row of `out`."""
    for c in range(width):
        out[at, c] = _product_cell(row, 0, len(row), packed, c, row.dtype.type(0))


# -- arguments ---------------------------------------------------------------------------------------------------------


def _check(steps, first, stop, n_rows):
    """Check that there are such steps, of so many rows, of which none has more than the one before."""
    fit = len(steps) > 0 and 0 <= first <= stop <= len(steps) - 1 and steps[0] == 0 and steps[len(steps) - 1] == n_rows
    for t in range(len(steps) - 1):
        fit = fit and steps[t + 1] > steps[t]
        fit = fit and (t == 0 or steps[t + 1] - steps[t] <= steps[t] - steps[t - 1])
    if not fit:
        raise ValueError("the arrays do not belong together")


def _check_shapes(given):
    if any(array.shape != (rows, width) for array, rows, width in given):
        raise ValueError("the arrays do not belong together")


def _check_boots(given):
    """Check that arrays have a shape, or no rows."""
    if any(len(array) and array.shape != (rows, width) for array, rows, width in given):
        raise ValueError("the arrays do not belong together")


def _check_lines(given):
    """Check that arrays have a length, or no cells."""
    if any(len(array) not in (0, length) for array, length in given):
        raise ValueError("the arrays do not belong together")


def _check_packed(given):
    """Check that arrays are as long as packed matrices, or empty."""
    for packed, depth, columns in given:
        cells = 128 // packed.itemsize
        if len(packed) not in (0, (columns + cells - 1) // cells * cells * depth):
            raise ValueError("the arrays do not belong together")
