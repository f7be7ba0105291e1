"""What the build costs, module by module: processor seconds of Cython and of the compiler, and sizes.

`python -m tests.builds.build_costs` builds a copy of the tree in one process, without a cache.
"""

import os
import resource
import runpy
import sys
from pathlib import Path

from tests.builds import tree


def seconds() -> float:
    """Return the processor time of this process, and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(function, costs, name):
    """Wrap a function so that its processor time is added to `costs`, under the name of its argument."""

    def call(*args, **kwargs):
        start = seconds()
        result = function(*args, **kwargs)
        key = name(args)
        costs[key] = costs.get(key, 0.0) + seconds() - start
        return result

    return call


def build() -> tuple[dict[str, float], dict[str, float]]:
    """Build the tree in the current directory; return the seconds of Cython and of the compiler for each module."""
    from Cython.Build import Dependencies
    from setuptools.command import build_ext

    translating: dict[str, float] = {}
    compiling: dict[str, float] = {}
    Dependencies.cythonize_one = measured(
        Dependencies.cythonize_one, translating, lambda args: ".".join(Path(str(args[0])).with_suffix("").parts)
    )
    build_ext.build_ext.build_extension = measured(
        build_ext.build_ext.build_extension, compiling, lambda args: args[1].name
    )
    sys.argv = ["setup.py", "-q", "build_ext", "--inplace"]
    runpy.run_path("setup.py", run_name="__main__")
    return translating, compiling


def main() -> None:
    """Print a table, the most expensive module first."""
    os.environ |= {"LODCORE_JOBS": "0", "CCACHE_DISABLE": "1"}
    with tree.fresh_directory() as directory:
        tree.copy(directory)
        os.chdir(directory)
        start = seconds()
        translating, compiling = build()
        total = seconds() - start
        rows = []
        for name, taken in compiling.items():
            path = Path(*name.split("."))
            (library,) = path.parent.glob(f"{path.name}.*.so")
            source = Path("build/cython-release", path.with_suffix(".c"))
            rows.append((name, translating.get(name, 0.0), taken, source.stat().st_size, library.stat().st_size))
        os.chdir(tree.ROOT)
    print(f"{'module':32} {'Cython, s':>10} {'compiler, s':>12} {'.c, kB':>8} {'.so, kB':>8}")
    rows.sort(key=lambda row: -row[1] - row[2])
    for name, *cost in [*rows, ("all", *(sum(row[k] for row in rows) for k in range(1, 5)))]:
        print(f"{name:32} {cost[0]:10.2f} {cost[1]:12.2f} {cost[2] // 1000:8} {cost[3] // 1000:8}")
    print(f"{total:.1f} s of processor time in all")


if __name__ == "__main__":
    main()
