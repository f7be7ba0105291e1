"""The same kernels on each instruction set: a path is chosen at first use, so each has its own process."""

import atexit
import functools
import subprocess
import sys

from tests.helpers.processes import environment

#: The files of tests of kernels whose `digest` hashes the results of their kernels for many batches.
FILES = ("attention", "beam", "chains", "deviation", "embedding", "expand", "foreign_data", "gates", "gather", "lod")
FILES += ("machine", "norm", "optimizers", "pad", "pool", "softmax", "sort", "tokens", "window")
PATHS = ("none", "avx2", "avx512")  # a processor that lacks one uses the next lower
SERVE = """
import importlib, sys
for line in sys.stdin:
    module, function = line.split()
    print(getattr(importlib.import_module(module), function)(), flush=True)
"""


@functools.cache
def process_of(path):
    """Start a process that runs calls on one path until this process ends."""
    variables = environment(LODCORE_SIMD=path)
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    process = subprocess.Popen([sys.executable, "-c", SERVE], env=variables, text=True, **pipes)
    atexit.register(process.communicate)
    return process


def on_each_path(module, function):
    """Call a function without parameters on every path: return its results as text, by path."""
    for path in PATHS:
        process = process_of(path)
        process.stdin.write(f"{module} {function}\n")
        process.stdin.flush()
    found = {path: process_of(path).stdout.readline() for path in PATHS}
    dead = [process_of(path) for path, line in found.items() if not line]
    if dead:
        process_of.cache_clear()  # the next test starts new processes
    assert not dead, "\n".join(process.communicate()[1] for process in dead)
    return {path: line.strip() for path, line in found.items()}
