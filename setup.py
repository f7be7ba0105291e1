"""Builds the extension modules; all other settings are in pyproject.toml.

LODCORE_BUILD selects the mode: release, quick (compiles in two thirds of the time; some loops take longer), plain
(without x86 instructions), debug (bounds checks), asan (address and undefined-behaviour sanitizers), trace (line
coverage of the .pyx files) or none (for an editable install of a tree whose modules are built already). LODCORE_JOBS
limits the number of parallel jobs.
"""

import contextlib
import functools
import gc
import io
import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import Any, TextIO

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext as _build_ext

MODE = os.environ.get("LODCORE_BUILD", "release")
JOBS = int(os.environ.get("LODCORE_JOBS", os.cpu_count() or 1))

KERNELS = Path("lodcore/kernels")
VECTORS = KERNELS / "vectors"  # its headers are found from every folder
TENSORS = Path("lodcore/tensors")
OPTIMIZED = {  # files of other folders: two run loops of the kernels themselves, with less x[i] takes 1.1 of the time
    *(TENSORS / "fast_paths.pyx", TENSORS / "kernel_calls.pyx"),
    *(TENSORS / "lod_body.pyx", TENSORS / "lod_tensor_body.pyx"),
}
SOURCES = sorted(Path("lodcore").rglob("*.pyx"))
SHARED = "lodcore.kernels._cyutility"  # the memoryview support of Cython, compiled once for all modules

SAME_BITS = ["-ffp-contract=off"]  # no fused multiply-add, even if the processor has it: the same bits everywhere
# A function that a header does not declare must fail here, not at import. nan is tested as x != x. Cython declares
# functions of a .pxd inline, also those that must not be.
STRICT = ["-Werror=implicit-function-declaration", "-Wno-tautological-compare", "-Wno-attributes"]
UNCHECKED = {"boundscheck": False, "initializedcheck": False}
CHECKED = {"boundscheck": True, "initializedcheck": True, "nonecheck": True}
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
SLOW = ["-O1", "-g", "-fno-omit-frame-pointer"]
# Line numbers; null pointers crash anyway. What is checked most costs most to optimize: -O1 takes 2.3 times as long to
# compile, and the tests run no faster.
LINES = ["-O0", "-g1", "-fno-omit-frame-pointer", "-fno-sanitize=null"]
TRACE = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]
MOST_AXES = 3  # of a memoryview: Cython would reserve 208 bytes for each, and copy them at every call, for 8 axes
# If a list append runs out of memory, Cython 3.3 releases the item of a comprehension twice: here and in its error
# path.
TWICE = "int result = PyList_Append(list, x);\n    Py_DECREF(x);"
ONCE = "int result = PyList_Append(list, x);\n    if (result == 0) Py_DECREF(x);"
# What takes and returns memoryviews is a tenth of all code if it is inlined where a function begins and ends.
APART = re.compile(
    r"^static CYTHON_INLINE (void __Pyx_XCLEAR_MEMVIEW|__Pyx_memviewslice __Pyx_PyObject_to_Memoryview)", re.MULTILINE
)
# A method of a compiled class that takes arguments does not look at its self if it is called by the class, as
# `LoD.drop(3)`, and would read another object as one of its own.
METHOD = re.compile(
    r"(static PyObject \*__pyx_pw_\w+\(PyObject \*__pyx_v_self, (?:\n#if CYTHON_VECTORCALL\n|PyObject \*__pyx_args, )"
    r"(?:(?!\n}\n).)*?"
    r'__Pyx_RefNannySetupContext\("(\w+) \(wrapper\)", 0\);\n)'
    r"((?:(?!\n}\n).)*?__pyx_r = __pyx_pf_\w+\(\(\(struct __pyx_obj_(\w+) \*\)__pyx_v_self\))",
    re.DOTALL,
)
SELF = r"""\1  {
    PyTypeObject *type = (PyTypeObject *) __pyx_mstate_global->__pyx_ptype_\4;
    if (unlikely(!PyObject_TypeCheck(__pyx_v_self, type))) {
      PyErr_Format(PyExc_TypeError, "descriptor '\2' for '%s' objects doesn't apply to a '%s' object",
                   type->tp_name, Py_TYPE(__pyx_v_self)->tp_name);
      return NULL;
    }
  }
\3"""
FAST = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
# Of kernels: short loops that cross a line of the cache take up to 1.5 times as long, so every change of a module moved
# the times of others.
ALIGNED = ["-falign-loops=64"]
# What only calls loops: -O1 and the cheap parts of -O2, which take a third less of the compiler's time; small calls
# are as fast.
LEAN = [
    *("-O1", "-fstrict-aliasing", "-finline-small-functions", "-foptimize-sibling-calls", "-falign-functions=16"),
    *("-falign-loops=16", "-falign-jumps=16", "-freorder-blocks-algorithm=stc", "-fexpensive-optimizations"),
    *("-fpeephole2", "-fif-conversion2", "-ftree-switch-conversion", "-fcaller-saves"),
]
# Kernels whose loops are as fast with this, which takes the compiler two thirds of the time of -O3. Of others, some
# loops would take 1.1 to 1.3 times as long with it, and some 0.6.
LOOPS = ["-ftree-vectorize", "-fvect-cost-model=dynamic", "-fpeel-loops"]
LEAN_KERNELS = {
    *("attention", "beam", "deviation", "gates", "machine", "matrix", "neighbours", "norm", "optimizers", "packing"),
    *("sort", "tokens", "window"),
}
QUICK = [*LEAN, *LOOPS, "-g0", "-fno-math-errno", "-fno-trapping-math"]
# In the C file of another kernel, what follows its functions is optimized less: what sets up the module, and helpers
# of Cython. The functions before keep their code, since the options are restored at the end.
AFTER_FUNCTIONS, END = (f"/* #### Code section: {name} ### */\n" for name in ("module_exttypes", "end"))
LESS = ", ".join(f'"{flag.removeprefix("-").removeprefix("f")}"' for flag in [*LEAN, "-ftree-vectorize"])
GCC = "#if defined(__GNUC__) && !defined(__clang__)\n{}#endif\n"
EASED = GCC.format(f"#pragma GCC push_options\n#pragma GCC optimize ({LESS})\n")
RESTORED = GCC.format("#pragma GCC pop_options\n")
MODES = {  # directives, compiler flags, linker flags, macros
    "release": (UNCHECKED, FAST, [], []),
    "quick": (UNCHECKED, QUICK, [], []),
    "plain": (UNCHECKED, FAST, [], [("LODCORE_PLAIN", "1")]),
    "debug": (CHECKED, SLOW, [], []),
    "asan": (UNCHECKED, SANITIZE + LINES, SANITIZE, []),
    "trace": ({**CHECKED, "profile": True, "linetrace": True}, ["-O0"], [], TRACE),
    "none": ({}, [], [], []),
}
OF_USERS = ("release", "quick", "plain")  # without checks
NAMED = re.compile(r'"([\w./]+\.h)"')  # a header, in an include, a macro or a declaration of Cython
CIMPORTED = re.compile(r"^from (lodcore\.[\w.]+) cimport (.*)", re.MULTILINE)


