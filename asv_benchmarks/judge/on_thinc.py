"""thinc: the operators of its `ops` on rows and lengths, whose gradients are functions of their own."""

import numpy as np
import thinc
from forms import dense, is_ragged, one_level, only, ragged, unable
from thinc.api import NumpyOps

VERSION = thinc.about.__version__
OPS = NumpyOps()
REALS = ("float32", "float64")


def sizes_of(x):
    return np.diff(x["lod"][0]).astype("int32")


def matrix(x):
    """Rows as a matrix, which is what the operators take."""
    return np.ascontiguousarray(x["values"].reshape(len(x["values"]), int(np.prod(x["values"].shape[1:]))))


def pool(arguments, cotangents):
    x, kind = arguments["x"], arguments["pool_type"]
    one_level(x)
    only(x, *REALS)
    if arguments.get("pad_value") is not None and not sizes_of(x).all():
        unable("a value for empty sequences")
    if kind not in ("sum", "mean", "max", "first", "last"):
        unable("pool_type " + kind)
    rows, sizes, weights = matrix(x), sizes_of(x), cotangents[0]["values"]
    shape = (len(sizes), *x["values"].shape[1:])
    out = getattr(OPS, "reduce_" + kind)(rows, sizes)
    given = np.ascontiguousarray(weights.reshape(len(sizes), rows.shape[1]))
    if kind == "max":
        out, which = out
        back = OPS.backprop_reduce_max(given, which, sizes)
    elif kind in ("first", "last"):
        out, ends = out
        back = getattr(OPS, "backprop_reduce_" + kind)(given, ends)
    else:
        back = getattr(OPS, "backprop_reduce_" + kind)(given, sizes)
    gradients = {"x": {**x, "values": np.asarray(back).reshape(x["values"].shape)}}
    if arguments.get("pad_value") is not None and arguments["pad_value"]["dtype"] in REALS:
        gradients["pad_value"] = {**arguments["pad_value"], "values": np.zeros_like(arguments["pad_value"]["values"])}
    return [dense(np.asarray(out).reshape(shape))], gradients


def softmax(arguments, cotangents):
    x = arguments["x"]
    one_level(x)
    only(x, *REALS)
    out = OPS.softmax_sequences(matrix(x), sizes_of(x))
    given = np.ascontiguousarray(cotangents[0]["values"].reshape(out.shape))
    back = OPS.backprop_softmax_sequences(given, out, sizes_of(x))
    made = ragged(out.reshape(x["values"].shape), x["lod"][0])
    return [made], {"x": {**x, "values": back.reshape(x["values"].shape)}}


def pad(arguments, cotangents):
    x = arguments["x"]
    one_level(x)
    if (
        arguments["maxlen"] is not None
        or arguments["pad_value"]["values"].any()
        or arguments["pad_value"]["values"].size != 1
    ):
        unable("another padding than zeros, and a length")
    only(x, "float32", "float64", "int32", "int64")
    parts = [x["values"][a:b] for a, b in zip(x["lod"][0], x["lod"][0][1:])]
    return [dense(OPS.pad(parts)), dense(np.diff(x["lod"][0]))], NotImplemented


def unpad(arguments, cotangents):
    x, sizes = arguments["x"], arguments["length"]["values"].reshape(-1)
    parts = OPS.unpad(x["values"], [int(one) for one in sizes])
    offsets = np.concatenate([[0], np.cumsum(sizes.astype("int64"))])
    rows = np.concatenate(parts) if parts else x["values"][:0].reshape(0, *x["values"].shape[2:])
    return [ragged(rows, offsets)], NotImplemented


def elementwise(name):
    def run(arguments, cotangents):
        x = arguments["x"]
        if not is_ragged(x):
            unable("dense arrays alone")
        only(x, *REALS)
        out = getattr(OPS, name)(x["values"].copy())
        return [ragged(out, *x["lod"])], NotImplemented

    return run


def window(arguments, cotangents):
    """seq2col: each row beside its neighbours, with zeros at the ends."""
    x, size = arguments["x"], arguments["context_length"]
    one_level(x)
    start = -(size // 2) if arguments["context_start"] is None else arguments["context_start"]
    if arguments["padding_data"] is not None or size % 2 == 0 or start != -(size // 2) or x["values"].ndim != 2:
        unable("windows that are not centred, and trained padding")
    if not {x["dtype"], arguments["filter"]["dtype"]} == {x["dtype"]} or x["dtype"] not in REALS:
        unable("operands of different dtypes")
    wide = OPS.seq2col(np.ascontiguousarray(x["values"]), size // 2, lengths=sizes_of(x))
    return [ragged(wide @ arguments["filter"]["values"], x["lod"][0])], NotImplemented


OPERATORS = {
    "relu": elementwise("relu"),
    "sequence_conv": window,
    "sequence_pad": pad,
    "sequence_pool": pool,
    "sequence_softmax": softmax,
    "sequence_unpad": unpad,
    "sigmoid": elementwise("sigmoid"),
}
