cdef object begin()
cdef int end(before) except -1
