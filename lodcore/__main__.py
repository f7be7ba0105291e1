"""The commands of `lodcore`, or `python -m lodcore`: demo, inspection and packing of files, a short benchmark."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, TensorArray
from lodcore.interop.files import inspect_command as look

SECONDS = 0.3  # per measured operation

Array = np.ndarray[Any, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        The exit code: 0, or 1 if a file cannot be shown, or the output not be written. Wrong usage exits with 2.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the process: nobody reads what is printed
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    try:
        try:
            code = run(arguments)
        finally:  # also where argparse ends the process after help
            sys.stdout.flush()
    except OSError as error:  # commands themselves report those of the files that they are given
        nothing = os.open(os.devnull, os.O_WRONLY)
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(nothing, sys.stdout.fileno())  # so that nothing is written at exit
        os.close(nothing)
        closed = isinstance(error, BrokenPipeError)  # the reader has stopped, as in `lodcore demo | head`
        problem = "the output was closed before all was written" if closed else error
        print(f"lodcore {arguments[0]}: {problem}", file=sys.stderr)
        return 1
    return code


def run(arguments: Sequence[str]) -> int:
    """Parse the arguments and run the command that they name."""
    summary = (lodcore.__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="lodcore", description=summary)
    parser.add_argument("--version", action="version", version=f"lodcore {lodcore.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    commands.add_parser("demo", help="learn from real recordings and from real text, in two acts", add_help=False)
    inspect = commands.add_parser(
        "inspect",
        help="show a saved batch or table: its structure, its lengths, and what padding it would cost",
        epilog="Saved by lodcore.save, by numpy.savez(FILE, values=x.values, offsets_0=x.lod.offsets(0)), or by others",
    )
    inspect.add_argument("file", metavar="FILE", help=".npz, a folder, Parquet, or Arrow (.arrow, .feather)")
    inspect.add_argument(
        "--operators", action="append", default=[], metavar="MODULE", help="import a module with operators of a Program"
    )
    commands.add_parser("run", help="run a Program of a file on the values of others", add_help=False)
    commands.add_parser("pack", help="pack the documents of a file into bins of a token budget", add_help=False)
    commands.add_parser("bench", help="measure some operations, and NumPy for comparison, in a few seconds")
    commands.add_parser("pronounce", help="say how words are pronounced, by a network", add_help=False)
    chosen, others = parser.parse_known_args(arguments)
    if chosen.command == "demo":  # has its own options
        from lodcore import demo

        return demo.main(others)
    if chosen.command == "run":
        from lodcore.interop.files import run_command

        return run_command.main(others)
    if chosen.command == "pack":
        from lodcore.interop.files import pack_command

        return pack_command.main(others)
    if chosen.command == "pronounce":
        from lodcore.demo import pronounce

        return pronounce.pronounce(others)
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    if chosen.command == "bench":
        bench()
        return 0
    try:
        lines = "\n".join(look.describe_tree(look.read(chosen.file, chosen.operators)))
    except Exception as error:  # for any contents of a file, the answer is one line
        problem = str(getattr(error, "strerror", None) or error or type(error).__name__)
        problem = problem.removeprefix(f"lodcore.load: {chosen.file}: ")
        print(f"lodcore inspect: {chosen.file}: {' '.join(problem.split())}", file=sys.stderr)
        return 1
    print(lines)
    return 0


# -- bench -------------------------------------------------------------------------------------------------------------


def bench() -> None:
    """Print processor times of some operations, of the usual NumPy code, and of a plain copy of the same bytes."""
    random = np.random.default_rng(0)
    lengths = np.minimum(random.zipf(1.6, 20_000), 400)
    lod = LoD.from_lengths(lengths)
    offsets = lod.offsets()
    values = random.standard_normal((lod.num_rows, 16), np.float32)
    x = LoDTensor(values, lod)
    index = random.permutation(len(lengths))
    steps, indices_map = TensorArray.unpack(x, 0)
    to_steps = indices_map.values
    pieces = list(x)
    halves = lengths // 2
    buffer, ids = np.empty_like(values), np.empty(lod.num_rows, np.int64)
    cut = np.empty((int(halves.sum()), 16), np.float32)

    def chosen_rows(starts: Array, counts: Array) -> Array:
        ends = np.cumsum(counts)
        rows: Array = np.arange(ends[-1]) + np.repeat(starts - (ends - counts), counts)
        return rows

    def step_order() -> Array:
        rank = np.empty_like(lengths)
        rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
        return np.lexsort((np.repeat(rank, lengths), chosen_rows(np.zeros_like(lengths), lengths)))

    def packed() -> Array:
        out = np.empty_like(values)
        out[to_steps] = values
        return out

    cases: list[tuple[str, Callable[[], Any], Callable[[], Any], Array]] = [
        (
            "offsets from lengths",
            lambda: LoD.from_lengths(lengths),
            lambda: np.concatenate(([0], np.cumsum(lengths))),
            lengths,
        ),
        (
            "segment ids",
            lambda: lod.segment_ids(out=ids),
            lambda: np.repeat(np.arange(len(lengths)), lengths),
            ids,
        ),
        (
            "gather sequences",
            lambda: lodcore.gather_sequences(x, index, out=buffer),
            lambda: np.take(values, chosen_rows(offsets[index], lengths[index]), axis=0, out=buffer, mode="clip"),
            values,
        ),
        (
            "slice each",
            lambda: lodcore.sequence_slice(x, 0, halves, out=cut),
            lambda: np.take(values, chosen_rows(offsets[:-1], halves), axis=0, out=cut, mode="clip"),
            cut,
        ),
        (
            "join arrays",
            lambda: LoDTensor.from_arrays(pieces, out=buffer),
            lambda: np.concatenate(pieces, out=buffer),
            values,
        ),
        (
            "unpack to steps",
            lambda: TensorArray.unpack(x, 0, out=buffer),
            lambda: np.take(values, step_order(), axis=0, out=buffer, mode="clip"),
            values,
        ),
        ("pack from steps", lambda: steps.pack(0, indices_map), packed, values),
    ]
    print(f"{len(x):,} sequences of {lengths.min()} to {lengths.max()} rows, {lod.num_rows:,} rows of 16 float32")
    print("median processor time in milliseconds; copy: a plain copy of the bytes of the result\n")
    print(f"{'operation':<22}{'lodcore':>9}{'NumPy':>9}{'copy':>9}   NumPy / lodcore")
    for name, ours, theirs, result in cases:
        target = np.empty_like(result)
        times = [milliseconds(ours), milliseconds(theirs), milliseconds(partial(np.copyto, target, result))]
        print(f"{name:<22}{times[0]:>9.3f}{times[1]:>9.3f}{times[2]:>9.3f}{times[1] / times[0]:>14.1f}")


def milliseconds(call: Callable[[], Any]) -> float:
    """Return the median processor time of a call."""
    call()
    times: list[int] = []
    end = time.process_time() + SECONDS
    while len(times) < 5 or time.process_time() < end:
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return float(np.median(times)) / 1e6


if __name__ == "__main__":
    sys.exit(main())
