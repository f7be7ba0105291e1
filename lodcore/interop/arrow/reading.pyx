"""Import by Arrow's C data interface: capsules become trees of `Column`, which return checked views of their buffers.

The struct of an array is moved out of its capsule into a `Lender`, which releases it exactly once, when the last view
of its memory is gone. A schema is only read: its capsule releases it. Each field of a struct is checked against the
others before it is used; the interface does not contain the sizes of buffers, which follow from the lengths.
"""

cimport lodcore.kernels.arrays as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uintptr_t
from libc.string cimport memcpy, memset

from lodcore.base.buffers cimport array_over, held_by
from lodcore.interop.arrow.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema
from lodcore.interop.arrow.writing cimport node_of

import numpy as np

from lodcore.errors import DTypeError, LoDError
from lodcore.base.memory import check_size

cdef extern from "<string.h>" nogil:
    size_t strnlen(const char* text, size_t most)

cnp.import_array()

cdef str WHERE = "lodcore.from_arrow: obj"
cdef bytes NAME = b"ARROW:extension:name"
cdef bytes PARAMETERS = b"ARROW:extension:metadata"
cdef int64_t LARGEST = 1 << 47  # bytes that a process can address
cdef enum:
    DEEPEST = 64  # nested types; a deeper struct contains itself
    MOST_COLUMNS = 1 << 16  # in one tree
    MOST_BUFFERS = 1 << 16
    LONGEST_NAME = 1 << 16
    ORDERED = 1  # the flag of a dictionary


cdef class Lender:
    """The owner of the struct of an array, which releases it when its memory is no longer used."""

    cdef ArrowArray array

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))

    def __dealloc__(self):
        if self.array.release != NULL:
            with nogil:
                self.array.release(&self.array)


cdef class SchemaLender:
    """The owner of the struct of a schema that a stream returned."""

    cdef ArrowSchema schema

    def __cinit__(self):
        memset(&self.schema, 0, sizeof(ArrowSchema))

    def __dealloc__(self):
        if self.schema.release != NULL:
            with nogil:
                self.schema.release(&self.schema)


cdef class StreamLender:
    """The owner of the struct of a stream."""

    cdef ArrowArrayStream stream

    def __cinit__(self):
        memset(&self.stream, 0, sizeof(ArrowArrayStream))

    def __dealloc__(self):
        if self.stream.release != NULL:
            with nogil:
                self.stream.release(&self.stream)

    cdef check(self, int code, str call):
        """Raise the error of a failed call of the stream."""
        cdef const char* text = NULL
        if code == 0:
            return
        if self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        said = "" if text == NULL else ": " + text[:strnlen(text, LONGEST_NAME)].decode("utf-8", "replace")
        raise OSError(code, f"{WHERE}: {call} of its stream failed{said}")


cdef class Column:
    """An array of the C data interface: its type, its checked sizes, and its contents.

    Attributes
    ----------
    format, name, path : str
        The type in the notation of the interface, the name of the field, and its path, for messages.
    ordered : bool
        Whether the order of the dictionary is that of its values.
    extension : str
        The name of the extension type whose storage this is; empty if it is none.
    parameters : bytes
        What the extension type says of itself.
    length, offset, null_count : int
        `null_count` is -1 if it is unknown.
    children : tuple of Column
    dictionary : Column or None
    """

    cdef readonly str format, name, path, extension
    cdef readonly bytes parameters
    cdef readonly bint ordered
    cdef readonly int64_t length, offset, null_count, num_buffers
    cdef readonly tuple children
    cdef readonly Column dictionary
    cdef Lender lender
    cdef const void** buffers
    cdef tuple node  # of which the struct was made, if it is our own

    cdef object owner(self, Py_ssize_t k):
        """Return the object that a view of buffer k holds: of our own struct, what owns the memory, not the struct."""
        given = None if self.node is None else (<tuple> self.node[4])[k]
        if given is None or cnp.PyArray_DATA(<cnp.ndarray?> given) != self.buffers[k]:
            return self.lender
        return held_by(<cnp.ndarray> given)

    def has_buffer(self, Py_ssize_t k):
        """Return whether buffer k, which the type has, is present."""
        return k < self.num_buffers and self.buffers[k] != NULL

    def buffer(self, Py_ssize_t k, dtype, start, stop, str what="values"):
        """Return a read-only view of entries of a buffer, or a copy if they are not aligned.

        Parameters
        ----------
        k : int
            The number of the buffer.
        dtype : dtype
        start, stop : int
            The range of entries of the buffer, within the checked lengths.
        what : str
            The contents of the buffer, for the message.

        Returns
        -------
        ndarray
            shape (stop - start,).
        """
        cdef cnp.dtype kind = dtype
        cdef cnp.npy_intp shape[1]
        cdef uintptr_t place
        cdef Py_ssize_t size = kind.itemsize
        if start >= stop or size == 0:
            return np.zeros(max(0, stop - start), kind)
        if stop > LARGEST // size:  # more than fits in memory may still be mapped from a file
            raise MemoryError(f"{WHERE}{self.path}: has {stop} x {size} bytes of {what}; {LARGEST} is the most")
        if not self.has_buffer(k):
            raise LoDError(f"{WHERE}{self.path}: has no buffer of {what}; {stop} entries need one")
        shape[0] = stop - start
        place = <uintptr_t> self.buffers[k]
        if place > <uintptr_t> INT64_MAX - <uintptr_t> (stop * size):
            raise LoDError(f"{WHERE}{self.path}: its buffer of {what} ends behind the last address")
        place += <uintptr_t> (start * size)
        if place % <uintptr_t> kind.alignment == 0:
            return array_over(self.owner(k), <cnp.PyArray_Descr*> kind, 1, shape, NULL, <const void*> place, False)
        check_size(WHERE, shape[0], size)
        shape[0] *= size
        data = array_over(self.owner(k), <cnp.PyArray_Descr*> BYTE, 1, shape, NULL, <const void*> place, False)
        copy = data.copy().view(kind)
        copy.flags.writeable = False
        return copy


