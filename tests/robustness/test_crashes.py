"""Programs that once crashed the interpreter, and similar ones: each runs in a separate process."""

import pytest

from tests.robustness.programs import survives

pytestmark = pytest.mark.not_on_reference  # only compiled code can crash

#: Memory of a structure, and anything that a caller may try with it.
STRUCTURE = {
    "table.indices": "lodcore.lod_rank_table(x)",
    "table.lengths": "lodcore.lod_rank_table(x)",
    "table.values": "TensorArray.unpack(x, 0)[1]",
    "table.order": "TensorArray.unpack(x, 0)[1]",
    "table.steps": "TensorArray.unpack(x, 0)[1]",
    "table.rank.indices": "TensorArray.unpack(x, 0)[1]",
    "table.indices  # sparse": "SparseTensor([0, 2, 0], np.ones((3, 2)), 4)",
    "table.merge().indices": "SparseTensor([0, 2, 0], np.ones((3, 2)), 4)",
    "(table + table).indices": "SparseTensor([0, 2, 0], np.ones((3, 2)), 4)",
    "table.clone().indices": "SparseTensor([0, 2, 0], np.ones((3, 2)), 4)",
    "table.lod.offsets(0)": "x",
    "table.offsets": "x",
    "table.lengths  # tensor": "x",
}


def test_offsets_cannot_be_made_writable_or_resized():
    survives(f"""
x = LoDTensor(np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 4, 0]))
def spoil(array):
    tried(lambda: array.setflags(write=True))
    def write(): array[...] = 10**9
    tried(write)
    tried(lambda: array.resize((0,)))
    tried(lambda: array.resize((1000,), refcheck=False))
    tried(lambda: array.__setstate__((1, (len(before),), array.dtype, False, b"\\x7f" * 8 * len(before))))
    def write(): array.shape = (-1, 1)
    tried(write)
    def write(): array.dtype = np.uint8
    tried(write)
    def write(): array.data = memoryview(bytearray(8 * len(before)))
    tried(write)
for text, made in {STRUCTURE!r}.items():
    print(text, flush=True)
    table = eval(made)
    part = eval("lambda: " + text)
    before = part().tolist()
    array = part()
    spoil(array)
    while getattr(array, "base", None) is not None:
        array = array.base
        if isinstance(array, np.ndarray):
            spoil(array)
    assert part().tolist() == before, (part().tolist(), before)
    if isinstance(table, SparseTensor):
        table.to_dense(), table.merge()
        continue
    v = np.arange(6.0).reshape(3, 2)
    if not isinstance(table, LoDTensor):
        y, back = vjp(lambda a: lodcore.reorder_by_rank(a, table), v)
        back(np.ones((3, 2)))
        TensorArray.unpack(x, 0)[0].pack(0, table)
    lodcore.sequence_pool(x, "sum"), x.to_padded()
""")


def test_a_rank_of_other_sequences_has_no_gradient_out_of_bounds():
    survives("""
x = LoDTensor(np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 4]))
for table in (RankTable([2, 0, 1], [3, 2, 1]), RankTable([1, 0], [9, 0]), RankTable([0], [1])):
    for given in (x, x.values[:2], x.values):
        def f():
            value, back = vjp(lambda a: lodcore.reorder_by_rank(a, table), given)
            back(np.ones_like(value.values if isinstance(value, LoDTensor) else value))
        tried(f)
""")


