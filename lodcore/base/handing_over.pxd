cdef object handed_out(result, out)
cdef object handed_over(result, tuple args, dict kwargs)
