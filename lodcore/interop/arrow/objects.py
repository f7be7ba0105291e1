"""Objects with Arrow's interface, read whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.importing import Options, content
from lodcore.interop.arrow.parts import Finished, finish, joined
from lodcore.interop.arrow.reading import read_array, read_stream

__all__ = ["naming", "pair_of", "read_arrow"]

WHERE = "lodcore.from_arrow"


def read_arrow(obj: Any, nulls: Any, options: Options) -> Finished:
    """Read an object with `__arrow_c_array__` or `__arrow_c_stream__`; see `from_arrow`."""
    if hasattr(obj, "__arrow_c_array__"):
        schema, array = pair_of(obj.__arrow_c_array__())
        column: Any = read_array(schema, array)
        part, chunks = content(column, 0, column.length, options), [column]
    elif hasattr(obj, "__arrow_c_stream__"):
        chunks, column = read_stream(obj.__arrow_c_stream__())
        parts = [content(chunk, 0, chunk.length, options) for chunk in chunks if chunk.length]
        part = parts[0] if len(parts) == 1 else joined(parts) if parts else content(column, 0, 0, options)
    else:
        raise DTypeError(f"{WHERE}: obj: is {type(obj).__name__}; __arrow_c_array__ or __arrow_c_stream__ is needed")
    found = finish(part, nulls, options.records)
    found.column, found.chunks = column, chunks
    return found


def pair_of(capsules: Any) -> tuple[Any, Any]:
    """Check that `__arrow_c_array__` returned two capsules."""
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise DTypeError(
            f"{WHERE}: obj: its __arrow_c_array__ returned {type(capsules).__name__}; two capsules are needed"
        )
    return capsules


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the function that was called, and the column, in errors of reading."""
    try:
        yield
    except (DTypeError, LoDError) as error:
        raise type(error)(str(error).replace(f"{WHERE}: obj", name)) from None
