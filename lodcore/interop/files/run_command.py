"""The command `lodcore run`: runs a Program of a file on values of other files, with progress, batch by batch."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lodcore.base.archives import read_npy
from lodcore.base.articles import with_article
from lodcore.base.libraries import library
from lodcore.graph.executor import Executor
from lodcore.graph.feeding import fed_values
from lodcore.graph.program import Program
from lodcore.interop.arrow.interface import to_arrow
from lodcore.interop.files import inspect_command as look
from lodcore.interop.files.pack_command import FAILURES
from lodcore.interop.files.storage import load, save
from lodcore.ops.move.gather import concat_batches
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["main"]

SECONDS = 1.0  # between two lines of progress


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="lodcore run",
        description="Run a Program that lodcore.save has written. It calls the operators that the file names, and "
        "nothing else, for as long as its loops like.",
    )
    made.add_argument("file", metavar="FILE", help="a file of lodcore.save with a Program, or with a dict of them")
    made.add_argument("--program", metavar="NAME", help="which Program of a dict; by default the only one")
    made.add_argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="the value of a `data`: a file as `lodcore inspect` reads it (the entry of this name, if it has several), "
        "an .npy file, or a number or list in JSON",
    )
    made.add_argument(
        "--fetch", action="append", default=[], metavar="NAME", help="a result; `inspect` shows the names"
    )
    made.add_argument(
        "--batch", type=int, metavar="N", help="feed N sequences, or rows, at a time, and join the results"
    )
    made.add_argument("--output", metavar="FILE", help=".npz, a folder (.lod) or .parquet; by default the screen")
    made.add_argument(
        "--operators", action="append", default=[], metavar="MODULE", help="import a module with operators of your own"
    )
    made.add_argument("--quiet", action="store_true", help="no progress")
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str

    Returns
    -------
    int
        The exit code: 0, or 1 after an error, which is printed in one line. Wrong usage exits with 2.
    """
    chosen = parser().parse_args(arguments)
    try:
        run(chosen)
    except FAILURES as error:
        problem = str(getattr(error, "strerror", None) or error or type(error).__name__)
        name = getattr(error, "filename", None) or chosen.file
        problem = " ".join(problem.removeprefix(f"lodcore.load: {name}: ").removeprefix("lodcore.load: ").split())
        print(f"lodcore run: {name}: {problem}", file=sys.stderr)
        return 1
    return 0


def run(chosen: argparse.Namespace) -> None:
    """Read, run and write."""
    program = chosen_program(load(chosen.file, operators=chosen.operators), chosen.program)
    feed = dict(map(fed, chosen.feed))
    if chosen.batch is not None and chosen.batch < 1:
        raise ValueError(f"--batch: is {chosen.batch}; a number of 1 or more is needed")
    if not chosen.fetch:
        raise ValueError("--fetch: is missing; `lodcore inspect` shows the names of results")
    feed = {v.name: value for v, value in fed_values(program, feed).items()}
    executor, parts, last = Executor(), [], time.monotonic()
    for done, count, some in batches(program, feed, chosen.batch):
        parts.append(executor.run(program, some, chosen.fetch))
        if not chosen.quiet and time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            print(f"{done:,} of {count:,}", file=sys.stderr, flush=True)
    found = {name: joined(name, list(each)) for name, each in zip(chosen.fetch, zip(*parts, strict=True), strict=True)}
    if not chosen.output:
        for name, value in found.items():
            print(f"{name}: {value!r}")
    elif chosen.output.endswith((".parquet", ".pq")):
        library("pyarrow.parquet", "arrow", "lodcore run").write_table(to_arrow(found), chosen.output)
    else:
        save(chosen.output, found)


def chosen_program(tree: Any, name: str | None) -> Program:
    """Return the Program of a file."""
    if isinstance(tree, Program) and name is None:
        return tree
    named = {str(key): one for key, one in tree.items() if isinstance(one, Program)} if isinstance(tree, dict) else {}
    if name is None and len(named) == 1:
        return next(iter(named.values()))
    if name not in named:
        has = ", ".join(named) or "none"
        raise ValueError(
            f"--program: is {name}; the file has {has}" if name else f"--program: is missing; it has {has}"
        )
    return named[name]


def fed(given: str) -> tuple[str, Any]:
    """Return a name and its value."""
    name, equals, source = given.partition("=")
    if not equals:
        raise ValueError(f"--feed: is {given!r}; NAME=FILE is needed")
    if not os.path.exists(source):
        try:
            return name, json.loads(source)
        except ValueError:
            raise ValueError(
                f"--feed: {name}: {source}: there is no such file, and it is neither a number nor a list"
            ) from None
    if Path(source).suffix == ".npy":
        return name, read_npy(f"--feed: {name}", source)
    tree = look.read(source)
    if isinstance(tree, dict):
        if name not in tree and len(tree) != 1:
            raise ValueError(f"--feed: {name}: {source}: has {', '.join(map(str, tree))}; one with this name is needed")
        return name, tree[name] if name in tree else next(iter(tree.values()))
    return name, tree


def batches(program: Program, feed: dict[str, Any], size: int | None) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield how many sequences are done after a batch, how many there are, and the feed of the batch."""
    specs = {v.name: v.spec for v in program.feeds}
    counts = {
        name: len(x)
        for name, x in feed.items()
        if isinstance(x, LoDTensor) or (isinstance(x, np.ndarray) and specs[name].shape[:1] == (None,))
    }
    if size is None or not counts:
        yield 1, 1, feed
        return
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"--batch: the feeds have different lengths: {', '.join(f'{n}: {c}' for n, c in counts.items())}"
        )
    count = next(iter(counts.values()))
    for start in range(0, max(count, 1), size):
        stop = min(count, start + size)
        yield stop, count, {name: x[start:stop] if name in counts else x for name, x in feed.items()}


def joined(name: str, parts: list[Any]) -> Any:
    """Return the results of all batches as one: one after the other, and those without an axis along a new one."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], LoDTensor):
        return concat_batches(parts)
    if not isinstance(parts[0], (np.ndarray, np.generic)):
        kind = with_article(type(parts[0]).__name__)
        raise TypeError(f"--batch: the result {name} is {kind}, and those of several batches cannot be joined")
    return np.concatenate(parts) if np.ndim(parts[0]) else np.stack(parts)
