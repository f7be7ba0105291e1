cdef class ArrayBody:
    cdef public object block, variable, wanted_name
    cdef public object _items, _source, _size, _limit, _element, _rank  # see TensorArray


cdef class Noted:
    cdef dict noted


cdef class Journal:
    cdef Noted page
    cdef object token
    cdef int open(self) except -1
    cdef int close(self, bint restore) except -1


cpdef note(array)
