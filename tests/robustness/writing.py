"""A thread that writes to arrays without holding the GIL, as NumPy does in its threads."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.processes import compiler


class Writer:
    """Compiles writing.c on construction; without a compiler it does nothing."""

    def __init__(self) -> None:
        self._library: Any = None
        if not (command := compiler()):
            return
        with tempfile.TemporaryDirectory() as directory:
            library, source = Path(directory, "writing.so"), Path(__file__).with_name("writing.c")
            subprocess.run([*command, "-shared", "-fPIC", "-O1", "-pthread", "-o", library, source], check=True)
            self._library = ctypes.CDLL(str(library))
        self._library.add_victim.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self._library.begin_writing.argtypes = [ctypes.c_uint64]

    @contextmanager
    def writes(self, arrays: list[Any], seed: int) -> Iterator[None]:
        """Write to these arrays meanwhile; their memory must not move."""
        if self._library is None:
            yield
            return
        for array in arrays:
            if array.dtype.kind not in "OTU" and array.flags.c_contiguous:  # NumPy requires valid characters
                self._library.add_victim(array.ctypes.data, array.size, array.itemsize)
        self._library.begin_writing(seed)
        try:
            yield
        finally:
            self._library.end_writing()
