"""Copies by pickle: every protocol, out-of-band buffers, slices that contain only themselves, other processes."""

import copy
import importlib
import io
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDError, LoDTensor, TensorArray, batching, nn
from lodcore.ops import LoDRule
from tests.helpers.agree import offsets_of, same
from tests.helpers.draw import lod_tensors, lods
from tests.helpers.processes import environment
from tests.helpers.tables import for_each

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def there_and_back(thing, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


@given(lods(min_levels=0), st.sampled_from(PROTOCOLS))
def test_pickled_lods_are_equal_and_hash_alike(lod, protocol):
    back = there_and_back(lod, protocol)
    assert back == lod
    assert hash(back) == hash(lod)
    assert (back.num_levels, back.num_rows, offsets_of(back)) == (lod.num_levels, lod.num_rows, offsets_of(lod))
    for level in range(back.num_levels):
        with pytest.raises(ValueError, match="WRITEABLE"):
            back.offsets(level).setflags(write=True)


@given(lod_tensors(), st.sampled_from(PROTOCOLS))
def test_pickled_lod_tensors_are_the_same_to_the_bit(x, protocol):
    assert same(there_and_back(x, protocol), x)
    assert same(there_and_back(x[1:], protocol), x[1:])


@given(lods(0, 0))
def test_pickled_lod_tensors_without_levels_stay_without(lod):
    x = LoDTensor(np.arange(lod.num_rows), lod)
    assert same(there_and_back(x), x)


@given(lod_tensors(), st.sampled_from(PROTOCOLS), st.booleans())
def test_pickled_steps_and_their_map_pack_to_the_batch(x, protocol, by_length):
    steps, indices_map = there_and_back(TensorArray.unpack(x, 0, by_length), protocol)
    assert same(steps.pack(0, indices_map), x)
    assert indices_map.level == 0
    assert indices_map.lod == x.lod
    assert indices_map.tolist() == TensorArray.unpack(x, 0, by_length)[1].tolist()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickled_rank_tables_arrays_and_dense_tensors_come_back(protocol):
    x = lodcore.array([[1], [2, 3], []])
    table = there_and_back(lodcore.lod_rank_table(x), protocol)
    assert lodcore.reorder_by_rank(x, table).tolist() == [[2, 3], [1], []]
    ta = TensorArray(3, dynamic=False)
    ta.write(1, x)
    back = there_and_back(ta, protocol)
    assert same(back.read(1), x)
    assert repr(back) == repr(ta)
    with pytest.raises(IndexError, match="3"):
        back.write(3, x)
    assert there_and_back(lodcore.DenseTensor([1, 2]), protocol).values.tolist() == [1, 2]
    spec = lodcore.Spec((None, 3), np.dtype(np.float32), 2, LoDTensor)
    assert there_and_back(spec, protocol) == spec


@pytest.mark.parametrize("another", [lambda thing: there_and_back(thing, 4), there_and_back, copy.deepcopy])
def test_pickled_read_only_arrays_stay_read_only(another):
    table = another(lodcore.lod_rank_table([[1], [2, 3]]))
    assert not table.indices.flags.writeable
    assert not table.lengths.flags.writeable
    stacked = another(TensorArray.unstack(np.arange(4))).stack()
    assert not stacked.flags.writeable


@pytest.mark.parametrize("another", [*(lambda t, p=p: there_and_back(t, p) for p in PROTOCOLS), copy.deepcopy])
def test_copies_and_pickles_of_writable_arrays_are_writable(another):
    sparse = lodcore.SparseTensor(np.array([0, 2]), np.ones((2, 3)), 5)
    steps = TensorArray()
    steps.write(0, np.ones(2))
    steps.write(1, lodcore.array([[1.0], [2.0]]))
    x = lodcore.array([[1.0], [2.0, 3.0]])
    for made in (another(x), another(x[1:]), another(x + 1), another(sparse), another(lodcore.DenseTensor(np.ones(2)))):
        assert made.values.flags.writeable
    assert not another(sparse).indices.flags.writeable
    back = another(steps)
    assert back.read(0).flags.writeable
    assert back.read(1).values.flags.writeable
    made = another(x)
    made.values[0] = 9
    assert x.tolist() == [[1.0], [2.0, 3.0]]
    with pytest.raises(ValueError, match="WRITEABLE"):
        made.lod.offsets().setflags(write=True)


@given(lod_tensors(dtypes=[np.float64], row_shapes=[(3,)]))
def test_buffers_out_of_band_are_shared(x):
    buffers = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    back = pickle.loads(data, buffers=buffers)
    assert same(back, x)
    assert back.values.nbytes == 0 or np.shares_memory(back.values, x.values)
    assert not back.values.flags.writeable  # as those of x
    assert len(data) < 1200  # structure may go in band, rows do not


def test_unpickled_lods_copy_offsets_that_came_out_of_band():
    lod = LoD.from_lengths([2, 1], [1, 0, 2])
    buffers = []
    data = pickle.dumps(lod, protocol=5, buffer_callback=buffers.append)
    mine = [bytearray(buffer.raw()) for buffer in buffers]
    back = pickle.loads(data, buffers=mine)
    for buffer in mine:
        buffer[:] = b"\xff" * len(buffer)
    assert back == lod


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_slice_ships_only_the_slice(protocol):
    x = LoDTensor.from_lengths(np.zeros((10**5, 4)), np.full(10**4, 10))
    piece = x[5:8]
    assert len(pickle.dumps(piece, protocol)) < 30 * 32 * 2 + 1000  # protocol 2 uses two bytes for some
    inner = LoDTensor.from_lengths(x.values, [5000, 5000], np.full(10**4, 10))[1][:2]
    assert len(pickle.dumps(inner, protocol)) < 20 * 32 * 2 + 1000
    assert len(pickle.dumps(x.lod.slice(0, 3), protocol)) < 700
    assert len(pickle.dumps(x.lod.split()[3], protocol)) < 700


def test_out_of_band_buffers_of_a_slice_are_its_own():
    x = LoDTensor.from_lengths(np.arange(1000.0), np.full(100, 10))
    buffers = []
    pickle.dumps(x[3:5], protocol=5, buffer_callback=buffers.append)
    assert max(buffer.raw().nbytes for buffer in buffers) == 20 * 8


def test_pickles_are_read_in_a_fresh_process(tmp_path):
    x = LoDTensor.from_lengths(np.arange(12.0).reshape(6, 2), [2, 0, 1], [1, 2, 3])
    things = {
        "x": x,
        "lod": x.lod,
        "shared": [x.lod, x.lod],
        "steps": TensorArray.unpack(x, 0),
        "table": lodcore.lod_rank_table(x),
        "set": {x.lod},
    }
    path = tmp_path / "things.pickle"
    path.write_bytes(pickle.dumps(things))
    program = f"""if True:
        import pickle
        things = pickle.load(open({str(path)!r}, "rb"))
        import lodcore
        x, (steps, indices_map) = things["x"], things["steps"]
        assert x.tolist() == {x.tolist()}
        assert x.lod == things["lod"] and things["lod"] in things["set"]
        assert x.lod is things["lod"] is things["shared"][0]
        assert steps.pack(0, indices_map).equals(x)
        assert lodcore.reorder_by_rank(x, things["table"]).lengths.tolist() == [2, 1, 0]
        print("all is well")
    """
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "all is well\n", done.stderr


def test_tensors_that_share_a_lod_share_it_after_pickling():
    x = lodcore.array([[1], [2]])
    pair = there_and_back([x, LoDTensor(x.values * 2, x.lod)])
    assert pair[0].lod is pair[1].lod


@pytest.mark.parametrize("order", [[0, 0, 2], [0, 1], [0, 1, 3]])
def test_a_map_in_no_order_is_refused(order):
    indices_map = TensorArray.unpack(lodcore.array([[1], [2, 3], [4]]), 0)[1]
    restore, (lod, level, kept) = indices_map.__reduce__()
    assert restore(lod, level, kept).tolist() == indices_map.tolist()
    with pytest.raises(LoDError, match="not a permutation of 3"):
        restore(lod, level, np.array(order))


def described(thing, depth=2):
    """List the public properties of an object, and those of the values of these."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes(), thing.flags.writeable
    if depth == 0 or isinstance(thing, (int, float, str, bytes, bool, type(None), np.dtype, type)):
        return repr(thing)
    if isinstance(thing, (list, tuple)):
        return [described(one, depth) for one in thing]
    named = {}
    for name in sorted(set(dir(type(thing)))):
        if not name.startswith("_") and isinstance(getattr(type(thing), name), (property, types.GetSetDescriptorType)):
            try:
                named[name] = described(getattr(thing, name), depth - 1)
            except (ValueError, TypeError) as error:  # of objects without such a property
                named[name] = type(error).__name__
    return type(thing).__name__, repr(thing), named


TWO_LEVELS = lodcore.array([[[1], [2, 3, 4]], [], [[5, 6]]])
#: Objects of every kind that can be pickled, made in every way.
THINGS = {
    "LoD": lambda: TWO_LEVELS.lod,
    "LoD of no levels": lambda: LoD.from_offsets(num_rows=3),
    "LoDTensor": lambda: TWO_LEVELS,
    "part of a LoDTensor": lambda: TWO_LEVELS[1:],
    "SparseTensor": lambda: lodcore.SparseTensor([2, 0, 2], np.arange(6.0).reshape(3, 2), 5),
    "DenseTensor": lambda: lodcore.DenseTensor(np.arange(3.0)),
    "Spec": lambda: lodcore.Spec((None, 3), np.dtype(np.float32), 2, LoDTensor),
    "steps": lambda: TensorArray.unpack(TWO_LEVELS, 0)[0],
    "stacked steps": lambda: TensorArray.unstack(np.arange(6.0).reshape(3, 2)),
    "table of outer sequences": lambda: lodcore.lod_rank_table(TWO_LEVELS),
    "table of inner sequences": lambda: lodcore.lod_rank_table(TWO_LEVELS, 1),
    "table of two vectors": lambda: lodcore.RankTable([2, 0, 1], [5, 3, 1]),
    **{
        f"{what} of level {level}, sorted: {by_length}": lambda what=what, level=level, by_length=by_length: getattr(
            TensorArray.unpack(TWO_LEVELS, level, sort_by_length=by_length)[1], what
        )
        for what in ("rank", "clone")
        for level in (0, 1)
        for by_length in (False, True)
    },
}


@pytest.mark.parametrize(
    "another", [*(lambda t, p=p: there_and_back(t, p) for p in PROTOCOLS), copy.deepcopy, copy.copy]
)
@for_each("name", THINGS)
def test_every_kind_comes_back_with_all_its_properties(name, another):
    thing = THINGS[name]()
    thing = thing() if callable(thing) else thing
    assert described(another(thing)) == described(thing)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({4: 5}, "rank: is 5; an instance of IndicesMap is needed"),
        ({5: 5}, "element: is 5; an instance of Spec is needed"),
    ],
)
def test_unpickling_a_damaged_tensor_array_is_refused(changed, says):
    restore, parts = TensorArray.unstack(np.arange(3.0)).__reduce__()
    assert restore(*parts).read(1) == 1.0
    with pytest.raises(lodcore.DTypeError, match=f"TensorArray: {says}"):
        restore(*(changed.get(j, part) for j, part in enumerate(parts)))


class Named(pickle.Unpickler):
    """An unpickler that notes what a pickle names."""

    def __init__(self, file):
        super().__init__(file)
        self.found = set()

    def find_class(self, module, name):
        self.found.add(f"{module}.{name}")
        return super().find_class(module, name)


def named_by(data):
    unpickler = Named(io.BytesIO(data))
    unpickler.load()
    return sorted(name for name in unpickler.found if name.startswith("lodcore"))


PACKAGES = ("lodcore", "lodcore.ops", "lodcore.graph", "lodcore.nn", "lodcore.batching", "lodcore.interop")
#: What has a public name, and an object of each kind that can be pickled; a private name may move.
MADE = {
    **{f"lodcore.{name}": lambda name=name: getattr(lodcore, name) for name in dir(lodcore)},
    **{
        f"{package}.{name}": lambda package=package, name=name: getattr(importlib.import_module(package), name)
        for package in PACKAGES[1:]
        for name in dir(importlib.import_module(package))
    },
    **THINGS,
    **{
        f"{kind} of {package}": make
        for package, kinds in {
            "batching": {
                "plan of bins": lambda: batching.pack_plan([3, 1, 2], 4),
                "plan of batches": lambda: batching.batches([3, 1, 2], 4),
                "plan of windows": lambda: batching.chunk_plan([3, 1, 2], 2),
                "sampler": lambda: batching.sample_by_temperature([3, 1, 2], 0.5, num_samples=3),
                "stream": lambda: batching.pack_stream([[1, 2], [3]], 4),
                "report": lambda: batching.pack_plan([3, 1, 2], 4).report(),
                "report of batches": lambda: batching.batches([3, 1, 2], 4).report(),
            },
            "nn": {
                "layer": lambda: nn.LSTM(2, 3),
                "layers": lambda: nn.Stacked([nn.GRU(2, 3), nn.GRU(3, 2)]),
                "optimizer": lambda: nn.AdamW(nn.cosine_schedule(0.1, 10)),
                "state": lambda: nn.Adam(0.1).init({"w": np.ones(2)}),
            },
            "lodcore": {
                "vocabulary": lambda: lodcore.Vocabulary(["a", "b"]),
                "error": lambda: lodcore.LoDError("no"),
                "array with a level": lambda: lodcore.VarArray().segment(TWO_LEVELS, 0),
                "groups": lambda: lodcore.interop.Groups({"a": TWO_LEVELS}, {"k": np.arange(3)}),
            },
        }.items()
        for kind, make in kinds.items()
    },
}


@pytest.mark.not_on_reference
@for_each("name", MADE)
def test_pickles_name_public_paths_only(name):
    made = MADE[name]()
    made = made() if name in THINGS and callable(made) else made
    if isinstance(made, (types.ModuleType, LoDRule)) or name == "lodcore.graph.Context":
        return  # modules and rules are not pickled, and a compiled class is named as it was compiled
    for found in named_by(pickle.dumps(made)):
        package, _, own = found.rpartition(".")
        assert package in (*PACKAGES, "lodcore.errors"), found
        assert own[0] != "_", found
