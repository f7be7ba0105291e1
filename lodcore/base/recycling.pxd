cdef object begin()
cdef int end(before) except -1
cpdef object computed(function, values)
