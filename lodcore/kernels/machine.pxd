"""What other kernels use of `machine`: elementwise instructions on tiles, and their tables."""

from libc.stdint cimport int64_t

from lodcore.kernels.machine_rows cimport Instruction, Operand
from lodcore.kernels.matrix cimport real

cdef extern from "<fenv.h>" nogil:
    const int FE_DIVBYZERO, FE_INVALID, FE_OVERFLOW, FE_UNDERFLOW

cdef void in_tiles_here(
    const Instruction* some, int64_t count, int64_t rows, int64_t tile, const int64_t* starts, const int64_t* counted,
    real* unused
) noexcept nogil
cdef int translate(
    Instruction* made, const int64_t[:, ::1] instructions, Py_ssize_t j, const int64_t[:, ::1] operands,
    Operand* places, list arrays, list weights, list ufuncs, Py_ssize_t size
) except -1


cdef inline int numbered(int flags) noexcept:
    """Return exceptions of floating point as the bits of `numpy.seterrcall`."""
    return (
        bool(flags & FE_DIVBYZERO) + 2 * bool(flags & FE_OVERFLOW) + 4 * bool(flags & FE_UNDERFLOW)
        + 8 * bool(flags & FE_INVALID)
    )
