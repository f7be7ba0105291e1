"""awkward: arrays of any depth; no gradients, so the results alone are compared."""

import awkward as ak
import numpy as np
from forms import dense, depth, is_ragged, is_tensor, level_of, ragged, row_lengths, some_batch, unable

VERSION = ak.__version__


def array(thing):
    """An array with our offsets: variable axes for the levels, regular ones for the rows."""
    if isinstance(thing, list):
        return [array(one) for one in thing]
    if not is_tensor(thing):
        return thing
    if not is_ragged(thing):
        return thing["values"].copy() if thing["values"].ndim else thing["values"][()]
    content = ak.contents.NumpyArray(thing["values"].copy())
    for offsets in reversed(thing["lod"]):
        content = ak.contents.ListOffsetArray(ak.index.Index64(np.array(offsets)), content)
    return ak.Array(content)


def described(x, levels):
    """Levels of a result, then its rows; None in it is no number."""
    if not isinstance(x, ak.Array):
        return dense(x)
    layout, found = ak.to_packed(x).layout, []
    for _ in range(levels):
        if layout.is_option:
            layout = without_missing(layout)
        if layout.is_regular:
            layout = layout.to_ListOffsetArray64(True)
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets)
        found.append(offsets)
        layout = layout.content[: offsets[-1]]
    values = ak.to_numpy(ak.Array(without_missing(layout) if layout.is_option else layout), allow_missing=False)
    return ragged(values, *found) if levels else dense(values)


def without_missing(layout):
    if ak.any(ak.is_none(ak.Array(layout))):
        raise ValueError("None for an empty sequence")
    return ak.drop_none(ak.Array(layout), axis=0).layout


def operator(call):
    """Run a function on arrays, whose result has as many levels."""

    def run(arguments, cotangents):
        out = call(**{name: array(one) for name, one in arguments.items()})
        levels = max(depth(one) for one in flat(arguments))
        results = out if isinstance(out, tuple) else (out,)
        return [described(one, levels) for one in results], NotImplemented

    return run


def flat(arguments):
    return [one for thing in arguments.values() for one in (thing if isinstance(thing, list) else [thing])]


def rows_of_no_axis(x):
    """For functions on an axis that count from the last one."""
    if x["values"].ndim > 1:
        unable("rows with axes of their own")


def aligned(x, y):
    for one in (x, y):
        if is_tensor(one) and not is_ragged(one) and one["values"].ndim and depth(x) + depth(y):
            unable("a dense operand, which awkward aligns from the first axis")
    if depth(x) and depth(y) and x["lod"] != y["lod"]:
        unable("the structure of one operand is part of the other's")
    if depth(x) and depth(y) and x["values"].ndim != y["values"].ndim:
        unable("rows of different axes")


def binary(function):
    inner = operator(lambda x, y: function(x, y))

    def run(arguments, cotangents):
        some_batch(arguments)
        aligned(arguments["x"], arguments["y"])
        return inner(arguments, cotangents)

    return run


def unary(function):
    inner = operator(lambda x: function(x))

    def run(arguments, cotangents):
        some_batch(arguments)
        return inner(arguments, cotangents)

    return run


def along(function):
    """A reduction along the axis of a level, into which all levels below it were flattened."""

    def run(arguments, cotangents):
        x = arguments["x"]
        k = level_of(x, arguments.get("level", -1))
        merged = array(x)
        for axis in range(depth(x), k + 1, -1):
            merged = ak.flatten(merged, axis=axis)
        return [described(function(merged, k + 1), k)], NotImplemented

    return run


def pool(arguments, cotangents):
    x, kind = arguments["x"], arguments["pool_type"]
    if arguments.get("pad_value") is not None and not all(row_lengths(x, arguments.get("level", -1))):
        unable("a row for empty sequences")
    if kind in ("sum", "mean", "max", "min"):
        return along(lambda a, axis: getattr(ak, kind)(a, axis=axis))(arguments, cotangents)
    if kind == "first":
        return along(lambda a, axis: ak.firsts(a, axis=axis))(arguments, cotangents)
    return unable("pool_type " + kind)


def spread_out(name):
    def run(arguments, cotangents):
        ddof = arguments["ddof"]
        return along(lambda a, axis: getattr(ak, name)(a, ddof=ddof, axis=axis))(arguments, cotangents)

    return run


def keeping(function):
    """A function along the last level that keeps the structure."""

    def run(arguments, cotangents):
        x = arguments["x"]
        k = level_of(x, arguments.get("level", -1))
        if k != depth(x) - 1:
            unable("all rows below a level at once")
        return [described(function(array(x), k + 1, arguments), depth(x))], NotImplemented

    return run


