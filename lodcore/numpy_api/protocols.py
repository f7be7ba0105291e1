"""NumPy's protocols: its functions call operators on LoDTensors and Variables, or raise."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.articles import with_number
from lodcore.base.caller import named_caller
from lodcore.base.dispatch import Symbol, open_operators
from lodcore.base.dtypes import as_dtype, common_dtype
from lodcore.base.keywords import first_argument, no_level
from lodcore.base.naming import call_named, name_recorded, rename
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.numpy_api.advice import advice, name_of, refused, refused_on_arrays
from lodcore.numpy_api.dense import DENSE, all_dense
from lodcore.numpy_api.indexing import getitem, read_only
from lodcore.operators.alignment import aligned, shared
from lodcore.operators.roles import as_batches, spec_of
from lodcore.ops.move.along import along
from lodcore.ops.move.joined_kinds import joined_rows, joined_sequences
from lodcore.ops.reduce.axes import dtype_of_accumulate, in_dtype, tensor_of
from lodcore.ops.reduce.reduce_values import axes_of
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.sequences import sequences_like

__all__ = [
    "FUNCTIONS",
    "array_function",
    "array_ufunc",
    "axis_of",
    "lists_converted",
    "refuse_symbols",
    "stands_for",
]

# -- ufuncs ------------------------------------------------------------------------------------------------------------

#: Ufuncs with operators of their own; all others are called by `elementwise`.
NAMED: dict[np.ufunc, Any] = {
    np.add: ops.add,
    np.subtract: ops.minus,
    np.multiply: ops.mul,
    np.divide: ops.div,
    np.matmul: ops.matmul,
    np.tanh: ops.tanh,
    np.exp: ops.exp,
    np.log: ops.log,
    np.sqrt: ops.sqrt,
    np.less: ops.less_than,
    np.less_equal: ops.less_equal_than,
    np.greater: ops.greater_than,
    np.greater_equal: ops.greater_equal_than,
    np.equal: ops.equal,
    np.not_equal: ops.not_equal,
    np.logical_and: ops.logical_and,
    np.logical_or: ops.logical_or,
    np.logical_not: ops.logical_not,
}
#: The functions that implement `ufunc.reduce`.
REDUCING: dict[np.ufunc, Callable[..., Any]] = {
    np.add: ops.sum,
    np.multiply: ops.prod,
    np.maximum: ops.max,
    np.minimum: ops.min,
    np.logical_and: ops.all,
    np.logical_or: ops.any,
}
LOGICAL = (np.logical_and, np.logical_or)
#: Ufuncs whose `reduce` combines bits.
BITS: dict[Any, Any] = {np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor"}


#: Methods of ufuncs that differ for dense Variables.
ALONE = frozenset(("accumulate", "outer"))

#: Ufuncs that accept nested lists, for comparisons.
COMPARED = frozenset((np.equal, np.not_equal))


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Call a ufunc, or its `reduce`."""
    if isinstance(self, Symbol) and (method in ALONE or ufunc in DENSE) and all_dense(inputs):
        return DENSE[ufunc if method == "__call__" else method](
            *([] if method == "__call__" else [ufunc]), *inputs, **kwargs
        )
    if method == "__call__":
        if ufunc.__name__ == "vecdot":
            return ops.vecdot(*inputs, **kwargs)
        if ufunc in COMPARED:
            inputs = lists_converted(*inputs)
        if kwargs:
            return _with_places(ufunc, inputs, kwargs)
        if ufunc in NAMED:
            return NAMED[ufunc](*inputs)
        if ufunc.nout == 1 and ufunc.signature is None:
            return ops.elementwise(list(inputs), ufunc)
        return _several(ufunc, inputs)
    if method == "reduce" and ufunc in LOGICAL and kwargs.get("dtype") in (bool, np.bool_, np.dtype(bool)):
        kwargs = {name: given for name, given in kwargs.items() if name != "dtype"}  # which NumPy's methods give
    if method == "reduce" and (ufunc in REDUCING or ufunc in BITS):
        reduce = REDUCING.get(ufunc) or partial(ops.bitwise_reduce, name=BITS[ufunc])
        return call_named(f"numpy.{ufunc.__name__}.reduce", reduce, *inputs, **{"axis": 0, **_without_defaults(kwargs)})
    if method == "accumulate":  # of two operands and one result: NumPy refuses others itself
        return accumulate(ufunc, *inputs, **{"axis": 0, **_without_defaults(kwargs)})
    if isinstance(self, Symbol) and all_dense(inputs):
        raise refused_on_arrays(ufunc, f".{method}")
    raise TypeError(advice(f"{ufunc.__name__}.{method}"))


