"""Copies of the source tree in temporary directories, and commands that run there."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "lodcore",
    "reference",
    "tests",
    "docs",
    "asv_benchmarks",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
)
GENERATED = shutil.ignore_patterns("*.so", "*.c", "__pycache__", ".*", "_build", "generated")


def made(directory: str, names: list[str]) -> set[str]:
    """List built files; the .c files of tests and docs are not built."""
    found = set(GENERATED(directory, names))
    written = Path(directory).relative_to(ROOT).parts[:1] in (("tests",), ("docs",))
    return {name for name in found if not (name.endswith(".c") and written)}


@contextmanager
def fresh_directory() -> Iterator[Path]:
    """Yield an empty directory, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="lodcore-") as name:
        yield Path(name).resolve()


def copy(target: Path, *parts: str) -> Path:
    """Copy parts of the tree without built files; by default all parts that building and testing need."""
    target.mkdir(exist_ok=True)
    for part in parts or PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target / part, ignore=made)
        else:
            shutil.copy2(ROOT / part, target / part)
    return target


def unpack(sdist: Path, directory: Path) -> Path:
    """Unpack an sdist, with the times of its files, and return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(directory, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return directory / sdist.name.removesuffix(".tar.gz")


def run(directory: Path, *command: str, **environment: str) -> None:
    """Run a command in a directory, and exit with its exit code if it fails."""
    done = subprocess.run(command, cwd=directory, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")


def output(directory: Path, *command: str) -> list[str]:
    """Run a command in a directory, and return the lines that it prints."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def pytest(*arguments: str, python: str = sys.executable) -> tuple[str, ...]:
    """Return the command that runs tests on the compiled kernels only."""
    return (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kernels=lodcore.kernels", *arguments)


def build(directory: Path, mode: str) -> None:
    """Build the extension modules in place."""
    run(directory, sys.executable, "setup.py", "-q", "build_ext", "--inplace", LODCORE_BUILD=mode)
