"""A view of a view holds what owns the memory, and nothing between; long chains are freed without a deep recursion."""

import copy
import pickle

import numpy as np
import pytest

import lodcore
from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import LoD, LoDTensor, TensorArray
from lodcore.base.buffers import owner_of
from lodcore.operators.registry import OPS
from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference


def held(given):
    """Return the types of what an array holds, one behind the other: the base of its memory, and what that holds."""
    found = []
    while given is not None:
        base = given.base if isinstance(given, np.ndarray) else getattr(given, "obj", None)
        if base is not None:
            found.append(type(base).__name__)
        given = owner_of(given) if isinstance(given, np.ndarray) else base
        if given is not None and given is not base:
            found.append(type(given).__name__)
    return found


def deep(given):
    """Return a tensor, or an array, as the last of many views of one memory."""
    if isinstance(given, list):
        return [deep(one) for one in given]
    for _ in range(4):
        if type(given) is LoDTensor:
            given = LoDTensor(given[0:].values, given.lod, share=True)
            given = LoDTensor(LoDTensor(given.values[0:], given.lod).values, given.lod)
        elif type(given) is np.ndarray and given.ndim and given.flags.c_contiguous:
            given = LoDTensor(given, LoD.from_offsets(num_rows=len(given)), share=True).values[0:]
    return given


def arrays_of(given):
    """Yield the arrays of a result."""
    if isinstance(given, np.ndarray):
        yield given
    elif isinstance(given, LoDTensor):
        yield given.values
        yield given[0:].values
    elif isinstance(given, TensorArray):
        for element in given.known_elements().values():
            yield from arrays_of(element)
    elif isinstance(given, (list, tuple)):
        for one in given:
            yield from arrays_of(one)


def too_deep(result):
    """Return what the arrays of a result hold, if it is more than a base and an owner, and an array sliced by NumPy."""
    chains = [held(array) for array in arrays_of(result)]
    return [chain for chain in chains if len(chain) > 2 + (chain[:2] == ["ndarray", "Memory"])]


def test_results_of_operators_hold_the_owner_of_their_memory_directly():
    failed = {}
    for name in ARGUMENTS:
        result = OPS[name](*map(deep, ARGUMENTS[name]()), **KEYWORDS.get(name, {}))
        if chains := too_deep(result):
            failed[name] = chains
    assert failed == {}


def deep_tensor():
    return deep(LoDTensor(np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 1], [2, 2, 2])))


def records():
    rows = np.zeros(3, [("a", "f8"), ("b", [("c", "f4"), ("d", "f4")])])
    return deep(LoDTensor(rows, LoD.from_lengths([2, 1])))


def of_pickle(x):
    kept = []
    made = pickle.dumps(x, protocol=5, buffer_callback=kept.append)
    return pickle.loads(made, buffers=kept)


METHODS = [name for name in dir(LoDTensor) if not name.startswith("_") and name not in ("get", "tofile")]
DOORS = {
    "x[0:1]": lambda x: x[0:1],
    "x[0]": lambda x: x[0],
    "x[0][1]": lambda x: x[0][1],
    "x[..., 0:1]": lambda x: x[..., 0:1],
    "x[None]": lambda x: x[None],
    "list(x)": list,
    "x.split()": lambda x: [x[k] for k in range(len(x))],
    "LoDTensor(x.values[1:])": lambda x: LoDTensor(x.values[1:], LoD.from_lengths([3, 2])),
    "a shared part": lambda x: LoDTensor(x.values[1:], LoD.from_lengths([3, 2]), share=True),
    "from_offsets": lambda x: LoDTensor.from_offsets(x.values, [0, 6]),
    "from_lengths": lambda x: LoDTensor.from_lengths(x.values, [6]),
    "from_segment_ids": lambda x: LoDTensor.from_segment_ids(x.values, [0, 0, 0, 1, 1, 1]),
    "with_values": lambda x: x.with_values(x.values),
    "lod_reset": lambda x: lodcore.lod_reset(x, [0, 6]),
    "insert_level": lambda x: lodcore.ops.insert_level(x, 0),
    "drop_level": lambda x: lodcore.ops.drop_level(x),
    "reshape": lambda x: np.reshape(x, (2, -1, -1, 2, 1)),
    "np.asarray": lambda x: np.asarray(x.values),
    "to_arrays": lambda x: x.to_arrays(),
    "np.squeeze": lambda x: np.squeeze(x.with_values(x.values.reshape(6, 2, 1)), -1),
    "np.from_dlpack": lambda x: LoDTensor(np.from_dlpack(x.values.view()), x.lod)[0:0],
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "pickle, buffers beside": lambda x: of_pickle(x)[0:0],
    "from_arrow": lambda x: lodcore.from_arrow(lodcore.from_arrow(x)),
    "array": lambda x: lodcore.array(x),
    "TensorArray": lambda x: TensorArray(unstack_from=x),
    "unpack": lambda x: TensorArray.unpack(x, 0)[0],
    "vjp": lambda x: lodcore.vjp(lambda a: a[0:1], x)[0],
    "a subclass": lambda x: type("Named", (LoDTensor,), {})(x.values, x.lod)[0:],
}


