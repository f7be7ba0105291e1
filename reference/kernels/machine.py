"""Twin of lodcore/kernels/machine.pyx: an instruction runs over all rows of a step before the next one does."""

from numpy import errstate

from reference.instructions import (
    AFTER,
    BATCH,
    BEFORE,
    CALL,
    EARLIER,
    LINE,
    MOST,
    PRODUCT,
    PRODUCT_ADDED,
    TILE,
    agree,
    check_instruction,
    compute,
    flags_of,
)

ALWAYS, ZEROS, NOTHING = range(3)
SMALL = 2.0**50


def run_steps(arrays, weights, ufuncs, operands, instructions, steps, starts, stride, n_rows, back):
    """Run a program over steps."""
    agree(len(arrays) > 0 and operands.shape[1] == 4 and instructions.shape[1] == 8)
    _check_steps(steps, starts, stride, n_rows)
    for some in (arrays, weights):
        for array in some:
            agree(array.dtype == arrays[0].dtype and array.flags.c_contiguous)
    for operand in operands:
        _check_operand(operand, arrays, len(starts), n_rows)
    for one in instructions:
        check_instruction(one, operands, arrays, weights, ufuncs)
    met, scratch, count = {}, {}, len(steps) - 1

    def note(kind, bits):
        met[kind] = True

    with errstate(all="call", call=note):
        for step in range(count):
            t = count - 1 - step if back else step
            for one in instructions:
                if one[0] == CALL:
                    ufuncs[one[6]](int(t), int(steps[t + 1] - steps[t]))
                    continue
                every = range(steps[t + 1] - steps[t])
                places = [[_place(operands, one[2 + k], r, t, starts, stride) for k in range(4)] for r in every]
                if one[0] < PRODUCT:
                    for some in places:
                        compute(one, some, arrays, scratch, ufuncs)
                    continue
                rule = _rule(one, places, arrays) if t == 0 else ALWAYS
                for some in places if rule != NOTHING else ():
                    _product(one, rule == ZEROS, some, arrays, weights[one[6]])
    return flags_of(met)


def _place(operands, j, r, t, starts, stride):
    """Return the number of the array of operand j, its row, and its first column; -1 for the scratch memory."""
    if j < 0:
        return None
    kind, number, column = operands[j][0], operands[j][1], operands[j][3]
    if kind == TILE:
        return -1, r, number + column
    if kind == BEFORE:
        return number + t % 2, r, column
    if kind == AFTER:
        return number + 1 - t % 2, r, column
    if kind == BATCH:
        return number, starts[r] + stride * t, column
    if kind == EARLIER:
        return (number, starts[r] + stride * (t - 1), column) if t > 0 else (number + 1, r, column)
    return number, 0 if kind == LINE else r, column


def _rule(one, places, arrays):
    """Return what a product does at the first step: one of ALWAYS, ZEROS, NOTHING."""
    if one[7] < 3:
        return one[7]
    most = SMALL if one[7] == 4 else 0
    left, depth = [some[1] for some in places], one[5]
    fits = [-most <= arrays[at][row, first + k] <= most for at, row, first in left for k in range(depth)]
    return ZEROS if all(fits) else ALWAYS


@errstate(all="ignore")
def _product(one, is_zero, places, arrays, weight):
    """Compute one row of a product."""
    out, row, first = places[0]
    left, left_row, left_first = places[1]
    width, depth = one[1], one[5]
    cells, real = 128 // weight.itemsize, weight.dtype.type
    for c in range(width):
        if is_zero:
            arrays[out][row, first + c] = 0
            continue
        total = arrays[out][row, first + c] if one[0] == PRODUCT_ADDED else real(0)
        for k in range(depth):
            total += arrays[left][left_row, left_first + k] * weight[(c // cells * depth + k) * cells + c % cells]
        arrays[out][row, first + c] = total


# -- checks ------------------------------------------------------------------------------------------------------------


def _check_steps(steps, starts, stride, n_rows):
    """Check that the steps are in the batch, and none of them has more rows than the one before."""
    count, n_steps = len(starts), len(steps) - 1
    agree(n_steps >= 0 and steps[0] == 0 and (stride == 1 or stride == -1))
    agree(all(0 <= start < n_rows for start in starts))
    for t in range(n_steps + 1):
        more = steps[t + 1] - steps[t] if t < n_steps else 0
        agree((t < n_steps) <= more <= count and (t > 0 or more == count))
        agree(all(0 <= starts[k] + stride * (t - 1) < n_rows for k in range(more, count)))
        count = more


def _check_operand(operand, arrays, n_sequences, n_rows):
    """Check that the rows of an operand are in its array."""
    kind, number, line, column = operand
    agree(TILE <= kind <= LINE and 0 <= column <= line)
    if kind == TILE:
        agree(0 <= number <= MOST and line <= MOST)
        return
    rows = 1 if kind == LINE else n_rows if kind in (BATCH, EARLIER) else n_sequences
    _check_array(arrays, number, rows, line)
    if kind in (BEFORE, AFTER, EARLIER):
        _check_array(arrays, number + 1, n_sequences, line)


def _check_array(arrays, number, rows, line):
    agree(0 <= number < len(arrays) and arrays[number].ndim == 2)
    agree(arrays[number].shape[0] >= rows and arrays[number].shape[1] == line)


@errstate(all="ignore")
def is_below(matrix, limit):
    """Return whether every cell of a matrix is smaller than a limit, in size."""
    return all(-limit < cell < limit for row in matrix for cell in row)