cdef object BYTE_DTYPE = np.dtype(np.uint8)
cdef cnp.dtype BYTE = BYTE_DTYPE


cdef str text_of(const char* text, str what):
    """Read a C string of a schema."""
    cdef size_t size
    if text == NULL:
        return ""
    size = strnlen(text, LONGEST_NAME)
    if size == LONGEST_NAME:
        raise LoDError(f"{WHERE}: {what}: is longer than {LONGEST_NAME - 1} bytes")
    return text[:size].decode("utf-8", "replace")


cdef dict extension_of(const char* metadata, str path):
    """Read the entries of the metadata of a schema that say of which extension type it is."""
    cdef dict found = {}
    cdef const char* key
    cdef int32_t count, size
    if metadata == NULL:
        return found
    memcpy(&count, metadata, 4)
    metadata += 4
    if count < 0:
        raise LoDError(f"{WHERE}{path}: its metadata has {count} entries; 0 or more is valid")
    for _ in range(count):
        key = metadata + 4
        metadata += 4 + metadata_size(metadata, path)
        size = metadata_size(metadata, path)
        if metadata - key in (len(NAME), len(PARAMETERS)) and size < LONGEST_NAME:
            found[key[:metadata - key]] = metadata[4:4 + size]
        metadata += 4 + size
    return found


cdef int32_t metadata_size(const char* place, str path) except -1:
    """Read the size of a text in the metadata of a schema."""
    cdef int32_t size
    memcpy(&size, place, 4)
    if size < 0:
        raise LoDError(f"{WHERE}{path}: its metadata has a text of {size} bytes; 0 or more is valid")
    return size


cdef Column read_column(const ArrowSchema* schema, const ArrowArray* array, Lender lender, str path, int depth,
                        list count):
    """Read a type and its array; without an array, return an empty Column."""
    cdef Column column = Column()
    cdef int64_t k
    cdef const ArrowArray* child
    cdef list children = []
    if depth > DEEPEST:
        raise LoDError(f"{WHERE}{path}: is nested more than {DEEPEST} deep; does it contain itself?")
    count[0] += 1
    if count[0] > MOST_COLUMNS:
        raise LoDError(f"{WHERE}: has more than {MOST_COLUMNS} columns; does it contain itself?")
    if schema.release == NULL:
        raise LoDError(f"{WHERE}{path}: its schema was released already")
    if schema.format == NULL:
        raise LoDError(f"{WHERE}{path}: its schema has no format")
    column.format = text_of(schema.format, "format")
    column.name = text_of(schema.name, "name")
    column.path, column.lender = path, lender
    column.ordered = schema.flags & ORDERED
    said = extension_of(schema.metadata, path)
    column.extension = said.get(NAME, b"").decode("utf-8", "replace")
    column.parameters = said.get(PARAMETERS, b"")
    if array != NULL:
        check_sizes(array, path)
        column.length, column.offset, column.null_count = array.length, array.offset, array.null_count
        column.num_buffers, column.buffers = array.n_buffers, array.buffers
        column.node = node_of(array)
        if array.n_children != schema.n_children:
            raise LoDError(f"{WHERE}{path}: has {array.n_children} children; its schema has {schema.n_children}")
        if (array.dictionary == NULL) != (schema.dictionary == NULL):
            raise LoDError(f"{WHERE}{path}: only one of array and schema has a dictionary")
    if schema.n_children < 0 or schema.n_children > MOST_COLUMNS:
        raise LoDError(f"{WHERE}{path}: has {schema.n_children} children; 0 .. {MOST_COLUMNS} is valid")
    if schema.n_children and (schema.children == NULL or array != NULL and array.children == NULL):
        raise LoDError(f"{WHERE}{path}: claims {schema.n_children} children, but has none")
    for k in range(schema.n_children):
        child = NULL if array == NULL else array.children[k]
        if schema.children[k] == NULL or array != NULL and child == NULL:
            raise LoDError(f"{WHERE}{path}: child {k} is missing")
        name = text_of(schema.children[k].name, "name")
        children.append(read_column(schema.children[k], child, lender, f"{path}[{name or k}]", depth + 1, count))
    column.children = tuple(children)
    if schema.dictionary != NULL:
        child = NULL if array == NULL else array.dictionary
        column.dictionary = read_column(schema.dictionary, child, lender, path + "[dictionary]", depth + 1, count)
    return column