def test_results_of_methods_and_converters_hold_the_owner_of_their_memory_directly():
    failed, ran = {}, 0
    for name in METHODS:
        x = deep_tensor()
        try:
            found = getattr(x, name)
            result = found() if callable(found) else found
        except (TypeError, ValueError, LookupError, ImportError, AttributeError, BufferError):
            continue  # it needs arguments, other values, or a library
        ran += 1
        if chains := too_deep(result):
            failed[name] = chains
    for name, door in DOORS.items():
        if name == "np.from_dlpack" and np.lib.NumpyVersion(np.__version__) < "2.1.0":
            continue  # which takes no read-only arrays
        if chains := too_deep(door(deep_tensor())):
            failed[name] = chains
    for name in ("a", "b"):
        if chains := too_deep(records()[name]):
            failed[f"field {name}"] = chains
    assert failed == {}
    assert ran > 40


def test_view_of_a_record_field_holds_the_records_directly():
    assert too_deep(records()["b"]["c"]) == []


def test_a_slice_refers_to_the_structure_that_has_its_offsets():
    x = LoDTensor(np.zeros(4000), LoD.from_lengths(np.ones(4000, np.int64)))
    for _ in range(1000):
        x = x[1:]
    assert held(x.values) == ["Memory", "ndarray"]
    assert x.lod.lengths().sum() == 3000


def test_a_read_only_view_of_a_writable_memory_stays_read_only():
    given = np.zeros(3)
    x = LoDTensor(given, LoD.from_lengths([2, 1]), share=True)
    y = LoDTensor(x.values, x.lod)
    for view in (y.values, y[0], y[1:].values, y.values[1:]):
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.setflags(write=True)
    x.values[:] = 5.0
    assert given.tolist() == y.values.tolist() == [5.0, 5.0, 5.0]


def test_chains_of_views_are_freed_without_a_recursion():
    """Chains in which a recursion would exhaust the stack take seconds."""
    survives("""
def chain(step):
    x = LoDTensor(np.zeros(20), LoD.from_lengths([5] * 4))
    for _ in range(40_000):
        x = step(x)
    del x

def queue():
    x = LoDTensor(np.zeros(20_000), LoD.from_lengths(np.ones(20_000, int)))
    while len(x) > 1:
        x = x[1:]
    del x

def run():
    queue()
    chain(lambda x: x[0:])
    chain(lambda x: LoDTensor(x.values, x.lod))
    chain(lambda x: LoDTensor(x.values[0:], x.lod, share=True))
    chain(lambda x: LoDTensor(np.asarray(memoryview(x.values)), x.lod))
    chain(lambda x: LoDTensor(np.frombuffer(x.values), x.lod, share=True))
    chain(lambda x: lodcore.lod_reset(x, x.lod))
    chain(lambda x: lodcore.from_arrow(x))
    chain(lambda x: lodcore.ops.drop_level(lodcore.ops.insert_level(x, 0), 0))
    done.append(True)

done = []
threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
assert done
""")
