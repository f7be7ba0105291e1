"""Failed memory allocations at any request: an error that changes nothing, and a correct next call.

Requests of the interpreter itself fail, too, in calls that NumPy survives.
"""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.processes import compiler
from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference

#: Conversion of a result to a form that can be compared.
TOLD = """
def told(value):
    "Turn a result into what can be compared."
    if isinstance(value, LoDTensor):
        return ("tensor", str(value.dtype), value.values.tobytes(), told(value.lod))
    if isinstance(value, LoD):
        return ("lod", value.num_rows, *[value.offsets(k).tobytes() for k in range(value.num_levels)])
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, TensorArray):
        assert value.block is None
        return ("steps", value.num_slots, [(at, told(one)) for at, one in value.known_elements().items()])
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return type(value).__name__
"""
#: The beginning of the programs that make all calls.
CALLS = """
from tests.robustness import calls
chosen = [case for case in calls.cases() if {share} == hash_of(case.name) % {shares}]
cases = [case for case in chosen if "rng" not in case.name]  # each call draws others
if np.lib.NumpyVersion(np.__version__) < "2.4.0":  # of which 2.2.6 crashes if a sort finds no memory for its buffer
    sorts = ("sort", "argsort", "partition", "argpartition")
    cases = [case for case in cases if not any(isinstance(x, str) and x in sorts for x in case.arguments)]
np.seterr(all="ignore")

def owned(value):
    "Copy arguments, so that each call has its own."
    if isinstance(value, LoDTensor):
        return LoDTensor(np.array(value.values), value.lod, share=True)
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, TensorArray):
        return value.clone()
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(owned(one) for one in value)
    return value
"""
SHARES = 2  # processes that share the calls
FIRST, EVERY = 12, 7  # each of the first requests fails, and then one of so many
HASH = """
import zlib
def hash_of(name):
    return zlib.crc32(name.encode())
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Compile the handler, with the same compiler as the kernels."""
    if not (command := compiler()):
        pytest.skip("there is no compiler here")
    library = tmp_path_factory.mktemp("failing") / "failing.so"
    source = Path(__file__).with_name("failing.c")
    subprocess.run([*command, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    return str(library)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc is replaced by means of glibc")
@pytest.mark.parametrize("share", range(SHARES))
def test_arrays_and_kernels_that_find_no_memory(share, failing):
    """The n-th request of an array, or of a kernel, fails, for every n: an error, and nothing has changed.

    Each call is made as often as it requests memory, which takes seconds.
    """
    printed = survives(
        HASH
        + TOLD
        + CALLS.format(share=share, shares=SHARES)
        + """
import ctypes
from numpy._core._multiarray_umath import _ARRAY_API
python = ctypes.pythonapi
object_, pointer, text = ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = pointer, [object_, text]
table = ctypes.cast(python.PyCapsule_GetPointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
capsule = ctypes.cast(table[306], ctypes.POINTER(ctypes.py_object))[0]  # PyDataMem_DefaultHandler
handler = python.PyCapsule_GetPointer(capsule, b"mem_handler")
failing = ctypes.CDLL(sys.argv[1])
met, fails, in_kernels = (ctypes.c_int64.in_dll(failing, name) for name in ("met", "fails", "met_in_kernels"))
failing.replace.argtypes, failing.watch.argtypes = [ctypes.c_void_p], [ctypes.c_void_p]
failing.replace(handler + 128)  # behind its name and version
def watch_lodcore():
    "Name each compiled module of lodcore by the address of a function in it, wherever its file lies."
    for name, module in sorted(sys.modules.items()):
        if name.startswith("lodcore.") and (module.__file__ or "").endswith(".so"):
            library = ctypes.CDLL(module.__file__)
            assert failing.watch(library["PyInit_" + name.rpartition(".")[2]]), name
FIRST, EVERY = map(int, sys.argv[2:])
for case in cases:
    tried(lambda: case.run(*owned(case.arguments)))  # so that all is loaded
watch_lodcore()
total = 0
for case in cases:
    wanted = tried(lambda: told(case.run(*owned(case.arguments))))
    if wanted is None:
        continue
    may_write = "out" in case.name
    whole = told(owned(case.arguments))
    for number in (step for step in range(1, 10_000) if step < FIRST or step % EVERY == 0):
        given = owned(case.arguments)
        failed, found = False, None
        met.value, fails.value = 0, number
        try:
            found = case.run(*given)
        except MemoryError:
            failed = True
        finally:
            fails.value = -1
        total += 1
        if failed:
            assert may_write or told(given) == whole, (case.name, number)
        else:
            assert told(found) == wanted, (case.name, number)
        if met.value < number:
            break
    assert told(case.run(*owned(case.arguments))) == wanted, case.name
print(total, in_kernels.value)
""",
        400,
        failing,
        *map(str, (FIRST, EVERY)),
        environment={"LD_PRELOAD": failing},
    )
    requests, in_kernels = map(int, printed.split())
    assert requests > 4000
    assert in_kernels > 100


#: Calls that NumPy and the interpreter survive, whichever of their requests fails.
WITHOUT_MEMORY = [
    "x[1]",
    "x[:, :1]",
    "x[[1, 0]]",
    "lodcore.gather_sequences(x, i)",
    "lodcore.sequence_pool(x, 'sum')",
    "lodcore.sequence_reverse(x)",
    "lodcore.sequence_expand_as(v[:2], x)",
    "lodcore.concat_batches([x, x])",
    "lodcore.LoD.from_lengths([2, 4])",
    "TensorArray.unpack(x, 0)",
    "[*x]",
    "x.tolist()",
    "vjp(lambda a: lodcore.sequence_pool(a, 'sum'), x)[1](v[:2])",
    "vjp(lambda a: lodcore.exp(a), x)[1](v)",
    "vjp(lambda a: a[1], x)[1](v[2:])",
    "looped(x)",
    "executor.run(program, {'x': x}, [pooled])",
]


#: A function in plain Python, of which Python 3.13.0 dies if one of its requests fails.
PLAIN = """
import _testcapi
def plain(keys):
    count = sum(key for key in keys if key) - len([key for key in keys if key is Ellipsis])
    return [*map(abs, keys), *[slice(None)] * count, f"{count} keys"]
for _ in range(50):
    plain((1, 2))
for number in range(400):
    _testcapi.set_nomemory(number, number + 1)
    try:
        plain((1, 2))
    except (MemoryError, SystemError):
        pass
    finally:
        _testcapi.remove_mem_hooks()
"""


@pytest.fixture(scope="module")
def survivor():
    """Return whether the interpreter itself survives that it finds no memory."""
    pytest.importorskip("_testcapi")
    return subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, check=False).returncode >= 0


@pytest.mark.parametrize("share", range(SHARES))
def test_interpreters_that_find_no_memory(share, survivor):
    """Any single request of the interpreter fails: an error, no crash, and the next call is correct."""
    if not survivor:
        pytest.skip("this Python crashes without lodcore, too")
    survives(
        TOLD
        + f"""
import os, _testcapi
from lodcore.graph import Executor, Program, data
from lodcore.operators.roles import spec_of
v, i = np.arange(12.0).reshape(6, 2), np.array([1, 0, 1])
x = LoDTensor(v, LoD.from_lengths([2, 4]))
with Program() as program:
    pooled = lodcore.sequence_pool(data("x", spec_of(x)), "sum")
executor = Executor()
def looped(given):
    def f(given):
        loop = lodcore.while_loop()
        with loop.loop():
            state = loop.loop_var(given)
            loop.break_if(loop.step() >= 2)
            state.update(lodcore.tanh(state))
        return state
    return vjp(f, given)[1](v)
from lodcore.base.dispatch import open_block
for text in {WITHOUT_MEMORY[share::SHARES]!r}:
    print(text, flush=True)
    call = eval("lambda: " + text)
    wanted, before = told(call()), told(x)
    call()
    for number in range(400):
        _testcapi.set_nomemory(number, number + 1)
        try:
            call()
        except (MemoryError, SystemError, RuntimeError, ValueError, TypeError, AttributeError, LookupError, OSError):
            pass
        finally:
            _testcapi.remove_mem_hooks()
        assert open_block() is None, (text, number)
        assert told(x) == before, (text, number)
        assert told(call()) == wanted, (text, number)
""",
        300,
    )


def test_streams_that_find_no_memory(survivor):
    """Also if there is none for the traceback of the error: no item is lost. Sums of NumPy 2.0.0 crash alone."""
    if not survivor:
        pytest.skip("this Python crashes without lodcore, too")
    survives("""
import itertools, _testcapi
from lodcore.batching import pack_stream
items = [(k,) * (k % 5) for k in range(12)]
for first in range(60):
    for count in (1, 2, 5, 20):
        stream = pack_stream(iter(items), 8, buffer=4)
        found = [[], []]
        for k in range(2):
            _testcapi.set_nomemory(first, first + count)
            try:
                found[k] = next(stream)
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()
        found.extend(stream)
        assert sorted(itertools.chain(*found)) == sorted(items), (first, count)
""")


def test_writers_of_folders_that_find_no_memory_unlock_them(survivor, tmp_path):
    """Files are closed without memory, too."""
    if not survivor:
        pytest.skip("this Python crashes without lodcore, too")
    survives(
        """
import _testcapi
sys.unraisablehook = lambda _: None
x = lodcore.array([[1.0, 2.0], [3.0]])
name = sys.argv[1]
lodcore.save(name, x)
for call in (lodcore.append, lodcore.save):
    for first in range(0, 900, 3):
        try:
            _testcapi.set_nomemory(first, first + 20)
            try:
                call(name, x)
            finally:
                _testcapi.remove_mem_hooks()  # before the error is compared, which takes memory
        except (MemoryError, SystemError, RuntimeError, ValueError, TypeError, AttributeError, LookupError, OSError):
            pass
        lodcore.append(name, x)  # raises if it is locked
""",
        300,
        str(tmp_path / "x.lod"),
    )
