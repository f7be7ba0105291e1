"""The calls whose costs are counted and measured, one a line, and those left out, with reasons.

Operators that need one nested tensor, and elementwise ones, are called with x. How others are called, and where x would
become too large, is in the files of their samples (`COSTS`).

x has a number in each row, i integers, w rows of 4, t two levels; full is x without its empty sequences, and sorted_x
has sorted ones; short and wide are x and w with at most 3 rows per sequence, for what makes pairs, products and
padding. e has one number for each sequence, m a truth value; v has the values, ls the lengths; n is the size, k the
number of sequences. All results are at most a constant times as large as what goes in.
"""

from __future__ import annotations

import re
from inspect import signature

from lodcore import batching
from lodcore.operators.elementwise import ElementwiseOp
from lodcore.operators.registry import OPS, Op
from tests.samples import COSTS, SAMPLES

#: Functions of `lodcore.ops` that are called with x alone.
X_ALONE = """
sequence_fill sequence_median sum prod mean max min any all var std nansum nanmean nanstd nanmax nanmin nanprod nanvar
nanmedian average argmax argmin sequence_value_counts
"""
#: Functions of NumPy that are called with full and axis=1, and with x alone.
NUMPY_ALONG = """
all any amax amin argmax argmin argsort average cumprod cumsum diff flip max mean median min
nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod ptp sort std sum var
"""
NUMPY_ALONE = """
angle argwhere around broadcast_arrays copy count_nonzero ediff1d empty_like imag iscomplexobj isneginf isposinf
isrealobj ndim nonzero ones_like real result_type shape size zeros_like unique
"""
#: Methods of x that take nothing, and attributes.
X_METHODS = """
argsort logsumexp nonzero num positions reverse softmax to_packed tolist to_arrays _repr_html_
"""
TEXTS = """
# along axes and levels
x.argmax(axis=1, empty=e)
ops.bitwise_reduce(i, "or")
ops.average(x, axis=1, weights=x)
ops.moment(x, 3, axis=1)
ops.cov(x, x, axis=1)
ops.corr(x, x, axis=1)
ops.linear_fit(x, x, axis=1)
ops.quantile(x, 0.5, axis=1)
ops.nanquantile(x, 0.5, axis=1)
x.pool("last")

ops.nanargmax(np.nan_to_num(x))
ops.nanargmin(np.nan_to_num(x))
np.nanargmax(np.nan_to_num(full), axis=1)
np.nanargmin(np.nan_to_num(full), axis=1)

# gradients
grad(ops.sequence_softmax, x)
grad(ops.sequence_cumsum, x)
grad(ops.sequence_sort, x)
grad(ops.sequence_prod, x)
grad(lambda x: lodcore.sequence_rolling(x, n // 2, "std", min_periods=1), x)
grad(lambda z: lodcore.lookup_table(z, i % 5), np.ones((5, 4)))
lodcore.value_and_grad(lambda x: ops.sum(ops.sigmoid(x)))(x)
program(n // 8)
chain(n // 8)
writes(n // 8)
loop(n // 8)
branches(x)

# elementwise
x + x
x == x
np.exp(w)
np.nan_to_num(x, nan=x)
np.isin(x, v)
np.round(x.clip(0, 1))
lodcore.per_sequence(x, e)

# NumPy's functions of more than one argument
np.allclose(x, x)
np.isclose(x, x)
np.array_equal(x, x)
np.percentile(x, 50, axis=1)
np.nanpercentile(x, 50, axis=1)
np.quantile(x, 0.5, axis=1)
np.nanquantile(x, 0.5, axis=1)
np.partition(full, 0, axis=1)
np.argpartition(full, 0, axis=1)
np.roll(x, 1, axis=1)
np.searchsorted(sorted_x, x)
np.interp(x, sorted_x, x)
np.take(x, [0], axis=0)
np.take_along_axis(x, np.argsort(x, axis=1), axis=1)
np.tile(x, 2)
np.repeat(x, 2, axis=1)
np.clip(x, 0, 1)
np.where(x > 1, x, 0.0)
np.concatenate([x, x], axis=1)
np.broadcast_to(x, x.shape)
np.full_like(x, 1)
np.expand_dims(w, 3)
np.squeeze(w[:, :, :1], 2)
np.reshape(w, (k, None, 2, 2))
np.swapaxes(ops.reshape_rows(w, (2, 2)), 2, 3)
np.moveaxis(ops.reshape_rows(w, (2, 2)), 2, 3)
np.transpose(ops.reshape_rows(w, (2, 2)), (0, 1, 3, 2))
np.matrix_transpose(ops.reshape_rows(w, (2, 2))) if hasattr(np, "matrix_transpose") else 0
np.dot(w, np.ones((4, 2)))
np.tensordot(w, np.ones((4, 2)), 1)
np.linalg.vecdot(w, w) if hasattr(np.linalg, "vecdot") else 0
np.sort(x, axis=0)
x.cumprod(axis=1)
x.cumsum(axis=1)
x.ptp(axis=0)
np.cumsum(x, axis=0)
np.median(x, axis=0)

# neighbours, quantiles and search
x.topk(2)
lodcore.sequence_resample(x, 3)
lodcore.windows_around(x, 1, 1)
lodcore.windows_around(short, n, n)
lodcore.sequence_gaps(x, 1)
lodcore.sequence_split(x, x > 1)

# keys
lodcore.group_by((v, i.values), v)
lodcore.implode((i.values % 3, v), v)
lodcore.explode(x, e)
lodcore.join_by_key(x, x, np.arange(k), np.arange(k))
lodcore.join_asof(sorted_x, sorted_x, x)
lodcore.sort_by_key(x, x)

# sequences that are taken, moved and joined
lodcore.concat_batches([x[:1]] * n) if ls[0] < 2 else 0
lodcore.sequence_interleave([x, x])
x[m]
x[x > 1]
x[::-1]
x[:, ::2]
[*x]
[*t]
down(x)
lodcore.sequence_sample(x, 2, 0)
lodcore.sequence_shuffle(x, 0)
lodcore.shuffle_sequences(x, 0)
lodcore.sequence_truncate(x, 2)
x.gather(np.arange(k)[::-1])

# structure
lodcore.lod_index(x, 0)
w.reshape(k, None, 2, 2).swapaxes(2, 3)
w.transpose(0, 1, 2)
w[:, :, :1].squeeze(2)
x.flatten(0)
t.flatten(0)
hash(t.lod)
x.equals(x.copy())
x.lod.append(lengths=np.ones(len(v), int)).drop(0)
x.lod.concat(x.lod)
LoD.from_lengths(ls) == LoD.from_lengths(ls)
LoD.from_segment_ids(x.lod.segment_ids(), k)
LoD.from_row_offsets(t.lod.row_offsets(0), t.lod.row_offsets(1))
LoD.from_offsets(x.offsets).num_sequences()
t.lod.split()
t.lod.slice(1, 3).prefix(1).positions()
t.lod.take(np.arange(3)[::-1])
LoDTensor.from_offsets(v, x.offsets)
LoDTensor.from_row_splits(v, x.offsets)
LoDTensor.from_segment_ids(v, x.lod.segment_ids(), k)
LoDTensor.from_starts_stops(v, x.offsets[:-1][::-1], x.offsets[1:][::-1])
LoDTensor.from_arrays(x.to_arrays())
LoDTensor.from_lengths(v, ls)
lodcore.array(t.tolist())
lodcore.cu_seqlens(x)
repr(x)
str(t.lod)
copy.deepcopy(t)
pickle.loads(pickle.dumps(t))

# padded
short.to_padded(side="left", multiple_of=2, return_mask=True)
LoDTensor.from_padded(short.to_padded(), short.lengths)
LoDTensor.from_lengths(v, [len(v) // 2] * 2 + [len(v) % 2] * (len(v) % 2)).to_arrays()
LoDTensor.from_lengths(w.values, [1] * len(v)).to_regular()

# products, pairs and windows: of at most 3 rows per sequence
lodcore.argcartesian(short, short)
lodcore.combinations(short, 2)
lodcore.argcombinations(short, 2)
ops.vecdot(w, w)

# sparse rows, tables and arrays
SparseTensor(i.values % 5, w.values, 5).merge().to_dense()
packed(*TensorArray.unpack(t, 0))
packed(*TensorArray.unpack(x, 0, sort_by_length=False))
[*TensorArray.unpack(t, 0)[0]]
TensorArray.unstack(w.values).stack()
TensorArray.unstack(w.values[:, None]).concat()
slots(n // 8)

# networks
layer(nn.SimpleRNN(4, 2), w)
layer(nn.GRU(4, 2), w)
layer(nn.LSTM(4, 2), w)
layer(nn.Bidirectional(nn.GRU(4, 2)), w)
layer(nn.Stacked([nn.GRU(4, 2), nn.GRU(2, 2)]), w)
layer(nn.Linear(4, 2), w)
layer(nn.LayerNorm(4), w)
layer(nn.Embedding(5, 4), i % 5)
nn.Dropout(0.5)({}, w, np.random.default_rng(0))
nn.dropout(w, 0.5, np.random.default_rng(0))
nn.dot_attention(e_of(w), wide)
nn.dot_attention(wide, wide)
attention(wide)
nn.dynamic_rnn(step, {}, w, np.zeros((k, 4)))
nn.static_rnn(step, {}, [*np.ones((n // 8, 1, 4))], np.zeros((1, 4)))
nn.recurrent_op(step, {}, w.values[: n // 8], np.zeros(4))
nn.dynamic_recurrent_op(step, {}, w, np.zeros((k, 4)))
machine(w)
nn.binary_cross_entropy(x, x > 1)
nn.mean_squared_error(x, x)
nn.clip_by_global_norm({"a": v, "b": [w.values]}, 1.0)
optimized(nn.SGD(0.1, 0.9), v)
optimized(nn.Adam(0.1), v)
optimized(nn.AdamW(nn.linear_schedule(0.1, n)), v)
[nn.cosine_schedule(0.1, n)(j) + nn.inverse_root_schedule(0.1, 9)(j) + nn.step_schedule(0.1, 0.5, 9)(j) for j in ls]
decoded(k)
searched(n // 8)

# trees, texts and functions of one's own
lodcore.encode_utf8(words)
lodcore.decode_utf8(lodcore.encode_utf8(words))
lodcore.Vocabulary.fit([words]).encode([words])
lodcore.tree_map(abs, dict.fromkeys(words, 1))
lodcore.tree_leaves(dict.fromkeys(words, 1))
lodcore.cond(m, lambda x: x * 2, lambda x: x, x)
lodcore.map_fn(lambda x: x * 2, x)
lodcore.map_sequences(lambda x: x * 2, x)

# plans, batches and streams
batching.pack_plan(ls % 9 + 1, 9, "in_order", window=n)
batching.pack_plan([9] * k, 9, "in_order", window=n)
batching.pack_plan(ls, 8, overflow="split").apply(x)
batching.pack_plan(ls, 8, overflow="truncate").report()
plan(x)
batching.chunk_plan(x, 4).undo(batching.chunk_plan(x, 4).apply(x))
batching.concat_and_cut(i, 8)
batching.attention_inputs(batching.concat_and_cut(i, 8)[0], 8)
batching.attention_inputs(lodcore.ops.insert_level(i, 0, whole=True))
batching.cu_seqlens(batching.concat_and_cut(i, 8)[0])
batching.assert_isolated(lambda y: y * 2, batching.concat_and_cut(np.nan_to_num(x), 8)[0])
batching.show_bins(batching.pack_plan(ls, n + 3))
batching.fills(batching.pack_plan(ls, n + 3))
batching.PackPlan.from_arrays(batching.pack_plan(ls, 8, overflow="split").to_arrays())
[*batching.pack_batches(batching.pack_plan(ls, n + 3), 2)]
[*batching.batches(ls, n + 3)]
batching.batches(ls, n + 3).report()
[*batching.pack_stream([*x], n + 3, buffer=n)]
[*batching.batch_stream([*x], n + 3)]
[next(one) for one in [batching.sample_by_temperature(ls + 1, 2.0)] for _ in range(n)]

# doors, files and exchange
lodcore.from_dlpack(v, x.offsets)
interop.Groups({"v": x}, {"k": e}).join({"k": e[::-1], "z": e}, "k")[e > 1]
lodcore.interop.share(x)
lodcore.interop.occupancy(ls, 8)
saved(t)
saved_folder(t)

# many levels
deep(n).lod.lengths(-1)
deep(n).tolist()
deep(n).lod.split()
ops.sequence_sort(deep(n))
ops.sequence_pool(deep(n), "sum", 0.0, 0)
ops.by_position(deep(n))
deep(n).sum(axis=0)
deep(n).max(axis=0)
deep(n).argmax(axis=0)
deep(n).var(axis=0)
deep(n).sum(axis=(0, 2))
deep(n).sum(axis=tuple(range(0, deep(n).num_levels, 2)))
deep(n).sum(axis=tuple(range(deep(n).num_levels - 2)), keepdims=True)
"""