#: Calls, and the operand that is changed during the call.
READERS = {
    "lodcore.gather_sequences(x, index)": ("v", "index"),
    "x[index]": ("v", "index"),
    "x[nested]": ("v", "n"),
    "lodcore.sequence_concat([x, x])": ("v",),
    "lodcore.concat_batches([x, x])": ("v",),
    "lodcore.merge_by_mask(x, x, mask)": ("v", "mask"),
    "lodcore.sequence_expand(w, x.lod)": ("w",),
    "lodcore.sequence_expand_as(w, x)": ("w",),
    "lodcore.sequence_unpad(dense, lengths)": ("dense", "lengths"),
    "lodcore.sequence_pool(x, 'max')": ("v",),
    "lodcore.sequence_pool(x, 'sum', out=pooled)": ("v", "pooled"),
    "lodcore.gather_sequences(x, index, out=gathered)": ("v", "gathered"),
    "lodcore.sequence_reverse(x, out=reversed_)": ("v", "reversed_"),
    "x.to_padded(out=padded)": ("v", "padded"),
    "lodcore.sequence_pad(x, out=padded)": ("v", "padded"),
    "x.prod(axis=1)": ("v",),
    "x.sum(axis=0)": ("v",),
    "lodcore.embedding_bag(table, ids)": ("table", "i"),
    "lodcore.embedding_bag(table, ids, 'max')": ("table", "i"),
    "lodcore.lookup_table(table, ids)": ("table", "i"),
    "lodcore.lookup_table(table, index)": ("table", "index"),
    "LoDTensor.from_starts_stops(v, starts, stops)": ("v", "starts", "stops"),
    "LoDTensor.from_padded(dense, lengths)": ("dense", "lengths"),
    "LoDTensor.from_lengths(v, lengths)": ("v", "lengths"),
    "LoDTensor.from_segment_ids(v, segments)": ("v", "segments"),
    "LoDTensor.from_arrays([v, v])": ("v",),
    "sparse.merge()": ("s", "places"),
    "sparse.to_dense()": ("s", "places"),
    "lodcore.sequence_conv(x, weights, 1)": ("v", "weights"),
    "lodcore.row_conv(x, taps)": ("v", "taps"),
    "lodcore.sequence_softmax(x)": ("v",),
    "lodcore.sequence_slice(x, starts, stops)": ("v", "starts", "stops"),
    "lodcore.sequence_topk(flat, 1)": ("f",),
    "lodcore.sequence_scatter(dense2, ids, updates)": ("dense2", "i", "u"),
    "lodcore.sequence_enumerate(ids, 2)": ("i",),
    "lodcore.sequence_erase(ids, tokens)": ("i", "tokens"),
    "TensorArray.unpack(x, 0)[0].pack(0, TensorArray.unpack(x, 0)[1])": ("v",),
    "lodcore.reorder_by_rank(w, lodcore.lod_rank_table(x))": ("w",),
    "lodcore.split_by_mask(x, mask2)": ("v", "mask2"),
    "lodcore.lod_reset(v, x)": ("v",),
    "lodcore.lod_append(v, lengths=lengths)": ("v", "lengths"),
    "x + w3": ("v", "w3"),
    "x @ weights": ("v", "weights"),
    "np.tanh(x)": ("v",),
    "flat[flat > 0]": ("f",),
    "x[:, :1]": ("v",),
    "copy.copy(x)": ("v",),
    "vjp(lambda a: lodcore.sequence_pool(a, 'max'), x)[1](cotangent)": ("v", "cotangent"),
    "vjp(lambda a: lodcore.gather_sequences(a, index).sum(), x)[1](1.0)": ("v", "index"),
    "vjp(lambda a: lodcore.embedding_bag(a, ids), table)[1](cotangent)": ("table", "i", "cotangent"),
    "vjp(lambda a: lodcore.sequence_concat([a, a]), x)[1](d2)": ("v", "d2"),
    "vjp(lambda a: lodcore.sequence_expand(a, x.lod), w)[1](np.ones((6, 2)), out=place)": ("w", "place"),
    "lodcore.dynamic_lstm(wide, square)": ("wv", "square"),
}
NAMES = """
N = {rows}
v, w = np.ones((N, 2)), np.ones((2, 2))
x = LoDTensor(v, LoD.from_lengths([2, N - 2]), share=True)
f = np.ones(N)
flat = LoDTensor(f, LoD.from_lengths([2, N - 2]), share=True)
index = np.array([0, 1, 0, 1])
n = np.zeros(N, np.int64)
nested = LoDTensor(n, LoD.from_lengths([2, N - 2]), share=True)
mask, mask2 = np.array([True, True, False, False]), np.array([True, False])
dense, lengths, segments = np.ones((2, N - 2, 2)), np.array([2, N - 2]), np.repeat([0, 1], [2, N - 2])
dense2 = np.ones((2, 4))
pooled, gathered, reversed_ = np.ones((2, 2)), np.ones((2 * N, 2)), np.ones((N, 2))
padded, cotangent, d2, place = np.ones((2, N - 2, 2)), np.ones((2, 2)), np.ones((2 * N, 2)), np.ones((2, 2))
table, i = np.ones((4, 2)), np.zeros(N, np.int64)
ids = LoDTensor(i, LoD.from_lengths([2, N - 2]), share=True)
u = np.ones(N)
updates = LoDTensor(u, LoD.from_lengths([2, N - 2]), share=True)
tokens = np.array([0, 3])
starts, stops = np.array([0, 1]), np.array([1, 2])
s, places = np.ones((4, 2)), np.array([0, 3, 0, 1])
sparse = SparseTensor(places, s, 5)
weights, taps, w3 = np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 1, 1))
wv, square = np.ones((6, 4)), np.ones((1, 4))
wide = LoDTensor(wv, LoD.from_lengths([2, 4]), share=True)
lodcore.sequence_pool(x, "sum"), x[0], x[1:], np.tanh(x)
"""
CHANGES = """
def change(array, handed):
    for one in [array, *handed]:
        shape, dtype = one.shape, one.dtype
        def flat(): one.shape = (-1,)
        def column(): one.shape = (-1, 1)
        def line(): one.shape = (1, -1)
        def narrow(): one.dtype = np.uint8
        def back():
            one.dtype = dtype
            one.shape = shape
        shrink = lambda: one.resize((0,))
        seal, unseal = lambda: one.setflags(write=False), lambda: one.setflags(write=True)
        for step in (flat, column, line, back, narrow, back, shrink, seal, unseal):
            tried(step)
"""


