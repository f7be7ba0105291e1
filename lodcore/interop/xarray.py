"""Conversions for xarray, in the ragged array representations of the CF conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.grouped import Groups
from lodcore.interop.tables import common_lod, gathered, tensor_of_column
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_values

__all__ = ["from_xarray", "to_xarray"]


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
        Columns with one level and equal LoDs.
    per_sequence : mapping of str to array_like, optional
        Variables with one entry per sequence.
    sample_dimension, instance_dimension : str
        The names of the dimensions of rows and of sequences.
    count : str
        The name of the variable that counts the rows of each sequence.

    Returns
    -------
    xarray.Dataset
    """
    where = "lodcore.to_xarray"
    xarray = library("xarray", "xarray", where)
    if per_sequence is not None and not isinstance(per_sequence, Mapping):
        raise DTypeError(
            f"{where}: per_sequence: is {type(per_sequence).__name__}; a dict of arrays with one entry per sequence is "
            "needed"
        )
    if isinstance(columns, Groups):
        columns, per_sequence = columns.columns, {**columns.keys, **(per_sequence or {})}
    if not isinstance(columns, Mapping):
        columns = {"values": columns}
    tensors = {name: tensor_of_column(where, name, column) for name, column in columns.items()}
    lod: Any = common_lod(where, tensors)
    if lod.num_levels != 1:
        raise LoDError(f"{where}: columns: have {lod.num_levels} levels; the representation has one")
    variables: dict[str, Any] = {count: ((instance_dimension,), lod.lengths(), {"sample_dimension": sample_dimension})}
    for name, given in (per_sequence or {}).items():
        rows = np.asarray(given)
        if len(rows) != lod.num_sequences():
            raise LoDError(
                f"{where}: per_sequence[{name!r}]: has {len(rows)} entries; {lod.num_sequences()} are needed"
            )
        variables[name] = ((instance_dimension,), rows, {})
    for name, x in tensors.items():
        inner = tuple(f"{name}_axis_{k}" for k in range(1, x.values.ndim))
        variables[name] = ((sample_dimension, *inner), x.values, {})
    return xarray.Dataset(variables, attrs={"Conventions": "CF-1.11"})


def from_xarray(dataset: Any) -> Groups:
    """Convert a Dataset in a contiguous or indexed ragged array representation of the CF conventions to LoDTensors.

    Parameters
    ----------
    dataset : xarray.Dataset
        Has a variable with the attribute `sample_dimension`, the dimension of rows, which counts the rows of each
        sequence; or one with the attribute `instance_dimension`, that of sequences, which numbers the sequence of each
        row.

    Returns
    -------
    Groups
        Its columns are the variables along the rows, its keys those along the sequences.
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
        lod = LoD.from_lengths(numbers, num_rows=dataset.sizes.get(rows))
    else:
        rows, count = dataset[name].dims[0], dataset.sizes.get(sequences)
        order = None if (np.diff(numbers) >= 0).all() else np.argsort(numbers, kind="stable")
        lod = LoD.from_segment_ids(numbers if order is None else numbers[order], count)
    columns, keys = {}, {}
    for other, variable in dataset.variables.items():
        if other != name and variable.dims[:1] == (rows,):
            columns[str(other)] = gathered(f"{where}: {other}", as_values(where, variable.values), lod, order)
        elif other != name and variable.dims[:1] == (sequences,):
            keys[str(other)] = np.asarray(variable.values)
    return Groups(columns, keys, lod=lod)
