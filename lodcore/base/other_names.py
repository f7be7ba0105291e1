"""What to use here instead of names of other libraries: one table, for errors and for the pages "Coming from".

Each row has an expression that runs, and after a semicolon what else there is to say. In expressions, `x` and `y` are
LoDTensors of one structure, `ids` has integers, and the other names say what they are.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ATTRIBUTES", "DENSE", "FUNCTIONS", "NAMES", "NETWORKS", "explained", "instead_of", "instead_of_dense"]

#: Functions of NumPy that have no meaning for sequences, by their name.
FUNCTIONS = {
    "append": "np.concatenate([x, y], axis=1); axis=0 puts one batch after the other",
    "apply_along_axis": "lodcore.map_sequences(f, x)",
    "array_equiv": "np.array_equal(x, y)",
    "array_split": "x[:n], x[n:]; x.to_arrays() makes an array of each sequence",
    "convolve": "lodcore.sequence_conv(x, filter, context_length)",
    "corrcoef": "lodcore.corr(x, y)",
    "correlate": "lodcore.sequence_conv(x, filter, context_length)",
    "cov": "lodcore.cov(x, y)",
    "cumulative_prod": "x.cumprod(axis=1)",
    "cumulative_sum": "x.cumsum(axis=1)",
    "delete": "x[mask]",
    "einsum": "lodcore.sequence_matmul(x, y); (x * y).sum(axis=1) multiplies numbers",
    "extract": "x[mask]",
    "fix": "np.trunc(x)",
    "flipud": "np.flip(x, axis=0)",
    "hstack": "np.concatenate([x, y], axis=1)",
    "inner": "lodcore.sequence_matmul(x, y, transpose_y=True)",
    "insert": "np.concatenate([x[:, :n], y, x[:, n:]], axis=1)",
    "lexsort": "np.argsort(x, axis=1, kind='stable')",
    "linalg.norm": "np.sqrt((x * x).sum(axis=1)); with axis=-1 of each row",
    "logaddexp.reduce": "lodcore.sequence_logsumexp(x)",
    "outer": "lodcore.sequence_matmul(x, y, transpose_y=True); of rows, which x[..., None] makes of numbers",
    "pad": "x.to_padded()",
    "polyfit": "lodcore.linear_fit(x, y); for the degree 1",
    "ravel": "x.values",
    "save": "lodcore.save(file, x)",
    "savetxt": "lodcore.save(file, x)",
    "savez": "lodcore.save(file, {'x': x})",
    "savez_compressed": "lodcore.save(file, {'x': x})",
    "select": "np.where(mask, x, y)",
    "split": "x[:n], x[n:]; x.to_arrays() makes an array of each sequence",
    "trapezoid": "((x[:, 1:] + x[:, :-1]) / 2).sum(axis=1)",
    "trim_zeros": "x[x != 0]; drops all zeros, not only the outer ones",
    "unstack": "x.to_arrays()",
    "vstack": "np.concatenate([x, y], axis=0)",
}

#: Attributes that LoDTensors do not have: what to use, and the pages that list it.
ATTRIBUTES = {
    "abs": ("np.abs(x)", "pandas torch"),
    "agg": ("x.mean(axis=1); and x.sum(axis=1) and the like", "pandas"),
    "append": ("np.concatenate([x, y], axis=1); axis=0 puts one batch after the other", "pandas"),
    "apply": ("lodcore.map_sequences(f, x)", "pandas"),
    "backward": ("lodcore.value_and_grad(loss)(x)", "torch"),
    "bounding_shape": ("x.to_padded().shape", "tensorflow"),
    "bfill": ("lodcore.sequence_fill(x, 'backward')", "pandas"),
    "cat": ("np.concatenate([x, y], axis=1); axis=0 puts one batch after the other", "torch"),
    "concat": ("np.concatenate([x, y], axis=1); axis=0 puts one batch after the other", "pandas"),
    "count": ("x[~np.isnan(x)].lengths", "pandas"),
    "cpu": ("x.to_torch(); lodcore computes on the CPU", "torch"),
    "cuda": ("x.to_torch(); lodcore computes on the CPU", "torch"),
    "cummax": ("np.maximum.accumulate(x, axis=1)", "pandas torch"),
    "cummin": ("np.minimum.accumulate(x, axis=1)", "pandas torch"),
    "describe": ("lodcore.sequence_median(x); and x.mean(axis=1), x.std(axis=1), x.lengths", "pandas"),
    "detach": ("lodcore.stop_gradient(x)", "torch"),
    "diff": (
        "np.diff(x, axis=1); x - lodcore.sequence_shift(x) keeps the lengths",
        "pandas",
    ),
    "dim": ("x.ndim", "torch"),
    "dot": ("(x * y).sum(axis=1)", "numpy"),
    "double": ("x.astype(np.float64)", "torch"),
    "drop_nulls": ("x[~np.isnan(x)]", "pandas"),
    "dropna": ("x[~np.isnan(x)]", "pandas"),
    "exp": ("np.exp(x)", "torch"),
    "explode": (
        "x.values; lodcore.explode(x, counts) also repeats the entry of each sequence for its rows",
        "pandas",
    ),
    "ewm": ("lodcore.sequence_moving_average(x, 0.1)", "pandas"),
    "ffill": ("lodcore.sequence_fill(x)", "pandas"),
    "fields": ("x.dtype.names", "awkward"),
    "fill_null": ("np.nan_to_num(x, nan=0.0)", "pandas"),
    "fillna": ("np.nan_to_num(x, nan=0.0)", "pandas"),
    "filter": ("x[mask]", "pandas"),
    "first": ("x.pool('first')", "pandas"),
    "flat_values": ("x.values", "tensorflow"),
    "float": ("x.astype(np.float32)", "torch"),
    "grad": ("lodcore.value_and_grad(loss)(x)", "torch"),
    "groupby": ("lodcore.group_by(keys, values)", "pandas"),
    "head": ("x[:, :n]", "pandas"),
    "idxmax": ("x.argmax(axis=1, empty=-1)", "pandas"),
    "iloc": ("x[:, :n]", "pandas"),
    "index_select": ("x.gather(index)", "torch"),
    "is_null": ("np.isnan(x)", "pandas"),
    "isna": ("np.isnan(x)", "pandas"),
    "isnull": ("np.isnan(x)", "pandas"),
    "item": ("x.values[0]", "torch"),
    "join": ("lodcore.join_by_key(x, y, keys, keys)", "pandas"),
    "last": ("x.pool('last')", "pandas"),
    "len": ("x.lengths", "pandas"),
    "loc": ("x[mask]", "pandas"),
    "lod_level": ("x.num_levels", "paddle"),
    "log": ("np.log(x)", "torch"),
    "long": ("x.astype(np.int64)", "torch"),
    "map": ("x.with_values(f(x.values)); lodcore.map_sequences(f, x) calls f for each sequence", "pandas"),
    "masked_fill": ("np.where(mask, fill, x)", "torch"),
    "masked_select": ("x[mask]", "torch"),
    "median": ("lodcore.sequence_median(x)", "pandas torch"),
    "merge": ("lodcore.join_by_key(x, y, keys, keys)", "pandas"),
    "merge_dims": ("deep.flatten()", "tensorflow"),
    "mode": ("lodcore.sequence_mode(x[x.lengths > 0]); none of the innermost sequences may be empty", "pandas torch"),
    "nested_row_splits": ("[x.lod.offsets(k) for k in range(x.num_levels)]", "tensorflow"),
    "nlargest": ("lodcore.sequence_topk(x, n)[0]", "pandas"),
    "nrows": ("len(x)", "tensorflow"),
    "nth": ("x[:, n : n + 1]", "pandas"),
    "numel": ("x.size", "torch"),
    "numpy": ("x.to_arrays(); x.values or x.to_padded() for one array", "tensorflow torch"),
    "nunique": ("lodcore.sequence_n_unique(x)", "pandas"),
    "quantile": ("lodcore.sequence_quantile(x, 0.5)", "pandas torch"),
    "ragged_rank": ("x.num_levels", "tensorflow"),
    "rank": ("lodcore.sequence_rank(x)", "pandas"),
    "ravel": ("x.values", "numpy"),
    "recursive_sequence_lengths": ("[x.lod.lengths(k) for k in range(x.num_levels)]", "paddle"),
    "requires_grad": ("lodcore.value_and_grad(loss)(x); gradients are asked for, not marked", "torch"),
    "resample": ("lodcore.sequence_resample(x, n)", "pandas"),
    "rolling": ("lodcore.sequence_rolling(x, n, 'mean')", "pandas"),
    "row_lengths": ("x.lengths", "tensorflow"),
    "row_splits": ("x.offsets", "tensorflow"),
    "set_lod": ("lodcore.LoDTensor.from_offsets(x.values, offsets)", "paddle"),
    "set_recursive_sequence_lengths": ("lodcore.LoDTensor.from_lengths(x.values, lengths)", "paddle"),
    "shift": ("lodcore.sequence_shift(x, 1, fill=np.nan)", "pandas"),
    "sort": ("np.sort(x, axis=1)", "numpy torch"),
    "sort_values": ("np.sort(x, axis=1)", "pandas"),
    "split": ("x.to_arrays()", "torch"),
    "sqrt": ("np.sqrt(x)", "torch"),
    "starts": ("x.offsets[:-1]", "awkward"),
    "stops": ("x.offsets[1:]", "awkward"),
    "tail": ("x[:, -n:]", "pandas"),
    "take": ("x.gather(index)", "numpy"),
    "to": ("x.astype(np.float32); lodcore computes on the CPU", "torch"),
    "to_list": ("x.tolist()", "awkward pandas tensorflow"),
    "to_numpy": ("x.to_arrays(); x.values or x.to_padded() for one array", "awkward pandas"),
    "to_parquet": ("lodcore.save(file, x); x.to_arrow() for libraries that write Parquet", "awkward pandas"),
    "to_tensor": ("x.to_padded(fill_value=0)", "tensorflow"),
    "transform": ("x.per_sequence(x.mean(axis=1))", "pandas"),
    "unbind": ("x.to_arrays()", "torch"),
    "unique": ("lodcore.sequence_unique(x)", "pandas"),
    "unsqueeze": ("x[:, None]", "torch"),
    "value_counts": ("lodcore.sequence_value_counts(x)", "pandas"),
    "value_rowids": ("x.segment_ids()", "tensorflow"),
    "view": ("lodcore.LoDTensor.from_offsets(x.values, offsets)", "numpy torch"),
}

#: Attributes that Variables of dense arrays do not have, where not a function of NumPy has the name.
DENSE = {
    "append": "np.concatenate([x, y])",
    "cat": "np.concatenate([x, y])",
    "cummax": "np.maximum.accumulate(x)",
    "cummin": "np.minimum.accumulate(x)",
    "first": "x[0]",
    "index_select": "np.take(x, index, axis=0)",
    "item": "x.get(), its value, or float(x) where nothing is recorded",
    "last": "x[-1]",
    "masked_fill": "np.where(mask, fill, x)",
    "numel": "x.size",
    "numpy": "x.get(), its value",
    "quantile": "np.quantile(x, 0.5)",
    "split": "np.split(x, n)",
    "tolist": "x.get().tolist()",
    "to_list": "x.get().tolist()",
    "to_numpy": "x.get(), its value",
    "unsqueeze": "x[:, None]",
    "view": "x.reshape(shape)",
}

#: What is said of sequences only.
ABOUT_SEQUENCES = (
    *("lodcore.sequence", "lodcore.map_", "lodcore.group", "lodcore.join", "lodcore.explode", "LoDTensor", "axis=1"),
    *("[:, ", "lengths", "offsets", "x.to_", "x.pool", "x.gather", "x.segment_ids"),
)

_JOIN = "np.concatenate([x, y], axis=1); axis=0, or lodcore.concat_batches, puts one batch after the other"

#: Names that `lodcore` does not have: what to use, and the pages that list it.
NAMES = {
    "Array": ("lodcore.array(lists)", "awkward"),
    "DataFrame": ("lodcore.from_pandas(frame, by='key')", "pandas"),
    "DynamicRNN": ("lodcore.nn.dynamic_rnn(cell, parameters, x); or lodcore.while_loop()", "paddle"),
    "GradientTape": ("lodcore.value_and_grad(loss)(x)", "tensorflow"),
    "ones": ("lodcore.LoDTensor.from_lengths(np.ones(5), lengths)", "numpy torch"),
    "pad": ("x.to_padded()", "torch"),
    "ragged": ("lodcore.array(lists)", "tensorflow"),
    "RaggedTensor": ("lodcore.LoDTensor.from_offsets(values, offsets)", "tensorflow"),
    "segment_mean": ("x.mean(axis=1)", "tensorflow"),
    "StaticRNN": ("lodcore.nn.static_rnn(cell, parameters, steps, state)", "paddle"),
    "While": ("lodcore.while_loop()", "paddle"),
    "argsort": ("np.argsort(x, axis=1)", "awkward numpy"),
    "array_length": ("lodcore.tensor_array_size(steps)", "paddle"),
    "array_read": ("lodcore.tensor_array_read(steps, 0)", "paddle"),
    "array_to_lod_tensor": ("lodcore.tensor_array_pack(steps, 0, indices_map)", "paddle"),
    "array_write": ("lodcore.tensor_array_write(steps, 0, steps.read(0))", "paddle"),
    "asarray": ("lodcore.array(lists)", "numpy"),
    "boolean_mask": ("x[mask]", "tensorflow"),
    "cat": (_JOIN, "torch"),
    "concat": (_JOIN, "pandas tensorflow"),
    "concatenate": (_JOIN, "awkward numpy"),
    "constant": ("lodcore.array(lists)", "tensorflow"),
    "create_lod_tensor": ("lodcore.LoDTensor.from_lengths(values, lengths)", "paddle"),
    "cumsum": ("x.cumsum(axis=1)", "numpy torch"),
    "drop_none": ("x[~np.isnan(x)]", "awkward"),
    "elementwise_add": ("x + y", "paddle"),
    "elementwise_mul": ("x * y", "paddle"),
    "embedding": (
        "lodcore.lookup_table(table, ids); lodcore.nn.Embedding learns the table",
        "paddle torch",
    ),
    "embedding_lookup": ("lodcore.lookup_table(table, ids)", "tensorflow"),
    "fc": ("x @ weight + bias; lodcore.nn.Linear learns both", "paddle"),
    "fill_none": ("np.nan_to_num(x, nan=0.0); awkward.fill_none before lodcore.from_awkward", "awkward"),
    "firsts": ("x.pool('first')", "awkward"),
    "flatten": ("x.flatten()", "awkward torch"),
    "from_iter": ("lodcore.array(lists)", "awkward"),
    "from_list": ("lodcore.array(lists)", "torch"),
    "from_numpy": ("lodcore.array(arrays)", "awkward torch"),
    "from_parquet": ("lodcore.from_arrow(pyarrow.parquet.read_table(file))", "awkward"),
    "from_row_splits": ("lodcore.LoDTensor.from_offsets(values, offsets)", "tensorflow"),
    "from_row_lengths": ("lodcore.LoDTensor.from_lengths(values, lengths)", "tensorflow"),
    "from_value_rowids": ("lodcore.LoDTensor.from_segment_ids(values, rows)", "tensorflow"),
    "gather": (
        "lodcore.gather_sequences(x, index); lodcore.lookup_table(table, ids) for rows",
        "tensorflow torch",
    ),
    "grad": ("lodcore.value_and_grad(loss)(x); or lodcore.vjp", "torch"),
    "greater_equal": ("lodcore.greater_equal_than(x, y)", "paddle tensorflow"),
    "groupby": ("lodcore.group_by(keys, values)", "pandas"),
    "less_equal": ("lodcore.less_equal_than(x, y)", "paddle tensorflow"),
    "local_index": ("x.positions(-1)", "awkward"),
    "lod_tensor_to_array": ("lodcore.TensorArray.unpack(x, 0)", "paddle"),
    "map_fn_ragged": ("lodcore.map_sequences(f, x)", "tensorflow"),
    "max_sequence_len": ("lodcore.ops.max(x.lengths)", "paddle"),
    "median": ("lodcore.sequence_median(x)", "numpy torch"),
    "merge": ("lodcore.join_by_key(x, y, keys, keys)", "pandas"),
    "merge_asof": ("lodcore.join_asof(x, times, direction='nearest')", "pandas"),
    "merge_lod_tensor": ("lodcore.merge_by_mask(*lodcore.split_by_mask(x, chosen), chosen)", "paddle"),
    "nested_tensor": ("lodcore.array(lists)", "torch"),
    "no_grad": ("lodcore.stop_gradient(x)", "torch"),
    "num": ("x.num(0)", "awkward"),
    "one_hot": ("lodcore.lookup_table(np.eye(n), ids)", "paddle tensorflow torch"),
    "ones_like": ("np.ones_like(x)", "awkward numpy"),
    "pack_padded_sequence": ("lodcore.TensorArray.unpack(x, 0)", "torch"),
    "pack_sequence": ("lodcore.TensorArray.unpack(x, 0)", "torch"),
    "pad_none": ("x.to_padded(length=9)", "awkward"),
    "pad_packed_sequence": ("steps.pack(0, indices_map)", "torch"),
    "pad_sequence": ("x.to_padded()", "torch"),
    "quantile": ("lodcore.sequence_quantile(x, 0.5)", "numpy torch"),
    "reduce_max": ("x.max(axis=1, empty=-np.inf)", "paddle tensorflow"),
    "reduce_mean": ("x.mean(axis=1, empty=np.nan)", "paddle tensorflow"),
    "reduce_sum": ("x.sum(axis=1)", "paddle tensorflow"),
    "reorder_lod_tensor_by_rank": ("lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x))", "paddle"),
    "scan": ("lodcore.nn.dynamic_rnn(cell, parameters, x); or lodcore.while_loop()", "tensorflow"),
    "optim": ("lodcore.nn.Adam(0.001)", "torch"),
    "segment_sum": ("x.sum(axis=1)", "tensorflow"),
    "sequence_max": ("x.max(axis=1, empty=-np.inf); or lodcore.sequence_pool(x, 'max')", "paddle"),
    "sequence_mean": ("x.mean(axis=1); or lodcore.sequence_pool(x, 'mean')", "paddle"),
    "sequence_min": ("x.min(axis=1, empty=np.inf); or lodcore.sequence_pool(x, 'min')", "paddle"),
    "sequence_sum": ("x.sum(axis=1); or lodcore.sequence_pool(x, 'sum')", "paddle"),
    "sequence_first_step": ("lodcore.sequence_pool(x, 'first')", "paddle"),
    "sequence_last_step": ("lodcore.sequence_pool(x, 'last')", "paddle"),
    "sort": ("np.sort(x, axis=1)", "awkward numpy torch"),
    "split_lod_tensor": ("lodcore.split_by_mask(x, chosen)", "paddle"),
    "stack": ("lodcore.array(arrays); the steps of a TensorArray by steps.stack()", "numpy torch"),
    "tensor": ("lodcore.array(lists)", "torch"),
    "to_list": ("x.tolist()", "awkward"),
    "to_numpy": ("x.to_padded()", "awkward"),
    "to_padded_tensor": ("x.to_padded(fill_value=0.0)", "torch"),
    "to_parquet": ("lodcore.save(file, x); x.to_arrow() for libraries that write Parquet", "awkward"),
    "unflatten": ("lodcore.sequence_unflatten(x, counts)", "awkward"),
    "unique": ("lodcore.sequence_unique(x)", "numpy pandas torch"),
    "vmap": ("lodcore.map_fn(f, x)", "torch"),
    "zeros": ("lodcore.LoDTensor.from_lengths(np.zeros(5), lengths)", "numpy torch"),
    "zeros_like": ("np.zeros_like(x)", "awkward numpy"),
    "zip": ("lodcore.LoDTensor(np.rec.fromarrays([x.values, y.values], names='a,b'), x.lod)", "awkward"),
}

#: Names that `lodcore.nn` does not have, those of torch.
NETWORKS = {
    "BCEWithLogitsLoss": "lodcore.nn.binary_cross_entropy",
    "Conv1d": "lodcore.sequence_conv",
    "CrossEntropyLoss": "lodcore.nn.cross_entropy",
    "LSTMCell": "lodcore.nn.LSTM(2, 3).cell",
    "GRUCell": "lodcore.nn.GRU(2, 3).cell",
    "MSELoss": "lodcore.nn.mean_squared_error",
    "ReLU": "lodcore.relu",
    "RNN": "lodcore.nn.SimpleRNN",
    "Sequential": "lodcore.nn.Stacked",
    "Sigmoid": "lodcore.sigmoid",
    "Softmax": "lodcore.softmax",
    "Tanh": "lodcore.tanh",
    "clip_grad_norm_": "lodcore.nn.clip_by_global_norm",
    "mse_loss": "lodcore.nn.mean_squared_error",
    "relu": "lodcore.relu",
}


def instead_of_dense(name: str, numpys: bool) -> str:
    """Describe what to use instead of an attribute of a Variable of a dense array.

    Parameters
    ----------
    name : str
    numpys : bool
        Whether NumPy has a function of this name, which takes such Variables.

    Returns
    -------
    str
        As of `instead_of`.
    """
    if name in DENSE:
        return f"; use {DENSE[name]}"
    if numpys:
        return f"; use np.{name}(x)"
    general = instead_of(name, attribute=True)
    return "" if any(one in general for one in ABOUT_SEQUENCES) else general


def instead_of(name: str, *, attribute: bool) -> str:
    """Describe what to use instead of an attribute of a tensor, or of a name of the package.

    Parameters
    ----------
    name : str
    attribute : bool
        Whether it was looked for in a tensor.

    Returns
    -------
    str
        What an error adds to its text: "; use ...", or nothing.

    Examples
    --------
    >>> from lodcore.base.other_names import instead_of
    >>> instead_of("median", attribute=True)
    '; use lodcore.sequence_median(x)'
    >>> instead_of("medain", attribute=True)
    ''
    """
    instead, _ = (ATTRIBUTES if attribute else NAMES).get(name, ("", ""))
    return f"; use {instead}" if instead else ""


def explained(error: AttributeError, obj: Any, name: str, instead: str | None = None) -> AttributeError:
    """Return the error of an attribute that an object does not have, with what to use instead of it.

    Parameters
    ----------
    error : AttributeError
    obj : object
    name : str
    instead : str, optional
        What to use, or nothing; by default what is known of LoDTensors.

    Returns
    -------
    AttributeError
        The same error where nothing is known of the name, or where the object has it and it raised the error.
    """
    said = instead_of(name, attribute=True) if instead is None else f"; use {instead}" if instead else ""
    return AttributeError(f"{error}{said}", name=name, obj=obj) if said and not hasattr(type(obj), name) else error
