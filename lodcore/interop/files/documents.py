"""Reading documents and writing packed ones: files of `save`, .npz, folders of .npy, Parquet or Arrow (by pyarrow)."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lodcore.base import files
from lodcore.base.archives import Archive, read_archive, read_npy
from lodcore.base.drafts import replace
from lodcore.base.libraries import library
from lodcore.batching.pack_plans import PackPlan
from lodcore.batching.stored import write_arrays
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.files import folder, npz
from lodcore.interop.files.storage import load, save
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["Documents", "is_saved", "read_documents", "write_packed"]

#: Kinds of files by ending.
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


class Documents(NamedTuple):
    """Documents that were read from a file.

    Parameters
    ----------
    tokens : LoDTensor
    column : str
        The name of the column, for Parquet and Arrow.
    names : list of str
        The names of the files of a folder.
    saved : bool
        Whether the file or folder was written by `lodcore.save`.
    """

    tokens: LoDTensor
    column: str = ""
    names: list[str] = []
    saved: bool = False


def read_documents(path: Path, column: str | None = None, progress: Callable[[str], None] = print) -> Documents:
    """Read documents from a file or folder.

    Parameters
    ----------
    path : Path
        An .npz file or a folder written by `lodcore.save`; an .npz file with `values`, `offsets_0` and so on; a folder
        with one .npy file per document; or a Parquet or Arrow file.
    column : str, optional
        The column of lists, for Parquet and Arrow, or the name of the LoDTensor in a saved dict; by default the first
        one.
    progress : callable
        Called with messages about long operations.

    Returns
    -------
    Documents

    Raises
    ------
    OSError, ValueError, TypeError
        If the file cannot be read, or does not hold documents.
    ImportError
        If pyarrow is needed and not installed.
    """
    if path.is_dir():
        return _read_saved(path, column) if is_saved(path) else _read_folder(path, progress)
    if path.suffix == ".npz":
        return _read_npz(path, column)
    if path.suffix in PARQUET + ARROW:
        return _read_arrow(path, column)
    raise ValueError(f"has the ending {path.suffix!r}; .npz, {', '.join(PARQUET + ARROW)} or a folder is needed")


def is_saved(path: Path) -> bool:
    """Return whether a folder was written by `lodcore.save`."""
    return (path / folder.MANIFEST).is_file()


def write_packed(path: Path, packed: LoDTensor, plan: PackPlan, like: Documents) -> None:
    """Write packed documents atomically to the kind of file that they were read from.

    Files of `lodcore.save` are written by it again. Another .npz file has bins, documents and tokens as `values`,
    `offsets_0`, `offsets_1`; a folder has one .npy file per bin, and the plan; Parquet and Arrow have one line per bin:
    its documents as lists of lists, and their numbers.
    """
    replace("lodcore pack", str(path), lambda draft: _write(Path(draft), packed, plan, like))


def _write(path: Path, packed: LoDTensor, plan: PackPlan, like: Documents) -> None:
    if like.saved:
        save(str(path), packed, form="npz" if path.suffix == ".npz" else "folder")
    elif like.names:
        path.mkdir()
        rows = packed.lod.row_offsets(0)
        for bin in range(plan.num_bins):
            np.save(path / f"bin_{bin:06d}.npy", packed.values[rows[bin] : rows[bin + 1]])
        plan.save(path / "plan.npz")
    elif path.suffix == ".npz":
        offsets = {f"offsets_{level}": packed.lod.offsets(level) for level in range(packed.num_levels)}
        write_arrays(path, {"values": packed.values, **offsets})
    else:
        _write_arrow(path, path.suffix, packed, plan, like.column)


def _read_saved(path: Path, column: str | None) -> Documents:
    """Read a file of `lodcore.save`: a LoDTensor, or one of those in a dict."""
    tree = load(str(path))
    if isinstance(tree, LoDTensor):
        return Documents(tree, saved=True)
    found = {name: x for name, x in tree.items() if isinstance(x, LoDTensor)} if isinstance(tree, dict) else {}
    known = ", ".join(map(repr, found)) or "none"
    if not found or column not in (None, *found):
        raise ValueError(f"holds LoDTensors named {known}; " + (f"{column!r} is not one" if found else "one is needed"))
    return Documents(found[column] if column is not None else next(iter(found.values())), saved=True)


def _read_npz(path: Path, column: str | None) -> Documents:
    """Read a LoDTensor from plain arrays, or from a file of `lodcore.save`; nothing is unpickled."""
    where = path.name
    with io.BufferedReader(files.regular(where, str(path))) as opened:
        if opened.peek(6)[:6] == b"\x93NUMPY":
            raise ValueError("is one array; an .npz file with values and offsets_0, offsets_1, ... is needed")
        arrays = read_archive(where, opened, _plain)
    if arrays is None:
        return _read_saved(path, column)
    values, *offsets = arrays
    return Documents(LoDTensor.from_offsets(values, *offsets))


def _plain(archive: Archive) -> list[np.ndarray[Any, Any]] | None:
    """Return values and offsets, or None if the archive was written by `lodcore.save`."""
    if npz.MANIFEST in archive:
        return None
    names = ["values", *(f"offsets_{k}" for k in range(len(archive.names) - 1))]
    if sorted(names) != sorted(archive.names) or len(names) < 2:
        held = ", ".join(archive.names) or "nothing"
        raise LoDError(f"holds {held}; values, offsets_0 and so on are needed")
    return [archive.array(name) for name in names]


def _read_folder(path: Path, progress: Callable[[str], None]) -> Documents:
    """Read one .npy file per document, in the order of their names."""
    files = sorted(path.glob("*.npy"))
    if not files:
        raise ValueError("holds no .npy files; one for each document is needed")
    arrays = []
    for number, file in enumerate(files, 1):
        array = read_npy(file.name, str(file))
        if array.ndim == 0:
            raise ValueError(f"{file.name}: holds a single number; an array with one row per token is needed")
        arrays.append(np.ascontiguousarray(array))
        if number % max(1, len(files) // 10) == 0 and len(files) >= 100:
            progress(f"reading: {number:,} of {len(files):,} files")
    return Documents(LoDTensor.from_arrays(arrays), names=[file.name for file in files])


def _read_arrow(path: Path, column: str | None) -> Documents:
    """Read a column of lists of numbers."""
    arrow = library("pyarrow", "arrow", "lodcore.batching")
    files.check_regular(path.name, path.stat().st_mode)
    if path.suffix in PARQUET:
        table = library("pyarrow.parquet", "arrow", "lodcore.batching").read_table(path)
    else:
        table = library("pyarrow.feather", "arrow", "lodcore.batching").read_table(path, memory_map=False)
    types = arrow.types
    lists = [name for name, kind in zip(table.column_names, table.schema.types, strict=True) if is_list(types, kind)]
    if column is None and not lists:
        raise ValueError(f"has the columns {', '.join(table.column_names) or 'none'}; a column of lists is needed")
    name = lists[0] if column is None else column
    if name not in lists:
        raise ValueError(f"column {name!r}: is not a column of lists; {', '.join(lists) or 'none'} are")
    found = table.column(name).combine_chunks()
    chunks = found.chunks if hasattr(found, "chunks") else [found]
    parts = [_of_lists(name, chunk) for chunk in chunks]
    if not parts:
        return Documents(LoDTensor(np.empty(0, np.int64), LoD.from_lengths([])), name)
    values = np.concatenate([values for values, _ in parts])
    return Documents(LoDTensor(values, LoD.from_lengths(np.concatenate([lengths for _, lengths in parts]))), name)


def is_list(types: Any, kind: Any) -> bool:
    """Return whether an Arrow type is that of lists with offsets."""
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _of_lists(name: str, array: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the values and lengths of an array of lists, which may be a slice."""
    if array.null_count:
        raise LoDError(f"column {name!r}: has {array.null_count} nulls; each document is a list")
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    values = array.values[int(offsets[0]) : int(offsets[-1])]
    if values.null_count:
        raise LoDError(f"column {name!r}: has {values.null_count} null tokens; numbers are needed")
    rows = values.to_numpy(zero_copy_only=False)
    if rows.dtype.kind not in "biuf":
        raise DTypeError(f"column {name!r}: has items of type {array.type.value_type}; numbers are needed")
    return rows, np.diff(offsets)


def _write_arrow(path: Path, suffix: str, packed: LoDTensor, plan: PackPlan, column: str) -> None:
    """Write one line per bin."""
    arrow = library("pyarrow", "arrow", "lodcore.batching")
    tokens = arrow.array(packed.values)
    documents = arrow.LargeListArray.from_arrays(arrow.array(packed.lod.offsets(1)), tokens)
    bins = arrow.LargeListArray.from_arrays(arrow.array(packed.lod.offsets(0)), documents)
    numbers = arrow.LargeListArray.from_arrays(arrow.array(plan.bins.offsets()), arrow.array(plan.documents))
    table = arrow.table({column: bins, "documents" if column != "documents" else "document_numbers": numbers})
    if suffix in PARQUET:
        library("pyarrow.parquet", "arrow", "lodcore.batching").write_table(table, path)
    else:
        library("pyarrow.feather", "arrow", "lodcore.batching").write_feather(
            table, str(path), compression="uncompressed"
        )
