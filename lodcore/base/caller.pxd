cdef object begin()
cdef int end(token) except -1
