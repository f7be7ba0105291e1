"""The same kernels on each instruction set: a path is chosen when it is first used, so each gets its own process."""

import os
import subprocess
import sys

PATHS = ("none", "avx2", "avx512")  # a processor that lacks one takes the next lower


def on_each_path(module, function):
    """Call a function without parameters in a process a path: what it prints, by path."""
    command = [sys.executable, "-c", f"from {module} import {function}; print({function}())"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = {path: subprocess.Popen(command, env={**environment, "LODCORE_SIMD": path}, **pipes) for path in PATHS}
    results = {}
    for path, process in running.items():
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        results[path] = printed.strip()
    return results
