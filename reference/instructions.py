"""What the twins of kernels share that run instructions: what each of them computes, and what it must not leave."""

from numpy import errstate

from reference.arithmetic import sigmoid_of, square_root

TILE, ROW, BEFORE, AFTER, BATCH, EARLIER, LINE = range(7)
MOVE, ADD, SUB, MUL, DIV, NEG, ABS, SQRT, SQUARE, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL = range(15)
SELECT, EXPAND, SIGMOID, LOGISTIC_BACK, TANH_BACK, ADD_THREE = range(15, 21)
MUL_ADD, MUL_SUB, SUB_MUL, TIMES_SUB, LOGISTIC_BACK_MUL, TANH_BACK_MUL = range(21, 27)
SUM, LARGEST, FIRST, UFUNC, PRODUCT, PRODUCT_ADDED, CALL = range(27, 34)
PARTS, MOST = 16, 2**24


def compute(one, places, arrays, scratch, ufuncs):
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


def _read(place, c, arrays, scratch):
    number, row, column = place
    return scratch[row, column + c] if number < 0 else arrays[number][row, column + c]


def _write(place, c, value, arrays, scratch):
    number, row, column = place
    if number < 0:
        scratch[row, column + c] = value
    else:
        arrays[number][row, column + c] = value


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
    if MUL_ADD <= code <= TANH_BACK_MUL:
        return _of_two(code, x, y, given[2], real(1))
    if code in (MOVE, EXPAND):
        return x
    return real(_holds(code, x, y))


def _of_two(code, x, y, z, one):
    """Compute what two instructions do."""
    if code == MUL_ADD:
        return x * y + z
    if code == MUL_SUB:
        return x * y - z
    if code == SUB_MUL:
        return z - x * y
    if code == TIMES_SUB:
        return (x - y) * z
    factor = (one - z) * z if code == LOGISTIC_BACK_MUL else one - z * z
    return factor * (x * y)


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


def flags_of(met):
    """Return exceptions of floating point as the bits of `numpy.seterrcall`."""
    return ("divide by zero" in met) + 2 * ("overflow" in met) + 4 * ("underflow" in met) + 8 * ("invalid value" in met)


def agree(holds):
    """Raise if the arguments do not belong together."""
    if not holds:
        raise ValueError("the arrays do not belong together")


def check_instruction(one, operands, arrays, weights, ufuncs):
    """Check that an instruction stays within its operands, and that it may write."""
    code, width, depth, number = one[0], one[1], one[5], one[6]
    agree(MOVE <= code <= CALL and width > 0)
    for k in range(4):
        j = one[2 + k]
        if k < 2 or (j >= 0 and code < PRODUCT):
            agree(0 <= j < len(operands))
            kind, room = operands[j][0], operands[j][2] - operands[j][3]
            alone = k > 0 if code == EXPAND else k == 2 if code == FIRST else k == 0 and code in (SUM, LARGEST)
            agree((1 if alone else depth if code >= PRODUCT and k == 1 else width) <= room)
            agree(code < PRODUCT or ROW <= kind <= AFTER)
    kind, array = operands[one[2]][0], operands[one[2]][1]
    agree(kind <= BATCH)
    for k in range(0 if kind == TILE else 2 if kind in (BEFORE, AFTER) else 1):
        agree(arrays[array + k].flags["WRITEABLE"])
    if code == CALL:
        agree(depth > 0 and 0 <= number < len(ufuncs))
    elif code >= PRODUCT:
        cells = 128 // arrays[0].itemsize
        agree(depth > 0 and 0 <= number < len(weights) and weights[number].ndim == 1)
        agree(len(weights[number]) == (width + cells - 1) // cells * cells * depth)
    elif code == UFUNC:
        agree(0 <= number < len(ufuncs))
