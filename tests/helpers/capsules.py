"""Structs of Arrow's C data interface, made with ctypes: valid and invalid ones."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, cast, py_object, pythonapi

import numpy as np


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


RELEASE = CFUNCTYPE(None, c_void_p)
GET = CFUNCTYPE(c_int, c_void_p, c_void_p)
ERROR = CFUNCTYPE(c_void_p, c_void_p)

ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", c_void_p),
    ("get_next", c_void_p),
    ("get_last_error", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]

pythonapi.PyCapsule_New.restype = py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]

#: The arrays that somebody may still release, by a callback of theirs.
LENT = set()


class Forged:
    """An array of the interface in memory of ctypes, which counts how often it is released, and lives until then.

    Parameters
    ----------
    format : bytes
    length : int
    buffers : list of ndarray or None
    children : list of Forged
    dictionary : Forged, optional
    array, schema : dict
        Fields of the structs to override.
    """

    def __init__(
        self,
        format,
        length,
        buffers=(),
        children=(),
        dictionary=None,
        name=b"",
        offset=0,
        null_count=0,
        array=None,
        schema=None,
        names=(b"arrow_schema", b"arrow_array"),
    ):
        self.releases = 0
        self.kept = [*buffers, *children, dictionary]
        self.names = names
        count = len(children)
        places = [None if buffer is None else buffer.ctypes.data for buffer in buffers]
        self.buffers = (c_void_p * max(1, len(places)))(*places)
        self.schemas = (POINTER(ArrowSchema) * max(1, count))(*(ctypes.pointer(child.schema) for child in children))
        self.arrays = (POINTER(ArrowArray) * max(1, count))(*(ctypes.pointer(child.array) for child in children))

        def release_array(place):
            self.releases += 1
            ArrowArray.from_address(place).release = None
            LENT.discard(self)

        def release_schema(place):
            ArrowSchema.from_address(place).release = None

        self.callbacks = RELEASE(release_array), RELEASE(release_schema)
        self.array = ArrowArray(
            length=length,
            null_count=null_count,
            offset=offset,
            n_buffers=len(places),
            n_children=count,
            buffers=cast(self.buffers, POINTER(c_void_p)),
            children=cast(self.arrays, POINTER(POINTER(ArrowArray))),
            release=cast(self.callbacks[0], c_void_p),
        )
        self.schema = ArrowSchema(
            format=format,
            name=name,
            flags=2,
            n_children=count,
            children=cast(self.schemas, POINTER(POINTER(ArrowSchema))),
            release=cast(self.callbacks[1], c_void_p),
        )
        if dictionary is not None:
            self.array.dictionary = ctypes.pointer(dictionary.array)
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
        for field, value in (array or {}).items():
            setattr(self.array, field, value)
        for field, value in (schema or {}).items():
            setattr(self.schema, field, value)

    def __arrow_c_array__(self, requested_schema=None):
        LENT.add(self)
        schema = pythonapi.PyCapsule_New(ctypes.addressof(self.schema), self.names[0], None)
        return schema, pythonapi.PyCapsule_New(ctypes.addressof(self.array), self.names[1], None)


class ForgedStream:
    """A stream of forged arrays.

    Parameters
    ----------
    chunks : list of Forged
    fails_at : int, optional
        The call of get_next that fails; -1 for get_schema.
    """

    def __init__(self, chunks, fails_at=None, kind=None, stream=None):
        self.chunks, self.kind, self.at, self.releases = chunks, kind or chunks[0], 0, 0
        self.message = ctypes.create_string_buffer(b"out of ink")

        def get_schema(stream, out):
            if fails_at == -1:
                return 5
            ctypes.memmove(out, ctypes.addressof(self.kind.schema), ctypes.sizeof(ArrowSchema))
            self.kind.schema.release = None  # it was moved
            return 0

        def get_next(stream, out):
            if fails_at == self.at:
                return 5
            if self.at == len(self.chunks):
                ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
                return 0
            ctypes.memmove(out, ctypes.addressof(self.chunks[self.at].array), ctypes.sizeof(ArrowArray))
            self.chunks[self.at].array.release = None
            LENT.add(self.chunks[self.at])
            self.at += 1
            return 0

        def release(stream):
            self.releases += 1
            ArrowArrayStream.from_address(stream).release = None

        self.callbacks = GET(get_schema), GET(get_next), ERROR(lambda _: ctypes.addressof(self.message))
        self.callbacks += (RELEASE(release),)
        self.stream = ArrowArrayStream(*(cast(callback, c_void_p) for callback in self.callbacks))
        for field, value in (stream or {}).items():
            setattr(self.stream, field, value)

    def __arrow_c_stream__(self, requested_schema=None):
        return pythonapi.PyCapsule_New(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def bits(*flags):
    """Pack flags into bits, as validity bitmaps have them."""
    return np.packbits(np.array(flags, bool), bitorder="little")


def leaf(values, **fields):
    """Forge an array of int32 or int64."""
    values = np.asarray(values)
    return Forged(b"i" if values.dtype == np.int32 else b"l", len(values), [None, values], **fields)


def lists(offsets, child, dtype=np.int32, **fields):
    """Forge an array of lists."""
    offsets = np.asarray(offsets, dtype)
    format = b"+l" if dtype == np.int32 else b"+L"
    return Forged(format, max(0, len(offsets) - 1), [None, offsets], [child], **fields)


def array_of(capsules):
    """Return the struct of an array in a pair of capsules, which it keeps."""
    made = ArrowArray.from_address(pythonapi.PyCapsule_GetPointer(capsules[1], b"arrow_array"))
    made.capsules = capsules
    return made


def schema_of(capsule):
    """Return the struct of a schema in a capsule, which it keeps."""
    made = ArrowSchema.from_address(pythonapi.PyCapsule_GetPointer(capsule, b"arrow_schema"))
    made.capsule = capsule
    return made
