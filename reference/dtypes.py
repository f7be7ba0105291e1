"""The dtypes of results, by NumPy's rules."""

__all__ = ["float_of", "promoted", "wrapped"]

BITS = {"uint8": 8, "uint64": 64, "int32": 32, "int64": 64}
ORDER = ("bool", "uint8", "int32", "int64", "float32", "float64")


def promoted(*dtypes):
    """Return the dtype to which several dtypes are promoted."""
    largest = max(dtypes, key=ORDER.index)
    return "float64" if largest == "float32" and {"int32", "int64"} & set(dtypes) else largest


def float_of(dtype):
    """Return the dtype of a mean or quotient: float64 for integers."""
    return dtype if dtype.startswith("float") else "float64"


def wrapped(number, dtype):
    """Wrap an integer that is too large for an integer dtype; other dtypes represent all numbers."""
    if dtype not in BITS:
        return number
    rest = number % 2 ** BITS[dtype]
    return rest - 2 ** BITS[dtype] if dtype.startswith("int") and rest >= 2 ** (BITS[dtype] - 1) else rest
