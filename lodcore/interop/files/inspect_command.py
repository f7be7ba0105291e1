"""The output of `lodcore inspect`: structure, lengths, and the cost of padding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lodcore.base import files
from lodcore.base.libraries import library
from lodcore.interop.arrow.interface import from_arrow
from lodcore.interop.files.storage import load
from lodcore.interop.plots import occupancy
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["buckets", "describe", "describe_tree", "histogram", "padding_cost", "read"]

Array = np.ndarray[Any, Any]
BARS = 40  # length of the longest bar, in characters
BINS = 12  # number of lines of a histogram
BATCHES = (8, 32, 128)
BUCKETS = 6
CANDIDATES = 200  # number of lengths that may end a bucket
SHOWN = 100  # number of entries of a tree


def read(path: str, operators: Sequence[str] = ()) -> Any:
    """Read a file of any supported kind: .npz, a folder, Parquet, Arrow.

    Parameters
    ----------
    path : str
    operators : sequence of str
        Modules with operators of Programs.

    Returns
    -------
    tree
        For a table, a dict of its columns, in which null sequences are empty.

    Raises
    ------
    OSError, ValueError, TypeError, ImportError
        If the file cannot be read.
    """
    if os.path.isdir(path):
        return load(path, operators=operators)
    with files.regular(f"lodcore.load: {path}", path) as opened:
        magic = opened.read(6) or b""
    if magic[:4] == b"PAR1" or path.endswith((".parquet", ".pq")):
        parquet = library("pyarrow.parquet", "arrow", "lodcore inspect")
        return from_arrow(parquet.read_table(path), "mask", records=False)[0]
    if magic == b"ARROW1" or path.endswith((".arrow", ".feather", ".ipc")):
        ipc = library("pyarrow.ipc", "arrow", "lodcore inspect")
        opener = ipc.open_file if magic == b"ARROW1" else ipc.open_stream
        with opener(path) as reader:
            return from_arrow(reader.read_all(), "mask", records=False)[0]
    if magic == b"\x93NUMPY":
        raise ValueError("is one array; an .npz file with values and offsets_0, offsets_1, ... is needed")
    return load(path, operators=operators)


def describe_tree(tree: Any, name: str = "") -> Iterator[str]:
    """Yield lines of text about a tree: several per LoDTensor, one per other leaf."""
    if isinstance(tree, LoDTensor):
        if name:
            yield f"== {name}"
        yield from describe(tree)
    elif hasattr(tree, "to_dot"):  # a Program
        if name:
            yield f"== {name}"
        yield from str(tree).splitlines()
    elif isinstance(tree, (dict, list, tuple)):
        entries = list(tree.items() if isinstance(tree, dict) else enumerate(tree))
        if not name:
            yield f"{type(tree).__name__} of {len(entries)}"
        for key, part in entries[:SHOWN]:
            yield from describe_tree(part, f"{name}[{key!r}]")
        if len(entries) > SHOWN:
            yield f"{name}: {len(entries) - SHOWN} more"
    elif isinstance(tree, np.ndarray):
        yield f"{name or 'array'}: shape {tree.shape}, {tree.dtype}, {tree.nbytes:,} bytes"
    else:
        text = repr(tree)
        yield f"{name or 'value'}: {text if len(text) <= 60 else text[:57] + '...'}"


def describe(x: LoDTensor) -> Iterator[str]:
    """Yield lines of text about a LoDTensor: shape, lengths level by level, the cost of padding."""
    yield repr(x)
    yield f"shape {x.shape}, {x.dtype}, {x.num_rows:,} rows, {x.nbytes:,} bytes"
    for level in range(x.num_levels):
        lengths = x.lod.lengths(level)
        unit = "rows" if level == x.num_levels - 1 else f"sequences of level {level + 1}"
        yield ""
        yield f"level {level}: {len(lengths):,} sequence{'s' * (len(lengths) != 1)}, lengths in {unit}"
        if len(lengths):
            yield (
                f"  min {lengths.min():,}, median {np.median(lengths):,g}, mean {lengths.mean():,.4g}, "
                f"99 % up to {np.percentile(lengths, 99, method='higher'):,}, max {lengths.max():,}, "
                f"{np.count_nonzero(lengths == 0):,} empty"
            )
            yield from histogram(lengths)
    if x.num_levels:
        yield ""
        if x.num_rows:
            yield from batches(x.lod.lengths(-1))
        yield padding_cost(x)


def histogram(lengths: Array) -> Iterator[str]:
    """Yield the lines of a histogram of lengths."""
    low, high = int(lengths.min()), int(lengths.max())
    step = -(-(high - low + 1) // BINS)
    counts = np.bincount((lengths - low) // step)
    widest = len(f"{high:,}")
    for k, count in enumerate(counts.tolist()):
        first, last = low + k * step, min(low + (k + 1) * step - 1, high)
        span = f"{first:>{widest},}" + (f" .. {last:>{widest},}" if step > 1 else "")
        bar = "#" * -(-BARS * count // int(counts.max()))
        yield f"  {span} |{bar:<{BARS}} {count:,}"


def batches(lengths: Array) -> Iterator[str]:
    """Yield lines about the padding of batches, and about buckets of lengths."""
    for size in BATCHES:
        if size >= 2 * len(lengths):
            break
        _, come = occupancy(lengths, size)
        _, sorted_ = occupancy(np.sort(lengths), size)
        shares = f"{100 * (1 - come):.0f} % padding unsorted, {100 * (1 - sorted_):.0f} % sorted by length"
        yield f"batches of {size}: {shares}"
    ends, share = buckets(lengths)
    if len(ends) > 1:
        listed = ", ".join(f"{end:,}" for end in ends)
        yield f"buckets up to {listed} rows: {100 * (1 - share):.0f} % padding"


def buckets(lengths: Array, count: int = BUCKETS) -> tuple[list[int], float]:
    """Return the ends of buckets that minimize the padding of each sequence to the end of its bucket.

    Parameters
    ----------
    lengths : ndarray of integers, shape (n,)
    count : int
        The maximum number of buckets.

    Returns
    -------
    (list of int, float)
        The ends of the buckets, and the share of their rows that is filled.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.interop.files.inspect_command import buckets
    >>> buckets(np.array([1, 1, 1, 7, 8, 8]), 2)
    ([1, 8], 0.9629...)
    """
    found = np.unique(lengths)
    if len(found) > CANDIDATES:
        found = np.unique(np.quantile(lengths, np.linspace(0, 1, CANDIDATES), method="higher"))
    numbers = np.diff(np.searchsorted(np.sort(lengths), np.append(-1, found), side="right"))
    below = np.append(0, np.cumsum(numbers))
    best = below[1:] * found.astype(float)  # the least number of padded rows up to each candidate, with one bucket
    ways = []
    for _ in range(min(count, len(found)) - 1):
        room = np.append(0.0, best)[: len(found), None] + (below[None, 1:] - below[:-1, None]) * found[None, :]
        room[np.tril_indices(len(found), -1)] = np.inf
        ways.append(room.argmin(axis=0))
        best = room.min(axis=0)
    ends, at = [], len(found) - 1
    for way in reversed(ways):
        ends.append(int(found[at]))
        at = int(way[at]) - 1
        if at < 0:
            break
    if at >= 0:
        ends.append(int(found[at]))
    return ends[::-1], float(lengths.sum() / best[-1]) if best[-1] else 1.0


def padding_cost(x: LoDTensor) -> str:
    """Describe the size of the batch with all levels padded."""
    rows = len(x)
    for level in range(x.num_levels):
        rows *= int(x.lod.lengths(level).max(initial=0))
    if not x.num_rows:
        return f"padded: {rows:,} rows; there are none"
    filled = 100 * (1 - x.num_rows / rows)
    return (
        f"padded: {rows:,} rows, {rows * (x.nbytes // x.num_rows):,} bytes: {rows / x.num_rows:.2f} times as many, "
        f"{filled:.0f} % of them padding"
    )
