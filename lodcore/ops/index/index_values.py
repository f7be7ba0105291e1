"""NumPy's indexing of dense arrays, and of the rows of LoDTensors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of, list_of, operand_of
from lodcore.operators.lod_rules import same_as
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Keys
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["index_values"]

#: An axis in messages of NumPy, which counts those of the values.
AXIS = re.compile(r"\baxis (\d+)")

#: The types of keys that need no conversion.
PLACES = frozenset((int, slice, type(None), type(Ellipsis)))

Shape = tuple[int | None, ...]


@operator(x=Dense, keys=Keys, lod_rule=same_as("x"))
def index_values(x: Any, keys: Any, paired: bool = False) -> Any:
    """Index values as NumPy does; for a LoDTensor, index only the axes of its rows.

    Parameters
    ----------
    x : LoDTensor or array_like
    keys : list of int, slice, None, Ellipsis, or arrays of integers or bool
        The index. For a LoDTensor, the first key must be `slice(None)`, and arrays must be adjacent.
    paired : bool
        Whether vectors among the keys have one entry per row, for that row only; the first key must be `slice(None)`.

    Returns
    -------
    LoDTensor, ndarray or number
        A view, as in NumPy, if x is dense and no key is an array.

    Raises
    ------
    IndexError
        As in NumPy.
    ShapeError
        If not all rows of a LoDTensor are kept in their order.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1, 2], [3, 4], [5, 6]], [2, 1])
    >>> lodcore.ops.index_values(x, [slice(None), 1])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 4], [6]])
    >>> lodcore.ops.index_values(np.arange(5), [slice(None, None, 2)])
    array([0, 2, 4])
    """
    plain = not paired and type(keys) is list and PLACES.issuperset(map(type, keys))
    if plain and type(x) is np.ndarray and not x.dtype.hasobject:
        return x[tuple(keys)]
    chosen = _chosen(list_of("index_values: keys", keys))
    values = dense_of("index_values: x", x, levels=True).view()
    if paired:
        chosen = _with_rows(chosen, len(values))
    elif isinstance(x, LoDTensor):
        _check_rows(chosen)
    try:
        return values[chosen]
    except IndexError as error:
        levels = x.num_levels if isinstance(x, LoDTensor) else 0
        raise IndexError(AXIS.sub(lambda found: f"axis {int(found[1]) + levels}", str(error))) from None


def _with_rows(keys: tuple[Any, ...], n_rows: int) -> tuple[Any, ...]:
    """Align vectors with the rows."""
    _check_first(keys)
    for j, key in enumerate(keys):
        if _is_array(key) and key.shape != (n_rows,):
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together with shapes ({n_rows},) "
                f"{tuple(key.shape)}, of index {j}"
            )
    return (np.arange(n_rows), *keys[1:])


def _check_first(keys: tuple[Any, ...]) -> None:
    """Raise if the first of paired keys is not that of all rows."""
    if not keys or not _keeps_rows(keys) or keys[0] is Ellipsis:
        raise ShapeError(f"index_values: keys: begin with {keys[:1]!r}; slice(None) is needed for all rows")


def _chosen(keys: Any) -> tuple[Any, ...]:
    """Return the checked keys, or their Specs."""
    return tuple([key if type(key) in PLACES else _key(f"index_values: keys[{j}]", key) for j, key in enumerate(keys)])


def _key(where: str, key: Any) -> Any:
    """Return a key, converted to an array of integers or bool if it is a list."""
    if isinstance(key, (list, tuple)) and type(key) is not Spec:
        key = np.asarray(key, None if len(key) else np.intp)
    key = operand_of(where, key)
    if isinstance(key, LoDTensor) or (type(key) is Spec and key.num_levels):
        raise DTypeError(f"{where}: is a LoDTensor; integers, slices and masks are needed")
    if getattr(key, "dtype", np.asarray(0).dtype).kind not in "iub":
        raise DTypeError(f"{where}: has dtype {key.dtype}; integers, slices and masks are needed")
    return key.copy() if type(key) is np.ndarray else key  # NumPy counts and checks before it reads


def _check_rows(keys: tuple[Any, ...]) -> None:
    """Raise if not all rows are kept in their order."""
    if not _keeps_rows(keys):
        raise ShapeError(f"index_values: keys: begin with {keys[0]!r}; all rows of a LoDTensor must stay: slice(None)")
    if len(keys) > 2 and not _side_by_side(keys):
        raise ShapeError("index_values: keys: arrays are not adjacent; the rows would not stay the first axis")


def _side_by_side(keys: tuple[Any, ...]) -> bool:
    """Return whether the arrays among keys are adjacent: otherwise NumPy puts their axes first."""
    if not any(_is_array(key) for key in keys):
        return True
    places = [j for j, key in enumerate(keys) if key is not None and key is not Ellipsis and not isinstance(key, slice)]
    return places == list(range(places[0], places[-1] + 1))


def _keeps_rows(keys: tuple[Any, ...]) -> bool:
    if not keys or keys[0] is Ellipsis:
        return True
    return isinstance(keys[0], slice) and keys[0].start is keys[0].stop is keys[0].step is None


@index_values.define_infer
def _(x: Spec, keys: list[Any], paired: bool) -> Spec:
    chosen = _chosen(keys)
    if paired:
        _check_first(chosen)
        return Spec((x.shape[0], *_index_shape(x.shape[1:], [_picked(key) for key in chosen[1:]])), x.dtype)
    if x.num_levels:
        _check_rows(chosen)
    return Spec(_index_shape(x.shape, list(chosen)), x.dtype)


def _picked(key: Any) -> Any:
    """Return a key that removes as many axes as an array does, and adds none."""
    return 0 if _is_array(key) else key


def _index_shape(shape: Shape, keys: list[Any]) -> Shape:
    """Return the shape of the indexed array, with None for lengths that depend on values."""
    taken = [_axes_of(key) for key in keys]
    if sum(taken) > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {sum(taken)} were indexed"
        )
    if Ellipsis not in [key for key in keys if not hasattr(key, "shape")]:
        keys, taken = [*keys, Ellipsis], [*taken, 0]
    by_array = any(_is_array(key) for key in keys)
    found: list[Any] = []
    arrays: list[tuple[int, Shape]] = []
    at = 0
    for key, count in zip(keys, taken, strict=True):
        if key is Ellipsis:
            rest = len(shape) - sum(taken)
            found += shape[at : at + rest]
            at += rest
            continue
        if key is None:
            found.append(1)
        elif isinstance(key, slice):
            size = shape[at]
            length = len(range(*key.indices(size or 0)))  # which raises for bounds that are not integers
            found.append(None if size is None else length)
        elif by_array:
            arrays.append((len(found), (None,) if _is_mask(key) else tuple(getattr(key, "shape", ()))))
            found.append(arrays)  # a marker of the axes of arrays
        at += count
    if not arrays:
        return tuple(found)
    places = [j for j, size in enumerate(found) if size is arrays]
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    kept = [size for size in found if size is not arrays]
    return (*kept[:first], *_broadcast([one for _, one in arrays]), *kept[first:])


def _is_array(key: Any) -> bool:
    return isinstance(key, (Spec, np.ndarray)) and (len(key.shape) > 0 or _is_mask(key))


def _is_mask(key: Any) -> bool:
    return hasattr(key, "dtype") and key.dtype == np.bool_


def _axes_of(key: Any) -> int:
    """Count the axes that a key indexes."""
    if key is None or key is Ellipsis:
        return 0
    return len(key.shape) if _is_mask(key) else 1


def _broadcast(shapes: list[Shape]) -> Shape:
    """Broadcast the shapes of arrays."""
    ndim = max(map(len, shapes))
    columns = zip(*[(1,) * (ndim - len(shape)) + shape for shape in shapes], strict=True)
    return tuple(_one_size(column) for column in columns)


def _one_size(sizes: tuple[int | None, ...]) -> int | None:
    """Return the size to which several sizes broadcast."""
    known = [size for size in sizes if size is not None and size != 1]
    return known[0] if known else None if None in sizes else 1


@index_values.define_vjp
def _(d: Array, keys: list[Any], paired: bool, context: Any) -> tuple[Array | None, None]:
    plain = not paired and PLACES.issuperset(map(type, keys))
    chosen = tuple(keys) if plain else _chosen(keys)
    if paired:
        chosen = _with_rows(chosen, len(d))
    elif plain:
        known = context.sum_of("x")
        if known is not None:  # for example, from several slices of one tensor
            known[chosen] += d
            return None, None
    d_x: Array = context.new("x")
    d_x[...] = 0
    if not plain and any(isinstance(key, np.ndarray) for key in chosen):
        np.add.at(d_x, chosen, d)
    else:
        d_x[chosen] = d
    return d_x, None


@index_values.define_steps
def _(rows: Any, x: Any, keys: Any, paired: bool) -> Any:
    return rows.columns_of(x, None if paired else keys)
