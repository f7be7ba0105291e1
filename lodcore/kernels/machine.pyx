"""The machine that runs the steps of a recurrent network: elementwise instructions over rows, and products.

A program is a table of instructions over operands. Step t has steps[t + 1] - steps[t] rows, longest sequence first; its
row r belongs to row starts[r] + stride * t of the batch. An operand is a row of numbers for each row r of a step:

    kind    row r of it is
    TILE    in the scratch memory of the kernel, for the present tile alone
    ROW     row r of its array
    BEFORE  row r of its array, or at odd steps of the other one, `array + 1`
    AFTER   row r of `array + 1`, or at odd steps of `array`: what is BEFORE at the next step
    BATCH   the row of the batch
    EARLIER the row of the batch one step before; at the first step, row r of `array + 1`
    LINE    the only row of its array, for all r

Neighbouring elementwise instructions run one after another over tiles of a few rows, which stay in the first cache; a
product runs over all rows of the step, and so does a call, which takes the lock of the interpreter. Elementwise results
are those of NumPy to the bit: sums, differences, products, quotients and roots are rounded once, and everything else is
computed by the loops of NumPy's ufuncs. The sum of a row adds 16 partial sums, of every 16th number each, in their
order; it has the same bits on every processor.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from lodcore.kernels.machine_rows cimport AFTER, BATCH, BEFORE, EARLIER, LINE, ROW, TILE
from lodcore.kernels.machine_rows cimport CALL, EXPAND, FIRST, LARGEST, PRODUCT, PRODUCT_ADDED, SHORT, SUM
from lodcore.kernels.machine_rows cimport NOTHING, UFUNC, ZEROS, ZEROS_OF_SMALL
from lodcore.kernels.machine_rows cimport RAISED, Instruction, Loop, Operand, Steps, fetestexcept, find_above, in_tiles
from lodcore.kernels.matrix cimport in_lines, real, times_packed
from lodcore.kernels.sizes cimport agree

cnp.import_array()
cnp.import_ufunc()

cdef extern from "<fenv.h>" nogil:
    int feclearexcept(int)

cdef extern from "simd.h" nogil:
    enum: SIMD_AVX2, SIMD_AVX512
    int simd_level()
    ctypedef void avx2_void "LODCORE_AVX2 void"
    ctypedef void avx512_void "LODCORE_AVX512 void"

cdef extern from "numpy/ufuncobject.h" nogil:
    ctypedef struct UfuncFields "PyUFuncObject":  # of which the declarations of NumPy's releases name different ones
        int nin, nout, ntypes
        Loop* functions
        void** data
        const char* types

cdef enum:
    MOST_ROWS = 32  # of a tile
    CACHED = 1 << 16  # bytes of the scratch memory
    LINE_BYTES = 64  # of a line of the cache
    MOST = 1 << 24  # cells of a row of the scratch memory
    SMALL = 1125899906842624  # 2**50: the product of two numbers up to this is finite, and so are sums of such


# -- tiles, for each instruction set -----------------------------------------------------------------------------------


cdef void in_tiles_plain(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil:
    in_tiles(some, count, rows, tile, starts, counted, unused)


cdef avx2_void in_tiles_avx2(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil:
    in_tiles(some, count, rows, tile, starts, counted, unused)


cdef avx512_void in_tiles_avx512(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil:
    in_tiles(some, count, rows, tile, starts, counted, unused)


cdef void in_tiles_here(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil:
    """Compute neighbouring elementwise instructions by the widest instructions of the processor."""
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        in_tiles_avx512(some, count, rows, tile, starts, counted, unused)
    elif level == SIMD_AVX2:
        in_tiles_avx2(some, count, rows, tile, starts, counted, unused)
    else:
        in_tiles_plain(some, count, rows, tile, starts, counted, unused)


cdef void find_above_plain(const real* cells, Py_ssize_t count, real limit, bint* above) noexcept nogil:
    find_above(cells, count, limit, above)


cdef avx2_void find_above_avx2(const real* cells, Py_ssize_t count, real limit, bint* above) noexcept nogil:
    find_above(cells, count, limit, above)


cdef avx512_void find_above_avx512(const real* cells, Py_ssize_t count, real limit, bint* above) noexcept nogil:
    find_above(cells, count, limit, above)


# -- steps -------------------------------------------------------------------------------------------------------------


cdef void at_step(Operand* operands, int64_t count, int64_t t, int64_t stride) noexcept nogil:
    """Set the place of each operand in a step."""
    cdef Operand* one
    cdef int64_t j
    for j in range(count):
        one = operands + j
        if one.kind == BATCH:
            one.place = one.base + t * stride * one.line
        elif one.kind == EARLIER:
            one.gathered = t > 0
            one.place = one.base + (t - 1) * stride * one.line if t > 0 else one.other
        elif one.kind == BEFORE:
            one.place = one.other if t % 2 else one.base
        elif one.kind == AFTER:
            one.place = one.base if t % 2 else one.other


cdef bint within(const Instruction* one, int64_t rows, real most, real* unused) noexcept nogil:
    """Return whether no number of the left operand of a product is nan, or larger than a limit."""
    cdef const real* x
    cdef int64_t r, c
    cdef int found = 0
    for r in range(rows):
        x = <const real*> (one.x.place + r * one.x.line)
        for c in range(one.depth):
            found |= (not x[c] <= most) | (not -x[c] <= most)  # also for nan
        if found:
            return False
    return True


cdef int run_all(
    Operand* operands, int64_t n_operands, const Instruction* program, int64_t count, const Steps* steps, bint back,
    int* met, real* unused
) except -1 nogil:
    """Run a program over all steps; note which exceptions of floating point its elementwise instructions raise."""
    cdef int64_t t, step, k, r, stop, rows
    cdef const Instruction* one
    for step in range(steps.count):
        t = steps.count - 1 - step if back else step
        rows = steps.bounds[t + 1] - steps.bounds[t]
        at_step(operands, n_operands, t, steps.stride)
        k = 0
        while k < count:
            one = program + k
            if one.code == CALL:
                with gil:
                    (<object> <PyObject*> one.data)(t, rows)
                k += 1
                continue
            if one.code >= PRODUCT and t == 0 and (
                ZEROS <= one.first <= NOTHING
                or one.first > NOTHING and within(one, rows, SMALL if one.first == ZEROS_OF_SMALL else 0, unused)
            ):
                for r in range(0 if one.first == NOTHING else rows):
                    memset(one.out.place + r * one.out.line, 0, one.width * sizeof(real))
                k += 1
                continue
            if one.code >= PRODUCT:
                times_packed(
                    <const real*> one.x.place, one.x.line // <int64_t> sizeof(real), rows, one.depth,
                    <const real*> one.packed, one.width, one.code == PRODUCT_ADDED, <real*> one.out.place,
                    one.out.line // <int64_t> sizeof(real),
                )
                k += 1
                continue
            stop = k + 1
            while stop < count and program[stop].code < PRODUCT:
                stop += 1
            if fetestexcept(RAISED):  # clearing takes ten times as long as a look
                feclearexcept(RAISED)
            in_tiles_here(one, stop - k, rows, steps.tile, steps.starts, steps.counted, unused)
            met[0] |= fetestexcept(RAISED)
            k = stop
    feclearexcept(RAISED)
    return 0


cdef bint fits(
    const int64_t[::1] steps, const int64_t[::1] starts, int64_t stride, Py_ssize_t n_rows
) noexcept nogil:
    """Return whether the steps are in the batch, and none of them has more rows than the one before."""
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, t, k
    cdef int64_t count = starts.shape[0], more
    if n_steps < 0 or steps[0] != 0 or (stride != 1 and stride != -1):
        return False
    for k in range(count):
        if not 0 <= starts[k] < n_rows:
            return False
    for t in range(n_steps + 1):
        more = steps[t + 1] - steps[t] if t < n_steps else 0
        if more < (t < n_steps) or more > count or (t == 0 and more != count):
            return False
        for k in range(more, count):  # sequences that end at the previous step
            if not 0 <= starts[k] + stride * (t - 1) < n_rows:
                return False
        count = more
    return True


def run_steps(
    list arrays not None, list weights not None, list ufuncs not None, const int64_t[:, ::1] operands not None,
    const int64_t[:, ::1] instructions not None, const int64_t[::1] steps not None, const int64_t[::1] starts not None,
    int64_t stride, Py_ssize_t n_rows, bint back,
):
    """Run a program over steps.

    Parameters
    ----------
    arrays : list of float32 or float64 ndarray, shape (rows, width)
        C-contiguous, all with one dtype, at least one. Those to which instructions write do not overlap others.
    weights : list of ndarray, 1-D
        Matrices for products, as `matrix.pack_columns` packs them, with the dtype of the arrays.
    ufuncs : list of numpy.ufunc or callable
        Ufuncs with a loop for the dtype of the arrays, one or two operands, and one result; and functions for calls,
        `f(step, rows)`, which may read and write the arrays of the program. What they raise ends it.
    operands : int64, shape (n_operands, 4)
        Kind, array, line, and first column of each. For TILE, `array` is the first cell in a row of the scratch memory,
        and `line` the width of the whole value; otherwise the line is that of the array.
    instructions : int64, shape (n_instructions, 8)
        Code, width of the result, operands out, x, y and z, and a number: for UFUNC and CALL that of the ufunc, for
        products that of the weight; -1 for none. Products and calls have the number of columns of x instead of z. The
        last one says what a product does at the first step: 0 the same, 1 it writes zeros since x is zero, 2 nothing
        since nobody reads it, 3 zeros if all of x is zero, 4 zeros if no number of x is larger than 2**50, since the
        result is multiplied by zeros.
    steps : int64, shape (n_steps + 1,)
        The number of rows of all earlier steps.
    starts : int64, shape (n_sequences,)
        The first row of each sequence, longest first, in the batch.
    stride : int
        1, or -1 for sequences that run from their last row to the first.
    n_rows : int
        The rows of the batch.
    back : bool
        Whether to run from the last step to the first.

    Returns
    -------
    int
        0, or a sum of 1 (division by zero), 2 (overflow), 4 (underflow) and 8 (invalid value), the bits of
        `numpy.seterrcall`, of what elementwise instructions met.
    """
    cdef Py_ssize_t j, count = operands.shape[0], size = instructions.shape[0], cells = 0, width = 0
    cdef bint single
    cdef Operand* places
    cdef Instruction* program
    cdef char* memory
    cdef char* scratch
    cdef Steps run
    cdef int64_t* counted
    cdef int flags = 0, number
    if not arrays or operands.shape[1] != 4 or instructions.shape[1] != 8 or not fits(steps, starts, stride, n_rows):
        raise ValueError("the arrays do not belong together")
    single = cnp.PyArray_TYPE(arrays[0]) == cnp.NPY_FLOAT32
    number = cnp.NPY_FLOAT32 if single else cnp.NPY_FLOAT64
    for one in arrays + weights:
        agree(cnp.PyArray_TYPE(<cnp.ndarray?> one) == number)
        agree(cnp.PyArray_ISCARRAY_RO(one))
    for j in range(count):
        if operands[j, 0] == TILE:
            agree(0 <= operands[j, 1] <= MOST and 0 <= operands[j, 2] <= MOST)
            cells = max(cells, operands[j, 1] + operands[j, 2])
    places = <Operand*> calloc(max(count, 1), sizeof(Operand))
    program = <Instruction*> calloc(max(size, 1), sizeof(Instruction))
    run.tile = max(4, min(MOST_ROWS, CACHED // max(1, cells * (4 if single else 8))))
    for j in range(size):
        if instructions[j, 0] == UFUNC and 0 < instructions[j, 1] <= SHORT:
            width = max(width, instructions[j, 1])
    memory = <char*> malloc((cells + 3 * width) * run.tile * 8 + LINE_BYTES)
    scratch = memory + LINE_BYTES - <Py_ssize_t> memory % LINE_BYTES  # so that no vector lies in two lines of the cache
    counted = <int64_t*> malloc(max(starts.shape[0], run.tile) * sizeof(int64_t))
    try:
        if places == NULL or program == NULL or memory == NULL or counted == NULL:
            raise MemoryError
        for j in range(max(starts.shape[0], run.tile)):
            counted[j] = j
        run.counted = counted
        run.bounds, run.stride, run.count = &steps[0], stride, steps.shape[0] - 1
        run.starts = &starts[0] if starts.shape[0] else NULL
        for j in range(count):
            resolve(places + j, operands, j, arrays, scratch, run.tile, 4 if single else 8, starts.shape[0], n_rows)
        for j in range(size):
            program[j].met, program[j].spare = &flags, scratch + cells * run.tile * 8
            translate(program + j, instructions, j, operands, places, arrays, weights, ufuncs, 4 if single else 8)
        with nogil:
            if single:
                run_all(places, count, program, size, &run, back, &flags, <float*> NULL)
            else:
                run_all(places, count, program, size, &run, back, &flags, <double*> NULL)
    finally:
        free(places)
        free(program)
        free(memory)
        free(counted)
    return numbered(flags)


cdef int resolve(
    Operand* made, const int64_t[:, ::1] operands, Py_ssize_t j, list arrays, char* scratch, int64_t tile,
    Py_ssize_t size, Py_ssize_t n_sequences, Py_ssize_t n_rows
) except -1:
    """Find the memory of an operand; raise ValueError if rows of steps or of the batch would leave it."""
    cdef int64_t kind = operands[j, 0], number = operands[j, 1], line = operands[j, 2], column = operands[j, 3]
    cdef int64_t rows = 1 if kind == LINE else n_rows if kind == BATCH or kind == EARLIER else n_sequences
    cdef cnp.ndarray array
    agree(0 <= kind <= <int64_t> LINE and 0 <= column <= line)
    made.kind = kind
    if kind == TILE:
        made.base = made.place = scratch + (number * tile + column) * size
        made.line = line * size
        return 0
    agree(0 <= number < len(arrays))
    array = arrays[number]
    agree(array.ndim == 2 and array.shape[0] >= rows and array.shape[1] == line)
    made.base = made.place = array.data + column * size
    made.line = 0 if kind == LINE else line * size
    made.gathered = kind == BATCH or kind == EARLIER
    if kind == BEFORE or kind == AFTER or kind == EARLIER:
        agree(number + 1 < len(arrays))
        array = arrays[number + 1]
        agree(array.ndim == 2 and array.shape[0] >= n_sequences and array.shape[1] == line)
        made.other = array.data + column * size
    return 0


cdef int translate(
    Instruction* made, const int64_t[:, ::1] instructions, Py_ssize_t j, const int64_t[:, ::1] operands,
    Operand* places, list arrays, list weights, list ufuncs, Py_ssize_t size
) except -1:
    """Prepare an instruction; raise ValueError if it would read or write beyond its operands."""
    cdef int64_t code = instructions[j, 0], width = instructions[j, 1], number = instructions[j, 6], k, one
    cdef int64_t cells = 128 // size
    cdef bint multiplies
    cdef Operand* found[4]
    agree(0 <= code <= <int64_t> CALL and width > 0)
    made.code, made.width, made.first = code, width, instructions[j, 7]
    made.dense = code != SUM and code != LARGEST and code != FIRST and code != EXPAND
    multiplies = code >= PRODUCT
    for k in range(4):
        one = instructions[j, 2 + k]
        if k >= 2 and (one < 0 or multiplies):
            one = instructions[j, 3]
        agree(0 <= one < operands.shape[0])
        found[k] = places + one
        if multiplies:
            agree(operands[one, 0] == ROW or operands[one, 0] == BEFORE or operands[one, 0] == AFTER)
        if multiplies and k > 0:
            made.depth = instructions[j, 5]
            agree(0 < made.depth <= operands[one, 2] - operands[one, 3])
        elif (code == SUM or code == LARGEST) and k == 0 or code == EXPAND and k > 0 or code == FIRST and k == 2:
            agree(operands[one, 3] < operands[one, 2])
        else:
            agree(operands[one, 3] + width <= operands[one, 2])
        if operands[one, 2] != width or operands[one, 0] > AFTER:
            made.dense = False
    agree(operands[instructions[j, 2], 0] <= BATCH)
    if operands[instructions[j, 2], 0] != TILE:
        agree(cnp.PyArray_ISWRITEABLE(arrays[operands[instructions[j, 2], 1]]))
    if operands[instructions[j, 2], 0] == BEFORE or operands[instructions[j, 2], 0] == AFTER:
        agree(cnp.PyArray_ISWRITEABLE(arrays[operands[instructions[j, 2], 1] + 1]))
    made.out, made.x, made.y, made.z = found[0], found[1], found[2], found[3]
    if code == CALL:
        agree(0 <= number < len(ufuncs))
        made.data = <void*> <PyObject*> ufuncs[number]
    elif multiplies:
        agree(0 <= number < len(weights))
        agree((<cnp.ndarray> weights[number]).ndim == 1)
        agree((<cnp.ndarray> weights[number]).shape[0] == (width + cells - 1) // cells * cells * made.depth)
        made.packed = (<cnp.ndarray> weights[number]).data
    elif code == UFUNC:
        agree(0 <= number < len(ufuncs))
        find_loop(made, ufuncs[number], cnp.NPY_FLOAT32 if size == 4 else cnp.NPY_FLOAT64, instructions[j, 4] >= 0)
    return 0


cdef int find_loop(Instruction* made, cnp.ufunc function, int number, bint two) except -1:
    """Find the loop of a ufunc for one dtype."""
    cdef UfuncFields* fields = <UfuncFields*> <void*> function
    cdef Py_ssize_t k, n, operands = 2 if two else 1
    agree(fields.nin == operands and fields.nout == 1)
    made.depth = operands
    for k in range(fields.ntypes):
        for n in range(operands + 1):
            if fields.types[k * (operands + 1) + n] != number:
                break
        else:
            made.loop, made.data = <Loop> fields.functions[k], fields.data[k] if fields.data != NULL else NULL
            return 0
    raise ValueError(f"{function} has no loop for these numbers")


def is_below(const real[:, :] matrix not None, double limit):
    """Return whether every cell of a matrix is smaller than a limit, in size.

    Parameters
    ----------
    matrix : float32 or float64, shape (rows, columns)
        The cells of a row are contiguous.
    limit : float
        Of infinity, all numbers that are finite are smaller.

    Returns
    -------
    bool
    """
    cdef Py_ssize_t rows = matrix.shape[0], columns = matrix.shape[1], r
    cdef int level = simd_level()
    cdef bint above = False
    agree(in_lines(matrix))
    if columns and matrix.strides[0] == columns * <Py_ssize_t> sizeof(real):
        rows, columns = min(rows, 1), rows * columns
    with nogil:
        for r in range(rows if columns else 0):
            if level == SIMD_AVX512:
                find_above_avx512(&matrix[r, 0], columns, <real> limit, &above)
            elif level == SIMD_AVX2:
                find_above_avx2(&matrix[r, 0], columns, <real> limit, &above)
            else:
                find_above_plain(&matrix[r, 0], columns, <real> limit, &above)
            if above:
                break
    return not above