#: Public names that are not called.
WITHOUT_COSTS = {
    "errors": "DTypeError GraphError LevelError LoDError ShapeError",
    "modules": "errors graph testing",
    "settings and questions about them": "get_num_threads set_num_threads",
    "classes whose constructors only check and keep, and whose methods are called by functions above": """
        ArrayVariable AttentionInputs BatchPlan BatchReport BeamSearchResult Block ChunkPlan Context DenseTensor Profile
        IndicesMap LODDenseTensor LoopVariable Operator PackReport RankTable Scope Segments Shared Slot SourceSampler
        Stream StreamFill Tensor TorchBatch Var Variable Varlen WhileLoop""",
    "declarations of operators, which see no data": """
        Batches Counts Dense Index Keys Kind LoDRule Nested NestedIndex Operands Optional Role Rows Steps
        Structure Anything Table Updates first_levels level_of elementwise_operator no_lod operator outer
        register_inheritance same same_as""",
    "other names of while_loop": "create_whileloop",
    "questions about one Variable": "is_inheritance_of var_get_mutable",
    "tests, which call their function once for each number": "check_operator grad_check",
    "recorded by loops and map_fn, which are called": """
        map_fn_results map_fn_size structure_of tensor_array_fill tensor_array_new tensor_array_rank""",
    "pictures": "plot_lengths plot_occupancy",
    "stores and engines that need another library": "ArrowBatches arrow_batches load_from_group save_to_group",
    "parts of to_arrow": "ArrowTable arrow_c_array arrow_c_schema arrow_c_stream",
    "properties that make a view or return a number": "T mT nbytes instead_of_dense height indices",
    "methods of functions above": "expand expand_as",
}


