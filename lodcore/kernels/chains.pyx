"""A chain of elementwise operators on whole arrays: a program of `machine` for single numbers, in one pass.

It runs over tiles of as many numbers as the first cache holds; what its instructions hand on stays there. Results are
those of `machine`: to the bit those of NumPy. A tile begins at a multiple of 256 numbers, so that loops which compute
several numbers at once meet the same ones together as in the whole array.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from lodcore.kernels.machine cimport in_tiles_here, numbered, translate
from lodcore.kernels.machine_rows cimport EXPAND, LINE, RAISED, ROW, SUM, TILE, UFUNC, Instruction, Operand
from lodcore.kernels.machine_rows cimport fetestexcept
from lodcore.kernels.matrix cimport real
from lodcore.kernels.sizes cimport agree

cnp.import_array()

cdef extern from "<fenv.h>" nogil:
    int feclearexcept(int)

cdef enum:
    NEAR = 24576  # bytes of what a tile reads and writes
    FEWEST = 256  # numbers of a tile
    LINE_OF_CACHE = 64  # bytes
    MOST = 1 << 24  # numbers of the scratch memory


cdef void at_number(Operand* places, int64_t count, int64_t first, int64_t now, int64_t step) noexcept nogil:
    """Set the place of each operand in a tile of single numbers."""
    cdef int64_t j
    for j in range(count):
        places[j].line = now * step
        if places[j].kind == ROW:
            places[j].place = places[j].base + first * step
        elif places[j].kind == LINE:
            places[j].place = places[j].base + first % places[j].line_length * step


cdef int run_flat(
    Operand* places, int64_t n_places, Instruction* program, int64_t size, int64_t count, int64_t tile, int* met,
    real* unused
) noexcept nogil:
    """Run an elementwise program over tiles of single numbers; note which exceptions of floating point it raises."""
    cdef int64_t first = 0, zero = 0, j
    feclearexcept(RAISED)
    while first < count:
        at_number(places, n_places, first, min(tile, count - first), sizeof(real))
        for j in range(size):
            program[j].width = min(tile, count - first)
        in_tiles_here(program, size, 1, 1, &zero, &zero, unused)
        first += tile
    met[0] |= fetestexcept(RAISED)
    feclearexcept(RAISED)
    return 0


cdef int64_t cells_of(const int64_t[:, ::1] operands, Py_ssize_t j, list arrays, int64_t count) except -1:
    """Return the cells of the scratch memory up to those of an operand; raise ValueError if it leaves its array."""
    cdef int64_t kind = operands[j, 0], number = operands[j, 1], length
    agree((kind == TILE or kind == ROW or kind == LINE) and operands[j, 2] == 1 and operands[j, 3] == 0)
    agree(0 <= number < (MOST if kind == TILE else <int64_t> len(arrays)))
    if kind == TILE:
        return number + 1
    length = (<cnp.ndarray> arrays[number]).shape[0]
    agree(length == count if kind == ROW else length > 0)
    return 0


cdef inline int64_t rounded(int64_t count) noexcept:
    """Return as many numbers, or a few more, that end where a line of the cache does."""
    return (count + LINE_OF_CACHE - 1) // LINE_OF_CACHE * LINE_OF_CACHE


cdef void repeat(char* out, const char* given, int64_t size, int64_t total) noexcept nogil:
    """Fill memory with the same bytes again and again."""
    cdef int64_t done = min(size, total), now
    memcpy(out, given, done)
    while done < total:
        now = min(done, total - done)
        memcpy(out + done, out, now)
        done += now


def run_chain(
    list arrays not None, list ufuncs not None, const int64_t[:, ::1] operands not None,
    const int64_t[:, ::1] instructions not None, int64_t count,
):
    """Run an elementwise program on each number of arrays.

    Parameters
    ----------
    arrays : list of float32 or float64 ndarray, shape (numbers, 1)
        C-contiguous, all with one dtype, at least one. Those to which instructions write do not overlap others. A ROW
        has `count` numbers; a LINE is repeated as often as needed.
    ufuncs : list of numpy.ufunc
    operands : int64, shape (n_operands, 4)
        As `run_steps` has them for rows of one number: TILE, ROW or LINE, with a line of 1.
    instructions : int64, shape (n_instructions, 8)
        As `run_steps` has them, elementwise ones only, of width 1.
    count : int

    Returns
    -------
    int
        As `run_steps` returns it.
    """
    cdef Py_ssize_t j, n_places = operands.shape[0], size = instructions.shape[0], step
    cdef int64_t cells = 0, lines = 0, tile, number, length
    cdef Operand* places
    cdef Instruction* program
    cdef char* scratch
    cdef char* begin
    cdef char* line
    cdef int flags = 0
    if not arrays or operands.shape[1] != 4 or instructions.shape[1] != 8 or count < 0:
        raise ValueError("the arrays do not belong together")
    step = 4 if cnp.PyArray_TYPE(arrays[0]) == cnp.NPY_FLOAT32 else 8
    number = cnp.NPY_FLOAT32 if step == 4 else cnp.NPY_FLOAT64
    for one in arrays:
        agree(cnp.PyArray_TYPE(<cnp.ndarray?> one) == number)
        agree(cnp.PyArray_ISCARRAY_RO(one) and (<cnp.ndarray> one).ndim == 2 and (<cnp.ndarray> one).shape[1] == 1)
    for j in range(n_places):
        cells = max(cells, cells_of(operands, j, arrays, count))
        if operands[j, 0] == LINE:
            lines += rounded((<cnp.ndarray> arrays[operands[j, 1]]).shape[0])
    for j in range(size):
        agree(instructions[j, 1] == 1 and 0 <= instructions[j, 0] <= UFUNC)
        agree(instructions[j, 0] != EXPAND and not SUM <= instructions[j, 0] < UFUNC)
    tile = max(FEWEST, NEAR // (step * (cells + <int64_t> len(arrays))) // FEWEST * FEWEST)
    places = <Operand*> calloc(max(n_places, 1), sizeof(Operand))
    program = <Instruction*> calloc(max(size, 1), sizeof(Instruction))
    scratch = <char*> malloc(((cells + n_places) * tile + lines) * step + LINE_OF_CACHE)
    try:
        if places == NULL or program == NULL or scratch == NULL:
            raise MemoryError
        begin = scratch + (LINE_OF_CACHE - <size_t> scratch % LINE_OF_CACHE)
        line = begin + cells * tile * step
        for j in range(n_places):
            number = operands[j, 1]
            places[j].kind = operands[j, 0]
            if places[j].kind == TILE:
                places[j].place = begin + number * tile * step
                continue
            places[j].base = (<cnp.ndarray> arrays[number]).data
            if places[j].kind == LINE:
                length = places[j].line_length = (<cnp.ndarray> arrays[number]).shape[0]
                repeat(line, places[j].base, length * step, (tile + length) * step)
                places[j].base = line
                line += (tile + rounded(length)) * step
        for j in range(size):
            program[j].met, program[j].spare = &flags, scratch
            translate(program + j, instructions, j, operands, places, arrays, [], ufuncs, step)
            program[j].dense = True
        with nogil:
            if step == sizeof(float):
                run_flat(places, n_places, program, size, count, tile, &flags, <float*> NULL)
            else:
                run_flat(places, n_places, program, size, count, tile, &flags, <double*> NULL)
    finally:
        free(places)
        free(program)
        free(scratch)
    return numbered(flags)
