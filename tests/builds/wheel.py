"""Checks the contents of sdist and wheel, and tests the installed wheel with the newest and the oldest NumPy.

With `--reuse`, the wheel has the modules that were compiled in this folder, if the sources of the sdist are the same.
With `--sample`, a quarter of the tests run, which the commit chooses.
"""

import filecmp
import shutil
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

from tests.builds import tree
from tests.builds.elsewhere import number_of_commit
from tests.builds.pythons import OLDEST

#: Tests of the wheel, some of every folder. The whole suite runs on the checkout, and by `make pythons`.
TRIED = ["base", "tensors", "numpy_api", "nn", "interop", "batching", "demo", "test_main.py"]
#: Tests that are repeated with the oldest NumPy, on which they depend most.
TRIED_ON_OLDEST = ["base", "tensors", "numpy_api"]
SOURCE_ONLY = {".pyx", ".pxd", ".h", ".c"}


def source_files(*parts: str) -> set[str]:
    """List the source files of parts of the tree, without built files."""
    with tree.fresh_directory() as directory:
        tree.copy(directory, *parts)
        return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def check_sdist(path: Path) -> None:
    """Check that the sdist contains the whole tree and no built files."""
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    wanted = source_files(*tree.PARTS, "Makefile", "CONTRIBUTING.md", "CHANGELOG.md")
    report("sdist", wanted - held, {name for name in held - wanted if Path(name).suffix in {".c", ".so", ".pyc"}})


def check_wheel(path: Path) -> None:
    """Check that the wheel contains the package, compiled, and none of its Cython or C sources."""
    with zipfile.ZipFile(path) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = source_files("lodcore")
    compiled = {name.partition(".")[0] for name in held if name.endswith(".so")}
    kernels = {name.partition(".")[0] for name in package if name.endswith(".pyx")}
    missing = {name for name in package if Path(name).suffix not in SOURCE_ONLY} - held
    strange = {name for name in held if name not in package and not name.endswith(".so")}
    report("wheel", missing | (kernels - compiled), strange | {n for n in held if Path(n).suffix in SOURCE_ONLY})


def report(name: str, missing: set[str], strange: set[str]) -> None:
    """Exit with a message if files are missing or unexpected."""
    for problem, names in (("lacks", missing), ("should not hold", strange)):
        if names:
            raise SystemExit(f"wheel: the {name} {problem} {', '.join(sorted(names))}")


def build_with_modules_of(source: Path, sdist: Path, target: Path) -> None:
    """Build a wheel of an sdist, whose modules are not compiled again where they are in a folder with equal sources."""
    with tree.fresh_directory() as directory:
        unpacked = tree.unpack(sdist, directory)
        of_modules = {name for name in source_files("lodcore") if Path(name).suffix in SOURCE_ONLY} | {"setup.py"}
        if all(filecmp.cmp(unpacked / name, source / name, shallow=False) for name in of_modules):
            platform = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
            shutil.copytree(source / "build/cython-release", unpacked / "build/cython-release")
            for module in (source / "lodcore").rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"):
                place = unpacked / f"build/lib.{platform}" / module.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(module, place)
        command = ["wheel", "-qq", "--no-deps", "--no-build-isolation", "-w", str(target), str(unpacked)]
        tree.run(directory, sys.executable, "-m", "pip", *command)


def main() -> None:
    """Build both, check their contents, and test the wheel in an empty environment, also with the oldest NumPy."""
    built = tree.ROOT / "dist"
    shutil.rmtree(built, ignore_errors=True)
    if "--reuse" in sys.argv[1:]:
        tree.run(tree.ROOT, sys.executable, "-m", "build", "-q", "--sdist")
        build_with_modules_of(tree.ROOT, next(built.glob("*.tar.gz")), built)
    else:
        tree.run(tree.ROOT, sys.executable, "-m", "build", "-q")
    (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    check_sdist(sdist)
    check_wheel(wheel)
    cases = built / f"lodcore-cases-{sdist.name.removesuffix('.tar.gz').rpartition('-')[2]}.zip"
    tree.run(tree.ROOT, sys.executable, "-m", "reference", "release", str(cases))
    with tree.fresh_directory() as directory:
        venv.create(directory / "environment", with_pip=True)
        python = str(directory / "environment/bin/python")
        tree.run(directory, python, "-m", "pip", "install", "-qq", str(wheel))
        tree.run(directory, python, "-W", "error", "-c", "import lodcore; print('imported', lodcore.__file__)")
        tree.run(directory, python, "-m", "pip", "install", "-qq", f"{wheel}[runner]")
        tests = tree.copy(directory / "copy", *(part for part in tree.PARTS if part not in ("lodcore", "setup.py")))
        chosen = ("--pyargs", "-p", "tests.builds.sampled")
        environment = {"HYPOTHESIS_PROFILE": "handful"}
        if "--sample" in sys.argv[1:]:
            environment["LODCORE_PART"] = f"{number_of_commit() % 4}/4"
        command = tree.pytest(*chosen, *[f"tests/{part}" for part in TRIED], "README.md", "lodcore", python=python)
        tree.run(tests, *command, **environment)
        oldest = OLDEST[sys.version_info.minor]
        tree.run(directory, python, "-m", "pip", "install", "-qq", f"numpy=={oldest}")
        print(f"with NumPy {oldest}:", flush=True)
        command = tree.pytest(*chosen, *[f"tests/{part}" for part in TRIED_ON_OLDEST], python=python)
        tree.run(tests, *command, **environment)


if __name__ == "__main__":
    main()
