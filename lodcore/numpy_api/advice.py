"""Replacements for NumPy functions that are not supported because they would cross sequence boundaries."""

from __future__ import annotations

from typing import Any

from lodcore.base.other_names import FUNCTIONS

__all__ = ["BY_LABELS", "NOT_FIRST", "OF_DENSE", "advice", "name_of", "refused", "refused_on_arrays"]

#: Expressions that replace a method of ufuncs; x is the tensor.
METHODS = {"at": "x[index] = x[index] + y", "reduceat": "x.sum(axis=1), x.max(axis=1) and the like"}
#: Functions that compute number by number, which boundaries do not affect.
NUMBER_BY_NUMBER = frozenset(
    (
        *("busday_count", "busday_offset", "datetime_as_string", "digitize", "i0", "is_busday"),
        *("iscomplex", "isreal", "sinc"),
    )
)
#: Functions of all values together.
TOGETHER = frozenset(("bincount", "histogram", "histogram_bin_edges"))

#: What takes one number of each row.
BY_LABELS = "ops.index_values(x, [slice(None), y.values], paired=True) takes one number of each row, by integers y"
#: Why an index with levels is refused, and what to use instead.
NOT_FIRST = f"index: a mask or index with levels must be the first key; {BY_LABELS}"
OF_DENSE = (
    "index: has levels, and the indexed array has none; lookup_table(table, x) takes rows, and "
    "x.with_values(table[x.values, y.values]) one number for each entry of x and y"
)


def advice(function: str, module: str = "numpy") -> str:
    """Describe what to use instead of a function, or a method of a ufunc.

    Parameters
    ----------
    function : str
        The name, such as "gradient" or "add.reduceat".
    module : str

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> from lodcore.numpy_api.advice import advice
    >>> advice("trapezoid")
    'numpy.trapezoid: is not supported for sequences; use ((x[:, 1:] + x[:, :-1]) / 2).sum(axis=1)'
    >>> advice("upper", "numpy.strings")
    'numpy.strings.upper: is not supported for sequences; use x.with_values(np.strings.upper(x.values, ...)), value by \
value'
    >>> advice("sinc")
    'numpy.sinc: is not supported for sequences; use x.with_values(np.sinc(x.values, ...)), value by value'
    """
    name = f"{'np' if module == 'numpy' else module.replace('numpy', 'np', 1)}.{function}"
    where = f"{module}.{function}: is not supported for sequences"
    known = FUNCTIONS.get(name.removeprefix("np.")) or FUNCTIONS.get(function)
    instead = known or METHODS.get(function.partition(".")[2])
    if instead:
        return f"{where}; use {instead}"
    if function in NUMBER_BY_NUMBER or module in ("numpy.strings", "numpy.char"):
        return f"{where}; use x.with_values({name}(x.values, ...)), value by value"
    if function in TOGETHER:
        return f"{where}; use {name}(x.values, ...), of all values together"
    each = "map_sequences calls it for each of x.to_arrays(), or take x.to_padded()"
    return f"{where}; {each}; x.values has no sequence boundaries"


def refused(function: Any) -> TypeError:
    """Return the error for a NumPy function."""
    return TypeError(advice(function.__name__, _module_of(function)))


def name_of(function: Any) -> str:
    """Return the name of a NumPy function after "numpy."."""
    return f"{_module_of(function)}.{function.__name__}".removeprefix("numpy.")


def _module_of(function: Any) -> str:
    """Return the public module of a NumPy function."""
    module = str(getattr(function, "__module__", "numpy"))
    public = module if module.startswith("numpy.") and not module.startswith("numpy._") else "numpy"
    return public.removesuffix("._linalg").removesuffix("._pocketfft")


def refused_on_arrays(function: Any, method: str = "") -> TypeError:
    """Return the error for a NumPy function, or a method of a ufunc, of dense Variables."""
    return TypeError(
        f"numpy.{name_of(function)}{method}: has no rule for dense arrays that are recorded; call it on v.get() "
        "where no gradient goes through it, or write an operator (lodcore.ops.operator)"
    )
