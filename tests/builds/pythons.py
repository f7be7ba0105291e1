"""Installs and tests the sdist on every supported Python, with its oldest and its newest NumPy.

`python -m tests.builds.pythons` tests all versions that the machine has; with `--ends`, only the oldest with its oldest
NumPy and the newest with its newest NumPy. With `--sample`, the modules are compiled quickly, and every second one,
which the commit chooses, runs an eighth of the tests; the others run a twentieth.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.builds import tree
from tests.builds.elsewhere import number_of_commit

#: The minor versions of Python 3 to try, if the machine has them, and the oldest NumPy of each; README says which were.
OLDEST = {10: "2.0.0", 11: "2.0.0", 12: "2.0.0", 13: "2.1.0", 14: "2.3.2"}
PARTS = (8, 20)  # of the tests, one of which a sample has, and a small one


def interpreters() -> dict[int, str]:
    """Find the supported Pythons of this machine: those on the path, and those of pyenv."""
    places = []
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
        places = sorted(Path(root, "versions").glob("3.*/bin"))
    found = {}
    for minor in OLDEST:
        named = [shutil.which(f"python3.{minor}"), *(str(place / f"python3.{minor}") for place in places)]
        working = [path for path in named if path and Path(path).exists() and minor_of(path) == minor]
        if working:
            found[minor] = working[0]
    return found


def minor_of(path: str) -> int:
    """Return the minor version of an interpreter; -1 if it does not run, or cannot create environments."""
    code = "import sys, venv, ensurepip; print(sys.version_info[1])"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    return -1 if done.returncode else int(done.stdout)


def try_on(source: Path, interpreter: str, numpys: list[str], sample: dict[str, str]) -> Iterator[str]:
    """Build the sdist with a Python, and run the tests on the wheel with each NumPy, outside of the checkout.

    The C files are the same for all Pythons: the first build translates, and leaves them in the unpacked sdist.

    Yields
    ------
    str
        A description of each run that failed.
    """
    later = time.time() + 86400  # than the files of the Cython that pip installs for the build
    for path in source.glob("build/cython-release/**/*.c"):
        os.utime(path, (later, later))
    with tree.fresh_directory() as directory:
        tree.run(directory, interpreter, "-m", "venv", "environment")
        python = str(directory / "environment/bin/python")
        mode = {"LODCORE_BUILD": "quick"} if sample else {}
        tree.run(directory, python, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", "wheels", str(source), **mode)
        (wheel,) = (directory / "wheels").glob("*.whl")
        tests = tree.copy(directory / "copy", *(part for part in tree.PARTS if part not in ("lodcore", "setup.py")))
        for numpy in numpys:
            tree.run(directory, python, "-m", "pip", "install", "-qq", "-U", f"{wheel}[runner]", f"numpy{numpy}")
            name = f"{Path(interpreter).name}, NumPy{numpy or ', newest'}"
            print(f"{name}{''.join(f', {key}={part}' for key, part in sample.items())}:", flush=True)
            sampled = ("-p", "tests.builds.sampled")
            command = tree.pytest("--pyargs", *sampled, "tests", "README.md", "lodcore", python=python)
            profile = os.environ.get("HYPOTHESIS_PROFILE", "handful")
            try:
                tree.run(tests, *command, HYPOTHESIS_PROFILE=profile, **sample)
            except SystemExit as error:
                yield f"{name}: {error}"


def sample_of(number: int | None, place: int) -> dict[str, str]:
    """Return the variables by which `tests.builds.sampled` chooses the tests of one Python."""
    if number is None:
        return {}
    parts = PARTS[(number + place) % 2]
    return {"LODCORE_PART": f"{number % parts}/{parts}"}


def main() -> None:
    """Test the Pythons of this machine."""
    found = interpreters()
    print("found", ", ".join(f"3.{minor}" for minor in found) or "none", flush=True)
    if not found:
        raise SystemExit("no Python that is promised is on this machine")
    ends = "--ends" in sys.argv[1:]
    number = number_of_commit() if "--sample" in sys.argv[1:] else None
    failed: list[str] = []
    with tree.fresh_directory() as directory:
        tree.run(tree.ROOT, sys.executable, "-m", "build", "-q", "--sdist", "-o", str(directory))
        source = tree.unpack(next(directory.glob("*.tar.gz")), directory)
        numpys = {minor: [f"=={OLDEST[minor]}", ""] for minor in found}
        if ends:
            oldest, newest = numpys[min(found)][:1], numpys[max(found)][1:]
            numpys = {min(found): oldest + newest} if len(found) == 1 else {min(found): oldest, max(found): newest}
        for place, minor in enumerate(numpys):
            failed += try_on(source, found[minor], numpys[minor], sample_of(number, place))
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
