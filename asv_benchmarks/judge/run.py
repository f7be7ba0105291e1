"""Holds other libraries against lodcore's cases, and writes docs/judge.md; see README.md.

    python asv_benchmarks/judge/run.py --install     # make an environment for each library in build/judge, and run all
    python asv_benchmarks/judge/run.py torch         # one of them
    python asv_benchmarks/judge/run.py --page        # the page alone, from the results that are committed

Each library runs in a process and an environment of its own. One that ends is started again at the next case. What is
not installed is left out, and its last results are kept.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from asv_benchmarks.judge import page  # noqa: E402
from reference import read_cases  # noqa: E402
from reference.write_cases import draw_cases, write  # noqa: E402

PLACE = ROOT / "build/judge"
#: The Python and the packages of each library; None is this environment.
ENVIRONMENTS = {
    "lodcore": None,
    "awkward": ("python3", "awkward"),
    "fbgemm": ("python3", "fbgemm-gpu-cpu==1.8.0", "torch==2.13.0", "numpy"),
    "paddle": ("python3.7", "paddlepaddle==1.8.5", "protobuf<3.21"),
    "tensorflow": ("python3", "tensorflow-cpu"),
    "thinc": ("python3", "thinc"),
    "torch": ("python3", "torch==2.13.0", "numpy"),
}


def interpreter(name):
    return PLACE / name / "bin/python" if ENVIRONMENTS[name] else Path(sys.executable)


def install(name):
    """Make an environment; say so if that does not work here."""
    python, *packages = ENVIRONMENTS[name]
    try:
        if not interpreter(name).exists():
            subprocess.run([python, "-m", "venv", PLACE / name], check=True)
        subprocess.run([interpreter(name), "-m", "pip", "install", "-qq", *packages], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: not installed: {error}", file=sys.stderr)


def answer(name, cases, count, results, python=None, worker=HERE / "worker.py"):
    """Let a library answer all cases, in as many processes as it needs; return whether it could be started."""
    python = python or interpreter(name)
    results.unlink(missing_ok=True)
    variables = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    first = 0
    while True:
        command = [python, worker, name, cases, results, str(first)]
        done = subprocess.run(command, env=variables, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        answered = lines_of(results) - 1
        if answered == count:
            return True
        if answered < 0 or done.returncode == 1:  # it cannot be imported, or the worker is wrong
            print(f"{name}: left out: {done.stderr[-800:]}", file=sys.stderr)
            return False
        with results.open("a", encoding="utf-8") as file:
            print(json.dumps({"case": answered, "crashed": ended(done.returncode)}), file=file)
        first = answered + 1
        if first == count:
            return True


def lines_of(results):
    """Count the lines of a file of results, without what a killed process began to write."""
    if not results.exists():
        return 0
    whole = results.read_bytes().rpartition(b"\n")[0]
    results.write_bytes(whole + b"\n" if whole else b"")
    return whole.count(b"\n") + bool(whole)


def ended(status):
    """Say how a process ended."""
    if -status == signal.SIGALRM:
        return "no answer in a minute"
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ENVIRONMENTS)} (default: all)")
    parser.add_argument("--install", action="store_true", help="install what is needed first")
    parser.add_argument("--page", action="store_true", help="write the page only")
    given = parser.parse_args()
    if unknown := set(given.names) - set(ENVIRONMENTS):
        parser.error(f"no library {', '.join(sorted(unknown))}")
    if not given.page:
        PLACE.mkdir(parents=True, exist_ok=True)
        path = PLACE / "cases.npz"
        write(path, draw_cases())
        cases = read_cases.read(path)
        for name in given.names or ENVIRONMENTS:
            results = PLACE / f"{name}.jsonl"
            if given.install and ENVIRONMENTS[name]:
                install(name)
            if not interpreter(name).exists():
                print(f"{name}: left out: no {interpreter(name)}", file=sys.stderr)
            elif answer(name, path, len(cases), results):
                page.keep(name, cases, results)
                print(f"{name}: done", flush=True)
    (ROOT / "docs/judge.md").write_text(page.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