cdef check_sizes(const ArrowArray* array, str path):
    """Raise for invalid numbers in the struct of an array."""
    if array.release == NULL:
        raise LoDError(f"{WHERE}{path}: was released already")
    if array.length < 0:
        raise LoDError(f"{WHERE}{path}: has length {array.length}; it is not negative")
    if array.offset < 0:
        raise LoDError(f"{WHERE}{path}: has offset {array.offset}; it is not negative")
    if array.length > INT64_MAX - 1 - array.offset:
        raise LoDError(f"{WHERE}{path}: has offset {array.offset} and length {array.length}; int64 holds their sum")
    if array.null_count < -1 or array.null_count > array.length:
        raise LoDError(f"{WHERE}{path}: has null_count {array.null_count}; -1 .. {array.length} is valid")
    if array.n_buffers < 0 or array.n_buffers > MOST_BUFFERS:
        raise LoDError(f"{WHERE}{path}: has {array.n_buffers} buffers; 0 .. {MOST_BUFFERS} is valid")
    if array.n_buffers and array.buffers == NULL:
        raise LoDError(f"{WHERE}{path}: claims {array.n_buffers} buffers, but has none")


cdef void* pointer(object capsule, const char* name) except NULL:
    """Return the pointer of a capsule with a given name."""
    if not PyCapsule_IsValid(capsule, name):
        raise DTypeError(f"{WHERE}: returned {capsule!r}; a capsule named {name.decode()!r} is needed")
    return PyCapsule_GetPointer(capsule, name)


def read_schema(capsule):
    """Read a capsule of a schema as a Column without entries."""
    return read_column(<const ArrowSchema*> pointer(capsule, b"arrow_schema"), NULL, Lender(), "", 0, [0])


def read_array(schema_capsule, array_capsule):
    """Read the capsules of an array; its struct is moved out, so that only we release it."""
    cdef const ArrowSchema* schema = <const ArrowSchema*> pointer(schema_capsule, b"arrow_schema")
    cdef ArrowArray* array = <ArrowArray*> pointer(array_capsule, b"arrow_array")
    cdef Lender lender = Lender()
    if array.release == NULL:
        raise LoDError(f"{WHERE}: was released already")
    lender.array = array[0]
    array.release = NULL
    return read_column(schema, &lender.array, lender, "", 0, [0])


def read_stream(capsule):
    """Read a capsule of a stream to its end.

    Returns
    -------
    (list of Column, Column)
        One column per chunk, and one without entries that has the type.
    """
    cdef ArrowArrayStream* given = <ArrowArrayStream*> pointer(capsule, b"arrow_array_stream")
    cdef StreamLender stream = StreamLender()
    cdef SchemaLender schema = SchemaLender()
    cdef Lender lender
    cdef int code
    cdef list columns = []
    if given.release == NULL:
        raise LoDError(f"{WHERE}: its stream was released already")
    stream.stream = given[0]
    given.release = NULL
    if stream.stream.get_schema == NULL or stream.stream.get_next == NULL:
        raise LoDError(f"{WHERE}: its stream lacks a function")
    with nogil:
        code = stream.stream.get_schema(&stream.stream, &schema.schema)
    stream.check(code, "get_schema")
    kind = read_column(&schema.schema, NULL, Lender(), "", 0, [0])
    while True:
        lender = Lender()
        with nogil:
            code = stream.stream.get_next(&stream.stream, &lender.array)
        stream.check(code, "get_next")
        if lender.array.release == NULL:
            return columns, kind
        columns.append(read_column(&schema.schema, &lender.array, lender, "", 0, [0]))
