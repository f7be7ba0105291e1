"""Packing plans as plain arrays: writing, reading, and checks of foreign data."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from lodcore.base import files
from lodcore.base.archives import Archive, Whole, read_archive, write_array
from lodcore.base.articles import there_are, with_number
from lodcore.base.drafts import replace
from lodcore.base.naming import call_named
from lodcore.batching.limits import MOST, Int64, PlanOfBins, as_lengths, sealed
from lodcore.errors import LoDError
from lodcore.tensors.lod import LoD

__all__ = ["arrays_of_plan", "checked_arrays", "read_arrays", "write_arrays"]

#: The arrays of a plan; "numbers" holds budget, max_items (0: none), multiple_of, shards and is_part.
NAMES = ("lengths", "documents", "starts", "sizes", "bins", "numbers", "method")


def arrays_of_plan(plan: PlanOfBins) -> dict[str, np.ndarray[Any, Any]]:
    """Return a plan as plain arrays."""
    numbers = [plan.budget, plan.max_items or 0, plan.multiple_of, plan.shards, int(plan.is_part)]
    return {
        "lengths": plan.lengths,
        "documents": plan.documents,
        "starts": plan.starts,
        "sizes": plan.sizes,
        "bins": plan.bins.offsets(),
        "numbers": np.array(numbers, np.int64),
        "method": np.array(plan.method),
    }


def write_arrays(file: Any, arrays: Mapping[str, Any]) -> None:
    """Write arrays to an open .npz file, or replace one; its ending is added to a name without it, as by NumPy."""
    if hasattr(file, "write"):
        opened: Any = Whole("PackPlan.save", file)
        with zipfile.ZipFile(opened, "w") as archive:
            for name, values in arrays.items():
                write_array("PackPlan.save", archive, name, np.asarray(values), zipfile.ZIP_STORED)
        return
    name = os.fsdecode(file)
    replace("PackPlan.save", name if name.endswith(".npz") else f"{name}.npz", lambda draft: _write(draft, arrays))


def _write(path: str, arrays: Mapping[str, Any]) -> None:
    with io.BufferedWriter(files.create(path)) as opened:
        np.savez(opened, **arrays)


def read_arrays(file: Any) -> dict[str, Any]:
    """Read the arrays of a plan from an .npz file."""
    where = "PackPlan.load: file"
    if hasattr(file, "read"):
        return read_archive(where, file, _all)
    with io.BufferedReader(files.regular(where, os.fsdecode(file))) as opened:
        return read_archive(where, opened, _all)


def _all(archive: Archive) -> dict[str, Any]:
    return {name: archive.array(name) for name in archive.names}


def checked_arrays(where: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arrays of a plan; return its fields."""
    missing = [name for name in NAMES if name not in arrays]
    if missing:
        raise ValueError(f"{where}: arrays: {', '.join(missing)} missing; {', '.join(NAMES)} are needed")
    lengths, documents, starts, sizes, numbers = (
        as_lengths(f"{where}: {name}", arrays[name]) for name in ("lengths", "documents", "starts", "sizes", "numbers")
    )
    bins: LoD = call_named(f"{where}: bins", LoD.from_offsets, arrays["bins"], num_rows=len(documents))
    if len(numbers) != 5 or min(numbers[[0, 2, 3]]) < 1 or max(numbers) > MOST:
        raise ValueError(
            f"{where}: numbers: are {numbers.tolist()}; budget, max_items, multiple_of, shards and a flag are needed"
        )
    if not len(documents) == len(starts) == len(sizes):
        raise LoDError(
            f"{where}: documents, starts, sizes: have {len(documents)}, {len(starts)} and {len(sizes)} entries"
        )
    check_pieces(where, lengths, documents, starts, sizes)
    check_bins(where, sizes, bins, numbers)
    whole = not starts.any() and np.array_equal(sizes, lengths[documents])
    return {
        "lengths": lengths,
        "documents": documents,
        "starts": None if whole else starts,
        "sizes": sizes,
        "bins": bins,
        "budget": int(numbers[0]),
        "max_items": int(numbers[1]) or None,
        "multiple_of": int(numbers[2]),
        "shards": int(numbers[3]),
        "is_part": bool(numbers[4]),
        "method": str(arrays["method"]),
    }


def check_pieces(where: str, lengths: Int64, documents: Int64, starts: Int64, sizes: Int64) -> None:
    """Check that pieces are inside their documents and do not overlap."""
    if len(documents) and int(documents.max()) >= len(lengths):
        bad = int(documents.argmax())
        raise LoDError(f"{where}: documents: is {documents[bad]} at piece {bad}; {there_are(len(lengths), 'document')}")
    outside = (starts > lengths[documents]) | (sizes > lengths[documents] - starts)
    if outside.any():
        bad = int(np.argmax(outside))
        raise LoDError(
            f"{where}: starts, sizes: are {starts[bad]}, {sizes[bad]} at piece {bad}; "
            f"document {documents[bad]} has {with_number(lengths[documents[bad]], 'token')}"
        )
    order = np.lexsort((sizes, starts, documents))
    before, after = order[:-1], order[1:]
    twice = documents[before] == documents[after]
    overlap = twice & ((starts[after] < starts[before] + sizes[before]) | (sizes[before] == 0) | (sizes[after] == 0))
    if overlap.any():
        bad = int(after[np.argmax(overlap)])
        raise LoDError(f"{where}: starts, sizes: piece {bad} overlaps another one of document {documents[bad]}")


def check_bins(where: str, sizes: Int64, bins: LoD, numbers: Int64) -> None:
    """Check that bins are within the limits, those of one piece excepted, and that all shards have equally many."""
    budget, most, multiple_of, shards, is_part = numbers.tolist()
    held = bins.lengths()
    if most and len(held) and held.max() > most:
        raise LoDError(f"{where}: bins: bin {held.argmax()} has {held.max()} pieces; max_items is {most}")
    if not is_part and len(held) % (multiple_of * shards):
        raise LoDError(
            f"{where}: bins: there are {len(held)}; multiple_of and shards need a multiple of {multiple_of * shards}"
        )
    tokens = sealed(np.concatenate([[0], np.cumsum(sizes)]))
    full = (np.diff(tokens[bins.offsets()]) > budget) & (held > 1)
    if full.any():
        bad = int(np.argmax(full))
        raise LoDError(f"{where}: bins: bin {bad} has more tokens than the budget of {budget}")
