"""Memory of arrays that is not there, at any request: an error that changes nothing, and the next call is right.

Requests of the interpreter itself are not refused here: NumPy does not survive that.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference

#: What every program below begins with: calls, and whether two results are the same.
CALLS = """
from tests.robustness import calls
chosen = [case for case in calls.cases() if {share} == hash_of(case.name) % {shares}]
cases = [case for case in chosen if "tensor_array_fill" not in case.name]  # it changes its argument
np.seterr(all="ignore")

def told(value):
    "Turn a result into what can be compared."
    if isinstance(value, LoDTensor):
        return ("tensor", str(value.dtype), value.values.tobytes(), told(value.lod))
    if isinstance(value, LoD):
        return ("lod", value.num_rows, *[value.offsets(k).tobytes() for k in range(value.num_levels)])
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return type(value).__name__

def owned(value):
    "Copy arguments, so that each call has its own."
    if isinstance(value, LoDTensor):
        return LoDTensor(np.array(value.values), value.lod, share=True)
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(owned(one) for one in value)
    return value
"""
HASH = """
import zlib
def hash_of(name):
    return zlib.crc32(name.encode())
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Compile the handler, with the compiler that the kernels need."""
    compiler = shutil.which(os.environ.get("CC", "gcc").split()[0])
    if compiler is None:
        pytest.skip("there is no compiler here")
    library = tmp_path_factory.mktemp("failing") / "failing.so"
    source = Path(__file__).with_name("failing.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    return str(library)


@pytest.mark.parametrize("share", range(4))
def test_arrays_that_find_no_memory(share, failing):
    """NumPy's memory handler refuses the n-th request, for every n."""
    survives(
        HASH
        + CALLS.format(share=share, shares=4)
        + """
import ctypes
from numpy._core._multiarray_umath import _ARRAY_API
python = ctypes.pythonapi
object_, pointer, text = ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = pointer, [object_, text]
python.PyCapsule_New.restype, python.PyCapsule_New.argtypes = object_, [pointer, text, pointer]
table = ctypes.cast(python.PyCapsule_GetPointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
failing = ctypes.CDLL(sys.argv[1])
met, fails = (ctypes.c_int64.in_dll(failing, name) for name in ("met", "fails"))
capsule = python.PyCapsule_New(ctypes.addressof(ctypes.c_char.in_dll(failing, "handler")), b"mem_handler", None)
total = 0
for case in cases:
    if "body" in case.name or "program" in case.name:
        continue
    arguments = owned(case.arguments)
    wanted = tried(lambda: told(case.run(*owned(case.arguments))))
    if wanted is None:
        continue
    before = told(arguments)
    for number in range(1, 60):
        fails.value, met.value = number, 0
        found, failed = None, False
        given = owned(case.arguments)
        whole = told(given)
        numpys = set_handler(capsule)
        try:
            found = case.run(*given)
        except MemoryError:
            failed = True
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RuntimeError, BufferError, AssertionError):
            pass
        finally:
            set_handler(numpys)
        total += 1
        if "out" not in case.name:
            assert told(given) == whole, (case.name, number)
        if met.value < number:
            break
    assert tried(lambda: told(case.run(*owned(case.arguments)))) == wanted, case.name
print(total)
""",
        400,
        failing,
    )
