"""Builds the extension modules; all other settings are in pyproject.toml.

LODCORE_BUILD selects the mode: release, plain (without x86 instructions), debug (bounds checks), asan (address and
undefined-behaviour sanitizers) or trace (line coverage of the .pyx files). LODCORE_JOBS limits the number of parallel
jobs.
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext as _build_ext

MODE = os.environ.get("LODCORE_BUILD", "release")
JOBS = int(os.environ.get("LODCORE_JOBS", os.cpu_count() or 1))

KERNELS = Path("lodcore/kernels")
TENSORS = Path("lodcore/tensors")  # its compiled files run loops of the kernels themselves
SOURCES = sorted(Path("lodcore").rglob("*.pyx"))
SHARED = "lodcore.kernels._cyutility"  # the memoryview support of Cython, compiled once for all modules

SAME_BITS = ["-ffp-contract=off"]  # no fused multiply-add, even if the processor has it: the same bits everywhere
# A function that a header does not declare must fail here, not at import. nan is tested as x != x.
STRICT = ["-Werror=implicit-function-declaration", "-Wno-tautological-compare"]
UNCHECKED = {"boundscheck": False, "initializedcheck": False}
CHECKED = {"boundscheck": True, "initializedcheck": True, "nonecheck": True}
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
SLOW = ["-O1", "-g", "-fno-omit-frame-pointer"]
LINES = ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-sanitize=null"]  # line numbers; null pointers crash anyway
TRACE = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]
# If a list append runs out of memory, Cython 3.3 releases the item of a comprehension twice: here and in its error
# path.
TWICE = "int result = PyList_Append(list, x);\n    Py_DECREF(x);"
ONCE = "int result = PyList_Append(list, x);\n    if (result == 0) Py_DECREF(x);"
FAST = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
MSVC = ["/O2", "/fp:precise", "/std:c11"]  # on Windows, where loops are compiled without x86 instructions
MODES = {  # directives, compiler flags, linker flags, macros
    "release": (UNCHECKED, FAST, [], []),
    "plain": (UNCHECKED, FAST, [], [("LODCORE_PLAIN", "1")]),
    "debug": (CHECKED, SLOW, [], []),
    "asan": (UNCHECKED, SANITIZE + LINES, SANITIZE, []),
    "trace": ({**CHECKED, "profile": True, "linetrace": True}, ["-O0"], [], TRACE),
}


class build_ext(_build_ext):
    """Compile in parallel, also under pip."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or JOBS
        self.compiled = 0

    def build_extension(self, ext: Extension) -> None:
        """Compile a module, and print the progress of the build."""
        path = Path(self.get_ext_fullpath(ext.name))
        before = path.stat().st_mtime_ns if path.exists() else 0
        if self.compiler.compiler_type == "msvc":  # MSVC rejects the options of gcc and clang
            ext.extra_compile_args = MSVC
        super().build_extension(ext)
        self.compiled += 1
        if path.stat().st_mtime_ns != before:
            print(f"[{self.compiled:2d}/{len(self.extensions)}] compiled {ext.name}", flush=True)


def extensions() -> list[Extension]:
    """List the extension modules, after translation to C."""
    import numpy
    from Cython.Build import cythonize

    if MODE not in MODES:
        raise SystemExit(f"LODCORE_BUILD={MODE!r}: choose one of {', '.join(MODES)}")
    if KERNELS not in {path.parent for path in SOURCES}:  # otherwise the wheel would have no kernels
        raise SystemExit("the .pyx files are missing: this source tree is incomplete")
    directives, compiler, linker, macros = MODES[MODE]
    common = {
        "include_dirs": [numpy.get_include()],
        "extra_compile_args": SAME_BITS + STRICT + compiler,
        "extra_link_args": linker,
        "define_macros": [
            ("NPY_NO_DEPRECATED_API", "NPY_1_25_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            *macros,
        ],
    }
    less = {**common, "extra_compile_args": [{"-O3": "-O2"}.get(flag, flag) for flag in common["extra_compile_args"]]}
    found = [
        Extension(
            ".".join(path.with_suffix("").parts),
            [str(path)],
            depends=sorted(map(str, Path("lodcore").rglob("*.h"))),
            **(common if path.parent in (KERNELS, TENSORS) else less),  # other loops are short, and as fast with -O2
        )
        for path in SOURCES
    ]
    found.append(Extension(SHARED, [SHARED.replace(".", "/") + ".c"], **less))
    made = cythonize(
        found,
        nthreads=JOBS,
        shared_utility_qualified_name=SHARED,
        build_dir=None if MODE == "trace" else f"build/cython-{MODE}",  # coverage needs the .c file beside the .pyx
        force=MODE != "release",
        emit_linenums=MODE in ("debug", "asan"),
        compiler_directives={
            "language_level": "3",
            "binding": True,
            "cdivision": True,
            "wraparound": False,
            "auto_pickle": False,
            "autotestdict": False,
            **directives,
        },
    )
    for path in {Path(source) for extension in made for source in extension.sources}:
        text = path.read_text(encoding="utf-8")
        if TWICE in text:
            path.write_text(text.replace(TWICE, ONCE), encoding="utf-8")
    return list(made)


if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": build_ext})
