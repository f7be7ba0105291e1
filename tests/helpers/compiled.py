"""What the text of the kernels, and the C that Cython makes of it, say of their loops and variants."""

import re
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[2]
SOURCES = sorted(TOP.glob("lodcore/kernels/*.p[yx][xd]"))
HEADERS = sorted(TOP.glob("lodcore/kernels/vectors/*.h"))

#: What C calls by names of Python or NumPy, and is the look at a field of an array, or of a list.
FIELDS = {f"PyArray_{name}" for name in ("NDIM", "DIM", "DATA", "BYTES", "NBYTES", "TYPE")}
FIELDS |= {"PyArray_CheckExact", "PyArray_IS_C_CONTIGUOUS", "PyArray_ISCARRAY_RO", "__Pyx_PyList_GET_SIZE"}
CALL = re.compile(r"\b(_?Py[A-Z]\w*|__Pyx_\w+)\(")
#: The comment before the C of a line: the file, the number of the line, and its text between those around it.
LINE = re.compile(r'/\* "(lodcore/kernels/\w+\.p(?:yx|xd))":(\d+)\n([\s\S]*?)\*/')
MARK = " # <<<<<<<<<<<<<<"


@cache
def lines_in_loops(path):
    """Return the function of each line that a loop runs, and whether the line runs without the lock.

    Lines that leave a function run once, and are omitted.
    """
    text = re.sub(r'"""[\s\S]*?"""', lambda found: "\n" * found[0].count("\n"), path.read_text(encoding="utf-8"))
    found, free, loops, signature, start, name = {}, [], [], "", 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].rstrip()
        indent = len(line) - len(line.lstrip())
        if signature or re.match(r"\s*(cdef|cpdef|def) [^=]*\(", line):
            start = start if signature else indent
            signature += line
            if signature.endswith(":"):
                free, loops = [start] if "nogil" in signature else [], []
                name = re.findall(r"(\w+)\(", signature)[0]
                signature = ""
            elif signature.count("(") == signature.count(")"):
                signature = ""  # a declaration
            continue
        if not line:
            continue
        if not line.lstrip().startswith(")"):
            free, loops = [at for at in free if at < indent], [at for at in loops if at < indent]
        if line.strip().startswith("with nogil"):
            free.append(indent)
        elif re.match(r"\s*(for|while)\b", line):
            loops.append(indent)
        if (loops or re.search(r"\[.* for .* in ", line)) and not re.match(r"\s*(return|raise)\b", line):
            found[number] = name, bool(free)
    return found


def calls_of_python(c_file):
    """Return what the loops of a module call of Python: names by file and function; None if a line was changed."""
    parts, found = LINE.split(c_file.read_text(encoding="utf-8")), {}
    for name, number, shown, code in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4], strict=True):
        path = TOP / name
        if not path.exists():  # the support for memoryviews, which Cython writes
            continue
        line = next(line.removesuffix(MARK) for line in shown.splitlines() if line.endswith(MARK))
        lines = lines_of(path)
        if int(number) > len(lines) or line[3:].rstrip() != lines[int(number) - 1]:
            return None
        function, _ = lines_in_loops(path).get(int(number), ("", True))
        calls = set(CALL.findall(re.sub(r"/\*[\s\S]*?\*/", "", code))) - FIELDS
        if function and calls:
            found.setdefault((path.name, function), set()).update(calls)
    return found


@cache
def lines_of(path):
    """Return the lines of a file, as Cython shows them."""
    return [
        line.rstrip().replace("*/", "*[inserted by cython to avoid comment closer]/")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


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
