"""Kernels, the error table, hostile input and recycled memory under the address and undefined-behaviour sanitizers.

`python -m tests.builds.asan soak SECONDS` runs `tests.robustness.injection` instead; with `--sample`, a quarter
of the properties and of the rows of tables run, which the commit chooses, and all other tests.
"""

import os
import subprocess
import sys

from tests.builds import tree
from tests.builds.elsewhere import number_of_commit
from tests.helpers.processes import compiler

TESTS = (
    *("tests/kernels", "tests/test_errors.py", "tests/robustness/test_hostile.py", "tests/operators/test_operators.py"),
    *("tests/base/test_recycling.py", "tests/graph/loops/test_shared_operands.py"),
    *("tests/robustness/test_public_names.py", "tests/robustness/test_injection.py"),
    *(
        "tests/interop/arrow/test_interface.py",
        "tests/interop/arrow/test_invalid_arrays.py",
        "tests/interop/files/test_storage.py",
    ),
)
#: Of these folders, what starts another pytest on kernels in Python.
WITHOUT_KERNELS = ("tests/kernels/test_kernels_page.py",)


def library(name: str) -> str:
    """Find a library of the compiler that must be loaded before the interpreter."""
    command = [*(compiler() or ["gcc"]), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    path = found.stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"asan: {name} is missing; it comes with gcc (Debian: apt-get install gcc)")
    return path


def main(arguments: list[str]) -> None:
    """Build a copy with the sanitizers, and run the tests in it, or the fuzzer that changes arguments."""
    # The report of a sanitizer that aborts must be visible; assertions need not be rewritten, as few fail here alone.
    options = ("-p", "tests.builds.sampled", "--capture=sys", "--assert=plain")
    command = tree.pytest(*options, *(f"--ignore={one}" for one in WITHOUT_KERNELS), *TESTS)
    if arguments[:1] == ["soak"]:
        command = (sys.executable, "-m", "tests.robustness.injection", "--seconds", *arguments[1:2])
    rows = f"{number_of_commit() % 4}/4" if "--sample" in arguments else "0/1"
    preload = f"{library('libasan.so')} {library('libubsan.so')}"
    with tree.fresh_directory() as directory:
        tree.copy(directory)
        tree.build(directory, "asan")
        tree.run(
            directory,
            *command,
            LD_PRELOAD=preload,
            PYTHONMALLOC="malloc",  # so that the sanitizer tracks every allocation
            ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096",
            UBSAN_OPTIONS="print_stacktrace=1",
            LODCORE_ROWS=rows,
            HYPOTHESIS_PROFILE="pair",  # a sanitizer checks accesses, not results
        )


if __name__ == "__main__":
    main(sys.argv[1:])
