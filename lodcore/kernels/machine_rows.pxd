"""The instructions of `machine` on rows: one loop over numbers for each, compiled for each instruction set."""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from lodcore.kernels.gates cimport sigmoid_of
from lodcore.kernels.matrix cimport real

cdef extern from *:
    """
    #include <fenv.h>
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <xmmintrin.h>
    /* The flags that vector instructions raise, which have the numbers of fenv.h; functions of C may raise others. */
    #define LODCORE_RAISED(flags) ((int)_mm_getcsr() & (flags))
    #define LODCORE_LOWER(flags) _mm_setcsr(_mm_getcsr() & ~(unsigned)(flags))
    #else
    #define LODCORE_RAISED(flags) fetestexcept(flags)
    #define LODCORE_LOWER(flags) feclearexcept(flags)
    #endif
    """
    const int FE_INVALID
    const int RAISED "(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)"
    int fetestexcept(int) nogil
    int raised_here "LODCORE_RAISED" (int) nogil
    void lower "LODCORE_LOWER" (int) nogil

cdef extern from "<math.h>" nogil:
    float fabsf(float)
    double fabs(double)
    float sqrtf(float)
    double sqrt(double)

cdef extern from "simd.h" nogil:
    ctypedef void forced_void "LODCORE_FORCED void"

cdef enum:
    CHUNK = 512  # cells that are compared before the next ones are read
    PARTS = 16  # partial sums of a row
    SHORT = 1 << 11  # bytes of a row, up to which ufuncs compute several rows at once

cdef enum Kind:
    TILE, ROW, BEFORE, AFTER, BATCH, EARLIER, LINE

cdef enum Code:
    MOVE, ADD, SUB, MUL, DIV, NEG, ABS, SQRT, SQUARE, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL
    SELECT, EXPAND, SIGMOID, LOGISTIC_BACK, TANH_BACK, ADD_THREE, MUL_ADD, MUL_SUB, SUB_MUL, TIMES_SUB
    LOGISTIC_BACK_MUL, TANH_BACK_MUL, SUM, LARGEST, FIRST, UFUNC, PRODUCT, PRODUCT_ADDED, CALL

ctypedef void (*Loop)(char**, cnp.npy_intp*, cnp.npy_intp*, void*) noexcept nogil  # of a ufunc

ctypedef struct Operand:
    int kind
    int64_t line      # bytes from one row to the next
    char* base        # the first cell, in the first array
    char* other       # the same in the second array, for kinds that have two
    char* place       # row 0 in the present step; if gathered, the row of a sequence that starts at row 0
    bint gathered     # whether row r is that of starts[r]
    int64_t line_length  # of a LINE that is repeated

cdef enum First:
    AS_ALWAYS, ZEROS, NOTHING, ZEROS_OF_ZEROS, ZEROS_OF_SMALL

ctypedef struct Instruction:
    int code
    int first         # what a product does at the first step
    bint dense        # whether the rows of all operands follow one another without gaps
    int64_t width
    int64_t depth     # of a product
    Operand* out
    Operand* x
    Operand* y
    Operand* z
    const void* packed
    Loop loop
    void* data
    char* spare       # memory for three operands of a ufunc
    int* met          # which exceptions of floating point were raised so far

ctypedef struct Steps:
    const int64_t* bounds
    const int64_t* starts
    const int64_t* counted  # 0, 1, 2, ...
    int64_t stride, count, tile  # tile: its rows


# -- one row, or several without gaps ----------------------------------------------------------------------------------


