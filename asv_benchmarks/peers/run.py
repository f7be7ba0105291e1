"""Compare lodcore with other libraries: processor time on the same inputs, on one thread, in one process each.

Without --python all peers run in this environment; those that are not installed are omitted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OPERATIONS = {
    "lod.FromLengths": "offsets from lengths",
    "lod.FromOffsets": "check offsets",
    "lod.Lengths": "lengths from offsets",
    "lod.SegmentIds": "sequence of each row",
    "gather.Permute": "gather, all in another order",
    "gather.Subset": "gather, a quarter",
    "gather.SubsetOfDocuments": "gather, two levels, a quarter",
    "gather.SliceEach": "slice each sequence",
    "gather.Concat": "concat 64 batches",
    "lod.Slice": "slice `x[a:b]`",
    "lod.DropOuter": "drop a level",
    "lod.Split": "split documents",
    "nested.FromArrays": "from a list of arrays",
    "nested.ToArrays": "to a list of arrays",
    "pad.Pad": "pad",
    "pad.Unpad": "unpad",
    "rank_table.Unpack": "unpack into steps",
    "rank_table.Pack": "pack from steps",
    "pool.Pool": "sum of each sequence",
    "pool.PoolMax": "maximum of each sequence",
    "softmax.Softmax": "softmax within each sequence",
    "expand.Expand": "a row for each row of its sequence",
    "expand.Reverse": "reverse each sequence",
    "embedding.Bag": "rows of a table, summed by sequence",
}
VIEWS = ("lod.Slice", "lod.DropOuter", "lod.Split", "nested.ToArrays")  # no copy corresponds to these
MOST_PADDED = 2**28  # bytes of a padded array
ROWS = {"medium": {1: 1_000_000, 64: 250_000}, "small": {1: 10_000, 64: 10_000}}
DISTRIBUTIONS = ["nlp", "empty", "long", "uniform", "ones", "equal"]
OURS = ["lodcore", "lodcore_out", "copy", "copy_out"]
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")


class Peer:
    """A process that runs worker.py."""

    def __init__(self, name, interpreter):
        self.name = name
        environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in THREADS}
        command = [interpreter, str(HERE / "worker.py"), name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        self.hello = self.reply()

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: the process has ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, **order):
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return self.reply()


def start(interpreters):
    """Start lodcore, NumPy (the flat idioms), and each library that has a file here and is installed."""
    libraries = sorted(path.stem.removeprefix("with_") for path in HERE.glob("with_*.py"))
    unknown = set(interpreters) - set(libraries)
    if unknown:
        raise SystemExit(f"--python: no peer {', '.join(sorted(unknown))}; there are {', '.join(libraries)}")
    peers = [Peer(name, interpreters.get(name, sys.executable)) for name in [*OURS, "flat", *libraries]]
    for peer in peers:
        if "missing" in peer.hello:
            print(f"{peer.name}: left out: {peer.hello['missing']}", file=sys.stderr)
            if peer.name in OURS:
                raise SystemExit("lodcore must be installed in this environment")
    return [peer for peer in peers if "version" in peer.hello]


def agree(digests, reference):
    """Return whether results are equal in the parts that both list; real numbers to five digits."""
    return bool(digests) and all(
        len(a) == len(b) and all(abs(x - y) <= 1e-5 * max(map(abs, b)) for x, y in zip(a, b, strict=True))
        for a, b in zip(digests, reference, strict=False)
    )


def compare(peers, operation, batch, rounds, seconds):
    """Measure an operation: return processor seconds per call by peer, and the errors."""
    replies = {peer.name: peer.ask(operation=operation, batch=batch) for peer in peers}
    problems = [f"{name}: {reply['failed']}" for name, reply in replies.items() if "failed" in reply]
    if "digests" not in replies["lodcore"]:
        print(f"{operation} {batch[:2]}: left out: {replies['lodcore'].get('unavailable')}", file=sys.stderr)
        return {}, problems
    able = []
    for peer in peers:
        digests = replies[peer.name].get("digests")
        if digests and not peer.name.startswith("copy") and not agree(digests, replies["lodcore"]["digests"]):
            problems.append(f"{peer.name} disagrees with lodcore")
        elif digests:
            able.append(peer)
    samples = {peer.name: [] for peer in able}
    for _ in range(rounds):
        for peer in able:
            samples[peer.name] += peer.ask(seconds=seconds)["samples"]
    return {name: statistics.median(found) for name, found in samples.items()}, problems


def lines_of(operation, times):
    """Return the lines of a case: lodcore with a new result, and with `out=`."""
    peers = {name: time for name, time in times.items() if name not in OURS}
    best = min(peers, key=peers.get, default=None)
    for own, copy in (("lodcore", "copy"), ("lodcore_out", "copy_out")):
        if own in times:
            yield {
                "operation": operation,
                "out": own == "lodcore_out",
                "seconds": times[own],
                "peer": {"flat": "numpy"}.get(best, best),
                "to_peer": times[own] / peers[best] if best else None,
                "to_copy": times[own] / times[copy] if copy in times and operation not in VIEWS else None,
            }


def ratio(number):
    """Format a ratio with two significant digits, "-" if there is none."""
    return "-" if number is None else f"{number:.2f}" if number < 9.95 else f"{number:.0f}"


def text_line(line):
    title = OPERATIONS[line["operation"]] + (", out=" if line["out"] else "")
    return (
        f"{title:<36} {line['distribution']:<8} {line['width']:>5} {line['seconds'] * 1e6:>10.1f} us "
        f"{ratio(line['to_peer']):>6} {line['peer'] or '-':<8} {ratio(line['to_copy']):>6}"
        f"{'  LOSS' if (line['to_peer'] or 0) > 1 else ''}"
    )


def markdown(lines):
    """Write the table of the README: one line per operation, one column per batch."""
    columns = list(dict.fromkeys((line["distribution"], line["width"]) for line in lines))
    cells = {(line["operation"], line["out"], line["distribution"], line["width"]): line for line in lines}
    yield (
        "| time of lodcore / best peer / copy | "
        + " | ".join(f"{name}, width {width}" for name, width in columns)
        + " |"
    )
    yield "| --- |" + " --- |" * len(columns)
    for operation, out in dict.fromkeys((line["operation"], line["out"]) for line in lines):
        found = [cells.get((operation, out, *column)) for column in columns]
        yield f"| {OPERATIONS[operation]}{', `out=`' if out else ''} | " + " | ".join(map(cell, found)) + " |"


def cell(line):
    if line is None:
        return ""
    text = f"{ratio(line['to_peer'])} {line['peer'] or ''}".strip()
    copied = f", {ratio(line['to_copy'])} copy" if line["to_copy"] else ""
    return (f"**{text}**" if (line["to_peer"] or 0) > 1 else text) + copied


def cases_of(arguments):
    """List operation, distribution and width; wide padded arrays are too large unless lengths are even."""
    distributions = DISTRIBUTIONS if arguments.all else DISTRIBUTIONS[:2]
    chosen = [name for name in OPERATIONS if not arguments.only or name in arguments.only]
    cases = [(name, distribution, width) for width in (1, 64) for distribution in distributions for name in chosen]
    return cases + [(name, "uniform", 64) for name in chosen if name.startswith("pad.") and not arguments.all]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=list(ROWS), default="medium", help="rows of a batch (default: medium)")
    parser.add_argument("--all", action="store_true", help="six distributions of lengths instead of two")
    parser.add_argument(
        "--only", nargs="+", choices=list(OPERATIONS), metavar="OPERATION", help="such as gather.Permute"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=3, help="times that every peer has its turn (default: 3)")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a turn (default: 0.1)")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=INTERPRETER", help="where a peer lives")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times to a file")
    arguments = parser.parse_args()
    peers = start(dict(choice.split("=", 1) for choice in arguments.python))
    names = {"lodcore": "lodcore", "flat": "numpy"}
    versions = {names.get(peer.name, peer.name): peer.hello["version"] for peer in peers if peer.name not in OURS[1:]}
    lines, failures = [], []
    if not arguments.markdown:
        print(f"{'operation':<36} {'lengths':<8} {'width':>5} {'lodcore':>13} {'/ best peer':<15} {'/ copy':>6}")
    for operation, distribution, width in cases_of(arguments):
        batch = [distribution, width, "float32", ROWS[arguments.size][width], arguments.seed, MOST_PADDED]
        times, problems = compare(peers, operation, batch, arguments.rounds, arguments.seconds)
        failures += [f"{operation} {distribution} {width}: {problem}" for problem in problems]
        for line in lines_of(operation, times):
            lines.append(line | {"distribution": distribution, "width": width, "times": times})
            if not arguments.markdown:
                print(text_line(lines[-1]), flush=True)
    if arguments.markdown:
        print("\n".join(markdown(lines)))
    print("; ".join(f"{name} {version}" for name, version in versions.items()))
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"versions": versions, "seed": arguments.seed, "lines": lines}, indent=1), encoding="utf-8"
        )
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
