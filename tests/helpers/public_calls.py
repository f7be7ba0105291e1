"""One correct call of every public function that is not an operator, for tests of what wrong ones say."""

from importlib.util import find_spec

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, batching, nn, ops, testing

__all__ = ["calls", "methods"]


def calls():
    """Return the calls by name: the function, the positional arguments, and the keyword arguments."""
    rng = np.random.default_rng(0)
    x = lodcore.array([[1.0, 2.0, 3.0], [4.0, 5.0]])
    wide = LoDTensor(np.arange(10.0).reshape(5, 2), x.lod)
    tokens = lodcore.array([[1, 2, 3], [4, 5]])
    words = lodcore.array([["a", "b", "c"], ["d", "e"]])
    keys = np.array([0, 1, 0])
    plan = batching.pack_plan([3, 2], 5)
    deep = plan.apply(tokens)
    total = (lambda parameters, x, state: (state + x, state + x), None, x, np.zeros(2))
    of_axes = ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"]
    of_axes += [f"nan{name}" for name in ("max", "mean", "median", "min", "prod", "std", "sum", "var", "argmax")]
    found = {name: (getattr(ops, name), (x,), {"axis": 1}) for name in of_axes}
    if find_spec("torch") is not None:
        found["collate"] = (lodcore.collate, ([np.ones(2), np.ones(3)],), {})
    found |= {
        "argcartesian": (lodcore.argcartesian, (x, x), {}),
        "argcombinations": (lodcore.argcombinations, (x,), {"level": -1}),
        "average": (lodcore.average, (x,), {"axis": 1, "weights": x}),
        "combinations": (lodcore.combinations, (x,), {"level": -1}),
        "cond": (lodcore.cond, (x.lengths > 2, lambda x: x, lambda x: x, x), {"level": 0}),
        "corr": (lodcore.corr, (x, x), {"axis": 1}),
        "cov": (lodcore.cov, (x, x), {"axis": 1}),
        "cu_seqlens": (lodcore.cu_seqlens, (x,), {"level": -1}),
        "decode_utf8": (lodcore.decode_utf8, (lodcore.encode_utf8(words),), {}),
        "encode_utf8": (lodcore.encode_utf8, (words,), {}),
        "explode": (lodcore.explode, (x,), {"level": -1}),
        "group_by": (lodcore.group_by, (keys, keys), {}),
        "implode": (lodcore.implode, (keys, keys), {}),
        "join_by_key": (lodcore.join_by_key, (x, x, np.arange(2), np.arange(2)), {}),
        "linear_fit": (lodcore.linear_fit, (x, x), {"axis": 1}),
        "lod_index": (lodcore.lod_index, (x, 1), {}),
        "map_fn": (lodcore.map_fn, (lambda row: row, np.ones((2, 3))), {}),
        "map_sequences": (lodcore.map_sequences, (np.cumsum, x), {}),
        "moment": (lodcore.moment, (x, 2), {"axis": 1}),
        "per_sequence": (lodcore.per_sequence, (x, np.ones(2)), {"level": -1}),
        "sequence_interleave": (lodcore.sequence_interleave, ([x, x],), {"level": -1}),
        "sequence_median": (lodcore.sequence_median, (x,), {"level": -1}),
        "sequence_sample": (lodcore.sequence_sample, (x, 1, rng), {"level": -1}),
        "sequence_shuffle": (lodcore.sequence_shuffle, (x, rng), {"level": -1}),
        "sequence_truncate": (lodcore.sequence_truncate, (x, 2), {"level": -1}),
        "shuffle_sequences": (lodcore.shuffle_sequences, (x, rng), {}),
        "sort_by_key": (lodcore.sort_by_key, (x, x), {}),
        "nanquantile": (ops.nanquantile, (x, 0.5), {"axis": 1}),
        "quantile": (ops.quantile, (x, 0.5), {"axis": 1}),
        "vecdot": (ops.vecdot, (wide, wide), {}),
        "assert_equal": (testing.assert_equal, (x, x), {}),
        "assert_allclose": (testing.assert_allclose, (x, x), {}),
        "attention_inputs": (batching.attention_inputs, (deep,), {"length": 5}),
        "batches": (batching.batches, (tokens.lengths, 5), {}),
        "chunk_plan": (batching.chunk_plan, (tokens.lengths, 2), {}),
        "concat_and_cut": (batching.concat_and_cut, (tokens, 2), {}),
        "pack_plan": (batching.pack_plan, (tokens.lengths, 5), {}),
        "sample_by_temperature": (batching.sample_by_temperature, (np.array([3, 2]),), {}),
        "PackPlan.apply": (plan.apply, (tokens,), {}),
        "PackPlan.undo": (plan.undo, (deep,), {}),
        "clip_by_global_norm": (nn.clip_by_global_norm, ({"w": np.ones(2)}, 1.0), {}),
        "dynamic_recurrent_op": (nn.dynamic_recurrent_op, total, {"level": 0}),
        "dynamic_rnn": (nn.dynamic_rnn, total, {"level": -1}),
        "recurrent_op": (nn.recurrent_op, (total[0], None, np.ones((4, 2)), np.zeros(2)), {}),
        "static_rnn": (nn.static_rnn, (total[0], None, [np.ones(2)], np.zeros(2)), {}),
        "Linear": (lambda *given: nn.Linear(2, 3)(*given), (nn.Linear(2, 3).init(rng), wide), {}),
        "Embedding": (lambda *given: nn.Embedding(9, 3)(*given), (nn.Embedding(9, 3).init(rng), tokens), {}),
        "LayerNorm": (lambda *given: nn.LayerNorm(2)(*given), (nn.LayerNorm(2).init(rng), wide), {}),
        "LSTM": (nn.LSTM(2, 3), (nn.LSTM(2, 3).init(rng, float), wide), {"level": -1}),
        "GRU": (nn.GRU(2, 3), (nn.GRU(2, 3).init(rng, float), wide), {"level": -1}),
        "SimpleRNN": (nn.SimpleRNN(2, 3), (nn.SimpleRNN(2, 3).init(rng, float), wide), {"level": -1}),
    }
    return found


