"""The environments of `tests.builds.elsewhere`: what they differ in, and how each is made on this machine.

What a machine cannot do (no such locale, no right to mount) is left out and noted, so that a number draws the same
environment everywhere.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import site
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.builds import tree
from tests.helpers.processes import compiler as command_of_compiler

NOBODY = 65534
MEBI = 2**20
#: The environments: for each property its values, of which the first is that of this machine.
PROPERTIES: dict[str, tuple[str, ...]] = {
    "instructions": ("all", "avx512", "avx2", "none"),
    "processors": ("all", "one"),
    "processes": ("two", "one"),
    "locale": ("that of the machine", "C", "C in ASCII", "tr_TR.UTF-8", "none"),
    "folder": (
        "lodcore",
        "Größe und Maße",
        "tests/lodcore",
        "reference/lodcore",
        "site-packages/lodcore",
        "kernels/generated",
        "behind a link",
        "twice on sys.path",
    ),
    "user": ("that of the machine", "another one"),
    "home": ("that of the machine", "not set", "not there", "not writable"),
    "umask": ("022", "077"),
    "zone": ("UTC", "Pacific/Kiritimati", "<-11>+11"),
    "compiler": ("there", "none"),
    "libraries": ("all", "no torch", "no pyarrow", "neither torch nor pyarrow"),
    "malloc": ("that of the machine", "filled", "as of old", "as of late"),
    "memory": ("all", "6 GiB", "3 GiB"),
    "temporary folder": ("that of the machine", "slow", "with 64 MiB"),
    "streams": ("a file", "a pipe", "no input", "none"),
    "interrupts": ("as usual", "ignored"),
    "open files": ("as many as usual", "64"),
    "garbage": ("collected as usual", "collected often", "never collected"),
}


@dataclass
class Place:
    """How to run a command in an environment."""

    directory: Path  # for everything that is made
    number: int
    checkout: Path = field(init=False)
    seen: Path = field(init=False)  # the name under which the checkout is used
    without: tuple[str, ...] = ()  # libraries
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    prefix: list[str] = field(default_factory=list)
    in_child: list[Callable[[], None]] = field(default_factory=list)
    closed: tuple[int, ...] = ()
    mask: int = 0o022
    tunables: list[str] = field(default_factory=list)
    pipe: bool = False
    workers: int = 2
    notes: list[str] = field(default_factory=list)

    def make(self, values: dict[str, str]) -> None:
        """Make everything that the values ask for; the folder comes first."""
        MAKERS["folder"](self, values["folder"])
        for name, value in values.items():
            if name != "folder" and value != PROPERTIES[name][0]:
                MAKERS[name](self, value)
        if self.tunables:
            self.environment["GLIBC_TUNABLES"] = ":".join(self.tunables)

    def has(self, program: str, what: str) -> bool:
        """Return whether a program is installed; if not, note what is skipped."""
        if shutil.which(program) is None:
            self.notes.append(f"{what}: left out, there is no {program}")
            return False
        return True


def instructions(place: Place, level: str) -> None:
    """Switch off the instructions above a level: those of lodcore, NumPy, OpenBLAS, torch, Arrow and glibc."""
    from numpy._core import _multiarray_umath as umath

    features, dispatched = umath.__cpu_features__, list(umath.__cpu_dispatch__)
    if not features.get({"avx512": "AVX512F", "avx2": "AVX2"}.get(level, "SSE2")):
        place.notes.append(f"instructions: the processor has less than {level}")
        return
    at = max((dispatched.index(name) + 1 for name in ("AVX2", "X86_V3") if name in dispatched), default=0)
    off = {"avx512": [], "avx2": dispatched[at:], "none": dispatched}[level]
    core = {"avx512": "SkylakeX", "avx2": "Haswell", "none": "Nehalem"}[level]
    torchs, dnn = {"avx512": ("avx512", "AVX512_CORE"), "avx2": ("avx2", "AVX2"), "none": ("default", "SSE41")}[level]
    place.environment |= {
        "LODCORE_SIMD": level,
        "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in off if features.get(name)),
        "OPENBLAS_CORETYPE": core,
        "ATEN_CPU_CAPABILITY": torchs,
        "ONEDNN_MAX_CPU_ISA": dnn,
        "ARROW_USER_SIMD_LEVEL": level.upper(),
    }
    if level != "avx512":
        less = ["AVX512F", "AVX512VL", "AVX512BW", "AVX512CD", "AVX512DQ"]
        less += ["AVX2", "FMA", "AVX"] if level == "none" else []
        place.tunables.append("glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in less))
    told = core_of_openblas(place.environment)
    if told and told.lower() != core.lower():
        place.notes.append(f"instructions: OpenBLAS uses {told}, not {core}")


def core_of_openblas(environment: dict[str, str]) -> str:
    """Return the name of the processor whose loops OpenBLAS runs; nothing if NumPy has another BLAS."""
    code = """if True:
        import ctypes, numpy
        library = ctypes.CDLL(numpy.linalg._umath_linalg.__file__)
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_", "openblas_get_corename"):
            if hasattr(library, name):
                library[name].restype = ctypes.c_char_p
                print(library[name]().decode())
                break
    """
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def processors(place: Place, value: str) -> None:
    """Run on one of the processors."""
    first = min(os.sched_getaffinity(0))
    place.in_child.append(lambda: os.sched_setaffinity(0, {first}))


def processes(place: Place, value: str) -> None:
    """Run the tests in one process."""
    place.workers = 0


def locale(place: Place, value: str) -> None:
    """Set a locale, which is made if the machine does not have it."""
    place.environment = {k: v for k, v in place.environment.items() if k[:3] != "LC_" and k not in ("LANG", "LANGUAGE")}
    if value == "none":
        return
    if value == "C in ASCII":  # otherwise Python reads and writes UTF-8 in this locale
        place.environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        return
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.lower()
    name, _, encoding = value.partition(".")
    if value != "C" and value.lower().replace("-", "") not in known.replace("-", ""):
        if not place.has("localedef", f"locale {value}"):
            return
        folder = place.directory / "locales"
        folder.mkdir()
        command = ["localedef", "-i", name, "-f", encoding, str(folder / value)]
        if subprocess.run(command, capture_output=True, check=False).returncode > 1:
            place.notes.append(f"locale: {value} cannot be made on this machine")
            return
        place.environment["LOCPATH"] = str(folder)
    place.environment["LC_ALL"] = value


def folder(place: Place, value: str) -> None:
    """Copy the tree with its compiled modules to a folder of that name."""
    special = value in ("behind a link", "twice on sys.path")
    place.checkout = place.seen = place.directory / ("lodcore" if special else value)
    place.checkout.parent.mkdir(parents=True, exist_ok=True)
    tree.copy(place.checkout)
    for path in (tree.ROOT / "lodcore").rglob("*.so"):
        shutil.copy2(path, place.checkout / path.relative_to(tree.ROOT))
    if special:
        link = place.directory / "link"
        link.symlink_to(place.checkout)
        place.seen = link if value == "behind a link" else place.checkout
    paths = [str(place.checkout), f"{place.directory}/link"] if value == "twice on sys.path" else []
    if paths:
        place.environment["PYTHONPATH"] = os.pathsep.join(paths)


def user(place: Place, value: str) -> None:
    """Run as another user, who owns nothing; if the folder of the interpreter is closed to others, he may read all."""
    if os.getuid():
        place.notes.append("user: only root can run something as another user")
        return
    if place.has("setpriv", "user"):
        ids = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        hidden = not all(path.stat().st_mode & 0o001 for path in Path(sys.executable).resolve().parents)
        may = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"] if hidden else []
        place.prefix += ["setpriv", *ids, *may, "--"]


def home(place: Place, value: str) -> None:
    """Take the home folder away."""
    place.environment.pop("HOME", None)
    if value == "not there":
        place.environment["HOME"] = str(place.directory / "nobody")
    elif value == "not writable":
        place.environment["HOME"] = "/proc/self"  # not even by root


def umask(place: Place, value: str) -> None:
    """Make new files readable by their owner only."""
    place.mask = int(value, 8)


def zone(place: Place, value: str) -> None:
    """Live far from Greenwich."""
    place.environment["TZ"] = value


def compiler(place: Place, value: str) -> None:
    """Have a path with everything but compilers."""
    programs = place.directory / "programs"
    programs.mkdir()
    for name in place.environment.get("PATH", os.defpath).split(os.pathsep):
        for path in sorted(Path(name).glob("*")) if name else []:
            plain = path.name.removeprefix("x86_64-linux-gnu-")
            if not plain.startswith(("cc", "gcc", "g++", "c++", "clang", "c89", "c99", "tcc")):
                link = programs / path.name
                if not link.is_symlink():
                    link.symlink_to(path)
    place.environment["PATH"] = str(programs)
    place.environment.pop("CC", None)


def libraries(place: Place, value: str) -> None:
    """Leave out optional libraries."""
    place.without = tuple(name for name in ("torch", "pyarrow") if name in value)


def malloc(place: Place, value: str) -> None:
    """Fill memory that is allocated and freed, or imitate the malloc of other versions of glibc."""
    if value == "filled":
        place.environment["MALLOC_PERTURB_"] = str(1 + place.number % 254)
    elif value == "as of old":  # no caches of threads, one arena
        place.tunables += ["glibc.malloc.tcache_count=0", "glibc.malloc.arena_max=1"]
    else:  # larger caches of threads, huge pages
        place.tunables += ["glibc.malloc.tcache_count=127", "glibc.malloc.hugetlb=1"]


def memory(place: Place, value: str) -> None:
    """Limit the address space of each process, of which Arrow's own pool would reserve a gibibyte at its first use."""
    place.environment["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    size = int(value.split()[0]) * 1024 * MEBI
    place.in_child.append(lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))


