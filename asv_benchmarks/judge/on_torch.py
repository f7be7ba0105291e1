"""PyTorch: jagged nested tensors (one ragged axis, the second one) and packed sequences."""

import numpy as np
import torch
from forms import dense, is_ragged, is_tensor, one_level, only, ragged, some_batch, unable
from torch.nn import functional as F
from torch.nn.utils import rnn

VERSION = torch.__version__.partition("+")[0]
REALS = ("float32", "float64")


def jagged(values, lod):
    return torch.nested.nested_tensor_from_jagged(values, torch.tensor(lod[0]))


def described(x):
    if x.is_nested:
        return ragged(x.values().detach().numpy(), x.offsets().numpy())
    return dense(x.detach().numpy())


def operator(call, **fixed):
    """Run a function on tensors made of the arguments, forwards and backwards."""

    def run(arguments, cotangents):
        leaves = {}

        def made(thing):
            if isinstance(thing, list):
                return [made(one) for one in thing]
            if not is_tensor(thing):
                return thing
            one_level(thing)
            values = torch.from_numpy(thing["values"].copy())
            if thing["dtype"] in REALS:
                leaves[id(thing)] = values.requires_grad_()
            return jagged(values, thing["lod"]) if is_ragged(thing) else values

        out = call(**{name: made(one) for name, one in arguments.items()}, **fixed)
        results = out if isinstance(out, tuple) else (out,)
        used = [(one, given) for one, given in zip(results, cotangents, strict=True) if given and one.requires_grad]
        outputs = [one.values() if one.is_nested else one for one, _ in used]
        inputs = list(leaves.values())
        weights = [torch.from_numpy(given["values"].copy()).to(one.dtype) for one, (_, given) in zip(outputs, used)]
        found = (
            torch.autograd.grad(outputs, inputs, weights, allow_unused=True)
            if used and inputs
            else [None] * len(inputs)
        )
        gradients = {key: grad for key, grad in zip(leaves, found)}

        def gradient(thing):
            if isinstance(thing, list):
                return [gradient(one) for one in thing]
            if id(thing) not in leaves:
                return None
            grad = gradients[id(thing)]
            return {**thing, "values": np.zeros_like(thing["values"]) if grad is None else grad.numpy()}

        return [described(one) for one in results], {name: gradient(one) for name, one in arguments.items()}

    return run


def alike(x, y):
    """Elementwise operands: jagged tensors share the very same offsets; a dense one is a number."""
    if x.is_nested and y.is_nested:
        if not torch.equal(x.offsets(), y.offsets()):
            unable("the structure of one operand is part of the other's")
        return x, torch.nested.nested_tensor_from_jagged(y.values(), x.offsets())
    return x, y


def elementwise(call):
    """An operator of batches and numbers; dense arrays alone are not judged."""
    inner = operator(call)

    def run(arguments, cotangents):
        some_batch(arguments)
        return inner(arguments, cotangents)

    return run


def binary(function):
    return elementwise(lambda x, y: function(*alike(x, y)))


def choose(condition, x, y):
    condition, x = alike(condition, x)
    condition, y = alike(condition, y)
    return torch.where(condition, *alike(x, y))


def unary(function):
    return lambda x: function(x)


def pool(x, pool_type, pad_value=None, level=-1):
    if pad_value is not None and not x.offsets().diff().all():
        unable("a value for empty sequences")
    if pool_type in ("sum", "mean"):
        return getattr(x, pool_type)(dim=1)
    if pool_type in ("max", "min"):
        return getattr(torch, "a" + pool_type)(x, dim=1)
    return unable("pool_type " + pool_type)


def pad(x, pad_value, maxlen, level):
    if pad_value.numel() != 1:
        unable("a row as padding")
    sizes = x.offsets().diff()
    size = None if maxlen is None else (len(sizes), maxlen, *x.values().shape[1:])
    return x.to_padded_tensor(pad_value.item(), output_size=size), sizes


