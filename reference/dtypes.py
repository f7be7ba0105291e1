"""The dtypes of results, as NumPy has them."""

__all__ = ["float_of", "promoted"]

ORDER = ("bool", "uint8", "int32", "int64", "float32", "float64")


def promoted(*dtypes):
    """Tell the dtype that holds what several hold."""
    largest = max(dtypes, key=ORDER.index)
    return "float64" if largest == "float32" and {"int32", "int64"} & set(dtypes) else largest


def float_of(dtype):
    """Tell the dtype of a mean or quotient: float64 for integers."""
    return dtype if dtype.startswith("float") else "float64"