GROUPS = 4  # processes that share the calls, since starting one takes longer than most calls
SECONDS = 0.04  # the time for which a call is repeated


@pytest.mark.parametrize("way", ["beside", "collected"])
@pytest.mark.parametrize("group", range(GROUPS))
def test_operands_changed_by_other_threads_do_not_crash(group, way):
    some = dict([*READERS.items()][group::GROUPS])
    survives(
        CHANGES
        + f"""
made = compile({NAMES.format(rows=6)!r}, "names", "exec")
for text, changed in {some!r}.items():
    print(text, flush=True)
    names = dict(globals())
    exec(made, names)
    call = eval("lambda: " + text, names)
    def everything():
        for name in changed:
            change(names[name], [names["x"].values, names["x"][0], names["nested"].values, names["ids"].values])
    {way}(everything, call{f", {SECONDS}" if way == "beside" else ""})
    call()
"""
    )


WIDE = ["lodcore.gather_sequences(x, index)", "lodcore.sequence_concat([x, x])", "x[index]", "x.to_padded()",
        "lodcore.sequence_pool(x, 'max')", "lodcore.sequence_reverse(x)", "TensorArray.unpack(x, 0)",
        "lodcore.sequence_expand_as(w, x)"]  # fmt: skip


def test_values_that_another_thread_resizes_while_a_kernel_copies():
    survives(
        NAMES.format(rows=400_000)
        + f"""
def shrink():
    def resized(): x.values.resize((0,))
    def based(): x.values.base.resize((0,))
    def restored(): x.values.__setstate__((1, (0,), np.dtype(np.int8), False, b""))
    for step in (resized, based, restored):
        tried(step)
    time.sleep(0)
x = LoDTensor.from_lengths(v, lengths).clone()
x = lodcore.concat_batches([x])
for text in {WIDE!r}:
    print(text, flush=True)
    beside(shrink, eval("lambda: " + text), 0.2)
    assert float(x.values.sum()) == 2 * N
"""
    )


LISTS = {
    "LoD.from_lengths(shared)": "[3] * 5000",
    "LoD.from_offsets(shared)": "list(range(5000))",
    "LoD.from_segment_ids(shared)": "list(range(5000))",
    "lodcore.gather_sequences(x, shared)": "[0, 1] * 2000",
    "x[shared]": "[0, 1] * 2000",
    "lodcore.sequence_mask(shared, 4)": "[1, 2] * 2000",
    "LoDTensor.from_arrays(shared)": "[np.ones(3) for _ in range(50)]",
    "lodcore.array(shared)": "[np.ones(3) for _ in range(50)]",
    "lodcore.concat_batches(shared)": "[x for _ in range(50)]",
    "lodcore.sequence_concat(shared)": "[x for _ in range(50)]",
    # tuple(shared) itself reads freed memory in Python 3.11 when a collection empties the list; here a list is copied
    "lodcore.sequence_concat((*shared,))": "[x for _ in range(50)]",
    "lodcore.array(nested)": "[[1, 2], [3]]",
    "ta.of_elements(shared)": "[]",
    "written(shared).concat()": "[np.ones(3) for _ in range(50)]",
    "written(shared).stack()": "[np.ones(3) for _ in range(50)]",
}


