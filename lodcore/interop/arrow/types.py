"""The correspondence of Arrow types and dtypes."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from lodcore.errors import DTypeError

__all__ = [
    "DIGITS",
    "LISTS",
    "LIST_VIEWS",
    "MOST_WIDE",
    "PRIMITIVES",
    "StoredDType",
    "below_lists",
    "decimal_of",
    "decimals_as_floats",
    "example_of",
    "format_of",
    "has_digits",
    "kept_of",
    "stored",
    "width_of",
]

DType = np.dtype[Any]

#: Type of the offsets of lists, and of strings and binaries.
LISTS: dict[str, DType] = {"+l": np.dtype(np.int32), "+L": np.dtype(np.int64), "+m": np.dtype(np.int32)}
LIST_VIEWS: dict[str, DType] = {"+vl": np.dtype(np.int32), "+vL": np.dtype(np.int64)}

PRIMITIVES: dict[str, str] = {
    "c": "i1",
    "C": "u1",
    "s": "i2",
    "S": "u2",
    "i": "i4",
    "I": "u4",
    "l": "i8",
    "L": "u8",
    "e": "f2",
    "f": "f4",
    "g": "f8",
    "tdD": "i4",
    "tdm": "M8[ms]",
    "tts": "i4",
    "ttm": "i4",
    "ttu": "m8[us]",
    "ttn": "m8[ns]",
    "tDs": "m8[s]",
    "tDm": "m8[ms]",
    "tDu": "m8[us]",
    "tDn": "m8[ns]",
}
STAMPS = {"tss": "M8[s]", "tsm": "M8[ms]", "tsu": "M8[us]", "tsn": "M8[ns]"}

#: Units that NumPy counts in 64 bits, and Arrow in 32.
WIDENED = {"tdD": "M8[D]", "tts": "m8[s]", "ttm": "m8[ms]"}

#: The digits of a decimal number that float64 always holds, and the greatest power of ten that is exact.
DIGITS = 15
MOST_DIGITS = 22

#: The most digits of a decimal number of 128 bits, in which they go out.
MOST_KEPT = 38

#: A number in the type of decimal numbers.
NUMBER = re.compile(r"-?[0-9]{1,5}")

#: The widest row of a fixed size, as in other implementations.
MOST_WIDE = 2**31 - 1


class StoredDType(NamedTuple):
    """The layout of values in a buffer, and their dtype."""

    dtype: DType
    becomes: DType


def stored(format: str) -> StoredDType | None:
    """Return the dtype of a type whose values are contiguous in one buffer; None for any other type."""
    if format in PRIMITIVES:
        dtype = np.dtype(PRIMITIVES[format])
        return StoredDType(dtype, np.dtype(WIDENED.get(format, dtype)))
    if format[:3] in STAMPS and format[3:4] == ":":
        dtype = np.dtype(STAMPS[format[:3]])
        return StoredDType(dtype, dtype)
    if format[:2] == "w:":
        dtype = np.dtype(f"S{width_of(format, 2)}")
        return StoredDType(dtype, dtype)
    return None


def example_of(dtype: DType) -> str:
    """Return a value that stands for nulls, for messages."""
    return {"f": "float('nan')", "U": "''", "S": "b''", "b": "False", "M": "np.datetime64('NaT')"}.get(dtype.kind, "0")


def width_of(format: str, start: int) -> int:
    """Parse the number at the end of a type of a fixed size."""
    digits = format[start:]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 10 or int(digits) > MOST_WIDE:
        raise DTypeError(f"lodcore.from_arrow: obj: has format {format!r}; a size of 0 .. {MOST_WIDE} is needed in it")
    return int(digits)


def decimal_of(format: str, path: str) -> tuple[int, int]:
    """Parse the type of decimal numbers; return the digits after the point, and the bits of a number."""
    parts = format[2:].split(",")
    known = len(parts) in (2, 3) and all(map(NUMBER.fullmatch, parts))
    scale, bits = (int(parts[1]), int(parts[2]) if len(parts) == 3 else 128) if known else (0, 0)
    if bits not in (32, 64, 128, 256) or abs(scale) > MOST_DIGITS:
        raise DTypeError(f"lodcore.from_arrow: obj{path}: has format {format!r}, which NumPy has no dtype for")
    return scale, bits


def decimals_as_floats(given: Any) -> Any:
    """Return a decimal number that float64 holds as a float, and anything else unchanged."""
    if not isinstance(given, Decimal) or len(given.as_tuple().digits) > DIGITS or not math.isfinite(given):
        return given
    found = float(given)
    return found if math.isfinite(found) else given


def has_digits(values: Any, scale: int, digits: int | None) -> bool:
    """Return whether floats are decimal numbers of so many digits, of which `scale` are after the point."""
    with np.errstate(all="ignore"):
        fit = (np.round(values, scale) == values) & (np.abs(values) < 10.0 ** ((digits or MOST_KEPT) - scale))
    return bool(fit.all())


def below_lists(column: Any) -> Any:
    """Return the column of what is in the lists of a column.

    Parameters
    ----------
    column : Column
    """
    while column.format in LISTS or column.format in LIST_VIEWS or column.format.startswith("+w:"):
        (column,) = column.children
    return column


def kept_of(column: Any) -> tuple[Any, ...] | None:
    """Return what a type says, and its dtype does not: zone, digits, time of day; also below lists.

    Parameters
    ----------
    column : Column

    Returns
    -------
    ("zone", name), ("decimal", digits after the point, digits or None), ("time",), or None
    """
    column = below_lists(column)
    if column.dictionary is not None:
        return kept_of(column.dictionary)
    if column.format[:3] in STAMPS and column.format[4:]:
        return "zone", column.format[4:]
    if column.format.startswith("d:"):
        digits = int(column.format[2:].split(",")[0])
        return "decimal", decimal_of(column.format, column.path)[0], digits if digits <= MOST_KEPT else None
    return ("time",) if column.format.startswith("tt") else None


def format_of(where: str, dtype: DType) -> bytes:
    """Return the Arrow type of a dtype whose values need no conversion."""
    if dtype.kind in "iuf" and dtype.itemsize <= 8:
        names = {np.dtype(name).str[1:]: format for format, name in PRIMITIVES.items() if len(format) == 1}
        return names[dtype.str[1:]].encode()
    if dtype.kind == "V" and dtype.names is None:
        return b"w:%d" % dtype.itemsize
    if dtype.kind in "mM":
        unit, count = np.datetime_data(dtype)
        if count == 1 and unit in ("s", "ms", "us", "ns"):
            letter = {"s": b"s", "ms": b"m", "us": b"u", "ns": b"n"}[unit]
            return b"tD" + letter if dtype.kind == "m" else b"ts" + letter + b":"
    raise DTypeError(f"{where}: has dtype {dtype}, which Arrow does not have")
