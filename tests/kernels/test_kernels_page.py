"""Docstrings of kernels describe every parameter; another package can stand in for them, as docs/kernels.md says."""

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lodcore import kernels
from tests.helpers.processes import environment
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [
    (module, name)
    for module in kernels.__all__
    for name, thing in vars(import_module(f"lodcore.kernels.{module}")).items()
    if not name.startswith("_") and callable(thing) and not inspect.isclass(thing)
]


def sections(doc):
    """Split a docstring at its headings; the first part has none."""
    pieces = re.split(r"^(\w+)\n-+\n", doc, flags=re.MULTILINE)
    return dict(zip(["", *pieces[1::2]], [piece.strip() for piece in pieces[::2]], strict=True))


@for_each(("module", "name"), FUNCTIONS)
def test_every_parameter_is_described(module, name):
    function = getattr(import_module(f"lodcore.kernels.{module}"), name)
    parts = sections(inspect.getdoc(function))
    assert parts[""]
    heads = re.findall(r"^\S.*", parts.get("Parameters", ""), re.MULTILINE)
    described = [one for head in heads for one in head.partition(" : ")[0].split(", ")]
    assert described == list(inspect.signature(function).parameters)
    assert all(" : " in head for head in heads), "a parameter has no type"


def look_at(package, directory):
    """Run the tests of two kernels on another package, and some that other packages need not pass."""
    files = [f"tests/kernels/test_{name}.py" for name in ("gather", "lod", "expand", "packing")]
    chosen = [*files, "-k", "take_sequences or slice_ranges or belong_together or TestLarge"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--kernels={package}", *chosen]
    variables = environment(HYPOTHESIS_PROFILE="handful")
    variables["PYTHONPATH"] = os.pathsep.join([str(directory), variables["PYTHONPATH"]])
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def test_the_tests_of_kernels_run_on_another_package(tmp_path):
    """With another package, the tests of a correct kernel pass, and those of a broken one fail.

    Those that ask for more than the rules, and those of large arrays, are skipped: a copy of the reference passes.
    Another pytest runs, and searches for small examples of what fails, which takes seconds.
    """
    package = tmp_path / "mykernels"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in kernels.__all__:
        (package / f"{name}.py").write_text(f"from reference.kernels.{name} import *\n", encoding="utf-8")
    with (package / "gather.py").open("a") as file:
        file.write("from reference.kernels import gather as twin\n")
        file.write("def take_sequences(offsets, index, ranges, out):\n")
        file.write("    bad = twin.take_sequences(offsets, index, ranges, out)\n")
        file.write("    return bad + 1\n")
    done = look_at("mykernels", tmp_path)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert done.returncode == 1, done.stdout
    assert failed, done.stdout
    assert all("take_sequences" in line for line in failed), done.stdout
    assert re.search(r"\d passed", done.stdout), done.stdout
    assert "asks for more than docs/kernels.md does" in done.stdout
    assert "takes too long with kernels of the reference" in done.stdout
