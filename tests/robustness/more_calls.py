"""Calls of functions that are not operators: layers, plans and streams of batches, doors, text, NumPy, methods."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor, TensorArray, batching, nn, vjp

#: Each text is a call; its names are those of `things`, of `lodcore`, and of `HELPERS`.
TEXTS = [
    # layers
    *("nn.Linear(2, 3)(linear, x)", "nn.LayerNorm(2)(norm, x)", "nn.Embedding(7, 3)(words, i)"),
    *("nn.Embedding(7, 3)(words, ids)", "nn.LSTM(2, 3)(lstm, x)", "nn.LSTM(2, 3, peepholes=True)(peeping, x)"),
    *("nn.GRU(2, 3)(gru, x, state)", "nn.SimpleRNN(2, 3)(rnn, x, is_reverse=True)"),
    "nn.LSTM(2, 3)(lstm, deep, level=0)",
    *("nn.Bidirectional(nn.GRU(2, 3))(both, x)", "nn.Stacked([nn.GRU(2, 3), nn.SimpleRNN(3, 3)])([gru, rnn3], x)"),
    *("nn.dynamic_rnn(nn.GRU(2, 3).cell, gru, x)", "nn.static_rnn(nn.GRU(2, 3).cell, gru, rows, state)"),
    "nn.recurrent_op(nn.GRU(2, 3).cell, gru, v.reshape(3, 2, 2), state)",
    "nn.dynamic_recurrent_op(nn.GRU(2, 3).cell, gru, deep)",
    *("nn.dot_attention(pooled, x)", "nn.dot_attention(pooled, x, y)"),
    "nn.AdditiveAttention(2, 2, 3)(additive, pooled, x)",
    *("nn.cross_entropy(x, labels)", "nn.cross_entropy(v, labels, 0.1)", "nn.dropout(x, 0.5, rng)"),
    *("beams(table3)", "beams(table3, temperature=0.5, top_k=2, seed=1)", "beams(table3, allowed=mask23)"),
    *("grad_of(lambda p: nn.LSTM(2, 3)(p, x)[0], lstm)", "grad_of(lambda p: nn.GRU(2, 3)(gru, p)[0], x)"),
    *("grad_of(lambda p: nn.SimpleRNN(2, 3)(p, x)[0], rnn)", "grad_of(lambda p: nn.LayerNorm(2)(p, x), norm)"),
    "grad_of(lambda p: nn.Embedding(7, 3)(p, ids), words)",
    "grad_of(lambda p: nn.dot_attention(p, x)[0], pooled)",
    "grad_of(lambda p: nn.dynamic_rnn(nn.GRU(2, 3).cell, p, x)[0], gru)",
    "grad_of(lambda p: nn.cross_entropy(p, labels), x)",
    # learning
    *("learned(nn.SGD(0.1), lstm)", "learned(nn.SGD(0.1, momentum=0.5), words, sparse_derivative)"),
    "learned(nn.Adam(0.1), gru)",
    *("learned(nn.AdamW(0.1), words, sparse_derivative)", "learned(nn.Adam(0.1), lstm, in_place=True)"),
    *("nn.clip_by_global_norm(lstm, 0.5)", "lodcore.tree_map(np.tanh, lstm)", "lodcore.tree_leaves(both)"),
    "lodcore.value_and_grad(lambda p: (x @ p['weight']).sum())(linear)",
    "lodcore.grad_check(lambda a: np.tanh(a), x)",
    # batches
    *("batching.pack_plan(lengths9, 8)", "batching.pack_plan(lengths9, 8, method='best_fit', overflow='split')"),
    *("plan.apply(docs)", "plan.undo(plan.apply(docs))", "batching.PackPlan.from_arrays(plan_arrays)"),
    "plan.take(i[:2])",
    *("batching.attention_inputs(packed, 9)", "batching.attention_inputs(packed).mask()"),
    "batching.cu_seqlens(packed)",
    *("list(batching.batches(lengths9, 12))", "list(batching.batches(lengths9, 12, buckets=4, seed=0))"),
    "batching.chunk_plan(docs, 3, 2).apply(docs)",
    "batching.chunk_plan(docs, 3, 2).undo(batching.chunk_plan(docs, 3, 2).apply(docs))",
    *("batching.concat_and_cut(docs, 4)", "list(batching.pack_stream(several, 6))"),
    "list(batching.batch_stream(several, 6))",
    *("batching.sample_by_temperature(lengths9, 0.5)", "batching.fills(plan)", "batching.show_bins(plan)"),
    "plan.report()",
    *("batching.assert_isolated(lambda a: a.values * 1.0, packed)", "pickled(plan)"),
    # doors
    *("lodcore.from_arrow(x)", "lodcore.from_arrow(deep)", "lodcore.from_arrow(text)"),
    "lodcore.from_arrow(records)",
    *("lodcore.from_arrow(x, records=False)", "lodcore.from_dlpack(v, offsets)"),
    "lodcore.from_dlpack(v, offsets32)",
    *("lodcore.interop.from_jax(v, segments)", "x.cu_seqlens()"),
    *("loaded({'x': x, 'v': v, 'deep': deep, 'l': [i, mask]})", "loaded(x)"),
    "lodcore.interop.occupancy(lengths9, 3)",
    *("pickled({'x': x, 'v': v})", "pickled_out_of_band(x)", "x.to_packed()", "x._repr_html_()", "repr(deep)"),
    # words
    *("lodcore.encode_utf8(text)", "lodcore.encode_utf8(strings)", "lodcore.decode_utf8(letters)"),
    "lodcore.Vocabulary(strings)",
    *("lodcore.Vocabulary.fit(letters)", "vocabulary.encode(letters)", "vocabulary.encode(text)"),
    "vocabulary.decode(i[:3])",
    *("pickled(vocabulary)", "vocabulary.decode(ids % 3)", "vocabulary['ab']"),
    # functions made of operators
    *("lodcore.combinations(x, 2)", "lodcore.argcombinations(x, 3, True)", "lodcore.argcartesian(x, y)"),
    "lodcore.cartesian(x, y)",
    *("lodcore.sequence_interleave([x, y])", "lodcore.sequence_truncate(x, 1)", "lodcore.sequence_median(flat)"),
    *("lodcore.group_by(i % 2, v, x.flatten())", "lodcore.explode(x, lengths)", "lodcore.implode(segments, v)"),
    *("lodcore.join_by_key(x, y, lengths, lengths, 'outer')", "lodcore.sort_by_key(x, flat)"),
    "lodcore.match_keys(i, segments)",
    *("lodcore.sequence_split(flat, flat > 1)", "lodcore.sequence_gaps(flat, 0.5)", "lodcore.windows_around(x, 1, 2)"),
    *("lodcore.join_asof(flat, np.sort(flat, 1), flat)", "lodcore.sequence_fill(x)"),
    *("lodcore.sequence_resample(flat, 3)", "lodcore.sequence_value_counts(flat)"),
    *("lodcore.sequence_shuffle(x, rng)", "lodcore.sequence_sample(x, 2, rng)"),
    "lodcore.shuffle_sequences(x, rng)",
    *("lodcore.moment(flat, 2, 1)", "lodcore.cov(flat, flat, 1)", "lodcore.corr(flat, weights, 1)"),
    "lodcore.linear_fit(flat, weights, 1)",
    *("lodcore.average(flat, 1, weights)", "lodcore.lod_index(x, 0)", "lodcore.map_sequences(np.tanh, x)"),
    "lodcore.mean(x)",
    *("lodcore.map_sequences(lambda a: a[::-1], x)", "lodcore.gather_nested(x, nested)"),
    "lodcore.beam_search(ends, ends * 1.0, None, scores, 2, 0)",
    # NumPy's names and methods
    *("np.sort(x, 1)", "np.argsort(flat)", "np.median(flat, 1)", "np.quantile(flat, 0.5, 1)"),
    "np.nanquantile(flat, [0.1, 0.9], 1)",
    *("np.nansum(flat, 1)", "np.nanmax(flat, 1)", "np.nanargmin(flat, 1)", "np.nanstd(x, 1)", "np.nanvar(x, 1)"),
    "np.nanprod(x, 1)",
    *("np.nanmean(x, 1)", "np.nanmedian(x, 1)", "np.nanmin(x, 1)", "np.nanargmax(flat, 1)", "np.nancumsum(x, 1)"),
    "np.nancumprod(x, 1)",
    *("np.cumsum(x, 1)", "np.cumprod(x, 1)", "np.diff(x, axis=1)", "np.unique(nested)"),
    *("np.searchsorted(flat, flat)", "np.isin(nested, i[:2])"),
    *("np.interp(flat, flat, flat)", "np.take_along_axis(flat, nested, 1)", "np.repeat(x, 2, 1)"),
    *("np.repeat(x, lengths, 0)", "np.tile(x, 2)"),
    *("np.roll(x, 1, 1)", "np.roll(x, lengths, 1)", "np.flip(x, 1)", "np.take(x, [1, 0], 0)", "np.stack([x, y])"),
    "np.swapaxes(x, 2, 2)",
    *("np.nonzero(x)", "np.argwhere(x > 1)", "np.clip(x, 1, 3)", "np.round(x, 1)", "np.full_like(x, 3.0)"),
    "np.expand_dims(x, 2)",
    *("np.broadcast_to(x, x.shape)", "np.broadcast_arrays(x, v[:2, None])", "np.ptp(x, 1)"),
    *("np.tensordot(x, v[:2], 1)", "np.vecdot(x, x)"),
    *("np.where(x > 1, x, y)", "np.partition(flat, 1)", "np.argpartition(flat, 1)", "np.dot(x, v[:2])"),
    "np.count_nonzero(x, 1)",
    *("np.array_equal(x, y)", "np.allclose(x, y)", "np.nan_to_num(x)", "np.concatenate([deep, deep], 2)"),
    "np.bitwise_or.reduce(nested, axis=1)",
    *("np.add.accumulate(x, 1)", "x.astype(np.float32)", "x.copy()", "x.clip(1, 2)", "x.round()", "x.squeeze()"),
    *("x.swapaxes(-1, -1)", "x.mT"),
    *("x.nonzero()", "x.ptp(axis=1)", "x.argmin(axis=1)", "x.mean(axis=1)", "x.std(axis=1)", "x.var(axis=0)"),
    *("x.min(axis=0)", "x.cumprod(axis=1)"),
    *("LoDTensor.from_row_splits(v, offsets)", "x.lod.prefix(1)", "sparse.clone()", "sparse + sparse"),
    "x.lod == y.lod",
    # assignment, with every form of an index
    *("assigned(x, 0, pooled)", "assigned(x, slice(0, 1), x[:1])", "assigned(x, (slice(None), 0), pooled)"),
    "assigned(x, nested, 1.0)",
    *("assigned(x, (i[:2] % 2, i[:2] % 2), pooled)", "assigned(x, (i[:2] % 2, 0, i[:2] % 2), 1.0)"),
    "assigned(flat, flat > 1, v[0, 0])",
    *("assigned(x, (..., 0), weights)", "assigned(deep, (0, 0), v[:2])", "assigned(x, mask[:2], v[:1])"),
    *("x[:, [0, 1]]", "x[i[:2] % 2, 0, i[:2] % 2]", "x[i[:2] % 2, :, 0]", "deep[:, :1]", "deep[[1, 0], 0]"),
    *("flat[flat > 1]", "x[mask[:2]]"),
    *("x[None]", "x[()]", "x[numbers[:2], numbers[:2]]", "x[:, -1]", "x[:, :, [1, 0]]", "deep[:, 0, ::-1]"),
    "x[::2, ::-1, 0]",
    # programs and arrays of steps
    *("written(rows).stack()", "written(batches).concat()", "written(batches).read(1)", "mapped(x)", "mapped(v)"),
    "run_twice(x, v)",
    *("TensorArray.unstack(v).stack()", "steps.concat()", "[*steps]", "TensorArray.unpack(deep, 0)[0].concat()"),
    *("segmented(x)", "grad_of(mapped, x)"),
    *("grad_of(segmented, x)", "grad_of(lambda p: p[nested], x)", "grad_of(lambda p: np.sort(p, 1), x)"),
    "grad_of(lambda p: p[:, 0], x)",
    *("grad_of(lambda p: lodcore.sequence_topk(p, 1)[0], flat)", "grad_of(lambda p: np.quantile(p, 0.3, 1), flat)"),
    *("grad_of(lambda p: p.max(axis=1), x)", "grad_of(lambda p: p.max(axis=0), x)"),
    "grad_of(lambda p: lodcore.sequence_sample(p, 2, rng), x)",
    *("grad_of(lambda p: lodcore.cartesian(p, y)[0], x)", "grad_of(lambda p: np.interp(flat, flat, p), flat)"),
    *("grad_of(lambda p: lodcore.sequence_pad(p)[0], x)", "grad_of(lambda p: lodcore.gather_nested(p, nested), x)"),
]  # fmt: skip


def things() -> dict[str, Any]:
    """Make the objects that the texts use."""
    rng = np.random.default_rng(0)
    lod = LoD.from_lengths([2, 4])
    v = np.arange(12.0).reshape(6, 2)
    x = LoDTensor(v, lod)
    docs = LoDTensor.from_lengths(np.arange(17), [5, 3, 2, 7])
    plan = batching.pack_plan(docs.lengths, 8)
    letters = lodcore.encode_utf8(["ab", "c", "ab", "é"])
    words = nn.Embedding(7, 3).init(rng, float)
    return {
        "x": x, "y": LoDTensor(v[::-1].copy(), lod), "v": v, "flat": LoDTensor(v[:, 0].copy(), lod),
        "deep": LoDTensor(v.copy(), LoD.from_lengths([1, 2], [2, 0, 4])), "i": np.array([0, 1, 2, 3, 4, 5]),
        "ids": LoDTensor(np.array([0, 6, 1, 2, 5, 0]), lod), "nested": LoDTensor(np.array([0, 1, 1, 0, 1, 1]), lod),
        "labels": LoDTensor(np.array([0, 1, 1, 0, 1, 1]), lod), "pooled": np.ones((2, 2)), "rows": [v[:2], v[2:4]],
        "weights": LoDTensor(np.arange(1.0, 7.0), lod), "weights6": LoDTensor(np.arange(6.0), lod),
        "lengths": np.array([2, 4]), "offsets": np.array([0, 2, 6]), "offsets32": np.array([0, 2, 6], np.int32),
        "segments": np.array([0, 0, 1, 1, 1, 1]), "mask": np.array([True, False] * 3), "numbers": [1, 0, 1, 1],
        "mask23": np.array([[True, True, False]] * 2), "several": [np.arange(3), np.arange(2), np.arange(4)],
        "batches": [x, x], "linear": nn.Linear(2, 3).init(rng, float), "norm": nn.LayerNorm(2).init(rng, float),
        "words": words, "lstm": nn.LSTM(2, 3).init(rng, float), "gru": nn.GRU(2, 3).init(rng, float),
        "peeping": nn.LSTM(2, 3, peepholes=True).init(rng, float), "rnn": nn.SimpleRNN(2, 3).init(rng, float),
        "rnn3": nn.SimpleRNN(3, 3).init(rng, float), "both": nn.Bidirectional(nn.GRU(2, 3)).init(rng, float),
        "additive": nn.AdditiveAttention(2, 2, 3).init(rng, float), "state": np.zeros((2, 3)),
        "table3": np.log(np.array([[0.2, 0.5, 0.3], [0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])),
        "sparse": SparseTensor([0, 3, 0], np.ones((3, 2)), 4),
        "sparse_derivative": {"table": SparseTensor([0, 3, 0], np.ones((3, 3)), 7)},
        "lengths9": np.array([5, 3, 2, 7, 1, 1, 4, 8, 2]), "docs": docs, "plan": plan, "packed": plan.apply(docs),
        "plan_arrays": dict(plan.to_arrays()), "letters": letters, "strings": np.array(["ab", "c", "é"]),
        "text": LoDTensor.from_lengths(np.array(["ab", "c", "ab"]), [2, 1]),
        "vocabulary": lodcore.Vocabulary(letters[1:]),
        "records": LoDTensor(np.zeros(6, [("a", "i4"), ("b", "f8")]), lod), "steps": TensorArray.unpack(x, 0)[0],
        "ends": np.array([1, 2, 1]), "scores": LoDTensor(np.arange(9.0).reshape(3, 3), LoD.from_lengths([1, 2])),
    }  # fmt: skip


# -- between forward pass and backward pass ----------------------------------------------------------------------------

_steps: list[Callable[[Any], None]] = []


@contextmanager
def between_passes(step: Callable[[Any], None]) -> Iterator[None]:
    """Apply a change to the result of each forward pass, before the backward pass."""
    _steps.append(step)
    try:
        yield
    finally:
        _steps.remove(step)


def pause(value: Any) -> None:
    """Apply the change."""
    for step in _steps:
        step(value)


# -- functions that the texts call -------------------------------------------------------------------------------------


def beams(table: Any, **options: Any) -> Any:
    """Search for the best sequences of a table of bigrams."""
    decoder = nn.BeamSearchDecoder(lambda ids, state: (table[ids], state), 2, 1, 0, 5, num_results=2, **options)
    return list(decoder(np.zeros((2, 1)), num_sources=2)[:2])


def ones_like(value: Any) -> Any:
    """Make a cotangent of a result."""
    if isinstance(value, (tuple, list)):
        return [ones_like(one) for one in value]
    return np.ones_like(value.values if isinstance(value, LoDTensor) else value)


def grad_of(f: Any, argument: Any) -> Any:
    """Differentiate a function of a tree, with all ones for the cotangent."""
    value, pullback = vjp(f, argument)
    pause(value)
    return pullback(ones_like(value))


def learned(optimizer: Any, parameters: Any, derivatives: Any = None, **options: Any) -> Any:
    """Make a step of an optimizer."""
    derivatives = parameters if derivatives is None else derivatives
    if options:  # the arguments are shared with others
        parameters = lodcore.tree_map(np.array, parameters)
    return list(optimizer.step(parameters, derivatives, optimizer.init(parameters), **options)[0].values())


def assigned(x: Any, key: Any, value: Any) -> Any:
    """Write to a copy."""
    made = x.clone()
    made[key] = value
    return made


def pickled(value: Any) -> Any:
    """Return a copy made by a pickle."""
    return pickle.loads(pickle.dumps(value))


def pickled_out_of_band(value: Any) -> Any:
    """Return a copy made by a pickle with out-of-band buffers."""
    buffers: list[Any] = []
    return pickle.loads(pickle.dumps(value, protocol=5, buffer_callback=buffers.append), buffers=buffers)


def loaded(tree: Any) -> Any:
    """Return a copy made by a file."""
    file = io.BytesIO()
    lodcore.save(file, tree)
    file.seek(0)
    found = lodcore.load(file)
    return list(found.values()) if isinstance(found, dict) else found


def written(values: Any) -> Any:
    """Write values into a TensorArray."""
    array = TensorArray()
    for j, one in enumerate(values):
        array.write(j, one)
    return array


def mapped(x: Any) -> Any:
    """Map a function over sequences or rows."""
    return lodcore.map_fn(lambda part: np.tanh(part) * 2.0, x)


def segmented(x: Any) -> Any:
    """Run over the steps of sequences, with a shrinking state."""
    from lodcore.graph import VarArray

    array, outputs = VarArray().segment(x), TensorArray()
    first = lodcore.sequence_pool(x, "last")
    loop = lodcore.while_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= array.size())
        state = loop.loop_var(first)
        new = lodcore.tanh(array.get(t) + lodcore.shrink_memory(state, t, array.rank))
        outputs.write(t, new)
        state.update(new)
    return outputs.pack(0, array.rank)


def run_twice(x: Any, v: Any) -> Any:
    """Run a Program two times."""
    from lodcore.graph import Executor, Program, append_backward, data
    from lodcore.operators.roles import spec_of

    with Program() as program:
        given, rows = data("x", spec_of(x)), data("v", spec_of(v))
        found = lodcore.ops.sum(lodcore.tanh(given @ rows[:2]))
        append_backward(found)
    executor = Executor()
    executor.run(program, {"x": x, "v": v}, [found])
    return executor.run(program, {"x": x, "v": v}, [found, "x@GRAD", "v@GRAD"])


HELPERS = {
    "beams": beams, "grad_of": grad_of, "learned": learned, "assigned": assigned, "pickled": pickled,
    "pickled_out_of_band": pickled_out_of_band, "loaded": loaded, "written": written, "mapped": mapped,
    "segmented": segmented, "run_twice": run_twice, "nn": nn, "batching": batching, "rng": np.random.default_rng(0),
}  # fmt: skip
