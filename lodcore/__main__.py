"""python -m lodcore: the demo, a look into a saved batch, packing of files, and a short self-measurement."""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from zipfile import BadZipFile

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, TensorArray

BARS = 40  # characters of the longest bar
BINS = 12  # lines of a histogram
SECONDS = 0.3  # for each thing that is measured

Array = np.ndarray[Any, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process, if not given.

    Returns
    -------
    int
        Exit code: 0, or 1 if a file cannot be shown. Wrong usage exits with 2.
    """
    parser = argparse.ArgumentParser(prog="python -m lodcore", description=lodcore.__doc__)
    parser.add_argument("--version", action="version", version=f"lodcore {lodcore.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    commands.add_parser("demo", help="learn from real recordings and from real text, in two acts", add_help=False)
    inspect = commands.add_parser(
        "inspect",
        help="show a saved batch: its structure, its lengths, and what padding it would cost",
        epilog="Saved as: numpy.savez(FILE, values=x.values, offsets_0=x.lod.offsets(0), offsets_1=x.lod.offsets(1))",
    )
    inspect.add_argument("file", metavar="FILE.npz", help="`values`, and `offsets_0` (coarsest) and following")
    commands.add_parser("pack", help="pack the documents of a file into bins of a token budget", add_help=False)
    commands.add_parser("bench", help="measure some operations beside NumPy and a plain copy, in a few seconds")
    chosen, others = parser.parse_known_args(arguments)
    if chosen.command == "demo":  # has options of its own
        from lodcore import demo

        return demo.main(others)
    if chosen.command == "pack":
        from lodcore.batching import command

        return command.main(others)
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    if chosen.command == "bench":
        bench()
        return 0
    try:
        x = load(chosen.file)
    except (OSError, ValueError, TypeError, EOFError, MemoryError, RuntimeError, BadZipFile, zlib.error) as error:
        problem = getattr(error, "strerror", None) or error or type(error).__name__
        print(f"lodcore inspect: {chosen.file}: {problem}", file=sys.stderr)
        return 1
    print("\n".join(describe(x)))
    return 0


# -- inspect ---------------------------------------------------------------------------------------------------


def load(path: str) -> LoDTensor:
    """Read a LoDTensor from an .npz file that holds `values` and `offsets_0`, `offsets_1`, ...

    Parameters
    ----------
    path : str
        Nothing in the file is unpickled, and its offsets are checked like any others.

    Returns
    -------
    LoDTensor

    Raises
    ------
    OSError, ValueError, TypeError, EOFError, MemoryError, RuntimeError, BadZipFile, zlib.error
        If the file cannot be read, or does not hold a LoDTensor.
    """
    with open(path, "rb") as file:
        archive = np.load(file, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("is one array; an .npz file with values and offsets_0, offsets_1, ... is needed")
        names = ["values", *(f"offsets_{k}" for k in range(len(archive.files) - 1))]
        if sorted(names) != sorted(archive.files):
            raise ValueError(f"holds {', '.join(archive.files) or 'nothing'}; {', '.join(names)} is needed")
        values, *offsets = (archive[name] for name in names)
    return LoDTensor.from_offsets(values, *offsets)


def describe(x: LoDTensor) -> Iterator[str]:
    """Give lines of text about a LoDTensor: shape, lengths level by level, the cost of padding."""
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
                f"max {lengths.max():,}, {np.count_nonzero(lengths == 0):,} empty"
            )
            yield from histogram(lengths)
    if x.num_levels:
        yield ""
        yield padding_cost(x)


def histogram(lengths: Array) -> Iterator[str]:
    """Draw how many sequences have which length, a line a group of lengths."""
    low, high = int(lengths.min()), int(lengths.max())
    step = -(-(high - low + 1) // BINS)
    counts = np.bincount((lengths - low) // step)
    widest = len(f"{high:,}")
    for k, count in enumerate(counts.tolist()):
        first, last = low + k * step, min(low + (k + 1) * step - 1, high)
        span = f"{first:>{widest},}" + (f" .. {last:>{widest},}" if step > 1 else "")
        bar = "#" * -(-BARS * count // int(counts.max()))
        yield f"  {span} |{bar:<{BARS}} {count:,}"


def padding_cost(x: LoDTensor) -> str:
    """Say how large the batch would be if all levels were padded."""
    rows = len(x)
    for level in range(x.num_levels):
        rows *= int(x.lod.lengths(level).max(initial=0))
    if not x.num_rows:
        return f"padded: {rows:,} rows; there are none"
    filled = 100 * (1 - x.num_rows / rows)
    return (
        f"padded: {rows:,} rows, {rows * (x.nbytes // x.num_rows):,} bytes: {rows / x.num_rows:.2f} times as many, "
        f"{filled:.0f} % of them filling"
    )


# -- bench -----------------------------------------------------------------------------------------------------


def bench() -> None:
    """Print processor times of some operations, beside the usual NumPy lines and a plain copy of the same bytes."""
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
    """Measure the median processor time of a call."""
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
