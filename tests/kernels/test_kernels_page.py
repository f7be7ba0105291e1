"""docs/kernels.md is up to date with the docstrings, and another package of kernels can be used as it promises."""

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lodcore import kernels
from tests.builds.kernels_page import PAGE, entries, functions, page, sections
from tests.helpers.processes import environment
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [
    (module, name) for module in kernels.__all__ for name in functions(import_module(f"lodcore.kernels.{module}"))
]


def test_page_is_as_the_docstrings_are():
    assert page() == PAGE.read_text(encoding="utf-8"), "run python -m tests.builds.kernels_page"


@for_each(("module", "name"), FUNCTIONS)
def test_every_parameter_is_described(module, name):
    function = getattr(import_module(f"lodcore.kernels.{module}"), name)
    parts = sections(inspect.getdoc(function))
    assert parts[""]
    heads = [head for head, _ in entries(parts["Parameters"])] if "Parameters" in parts else []
    described = [one for head in heads for one in head.partition(" : ")[0].split(", ")]
    assert described == list(inspect.signature(function).parameters)
    assert all(" : " in head for head in heads), "a parameter has no type"


def look_at(package, directory):
    """Run the tests of two kernels on another package."""
    chosen = ["tests/kernels/test_gather.py", "-k", "take_sequences or slice_ranges"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--kernels={package}", *chosen]
    variables = environment(HYPOTHESIS_PROFILE="handful")
    variables["PYTHONPATH"] = os.pathsep.join([str(directory), variables["PYTHONPATH"]])
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def test_a_package_stands_in(tmp_path):
    """With another package, the tests of a correct kernel pass, and those of a broken one fail."""
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