class build_ext(_build_ext):
    """Translate and compile in parallel, also under pip; what only asks for names and versions waits for neither."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or JOBS
        self.compiled = 0

    @functools.cached_property
    def is_clang(self) -> bool:
        """Whether the compiler is clang, under whatever name; the macros that it defines tell."""
        asked = [*self.compiler.compiler_so, "-dM", "-E", "-x", "c", os.devnull]
        return "__clang__" in subprocess.run(asked, capture_output=True, text=True, check=False).stdout

    def run(self) -> None:
        if self.extensions:
            require_compiler()
        made = {extension.name: extension for extension in translated(self.extensions)}
        for extension in self.extensions:
            of = made[extension.name]
            extension.sources, extension.include_dirs, extension.depends = of.sources, of.include_dirs, of.depends
        super().run()

    def build_extension(self, ext: Extension) -> None:
        """Compile a module, and print the progress of the build."""
        path = Path(self.get_ext_fullpath(ext.name))
        before = path.stat().st_mtime_ns if path.exists() else 0
        if LEAN[0] in ext.extra_compile_args and self.is_clang:  # clang does not have all of these
            level = "-O3" if LOOPS[0] in ext.extra_compile_args else "-O2"
            ext.extra_compile_args = [level, *(flag for flag in ext.extra_compile_args if flag not in LEAN + LOOPS)]
        super().build_extension(ext)
        self.compiled += 1
        if path.stat().st_mtime_ns != before:
            print(f"[{self.compiled:2d}/{len(self.extensions)}] compiled {ext.name}", flush=True)


def require_compiler() -> None:
    """Exit with advice if there is no compiler, before a minute goes by with translations."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if not shutil.which(shlex.split(command)[0]):
        raise SystemExit(
            f"lodcore: is compiled here, and there is no {command!r}: install a C compiler (on Debian and Ubuntu, "
            "apt-get install gcc libc6-dev python3-dev), or name another one with CC=..."
        )


