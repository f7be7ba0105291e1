"""The architecture: imports, twins of kernels, and the files that belong to each kernel."""

import ast
import builtins
import doctest
import functools
import inspect
import pydoc
import re
import rlcompleter
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import lodcore
from lodcore import kernels, ops
from lodcore.base.later import Later
from lodcore.numpy_api import attached_methods as methods
from lodcore.operators.registry import OPS
from tests.helpers.processes import environment
from tests.helpers.tables import for_each
from tests.mutants.planted import MUTANTS

ROOT = Path(__file__).resolve().parents[1]
KERNELS = sorted(path.stem for path in (ROOT / "lodcore/kernels").glob("*.pyx"))
MODULES = sorted(path for path in (ROOT / "lodcore").rglob("*.py*") if path.suffix in (".py", ".pyx"))
REFERENCE = sorted((ROOT / "reference").rglob("*.py"))
TWINS = [*(ROOT / "reference/kernels" / f"{name}.py" for name in KERNELS), ROOT / "reference/arithmetic.py"]
FUNCTIONS = [name for name in lodcore.__all__ if inspect.isfunction(inspect.unwrap(getattr(lodcore, name)))]
ALONE = [name for name in FUNCTIONS if not getattr(lodcore, name).__module__.startswith("lodcore.interop")]
LONGEST = 320  # lines of code per file, without docstrings and comments

# A folder imports only from those before it, also inside functions.
ORDER = ["errors", "kernels", "base", "tensors", "operators", "ops", "numpy_api", "graph", "testing", "nn", "batching"]
ORDER += ["interop", "lodcore", "demo", "__main__"]

not_on_reference = pytest.mark.not_on_reference


def path_id(path):
    return str(path.relative_to(ROOT))


def folder_of(module):
    """Return the folder of a module, given with its dots, or its name if it is not in a folder."""
    return [*module.split("."), "lodcore"][1]


def module_of(path):
    """Return the name of the module in a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.lru_cache(maxsize=1)  # the facts of a file ask for it twice
def syntax_tree(path):
    """Parse a file; of Cython, the imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pyx":
        lines = [line.strip() for line in text.splitlines()]
        text = "\n".join(line for line in lines if re.match(r"(from [\w.]+ )?c?import ", line)).replace(
            "cimport", "import"
        )
    return ast.parse(text)


def when_loaded(path):
    """List the nodes of a file that run when it is loaded: not those inside functions or under TYPE_CHECKING."""
    found, waiting = [], [syntax_tree(path)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)
    return found


def imports(found):
    """List the modules that nodes import."""
    modules = set()
    for node in found:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{ast.unparse(node)}: imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {name if is_module(name) else node.module for name in names}
    return modules


@functools.cache
def is_module(name):
    """Return whether a dotted name is a module of the project, or a package."""
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(suffix).exists() for suffix in (".py", ".pyx"))


def nodes(path, kind):
    """List the nodes of a kind in a file."""
    return [node for node in ast.walk(syntax_tree(path)) if isinstance(node, kind)]


class Facts(NamedTuple):
    """The facts about a file that the rules use."""

    imported: frozenset[str]  # modules, also those imported inside functions
    names: frozenset[str]  # names that are imported from modules
    kernels_kept: tuple[str, ...]  # attributes of `kernels` that are looked up when the file is loaded


@functools.cache
def facts(path):
    """Read a file once for all rules."""
    every = list(ast.walk(syntax_tree(path)))
    names = {alias.name for node in every if isinstance(node, ast.ImportFrom) for alias in node.names}
    kept = [node for node in when_loaded(path) if isinstance(node, ast.Attribute)]
    of_kernels = [node.attr for node in kept if isinstance(node.value, ast.Name) and node.value.id == "kernels"]
    return Facts(frozenset(imports(every)), frozenset(names), tuple(of_kernels))


# -- imports -------------------------------------------------------------------------------------------------------


def imports_of(path):
    """List the modules of the library that a file imports, also inside functions."""
    found = {module for module in facts(path).imported if module.split(".")[0] == "lodcore"}
    return found - {"lodcore", module_of(path)}


