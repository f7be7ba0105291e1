"""Writes the types of the kernels, `lodcore/kernels/*.pyi`, from their `.pyx` files, and two lists.

Dtypes and numbers are those of the declaration; a list, and the result, are those of the docstring. The lists are
`lodcore/kernels/__init__.pyi`, for type checkers, and docs/reference/kernels.rst, for the site.
"""

import re

from tests.builds.tree import ROOT

KERNELS = ROOT / "lodcore" / "kernels"
PAGE = ROOT / "docs/reference/kernels.rst"
WIDTH = 120

#: The dtypes of the entries of arrays.
DTYPES = {"float": "np.float32", "double": "np.float64", "unsigned char": "np.uint8", "char": "np.int8"}
DTYPES |= {f"{sign}int{bits}_t": f"np.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

#: The types of numbers and objects.
NUMBERS = {"bint": "bool", "double": "float", "float": "float", "list": "list[Any]", "dict": "dict[Any, Any]"}
NUMBERS |= {"tuple": "tuple[Any, ...]", "str": "str", "bytes": "bytes", "": "Any", "object": "Any"}

#: The types of the words for results in docstrings.
RESULTS = {"int": "int", "bool": "bool", "float": "float", "list": "list[Any]", "list of lists": "list[list[Any]]"}

FUSED = re.compile(r"^ctypedef fused (\w+):.*\n((?:    \w+\n)+)", re.MULTILINE)
FUNCTION = re.compile(r'^def (\w+)\(([^)]*)\):\n    """(.*?)"""', re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r"(?:const )?((?:unsigned )?[\w.]*?)\s*(\[[^]]*\])?\s*(\w+)( not None)?")


def fused_types(text):
    """Find the dtypes of each fused type that a file declares, or takes from another file of kernels."""
    declared = dict(FUSED.findall(text))
    for module, names in re.findall(r"^from lodcore\.kernels\.(\w+) cimport (.+)$", text, re.MULTILINE):
        others = dict(FUSED.findall((KERNELS / f"{module}.pxd").read_text("utf-8")))
        declared |= {name: others[name] for name in re.findall(r"\w+", names) if name in others}
    each = {name: members.split() for name, members in declared.items()}
    return {name: [DTYPES[one] for one in members] for name, members in each.items() if DTYPES.keys() >= set(members)}


def type_of(declared, axes, given, said, fused):
    """Return the type of a parameter; `given` is empty if it may be None."""
    if axes or declared == "cnp.ndarray":
        dtype = re.match(r"(u?int\d+|float\d+)(?!\w| or)", said)
        of = DTYPES.get(declared, f"np.{dtype[1]}" if dtype else "Any")
        of = f"_{declared.capitalize()}" if declared in fused else of
        return f"npt.NDArray[{of}]" + ("" if given else " | None")
    if declared in fused:
        return "float"
    if not declared and said.startswith("list"):
        return f"Sequence[{'npt.NDArray[Any]' if 'ndarrays' in said else 'Any'}]"
    return NUMBERS.get(declared, "int")


def result_of(doc):
    """Return the type of a result."""
    section = re.search(r"\n    Returns\n    -+\n    (.*)\n", doc)
    if section is None:
        return "None"
    several = re.fullmatch(r"\((.*)\)", section[1])
    return f"tuple[{several[1]}]" if several else RESULTS[section[1]]


def declaration(name, parameters, result):
    """Return a declaration on as few lines as fit, as `ruff format` writes it."""
    whole = f"def {name}({', '.join(parameters)}) -> {result}: ..."
    if len(whole) <= WIDTH:
        return whole
    inner = f"    {', '.join(parameters)}"
    if len(inner) > WIDTH:
        inner = "\n".join(f"    {one}," for one in parameters)
    return f"def {name}(\n{inner}\n) -> {result}: ..."


def stub_text(path):
    """Return the stub of a file of kernels."""
    text, header = path.read_text("utf-8"), path.with_suffix(".pxd")
    fused, declarations = fused_types(text + (header.read_text("utf-8") if header.exists() else "")), []
    for name, listed, doc in FUNCTION.findall(text):
        said = dict(re.findall(r"^    (\w+) : (.+)$", doc, re.MULTILINE))
        parameters = []
        for one in filter(None, re.split(r",\s*(?![^[]*\])", " ".join(listed.split()))):
            declared, axes, label, given = PARAMETER.fullmatch(one.strip()).groups()
            parameters.append(f"{label}: {type_of(declared, axes, given, said.get(label, ''), fused)}")
        variables = re.findall(r"\[_\w+\]", " ".join(parameters))
        for once in [one for one in variables if variables.count(one) == 1]:  # it would join nothing
            parameters = [one.replace(once, "[Any]") for one in parameters]
        declarations.append(declaration(name, parameters, result_of(doc)))
    body = "\n".join(declarations)
    used = [name for name in sorted(fused) if f"_{name.capitalize()}]" in body]
    above = []
    if "Sequence[" in body:
        above.append("from collections.abc import Sequence\n")
    typing = [name for name, needed in (("Any", "Any" in body or header.exists()), ("TypeVar", used)) if needed]
    if typing:
        above.append(f"from typing import {', '.join(typing)}\n")
    above.append("\nimport numpy as np\n" if above else "import numpy as np\n")
    above.append("import numpy.typing as npt\n\n")
    variables = [f'_{name.capitalize()} = TypeVar("_{name.capitalize()}", {", ".join(fused[name])})\n' for name in used]
    if variables:
        above += [*variables, "\n"]
    if header.exists():
        above.append("__pyx_capi__: dict[str, Any]  # functions for other modules\n\n")
    return "".join(above) + body + "\n"


def imports_text(names):
    """Return the stub of the package, for which all files of kernels are imported."""
    return "".join(f"from lodcore.kernels import {name} as {name}\n" for name in names)


def page_text(names):
    """Return the page of the site: its title and its paragraph, and a section of each file of kernels."""
    parts = PAGE.read_text("utf-8").rstrip("\n").split("\n\n")[:2]
    for name in names:
        parts += [f"{name}\n{'-' * len(name)}", f".. automodule:: lodcore.kernels.{name}\n   :members:"]
    return "\n\n".join(parts) + "\n"


def derived():
    """Yield each file that is written, and its text."""
    paths = sorted(KERNELS.glob("*.pyx"))
    names = [path.stem for path in paths]
    yield from [(path.with_suffix(".pyi"), stub_text(path)) for path in paths]
    yield KERNELS / "__init__.pyi", imports_text(names)
    yield PAGE, page_text(names)


if __name__ == "__main__":
    for file, made in derived():
        file.write_text(made, encoding="utf-8")
