"""A source folder in which nothing is compiled says what it is."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lodcore
from lodcore.base.unbuilt import explained

pytestmark = pytest.mark.not_on_reference
PACKAGE = Path(lodcore.__file__).parent


@pytest.mark.skipif(not (PACKAGE / "base/recycling.pyx").exists(), reason="lodcore is installed without its sources")
def test_a_source_folder_says_how_to_build_it(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "lodcore", ignore=shutil.ignore_patterns("*.so", "*.npz", "__pycache__"))
    command = [sys.executable, "-m", "lodcore", "demo"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.match(r"ImportError: lodcore: lodcore\.base\.\w+ is not compiled for cpython-3", last)
    assert f"in the source folder {tmp_path.resolve()}; run `make build/built` or `pip install -e .` there" in last


def test_a_missing_module_other_than_a_compiled_one_keeps_its_error():
    error = ModuleNotFoundError("No module named 'numpy'", name="numpy")
    assert explained(error) is error
