"""What is compiled from the kernels: loops without Python, and loops for wider registers."""

import re
import shutil
import subprocess

import pytest

from lodcore import kernels
from tests.helpers.compiled import HEADERS, SOURCES, TOP, calls_of_python, lines_in_loops, modules_with, variants

OBJDUMP = shutil.which("objdump")

#: Functions whose loops call Python, and what for: a list may hold anything, so its items are looked at with the lock.
WITH_PYTHON = {
    ("chains.pyx", "run_chain"): "takes the arrays of a list",
    ("combine.pyx", "take_turns"): "takes the levels of a list, before the loop over sequences",
    ("expand.pyx", "batches_of"): "takes the arrays and levels of two lists, before the loop over sequences",
    ("gather.pyx", "chain"): "takes nested lists apart: it makes lists",
    ("gather.pyx", "count_rows"): "looks at the arrays of a list",
    ("gather.pyx", "first_overlap"): "looks at the arrays of a list",
    ("gather.pyx", "join_rows"): "takes the arrays of a list; long ones are copied without the lock",
    ("gather.pyx", "kinds"): "looks at the items of a nested list, which may be anything",
    ("gather.pyx", "nest"): "makes nested lists",
    ("lod.pyx", "join"): "takes the levels of a list; long ones are copied without the lock",
    ("lod.pyx", "room_for"): "takes the levels of a list",
    ("lod.pyx", "split"): "takes the levels of a list, before the loop over sequences",
    ("machine.pyx", "run_all"): "calls an operator in a step: takes the lock for it alone",
    ("machine.pyx", "run_steps"): "takes the arrays of a list, before the loop over steps",
    ("rank_table.pyx", "pack_steps"): "takes the arrays of a list, before the loop over rows",
    ("rolling.pyx", "roll_ranks"): "takes the lock to raise an error if there is no memory",
}

#: Functions with loops that hold the lock, and call no Python: checks and small sums before the work begins.
WITH_LOCK = {
    ("beam.pyx", "select_best"),
    ("gather.pyx", "joins"),
    ("machine.pyx", "find_loop"),
    ("machine.pyx", "translate"),
    ("matrix.pyx", "is_zero"),
    ("neighbours.pyx", "check_shorter"),
    ("order.pyx", "order_ties"),
    ("packing.pyx", "attention_rows"),
    ("packing.pyx", "histogram_fit"),
    ("rank_table.pyx", "count_longer"),
    ("rank_table.pyx", "pack_rows"),
    ("rolling.pyx", "roll_rows"),
    ("rolling.pyx", "spread_windows"),
    ("shuffle.pyx", "shuffle_places"),
    ("words.pyx", "fill_table"),
}

#: Variants that only copy: compilers move 64 bytes by 16, even with AVX2. As functions of their own they are faster.
COPIES = {"copy_each_avx2"}

#: What a header may hold besides figures: vector instructions, vectors of the compiler, and targets of its functions.
VECTORS = r"_mm\d*_\w+|__m\d+|immintrin|vector_size|\bTARGET\b|LODCORE_AVX"
#: How the comment that begins a header says what Cython would cost.
FIGURE = r"Cython\b[^/]* [0-9.]+ (to [0-9.]+ )?(times|of the time)"

pytestmark = pytest.mark.not_on_reference


def test_loops_run_without_the_interpreter():
    """Cython compiles no Python into code without the lock, but for `with gil`; the others are looked at in C."""
    if not SOURCES:
        pytest.skip("there are no sources")
    locked = {(path.name, name) for path in SOURCES for name, free in lines_in_loops(path).values() if not free}
    assert locked - set(WITH_PYTHON) == WITH_LOCK
    for path in SOURCES:
        taken = {name for name, text in functions_of(path) if re.search(r"^ +with gil\b", text, re.MULTILINE)}
        assert {(path.name, name) for name in taken} <= set(WITH_PYTHON), path.name


def functions_of(path):
    """List the functions of a file, with their texts."""
    parts = re.split(r"^(?=(?:cdef|def|cpdef) )", path.read_text("utf-8"), flags=re.MULTILINE)
    return [(found[1], part) for part in parts if (found := re.match(r"[^(=]*?(\w+)\(", part))]


def test_loops_call_no_python():
    """In the C code of the last build, as shown by `cython -a`: only the listed lines call Python."""
    folder = next((path for mode in ("release", "plain") if (path := TOP / f"build/cython-{mode}").exists()), TOP)
    made = {path: folder / path.relative_to(TOP).with_suffix(".c") for path in SOURCES if path.suffix == ".pyx"}
    if not made or not all(file.exists() for file in made.values()):
        pytest.skip("the kernels were not built here")
    found = {}
    for file in made.values():
        calls = calls_of_python(file)
        if calls is None:
            pytest.skip("the sources were changed since they were built")
        found.update(calls)
    assert {place: calls for place, calls in found.items() if place not in WITH_PYTHON} == {}
    assert set(found) == set(WITH_PYTHON)


def test_headers_use_vectors_or_state_their_cost_in_cython():
    """A header of loops that Cython could hold says what they would cost there, in the comment that begins it."""
    for path in HEADERS:
        text = path.read_text("utf-8")
        first, _, rest = text.partition("*/")
        figure = re.search(FIGURE, " ".join(first.replace(" * ", " ").split()))
        assert re.search(VECTORS, re.sub(r"/\*[\s\S]*?\*/", "", rest)) or figure, path.name


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