@pytest.mark.parametrize("way", ["beside", "collected"])
def test_lists_emptied_by_other_threads_do_not_crash(way):
    survives(f"""
x = LoDTensor(np.ones((6, 2)), LoD.from_lengths([2, 4]))
ta = TensorArray()
def written(shared):
    ta = TensorArray()
    for j, one in enumerate(shared):
        ta.write(j, one)
    return ta
for text, made in {LISTS!r}.items():
    print(text, flush=True)
    whole = eval(made)
    shared = list(whole)
    nested = [[1, 2], [3], shared]
    def change():
        shared.clear()
        shared.extend(whole)
        shared[len(shared) // 2:] = [None]
        shared.extend([None] * 3)
        shared[:] = whole
    call = eval("lambda: " + text)
    def once():
        tried(call)
        shared[:] = whole
    {way}(change, once{f", {SECONDS}" if way == "beside" else ""})
""")


def test_overridden_properties_of_subclasses_do_not_reach_kernels():
    survives("""
from lodcore.tensors.lod_tensor_body import LoDTensorBody
class Liar(LoDTensor):
    __slots__ = ()
    @property
    def values(self):
        return np.ones((1, 2))
    @property
    def lod(self):
        return LoD.from_lengths([10**6, 5])
    num_levels = 7
for cls in (Liar, LoDTensor):
    made = tried(lambda: LoDTensorBody.__new__(cls)), tried(lambda: object.__new__(cls))
    assert made == (None, None)  # no tensor without rows and a structure
    for x in (LoDTensorBody(), cls.from_lengths(np.ones((6, 2)), [2, 4])):
        for call in (
            lambda: lodcore.sequence_pool(x, "sum"), lambda: lodcore.gather_sequences(x, [0]), lambda: x[0],
            lambda: x[:], lambda: lodcore.sequence_concat([x, x]), lambda: lodcore.sequence_reverse(x),
            lambda: x.to_padded(), lambda: x + 1, lambda: x + x, lambda: x.sum(axis=1), lambda: list(x),
            lambda: repr(x), lambda: x.tolist(), lambda: TensorArray.unpack(x, 0),
            lambda: lodcore.sequence_softmax(x), lambda: np.tanh(x), lambda: x.clone(), lambda: x.flatten(),
            lambda: x.to_arrays(), lambda: lodcore.sequence_expand(x, x), lambda: x[x > 0],
            lambda: lodcore.sequence_expand_as(np.ones((2, 2)), x), lambda: copy.copy(x),
            lambda: lodcore.sequence_pad(x),
            lambda: vjp(lambda a: lodcore.sequence_pool(a, "max"), x)[1](np.ones((2, 2))), lambda: x.to_regular(),
            lambda: lodcore.lod_reset(x, x), lambda: lodcore.lod_rank_table(x),
            lambda: lodcore.sequence_conv(x, np.ones((2, 2)), 1), lambda: lodcore.sequence_topk(x, 1),
            lambda: lodcore.sequence_slice(x, 0, 1), lambda: x.lod, lambda: x.values,
            lambda: lodcore.merge_by_mask(x, x, [True] * 4), lambda: lodcore.split_by_mask(x, [True, False]),
        ):
            tried(call)
""")


@pytest.mark.parametrize("made", ["LoD.__new__(LoD)", "type(LoD.from_lengths([1])).__mro__[1]()"])
def test_a_structure_that_was_never_made(made):
    survives(f"""
lod = tried(lambda: {made})
if lod is not None:
    for name in dir(lod):
        if name in ("__class__", "__init_subclass__", "__subclasshook__"):
            continue
        found = tried(lambda: getattr(lod, name))
        if callable(found):
            for arguments in ((), (0,), (-1,), ([0],), (0, 1), ([0], 0), (lod,), (10**9,), (2**62, 2**62)):
                if name.startswith("_") and not name.startswith("__"):
                    continue
                made = tried(lambda: found(*arguments))
                tried(lambda: repr(made))
    tried(lambda: LoDTensor(np.ones((0, 2)), lod))
    tried(lambda: lodcore.sequence_pool(LoDTensor(np.ones((0, 2)), lod), "sum"))
""")


