"""Runs the suite in environments drawn at random: `python -m tests.builds.elsewhere [NUMBER ...]`.

A number draws the same environment again; without one, a number is drawn, too. What it drew is printed before the tests
run. `--commit` takes the number from the hash of the commit; `--sample` runs a part of the tests and those that depend
on their environment, as slow environments always do; `--leave NAME` leaves a property as it is on this machine, to find
out which one a failure is due to.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
import venv
import xml.etree.ElementTree as ElementTree

from tests.builds import tree
from tests.builds.places import PROPERTIES, Place, packages

USUAL = 0.5  # how often a property stays as it is on this machine
#: Where the suite takes several times as long as usual.
SLOW = {("instructions", "none"), ("processors", "one"), ("temporary folder", "slow"), ("malloc", "as of old")}
VARIABLES = ("HYPOTHESIS_PROFILE", "LODCORE_NUM_THREADS", "LODCORE_SIMD", "PYTHONPATH", "VIRTUAL_ENV")


def drawn(number: int) -> dict[str, str]:
    """Return the environment of a number: a value of each property."""
    draw = random.Random(number)
    values = {name: known[0] if draw.random() < USUAL else draw.choice(known[1:]) for name, known in PROPERTIES.items()}
    if "ASCII" in values["locale"] and not values["folder"].isascii():  # hypothesis does not work in such a folder
        values["folder"] = "lodcore"
    return values


def number_of_commit() -> int:
    """Return the number of the commit that is checked out, whoever owns the clone; without a repository, any number."""
    command = ["git", "-c", f"safe.directory={tree.ROOT}", "rev-parse", "HEAD"]
    if shutil.which("git"):
        done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, check=False)
        if not done.returncode:
            return int(done.stdout[:8], 16)
    print("elsewhere: there is no commit here")
    return any_number()


def any_number() -> int:
    """Draw a number."""
    return random.SystemRandom().randrange(10**6)


def prepare(place: Place, values: dict[str, str]) -> str:
    """Make the environment and its interpreter, and return the path of that."""
    place.directory.chmod(0o755)
    for name in VARIABLES:
        place.environment.pop(name, None)
    place.make(values)
    python = place.seen / ".venv/bin/python"
    venv.create(place.checkout / ".venv", symlinks=True)
    (installed,) = (place.checkout / ".venv").glob("lib/python*/site-packages")
    packages(installed, place.without)
    for name in ("temporary", "results"):
        (place.directory / name).mkdir()
        (place.directory / name).chmod(0o1777)
    place.environment |= {
        "HYPOTHESIS_PROFILE": "handful",
        "LODCORE_ORDER": str(place.number),
        "LODCORE_PRINTED": str(place.directory / "results/printed"),
        "LODCORE_WITNESS": str(place.directory / "results/witness"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONHASHSEED": str(place.number % 2**32),
        "TMPDIR": str(place.directory / "temporary"),
    }
    return str(python)


def run(place: Place, command: list[str]) -> int:
    """Run a command in the environment, and return its exit code; what it prints goes to a file."""

    def begin() -> None:
        for call in place.in_child:
            call()
        for stream in place.closed:
            os.close(stream)

    printed = place.directory / "results/printed"
    with printed.open("wb") as file:
        printed.chmod(0o666)
        target = subprocess.PIPE if place.pipe else file
        process = subprocess.Popen(
            [*place.prefix, *command],
            cwd=place.seen,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=subprocess.STDOUT,
            umask=place.mask,
            preexec_fn=begin,
        )
        if process.stdout is not None:
            for line in process.stdout:
                file.write(line)
        return process.wait()


def report(place: Place, code: int, limit: int = 30) -> str:
    """Print the failures, and return a line with the counts."""
    results = place.directory / "results"
    if not (results / "tests.xml").exists():
        text = (results / "printed").read_text(encoding="utf-8", errors="replace")
        print(text[-6000:])
        return f"the tests did not end (exit code {code})"
    (suite,) = ElementTree.parse(results / "tests.xml").getroot().iter("testsuite")
    bad = [
        case for case in suite.iter("testcase") if case.find("failure") is not None or case.find("error") is not None
    ]
    for case in bad[:limit]:
        (problem, *_) = [*case.iter("failure"), *case.iter("error")]
        print(f"FAILED {case.get('classname')}::{case.get('name')}\n{(problem.text or '')[-1500:]}\n")
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count or name == "tests")


def try_number(number: int, options: argparse.Namespace) -> bool:
    """Draw an environment, print it, and run the suite there; return whether all passed."""
    values = {name: PROPERTIES[name][0] if name in options.leave else v for name, v in drawn(number).items()}
    values |= dict(one.split("=", 1) for one in options.set)
    sample = bool(options.sample or SLOW & set(values.items()))
    print(f"elsewhere: number {number}, hash seed and order of the tests by it" + (", a sample" if sample else ""))
    for name, value in values.items():
        if value != PROPERTIES[name][0]:
            print(f"  {name}: {value}")
    sys.stdout.flush()
    with tree.fresh_directory() as directory:
        place = Place(directory, number)
        python = prepare(place, values)
        for note in place.notes:
            print(f"  ({note})", flush=True)
        parts = 10 * options.sample or (10 if sample else 1)
        place.environment["LODCORE_PART"] = f"{number % parts}/{parts}"
        workers = ["-n", str(place.workers), "--dist", "worksteal"] if place.workers else ["-p", "no:xdist"]
        files = [f"--basetemp={directory}/temporary/tests", f"--junitxml={directory}/results/tests.xml"]
        plugins = ["-p", "no:cacheprovider", "-p", "tests.builds.sampled"]
        start = time.monotonic()
        code = run(place, [python, "-m", "pytest", "-q", *plugins, *workers, *files, *options.tests])
        witness = directory / "results/witness"
        if witness.exists():
            print("".join(f"  | {line}\n" for line in witness.read_text("utf-8").splitlines()), end="")
        line = report(place, code)
    print(f"elsewhere: number {number}: {line}; {time.monotonic() - start:.0f} s", flush=True)
    return code == 0


def main() -> None:
    """Try the numbers one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.builds.elsewhere", description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER", help="what to draw; by default any number")
    parser.add_argument("--commit", action="store_true", help="take the number from the hash of the commit")
    parser.add_argument(
        "--sample",
        type=int,
        nargs="?",
        const=1,
        default=0,
        metavar="N",
        help="run a tenth of the tests, of every Nth file",
    )
    parser.add_argument("--leave", action="append", default=[], metavar="NAME", choices=PROPERTIES)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="instead of what is drawn")
    parser.add_argument("--tests", action="append", default=[], metavar="PATH", help="run these tests only")
    options = parser.parse_args()
    numbers = options.numbers or [number_of_commit() if options.commit else any_number()]
    failed = [number for number in numbers if not try_number(number, options)]
    if failed:
        raise SystemExit(f"elsewhere: failed with {', '.join(map(str, failed))}")


if __name__ == "__main__":
    main()
