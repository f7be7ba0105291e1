"""What the package and its pages promise is what it has, and what somebody has tried."""

import importlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from asv_benchmarks import trend

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
#: The licences of the data that come with the package, by folder, and what names each in the expression.
LICENCES = {"glosses": "LicenseRef-WordNet-3.0", "pronounce": "BSD-2-Clause", "vowels": "CC-BY-4.0"}


def git(*arguments):
    """Run git in the checkout; its exit code is 128 and more where there is no repository."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_licence_names_that_of_every_file_of_data():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(PROJECT)["project"]
    assert set(project["license"].split(" AND ")) == {"BSD-3-Clause", *LICENCES.values()}
    folders = {path.parent for path in (ROOT / "lodcore").rglob("*.npz")}
    assert {folder.name for folder in folders} == set(LICENCES)
    shipped = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    for folder in folders:
        assert {folder / "ATTRIBUTION.md", *folder.glob("LICENSE*")} <= shipped


def test_no_free_threaded_python_is_promised():
    """No machine with one has tried lodcore yet."""
    texts = [
        PROJECT,
        (ROOT / "setup.py").read_text(encoding="utf-8"),
        *(path.read_text(encoding="utf-8") for path in (ROOT / "lodcore").rglob("*.pyx")),
    ]
    assert not re.search(r"freethreading_compatible|cp3\d+t\b|Free Threading", "\n".join(texts))


def test_every_page_names_the_same_pythons():
    """Those that `make pythons` has run on; README says which."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert {newest for text in texts for newest in re.findall(r"CPython 3\.10\s+to\s+3\.(\d+)", text)} == {"13"}
    assert {oldest for text in texts for oldest in re.findall(r"Python 3\.(\d+) or newer", text)} == {"10"}
    assert 'requires-python = ">=3.10"' in PROJECT


def test_the_command_lodcore_of_pyproject_is_a_function():
    module, _, name = re.search(r'(?m)^lodcore = "(.*)"$', PROJECT).group(1).partition(":")
    assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_results_belong_to_commits_of_the_history():
    if git("rev-parse", "--is-shallow-repository").stdout != "false\n":
        pytest.skip("this is no clone with the whole history")
    known = set(git("rev-list", "HEAD").stdout.split())
    measured = [path.name.partition("-")[0] for path in trend.RESULTS.glob("*/*-*.json")]
    measured += trend.MILESTONES
    assert not [commit for commit in measured if not any(one.startswith(commit) for one in known)]
