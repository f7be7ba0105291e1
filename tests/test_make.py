"""The commands of make, which say what they would do or run an interpreter that does nothing, and the build."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make"),
    pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="this is no checkout"),
]
INTERPRETER = """#!/bin/sh
echo "begin $*" >> log
sleep 0.01
echo "end $*" >> log
"""


def make(folder, *arguments, **variables):
    """Run make, and return what it prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))} | variables
    done = subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_pythons_that_are_too_old_are_refused():
    """Before anything is made with them, or compiled."""
    python = ROOT / "nothing-here"
    commands = make(ROOT, f"VIRTUAL_ENV={python}", f"PYTHON={python}", "-n", "-B", "build/built")
    checks = re.findall(r"(?m)^(.*)'import sys; sys.version_info >= \(3, 10\) or .*'", commands)
    assert [str(python) in one for one in checks] == [True, True]
    assert commands.index("sys.version_info") < commands.index("-m venv") < commands.index("build_ext")


def test_make_with_several_jobs_installs_one_extra_at_a_time(tmp_path):
    """All go to one environment, so that they would disturb each other where MAKEFLAGS asks for several at once."""
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy2(ROOT / name, tmp_path / name)
    (tmp_path / "lodcore").mkdir()
    python = tmp_path / "environment/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(INTERPRETER, encoding="utf-8")
    python.chmod(0o755)
    make(tmp_path, "installed", VIRTUAL_ENV=str(tmp_path / "environment"), MAKEFLAGS="-j8")
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["begin", "end"] * (len(lines) // 2)
    assert [re.findall(r"\.\[(\w+)\]$", line) for line in lines[1::2]][-5:] == [
        [name] for name in ("test", "lint", "types", "bench", "wheel")
    ]


def test_build_without_a_compiler_fails_at_once():
    """Before anything is translated, which takes a minute."""
    pytest.importorskip("setuptools", minversion="77")  # that of an environment may be older than the build's own
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    environment = {**os.environ, "CC": "nothing-here", "LODCORE_BUILD": "release"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lodcore: is compiled here, and there is no 'nothing-here': install a C compiler")