def methods():
    """Return the same for methods of LoDTensor, LoD and TensorArray, by class and name."""
    x = lodcore.array([[1.0, 2.0, 3.0], [4.0, 5.0]])
    steps, indices_map = TensorArray.unpack(x, 0)
    return {
        "LoDTensor.flatten": (x.flatten, (), {"level": 0}),
        "LoDTensor.from_padded": (LoDTensor.from_padded, (np.ones((2, 3)), np.array([1, 3])), {}),
        "LoDTensor.from_lengths": (LoDTensor.from_lengths, (x.values, x.lengths), {}),
        "LoDTensor.from_offsets": (LoDTensor.from_offsets, (x.values, x.offsets), {}),
        "LoDTensor.from_segment_ids": (LoDTensor.from_segment_ids, (x.values, np.array([0, 0, 0, 1, 1])), {}),
        "LoDTensor.to_padded": (x.to_padded, (), {"length": 4}),
        "with_values": (x.with_values, (np.ones(5),), {}),
        "per_sequence": (x.per_sequence, (np.ones(2),), {"level": -1}),
        "LoD.from_lengths": (x.lod.from_lengths, (x.lengths,), {}),
        "LoD.from_offsets": (x.lod.from_offsets, (x.offsets,), {}),
        "LoD.take": (x.lod.take, (np.array([0]),), {"level": 0}),
        "LoD.lengths": (x.lod.lengths, (), {"level": 0}),
        "LoD.drop": (x.lod.drop, (), {"level": 0}),
        "tensor_array_unpack": (TensorArray.unpack, (x, 0), {}),
        "tensor_array_pack": (steps.pack, (0, indices_map), {}),
        "tensor_array_read": (steps.read, (0,), {}),
        "tensor_array_write": (TensorArray().write, (0, np.ones(2)), {}),
    }