cdef inline forced_void numbers(
    const int code, real* out, const real* x, const real* y, const real* z, int64_t count
) noexcept nogil:
    """Compute an elementwise instruction; the code is known to the compiler."""
    cdef real one = 1  # Cython writes `1 - x` as `1.0 - x`, which C computes in double
    cdef int64_t c
    for c in range(count):
        if code == ADD:
            out[c] = x[c] + y[c]
        elif code == SUB:
            out[c] = x[c] - y[c]
        elif code == MUL:
            out[c] = x[c] * y[c]
        elif code == DIV:
            out[c] = x[c] / y[c]
        elif code == NEG:
            out[c] = -x[c]
        elif code == ABS:
            out[c] = fabsf(x[c]) if real is float else fabs(x[c])
        elif code == SQRT:
            out[c] = sqrtf(x[c]) if real is float else sqrt(x[c])
        elif code == SQUARE:
            out[c] = x[c] * x[c]
        elif code == GREATER:
            out[c] = x[c] > y[c]
        elif code == GREATER_EQUAL:
            out[c] = x[c] >= y[c]
        elif code == LESS:
            out[c] = x[c] < y[c]
        elif code == LESS_EQUAL:
            out[c] = x[c] <= y[c]
        elif code == EQUAL:
            out[c] = x[c] == y[c]
        elif code == NOT_EQUAL:
            out[c] = x[c] != y[c]
        elif code == SELECT:
            out[c] = y[c] if x[c] != 0 else z[c]
        elif code == EXPAND:
            out[c] = x[0]
        elif code == LOGISTIC_BACK:  # of y = sigmoid(x)
            out[c] = ((one - y[c]) * y[c]) * x[c]
        elif code == TANH_BACK:  # of y = tanh(x)
            out[c] = (one - y[c] * y[c]) * x[c]
        elif code == ADD_THREE:
            out[c] = (x[c] + y[c]) + z[c]
        elif code == MUL_ADD:
            out[c] = x[c] * y[c] + z[c]
        elif code == MUL_SUB:
            out[c] = x[c] * y[c] - z[c]
        elif code == SUB_MUL:
            out[c] = z[c] - x[c] * y[c]
        elif code == TIMES_SUB:
            out[c] = (x[c] - y[c]) * z[c]
        elif code == LOGISTIC_BACK_MUL:
            out[c] = ((one - z[c]) * z[c]) * (x[c] * y[c])
        elif code == TANH_BACK_MUL:
            out[c] = (one - z[c] * z[c]) * (x[c] * y[c])


cdef inline forced_void first_of(real* out, const real* x, real wanted, int64_t count) noexcept nogil:
    """Write 1 where a row has a number, or nan, for the first time, and 0 elsewhere."""
    cdef int64_t c
    for c in range(count):
        out[c] = 0
    for c in range(count):
        if x[c] == wanted or (x[c] != x[c] and wanted != wanted):
            out[c] = 1
            return


cdef inline forced_void reduced(const int code, real* out, const real* x, int64_t count) noexcept nogil:
    """Add the numbers of a row, or find the largest: nan if there is one."""
    cdef real parts[PARTS]
    cdef int64_t c, k, whole = count - count % PARTS
    for k in range(PARTS):
        parts[k] = 0 if code == SUM else x[k % count]
    for c in range(0, whole, 16):
        for k in range(PARTS):
            if code == SUM:
                parts[k] += x[c + k]
            else:
                parts[k] = x[c + k] if parts[k] == parts[k] and not x[c + k] <= parts[k] else parts[k]
    for k in range(count - whole):
        if code == SUM:
            parts[k] += x[whole + k]
        else:
            parts[k] = x[whole + k] if parts[k] == parts[k] and not x[whole + k] <= parts[k] else parts[k]
    for k in range(1, PARTS):
        if code == SUM:
            parts[0] += parts[k]
        elif parts[0] == parts[0] and not parts[k] <= parts[0]:
            parts[0] = parts[k]
    out[0] = parts[0]


ctypedef struct Rows:  # of an operand, in a tile
    char* base
    int64_t line
    const int64_t* numbers  # of its rows


cdef inline Rows rows_of(
    const Operand* operand, int64_t first, const int64_t* starts, const int64_t* counted
) noexcept nogil:
    """Return the rows of an operand, those of the scratch memory from 0 on."""
    cdef Rows made
    made.base, made.line = operand.place, operand.line
    made.numbers = starts + first if operand.gathered else counted if operand.kind == TILE else counted + first
    return made


