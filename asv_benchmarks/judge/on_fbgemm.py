"""FBGEMM: jagged operators of one level on CPU tensors; those that have gradients are compared in them, too."""

import fbgemm_gpu
import numpy as np
import torch
from forms import dense, depth, is_tensor, one_level, ragged, unable

VERSION = fbgemm_gpu.__version__
fbgemm = torch.ops.fbgemm
REALS = ("float32", "float64")


def tensor(values):
    return torch.from_numpy(np.ascontiguousarray(values))


def rows_of(x, leaves):
    """Rows as a matrix, which is what the operators take."""
    values = tensor(x["values"].copy())
    if x["dtype"] in REALS:
        leaves[id(x)] = values.requires_grad_()
    return values.reshape(len(values), int(np.prod(values.shape[1:])))


def differentiated(out, cotangent, arguments, leaves):
    """The gradients of the arguments, of an operator that has them."""
    if not leaves or cotangent is None or not out.requires_grad:
        return NotImplemented
    weights = tensor(cotangent["values"].copy()).to(out.dtype).reshape(out.shape)
    found = dict(zip(leaves, torch.autograd.grad([out], list(leaves.values()), [weights], allow_unused=True)))

    def gradient(thing):
        if not is_tensor(thing) or id(thing) not in leaves:
            return None
        grad = found[id(thing)]
        return {**thing, "values": np.zeros_like(thing["values"]) if grad is None else grad.numpy()}

    return {name: gradient(thing) for name, thing in arguments.items()}


def number(thing):
    if thing["values"].size != 1:
        unable("a row as padding")
    return thing["values"].reshape(-1)[0].item()


def pad(arguments, cotangents):
    x, longest, leaves = arguments["x"], arguments["maxlen"], {}
    one_level(x)
    sizes = np.diff(x["lod"][0])
    longest = int(max(sizes, default=0)) if longest is None else longest
    rows = rows_of(x, leaves)
    out = fbgemm.jagged_to_padded_dense(
        rows, [tensor(np.array(x["lod"][0]))], [longest], float(number(arguments["pad_value"]))
    )
    shape = (len(sizes), longest, *x["values"].shape[1:])
    gradients = differentiated(out, cotangents[0], arguments, leaves)
    if gradients is not NotImplemented and arguments["pad_value"]["dtype"] in REALS:
        gradients = NotImplemented  # none for the padding
    return [dense(out.detach().numpy().reshape(shape)), dense(sizes)], gradients


def unpad(arguments, cotangents):
    x, sizes, leaves = arguments["x"], arguments["length"]["values"].reshape(-1), {}
    values = tensor(x["values"].copy())
    if x["dtype"] in REALS:
        leaves[id(x)] = values.requires_grad_()
    offsets = np.concatenate([[0], np.cumsum(sizes.astype("int64"))])
    flat = values.reshape(*values.shape[:2], int(np.prod(values.shape[2:])))
    out = fbgemm.dense_to_jagged(flat, [tensor(offsets)], int(offsets[-1]))[0]
    made = ragged(out.detach().numpy().reshape((int(offsets[-1]), *x["values"].shape[2:])), offsets)
    return [made], differentiated(out, cotangents[0], arguments, leaves)


def softmax(arguments, cotangents):
    x, leaves = arguments["x"], {}
    one_level(x)
    sizes = np.diff(x["lod"][0])
    out = fbgemm.jagged_softmax(rows_of(x, leaves), tensor(np.array(x["lod"][0])), int(max(sizes, default=0)))[0]
    made = ragged(out.detach().numpy().reshape(x["values"].shape), x["lod"][0])
    return [made], differentiated(out, cotangents[0], arguments, leaves)


def pool(arguments, cotangents):
    x = arguments["x"]
    one_level(x)
    if arguments["pool_type"] != "sum" or arguments.get("pad_value") is not None or x["values"].ndim > 1:
        unable("other sums than those of numbers")
    return [
        dense(fbgemm.segment_sum_csr(1, tensor(np.array(x["lod"][0])), tensor(x["values"])).numpy())
    ], NotImplemented


def gather(arguments, cotangents):
    x, index, leaves = arguments["x"], arguments["index"]["values"].reshape(-1), {}
    one_level(x)
    sizes = np.diff(x["lod"][0])
    out, taken = fbgemm.jagged_index_select(rows_of(x, leaves), tensor(sizes), tensor(index.astype("int64")))
    offsets = np.concatenate([[0], np.cumsum(taken.numpy())])
    made = ragged(out.detach().numpy().reshape((len(out), *x["values"].shape[1:])), offsets)
    return [made], differentiated(out, cotangents[0], arguments, leaves)


def cut(arguments, cotangents):
    x, start, size = (
        arguments["x"],
        *(arguments[name]["values"].reshape(-1).astype("int64") for name in ("offset", "length")),
    )
    one_level(x)
    if x["values"].ndim > 1:
        unable("rows with axes")
    sizes = np.diff(x["lod"][0])
    if len(set(size.tolist())) > 1:
        unable("a length of its own for each sequence")
    longest = int(size[0]) if len(size) else 0
    out, taken = fbgemm.jagged_slice(
        tensor(x["values"]), tensor(sizes), tensor(np.broadcast_to(start, sizes.shape)), longest
    )
    return [ragged(out.numpy(), np.concatenate([[0], np.cumsum(taken.numpy())]))], NotImplemented


def masked(arguments, cotangents):
    x, mask = arguments["x"], arguments["mask"]
    if depth(x) != 1 or mask["kind"] != "ragged" or mask["lod"] != x["lod"] or x["values"].ndim > 1:
        unable("rows with axes, several levels, and a mask of another structure")
    sizes = tensor(np.diff(x["lod"][0]))
    out, taken = fbgemm.masked_select_jagged_1d(tensor(x["values"]), sizes, tensor(mask["values"]))
    return [ragged(out.numpy(), np.concatenate([[0], np.cumsum(taken.numpy())]))], NotImplemented


def positions(arguments, cotangents):
    starts, stops, steps = (arguments[name]["values"].reshape(-1) for name in ("starts", "stops", "steps"))
    if starts.any() or (steps != 1).any() or (stops < 0).any():
        unable("other ranges than those from 0 by 1")
    offsets = np.concatenate([[0], np.cumsum(stops.astype("int64"))])
    return [ragged(fbgemm.offsets_range(tensor(offsets[:-1]), int(offsets[-1])).numpy(), offsets)], NotImplemented


OPERATORS = {
    "arange": positions,
    "gather_sequences": gather,
    "select_by_mask": masked,
    "sequence_pad": pad,
    "sequence_pool": pool,
    "sequence_slice": cut,
    "sequence_softmax": softmax,
    "sequence_unpad": unpad,
}
