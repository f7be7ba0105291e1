from lodcore.interop.arrow.arrow_abi cimport ArrowArray

cdef tuple node_of(const ArrowArray* array)
