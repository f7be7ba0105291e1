"""Conversions for xarray, in the ragged array representations of the CF conventions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.libraries import library
from lodcore.base.missing import decoded, refuse_missing
from lodcore.base.naming import call_named, with_arguments
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop.grouped import Groups
from lodcore.interop.pandas_restored import with_unit_of_pandas
from lodcore.interop.presence import every, whole
from lodcore.interop.tables import common_lod, gathered, tensor_of_column
from lodcore.tensors.foreign_columns import dtype_for, zone_of
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_values
from lodcore.tensors.text import refuse_nul

__all__ = ["from_xarray", "to_xarray"]

Array = np.ndarray[Any, Any]


def to_xarray(
    columns: Any,
    per_sequence: Mapping[str, Any] | None = None,
    *,
    sample_dimension: str = "obs",
    instance_dimension: str = "instance",
    count: str = "rowsize",
) -> Any:
    """Convert LoDTensors to a Dataset in the contiguous ragged array representation of the CF conventions.

    Parameters
    ----------
    columns : LoDTensor, Groups, or mapping of str to LoDTensor
        Columns with one level and equal LoDs. A float is nan where a mask of a table of groups says that there is no
        value.
    per_sequence : mapping of str to array_like, optional
        Variables with one entry per sequence; those of a table of groups are its keys and its arrays per group.
    sample_dimension, instance_dimension : str
        The names of the dimensions of rows and of sequences.
    count : str
        The name of the variable that counts the rows of each sequence.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    LoDError, DTypeError
        If columns have other levels, two variables have one name, an integer, a bool or a text is missing, or xarray
        does not have the unit of dates or durations.
    """
    where = "lodcore.to_xarray"
    xarray = library("xarray", "xarray", where)
    if per_sequence is not None and not isinstance(per_sequence, Mapping):
        raise DTypeError(
            f"{where}: per_sequence: is {type(per_sequence).__name__}; a dict of arrays with one entry per sequence is "
            "needed"
        )
    masks: Mapping[str, Any] = {}
    if isinstance(columns, Groups):
        masks, per_sequence = columns.masks, {**columns.keys, **columns.per_group, **(per_sequence or {})}
        columns = columns.columns
    if not isinstance(columns, Mapping):
        columns = {"values": columns}
    tensors = {name: tensor_of_column(where, name, column) for name, column in columns.items()}
    lod: Any = common_lod(where, tensors)
    if lod.num_levels != 1:
        raise LoDError(f"{where}: columns: have {with_number(lod.num_levels, 'level')}; the representation has one")
    variables: dict[str, Any] = {count: ((instance_dimension,), lod.lengths(), {"sample_dimension": sample_dimension})}
    for name, given in (per_sequence or {}).items():
        refuse_missing(f"{where}: per_sequence[{name!r}]", given)
        rows = np.asarray(decoded(given), dtype_for(given) if zone_of(given) else None)
        if name in variables:
            raise LoDError(f"{where}: per_sequence[{name!r}]: is the name of the lengths, too; count= gives another")
        if len(rows) != lod.num_sequences():
            raise LoDError(
                f"{where}: per_sequence[{name!r}]: has {len(rows)} entries; {lod.num_sequences()} are needed"
            )
        variables[name] = _variable(f"{where}: per_sequence[{name!r}]", instance_dimension, name, rows)
    for name, x in tensors.items():
        if name in variables:
            other = "the lengths, too; count= gives another" if name == count else "a variable per sequence, too"
            raise LoDError(f"{where}: columns[{name!r}]: is the name of {other}")
        rows = x.values if name not in masks else _with_nan(f"{where}: columns[{name!r}]", x.values, masks[name].values)
        variables[name] = _variable(f"{where}: columns[{name!r}]", sample_dimension, name, rows)
    return xarray.Dataset(variables, attrs={"Conventions": "CF-1.11"})


def _variable(where: str, dimension: str, name: str, rows: Array) -> tuple[Any, ...]:
    """Return the dimensions, values and attributes of a variable; raise for dates and durations that change in it."""
    rows = with_unit_of_pandas(where, rows, "xarray") if rows.dtype.kind in "mM" else rows
    return (dimension, *(f"{name}_axis_{k}" for k in range(1, rows.ndim))), rows, {}


def _with_nan(where: str, rows: Array, there: Array) -> Array:
    """Return rows with nan where there is no value; raise for a dtype without such a value."""
    if whole(there) or rows.dtype.kind in "mM":  # which are NaT there
        return rows
    if rows.dtype.kind not in "fc":
        at = int(np.argmin(every(there)))
        raise LoDError(f"{where}: row {at} is missing; {rows.dtype} has no value for it: use a fill value for nulls=")
    made = rows.copy()
    made[~there] = np.nan
    return made


def from_xarray(dataset: Any) -> Groups:
    """Convert a Dataset in a contiguous or indexed ragged array representation of the CF conventions to LoDTensors.

    Parameters
    ----------
    dataset : xarray.Dataset
        Has a variable with the attribute `sample_dimension` (the dimension of rows), which counts the rows of each
        sequence; or one with the attribute `instance_dimension` (that of sequences), which has the sequence number of
        each row.

    Returns
    -------
    Groups
        Its columns are the variables along the rows, its keys those along the sequences, with these as their first
        axis. Variables along neither are left out.

    Raises
    ------
    LoDError, DTypeError
        If there is not one variable of counts or numbers, these are invalid, or a variable is along rows and sequences.
    """
    where = "lodcore.from_xarray"
    if not hasattr(dataset, "variables") or not hasattr(dataset, "data_vars"):
        raise DTypeError(f"{where}: dataset: is {type(dataset).__name__}; an xarray.Dataset is needed")
    found = {
        (name, variable.attrs.get("sample_dimension"), variable.attrs.get("instance_dimension"))
        for name, variable in dataset.variables.items()
        if {"sample_dimension", "instance_dimension"} & set(variable.attrs)
    }
    if len(found) != 1:
        raise LoDError(
            f"{where}: dataset: has {len(found)} variables with an attribute sample_dimension or instance_dimension; "
            "exactly one is needed"
        )
    name, rows, sequences = found.pop()
    numbers = np.asarray(dataset[name].values)
    order = None
    if rows is not None:
        sequences = dataset[name].dims[0]
        made = partial(LoD.from_lengths, numbers, num_rows=dataset.sizes.get(rows))
    else:
        rows, count = dataset[name].dims[0], dataset.sizes.get(sequences)
        order = None if (numbers[1:] >= numbers[:-1]).all() else np.argsort(numbers, kind="stable")
        made = partial(LoD.from_segment_ids, numbers if order is None else numbers[order], count)
    lod = _structure(where, name, made, order)
    columns, keys = {}, {}
    for other, variable in dataset.variables.items():
        along = [dimension for dimension in (rows, sequences) if dimension in variable.dims]
        if other == name or not along:
            continue
        label = f"{where}: dataset[{other!r}]"
        if len(along) > 1:
            raise LoDError(f"{label}: has the dimensions {rows!r} and {sequences!r}; one of them is needed")
        values = np.moveaxis(_values_of(label, variable), variable.dims.index(along[0]), 0)
        if along == [rows]:
            columns[str(other)] = gathered(label, values, lod, order)
        else:
            keys[str(other)] = values
    return Groups(columns, keys, lod=lod)


def _structure(where: str, name: Any, made: Callable[[], LoD], order: Array | None) -> LoD:
    """Return a structure; errors name the variable that it is made of, and its row before it was sorted."""
    label = f"dataset[{name!r}]"
    try:
        found: LoD = call_named(where, with_arguments, {"ids": label, "lengths[0]": label}, made)
        return found
    except (DTypeError, LoDError, ShapeError) as error:
        if order is None:
            raise
        text = re.sub(r"(?<=at row )\d+", lambda row: str(order[int(row[0])]), str(error))
        raise type(error)(text) from None


def _values_of(label: str, variable: Any) -> Array:
    """Return the values of a variable; text, which netCDF reads as objects, has a fixed size."""
    values: Array = np.asarray(variable.values)
    if values.dtype.hasobject:
        words = values.ravel().tolist()
        if all(isinstance(word, str) for word in words):
            refuse_nul(label, words)
            return np.array(words, np.str_).reshape(values.shape)
    return as_values(label, values)