class Shorter(io.TextIOBase):
    """A stream without what Cython says of each file before it translates the first: that it "changed"."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.begun = ""

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        self.stream.writelines(f"{line}\n" for line in lines if not line.startswith("Compiling "))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()


def headers(path: Path) -> list[str]:
    """List the headers of this tree that a source file needs, also those of the files that it cimports."""
    found = {path}
    waiting = [path]
    while waiting:
        source = waiting.pop()
        text = source.read_text(encoding="utf-8")
        places = [folder / name for name in NAMED.findall(text) for folder in (source.parent, VECTORS)]
        named = [Path(os.path.normpath(place)) for place in places]
        for module, names in CIMPORTED.findall(text):
            named += [Path(*module.split("."), f"{name}.pxd") for name in names.split(", ")]
            named.append(Path(*module.split(".")).with_suffix(".pxd"))
        new = {there for there in [*named, source.with_suffix(".pxd")] if there.exists()} - found
        found |= new
        waiting += new
    return sorted(str(there) for there in found if there.suffix == ".h")


def extensions() -> list[Extension]:
    """List the extension modules."""
    if MODE not in MODES:
        raise SystemExit(f"LODCORE_BUILD={MODE!r}: choose one of {', '.join(MODES)}")
    if KERNELS not in {path.parent for path in SOURCES}:  # otherwise the wheel would have no kernels
        raise SystemExit("the .pyx files are missing: this source tree is incomplete")
    if MODE == "none":
        return []
    import numpy

    _, compiler, linker, macros = MODES[MODE]
    common = {
        "include_dirs": [numpy.get_include(), str(VECTORS)],
        "extra_compile_args": SAME_BITS + STRICT + compiler,
        "extra_link_args": linker,
        "define_macros": [
            ("NPY_NO_DEPRECATED_API", "NPY_1_25_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            *macros,
        ],
    }
    optimized = [flag for flag in common["extra_compile_args"] if flag != "-O3"]
    is_fast = "-O3" in compiler
    lean = {**common, "extra_compile_args": optimized + (LEAN if is_fast else [])}
    loops = {**common, "extra_compile_args": optimized + (LEAN + LOOPS + ALIGNED if is_fast else [])}
    aligned = {**common, "extra_compile_args": common["extra_compile_args"] + (ALIGNED if is_fast else [])}

    def settings(path: Path) -> dict[str, Any]:
        """Return the settings of a module."""
        if path.parent == KERNELS:
            return loops if path.stem in LEAN_KERNELS else aligned
        return common if path in OPTIMIZED else lean

    found = [
        Extension(
            ".".join(path.with_suffix("").parts),
            [str(path)],
            depends=headers(path),
            **settings(path),
        )
        for path in SOURCES
    ]
    return [*found, Extension(SHARED, [SHARED.replace(".", "/") + ".c"], **lean)]


def eased(text: str) -> str:
    """Let the compiler optimize less what follows the functions of a C file."""
    parts = re.split(f"({re.escape(AFTER_FUNCTIONS)}|{re.escape(END)})", text)
    if len(parts) != 5:
        raise SystemExit(f"a C file of Cython has no {AFTER_FUNCTIONS!r}, or no end")
    return "".join([*parts[:2], EASED, parts[2], RESTORED, *parts[3:]])


def translated(found: list[Extension]) -> list[Extension]:
    """Translate the modules to C."""
    gc.disable()  # the trees of Cython are large, and short-lived
    import Cython
    from Cython.Compiler import Options

    Options.buffer_max_dims = MOST_AXES + 1  # before other files of Cython read it
    from Cython.Build import cythonize

    can_fork = "fork" in multiprocessing.get_all_start_methods()
    if can_fork:  # so that the processes that translate have this option, too
        multiprocessing.set_start_method("fork", force=True)

    directives = {
        "language_level": "3",
        "binding": True,
        "cdivision": True,
        "wraparound": False,
        "auto_pickle": False,
        "autotestdict": False,
        **MODES[MODE][0],
    }

    def mark(name: str) -> str:
        """Return the last line of a module translated with these settings."""
        of_file = (Cython.__version__, MOST_AXES, APART, METHOD, SELF, sorted(LEAN_KERNELS), EASED, directives)
        return f"/* {zlib.crc32(repr(of_file).encode()):08x}: the settings of setup.py */\n"

    kept = "release" if MODE == "quick" else MODE  # the C files are the same
    folder = Path(".") if MODE == "trace" else Path(f"build/cython-{kept}")  # coverage needs .c beside .pyx
    for path in (folder / "lodcore").rglob("*.c"):  # memoryviews of two sizes must not meet
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        if not path.read_text(encoding="utf-8").endswith(mark(name)):
            path.unlink()
    for path in (folder / "lodcore").rglob("*.h"):  # Cython copies headers here, where they are found first
        if not Path(*path.parts[len(folder.parts) :]).exists():
            path.unlink()
    with contextlib.redirect_stdout(Shorter(sys.stdout)):
        made = cythonize(
            found,
            nthreads=JOBS if can_fork else 0,
            shared_utility_qualified_name=SHARED,
            build_dir=None if MODE == "trace" else str(folder),
            force=kept != "release",
            emit_linenums=MODE in ("debug", "asan"),
            compiler_directives=directives,
        )
    for path, name in {Path(source): extension.name for extension in made for source in extension.sources}.items():
        text = path.read_text(encoding="utf-8")
        better = APART.sub(r"static __attribute__((noinline)) \1", METHOD.sub(SELF, text.replace(TWICE, ONCE)))
        *folders, module = name.split(".")
        if Path(*folders) == KERNELS and module not in LEAN_KERNELS and name != SHARED and MODE in OF_USERS:
            better = eased(better)
        if not text.endswith(mark(name)):
            path.write_text(better + mark(name), encoding="utf-8")
    return list(made)


if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": build_ext})