MEMORY = {
    "steps of one very long sequence": "TensorArray.unpack(LoDTensor(np.empty((n, 0)), LoD.from_lengths([n])), 0)",
    "a mask": "LoDTensor(np.empty((2**40, 0)), LoD.from_lengths([2**40] + [0] * 8191)).to_padded(0, return_mask=True)",
    "a broadcast table": "lodcore.lookup_table(np.broadcast_to(0.0, (2**40, 3)), [0])",
    "broadcast rows": "LoDTensor.from_lengths(np.broadcast_to(0.0, (2**40,)), [2**40])",
    "broadcast lengths": "LoD.from_lengths(np.broadcast_to(np.int64(0), (2**40,)))",
    "a broadcast padded batch": "lodcore.sequence_unpad(np.broadcast_to(0.0, (2**20,) * 2), np.zeros(2**20, int))",
    "a broadcast index": "lodcore.gather_sequences([[1]], np.broadcast_to(np.int32(0), (2**40,)))",
}


def test_requests_beyond_the_memory_raise_memory_error_and_leave_out_untouched():
    """A MemoryError is raised before memory is allocated, with little memory used, and `out` is not changed."""
    printed = survives(f"""
n = lodcore.base.memory.LIMIT // 8 - 8
for name, text in {MEMORY!r}.items():
    try:
        eval(text)
    except (MemoryError, lodcore.LoDError) as error:
        print("MemoryError", name, error)
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024)
""")
    *lines, used = printed.splitlines()
    assert len(lines) == len(MEMORY), printed
    assert all(line.startswith(f"MemoryError {name}") for line, name in zip(lines, MEMORY, strict=True)), printed
    assert int(used) < 400, printed


def test_a_padded_batch_with_a_mask_is_written_whole_or_not_at_all():
    survives("""
x = LoDTensor(np.empty((2**40, 0)), LoD.from_lengths([2**40] + [0] * 8191))
out = np.empty((8192, 2**40, 0))
tried(lambda: x.to_padded(return_mask=True, out=out))
""")


def test_the_number_of_threads_changes_during_calls():
    survives("""
x = LoDTensor.from_lengths(np.ones((400_000, 8)), [400] * 1000)
out = np.empty_like(x.values)
numbers = iter(range(10**9))
def change():
    lodcore.set_num_threads(1 + next(numbers) % 5)
done = threading.Event()
def run():
    while not done.is_set():
        change()
thread = threading.Thread(target=run)
thread.start()
try:
    for _ in range(25):
        lodcore.sequence_reverse(x, out=out)
        lodcore.gather_sequences(x, np.arange(1000))
        lodcore.sequence_pool(x, "max")
finally:
    done.set()
    thread.join()
""")


#: Collects the compiled classes.
COMPILED = """
import gc, lodcore.graph, lodcore.ops, lodcore.batching, lodcore.interop.arrow.interface, lodcore.interop.torch
x = lodcore.array([[1.0, 2.0], [3.0]])
x.pool, x + 1, iter(x), x.values
compiled = {kind for module in list(sys.modules.values()) if str(getattr(module, "__file__", "")).endswith(".so")
            for kind in vars(module).values() if isinstance(kind, type) and str(kind.__module__).startswith("lodcore")}
compiled |= {type(x.values.base), type(iter(x)), type(x.pool)}
assert len(compiled) > 20
"""


def test_methods_of_compiled_classes_refuse_another_self():
    survives(
        COMPILED
        + """
names = set()
for kind in {*compiled, lodcore.LoD, lodcore.LoDTensor, lodcore.batching.Stream}:
    for name in dir(kind):
        method = getattr(kind, name)
        if type(method).__name__ != "cython_function_or_method":
            continue
        names.add(name)
        for self in (3, None, [[1, 2]], np.arange(3), object()):
            for rest in range(4):
                try:
                    method(self, *[0] * rest)
                except (TypeError, AttributeError):
                    continue
                assert False, (kind, name)
assert {"drop", "flatten", "offsets", "take", "num_sequences", "put", "counts"} <= names
"""
    )


def test_instances_that_were_never_initialized():
    survives(
        COMPILED
        + """
compiled.remove(lodcore.base.wakeful.WakefulQueue)  # whose `get` waits for ever
given = [(), (None,), (x,), (None, None), (None, None, None)]
for kind in compiled:
    for arguments in given:
        try:
            made = kind.__new__(kind, *arguments)
        except Exception:
            continue
        for name in dir(made):
            if name in ("__class__", "__init__", "__init_subclass__", "__subclasshook__"):
                continue
            try:
                found = getattr(made, name)
            except Exception:
                continue
            for one in given if callable(found) else []:
                try:
                    found(*one)
                except Exception:
                    pass
        for use in (repr, hash, len, iter, bool, memoryview, copy.copy, lambda it: it[0], lambda it: it == it):
            try:
                use(made)
            except Exception:
                pass
"""
    )
