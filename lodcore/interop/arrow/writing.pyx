"""Export by Arrow's C data interface: nodes become capsules of structs that own the memory they point to.

A node is a tuple (format, name, length, null_count, buffers, children): two bytes objects, two ints, a tuple of
ndarray or None, and a tuple of nodes. Each struct of an array can be moved out of its parent and released by itself,
by any thread.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport ENOMEM
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cimport lodcore.kernels.arrays as cnp

from lodcore.interop.arrow.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cnp.import_array()

cdef enum:
    NULLABLE = 2


ctypedef fused Struct:
    ArrowSchema
    ArrowArray


# -- schemas and arrays ------------------------------------------------------------------------------------------------


cdef void drop_reference(void* kept) noexcept with gil:
    Py_DECREF(<object> kept)


cdef void release(Struct* made) noexcept nogil:
    """Release a struct and those of its children that were not moved, and drop the reference to its node."""
    cdef int64_t k
    for k in range(made.n_children):
        if made.children[k] != NULL:
            if made.children[k].release != NULL:
                made.children[k].release(made.children[k])
            free(made.children[k])
    free(made.children)
    if Struct is ArrowArray:
        free(<void*> made.buffers)
    if made.private_data != NULL and Py_IsInitialized():
        drop_reference(made.private_data)
    memset(made, 0, sizeof(Struct))


cdef tuple node_of(const ArrowArray* array):
    """Return the node of which a struct was made here, or None for a struct of another library."""
    return <tuple> array.private_data if array.release == release[ArrowArray] else None


cdef int fill(Struct* made, tuple node) except -1:
    """Fill a struct of zeros; after an error it can be released."""
    cdef tuple buffers = node[4], children = node[5]
    cdef Py_ssize_t k
    Py_INCREF(node)
    made.private_data = <void*> node
    if Struct is ArrowSchema:
        made.release = release[ArrowSchema]
        made.format, made.name = <bytes> node[0], <bytes> node[1]
        made.flags = NULLABLE
    else:
        made.release = release[ArrowArray]
        made.length, made.null_count = node[2], node[3]
        if buffers:
            made.buffers = <const void**> calloc(len(buffers), sizeof(void*))
            if made.buffers == NULL:
                raise MemoryError
            made.n_buffers = len(buffers)
            for k in range(len(buffers)):
                if buffers[k] is not None:
                    made.buffers[k] = cnp.PyArray_DATA(<cnp.ndarray?> buffers[k])
    if children:
        made.children = <Struct**> calloc(len(children), sizeof(Struct*))
        if made.children == NULL:
            raise MemoryError
        made.n_children = len(children)
        for k in range(len(children)):
            made.children[k] = <Struct*> calloc(1, sizeof(Struct))
            if made.children[k] == NULL:
                raise MemoryError
            fill(made.children[k], children[k])
    return 0


cdef int fill_or_fail(Struct* out, tuple node) noexcept:
    """Fill the struct that a consumer of a stream requested; return the error code of the C interface."""
    memset(out, 0, sizeof(Struct))
    try:
        fill(out, node)
    except BaseException:
        if out.release != NULL:
            out.release(out)
        return ENOMEM
    return 0


cdef void discard(Struct* made) noexcept:
    """Release an allocated struct, unless it was moved, and free it."""
    if made.release != NULL:
        made.release(made)
    free(made)


cdef void destroy_schema(object capsule) noexcept:
    discard(<ArrowSchema*> PyCapsule_GetPointer(capsule, b"arrow_schema"))


cdef void destroy_array(object capsule) noexcept:
    discard(<ArrowArray*> PyCapsule_GetPointer(capsule, b"arrow_array"))


cdef object capsule_of(Struct* made, tuple node):
    """Fill an allocated struct of zeros, and return a capsule of it."""
    if made == NULL:
        raise MemoryError
    try:
        fill(made, node)
        if Struct is ArrowSchema:
            return PyCapsule_New(made, b"arrow_schema", destroy_schema)
        else:
            return PyCapsule_New(made, b"arrow_array", destroy_array)
    except BaseException:
        discard(made)
        raise


def schema_capsule(tuple node not None):
    """Return a capsule named `arrow_schema`."""
    return capsule_of(<ArrowSchema*> calloc(1, sizeof(ArrowSchema)), node)


def array_capsule(tuple node not None):
    """Return a capsule named `arrow_array`."""
    return capsule_of(<ArrowArray*> calloc(1, sizeof(ArrowArray)), node)


# -- streams -----------------------------------------------------------------------------------------------------------


cdef class Chunk:
    """The state of a stream: one node, and whether it has been returned."""

    cdef tuple node
    cdef bint given

    def __cinit__(self, tuple node not None):
        self.node = node


cdef int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    return fill_or_fail(out, (<Chunk> stream.private_data).node)


cdef int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef Chunk chunk = <Chunk> stream.private_data
    if chunk.given:
        memset(out, 0, sizeof(ArrowArray))
        return 0
    cdef int failed = fill_or_fail(out, chunk.node)
    chunk.given = not failed
    return failed


cdef const char* stream_error(ArrowArrayStream* stream) noexcept nogil:
    return b"out of memory"


cdef void release_stream(ArrowArrayStream* stream) noexcept nogil:
    if stream.private_data != NULL and Py_IsInitialized():
        drop_reference(stream.private_data)
    memset(stream, 0, sizeof(ArrowArrayStream))


cdef void destroy_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(capsule, b"arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


def stream_capsule(tuple node not None):
    """Return a capsule named `arrow_array_stream`, of one chunk."""
    cdef Chunk chunk = Chunk(node)
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError
    Py_INCREF(chunk)
    stream.private_data = <void*> chunk
    stream.get_schema, stream.get_next = stream_schema, stream_next
    stream.get_last_error, stream.release = stream_error, release_stream
    try:
        return PyCapsule_New(stream, b"arrow_array_stream", destroy_stream)
    except BaseException:
        stream.release(stream)
        free(stream)
        raise