@not_on_reference
def test_imports_follow_the_order_of_folders():
    here = {path: folder_of(module_of(path)) for path in MODULES}
    assert not set(here.values()) - set(ORDER), "a folder is new: give it a place in ORDER"
    upwards = [
        f"{path_id(path)} imports {module}"
        for path in MODULES
        for module in imports_of(path)
        if ORDER.index(folder_of(module)) > ORDER.index(here[path])
    ]
    assert not upwards


@not_on_reference
def test_no_files_import_in_a_circle():
    modules = {module_of(path) for path in MODULES}
    left = {module_of(path): imports_of(path) & modules for path in MODULES}
    while left:
        ready = {module for module, needed in left.items() if not needed & left.keys()}
        assert ready, f"these import each other, or one of them that do: {sorted(left)}"
        left = {module: needed for module, needed in left.items() if module not in ready}


@not_on_reference
def test_lodcore_has_at_most_16_entries():
    entries = {path.name for path in (ROOT / "lodcore").iterdir() if path.suffix not in (".so", ".c")}
    assert len(entries - {"__pycache__"}) <= 16


@not_on_reference
def test_no_test_imports_another():
    mentioned = re.compile(r"(?m)^ *(from|import) (tests[\w.]* import \([^)]*|.*)\btest_")
    assert all(map(mentioned.search, ["import tests.ops.test_pool", "from tests.ops import (\n    test_pool,\n)"]))
    tests = [
        path for path in sorted((ROOT / "tests").rglob("*.py")) if mentioned.search(path.read_text(encoding="utf-8"))
    ]
    found = {path_id(path): "\n".join(facts(path).imported) for path in tests}
    assert not [path for path, imported in found.items() if re.search(r"(?m)^tests\..*\btest_", imported)]


@not_on_reference
@pytest.mark.parametrize(("paths", "forbidden"), [(MODULES, {"tests", "reference"}), (REFERENCE, {"tests", "lodcore"})])
def test_lodcore_never_imports_reference_and_reference_never_lodcore(paths, forbidden):
    roots = {path_id(path): {module.split(".")[0] for module in facts(path).imported} for path in paths}
    assert not [path for path, found in roots.items() if found & forbidden]


@not_on_reference
def test_kernels_are_called_by_module_attribute():
    """So that another package of kernels can be used: `kernels.gather.copy_ranges(...)`, looked up at each call.

    `arrays` declares NumPy's interface. Compiled files of tensors call loops themselves if the kernels are our own:
    those of `offsets` and `rows`, which belong to no family, and `tensors/fast_paths.pyx` loops of `index` and `pool`.
    """
    others = {path_id(path): facts(path) for path in MODULES if path.parent.name != "kernels"}
    families = {
        path: {one for one in known.imported if re.match(r"lodcore\.kernels\.(?!loading\b|arrays\b)", one)}
        for path, known in others.items()
    }
    assert families.pop("lodcore/tensors/fast_paths.pyx") == {"lodcore.kernels.index", "lodcore.kernels.pool"}
    loops = {"lodcore.kernels.offsets", "lodcore.kernels.rows"}
    families = {
        path: found - (loops if path.startswith("lodcore/tensors/") else set()) for path, found in families.items()
    }
    assert not {path: found for path, found in families.items() if found}
    assert not [path_id(path) for path in MODULES if facts(path).kernels_kept]


#: Folders of tests that have no counterpart in the library.
OF_TESTS = {
    "builds",
    "docs",
    "doors",
    "helpers",
    "helpers/drawing",
    "mutants",
    "mutants/planted",
    "reference",
}
OF_TESTS |= {"demo/pages", "robustness", "samples", "types"}