cdef inline forced_void each_row(
    const int code, const Instruction* one, int64_t first, int64_t rows, const int64_t* starts,
    const int64_t* counted, real* unused
) noexcept nogil:
    """Compute an instruction on some rows of a step."""
    cdef int64_t r, count = one.width
    cdef Rows out = rows_of(one.out, first, starts, counted), x = rows_of(one.x, first, starts, counted)
    cdef Rows y = rows_of(one.y, first, starts, counted), z = rows_of(one.z, first, starts, counted)
    cdef char* made
    cdef char* given
    if one.dense:
        count, rows = count * rows, 1
    for r in range(rows):
        made = out.base + out.numbers[r] * out.line
        given = x.base + x.numbers[r] * x.line
        if code == MOVE:
            memcpy(made, given, count * sizeof(real))
        elif code == SIGMOID:
            sigmoid_of(<const real*> given, count, <real*> made)
        elif code == SUM or code == LARGEST:
            reduced(code, <real*> made, <const real*> given, count)
        elif code == FIRST:
            first_of(<real*> made, <const real*> given, (<const real*> (y.base + y.numbers[r] * y.line))[0], count)
        else:
            numbers(
                code, <real*> made, <const real*> given, <const real*> (y.base + y.numbers[r] * y.line),
                <const real*> (z.base + z.numbers[r] * z.line), count,
            )


cdef inline char* side_by_side(const Rows* given, int64_t rows, int64_t size, char* spare, bint copies) noexcept nogil:
    """Return rows of `size` bytes without gaps: where they are, or in spare memory, copied there if asked for."""
    cdef int64_t r
    if given.line == size and given.numbers[rows - 1] - given.numbers[0] == rows - 1:
        for r in range(1, rows - 1):
            if given.numbers[r] - given.numbers[0] != r:
                break
        else:
            return given.base + given.numbers[0] * size
    for r in range(rows if copies else 0):
        memcpy(spare + r * size, given.base + given.numbers[r] * given.line, size)
    return spare


cdef inline void by_ufunc(
    const Instruction* one, int64_t first, int64_t rows, const int64_t* starts, const int64_t* counted, int64_t size
) noexcept nogil:
    """Compute an instruction by the loop of a ufunc; a call for all rows takes less time than one for each."""
    cdef cnp.npy_intp r, count = one.width * rows
    cdef int64_t line = one.width * size
    cdef Rows out = rows_of(one.out, first, starts, counted), x = rows_of(one.x, first, starts, counted)
    cdef Rows y = rows_of(one.y, first, starts, counted)
    cdef char* given[3]
    cdef char* made
    cdef cnp.npy_intp lines[3]
    one.met[0] |= fetestexcept(RAISED)  # some loops of NumPy clear them
    lines[0] = lines[1] = lines[2] = size
    if rows == 1 or line <= SHORT:
        given[0] = side_by_side(&x, rows, line, one.spare, True)
        given[1] = side_by_side(&y, rows, line, one.spare + rows * line, one.depth == 2)
        given[2] = made = side_by_side(&out, rows, line, one.spare + 2 * rows * line, False)
        if one.depth == 1:  # operands
            given[1] = given[2]
        one.loop(given, &count, lines, one.data)
        for r in range(rows if made == one.spare + 2 * rows * line else 0):
            memcpy(out.base + out.numbers[r] * out.line, made + r * line, line)
        return
    count = one.width
    for r in range(rows):
        given[0] = x.base + x.numbers[r] * x.line
        given[1] = y.base + y.numbers[r] * y.line
        given[2] = out.base + out.numbers[r] * out.line
        if one.depth == 1:
            given[1] = given[2]
        one.loop(given, &count, lines, one.data)


cdef inline forced_void compare(
    const Instruction* one, int64_t first, int64_t rows, const int64_t* starts, const int64_t* counted, real* unused
) noexcept nogil:
    """Compute an instruction that compares, and tell nothing of nan, as comparisons of NumPy do."""
    one.met[0] |= raised_here(RAISED)
    if one.code == GREATER:
        each_row(GREATER, one, first, rows, starts, counted, unused)
    elif one.code == GREATER_EQUAL:
        each_row(GREATER_EQUAL, one, first, rows, starts, counted, unused)
    elif one.code == LESS:
        each_row(LESS, one, first, rows, starts, counted, unused)
    elif one.code == LESS_EQUAL:
        each_row(LESS_EQUAL, one, first, rows, starts, counted, unused)
    elif one.code == LARGEST:
        each_row(LARGEST, one, first, rows, starts, counted, unused)
    lower(FE_INVALID)


cdef inline forced_void by_sigmoid(
    const Instruction* one, int64_t first, int64_t rows, const int64_t* starts, const int64_t* counted, real* unused
) noexcept nogil:
    """Compute sigmoids, and tell nothing of exponentials that overflow, as the operator does."""
    one.met[0] |= raised_here(RAISED)
    each_row(SIGMOID, one, first, rows, starts, counted, unused)
    lower(RAISED)


