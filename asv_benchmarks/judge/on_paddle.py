"""PaddlePaddle 1.8.5, the last release with LoD tensors in all of its operators: static programs on the CPU.

Rows without axes are rows of one column there, and come back without it.
"""

import numpy as np
import paddle
from forms import depth, is_ragged, one_dtype, unable
from paddle_programs import flow, kept, layers, operator

VERSION = paddle.__version__


def last_level(x, level):
    if depth(x) and level % depth(x) != depth(x) - 1:
        unable("another level than the last one")


def number(thing, what):
    if thing["values"].size != 1:
        unable(what)
    return thing["values"].reshape(-1)[0].item()


def pool(net, x, pool_type, pad_value=None, level=-1):
    last_level(x, level)
    kinds = {"mean": "average", "sum": "sum", "sqrt": "sqrt", "max": "max", "last": "last", "first": "first"}
    if pool_type not in kinds:
        unable("pool_type " + pool_type)
    filling = 0.0 if pad_value is None else float(number(pad_value, "a row for empty sequences"))
    return layers.sequence_pool(net.data(x), kinds[pool_type], pad_value=filling)


def softmax(net, x, level=-1):
    last_level(x, level)
    return layers.sequence_softmax(net.data(x))


def expand(net, x, y, ref_level):
    return layers.sequence_expand(net.data(x), net.structure(y), ref_level % len(y["lod"]))


def expand_as(net, x, y, level):
    if level % len(y["lod"]) != len(y["lod"]) - 1:
        unable("another level than the last one")
    return layers.sequence_expand_as(net.data(x), net.structure(y))


def concat(net, xs, level):
    last_level(xs[0], level)
    return layers.sequence_concat([net.data(x) for x in xs])


def column(thing):
    return dict(thing, values=thing["values"].reshape(-1, 1).astype("int64"), dtype="int64")


def cut(net, x, offset, length, level):
    last_level(x, level)
    return layers.sequence_slice(net.data(x), net.data(column(offset)), net.data(column(length)))


def backwards(net, x, level):
    last_level(x, level)
    return layers.sequence_reverse(net.data(x))


def pad(net, x, pad_value, maxlen, level):
    flat = dict(pad_value, values=pad_value["values"].reshape(-1))
    value = net.parameter(flat, column=False)
    kept(net, flat, pad_value)
    return layers.sequence_pad(net.data(x), value, maxlen)


def unpad(net, x, length):
    """Rows without axes come back as they are."""
    sizes = net.data(dict(length, values=length["values"].reshape(-1).astype("int64"), dtype="int64"), column=False)
    return layers.sequence_unpad(net.data(x, column=False), sizes)


def mask(net, lengths, maxlen, dtype):
    if not lengths["values"].ndim:
        unable("a single length")
    return layers.sequence_mask(net.data(lengths, column=False), maxlen, dtype)