@not_on_reference
def test_folders_of_tests_are_those_of_the_library():
    paths = [path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")]
    folders = {path.as_posix() for path in paths if path.parts} - OF_TESTS
    assert not [folder for folder in folders if not (ROOT / "lodcore" / folder / "__init__.py").exists()]


# -- kernels and their twins ---------------------------------------------------------------------------------------


def public_functions(module):
    """List the public functions of a module, with the names of their parameters."""
    return {
        name: list(inspect.signature(function).parameters)
        for name, function in vars(module).items()
        if not name.startswith("_") and callable(function) and not inspect.isclass(function)
        if function.__module__ == module.__name__
    }


@not_on_reference
def test_kernels_are_listed():
    assert sorted(kernels.__all__) == KERNELS


@not_on_reference
@pytest.mark.parametrize("name", ["nothing", "_cyutility_", "pool.nothing"])
def test_an_unknown_name_in_kernels_raises_attribute_error(name):
    with pytest.raises(AttributeError, match=r"module 'lodcore\.kernels' has no attribute"):
        getattr(kernels, name)


@not_on_reference
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_has_a_twin_with_the_same_parameters(name):
    assert public_functions(getattr(kernels, name)) == public_functions(import_module(f"reference.kernels.{name}"))


@not_on_reference
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_has_stub_tests_and_benchmark(name):
    for path in (
        f"lodcore/kernels/{name}.pyi",
        f"tests/kernels/test_{name}.py",
        f"asv_benchmarks/benchmarks/{name}.py",
    ):
        assert (ROOT / path).exists(), f"{path} is missing"


@not_on_reference
@pytest.mark.parametrize("name", KERNELS)
def test_one_word_names_all_rooms_of_a_family(name):
    """A file of that name calls the kernel; its operators have an oracle, with cases, and samples."""
    homes = [path for path in MODULES if path.stem == name and path.parent != ROOT / "lodcore/kernels"]
    assert homes, f"no file of the library is called {name}.py"
    operators = {op for op in OPS if OPS[op].__wrapped__.__module__.endswith(f".{name}")}
    rooms = ["reference/ops/{}.py", "tests/samples/{}.py"] if operators else []
    assert not [room for room in rooms if not (ROOT / room.format(name)).exists()]
    assert not operators or operators <= import_module(f"tests.samples.{name}").SAMPLES.keys()


@not_on_reference
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_compared_with_its_twin(name):
    compared = (ROOT / f"tests/kernels/test_{name}.py").read_text(encoding="utf-8")
    for function in public_functions(import_module(f"reference.kernels.{name}")):
        assert f'"{name}.{function}"' in compared, f"no test compares {name}.{function} with its twin"


@not_on_reference
@pytest.mark.parametrize("path", TWINS, ids=path_id)
def test_twins_have_loops_indexing_and_arithmetic_only(path):
    """Only loops, indexing and arithmetic, so that a twin is obviously correct."""
    imported = [ast.unparse(node) for node in nodes(path, (ast.Import, ast.ImportFrom))]
    needed = {"from numpy import ndarray", "from numpy import errstate"}
    needed |= {f"from math import {name} as _{name}" for name in ("sqrt", "log")}
    shared = re.compile(r"reference\.(kernels\.|(arithmetic|instructions)$)")
    others = [node for node in nodes(path, ast.ImportFrom) if shared.match(node.module)]
    needed |= {ast.unparse(node) for node in others}
    more = sorted(set(imported) - needed)
    assert not more, f"a twin imports the class of arrays, twins, and what no arithmetic gives: not {more}"
    assert not nodes(path, ast.Slice), "a twin does not slice"
    attributes = {node.attr for node in nodes(path, ast.Attribute)}
    known = {"shape", "ndim", "dtype", "itemsize", "nbytes", "flags", "c_contiguous", "ctypes", "data"}
    more = sorted(attributes - known - {"type", "append", "tobytes"})
    assert not more, f"a twin computes number by number, and so uses no method of arrays: not {more}"
    called = {node.func.id for node in nodes(path, ast.Call) if isinstance(node.func, ast.Name)}
    own = {node.name for node in nodes(path, ast.FunctionDef)} | {"_sqrt", "_log"}
    own |= {alias.name for node in others for alias in node.names}
    words = {"range", "len", "int", "float", "all", "any", "type", "isinstance", "real", "errstate", "ValueError"}
    more = sorted(called - words - own)
    assert not more, f"a twin calls its own functions, and those of twins that it imports: not {more}"


# -- words and sizes -----------------------------------------------------------------------------------------------


@not_on_reference
@for_each("name", lodcore.__all__)
def test_public_names_have_docstrings(name):
    assert inspect.getdoc(getattr(lodcore, name))


@for_each("name", ALONE)  # without files and other libraries
def test_public_functions_have_examples_that_run(name):
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(lodcore, name), name)
    assert example.examples, f"{name} shows no example"
    assert doctest.DocTestRunner().run(example).failed == 0


