"""What became slower between two commits: processor time on one thread, both in turns, in a process each.

    python compare.py                       # the working tree, and the commit before HEAD
    python compare.py v0.1.0                # the working tree, and another commit
    python compare.py v0.1.0 v0.2.0 --only gather small

A row is a call of lodcore; its figure is the time of the new commit divided by that of the old one: the median of the
turns, and their quartiles. A row that is above the limit is measured again, twice, in new processes; one that is above
it in all three runs is slower, and the status is then 1. Both commits run the benchmarks of this tree; a row that the
old commit does not know is omitted.
"""

import argparse
import functools
import importlib
import io
import itertools
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
COMPILED = ("*.pyx", "*.pxd", "*.h", "setup.py")
LIMIT, RUNS = 1.25, 3
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
#: The wide operations (the table of docs/performance.md), on these batches; the others are single calls.
BATCHES = [["nlp", 1, "float32", 1_000_000, 7, 2**28], ["nlp", 64, "float32", 100_000, 7, 2**28]]
STEPS = [
    *(("recurrent_layers", "Layers", "time_forward_and_backward", [name, "fused", 64, 32]) for name in ("lstm", "gru")),
    ("learning", "Step", "time_step", ["dot", 32]),
    ("graph", "Recorded", "time_call", ["recorded", "tanh"]),
]


# -- one side ----------------------------------------------------------------------------------------------------------


def rows_of():
    """List all rows: a group, and what `prepare` needs."""
    sys.path[:0] = [str(HERE), str(HERE / "peers")]
    from run import OPERATIONS

    for batch, operation, way in itertools.product(BATCHES, OPERATIONS, ("lodcore", "lodcore_out")):
        yield "wide", [operation, way, batch]
    for name in importlib.import_module("benchmarks.small").CALLS:
        yield "small", [name]
    for name in importlib.import_module("benchmarks.operators").EachOperator.params:
        yield "operator", [name]
    for step in STEPS:
        yield "step", list(step)


def is_chosen(group, row):
    """Return whether a row is one of the short run: the wide operations on the wide batch, small calls, and steps."""
    return group in ("small", "step") or (group == "wide" and row[1] == "lodcore" and row[2][1] > 1)


def title(group, row):
    """Return the name of a row."""
    if group == "wide":
        return f"{row[0]} {row[2][1]}{' out=' if row[1] == 'lodcore_out' else ''}"
    return f"{group}: {row[0]}" if group != "step" else f"{row[0]}.{row[1]} {' '.join(map(str, row[3]))}"


def prepare(group, row, batch_of):
    """Return the call of a row, or None if there is none."""
    if group == "wide":
        file, name = row[0].split(".")
        asked = getattr(importlib.import_module(f"benchmarks.{file}"), name)()
        return getattr(asked, row[1])(batch_of(*row[2])) if hasattr(asked, row[1]) else None
    if group == "small":
        return importlib.import_module("benchmarks.small").CALLS[row[0]][0]
    if group == "operator":
        asked, arguments, method = importlib.import_module("benchmarks.operators").EachOperator(), row, "time_call"
    else:
        asked, arguments, method = getattr(importlib.import_module(f"benchmarks.{row[0]}"), row[1])(), row[3], row[2]
    asked.setup(*arguments)
    return lambda: getattr(asked, method)(*arguments)


def often(call):
    """Return how many calls take half a millisecond; some calls work only once, and fail here."""
    times = []
    for _ in range(4):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return max(1, int(5e-4 / max(min(times), 1e-7)))


def serve():
    """Answer lines of JSON: prepare a row, or measure it for some seconds."""
    import warnings

    warnings.simplefilter("ignore")
    sys.path[:0] = [str(HERE), str(HERE / "peers")]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from benchmarks import common
    from worker import samples_of

    import lodcore

    batch_of, call, number = functools.lru_cache(maxsize=1)(common.Batch), None, 0
    print(json.dumps(str(Path(lodcore.__file__).parent.parent)), file=replies, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "seconds" in order:
            reply = statistics.median(samples_of(call, number, order["seconds"]))
        else:
            try:
                call = prepare(*order["row"], batch_of)
                reply = call is not None
                number = reply and often(call)
            except Exception as error:  # the other commit may not have it, or not with these arguments
                reply = f"{type(error).__name__}: {error}"
        print(json.dumps(reply), file=replies, flush=True)


class Side:
    """A process that measures the lodcore of one tree."""

    def __init__(self, tree):
        environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in THREADS} | {"PYTHONPATH": str(tree)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, "-c", f"import runpy; runpy.run_path({str(__file__)!r}, run_name='side')"]
        self.process = subprocess.Popen(command, env=environment, cwd=tree, **pipes)
        found = self.reply()
        if Path(found).resolve() != Path(tree).resolve():
            raise SystemExit(f"the process for {tree} has imported lodcore from {found}")

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process has ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, **order):
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return self.reply()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


# -- trees -------------------------------------------------------------------------------------------------------------


def git(*arguments):
    return subprocess.run(["git", "-C", str(TOP), *arguments], check=True, capture_output=True).stdout


