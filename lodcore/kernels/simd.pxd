"""Loops for wider registers, what Cython has no word for, and the choice of an instruction set at run time.

A loop that the compiler turns into vector instructions by itself is written once, as `cdef inline forced_void name`,
and called by one function per instruction set, which has it inlined:

    cdef avx512_void name_avx512(...) noexcept nogil:
        name(...)

    cdef avx2_void name_avx2(...) noexcept nogil:
        name(...)

    cdef plain_void name_plain(...) noexcept nogil:
        name(...)

Without `forced_void`, the compiler leaves the loop where it is, without wider instructions. All functions return the
same bits; `simd_level` says which one to call.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "simd.h" nogil:
    enum: SIMD_NONE, SIMD_AVX2, SIMD_AVX512
    int simd_level()
    bint has_wide()  # AVX2 at least
    ctypedef void avx2_void "LODCORE_AVX2 void"
    ctypedef void avx512_void "LODCORE_AVX512 void"
    ctypedef void forced_void "LODCORE_FORCED void"
    ctypedef void plain_void "LODCORE_OWN void"  # the variant without wider registers, in a function of its own
    ctypedef void avx2_own_void "LODCORE_AVX2 LODCORE_OWN void"  # a part of the one with AVX2, in a function of its own

    void prefetch "LODCORE_PREFETCH"(const void* place)
    void prefetch_to_write "LODCORE_PREFETCH_TO_WRITE"(const void* place)
    int64_t lowest_bit(uint64_t word)  # that is set; there is one
    uint64_t folded(uint64_t a, uint64_t b)  # the product of two words, its halves combined


cdef inline int64_t read_once(const int64_t* place) noexcept nogil:
    """Read a number that another thread may change: the one that is checked must be the one that is used."""
    return (<const volatile int64_t*> place)[0]