def pad(arguments, cotangents):
    x, filling, longest = arguments["x"], arguments["pad_value"], arguments["maxlen"]
    if depth(x) > 1:
        unable("coarser levels that are flattened")
    if filling["values"].size != 1 or x["values"].ndim > 1:
        unable("rows as padding")
    sizes = np.diff(x["lod"][0])
    longest = int(max(sizes, default=0)) if longest is None else longest
    out = ak.fill_none(ak.pad_none(array(x), longest, axis=1, clip=True), filling["values"].reshape(-1)[0], axis=1)
    return [dense(ak.to_numpy(out)), dense(sizes)], NotImplemented


def elements(arguments, cotangents):
    """gather_sequences: x[index] of the first level."""
    x = arguments["x"]
    if level_of(x, arguments["level"]) != 0:
        unable("sequences of an inner level of the whole batch")
    return [described(array(x)[arguments["index"]["values"].reshape(-1)], depth(x))], NotImplemented


def masked(arguments, cotangents):
    x, mask = arguments["x"], arguments["mask"]
    if not is_ragged(mask) or mask["lod"] != x["lod"]:
        unable("a mask of another structure")
    return [described(array(x)[array(mask)], depth(x))], NotImplemented


def joined(arguments, cotangents):
    xs = arguments["xs"]
    k = level_of(xs[0], arguments["level"])
    return [described(ak.concatenate([array(x) for x in xs], axis=k + 1), depth(xs[0]))], NotImplemented


def backwards(arguments, cotangents):
    x = arguments["x"]
    k = level_of(x, arguments["level"])
    return [described(array(x)[(slice(None),) * (k + 1) + (slice(None, None, -1),)], depth(x))], NotImplemented


def ranks_of(arguments, cotangents):
    x = arguments["x"]
    rows_of_no_axis(x)
    out = keeping(lambda a, axis, given: ak.argsort(a, axis=axis, ascending=not given["descending"]))
    return out(arguments, cotangents)


def truth(arguments, cotangents):
    name = arguments["name"]
    return along(lambda a, axis: getattr(ak, name)(a, axis=axis))(arguments, cotangents)


def combined(arguments, cotangents):
    x, y = arguments["x"], arguments["y"]
    k = arguments["level"] % depth(x)
    if k + 1 != depth(x) or k + 1 != depth(y) or x["values"].ndim > 1 or y["values"].ndim > 1:
        unable("pairs of sequences, or of rows with axes")
    pairs = ak.cartesian([array(x), array(y)], axis=k + 1)
    return [described(one, k + 1) for one in ak.unzip(pairs)], NotImplemented


def pairs(arguments, cotangents):
    x = arguments["x"]
    k = arguments["level"] % depth(x)
    if k + 1 != depth(x) or x["values"].ndim > 1:
        unable("pairs of sequences, or of rows with axes")
    found = ak.combinations(array(x), 2, replacement=arguments["replacement"], axis=k + 1)
    return [described(one, k + 1) for one in ak.unzip(found)], NotImplemented


def unflattened(arguments, cotangents):
    x = arguments["x"]
    k = arguments["level"] % depth(x)
    out = ak.unflatten(array(x), arguments["lengths"]["values"].reshape(-1), axis=k + 1)
    return [described(out, depth(x) + 1)], NotImplemented


def dropped(arguments, cotangents):
    x = arguments["x"]
    k = arguments["level"] % depth(x)
    if k == 0 and depth(x) == 1:
        return [described(ak.flatten(array(x), axis=1), 0)], NotImplemented
    if k + 1 == depth(x):
        unable("the last level, whose rows are then without a list")
    return [described(ak.flatten(array(x), axis=k + 1), depth(x) - 1)], NotImplemented


UFUNCS = {
    "add": np.add,
    "minus": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_equal_than": np.less_equal,
    "greater_than": np.greater,
    "greater_equal_than": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
}

OPERATORS = {
    **{name: binary(function) for name, function in UFUNCS.items()},
    **{name: unary(getattr(np, name)) for name in ("exp", "log", "sqrt", "tanh", "logical_not")},
    "cartesian": combined,
    "cast": operator(lambda x, dtype: ak.values_astype(x, dtype)),
    "concat_batches": operator(lambda xs: ak.concatenate(xs, axis=0)),
    "drop_level": dropped,
    "gather_sequences": elements,
    "select_by_mask": masked,
    "sequence_argsort": ranks_of,
    "sequence_concat": joined,
    "sequence_pad": pad,
    "sequence_pairs": pairs,
    "sequence_pool": pool,
    "sequence_prod": along(lambda a, axis: ak.prod(a, axis=axis)),
    "sequence_reverse": backwards,
    "sequence_softmax": keeping(lambda a, axis, given: ak.softmax(a, axis=axis)),
    "sequence_sort": keeping(
        lambda a, axis, given: ak.sort(a, axis=axis, ascending=not given.get("descending", False))
    ),
    "sequence_std": spread_out("std"),
    "sequence_truth": truth,
    "sequence_unflatten": unflattened,
    "sequence_var": spread_out("var"),
}
