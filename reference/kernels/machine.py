"""Twin of lodcore/kernels/machine.pyx: an instruction runs over all rows of a step before the next one does."""

from numpy import errstate

from reference.arithmetic import sigmoid_of, square_root

TILE, ROW, BEFORE, AFTER, BATCH, EARLIER, LINE = range(7)
MOVE, ADD, SUB, MUL, DIV, NEG, ABS, SQRT, SQUARE, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL = range(15)
SELECT, EXPAND, SIGMOID, LOGISTIC_BACK, TANH_BACK, ADD_THREE, SUM, LARGEST, FIRST, UFUNC = range(15, 25)
PRODUCT, PRODUCT_ADDED, CALL = range(25, 28)
PARTS, MOST = 16, 2**24
ALWAYS, ZEROS, NOTHING = range(3)
SMALL = 2.0**50


def run_steps(arrays, weights, ufuncs, operands, instructions, steps, starts, stride, n_rows, back):
    """Run a program over steps."""
    _agree(len(arrays) > 0 and operands.shape[1] == 4 and instructions.shape[1] == 8)
    _check_steps(steps, starts, stride, n_rows)
    for some in (arrays, weights):
        for array in some:
            _agree(array.dtype == arrays[0].dtype and array.flags.c_contiguous)
    for operand in operands:
        _check_operand(operand, arrays, len(starts), n_rows)
    for one in instructions:
        _check_instruction(one, operands, arrays, weights, ufuncs)
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
                        _compute(one, some, arrays, scratch, ufuncs)
                    continue
                rule = _rule(one, places, arrays) if t == 0 else ALWAYS
                for some in places if rule != NOTHING else ():
                    _product(one, rule == ZEROS, some, arrays, weights[one[6]])
    return ("divide by zero" in met) + 2 * ("overflow" in met) + 4 * ("underflow" in met) + 8 * ("invalid value" in met)


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


def _read(place, c, arrays, scratch):
    number, row, column = place
    return scratch[row, column + c] if number < 0 else arrays[number][row, column + c]


def _write(place, c, value, arrays, scratch):
    number, row, column = place
    if number < 0:
        scratch[row, column + c] = value
    else:
        arrays[number][row, column + c] = value


def _compute(one, places, arrays, scratch, ufuncs):
    """Compute an elementwise instruction on one row."""
    code, width = one[0], one[1]
    if code in (SUM, LARGEST):
        cells = [_read(places[1], c, arrays, scratch) for c in range(width)]
        _write(places[0], 0, _sum(cells) if code == SUM else _largest(cells), arrays, scratch)
        return
    if code == FIRST:
        wanted, found = _read(places[2], 0, arrays, scratch), False
        for c in range(width):
            cell = _read(places[1], c, arrays, scratch)
            here = not found and (cell == wanted or (cell != cell and wanted != wanted))
            _write(places[0], c, wanted.dtype.type(here), arrays, scratch)
            found = found or here
        return
    for c in range(width):
        given = [
            _read(places[k], 0 if code == EXPAND else c, arrays, scratch) for k in range(1, 4) if places[k] is not None
        ]
        found = ufuncs[one[6]](*given) if code == UFUNC else _number(code, given)
        _write(places[0], c, found, arrays, scratch)


def _number(code, given):
    """Compute an elementwise instruction on numbers."""
    x, y = given[0], given[1] if len(given) > 1 else given[0]
    real = x.dtype.type
    if code == ADD:
        return x + y
    if code == SUB:
        return x - y
    if code == MUL:
        return x * y
    if code == DIV:
        return x / y
    if code == NEG:
        return -x
    if code == ABS:
        return _positive(x)
    if code == SQRT:
        return (x - x) / (x - x) if x < 0 else square_root(x, real)
    if code == SQUARE:
        return x * x
    if code == SELECT:
        return y if x != 0 else given[2]
    if code == SIGMOID:
        with errstate(all="ignore"):
            return sigmoid_of(x)
    if code == LOGISTIC_BACK:
        return ((real(1) - y) * y) * x
    if code == ADD_THREE:
        return (x + y) + given[2]
    if code == TANH_BACK:
        return (real(1) - y * y) * x
    if code in (MOVE, EXPAND):
        return x
    return real(_holds(code, x, y))


def _positive(x):
    return x if x > 0 else x.dtype.type(0) - x