def temporary_folder(place: Place, value: str) -> None:
    """Make each change of a file wait, or mount a small folder for temporary files."""
    if value == "slow":
        if not (command := command_of_compiler()):
            place.notes.append("temporary folder: a slow one needs a compiler")
            return
        library, source = place.directory / "slow_disk.so", Path(__file__).with_name("slow_disk.c")
        subprocess.run([*command, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        place.environment["LD_PRELOAD"] = str(library)
        return
    target = place.directory / "temporary"
    mount = f"mount -t tmpfs -o size=64m,mode=1777 none '{target}'"
    if not place.has("unshare", "temporary folder"):
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        place.notes.append("temporary folder: this user cannot mount one")
        return
    place.prefix[:0] = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]


def streams(place: Place, value: str) -> None:
    """Close the standard streams, or let them be pipes."""
    place.pipe = value == "a pipe"
    place.closed = {"no input": (0,), "none": (0, 1, 2)}.get(value, ())


def interrupts(place: Place, value: str) -> None:
    """Ignore SIGINT, as a shell does for what runs in the background."""
    place.in_child.append(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None)


def open_files(place: Place, value: str) -> None:
    """Limit how many files each process has open."""
    place.in_child.append(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (int(value), int(value))))


def garbage(place: Place, value: str) -> None:
    """Collect cycles at every turn, or keep them until the process ends."""
    place.environment["LODCORE_GARBAGE"] = {"collected often": "20", "never collected": "0"}[value]


MAKERS: dict[str, Callable[[Place, str], None]] = {name: globals()[name.replace(" ", "_")] for name in PROPERTIES}


def packages(target: Path, without: tuple[str, ...]) -> None:
    """Link to the installed packages, except lodcore and those to leave out; NumPy is in the environment itself."""
    places = [Path(path) for path in [*sys.path, *site.getsitepackages()]]
    for place in dict.fromkeys(path for path in places if path.name in ("site-packages", "dist-packages")):
        for path in sorted(place.iterdir()):
            name = path.name.lower()
            left_out = name.startswith(("lodcore", "__editable__", "__pycache__", *without)) or name.endswith(".pth")
            here = target / path.name
            if left_out or here.is_symlink() or here.exists():
                continue
            if name in ("numpy", "numpy.libs"):
                shutil.copytree(path, here, copy_function=link_or_copy, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                here.symlink_to(path)


def link_or_copy(source: str, target: str) -> None:
    """Make a hard link to a file, or a copy if that is on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