cdef inline forced_void compute(
    const Instruction* one, int64_t first, int64_t rows, const int64_t* starts, const int64_t* counted, real* unused
) noexcept nogil:
    """Compute an instruction on some rows of a step."""
    if one.code == ADD:
        each_row(ADD, one, first, rows, starts, counted, unused)
    elif one.code == MUL:
        each_row(MUL, one, first, rows, starts, counted, unused)
    elif one.code == SIGMOID:
        by_sigmoid(one, first, rows, starts, counted, unused)
    elif one.code == UFUNC:
        by_ufunc(one, first, rows, starts, counted, sizeof(real))
    elif one.code == SUB:
        each_row(SUB, one, first, rows, starts, counted, unused)
    elif one.code == MOVE:
        each_row(MOVE, one, first, rows, starts, counted, unused)
    elif one.code == DIV:
        each_row(DIV, one, first, rows, starts, counted, unused)
    elif one.code == NEG:
        each_row(NEG, one, first, rows, starts, counted, unused)
    elif one.code == ABS:
        each_row(ABS, one, first, rows, starts, counted, unused)
    elif one.code == SQRT:
        each_row(SQRT, one, first, rows, starts, counted, unused)
    elif one.code == SQUARE:
        each_row(SQUARE, one, first, rows, starts, counted, unused)
    elif one.code == SELECT:
        each_row(SELECT, one, first, rows, starts, counted, unused)
    elif one.code == EXPAND:
        each_row(EXPAND, one, first, rows, starts, counted, unused)
    elif one.code == EQUAL:
        each_row(EQUAL, one, first, rows, starts, counted, unused)
    elif one.code == NOT_EQUAL:
        each_row(NOT_EQUAL, one, first, rows, starts, counted, unused)
    elif one.code == LOGISTIC_BACK:
        each_row(LOGISTIC_BACK, one, first, rows, starts, counted, unused)
    elif one.code == TANH_BACK:
        each_row(TANH_BACK, one, first, rows, starts, counted, unused)
    elif one.code == ADD_THREE:
        each_row(ADD_THREE, one, first, rows, starts, counted, unused)
    elif one.code == MUL_ADD:
        each_row(MUL_ADD, one, first, rows, starts, counted, unused)
    elif one.code == MUL_SUB:
        each_row(MUL_SUB, one, first, rows, starts, counted, unused)
    elif one.code == SUB_MUL:
        each_row(SUB_MUL, one, first, rows, starts, counted, unused)
    elif one.code == TIMES_SUB:
        each_row(TIMES_SUB, one, first, rows, starts, counted, unused)
    elif one.code == LOGISTIC_BACK_MUL:
        each_row(LOGISTIC_BACK_MUL, one, first, rows, starts, counted, unused)
    elif one.code == TANH_BACK_MUL:
        each_row(TANH_BACK_MUL, one, first, rows, starts, counted, unused)
    elif one.code == SUM:
        each_row(SUM, one, first, rows, starts, counted, unused)
    elif one.code == FIRST:
        each_row(FIRST, one, first, rows, starts, counted, unused)
    else:
        compare(one, first, rows, starts, counted, unused)


cdef inline forced_void in_tiles(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil:
    """Compute neighbouring elementwise instructions on all rows of a step, a tile at a time."""
    cdef int64_t first, k
    first = 0
    while first < rows:
        for k in range(count):
            compute(some + k, first, min(rows - first, tile), starts, counted, unused)
        first += tile


cdef inline forced_void find_above(const real* cells, Py_ssize_t count, real limit, bint* above) noexcept nogil:
    """Set `above` if a cell is not smaller than a limit, in size."""
    cdef Py_ssize_t c, k, whole = count - count % CHUNK
    cdef int found
    for c in range(0, whole, 512):
        found = 0
        for k in range(CHUNK):
            found |= (not cells[c + k] < limit) | (not -cells[c + k] < limit)  # also for nan
        if found:
            above[0] = True
            return
    found = 0
    for c in range(whole, count):
        found |= (not cells[c] < limit) | (not -cells[c] < limit)
    above[0] = found != 0