@not_on_reference
def test_one_place_asks_which_kernels_are_loaded():
    """Fast paths that bypass kernels query `own_kernels`, and nothing else checks which kernels are loaded."""
    texts = {
        path_id(path): path.read_text(encoding="utf-8") for path in MODULES if path.parent != ROOT / "lodcore/kernels"
    }
    compared = re.compile(r"kernels\.\w+ is (?:not )?[A-Z]|vars\(kernels\)|kernels\.__dict__")
    asked = [name for name, text in texts.items() for _ in compared.findall(text)]
    assert asked == ["lodcore/tensors/kernel_calls.pyx"]


@not_on_reference
def test_one_place_decides_whether_a_call_is_recorded():
    """Operators query `dispatch`, and so does all code that runs differently in a recording."""
    texts = {path_id(path): path.read_text(encoding="utf-8") for path in MODULES}
    asked = {path for path, text in texts.items() if re.search(r"\b(?:open_block|BLOCK\.get)\(", text)}
    assert {path for path in asked if not path.startswith("lodcore/graph/")} == {"lodcore/base/dispatch.pyx"}
    recording = {path for path, text in texts.items() if re.search(r"\b(?!super\(\))[\w.]+\.record\(\w+, \(?\w+", text)}
    assert {path for path in recording if not path.startswith("lodcore/interop/")} == {
        "lodcore/base/dispatch.pyx",
        "lodcore/graph/loops/while_loop.py",  # a loop is one call in the outer Block
    }


#: Names of other libraries: of named tuples, of the interpreter, of NumPy, pandas and torch.
FOREIGN = {"_replace", "_make", "_getframe", "_at_fork_reinit", "_core", "_pa_array", "_ragged_idx", "_version"}


@functools.cache
def without_text(path):
    """Return the source of a file, with empty strings and without comments."""
    text = re.sub(r'"""[\s\S]*?"""', "", path.read_text(encoding="utf-8"))
    return re.sub(r"#.*", "", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text))


@not_on_reference
def test_no_dtype_is_compared_by_identity():
    """Equal dtypes are other objects after a change of byte order, a pickle or a file."""
    names = r"(?:SINGLE|DOUBLE|FLOAT\w*|U?INT\d+|BOOL|BYTES|work|(?:\w+\.)*_?dtype)"
    compared = re.compile(rf"\bdtype is (?:not )?(?!None\b|bool\b|not\b)|\bis (?:not )?{names}\b(?! is)(?!\()")
    found = {path_id(path): compared.findall(without_text(path)) for path in MODULES}
    assert not {path: texts for path, texts in found.items() if texts}


def test_compiled_files_ask_for_classes_in_a_tuple_that_has_a_name():
    """Cython asks for each class of a literal one by one, and does not look whether `__instancecheck__` raised."""
    asked = {}
    for path in MODULES:
        if path.suffix == ".pyx":
            classes = ", ".join(re.findall(r"isinstance\([^()]*, \(([^()]*)\)", without_text(path))).split(", ")
            asked[path.name] = {name for name in classes if name and not hasattr(builtins, name)}
    assert not {name: classes for name, classes in asked.items() if classes}


def own_members(path):
    """List the private names of fields and methods in the classes of a file."""
    text, declarations = path.read_text(encoding="utf-8"), ""
    if path.suffix == ".pyx":
        declared = path.with_suffix(".pxd")
        sources = [without_text(path), without_text(declared) if declared.exists() else ""]
        declarations = "\n".join(re.findall(r"^ +(?:cdef|cpdef) .*", "\n".join(sources), re.M))
    slots = " ".join(re.findall(r"__slots__ = \(([^)]*)\)", text))
    return {
        *re.findall(r"^ +(?:async )?def (_[a-z]\w*)\(", text, re.M),
        *re.findall(r"^    (_[a-z]\w*)(?:: | = )", text, re.M),
        *re.findall(r"\bself\.(_[a-z]\w*)\b(?=[^=\n]*=(?!=))", text),
        *re.findall(r"\b(_[a-z]\w*)\b", declarations),
        *re.findall(r"\"(_[a-z]\w*)\"", slots),
    }


