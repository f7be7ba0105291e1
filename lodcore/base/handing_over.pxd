cimport lodcore.kernels.arrays as cnp

cdef object handed_out(result, out)
cdef object handed_over(result, tuple args, dict kwargs)
cpdef bint overlaps(cnp.ndarray array, list others) except -1
cpdef cnp.ndarray lent(cnp.ndarray array, list owners)