def lists_converted(x: Any, y: Any) -> tuple[Any, Any]:
    """Convert nested lists to sequences if the other operand is a tensor with levels and they have all of its axes.

    Comparisons use it, so that `x == lists` is true everywhere if `x.equals(lists)`. The result has the LoD of the
    tensor.
    """
    for one, other in ((x, y), (y, x)):
        if type(other) in (list, tuple) and hasattr(one, "num_levels") and one.num_levels:
            known: Any = tensor_of("equal", one)
            spec = spec_of(known) if isinstance(known, LoDTensor) else known.spec
            taken = sequences_like(other, spec.num_levels, spec.shape[1:], spec.dtype)
            if taken is not None:
                return one, taken
    return x, y


def _without_defaults(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Remove arguments that equal their defaults."""
    return {
        name: given
        for name, given in kwargs.items()
        if given is not np._NoValue and (given is not None or name == "axis")
    }


def refuse_symbols(name: str, given: Any) -> None:
    """Raise if there is a Variable among the arguments."""
    if any(isinstance(x, Symbol) for x in given):
        raise TypeError(f"numpy.{name}: with these arguments it cannot be recorded; a Variable is given")


def _several(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call a ufunc with several results."""
    if ufunc.signature is not None:
        raise TypeError(advice(ufunc.__name__))
    if ufunc is np.divmod:
        return tuple(ops.elementwise(list(inputs), part) for part in (np.floor_divide, np.remainder))
    refuse_symbols(ufunc.__name__, inputs)
    return tuple(shared(ufunc.__name__, lambda *x, k=k: ufunc(*x)[k], *inputs) for k in range(ufunc.nout))


def _with_places(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a ufunc with `out`, `where`, `dtype` or `casting`."""
    where = f"numpy.{ufunc.__name__}"
    mask, targets = kwargs.pop("where", True), kwargs.pop("out", None)
    others = kwargs.keys() - {"dtype", "casting"}
    if others or ufunc.nout != 1 or ufunc.signature is not None:
        raise TypeError(f"{where}: {', '.join(sorted(others)) or 'out'}: is not supported")
    refuse_symbols(ufunc.__name__, [*inputs, mask, *(targets or ())])
    if targets is None:
        if mask is not True:
            raise TypeError(f"{where}: where: needs out=, since what is not computed would have no value")
        return shared(ufunc.__name__, partial(ufunc, **kwargs), *inputs)
    (target,) = targets
    if not isinstance(target, LoDTensor):
        raise TypeError(f"{where}: out: is {type(target).__name__}; a LoDTensor with the structure of x is needed")
    given = [*inputs, *([] if mask is True else [mask]), target]
    for j, x in enumerate(given):
        if not isinstance(x, (LoDTensor, np.ndarray, np.generic, int, float, complex)):
            given[j] = np.asarray(x)
        elif isinstance(x, LoDTensor) and x.num_levels > target.num_levels:
            raise LoDError(
                f"{where}: operand {j}: has {with_number(x.num_levels, 'level')}; out has {target.num_levels}"
            )
    values = aligned(given, where)
    chosen = {} if mask is True else {"where": values[len(inputs)]}
    try:
        if _together(where, values) != values[-1].shape or values[-1].ndim > target.values.ndim:
            raise ShapeError(f"{where}: out: has rows of shape {target.values.shape[1:]}; the result has wider ones")
        if not (rows := lod_tensor_body.writable_values(target)).flags.writeable:
            raise read_only(f"{where}: out", rows)
        with named_caller():
            ufunc(*values[: len(inputs)], out=rows, **chosen, **kwargs)
    except TypeError as error:
        raise DTypeError(f"{where}: {error}") from None
    return target


def _together(where: str, values: Any) -> tuple[int, ...]:
    """Broadcast shapes."""
    try:
        return np.broadcast_shapes(*map(np.shape, values))
    except ValueError as error:
        raise ShapeError(f"{where}: {error}") from None


# -- functions ---------------------------------------------------------------------------------------------------------

#: The functions that implement NumPy's functions.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def array_function(self: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of a NumPy function."""
    if not all(issubclass(kind, (LoDTensor, Symbol, np.ndarray)) for kind in types):
        return NotImplemented
    args = args or first_argument(function, kwargs)  # the implementations have names of their own for it
    if isinstance(self, Symbol) and all_dense(args) and (not kwargs or all_dense(kwargs.values())):
        return on_arrays(function, args, kwargs)
    if function not in FUNCTIONS:
        raise refused(function)
    return _called(function, args, kwargs)


def _called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of a NumPy function; errors name it, and an argument of which NumPy makes no array."""
    recorded = open_operators()
    before = len(recorded or ())
    try:
        found = FUNCTIONS[function](*args, **kwargs)
    except (TypeError, ValueError, IndexError) as error:
        if "array element with a sequence" not in str(error):
            if not str(error).startswith(f"{function.__name__}: "):
                rename(f"numpy.{name_of(function)}", error)
            raise
        try:
            names = [*inspect.signature(function).parameters]
        except ValueError:
            names = []
        for name, given in [*zip([*names, *range(len(names), len(args))], args, strict=False), *kwargs.items()]:
            if isinstance(given, (list, tuple)):
                as_array(f"numpy.{name_of(function)}: {name}", given)
        raise
    if recorded is not None:
        name_recorded(recorded[before:], f"numpy.{name_of(function)}")
    return found


def on_arrays(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of a NumPy function on dense Variables."""
    if kwargs.get("out") is not None:
        raise TypeError(f"numpy.{name_of(function)}: out: is not supported where it is recorded")
    found = DENSE.get(function)
    if found is None:
        if function not in FUNCTIONS:
            raise refused_on_arrays(function)
        return _called(function, args, kwargs)
    kwargs.pop("out", None)
    return call_named(f"numpy.{name_of(function)}", found, *args, **kwargs)


def axis_of(where: str, axis: Any, ndim: int) -> int:
    """Check one axis; return it counted from the first."""
    if isinstance(axis, tuple):
        raise DTypeError(f"{where}: axis: is {axis!r}; an integer is needed")
    return axes_of(where, axis, ndim)[0]


def stands_for(*functions: Any) -> Callable[[Any], Any]:
    """Register the implementation of NumPy functions; None stands for one that this NumPy lacks."""

    def enter(made: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys([one for one in functions if one is not None], made))
        return made

    return enter


_REDUCTIONS: tuple[tuple[Any, Any], ...] = (
    (np.sum, ops.sum),
    (np.prod, ops.prod),
    (np.mean, ops.mean),
    (np.max, ops.max),
    (np.min, ops.min),
    (np.any, ops.any),
    (np.all, ops.all),
    (np.argmax, ops.argmax),
    (np.argmin, ops.argmin),
    (np.var, ops.var),
    (np.std, ops.std),
    (np.amax, ops.max),
    (np.amin, ops.min),
)
FUNCTIONS.update(_REDUCTIONS)


@stands_for(np.where)
def where(condition: Any, *choices: Any) -> Any:
    """Select elementwise, as `lodcore.ops.where`; for a condition alone, return its positions, as `numpy.nonzero`."""
    if len(choices) == 1 or len(choices) > 2:
        raise TypeError("numpy.where: needs a condition, and two choices or none")
    if not choices:
        return FUNCTIONS[np.nonzero](condition)
    return ops.where(condition, *choices)


@stands_for(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join batches along axis 0, sequences along axes of levels, rows along axes of rows."""
    if out is not None or axis is None:
        raise TypeError(f"numpy.concatenate: {'axis' if axis is None else 'out'}: is not supported for sequences")
    xs: Any = [x if isinstance(x, (list, tuple)) else tensor_of("concatenate", x) for x in arrays]
    nested = any(getattr(x, "num_levels", 0) for x in xs)
    xs = as_batches("concatenate: arrays", xs) if nested else [tensor_of("concatenate", x) for x in xs]
    shaped = next((x for x in xs if getattr(x, "num_levels", 0)), xs[0])
    for j, x in enumerate(xs):  # so that an axis has the same meaning in all of them
        if x.ndim != xs[0].ndim and x.ndim and xs[0].ndim:
            raise ShapeError(f"numpy.concatenate: arrays[{j}]: has {x.ndim} axes; arrays[0] has {xs[0].ndim}")
    at = axis_of("concatenate", axis, shaped.ndim)
    if nested:
        joined = joined_sequences if at <= shaped.num_levels else joined_rows
        xs = joined("concatenate: arrays", xs, at)
    if dtype is None:
        wanted = common_dtype("numpy.concatenate", {f"arrays[{j}]": x.dtype for j, x in enumerate(xs)})
    else:
        wanted = as_dtype("numpy.concatenate: dtype", dtype)
    for j, x in enumerate(xs):
        if x.dtype != wanted:
            if not np.can_cast(x.dtype, wanted, casting):  # type: ignore[arg-type]
                raise DTypeError(f"numpy.concatenate: array {j}: has dtype {x.dtype}; {wanted} cannot hold it")
            xs[j] = ops.cast(x, wanted)
    levels = getattr(xs[0], "num_levels", 0)
    if at == 0 and levels:
        return ops.concat_batches(xs)
    return ops.sequence_concat(xs, at - 1) if at and at <= levels else ops.concat_values(xs, at - levels)


@stands_for(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the order of elements along axes of levels or rows, by default along all of them."""
    x = tensor_of("flip", m)
    for at in range(x.ndim) if axis is None else axes_of("flip", axis, x.ndim):
        x = getitem(x, (*[slice(None)] * at, slice(None, None, -1)))
    return x


@stands_for(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Any:
    """Gather elements along an axis, as indexing does."""
    if out is not None or mode != "raise" or axis is None:
        raise TypeError("numpy.take: only axis is supported for sequences")
    if getattr(indices, "num_levels", 0) or np.asarray(indices if not isinstance(indices, Symbol) else 0).dtype == bool:
        raise TypeError(
            "numpy.take: indices: integers are needed, without levels; x[indices] takes masks and those with levels"
        )
    at = axis_of("take", axis, a.ndim)
    found = getitem(a, (*[slice(None)] * at, indices))
    return found if isinstance(found, Symbol) or np.ndim(indices) else found.copy()


@stands_for(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None, *, level: None = None) -> Any:
    """Compute cumulative sums of the rows of each sequence, or of elements at the same position of sequences.

    Parameters
    ----------
    axis : int
        Needed for sequences. That of the last level adds up the rows of each sequence; a coarser one adds up the
        elements at the same position of sequences, one after another; one of a row adds up its entries (not recorded).
    dtype : dtype_like, optional
        The dtype of the computation and of the result.
    out, level : None
        Not supported; level k is axis k + 1.

    Returns
    -------
    LoDTensor
        Has the LoD of the tensor.

    Raises
    ------
    TypeError
        If axis is None, or out or level are given.
    ShapeError, DTypeError
        If the axis does not exist, or the values are not numbers.
    """
    if level is not None:
        raise no_level("cumsum")
    x = tensor_of("cumsum", a)
    if out is not None:
        raise TypeError("numpy.cumsum: out: is not supported; the result is a new tensor")
    if axis is None:
        raise TypeError("numpy.cumsum: axis: is None; an axis is needed, np.cumsum(x.values) adds up all rows")
    levels, at = getattr(x, "num_levels", 0), axis_of("cumsum", axis, x.ndim)
    if at > levels or x.dtype.kind == "m":
        return accumulate(np.add, x, axis, dtype)
    x = x if dtype is None else ops.cast(x, dtype)
    return in_dtype(along(x, at, ops.sequence_cumsum), dtype)


def accumulate(ufunc: np.ufunc, array: Any, axis: Any, dtype: Any = None, out: None = None) -> Any:
    """Accumulate by a ufunc along axes of levels, or of rows."""
    where = f"{ufunc.__name__}.accumulate"
    x = tensor_of(where, array)
    levels = getattr(x, "num_levels", 0)
    at = axis_of(where, axis, x.ndim)
    if out is not None:
        raise TypeError(f"numpy.{where}: out: is not supported; the result is a new tensor")
    if at > levels:
        refuse_symbols(where, (x,))
        return shared(where, lambda values: ufunc.accumulate(values, at - levels, dtype), x)
    if dtype is not None:
        x, dtype = ops.cast(x, dtype), dtype_of_accumulate(where, ufunc, x.dtype, dtype)
    adds = ufunc is np.add and x.dtype.kind != "b"
    accumulated = ops.sequence_cumsum if adds else partial(ops.sequence_accumulate, ufunc=ufunc)
    return in_dtype(along(x, at, accumulated), dtype)


@stands_for(np.dot)
def dot(a: Any, b: Any, out: None = None) -> Any:
    """Multiply matrices, as `lodcore.matmul` does; multiply by a number elementwise."""
    if out is not None or (np.ndim(b) > 2 and not getattr(b, "num_levels", 0)):
        raise TypeError("numpy.dot: only a matrix on the right is supported for sequences")
    return ops.mul(a, b) if np.ndim(b) == 0 or np.ndim(a) == 0 else ops.matmul(a, b)


@stands_for(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Count nonzero values."""
    if type(a) is LoDTensor and axis is None and keepdims is False and a.dtype.kind in "biufc":
        return np.int64(np.count_nonzero(a.values))
    return ops.sum(ops.not_equal(a, 0), axis, keepdims=keepdims)