@not_on_reference
def test_texts_are_read_and_written_in_utf_8():
    """Not in the encoding of the locale, which may be ASCII."""
    folders = ("lodcore", "reference", "tests", "asv_benchmarks", "docs/_extensions")
    texts = {path: path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")}
    calls = re.compile(r"\.(?:read|write)_text\((?:[^()]|\([^()]*\))*\)")
    assert re.findall(calls, "a.read_text() b.write_text(str(1)) c") == [".read_text()", ".write_text(str(1))"]
    plain = {
        path_id(path): [call for call in re.findall(calls, text) if "utf-8" not in call] for path, text in texts.items()
    }
    assert not {path: found for path, found in plain.items() if found and path != "tests/test_architecture.py"}


@not_on_reference
def test_private_names_are_used_in_their_own_file():
    """Names that other files need are public."""
    foreign = {}
    for path in [*MODULES, *REFERENCE]:
        used = set(re.findall(r"(?<=[\w\])]\.)(_[a-z]\w*)\b", without_text(path))) - own_members(path)
        if path.suffix == ".py":
            used |= {name for name in facts(path).names if re.match(r"_[a-z]", name)}
        foreign[path_id(path)] = used - FOREIGN
    assert not {path: used for path, used in foreign.items() if used}


@not_on_reference
def lines_of_code(path):
    """Count the lines of a file that are neither docstrings nor comments, and are not empty."""
    text = re.sub(r'^\s*"""[\s\S]*?"""\s*$', "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return sum(bool(line.strip()) and not line.strip().startswith(("#", "//")) for line in text.splitlines())


@not_on_reference
def test_files_are_short():
    headers = (ROOT / "lodcore").rglob("*.h")
    sizes = {path_id(path): lines_of_code(path) for path in [*MODULES, *headers, *REFERENCE]}
    assert not {path: size for path, size in sizes.items() if size > LONGEST + 50 * path.endswith(".h")}


@not_on_reference
@pytest.mark.filterwarnings("default:stale planted defects")  # shown at the end of a run, not an error
def test_the_text_that_a_listed_mutant_replaces_occurs_once():
    """A stale one warns: it does not block a change, and `make mutants` inserts the others."""
    stale = [
        m.name
        for m in MUTANTS
        if not (ROOT / m.path).exists() or (ROOT / m.path).read_text(encoding="utf-8").count(m.old) != 1
    ]
    if stale:
        warnings.warn(f"stale planted defects: {', '.join(stale)}", stacklevel=1)
    assert len(stale) < len(MUTANTS) / 2, "most planted defects are stale"


@not_on_reference
def test_mutants_have_names_of_their_own_and_tests_that_exist():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    files = {(mutant.name, file) for mutant in MUTANTS for file in re.findall(r"tests/[\w/]+\.py", mutant.tests)}
    assert not [(name, file) for name, file in files if not (ROOT / file).exists()]


# -- modules loaded by an import ---------------------------------------------------------------------------------------


def run_anew(code, *arguments):
    """Run code in a new process, and return what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    variables = environment(OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=True, text=True)
    return done.stdout


@not_on_reference
def test_operators_and_programs_are_loaded_when_they_are_first_used():
    code = """
import sys, lodcore
x = lodcore.array([[1], [2, 3]])
assert (len(x), x.shape, x[1].tolist(), x[:1].tolist()) == (2, (2, None), [2, 3], [[1]])
assert repr(x) and x.lod.lengths().tolist() == [1, 2]
later = [f"lodcore.{name}" for name in ("operators", "ops", "graph", "nn", "batching", "interop")]
print(*[name for name in later if name in sys.modules])
"""
    assert run_anew(code) == "\n"


#: First uses of the package, or of a tensor.
USES = [
    "x + 1",
    "1 - x",
    "x == x",
    "x.sum()",
    "x.pool('sum')",
    "lodcore.LoDTensor.pool(x, 'sum')",
    "numpy.add(x, x)",
    "numpy.concatenate([x, x])",
    "x[[1, 0]]",
    "x[x > 1]",
    "x.__setitem__(0, 1)",
    "lodcore.tanh(x)",
    "lodcore.vjp(lambda x: x * 2.0, x)",
    "lodcore.graph.Program()",
    "lodcore.nn.LSTM(3, 4)",
    "lodcore.batching.pack_plan([1, 2], 2)",
    "lodcore.from_arrow(x)",
    "lodcore.interop.ArrowTable({'x': x})",
    "lodcore.nn.Linear(2, 3)",
    "lodcore.nn.BeamSearchDecoder",
    "lodcore.ops.check_operator(lodcore.tanh, [(x,)])",
    "[x.copy(), x.astype(float)]",
    "3 in x",
    "-x",
]
FIRST = """
import os, sys, traceback, numpy, lodcore
x = lodcore.array([[1], [2, 3]])
for use in sys.argv[1:]:
    child = os.fork()  # as a new process is, without the time that an import takes
    if child == 0:
        try:
            exec(use)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(use if os.waitpid(child, 0)[1] else "", end="")
"""


@not_on_reference
def test_every_use_works_as_the_first_after_import():
    assert run_anew(FIRST, *USES) == ""
    assert run_anew(FIRST, "x + 1", "raise ValueError") == "raise ValueError"


@not_on_reference
@pytest.mark.parametrize("kind", [lodcore.LoDTensor, lodcore.Variable])
def test_methods_that_are_declared_are_those_that_are_attached(kind):
    declared = {name for above in kind.__mro__ for name, member in vars(above).items() if isinstance(member, Later)}
    assert declared <= vars(kind).keys()
    assert vars(methods.MethodBodies).keys() - methods.OWN <= declared


@not_on_reference
def test_help_of_lodcore_is_one_page():
    lines = pydoc.plain(pydoc.render_doc(lodcore)).splitlines()
    assert len(lines) <= 66
    assert max(map(len, lines)) <= 124
    for word in ("LoDTensor", "sequence_pool", "vjp", "lodcore.nn", "VERSION"):
        assert any(word in line for line in lines)


@not_on_reference
def test_tab_completion_shows_public_names_only():
    found, complete = [], rlcompleter.Completer({"lodcore": lodcore}).complete
    while (one := complete("lodcore.", len(found))) is not None:
        found.append(one)
    assert {one.removeprefix("lodcore.").rstrip("()") for one in found} == set(dir(lodcore))
    assert not [name for name in dir(lodcore) if name.startswith("_")]


@not_on_reference
@pytest.mark.parametrize("name", ["batching", "graph", "interop", "nn", "ops", "testing"])
def test_packages_show_public_names_only(name):
    package = getattr(lodcore, name)
    assert dir(package) == sorted(package.__all__)


@not_on_reference
def test_all_and_dir_of_lodcore_have_at_most_190_names():
    assert lodcore.__all__ == sorted(set(lodcore.__all__))
    assert dir(lodcore) == lodcore.__all__
    assert {"from_pandas", "to_arrow", "save", "sequence_pool", "vjp"} <= set(lodcore.__all__)
    assert len(lodcore.__all__) <= 190
    assert not [name for name in lodcore.__all__ if name.startswith("_")]
    assert not set(vars(builtins)) & set(lodcore.__all__)
    names = {}
    exec("from lodcore import *", names)
    assert names.keys() - {"__builtins__"} == set(lodcore.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        lodcore.nonsense  # noqa: B018
    with pytest.raises(ImportError):
        exec("from lodcore import nonsense")


#: Files of `lodcore/ops` whose names are for other files.
FOR_OTHER_FILES = {"public", "beam_gradients", "beam_step", "gates", "gru", "keys", "lstm", "matrix", "ufuncs"}
FOR_OTHER_FILES |= {"numpy_rules", "numpy_moves", "numpy_products", "numpy_linalg", "numpy_fft", "numpy_orders"}


@not_on_reference
@for_each("path", sorted((ROOT / "lodcore/ops").rglob("[!_]*.py")))
def test_public_operators_of_each_file_are_exported(path):
    if path.stem not in FOR_OTHER_FILES:
        assert set(import_module(module_of(path)).__all__) <= set(vars(ops))


@not_on_reference
def test_source_files_of_one_name_belong_to_one_family():
    found = {}
    for path in MODULES:
        if path.stem not in ("__init__", "__main__") and "demo" not in path.parts:
            found.setdefault(path.stem, []).append(path_id(path))
    several = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert several.keys() <= {*KERNELS, "recurrent"}, several
    for paths in several.values():  # a kernel, its operators, and the class of tensors that they are about
        assert len({path.split("/")[1] for path in paths}) == len(paths), paths


@not_on_reference
def test_test_files_have_different_names_except_those_of_a_family():
    """So that a failure, which pytest names by its file, says what failed."""
    names = [path.stem.removeprefix("test_") for path in (ROOT / "tests").rglob("test_*.py")]
    assert {name for name in names if names.count(name) > 1} <= {*KERNELS, "recurrent"}