def _holds(code, x, y):
    """Compare two numbers."""
    if code == GREATER:
        return x > y
    if code == GREATER_EQUAL:
        return x >= y
    if code == LESS:
        return x < y
    if code == LESS_EQUAL:
        return x <= y
    return x == y if code == EQUAL else x != y


def _sum(cells):
    """Add every 16th number, and then the partial sums, in their order."""
    parts = [cells[0].dtype.type(0) for _ in range(PARTS)]
    for c in range(len(cells)):
        parts[c % PARTS] += cells[c]
    total = parts[0]
    for k in range(1, PARTS):
        total += parts[k]
    return total


def _largest(cells):
    """Find the largest number, or nan."""
    parts = [cells[k % len(cells)] for k in range(PARTS)]
    for c in range(len(cells)):
        parts[c % PARTS] = _larger(parts[c % PARTS], cells[c])
    found = parts[0]
    for k in range(1, PARTS):
        found = _larger(found, parts[k])
    return found


def _larger(best, cell):
    return best if best != best or cell <= best else cell


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


def _agree(holds):
    if not holds:
        raise ValueError("the arrays do not belong together")


def _check_steps(steps, starts, stride, n_rows):
    """Check that the steps are in the batch, and none of them has more rows than the one before."""
    count, n_steps = len(starts), len(steps) - 1
    _agree(n_steps >= 0 and steps[0] == 0 and (stride == 1 or stride == -1))
    _agree(all(0 <= start < n_rows for start in starts))
    for t in range(n_steps + 1):
        more = steps[t + 1] - steps[t] if t < n_steps else 0
        _agree((t < n_steps) <= more <= count and (t > 0 or more == count))
        _agree(all(0 <= starts[k] + stride * (t - 1) < n_rows for k in range(more, count)))
        count = more


def _check_operand(operand, arrays, n_sequences, n_rows):
    """Check that the rows of an operand are in its array."""
    kind, number, line, column = operand
    _agree(TILE <= kind <= LINE and 0 <= column <= line)
    if kind == TILE:
        _agree(0 <= number <= MOST and line <= MOST)
        return
    rows = 1 if kind == LINE else n_rows if kind in (BATCH, EARLIER) else n_sequences
    _check_array(arrays, number, rows, line)
    if kind in (BEFORE, AFTER, EARLIER):
        _check_array(arrays, number + 1, n_sequences, line)


def _check_array(arrays, number, rows, line):
    _agree(0 <= number < len(arrays) and arrays[number].ndim == 2)
    _agree(arrays[number].shape[0] >= rows and arrays[number].shape[1] == line)


def _check_instruction(one, operands, arrays, weights, ufuncs):
    """Check that an instruction stays within its operands, and that it may write."""
    code, width, depth, number = one[0], one[1], one[5], one[6]
    _agree(MOVE <= code <= CALL and width > 0)
    for k in range(4):
        j = one[2 + k]
        if k < 2 or (j >= 0 and code < PRODUCT):
            _agree(0 <= j < len(operands))
            kind, room = operands[j][0], operands[j][2] - operands[j][3]
            alone = k > 0 if code == EXPAND else k == 2 if code == FIRST else k == 0 and code in (SUM, LARGEST)
            _agree((1 if alone else depth if code >= PRODUCT and k == 1 else width) <= room)
            _agree(code < PRODUCT or ROW <= kind <= AFTER)
    kind, array = operands[one[2]][0], operands[one[2]][1]
    _agree(kind <= BATCH)
    for k in range(0 if kind == TILE else 2 if kind in (BEFORE, AFTER) else 1):
        _agree(arrays[array + k].flags["WRITEABLE"])
    if code == CALL:
        _agree(depth > 0 and 0 <= number < len(ufuncs))
    elif code >= PRODUCT:
        cells = 128 // arrays[0].itemsize
        _agree(depth > 0 and 0 <= number < len(weights) and weights[number].ndim == 1)
        _agree(len(weights[number]) == (width + cells - 1) // cells * cells * depth)
    elif code == UFUNC:
        _agree(0 <= number < len(ufuncs))


@errstate(all="ignore")
def is_below(matrix, limit):
    """Return whether every cell of a matrix is smaller than a limit, in size."""
    return all(-limit < cell < limit for row in matrix for cell in row)
