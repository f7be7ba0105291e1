from lodcore.interop.arrow_abi cimport ArrowArray

cdef tuple node_of(const ArrowArray* array)
