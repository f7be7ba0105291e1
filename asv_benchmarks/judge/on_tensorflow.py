"""TensorFlow: ragged tensors of any depth, with gradients by GradientTape."""

import os

os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")

import numpy as np
import tensorflow as tf
from forms import dense, is_ragged, is_tensor, one_dtype, ragged, some_batch, unable

VERSION = tf.__version__
REALS = ("float32", "float64")


def described(x):
    if isinstance(x, tf.RaggedTensor):
        return ragged(x.flat_values.numpy(), *(splits.numpy() for splits in x.nested_row_splits))
    if isinstance(x, tf.IndexedSlices):
        x = tf.convert_to_tensor(x)
    return dense(x.numpy())


def operator(call, batch=False, promotes=False):
    """Run a function on tensors made of the arguments, forwards and backwards."""

    def run(arguments, cotangents):
        if batch:
            some_batch(arguments)
        if not promotes:
            one_dtype(*(one for name, one in arguments.items() if name not in ("index", "ids", "length", "mask")))
        leaves = {}

        def made(thing):
            if isinstance(thing, list):
                return [made(one) for one in thing]
            if isinstance(thing, dict) and thing.get("kind") == "lod":
                zeros = tf.zeros([thing["num_rows"]], tf.int8)
                return tf.RaggedTensor.from_nested_row_splits(zeros, splits(thing["lod"]))
            if not is_tensor(thing):
                return thing
            values = tf.constant(thing["values"])
            if thing["dtype"] in REALS:
                leaves[id(thing)] = values
                tape.watch(values)
            return tf.RaggedTensor.from_nested_row_splits(values, splits(thing["lod"])) if is_ragged(thing) else values

        with tf.GradientTape() as tape:
            out = call(**{name: made(one) for name, one in arguments.items()})
            results = out if isinstance(out, tuple) else (out,)
            pairs = [(one, given) for one, given in zip(results, cotangents) if given]
            flat = [one.flat_values if isinstance(one, tf.RaggedTensor) else one for one, _ in pairs]
        weights = [tf.cast(tf.constant(given["values"]), one.dtype) for one, (_, given) in zip(flat, pairs)]
        found = tape.gradient(flat, list(leaves.values()), weights) if flat and leaves else [None] * len(leaves)
        gradients = dict(zip(leaves, found))

        def gradient(thing):
            if isinstance(thing, list):
                return [gradient(one) for one in thing]
            if id(thing) not in leaves:
                return None
            found = gradients[id(thing)]
            values = (
                np.zeros_like(thing["values"]) if found is None else np.asarray(tf.convert_to_tensor(found).numpy())
            )
            return {**thing, "values": values}

        return [described(one) for one in results], {name: gradient(one) for name, one in arguments.items()}

    return run


def splits(lod):
    return [tf.constant(offsets, tf.int64) for offsets in lod]


def aligned(function):
    def call(x, y):
        if isinstance(x, tf.RaggedTensor) and isinstance(y, tf.RaggedTensor):
            if x.ragged_rank != y.ragged_rank:
                unable("the structure of one operand is part of the other's")
        return function(x, y)

    return operator(call, batch=True)


def below(x, level):
    """The same rows with all levels below one merged into it, and the axis of that level."""
    axis = level % x.ragged_rank + 1
    return (x if axis == x.ragged_rank else x.merge_dims(axis, x.ragged_rank)), axis


def pool(x, pool_type, pad_value=None, level=-1):
    x, axis = below(x, level)
    if pad_value is not None and not tf.reduce_all(x.row_lengths(axis) > 0):
        unable("a value for empty sequences")
    if pool_type not in ("sum", "mean", "max", "min"):
        unable("pool_type " + pool_type)
    return getattr(tf, "reduce_" + pool_type)(x, axis=axis)


def softmax(x, level=-1):
    if not x.dtype.is_floating:
        unable("integers")
    if x.flat_values.shape.rank > 1:
        unable("an axis that is not the last one")
    return x.with_flat_values(tf.nn.softmax(below(x, level)[0], axis=-1).flat_values)


def softmax_of_rows(x, axis):
    if not x.dtype.is_floating:
        unable("integers")
    if axis not in (-1, x.shape.rank - 1):
        unable("an axis that is not the last one")
    return tf.nn.softmax(x, axis=axis)


def pad(x, pad_value, maxlen, level):
    if x.ragged_rank > 1:
        unable("coarser levels that are flattened")
    if tf.size(pad_value) != 1:
        unable("a row as padding")
    shape = None if maxlen is None else [None, maxlen, *x.flat_values.shape[1:]]
    return x.to_tensor(default_value=tf.reshape(pad_value, []), shape=shape), x.row_lengths()


def unpad(x, length):
    return tf.RaggedTensor.from_tensor(x, lengths=tf.cast(tf.reshape(length, [-1]), tf.int64))


def product(x, y):
    if x.shape.rank != y.shape.rank:
        unable("operands of different ranks")
    return tf.matmul(x, y)


def gather(x, index, level):
    if level % x.ragged_rank:
        unable("sequences of an inner level of the whole batch")
    if index.dtype not in (tf.int32, tf.int64):
        unable("an index of " + index.dtype.name)
    return tf.gather(x, tf.reshape(index, [-1]))


