"""Arrow's C data interface, written: nodes become capsules of structs that hold on to what they point at.

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

cimport numpy as cnp

from lodcore.interop.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cnp.import_array()

cdef enum:
    NULLABLE = 2


# -- schemas ---------------------------------------------------------------------------------------------------


cdef void release_schema(ArrowSchema* schema) noexcept nogil:
    """Release a schema and its children, and let go of its node."""
    cdef int64_t k
    for k in range(schema.n_children):
        if schema.children[k] != NULL:
            if schema.children[k].release != NULL:
                schema.children[k].release(schema.children[k])
            free(schema.children[k])
    free(schema.children)
    if schema.private_data != NULL and Py_IsInitialized():
        let_go(schema.private_data)
    memset(schema, 0, sizeof(ArrowSchema))


cdef void let_go(void* kept) noexcept with gil:
    Py_DECREF(<object> kept)


cdef int fill_schema(ArrowSchema* schema, tuple node) except -1:
    """Fill a struct that is all zeros; after an error it can be released."""
    cdef tuple children = node[5]
    cdef Py_ssize_t k
    Py_INCREF(node)
    schema.private_data = <void*> node
    schema.release = release_schema
    schema.format, schema.name = <bytes> node[0], <bytes> node[1]
    schema.flags = NULLABLE
    if children:
        schema.children = <ArrowSchema**> calloc(len(children), sizeof(ArrowSchema*))
        if schema.children == NULL:
            raise MemoryError
        schema.n_children = len(children)
        for k in range(len(children)):
            schema.children[k] = <ArrowSchema*> calloc(1, sizeof(ArrowSchema))
            if schema.children[k] == NULL:
                raise MemoryError
            fill_schema(schema.children[k], children[k])
    return 0


cdef void destroy_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*> PyCapsule_GetPointer(capsule, b"arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


def schema_capsule(tuple node not None):
    """Make a capsule named `arrow_schema`."""
    cdef ArrowSchema* schema = <ArrowSchema*> calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError
    try:
        fill_schema(schema, node)
        return PyCapsule_New(schema, b"arrow_schema", destroy_schema)
    except BaseException:
        if schema.release != NULL:
            schema.release(schema)
        free(schema)
        raise


# -- arrays ----------------------------------------------------------------------------------------------------


cdef void release_array(ArrowArray* array) noexcept nogil:
    """Release an array and those of its children that nobody moved away, and let go of its node."""
    cdef int64_t k
    for k in range(array.n_children):
        if array.children[k] != NULL:
            if array.children[k].release != NULL:
                array.children[k].release(array.children[k])
            free(array.children[k])
    free(array.children)
    free(<void*> array.buffers)
    if array.private_data != NULL and Py_IsInitialized():
        let_go(array.private_data)
    memset(array, 0, sizeof(ArrowArray))


cdef int fill_array(ArrowArray* array, tuple node) except -1:
    """Fill a struct that is all zeros; after an error it can be released."""
    cdef tuple buffers = node[4], children = node[5]
    cdef Py_ssize_t k
    Py_INCREF(node)
    array.private_data = <void*> node
    array.release = release_array
    array.length, array.null_count = node[2], node[3]
    if buffers:
        array.buffers = <const void**> calloc(len(buffers), sizeof(void*))
        if array.buffers == NULL:
            raise MemoryError
        array.n_buffers = len(buffers)
        for k in range(len(buffers)):
            if buffers[k] is not None:
                array.buffers[k] = cnp.PyArray_DATA(<cnp.ndarray?> buffers[k])
    if children:
        array.children = <ArrowArray**> calloc(len(children), sizeof(ArrowArray*))
        if array.children == NULL:
            raise MemoryError
        array.n_children = len(children)
        for k in range(len(children)):
            array.children[k] = <ArrowArray*> calloc(1, sizeof(ArrowArray))
            if array.children[k] == NULL:
                raise MemoryError
            fill_array(array.children[k], children[k])
    return 0


cdef void destroy_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*> PyCapsule_GetPointer(capsule, b"arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


def array_capsule(tuple node not None):
    """Make a capsule named `arrow_array`."""
    cdef ArrowArray* array = <ArrowArray*> calloc(1, sizeof(ArrowArray))
    if array == NULL:
        raise MemoryError
    try:
        fill_array(array, node)
        return PyCapsule_New(array, b"arrow_array", destroy_array)
    except BaseException:
        if array.release != NULL:
            array.release(array)
        free(array)
        raise


# -- streams ---------------------------------------------------------------------------------------------------


cdef class Chunk:
    """What a stream holds: one node, and whether it was given away."""

    cdef tuple node
    cdef bint given

    def __cinit__(self, tuple node not None):
        self.node = node


cdef int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    memset(out, 0, sizeof(ArrowSchema))
    try:
        fill_schema(out, (<Chunk> stream.private_data).node)
    except BaseException:
        if out.release != NULL:
            out.release(out)
        return ENOMEM
    return 0


cdef int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef Chunk chunk = <Chunk> stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if chunk.given:
        return 0
    try:
        fill_array(out, chunk.node)
    except BaseException:
        if out.release != NULL:
            out.release(out)
        return ENOMEM
    chunk.given = True
    return 0


cdef const char* stream_error(ArrowArrayStream* stream) noexcept nogil:
    return b"out of memory"


cdef void release_stream(ArrowArrayStream* stream) noexcept nogil:
    if stream.private_data != NULL and Py_IsInitialized():
        let_go(stream.private_data)
    memset(stream, 0, sizeof(ArrowArrayStream))


cdef void destroy_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(capsule, b"arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


def stream_capsule(tuple node not None):
    """Make a capsule named `arrow_array_stream`, of one chunk."""
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
