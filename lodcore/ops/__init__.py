"""The operators, one file a family."""

from lodcore.ops.array import (
    tensor_array_concat,
    tensor_array_read,
    tensor_array_size,
    tensor_array_sizes,
    tensor_array_stack,
    tensor_array_unstack,
    tensor_array_write,
)
from lodcore.ops.axes import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
from lodcore.ops.compare import (
    equal,
    greater_equal_than,
    greater_than,
    less_equal_than,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from lodcore.ops.convert import cast, concat_values, full_like, rows
from lodcore.ops.dense import cross_entropy, matmul, softmax
from lodcore.ops.embedding import embedding_bag, lookup_table
from lodcore.ops.expand import per_sequence, sequence_expand, sequence_expand_as, sequence_reverse
from lodcore.ops.gather import concat_batches, gather_sequences, sequence_concat, sequence_slice
from lodcore.ops.index import pick_along, select_by_mask, slice_along, take_nested, take_of_each
from lodcore.ops.index_values import index_values
from lodcore.ops.math import (
    add,
    div,
    elementwise,
    exp,
    log,
    minus,
    mul,
    relu,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from lodcore.ops.pad import sequence_mask, sequence_pad, sequence_unpad
from lodcore.ops.pool import sequence_pool
from lodcore.ops.position import by_position, drop_level, insert_level, pool_positions
from lodcore.ops.product import refuse_empty, sequence_place, sequence_prod, sequence_truth
from lodcore.ops.rank import RankTable, lod_rank_table, reorder_by_rank, shrink_memory
from lodcore.ops.recurrent import dynamic_gru, dynamic_lstm
from lodcore.ops.reduce import reduce_values
from lodcore.ops.scores import sequence_cumsum, sequence_logsumexp, sequence_softmax
from lodcore.ops.select import merge_by_mask, split_by_mask
from lodcore.ops.sort import sequence_sort, sequence_topk
from lodcore.ops.steps import tensor_array_pack, tensor_array_unpack
from lodcore.ops.structure import lod_append, lod_reset, sequence_reshape
from lodcore.ops.tokens import sequence_enumerate, sequence_erase, sequence_scatter
from lodcore.ops.window import row_conv, sequence_conv

__all__ = [
    "RankTable",
    "add",
    "all",
    "any",
    "argmax",
    "argmin",
    "by_position",
    "cast",
    "concat_batches",
    "concat_values",
    "cross_entropy",
    "div",
    "drop_level",
    "dynamic_gru",
    "dynamic_lstm",
    "elementwise",
    "embedding_bag",
    "equal",
    "exp",
    "full_like",
    "gather_sequences",
    "greater_equal_than",
    "greater_than",
    "index_values",
    "insert_level",
    "less_equal_than",
    "less_than",
    "lod_append",
    "lod_rank_table",
    "lod_reset",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "lookup_table",
    "matmul",
    "max",
    "mean",
    "merge_by_mask",
    "min",
    "minus",
    "mul",
    "not_equal",
    "per_sequence",
    "pick_along",
    "pool_positions",
    "prod",
    "reduce_values",
    "refuse_empty",
    "relu",
    "reorder_by_rank",
    "row_conv",
    "rows",
    "select_by_mask",
    "sequence_concat",
    "sequence_conv",
    "sequence_cumsum",
    "sequence_enumerate",
    "sequence_erase",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_logsumexp",
    "sequence_mask",
    "sequence_pad",
    "sequence_place",
    "sequence_pool",
    "sequence_prod",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_sort",
    "sequence_topk",
    "sequence_truth",
    "sequence_unpad",
    "shrink_memory",
    "sigmoid",
    "slice_along",
    "softmax",
    "split_by_mask",
    "sqrt",
    "std",
    "sum",
    "take_nested",
    "take_of_each",
    "tanh",
    "tensor_array_concat",
    "tensor_array_pack",
    "tensor_array_read",
    "tensor_array_size",
    "tensor_array_sizes",
    "tensor_array_stack",
    "tensor_array_unpack",
    "tensor_array_unstack",
    "tensor_array_write",
    "var",
    "where",
]