def conv(net, x, filter, context_length, context_start, padding_data, level):
    last_level(x, level)
    one_dtype(x, filter, padding_data)
    start = -(context_length // 2) if context_start is None else context_start
    padding = None if padding_data is None or not len(padding_data["values"]) else net.parameter(padding_data)
    given = {"X": net.data(x), "Filter": net.parameter(filter), "PaddingData": padding}
    attrs = {
        "contextStart": start,
        "contextStride": 1,
        "contextLength": context_length,
        "paddingTrainable": padding is not None,
    }
    return net.call("sequence_conv", given, {"Out": x["dtype"]}, **attrs)["Out"]


def row_conv(net, x, filter, level):
    last_level(x, level)
    one_dtype(x, filter)
    return net.call("row_conv", {"X": net.data(x), "Filter": net.parameter(filter)}, {"Out": x["dtype"]})["Out"]


def enumerated(net, x, win_size, pad_value, level):
    last_level(x, level)
    return layers.sequence_enumerate(net.data(x), win_size, pad_value)


def erase(net, x, tokens):
    listed = [int(one) for one in tokens["values"].reshape(-1)]
    return net.call("sequence_erase", {"X": net.data(x)}, {"Out": x["dtype"]}, tokens=listed)["Out"]


def scatter(net, x, ids, updates, level):
    last_level(ids, level)
    given = {"X": net.data(x), "Ids": net.data(ids, dtype="int64"), "Updates": net.data(updates)}
    return net.call("sequence_scatter", given, {"Out": x["dtype"]})["Out"]


def lod_reset(net, x, y=None, target_lod=None):
    if y is not None:
        y = net.structure(y) if y["kind"] == "lod" else net.data(y, dtype=None if is_ragged(y) else "int32")
    if target_lod is not None and target_lod and isinstance(target_lod[0], list):
        unable("several levels at once")
    return layers.lod_reset(net.data(x), y, target_lod)


def lookup(net, table, ids, padding_idx=None):
    if table["values"].ndim != 2:
        unable("a table of vectors or of rows of several axes")
    if padding_idx is not None and padding_idx < 0:
        unable("a padding index that counts from the last row")
    given = {"W": net.parameter(table), "Ids": net.data(ids, column=False, dtype="int64")}
    attrs = {"padding_idx": -1 if padding_idx is None else padding_idx}
    return net.call("lookup_table_v2", given, {"Out": table["dtype"]}, **attrs)["Out"]


def lstm(
    net, x, weight, bias, h_0, c_0, use_peepholes, is_reverse, gate_activation, cell_activation, candidate_activation
):
    size = weight["values"].shape[0]
    if bias is None:
        unable("no bias")
    flat = dict(bias, values=bias["values"].reshape(1, -1))
    given = {
        "Input": net.data(x),
        "Weight": net.parameter(weight),
        "Bias": net.parameter(flat),
        "H0": net.data(h_0),
        "C0": net.data(c_0),
    }
    kept(net, flat, bias)
    out = net.call(
        "lstm",
        given,
        dict.fromkeys(("Hidden", "Cell", "BatchGate", "BatchCellPreAct"), x["dtype"]),
        use_peepholes=use_peepholes,
        is_reverse=is_reverse,
        gate_activation=gate_activation,
        cell_activation=cell_activation,
        candidate_activation=candidate_activation,
    )
    out["Hidden"].desc.set_shape([-1, size])
    out["Cell"].desc.set_shape([-1, size])
    return out["Hidden"], out["Cell"]


def gru(net, x, weight, bias, h_0, is_reverse, origin_mode, gate_activation, candidate_activation):
    flat = None if bias is None else dict(bias, values=bias["values"].reshape(1, -1))
    given = {"Input": net.data(x), "Weight": net.parameter(weight), "Bias": net.parameter(flat), "H0": net.data(h_0)}
    kept(net, flat, bias)
    names = ("Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden")
    out = net.call(
        "gru",
        given,
        dict.fromkeys(names, x["dtype"]),
        is_reverse=is_reverse,
        origin_mode=origin_mode,
        gate_activation=gate_activation,
        activation=candidate_activation,
    )
    return out["Hidden"]


def bag(net, table, ids, pool_type):
    if pool_type != "sum" or depth(ids) > 1:
        unable("another pool_type than sum, or several levels")
    given = {"W": net.parameter(table), "Ids": net.data(ids, dtype="int64")}
    return net.call("fused_embedding_seq_pool", given, {"Out": table["dtype"]}, combiner="sum")["Out"]


def beam(net, pre_ids, pre_scores, ids, scores, beam_size, end_id, level):
    return layers.beam_search(
        net.data(dict(pre_ids, dtype="int64"), dtype="int64"),
        net.data(pre_scores),
        ids and net.data(ids, dtype="int64"),
        net.data(scores),
        beam_size,
        end_id,
        level % depth(scores),
        return_parent_idx=True,
    )


def written(net, elements):
    """An array of tensors."""
    if any(one is None for one in elements):
        unable("holes")
    array = None
    for t, one in enumerate(elements):
        index = layers.fill_constant([1], "int64", t)
        array = flow.array_write(net.data(one), index, array)
    if array is None:
        unable("an array without elements and dtype")
    return array


def read(array, count):
    found = []
    for t in range(count):
        found.append(flow.array_read(array, layers.fill_constant([1], "int64", t)))
    return found


def decode(net, ids_array, scores_array, beam_size, end_id):
    arrays = [written(net, one["elements"]) for one in (ids_array, scores_array)]
    return layers.beam_search_decode(*arrays, beam_size=beam_size, end_id=end_id)


def unpack(arguments, cotangents):
    x = arguments["x"]
    level = arguments["level"] % depth(x)
    if not arguments["sort_by_length"]:
        unable("steps in the order of the batch")
    offsets = np.array(x["lod"][level])
    order = np.argsort(-np.diff(offsets), kind="stable")
    longest = max(np.diff(offsets), default=0)

    def build(net, x):
        rows = net.data(x)
        table = flow.lod_rank_table(rows, level)
        return read(flow.lod_tensor_to_array(rows, table), longest) or [rows]

    elements = operator(build)({"x": x}, [])[0]
    indices = [int(offsets[s] + t) for t in range(longest) for s in order if offsets[s + 1] - offsets[s] > t]
    of = {"kind": "lod", "lod": x["lod"], "num_rows": len(x["values"])}
    return [
        {"kind": "array", "elements": elements if longest else []},
        {"kind": "map", "of": of, "level": level, "indices": indices},
    ], NotImplemented


def repack(arguments, cotangents):
    steps, numbers, level = arguments["ta"]["elements"], arguments["indices_map"], arguments["indices_map"]["level"]
    offsets = np.array(numbers["of"]["lod"][level])
    order = np.argsort(-np.diff(offsets), kind="stable")
    longest = max(np.diff(offsets), default=0)
    if numbers["indices"] != [
        int(offsets[s] + t) for t in range(longest) for s in order if offsets[s + 1] - offsets[s] > t
    ]:
        unable("steps in the order of the batch")

    def build(net):
        table = flow.lod_rank_table(net.structure(numbers["of"]), level)
        return flow.array_to_lod_tensor(written(net, steps), table)

    narrow = bool(steps) and steps[0]["values"].ndim == 1
    return operator(build, narrow=narrow)({}, [])[0], NotImplemented


def reorder(net, x, table):
    return flow.reorder_lod_tensor_by_rank(net.data(x), net.table(table))


def shrink(net, x, step, table):
    index = layers.fill_constant([1], "int64", int(step["values"].reshape(-1)[0]))
    return flow.shrink_memory(net.data(x), index, net.table(table))


def split(net, x, mask, level):
    level = level % depth(x) if depth(x) else 0
    return flow.split_lod_tensor(net.data(x), net.data(flags(mask)), level)


def flags(mask):
    return dict(mask, values=mask["values"].reshape(-1, 1).astype(bool), dtype="bool")


def merge(net, when_true, when_false, mask, level):
    level = level % depth(when_true) if depth(when_true) else 0
    if level:
        unable("a coarser level, which is taken from what was split")
    x = net.feed(np.zeros((mask["values"].size, 1), "float32"))
    given = net.data(when_true), net.data(when_false)
    return flow.merge_lod_tensor(*given, x=x, mask=net.data(flags(mask)), level=level)


def binary(function):
    def build(net, x, y):
        if x["dtype"] != y["dtype"]:
            unable("operands of different dtypes")
        if x["values"].shape != y["values"].shape or depth(x) != depth(y) or x.get("lod") != y.get("lod"):
            unable("operands of different shapes or structures")
        return function(net.data(x), net.data(y))

    return operator(build, batch=True)


def unary(function, *others):
    return operator(lambda net, x: function(net.data(x)), batch=True)


BINARY = {
    "add": "elementwise_add",
    "minus": "elementwise_sub",
    "mul": "elementwise_mul",
    "div": "elementwise_div",
    "equal": "equal",
    "not_equal": "not_equal",
    "less_than": "less_than",
    "less_equal_than": "less_equal",
    "greater_than": "greater_than",
    "greater_equal_than": "greater_equal",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
}
OPERATORS = {
    **{name: binary(getattr(layers, other)) for name, other in BINARY.items()},
    **{name: unary(getattr(layers, name)) for name in ("exp", "log", "sqrt", "tanh", "sigmoid", "relu", "logical_not")},
    "beam_search": operator(beam, narrow=True, gradient=False),
    "beam_search_decode": operator(decode, narrow=True, gradient=False),
    "cast": operator(lambda net, x, dtype: layers.cast(net.data(x), dtype), batch=True),
    "dynamic_gru": operator(gru, narrow=False),
    "dynamic_lstm": operator(lstm, narrow=False),
    "embedding_bag": operator(bag, narrow=False),
    "lod_append": operator(
        lambda net, x, lengths=None, offsets=None: (
            unable("lengths")
            if offsets is None
            else layers.lod_append(net.data(x), [int(one) for one in offsets["values"].reshape(-1)])
        )
    ),
    "lod_reset": operator(lod_reset),
    "lookup_table": operator(lookup, narrow=False),
    "merge_by_mask": operator(merge),
    "reorder_by_rank": operator(reorder),
    "row_conv": operator(row_conv, narrow=False),
    "sequence_concat": lambda arguments, cotangents: operator(concat, narrow=arguments["xs"][0]["values"].ndim == 1)(
        arguments, cotangents
    ),
    "sequence_conv": operator(conv, narrow=False),
    "sequence_enumerate": operator(enumerated, narrow=False),
    "sequence_erase": operator(erase),
    "sequence_expand": operator(expand),
    "sequence_expand_as": operator(expand_as),
    "sequence_mask": operator(mask, narrow=False),
    "sequence_pad": operator(pad),
    "sequence_pool": operator(pool),
    "sequence_reshape": operator(lambda net, x, new_dim: layers.sequence_reshape(net.data(x), new_dim), narrow=False),
    "sequence_reverse": operator(backwards),
    "sequence_scatter": operator(scatter, narrow=False),
    "sequence_slice": operator(cut),
    "sequence_softmax": operator(softmax),
    "sequence_unpad": lambda arguments, cotangents: operator(unpad, narrow=arguments["x"]["values"].ndim == 2)(
        arguments, cotangents
    ),
    "shrink_memory": operator(shrink),
    "split_by_mask": operator(split),
    "tensor_array_pack": repack,
    "tensor_array_unpack": unpack,
}