def with_x_alone(op: Op) -> bool:
    """Return whether an operator needs one tensor only, or is elementwise, and its samples have no other call."""
    other = any(re.match(rf"\[?(ops|lodcore)\.{op.__name__}\(", text) for text in COSTS)
    left_out = any(op.__name__ in names.split() for names in WITHOUT_COSTS.values())
    return not other and not left_out and (isinstance(op, ElementwiseOp) or required(op) == 1)


def required(op: Op) -> int:
    """Count the parameters without a default."""
    return sum(one.default is one.empty for one in signature(op).parameters.values())


REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin")
CALLS = [
    *[f"ops.{name}(x)" for name in X_ALONE.split()],
    *[f"x.{name}(axis=0)" for name in REDUCTIONS],
    *[f"t.{name}(axis=1)" for name in REDUCTIONS],
    *[f"np.{name}(full, axis=1)" for name in NUMPY_ALONG.split()],
    *[f"np.{name}(x)" for name in NUMPY_ALONE.split()],
    *[f"x.{name}()" for name in X_METHODS.split()],
    *[f"ops.{name}({', '.join('x' * required(OPS[name]))})" for name in SAMPLES if with_x_alone(OPS[name])],
    *COSTS,
    *[line for line in TEXTS.splitlines() if line and not line.startswith("#")],
    *[f"batching.pack_plan(ls, n + 3, {how!r})" for how in batching.packing.METHODS],
    *[f"batching.pack_plan(np.arange(k)[::-1], k + 9, {how!r})" for how in batching.packing.METHODS],
]
#: What `make hunt` measures beside them, where the library is there.
WITH_LIBRARIES = {
    "pyarrow": "lodcore.from_arrow(lodcore.to_arrow(t))",
    "torch": "lodcore.from_torch(lodcore.to_torch(x)), lodcore.collate([*x])",
    "awkward": "lodcore.from_awkward(lodcore.to_awkward(t))",
    "pandas": "lodcore.from_pandas(lodcore.to_pandas({'x': x}, {'key': e}), by='key')",
    "polars": "lodcore.from_polars(lodcore.to_polars({'x': x}, {'key': e}))",
    "scipy": "lodcore.from_scipy(lodcore.to_scipy(lodcore.lod_positions(x), x))",
    "xarray": "lodcore.from_xarray(lodcore.to_xarray({'x': x}, {'key': e}))",
    "jax": "lodcore.from_jax(*lodcore.to_jax(x)[:2])",
    "tensorflow": "lodcore.from_tensorflow(lodcore.to_tensorflow(t))",
    "thinc": "lodcore.from_thinc(lodcore.to_thinc(w))",
}
