"""What is compiled from the kernels: loops without Python, and loops for wider registers."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lodcore import kernels

SOURCES = sorted(Path(__file__).parents[2].glob("lodcore/kernels/*.p[yx][xd]"))
OBJDUMP = shutil.which("objdump")

#: Functions with loops that hold the lock of the interpreter: over lists of arrays, and checks before the work begins.
WITH_LOCK = {
    "beam.pyx": {"select_best"},
    "chains.pyx": {"run_chain"},
    "combine.pyx": {"take_turns"},
    "expand.pyx": {"batches_of"},
    "gather.pyx": {"chain", "count_rows", "first_overlap", "join_rows", "joins", "kinds", "nest"},
    "lod.pyx": {"join", "room_for", "split"},
    "machine.pyx": {"find_loop", "run_steps", "translate"},
    "matrix.pyx": {"is_zero"},
    "neighbours.pyx": {"check_shorter"},
    "order.pyx": {"order_ties"},
    "packing.pyx": {"attention_rows", "histogram_fit"},
    "rank_table.pyx": {"count_longer", "pack_rows", "pack_steps"},
    "rolling.pyx": {"roll_rows", "spread_windows"},
    "shuffle.pyx": {"shuffle_places"},
    "words.pyx": {"fill_table"},
}

#: Variants that only copy: compilers move 64 bytes by 16, even with AVX2. As functions of their own they are faster.
COPIES = {"copy_each_avx2"}

pytestmark = pytest.mark.not_on_reference


def loops_with_lock(path):
    """List the functions with loops for which the compiler does not refuse Python: those outside of `nogil`."""
    text = re.sub(r'"""[\s\S]*?"""', "", path.read_text(encoding="utf-8"))
    found, held, signature, start, name = set(), [], "", 0, ""
    for line in text.splitlines():
        line = line.partition("#")[0].rstrip()
        indent = len(line) - len(line.lstrip())
        if signature or re.match(r"\s*(cdef|cpdef|def) [^=]*\(", line):
            start = start if signature else indent
            signature += line
            if signature.endswith(":"):
                held = [(at, free) for at, free in held if at < start] + [(start, "nogil" in signature)]
                name = re.findall(r"(\w+)\(", signature)[0]
                signature = ""
            elif signature.count("(") == signature.count(")"):
                signature = ""  # a declaration
            continue
        if not line:
            continue
        held = [(at, free) for at, free in held if at < indent]
        if line.strip().startswith("with nogil"):
            held.append((indent, True))
        elif re.match(r"\s*(for|while)\b", line) and not any(free for _, free in held):
            found.add(name)
    return found


def test_loops_run_without_the_interpreter():
    """Cython compiles no Python into code without the lock, so it is enough that loops release it."""
    found = {path.name: names for path in SOURCES if (names := loops_with_lock(path))}
    assert found == (WITH_LOCK if SOURCES else {})  # where lodcore is installed, there are no sources


def variants():
    """List the functions that are compiled for an instruction set: of which file, which, and for what."""
    return [
        (path, name, level)
        for path in SOURCES
        for level, name in re.findall(
            r"^cdef (?:inline )?(avx2|avx512)_void (\w+)\(", path.read_text("utf-8"), re.MULTILINE
        )
    ]


def modules_with(path):
    """List the modules of a file: itself, or those that take loops of it."""
    if path.suffix == ".pyx":
        return [path]
    named = re.compile(rf"^from lodcore\.kernels\.{path.stem} cimport", re.MULTILINE)
    return [other for other in SOURCES if other.suffix == ".pyx" and named.search(other.read_text("utf-8"))]


@pytest.mark.skipif(OBJDUMP is None, reason="there is no objdump")
def test_variants_have_wider_registers():
    """A body that is not forced inline is compiled without them, and nothing says so."""
    if not kernels.matrix.is_fast():
        pytest.skip("another processor")
    parts = {}
    for one in {module for path, _, _ in variants() for module in modules_with(path)}:
        binary = getattr(kernels, one.stem).__file__
        if ".debug_info" in output("-h", binary):
            pytest.skip("a build that is not optimized")
        parts[one] = output("-d", "--no-show-raw-insn", "-M", "intel", binary).split("\n\n")
    for path, name, level in variants():
        bodies = [part for module in modules_with(path) for part in parts[module] if "_avx" in part.partition("\n")[0]]
        mine = [body for body in bodies if re.search(rf"_{name}(\.\w+)*>:", body.partition("\n")[0])]
        register = "ymm" if level == "avx2" else "[yz]mm"
        assert mine, (path.name, name)
        assert name in COPIES or all(re.search(register, body) for body in mine), (path.name, name)


def output(*arguments):
    """Run objdump."""
    return subprocess.run([OBJDUMP, *arguments], capture_output=True, text=True, check=True).stdout