def lookup(table, ids, padding_idx=None):
    if padding_idx is not None:
        unable("a padding index")
    if ids.dtype not in (tf.int32, tf.int64):
        unable("ids of " + ids.dtype.name)
    if (isinstance(ids, tf.RaggedTensor) and ids.flat_values.shape.rank > 1) or ids.shape.rank == 2:
        unable("ids in one column that are vectors")
    return tf.nn.embedding_lookup(table, ids)


def bag(table, ids, pool_type):
    if pool_type not in ("sum", "mean", "sqrt") or not isinstance(ids, tf.RaggedTensor) or ids.ragged_rank > 1:
        unable("pool_type " + pool_type + ", or several levels")
    if ids.dtype not in (tf.int32, tf.int64) or ids.flat_values.shape.rank > 1:
        unable("ids of other dtypes, and rows of ids")
    combiner = {"sqrt": "sqrtn"}.get(pool_type, pool_type)
    return tf.nn.embedding_lookup_sparse(table, ids, None, combiner=combiner, allow_fast_lookup=True)


def masked(x, mask):
    if not isinstance(mask, tf.RaggedTensor) or mask.ragged_rank != x.ragged_rank:
        unable("a mask of another structure")
    return tf.ragged.boolean_mask(x, mask)


def backwards(x, level):
    return tf.reverse(x, axis=[level % x.ragged_rank + 1])


def joined(xs, level):
    return tf.concat(xs, axis=level % xs[0].ragged_rank + 1)


def truth(x, name, level):
    if x.dtype != tf.bool:
        unable("other dtypes than bool")
    return getattr(tf, "reduce_" + name)(*below(x, level))


def spread(name):
    def call(x, ddof, level):
        if ddof:
            unable("ddof")
        return getattr(tf.math, name)(*below(x, level))

    return operator(call)


def dropped(x, level):
    k = level % x.ragged_rank
    return x.values if k == 0 else x.merge_dims(k, k + 1)


def mask_of(lengths, maxlen, dtype):
    return tf.sequence_mask(lengths, maxlen, getattr(tf, dtype))


def steps(starts, stops, steps):
    return tf.ragged.range(starts, stops, steps)


def repeated(x, y, ref_level):
    """Rows repeated by the lengths of a level: what value_rowids are for."""
    unable("a batch of sequences repeated") if isinstance(x, tf.RaggedTensor) else None
    return tf.repeat(x, rows_of(y, ref_level).row_lengths(), axis=0)


def rows_of(y, level):
    for _ in range(level % y.ragged_rank):
        y = y.values
    return y


def repeated_as(x, y, level):
    if isinstance(x, tf.RaggedTensor) or level % y.ragged_rank != y.ragged_rank - 1:
        unable("coarser levels")
    ids = rows_of(y, level).value_rowids()
    return y.with_flat_values(tf.gather(x, ids))


COMPARED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less_than": "less",
    "less_equal_than": "less_equal",
    "greater_than": "greater",
    "greater_equal_than": "greater_equal",
    "add": "add",
    "minus": "subtract",
    "mul": "multiply",
    "div": "divide",
}


def logical(function):
    def call(x, y):
        if x.dtype != tf.bool or y.dtype != tf.bool:
            unable("other dtypes than bool")
        return function(x, y)

    return operator(call, batch=True)


def real(function):
    """Functions that TensorFlow has for floating-point numbers alone."""

    def call(x):
        if not x.dtype.is_floating:
            unable("integers")
        return function(x)

    return operator(call, batch=True)


OPERATORS = {
    **{name: aligned(getattr(tf.math, other)) for name, other in COMPARED.items()},
    **{name: real(getattr(tf.math, name)) for name in ("exp", "log", "sqrt", "tanh", "sigmoid")},
    "arange": operator(steps),
    "cast": operator(lambda x, dtype: tf.cast(x, getattr(tf, dtype)), batch=True),
    "concat_batches": operator(lambda xs: tf.concat(xs, axis=0)),
    "drop_level": operator(dropped),
    "embedding_bag": operator(bag, promotes=True),
    "gather_sequences": operator(gather),
    "logical_and": logical(tf.logical_and),
    "logical_or": logical(tf.logical_or),
    "lookup_table": operator(lookup, promotes=True),
    "matmul": operator(product, batch=True),
    "relu": operator(lambda x: tf.nn.relu(x), batch=True),
    "select_by_mask": operator(masked),
    "sequence_concat": operator(joined),
    "sequence_expand": operator(repeated),
    "sequence_expand_as": operator(repeated_as),
    "sequence_mask": operator(mask_of),
    "sequence_pad": operator(pad),
    "sequence_pool": operator(pool),
    "sequence_prod": operator(lambda x, level=-1: tf.reduce_prod(*below(x, level))),
    "sequence_reverse": operator(backwards),
    "sequence_softmax": operator(softmax),
    "sequence_std": spread("reduce_std"),
    "sequence_truth": operator(truth),
    "sequence_unpad": operator(unpad),
    "sequence_var": spread("reduce_variance"),
    "softmax": operator(softmax_of_rows, batch=True),
    "stop_gradient": operator(lambda x: tf.stop_gradient(x), batch=True),
    "where": operator(lambda condition, x, y: tf.where(condition, x, y), batch=True),
}