def unpad(x, length):
    return torch.nested.narrow(x, 1, torch.zeros_like(length), length, layout=torch.jagged).contiguous()


def bag(table, ids, pool_type):
    if table.ndim != 2 or not table.is_floating_point() or ids.values().ndim != 1:
        unable("a table of vectors, of integers, or of rows of several axes; ids that are rows")
    if pool_type not in ("sum", "mean", "max"):
        unable("pool_type " + pool_type)
    return F.embedding_bag(ids.values(), table, ids.offsets(), mode=pool_type, include_last_offset=True)


def lookup(table, ids, padding_idx=None):
    if padding_idx is not None and padding_idx >= 0:
        unable("a padding index whose rows are zero: torch's has only no gradient")
    if table.ndim != 2 or ids.dtype not in (torch.int32, torch.int64):
        unable("a table of vectors or of rows of several axes; ids of other dtypes")
    return F.embedding(ids, table)


def one_kind(*tensors):
    if len({x.dtype for x in tensors if x is not None}) > 1:
        unable("operands of different dtypes")


def product(x, y):
    one_kind(x, y)
    if min(x.dim(), y.dim()) < 2:
        unable("vectors")
    return torch.matmul(x, y)


def linear(x, weight, bias=None):
    one_kind(x, weight, bias)
    return F.linear(x, weight.T, bias)


def norm(x, scale, shift, eps):
    one_kind(x, scale, shift)
    return F.layer_norm(x, x.shape[-1:], scale, shift, eps)


def softmax_of_rows(x, axis):
    if x.is_nested and axis in (0, 1):
        unable("an axis of sequences")
    return torch.softmax(x, axis)


def unpack(arguments, cotangents):
    x = arguments["x"]
    one_level(x)
    if not arguments["sort_by_length"]:
        unable("steps in the order of the batch")
    parts = [torch.from_numpy(x["values"][a:b].copy()) for a, b in zip(x["lod"][0], x["lod"][0][1:])]
    steps = rnn.pack_sequence(parts, enforce_sorted=False)
    ends = np.concatenate([[0], np.cumsum(steps.batch_sizes.numpy())])
    elements = [dense(steps.data[a:b].numpy()) for a, b in zip(ends, ends[1:])]
    starts = np.array(x["lod"][0])[steps.sorted_indices.numpy()]
    indices = [int(starts[k]) + t for t, size in enumerate(steps.batch_sizes) for k in range(size)]
    of = {"kind": "lod", "lod": x["lod"], "num_rows": len(x["values"])}
    return [
        {"kind": "array", "elements": elements},
        {"kind": "map", "of": of, "level": 0, "indices": indices},
    ], NotImplemented


def repacked(arguments, cotangents):
    """Steps to sequences again, by pad_packed_sequence."""
    steps, numbers = arguments["ta"]["elements"], arguments["indices_map"]
    of = numbers["of"]["lod"]
    if len(of) > 1 or any(is_ragged(one) for one in steps):
        unable("more than one level")
    sizes = np.diff(of[0])
    order = np.argsort(-sizes, kind="stable")
    if not steps or [len(one["values"]) for one in steps] != [(sizes > t).sum() for t in range(max(sizes))]:
        unable("no steps")
    starts = np.array(of[0])[order]
    if numbers["indices"] != [int(starts[k]) + t for t, one in enumerate(steps) for k in range(len(one["values"]))]:
        unable("steps in the order of the batch")
    data = torch.from_numpy(np.concatenate([one["values"] for one in steps]))
    batch_sizes = torch.tensor([len(one["values"]) for one in steps])
    back = torch.from_numpy(np.argsort(order))
    sequence = rnn.PackedSequence(data, batch_sizes, torch.from_numpy(order), back)
    parts = rnn.unpack_sequence(sequence)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return [ragged(torch.cat(parts).numpy(), offsets)], NotImplemented


GATES = {
    "lstm": (1, 2, 0, 3),
    "simple": (0,),
}  # ours: candidate, input, forget, output; torch's: input, forget, candidate, output


