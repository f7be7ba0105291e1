"""The command `lodcore pack`: packs the documents of a file, with progress, a report and a picture."""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

from lodcore.base.articles import with_number
from lodcore.batching.packing import METHODS, OVERFLOWS, pack_plan
from lodcore.batching.reports.pictures import show_bins
from lodcore.interop.files.documents import is_saved, read_documents, write_packed

__all__ = ["main"]

KINDS = "a file or folder of lodcore.save, .npz, .parquet, .arrow, .feather, or a folder of .npy files"
FAILURES = (OSError, ValueError, TypeError, EOFError, MemoryError, RuntimeError, ImportError, BadZipFile, zlib.error)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="lodcore pack",
        description="Pack the documents of a file into bins of a token budget, and write the same kind of file.",
    )
    made.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help=KINDS,
    )
    made.add_argument("--budget", type=int, required=True, metavar="N", help="the maximum number of tokens per bin")
    made.add_argument("--output", type=Path, metavar="FILE", help="the output; by default FILE.packed.ENDING")
    made.add_argument("--method", choices=METHODS, default="best_fit_decreasing")
    made.add_argument("--overflow", choices=OVERFLOWS, default="error", help="how to treat documents above the budget")
    made.add_argument("--max-items", type=int, metavar="N", help="the maximum number of documents per bin")
    made.add_argument("--multiple-of", type=int, default=1, metavar="N", help="make the number of bins a multiple of N")
    made.add_argument(
        "--shards", type=int, default=1, metavar="N", help="make the number of bins divisible by N processes"
    )
    made.add_argument("--seed", type=int, metavar="N", help="shuffle")
    made.add_argument(
        "--column",
        metavar="NAME",
        help="the column of lists, or the LoDTensor in a dict; by default the first one",
    )
    made.add_argument("--force", action="store_true", help="overwrite the output")
    made.add_argument("--quiet", action="store_true", help="no progress and no picture")
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
    path: Path = chosen.file
    try:
        pack(chosen, path)
    except FAILURES as error:
        problem = getattr(error, "strerror", None) or error or type(error).__name__
        print(f"lodcore pack: {getattr(error, 'filename', None) or path}: {problem}", file=sys.stderr)
        return 1
    return 0


def pack(chosen: argparse.Namespace, path: Path) -> None:
    """Read, pack and write the documents of a file."""
    ending = "" if path.is_dir() and not is_saved(path) else path.suffix
    output: Path = chosen.output or path.with_name(f"{path.name.removesuffix(ending)}.packed{ending}")
    if ending and output.suffix != ending:
        raise ValueError(f"output {output.name}: has the ending {output.suffix!r}; it is of the same kind, {ending!r}")
    if output.is_dir() or (output.exists() and not chosen.force):
        advice = "" if output.is_dir() else ", or --force"
        raise ValueError(f"output {output.name}: exists already; choose another one{advice}")
    quiet: bool = chosen.quiet

    def say(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr, flush=True)

    @contextmanager
    def step(name: str) -> Iterator[None]:
        say(f"{name} ...")
        start = time.perf_counter()
        yield
        say(f"{name}: {time.perf_counter() - start:.2f} s")

    with step("reading"):
        documents = read_documents(path, chosen.column, say)
    x = documents.tokens
    if x.num_levels != 1:
        raise ValueError(f"has {with_number(x.num_levels, 'level')}; documents of tokens have one")
    with step(f"planning {len(x):,} documents, {x.num_rows:,} tokens"):
        plan = pack_plan(
            x,
            chosen.budget,
            chosen.method,
            max_items=chosen.max_items,
            overflow=chosen.overflow,
            multiple_of=chosen.multiple_of,
            shards=chosen.shards,
            seed=chosen.seed,
        )
    with step("packing"):
        packed = plan.apply(x)
    with step(f"writing {output.name}"):
        write_packed(output, packed, plan, documents)
    if not quiet:
        print(show_bins(plan), end="\n\n")
    print(plan.report())