def same(old, new):
    """Return whether lodcore is the same in two commits, the second of which may be the working tree."""
    commits = [old] if new is None else [old, new]
    differs = ["git", "-C", str(TOP), "diff", "--quiet", *commits, "--", "lodcore", "setup.py"]
    return subprocess.run(differs, capture_output=True).returncode == 0


def tree_of(commit):
    """Return a folder with a commit, compiled; None stands for the working tree.

    Modules of the working tree are taken over where the sources are equal, so that only the others are compiled.
    """
    if commit is None:
        return TOP
    number = git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()
    tree = TOP / "build" / "compare" / number[:12]
    if (tree / "built").exists():
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(git("archive", number, "lodcore", "setup.py", "pyproject.toml"))) as archive:
        archive.extractall(tree, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    changed = git("diff", "--name-only", number, "--", *COMPILED).decode().split()
    changed += git("ls-files", "--others", "--exclude-standard", "--", *COMPILED).decode().split()
    same_settings = "setup.py" not in changed
    for path in (*TOP.glob("lodcore/**/*.so"), *TOP.glob("build/cython-release/**/*.[ch]")):
        place = tree / path.relative_to(TOP)
        if same_settings and (path.suffix != ".so" or has_source(tree, place)):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    later = time.time() + 2
    for path in map(tree.joinpath, changed):
        if path.exists():
            os.utime(path, (later, later))
    print(f"building {number[:8]}: {len(changed)} files of compiled code differ", flush=True)
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=tree, check=True)
    (tree / "built").touch()
    return tree


def has_source(tree, module):
    """Return whether a tree has the source of a compiled module, or needs none."""
    name = module.name.split(".")[0]
    return name.startswith("_") or module.with_name(f"{name}.pyx").exists()


# -- comparison --------------------------------------------------------------------------------------------------------


def compared(trees, rows, turns, seconds):
    """Measure rows on both sides in turns; return the ratios new / old of each that both know."""
    old, new = map(Side, trees)
    found, broken = {}, {}
    for group, row in rows:
        can = [side.ask(row=[group, row]) for side in (old, new)]
        if can != [True, True]:
            if can[0] is True and can[1] is not False:
                broken[title(group, row)] = can[1]
            continue
        ratios = []
        for turn in range(turns):
            order = (old, new) if turn % 2 else (new, old)
            times = {side: side.ask(seconds=seconds) for side in order}
            ratios.append(times[new] / times[old])
        found[title(group, row)] = ratios
    old.end()
    new.end()
    return found, broken


def line(name, ratios):
    """Return a row as text: median and quartiles."""
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return f"  {middle:5.2f}  ({low:.2f} .. {high:.2f})  {name}"


def suspects(found, limit):
    """List the rows above the limit."""
    return [name for name, ratios in found.items() if statistics.median(ratios) > limit]


def report(found, limit, all_rows):
    """Print the rows that became slower or faster, and the geometric mean of all."""
    middle = {name: statistics.median(ratios) for name, ratios in found.items()}
    shown = sorted(middle, key=middle.get, reverse=True)
    for name in shown if all_rows else [n for n in shown if not 1 / limit**0.5 < middle[n] < limit**0.5]:
        print(line(name, found[name]))
    mean = math.exp(statistics.fmean(map(math.log, middle.values()))) if middle else 1.0
    print(f"{len(middle)} rows; geometric mean of new / old: {mean:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default="HEAD~1")
    parser.add_argument("new", nargs="?", help="default: the working tree")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose name has one of these")
    parser.add_argument("--short", action="store_true", help="a fifth of the rows, in three turns, at most twice")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a turn (default: 0.02)")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--all", action="store_true", help="print all rows")
    arguments = parser.parse_args()
    if subprocess.run(["git", "-C", str(TOP), "cat-file", "-e", arguments.old], capture_output=True).returncode:
        print(f"{arguments.old} is not there (a clone without history?): nothing to compare")
        return
    if same(arguments.old, arguments.new):
        print(f"lodcore is the same as in {arguments.old}: nothing to compare")
        return
    trees = [tree_of(arguments.old), tree_of(arguments.new)]
    rows = [one for one in rows_of() if not arguments.only or any(t in title(*one) for t in arguments.only)]
    runs = RUNS
    if arguments.short:
        rows, runs, arguments.turns = [one for one in rows if is_chosen(*one)], 2, min(3, arguments.turns)
    begin, slower = time.perf_counter(), None
    for run in range(1, runs + 1):
        asked = [one for one in rows if slower is None or title(*one) in slower]
        found, broken = compared(trees, asked, arguments.turns, arguments.seconds * (1 if run == 1 else 3))
        print(f"new / old, run {run} of at most {runs}, after {time.perf_counter() - begin:.0f} s:")
        report(found, arguments.limit, arguments.all or run > 1)
        for name, error in broken.items():
            print(f"  fails in the new commit: {name}: {error}")
        slower = suspects(found, arguments.limit)
        if not slower:
            return
    raise SystemExit(f"slower than {arguments.limit} times in {runs} runs: " + ", ".join(slower))


if __name__ == "side":
    serve()
elif __name__ == "__main__":
    main()