def layer(kind):
    """A layer of packed sequences; the order of gates is torch's, and the gradients are not compared."""

    def run(arguments, cotangents):
        x, size = arguments["x"], arguments["weight_h"]["values"].shape[0]
        one_level(x)
        if (
            arguments.get("use_peepholes")
            or arguments.get("projection")
            or arguments.get("clip")
            or arguments["is_reverse"]
        ):
            unable("peepholes, projections and clips; one direction alone that runs backwards")
        if len({one["dtype"] for one in arguments.values() if is_tensor(one)}) > 1:
            unable("operands of different dtypes")
        if kind == "simple" and arguments["activation"] not in ("tanh", "relu"):
            unable("activation " + arguments["activation"])
        only(x, *REALS)

        def ours(values):
            parts = np.split(values, len(GATES[kind]), axis=-1)
            return torch.from_numpy(np.concatenate([parts[g] for g in GATES[kind]], axis=-1).T.copy())

        width = arguments["weight_x"]["values"].shape[0]
        extra = {"nonlinearity": arguments["activation"]} if kind == "simple" else {}
        made = {"lstm": torch.nn.LSTM, "simple": torch.nn.RNN}[kind](
            width, size, dtype=getattr(torch, x["dtype"]), **extra
        )
        weights = [ours(arguments[name]["values"]) for name in ("weight_x", "weight_h")]
        bias = (
            ours(arguments["bias"]["values"])
            if arguments["bias"]
            else torch.zeros(len(weights[0]), dtype=weights[0].dtype)
        )
        with torch.no_grad():
            for mine, given in zip(made.parameters(), [*weights, bias, torch.zeros_like(bias)]):
                mine.copy_(given)
            parts = [torch.from_numpy(x["values"][a:b].copy()) for a, b in zip(x["lod"][0], x["lod"][0][1:])]
            states = [
                torch.from_numpy(arguments[name]["values"])[None] for name in ("h_0", "c_0") if arguments.get(name)
            ]
            given = tuple(states) if len(states) > 1 else states[0] if states else None
            out, last = made(rnn.pack_sequence(parts, enforce_sorted=False), given)
        rows = torch.cat(rnn.unpack_sequence(out)).numpy()
        last = last if isinstance(last, tuple) else (last,)
        return [ragged(rows, x["lod"][0]), *(dense(one[0].numpy()) for one in last)], NotImplemented

    return run


OPERATORS = {
    **{
        name: binary(getattr(torch, other))
        for name, other in {
            "add": "add",
            "minus": "sub",
            "mul": "mul",
            "div": "div",
            "equal": "eq",
            "not_equal": "ne",
            "less_than": "lt",
            "less_equal_than": "le",
            "greater_than": "gt",
            "greater_equal_than": "ge",
            "logical_and": "logical_and",
            "logical_or": "logical_or",
        }.items()
    },
    **{
        name: elementwise(unary(getattr(torch, name)))
        for name in ("exp", "log", "sqrt", "tanh", "sigmoid", "relu", "logical_not")
    },
    "cast": elementwise(lambda x, dtype: x.to(getattr(torch, dtype))),
    "embedding_bag": operator(bag),
    "layer_norm": elementwise(norm),
    "linear": elementwise(linear),
    "lookup_table": operator(lookup),
    "lstm_layer": layer("lstm"),
    "matmul": elementwise(product),
    "sequence_pad": operator(pad),
    "sequence_pool": operator(pool),
    "sequence_softmax": operator(lambda x, level=-1: torch.softmax(x, dim=1)),
    "sequence_unpad": operator(unpad),
    "simple_layer": layer("simple"),
    "softmax": elementwise(softmax_of_rows),
    "stop_gradient": elementwise(lambda x: x.detach()),
    "tensor_array_pack": repacked,
    "tensor_array_unpack": unpack,
    "where": elementwise(choose),
}
